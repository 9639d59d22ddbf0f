#!/usr/bin/env bash
# tests/program/faults.sh [TEST...]: the tests that try many faults, from a seed that they print: system calls that fail, bits of
# inputs that flip, processes that are killed. Each repeats a run hundreds of times, so the suite leaves them to this script.
# HISTEQ_LONG=1 and HISTEQ_KILLS make them longer: docs/reliability.md.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../support/setup.sh"
set_up ffmpeg

env --default-signal=INT,QUIT cargo test --quiet --locked --workspace --test suite -- --ignored "$@"
