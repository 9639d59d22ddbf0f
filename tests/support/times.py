#!/usr/bin/env python3
"""Where the time of tests goes: runs each test of a binary in a process of its own, and prints what it and the programs that it
has run took, by folder and for the slowest tests.

    tests/support/times.py target/debug/deps/suite-HASH [TEST...]
    tests/support/times.py --jobs 2 --out times.tsv target/debug/deps/core-HASH guided::

The times of processors hardly depend on what else the machine does; those of the clock do.
"""

import argparse
import collections
import concurrent.futures
import contextlib
import ctypes
import os
import subprocess
import sys
import time

# From linux/prctl.h.
PR_SET_CHILD_SUBREAPER = 36


def names(binary, filters):
    listed = subprocess.run([binary, "--list", *filters], capture_output=True, text=True, check=True).stdout
    return [line.removesuffix(": test") for line in listed.splitlines() if line.endswith(": test")]


def run(binary, name):
    """The test's name, its seconds of user and system time and by the clock, and whether it passed."""
    begin = time.monotonic()
    child = subprocess.Popen(
        [sys.executable, __file__, "--alone", binary, name],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return name, used.ru_utime, used.ru_stime, time.monotonic() - begin, status == 0


def alone(binary, name):
    """Runs the test, and waits for all that it has left running, so that their times count. Processes whose parents have
    ended are children of this one."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    passed = subprocess.run([binary, "--exact", name]).returncode == 0
    with contextlib.suppress(ChildProcessError):
        while True:
            os.wait()
    sys.exit(not passed)


def main():
    if sys.argv[1:2] == ["--alone"]:
        alone(*sys.argv[2:])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="tests at a time")
    parser.add_argument("--out", help="a table with a line for each test")
    parser.add_argument("--slowest", type=int, default=30, help="how many tests to print")
    parser.add_argument("binary")
    parser.add_argument("filters", nargs="*")
    args = parser.parse_args()
    binary = os.path.abspath(args.binary)
    begin = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        rows = list(pool.map(lambda name: run(binary, name), names(binary, args.filters)))
    if args.out:
        with open(args.out, "w") as table:
            print("test", "user", "system", "clock", "passed", sep="\t", file=table)
            for row in rows:
                print(row[0], *(f"{seconds:.2f}" for seconds in row[1:4]), row[4], sep="\t", file=table)
    rooms = collections.defaultdict(lambda: [0, 0.0, 0.0])
    for name, user, system, clock, _ in rows:
        room = rooms["::".join(name.split("::")[:2])]
        room[0] += 1
        room[1] += user + system
        room[2] += clock
    print(f"{'':44}{'tests':>6}{'CPU s':>9}{'clock s':>9}")
    for name, (count, cpu, clock) in sorted(rooms.items(), key=lambda room: -room[1][1]):
        print(f"{name:44}{count:6}{cpu:9.1f}{clock:9.1f}")
    total = sum(row[1] + row[2] for row in rows)
    print(f"{'all':44}{len(rows):6}{total:9.1f}{time.monotonic() - begin:9.1f}")
    for name, user, system, clock, passed in sorted(rows, key=lambda row: -row[1] - row[2])[: args.slowest]:
        print(f"{user + system:9.1f}{clock:9.1f}  {name}{'' if passed else '  FAILED'}")
    sys.exit(not all(row[4] for row in rows))


if __name__ == "__main__":
    main()
