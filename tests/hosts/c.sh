#!/usr/bin/env bash
# The library for C as a packager has it: `cargo cinstall` puts header, libraries and histeq.pc below a prefix, pkg-config finds
# them, and C programs are built with the shared and the static library, and with AddressSanitizer, alone and together with all
# of the library. It sees leaks, too.
# tests/hosts/c.sh [PREFIX]: installs below PREFIX, else below a folder that goes away.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../support/setup.sh"
prefix=${1:+$(realpath -m "$1")}
packages=(gcc pkg-config)
set_up
command -v cargo-cinstall >/dev/null || fail "needs cargo-c: run 'cargo install --locked cargo-c', which says what to do if Rust is too old for it"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
prefix=${prefix:-$folder/prefix}
cargo cinstall --locked -p histeq-capi --prefix "$prefix" --libdir "$prefix/lib"
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
[ "$(pkg-config --modversion histeq)" = "$(sed -n 's/^#define HISTEQ_VERSION "\(.*\)"/\1/p' "$prefix/include/histeq.h")" ] ||
    fail "histeq.pc and histeq.h have other versions"

build() { # NAME SOURCE OPTIONS...
    # shellcheck disable=SC2046 # options
    cc -std=c99 -g -Wall -Wextra -Werror $(pkg-config --cflags histeq) "$2" -o "$folder/$1" "${@:3}"
}
shared=(-L "$prefix/lib" -lhisteq "-Wl,-rpath,$prefix/lib")
read -ra static <<<"$(pkg-config --static --libs histeq | sed 's/-lhisteq//')"
static=("$prefix/lib/libhisteq.a" "${static[@]}")
# The sample says how it is built.
read -ra documented <<<"$(pkg-config --libs histeq)"
build documented samples/equalize.c "${documented[@]}"
# All of the library with it, as in tests/program/address-sanitizer.sh.
host=$(rustc -vV | sed -n 's/^host: //p')
RUSTC_BOOTSTRAP=1 RUSTFLAGS="--cfg sanitizer -Zsanitizer=address" \
    cargo build --quiet --locked -p histeq-capi --target "$host" --target-dir target/address-sanitizer
sanitized=target/address-sanitizer/$host/debug/libhisteq_capi.a
# 40 frames of noise.
head -c $((98 * 62 * 3 / 2 * 40)) </dev/urandom >"$folder/in.raw"
export ASAN_OPTIONS=detect_leaks=1:exitcode=99:detect_stack_use_after_return=0
for how in shared static address all-address; do
    case $how in
    shared) options=("${shared[@]}") ;;
    static) options=("${static[@]}") ;;
    address) options=("${shared[@]}" -fsanitize=address -fno-omit-frame-pointer) ;;
    all-address) options=("$sanitized" "${static[@]:1}" -fsanitize=address -fno-omit-frame-pointer) ;;
    esac
    build "calls-$how" tests/hosts/from_c/calls.c "${options[@]}"
    build "equalize-$how" samples/equalize.c "${options[@]}"
    build "picture-$how" samples/equalize_picture.c "${options[@]}"
    "$folder/picture-$how" >"$folder/$how.pgm"
    cmp "$folder/shared.pgm" "$folder/$how.pgm"
    [ "$("$folder/calls-$how")" = "all is well" ] || fail "$how: a call does not do what histeq.h says"
    for look in natural night haze underwater thermal exact; do
        "$folder/equalize-$how" yuv420p 98 62 look "$look" <"$folder/in.raw" >"$folder/$how-$look.raw"
        cmp "$folder/shared-$look.raw" "$folder/$how-$look.raw"
    done
done
LD_LIBRARY_PATH=$prefix/lib "$folder/documented" yuv420p 98 62 <"$folder/in.raw" | cmp - "$folder/shared-natural.raw"
echo "libhisteq $(pkg-config --modversion histeq): shared, static, and with AddressSanitizer, the same bytes and no report"
