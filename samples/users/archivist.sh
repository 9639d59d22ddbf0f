#!/usr/bin/env bash
# archivist.sh [FILM]: takes flicker out of scanned film: of the whole frame, of a colour, in patches, in bands that roll. FILM is a
# numbered sequence (scan%04d.dpx, scan%04d.tif) or a video. Without FILM, a sequence is made of the sample clip, whose light wavers.
set -euo pipefail
film=${1:-scan%04d.tif}
if [ $# -eq 0 ]; then
    ffmpeg -v error -y -i "$(dirname "$(realpath "$0")")/../parking-lot.mp4" -frames:v 24 -start_number 86400 \
        -vf "format=rgb48le,geq=r=r(X\\,Y)*(0.9+0.1*sin(N*2)):g=g(X\\,Y)*(0.9+0.1*sin(N*3)):b=b(X\\,Y)*(0.9-0.1*sin(N*2))" "$film"
fi

# Scans come out in their format and depth, with their numbers; a video without loss. Less of it: --strength 0.7. Slower wavering
# too: --smooth 2.
case $film in
    *%*) histeq-video --method deflicker --stats flicker.csv -y "$film" "steady-$(basename "$film")" ;;
    *) histeq-video --method deflicker --stats flicker.csv --for archive -y "$film" steady.mkv ;;
esac

# A copy to watch, and what was done to each frame as a page.
histeq-video --method deflicker --for web --stats flicker.html -y "$film" steady.mp4
