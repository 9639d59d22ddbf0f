#!/usr/bin/env python3
"""A port of the smallest part of the specification, `look=exact`, made from README.md beside it: begin yours like this.

Makes the input of each vector by the rule, and compares its hash; equalizes those with `look=exact` of gray and planar YUV,
and compares what comes out, and the numbers on the way.
"""

import pathlib
import sys

RATIO = {"420": (1, 1), "422": (1, 0), "444": (0, 0), "411": (2, 0)}  # log2 of pixels that share chroma: across, down
SHOTS = [  # dim, flash, pale: luma, Cb, Cr: least, span, grain
    [(6000, 14000, 2500), (30000, 3000, 400), (34000, 3000, 400)],
    [(60000, 4000, 500), (30000, 3000, 400), (34000, 3000, 400)],
    [(30000, 20000, 600), (36000, 4000, 300), (29000, 4000, 300)],
]


def fnv(data, value=0xCBF29CE484222325):
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value


def depth_of(name):
    if name.startswith("nv"):
        return 8
    for depth in (16, 12, 10):
        if name.endswith(str(depth)) or name == f"p0{depth}":
            return depth
    return 16 if "48" in name or "64" in name else 8


class Picture:
    """The layout of a format: where the samples of each component lie."""

    def __init__(self, name, width, height, limited):
        self.name, self.size = name, (width, height)
        base = name.removesuffix("le").removesuffix("be")
        self.order = "big" if name.endswith("be") else "little"
        self.high = base.startswith("p0") or base.startswith("p2")
        self.depth = depth_of(base)
        self.bytes = 1 if self.depth == 8 else 2
        self.rgb = "rgb" in base or "bgr" in base or "gbr" in base
        self.yuv = not self.rgb and not base.startswith("gray")
        limited = limited and not self.rgb
        step, self.most = 1 << self.depth - 8, (1 << self.depth) - 1
        codes = lambda most: (16 * step, most * step) if limited else (0, self.most)
        # planes: (samples a row, rows); parts: (plane, offset, step, columns, rows, codes)
        full = lambda plane, offset=0, step=1, codes=(0, self.most): (plane, offset, step, width, height, codes)
        if base.startswith("gray"):
            self.planes = [(width, height)]
            self.parts = [full(0, codes=codes(235))]
        elif base.startswith("gbr"):
            alpha = base.startswith("gbra")
            self.planes = [(width, height)] * (4 if alpha else 3)
            self.parts = [full(2), full(0), full(1)] + ([full(3)] if alpha else [])
        elif self.rgb:
            letters = "".join(letter for letter in base if letter in "rgba")
            self.planes = [(width * len(letters), height)]
            self.parts = [full(0, letters.index(letter), len(letters)) for letter in "rgba" if letter in letters]
        else:
            ratio = {"nv": "420", "p0": "420", "p2": "422", "yu": None, "uy": "422"}[base[:2]]
            packed = base in ("yuyv422", "uyvy422")
            across, down = RATIO["422" if packed else ratio or base.removeprefix("yuva").removeprefix("yuv")[:3]]
            columns, rows = -(-width >> across), -(-height >> down)
            chroma = lambda plane, offset, step: (plane, offset, step, columns, rows, codes(240))
            if packed:
                luma = base.index("y")
                self.planes = [(4 * columns, height)]
                self.parts = [full(0, luma, 2, codes(235)), chroma(0, 1 - luma, 4), chroma(0, 3 - luma, 4)]
            elif ratio:
                first = 1 if base == "nv21" else 0
                self.planes = [(width, height), (2 * columns, rows)]
                self.parts = [full(0, codes=codes(235)), chroma(1, first, 2), chroma(1, 1 - first, 2)]
            else:
                alpha = base.startswith("yuva")
                self.planes = [(width, height), (columns, rows), (columns, rows)] + [(width, height)] * alpha
                self.parts = [full(0, codes=codes(235)), chroma(1, 0, 1), chroma(2, 0, 1)] + [full(3)] * alpha

    def packed(self, planes):
        if self.bytes == 1:
            return b"".join(bytes(plane) for plane in planes)
        shift = 16 - self.depth if self.high else 0
        return b"".join((code << shift).to_bytes(2, self.order) for plane in planes for code in plane)

    def frame(self, n):
        """The codes of each plane of frame n."""
        planes = [[0] * (samples * rows) for samples, rows in self.planes]
        for k, (plane, offset, step, columns, rows, (least, most)) in enumerate(self.parts):
            row, noise = self.planes[plane][0], 12345 + 1000 * n + k
            for y in range(rows):
                for x in range(columns):
                    noise = (1664525 * noise + 1013904223) & 0xFFFFFFFF
                    ramp = 255 * x // (columns - 1)
                    low, span, grain = SHOTS[1 if n == 5 else 2 if n >= 10 else 0][0 if self.rgb else min(k, 2)]
                    low += 1500 * k if self.rgb else 0
                    bar = 255 if (x // 6 + (y + n) // 5) % 2 else 0
                    value = low + span * (2 * ramp + bar) // 765 + grain * (noise >> 24) // 255
                    value = 257 * ramp if k == 3 else min(value, 65535)
                    planes[plane][y * row + offset + x * step] = least + value * (most - least + 1) // 65536
            if self.yuv and k == 0:
                planes[0][offset], planes[0][offset + step] = 0, self.most
        return planes


def histogram(codes, lo, hi):
    counts = [0] * (hi - lo + 1)
    for code in codes:
        counts[min(max(code, lo), hi) - lo] += 1
    return counts


def curve(counts, lo, hi, most):
    """What each code becomes."""
    total, levels = sum(counts), hi - lo
    first = next(count for count in counts if count)
    if total == first:
        return list(range(most + 1))
    out, sum_ = [], 0
    for count in counts:
        sum_ += count
        out.append(lo + (max(sum_ - first, 0) * levels + (total - first) // 2) // (total - first) if sum_ else lo)
    return [lo] * lo + out + [hi] * (most - hi)


def rows(name):
    text = (pathlib.Path(__file__).parent / name).read_text()
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    head = lines[0].split("\t")
    return [dict(zip(head, line.split("\t"))) for line in lines[1:]]


def main():
    steps = {(row["format"], row["range"], row["options"], row["frame"], row["step"]): row["numbers"] for row in rows("steps.tsv")}
    inputs, exact, numbers, wrong = {}, 0, 0, []
    for row in rows("vectors.tsv"):
        size, limited = (int(row["width"]), int(row["height"])), row["range"] == "limited"
        picture = Picture(row["format"], *size, limited)
        key = (row["format"], size, limited, row["frames"])
        if key not in inputs:
            frames = [picture.frame(n) for n in range(int(row["frames"]))]
            inputs[key] = frames, f"{fnv(b''.join(map(picture.packed, frames))):016x}"
        frames, found = inputs[key]
        if found != row["input"]:
            wrong.append(f"input of {key}")
        planar = row["format"].startswith(("gray", "yuv4", "yuva"))
        if row["options"] != "look=exact" or not planar:
            continue
        lo, hi = picture.parts[0][5]
        for n, (planes, expected) in enumerate(zip(frames, row["output"].split(","))):
            # Of what has alpha, the fourth plane, the pixels count whose alpha is not 0.
            seen = [code for code, alpha in zip(planes[0], planes[3]) if alpha] if len(planes) == 4 else planes[0]
            counts = histogram(seen, lo, hi)
            becomes = curve(counts, lo, hi, picture.most)
            for step, found in (("histogram", counts), ("curve", becomes)):
                given = steps.get((row["format"], row["range"], "look=exact", str(n), step))
                if given and row["delivery"] == "stored" and row["transfer"] == "sdr":
                    numbers += 1
                    if given != ",".join(map(str, found)):
                        wrong.append(f"{step} of frame {n} of {key}")
            if f"{fnv(picture.packed([[becomes[code] for code in planes[0]]] + planes[1:])):016x}" != expected:
                wrong.append(f"frame {n} of {key}")
        exact += 1
    print("\n".join(wrong) or f"{len(inputs)} hashes of the input are right, {numbers} lists on the way, {exact} vectors of look=exact are right")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
