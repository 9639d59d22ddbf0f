#!/usr/bin/env bash
# Runs the whole program, built with AddressSanitizer, on a dozen clips: each kind of input and output, each look and backend
# of the CPU, pieces, `live`, `preview` and `compare`. A run that reads or writes outside of memory ends with a report.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../support/setup.sh"
set_up ffmpeg

# With a target named, build scripts and macros do without the flags; RUSTC_BOOTSTRAP lets the stable toolchain have the
# sanitizer. Its allocator is found in place of the program's own.
host=$(rustc -vV | sed -n 's/^host: //p')
RUSTC_BOOTSTRAP=1 RUSTFLAGS="--cfg sanitizer -Zsanitizer=address" \
    cargo build --quiet --locked -p histeq-video --target "$host" --target-dir target/address-sanitizer
program=$PWD/target/address-sanitizer/$host/debug/histeq-video
# Libraries keep what they need until the end. How deep files nest is read off the stack, which has to be one.
export ASAN_OPTIONS=detect_leaks=0:exitcode=99:detect_stack_use_after_return=0 HISTEQ_CONFIG=

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
make() { # NAME SECONDS OPTIONS...
    ffmpeg -v error -f lavfi -i "testsrc2=size=160x92:rate=25" -f lavfi -i sine -t "$2" "${@:3}" "$1"
}
make h264.mp4 2 -c:v libx264 -c:a aac
make hevc.mkv 2 -c:v libx265 -x265-params log-level=none -pix_fmt yuv420p10le -c:a libopus
make vp9.webm 2 -c:v libvpx-vp9 -cpu-used 8 -deadline realtime -c:a libvorbis
make av1.mkv 1 -c:v libaom-av1 -cpu-used 8 -usage realtime -an
make mpeg2.ts 2 -c:v mpeg2video -flags +ildct+ilme -c:a mp2
make prores.mov 1 -c:v prores_ks -profile:v 4444 -pix_fmt yuva444p10le -c:a pcm_s16le
make mjpeg.avi 1 -c:v mjpeg -c:a pcm_s16le
make rgb.nut 1 -c:v rawvideo -pix_fmt rgb24 -an
make gray16.mkv 1 -c:v ffv1 -pix_fmt gray16le -an
make clip.gif 1 -an
make image%02d.png 1 -an
make clip.y4m 1 -pix_fmt yuv422p -an

runs=0
check() {
    runs=$((runs + 1))
    "$program" "$@" -q -y || fail "exit code $? of histeq-video $*"
}
for clip in h264.mp4 hevc.mkv vp9.webm av1.mkv mpeg2.ts prores.mov mjpeg.avi rgb.nut gray16.mkv clip.gif image%02d.png clip.y4m; do
    check "$clip" --backend cpu default.mkv
    check "$clip" --backend cpu --look night --encoder ffv1 --stats night.html night.mkv
    check "$clip" --backend cpu --method clahe --set look-ahead=0 --filter vflip --encoder ffv1 clahe.mkv
done
for look in natural haze underwater thermal exact; do
    check h264.mp4 --backend cpu --look "$look" --encoder ffv1 look.mkv
    check gray16.mkv --backend cpu --look "$look" --encoder ffv1 look.mkv
done
for option in '--smooth scene' '--roi auto' '--output-depth 10' '--output-depth 8' '--denoise 0.5' '--set chroma=keep' \
    '--method deflicker' '--filter-after hflip' '--strict' '--sandbox on' '--decoder cpu:3 --encoder ffv1' '--target-size 100k'; do
    # shellcheck disable=SC2086 # options and their values
    check hevc.mkv --backend cpu $option option.mkv
done
check h264.mp4 --backend cpu --jobs 2 --encoder ffv1 jobs.mkv
check compare h264.mp4 hevc.mkv both.mkv
check preview h264.mp4 sheet.png
check h264.mp4 --backend cpu --save-curves curves.jsonl --encoder ffv1 curved.mkv
check live --backend cpu --no-preview --encoder mpeg4 --record live.mkv clip.y4m
"$program" -q --backend cpu -f rawvideo -s 160x92 --pixel-format rgb24 - - <rgb.nut >raw.y4m
echo "AddressSanitizer: $((runs + 1)) runs on 12 clips, no report"
