#!/usr/bin/env bash
# Checks the workspace with the oldest Rust that Cargo.toml promises (`rust-version`), where rustup has it or can fetch it.
# On every machine clippy's `incompatible_msrv`, which the workspace denies, names what the standard library lacked then.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../support/setup.sh"
version=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
[ -n "$version" ] || fail "Cargo.toml has no rust-version"
if ! rustup run "$version" rustc --version 2>/dev/null && ! rustup toolchain install "$version" --profile minimal; then
    echo "SKIPPED msrv: no Rust $version here, and rustup cannot fetch it"
    exit 0
fi
# Its own folder: what one compiler has made is made again for another.
CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-target}/msrv rustup run "$version" cargo check --locked --workspace --all-targets
