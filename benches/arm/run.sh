#!/usr/bin/env bash
# Instructions of 64-bit Arm a pixel, kernel by kernel: in plain Rust, by NEON, and how many times as many the former are. QEMU
# counts them: they tell what the compiler makes of a kernel, not how long it takes.
# benches/arm/run.sh
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../tests/support/setup.sh"
set_up qemu-user gcc-aarch64-linux-gnu libc6-dev-arm64-cross
target=aarch64-unknown-linux-gnu folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

rustup --quiet target add $target
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
cargo build --quiet --locked --release --package histeq --no-default-features --example instructions --target $target
gcc -O2 -shared -fPIC benches/arm/count.c -o "$folder/count.so"
built=${CARGO_TARGET_DIR:-target}/$target/release/examples/instructions
qemu-aarch64 -L /usr/aarch64-linux-gnu -plugin "$folder/count.so" "$built" >"$folder/counts"

# NUMBER begin, then NUMBER CASE|ISA|PIXELS.
awk -F'|' '
    { number = $1; sub(/ .*/, "", number) }
    NF == 1 { begin = number; next }
    { sub(/^[0-9]+ /, "", $1); counts[$1, $2] = (number - begin) / $3 }
    $2 == "scalar" { cases[++count] = $1 }
    END {
        print "| kernel | plain Rust | NEON | ratio |\n|---|---:|---:|---:|"
        for (at = 1; at <= count; at++) {
            plain = counts[cases[at], "scalar"]; neon = counts[cases[at], "neon"]
            if (!neon) { print cases[at] " was not counted" >"/dev/stderr"; exit 1 }
            printf "| %s | %.2f | %.2f | %.2f |\n", cases[at], plain, neon, plain / neon
        }
        if (!count) exit 1
    }' "$folder/counts"
