"""The bench of choices: sheets of unlabelled versions of real scenes, and tables of what judges chose.

    eye.py sheets SCENES OUT --program NEW [--before OLD] [--options "--look faithful"]... [--kinds dark,flat]
    eye.py tables OUT CHOICES...
    eye.py distances SCENES --program NEW

SCENES has a folder for each kind with PNG files, at most 854 pixels wide. OUT gets `NNN.png`, a sheet for each scene
with versions A, B, C... in an order of its own, and `key.json`, which a judge does not see. A judge writes a line for
each sheet: its number, the letters from best to worst, and the letters that are plainly bad (`-` if none):

    017 CADBEF B
"""

import argparse
import json
import pathlib
import random
import string
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import cv2
import numpy as np

from common.measures import ciede2000, lab
from common.peers import agcwd, clahe, dark_channel, gain, gray_world, stretched

WIDTH = 420


def of_floats(treat):
    return lambda frame: np.uint8(np.clip(treat(frame.astype(np.float32) / 255), 0, 1) * 255 + 0.5)


def stretch(frame, share=1.0):
    """Every channel by the one line that takes luma from its 0.5th to its 99.5th percentile to 0 and 255, or a share of
    it."""
    luma = frame @ np.float32([0.2126, 0.7152, 0.0722])
    low, high = np.percentile(luma, (0.5, 99.5))
    whole = np.clip((frame.astype(np.float32) - low) * (255 / max(high - low, 1)), 0, 255)
    return np.uint8(frame + share * (whole - frame) + 0.5)


def half(frame):
    return stretch(frame, 0.5)


def cleared(frame):
    """The dark channel's veil taken off, at the mean brightness of before."""
    clear = np.clip(dark_channel(frame), 0, 1)
    return clear * (frame.mean() / max(clear.mean(), 1e-3))


def single(treat):
    return lambda frame: treat(frame[None])[0]


PLAIN = {
    "input": lambda frame: frame,
    "stretch": stretch,
    "half": half,
    "AGCWD": single(agcwd),
    "gain": single(gain(False)),
    "CLAHE": single(clahe),
    "dark channel, gain": of_floats(cleared),
    "stretch of each channel": of_floats(stretched),
    "gray world, stretch": of_floats(gray_world),
}
# What stands beside ours in each kind: the input, and what was chosen there before.
BESIDE = {
    "clean": ["input", "half", "stretch"],
    "dark": ["input", "half", "stretch", "AGCWD", "gain"],
    "flat": ["input", "half", "stretch", "AGCWD", "gain"],
    "backlit": ["input", "half", "stretch", "AGCWD", "gain"],
    "haze": ["input", "half", "stretch", "CLAHE", "dark channel, gain"],
    "water": ["input", "half", "stretch of each channel", "gray world, stretch", "CLAHE"],
    "drawn": ["input", "half"],
}


def read(path):
    return cv2.cvtColor(cv2.imread(str(path)), cv2.COLOR_BGR2RGB)


def made_by(program, options, path, folder):
    """What PROGRAM makes of the picture at PATH."""
    out = pathlib.Path(folder) / f"{abs(hash((program, options, str(path))))}.png"
    subprocess.run([program, "-y", "-q", "--backend", "cpu", *options.split(), path, out], check=True, stderr=subprocess.DEVNULL)
    picture = read(out)
    out.unlink()
    return picture


def versions(kind, path, args, folder):
    frame = read(path)
    made = {name: PLAIN[name](frame) for name in BESIDE[kind]}
    if args.before:
        made["before"] = made_by(args.before, "", path, folder)
        made["before, half"] = half(made["before"])
    for other in args.also or []:
        made[pathlib.Path(other).name] = made_by(other, "", path, folder)
    for options in args.options or [""]:
        made[f"ours {options}".strip()] = made_by(args.program, options, path, folder)
    return made


def sheet(made, columns=3):
    """The pictures as a sheet of A, B, C...; those that are the same as one before them stand once."""
    cells = []
    for letter, picture in zip(string.ascii_uppercase, made):
        height = round(WIDTH * picture.shape[0] / picture.shape[1])
        cell = cv2.resize(picture, (WIDTH, height), interpolation=cv2.INTER_AREA)
        cell = cv2.copyMakeBorder(cell, 22, 6, 4, 4, cv2.BORDER_CONSTANT, value=(128, 128, 128))
        cv2.putText(cell, letter, (8, 17), cv2.FONT_HERSHEY_SIMPLEX, 0.6, (255, 255, 255), 2, cv2.LINE_AA)
        cells.append(cell)
    portrait = cells[0].shape[0] > cells[0].shape[1]
    columns = 4 if portrait else columns
    cells += [np.full_like(cells[0], 128)] * (-len(cells) % columns)
    return np.vstack([np.hstack(cells[at:at + columns]) for at in range(0, len(cells), columns)])


def scenes(folder, kinds):
    found = [(path.parent.name, path) for path in sorted(pathlib.Path(folder).glob("*/*.png"))]
    return [(kind, path) for kind, path in found if kind in BESIDE and (not kinds or kind in kinds.split(","))]


def sheets(args):
    out = pathlib.Path(args.out)
    out.mkdir(parents=True, exist_ok=True)
    chance, key = random.Random(args.seed), {}
    listed = scenes(args.scenes, args.kinds)
    chance.shuffle(listed)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        made_of = pool.map(lambda scene: versions(*scene, args, folder), listed)
        for number, ((kind, path), made) in enumerate(zip(listed, made_of), 1):
            # Versions that cannot be told apart share a letter, and a rank; scenes that none changes by 1.5 are left out.
            groups = []
            for name, picture in made.items():
                same = next((g for g in groups if np.abs(made[g[0]].astype(int) - picture).mean() < 0.7), None)
                same.append(name) if same else groups.append([name])
            apart = [ciede2000(lab(made["input"]), lab(picture)).mean() for picture in made.values()]
            if len(groups) < 2 or max(apart) < 1.5:
                continue
            chance.shuffle(groups)
            picture = sheet([made[group[0]] for group in groups])
            cv2.imwrite(str(out / f"{number:03}.png"), cv2.cvtColor(picture, cv2.COLOR_RGB2BGR))
            key[f"{number:03}"] = {"kind": kind, "scene": path.stem, "versions": dict(zip(string.ascii_uppercase, groups))}
    (out / "key.json").write_text(json.dumps(key, indent=1))
    print(f"{len(key)} sheets of {len(listed)} scenes")


def choices(path):
    for line in pathlib.Path(path).read_text().splitlines():
        words = line.split()
        if len(words) >= 2 and words[0].isdigit():
            yield words[0].zfill(3), words[1].upper(), words[2].upper() if len(words) > 2 else "-"


def share(of):
    return f"{np.mean(of):.2f} of {len(of)}" if of else ""


def tables(args):
    """The mean place of each version, the share of choices in which it is better than the input where they differ, and
    how often it is plainly bad, for each kind."""
    key = json.loads((pathlib.Path(args.out) / "key.json").read_text())
    seen, last_two = {}, {}
    for path in args.choices:
        for number, order, bad in choices(path):
            if number not in key or sorted(order) != sorted(key[number]["versions"]):
                print(f"{path}: {number} {order}: not all of its versions, or other ones", file=sys.stderr)
                continue
            kind, groups, place, places = key[number]["kind"], key[number]["versions"], 1, {}
            for letter in order:
                for name in groups[letter]:
                    places[name] = place + (len(groups[letter]) - 1) / 2
                place += len(groups[letter])
            badly = {name for letter in bad if letter in groups for name in groups[letter]}
            for name, at in places.items():
                better = None if at == places["input"] else at < places["input"]
                seen.setdefault(kind, {}).setdefault(name, []).append((at, better, name in badly))
                if at > len(places) - 2:
                    last_two.setdefault((name, kind, key[number]["scene"]), []).append(path)
    for kind, names in sorted(seen.items()):
        print(f"\n{kind} ({len(names['input'])} choices)\n\n| version | mean place of {len(names)} | better than the input | plainly bad |\n|---|---|---|---|")
        for name, of in sorted(names.items(), key=lambda item: np.mean([c[0] for c in item[1]])):
            print(f"| {name} | {np.mean([c[0] for c in of]):.2f} | {share([c[1] for c in of if c[1] is not None])} | {sum(c[2] for c in of)} |")
    print()
    for (name, kind, scene), by in sorted(last_two.items()):
        if name.startswith("ours") and len(by) > 1:
            print(f"in the last two for {len(by)} judges: {name}, {kind}, {scene}")


def distances(args):
    """CIEDE2000 from the input, and by how much true black rises, of every scene."""
    with tempfile.TemporaryDirectory() as folder:
        by_kind = {}
        for kind, path in scenes(args.scenes, args.kinds):
            frame = read(path)
            made = made_by(args.program, (args.options or [""])[0], path, folder)
            apart = float(ciede2000(lab(frame), lab(made)).mean())
            dark = frame.max(2) <= 4
            rises = float(made[dark].mean() - frame[dark].mean()) if dark.mean() > 0.01 else 0.0
            by_kind.setdefault(kind, []).append((apart, rises))
            print(f"{kind:8} {path.stem:32} dE {apart:5.1f}  black +{rises:4.1f}  mean {frame.mean():5.1f} -> {made.mean():5.1f}")
    for kind, of in by_kind.items():
        print(f"{kind:8} mean dE {np.mean([d for d, _ in of]):.2f}, most black +{max(r for _, r in of):.1f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    for name, does in (("sheets", sheets), ("tables", tables), ("distances", distances)):
        command = commands.add_parser(name)
        command.set_defaults(does=does)
        if name == "tables":
            command.add_argument("out")
            command.add_argument("choices", nargs="+")
            continue
        command.add_argument("scenes")
        if name == "sheets":
            command.add_argument("out")
            command.add_argument("--before", help="an older program; half a stretch on top of it is shown, too")
            command.add_argument("--also", action="append", help="another program")
            command.add_argument("--seed", default="1")
        command.add_argument("--program", required=True)
        command.add_argument("--options", action="append")
        command.add_argument("--kinds")
    args = parser.parse_args()
    args.does(args)


if __name__ == "__main__":
    main()
