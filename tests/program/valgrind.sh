#!/usr/bin/env bash
# Runs the program on four small jobs under valgrind's memcheck: reads and writes outside of memory, memory that was never
# written, frees of what is not allocated, here and in the libraries. tests/program/valgrind.sh [PROGRAM]
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../support/setup.sh"
program=${1:+$(realpath "$1")}
set_up ffmpeg valgrind

if [ -z "$program" ]; then
    cargo build --quiet --locked
    program=$PWD/target/debug/histeq-video
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
ffmpeg -v error -f lavfi -i testsrc2=size=64x48:rate=25 -f lavfi -i sine -frames:v 4 -shortest -c:v ffv1 -c:a aac in.mkv
ffmpeg -v error -i in.mkv -an -pix_fmt yuv420p in.y4m
ffmpeg -v error -i in.mkv -an -pix_fmt yuv420p -f rawvideo in.raw

# A fault makes exit code 99. Leaks are not looked for: libraries keep what they need until the end.
check() {
    valgrind --quiet --error-exitcode=99 --leak-check=no "$program" "$@" || exit
}
check -q --backend cpu in.mkv file.mkv &
check -q --backend cpu --method clahe --set chroma=follow --encoder libx264 in.mkv file.mp4 &
check -q --backend cpu -f rawvideo -s 64x48 --pixel-format yuv420p - - <in.raw >out.y4m &
check live -q --backend cpu --no-preview --encoder mpeg4 --record live.mkv in.y4m &
failed=0
for job in $(jobs -p); do wait "$job" || failed=1; done
exit $failed
