"""Sheets of unlabelled versions of moving scenes, for judges, and what still flickers in each.

    moving.py CLIPS OUT --program NEW --before OLD

CLIPS has the folders `flickers`, of clips whose light should be steady, and `meant`, of those whose light is meant to
change. OUT gets `NNN.png`, six frames of each version above a line of its mean level over time, and `key.json`, as of
`eye.py`, which makes tables of choices. On stdout: for each clip and version, the mean change of the frame's median from
frame to frame, in percent.
"""

import argparse
import json
import pathlib
import random
import string
import subprocess
import tempfile

import cv2
import numpy as np

SIZE, SECONDS, SHOWN, CELL = 480, 4, 6, 200


def run(*command):
    subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def filtered(path, out, chain):
    run("ffmpeg", "-v", "error", "-y", "-i", path, "-an", "-vf", chain, "-c:v", "ffv1", out)


def frames(path):
    capture, found = cv2.VideoCapture(str(path)), []
    while (read := capture.read())[0]:
        found.append(read[1])
    return found


def versions(kind, path, args, folder):
    """The clip and what programs make of it: names and files."""
    made = {name: folder / f"{name}.mkv" for name in ("input", "ours", "before")}
    run("ffmpeg", "-v", "error", "-y", "-t", SECONDS, "-i", path, "-an", "-vf", f"scale={SIZE}:-2:flags=area,format=yuv420p",
        "-c:v", "ffv1", made["input"])
    options = ["-y", "-q", "--backend", "cpu", "--denoise", "0", "--encoder", "ffv1"]
    run(args.program, *options, made["input"], made["ours"])
    run(args.before, *options, made["input"], made["before"])
    if kind == "flickers":
        made |= {name: folder / f"{name}.mkv" for name in ("FFmpeg's deflicker, before", "by hand, before")}
        calm = folder / "calm.mkv"
        filtered(made["input"], calm, "deflicker=mode=am:size=10")
        run(args.before, *options, calm, made["FFmpeg's deflicker, before"])
        run(args.before, *options, "--method", "deflicker", made["input"], calm)
        run(args.before, *options, calm, made["by hand, before"])
    return {name: frames(file) for name, file in made.items()}


def strip(letter, found):
    """Six frames of one second in the middle, above the mean of all."""
    first, apart = max(len(found) // 2 - 12, 0), max(min(len(found), 24) // SHOWN, 1)
    shown = [found[min(first + apart * index, len(found) - 1)] for index in range(SHOWN)]
    height = round(CELL * shown[0].shape[0] / shown[0].shape[1])
    row = np.hstack([cv2.resize(frame, (CELL, height), interpolation=cv2.INTER_AREA) for frame in shown])
    plot = np.full((64, row.shape[1], 3), 24, np.uint8)
    means = np.array([frame.mean() for frame in found])
    points = np.stack([np.linspace(0, row.shape[1] - 1, len(means)), 63 - means * 63 / 255], 1).astype(np.int32)
    cv2.polylines(plot, [points], False, (255, 255, 255), 1, cv2.LINE_AA)
    cv2.putText(row, letter, (6, 22), cv2.FONT_HERSHEY_SIMPLEX, 0.8, (0, 255, 255), 2, cv2.LINE_AA)
    return cv2.copyMakeBorder(np.vstack([row, plot]), 0, 8, 0, 0, cv2.BORDER_CONSTANT, value=(128, 128, 128))


def flicker(found):
    levels = [np.median(cv2.resize(frame, (16, 12), interpolation=cv2.INTER_AREA).mean(2)) for frame in found]
    return 100 * np.abs(np.diff(np.log2(np.maximum(levels, 4)))).mean()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("clips", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--program", required=True)
    parser.add_argument("--before", required=True)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    chance, key = random.Random(7), {}
    clips = [(path.parent.name, path) for path in sorted(args.clips.glob("*/*.mp4")) if path.parent.name in ("flickers", "meant")]
    chance.shuffle(clips)
    for number, (kind, path) in enumerate(clips, 1):
        with tempfile.TemporaryDirectory() as folder:
            made = versions(kind, path, args, pathlib.Path(folder))
        print(kind, path.stem, *(f"{name}: {flicker(found):.2f}" for name, found in made.items()), sep="\t", flush=True)
        groups = []
        for name, found in made.items():
            apart = lambda other: np.mean([np.abs(a.astype(int) - b).mean() for a, b in zip(made[other], found)])
            same = next((group for group in groups if apart(group[0]) < 0.5), None)
            same.append(name) if same else groups.append([name])
        if len(groups) < 2:
            continue
        chance.shuffle(groups)
        letters = list(zip(string.ascii_uppercase, groups))
        cv2.imwrite(str(args.out / f"{number:03}.png"), np.vstack([strip(letter, made[group[0]]) for letter, group in letters]))
        key[f"{number:03}"] = {"kind": kind, "scene": path.stem, "versions": dict(letters)}
    (args.out / "key.json").write_text(json.dumps(key, indent=1))


main()
