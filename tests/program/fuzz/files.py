#!/usr/bin/env python3
"""Runs the program on damaged files of many formats, and checks how it takes them.

    tests/program/fuzz/files.py [--count N] [--seed N] [--first N] [--jobs N] [--program PATH] [--findings FOLDER] [--files FOLDER]

Small files are made with ffmpeg, or taken from FOLDER if they are there, and damaged at places that follow from the seed and the number of the input: bits, blocks,
numbers, lengths, order, ends. Each goes to the program as a file or through stdin, with limits of memory and time. A run

* ends by itself within its time, not by a signal and not by a panic, and keeps to its memory,
* succeeds only with an output that ffmpeg decodes to its end, and otherwise leaves none,
* says in one line what failed, without control characters,
* changes neither its input nor anything else in its folder.

What does not hold is printed as a finding, with the command; the damaged input is kept in the folder for findings. The same
seed and number (`--seed S --first N --count 1`) make the same input again.
"""

import argparse
import concurrent.futures
import os
import random
import resource
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import time

REPOSITORY = os.path.abspath(os.path.join(os.path.dirname(__file__), *3 * [os.pardir]))

# How long a run may take by its own limit, and by this script's patience; a busy machine needs some.
SECONDS, PATIENCE = 10, 60
# The exit codes of failures; docs/reliability.md says which is of what.
FAILURES = (1, *range(4, 11))
# What the program may use of memory: its limit for frames, and all of it.
FRAMES, MOST = 100 << 20, 700 << 20
PIXELS = 1 << 20

# A TIFF of three pages, which ffmpeg does not make.
PAGES = "tests/data/fuzz/pages.tiff"

VIDEO = "-f lavfi -i testsrc2=size=64x48:rate=25"
SOUND = "-f lavfi -i sine=sample_rate=44100"
# Name, and what makes it. Those that this ffmpeg cannot make are left out.
FILES = {
    "h264.mp4": f"{VIDEO} {SOUND} -c:v libx264 -bf 2 -g 3 -c:a aac",
    "h264-frag.mp4": f"{VIDEO} {SOUND} -c:v libx264 -g 3 -c:a aac -movflags +frag_keyframe+empty_moov",
    "hevc.mp4": f"{VIDEO} -c:v libx265 -x265-params log-level=none",
    "mpeg4.mp4": f"{VIDEO} {SOUND} -c:v mpeg4 -c:a aac",
    "av1.mp4": f"{VIDEO} -c:v libaom-av1 -cpu-used 8",
    "prores.mov": f"{VIDEO} {SOUND} -c:v prores_ks -c:a pcm_s16le",
    "mjpeg.mov": f"{VIDEO} -c:v mjpeg",
    "qtrle.mov": f"{VIDEO} -c:v qtrle",
    "png.mov": f"{VIDEO} -c:v png",
    "cfhd.mov": f"{VIDEO} -vf scale=128x96 -c:v cfhd",
    "ffv1.mkv": f"{VIDEO} {SOUND} -c:v ffv1 -c:a flac",
    "h264.mkv": f"{VIDEO} {SOUND} -c:v libx264 -g 3 -c:a libopus",
    "huffyuv.mkv": f"{VIDEO} -c:v ffvhuff",
    "utvideo.mkv": f"{VIDEO} -c:v utvideo",
    "vp8.webm": f"{VIDEO} {SOUND} -c:v libvpx -c:a libvorbis",
    "vp9.webm": f"{VIDEO} {SOUND} -c:v libvpx-vp9 -cpu-used 8 -c:a libopus",
    "mpeg4.avi": f"{VIDEO} {SOUND} -c:v mpeg4 -c:a mp3",
    "mjpeg.avi": f"{VIDEO} -c:v mjpeg",
    "raw.avi": f"{VIDEO} -c:v rawvideo",
    "msmpeg4.avi": f"{VIDEO} -c:v msmpeg4v2",
    "mpeg2.ts": f"{VIDEO} {SOUND} -c:v mpeg2video -c:a mp2",
    "h264.ts": f"{VIDEO} {SOUND} -c:v libx264 -g 3 -c:a aac",
    "mpeg1.mpg": f"{VIDEO} {SOUND} -c:v mpeg1video -c:a mp2",
    "flv1.flv": f"{VIDEO} {SOUND} -c:v flv -c:a mp3",
    "h264.flv": f"{VIDEO} {SOUND} -c:v libx264 -c:a aac",
    "theora.ogv": f"{VIDEO} {SOUND} -c:v libtheora -c:a libvorbis",
    "wmv2.wmv": f"{VIDEO} {SOUND} -c:v wmv2 -c:a wmav2",
    "ffv1.nut": f"{VIDEO} {SOUND} -c:v ffv1 -c:a pcm_s16le",
    "raw.nut": f"{VIDEO} -c:v rawvideo",
    "mpeg2.mxf": f"{VIDEO} {SOUND} -c:v mpeg2video -c:a pcm_s16le -ar 48000",
    "dnxhd.mxf": f"{VIDEO} -vf scale=256x120,format=yuv422p -c:v dnxhd -profile:v dnxhr_sq",
    "dv.dv": "-f lavfi -i testsrc2=size=720x576:rate=25 -pix_fmt yuv420p -c:v dvvideo -frames:v 1",
    "anim.gif": VIDEO,
    "anim.png": f"{VIDEO} -f apng",
    "one.png": f"{VIDEO} -frames:v 1 -update 1",
    "deep.png": f"{VIDEO} -frames:v 1 -update 1 -pix_fmt rgb48be",
    "one.jpg": f"{VIDEO} -frames:v 1 -update 1",
    "one.tiff": f"{VIDEO} -frames:v 1 -update 1",
    "one.bmp": f"{VIDEO} -frames:v 1 -update 1",
    "one.webp": f"{VIDEO} -frames:v 1 -update 1",
    "one.exr": f"{VIDEO} -frames:v 1 -update 1 -pix_fmt gbrpf32le",
    "one.jp2": f"{VIDEO} -frames:v 1 -update 1",
    "one.tga": f"{VIDEO} -frames:v 1 -update 1",
    "one.pgm": f"{VIDEO} -frames:v 1 -update 1",
    "clip.y4m": f"{VIDEO} -pix_fmt yuv420p",
    "deep.y4m": f"{VIDEO} -pix_fmt yuv444p10 -strict -1",
    "clip.h264": f"{VIDEO} -c:v libx264 -g 3",
    "clip.hevc": f"{VIDEO} -c:v libx265 -x265-params log-level=none",
    "clip.m2v": f"{VIDEO} -c:v mpeg2video",
    "clip.mjpeg": f"{VIDEO} -c:v mjpeg",
    "clip.ivf": f"{VIDEO} -c:v libvpx-vp9 -cpu-used 8",
    "clip.swf": f"{VIDEO} -c:v flv",
    "subtitles.mkv": f"{VIDEO} -i subtitles.srt -c:v mpeg4 -c:s srt",
    "sound.wav": f"{SOUND} -t 0.1",
}
SUBTITLES = "1\n00:00:00,000 --> 00:00:00,100\n<b>one</b>\n\n2\n00:00:00,100 --> 00:00:01,000\ntwo\n"

# Options and output of a run, and how often it is chosen.
RUNS = [
    (50, "--encoder ffv1 IN out.mkv"),
    (12, "IN out.mp4"),
    (5, "--smooth scene --encoder ffv1 IN out.mkv"),
    (5, "--stats s.csv --encoder mpeg4 IN out.avi"),
    (5, "--decoder cpu:3 --output-format yuv4mpegpipe IN out.y4m"),
    (8, "--output-format yuv4mpegpipe IN -"),
    (4, "--start 0.04 --duration 0.1 --encoder ffv1 IN out.nut"),
    (4, "IN out%d.png"),
    (3, "preview IN out.png"),
    (2, "compare IN IN --encoder ffv1 out.mkv"),
    (2, "live --no-preview --encoder mpeg4 --record out.mkv IN"),
]


def stacks():
    """Stacks of three pictures of 16x8 that ffmpeg does not make: FITS, SER, and a BigTIFF of floating point."""
    pixels, pictures = 16 * 8, 3
    cards = {"SIMPLE": "T", "BITPIX": 16, "NAXIS": 3, "NAXIS1": 16, "NAXIS2": 8, "NAXIS3": pictures, "BZERO": 32768, "OBJECT": "'M 31'"}
    header = "".join(f"{key:<8}= {value:>20}".ljust(80) for key, value in cards.items()) + "END"
    words = [(number * 977) % 65536 for number in range(pixels * pictures)]
    fits = header.ljust(2880).encode() + struct.pack(f">{len(words)}H", *(word ^ 0x8000 for word in words)).ljust(2880, b"\0")
    numbers = struct.pack("<7i", 0, 100, 0, 16, 8, 8, pictures)
    colours = bytes((number * 7) % 256 for number in range(3 * pixels * pictures))
    ser = (b"LUCAM-RECORDER" + numbers).ljust(178, b"\0") + colours + struct.pack("<3Q", 0, 10**6, 2 * 10**6)
    # Each page: its samples, and behind them the list of its tags.
    tiff = struct.pack("<2sHHHQ", b"II", 43, 8, 0, 0)
    link = 8
    for page in range(pictures):
        at = len(tiff)
        tiff += struct.pack(f"<{pixels}f", *(word / 7 for word in words[page * pixels:][:pixels]))
        tags = [(256, 16), (257, 8), (258, 32), (259, 1), (262, 1), (273, at), (277, 1), (278, 8), (279, 4 * pixels), (339, 3)]
        begin = len(tiff)
        tiff = tiff[:link] + struct.pack("<Q", begin) + tiff[link + 8:]
        tiff += struct.pack("<Q", len(tags)) + b"".join(struct.pack("<HHQQ", tag, 16, 1, value) for tag, value in tags)
        link = len(tiff)
        tiff += struct.pack("<Q", 0)
    return {"cube.fits": fits, "colours.ser": ser, "float.btf": tiff}


def make_files(folder):
    """Makes the whole files, where they are not there yet; returns their contents by name."""
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "subtitles.srt"), "w") as file:
        file.write(SUBTITLES)

    def make(name):
        path = os.path.join(folder, name)
        if os.path.exists(path):
            with open(path, "rb") as file:
                return file.read()
        frames = "" if "-frames:v" in FILES[name] else "-frames:v 5"
        line = f"ffmpeg -hide_banner -nostdin -v error -y {FILES[name]} {frames} -shortest -threads 1 {name}"
        made = subprocess.run(line.split(), cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if made.returncode != 0 or not os.path.exists(path):
            return None
        with open(path, "rb") as file:
            return file.read()

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        contents = dict(zip(FILES, pool.map(make, FILES)))
    with open(os.path.join(REPOSITORY, PAGES), "rb") as file:
        contents[os.path.basename(PAGES)] = file.read()
    contents.update(stacks())
    missing = [name for name, content in contents.items() if not content]
    if missing:
        print(f"not made by this ffmpeg: {', '.join(missing)}", flush=True)
    return {name: content for name, content in contents.items() if content}


def place(rng, data):
    """A place in the data: half of them near the beginning or the end, where headers and indexes are."""
    choice = rng.random()
    if choice < 0.35:
        return rng.randrange(min(len(data), 600))
    if choice < 0.5:
        return len(data) - 1 - rng.randrange(min(len(data), 600))
    return rng.randrange(len(data))


def damage_once(rng, data, others):
    """One fault in `data`, a bytearray that is not empty."""
    kind = rng.choice("bit byte numbers zero cut hole swap repeat noise splice join text".split())
    at = place(rng, data)
    length = min(1 << rng.randrange(11), len(data) - at)
    if kind == "bit":
        for _ in range(rng.choice([1, 1, 2, 5, 20])):
            data[place(rng, data)] ^= 1 << rng.randrange(8)
    elif kind == "byte":
        data[at] = rng.choice([0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)])
    elif kind == "numbers":
        size = rng.choice([2, 3, 4, 8])
        most = (1 << 8 * size) - 1
        number = rng.choice([0, 1, most, most >> 1, (most >> 1) + 1, most - rng.randrange(16), len(data) & most, 1 << 30 & most])
        data[at : at + size] = number.to_bytes(size, rng.choice(["big", "little"]))
    elif kind == "zero":
        data[at : at + length] = bytes([rng.choice([0, 0xFF])]) * length
    elif kind == "cut":
        del data[at:]
    elif kind == "hole":
        del data[at : at + length]
    elif kind == "swap":
        other = place(rng, data)
        data[at : at + length], data[other : other + length] = data[other : other + length], data[at : at + length]
    elif kind == "repeat":
        data[at:at] = bytes(data[at : at + length]) * rng.choice([1, 2, 50])
    elif kind == "noise":
        data[at : at + length] = rng.randbytes(length)
    elif kind == "splice":
        other = others[rng.choice(sorted(others))]
        data[:at] = other[:at]
    elif kind == "join":
        data += others[rng.choice(sorted(others))]
    elif kind == "text":
        data[at:at] = rng.choice([b"\x1b]0;x\x07", b"../../../etc/passwd", b"%n%s%d", b"\r\nfile:///etc/passwd\n"])


def damaged(rng, name, contents):
    data = bytearray(contents[name])
    for _ in range(rng.choice([1, 1, 1, 2, 3, 8])):
        if data:
            damage_once(rng, data, contents)
    return bytes(data[: 1 << 20])


class Tester:
    def __init__(self, options, contents, scratch):
        self.options, self.contents, self.scratch = options, contents, scratch
        self.lock, self.codes, self.findings = threading.Lock(), {}, 0
        self.peak = self.longest = 0

    def limit(self):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
        resource.setrlimit(resource.RLIMIT_FSIZE, (256 << 20, 256 << 20))

    def test(self, number):
        rng = random.Random(f"{self.options.seed}:{number}")
        name = rng.choice(sorted(self.contents))
        data = damaged(rng, name, self.contents)
        (line,) = rng.choices([line for _, line in RUNS], [weight for weight, _ in RUNS])
        piped = rng.random() < 0.2 and not any(word in line for word in ("compare", "live", "scene"))
        source = "in" + os.path.splitext(name)[1]
        limits = f"--max-memory {FRAMES} --max-pixels {PIXELS} --max-seconds {SECONDS}".split()
        words = ["-" if word == "IN" and piped else source if word == "IN" else word for word in line.split()]
        if words[0] == "live":
            words[1:1] = ["--backend", "cpu"]
        elif words[0] in ("preview", "compare"):
            words[1:1] = limits
        else:
            words = ["--backend", "cpu", *limits, *words]
        folder = tempfile.mkdtemp(dir=self.scratch)
        try:
            self.judge(number, folder, source, data, words, piped)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def judge(self, number, folder, source, data, words, piped):
        path = os.path.join(folder, source)
        with open(path, "wb") as file:
            file.write(data)
        begin, said_path = time.monotonic(), os.path.join(folder, ".said")
        with open(path if piped else os.devnull, "rb") as stdin, open(said_path, "wb") as said_file, open(
            os.path.join(folder, ".stdout"), "wb"
        ) as stdout:
            child = subprocess.Popen(
                [self.options.program, *words], cwd=folder, stdin=stdin, stdout=stdout, stderr=said_file,
                preexec_fn=self.limit,
            )
            hung = threading.Timer(PATIENCE, child.kill)
            hung.start()
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = code = os.waitstatus_to_exitcode(status)
            is_hung = not hung.is_alive()
            hung.cancel()
        took, peak = time.monotonic() - begin, usage.ru_maxrss << 10
        with open(said_path, "rb") as file:
            said = file.read().decode(errors="replace")
        os.unlink(said_path)
        wrong = []
        if is_hung:
            wrong.append(f"not over after {PATIENCE} s")
        elif code == 2 and "no frame at or after --start" in said:
            # What is left of the input ends before the run's start, which is an option's fault.
            code = 7
        elif code != 0 and code not in FAILURES:
            wrong.append(f"exit code {code}")
        if "panicked" in said:
            wrong.append("a panic")
        if peak > MOST:
            wrong.append(f"{peak >> 20} MiB of memory")
        if code in FAILURES and sum(part.startswith("histeq-video: error: ") for part in said.split("\n")) != 1:
            wrong.append("no line that says why")
        if any(ord(c) < 32 and c not in "\n\t" for c in said):
            wrong.append("control characters on stderr")
        wrong += self.files(folder, source, data, words, code, said)
        with self.lock:
            self.codes[code] = self.codes.get(code, 0) + 1
            self.peak, self.longest = max(self.peak, peak), max(self.longest, took)
            if wrong:
                self.findings += 1
                line = shlex.join(words) + (f" < {source}" if piped else "")
                last = said.strip().split("\n")[-1][:200]
                print(f"finding: seed {self.options.seed}, input {number}: {'; '.join(wrong)}: {line}: {last}", flush=True)
                if self.options.findings:
                    os.makedirs(self.options.findings, exist_ok=True)
                    kept = os.path.join(self.options.findings, f"{self.options.seed}-{number}")
                    with open(f"{kept}-{source}", "wb") as file:
                        file.write(data)
                    with open(f"{kept}.txt", "w") as file:
                        file.write(f"{'; '.join(wrong)}\n{line}\n\n{said}")

    def files(self, folder, source, data, words, code, said):
        """What is wrong with the files of a run that ended like this."""
        wrong = []
        with open(os.path.join(folder, source), "rb") as file:
            if file.read() != data:
                wrong.append("the input has changed")
        names = set(os.listdir(folder)) - {source, ".stdout"}
        output = words[words.index("--record") + 1] if "--record" in words else words[-1]
        written = {name for name in names if name.startswith("out")}
        # What a run that is out of time has written is kept, under another name.
        partial = {name for name in written if ".partial" in name}
        extra = names - written - ({"s.csv"} if code == 0 or "took longer" in said else set())
        if extra or partial and "took longer" not in said:
            wrong.append(f"files left behind: {sorted(extra | partial)}")
        if output == "-":
            written = {".stdout"} if code == 0 else set()
        elif code == 0 and not written - partial:
            wrong.append("no output")
        # A recording of `live`, and the images before a fault, stay.
        elif code in FAILURES and written - partial and "live" not in words and "%" not in output:
            wrong.append(f"an output of a run that failed: {sorted(written)}")
        for name in sorted(written if code == 0 else partial)[:3]:
            line = f"ffmpeg -hide_banner -nostdin -v error -xerror -i {name} -map 0:v:0 -f null -"
            if name == ".stdout":
                line = line.replace("-i", "-f yuv4mpegpipe -i")
            decoded = subprocess.run(line.split(), cwd=folder, capture_output=True)
            if decoded.returncode != 0:
                wrong.append(f"{name} does not decode: {decoded.stderr.decode(errors='replace').strip()[:150]!r}")
        return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--program", default=os.path.join(REPOSITORY, "target/debug/histeq-video"))
    parser.add_argument("--findings")
    parser.add_argument("--files")
    options = parser.parse_args()
    options.program = os.path.abspath(options.program)
    with tempfile.TemporaryDirectory(prefix="histeq-video-") as scratch:
        contents = make_files(options.files or scratch)
        tester = Tester(options, contents, scratch)
        print(f"seed {options.seed}: inputs {options.first} to {options.first + options.count - 1}", flush=True)
        begin = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            numbers = range(options.first, options.first + options.count)
            for done, _ in enumerate(pool.map(tester.test, numbers), 1):
                if done % 1000 == 0:
                    print(f"{done} inputs, {time.monotonic() - begin:.0f} s, {tester.findings} findings", flush=True)
        codes = ", ".join(f"{count} with exit code {code}" for code, count in sorted(tester.codes.items()))
        print(f"{options.count} inputs of {len(contents)} formats in {time.monotonic() - begin:.0f} s: {codes}; at most "
              f"{tester.peak >> 20} MiB and {tester.longest:.1f} s; {tester.findings} findings")
    return 1 if tester.findings else 0


if __name__ == "__main__":
    sys.exit(main())
