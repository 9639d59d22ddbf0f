#!/usr/bin/env python3
"""Many live streams in one process: what `histeq-video live` keeps up with.

For each number of streams, senders here play CLIP, a transport stream of H.264, over TCP on 127.0.0.1, each frame at its time
and each stream at a moment of its own; one process equalizes all of them for SECONDS, and writes raw frames to /dev/null. Prints
a row of Markdown for each number, and into OUT, if given, everything that the program said. A row takes SECONDS and one to
four seconds more.

    ffmpeg -f lavfi -i testsrc2=s=1920x1080:r=30,noise=alls=6:allf=t -t 22 -pix_fmt yuv420p -c:v libx264 \\
        -preset veryfast -tune zerolatency -g 60 -b:v 4M -maxrate 4M -bufsize 2M clip.ts
    benches/many.py PROGRAM clip.ts [--streams 1 8 16 32 48 64] [--seconds 15] [--rate 30] [--out OUT]
        [--options "--backend cuda --decoder nvdec"]

Latency counts from the moment at which the last packet of a frame was read to the equalized frame in the memory of the host,
and is that of the worst stream. Frames count as in if they came in time for the SECONDS of their stream. GPU memory is that of
the whole GPU, less what was in use before. PROGRAM may be a script (`OUT/run histeq-video` of tests/gpu-bundle.sh: quote it).
"""
import argparse
import ctypes
import multiprocessing
import os
import re
import shlex
import socket
import subprocess
import tempfile
import threading
import time

PACKET = 188
FRAMES = re.compile(r"(\d+) frames? in [\d.]+ s \([^)]*\) by (.*?), (\d+) dropped")
LATENCY = re.compile(r"median ([\d.]+) ms, 95th percentile ([\d.]+) ms")
UNWRITTEN = re.compile(r"-> \S+, (\d+) dropped")


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("program")
    options.add_argument("clip")
    options.add_argument("--streams", type=int, nargs="+", default=[1, 8, 16, 32, 48, 64])
    options.add_argument("--seconds", type=float, default=15)
    options.add_argument("--rate", type=float, default=30)
    options.add_argument("--options", default="--backend cuda --decoder nvdec")
    options.add_argument("--out")
    given = options.parse_args()
    frames = access_units(given.clip)
    print(f"{os.path.basename(given.clip)}: {len(frames)} frames, {sum(map(len, frames)) * 8 / 1e6 / len(frames) * given.rate:.1f} "
          f"Mbit/s; {given.seconds:g} s each; {given.options}\n")
    print("| streams | frames in | dropped | latency, median | 95th percentile | CPU cores | GPU memory | decoders busy | "
          "resident memory | of it anonymous | threads | start and end |")
    print("|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|", flush=True)
    gpu = Gpu()
    for count in given.streams:
        row(given, gpu, frames, count)


def access_units(clip):
    """The frames of a transport stream: its packets, cut where a frame of the video begins."""
    with open(clip, "rb") as file:
        data = file.read()
    packets = [data[at:at + PACKET] for at in range(0, len(data) - PACKET + 1, PACKET)]
    ids = [(packet[1] & 0x1F) << 8 | packet[2] for packet in packets]
    video = max(set(ids), key=ids.count)
    starts = [at for at, packet in enumerate(packets) if ids[at] == video and packet[1] & 0x40]
    # The tables that come before the first frame, or between two, go with the frame behind them.
    cuts = [0]
    for start in starts[1:]:
        while start > 0 and ids[start - 1] != video:
            start -= 1
        cuts.append(start)
    return [b"".join(packets[begin:end]) for begin, end in zip(cuts, cuts[1:] + [len(packets)])]


class Sender:
    """A process that sends the frames to whoever connects, one every 1/rate seconds.

    `late` has, in seconds, how much after its time a frame's sending began at most where the reader was not the cause, and how
    long the reader kept a frame waiting at most.
    """

    def __init__(self, frames, rate, phase):
        listener = socket.create_server(("127.0.0.1", 0))
        self.port = listener.getsockname()[1]
        self.late = multiprocessing.Array("d", 2)
        multiprocessing.Process(target=self.run, args=(listener, frames, rate, phase), daemon=True).start()
        listener.close()

    def run(self, listener, frames, rate, phase):
        connection, _ = listener.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        begin, free = time.monotonic() + phase, 0.0
        try:
            for number, frame in enumerate(frames):
                due = begin + number / rate
                time.sleep(max(0.0, due - time.monotonic()))
                now = time.monotonic()
                self.late[0] = max(self.late[0], now - max(due, free))
                connection.sendall(frame)
                free = time.monotonic()
                self.late[1] = max(self.late[1], free - now)
            # The end of the stream would be a camera that is lost.
            time.sleep(60)
        except OSError:
            pass


def row(given, gpu, frames, count):
    senders = [Sender(frames, given.rate, index / count / given.rate) for index in range(count)]
    urls = [f"tcp://127.0.0.1:{sender.port}" for sender in senders]
    program, *arguments = shlex.split(given.program)
    # Several sources have outputs of their own. The name says that they are raw.
    line = [os.path.abspath(program), *arguments, "live", *shlex.split(given.options), "--no-preview", "-y", "--record",
            "null-%d.yuv" if count > 1 else "null-1.yuv", "--duration", str(given.seconds), *urls]
    before = gpu.memory()
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile("w+") as said:
        for number in range(1, count + 1):
            os.symlink("/dev/null", f"{folder}/null-{number}.yuv")
        begin = time.monotonic()
        process = subprocess.Popen(line, stdin=subprocess.DEVNULL, stderr=said, cwd=folder)
        time.sleep(given.seconds * 0.7)
        during, busy = gpu.memory(), gpu.decoders()
        status = process_status(process.pid)
        watchdog = threading.Timer(given.seconds * 0.3 + 20, process.kill)
        watchdog.start()
        _, code, usage = os.wait4(process.pid, 0)
        wall, code = time.monotonic() - begin, os.waitstatus_to_exitcode(code)
        process.returncode = code
        watchdog.cancel()
        said.seek(0)
        text = said.read()
    cpu = usage.ru_utime + usage.ru_stime
    # Its lines are as long as a terminal's.
    line = " ".join(text.split())
    summaries = FRAMES.findall(line)
    latencies = [tuple(map(float, found)) for found in LATENCY.findall(line)]
    taken = sum(int(frames) + int(dropped) for frames, _, dropped in summaries)
    dropped = sum(int(dropped) for *_, dropped in summaries) + sum(map(int, UNWRITTEN.findall(line)))
    median, most = (f"{max(column):.1f} ms" for column in zip(*latencies)) if latencies else ("-", "-")
    memory = "-" if before is None or during is None else f"{during - before:,} MiB"
    busy = "-" if busy is None else f"{busy} %"
    print(f"| {count} | {taken:,} | {dropped:,} | {median} | {most} | {cpu / wall:.2f} | {memory} | {busy} | "
          f"{status.get('VmRSS', 0) // 1024:,} MiB | {status.get('RssAnon', 0) // 1024:,} MiB | {status.get('Threads', 0)} | {wall - given.seconds:.1f} s |", flush=True)
    late, waited = (max(sender.late[which] for sender in senders) * 1e3 for which in (0, 1))
    failed = count - len(summaries)
    if max(late, waited) > 1000 / given.rate:
        print(f"Senders were late by up to {late:.0f} ms, and kept waiting by the program for up to {waited:.0f} ms.", flush=True)
    if code or failed:
        print(f"Exit code {code}; {failed} without a last line:\n{text[-2000:]}", flush=True)
    if given.out:
        os.makedirs(given.out, exist_ok=True)
        with open(os.path.join(given.out, f"many-{count}.txt"), "w") as file:
            file.write(text)


def process_status(pid):
    """The numbers in /proc of a process, unless it has ended."""
    try:
        with open(f"/proc/{pid}/status") as file:
            lines = [line.split() for line in file]
    except OSError:
        return {}
    return {words[0].rstrip(":"): int(words[1]) for words in lines if len(words) > 1 and words[1].isdigit()}


class Gpu:
    """Memory in use and work of the first GPU, by the driver's own library; `None` where there is none."""

    def __init__(self):
        self.device = ctypes.c_void_p()
        try:
            self.library = ctypes.CDLL("libnvidia-ml.so.1")
        except OSError:
            self.library = None
            return
        if self.library.nvmlInit_v2() or self.library.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(self.device)):
            self.library = None

    def memory(self):
        """MiB."""
        total_free_used = (ctypes.c_ulonglong * 3)()
        if self.library is None or self.library.nvmlDeviceGetMemoryInfo(self.device, total_free_used):
            return None
        return total_free_used[2] >> 20

    def decoders(self):
        """Percent of the time that the video decoders work."""
        percent, period = ctypes.c_uint(), ctypes.c_uint()
        failed = self.library is None or self.library.nvmlDeviceGetDecoderUtilization(
            self.device, ctypes.byref(percent), ctypes.byref(period))
        return None if failed else percent.value


if __name__ == "__main__":
    main()
