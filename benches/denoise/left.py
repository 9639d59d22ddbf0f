"""What is left of the truth: PSNR, structural similarity, flicker of still patches and mottling of flat ones, of pictures
that were lifted."""

import cv2
import numpy as np


def psnr(a, b):
    return 10 * np.log10(255**2 / max(1e-9, np.mean((np.float32(a) - np.float32(b)) ** 2)))


def ssim(a, b):
    a, b = (cv2.cvtColor(np.float32(p), cv2.COLOR_RGB2GRAY) for p in (a, b))
    g = lambda x: cv2.GaussianBlur(x, (11, 11), 1.5)
    ma, mb = g(a), g(b)
    va, vb, c = g(a * a) - ma * ma, g(b * b) - mb * mb, g(a * b) - ma * mb
    return float(np.mean((2 * ma * mb + 6.5) * (2 * c + 58.5) / ((ma * ma + mb * mb + 6.5) * (va + vb + 58.5))))


def flicker(frames, truth):
    """The deviation from frame to frame where the truth stands still; nan where nothing does."""
    total, count = 0.0, 0
    for i in range(1, len(frames)):
        moved = np.abs(np.float32(truth[i]) - np.float32(truth[i - 1])).max(2)
        still = cv2.dilate(moved, np.ones((9, 9))) <= 6
        step = (np.float32(frames[i]) - np.float32(frames[i - 1])).mean(2)[still]
        total, count = total + float((step**2).sum()), count + step.size
    return (total / count / 2) ** 0.5 if count > 2000 else float("nan")


def mottling(frames, truth):
    """The deviation of the means of 8x8 samples within patches of 32x32 in which the truth is flat; nan where none is."""
    found = []
    for frame, true in zip(frames, truth):
        height, width = (length // 32 * 32 for length in true.shape[:2])
        gray, flat = (np.float32(p)[:height, :width].mean(2).reshape(height // 32, 4, 8, width // 32, 4, 8) for p in (frame, true))
        is_flat = flat.std((1, 2, 4, 5)) < 3
        found += list(gray.mean((2, 5)).std((1, 3))[is_flat])
    return float(np.mean(found)) if found else float("nan")


def of(frames, truth):
    """All of them, of float frames of 0 to 255."""
    pairs = list(zip(frames, truth))
    return (np.mean([psnr(a, b) for a, b in pairs]), np.mean([ssim(a, b) for a, b in pairs]), flicker(frames, truth),
            mottling(frames, truth))
