#!/usr/bin/env bash
# benches/transcode.sh FILE [RUNS] [BACKEND]
#
# Wall time of the whole program beside that of the ffmpeg program without a filter, in turns, with the same encoder
# settings. --strength 0.004 does all the work of equalizing and moves nothing by more than a level, so that both
# encoders get the same picture. HISTEQ_BIN names the program; default is this tree's release build.
set -euo pipefail
file=${1:?usage: benches/transcode.sh FILE [RUNS] [BACKEND]}
runs=${2:-5}
backend=${3:-cpu}
program=${HISTEQ_BIN:-$(dirname "${BASH_SOURCE[0]}")/../target/release/histeq-video}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

timed() {
    local begin=$EPOCHREALTIME
    "$@"
    awk -v a="$begin" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.2f\n", b - a }'
}

for ((run = 0; run < runs; run++)); do
    timed "$program" -q -y --strength 0.004 --backend "$backend" --encoder libx264 --preset veryfast --crf 18 \
        "$file" "$out/ours.mp4" >> "$out/ours"
    timed ffmpeg -nostdin -v error -y -i "$file" -c:v libx264 -preset veryfast -crf 18 -c:a copy \
        "$out/theirs.mp4" >> "$out/theirs"
done

median() { sort -n "$1" | awk '{ v[NR] = $1 } END { print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'; }
ours=$(median "$out/ours")
theirs=$(median "$out/theirs")
echo "histeq-video --backend $backend: $(sort -n "$out/ours" | paste -sd' ') s, median $ours"
echo "ffmpeg without a filter: $(sort -n "$out/theirs" | paste -sd' ') s, median $theirs"
awk -v a="$ours" -v b="$theirs" 'BEGIN { printf "ratio %.3f\n", a / b }'
