"""Pictures in and out of FFmpeg and of the program: 8 bits, 4:2:0, BT.709, limited range, as most video is."""

import subprocess

import cv2
import numpy as np

WIDTH, HEIGHT, RATE = 480, 270, 25
TO_YUV = "scale=out_color_matrix=bt709:out_range=tv:flags=area+accurate_rnd,format=yuv420p"
TO_RGB = "scale=in_color_matrix=bt709:in_range=tv:flags=bilinear+accurate_rnd,format=gbrp"


def command(*words, stdin=None, folder=None, timeout=600):
    """What a command writes to stdout; an error with the end of its stderr where it fails."""
    ran = subprocess.run([str(w) for w in words], input=stdin, stdin=None if stdin is not None else subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder, timeout=timeout)
    if ran.returncode:
        raise RuntimeError(f"{words[0]} ended with {ran.returncode}: {ran.stderr[-300:].decode(errors='replace').strip()}")
    return ran.stdout


def ffmpeg(*words, stdin=None):
    return command("ffmpeg", "-v", "error", "-y", "-filter_threads", "1", *words, stdin=stdin)


def read_rgb(path, filters, width, height):
    out = ffmpeg("-threads", "1", "-i", path, "-map", "0:v:0", "-vf", f"{filters},format=rgb24", "-fps_mode", "passthrough", "-f", "rawvideo", "-")
    return np.frombuffer(out, np.uint8).reshape(-1, height, width, 3)


LOSSLESS = ("ffv1",)
AS_FILES_ARE = ("libx264", "-preset", "veryfast", "-crf", 23, "-x264-params", "threads=1")


def write(frames, path, coder=LOSSLESS, named=None):
    """RGB frames as a file, with an entry of NAMED metadata."""
    named = ("-movflags", "use_metadata_tags", "-metadata", named) if named else ()
    count, height, width, _ = frames.shape
    ffmpeg("-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", RATE, "-i", "-", "-vf", TO_YUV,
           "-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709", "-color_range", "tv",
           "-threads", "1", "-c:v", *coder, *named, path, stdin=frames.tobytes())


def from_yuv(data, wanted, width=WIDTH, height=HEIGHT):
    """Raw 4:2:0 frames: those that are WANTED as RGB, and the luma of all, since some measures are of its own levels."""
    size = width * height
    half = (-(-height // 2), -(-width // 2))
    frames = np.frombuffer(data, np.uint8).reshape(-1, size + 2 * half[0] * half[1])
    luma = frames[:, :size].reshape(-1, height, width)
    wanted = range(len(frames))[wanted]
    rgb = np.empty((len(wanted), height, width, 3), np.uint8)
    for i, at in enumerate(wanted):
        frame = frames[at]
        y = (luma[at].astype(np.float32) - 16) / 219
        b, r = ((cv2.resize(c.astype(np.float32), (width, height), interpolation=cv2.INTER_LINEAR) - 128) / 224
                for c in frame[size:].reshape(2, *half))
        planes = np.stack([y + 1.5748 * r, y - 0.1873 * b - 0.4681 * r, y + 1.8556 * b], -1)
        rgb[i] = np.clip(planes * 255 + 0.5, 0, 255)
    return rgb, luma


def from_y4m(data):
    """The program's stdout, 4:2:0 with 8 bits, as raw frames."""
    head, data = data.split(b"\n", 1)
    words = {w[:1]: w[1:] for w in head.split()[1:]}
    assert words[b"C"].startswith(b"420"), head
    width, height = int(words[b"W"]), int(words[b"H"])
    size = width * height + 2 * (-(-width // 2)) * (-(-height // 2))
    assert len(data) % (size + 6) == 0, "a frame with a head of its own"
    return b"".join(data[at + 6 : at + 6 + size] for at in range(0, len(data), size + 6))


def filtered(path, chain, wanted):
    """A file through a chain of FFmpeg's filters that ends in 4:2:0, as RGB and luma."""
    return from_yuv(ffmpeg("-threads", "1", "-i", path, "-vf", chain, "-pix_fmt", "yuv420p", "-fps_mode", "passthrough", "-f", "rawvideo", "-"), wanted)


def subsampled(frames):
    """RGB frames as they are after 4:2:0, so that what is computed in RGB loses what files lose."""
    count, height, width, _ = frames.shape
    return from_yuv(ffmpeg("-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-i", "-", "-vf", TO_YUV,
                           "-f", "rawvideo", "-", stdin=frames.tobytes()), slice(None))
