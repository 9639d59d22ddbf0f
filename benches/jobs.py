#!/usr/bin/env python3
"""A file in pieces: ffmpeg without a filter, several of them that share nothing, one process, and `--jobs`, in turns; medians
of wall and CPU seconds.

    benches/jobs.py FILE... [--program histeq-video] [--ffmpeg ffmpeg] [--presets veryfast medium] [--apart 4 8]
        [--jobs 1 4 8 auto] [--backends auto cpu] [--rounds 5] [--crf 23] [--scratch FOLDER]

Prints a table of Markdown. CPU seconds are those of all processes. --strength 0.004 makes the pictures that are encoded those
that ffmpeg encodes, nearly. --apart N has N ffmpegs encode a part each, which was cut at key frames before; their decoders
have 4 threads each, and their encoders as many as `--jobs` gives its own.
"""
import argparse
import os
import shlex
import statistics
import subprocess
import tempfile
import time


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("files", nargs="+", metavar="FILE")
    options.add_argument("--program", default="histeq-video")
    options.add_argument("--ffmpeg", default="ffmpeg")
    options.add_argument("--presets", nargs="+", default=["veryfast", "medium"])
    options.add_argument("--jobs", nargs="+", default=["1", "4", "8", "auto"])
    options.add_argument("--apart", nargs="*", type=int, default=[])
    options.add_argument("--backends", nargs="+", default=["auto"])
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--crf", type=int, default=23)
    options.add_argument("--scratch")
    given = options.parse_args()
    print("| file | preset | what | wall (s) | of ffmpeg | CPU (s) | of ffmpeg | runs |")
    print("|---|---|---|---:|---:|---:|---:|---|", flush=True)
    for file in given.files:
        for preset in given.presets:
            measure(given, os.path.abspath(file), preset)


def measure(given, file, preset):
    ffmpeg = [*shlex.split(given.ffmpeg), *"-nostdin -v error -y".split()]
    encoding = f"-c:v libx264 -preset {preset} -crf {given.crf}".split()
    with tempfile.TemporaryDirectory(dir=given.scratch) as folder:
        output = f"{folder}/out.mp4"
        ways = {"ffmpeg, no filter": [*ffmpeg, "-i", file, *encoding, "-c:a", "copy", output]}
        for count in given.apart:
            ways[f"{count} ffmpegs apart"] = apart(given, ffmpeg, file, encoding, folder, count)
        for jobs in given.jobs:
            for backend in given.backends:
                pieces = [] if jobs == "1" else ["--jobs", jobs]
                name = "one process" if jobs == "1" else f"--jobs {jobs}"
                ways[f"{name}, {backend}"] = [*shlex.split(given.program), *arguments(given, preset), "--backend", backend,
                                              *pieces, file, output]
        walls, cpus = {name: [] for name in ways}, {name: [] for name in ways}
        for _ in range(given.rounds):
            for name, command in ways.items():
                wall, cpu = timed(command)
                walls[name].append(wall)
                cpus[name].append(cpu)
    first = next(iter(ways))
    # Ratios are the medians of those of each round.
    of_ffmpeg = lambda runs, name: statistics.median(run / of for run, of in zip(runs[name], runs[first]))
    for name in ways:
        runs = ", ".join(f"{run:.2f}" for run in walls[name])
        print(f"| {os.path.basename(file)} | {preset} | {name} | {statistics.median(walls[name]):.2f} | "
              f"{of_ffmpeg(walls, name):.3f} | {statistics.median(cpus[name]):.1f} | {of_ffmpeg(cpus, name):.3f} | {runs} |", flush=True)


def apart(given, ffmpeg, file, encoding, folder, count):
    """A command that encodes `count` parts of the file at once, after it has cut them."""
    probe = [*shlex.split("ffprobe".join(given.ffmpeg.rsplit("ffmpeg", 1))), *"-v error -of csv=p=0 -show_entries format=duration".split(), file]
    duration = float(subprocess.run(probe, check=True, capture_output=True, text=True).stdout)
    cuts = ",".join(f"{duration * part / count - 0.1:.3f}" for part in range(1, count))
    subprocess.run([*ffmpeg, "-i", file, "-c", "copy", "-f", "segment", "-segment_times", cuts, "-reset_timestamps", "1",
                    f"{folder}/{count}-%d.mp4"], check=True)
    encoders = [shlex.join([*ffmpeg, "-threads", "4", "-i", f"{folder}/{count}-{part}.mp4", *encoding, "-threads", "6",
                            f"{folder}/{count}-{part}-out.mp4"]) for part in range(count)]
    return ["bash", "-c", " & ".join(encoders) + " & wait"]


def arguments(given, preset):
    """Our options for what ffmpeg does."""
    return f"-y -q --progress none --strength 0.004 --encoder libx264 --crf {given.crf} --preset {preset}".split()


def timed(command):
    """Wall and CPU seconds, of all processes."""
    begin = time.monotonic()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"exit code {process.returncode}: {shlex.join(command)}")
    return time.monotonic() - begin, usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    main()
