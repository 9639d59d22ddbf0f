"""The other programs, and our own options, for each degradation.

A peer is a chain of FFmpeg's filters, or a function of RGB frames. `ALWAYS` runs on everything; `GOOD_USER` is what a
user who knows FFmpeg would write for that footage. To add one, add a line.
"""

import re

import cv2
import numpy as np

from frames import TO_RGB, TO_YUV, command, filtered, from_y4m, from_yuv, subsampled

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


def wthe(frames, power=0.5, upper=0.5, lower=1e-4, gain=1.5):
    """Weighted and thresholded histogram equalization (Wang, Ward, IEEE TCE 53(2), 2007), on luma: shares are clamped to
    half the largest, raised to a power, and the output's range is at most 1.5 times the input's, about its mean."""

    def treat(luma):
        share = shares(luma)
        most = upper * share.max()
        weight = np.where(share < lower, 0, np.minimum(np.maximum(share - lower, 0) / (most - lower), 1) ** power * most)
        used = np.flatnonzero(share)
        curve = min(255, gain * (used[-1] - used[0])) * np.cumsum(weight) / weight.sum()
        curve += luma.mean() - (share * curve).sum()
        return np.uint8(np.clip(curve + 0.5, 0, 255))[luma]

    return on_luma(frames, treat)


ALWAYS = {
    "normalize, linked": LINKED,
    "normalize, per channel": f"{TO_RGB},normalize=smoothing=50,{TO_YUV}",
    "histeq": f"{TO_RGB},histeq,{TO_YUV}",
    "OpenCV CLAHE": clahe,
    "AGCWD": agcwd,
    "WTHE": wthe,
}
GOOD_USER = {
    "haze": {"eq": "eq=contrast=1.5:gamma=0.85:saturation=1.3", "normalize, eq": f"{LINKED},eq=gamma=0.85:saturation=1.15"},
    "water": {
        "grayworld": f"{TO_RGB},grayworld,{TO_YUV}",
        "grayworld, normalize": f"{TO_RGB},grayworld,normalize=smoothing=50:independence=0,{TO_YUV}",
        "colorcorrect, normalize": f"colorcorrect=analyze=minmax,{LINKED}",
    },
    "night": {"hqdn3d, normalize": f"hqdn3d=6:4:9:7,{LINKED}", "nlmeans, normalize": f"nlmeans=s=4:p=5:r=9,{LINKED}"},
    "flicker": {"deflicker": "deflicker=size=10", "deflicker, normalize": f"deflicker=size=10,{LINKED}"},
    "flat": {"eq": "eq=contrast=1.6:saturation=1.4", "normalize, eq": f"{LINKED},eq=saturation=1.15"},
    "clean": {"deflicker": "deflicker=size=10"},
}

# Our options for each degradation. What the program does not have is left out with a word. {} is the default.
OURS = {
    "haze": ["", "--look auto", "--look haze"],
    "water": ["", "--look auto", "--look haze", "--look underwater", "--look underwater --denoise 0"],
    "night": ["", "--look auto", "--look night", "--look night --denoise 0", "--look night --denoise 0.5"],
    "flicker": ["", "--look auto", "--method deflicker"],
    "flat": ["", "--look auto", "--look haze", "--method clahe"],
    "clean": ["", "--look auto", "--look natural", "--look night", "--look haze", "--look underwater", "--look thermal",
              "--look exact", "--method clahe", "--method deflicker"],
}

# The one that is made for the degradation.
MADE_FOR = {"haze": "--look haze", "water": "--look underwater", "night": "--look night", "flicker": "--method deflicker",
            "clean": "", "flat": ""}


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
    return from_yuv(from_y4m(command(program, "-y", "-q", "--backend", "cpu", *options.split(), path, "-")))


def peers(kind):
    return {**ALWAYS, **for_kind(GOOD_USER, kind)}


def peer(how, path, frames):
    return filtered(path, how) if isinstance(how, str) else subsampled(how(frames))
