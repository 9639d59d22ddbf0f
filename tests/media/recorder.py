#!/usr/bin/env python3
"""Records four cameras for an hour, with 60 outages of sources, network, disk and the program itself.

    tests/media/recorder.py [--minutes N] [PROGRAM]      an outage a minute; target/debug/histeq-video

The cameras are ffmpeg (UDP, HTTP, SRT) and a server for RTMP (nginx), on this machine. Each picture has its number in it,
which counts tenths of seconds since the begin: so what was recorded says which frames are missing. The disk is one in
memory, of 768 MB, which takes root to mount. At the end:

* each segment that the program has ended can be decoded without an error, and so can those that it was killed in;
* no picture is there twice, none is out of order, and each gap lies in an outage of its source, of the disk, or of the
  program, or has been counted as dropped by the program (on a machine that is too busy);
* memory, threads and descriptors of the program have not grown.
"""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
RATE = 10
BITS = 16
# A source that is back is heard after its next key frame, and asked for at most 4 s apart; a disk likewise.
BEFORE, AFTER = 4.5, 14.0
CAMERAS = ["gate", "yard", "door", "roof"]
# When the disk is full, these lose their oldest segments, and the others wait.
KEEP = {"gate": 'keep = "1d"\n', "yard": 'keep-size = "1G"\n'}
NGINX = """
load_module /usr/lib/nginx/modules/ngx_rtmp_module.so;
daemon off; master_process off; pid {dir}/nginx.pid; error_log {dir}/nginx.log;
events {{ }}
rtmp {{ server {{ listen 127.0.0.1:{port}; application app {{ live on; }} }} }}
"""


class Rig:
    def __init__(self, program, folder, planned):
        self.program, self.dir, self.planned = program, folder, planned
        self.disk = folder / "disk"
        self.disk.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=768M", "none", self.disk], check=True)
        (self.disk / "cams").mkdir()
        self.begin = time.time()
        self.ports = {name: 19350 + index for index, name in enumerate(CAMERAS)}
        self.senders, self.outages, self.samples, self.events, self.dropped = {}, [], [], [], []
        self.server = self.recorder = None
        self.over = False
        (folder / "nginx.conf").write_text(NGINX.format(dir=folder, port=self.ports["yard"]))

    def url(self, name):
        port = self.ports[name]
        return {
            "gate": f"udp://127.0.0.1:{port}?fifo_size=100000&overrun_nonfatal=1",
            "yard": f"rtmp://127.0.0.1:{port}/app/yard",
            "door": f"http://127.0.0.1:{port}/door.ts",
            "roof": f"srt://127.0.0.1:{port}",
        }[name]

    def send(self, name):
        """Starts the camera: pictures with the number that is due."""
        first = round((time.time() - self.begin) * RATE)
        bits = f"if(bitand(N+{first}\\,pow(2\\,floor(X/10)))\\,235\\,16)"
        picture = f"nullsrc=s=160x96:r={RATE},format=gray,geq=lum='if(lt(Y\\,24)\\,255*random(1)\\,{bits})',format=yuv420p"
        to = {
            "gate": ["-f", "mpegts", f"udp://127.0.0.1:{self.ports[name]}?pkt_size=1316"],
            "yard": ["-f", "flv", self.url("yard")],
            "door": ["-f", "mpegts", "-listen", "1", self.url("door")],
            "roof": ["-f", "mpegts", f"{self.url('roof')}?mode=listener"],
        }[name]
        line = ["ffmpeg", "-v", "error", "-nostdin", "-re", "-f", "lavfi", "-i", picture, "-c:v", "libx264", "-preset"]
        line += ["ultrafast", "-tune", "zerolatency", "-g", str(RATE), *to]
        self.senders[name] = subprocess.Popen(line, stderr=subprocess.DEVNULL)

    def serve(self):
        self.server = subprocess.Popen(["/usr/sbin/nginx", "-c", self.dir / "nginx.conf", "-p", self.dir])

    def keep_sending(self):
        """A camera whose viewer has gone, or whose server has, begins again, as cameras do."""
        while not self.over:
            time.sleep(0.25)
            for name, sender in list(self.senders.items()):
                if sender.poll() is not None:
                    self.send(name)

    def record(self):
        line = [self.program, "live", "--config", self.dir / "cameras.toml", "--backend", "cpu", "--progress", "json"]
        self.recorder = subprocess.Popen(line, stderr=subprocess.PIPE, text=True)
        self.started = time.time()
        threading.Thread(target=self.listen, args=(self.recorder.stderr,), daemon=True).start()

    def listen(self, stderr):
        """Keeps the events, and notes when the program said that it had dropped how many frames of which camera."""
        dropped = {}
        for line in stderr:
            event = json.loads(line) if line.startswith("{") else {"event": "text"}
            if event["event"] != "progress":
                self.events.append(event)
            elif event.get("dropped", 0) > dropped.get(event.get("source"), 0):
                name, before = CAMERAS[event["source"] - 1], dropped.get(event["source"], 0)
                dropped[event["source"]] = event["dropped"]
                self.dropped.append((name, time.time() - self.begin, event["dropped"] - before))

    def sample(self):
        """Memory, threads and descriptors of the program and of the processes that decode for it."""
        while not self.over:
            time.sleep(5)
            try:
                pids = [self.recorder.pid, *descendants(self.recorder.pid)]
                status = [pathlib.Path(f"/proc/{pid}/status").read_text() for pid in pids]
                value = lambda text, key: int(re.search(rf"^{key}:\s+(\d+)", text, re.M)[1])
                row = {
                    "age": time.time() - self.started,
                    "memory_kib": sum(value(text, "RssAnon") for text in status),
                    "threads": sum(value(text, "Threads") for text in status),
                    "descriptors": sum(len(os.listdir(f"/proc/{pid}/fd")) for pid in pids),
                    "pid": pids[0],
                }
                self.samples.append(row)
            except (OSError, TypeError):
                pass

    def outage(self, number):
        """One outage; notes when it was, and of which cameras. The program is killed at every second one of the first
        two fifths, and then left running, so that one life of it is long."""
        others = ["source", "network", "disk full", "disk away"]
        early = 2 * self.planned // 5
        counted = number // 2 if number < early else number - early // 2
        kind = "program" if number < early and number % 2 else others[counted % 4]
        name = CAMERAS[counted // 4 % 4]
        begin, cameras = time.time(), [name]
        if kind == "source":
            sender = self.senders.pop(name)
            sender.kill()
            sender.wait()
            time.sleep(6)
            self.send(name)
        elif kind == "network":
            held = self.server if name == "yard" else self.senders[name]
            held.send_signal(signal.SIGSTOP)
            time.sleep(8)
            held.send_signal(signal.SIGCONT)
        elif kind == "disk full":
            cameras = CAMERAS
            with open(self.disk / "filler", "wb") as filler:
                try:
                    while True:
                        filler.write(bytes(1 << 16))
                except OSError:
                    pass
            time.sleep(8)
            (self.disk / "filler").unlink()
        elif kind == "disk away":
            cameras = CAMERAS
            (self.disk / "cams").rename(self.disk / "away")
            time.sleep(25)
            (self.disk / "away").rename(self.disk / "cams")
        else:
            cameras = CAMERAS
            self.recorder.kill()
            self.recorder.wait()
            time.sleep(1)
            self.record()
        self.outages.append((kind, cameras, begin - self.begin, time.time() - self.begin))
        print(f"{begin - self.begin:7.1f} s  {kind:9}  {', '.join(cameras)}", flush=True)


def descendants(pid):
    found = []
    for thread in os.listdir(f"/proc/{pid}/task"):
        for child in pathlib.Path(f"/proc/{pid}/task/{thread}/children").read_text().split():
            found += [int(child), *descendants(int(child))]
    return found


def numbers(file):
    """The numbers of the pictures of a file, and whether it was decoded without an error."""
    line = ["ffmpeg", "-v", "error", "-nostdin", "-i", file, "-fps_mode", "passthrough", "-enc_time_base", "-1", "-vf"]
    line += [f"crop=160:32:0:32,scale={BITS}:1:flags=area,format=gray", "-f", "rawvideo", "-"]
    done = subprocess.run(line, capture_output=True)
    rows = [done.stdout[at : at + BITS] for at in range(0, len(done.stdout), BITS)]
    return [sum((value > 126) << bit for bit, value in enumerate(row)) for row in rows], done.stderr.decode()[:200]


def check(rig):
    faults, lost, frames, counted_drops = [], dict.fromkeys(CAMERAS, 0), dict.fromkeys(CAMERAS, 0), 0
    segments = cut = 0
    for name in CAMERAS:
        files = sorted((rig.disk / "cams").glob(f"{name}-*.mkv"), key=lambda file: file.stat().st_ino)
        begins = []
        for file in files:
            found, error = numbers(file)
            segments += 1
            # One that the program was killed in ends in the middle of a second.
            if "ended prematurely" in error and found:
                cut += 1
            elif error or not found:
                faults.append(f"{file.name}: {error.strip() or 'no frame'}")
            begins.append((found[0] if found else 0, found))
        counted = [number for _, found in sorted(begins) for number in found]
        frames[name] = len(counted)
        for before, after in zip(counted, counted[1:]):
            if after <= before:
                faults.append(f"{name}: picture {after} comes after {before}")
            elif after > before + 1:
                lost[name] += after - before - 1
                # Its own outages, those of the disk and those of the program.
                gap = (before / RATE, after / RATE)
                inside = any(
                    name in cameras and gap[0] >= begin - BEFORE and gap[1] <= end + AFTER
                    for _, cameras, begin, end in rig.outages
                )
                # What a busy machine cannot equalize in time is dropped, and counted.
                dropped = sum(count for of, at, count in rig.dropped if of == name and gap[0] - 2 <= at <= gap[1] + BEFORE)
                if not inside and gap[0] > 10 and dropped >= after - before - 1:
                    counted_drops += after - before - 1
                elif not inside and gap[0] > 10:
                    faults.append(f"{name}: no pictures from {gap[0]:.1f} to {gap[1]:.1f} s, without an outage")
    longest = max(rig.samples, key=lambda row: row["age"], default=None)
    of_longest = [row for row in rig.samples if longest and row["pid"] == longest["pid"] and row["age"] > 60]
    growth = {}
    for key in ["memory_kib", "threads", "descriptors"]:
        values = [row[key] for row in of_longest]
        half = len(values) // 2
        if half:
            growth[key] = [max(values[:half]), max(values[half:])]
    return (segments, cut), frames, (lost, counted_drops), growth, faults


def main():
    minutes = int(sys.argv[sys.argv.index("--minutes") + 1]) if "--minutes" in sys.argv else 60
    others = [word for word in sys.argv[1:] if not word.startswith("--") and word != str(minutes)]
    program = pathlib.Path(others[0] if others else ROOT / "target/debug/histeq-video").resolve()
    folder = pathlib.Path(tempfile.mkdtemp())
    rig = Rig(program, folder, minutes)
    try:
        cameras = "".join(
            f'[camera.{name}]\nsource = "{rig.url(name)}"\n{KEEP.get(name, "")}record = "{rig.disk}/cams/{name}-%Y%m%d-%H%M%S.mkv"\n'
            for name in CAMERAS
        )
        common = 'segment = "20s"\nstrength = 0\nlevels = 1\ndenoise = 0\n'
        (folder / "cameras.toml").write_text(common + cameras)
        rig.serve()
        time.sleep(1)
        for name in CAMERAS:
            rig.send(name)
        rig.record()
        for work in (rig.keep_sending, rig.sample):
            threading.Thread(target=work, daemon=True).start()
        for number in range(minutes):
            time.sleep(max(0, rig.begin + 30 + 60 * number - time.time()))
            rig.outage(number)
        time.sleep(max(0, rig.begin + 60 * minutes + 15 - time.time()))
        rig.over = True
        rig.recorder.send_signal(signal.SIGTERM)
        code = rig.recorder.wait(30)
        segments, frames, (lost, drops), growth, faults = check(rig)
        kinds = {kind: sum(event["event"] == kind for event in rig.events) for kind in ["waiting", "back", "segment", "error"]}
        print(json.dumps({"exit_code": code, "outages": len(rig.outages), "segments_and_those_cut_by_a_kill": segments, "frames": frames,
                          "lost": lost, "lost_without_an_outage_and_counted": drops, "events": kinds, "first_and_second_half": growth}))
        for fault in faults:
            print(f"FAULT {fault}")
        sys.exit(1 if faults or code else 0)
    finally:
        rig.over = True
        for process in [rig.recorder, rig.server, *rig.senders.values()]:
            if process:
                process.kill()
        time.sleep(0.5)
        subprocess.run(["umount", "-l", rig.disk])
        if "--keep" not in sys.argv:
            shutil.rmtree(folder, ignore_errors=True)


main()
