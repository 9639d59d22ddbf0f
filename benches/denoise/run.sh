#!/bin/bash
# The bench of noise: benches/denoise/run.sh PROGRAM [options of run.py]. It shares its Python environment and clips with that of
# pictures, in $PICTURES, by default target/pictures.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
export PICTURES=${PICTURES:-$here/../../target/pictures}
mkdir -p "$PICTURES"
PICTURES=$(cd "$PICTURES" && pwd)
if ! [ -e "$PICTURES/python/ready" ]; then
    python3 -m venv "$PICTURES/python"
    "$PICTURES/python/bin/pip" install --quiet numpy==2.2.6 opencv-python-headless==4.12.0.88
    touch "$PICTURES/python/ready"
fi
export PYTHONPYCACHEPREFIX=$PICTURES/bytecode
exec nice "$PICTURES/python/bin/python" "$here/run.py" "$@"
