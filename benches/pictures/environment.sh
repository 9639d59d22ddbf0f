# Sourced by the benches of pictures and of noise, which lie in $here: sets up their Python environment and the folder of the clips,
# $PICTURES, by default target/pictures.
export PICTURES=${PICTURES:-$here/../../target/pictures}
mkdir -p "$PICTURES"
PICTURES=$(cd "$PICTURES" && pwd)
if ! [ -e "$PICTURES/python/ready" ]; then
    python3 -m venv "$PICTURES/python"
    "$PICTURES/python/bin/pip" install --quiet numpy==2.2.6 opencv-python-headless==4.12.0.88
    touch "$PICTURES/python/ready"
fi
export PYTHONPYCACHEPREFIX=$PICTURES/bytecode
