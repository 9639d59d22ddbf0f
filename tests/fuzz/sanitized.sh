# Sourced: the flags for builds with AddressSanitizer and counters of coverage, on the stable toolchain.
triple=$(rustc --print host-tuple)
export RUSTC_BOOTSTRAP=1 ASAN_OPTIONS=detect_leaks=0
export RUSTFLAGS="-Zsanitizer=address -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
-Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=16 --cfg fuzzing"
