"""The bench of pictures; README.md says what it is. Usage: run.sh PROGRAM [--quick] [--before PROGRAM] [--jobs N]"""

import argparse
import hashlib
import itertools
import json
import multiprocessing
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import cv2
import numpy as np

import cuts
import steady
from common import tables
from common.clips import CLEAN, CLIPS, FRAMES, QUICK as QUICK_CLIPS, load
from common.degrade import DEGRADATIONS, NAMED, QUICK as QUICK_KINDS, degraded
from common.frames import AS_FILES_ARE, filtered, write
from common.learned import FILES, tensors
from common.measures import COMPARED, Truth, measure
from common.peers import lacking, options_for, ours, peer, peers

COMMON = pathlib.Path(__file__).parent / "common"
CACHE = pathlib.Path(os.environ["PICTURES"])
SMOOTH = ("clean", "dim flat", "thick fog")      # the kinds of which banding is measured
THUMB, ROWS = (200, 112), 12


def sources():
    """What measured figures depend on, besides the program."""
    digest = hashlib.sha256(subprocess.run(["ffmpeg", "-version"], capture_output=True).stdout.split(b"\n")[0])
    for name in ("frames", "degrade", "peers", "learned", "measures", "banding"):
        digest.update((COMMON / f"{name}.py").read_bytes().split(b"# Our options")[0])
    return digest.hexdigest()[:16]


def thumb(frames):
    return cv2.resize(frames[len(frames) // 2], THUMB, interpolation=cv2.INTER_AREA)


def one(job):
    """All programs on one clip with one degradation: their figures and small pictures, by name."""
    cv2.setNumThreads(1)
    clip, kind, programs = job
    frames = load(clip.package, clip.file, clip.start, FRAMES, CACHE)
    given = degraded(kind, clip.name, frames)
    figures, pictures = {}, {"truth": thumb(frames[COMPARED])}
    with tempfile.TemporaryDirectory(prefix="pictures-") as folder:
        path = pathlib.Path(folder) / ("in.mov" if kind in NAMED else "in.mp4")
        write(given, path, AS_FILES_ARE, NAMED.get(kind))
        read, luma = filtered(path, "null", COMPARED)
        truth = Truth(frames, luma)

        def add(name, run):
            result, luma = run()
            if result.shape != truth.frames.shape:
                sys.exit(f"{name}: {result.shape[0]} frames of {result.shape[1:3]}, not {truth.frames.shape}")
            figures[name] = measure(result, luma, truth, kind in SMOOTH)
            pictures[name] = thumb(result)

        add("as it comes", lambda: (read, luma))
        for name, (program, options) in programs.items():
            add(name, lambda: ours(program, options, path))
        for name, how in peers(kind).items():
            kept = CACHE / "peers" / SOURCES / f"{clip.name} from {clip.start}, {kind}, {name}.npz"
            if kept.exists():
                stored = np.load(kept)
                figures[name], pictures[name] = json.loads(str(stored["figures"])), stored["thumb"]
            else:
                add(name, lambda: peer(how, path, read))
                kept.parent.mkdir(parents=True, exist_ok=True)
                np.savez(kept, figures=json.dumps(figures[name]), thumb=pictures[name])
    return clip, kind, figures, pictures


def sheet(kind, clips, figures, pictures, folder):
    """The contact sheet of a degradation: a row for each clip, with the peer that is best for the kind."""
    clips = clips[-ROWS:]
    of = [pictures[c.name, kind] for c in clips]
    mine = [n for n in of[0] if tables.is_ours(n)]
    columns = ["truth", "as it comes", *mine[:4], *tables.best_peers(figures, clips, kind)[:3]]
    heads = [np.full((16, THUMB[0], 3), 255, np.uint8) for _ in columns]
    for head, name in zip(heads, columns):
        cv2.putText(head, name, (3, 12), cv2.FONT_HERSHEY_SIMPLEX, 0.36, (0, 0, 0), 1, cv2.LINE_AA)
    rows = [np.hstack([small[n] for n in columns]) for small in of]
    picture = np.vstack([np.hstack(heads), *rows])[..., ::-1]
    path = folder / f"{kind.replace(', ', '-').replace(' ', '-')}.jpg"
    for quality in range(85, 30, -5):
        data = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, quality])[1]
        if len(data) < 250_000:
            break
    path.write_bytes(data.tobytes())
    return path


def options_of(program, kind, label, notes):
    """Our runs for a degradation, by name; what the program lacks is noted."""
    runs = {}
    for options in options_for(kind):
        lacks = lacking(program, options)
        if lacks:
            notes.add(f"{label} has no `{lacks}`: left out")
        else:
            runs[f"{label}: {options or 'default'}"] = (program, options)
    return runs


def main():
    words = argparse.ArgumentParser(prog="run.sh", description=__doc__.split("Usage")[0])
    words.add_argument("program", help="the program to measure")
    words.add_argument("--before", help="an older program to stand beside it")
    words.add_argument("--quick", action="store_true", help="a third of the clips, fewer joins and films")
    words.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), help="processes [default: one for each core]")
    words.add_argument("--only", help="one part: a degradation, pictures (all of them), steady, or cuts")
    words.add_argument("--out", type=pathlib.Path, default=CACHE / "results", help="where the table and the sheets go")
    words = words.parse_args()
    began, cached = time.time(), (CACHE / "peers" / SOURCES).exists()
    words.out.mkdir(parents=True, exist_ok=True)
    program = str(pathlib.Path(words.program).resolve())

    notes = set()
    kinds = [k for k in DEGRADATIONS if (not words.quick or k in QUICK_KINDS) and words.only in (None, "pictures", k, k.split(",")[0])]
    clips = [c for c in CLIPS + CLEAN if kinds and (not words.quick or c.name in QUICK_CLIPS)]
    there = [c for c in clips if load(c.package, c.file, c.start, FRAMES, CACHE) is not None]
    notes.update(f"the clip {c.name} could not be had: left out" for c in clips if c not in there)
    notes.update(f"the weights of {n} are not in {CACHE / 'weights'}: left out" for n in FILES if tensors(n) is None)
    clips = there
    labels = ([("before", str(pathlib.Path(words.before).resolve()))] if words.before else []) + [("ours", program)]
    runs = {k: {n: r for label, p in labels for n, r in options_of(p, k, label, notes).items()} for k in kinds}

    figures, pictures = {}, {}
    with multiprocessing.Pool(words.jobs) as pool:
        jobs = [(c, k, runs[k]) for c, k in itertools.product(clips, kinds) if k == "clean" or c not in CLEAN]
        for done, (clip, kind, of, thumbs) in enumerate(pool.imap_unordered(one, jobs), 1):
            figures[clip.name, kind] = of
            pictures[clip.name, kind] = thumbs
            print(f"\r{done} of {len(jobs)}: {kind}, {clip.name}".ljust(70), end="", file=sys.stderr, flush=True)
        print(file=sys.stderr)
        still = steady.run(labels, pool, CACHE, words.quick) if words.only in (None, "steady") else []
        found = cuts.run(program, pool, CACHE, words.quick) if words.only in (None, "cuts") else []
    (words.out / "figures.json").write_text(json.dumps([[*key, of] for key, of in figures.items()]))
    for kind in kinds:
        sheet(kind, [c for c in clips if (c.name, kind) in figures], figures, pictures, words.out)

    text = tables.report(words, program, clips, kinds, figures, still + found, sorted(notes), time.time() - began, cached)
    path = words.out / "pictures.md"
    path.write_text(text)
    print(text)
    print(f"written to {path}, with the contact sheets beside it", file=sys.stderr)


SOURCES = sources()
if __name__ == "__main__":
    main()
