"""The networks that people use, from the weights that their authors published, in NumPy: they are small.

The weights are not in the repository, nor in a package: those that lie in $PICTURES/weights, with the digest below, are
used, and the others left out with a word. Nothing of a file is run: only its tensors are read.

| name | from | licence |
|---|---|---|
| SCI (Ma et al., CVPR 2022) | github.com/vis-opt-group/SCI, 9d28a3f1, `weights` | MIT |
| Zero-DCE++ (Li et al., TPAMI 2021) | github.com/Li-Chongyi/Zero-DCE_extension, 09f202b6, `Zero-DCE++/snapshots_Zero_DCE++` | CC BY-NC 4.0, academic research |
| AOD-Net (Li et al., ICCV 2017) | github.com/MayankSingal/PyTorch-Image-Dehazing, dc26717c, `snapshots` | MIT |
"""

import hashlib
import os
import pathlib
import pickle
import zipfile
from collections import OrderedDict
from functools import cache

import cv2
import numpy as np

FILES = {
    "SCI, easy": ("sci-easy.pt", "b17326a26a93bf187ecbab217f9d3c57467a8b56020d4d9ff600ba257bbffb36"),
    "SCI, medium": ("sci-medium.pt", "4ff1e7e66e8f18114f790e5085ca4c936f0858e329e7ad1cb65b8aa09a9c6916"),
    "SCI, difficult": ("sci-difficult.pt", "657fa1f280cae1035df0d5cbe628e91f2d0f28660df608a3fa3f7e9a71da5a13"),
    "Zero-DCE++": ("zero-dce++.pth", "ca8855b90df9a80fa4195a831f33d3476b1964f787eb70602797c773067f3b84"),
    "AOD-Net": ("aod-net.pth", "79409b63bf019d6c7ca6903883a8635d5723c25406f74903751bd7459462a53b"),
}


class Tensors(pickle.Unpickler):
    """The tensors of a file of PyTorch; any name but those that tensors need is refused."""

    def __init__(self, file, storages):
        super().__init__(file)
        self.storages = storages

    def find_class(self, module, name):
        if name == "OrderedDict":
            return OrderedDict
        if module == "torch._utils" and name.startswith("_rebuild_tensor"):
            return lambda data, start, shape, *_: (data, start, shape)
        if module == "torch" and name.endswith("Storage"):
            return np.dtype({"FloatStorage": "f4", "LongStorage": "i8"}[name])
        raise pickle.UnpicklingError(f"{module}.{name}")

    def persistent_load(self, name):
        _, kind, key, _, size = name[:5]
        if self.storages is None:
            return key, kind, size
        return np.frombuffer(self.storages(key), kind, size)


@cache
def tensors(name):
    """The network's weights by name; None where they are not there."""
    file, digest = FILES[name]
    path = pathlib.Path(os.environ["PICTURES"], "weights", file)
    if not path.exists() or hashlib.sha256(path.read_bytes()).hexdigest() != digest:
        return None
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as z:
            top = z.namelist()[0].split("/")[0]
            with z.open(f"{top}/data.pkl") as data:
                found = Tensors(data, lambda key: z.read(f"{top}/data/{key}")).load()
    else:                   # before PyTorch 1.6: pickles in a row, then each storage's length and samples
        with path.open("rb") as data:
            parts = [Tensors(data, None).load() for _ in range(5)]
            found, read = parts[3], {}
            kinds = {t[0][0]: t[0][1] for t in found.values()}
            for key in parts[4]:
                size, = np.frombuffer(data.read(8), np.int64)
                read[key] = np.frombuffer(data.read(size * kinds[key].itemsize), kinds[key])
        found = {n: (read[data[0]], start, shape) for n, (data, start, shape) in found.items()}
    return {n: data[start : start + int(np.prod(shape))].reshape(shape) for n, (data, start, shape) in found.items()}


def convolved(planes, weight, bias):
    """PLANES are channel, row, column; outside the picture is 0."""
    out, of, tall, _ = weight.shape
    if tall == 1:
        return np.tensordot(weight[:, :, 0, 0], planes, 1) + bias[:, None, None]
    return np.stack([bias[o] + sum(cv2.filter2D(planes[i], cv2.CV_32F, weight[o, i], borderType=cv2.BORDER_CONSTANT) for i in range(of))
                     for o in range(out)])


def relu(x):
    return np.maximum(x, 0)


def sci(name, planes):
    w = tensors(name)
    conv = lambda x, n: convolved(x, w[f"enhance.{n}.weight"], w[f"enhance.{n}.bias"])
    first = relu(conv(planes, "in_conv.0"))
    norm = {p: w[f"enhance.conv.1.{p}"][:, None, None] for p in ("weight", "bias", "running_mean", "running_var")}
    second = (conv(first, "conv.0") - norm["running_mean"]) / np.sqrt(norm["running_var"] + 1e-5) * norm["weight"] + norm["bias"]
    light = 1 / (1 + np.exp(-conv(first + relu(second), "out_conv.0"))) + planes
    return planes / np.clip(light, 1e-4, 1)


def zero_dce(name, planes, smaller=12):
    """The curves are found at a twelfth of the size, as its authors do."""
    w = tensors(name)
    height, width = planes.shape[1:]
    resized = lambda x, size: np.stack([cv2.resize(p, size, interpolation=cv2.INTER_LINEAR) for p in x])

    def conv(x, n):
        deep, point = (f"e_conv{n}.{k}_conv" for k in ("depth", "point"))
        x = np.stack([cv2.filter2D(p, cv2.CV_32F, k[0], borderType=cv2.BORDER_CONSTANT) + b for p, k, b in zip(x, w[f"{deep}.weight"], w[f"{deep}.bias"])])
        return convolved(x, w[f"{point}.weight"], w[f"{point}.bias"])

    x1 = relu(conv(resized(planes, (width // smaller, height // smaller)), 1))
    x2 = relu(conv(x1, 2))
    x3 = relu(conv(x2, 3))
    x4 = relu(conv(x3, 4))
    x5 = relu(conv(np.concatenate([x3, x4]), 5))
    x6 = relu(conv(np.concatenate([x2, x5]), 6))
    curve = resized(np.tanh(conv(np.concatenate([x1, x6]), 7)), (width, height))
    for _ in range(8):
        planes = planes + curve * (planes * planes - planes)
    return planes


def aod(name, planes):
    w = tensors(name)
    conv = lambda x, n: relu(convolved(x, w[f"e_conv{n}.weight"], w[f"e_conv{n}.bias"]))
    x1 = conv(planes, 1)
    x2 = conv(x1, 2)
    x3 = conv(np.concatenate([x1, x2]), 3)
    x4 = conv(np.concatenate([x2, x3]), 4)
    k = conv(np.concatenate([x1, x2, x3, x4]), 5)
    return k * planes - k + 1


def network(run, name):
    def over(frames):
        results = [run(name, np.ascontiguousarray(np.moveaxis(f, -1, 0)).astype(np.float32) / 255) for f in frames]
        return np.stack([np.uint8(np.clip(np.moveaxis(r, 0, -1) * 255 + 0.5, 0, 255)) for r in results])
    return over


RUN = {"SCI": sci, "Zero-DCE++": zero_dce, "AOD-Net": aod}


def networks():
    return {name: network(RUN[name.split(",")[0]], name) for name in FILES if tensors(name) is not None}
