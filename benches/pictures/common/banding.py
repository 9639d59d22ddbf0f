"""CAMBI, the banding index of Tandon et al. (PCS 2021), written down from its definition.

The steps and constants are those of libvmaf's cambi feature with max_log_contrast=4: with its default of 2, steps of
more than one level of 8 bits, which stretched skies have, would not count. 0 is no banding, 5 begins to be seen, 24 is
very much.
"""

import cv2
import numpy as np

SCALES = (16, 8, 4, 2, 1)        # weights of the five scales
WEIGHTS = (1, 2, 3, 4, 4, 5, 5, 6, 6, 6, 6, 7, 7, 7, 7, 8)   # of steps of 1, 2, ... levels of 10 bits
VISIBLE = 0.019                  # a step is seen where it changes luminance by this share
POOLED = 0.6                     # the worst share of the picture counts


def luminance(level):
    """BT.1886 for 10 bits, limited range, of a display with 300 cd/m2 and black of 0.01."""
    low, high = 0.01 ** (1 / 2.4), 300 ** (1 / 2.4)
    return ((high - low) * np.clip((level - 64) / 876, 0, 1) + low) ** 2.4


def brightest_seen(difference):
    levels = np.arange(64, 940 - difference)
    seen = luminance(levels + difference) - luminance(levels) > VISIBLE * luminance(levels)
    return levels[seen].max() if seen.any() else 0


LIMITS = [brightest_seen(d) for d in range(1, len(WEIGHTS) + 1)]


def middle(a, b, c):
    """The most frequent of three, the least if all differ."""
    return np.where((a == b) | (a == c), a, np.where(b == c, b, np.minimum(np.minimum(a, b), c)))


def most_frequent(picture):
    """Of each three across, then of each three down; edges stay."""
    wide = picture.copy()
    wide[:, 1:-1] = middle(picture[:, :-2], picture[:, 1:-1], picture[:, 2:])
    result = picture.copy()
    result[1:-1] = middle(wide[:-2], wide[1:-1], wide[2:])
    return result


def contrasts(picture, flat, window):
    """For each flat pixel the strongest step near it, as a share of the window's pixels."""
    found = np.zeros(picture.shape, np.float32)
    rows, columns = np.nonzero(flat)
    values = picture[rows, columns]
    order = np.argsort(values, kind="stable")
    rows, columns, values = rows[order], columns[order], values[order]
    levels, starts = np.unique(values, return_index=True)
    counted = {}

    def count(level):
        if level not in counted:
            at = np.searchsorted(levels, level)
            present = at < len(levels) and levels[at] == level
            same = ((picture == level) & flat).view(np.uint8) if present else None
            counted[level] = cv2.boxFilter(same, cv2.CV_32F, (window, window), normalize=False, borderType=cv2.BORDER_CONSTANT) if present else None
        return counted[level]

    for level, start, end in zip(levels, starts, [*starts[1:], len(values)]):
        y, x = rows[start:end], columns[start:end]
        here, best = count(level)[y, x], 0
        for difference, (weight, limit) in enumerate(zip(WEIGHTS, LIMITS), 1):
            near = [count(n)[y, x] for n in (level + difference, level - difference) if level <= limit and count(n) is not None]
            if near:
                there = np.maximum.reduce(near)
                best = np.maximum(best, weight * here * there / (here + there))
        found[y, x] = best
        for passed in [n for n in counted if n <= level - len(WEIGHTS)]:
            del counted[passed]
    return found / window**2


def cambi(luma, depth=8):
    """Of a picture of luma codes, 8 or 10 bits, limited range.

    At 10 bits, too, each 2x2 are averaged first, which libvmaf does at 8 bits only: fine noise hides no bands.
    """
    height, width = luma.shape
    window = (65 * (width + height) // 375 >> 4) | 1
    fine = np.pad(luma.astype(np.int32) << (10 - depth), ((0, 1), (0, 1)), mode="edge")
    picture = (fine[:-1, :-1] + fine[1:, :-1] + fine[:-1, 1:] + fine[1:, 1:]) >> 2
    same = np.ones(picture.shape, np.uint8)
    same[:, :-1] &= picture[:, :-1] == picture[:, 1:]
    same[:-1] &= picture[:-1] == picture[1:]
    near = cv2.boxFilter(same, cv2.CV_32F, (7, 7), normalize=False, borderType=cv2.BORDER_CONSTANT)
    flat = near > (49 + 3 * (int((width // 64) * (height // 64) - 1).bit_length() - 11) - 1) >> 1
    score = 0
    for scale, weight in enumerate(SCALES):
        if scale:
            picture, flat = picture[::2, ::2], np.ascontiguousarray(flat[::2, ::2])
        picture = most_frequent(picture)
        found = np.sort(contrasts(picture, flat, window), axis=None)
        score += weight * found[-max(1, int(POOLED * found.size)) :].mean()
    return score
