#!/bin/bash
# The bench of pictures: benches/pictures/run.sh PROGRAM [--quick] [--before PROGRAM], that of bands: run.sh PROGRAM --bands,
# and that of HDR: run.sh PROGRAM --hdr [--before PROGRAM].
# README.md here says more.
# It keeps its Python environment and the clips in $PICTURES, by default target/pictures.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
source "$here/environment.sh"
script=run.py
case ${2:-} in
    --bands) script=bands.py ;;
    --hdr) script=hdr.py ;;
esac
exec nice "$PICTURES/python/bin/python" "$here/$script" "$@"
