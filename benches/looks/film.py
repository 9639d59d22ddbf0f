#!/usr/bin/env python3
"""film.py [--program PROGRAM] [--pictures FOLDER] CLIP...: what old film's flicker is after `--method deflicker`, and after others.

Each clip is made to flicker in several ways; distance to the clean one and what still flickers are measured. Needs NumPy, and
FFmpeg on the PATH. Writes a table in Markdown. `--pictures` keeps a frame of each kind as made, as it was, and of all results.
"""

import argparse
import functools
import pathlib
import re
import subprocess
import tempfile

import numpy as np

SIZE, FRAMES = (384, 216), 60
PIXELS = SIZE[0] * SIZE[1]
Y, X = np.mgrid[: SIZE[1], : SIZE[0]].astype(np.float32) / np.float32([[[SIZE[1]]], [[SIZE[0]]]])


def ffmpeg(options, data=None):
    command = ["ffmpeg", "-v", "error", *options, "-f", "rawvideo", "-"]
    return np.frombuffer(bytearray(subprocess.run(command, input=data, stdout=subprocess.PIPE, check=True).stdout), np.uint8)


RAW = ["-f", "rawvideo", "-s", "{}x{}".format(*SIZE), "-r", "25"]
EXACT = "scale=flags=accurate_rnd+full_chroma_int+full_chroma_inp"


def filtered(frames, chain, pixels="gray"):
    """8-bit planes, frames x ..., through filters of FFmpeg."""
    found = ffmpeg([*RAW, "-pix_fmt", pixels, "-i", "-", "-vf", chain, "-pix_fmt", pixels], frames.tobytes())
    return found.reshape(frames.shape)


def to_yuv(rgb):
    found = ffmpeg([*RAW, "-pix_fmt", "rgb24", "-i", "-", "-vf", EXACT, "-pix_fmt", "yuv444p"], rgb.tobytes())
    return found.reshape(len(rgb), 3, SIZE[1], SIZE[0])


def to_rgb(yuv, pixels="yuv444p"):
    found = ffmpeg([*RAW, "-pix_fmt", pixels, "-i", "-", "-vf", EXACT, "-pix_fmt", "rgb24"], yuv.tobytes())
    return found.reshape(-1, SIZE[1], SIZE[0], 3)


# How film flickers. Of clean frames, 0 to 1, and a source of random numbers.

def whole(clean, random):
    return [frame ** random.uniform(0.85, 1.18) * random.uniform(0.85, 1.1) for frame in clean]


def colour(clean, random):
    return [frame ** random.uniform(0.92, 1.08, 3) * random.uniform(0.9, 1.1, 3) for frame in clean]


def smooth_field(random, points=3):
    """A random field of points x points, blended by a cubic, -1 to 1."""
    of = random.uniform(-1, 1, (points, points))
    def weights(at):
        at = at * (points - 1)
        first = np.clip(at.astype(int), 0, points - 2)
        part = at - first
        part = part * part * (3 - 2 * part)
        return first, part
    (y, of_y), (x, of_x) = weights(Y), weights(X)
    above = of[y, x] * (1 - of_x) + of[y, x + 1] * of_x
    return above * (1 - of_y) + (of[y + 1, x] * (1 - of_x) + of[y + 1, x + 1] * of_x) * of_y


def patches(clean, random):
    return [frame * (1 + 0.15 * smooth_field(random))[..., None] for frame in clean]


def rolling(phases, depth, box=False):
    def apply(clean, random):
        at = phases(len(clean), random)
        wave = [np.sin(2 * np.pi * (Y - phase)) for phase in at]
        if box:
            wave = [((Y - phase) % 1 < 0.3) * 1.0 for phase in at]
        return [frame * (1 + depth * w)[..., None] for frame, w in zip(clean, wave)]
    return apply


def evenly(frames_a_cycle):
    return lambda count, random: np.arange(count) / frames_a_cycle


def irregularly(count, random):
    return np.cumsum(random.uniform(0.02, 0.35, count))


def everything(clean, random):
    return patches(colour(whole(clean, random), random), random)


KINDS = {
    "clean": lambda clean, random: list(clean),
    "whole frame": whole,
    "colour": colour,
    "patches": patches,
    "band, 7 frames a cycle": rolling(evenly(7), 0.1),
    "band, 16 frames a cycle": rolling(evenly(16), 0.1),
    "band, irregular": rolling(irregularly, 0.15),
    "box, 9 frames a cycle": rolling(evenly(9), 0.1, True),
    "whole, colour, patches": everything,
}


# The others. Of RGB frames, unsigned bytes.

def deflicker(mode, size):
    def apply(rgb):
        yuv = to_yuv(rgb)
        yuv[:, 0] = filtered(yuv[:, 0], f"deflicker=mode={mode}:size={size}")
        return to_rgb(yuv)
    return apply


def deflicker_of_planes(mode, size):
    chain = f"deflicker=mode={mode}:size={size}"
    def apply(rgb):
        return np.stack([filtered(np.ascontiguousarray(rgb[..., channel]), chain) for channel in range(3)], -1)
    return apply


def of_planes(treat):
    """What treats planes of luma and of both differences of colour, as the plug-ins for AviSynth do."""
    def apply(rgb):
        yuv = to_yuv(rgb)
        return to_rgb(np.stack([treat(yuv[:, plane], plane) for plane in range(3)], 1))
    return apply


def shifted(planes, by):
    return planes[np.clip(np.arange(len(planes)) + by, 0, len(planes) - 1)].astype(np.int16)


def reduce_flicker(strength):
    """ReduceFlicker of R. Wittmann (Kassandro), 2005, by its description: each pixel becomes (before + 2 own + after) / 4
    as far as it oscillates."""
    def treat(planes, plane):
        own, before, after = (shifted(planes, by) for by in (0, -1, 1))
        apart = functools.reduce(np.minimum, [np.abs(own - shifted(planes, by)) for by in (-2, 2, -3, 3)[: (1, 2, 4)[strength - 1]]])
        most = np.maximum(own, np.minimum(before, after) - apart)
        least = np.minimum(own, np.maximum(before, after) + apart)
        return np.clip((before + after + 2 * own + 2) // 4, least, most).astype(np.uint8)
    return of_planes(treat)


def fizick(planes, plane, percent=0.9, lag=10):
    """DeFlicker of A. Balakhnin (Fizick), 2004: mean and deviation of luma follow those of the corrected frames before, the
    global part of the method of P. van Roosmalen, Restoration of Archived Film and Video, 1999."""
    if plane:
        return planes
    result, means, deviations = [], [], []
    for frame in planes.astype(np.float32):
        mean, deviation = frame.mean(), frame.std() + 1e-3
        if means:
            wanted = percent * np.mean(means[-lag:]) + (1 - percent) * mean
            spread = percent * np.mean(deviations[-lag:]) + (1 - percent) * deviation
        else:
            wanted, spread = mean, deviation
        means.append(wanted)
        deviations.append(spread)
        result.append((frame - mean) * (spread / deviation) + wanted)
    return np.clip(np.rint(result), 0, 255).astype(np.uint8)


def resized(planes, size):
    rows, columns = ([np.interp((np.arange(new) + 0.5) * old / new - 0.5, np.arange(old), np.eye(old)[i]) for i in range(old)]
                     for new, old in zip(size, planes.shape[1:]))
    return np.einsum("ya,nyx,xb->nab", np.float32(rows), planes.astype(np.float32), np.float32(columns), optimize=True)


def small_deflicker(luma, chroma):
    """Small_Deflicker of Didée, kurish and GMJCZP, 2.4: what a temporal mean of two frames either side, of what differs by
    less than a threshold, changes at a quarter of the size is added to the frame."""
    def treat(planes, plane):
        threshold = chroma if plane else luma
        count, height, width = planes.shape
        small = planes.reshape(count, height // 4, 4, width // 4, 4).mean((2, 4))
        sums, counts = small.copy(), np.ones_like(small)
        for by in (-2, -1, 1, 2):
            other = small[np.clip(np.arange(count) + by, 0, count - 1)]
            near = np.abs(other - small) <= threshold
            sums, counts = sums + near * other, counts + near
        change = resized(sums / counts - small, (height, width))
        return np.clip(np.rint(planes + change), 0, 255).astype(np.uint8)
    return of_planes(treat)


def local_blocks(grid, lag):
    """The local method of van Roosmalen without motion: gain of each block, against the blocks before and behind, blended."""
    def treat(planes, plane):
        if plane:
            return planes
        count, height, width = planes.shape
        rows, columns = height // grid, width // grid
        means = planes[:, : rows * grid, : columns * grid].reshape(count, grid, rows, grid, columns).mean((2, 4)) + 1
        around = np.stack([means[np.clip(np.arange(count) + by, 0, count - 1)] for by in range(-lag, lag + 1)]).mean(0)
        return np.clip(np.rint(planes * resized(around / means, (height, width))), 0, 255).astype(np.uint8)
    return of_planes(treat)


PEERS = {
    **{f"FFmpeg deflicker, {mode} {size}": deflicker(mode, size) for mode in ("am", "pm", "median") for size in (5, 10, 25)},
    **{f"FFmpeg deflicker of R, G, B, {mode} {size}": deflicker_of_planes(mode, size)
       for mode in ("am", "pm", "median") for size in (5, 10, 25)},
    **{f"ReduceFlicker {strength}": reduce_flicker(strength) for strength in (1, 2, 3)},
    "DeFlicker": of_planes(fizick),
    **{f"Small_Deflicker {preset}": small_deflicker(*of) for preset, of in enumerate(((3, 5), (7, 255), (12, 255)), 1)},
    **{f"local blocks {grid}x{grid}, {lag} either side": local_blocks(grid, lag) for grid, lag in ((4, 2), (8, 2), (8, 6))},
}


def ours(program, options):
    def apply(rgb):
        with tempfile.TemporaryDirectory() as folder:
            video, result = (f"{folder}/{name}.y4m" for name in ("in", "out"))
            command = ["ffmpeg", "-v", "error", *RAW, "-pix_fmt", "rgb24", "-i", "-", "-vf", EXACT, "-pix_fmt", "yuv444p", video]
            subprocess.run(command, input=rgb.tobytes(), check=True)
            subprocess.run([program, *options, video, result], check=True, stderr=subprocess.DEVNULL)
            return to_rgb(ffmpeg(["-i", result, "-pix_fmt", "yuv444p"]))
    return apply


# The measures.

def distance(one, other):
    """Root of the mean squared distance of the codes of R, G and B."""
    return float(np.sqrt(np.mean((one.astype(np.float32) - other) ** 2)))


def steps(frames):
    """How much the means of 16 x 9 blocks change from frame to frame, on average."""
    count, height, width, _ = frames.shape
    means = frames.reshape(count, 9, height // 9, 16, width // 16, 3).mean((2, 4))
    return float(np.abs(np.diff(means, axis=0)).mean())


def measured(found, clean):
    return distance(found, clean), steps(found) - steps(clean)


def frames_of(clip):
    chain = "scale={}:{}:flags=lanczos,format=rgb24".format(*SIZE)
    return ffmpeg(["-i", clip, "-an", "-vf", chain, "-frames:v", str(FRAMES)]).reshape(-1, SIZE[1], SIZE[0], 3)


def picture(frame, name):
    frame = np.ascontiguousarray(frame)
    subprocess.run(["ffmpeg", "-v", "error", "-y", *RAW, "-pix_fmt", "rgb24", "-i", "-", "-frames:v", "1", name], input=frame.tobytes(), check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default="histeq-video")
    parser.add_argument("--pictures", type=pathlib.Path)
    parser.add_argument("--kinds", default="", help="only those with this in their name")
    parser.add_argument("--ours", action="store_true", help="no others")
    parser.add_argument("clips", nargs="+")
    given = parser.parse_args()
    methods = {"nothing": lambda rgb: rgb, "ours": ours(given.program, ["--method", "deflicker"])}
    methods |= {} if given.ours else PEERS
    clips = [frames_of(clip) for clip in given.clips]
    kinds = {kind: make for kind, make in KINDS.items() if given.kinds in kind}
    found = {}
    for kind, make in kinds.items():
        for at, clip in enumerate(clips):
            clean = to_rgb(to_yuv(clip))
            made = make(clean.astype(np.float32) / 255, np.random.default_rng(at))
            made = np.clip(np.rint(np.stack(made) * 255), 0, 255).astype(np.uint8)
            for name, method in methods.items():
                result = method(made)
                found.setdefault((kind, name), []).append(measured(result, clean))
                if given.pictures:
                    given.pictures.mkdir(exist_ok=True)
                    picture(result[31], given.pictures / (re.sub(r"\W+", "-", f"{kind} {at} {name}") + ".png"))
    means = {key: np.mean(values, 0) for key, values in found.items()}
    named = lambda kind, name: "{:.2f} / {:.2f}".format(*means[kind, name])
    print("| kind | nothing | ours | nearest of the others | calmest of the others |\n|---|---|---|---|---|")
    for kind in kinds:
        others = [name for name in methods if name not in ("nothing", "ours")]
        # What is calm because all is white is no peer.
        calm = [name for name in others if means[kind, name][0] < max(means[kind, "nothing"][0], 10)]
        best = [min(names, default="nothing", key=lambda name: means[kind, name][measure]) for measure, names in ((0, others), (1, calm))]
        cells = [f"{named(kind, name)} {name}" for name in best]
        print(f"| {kind} | {named(kind, 'nothing')} | {named(kind, 'ours')} | {' | '.join(cells)} |")
    print("\nEach clip, ours:\n")
    print("| kind | " + " | ".join(pathlib.Path(clip).stem for clip in given.clips) + " |\n|---|" + "---|" * len(clips))
    for kind in kinds:
        cells = ["{:.2f} / {:.2f} ({:.2f} / {:.2f})".format(*of, *before) for of, before in zip(found[kind, "ours"], found[kind, "nothing"])]
        print(f"| {kind} | " + " | ".join(cells) + " |")
    if not given.ours:
        print("\n| method | " + " | ".join(kinds) + " |\n|---|" + "---|" * len(kinds))
        for name in methods:
            print(f"| {name} | " + " | ".join(named(kind, name) for kind in kinds) + " |")


main()
