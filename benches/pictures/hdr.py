"""HDR beside the truth: clips in linear light, coded as HLG or PQ with ten bits, and compared as SDR. README.md says more.

The light of a clip, with white at 203 cd/m2 (ITU-R BT.2408), becomes BT.2020, and by ITU-R BT.2100 PQ, or HLG for a display of
1000 cd/m2. What comes of it goes the same way back, is cut off at white, and becomes sRGB.

Usage: run.sh PROGRAM --hdr [--before PROGRAM] [--held-back]
"""

import argparse
import multiprocessing
import os
import pathlib
import tempfile
import zlib

import cv2
import numpy as np

from common.clips import CLIPS, FRAMES, load
from common.degrade import Clip, haze, low_light
from common.frames import command, ffmpeg
from common.measures import COMPARED, ciede2000, contrast, lab, luma_of, ssim

CACHE = pathlib.Path(os.environ["PICTURES"])
WHITE, DISPLAY = 203.0, 1000.0      # cd/m2
TO_2020 = np.float32([[0.6274, 0.3293, 0.0433], [0.0691, 0.9195, 0.0114], [0.0164, 0.0880, 0.8956]])
LUMA = np.float32([0.2627, 0.6780, 0.0593])
A, B, C = 0.17883277, 0.28466892, 0.55991073
M1, M2, C1, C2, C3 = 0.1593017578125, 78.84375, 0.8359375, 18.8515625, 18.6875

KINDS = {
    "clean HLG": ("hlg", lambda c, r: c.light),
    "clean PQ": ("pq", lambda c, r: c.light),
    "dark HLG": ("hlg", lambda c, r: low_light(c, r, 1 / 16)),
    "dark PQ": ("pq", lambda c, r: low_light(c, r, 1 / 16)),
    "haze HLG": ("hlg", lambda c, r: haze(c, r, 0.25, 1, 1.0)),
}
TAGS = {"hlg": "arib-std-b67", "pq": "smpte2084"}
MEASURES = ("dE", "SSIM", "contrast", "bright", "mean light, cd/m2", "peak, cd/m2")


def to_signal(light, transfer):
    """Red, green and blue of BT.2020 in cd/m2 as a signal from 0 to 1."""
    if transfer == "pq":
        power = (np.maximum(light, 0) / 10_000) ** M1
        return ((C1 + C2 * power) / (1 + C3 * power)) ** M2
    light = np.maximum(light, 0) / DISPLAY
    scene = light * np.maximum(light @ LUMA, 1e-9)[..., None] ** (-0.2 / 1.2)
    return np.where(scene <= 1 / 12, np.sqrt(3 * scene), A * np.log(np.maximum(12 * scene - B, 1e-9)) + C)


def to_light(signal, transfer):
    signal = np.clip(signal, 0, 1)
    if transfer == "pq":
        power = signal ** (1 / M2)
        return 10_000 * (np.maximum(power - C1, 0) / (C2 - C3 * power)) ** (1 / M1)
    scene = np.where(signal <= 0.5, signal**2 / 3, (np.exp((signal - C) / A) + B) / 12)
    return DISPLAY * scene * np.maximum(scene @ LUMA, 1e-9)[..., None] ** 0.2


def write(light, path, transfer):
    """Linear light of BT.709, 1 for white, as a file."""
    signal = to_signal(WHITE * (np.maximum(light, 0) @ TO_2020.T), transfer)
    y = signal @ LUMA
    planes = [y, (signal[..., 2] - y) / 1.8814, (signal[..., 0] - y) / 1.4746]
    count, height, width = y.shape
    data = bytearray()
    for luma, blue, red in zip(*planes):
        data += np.round(64 + 876 * luma).clip(4, 1019).astype("<u2").tobytes()
        for chroma in (blue, red):
            half = cv2.resize(chroma.astype(np.float32), (width // 2, -(-height // 2)), interpolation=cv2.INTER_AREA)
            data += np.round(512 + 896 * half).clip(4, 1019).astype("<u2").tobytes()
    tags = ("-color_range", "tv", "-colorspace", "bt2020nc", "-color_primaries", "bt2020", "-color_trc", TAGS[transfer])
    told = f"setparams=range=tv:colorspace=bt2020nc:color_primaries=bt2020:color_trc={TAGS[transfer]}"
    ffmpeg("-f", "rawvideo", "-pix_fmt", "yuv420p10le", "-s", f"{width}x{height}", "-r", 25, "-i", "-", "-vf", told, *tags,
           "-threads", 1, "-c:v", "libx265", "-preset", "veryfast", "-crf", 18, "-x265-params", "log-level=none:pools=1", path, stdin=bytes(data))


def read(path, size, transfer):
    """The compared frames of a file: as sRGB, and the light of their luma in cd/m2."""
    width, height = size
    out = ffmpeg("-i", path, "-pix_fmt", "yuv420p10le", "-fps_mode", "passthrough", "-f", "rawvideo", "-")
    half = (-(-height // 2), width // 2)
    frames = np.frombuffer(out, "<u2").reshape(-1, width * height + 2 * half[0] * half[1])[COMPARED]
    pictures, light = [], []
    for frame in frames:
        y = (frame[: width * height].reshape(height, width) - 64.0) / 876
        b, r = ((cv2.resize(c.astype(np.float32), size, interpolation=cv2.INTER_LINEAR) - 512) / 896
                for c in frame[width * height :].reshape(2, *half))
        red, blue = y + 1.4746 * r, y + 1.8814 * b
        signal = np.stack([red, (y - LUMA[0] * red - LUMA[2] * blue) / LUMA[1], blue], -1)
        linear = to_light(signal, transfer)
        light.append(to_light(np.repeat(np.clip(y, 0, 1)[..., None], 3, -1), transfer)[..., 0])
        code = coded_light(linear / WHITE @ np.linalg.inv(TO_2020).T)
        pictures.append(code)
    return np.stack(pictures), np.stack(light)


def coded_light(light):
    light = np.clip(light, 0, 1)
    code = np.where(light <= 0.0031308, 12.92 * light, 1.055 * np.maximum(light, 1e-9) ** (1 / 2.4) - 0.055)
    return np.uint8(code * 255 + 0.5)


def figures(pictures, light, truth):
    sums = np.zeros(4)
    for picture, wanted in zip(pictures, truth):
        one, two = lab(picture), lab(wanted)
        a, b = luma_of(picture), luma_of(wanted)
        sums += ciede2000(one, two).mean(), ssim(a, b), contrast(a) / contrast(b), one[0].mean() / max(1, two[0].mean())
    return [*sums / len(truth), light.mean(), np.percentile(light, 99.9)]


def one(job):
    """All programs on one clip of one kind, by name."""
    cv2.setNumThreads(1)
    clip, kind, programs = job
    frames = load(clip.package, clip.file, clip.start, FRAMES, CACHE)
    transfer, degradation = KINDS[kind]
    light = degradation(Clip(frames), np.random.default_rng(zlib.crc32(f"{kind.split()[0]} {clip.name}".encode())))
    found = {}
    with tempfile.TemporaryDirectory(prefix="pictures-") as folder:
        folder = pathlib.Path(folder)
        size = frames.shape[2], frames.shape[1]
        write(np.asarray(light, np.float32), folder / "in.mkv", transfer)
        found["as it comes"] = figures(*read(folder / "in.mkv", size, transfer), frames[COMPARED])
        for name, program in programs:
            command(program, "-y", "-q", "--backend", "cpu", "--encoder", "ffv1", folder / "in.mkv", folder / "out.mkv")
            found[name] = figures(*read(folder / "out.mkv", size, transfer), frames[COMPARED])
    return kind, clip.name, found


def main():
    words = argparse.ArgumentParser(prog="run.sh", description=__doc__.split("Usage")[0])
    words.add_argument("program")
    words.add_argument("--hdr", action="store_true")
    words.add_argument("--before", help="an older program to stand beside it")
    words.add_argument("--held-back", action="store_true", help="the clips that are held back, not the tuning set")
    words.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    words = words.parse_args()
    programs = [(name, str(pathlib.Path(p).resolve())) for name, p in (("before", words.before), ("ours", words.program)) if p]
    wanted = "held back" if words.held_back else "tuning"
    clips = [c for c in CLIPS if c.set == wanted and load(c.package, c.file, c.start, FRAMES, CACHE) is not None]
    with multiprocessing.Pool(words.jobs) as pool:
        results = pool.map(one, [(c, kind, programs) for kind in KINDS for c in clips], chunksize=1)
    print(f"{len(clips)} clips, {wanted}\n\n| footage | | {' | '.join(MEASURES)} | worst dE |\n|{'---|' * (len(MEASURES) + 3)}")
    for kind in KINDS:
        of = [(name, found) for k, name, found in results if k == kind]
        for program in of[0][1]:
            means = np.mean([found[program] for _, found in of], 0)
            worst, at = max((found[program][0], name) for name, found in of)
            print(f"| {kind} | {program} | {' | '.join(f'{m:.2f}' for m in means)} | {worst:.1f} {at} |")


if __name__ == "__main__":
    main()
