"""What is measured of a result, against the truth. README.md says in words what each figure is."""

import cv2
import numpy as np

from .banding import cambi

COMPARED = slice(4, None, 12)    # every twelfth frame from the fifth on is compared with the truth
COLUMNS, ROWS, STILLEST = 16, 9, 8   # patches of the picture, and how many of them are watched

MEASURES = ["dE", "SSIM", "contrast", "chroma", "brightness", "hue", "flicker", "noise", "clipped", "banding"]


def lab(frame):
    """CIELAB of every second pixel both ways, after the mean of 2x2: L, a, b as float32."""
    height, width, _ = frame.shape
    small = cv2.resize(frame, (width // 2, height // 2), interpolation=cv2.INTER_AREA)
    return np.moveaxis(cv2.cvtColor(small.astype(np.float32) / 255, cv2.COLOR_RGB2LAB), -1, 0)


def ciede2000(one, two):
    """CIE DE2000 of two pictures in CIELAB (Sharma, Wu, Dalal, 2005)."""
    (l1, a1, b1), (l2, a2, b2) = one, two
    mean7 = ((np.hypot(a1, b1) + np.hypot(a2, b2)) / 2) ** 7
    grow = 1.5 - 0.5 * np.sqrt(mean7 / (mean7 + 25.0**7))
    c1, c2 = np.hypot(a1 * grow, b1), np.hypot(a2 * grow, b2)
    h1, h2 = np.arctan2(b1, a1 * grow) % (2 * np.pi), np.arctan2(b2, a2 * grow) % (2 * np.pi)
    gray = c1 * c2 == 0
    turn = np.where(gray, 0, (h2 - h1 + np.pi) % (2 * np.pi) - np.pi)
    hue = np.where(gray, h1 + h2, (h1 + turn / 2) % (2 * np.pi))
    dl, dc, dh = l2 - l1, c2 - c1, 2 * np.sqrt(c1 * c2) * np.sin(turn / 2)
    l, c = (l1 + l2) / 2, (c1 + c2) / 2
    t = 1 - 0.17 * np.cos(hue - np.pi / 6) + 0.24 * np.cos(2 * hue) + 0.32 * np.cos(3 * hue + np.pi / 30) - 0.2 * np.cos(4 * hue - 63 * np.pi / 180)
    sl = 1 + 0.015 * (l - 50) ** 2 / np.sqrt(20 + (l - 50) ** 2)
    sc, sh = 1 + 0.045 * c, 1 + 0.015 * c * t
    turned = 2 * np.sqrt(c**7 / (c**7 + 25.0**7)) * np.sin(np.pi / 3 * np.exp(-(((np.degrees(hue) - 275) / 25) ** 2)))
    dl, dc, dh = dl / sl, dc / sc, dh / sh
    return np.sqrt(np.maximum(dl**2 + dc**2 + dh**2 - turned * dc * dh, 0))


def ssim(one, two):
    """Structural similarity (Wang et al., 2004): Gaussian window, 11 wide, deviation 1.5; range 255."""
    blur = lambda x: cv2.GaussianBlur(x, (11, 11), 1.5)
    one, two = one.astype(np.float32), two.astype(np.float32)
    m1, m2 = blur(one), blur(two)
    v1, v2, both = blur(one * one) - m1 * m1, blur(two * two) - m2 * m2, blur(one * two) - m1 * m2
    c1, c2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2
    return ((2 * m1 * m2 + c1) * (2 * both + c2) / ((m1 * m1 + m2 * m2 + c1) * (v1 + v2 + c2))).mean()


def full_range(luma):
    return (luma.astype(np.float32) - 16) * (255 / 219)


def luma_of(frames):
    return frames @ np.float32([0.2126, 0.7152, 0.0722])


def contrast(luma):
    """The mean of luma's deviation within the 9x9 samples around each."""
    mean = cv2.blur(luma, (9, 9))
    return np.sqrt(np.maximum(cv2.blur(luma * luma, (9, 9)) - mean * mean, 0)).mean()


def patches(luma):
    """The frames' patches: frame, patch, sample."""
    count, height, width = luma.shape
    tall, wide = height // ROWS, width // COLUMNS
    cut = luma[:, : tall * ROWS, : wide * COLUMNS].reshape(count, ROWS, tall, COLUMNS, wide)
    return cut.transpose(0, 1, 3, 2, 4).reshape(count, ROWS * COLUMNS, tall * wide)


class Truth:
    """What of the truth is needed for each result, computed once."""

    def __init__(self, frames, given):
        """FRAMES are the truth, GIVEN the luma of the degraded clip."""
        self.frames = frames[COMPARED]
        self.labs = [lab(f) for f in self.frames]
        luma = luma_of(frames)
        self.luma = luma[COMPARED]
        cut = patches(luma)
        lit = (cut.mean((0, 2)) > 8) & (cut.mean((0, 2)) < 247)      # not where nothing can flicker
        moves = np.abs(np.diff(cut, axis=0)).mean((0, 2)) + np.where(lit, 0, 1000)
        self.still = np.argsort(moves)[:STILLEST]
        self.noise = self.noise_of(full_range(given))

    def flicker_of(self, luma):
        """The mean step of a still patch's mean, from frame to frame, in levels."""
        return np.abs(np.diff(patches(luma)[:, self.still].mean(2), axis=0)).mean()

    def noise_of(self, luma):
        """The deviation within a still patch of the difference of successive frames, over the root of 2."""
        return np.diff(patches(luma)[:, self.still], axis=0).std(2).mean() / np.sqrt(2)


def measure(result, luma, truth, with_banding):
    """RESULT are the compared frames in RGB, LUMA the luma of all frames as coded (16 to 235), or of the compared ones."""
    whole = len(luma) > len(result)
    levels = full_range(luma)
    sums = np.zeros(6)
    for frame, bright, two, wanted_luma in zip(result, levels[COMPARED] if whole else levels, truth.labs, truth.luma):
        one = lab(frame)
        chroma, wanted = np.hypot(one[1], one[2]), np.hypot(two[1], two[2])
        seen = (wanted > 8) & (chroma > 2)
        turn = np.degrees(np.arctan2(one[2], one[1]) - np.arctan2(two[2], two[1]))
        turn = np.abs((turn + 180) % 360 - 180)[seen]
        sums += (ciede2000(one, two).mean(), ssim(bright, wanted_luma), contrast(bright) / contrast(wanted_luma), chroma.mean() / wanted.mean() if wanted.mean() > 2 else np.nan,
                 one[0].mean() / max(1, two[0].mean()), (turn * wanted[seen]).sum() / wanted[seen].sum() if seen.sum() > 500 else np.nan)
    ends = ((result <= 0) & (truth.frames > 2)) | ((result >= 255) & (truth.frames < 253))
    figures = [*sums / len(result), truth.flicker_of(levels) if whole else np.nan, truth.noise_of(levels) / truth.noise if whole and truth.noise > 0.2 else np.nan,
               100 * ends.mean(), cambi(luma[len(luma) // 2]) if with_banding else np.nan]
    return dict(zip(MEASURES, map(float, figures)))
