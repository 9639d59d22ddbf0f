#!/usr/bin/env bash
# Runs the test suite, on a fresh Debian or Ubuntu with a Rust toolchain.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
# FFmpeg's own tools read what the program wrote; g++ compiles the kernels' arithmetic for the host; procps has kill,
# with which the program is interrupted; Xvfb is a display for the window.
set_up ffmpeg g++ procps xvfb

cargo test --quiet --locked
