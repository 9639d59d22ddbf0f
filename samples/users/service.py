#!/usr/bin/env python3
"""service.py [FOLDER]: an upload service. Whoever sends a video gets it back equalized, or is told what is wrong with it.

    curl -T clip.mp4 http://127.0.0.1:8090/jobs          # {"job": "6f0c...", "state": "waiting"}
    curl http://127.0.0.1:8090/jobs/6f0c...              # {"state": "running", "percent": 41.0}
    curl -O -J http://127.0.0.1:8090/jobs/6f0c.../video  # when it is "done"

It listens at PORT (8090) of this machine; a server that knows users and encryption stands in front of it. Jobs wait in a queue,
and WORKERS (1) of them run at a time. Each has a folder of its own in FOLDER (jobs), in which the program alone may write.
"""

import http.server
import json
import os
import pathlib
import queue
import re
import secrets
import shutil
import subprocess
import sys
import threading

FOLDER = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "jobs").resolve()
# Bytes of an upload, and how many may wait. Who is one too many is told to come back.
MOST_BYTES, MOST_WAITING = int(os.environ.get("MOST_BYTES", 500_000_000)), 100

# What a job may cost and reach. Its sound is kept, and what else may be in a file is not.
COMMAND = ["histeq-video", "--sandbox", "on", "--threads", "2", "--max-memory", "1Gi", "--max-pixels", "9M", "--max-seconds", "600",
           "--max-duration", "600", "--for", "web", "-n", "--progress", "json"]

# What the kinds of errors are to those who sent the video: theirs, or ours. docs/reliability.md lists all kinds.
THEIRS = {"damage": 422, "limit": 413, "missing": 422, "usage": 422}

jobs, waiting = {}, queue.Queue(MOST_WAITING)


def work():
    """Does one job after another."""
    while True:
        job = waiting.get()
        try:
            run(job)
        except OSError as error:
            print(f"{job}: {error}", file=sys.stderr)
            jobs[job] = {"state": "failed", "status": 500, "kind": "failed", "message": "the service has failed"}
        (FOLDER / job / "upload.video").unlink(missing_ok=True)


def run(job):
    """Runs the program. Its events say how far it is, and its last one how it ended."""
    jobs[job] = {"state": "running", "percent": 0.0}
    folder = FOLDER / job
    program = subprocess.Popen([*COMMAND, "upload.video", "out/video.mp4"], cwd=folder, stdin=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True)
    event, error = {}, None
    for line in program.stderr:
        event = json.loads(line)
        if event["event"] == "progress":
            jobs[job] = {"state": "running", "percent": event["percent"]}
        elif event["event"] == "error":
            error = event
    code = program.wait()
    if code == 0:
        jobs[job] = {"state": "done", "frames": event["frames"], "damaged": event["damaged"], "found": event["found_text"]}
        return
    shutil.rmtree(folder / "out")
    # One that is ended by a signal, or has no memory, says nothing more.
    error = error or {"kind": "failed", "message": f"ended with {code}"}
    status = THEIRS.get(error["kind"], 500)
    message = error["message"] if status != 500 else "the service has failed"
    jobs[job] = {"state": "failed", "status": status, "kind": error["kind"], "message": message}
    if status == 500:
        print(f"{job}: {error['kind']}: {error['message']}", file=sys.stderr)


class Requests(http.server.BaseHTTPRequestHandler):
    """PUT /jobs, GET /jobs/JOB, GET /jobs/JOB/video."""

    timeout = 60

    def answer(self, status, body, headers=()):
        self.send_response(status)
        for name, value in [("Content-Type", "application/json"), ("Content-Length", str(len(body))), *headers]:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def say(self, status, /, **fields):
        self.answer(status, json.dumps(fields).encode() + b"\n")

    def do_PUT(self):
        length = self.headers.get("Content-Length", "")
        if not re.fullmatch("/jobs/?[^/]*", self.path):
            return self.say(404, message="send a video to /jobs")
        if not length.isdigit():
            return self.say(411, message="say how long the video is (Content-Length)")
        if int(length) > MOST_BYTES:
            return self.say(413, kind="limit", message=f"more than {MOST_BYTES} bytes")
        # A name of ours: that of the sender may be a list of files (.m3u8), or lead elsewhere.
        job = secrets.token_hex(16)
        (FOLDER / job / "out").mkdir(parents=True)
        with open(FOLDER / job / "upload.video", "wb") as upload:
            left = int(length)
            while left and (part := self.rfile.read(min(left, 1 << 20))):
                upload.write(part)
                left -= len(part)
        jobs[job] = {"state": "waiting"}
        try:
            if left:
                raise queue.Full
            waiting.put_nowait(job)
        except queue.Full:
            shutil.rmtree(FOLDER / job)
            del jobs[job]
            return self.say(503 if not left else 400, message="too many videos are waiting" if not left else "the video is cut")
        self.say(202, job=job, state="waiting")

    def do_GET(self):
        found = re.fullmatch("/jobs/([0-9a-f]{32})(/video)?", self.path)
        state = jobs.get(found[1]) if found else None
        if state is None:
            return self.say(404, message="there is no such job")
        if not found[2]:
            return self.say(200, **state)
        if state["state"] != "done":
            return self.say(state.get("status", 404), **state)
        video = FOLDER / found[1] / "out" / "video.mp4"
        self.send_response(200)
        self.send_header("Content-Type", "video/mp4")
        self.send_header("Content-Length", str(video.stat().st_size))
        self.send_header("Content-Disposition", 'attachment; filename="equalized.mp4"')
        self.end_headers()
        with open(video, "rb") as file:
            shutil.copyfileobj(file, self.wfile)

    def log_message(self, *_):
        pass


for _ in range(int(os.environ.get("WORKERS", 1))):
    threading.Thread(target=work, daemon=True).start()
server = http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", 8090))), Requests)
print(f"http://127.0.0.1:{server.server_port}/jobs", flush=True)
try:
    server.serve_forever()
except KeyboardInterrupt:
    pass
