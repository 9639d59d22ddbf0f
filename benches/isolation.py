#!/usr/bin/env python3
"""What decoding in a process of its own costs.

    benches/isolation.py PROGRAM CLIP [--runs N] [--backend cpu|cuda] [--only NAME]

CLIP is a video of 1080p. Each job runs in turns with `--sandbox auto` and `--sandbox off`, which decodes in the program. Printed
are medians, and the median of the ratios of neighbours: wall time, processor time of all processes, and the peak of the memory
of all processes, where what they share counts once (PSS, looked at every 10 ms in runs of their own).
"""

import argparse
import os
import statistics
import subprocess
import tempfile
import time


def descendants(process):
    found = [process]
    for parent in found:
        try:
            for thread in os.listdir(f"/proc/{parent}/task"):
                with open(f"/proc/{parent}/task/{thread}/children") as children:
                    found += [int(child) for child in children.read().split()]
        except OSError:
            pass
    return found


def shared_once(process):
    """The memory of a process and its descendants, in MiB."""
    total = 0
    for one in descendants(process):
        try:
            with open(f"/proc/{one}/smaps_rollup") as rollup:
                total += next(int(line.split()[1]) for line in rollup if line.startswith("Pss:"))
        except (OSError, StopIteration):
            pass
    return total / 1024


def run(program, sandbox, words, folder, looks):
    command = [program, "-q", "-y", *words]
    command[1:1] = ["--sandbox", sandbox]
    begin = time.monotonic()
    child = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL)
    peak = 0
    while looks and child.poll() is None:
        peak = max(peak, shared_once(child.pid))
        time.sleep(0.01)
    if looks:
        assert child.returncode == 0, command
        return peak
    _, status, usage = os.wait4(child.pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0, command
    return time.monotonic() - begin, usage.ru_utime + usage.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("clip")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--backend", default="cpu")
    parser.add_argument("--only")
    options = parser.parse_args()
    program, clip = os.path.abspath(options.program), os.path.abspath(options.clip)
    backend = ["--backend", options.backend]
    jobs = [
        ("two frames of 64x48 to FFV1", 20, [*backend, "--encoder", "ffv1", "two.mkv", "out.mkv"]),
        ("1080p, decoded and equalized", 1, [*backend, "--output-format", "null", clip, "-"]),
        ("1080p, x264 veryfast", 1, [*backend, "--encoder", "libx264", "--preset", "veryfast", clip, "out.mkv"]),
    ]
    print("| job | runs each | wall off | auto | ratio | processor time off | auto | ratio | peak memory off | auto |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        line = "ffmpeg -v error -f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 2 -c:v mpeg4 two.mkv"
        subprocess.run(line.split(), cwd=folder, check=True)
        for name, more, words in jobs:
            if options.only and options.only not in name:
                continue
            took = {"off": [], "auto": []}
            for turn in range(options.runs * more):
                for sandbox in ["off", "auto"][:: 1 if turn % 2 else -1]:
                    took[sandbox].append(run(program, sandbox, words, folder, False))
            memory = {sandbox: max(run(program, sandbox, words, folder, True) for _ in range(2)) for sandbox in took}
            cells = []
            for which in (0, 1):
                off, auto = ([one[which] for one in took[sandbox]] for sandbox in ("off", "auto"))
                ratio = statistics.median(b / max(a, 0.001) for a, b in zip(off, auto))
                cells += [f"{1000 * statistics.median(off):.1f} ms", f"{1000 * statistics.median(auto):.1f} ms", f"{ratio:.3f}"]
            cells += [f"{memory[sandbox]:.0f} MiB" for sandbox in ("off", "auto")]
            print(f"| {name} | {options.runs * more} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
