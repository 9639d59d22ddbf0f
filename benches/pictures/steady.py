"""Whether brightness stays where the scene's does: fades, exposure, objects that cross, titles, captions, headlights.

Each film is a scene, and the same scene with an event in it. What is expected of the result during a fade or a change of
exposure is the result of the scene without it, times the event's gain; of everything else, the result itself, wherever the
event covers nothing. Each is of a clean and of a flat scene, at 320x180, from a file and as `live` sees it.
"""

import pathlib
import tempfile

import cv2
import numpy as np

from cuts import MODES, SIZE, bounced, pool_of, scaled
from common.frames import command, from_y4m, from_yuv, write

FRAMES = 200
CARD, BLACK = 75, 4      # frames of a title, and the level behind it
SCENES = {"clean": lambda f: f, "flat": lambda f: scaled(f, 0.5, 40), "dim": lambda f: scaled(f, 0.35, 4)}


def gained(gain):
    """A film whose frames are multiplied; the event lasts while the gain is not 1."""
    def make(scene):
        g = np.interp(np.arange(len(scene)), *zip(*gain)).astype(np.float32)
        return scaled(scene, g[:, None, None, None]), g, None
    return make


def covered(at, thing):
    """A film over which something lies: THING(step) gives its place, picture and share."""
    def make(scene):
        result, hidden = scene.copy(), np.zeros(scene.shape[:3], bool)
        for step in range(at[1] - at[0]):
            share, colour = thing(step / (at[1] - at[0]))
            i = at[0] + step
            result[i] = scene[i] * (1 - share[..., None]) + colour * share[..., None]
            hidden[i] = share > 0
        return result, np.ones(len(scene), np.float32), hidden
    return make


def disc(x, y, radius, soft=1.0):
    rows, columns = np.mgrid[0 : SIZE[1], 0 : SIZE[0]]
    return np.clip((radius - np.hypot(columns - x, rows - y)) / soft, 0, 1)


def caption(_):
    share = np.zeros(SIZE[::-1])
    share[140:170, 40:280] = 1
    text = cv2.putText(np.zeros((*SIZE[::-1], 3), np.uint8), "A caption that stays", (60, 160), cv2.FONT_HERSHEY_SIMPLEX, 0.6, (255,) * 3, 1, cv2.LINE_AA)
    return share, text


def title(scene):
    """White words on nearly black, for three seconds, before the scene."""
    card = cv2.putText(np.full((*SIZE[::-1], 3), BLACK, np.uint8), "A TITLE", (90, 95), cv2.FONT_HERSHEY_SIMPLEX, 1, (230,) * 3, 2, cv2.LINE_AA)
    result = scene.copy()
    result[:CARD] = card
    return result, np.ones(len(scene), np.float32), None


EVENTS = {
    "fade to black and back": gained([(60, 1), (85, 0), (95, 0), (120, 1)]),
    "exposure dips to 0.45": gained([(70, 1), (85, 0.45), (115, 0.45), (130, 1)]),
    "slow dusk, to 0.6": gained([(40, 1), (160, 0.6)]),
    "a cloud, to 0.7": gained([(60, 1), (75, 0.7), (125, 0.7), (140, 1)]),
    "a bright object crosses": covered((60, 140), lambda t: (disc(-50 + 420 * t, 100, 45), np.float32([235, 230, 220]))),
    "headlights": covered((70, 120), lambda t: (np.maximum(disc(300 - 260 * t, 120, 10 + 18 * t, 8), disc(330 - 260 * t, 120, 10 + 18 * t, 8)), np.float32([255, 250, 235]))),
    "caption": covered((70, 130), caption),
    "title on near-black": title,
}


def seen(programs, frames, folder):
    """The luma of each program's results, full range, by label and mode."""
    write(frames, folder / "in.mkv")
    results = {}
    for label, program in programs:
        for mode, options in MODES.items():
            out = command(program, "-y", "-q", "--backend", "cpu", *options, folder / "in.mkv", "-")
            luma = from_yuv(from_y4m(out), slice(0), *SIZE)[1]
            results[label, mode] = np.clip((luma.astype(np.float32) - 16) * np.float32(255 / 219), 0, 255)
    return results


def one(job):
    """The largest deviation outside of the event and within it, and the largest step from frame to frame, in levels."""
    cv2.setNumThreads(1)
    name, frames, programs = job
    found = {}
    with tempfile.TemporaryDirectory(prefix="steady-") as folder:
        for state, make in SCENES.items():
            scene = make(bounced(frames, FRAMES))
            calm = seen(programs, scene, pathlib.Path(folder))
            for event, treat in EVENTS.items():
                film, gain, hidden = treat(scene)
                during = gain < 1 if hidden is None else hidden.any((1, 2))
                shown = np.ones(film.shape[:3], bool) if hidden is None else ~hidden
                if event.startswith("title"):
                    during, shown[:CARD, 40:] = np.arange(FRAMES) < CARD, False
                for key, result in seen(programs, film, pathlib.Path(folder)).items():
                    wanted = gain[:, None, None] * calm[key]
                    if event.startswith("title"):
                        wanted[:CARD] = BLACK
                    off = ((result - wanted) * shown).sum((1, 2)) / shown.sum((1, 2))
                    steps = np.abs(np.diff(off)[during[1:] == during[:-1]])
                    found[state, event, *key] = np.abs(off[~during]).max(initial=0), np.abs(off[during]).max(), steps.max()
    return found


def run(programs, pool, cache, quick):
    """The table's lines."""
    keys = [(label, mode) for label, _ in programs for mode in MODES]
    lines = []
    for set_ in ("tuning", "held back"):
        shots = pool_of(set_, cache)[: 1 if quick else 3]
        found = list(pool.imap_unordered(one, [(name, frames, programs) for name, frames in shots]))
        lines += [f"## Steady, set: {set_}", "", "By how many levels mean brightness leaves what is expected: outside of the event / within it / at most from frame to "
                  f"frame; the worst of the scenes, of which there are {len(shots)}. Within the title is the card's black.", "",
                  "| scene | event | " + " | ".join(f"{label}, {mode}" for label, mode in keys) + " |", "|---|---|" + "---|" * len(keys)]
        for state in SCENES:
            for event in EVENTS:
                cells = (" / ".join(f"{m:.1f}" for m in np.max([f[state, event, *key] for f in found], 0)) for key in keys)
                lines.append(f"| {state} | {event} | " + " | ".join(cells) + " |")
        lines.append("")
    return lines
