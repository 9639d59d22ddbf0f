"""How fast the plug-ins are in their hosts, beside the program and what the hosts have: benches/results/hosts.md.

hosts.py PROGRAM FREI0R_FOLDER CLIP [ROUNDS]: in an environment with VapourSynth, our plug-in, vapoursynth-vszip and numpy; the
folder has histeq.so. All take the frames of CLIP at 1080p, 8-bit 4:2:0, from memory, in turns. It prints milliseconds a frame:
the median, and the least and the most."""

import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

import numpy
import vapoursynth as vs

SIZE = (1920, 1080)
core = vs.core
core.max_cache_size = 6000


def run(clip, numbers):
    """Seconds in which these frames come, as many at once as there are threads and two more."""
    begin, waiting = time.perf_counter(), []
    for n in numbers:
        if len(waiting) >= core.num_threads + 2:
            waiting.pop(0).result().close()
        waiting.append(clip.get_frame_async(n))
    for future in waiting:
        future.result().close()
    return time.perf_counter() - begin


def timed(command, **environment):
    begin = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=os.environ | environment)
    return time.perf_counter() - begin


def main(program, frei0r, path, rounds=5):
    folder = tempfile.TemporaryDirectory(dir="/dev/shm")
    y4m = str(pathlib.Path(folder.name) / "in.y4m")
    subprocess.run(
        ["ffmpeg", "-nostdin", "-v", "error", "-i", path, "-vf", "scale=1920:1080,setsar=1", "-pix_fmt", "yuv420p", y4m], check=True
    )
    data = numpy.memmap(y4m, numpy.uint8, "r")
    head = bytes(data[:200]).index(b"\n") + 1
    bytes_of_frame = SIZE[0] * SIZE[1] * 3 // 2
    count = (len(data) - head) // (bytes_of_frame + 6)

    def fill(n, f):
        new, at = f.copy(), head + n * (bytes_of_frame + 6) + 6
        for plane in range(3):
            to = numpy.asarray(new[plane])
            to[:] = data[at : at + to.size].reshape(to.shape)
            at += to.size
        return new

    blank = core.std.BlankClip(format=vs.YUV420P8, width=SIZE[0], height=SIZE[1], length=count, fpsnum=30000, fpsden=1001)
    clip = core.std.SetFrameProps(core.std.ModifyFrame(blank, blank, fill), _Range=0, _Matrix=6)
    clip.std.SetVideoCache(mode=1, fixedsize=1, maxsize=count)
    ordered = list(range(count))
    shuffled = random.Random(1).sample(ordered, count)
    run(clip, ordered)

    def uncached(node):
        node.std.SetVideoCache(mode=0)
        return node

    known = {look: uncached(core.histeq.Equalize(clip, look=look)) for look in ("natural", "thermal")}
    clahe = uncached(core.vszip.CLAHE(clip))
    ffmpeg = ["ffmpeg", "-nostdin", "-v", "error", "-i", y4m, "-vf"]
    null = ["-f", "null", "-"]
    ways = {"VapourSynth, the frames alone": lambda: run(clip, ordered)}
    for look in known:
        of_program = [program, "--backend", "cpu", "-y", y4m, "--look", look, "--output-format", "null", "/dev/null"]
        ways |= {
            f"{look}, program": lambda command=of_program: timed(command),
            f"{look}, VapourSynth, first pass": lambda look=look: run(
                uncached(core.histeq.Equalize(clip, look=look)), ordered
            ),
            f"{look}, VapourSynth, second pass": lambda look=look: run(known[look], ordered),
            f"{look}, VapourSynth, second pass, shuffled": lambda look=look: run(known[look], shuffled),
            f"{look}, ffmpeg frei0r": lambda look=look: timed(
                ffmpeg + [f"format=rgba,frei0r=histeq:{look}"] + null, FREI0R_PATH=frei0r
            ),
        }
        run(known[look], ordered)
    ways |= {
        "vszip CLAHE": lambda: run(clahe, ordered),
        "ffmpeg, RGBA alone": lambda: timed(ffmpeg + ["format=rgba"] + null),
        "ffmpeg normalize": lambda: timed(ffmpeg + ["normalize"] + null),
    }
    found = {way: [] for way in ways}
    for _ in range(int(rounds)):
        for way, take in ways.items():
            found[way].append(1000 * take() / count)
    print(f"| way | ms a frame | least, most |\n|---|---|---|")
    for way, times in found.items():
        print(f"| {way} | {statistics.median(times):.2f} | {min(times):.2f}, {max(times):.2f} |")


main(*sys.argv[1:])
