#!/usr/bin/env bash
# Runs the test suite, on a fresh Debian or Ubuntu with a Rust toolchain. A table of what was skipped comes last.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/support/setup.sh"
# FFmpeg's own tools read what the program wrote, and so does x264; g++ compiles the kernels' arithmetic for the host;
# Xvfb is a display for the window, evilwm what full screen takes there, xdotool presses keys. The libraries are what any
# desktop has. nginx, GStreamer and srt-tools are servers for live streams: RTMP, RTSP and SRT. mpv plays across the seams of pieces.
set_up ffmpeg g++ x264 xvfb evilwm xdotool libx11-xcb1 libxcursor1 libxi6 libxkbcommon-x11-0 \
    nginx-light libnginx-mod-rtmp gir1.2-gst-rtsp-server-1.0 python3-gi python3-numpy gstreamer1.0-plugins-good gstreamer1.0-plugins-bad \
    srt-tools mpv zsh fish

# One line for each skip: what, why, what tests it, and the test that left it out.
HISTEQ_SKIPS=$(mktemp)
export HISTEQ_SKIPS
summarize() {
    if [ -s "$HISTEQ_SKIPS" ]; then
        echo "skipped, wholly or in part (tests, what, why, what tests it):"
        sort -u "$HISTEQ_SKIPS" | cut -f 1-3 | uniq -c | sort -rn
        echo "$(cut -f 4 "$HISTEQ_SKIPS" | sort -u | wc -l) tests skipped something"
    else
        echo "no test skipped anything"
    fi
    rm -f "$HISTEQ_SKIPS"
}
trap summarize EXIT

# Tests press Ctrl-C, which a job in the background may have to ignore.
env --default-signal=INT,QUIT cargo test --quiet --locked --workspace
