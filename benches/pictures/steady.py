"""Whether brightness stays where the scene's does: fades, exposure, objects that cross, titles, captions, headlights.

Each film is a scene, and the same scene with an event in it. What is expected of the result during a fade or a change of
exposure is the result of the scene without it, times the event's gain; of everything else, the result itself, wherever the
event covers nothing. Each is of a clean and of a flat scene, at 320x180, from a file and as `live` sees it.
"""

import pathlib
import tempfile
from collections import defaultdict

import cv2
import numpy as np

from cuts import MODES, SIZE, bounced, pool_of, scaled
from frames import command, from_y4m, from_yuv, write

FRAMES = 200
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
    card = cv2.putText(np.full((*SIZE[::-1], 3), 4, np.uint8), "A TITLE", (90, 95), cv2.FONT_HERSHEY_SIMPLEX, 1, (230,) * 3, 2, cv2.LINE_AA)
    result = scene.copy()
    result[:75] = card
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


def seen(program, options, frames, folder):
    write(frames, folder / "in.mkv")
    out = command(program, "-y", "-q", "--backend", "cpu", *options, folder / "in.mkv", "-")
    return np.clip((from_yuv(from_y4m(out), slice(0), *SIZE)[1].astype(np.float32) - 16) * 255 / 219, 0, 255)


def one(job):
    """The largest deviation outside of the event and within it, and the largest step from frame to frame, in levels."""
    cv2.setNumThreads(1)
    name, frames, programs = job
    results = {}
    with tempfile.TemporaryDirectory(prefix="steady-") as folder:
        folder = pathlib.Path(folder)
        for state, make in SCENES.items():
            scene = make(bounced(frames, FRAMES))
            for label, program in programs:
                for mode, options in MODES.items():
                    calm = seen(program, options, scene, folder)
                    for event, treat in EVENTS.items():
                        film, gain, hidden = treat(scene)
                        result = seen(program, options, film, folder)
                        if event.startswith("title"):
                            off = result[:75, :40].mean((1, 2)) - 4
                            results[state, event, mode, label] = (np.abs(result[75:].mean((1, 2)) - calm[75:].mean((1, 2))).max(), off.max(), np.abs(np.diff(off)).max())
                            continue
                        open_ = np.ones(result.shape, bool) if hidden is None else ~hidden
                        off = ((result - gain[:, None, None] * calm) * open_).sum((1, 2)) / open_.sum((1, 2))
                        event_ = gain < 1 if hidden is None else hidden.any((1, 2))
                        results[state, event, mode, label] = np.abs(off[~event_]).max(), np.abs(off[event_]).max(), np.abs(np.diff(off)).max()
    return results


def run(programs, pool, cache, quick):
    """The table's lines: the worst and the mean of the scenes, held back and tuning."""
    lines = []
    for set_ in ("tuning", "held back"):
        shots = pool_of(set_, cache)
        shots = shots[: 2 if quick else 4]
        found = defaultdict(list)
        for results in pool.imap_unordered(one, [(n, f, programs) for n, f in shots]):
            for key, value in results.items():
                found[key].append(value)
        lines += [f"## Steady, set: {set_}", "", "Levels by which mean brightness leaves what is expected: outside of the event / within it / from frame to frame; "
                  f"the mean over {len(shots)} scenes, the worst in brackets. Of the title: the scene behind it / the card's black.", ""]
        lines += ["| scene | event | " + " | ".join(f"{label}, {mode}" for label, _ in programs for mode in MODES) + " |", "|---|---|" + "---|" * (len(programs) * len(MODES))]
        for state in SCENES:
            for event in EVENTS:
                cells = []
                for label, _ in programs:
                    for mode in MODES:
                        all_ = np.array(found[state, event, mode, label])
                        cells.append(" / ".join(f"{m:.1f}" for m in all_.mean(0)) + " (" + " / ".join(f"{m:.1f}" for m in all_.max(0)) + ")")
                lines.append(f"| {state} | {event} | " + " | ".join(cells) + " |")
        lines.append("")
    return lines
