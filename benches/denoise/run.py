"""What is left of the truth once noise is removed: benches/denoise/run.sh PROGRAM [--only CLIP,...] [--noise n1,n3] [--codec raw,c23]

The program removes noise and does nothing else; then all get the same ideal lift. A peer has the strength that is best on the
tuning clips. The last lines are means, of the tuning clips and of those held back.
"""

import argparse
import sys

import cv2
import numpy as np

import dark
import left
from common.frames import command, ffmpeg

WANTED = range(5, 15)
PEERS = {
    "none": ["null"],
    "hqdn3d": ["hqdn3d=4:3:6:4.5", "hqdn3d=10:8:15:12", "hqdn3d=20:15:30:22"],
    "atadenoise": ["atadenoise=0a=0.04:0b=0.08:1a=0.03:1b=0.06:2a=0.03:2b=0.06", "atadenoise=0a=0.1:0b=0.3:1a=0.1:1b=0.3:2a=0.1:2b=0.3"],
    "bilateral + atadenoise": [
        f"bilateral=sigmaS=1.5:sigmaR={0.08 * s}:planes=7,"
        f"atadenoise=0a={0.025 * s}:0b={0.08 * s}:1a={0.012 * s}:1b={0.04 * s}:2a={0.012 * s}:2b={0.04 * s}:s=9:a=s"
        for s in (1, 0.5, 0.25)
    ],
    "nlmeans": ["nlmeans=s=2:p=5:r=9", "nlmeans=s=4:p=5:r=9", "nlmeans=s=8:p=5:r=9"],
}
OURS = {"histeq-video": "fast", "histeq-video, best": "best"}
ALONE = ["--method", "global", "--strength", "0", "--levels", "1", "--denoise", "1", "--output-depth", "10", "--encoder", "ffv1"]


def planes(path, chain="null", depth=8, wanted=WANTED):
    """The luma and chroma of the wanted frames, in codes of 8 bits."""
    kind, word = ("yuv420p", np.uint8) if depth == 8 else ("yuv420p10le", np.uint16)
    data = ffmpeg("-i", path, "-vf", chain, "-pix_fmt", kind, "-f", "rawvideo", "-")
    width, height = dark.WIDTH, dark.HEIGHT
    of = np.frombuffer(data, word).reshape(-1, width * height * 3 // 2)[wanted].astype(np.float32) / (1 << depth - 8)
    y, u, v = np.split(of, [width * height, width * height * 5 // 4], 1)
    return zip(y.reshape(-1, height, width), *(c.reshape(-1, height // 2, width // 2) for c in (u, v)))


def opencv(path, strength):
    """OpenCV's non-local means over five frames."""
    rgb = [np.uint8(np.clip(dark.planes_to_rgb(*p), 0, 1) * 255) for p in planes(path, wanted=range(dark.COUNT))]
    return [cv2.fastNlMeansDenoisingColoredMulti(rgb, at, 5, None, strength, strength, 5, 15) / np.float32(255) for at in WANTED]


def ours(program, path, effort):
    out = dark.CACHE / "denoise" / "out.mkv"
    command(program, "-y", "-q", "--backend", "cpu", path, out, *ALONE, "--set", f"denoise-effort={effort}")
    return planes(out, depth=10)


def judged(rgb, truth, noise):
    return left.of([dark.lifted(frame, noise) for frame in rgb], truth)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--only", default=",".join(dark.CLIPS))
    parser.add_argument("--noise", default="n1,n3,mild")
    parser.add_argument("--codec", default="raw,phone,c23,2m")
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--opencv", action="store_true")
    given = parser.parse_args()
    peers = {name: PEERS[name] for name in given.peers.split(",") if name}
    names = given.only.split(",")
    columns = [*peers, *(["OpenCV"] if given.opencv else []), *OURS]
    print("| noise | codec | set | " + " | ".join(columns) + " |")
    for noise in given.noise.split(","):
        for codec in given.codec.split(","):
            found = {}
            for name in names:
                path = dark.clip(name, noise, codec)
                if path is None:
                    continue
                truth, kind = [dark.truth(name)[i] for i in WANTED], dark.CLIPS[name][0]
                for peer, chains in peers.items():
                    for chain in chains:
                        rgb = [dark.planes_to_rgb(*p) for p in planes(path, chain)]
                        found.setdefault((peer, chain), {}).setdefault(kind, []).append(judged(rgb, truth, noise))
                if given.opencv:
                    for strength in (3, 7):
                        found.setdefault(("OpenCV", strength), {}).setdefault(kind, []).append(judged(opencv(path, strength), truth, noise))
                for column, effort in OURS.items():
                    rgb = [dark.planes_to_rgb(*p) for p in ours(given.program, path, effort)]
                    found.setdefault((column, ""), {}).setdefault(kind, []).append(judged(rgb, truth, noise))
            for kind in ("tuning", "held back"):
                cells = []
                for peer in columns:
                    of = [sets for (of, _), sets in found.items() if of == peer and kind in sets]
                    if not of:
                        continue
                    best = max(of, key=lambda sets: np.mean([v[0] for v in sets.get("tuning", sets[kind])]))
                    cells.append("{:.2f} / {:.3f} / {:.2f} / {:.2f}".format(*np.nanmean(best[kind], 0)))
                if cells:
                    print(f"| {noise} | {codec} | {kind} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
