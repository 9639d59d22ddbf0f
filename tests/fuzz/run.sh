#!/usr/bin/env bash
# Runs the parsers in libFuzzer, guided by coverage and watched by AddressSanitizer: tests/fuzz/run.sh [SECONDS [TARGET...]].
# What is found lies in target/fuzz/findings. Takes the stable toolchain: RUSTC_BOOTSTRAP lets it have the sanitizer.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source tests/fuzz/sanitized.sh

seconds=${1:-60}
targets=("${@:2}")
[ ${#targets[@]} -gt 0 ] || mapfile -t targets < <(ls tests/fuzz/corpus)
cargo build --quiet --locked --release --manifest-path tests/fuzz/Cargo.toml --target "$triple" --target-dir target/fuzz
mkdir -p target/fuzz/findings
for target in "${targets[@]}"; do
    # What the fuzzer adds to the corpus stays out of the repository.
    found=target/fuzz/corpus/$target
    mkdir -p "$found"
    echo "== $target"
    HISTEQ_TARGET=$target "target/fuzz/$triple/release/parsers" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
        -max_len=8192 -artifact_prefix="target/fuzz/findings/$target-" "$found" "tests/fuzz/corpus/$target" 2>&1 |
        { grep -E 'INITED|DONE|ERROR|panicked|SUMMARY|stat::|Test unit written' || true; }
    [ "${PIPESTATUS[0]}" -eq 0 ] || { echo "$target: see target/fuzz/findings" >&2; exit 1; }
done
