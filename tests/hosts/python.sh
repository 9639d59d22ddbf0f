#!/usr/bin/env bash
# The module for Python: builds the wheel, installs it in a fresh virtual environment, and runs the tests of tests/hosts/python
# there: the conformance vectors, three clips and every look against the program, arrays of every kind, the notebook; arrays on a
# GPU where there is one.
# tests/hosts/python.sh [--release] [PYTHON]: with this Python, 3.11 or newer, else python3. With --release, the wheel is that of
# users, and then pip builds and installs it from src/python by itself.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../support/setup.sh"
profile=dev
[ "${1:-}" != --release ] || { profile=release && shift; }
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
"$folder/built/bin/maturin" build --quiet --profile $profile -m src/python/Cargo.toml -o "$folder/wheel"

"$python" -m venv "$folder/wheel-in"
"$folder/wheel-in/bin/pip" install --quiet "$folder"/wheel/histeq-*.whl numpy opencv-python-headless matplotlib nbclient ipykernel
(cd tests/hosts/python && "$folder/wheel-in/bin/python" -m unittest -v)
echo "the wheel of $("$folder/wheel-in/bin/python" -c 'import histeq; print(histeq.__version__)') does what its tests ask for"
[ $profile = release ] || exit 0

"$python" -m venv "$folder/from-source"
"$folder/from-source/bin/pip" install --quiet ./src/python numpy
(cd tests/hosts/python && "$folder/from-source/bin/python" -m unittest test_arrays)
echo "so does what pip makes of the folder"
