#!/usr/bin/env bash
# The module for Python as people install it: builds the wheel by one command, installs it in a fresh virtual environment, and runs
# the tests of tests/hosts/python there: the conformance vectors, three clips and every look against the program, arrays of every kind,
# the notebook; arrays on a GPU where there is one. Then pip builds and installs it from src/python by itself in another one.
# tests/hosts/python.sh [PYTHON]: with this Python, 3.11 or newer, else python3.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../support/setup.sh"
python=${1:-python3}
set_up ffmpeg python3-venv
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || fail "needs Python 3.11 or newer"
if [ -z "${HISTEQ_PROGRAM:-}" ]; then
    cargo build --quiet --locked
    HISTEQ_PROGRAM=$(cargo metadata --locked --format-version 1 --no-deps | sed -n 's/.*"target_directory":"\([^"]*\)".*/\1/p')/debug/histeq-video
fi
export HISTEQ_PROGRAM PIP_DISABLE_PIP_VERSION_CHECK=1

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$python" -m venv "$folder/built"
"$folder/built/bin/pip" install --quiet maturin
"$folder/built/bin/maturin" build --quiet --release -m src/python/Cargo.toml -o "$folder/wheel"

"$python" -m venv "$folder/wheel-in"
"$folder/wheel-in/bin/pip" install --quiet "$folder"/wheel/histeq-*.whl numpy opencv-python-headless matplotlib nbclient ipykernel
(cd tests/hosts/python && "$folder/wheel-in/bin/python" -m unittest -v)

"$python" -m venv "$folder/from-source"
"$folder/from-source/bin/pip" install --quiet ./src/python numpy
(cd tests/hosts/python && "$folder/from-source/bin/python" -m unittest test_arrays)
echo "histeq $("$folder/from-source/bin/python" -c 'import histeq; print(histeq.__version__)'): the wheel, and pip from the folder"
