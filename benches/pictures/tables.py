"""The tables, as Markdown."""

import os
import platform
import subprocess

import numpy as np

from measures import MEASURES
from peers import MADE_FOR, for_kind

HEADS = {"dE": "dE", "SSIM": "SSIM", "contrast": "contrast", "chroma": "chroma", "brightness": "bright", "hue": "hue, deg", "flicker": "flicker",
         "noise": "noise", "clipped": "clipped, %", "banding": "CAMBI"}
PLACES = {"dE": 2, "hue": 1, "flicker": 2, "noise": 2, "clipped": 1, "banding": 1}


def mean(figures, clips, kind, program, measure):
    values = [figures[c.name, kind][program][measure] for c in clips]
    values = [v for v in values if not np.isnan(v)]
    return np.mean(values) if values else np.nan


def number(value, places=2):
    return "" if np.isnan(value) else f"{value:.{places}f}"


def row(cells):
    return "| " + " | ".join(cells) + " |"


def head(cells):
    return [row(cells), "|" + "---|" * len(cells)]


def programs_of(figures, clips, kind):
    return list(figures[clips[0].name, kind])


def is_ours(name):
    return name.startswith(("ours: ", "before: "))


def summary(figures, clips, kinds):
    """Ours beside the best of the others, by mean dE."""
    lines = head(["footage", "as it comes", "ours, default", "ours, made for it", "ours, best options", "best peer", "ours / best peer", "SSIM ours / peer"])
    for kind in kinds:
        names = programs_of(figures, clips, kind)
        by = {n: mean(figures, clips, kind, n, "dE") for n in names}
        mine = min((n for n in names if n.startswith("ours: ")), key=by.get)
        peer = min((n for n in names if not is_ours(n) and n != "as it comes"), key=by.get)
        made = by.get(f"ours: {for_kind(MADE_FOR, kind) or 'default'}", np.nan)
        alike = "/".join(number(mean(figures, clips, kind, n, "SSIM")) for n in (mine, peer))
        lines.append(row([kind, number(by["as it comes"]), number(by["ours: default"]), number(made), f"{by[mine]:.2f} `{mine[6:]}`",
                          f"{by[peer]:.2f} {peer}", f"{by[mine] / by[peer]:.2f}", alike]))
    return lines


def detail(figures, clips, kind):
    lines = head([kind, *(HEADS[m] for m in MEASURES)])
    for name in programs_of(figures, clips, kind):
        shown = f"**{name}**" if is_ours(name) else name
        lines.append(row([shown, *(number(mean(figures, clips, kind, name, m), PLACES.get(m, 2)) for m in MEASURES)]))
    return lines


def by_clip(figures, clips, kinds):
    """dE on each clip: ours with its best options for the footage, and the best peer for the footage."""
    lines = head(["dE by clip, ours / best peer", *(c.name for c in clips)])
    for kind in kinds:
        names = programs_of(figures, clips, kind)
        by = {n: mean(figures, clips, kind, n, "dE") for n in names}
        mine = min((n for n in names if n.startswith("ours: ")), key=by.get)
        peer = min((n for n in names if not is_ours(n) and n != "as it comes"), key=by.get)
        lines.append(row([kind, *("/".join(number(figures[c.name, kind][n]["dE"], 1) for n in (mine, peer)) for c in clips)]))
    return lines


def clean(figures, sets):
    """How far from itself each of our looks takes footage that has nothing wrong with it."""
    shown = ("dE", "SSIM", "contrast", "chroma", "brightness", "clipped")
    lines = head(["options", *(f"{HEADS[m]}, {name}" for name, _ in sets for m in shown)])
    for program in programs_of(figures, sets[0][1], "clean"):
        if is_ours(program) or program == "as it comes":
            cells = (number(mean(figures, those, "clean", program, m), PLACES.get(m, 2)) for _, those in sets for m in shown)
            lines.append(row([program, *cells]))
    return lines


def flat(figures, sets):
    """Local contrast of flat footage, clip by clip, as a share of the truth's."""
    names = ("as it comes", "ours: default", "normalize, linked")
    lines = head(["contrast", "set", *names])
    for name, those in sets:
        lines += [row([c.name, name, *(number(figures[c.name, "flat"][n]["contrast"]) for n in names)]) for c in those]
        lines.append(row(["**mean**", name, *(number(mean(figures, those, "flat", n, "contrast")) for n in names)]))
    return lines


def version(*words):
    ran = subprocess.run(words, capture_output=True, text=True)
    return ran.stdout.split("\n")[0].split(" Copyright")[0]


def report(words, program, clips, kinds, figures, found, notes, seconds, cached):
    import cv2

    lines = ["# Pictures", ""]
    flags = "".join([" --quick" if words.quick else "", " --before OLD" if words.before else "", f" --only {words.only}" if words.only else ""])
    cores = {1: "one core", 2: "two cores"}.get(len(os.sched_getaffinity(0)), f"{len(os.sched_getaffinity(0))} cores")
    lines += [f"`benches/pictures/run.sh PROGRAM{flags}`; {version(program, '--version')}; {cores}, {platform.machine()}; "
              f"{version('ffmpeg', '-version')}; OpenCV {cv2.__version__}, NumPy {np.__version__}; {seconds / 60:.0f} minutes{', with the peers measured before' if cached else ''}.", ""]
    lines += [f"{n[0].upper()}{n[1:]}." for n in notes] + [""] if notes else []
    sets = [(name, [c for c in clips if c.set == name]) for name in ("tuning", "held back")]
    if kinds:
        for name, those in sets:
            lines += [f"## Set: {name} ({', '.join(c.name for c in those)})", "", *summary(figures, those, kinds), ""]
            lines += [*by_clip(figures, those, kinds), ""]
    if "clean" in kinds:
        lines += ["## Clean footage: how far from itself", "", *clean(figures, sets), ""]
    if "flat" in kinds:
        lines += ["## Flat footage: local contrast", "", *flat(figures, sets), ""]
    if found:
        lines += found
    if kinds:
        for name, those in sets:
            lines += [f"## All figures, set: {name}", ""]
            for kind in kinds:
                lines += [*detail(figures, those, kind), ""]
    lines += ["## Clips", "", *head(["clip", "set", "kind", "package", "file", "frames", "licence, author"])]
    lines += [row([c.name, c.set, c.kind, c.package, c.file, f"{c.start} to {c.start + 39}", c.licence]) for c in clips]
    return "\n".join(lines) + "\n"
