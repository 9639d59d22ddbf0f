"""Compares the plug-in for VapourSynth, in the real host, with the program, byte for byte: tests/hosts/vapoursynth.sh runs it.

check.py PROGRAM CLIP...: clips that FFmpeg reads."""

import functools
import pathlib
import random
import subprocess
import sys
import tempfile

import numpy
import vapoursynth as vs

VECTORS = pathlib.Path(__file__).parents[2] / "core" / "conformance" / "vectors.tsv"
sys.path.insert(0, str(VECTORS.parent))
import port  # noqa: E402  The rule of the inputs.

core = vs.core
OPTIONS = core.histeq.Options()
LOOKS = [line.split(":")[0] for line in OPTIONS["values"][OPTIONS["name"].index("look")].splitlines()]
FAMILIES = {"gray": (vs.GRAY, 0, 0), "gbrp": (vs.RGB, 0, 0), "yuv420p": (vs.YUV, 1, 1), "yuv422p": (vs.YUV, 1, 0)}
FAMILIES |= {"yuv444p": (vs.YUV, 0, 0), "yuv440p": (vs.YUV, 0, 1), "yuv411p": (vs.YUV, 2, 0), "yuv410p": (vs.YUV, 2, 2)}
MATRICES = {"bt709": 1, "bt601": 6, "smpte170m": 6, "bt470bg": 5, "bt2020": 9, "bt2020nc": 9}


def host_format(name):
    """VapourSynth's format for FFmpeg's name; None if it has none."""
    for family, (color, width, height) in FAMILIES.items():
        depth = name.removeprefix(family).removesuffix("le") if name.startswith(family) else "no"
        if depth == "" or depth.isdigit() and name.endswith("le"):
            return core.query_video_format(color, vs.INTEGER, int(depth or 8), width, height)
    return None


def planes_of(form):
    return (1, 2, 0) if form.color_family == vs.RGB else range(form.num_planes)


def clip_of(frames, form, size, rate, **properties):
    """A clip of the bytes of frames, as FFmpeg has them."""
    sample = numpy.uint8 if form.bytes_per_sample == 1 else numpy.uint16
    blank = core.std.BlankClip(format=form, width=size[0], height=size[1], length=len(frames), fpsnum=rate[0], fpsden=rate[1])

    def fill(n, f):
        new, data = f.copy(), numpy.frombuffer(frames[n], sample)
        for plane in planes_of(form):
            to = numpy.asarray(new[plane])
            to[:] = data[: to.size].reshape(to.shape)
            data = data[to.size :]
        return new

    filled = core.std.ModifyFrame(blank, blank, fill)
    return core.std.SetFrameProps(filled, **properties) if properties else filled


def content(frame):
    """The bytes of a frame, as FFmpeg has them."""
    return b"".join(numpy.asarray(frame[plane]).tobytes() for plane in planes_of(frame.format))


def probe(path, entry):
    command = ["ffprobe", "-v", "error", "-select_streams", "v:0", "-show_entries", f"stream={entry}", "-of", "csv=p=0", path]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip().strip(",")


def split(data, size):
    assert data and len(data) % size == 0
    return [data[at : at + size] for at in range(0, len(data), size)]


def read(path):
    """The frames of a file, and what VapourSynth is told of them."""
    size = int(probe(path, "width")), int(probe(path, "height"))
    name, rate = probe(path, "pix_fmt"), tuple(map(int, probe(path, "r_frame_rate").split("/")))
    form = host_format(name)
    data = subprocess.run(
        ["ffmpeg", "-v", "error", "-i", path, "-f", "rawvideo", "-pix_fmt", name, "-"], check=True, stdout=subprocess.PIPE
    ).stdout
    luma = size[0] * size[1] * form.bytes_per_sample
    chroma = (size[0] >> form.subsampling_w) * (size[1] >> form.subsampling_h) * form.bytes_per_sample
    frames = split(data, luma + (form.num_planes - 1) * chroma)
    properties = {"_Range": int(probe(path, "color_range") == "pc" or form.color_family == vs.RGB)}
    matrix = MATRICES.get(probe(path, "color_space"))
    if matrix and form.color_family != vs.RGB:
        properties["_Matrix"] = matrix
    return clip_of(frames, form, size, rate, **properties), len(frames[0])


def by_program(program, path, folder, size, *options):
    out = pathlib.Path(folder) / "out.raw"
    command = [program, "-y", "--backend", "cpu", path, str(out), "--output-format", "rawvideo", *options]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return split(out.read_bytes(), size)


def same(expected, found, what):
    assert len(expected) == len(found), f"{what}: {len(found)} frames in place of {len(expected)}"
    others = [n for n, (a, b) in enumerate(zip(expected, found)) if a != b]
    assert not others, f"{what}: frames {others[:10]} differ"


def in_any_order(make, expected, what):
    """In order; twice, and shuffled; many at once."""
    clip = make()
    same(expected, [content(frame) for frame in clip.frames()], f"{what}, in order")
    numbers = list(range(len(expected))) * 2
    random.Random(what).shuffle(numbers)
    # A clip of which nothing is known yet, without a cache that would give frames again.
    clip = make()
    for n in numbers:
        assert content(clip.get_frame(n)) == expected[n], f"{what}: frame {n} differs, shuffled"
    clip = make()
    random.Random(what + "!").shuffle(numbers)
    for n, future in [(n, clip.get_frame_async(n)) for n in numbers]:
        assert content(future.result()) == expected[n], f"{what}: frame {n} differs, in parallel"


def check_files(program, paths):
    for path in paths:
        clip, size = read(path)
        with tempfile.TemporaryDirectory() as folder:
            for look in LOOKS:
                expected = by_program(program, path, folder, size, "--look", look)
                make = functools.partial(core.histeq.Equalize, clip, look=look)
                in_any_order(make, expected, f"{pathlib.Path(path).name} {look}")
            expected = by_program(program, path, folder, size, "--smooth", "scene")
            in_any_order(lambda: core.histeq.Equalize(clip, smooth="scene"), expected, f"{pathlib.Path(path).name} scene")
        print(f"{pathlib.Path(path).name}: {clip.num_frames} frames under {len(LOOKS)} looks")


def argument(option):
    name, value = option.split("=")
    name = name.replace("-", "_")
    kind = next(kind for kind in core.histeq.Equalize.signature.split(";") if kind.startswith(f"{name}:")).split(":")[1]
    return name, {"int": lambda: int(value == "true"), "float": lambda: float(value), "data": lambda: value}[kind]()


def check_vectors():
    """The conformance vectors of the formats that VapourSynth has."""
    rows = [line.split("\t") for line in VECTORS.read_text().splitlines() if not line.startswith("#")]
    checked, formats = 0, set()
    for row in rows[1:]:
        row = dict(zip(rows[0], row))
        form, size = host_format(row["format"]), (int(row["width"]), int(row["height"]))
        if form is None or row["delivery"] != "stored":
            continue
        if size[0] % (1 << form.subsampling_w) or size[1] % (1 << form.subsampling_h):
            # Sizes that VapourSynth does not have: it refuses half samples of chroma.
            continue
        picture = port.Picture(row["format"], *size, row["range"] == "limited")
        frames = [picture.packed(picture.frame(n)) for n in range(int(row["frames"]))]
        transfer = {"sdr": 1, "pq": 16, "hlg": 18}[row["transfer"]]
        properties = {"_Range": int(row["range"] == "full"), "_Transfer": transfer, "_Matrix": MATRICES[row["matrix"]]}
        clip = clip_of(frames, form, size, (10, 1), **properties)
        done = core.histeq.Equalize(clip, **dict(argument(option) for option in row["options"].split()))
        found = [f"{port.fnv(content(frame)):016x}" for frame in done.frames()]
        assert found == row["output"].split(","), f"vector {row['format']} {row['options']}"
        checked += 1
        formats.add(row["format"])
    assert checked > 0
    print(f"{checked} vectors of {len(formats)} formats")


def refuses(text, *arguments, **named):
    try:
        core.histeq.Equalize(*arguments, **named)
    except vs.Error as error:
        assert text in str(error), error
    else:
        raise AssertionError(f"no error of {named}")


def check_rest():
    clip = core.std.BlankClip(format=vs.YUV420P8, width=64, height=48, length=3, color=[40, 120, 130])
    for form in (vs.YUV444PS, vs.GRAYH):
        refuses("not supported", core.std.BlankClip(format=form))
    refuses("look", clip, look="no such look")
    refuses("Equalize", clip, strength=2.0)
    refuses("scene", clip, smooth="scene", method="clahe")
    assert set(OPTIONS["name"]) == {part.split(":")[0] for part in core.histeq.Equalize.signature.split(";") if part} - {"clip"}

    props = lambda done: dict(done.get_frame(0).props)  # noqa: E731
    plain = props(core.histeq.Equalize(clip))
    assert plain["_Range"] == 0 and "_Matrix" not in plain
    full = props(core.histeq.Equalize(clip.std.SetFrameProps(_Range=1, _Matrix=1)))
    assert (full["_Range"], full["_Matrix"]) == (1, 1)
    rgb = core.std.BlankClip(format=vs.RGB24, width=64, height=48, length=3, color=[40, 60, 70])
    gray = core.histeq.Equalize(rgb, gray=1)
    assert gray.format.id == vs.GRAY8 and (props(gray)["_Range"], props(gray)["_Matrix"]) == (1, 6)
    assert core.histeq.Equalize(clip, output_depth="10").format.id == vs.YUV420P10
    # The range decides: the same codes, full, are another picture.
    ramp = clip_of([bytes(range(40, 136)) * 32 + b"\x80" * 1536], clip.format, (64, 48), (25, 1))
    of_range = [content(core.histeq.Equalize(ramp.std.SetFrameProps(_Range=n), look="exact").get_frame(0)) for n in (0, 1)]
    assert of_range[0] != of_range[1]
    # What the program notes, the log has, once, with names as scripts have them.
    told = []
    handle = core.add_log_handler(lambda kind, text: told.append((kind, text)))
    try:
        core.histeq.Equalize(clip, method="clahe").get_frame(0)
        core.histeq.Equalize(clip, plateau="500")
        core.histeq.Equalize(clip, look="night")
    finally:
        core.remove_log_handler(handle)
    told = [(kind, text) for kind, text in told if text.startswith("Equalize: ")]
    assert [kind for kind, _ in told] == [vs.MESSAGE_TYPE_INFORMATION] * 2, told
    assert "method clahe has its own max_gain" in told[0][1] and told[1][1].endswith("method global"), told
    # What goes wrong in a clip is told, and the next request goes on.
    gone = {"wrong": True}

    def fails(n, f):
        if gone["wrong"]:
            raise ValueError("it went wrong")
        return f

    failing = core.histeq.Equalize(core.std.ModifyFrame(clip, clip, fails))
    try:
        failing.get_frame(1)
    except vs.Error as error:
        assert "it went wrong" in str(error), error
    else:
        raise AssertionError("no error of a clip that fails")
    gone["wrong"] = False
    assert content(failing.get_frame(1)) == content(core.histeq.Equalize(clip).get_frame(1))
    print("arguments, properties and errors")


if __name__ == "__main__":
    check_rest()
    check_vectors()
    check_files(sys.argv[1], sys.argv[2:])
