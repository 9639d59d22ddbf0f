#!/usr/bin/env python3
"""Small differences beside large ones in a thermal picture: `--method detail` beside what others do.

    benches/looks/detail.py [--program histeq-video] [--sheet FILE.jpg]        (needs numpy, scipy and OpenCV for Python)

The scene is made here, in counts of 16 bits with noise of 6 of them: a wall with joints and a ceiling with ribs, a cold pipe
under it, a person before the wall, and a motor half the range hotter. The program gets 25 frames of it, with noise of their
own, and its last one counts; the others need no more than one. All results are compared in 255 levels:

* structures: how far the levels on both sides of a small structure lie apart, mean over it, without noise;
* noise: the standard deviation in a flat part of the wall;
* overshoot: how far the wall deviates within 16 pixels of the motor from what it is further away, at most.

Peers, as their best user sets them up:
* stretch: the levels in use become the whole range;
* plateau: histogram equalization with a plateau of 0.1 % of the pixels;
* CLAHE: OpenCV's on 16 bits of the stretched levels, clip limit 4, 8x8 tiles;
* DDE: detail enhancement as FLIR describes it: a bilateral filter gives the base, which is plateau-equalized, the rest is
  amplified (here by 4) and added;
* guided: the same with a guided filter, radius 16.
"""
import argparse
import os
import shlex
import subprocess
import tempfile

import cv2
import numpy as np
from scipy.ndimage import gaussian_filter

WIDTH, HEIGHT, NOISE = 640, 512, 6.0
# The motor, as columns and rows.
MOTOR = (slice(300, 440), slice(440, 580))


def scene():
    """The counts without noise, and for each structure the places on both of its sides."""
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH].astype(float)
    counts = 20000 + 60 * (y / HEIGHT)
    joints = ((x / 40 + (y // 24) % 2 * 0.5) % 1 < 0.06) | (y % 24 < 2)
    counts[joints] += 25
    ribs = np.sin(x / 7)
    counts[:90] = (19600 + 15 * ribs)[:90]
    pipe = abs(y - 50 - 0.03 * x) < 14
    rings = x % 60 < 4
    counts[pipe] = 19150 + 80 * rings[pipe]
    body = ((x - 220) / 46) ** 2 + ((y - 330) / 150) ** 2 < 1
    cloth = np.sin(x / 9) * np.cos(y / 17)
    counts[body] = 21250 + 120 * cloth[body]
    head = ((x - 220) / 30) ** 2 + ((y - 160) / 36) ** 2 < 1
    counts[head] = 21700
    eyes = ((abs(x - 220) - 11) / 5) ** 2 + ((y - 152) / 4) ** 2 < 1
    counts[eyes] = 21850
    motor = np.zeros_like(pipe)
    motor[MOTOR] = True
    fins = np.sin(x / 4)
    counts[motor] = (30000 + 250 * fins + 2 * (y - 300))[motor]
    counts = gaussian_filter(counts, 0.8)
    inner = cv2.erode(motor.astype(np.uint8), np.ones((9, 9))) > 0
    free = (y > 110) & (x > 300) & (x < 410)
    near_eyes = head & ~(cv2.dilate(eyes.astype(np.uint8), np.ones((7, 7))) > 0)
    sides = {
        "joints of a wall": (free & (y % 24 < 2), free & (y % 24 > 8) & (y % 24 < 16)),
        "ribs of a ceiling": ((y < 20) & (ribs > 0.7), (y < 20) & (ribs < -0.7)),
        "rings of a cold pipe": (pipe & (x % 60 > 0) & (x % 60 < 3), pipe & (x % 60 > 20)),
        "folds of cloth": (body & (cloth > 0.7), body & (cloth < -0.7)),
        "eyes": (eyes, near_eyes),
        "fins of a motor": (inner & (fins > 0.7), inner & (fins < -0.7)),
    }
    return counts, sides


def stretched(counts):
    low, high = np.quantile(counts, [0.0005, 0.9995])
    return np.clip((counts - low) / (high - low), 0, 1)


def plateau(counts, of=None):
    """Equalization by the histogram of `of`, or of these."""
    codes = np.clip(np.round(counts), 0, 65535).astype(int)
    found = np.bincount(codes.ravel() if of is None else np.round(of).astype(int).ravel(), minlength=65536)
    sums = np.cumsum(np.minimum(found, codes.size // 1000))
    return sums[codes] / sums[-1] * 255


def clahe(counts):
    return cv2.createCLAHE(4.0, (8, 8)).apply((stretched(counts) * 65535).astype(np.uint16)) / 257


def split(counts, base_of, gain=4):
    low, high = np.quantile(counts, [0.0005, 0.9995])
    levels = ((counts - low) / (high - low)).astype(np.float32)
    base = base_of(levels)
    return np.clip(plateau(low + base * (high - low)) + (levels - base) * gain * 255, 0, 255)


def guided(levels, radius=16, softness=4e-4):
    box = lambda plane: cv2.blur(plane, (2 * radius + 1, 2 * radius + 1))
    mean, square = box(levels), box(levels * levels)
    slope = (square - mean * mean) / (square - mean * mean + softness)
    return box(slope) * levels + box(mean - slope * mean)


def ours(program, options, frames, folder):
    for number, frame in enumerate(frames):
        cv2.imwrite(f"{folder}/in{number:03}.png", np.clip(np.round(frame), 0, 65535).astype(np.uint16))
    command = [*shlex.split(program), *shlex.split(options), "--quiet", "-y", f"{folder}/in%03d.png", f"{folder}/out%03d.png"]
    subprocess.run(command, check=True)
    return cv2.imread(f"{folder}/out{len(frames) - 1:03}.png", cv2.IMREAD_UNCHANGED) / 257


def measured(out, sides):
    rows = [abs(out[one].mean() - out[other].mean()) for one, other in sides.values()]
    rows.append(out[344:352, 326:356].std())
    _, columns = MOTOR
    # Between joints, on the left of the motor: each column's mean, less that of columns further away.
    beside = np.mean([out[top + 8:top + 16, :] for top in range(312, 432, 24)], axis=(0, 1))
    clear = lambda begin, end: [at for at in range(columns.start - begin, columns.start - end) if 5 <= at % 20 <= 17]
    rows.append(abs(beside[clear(16, 3)] - beside[clear(80, 40)].mean()).max())
    return rows


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--program", default="histeq-video")
    options.add_argument("--sheet")
    given = options.parse_args()
    counts, sides = scene()
    random = np.random.default_rng(1)
    frames = [counts + random.normal(0, NOISE, counts.shape) for _ in range(25)]
    last = frames[-1]
    results = {
        "stretch": stretched(last) * 255,
        "plateau": plateau(last),
        "CLAHE, 16 bits": clahe(last),
        "DDE": split(last, lambda levels: cv2.bilateralFilter(levels, -1, 0.05, 12)),
        "guided": split(last, guided),
    }
    with tempfile.TemporaryDirectory() as folder:
        for more in ["", " --method clahe", " --method detail", " --method detail --set tiles=12x9"]:
            name = f"--look thermal{more}"
            results[name] = ours(given.program, name, frames, folder)
    print("| | " + " | ".join([*sides, "noise", "overshoot"]) + " |")
    print("|---|" + "---:|" * (len(sides) + 2))
    for name, out in results.items():
        name = f"`{name}`" if name.startswith("--") else name
        print(f"| {name} | " + " | ".join(f"{value:.1f}" for value in measured(out, sides)) + " |")
    if given.sheet:
        tiles = []
        for name, out in results.items():
            tile = np.clip(np.round(out), 0, 255).astype(np.uint8)
            tiles.append(cv2.putText(tile.copy(), name.replace("--look thermal", "thermal"), (8, 24), 0, 0.7, 255, 2))
        rows = [np.hstack(tiles[at:at + 4]) for at in (0, 4)]
        cv2.imwrite(given.sheet, cv2.resize(np.vstack(rows), None, fx=0.6, fy=0.6, interpolation=cv2.INTER_AREA))


if __name__ == "__main__":
    main()
