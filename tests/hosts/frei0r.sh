#!/usr/bin/env bash
# tests/hosts/frei0r.sh [--release]: the frei0r plug-in in Debian's FFmpeg, compared with the program, which gets the same frames through
# a pipe: three clips under every look, and other parameters. With --release, plug-in and program are those of users, and melt (MLT,
# which Kdenlive and Shotcut are made of) is another host.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../support/setup.sh"
profile=dev crates=(--workspace)
[ "${1:-}" != --release ] || { profile=release && crates=(-p histeq-frei0r -p histeq-video); }
set_up ffmpeg
[ $profile = dev ] || install_packages melt

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cargo build --quiet --profile $profile --locked "${crates[@]}"
built=$(cargo metadata --locked --format-version 1 --no-deps | sed -n 's/.*"target_directory":"\([^"]*\)".*/\1/p')/${profile/dev/debug}
program=$built/histeq-video
# As docs/hosts.md has it.
export HOME=$folder
mkdir -p "$HOME/.frei0r-1/lib"
cp "$built/libhisteq_frei0r.so" "$HOME/.frei0r-1/lib/histeq.so"
export MLT_REPOSITORY_DENY=libmltqt:libmltqt6:libmltglaxnimate:libmltopencv

dark="lutyuv=y=val*0.12+14,noise=alls=4:allf=t"
ffmpeg -nostdin -v error -i samples/coast.mp4 -i samples/parking-lot.mp4 -filter_complex \
    "[0:v]trim=end_frame=40,scale=320:180,setsar=1,fps=30,format=yuv420p,$dark[a];[1:v]trim=end_frame=40,scale=320:180,setsar=1,fps=30,format=yuv420p,$dark[b];[a][b]concat" \
    -c:v ffv1 "$folder/dark.mkv"

# frei0r has widths that are multiples of 8, which that of the coast is not.
frames() { # CLIP FILTERS: as RGBA
    ffmpeg -nostdin -v error -i "$1" -vf "format=rgba,crop=trunc(iw/8)*8:ih:0:0$2" -fps_mode passthrough -f rawvideo -pix_fmt rgba -
}
by_program() { # SIZE OPTIONS..., with frames from a pipe, for which nothing waits
    cat "$folder/in.raw" | "$program" --backend cpu -f rawvideo -s "$1" --pixel-format rgba -r 25 --output-format rawvideo - - "${@:2}" 2>/dev/null
}
about() { ffprobe -v error -select_streams v:0 -show_entries "stream=$2" -of csv=p=0 "$1" | tr , "$3" | sed 's/x$//'; }

looks=$(sed -n '/pub enum Look /,/^    }/s/^ *[A-Z][a-z]* = "\([a-z]*\)".*/\1/p' src/core/spec/parameters/look.rs)
[ "$(wc -w <<<"$looks")" -gt 3 ] || fail "no looks"
# Kdenlive and Shotcut have all of them.
grep -q "paramlist=\"$(tr ' ' ';' <<<"${looks//$'\n'/ }")\"" src/frei0r/kdenlive.xml || fail "src/frei0r/kdenlive.xml has other looks"
[ "$(sed -n 's/.*looks: \[\(.*\)\].*/\1/p' src/frei0r/shotcut/ui.qml | tr -d '", ' | tr -d '\n')" = "${looks//$'\n'/}" ] ||
    fail "src/frei0r/shotcut/ui.qml has other looks"
# The plug-in takes 25 frames a second for granted.
for clip in samples/coast.mp4 samples/parking-lot.mp4 "$folder/dark.mkv"; do
    size=$(about "$clip" width,height x)
    size=$((${size%x*} / 8 * 8))x${size#*x}
    frames "$clip" "" >"$folder/in.raw"
    for look in $looks; do
        frames "$clip" ",frei0r=histeq:$look" >"$folder/found.raw"
        by_program "$size" --look "$look" | cmp - "$folder/found.raw"
        [ "$look" = natural ] || ! cmp -s "$folder/in.raw" "$folder/found.raw" || fail "$look changes nothing of $clip"
    done
    frames "$clip" ",frei0r=histeq:thermal|0.3|clahe" >"$folder/found.raw"
    by_program "$size" --look thermal --strength 0.3 --method clahe | cmp - "$folder/found.raw"
    echo "ffmpeg, ${clip##*/}: the bytes of the program"
done
# What is wrong is told, and the picture goes on.
frames samples/parking-lot.mp4 ",frei0r=histeq:nolook" 2>"$folder/told" >"$folder/found.raw"
grep -q "look is one of natural, " "$folder/told" || fail "a wrong look is not told of"

# Widths whose lowest rows FFmpeg leaves empty, which its newer versions do not, are told.
for width in 104 112; do
    ffmpeg -nostdin -v error -f lavfi -i "mandelbrot=size=${width}x96" -vf format=rgba,frei0r=histeq -frames:v 1 -f rawvideo - \
        2>"$folder/told" >"$folder/found.raw"
    [ "$(tail -c $((4 * width)) "$folder/found.raw" | tr -d '\0' | wc -c)" = 0 ] && is_wrong=1 || is_wrong=0
    [ "$(grep -c "rows of $width columns wrong" "$folder/told")" = "$is_wrong" ] || fail "$width columns: $(cat "$folder/told")"
done
[ $profile = release ] || exit 0

# melt: the same frames without and with the filter.
with_melt() { # CLIP OUT FILTER...
    melt -silent -profile atsc_720p_30 "$1" "${@:3}" -consumer avformat:"$2" f=rawvideo vcodec=rawvideo pix_fmt=rgba an=1 \
        real_time=-1 width=320 height=180 progressive=1 frame_rate_num=30 frame_rate_den=1 sample_aspect_num=1 sample_aspect_den=1 \
        >/dev/null 2>"$folder/melt.log"
}
with_melt "$folder/dark.mkv" "$folder/in.raw"
[ "$(stat -c %s "$folder/in.raw")" -gt 0 ] || fail "melt wrote nothing: $(tail -n 3 "$folder/melt.log")"
for look in $looks; do
    with_melt "$folder/dark.mkv" "$folder/found.raw" -filter frei0r.histeq "0=$look" 1=1
    by_program 320x180 --look "$look" | cmp - "$folder/found.raw"
done
with_melt "$folder/dark.mkv" "$folder/found.raw" -filter frei0r.histeq 0=night 1=0.5
by_program 320x180 --look night --strength 0.5 | cmp - "$folder/found.raw"
melt -query filter=frei0r.histeq 2>/dev/null | grep -q "natural, night" || fail "melt does not list the looks"
echo "melt: the bytes of the program"
