#!/usr/bin/env bash
# student.sh [VIDEO]: what the textbook's equalization and CLAHE make of a second of a video, and why.
set -euo pipefail
video=${1:-$(dirname "$(realpath "$0")")/../parking-lot.mp4}

# --verify computes each frame again by the simplest implementation, and reports the first difference.
second=(--duration 1 --encoder ffv1 --verify)
histeq-video --exact "${second[@]}" --save-curves curves.jsonl --stats textbook.html "$video" textbook.mkv
histeq-video --method clahe "${second[@]}" "$video" clahe.mkv
histeq-video compare textbook.mkv clahe.mkv side-by-side.mkv

# A curve is a number for each level: what becomes of dark, middle and bright ones in the first frame.
python3 - <<'PYTHON'
import json

first = json.loads(open("curves.jsonl").read().splitlines()[1])
for level in (32, 64, 128, 192):
    print(f"level {level} becomes {first['lut'][level]}")
PYTHON
