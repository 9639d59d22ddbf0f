#!/usr/bin/env bash
# Builds the program and equalizes the sample clip, on a fresh Debian or Ubuntu with a Rust toolchain.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../tests/setup.sh"
set_up

result=target/samples/parking-lot-equalized.mp4
mkdir -p "$(dirname "$result")"
cargo run --quiet --locked --release -- -y samples/parking-lot.mp4 "$result"
sheet=target/samples/parking-lot-looks.png
cargo run --quiet --locked --release -- preview -y -q samples/parking-lot.mp4 "$sheet"
echo "before: $PWD/samples/parking-lot.mp4"
echo "after:  $PWD/$result"
echo "looks:  $PWD/$sheet"
