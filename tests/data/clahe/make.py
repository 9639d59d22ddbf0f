#!/usr/bin/env python3
"""Makes the files beside it: python3 make.py VIDEO. README.md says what is in them."""

import sys

import cv2
import numpy as np

SETTINGS = [(0, (4, 3)), (1, (8, 8)), (2, (8, 8)), (3, (5, 7)), (40, (8, 8))]

video = cv2.VideoCapture(sys.argv[1])
video.set(cv2.CAP_PROP_POS_FRAMES, 120)
picture = cv2.cvtColor(video.read()[1], cv2.COLOR_BGR2GRAY)
for width, height in [(128, 96), (161, 121), (64, 45), (7, 5)]:
    crop = cv2.resize(picture, (width, height), interpolation=cv2.INTER_AREA)
    results = [cv2.createCLAHE(clip, tiles).apply(crop) for clip, tiles in SETTINGS]
    results.append(cv2.equalizeHist(crop))
    with open(f"{width}x{height}.pgm", "wb") as file:
        stacked = np.concatenate([crop, *results])
        file.write(b"P5\n%d %d\n255\n" % stacked.shape[::-1] + stacked.tobytes())
