#!/usr/bin/env bash
# thermographer.sh [FRAMES [LOW:HIGH]]: FRAMES is a numbered sequence of 16-bit images (shot%03d.png). Makes frames to look at,
# a video of them, frames with small differences beside large ones, frames in colours with the samples that these stand for, and
# the same on the scale LOW:HIGH. FRAMES stay as they are: temperatures are in them. Without FRAMES, ten are made of the sample
# clip.
set -euo pipefail
frames=${1:-shot%03d.png}
scale=${2:-20000:21500}
if [ $# -eq 0 ]; then
    # A sensor of 16 bits with some noise, of which the scene uses a fiftieth.
    ffmpeg -v error -y -i "$(dirname "$(realpath "$0")")/../parking-lot.mp4" -frames:v 10 \
        -vf "format=gray16le,geq=lum=20000+lum(X\\,Y)/50+8*random(0)" "$frames"
fi

histeq-video --look thermal "$frames" seen%03d.png
histeq-video --look thermal --for web "$frames" seen.mp4

# Both what is before a wall and what is hot: each by its small differences.
histeq-video --look thermal --method detail "$frames" detail%03d.png

# In colours, with the samples of each: once by what is in the picture, once on a scale that is the same for all files.
histeq-video --look thermal --palette ironbow --colour-bar "$frames" colours%03d.png
histeq-video --range "$scale" --palette ironbow --colour-bar "$frames" scale%03d.png
