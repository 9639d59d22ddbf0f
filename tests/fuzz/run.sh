#!/usr/bin/env bash
# Runs the parsers in libFuzzer, guided by coverage and watched by AddressSanitizer: tests/fuzz/run.sh [SECONDS [TARGET...]].
# What is found lies in target/fuzz/findings.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

seconds=${1:-60}
targets=("${@:2}")
[ ${#targets[@]} -gt 0 ] || mapfile -t targets < <(ls tests/fuzz/corpus)
RUSTC_WRAPPER=$PWD/tests/fuzz/rustc.sh cargo build --quiet --locked --manifest-path tests/fuzz/Cargo.toml --target-dir target/fuzz
mkdir -p target/fuzz/findings
for target in "${targets[@]}"; do
    # What the fuzzer adds to the corpus stays out of the repository.
    mkdir -p "target/fuzz/corpus/$target"
    echo "== $target"
    # Libraries keep what they need until the end.
    HISTEQ_TARGET=$target ASAN_OPTIONS=detect_leaks=0 target/fuzz/debug/parsers -max_total_time="$seconds" -timeout=10 \
        -rss_limit_mb=2048 -max_len=8192 -print_final_stats=1 -artifact_prefix="target/fuzz/findings/$target-" \
        "target/fuzz/corpus/$target" "tests/fuzz/corpus/$target" >target/fuzz/log 2>&1 || {
        tail -n 30 target/fuzz/log >&2
        echo "$target: see target/fuzz/findings" >&2
        exit 1
    }
    grep -E 'INITED|DONE|number_of_executed_units' target/fuzz/log
done
