"""Three clips and every look: the bytes of the program. HISTEQ_PROGRAM is the program."""

import os
import pathlib
import subprocess
import tempfile
import unittest

import numpy as np

import histeq

SAMPLES = pathlib.Path(__file__).parents[3] / "samples"
PROGRAM = os.environ.get("HISTEQ_PROGRAM")


def ffmpeg(*arguments):
    command = ["ffmpeg", "-hide_banner", "-nostdin", "-v", "error", "-y", *map(str, arguments)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout


def planes(frame, width, height, dtype, chroma):
    """Y, U and V of a frame in bytes."""
    columns, rows = chroma
    sizes = [(height, width), (rows, columns), (rows, columns)]
    samples, at, found = np.frombuffer(frame, dtype), 0, []
    for size in sizes:
        found.append(samples[at : at + size[0] * size[1]].reshape(size))
        at += size[0] * size[1]
    return tuple(found)


@unittest.skipUnless(PROGRAM, "SKIPPED program: HISTEQ_PROGRAM names none")
class Program(unittest.TestCase):
    def check(self, clip, pixel_format, size, convert, **options):
        """The program's bytes of the file, and those of its frames through the module."""
        raw = ffmpeg("-i", clip, "-f", "rawvideo", "-pix_fmt", pixel_format, "-")
        sample = 2 if pixel_format.endswith("le") else 1
        bytes_of = size[0] * size[1] * (3 if "444" in pixel_format else 3 / 2) * sample
        count = round(len(raw) / bytes_of)
        frames = [raw[n * len(raw) // count : (n + 1) * len(raw) // count] for n in range(count)]
        self.assertGreater(count, 20)
        seen = set()
        for look in histeq.LOOKS:
            command = [PROGRAM, "-q", "--backend", "cpu", "--look", look, "--output-pixel-format", "keep"]
            command += ["--output-format", "rawvideo", clip, "-"]
            expected = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
            equalizer = histeq.Equalizer(look=look, backend="cpu", format=pixel_format, **options)
            found = b""
            for frame in equalizer.iterate(convert(frame) for frame in frames):
                found += b"".join(map(bytes, frame)) if isinstance(frame, tuple) else bytes(frame)
            self.assertEqual(len(found), len(expected))
            self.assertTrue(found == expected, f"{clip.name}, look {look}: other bytes than those of the program")
            seen.add(found)
        self.assertGreater(len(seen), 3, "looks look different")

    def test_a_coast_as_a_tuple_of_planes(self):
        with tempfile.TemporaryDirectory() as folder:
            clip = pathlib.Path(folder) / "coast.mkv"
            ffmpeg("-i", SAMPLES / "coast.mp4", "-t", 1.5, "-an", "-c:v", "ffv1", clip)
            convert = lambda frame: planes(frame, 854, 480, np.uint8, (427, 240))
            self.check(clip, "yuv420p", (854, 480), convert, rate=30000 / 1001, matrix="bt709")

    def test_a_parking_lot_as_rows_of_all_planes(self):
        with tempfile.TemporaryDirectory() as folder:
            clip = pathlib.Path(folder) / "parking-lot.mkv"
            ffmpeg("-i", SAMPLES / "parking-lot.mp4", "-t", 3, "-an", "-c:v", "ffv1", clip)
            convert = lambda frame: np.frombuffer(frame, np.uint8).reshape(432 * 3 // 2, 768)
            self.check(clip, "yuv420p", (768, 432), convert, rate=12.5)

    def test_a_dark_shot_and_a_pale_one_of_ten_bits(self):
        with tempfile.TemporaryDirectory() as folder:
            clip = pathlib.Path(folder) / "dark.mkv"
            source = "testsrc2=s=200x120:r=10"
            shots = (
                "[0]format=yuv444p10le,lutyuv=y=64+val/6,noise=alls=6:allf=t:all_seed=5,trim=end_frame=20[a];"
                "[1]format=yuv444p10le,lutyuv=y=400+val/4,trim=end_frame=20[b];[a][b]concat,setpts=N/10/TB"
            )
            ffmpeg("-f", "lavfi", "-i", source, "-f", "lavfi", "-i", source, "-filter_complex", shots, "-r", 10, "-frames:v", 40,
                   "-c:v", "ffv1", "-pix_fmt", "yuv444p10le", clip)  # fmt: skip
            convert = lambda frame: np.frombuffer(frame, np.uint16).reshape(3, 120, 200)
            self.check(clip, "yuv444p10le", (200, 120), convert, rate=10)


if __name__ == "__main__":
    unittest.main()
