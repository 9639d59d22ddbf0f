"""Whether the program finds the cuts, and nothing else: joined shots, and what only looks like a cut.

Each film is made of one set's shots with a seed, at 320x180. Cuts are read from the program's --stats. A cut is found if
it is marked on its own frame; a mark anywhere else is false. Within a flash and right after it, marks that the program
takes back (`after_flash`) are not counted.
"""

import csv
import pathlib
import tempfile
import zlib
from collections import defaultdict, namedtuple

import cv2
import numpy as np

from common.clips import CLIPS, SHOTS, Shot, load
from common.frames import RATE, command, write

SIZE = (320, 180)
MODES = {"file, with look-ahead": [], "live, without": ["--set", "look-ahead=0"]}
CHANGES = 4        # levels by which the equalization curves on either side of a cut must differ
Film = namedtuple("Film", "frames cuts")


def pool_of(set_, cache):
    """The set's shots; the shots of one file have the same source, and are not joined to each other."""
    shots = [Shot(c.set, c.package, c.file, c.start, c.length) for c in CLIPS if c.length] + SHOTS
    found = [(s.file, load(s.package, s.file, s.start, s.length, cache, *SIZE)) for s in shots if s.set == set_]
    return [(name, frames) for name, frames in found if frames is not None]


def bounced(frames, count):
    """A shot made longer: to its end and back."""
    index = np.abs((np.arange(count) + len(frames) - 1) % (2 * len(frames) - 2) - (len(frames) - 1))
    return frames[index]


def draw(shots, rng, other_than=None):
    names = [i for i, (name, _) in enumerate(shots) if name != other_than]
    return shots[rng.choice(names)]


def takes(shots, rng, count):
    """Shots of 20 to 90 frames, as many as COUNT frames need, no two of one source next to each other."""
    result, name, total = [], None, 0
    while total < count:
        name, frames = draw(shots, rng, name)
        length = int(min(rng.integers(20, 91), len(frames)))
        start = int(rng.integers(0, len(frames) - length + 1))
        result.append(frames[start : start + length])
        total += length
    return result


def scaled(frames, gain, offset=0):
    return np.clip(frames * np.float32(gain) + np.float32(offset) + 0.5, 0, 255).astype(np.uint8)


def joins(shots, rng, count):
    parts = takes(shots, rng, count)
    return Film(np.concatenate(parts), set(np.cumsum([len(p) for p in parts])[:-1].tolist()))


def each(shots, rng, count, length, treat):
    """Films of LENGTH frames of one shot, each treated, one after the other; the joins are cuts."""
    parts, name = [], None
    while sum(map(len, parts)) < count:
        name, frames = draw(shots, rng, name)
        parts.append(treat(bounced(frames, length)))
    return Film(np.concatenate(parts), set(np.cumsum([len(p) for p in parts])[:-1].tolist()))


def still(shots, rng, count):
    return each(shots, rng, count, 250, lambda f: f)


def noisy(shots, rng, count):
    return each(shots, rng, count, 250, lambda f: scaled(f, 0.4, rng.standard_normal(f.shape, np.float32) * 12))


def flashes(shots, rng, count):
    def treat(frames):
        result = frames.copy()
        for start in range(40, len(frames) - 40, 70):
            end = start + int(rng.integers(1, 6))
            result[start:end] = scaled(frames[start:end], 0.3, 170)
        return result

    return each(shots, rng, count, 250, treat)


def strobe(shots, rng, count):
    def treat(frames):
        gain = np.ones((len(frames), 1, 1, 1))
        for at in np.cumsum(rng.integers(1, 7, 60)):
            if 50 <= at < 150:
                gain[at:150] = 1.35 - gain[at - 1]
        return scaled(frames, gain)

    return each(shots, rng, count, 200, treat)


def exposure(shots, rng, count):
    """A camera that corrects its exposure within 3 to 15 frames."""
    def treat(frames):
        at = [0, 50, 50 + rng.integers(3, 16), 140, 140 + rng.integers(3, 16), len(frames)]
        return scaled(frames, np.interp(np.arange(len(frames)), at, [1, 1, 0.55, 0.55, 1, 1])[:, None, None, None])

    return each(shots, rng, count, 200, treat)


def mixed(shots, rng, count, mix):
    parts = takes(shots, rng, count)
    film = parts[0]
    for part in parts[1:]:
        film = mix(film, part, min(int(rng.integers(12, 41)), len(part) - 2, len(film) - 2))
    return Film(film, set())


def crossfades(shots, rng, count):
    def mix(one, two, over):
        share = np.linspace(0, 1, over + 2, dtype=np.float32)[1:-1, None, None, None]
        return np.concatenate([one[:-over], scaled(one[-over:] * (1 - share), 1, two[:over] * share), two[over:]])

    return mixed(shots, rng, count, mix)


def fades(shots, rng, count):
    """Out to black and in again."""
    def mix(one, two, over):
        share = np.linspace(0, 1, over + 1, dtype=np.float32)[:-1, None, None, None]
        return np.concatenate([one[:-over], scaled(one[-over:], 1 - share), one[:5] * 0, scaled(two[:over], share), two[over:]])

    return mixed(shots, rng, count, mix)


def crossing(shots, rng, count, during):
    """An object of a quarter of the picture crosses it within DURING frames."""
    def treat(frames):
        result = frames.copy()
        width, height = SIZE[0] // 2, SIZE[1] // 2
        for start in range(30, len(frames) - during, during + 50):
            thing = scaled(cv2.resize(draw(shots, rng)[1][0], (width, height)), rng.choice([0.2, 0.6, 1]), rng.choice([0, 60]))
            for step in range(during):
                left = round(-width + (SIZE[0] + width) * (step + 1) / (during + 1))
                inside = slice(max(0, left), min(SIZE[0], left + width))
                result[start + step, height // 2 : height // 2 + height, inside] = thing[:, inside.start - left : inside.stop - left]
        return result

    return each(shots, rng, count, 250, treat)


def camera(shots, rng, count):
    """Pans and zooms over one frame, which is enlarged."""
    def treat(frames):
        large = cv2.resize(frames[0], None, fx=3, fy=3, interpolation=cv2.INTER_LANCZOS4)
        height, width, _ = large.shape
        zoom, speed = rng.random() < 0.4, rng.integers(3, 13)
        result = []
        for step in range(150):
            tall = round(height * (1 - 0.0035 * step)) if zoom else height // 2
            wide = tall * width // height
            span = width - wide
            left = span // 2 if zoom else span - abs(span - int(step * speed) % (2 * span))
            cut = large[(height - tall) // 2 :, left:][:tall, :wide]
            result.append(cv2.resize(cut, SIZE, interpolation=cv2.INTER_AREA))
        return np.stack(result)

    return each(shots, rng, count, 150, treat)


MATERIAL = {
    "joined shots": joins,
    "shots as they are": still,
    "noise": noisy,
    "flashes of 1 to 5 frames": flashes,
    "strobe": strobe,
    "exposure corrected by the camera": exposure,
    "crossfades": crossfades,
    "fades out and in": fades,
    "object crosses in 4 s": lambda s, r, n: crossing(s, r, n, 100),
    "object crosses in 0.4 s": lambda s, r, n: crossing(s, r, n, 10),
    "pans and zooms": camera,
}


def changes_curve(frames, at):
    """Whether the plain equalization curves of the 12 frames on either side differ by more than CHANGES levels."""
    luma = [(frames[a:b, ::2, ::2] @ np.float32([0.2126, 0.7152, 0.0722])).astype(np.uint8) for a, b in ((max(0, at - 12), at), (at, at + 12))]
    curves = [np.cumsum(np.bincount(l.ravel(), minlength=256)) / l.size * 255 for l in luma]
    return np.abs(curves[0] - curves[1]).mean() > CHANGES


def marks(program, options, path, folder):
    """The frames that the program marks as cuts."""
    stats = folder / "stats.csv"
    command(program, "-y", "-q", "--backend", "cpu", *options, "--stats", stats, "--output-format", "null", path, folder / "none")
    with stats.open() as lines:
        rows = list(csv.DictReader(lines))
    back = [i for i, r in enumerate(rows) if r["after_flash"] == "true"]
    taken_back = {i for b in back for i in range(b - 6, b + 1)}
    return {i for i, r in enumerate(rows) if r["cut"] == "true"} - taken_back, len(rows)


def one(job):
    cv2.setNumThreads(1)
    set_, kind, number, count, program, cache = job
    rng = np.random.default_rng(zlib.crc32(f"{set_} {kind} {number}".encode()))
    film = MATERIAL[kind](pool_of(set_, cache), rng, count)
    strong = {at for at in film.cuts if changes_curve(film.frames, at)}
    figures = {"frames": len(film.frames), "cuts": len(film.cuts), "strong": len(strong)}
    with tempfile.TemporaryDirectory(prefix="cuts-") as folder:
        folder = pathlib.Path(folder)
        write(film.frames, folder / "in.mkv")
        for mode, options in MODES.items():
            found, frames = marks(program, options, folder / "in.mkv", folder)
            assert frames == len(film.frames), (frames, len(film.frames))
            figures[mode] = (len(found & film.cuts), len(found & strong), len(found - film.cuts))
    return set_, kind, figures


def run(program, pool, cache, quick):
    """The table's lines."""
    for set_ in ("tuning", "held back"):
        pool_of(set_, cache)        # once, before the processes look for the same files
    joined, count = (1, 300) if quick else (5, 1400)
    jobs = [(s, k, i, 1400 if k == "joined shots" else count, program, cache)
            for s in ("tuning", "held back") for k in MATERIAL for i in range(joined if k == "joined shots" else 1)]
    sums = defaultdict(lambda: defaultdict(lambda: np.zeros(3, int)))
    for set_, kind, figures in pool.imap_unordered(one, jobs):
        sums[set_, kind]["made"] += (figures["frames"], figures["cuts"], figures["strong"])
        for mode in MODES:
            sums[set_, kind][mode] += figures[mode]
    return [line for set_ in ("tuning", "held back") for line in lines(set_, sums)]


def lines(set_, sums):
    head = ["material", "minutes", "cuts", "that change the curve"]
    for mode in MODES:
        head += [f"{mode}: found", "of those that change", "false"]
    result = [f"## Cuts, set: {set_}", "", "| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    total = defaultdict(lambda: np.zeros(3, int))
    for kind in MATERIAL:
        of = sums[set_, kind]
        cells = [kind, f"{of['made'][0] / RATE / 60:.1f}", *map(str, of["made"][1:])]
        for mode in ["made", *MODES]:
            total[mode] += of[mode]
            cells += [] if mode == "made" else list(map(str, of[mode]))
        result.append("| " + " | ".join(cells) + " |")
    minutes = total["made"][0] / RATE / 60
    cells = ["**together**", f"{minutes:.1f}", *map(str, total["made"][1:])]
    said = []
    for mode in MODES:
        cells += list(map(str, total[mode]))
        found, strong, false = total[mode]
        said.append(f"{mode}: recall {strong / max(1, total['made'][2]):.3f} of the cuts that change the curve ({found / max(1, total['made'][1]):.3f} of all), "
                    f"precision {found / max(1, found + false):.3f}, {false / minutes * 10:.1f} false in ten minutes")
    return [*result, "| " + " | ".join(cells) + " |", "", *(f"* {s[0].upper()}{s[1:]}." for s in said), ""]
