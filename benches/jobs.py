#!/usr/bin/env python3
"""A file in pieces: ffmpeg without a filter, one process, and `--jobs`, in turns; medians of wall and CPU seconds.

    benches/jobs.py FILE... [--program histeq-video] [--presets veryfast medium] [--jobs 1 4 8 auto] [--rounds 5]
        [--crf 23] [--options "--backend auto"] [--scratch FOLDER]

Prints a table of Markdown. CPU seconds are those of all processes. --strength 0.004 makes the pictures that are encoded those
that ffmpeg encodes, nearly.
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
    options.add_argument("--presets", nargs="+", default=["veryfast", "medium"])
    options.add_argument("--jobs", nargs="+", default=["1", "4", "8", "auto"])
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--crf", type=int, default=23)
    options.add_argument("--options", default="--backend auto")
    options.add_argument("--scratch")
    given = options.parse_args()
    print("| file | preset | what | wall (s) | of ffmpeg | CPU (s) | of ffmpeg | runs |")
    print("|---|---|---|---:|---:|---:|---:|---|", flush=True)
    for file in given.files:
        for preset in given.presets:
            measure(given, os.path.abspath(file), preset)


def measure(given, file, preset):
    encoding = f"libx264 -preset {preset} -crf {given.crf}"
    ways = {"ffmpeg, no filter": ["ffmpeg", *"-nostdin -v error -y -i".split(), file, *f"-c:v {encoding} -c:a copy".split()]}
    for jobs in given.jobs:
        pieces = [] if jobs == "1" else ["--jobs", jobs]
        name = "one process" if jobs == "1" else f"--jobs {jobs}"
        ways[name] = [*shlex.split(given.program), *arguments(given, preset), *pieces, file]
    walls, cpus = {name: [] for name in ways}, {name: [] for name in ways}
    with tempfile.TemporaryDirectory(dir=given.scratch) as folder:
        for _ in range(given.rounds):
            for name, command in ways.items():
                wall, cpu = timed([*command, f"{folder}/out.mp4"])
                walls[name].append(wall)
                cpus[name].append(cpu)
                os.remove(f"{folder}/out.mp4")
    wall_of_ffmpeg, cpu_of_ffmpeg = (statistics.median(runs["ffmpeg, no filter"]) for runs in (walls, cpus))
    for name in ways:
        wall, cpu = statistics.median(walls[name]), statistics.median(cpus[name])
        runs = ", ".join(f"{run:.2f}" for run in walls[name])
        print(f"| {os.path.basename(file)} | {preset} | {name} | {wall:.2f} | {wall / wall_of_ffmpeg:.3f} | {cpu:.1f} | "
              f"{cpu / cpu_of_ffmpeg:.3f} | {runs} |", flush=True)


def arguments(given, preset):
    """Our options for what ffmpeg does."""
    line = f"-y -q --progress none --strength 0.004 --encoder libx264 --crf {given.crf} --preset"
    return [*line.split(), preset, *shlex.split(given.options)]


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
