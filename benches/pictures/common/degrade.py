"""Degradations with a known truth, each in linear light where it is made of light, and all through x264.

Each is a function of the clip and a seeded generator, from which its strength and colour vary by clip. A clip knows its
pictures as they are (`code`, 0 to 1), in linear light (`light`) and how far away each point is (`far`, 0 to 1). What a
degradation gives back is `Light` where it still has to be coded. To add one, write it and name it in DEGRADATIONS.

The strengths are such that the mean distance to the truth, over all clips, is that which a jury's footage had.
"""

import zlib
from functools import cached_property

import cv2
import numpy as np

_CODES = np.arange(256) / 255
TO_LIGHT = np.where(_CODES <= 0.04045, _CODES / 12.92, ((_CODES + 0.055) / 1.055) ** 2.4).astype(np.float32)
_STEPS = (np.arange(8192) / 8191) ** 2      # finer near black
TO_CODE = np.where(_STEPS <= 0.0031308, _STEPS * 12.92, 1.055 * _STEPS ** (1 / 2.4) - 0.055).astype(np.float32)


class Light(np.ndarray):
    """Linear light, 1 for white."""


class Clip:
    def __init__(self, frames):
        self.frames = frames

    @cached_property
    def code(self):
        return _CODES.astype(np.float32)[self.frames]

    @cached_property
    def light(self):
        return TO_LIGHT[self.frames]

    @cached_property
    def far(self):
        """How far away things are: the higher in the picture, the farther, and what is bright, like sky, more so."""
        mean = self.frames[::8].mean((0, 3), dtype=np.float32) / 255
        bright = cv2.GaussianBlur(mean, (0, 0), 6)
        rows = np.linspace(1, 0, len(mean), dtype=np.float32)[:, None]
        far = cv2.GaussianBlur(0.65 * rows + 0.35 * bright, (0, 0), 3)
        return ((far - far.min()) / max(1e-3, np.ptp(far)))[None, :, :, None]


def scattered(clip, density, veil):
    """What arrives of the light, and the air's or water's own instead of the rest; DENSITY by point and channel."""
    arrives = np.exp(-density)
    return (clip.light * arrives + np.float32(veil) * (1 - arrives)).view(Light)


def sensor(light, rng, photons, own):
    """The noise of the light's photons and the sensor's own."""
    deviation = np.sqrt(np.maximum(light, 0) / photons + own**2)
    return (light + deviation * rng.standard_normal(light.shape, np.float32)).view(Light)


def haze(clip, rng, near, far, strength):
    veil = rng.uniform(0.6, 0.85) * np.array([1, rng.uniform(1, 1.04), rng.uniform(1, 1.12)])
    return scattered(clip, strength * rng.uniform(0.8, 1.2) * (near + (far - near) * clip.far), np.minimum(veil, 0.95))


def water(clip, rng, absorbs, veil, strength):
    density = strength * rng.uniform(0.8, 1.2) * np.float32(absorbs) * rng.uniform(0.9, 1.1, 3).astype(np.float32)
    return sensor(scattered(clip, density * (0.6 + clip.far), np.float32(veil) * rng.uniform(0.8, 1.2)), rng, 8000, 0.001)


def low_light(clip, rng, light, colour=(1, 1, 1)):
    share = light * rng.uniform(0.7, 1.3) * np.float32(colour) * rng.uniform(0.95, 1.05, 3).astype(np.float32)
    return sensor(clip.light * share, rng, 4000, 0.0008)


def s_log3(light):
    """Sony's technical summary for S-Gamut3.Cine/S-Log3 and S-Gamut3/S-Log3."""
    return np.where(light >= 0.01125, (420 + np.log10((light + 0.01) / 0.19) * 261.5) / 1023, (light * (171.2102946929 - 95) / 0.01125 + 95) / 1023)


def v_log(light):
    """Panasonic's V-Log/V-Gamut reference manual."""
    return np.where(light < 0.01, 5.6 * light + 0.125, 0.241514 * np.log10(light + 0.00873) + 0.598206)


def log(clip, rng, curve):
    """A camera's log curve, seen as it is; white is at 1 to 2 times that of paper."""
    white = rng.uniform(1, 2)
    return curve(TO_LIGHT * white).astype(np.float32)[clip.frames]


# From BT.709 to the camera's primaries, in linear light, by the documents of its curve.
S_GAMUT3_CINE = [[0.645679, 0.259115, 0.095206], [0.087530, 0.759700, 0.152770], [0.036957, 0.129281, 0.833762]]
V_GAMUT = [[0.585196, 0.322642, 0.092162], [0.078588, 0.819627, 0.101785], [0.022794, 0.114217, 0.862988]]


def recorded(clip, rng, curve, primaries):
    """As a camera records it: light of its own primaries, and in a picture of limited range the codes of its document."""
    light = (clip.light * np.float32(rng.uniform(1, 2))) @ np.float32(primaries).T
    return (1023 * curve(light).astype(np.float32) - 64) / 876


def faded(clip, rng):
    """Film that has faded, as a scanner delivers it, in codes: cyan has lost most density, the base is stained."""
    kept = np.array([0.84, 1, 0.92]) * rng.uniform(0.95, 1.05, 3)
    low = np.array([0.29, 0.16, 0.12]) * rng.uniform(0.8, 1.2, 3)
    high = np.minimum(np.array([0.92, 0.8, 0.66]) * rng.uniform(0.94, 1.06, 3), 1)
    table = (low + (high - low) * _CODES[:, None] ** kept).astype(np.float32)
    return np.stack([table[:, i][clip.frames[..., i]] for i in range(3)], -1)


def glare(clip, rng):
    """A light beside or in the picture that the lens scatters over all of it."""
    _, height, width, _ = clip.frames.shape
    y, x = np.mgrid[0:height, 0:width].astype(np.float32) / width
    at = rng.uniform(0, 0.3), rng.uniform(0, 1)
    near = np.exp(-np.hypot(y - at[0], x - at[1]) / 0.25)[None, :, :, None]
    colour = np.array([1, rng.uniform(0.92, 1), rng.uniform(0.8, 1)], np.float32)
    return (clip.light * 0.9 + rng.uniform(0.8, 1.2) * (0.02 + 0.42 * near) * colour).view(Light)


def levels(clip, low, high):
    """From LOW to HIGH in codes of 8 bits, full range."""
    return low / 255 + clip.code * ((high - low) / 255)


def flicker(clip, rng):
    """An exposure that jumps by up to 18 percent at each frame."""
    return clip.code * rng.uniform(0.82, 1.18, (len(clip.code), 1, 1, 1)).astype(np.float32)


DEGRADATIONS = {
    "clean": lambda c, r: c.code,
    "dim flat": lambda c, r: levels(c, 24 + r.uniform(-6, 6), 148 + r.uniform(-15, 15)),
    "window": lambda c, r: levels(c, 58 + r.uniform(-8, 8), 180 + r.uniform(-10, 10)),
    "TV range twice": lambda c, r: levels(c, 30, 218),
    "depth haze": lambda c, r: haze(c, r, 0.25, 1, 1.0),
    "thick fog": lambda c, r: haze(c, r, 0.7, 1, 1.4),
    "water, blue": lambda c, r: water(c, r, (2.4, 0.75, 0.45), (0.01, 0.16, 0.32), 1.0),
    "water, green": lambda c, r: water(c, r, (2.0, 0.55, 1.1), (0.02, 0.22, 0.12), 0.66),
    "low light": lambda c, r: low_light(c, r, 1 / 16),
    "tungsten": lambda c, r: low_light(c, r, 1 / 4.8, (1, 0.5, 0.22)),
    "log, S-Log3": lambda c, r: log(c, r, s_log3),
    "log, V-Log": lambda c, r: log(c, r, v_log),
    "log, S-Log3, named": lambda c, r: recorded(c, r, s_log3, S_GAMUT3_CINE),
    "log, V-Log, named": lambda c, r: recorded(c, r, v_log, V_GAMUT),
    "faded film": faded,
    "glare": glare,
    "flicker": flicker,
}
# What names the curve in the file, as cameras and editors write it: metadata of the container.
NAMED = {
    "log, S-Log3, named": "com.apple.proapps.customcolor=com.sony.s-log3-cine",
    "log, V-Log, named": "com.panasonic.Semi-Pro.metadata.xml=<Gamma><CaptureGamma>V-Log</CaptureGamma></Gamma>",
}
QUICK = tuple(k for k in DEGRADATIONS if k not in ("TV range twice", "log, V-Log", "log, V-Log, named"))


def coded(result):
    if isinstance(result, Light):
        result = TO_CODE[(np.sqrt(np.clip(result, 0, 1)) * 8191 + 0.5).astype(np.uint16)]
    return np.clip(result * 255 + 0.5, 0, 255).astype(np.uint8)


def degraded(kind, name, frames):
    # What is named is as bright as what is not.
    rng = np.random.default_rng(zlib.crc32(f"{kind.removesuffix(', named')} {name}".encode()))
    return coded(DEGRADATIONS[kind](Clip(frames), rng))
