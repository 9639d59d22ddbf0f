#!/usr/bin/env python3
"""What hostile uploads cost a service: the command of samples/users/service.py on each, with its time, memory and answer.

    benches/hostile.py [PROGRAM]

Prints Markdown. Takes ffmpeg; needs Linux, for the memory of processes.
"""

import json
import os
import pathlib
import random
import re
import struct
import subprocess
import sys
import tempfile
import time
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROGRAM = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "target/release/histeq-video").resolve()
SERVICE = (ROOT / "samples/users/service.py").read_text()
COMMAND = eval(re.search(r"^COMMAND = (\[.*?\])$", SERVICE, re.M | re.S)[1])


def ffmpeg(folder, *words):
    subprocess.run(["ffmpeg", "-v", "error", "-y", *words, folder / "made"], check=True)
    return (folder / "made").read_bytes()


def png(width, height):
    """A picture of this size in black, which is small as a file."""
    chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = zlib.compressobj(9)
    data = b"".join(rows.compress(bytes(1 + width // 8) * 64) for _ in range(height // 64)) + rows.flush()
    head = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def flipped(data, count):
    data, rng = bytearray(data), random.Random(1)
    for _ in range(count):
        data[rng.randrange(2000, len(data))] ^= 1 << rng.randrange(8)
    return bytes(data)


def uploads(folder):
    """The names of hostile uploads, and their bytes."""
    film = ["-f", "lavfi", "-i", "testsrc2=s=640x360:r=25:d=4"]
    h264 = ffmpeg(folder, *film, "-c:v", "libx264", "-f", "mpegts")
    mp4 = ffmpeg(folder, *film, "-c:v", "libx264", "-f", "mp4")
    yield "a video of 100 frames of 640x360, for comparison", h264
    yield "10 MB of noise", random.Random(1).randbytes(10_000_000)
    yield "a PNG of 16384x16384", png(16384, 16384)
    yield "a GIF that says it has 65535x65535", b"GIF89a" + struct.pack("<HHBBB", 65535, 65535, 0x80, 0, 0) + bytes(64)
    yield "a y4m that says it has 30000x30000", b"YUV4MPEG2 W30000 H30000 F25:1\nFRAME\n" + bytes(1000)
    yield "a playlist that names itself", b"#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nupload.video\n#EXT-X-ENDLIST\n"
    yield "a playlist that names /etc/passwd and a server", b"ffconcat version 1.0\nfile /etc/passwd\nfile http://127.0.0.1:1/x\n"
    yield "that video, 400 of its bits flipped", flipped(h264, 400)
    yield "that video as mp4, cut in the middle", mp4[: len(mp4) // 2]
    yield "20 hours of one frame a second", ffmpeg(folder, "-f", "lavfi", "-i", "color=s=16x16:r=1:d=72000", "-c:v", "mpeg4", "-f", "avi")
    streams = [word for _ in range(200) for word in ["-map", "0"]]
    yield "200 streams of video", ffmpeg(folder, "-f", "lavfi", "-i", "testsrc2=s=640x360:r=25:d=0.2", *streams, "-c:v", "mpeg4", "-f", "matroska")


def tree(process):
    found = [process]
    for each in found:
        for task in pathlib.Path(f"/proc/{each}/task").glob("*/children"):
            found += [int(child) for child in task.read_text().split()]
    return found


def memory(process):
    """MiB of a process and its children, each shared page counted once among them."""
    total = 0
    for each in tree(process):
        try:
            total += int(re.search(r"^Pss:\s+(\d+)", pathlib.Path(f"/proc/{each}/smaps_rollup").read_text(), re.M)[1])
        except (OSError, TypeError):
            pass
    return total / 1024


def main():
    print("| upload | bytes | seconds | CPU seconds | most memory, MiB | exit code | answer |\n|---|---:|---:|---:|---:|---:|---|")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "out").mkdir()
        for name, upload in uploads(folder):
            (folder / "upload.video").write_bytes(upload)
            (folder / "out" / "video.mp4").unlink(missing_ok=True)
            before, begin, most = os.times(), time.monotonic(), 0.0
            words = [PROGRAM, *COMMAND[1:], "upload.video", "out/video.mp4"]
            with open(folder / "events", "wb") as said:
                run = subprocess.Popen(words, cwd=folder, stdin=subprocess.DEVNULL, stderr=said)
            while run.poll() is None:
                most = max(most, memory(run.pid))
                time.sleep(0.01)
            spent, after = time.monotonic() - begin, os.times()
            cpu = after.children_user + after.children_system - before.children_user - before.children_system
            events = [json.loads(line) for line in (folder / "events").read_text().splitlines()]
            answer = next((event["message"] for event in events if event["event"] == "error"), f"{events[-1]['frames']} frames")
            print(f"| {name} | {len(upload):,} | {spent:.2f} | {cpu:.2f} | {most:.0f} | {run.returncode} | {answer} |", flush=True)


main()
