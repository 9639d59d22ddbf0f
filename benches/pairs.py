#!/usr/bin/env python3
"""A file through histeq-video and through ffmpeg without a filter, both at once, each on half of the cores.

Where neighbours take turns at slowing a machine down, the same command takes 10 % longer now and then, and five runs in
turns tell nothing of 2 %. What runs at the same time is slowed down alike. The halves are swapped from pair to pair.

    benches/pairs.py FILE [--preset medium] [--backend cuda] [--pairs 12]
"""
import argparse
import os
import statistics
import subprocess
import tempfile
import time


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("file")
    options.add_argument("--preset", default="medium")
    options.add_argument("--backend", default="cuda")
    options.add_argument("--pairs", type=int, default=12)
    given = options.parse_args()
    cores = sorted(os.sched_getaffinity(0))
    halves = [",".join(map(str, half)) for half in (cores[: len(cores) // 2], cores[len(cores) // 2 :])]
    encoding = ["libx264", "-preset", given.preset, "-crf", "18"]
    ours = ["histeq-video", "-y", "-q", "--progress", "none", "--strength", "0.004", "--backend", given.backend]
    ours += ["--encoder", "libx264", "--preset", given.preset, "--crf", "18", given.file]
    theirs = ["ffmpeg", "-nostdin", "-v", "error", "-y", "-i", given.file, "-c:v", *encoding, "-c:a", "copy"]
    print("| pair | wall (s) | of ffmpeg | ratio | CPU (s) | of ffmpeg | ratio | memory (MiB) | of ffmpeg |")
    print("|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    ratios = []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(given.pairs):
            commands = [ours + [f"{folder}/ours.mp4"], theirs + [f"{folder}/theirs.mp4"]]
            pinned = [["taskset", "-c", halves[(number + who) % 2], *command] for who, command in enumerate(commands)]
            (wall, cpu, memory), (their_wall, their_cpu, their_memory) = together(pinned)
            ratios.append((wall / their_wall, cpu / their_cpu))
            row = (number, wall, their_wall, wall / their_wall, cpu, their_cpu, cpu / their_cpu, memory, their_memory)
            print("| %d | %.2f | %.2f | %.3f | %.1f | %.1f | %.3f | %.0f | %.0f |" % row, flush=True)
    for name, column in zip(("wall", "CPU"), zip(*ratios)):
        error = statistics.stdev(column) / len(column) ** 0.5
        median, mean = statistics.median(column), statistics.mean(column)
        print(f"\n{name}: median {median:.3f}, mean {mean:.3f} ± {error:.3f} (standard error)")


def together(commands):
    """Wall and CPU seconds, and the most memory of one process in MiB, of each, begun at the same time."""
    begin = time.monotonic()
    running = [subprocess.Popen(command, stdin=subprocess.DEVNULL) for command in commands]
    used = {}
    while len(used) < len(running):
        number, status, usage = os.wait4(-1, 0)
        if status:
            raise SystemExit(f"a program failed: {status}")
        used[number] = (time.monotonic() - begin, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)
    return [used[process.pid] for process in running]


if __name__ == "__main__":
    main()
