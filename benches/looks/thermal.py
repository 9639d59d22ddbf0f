#!/usr/bin/env python3
"""Thermal pictures of real cameras by the default, `--method detail` and what others do.

    benches/looks/thermal.py FOLDER [--program histeq-video] [--sheet FILE.png]     (needs numpy, OpenCV for Python and ffmpeg)

FOLDER is `inst/extdata` of the R package Thermimage (G. Tattersall, GPL 2 or later, github.com/gtatters/Thermimage): a hand
(1024x768, a T1020, eight frames), a hummingbird at a feeder (640x480, two frames) and a heron (640x480, one picture, a
SC660), each as its sensor counted it. In 255 levels of the last frame:

* hot: how far the levels of the hottest 3 % of the samples lie apart, from their 5th to their 95th percentile: what is left
  of the shape of the warmest;
* rest: the same of all samples;
* noise: its deviation, by the median bend of three neighbouring levels, in the quiet quarter of 8x8 regions.

Peers: `stretch` brings the samples from the 0.05th to the 99.95th percentile to the whole range, `plateau` is equalization
with a plateau of 0.1 % of the samples, `CLAHE` is OpenCV's on 16 bits of the stretched samples, clip limit 4, 8x8 tiles.
"""
import argparse
import pathlib
import shlex
import struct
import subprocess
import tempfile

import cv2
import numpy as np


def raw_frames(file):
    """The frames of raw samples in records of FLIR's file format (FFF), which a JPEG holds in segments."""
    data = file.read_bytes()
    if data[:2] == b"\xff\xd8":
        at, parts = 2, {}
        while data[at + 1] != 0xDA:
            length = struct.unpack(">H", data[at + 2:at + 4])[0]
            if data[at + 1] == 0xE1 and data[at + 4:at + 9] == b"FLIR\0":
                parts[data[at + 10]] = data[at + 12:at + 2 + length]
            at += 2 + length
        data = b"".join(parts[key] for key in sorted(parts))
    start = data.find(b"FFF\0")
    while start >= 0:
        order = ">" if struct.unpack(">I", data[start + 24:start + 28])[0] < 1 << 16 else "<"
        first, count = struct.unpack(order + "II", data[start + 24:start + 32])
        # These bytes also occur in samples, with other numbers behind them.
        entries = range(start + first, start + first + 32 * count, 32) if count <= 64 else []
        for entry in entries:
            if entry + 32 <= len(data) and struct.unpack(order + "H", data[entry:entry + 2])[0] == 1:
                offset, length = struct.unpack(order + "II", data[entry + 12:entry + 20])
                record = data[start + offset:start + offset + length]
                width, height = struct.unpack("<HH", record[2:6])
                samples = record[32:]
                if samples[:2] == b"\xff\xd8":
                    command = "ffmpeg -v error -f jpegls_pipe -i - -pix_fmt gray16le -f rawvideo -"
                    samples = subprocess.run(command.split(), input=samples, stdout=subprocess.PIPE, check=True).stdout
                yield np.frombuffer(samples[:2 * width * height], "<u2").reshape(height, width)
        start = data.find(b"FFF\0", start + 4)


def stretched(samples):
    low, high = np.quantile(samples, [0.0005, 0.9995])
    return np.clip((samples - low) / (high - low), 0, 1)


def plateau(samples):
    sums = np.cumsum(np.minimum(np.bincount(samples.ravel(), minlength=65536), samples.size // 1000))
    return sums[samples] / sums[-1] * 255


def clahe(samples):
    return cv2.createCLAHE(4.0, (8, 8)).apply((stretched(samples) * 65535).astype(np.uint16)) / 257


def ours(program, options, frames):
    with tempfile.TemporaryDirectory() as folder:
        for number, frame in enumerate(frames):
            cv2.imwrite(f"{folder}/in{number:03}.png", frame)
        names = [f"{folder}/in%03d.png", f"{folder}/out%03d.png"]
        if len(frames) == 1:
            names = [name.replace("%03d", "000") for name in names]
        subprocess.run([*shlex.split(program), *shlex.split(options), "--quiet", *names], check=True)
        return cv2.imread(f"{folder}/out{len(frames) - 1:03}.png", cv2.IMREAD_ANYDEPTH) / 257


def measured(samples, out):
    spread = lambda levels: np.subtract(*np.percentile(levels, [95, 5]))
    bend = abs(out[:, :-2] - 2 * out[:, 1:-1] + out[:, 2:])
    medians = [np.median(region) for rows in np.array_split(bend, 8) for region in np.array_split(rows, 8, axis=1)]
    return spread(out[samples >= np.quantile(samples, 0.97)]), spread(out), np.quantile(medians, 0.25) / 1.652


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("folder", type=pathlib.Path)
    options.add_argument("--program", default="histeq-video")
    options.add_argument("--sheet")
    given = options.parse_args()
    files = {"hand": "SampleCSQ.csq", "hummingbird": "SampleSEQ.seq", "heron": "IR_2412.jpg"}
    print("| | " + " | ".join(f"{name}: hot | rest | noise" for name in files) + " |")
    print("|---|" + "---:|" * 3 * len(files))
    table, sheet = {}, []
    for file in files.values():
        frames = list(raw_frames(given.folder / file))
        last = frames[-1]
        outs = {"stretch": stretched(last) * 255, "plateau": plateau(last), "CLAHE": clahe(last)}
        for line in ("--levels 1 --strength 1", "", "--look thermal --method detail"):
            outs[f"`{line}`" if line else "the default"] = ours(given.program, line, frames)
        for name, out in outs.items():
            table.setdefault(name, []).extend(measured(last, out))
        tiles = [cv2.resize(out.astype(np.uint8), (480, 360), interpolation=cv2.INTER_AREA) for out in outs.values()]
        sheet.append(np.hstack(tiles))
    for name, values in table.items():
        print(f"| {name} | " + " | ".join(f"{value:.1f}" for value in values) + " |")
    if given.sheet:
        cv2.imwrite(given.sheet, np.vstack(sheet))


if __name__ == "__main__":
    main()
