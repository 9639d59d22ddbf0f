#!/usr/bin/env bash
# benches/suites.sh OUT
#
# Runs every suite of `histeq-lab` and keeps its tables in the folder OUT: SUITE.md (Markdown), SUITE.csv, and
# comparison.md with the figures of the five publications beside this machine's. HISTEQ_LAB_BIN names the program (and
# may hold more words: "./run histeq-lab"); default is this tree's release build. About eight minutes on 16 cores with a
# GPU.
set -euo pipefail
out=${1:?usage: benches/suites.sh OUT}
here=$(dirname -- "${BASH_SOURCE[0]}")
read -ra program <<< "${HISTEQ_LAB_BIN:-${CARGO_TARGET_DIR:-$here/../target}/release/histeq-lab}"
mkdir -p "$out"

# suite NAME OPTIONS...: one suite under its own name, or under $as.
suite() {
    local name=${as:-$1} begin=$SECONDS
    "${program[@]}" "$@" --csv "$out/$name.csv" > "$out/$name.md"
    echo "$name: $((SECONDS - begin)) s"
}

for name in stages luminance; do
    suite "$name" --repeat 21 --warmup 3
done
# Two that also read and write PNG files, and run Python.
for name in cdf-min scans; do
    suite "$name" --repeat 7 --warmup 1
done
# What the publications' own arithmetic makes of the same images, and how many samples come out otherwise.
for name in stages cdf-min scans luminance; do
    as=$name-own suite "$name" --formula own --repeat 3 --warmup 1
done
suite bins --repeat 5 --warmup 1
suite kernels --repeat 11 --warmup 2
suite stream --repeat 5 --warmup 1
suite cpu --repeat 3 --warmup 1
# The publications' tables show what their own arithmetic gains.
"${program[@]}" --compare references --formula own --repeat 3 --warmup 1 > "$out/comparison.md"
echo "all: $SECONDS s, in $out"
