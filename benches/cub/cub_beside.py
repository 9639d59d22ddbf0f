#!/usr/bin/env python3
"""cub_beside.py RESULTS: the times of RESULTS/cub.md through those of RESULTS/kernels.csv, as Markdown."""

import csv
import pathlib
import sys

folder = pathlib.Path(sys.argv[1])
ours = {}
with open(folder / "kernels.csv", newline="") as file:
    for row in csv.DictReader(file):
        if row["table"] == "frames" and row["measure"] == "exact":
            ours[row["size"], row["bits"], row["content"]] = float(row["median"])
print("# CUB beside the kernels of normal runs\n")
print("`benches/cub/cub_beside.py`: the times of `benches/cub/cub.cu` through those of `histeq-lab kernels` (exact, a launch a frame, in a "
      "queue), in place. A graph has nothing to gain for one launch; CUB's three or five it makes faster.\n")
print("| size | bits | content | ours, µs | CUB in a queue, times as long | CUB as a graph, times as long |\n|---|---|---|---|---|---|")
for line in (folder / "cub.md").read_text().splitlines():
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    if len(cells) < 9 or not cells[1].isdigit():
        continue
    size, bits, content, _, queue, graph = cells[:6]
    time = ours[size, bits, "photo-like" if content == "photo" else content]
    print(f"| {size} | {bits} | {content} | {time:.2f} | {float(queue) / time:.2f} | {float(graph) / time:.2f} |")
