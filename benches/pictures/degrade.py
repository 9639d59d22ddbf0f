"""Degradations with a known truth. Each is a function of the linear-in-code picture (0 to 1) and a seeded generator.

To add one: write it, and name it in DEGRADATIONS. Those of two strengths have one to tune at and one to check with, so
that a rule cannot be made for one number.
"""

import zlib

import numpy as np


def depth(picture, near, far):
    """How much of the light of each row arrives: the upper rows are farther away."""
    return np.linspace(far, near, picture.shape[1], dtype=np.float32)[None, :, None, None]


def noise(picture, rng, deviation):
    return rng.standard_normal(picture.shape, np.float32) * deviation


def haze(picture, rng, near=0.75, far=0.3, veil=(0.8, 0.8, 0.8)):
    arrives = depth(picture, near, far)
    return picture * arrives + np.float32(veil) * (1 - arrives) + noise(picture, rng, 0.006)


def water(picture, rng, arrives=(0.22, 0.62, 0.72), veil=(0.01, 0.16, 0.24)):
    return picture * np.float32(arrives) + np.float32(veil) + noise(picture, rng, 0.006)


def night(picture, rng, light=1 / 12, photons=4000):
    """A share of the light, the noise of its photons, and the sensor's own."""
    expected = picture**2.2 * light
    counted = expected + np.sqrt(expected / photons) * rng.standard_normal(picture.shape, np.float32)
    return np.clip(counted + noise(picture, rng, 0.0012), 0, 1) ** (1 / 2.2)


def flicker(picture, rng):
    """An exposure that jumps by up to 18 percent at each frame."""
    return picture * rng.uniform(0.82, 1.18, (len(picture), 1, 1, 1)).astype(np.float32)


def flat(picture, rng):
    """A third of the contrast, without noise, so that banding shows."""
    return 0.3 + 0.35 * picture


DEGRADATIONS = {
    "clean": lambda p, r: p,
    "flat": flat,
    "flicker": flicker,
    "haze": haze,
    "haze, thin and blue": lambda p, r: haze(p, r, 0.9, 0.5, (0.66, 0.72, 0.8)),
    "water": water,
    "water, shallow and green": lambda p, r: water(p, r, (0.42, 0.75, 0.6), (0.04, 0.18, 0.15)),
    "night": night,
    "night, dusk": lambda p, r: night(p, r, 1 / 5, 2000),
}
QUICK = ("clean", "flat", "flicker", "haze", "water", "night")


def degraded(kind, clip, truth):
    rng = np.random.default_rng(zlib.crc32(f"{kind} {clip}".encode()))
    return np.clip(DEGRADATIONS[kind](truth.astype(np.float32) / 255, rng) * 255 + 0.5, 0, 255).astype(np.uint8)
