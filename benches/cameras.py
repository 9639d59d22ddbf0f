#!/usr/bin/env python3
"""Many cameras recorded: CPU time of `histeq-video live --config` beside that of ffmpeg, which only decodes and encodes.

Senders (ffmpeg, not counted) play CLIP, a transport stream of H.264, over TCP on 127.0.0.1, each frame at its time. One
histeq-video equalizes and records all of them; then one ffmpeg for each decodes and encodes them with the same encoder. Each runs
twice, for START and for START + SECONDS, and what is printed is the difference, so that the start is not in it. In turns, TURNS
times. Prints a row of Markdown for each run, and the ratio of CPU time per recorded frame.

    ffmpeg -i samples/coast.mp4 -an -vf scale=1280:720,fps=15 -pix_fmt yuv420p -c:v libx264 -preset veryfast -bf 0 -g 30 \\
        -b:v 2M -maxrate 2M -bufsize 1M clip.ts
    benches/cameras.py PROGRAM clip.ts [--sources 16] [--cores 0,1] [--start 12] [--seconds 15] [--preset ultrafast] [--turns 3]
        [--options 'backend = "cpu"; denoise = 0'] [--ffmpeg FFMPEG]

Programs may be scripts (`OUT/run histeq-video` of tests/gpu-bundle.sh: quote it).
"""
import argparse
import os
import pathlib
import re
import shlex
import signal
import subprocess
import tempfile
import time


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("program", type=shlex.split)
    options.add_argument("clip")
    options.add_argument("--sources", type=int, default=16)
    options.add_argument("--cores", help="that the programs may use; the senders use all")
    options.add_argument("--start", type=float, default=12)
    options.add_argument("--seconds", type=float, default=15)
    options.add_argument("--preset", default="ultrafast")
    options.add_argument("--turns", type=int, default=3)
    options.add_argument("--options", action="append", default=[], help="lines of the file of cameras; again for another row")
    options.add_argument("--ffmpeg", type=shlex.split, default=["ffmpeg"])
    given = options.parse_args()
    print(f"{given.sources} sources, {given.seconds:g} s after {given.start:g} s, x264 {given.preset}, cores {given.cores or 'all'}\n")
    print("| run | frames recorded | dropped | CPU cores | CPU time a frame | beside ffmpeg |")
    print("|---|---:|---:|---:|---:|---:|", flush=True)
    for _ in range(given.turns):
        beside = None
        for lines in [None, *(given.options or [""])]:
            begun, whole = (run(given, lines, seconds) for seconds in (given.start, given.start + given.seconds))
            frames, dropped, cpu, wall = (all - start for all, start in zip(whole, begun))
            each = cpu / max(frames, 1)
            beside = beside or each
            name = "ffmpeg" if lines is None else f"histeq-video {lines.replace(';', ',')}"
            print(f"| {name} | {frames:,} | {dropped:,} | {cpu / wall:.2f} | {each * 1e3:.2f} ms | {each / beside:.2f} |", flush=True)


def send(given, port):
    line = [*given.ffmpeg, "-v", "quiet", "-nostdin", "-re", "-stream_loop", "-1", "-i", given.clip, "-c", "copy", "-f", "mpegts"]
    return subprocess.Popen([*line, "-flush_packets", "1", f"tcp://127.0.0.1:{port}?listen=1&tcp_nodelay=1"])


def run(given, lines, seconds):
    """Frames recorded and dropped, CPU seconds and wall seconds of ffmpeg, or of histeq-video with these lines."""
    pin = ["taskset", "-c", given.cores] if given.cores else []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        ports = range(21000, 21000 + given.sources)
        senders = [send(given, port) for port in ports]
        time.sleep(2)
        sources = [f"tcp://127.0.0.1:{port}" for port in ports]
        begin = time.monotonic()
        if lines is None:
            x264 = ["-threads", "1", "-c:v", "libx264", "-preset", given.preset, "-tune", "zerolatency"]
            runs = [
                [*pin, *given.ffmpeg, "-v", "error", "-nostdin", "-threads", "1", "-i", url, *x264, f"{folder}/{index}.mkv"]
                for index, url in enumerate(sources)
            ]
        else:
            cameras = "".join(f'[camera.c{i}]\nsource = "{url}"\nrecord = "{folder}/{i}.mkv"\n' for i, url in enumerate(sources))
            common = f'encoder = "libx264"\npreset = "{given.preset}"\nencoder-option = "tune=zerolatency"\n'
            (folder / "cameras.toml").write_text(common + lines.replace(";", "\n") + "\n" + cameras)
            runs = [[*pin, *given.program, "live", "--config", f"{folder}/cameras.toml"]]
        said = open(folder / "said", "w+")
        # Each in a group of its own: a program may be a script.
        processes = [subprocess.Popen(run, stderr=said, start_new_session=True) for run in runs]
        time.sleep(seconds)
        for process in processes:
            os.killpg(process.pid, signal.SIGINT)
        cpu = 0.0
        for process in processes:
            _, _, usage = os.wait4(process.pid, 0)
            cpu += usage.ru_utime + usage.ru_stime
        wall = time.monotonic() - begin
        for sender in senders:
            sender.kill()
            sender.wait()
        said.seek(0)
        text = said.read()
        frames = sum(packets(given, folder / f"{index}.mkv") for index in range(given.sources))
        dropped = sum(map(int, re.findall(r"(\d+) dropped", text)))
        if not frames:
            print(text[-2000:], flush=True)
    return frames, dropped, cpu, wall


def packets(given, file):
    line = [*given.ffmpeg, "-nostdin", "-v", "error", "-i", file, "-map", "0:v", "-c", "copy", "-f", "framemd5", "-"]
    done = subprocess.run(line, capture_output=True, text=True)
    return sum(not row.startswith("#") for row in done.stdout.splitlines())


main()
