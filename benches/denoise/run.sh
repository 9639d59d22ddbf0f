#!/bin/bash
# The bench of noise: benches/denoise/run.sh PROGRAM [options of run.py]. It shares its Python environment and clips with that of
# pictures, in $PICTURES, by default target/pictures.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
source "$here/../pictures/environment.sh"
exec nice "$PICTURES/python/bin/python" "$here/run.py" "$@"
