#!/usr/bin/env bash
# tests/program/soak.sh PROGRAM [live|gpu|film] [SECONDS]
#
# Long runs, whose memory, threads and descriptors have to stay flat: a live stream with sound that is recorded (two hours); the
# same on a GPU, whose driver refuses all launches from half of the time on; or a film with sound (four hours of video), of this
# many SECONDS. Prints them every half a minute, a line each: seconds since the start, resident KiB, threads, descriptors; and in
# the end the exit code and the length of what was written. Needs ffmpeg, and a C compiler for the GPU, or refused_launches.so
# in REFUSED_LAUNCHES.
set -euo pipefail
program=$(realpath "${1:?usage: tests/program/soak.sh PROGRAM [live|gpu|film] [SECONDS]}")
what=${2:-live}
source=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"

watch_over() { # PID
    local begin=$SECONDS code=0
    while kill -0 "$1" 2>/dev/null; do
        sleep $((SECONDS - begin < 60 ? 5 : 30))
        [ -d "/proc/$1/fd" ] || break
        echo "$((SECONDS - begin)) $(awk '/VmRSS|Threads/ { printf "%s ", $2 }' "/proc/$1/status")$(ls "/proc/$1/fd" | wc -l)"
    done
    wait "$1" || code=$?
    echo "exit code $code; $(ffprobe -v error -show_entries format=duration -of csv=p=0 out.mkv) s in out.mkv"
    tail -n 3 said.txt
}

sound="-f lavfi -i sine=440 -c:v libx264 -preset ultrafast -g 50 -c:a aac"
case $what in
live | gpu)
    length=${3:-7200} backend=cpu preload=
    if [ "$what" = gpu ]; then
        backend=cuda preload=${REFUSED_LAUNCHES:-$folder/refused_launches.so}
        [ -e "$preload" ] || cc -O2 -shared -fPIC -o "$preload" "$source/refused_launches.c"
        (sleep $((length / 2)) && touch "$folder/refuse") &
    fi
    # shellcheck disable=SC2086 # several words
    ffmpeg -nostdin -v error -re -f lavfi -i testsrc2=size=320x240:rate=25 $sound -b:v 400k -t $((length + 60)) \
        -f mpegts 'udp://127.0.0.1:23456?pkt_size=1316' &
    LD_PRELOAD=$preload REFUSE_LAUNCHES=$folder/refuse \
        "$program" live --no-preview --backend "$backend" udp://127.0.0.1:23456 --record out.mkv --duration "$length" 2>said.txt &
    ;;
film)
    length=${3:-14400}
    # shellcheck disable=SC2086
    ffmpeg -nostdin -v error -f lavfi -i testsrc2=size=320x180:rate=25,noise=alls=6:allf=t $sound -crf 30 -t 60 minute.mkv
    ffmpeg -nostdin -v error -stream_loop $((length / 60 - 1)) -i minute.mkv -c copy film.mkv
    "$program" --backend cpu --preset ultrafast --crf 35 film.mkv out.mkv 2>said.txt &
    ;;
*)
    echo "soak.sh: $what is none of live, gpu, film" >&2
    exit 2
    ;;
esac
watch_over $!
