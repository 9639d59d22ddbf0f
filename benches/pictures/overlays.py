"""How far what is drawn over a picture changes the rest of it.

    overlays.py CLIPS --program PROGRAM

The clips are the two samples, each as it is and in the dark, and those of the folder CLIPS (`steady` of moving.tsv). Over
each, FFmpeg draws captions, a logo, a clock and bars; captions come after 1.2 s and go after 2.8. On stdout: for each of
them, the mean difference of the rest of a frame, in levels, from the picture that the program makes without it: the
largest of all frames, as median and maximum over the clips. Bars are compared with the picture that they leave, cut out.
"""

import argparse
import pathlib
import subprocess
import tempfile

import cv2
import numpy as np

WIDTH, HEIGHT, SECONDS, RATE = 384, 216, 4, 15
SAMPLES = pathlib.Path(__file__).resolve().parents[2] / "samples"
WHEN = "enable='between(t,1.2,2.8)'"


def text(words, y, size=22, more="", colour="white", x="(w-tw)/2"):
    return f"drawtext=font='DejaVu Sans\\:bold':text='{words}':fontcolor={colour}:fontsize={size}:x={x}:y={y}{more}"


def box(x, y, width, height, colour, more=""):
    return f"drawbox=x={x}:y={y}:w={width}:h={height}:color={colour}:t=fill{more}"


CAPTION = "We have been waiting here for hours"
# On pictures of 640x360.
OVERLAYS = {
    "a blue band with letters comes": f"{box(0, 290, 'iw', 56, '0x1040A0', ':' + WHEN)},{text('BREAKING NEWS  traffic stands still in the city', 306, more=':' + WHEN)}",
    "outlined letters come": text(CAPTION, 300, 24, f":borderw=2:bordercolor=black:{WHEN}"),
    "two lines of letters come": f"{text(CAPTION, 280, 24, ':' + WHEN)},{text('and nobody told us what to do', 312, 24, ':' + WHEN)}",
    "letters on half of black come": text(CAPTION, 300, 22, f":box=1:boxcolor=black@0.5:boxborderw=8:{WHEN}"),
    "letters on a white band": f"{box(60, 286, 520, 52, 'white')},{text('LIVE   Heavy traffic on all roads', 300, 24, colour='black', x=90)}",
    "a ticker": f"{box(0, 322, 'iw', 38, '0xB01020')},{text('stocks rise  -  rain tomorrow  -  team wins in the last minute  -  road closed', 330, 18, x='640-120*t')}",
    "a clock": text("2026-11-30 21.14.08  CAM 04", 12, 20, x=12),
    "a yellow logo": f"{box(540, 20, 80, 40, '0xF0C000')},{text('TV5', 28, 28, colour='black', x=552)}",
    "black bars above and below": f"{box(0, 0, 'iw', 50, 'black')},{box(0, 310, 'iw', 50, 'black')}",
    "black bars at the sides": f"{box(0, 0, 150, 'ih', 'black')},{box(490, 0, 150, 'ih', 'black')}",
    "white bars above and below": f"{box(0, 0, 'iw', 50, 'white')},{box(0, 310, 'iw', 50, 'white')}",
    "gray bars at the sides": f"{box(0, 0, 150, 'ih', '0x808080')},{box(490, 0, 150, 'ih', '0x808080')}",
}
# Columns and rows that bars leave: first ones and lengths.
LEFT = {"above and below": (0, 32, 384, 152), "at the sides": (92, 0, 200, 216)}


def run(*command):
    subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def lumas(path, chain="null"):
    data = subprocess.run(["ffmpeg", "-v", "error", "-i", str(path), "-vf", chain, "-pix_fmt", "gray", "-f", "rawvideo", "-"],
                          check=True, capture_output=True).stdout
    return np.frombuffer(data, np.uint8)


def corrected(program, path):
    out = path.with_name("out.mkv")
    run(program, "-y", "-q", "--backend", "cpu", "--denoise", "0", "--encoder", "ffv1", path, out)
    return out


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("clips", type=pathlib.Path)
    parser.add_argument("--program", required=True)
    args = parser.parse_args()
    dark = "lutyuv=y='16+(val-16)/4'"
    clips = [(SAMPLES / name, chain) for name in ("coast.mp4", "parking-lot.mp4") for chain in ("null", dark)]
    clips += [(path, "null") for path in sorted(args.clips.glob("*.mp4"))]
    found = {name: [] for name in OVERLAYS}
    with tempfile.TemporaryDirectory() as folder:
        for path, chain in clips:
            def made(overlay, name):
                file = pathlib.Path(folder) / name
                run("ffmpeg", "-v", "error", "-y", "-t", SECONDS, "-i", path, "-an", "-vf",
                    f"fps={RATE},scale=640:360:flags=area,{chain},{overlay},scale={WIDTH}:{HEIGHT}:flags=area,format=yuv420p",
                    "-c:v", "libx264", "-preset", "ultrafast", "-crf", "20", file)
                return file
            size = (-1, HEIGHT, WIDTH)
            bare = made("null", "bare.mkv")
            bare_in, bare_out = lumas(bare).reshape(size), lumas(corrected(args.program, bare)).reshape(size)
            for name, overlay in OVERLAYS.items():
                over = made(overlay, "over.mkv")
                over_in, over_out = lumas(over).reshape(size), lumas(corrected(args.program, over)).reshape(size)
                place = next((left for words, left in LEFT.items() if words in name), None)
                if place:
                    x, y, width, height = place
                    cut = pathlib.Path(folder) / "cut.mkv"
                    run("ffmpeg", "-v", "error", "-y", "-i", over, "-vf", f"crop={width}:{height}:{x}:{y}", "-c:v", "ffv1", cut)
                    wanted = lumas(corrected(args.program, cut)).reshape(-1, height, width)
                    rest, over_out = np.ones((height, width), bool), over_out[:, y:y + height, x:x + width]
                else:
                    drawn = (np.abs(bare_in.astype(int) - over_in).max(0) > 24).astype(np.uint8)
                    wanted, rest = bare_out, cv2.dilate(drawn, np.ones((9, 9))) == 0
                steps = [np.abs(a[rest].astype(int) - b[rest]).mean() for a, b in zip(wanted, over_out)]
                found[name].append(max(steps))
    print("| over the picture | median | maximum |\n|---|---|---|")
    for name, changes in found.items():
        print(f"| {name} | {np.median(changes):.1f} | {max(changes):.1f} |")


if __name__ == "__main__":
    main()
