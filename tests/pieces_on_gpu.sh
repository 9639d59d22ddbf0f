#!/usr/bin/env bash
# tests/pieces_on_gpu.sh BUNDLE VIDEO
#
# Pieces on a machine with NVIDIA GPUs, by the programs that gpu-bundle.sh has packed: worked on by all GPUs they have the
# frames of one run on the CPU, and pieces that lose their GPU are tried again. VIDEO is of half a minute or more. Needs a C
# compiler, or refused_launches.so in REFUSED_LAUNCHES.
set -euo pipefail
run=$(realpath "${1:?usage: tests/pieces_on_gpu.sh BUNDLE VIDEO}")/run
video=$(realpath "${2:?usage: tests/pieces_on_gpu.sh BUNDLE VIDEO}")
source=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

equalize() { # OUTPUT OPTIONS...
    "$run" histeq-video -y --encoder ffv1 "$video" "$@"
}
frames() { # FILE
    "$run" histeq-video --backend cpu --strength 0 --output-format yuv4mpegpipe "$1" - 2>/dev/null | sha256sum
}
same() { # WHAT
    [ "$(frames joined.mkv)" = "$expected" ] || { echo "$1: other frames than those of one run on the CPU" >&2; exit 1; }
    echo "$1: the frames of one run on the CPU"
}

equalize one.mkv --backend cpu
expected=$(frames one.mkv)
equalize joined.mkv --backend cuda --jobs 4
same "pieces on the GPU"

preload=${REFUSED_LAUNCHES:-$folder/refused_launches.so}
[ -e "$preload" ] || cc -O2 -shared -fPIC -o "$preload" "$source/refused_launches.c"
# The GPU launches nothing until the first piece has found out.
touch refuse said.txt
(until grep -q "trying again" said.txt; do sleep 0.02; done; rm refuse) &
LD_PRELOAD=$preload REFUSE_LAUNCHES=$folder/refuse equalize joined.mkv --backend cuda --jobs 2 2>said.txt ||
    { cat said.txt >&2; exit 1; }
wait
grep "trying again" said.txt
same "pieces that lost their GPU"
