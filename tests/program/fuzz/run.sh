#!/usr/bin/env bash
# Runs the parsers in libFuzzer, guided by coverage and watched by AddressSanitizer: tests/program/fuzz/run.sh [SECONDS [TARGET...]].
# What is found lies in target/fuzz/findings.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."

seconds=${1:-60}
targets=("${@:2}")
[ ${#targets[@]} -gt 0 ] || mapfile -t targets < <(ls tests/program/fuzz/corpus)

# The program itself is the fuzzer. With a target named, build scripts and macros do without these flags; RUSTC_BOOTSTRAP lets
# the stable toolchain have the sanitizer.
flags="--cfg fuzzing -Zsanitizer=address -Cpasses=sancov-module"
for flag in level=4 inline-8bit-counters pc-table trace-compares; do
    flags+=" -Cllvm-args=-sanitizer-coverage-$flag"
done
host=$(rustc -vV | sed -n 's/^host: //p')
RUSTC_BOOTSTRAP=1 RUSTFLAGS=$flags cargo build --quiet --locked -p histeq-video --target "$host" --target-dir target/fuzz
mkdir -p target/fuzz/findings
for target in "${targets[@]}"; do
    # What the fuzzer adds to the corpus stays out of the repository.
    mkdir -p "target/fuzz/corpus/$target"
    echo "== $target"
    # Libraries keep what they need until the end.
    HISTEQ_TARGET=$target ASAN_OPTIONS=detect_leaks=0 "target/fuzz/$host/debug/histeq-video" -max_total_time="$seconds" -timeout=10 \
        -rss_limit_mb=2048 -max_len=8192 -print_final_stats=1 -artifact_prefix="target/fuzz/findings/$target-" \
        "target/fuzz/corpus/$target" "tests/program/fuzz/corpus/$target" >target/fuzz/log 2>&1 || {
        tail -n 30 target/fuzz/log >&2
        echo "$target: see target/fuzz/findings" >&2
        exit 1
    }
    grep -E 'INITED|DONE|number_of_executed_units' target/fuzz/log
done
