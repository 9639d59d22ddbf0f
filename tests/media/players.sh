#!/usr/bin/env bash
# tests/media/players.sh [FOLDER]: what real players make of outputs. Makes files for the web from what is hard for browsers, plays each
# in Chromium and in mpv, and opens a page of statistics in Chromium as wide as a telephone. With FOLDER, the frames that Chromium
# has shown are kept there.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../support/setup.sh"
set_up ffmpeg chromium mpv xvfb xauth python3
cargo build --quiet --locked
program=$PWD/target/debug/histeq-video

work=$(mktemp -d)
trap 'kill "${pids[@]}" 2>/dev/null || true; wait; rm -rf "$work"' EXIT
pids=()
cp tests/media/players/index.html samples/parking-lot.mp4 "$work"
serve=$PWD/tests/media/players/serve.py
kept=${1:+$(realpath "$1")}
cd "$work"

make() { ffmpeg -hide_banner -nostdin -v error -y "$@"; }
pictures=(-f lavfi -i "testsrc2=size=640x360:rate=25:duration=2" -f lavfi -i "sine=duration=2")
make "${pictures[@]}" -c:v prores_ks -profile:v 3 -pix_fmt yuv422p10le -c:a pcm_s24le prores.mov
make "${pictures[@]}" -c:v libx264 -pix_fmt yuv420p -c:a aac upright.mp4
# A telephone that was held upright says so: each player turns the pictures.
make -i upright.mp4 -c copy -metadata:s:v rotate=90 phone.mp4
rotation=$(ffprobe -v error -show_entries stream_side_data=rotation -of csv=p=0 phone.mp4 | sed -n 1p)
[ -n "$rotation" ] || make -display_rotation 90 -i upright.mp4 -c copy phone.mp4
hdr="zscale=t=linear:npl=203,format=gbrpf32le,zscale=p=bt2020:t=smpte2084:m=bt2020nc:r=tv:npl=203,format=yuv420p10le"
make "${pictures[@]}" -vf "setparams=range=tv:color_primaries=bt709:color_trc=bt709:colorspace=bt709,$hdr" -c:v ffv1 -color_trc smpte2084 \
    -color_primaries bt2020 -colorspace bt2020nc -c:a flac hdr.mkv
mv parking-lot.mp4 plain.mp4

videos=(prores phone hdr plain)
for video in "${videos[@]}"; do
    mkdir -p web
    # One curve for each frame, so that the page of statistics has all of its charts.
    "$program" -q --method global --strength 1 --for web --stats "web/$video.html" "$video".m* "web/$video.mp4"
done
mv index.html web
mv web/plain.html web/page.html

# In Chromium.
"$serve" web >said &
pids+=($!)
for _ in {1..100}; do
    [ -s said ] && break
    sleep 0.1
done
list=$(IFS=, && echo "${videos[*]}")
chromium --headless --no-sandbox --disable-gpu --no-first-run --user-data-dir="$work/profile" \
    --enable-logging=stderr --autoplay-policy=no-user-gesture-required --remote-debugging-port=0 \
    "http://127.0.0.1:$(head -n 1 said)/index.html?videos=$list&page=page" >chromium.log 2>&1 &
pids+=($!)
for _ in {1..900}; do
    grep -q '^end$' said && break
    sleep 0.1
done
sed 1d said
[ -z "$kept" ] || cp web/*.jpg web/page.html "$kept"
grep -q '^end$' said || { tail -n 5 chromium.log >&2; fail "Chromium did not come to the end"; }
sizes=(640x360 360x640 640x360 768x432)
for index in "${!videos[@]}"; do
    line=$(grep "^${videos[index]}: " said)
    [[ $line == *": ${sizes[index]} played=true "* ]] || fail "Chromium: $line"
    # Neither black nor flat.
    deviation=${line##*deviation=}
    [ "$deviation" -ge 20 ] || fail "Chromium: $line"
done
# All of it fits, each chart is drawn and says something under the pointer, and nothing before; and nothing went wrong.
page=$(grep '^page: ' said)
! grep 'CONSOLE.*/page\.html' chromium.log >&2 || fail "the page of statistics: its script says that"
[[ $page =~ width=([0-9]+)\ of\ ([0-9]+)\ before=\'\'\ charts=13\ drawn=13\ silent=0\ broken=0\ .*\ became\  ]] &&
    [ "${BASH_REMATCH[1]}" -eq "${BASH_REMATCH[2]}" ] || fail "the page of statistics: $page"

# In mpv.
for video in "${videos[@]}"; do
    xvfb-run --auto-servernum mpv --no-config --msg-level=all=error --vo=x11 --ao=null --length=1 "web/$video.mp4" ||
        fail "mpv does not play $video"
done
echo "played by Chromium and mpv: ${videos[*]}"
