#!/usr/bin/env bash
# night-operator.sh [CAMERA]: records a dark scene from a network camera (rtsp://camera.local/stream) until Ctrl-C, and takes a
# picture from the recording. Without CAMERA, the sample clip plays its part, in real time.
set -euo pipefail
camera=${1:-$(dirname "$(realpath "$0")")/../parking-lot.mp4}

# The camera has a minute to start. When it is lost, the recording goes on with it.
histeq-video live --no-preview --wait=60 --look night --record night.mkv "$camera"

# The recording is equalized already: the picture is taken as it is.
histeq-video --strength 0 --levels 1 --denoise 0 --start 0.2 --frames 1 night.mkv night.png
