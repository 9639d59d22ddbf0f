"""The other programs, and our own options, for each degradation.

A peer is a chain of FFmpeg's filters, or a function of RGB frames, which sees the compared frames only. `ALWAYS` runs on
everything, and the best of them is the single peer that takes no choice; `GOOD_USER` is what a user who knows FFmpeg would
write for that footage. To add one, add a line.
"""

import re

import cv2
import numpy as np

from .degrade import TO_LIGHT, Light, coded
from .frames import TO_RGB, TO_YUV, command, filtered, from_y4m, from_yuv, subsampled
from .learned import networks
from .measures import COMPARED

LINKED = f"{TO_RGB},normalize=smoothing=50:independence=0,{TO_YUV}"


def clahe(frames):
    """OpenCV's CLAHE on luma, limit 3, 8x8 tiles."""
    equalizer = cv2.createCLAHE(3.0, (8, 8))
    return on_luma(frames, equalizer.apply)


def on_luma(frames, treat):
    result = np.empty_like(frames)
    for i, frame in enumerate(frames):
        planes = cv2.cvtColor(frame, cv2.COLOR_RGB2YCrCb)
        planes[..., 0] = treat(np.ascontiguousarray(planes[..., 0]))
        result[i] = cv2.cvtColor(planes, cv2.COLOR_YCrCb2RGB)
    return result


def shares(levels):
    return np.bincount(levels.ravel(), minlength=256) / levels.size


def agcwd(frames, alpha=0.5, change=0.05):
    """Adaptive gamma correction with weighting distribution (Huang, Cheng, Chiu, IEEE TIP 22(3), 2013), on the value of
    HSV; for video the curve is renewed when the entropy has changed by more than 0.05."""
    result, curve, entropy = np.empty_like(frames), None, None
    for i, frame in enumerate(frames):
        planes = cv2.cvtColor(frame, cv2.COLOR_RGB2HSV)
        share = shares(planes[..., 2])
        now = -(share[share > 0] * np.log2(share[share > 0])).sum()
        if curve is None or abs(now - entropy) > change:
            weighted = share.max() * ((share - share.min()) / (share.max() - share.min())) ** alpha
            gamma = 1 - np.cumsum(weighted) / weighted.sum()
            curve, entropy = np.uint8(255 * (np.arange(256) / 255) ** gamma + 0.5), now
        planes[..., 2] = curve[planes[..., 2]]
        result[i] = cv2.cvtColor(planes, cv2.COLOR_HSV2RGB)
    return result


def each(treat):
    """Of floating-point frames, 0 to 1, one by one."""
    return lambda frames: np.stack([coded(treat(f.astype(np.float32) / 255)) for f in frames])


def guided(guide, wanted, radius, eps):
    """The guided filter (He, Sun, Tang, 2010), for a gray guide."""
    mean = lambda x: cv2.blur(x, (2 * radius + 1, 2 * radius + 1))
    of_guide, of_wanted = mean(guide), mean(wanted)
    slope = (mean(guide * wanted) - of_guide * of_wanted) / (mean(guide * guide) - of_guide**2 + eps)
    return mean(slope) * guide + mean(of_wanted - slope * of_guide)


def dark_channel(frame, omega=0.95, floor=0.1, window=15):
    """Dark-channel prior (He, Sun, Tang, CVPR 2009), the veil refined by a guided filter."""
    square = np.ones((window, window), np.uint8)
    dark = cv2.erode(frame.min(2), square)
    airlight = frame[dark >= np.quantile(dark, 0.999)].mean(0)
    arrives = 1 - omega * cv2.erode((frame / airlight).min(2), square)
    arrives = np.maximum(guided(cv2.cvtColor(frame, cv2.COLOR_RGB2GRAY), arrives, 40, 1e-3), floor)
    return (frame - airlight) / arrives[..., None] + airlight


def lime(frame, gamma=0.8):
    """A map of the light like that of LIME (Guo, Li, Ling, 2017): the largest channel, smoothed along edges."""
    most = frame.max(2)
    return frame / np.clip(guided(most, most, 15, 2e-3), 0.02, 1)[..., None] ** gamma


def msrcr(frame, sigmas=(15, 80, 250)):
    """Multiscale retinex with colour restoration (Jobson et al., 1997; Petro, Sbert, Morel, 2014), each channel stretched."""
    height, width, _ = frame.shape
    levels = frame * 255 + 1
    sum_ = 0
    for sigma in sigmas:
        less = max(1, sigma // 10)
        small = cv2.GaussianBlur(cv2.resize(levels, (width // less, height // less), interpolation=cv2.INTER_AREA), (0, 0), sigma / less)
        sum_ = sum_ + np.log(levels) - np.log(cv2.resize(small, (width, height)))
    return stretched(sum_ / len(sigmas) * (np.log(125 * levels) - np.log(levels.sum(2, keepdims=True))), 1)


def stretched(frame, percent=0.5, over=(0, 1)):
    """Each channel by itself, PERCENT of the samples clipped at either end."""
    low, high = np.percentile(frame, (percent, 100 - percent), over)
    return (frame - low) / np.maximum(high - low, 1e-3)


def gray_world(frame):
    """Gray world, then one stretch for all channels: one for each would undo it."""
    mean = frame.mean((0, 1))
    return stretched(frame * (mean.mean() / np.maximum(mean, 0.01)), over=None)


def gain(channels):
    """One gain in linear light, or one for each channel: 99.5 % of the largest, after a mean of 5x5, go to 0.9."""
    def treat(frames):
        results = []
        for frame in frames:
            light = TO_LIGHT[frame]
            smooth = cv2.blur(light, (5, 5))
            top = np.percentile(smooth.reshape(-1, 3) if channels else smooth.max(2).ravel(), 99.5, 0)
            results.append(coded((light * np.float32(0.9 / np.maximum(top, 1e-3))).view(Light)))
        return np.stack(results)
    return treat


ALWAYS = {
    "normalize, linked": LINKED,
    "normalize, per channel": f"{TO_RGB},normalize=smoothing=50,{TO_YUV}",
    "histeq": f"{TO_RGB},histeq,{TO_YUV}",
    "OpenCV CLAHE": clahe,
    "AGCWD": agcwd,
    "dark channel": each(dark_channel),
    "LIME-like map": each(lime),
    "MSRCR": each(msrcr),
    "stretch": each(stretched),
    "gray world, stretch": each(gray_world),
    "gain in light": gain(False),
    "gain in light, per channel": gain(True),
    **networks(),
}
HAZE = {"eq": "eq=contrast=1.5:gamma=0.85:saturation=1.3", "normalize, eq": f"{LINKED},eq=gamma=0.85:saturation=1.15"}
FLAT = {"eq": "eq=contrast=1.6:saturation=1.4", "normalize, eq": f"{LINKED},eq=saturation=1.15"}
NIGHT = {"hqdn3d, normalize": f"hqdn3d=6:4:9:7,{LINKED}"}
GOOD_USER = {
    "depth haze": HAZE, "thick fog": HAZE, "glare": HAZE,
    "water": {
        "grayworld, normalize": f"{TO_RGB},grayworld,normalize=smoothing=50:independence=0,{TO_YUV}",
        "colorcorrect, normalize": f"colorcorrect=analyze=minmax,{LINKED}",
    },
    "low light": NIGHT, "tungsten": NIGHT,
    "dim flat": FLAT, "window": FLAT, "log": FLAT,
    "flicker": {"deflicker": "deflicker=size=10", "deflicker, normalize": f"deflicker=size=10,{LINKED}"},
    "clean": {"deflicker": "deflicker=size=10"},
}

# Our options for each degradation: what is made for it. What the program does not have is left out with a word.
MADE_FOR = {"depth haze": "--look haze", "thick fog": "--look haze", "glare": "--look haze", "water": "--look underwater",
            "low light": "--look night", "tungsten": "--look night", "faded film": "--look underwater", "dim flat": "--look thermal",
            "flicker": "--method deflicker"}
ALSO = {"clean": ["--look night", "--look haze", "--look underwater"]}


def options_for(kind):
    """All options of ours that are measured: the default, what is made for the footage."""
    return list(dict.fromkeys(["", for_kind(MADE_FOR, kind) or "", *(for_kind(ALSO, kind) or ())]))


def for_kind(table, kind):
    """The entry for a degradation, whose further strengths share the name up to the comma."""
    return table.get(kind.split(",")[0], {})


def lacking(program, options):
    """The first of OPTIONS that the program's --help does not speak of; None if it has all."""
    text = command(program, "--help").decode()
    words = options.split()
    for at, word in enumerate(words):
        if not word.startswith("--"):
            continue
        said = re.search(rf"\n +(?:-\w, )?{word}\b(.*?)(?=\n      --|\n  -\w[, ]|\n\S|\Z)", text, re.DOTALL)
        value = words[at + 1] if at + 1 < len(words) and not words[at + 1].startswith("--") else ""
        if not said:
            return word
        named = value and value[0].isalpha()
        if named and not re.search(rf"(?:^|[\s-]){value}(?=[:,\]\s])", said[1]):
            return f"{word} {value}"
    return None


def ours(program, options, path):
    return from_yuv(from_y4m(command(program, "-y", "-q", "--backend", "cpu", *options.split(), path, "-")), COMPARED)


def peers(kind):
    return {**ALWAYS, **for_kind(GOOD_USER, kind)}


def peer(how, path, compared):
    return filtered(path, how, COMPARED) if isinstance(how, str) else subsampled(how(compared))
