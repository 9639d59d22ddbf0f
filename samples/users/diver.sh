#!/usr/bin/env bash
# diver.sh [CLIP...]: from clips of a dive to clips to post.
set -euo pipefail
[ $# -gt 0 ] || set -- "$(dirname "$(realpath "$0")")/../parking-lot.mp4"

# Which look suits the dive? A sheet of all of them, from the first clip.
histeq-video preview "$1" looks.png

for clip; do
    name=$(basename "${clip%.*}")
    histeq-video --look underwater --for web --target-size 50M "$clip" "$name-clear.mp4"
done

# To show what it did: left of the middle as it was, right of it as it is.
histeq-video compare --split "$1" "$(basename "${1%.*}")-clear.mp4" before-after.mp4
