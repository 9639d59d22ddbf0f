#!/usr/bin/env bash
# astronomer.sh FRAMES: brings up what is faint in linear frames of 16 bits, such as raw%03d.png or frames of FITS, by the two
# functions that astronomers use, and by histogram equalization for comparison.
set -euo pipefail
frames=${1:?usage: astronomer.sh FRAMES}
for method in asinh midtones global; do
    histeq-video --method "$method" --denoise 0 -y "$frames" "$method%03d.png"
done
# How each frame was stretched: the background before and after, by frame.
histeq-video --method asinh --stats stretch.csv -y "$frames" stretched.mkv --encoder ffv1
