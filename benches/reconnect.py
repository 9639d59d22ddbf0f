"""A server that goes away and comes back: `live` beside the `fifo` muxer of ffmpeg.

    benches/reconnect.py PROGRAM

The server takes MPEG-TS for 5 seconds, is away for 3 or 8, and takes 15 seconds more. Prints when the first key frame came after
it was back, how many packets came before that one, and how many lines ffmpeg says of what it cannot decode.
"""

import socket
import subprocess
import sys
import tempfile
import time

SOURCE = "testsrc2=s=640x360:r=25,realtime"
FIFO = ["-f", "fifo", "-fifo_format", "mpegts", "-attempt_recovery", "1", "-recover_any_error", "1"]
FIFO += ["-recovery_wait_time", "1", "-drop_pkts_on_overflow", "1", "-restart_with_keyframe"]
FFMPEG = ["ffmpeg", "-nostdin", "-v", "quiet", "-f", "lavfi", "-i", SOURCE, "-map", "0:v", "-c:v", "libx264"]
FFMPEG += ["-preset", "veryfast", "-tune", "zerolatency"]


def listening(port):
    server = socket.create_server(("127.0.0.1", port))
    server.settimeout(60)
    return server


def has_key_frame(data):
    return any(part[:1] and part[0] & 31 == 5 for part in data.split(b"\0\0\1")[1:])


def received(server, seconds):
    """What comes within this time of the connection, and when the first key frame did."""
    begin = time.monotonic()
    connection, data, key = server.accept()[0], b"", None
    connection.settimeout(seconds)
    end = time.monotonic() + seconds
    while time.monotonic() < end and (more := connection.recv(1 << 16)):
        data += more
        if key is None and has_key_frame(data):
            key = time.monotonic() - begin
    connection.close()
    server.close()
    return data, key


def measure(name, port, command, away):
    server = listening(port)
    program = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    received(server, 5)
    time.sleep(away)
    data, key = received(listening(port), 15)
    program.kill()
    with tempfile.NamedTemporaryFile(suffix=".ts") as file:
        file.write(data)
        file.flush()
        show = ["-v", "quiet", "-select_streams", "v", "-show_entries", "packet=flags", "-of", "csv=p=0", file.name]
        flags = subprocess.run(["ffprobe", *show], capture_output=True, text=True).stdout.split()
        decode = ["ffmpeg", "-v", "error", "-i", file.name, "-f", "null", "-"]
        faults = len(subprocess.run(decode, capture_output=True).stderr.splitlines())
    before = next((at for at, flag in enumerate(flags) if "K" in flag), None)
    print(f"| {name} | {away} s | {key:.2f} s | {before} | {len(flags)} | {faults} |")


live = [sys.argv[1], "live", "--backend", "cpu", "--exact", "--no-preview", "-f", "lavfi", SOURCE, "--encoder", "libx264"]
print("| what | away | key frame after | packets before it | packets | lines of faults |\n|---|---|---|---|---|---|")
for away in [3, 8]:
    measure("`live`", 19371, [*live, "--output", "tcp://127.0.0.1:19371"], away)
    for waits in "01":
        command = [*FFMPEG, *FIFO, waits, "tcp://127.0.0.1:19372"]
        measure(f"`fifo`, `restart_with_keyframe {waits}`", 19372, command, away)
