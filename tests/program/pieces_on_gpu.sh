#!/usr/bin/env bash
# tests/program/pieces_on_gpu.sh BUNDLE VIDEO
#
# Pieces on a machine with NVIDIA GPUs, by the program that gpu-bundle.sh has packed: they have the frames of one run on the
# CPU, also when the driver refuses all launches from the first whole piece on, and when no GPU can be opened at first, for
# which pieces are tried again. VIDEO is of a minute or more. Needs a C compiler, or refused_launches.so in
# REFUSED_LAUNCHES.
set -euo pipefail
run=$(realpath "${1:?usage: tests/program/pieces_on_gpu.sh BUNDLE VIDEO}")/run
video=$(realpath "${2:?usage: tests/program/pieces_on_gpu.sh BUNDLE VIDEO}")
source=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
preload=${REFUSED_LAUNCHES:-$folder/refused_launches.so}
[ -e "$preload" ] || cc -O2 -shared -fPIC -o "$preload" "$source/refused_launches.c"

equalize=("$run" histeq-video -y --progress none --encoder ffv1 "$video")
frames() { # FILE
    "$run" histeq-video --backend cpu --strength 0 --output-format yuv4mpegpipe "$1" - 2>/dev/null | sha256sum
}
"${equalize[@]}" one.mkv --backend cpu
expected=$(frames one.mkv)

pieces() { # WHAT VARIABLE...
    echo "$1:"
    env LD_PRELOAD="$preload" "${@:2}" "${equalize[@]}" joined.mkv --backend cuda --jobs 2 2>&1 | tee said.txt
    [ "$(frames joined.mkv)" = "$expected" ] || { echo "other frames than those of one run on the CPU" >&2; exit 1; }
}
pieces "pieces on the GPU" REFUSE_LAUNCHES=

(until [ -e .joined.mkv.pieces/000000.piece ]; do sleep 0.02; done; touch refuse) &
pieces "launches are refused" REFUSE_LAUNCHES="$folder/refuse"

touch closed
(until grep -q "trying again" said.txt; do sleep 0.02; done; rm closed) &
pieces "the GPU cannot be opened at first" REFUSE_CONTEXTS="$folder/closed"
[ ! -e closed ] || { echo "no piece was tried again" >&2; exit 1; }
echo "the frames of one run on the CPU, three times"
