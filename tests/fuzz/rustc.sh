#!/usr/bin/env bash
# rustc for the fuzzer (RUSTC_WRAPPER): the program and the targets get AddressSanitizer and counters of coverage, their
# dependencies do not. RUSTC_BOOTSTRAP lets the stable toolchain have the sanitizer.
set -euo pipefail
flags=()
if [[ " $* " =~ " --crate-name "(histeq_video|parsers)" " ]]; then
    export RUSTC_BOOTSTRAP=1
    flags=(-Zsanitizer=address -Cpasses=sancov-module)
    for flag in level=4 inline-8bit-counters pc-table trace-compares; do
        flags+=("-Cllvm-args=-sanitizer-coverage-$flag")
    done
fi
exec "$@" "${flags[@]}"
