#!/usr/bin/env bash
# benches/pipes.sh [ROUNDS]
#
# How fast raw frames go through the program between two pipes, beside `cat` in its place, with the file in memory.
# Prints a table of medians. The rounds take turns, so that whatever else the machine does hits both alike.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
rounds=${1:-5}
cargo build --release --locked --quiet
program=$(cargo metadata --format-version 1 --no-deps |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["target_directory"])')/release/histeq-video
folder=$(mktemp -d /dev/shm/histeq-video-XXXXXX)
trap 'rm -rf "$folder"' EXIT

# Seconds that the command in $@ takes.
seconds() {
    local begin=$EPOCHREALTIME
    "$@"
    python3 -c 'import sys; print(float(sys.argv[2]) - float(sys.argv[1]))' "$begin" "$EPOCHREALTIME"
}

through_cat() {
    cat "$1" | cat | cat >/dev/null
}

through_program() {
    cat "$1" | "$program" "${@:2}" - - | cat >/dev/null
}

echo "| frames | size | cat, MB/s | histeq-video, MB/s | of cat | frames a second | equalization itself, frames a second |"
echo "|---|---|---|---|---|---|---|"
for size in 1920x1080 3840x2160; do
    for framing in raw y4m; do
        file=$folder/in
        case $size in
        1920x1080) frames=320 ;;
        3840x2160) frames=80 ;;
        esac
        # What is measured is the pipe: the plainest equalization.
        options=(--backend cpu --progress none --exact)
        case $framing in
        raw)
            container=rawvideo
            options+=(-f rawvideo -s "$size" --pixel-format yuv420p --output-format rawvideo)
            ;;
        y4m) container=yuv4mpegpipe ;;
        esac
        ffmpeg -v error -y -f lavfi -i "testsrc2=size=$size:rate=25,noise=alls=8:allf=t" -frames:v "$frames" \
            -pix_fmt yuv420p -f "$container" "$file"
        # One run of each that does not count, for caches and clocks.
        through_cat "$file"
        through_program "$file" -q "${options[@]}"
        : >"$folder/cat" >"$folder/program" >"$folder/busy"
        for ((round = 0; round < rounds; round++)); do
            seconds through_cat "$file" >>"$folder/cat"
            seconds through_program "$file" "${options[@]}" >>"$folder/program" 2>"$folder/said"
            sed -n 's/.*, equalize \([0-9.]*\) s,.*/\1/p' "$folder/said" >>"$folder/busy"
        done
        python3 - "$folder" "$framing" "$size" "$frames" "$(stat -c %s "$file")" <<'END'
import statistics, sys
folder, framing, size, frames, total = sys.argv[1:]
cat, program, busy = (statistics.median(map(float, open(f"{folder}/{name}"))) for name in ("cat", "program", "busy"))
speed = lambda seconds: int(total) / seconds / 1e6
print(f"| {framing} | {size} | {speed(cat):.0f} | {speed(program):.0f} | {cat / program:.2f} "
      f"| {int(frames) / program:.0f} | {int(frames) / busy:.0f} |", flush=True)
END
    done
done
