#!/usr/bin/env bash
# samples/web/build.sh [FOLDER [PROFILE]]: builds the library for browsers, and puts it, the page and a sample into a folder, target/web
# by default, which any file server serves: python3 -m http.server -d target/web
set -euo pipefail
folder=$(realpath -m "${1:-"$(dirname "$(realpath "$0")")/../../target/web"}")
profile=${2:-release}
cd "$(dirname "$(realpath "$0")")/../.."
source tests/support/setup.sh
find_cargo

target=wasm32-unknown-unknown
if ! [ -d "$(rustc --print sysroot)/lib/rustlib/$target" ]; then
    command -v rustup >/dev/null || fail "this Rust has no standard library for $target: install that package of your system, or Rust from https://rustup.rs"
    rustup target add "$target" || fail "no standard library for $target could be had: run 'rustup target add $target' with a network"
fi
# The version of the crate.
version=$(sed -n '/^name = "wasm-bindgen"$/{n;s/^version = "\(.*\)"/\1/p}' Cargo.lock)
built=$(cargo metadata --locked --format-version 1 --no-deps | sed -n 's/.*"target_directory":"\([^"]*\)".*/\1/p')
PATH=$built/tools/bin:$PATH
if [ "$(wasm-bindgen --version 2>/dev/null)" != "wasm-bindgen $version" ]; then
    echo "building wasm-bindgen $version into $built/tools, once"
    # Without optimization it is built in a third of the time.
    install=(cargo install --quiet --debug --root "$built/tools" --target-dir "$built/tools/target" --version "$version" wasm-bindgen-cli)
    # With the versions that its makers have tried, or, where a mirror lacks one, with others.
    "${install[@]}" --locked || "${install[@]}" ||
        fail "no wasm-bindgen: run 'cargo install --locked --version $version wasm-bindgen-cli' with a network"
    rm -rf "$built/tools/target"
fi

# Every browser since 2023 has these instructions. wasm-bindgen reads their names where `strip` would cut.
export CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS="-C target-feature=+simd128" CARGO_PROFILE_RELEASE_STRIP=debuginfo
cargo build --quiet --profile "$profile" --locked -p histeq-wasm --target "$target"
mkdir -p "$folder"
wasm-bindgen --target web --remove-name-section --remove-producers-section --out-name histeq --out-dir "$folder" "$built/$target/${profile/dev/debug}/histeq_wasm.wasm"
cp samples/web/{index.html,page.css,page.js,worker.js} "$folder"
cp samples/coast.mp4 "$folder/sample.mp4"
cp samples/coast-LICENSE.txt "$folder/sample-LICENSE.txt"
echo "built into $folder: python3 -m http.server -d $folder"
