#!/usr/bin/env python3
"""Histogram equalization in Python, twice: as a plain loop over pixels, and in NumPy.

    equalize.py IMAGE OUTPUT REPEATS

IMAGE has 8-bit gray pixels without a header; OUTPUT becomes the equalized pixels. Prints a line for each way: its name, and
the seconds of each run. The plain loop runs once. `histeq-lab scans` runs this, and compares OUTPUT with its own.
Without NumPy there is no line for it.
"""

import sys
import time


def curve(histogram, total):
    """What each level becomes: (c - cmin) * 255 / (N - cmin), rounded to the nearest, halves up."""
    cumulative, through = [], 0
    for count in histogram:
        through += count
        cumulative.append(through)
    first = next(c for c in cumulative if c)
    rest = total - first
    if rest == 0:
        return list(range(256))
    return [(max(c - first, 0) * 255 + rest // 2) // rest for c in cumulative]


def plain_loop(pixels):
    histogram = [0] * 256
    for pixel in pixels:
        histogram[pixel] += 1
    levels = curve(histogram, len(pixels))
    output = bytearray(len(pixels))
    for index, pixel in enumerate(pixels):
        output[index] = levels[pixel]
    return bytes(output)


def with_numpy(np, pixels):
    image = np.frombuffer(pixels, np.uint8)
    levels = curve(np.bincount(image, minlength=256).tolist(), image.size)
    return np.array(levels, np.uint8)[image].tobytes()


def timed(work, repeats):
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        output = work()
        times.append(time.perf_counter() - begin)
    return output, times


def main():
    with open(sys.argv[1], "rb") as file:
        pixels = file.read()
    output, times = timed(lambda: plain_loop(pixels), 1)
    print("loop", *times)
    try:
        import numpy
    except ImportError:
        numpy = None
    if numpy:
        again, times = timed(lambda: with_numpy(numpy, pixels), int(sys.argv[3]))
        print("NumPy", *times)
        if again != output:
            sys.exit("the loop and NumPy differ")
    with open(sys.argv[2], "wb") as file:
        file.write(output)


main()
