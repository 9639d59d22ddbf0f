"""The tables, as Markdown."""

import os
import platform
import subprocess

import numpy as np

from .measures import MEASURES
from .peers import ALWAYS, MADE_FOR, for_kind

# What is to be reached without any option on clips that are held back: at least, aim.
GOALS = {"clean": (1.8, 1.6), "dim flat": (3.5, 2.7), "window": (4.0, 3.0), "TV range twice": (3.2, 2.5), "depth haze": (12.5, 11.0),
         "thick fog": (14.0, 12.0), "water, blue": (13.1, 12.0), "water, green": (12.0, 11.0), "low light": (7.5, 5.5), "tungsten": (9.5, 7.0),
         "log, S-Log3": (8.5, 6.5), "log, V-Log": (8.5, 6.5),
         "log, S-Log3, named": (3.0, 2.0), "log, V-Log, named": (3.0, 2.0), "faded film": (6.6, 6.0), "glare": (8.5, 6.2)}
HEADS = {"dE": "dE", "SSIM": "SSIM", "contrast": "contrast", "chroma": "chroma", "brightness": "bright", "hue": "hue, deg", "flicker": "flicker",
         "noise": "noise", "clipped": "clipped, %", "banding": "CAMBI"}
PLACES = {"dE": 2, "hue": 1, "flicker": 2, "noise": 2, "clipped": 1, "banding": 1}


def of_kind(figures, clips, kind):
    return [c for c in clips if (c.name, kind) in figures]


def mean(figures, clips, kind, program, measure="dE"):
    values = [figures[c.name, kind][program][measure] for c in of_kind(figures, clips, kind)]
    values = [v for v in values if not np.isnan(v)]
    return np.mean(values) if values else np.nan


def number(value, places=2):
    return "" if np.isnan(value) else f"{value:.{places}f}"


def row(cells):
    return "| " + " | ".join(cells) + " |"


def head(cells):
    return [row(cells), "|" + "---|" * len(cells)]


def programs_of(figures, clips, kind):
    return list(figures[of_kind(figures, clips, kind)[0].name, kind])


def is_ours(name):
    return name.startswith(("ours: ", "before: "))


def best_peers(figures, clips, kind):
    """The peers of a kind, the best first."""
    names = [n for n in programs_of(figures, clips, kind) if not is_ours(n) and n != "as it comes"]
    return sorted(names, key=lambda n: mean(figures, clips, kind, n))


def made_for(kind):
    return f"ours: {for_kind(MADE_FOR, kind) or 'default'}"


def summary(figures, tuning, held, kinds):
    """The default on clips that are held back, beside everything it is to be judged by."""
    labels = [n for n in ("before", "ours") if f"{n}: default" in programs_of(figures, held, kinds[0])]
    lines = head(["footage", "as it comes", *(f"{n}, default" for n in labels), "tuning", "held back less tuning", "worst clip", "made for it",
                  "best peer of the kind", "ours / peer", "at least / aim"])
    rows, ratios = [], {}
    for kind in kinds:
        at = lambda name, clips=held: mean(figures, clips, kind, name) if name in programs_of(figures, held, kind) else np.nan
        peer = best_peers(figures, held, kind)[0]
        worst = max(of_kind(figures, held, kind), key=lambda c: figures[c.name, kind]["ours: default"]["dE"])
        of_worst = figures[worst.name, kind]["ours: default"]["dE"]
        values = [at("as it comes"), *(at(f"{n}: default") for n in labels), at("ours: default", tuning), at("ours: default") - at("ours: default", tuning)]
        ratios[kind] = at("ours: default") / at(peer)
        rows.append([*values, at(made_for(kind)), at(peer)])
        lines.append(row([kind, *map(number, values), f"{of_worst:.1f} {worst.name}", number(at(made_for(kind))),
                          f"{at(peer):.2f} {peer}", number(ratios[kind]), " / ".join(f"{g:.1f}" for g in GOALS.get(kind, ()))]))
    means = np.nanmean(rows, 0)
    default = means[len(labels)]
    lines.append(row(["**mean**", *map(number, means[: len(labels) + 3]), "", *map(number, means[-2:]), number(default / means[-1]), ""]))
    alone = {n: np.mean([mean(figures, held, k, n) for k in kinds]) for n in ALWAYS if n in programs_of(figures, held, kinds[0])}
    order = sorted(alone, key=alone.get)
    worst = max(ratios, key=ratios.get)
    lines += ["", f"Without a choice, the best single peer is {order[0]} with {alone[order[0]]:.2f} on the mean of all kinds, to which ours is "
              f"{default / alone[order[0]]:.2f}; then {', '.join(f'{n} {alone[n]:.2f}' for n in order[1:5])}. "
              f"Ours is farthest behind the best peer of a kind in {worst}: {ratios[worst]:.2f} times."]
    return lines


def detail(figures, clips, kind):
    lines = head([kind, *(HEADS[m] for m in MEASURES)])
    for name in programs_of(figures, clips, kind):
        shown = f"**{name}**" if is_ours(name) else name
        lines.append(row([shown, *(number(mean(figures, clips, kind, name, m), PLACES.get(m, 2)) for m in MEASURES)]))
    return lines


def by_clip(figures, clips, kinds):
    """dE on each clip: ours without options, and the peer that is best for the footage."""
    lines = []
    for those in ([k for k in kinds if k != "clean"], [k for k in kinds if k == "clean"]):
        if those:
            shown = of_kind(figures, clips, those[0])
            lines += [*head(["dE by clip, default / best peer", *(c.name for c in shown)])]
            for kind in those:
                peer = best_peers(figures, clips, kind)[0]
                lines.append(row([kind, *("/".join(number(figures[c.name, kind][n]["dE"], 1) for n in ("ours: default", peer)) for c in shown)]))
            lines.append("")
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
        lines += ["## Without options, on clips that are held back", "", *summary(figures, *(those for _, those in sets), kinds), ""]
        for name, those in sets:
            lines += [f"## By clip, set: {name}", "", *by_clip(figures, those, kinds)]
    if "clean" in kinds:
        lines += ["## Clean footage: how far from itself", "", *clean(figures, sets), ""]
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
