#!/usr/bin/env bash
# editor.sh [VIDEO]: takes the correction into a grading program, as a table (.cube) for each scene, and shows that the table
# gives the picture: FFmpeg's lut3d stands for the grading program.
set -euo pipefail
video=${1:-"$(dirname "$0")/../parking-lot.mp4"}

# One curve for each scene, for all of the picture: that is what a table can hold. Noise stays for the grading program's tools.
histeq-video --method global --smooth scene --denoise 0 --save-curves look.cube --for edit -y "$video" corrected.mov

# What a grading program does with the original and the table of the first scene.
ffmpeg -v error -y -i "$video" -vf 'scale=in_range=auto:flags=accurate_rnd+full_chroma_inp,format=gbrp16le,lut3d=look.cube:interp=tetrahedral' \
    -frames:v 1 -pix_fmt rgb24 graded.png

# A table of another program, applied before the correction.
histeq-video --lut look.cube --encoder ffv1 -y "$video" looked-up.mkv
