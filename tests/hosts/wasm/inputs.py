#!/usr/bin/env python3
"""inputs.py FOLDER: the input of each conformance vector as a file of raw frames, named by its hash, which is checked."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "core" / "conformance"))
import port  # noqa: E402

for row in port.rows("vectors.tsv"):
    file = pathlib.Path(sys.argv[1], f"{row['input']}.raw")
    if file.exists():
        continue
    picture = port.Picture(row["format"], int(row["width"]), int(row["height"]), row["range"] == "limited")
    data = b"".join(picture.packed(picture.frame(n)) for n in range(int(row["frames"])))
    if f"{port.fnv(data):016x}" != row["input"]:
        sys.exit(f"port.py makes another input of {row['format']} {row['range']}")
    file.write_bytes(data)
