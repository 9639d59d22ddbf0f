#!/usr/bin/env python3
"""Times the module for Python beside OpenCV, in one process, in turns, on the same pictures of 1920x1080, on one core and on all.

    pip install ./src/python opencv-python-headless numpy
    python3 benches/hosts/python.py samples/coast.mp4 samples/parking-lot.mp4 > table.md

From each VIDEO one frame is taken, scaled; a picture that is made like a photo is added. Both write into memory that is already
there (`out=`, `dst`). A turn is a burst of calls, so that neither runs from caches that the other has just filled. For colour,
OpenCV has the luma of YCrCb equalized, which takes two conversions. Plain results have to agree: within one level, gray as it is.
"""

import os
import pathlib
import platform
import statistics
import sys
import time

import cv2
import numpy as np

import histeq

TURNS, BURST = 12, 4
FRAMES = 20
SIZE = (1920, 1080)


def photo():
    rng = np.random.default_rng(1)
    y, x = np.mgrid[0 : SIZE[1], 0 : SIZE[0]]
    shade = 0.45 + 0.2 * np.sin(x / 310) * np.cos(y / 170) + 0.12 * np.sin((x + 2 * y) / 47)
    edges = np.where(np.sin(x / 97) + np.sin(y / 61) > 0.4, 0.15, 0.0)
    gray = 200 * (shade + edges) + rng.integers(0, 7, x.shape)
    return np.stack([gray * 0.8, gray * 0.95, gray + 20], axis=-1).clip(0, 255).astype(np.uint8)


def pictures(videos):
    yield "photo-like", photo()
    for path in videos:
        video = cv2.VideoCapture(path)
        video.set(cv2.CAP_PROP_POS_FRAMES, video.get(cv2.CAP_PROP_FRAME_COUNT) // 2)
        ok, frame = video.read()
        if not ok:
            sys.exit(f"{path}: no frame could be read")
        frame = cv2.cvtColor(cv2.resize(frame, SIZE, interpolation=cv2.INTER_LANCZOS4), cv2.COLOR_BGR2RGB)
        yield pathlib.Path(path).stem, frame


def jobs(rgb, threads):
    """What is measured: kind, our method, theirs, our call, their call."""
    gray = cv2.cvtColor(rgb, cv2.COLOR_RGB2GRAY)
    gray_out, rgb_out = np.empty_like(gray), np.empty_like(rgb)
    gray_dst, rgb_dst, middle = np.empty_like(gray), np.empty_like(rgb), np.empty_like(rgb)
    clahe = cv2.createCLAHE(2.0, (8, 8))

    def coloured(equalize):
        def call():
            cv2.cvtColor(rgb, cv2.COLOR_RGB2YCrCb, middle)
            middle[..., 0] = equalize(np.ascontiguousarray(middle[..., 0]))
            return cv2.cvtColor(middle, cv2.COLOR_YCrCb2RGB, rgb_dst)

        return call

    def ours(array, out, **options):
        return lambda: histeq.equalize(array, out=out, backend="cpu", threads=threads, **options)

    plain, local = lambda: cv2.equalizeHist(gray, gray_dst), lambda: clahe.apply(gray, gray_dst)
    yield "gray", 'look="exact"', "equalizeHist", ours(gray, gray_out, look="exact"), plain
    yield "gray", 'method="global"', "equalizeHist", ours(gray, gray_out, method="global"), plain
    yield "gray", "the default", "equalizeHist", ours(gray, gray_out), plain
    yield "gray", 'method="clahe"', "CLAHE", ours(gray, gray_out, method="clahe"), local
    plain, local = coloured(cv2.equalizeHist), coloured(clahe.apply)
    yield "RGB", 'look="exact"', "equalizeHist", ours(rgb, rgb_out, look="exact"), plain
    yield "RGB", 'method="global"', "equalizeHist", ours(rgb, rgb_out, method="global"), plain
    yield "RGB", "the default", "equalizeHist", ours(rgb, rgb_out), plain
    yield "RGB", 'the default, `denoise=0`', "equalizeHist", ours(rgb, rgb_out, denoise=0), plain
    yield "RGB", 'method="clahe"', "CLAHE", ours(rgb, rgb_out, method="clahe"), local


def video(rgb):
    """A video on all cores: the calls are those of FRAMES frames."""
    gray = cv2.cvtColor(rgb, cv2.COLOR_RGB2GRAY)
    out, dst, clahe = np.empty_like(gray), np.empty_like(gray), cv2.createCLAHE(2.0, (8, 8))

    def ours(**options):
        equalizer = histeq.Equalizer(backend="cpu", **options)

        def call():
            for _ in equalizer.iterate([gray] * FRAMES, out=out):
                pass
            equalizer.restart()

        return call

    def theirs(equalize):
        return lambda: [equalize(gray, dst) for _ in range(FRAMES)]

    yield "gray, a video", 'look="exact"', "equalizeHist", ours(look="exact"), theirs(cv2.equalizeHist)
    yield "gray, a video", 'method="clahe"', "CLAHE", ours(method="clahe"), theirs(clahe.apply)


def measure(ours, theirs):
    """Milliseconds a call of both, in turns."""
    times = ([], [])
    for turn in range(TURNS + 1):
        for call, list_of in zip((theirs, ours), times):
            for _ in range(BURST):
                begin = time.perf_counter_ns()
                call()
                if turn > 0:
                    list_of.append(time.perf_counter_ns() - begin)
    return [(statistics.median(list_of) / 1e6, statistics.quantiles(list_of, n=10)[0] / 1e6) for list_of in times]


def main():
    cores = sorted(os.sched_getaffinity(0))
    processor = next(line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name"))
    probe = histeq.Equalizer(backend="cpu", look="exact")
    probe.push(np.zeros((16, 16), np.uint8))
    versions = f"OpenCV {cv2.__version__}, NumPy {np.__version__}, Python {platform.python_version()}"
    print(f"{processor}, {len(cores)} cores, `{probe.backend}`; {versions}.\n")
    for title, own, threads, theirs in [("One core", cores[-1:], 1, 1), ("All cores", cores, None, len(cores))]:
        os.sched_setaffinity(0, own)
        cv2.setNumThreads(theirs)
        print(f"## {title}\nMilliseconds a picture, median and fastest tenth, and how many times as fast ours is.\n")
        print("| picture | | ours | OpenCV | OpenCV takes | | ours takes | | ratio | |")
        print("|---|---|---|---|---|---|---|---|---|---|")
        for name, rgb in pictures(sys.argv[1:]):
            rows = [(*job, 1) for job in jobs(rgb, threads)]
            rows += [(*job, FRAMES) for job in video(rgb)] if threads is None else []
            for kind, method, function, our_call, their_call, frames in rows:
                if (kind, method) == ("gray", 'look="exact"'):
                    apart = np.abs(our_call().astype(int) - their_call()).max()
                    if apart > 1:
                        sys.exit(f"{name}: the results are {apart} levels apart")
                figures = measure(our_call, their_call)
                ratios = [their / our for their, our in zip(*figures)]
                cells = [f"{figure / frames:.2f}" for figure in (*figures[0], *figures[1])]
                cells += [f"{ratio:.2f}" for ratio in ratios]
                method = method if method.startswith("the") else f"`{method}`"
                print(f"| {name} | {kind} | {method} | `{function}` | {' | '.join(cells)} |", flush=True)
        print()


if __name__ == "__main__":
    main()
