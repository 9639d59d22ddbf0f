#!/usr/bin/env bash
# Builds the program and equalizes the sample clip, on a fresh Debian or Ubuntu with a Rust toolchain.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../tests/support/setup.sh"
set_up

result=target/samples/coast-equalized.mp4
mkdir -p "$(dirname "$result")"
cargo run --quiet --locked --release --bin histeq-video -- -y samples/coast.mp4 "$result"
sheet=target/samples/coast-looks.png
cargo run --quiet --locked --release --bin histeq-video -- preview -y -q samples/coast.mp4 "$sheet"
echo "before: $PWD/samples/coast.mp4"
echo "after:  $PWD/$result"
echo "looks:  $PWD/$sheet"
