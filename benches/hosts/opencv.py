#!/usr/bin/env python3
"""Times OpenCV's equalizeHist, or its CLAHE, and ours on one core, in turns, on the same pictures.

    pip install opencv-python-headless numpy
    cargo bench -p histeq --no-run
    taskset -c 0 python3 benches/hosts/opencv.py target/release/deps/one_frame-HASH [VIDEO...] > benches/results/cpu-opencv.md

With --clahe LIMIT,COLUMNS,ROWS before the VIDEOs it is createCLAHE(LIMIT, (COLUMNS, ROWS)). The results of both are
compared, too: they may be one level apart, no more.

HASH is what cargo prints. From each VIDEO one frame is taken, as gray, scaled to the size under test. Both write into
memory that is already there; our time includes making the curve. A turn is a burst of frames, as in a video, so that
neither runs from caches that the other has just filled. The fastest tenth of the frames is given beside the median: on
a machine that has other work to do it is the figure less disturbed.
"""

import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import cv2
import numpy as np

TURNS = 30
BURST = 10


def photo(width, height, rng):
    y, x = np.mgrid[0:height, 0:width]
    shade = 0.45 + 0.2 * np.sin(x / 310) * np.cos(y / 170) + 0.12 * np.sin((x + 2 * y) / 47)
    edges = np.where(np.sin(x / 97) + np.sin(y / 61) > 0.4, 0.15, 0.0)
    return (255 * (shade + edges) + rng.integers(0, 7, x.shape)).clip(0, 255).astype(np.uint8)


def video_frame(path, width, height):
    video = cv2.VideoCapture(path)
    video.set(cv2.CAP_PROP_POS_FRAMES, video.get(cv2.CAP_PROP_FRAME_COUNT) // 2)
    ok, frame = video.read()
    if not ok:
        sys.exit(f"{path}: no frame could be read")
    return cv2.resize(cv2.cvtColor(frame, cv2.COLOR_BGR2GRAY), (width, height), interpolation=cv2.INTER_LANCZOS4)


def pictures(width, height, videos):
    rng = np.random.default_rng(1)
    yield "photo-like", photo(width, height, rng)
    for path in videos:
        yield pathlib.Path(path).stem, video_frame(path, width, height)
    yield "noise", rng.integers(0, 256, (height, width), dtype=np.uint8)
    yield "flat", np.full((height, width), 77, np.uint8)
    yield "near-black", rng.integers(15, 19, (height, width), dtype=np.uint8)


def compare(program, picture, folder, clahe):
    height, width = picture.shape
    raw, out = folder / "in.gray", folder / "out.gray"
    picture.tofile(raw)
    theirs, ours = [], []
    equalized = np.empty_like(picture)
    if clahe:
        limit, columns, rows = clahe
        equalize = cv2.createCLAHE(float(limit), (int(columns), int(rows))).apply
    else:
        equalize = cv2.equalizeHist
    with subprocess.Popen(
        [program, raw, str(width), str(height), out, *clahe], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    ) as child:
        for _ in range(TURNS):
            for _ in range(BURST):
                start = time.perf_counter_ns()
                equalize(picture, equalized)
                theirs.append(time.perf_counter_ns() - start)
            child.stdin.write(f"{BURST}\n")
            ours += [int(child.stdout.readline()) for _ in range(BURST)]
        child.stdin.close()
    apart = np.abs(np.fromfile(out, np.uint8).reshape(picture.shape).astype(int) - equalized).max()
    if apart > 1:
        sys.exit(f"the results are {apart} levels apart")
    return [(statistics.median(times) / 1e6, statistics.quantiles(times, n=10)[0] / 1e6) for times in (theirs, ours)]


def main():
    cv2.setNumThreads(1)
    program, videos = sys.argv[1], sys.argv[2:]
    clahe = []
    if videos[:1] == ["--clahe"]:
        clahe, videos = videos[1].split(","), videos[2:]
    print(f"Milliseconds a frame, median and fastest tenth; OpenCV {cv2.__version__}.\n")
    print("| picture | size | OpenCV | | ours | | ratio | |\n|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for width, height in [(1920, 1080), (3840, 2160)]:
            for name, picture in pictures(width, height, videos):
                theirs, ours = compare(program, picture, pathlib.Path(folder), clahe)
                ratios = [their / our for their, our in zip(theirs, ours)]
                cells = [f"{figure:.3f}" for figure in theirs + ours] + [f"{ratio:.2f}" for ratio in ratios]
                print(f"| {name} | {width}x{height} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
