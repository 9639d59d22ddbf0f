"""The conformance vectors through the module: tests/core/conformance/README.md has what they are."""

import importlib.util
import pathlib
import unittest

import numpy as np

import histeq

FOLDER = pathlib.Path(__file__).parents[2] / "core" / "conformance"


def port():
    """tests/core/conformance/port.py, which makes the inputs."""
    spec = importlib.util.spec_from_file_location("port", FOLDER / "port.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Vectors(unittest.TestCase):
    def test_every_vector_has_its_hashes(self):
        ours = port()
        inputs = {}
        vectors = ours.rows(FOLDER / "vectors.tsv")
        self.assertGreater(len(vectors), 200)
        for row in vectors:
            width, height, frames = (int(row[name]) for name in ("width", "height", "frames"))
            key = (row["format"], width, height, row["range"], frames)
            if key not in inputs:
                picture = ours.Picture(row["format"], width, height, row["range"] == "limited")
                inputs[key] = [picture.packed(picture.frame(n)) for n in range(frames)]
                self.assertEqual(f"{ours.fnv(b''.join(inputs[key])):016x}", row["input"], key)
            options = dict(option.split("=") for option in row["options"].split(" "))
            options = {name.replace("-", "_"): value for name, value in options.items()}
            equalizer = histeq.Equalizer(
                format=row["format"], width=width, height=height, rate=10, range=row["range"], matrix=row["matrix"],
                transfer=row["transfer"], live=row["delivery"] == "live", backend="cpu", threads=2, **options,
            )  # fmt: skip
            if options.get("smooth") == "scene":
                equalizer.survey(inputs[key])
            # Every second one as an array: a flat one is as good as bytes.
            flat = (np.frombuffer(frame, np.uint8) for frame in inputs[key])
            found = list(equalizer.iterate(flat if len(inputs) % 2 else inputs[key]))
            hashes = ",".join(f"{ours.fnv(bytes(frame)):016x}" for frame in found)
            self.assertEqual(hashes, row["output"], f"{key} {row['options']}")


if __name__ == "__main__":
    unittest.main()
