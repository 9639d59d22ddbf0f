#!/usr/bin/env python3
"""The program as people run it: raw frames in and out, files and pipes, start and end, several jobs at once, images.

Two builds run in turns, on every backend that is there. OUT gets as_run.md, tables of medians, and as_run.csv, every run.
Frames lie in memory (/dev/shm, 40 GB free). A GPU is opened in every run: it is in the wall time. Steady rates are those of
the new build once the GPU is open: three quarters of the frames in the time by which a run of all takes longer than a run of
a quarter. Six to eight minutes on 16 cores with a GPU.

    benches/as_run.py OLD NEW OUT [--rounds 3] [--share 1.0] [--backends cpu cuda] [--only steady start rows]
"""
import argparse
import csv
import os
import re
import shutil
import statistics
import subprocess
import tempfile
import time

SIZES = {"1920x1080": 2400, "3840x2160": 600}
LOOKS = {
    "--exact": ["--exact"],
    "window, no look-ahead": ["--set", "look-ahead=0"],
    "window and look-ahead (default)": [],
    "CLAHE with look-ahead": ["--method", "clahe"],
}
NULL = ["--output-format", "null"]
PARTS = ["rows", "steady", "start"]
STEADY = {"1920x1080": 12_000, "3840x2160": 3000}

# The driver alone: what any program waits for that opens a GPU.
DRIVER = """
import ctypes, time
begin = time.monotonic()
cuda = ctypes.CDLL("libcuda.so.1")
context = ctypes.c_void_p()
assert cuda.cuInit(0) == 0
started = time.monotonic()
assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
print(started - begin, time.monotonic() - started)
"""
OLD_SUMMARY = re.compile(r"in ([\d.]+) s .* by (.*); decode ([\d.]+) s, equalize ([\d.]+) s, encode ([\d.]+) s")
SUMMARY = re.compile(
    r"decode ([\d.]+) s, equalize ([\d.]+) s, encode ([\d.]+) s\sby (.*?)\n\d+ frames? in ([\d.]+) s ", re.DOTALL
)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("old")
    options.add_argument("new")
    options.add_argument("out")
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--share", type=float, default=1.0, help="of the frames, for a quick look")
    options.add_argument("--backends", nargs="+", default=["cpu", "cuda"])
    options.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    given = options.parse_args()
    os.makedirs(given.out, exist_ok=True)
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        Suite(given, folder).run()


class Suite:
    def __init__(self, given, folder):
        self.given, self.folder, self.warm = given, folder, set()
        self.programs = {"old": os.path.abspath(given.old), "new": os.path.abspath(given.new)}
        self.table = open(f"{given.out}/as_run.md", "w")
        self.runs = csv.writer(open(f"{given.out}/as_run.csv", "w"))
        self.runs.writerow(["row", "backend", "program", "wall", "fps", "decode", "equalize", "encode", "by"])

    def run(self):
        begin = time.monotonic()
        for part in PARTS:
            if part in self.given.only:
                getattr(self, part)()
        self.print(f"\nAll: {time.monotonic() - begin:.0f} s.")

    def rows(self):
        self.print("Medians of wall seconds, old and new in turns; frames a second of wall time, start and end included; "
                   "busy seconds of the new one's threads (decode, equalize, encode).\n")
        self.head()
        for size, frames in SIZES.items():
            frames = max(10, int(frames * self.given.share))
            file = self.raw_file(size, frames)
            raw = raw_options(size)
            for name, look in LOOKS.items():
                self.row(f"{size}, {name}, stdin", frames, [*raw, *look, *NULL, "-", "x"], stdin=file)
            if size == "1920x1080":
                self.row(f"{size}, --exact, file", frames, [*raw, "--exact", *NULL, file, "x"])
                self.row(f"{size}, --exact, pipe", frames, [*raw, "--exact", *NULL, "-", "x"], pipe=file)
            part = frames // 4
            written = [*raw, "--exact", "--frames", str(part), "-y", "--output-format", "rawvideo"]
            self.row(f"{size}, --exact, file to file in memory", part, [*written, file, f"{self.folder}/out.yuv"])
            self.row(f"{size}, --exact, file to file in OUT", part, [*written, file, f"{self.given.out}/out.yuv"],
                     rounds=min(2, self.given.rounds))
            self.remove(f"{self.folder}/out.yuv", f"{self.given.out}/out.yuv")
            if size == "1920x1080":
                self.same_bytes(raw, file)
            self.remove(file)
        some = self.raw_file("1920x1080", 100)
        self.images(some)

    def steady(self):
        """Rates of the new build without start and end."""
        self.print("\nSteady rates of the new build, frames a second, medians; busy seconds of the longest run.\n")
        self.print("| what | backend | frames/s | of --exact | of the CPU's | frames | busy (s): decode, equalize, encode |")
        self.print("|---|---|---:|---:|---:|---:|---|")
        for size, frames in STEADY.items():
            frames = max(40, int(frames * self.given.share))
            file = self.raw_file(size, frames)
            rates = {}
            for name, look in LOOKS.items():
                self.steady_row(rates, f"{size}, {name}, stdin to null", frames, [*raw_options(size), *look, *NULL, "-", "x"], file)
            out = f"{self.folder}/out.yuv"
            written = [*raw_options(size), "--exact", "-y", "--output-format", "rawvideo", "-", out]
            self.steady_row(rates, f"{size}, --exact, stdin to a file in memory", frames // 3, written, file)
            self.remove(file, out)

    def steady_row(self, rates, name, frames, arguments, file):
        for backend in self.given.backends:
            found = []
            for _ in range(self.given.rounds):
                begun = [self.program_run("new", backend, ["--frames", str(count), *arguments], file)
                         for count in (frames // 4, frames)]
                found.append((0.75 * frames / max(begun[1][0] - begun[0][0], 1e-9), begun[1][1]))
                self.runs.writerow([name, backend, "new, steady", "", f"{found[-1][0]:.1f}"])
            rate, said = sorted(found, key=lambda run: run[0])[len(found) // 2]
            rates[backend] = [*rates.get(backend, []), rate]
            exact, cpu = rate / rates[backend][0], rate / rates[self.given.backends[0]][-1]
            self.print(f"| {name} | {backend} | {rate:.0f} | {exact:.2f} | {cpu:.2f} | {frames} | {', '.join(said[2:])} |")

    def program_run(self, which, backend, arguments, stdin):
        return run([self.programs[which], "--backend", backend, "--progress", "none", *arguments], stdin, None, 1)

    def start(self):
        self.print("\nStart and end: medians of wall seconds.\n")
        self.head()
        two = self.raw_file("1920x1080", 2)
        short = [*raw_options("1920x1080"), *NULL, two, "x"]
        backends = ["auto", *self.given.backends]
        self.row("two frames of 1920x1080, file", 2, short, rounds=7, backends=backends)
        some = self.raw_file("1920x1080", 100)
        short = [*raw_options("1920x1080"), *NULL, some, "x"]
        for jobs in (2, 4, 8, 16):
            self.row(f"{jobs} jobs at once, 100 frames of 1920x1080 each", 100 * jobs, short, jobs=jobs,
                     backends=backends)
        self.remove(two, some)
        if "cuda" in self.given.backends:
            self.print("\nThe driver alone, the slowest of several processes started at once.\n")
            self.print("| processes | cuInit (s) | context (s) |\n|---:|---:|---:|")
            for jobs in (1, 2, 4, 8, 16):
                processes = [subprocess.Popen(["python3", "-c", DRIVER], stdout=subprocess.PIPE, text=True)
                             for _ in range(jobs)]
                said = [process.communicate()[0].split() for process in processes]
                slowest = max(said, key=lambda times: sum(map(float, times)))
                self.print(f"| {jobs} | {float(slowest[0]):.3f} | {float(slowest[1]):.3f} |")

    def head(self):
        self.print("| what | backend | old (s) | new (s) | new/old | old (frames/s) | new (frames/s) | new, busy (s) "
                   "| new, by |")
        self.print("|---|---|---:|---:|---:|---:|---:|---|---|")

    def row(self, name, frames, arguments, stdin=None, pipe=None, jobs=1, rounds=None, backends=None):
        for backend in backends or self.given.backends:
            command = ["--backend", backend, "--progress", "none", *arguments]
            found = {which: [] for which in self.programs}
            # The first run of all is not counted: caches, clocks, the driver.
            for number in range(-1 if self.is_first(backend) else 0, rounds or self.given.rounds):
                order = list(self.programs.items())
                for which, program in order if number % 2 else reversed(order):
                    wall, said = run([program, *command], stdin, pipe, jobs)
                    if number >= 0:
                        found[which].append((wall, said))
                        parts = said or ["", "", "", "", ""]
                        self.runs.writerow([name, backend, which, f"{wall:.4f}", f"{frames / wall:.1f}", *parts[2:], parts[1]])
            old, new = (statistics.median(wall for wall, _ in found[which]) for which in ("old", "new"))
            said = sorted(found["new"], key=lambda run: run[0])[len(found["new"]) // 2][1]
            busy, by = (", ".join(said[2:]), said[1]) if said else ("", "")
            self.print(f"| {name} | {backend} | {old:.3f} | {new:.3f} | {new / old:.2f} | {frames / old:.0f} "
                       f"| {frames / new:.0f} | {busy} | {by} |")

    def is_first(self, backend):
        first = backend not in self.warm
        self.warm.add(backend)
        return first

    def same_bytes(self, raw, file):
        """Whether all programs and backends write the same bytes."""
        for name, look in LOOKS.items():
            sums = set()
            for program in self.programs.values():
                for backend in self.given.backends:
                    command = [program, "-q", "--backend", backend, *raw, *look, "--frames", "200"]
                    command += ["--output-format", "rawvideo", file, "-"]
                    piped = subprocess.Popen(command, stdout=subprocess.PIPE)
                    sums.add(subprocess.check_output(["md5sum"], stdin=piped.stdout))
                    if piped.wait():
                        raise SystemExit(f"{command} failed")
            if len(sums) != 1:
                raise SystemExit(f"the bytes differ: {name}")

    def images(self, raw_frames):
        folder = f"{self.folder}/images"
        os.mkdir(folder)
        count = max(10, int(200 * self.given.share))
        small = self.raw_file("640x360", count)
        command = [self.programs["new"], "-q", "--backend", "cpu", "--exact", *raw_options("640x360")]
        subprocess.run([*command, small, f"{folder}/in%04d.png"], check=True)
        arguments = ["-y", f"{folder}/in%04d.png", f"{folder}/out%04d.png"]
        self.row(f"{count} numbered PNG images of 640x360, to PNG", count, arguments, rounds=2)
        self.remove(small, raw_frames)
        shutil.rmtree(folder)

    def raw_file(self, size, frames):
        """Frames with detail, noise and changing light, 60 of them over and over."""
        width, height = map(int, size.split("x"))
        noise = os.urandom(width * height + (1 << 20))
        path = f"{self.folder}/{size}-{frames}.yuv"
        with open(path, "wb") as file:
            made = []
            for number in range(min(frames, 60)):
                table = bytes(60 + number // 4 + value * 100 // 256 for value in range(256))
                start = (number * 4099) % (1 << 20)
                luma = noise[start : start + width * height].translate(table)
                made.append(luma + bytes([120]) * (width * height // 4) + bytes([136]) * (width * height // 4))
            for number in range(frames):
                file.write(made[number % len(made)])
        return path

    def remove(self, *paths):
        for path in paths:
            if os.path.exists(path):
                os.remove(path)

    def print(self, line):
        print(line, flush=True)
        print(line, file=self.table, flush=True)


def raw_options(size):
    return ["-f", "rawvideo", "-s", size, "--pixel-format", "yuv420p", "-r", "25"]


def run(command, stdin, pipe, jobs):
    """Wall seconds until all of `jobs` such commands have ended, and what one of them says of itself."""
    begin = time.monotonic()
    cats, running = [], []
    for _ in range(jobs):
        source = open(stdin) if stdin else subprocess.DEVNULL
        if pipe:
            cats.append(subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE))
            source = cats[-1].stdout
        running.append(subprocess.Popen(command, stdin=source, stderr=subprocess.PIPE, text=True))
        if source is not subprocess.DEVNULL:
            source.close()
    said = [process.communicate()[1] for process in running]
    wall = time.monotonic() - begin
    for process in [*running, *cats]:
        if process.wait():
            raise SystemExit(f"{command} failed: {said}")
    found = SUMMARY.search(said[0])
    # Old programs say it in another order.
    old = OLD_SUMMARY.search(said[0])
    groups = list(old.groups()) if old else None
    if found:
        decode, equalize, encode, by, seconds = found.groups()
        groups = [seconds, by, decode, equalize, encode]
    return wall, groups


if __name__ == "__main__":
    main()
