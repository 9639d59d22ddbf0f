"""Arrays of every kind in and out, errors, threads, references, sequences."""

import array
import ast
import contextlib
import gc
import inspect
import itertools
import multiprocessing
import os
import pathlib
import pickle
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import numpy as np

import histeq

try:
    import torch
except ImportError:
    torch = None

RNG = np.random.default_rng(7)


def picture(*shape, dtype=np.uint8):
    """Something with light, structure and colour that every look changes."""
    rows, columns = shape[:2]
    y, x = np.mgrid[0:rows, 0:columns]
    shade = 40 + 50 * x / columns + 20 * np.sin(y / 9) + RNG.integers(0, 5, (rows, columns))
    if len(shape) == 3:
        shade = shade[..., None] + np.arange(shape[2]) * 7
    return (shade * (257 if dtype == np.uint16 else 1)).astype(dtype)


def equalize(array, **options):
    return histeq.equalize(array, backend="cpu", **{"threads": 1, **options})


class OnlyDLPack:
    """An array that has DLPack and nothing else."""

    def __init__(self, array):
        self.array, self.shape, self.dtype = array, array.shape, array.dtype

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class Shapes(unittest.TestCase):
    def test_gray_and_rgb_of_8_and_16_bits_come_back_as_they_are(self):
        for shape in [(48, 64), (48, 64, 1), (48, 64, 2), (48, 64, 3), (48, 64, 4)]:
            for dtype in (np.uint8, np.uint16, ">u2"):
                before = picture(*shape, dtype=np.uint16 if dtype != np.uint8 else dtype).astype(dtype)
                kept = before.copy()
                after = equalize(before, look="exact")
                self.assertEqual((after.shape, after.dtype, type(after)), (before.shape, before.dtype, np.ndarray))
                self.assertTrue(after.flags.writeable and after.flags.owndata)
                self.assertFalse(np.array_equal(after, before), (shape, dtype))
                self.assertTrue(np.array_equal(before, kept))
                if shape[2:] in [(2,), (4,)]:
                    self.assertTrue(np.array_equal(after[..., -1], before[..., -1]), "alpha stays")

    def test_byte_order_changes_no_value(self):
        before = picture(48, 64, 3, dtype=np.uint16)
        self.assertTrue(np.array_equal(equalize(before), equalize(before.astype(">u2"))))

    def test_planar_rgb_is_packed_rgb(self):
        for dtype, channels in itertools.product((np.uint8, np.uint16), (3, 4)):
            before = picture(48, 64, channels, dtype=dtype)
            planar = np.ascontiguousarray(before.transpose(2, 0, 1))
            self.assertTrue(np.array_equal(equalize(planar).transpose(1, 2, 0), equalize(before)))
        one = picture(48, 64)
        self.assertTrue(np.array_equal(equalize(one[None])[0], equalize(one)))

    def test_bgr_is_rgb_in_another_order(self):
        before = picture(48, 64, 3)
        bgr = np.ascontiguousarray(before[..., ::-1])
        self.assertTrue(np.array_equal(equalize(bgr, format="bgr24")[..., ::-1], equalize(before)))

    def test_yuv_in_planes_in_rows_and_in_bytes(self):
        for name, (across, down) in {"420": (2, 2), "422": (2, 1), "444": (1, 1), "440": (1, 2), "411": (4, 1), "410": (4, 4)}.items():
            y, chroma = picture(47, 66), [picture(-(-47 // down), -(-66 // across)) + np.uint8(60) for _ in "uv"]
            planes = equalize((y, *chroma))
            self.assertEqual([plane.shape for plane in planes], [y.shape, chroma[0].shape, chroma[1].shape])
            packed = b"".join(plane.tobytes() for plane in (y, *chroma))
            options = {"format": f"yuv{name}p", "width": 66, "height": 47}
            expected = b"".join(plane.tobytes() for plane in planes)
            self.assertEqual(equalize(packed, **options), expected)
            self.assertEqual(equalize(bytearray(packed), **options), expected)
            self.assertEqual(equalize(memoryview(packed), **options), expected)
            flat = equalize(np.frombuffer(packed, np.uint8), **options)
            self.assertEqual((flat.tobytes(), flat.shape), (expected, (len(packed),)))
            self.assertEqual(equalize(array.array("B", packed), **options).tobytes(), expected)
        y, chroma = picture(48, 64), picture(24, 32, 2)
        planes = equalize((y, chroma), format="nv12")
        rows = np.concatenate([y, chroma.reshape(24, 64)])
        found = equalize(rows, format="nv12")
        self.assertTrue(np.array_equal(found, np.concatenate([planes[0], planes[1].reshape(24, 64)])))
        i420 = np.concatenate([y.ravel(), chroma.ravel()]).reshape(72, 64)
        self.assertEqual(equalize(i420, format="yuv420p").shape, (72, 64))

    def test_words_of_10_bits(self):
        before = picture(48, 64, dtype=np.uint16) // 64
        after = equalize(before, format="gray10le", look="exact")
        self.assertLess(after.max(), 1024)
        self.assertGreater(after.max(), 900)

    def test_options_that_change_the_format(self):
        rgb, planes = picture(48, 64, 3), (picture(48, 64), picture(24, 32), picture(24, 32))
        self.assertEqual(equalize(rgb, gray=True).shape, (48, 64))
        self.assertEqual(equalize(planes, gray=True).shape, (48, 64))
        deeper = equalize(planes, output_depth=10)
        self.assertEqual([(plane.shape, plane.dtype) for plane in deeper], [(plane.shape, np.uint16) for plane in planes])
        self.assertLess(deeper[0].max(), 1024)
        rows = np.zeros((72, 64), np.uint8)
        self.assertEqual(equalize(rows, format="yuv420p", output_depth=10).shape, (72, 64))
        self.assertEqual(equalize(rows, format="yuv420p", gray=True).shape, (48, 64))
        # Pixels stay pixels: channels in the order in which they came, alpha where it was.
        deep = equalize(rgb, output_depth=10)
        self.assertEqual((deep.shape, deep.dtype), (rgb.shape, np.uint16))
        self.assertLess(np.abs(deep / 4 - equalize(rgb, output_depth=8)).max(), 6)
        flat = equalize(rgb.tobytes(), format="rgb24", width=64, height=48, output_depth=10)
        planes = np.frombuffer(flat, np.uint16).reshape(3, 48, 64)
        self.assertTrue(np.array_equal(np.dstack([planes[2], planes[0], planes[1]]), deep), "green, blue, red")
        for name, order in {"bgr24": "bgr", "rgba": "rgba", "bgra": "bgra", "argb": "argb", "abgr": "abgr", "0rgb": "0rgb", "bgr0": "bgr0"}.items():
            places = [(*"rgb", "a").index(letter) for letter in order.replace("0", "a")]
            rgba = np.dstack([rgb, rgb[..., :1] + np.uint8(50)])
            expected = np.dstack([deep, 4 * rgba[..., 3].astype(np.uint16) + (rgba[..., 3] >> 6)])[..., places]
            expected = expected[..., [place for place, letter in enumerate(order) if letter != "0"]]
            before = np.ascontiguousarray(rgba[..., places])
            out = np.zeros_like(expected)
            found = equalize(before, format=name, output_depth=10)
            self.assertTrue(np.array_equal(found, expected), name)
            self.assertIs(equalize(before, format=name, output_depth=10, out=out), out)
            self.assertTrue(np.array_equal(out, expected), name)
        packed = equalize(rows.tobytes(), format="yuv420p", width=64, height=48, output_depth=10)
        self.assertEqual((type(packed), len(packed)), (bytes, 2 * 72 * 64))

    def test_every_look_and_every_option(self):
        before = picture(48, 64)
        self.assertGreater(len({equalize(before, look=look).tobytes() for look in histeq.LOOKS}), 2)
        for option in histeq.options():
            for value in option["choices"] or []:
                equalize(before, **{option["name"]: value})
        names = set(inspect.signature(histeq.equalize).parameters)
        self.assertLess({option["name"] for option in histeq.options()}, names)
        self.assertEqual(set(inspect.signature(histeq.Equalizer).parameters), names - {"array", "out"})
        for text in (histeq.equalize.__doc__, histeq.Equalizer.__doc__):
            for option in histeq.options():
                self.assertIn(f"\n{option['name']} = ", text)

    def test_the_types_are_installed_and_name_what_is_there(self):
        folder = pathlib.Path(histeq.__file__).parent
        self.assertTrue((folder / "py.typed").exists())
        stub = ast.parse((folder / "__init__.pyi").read_text())
        classes = {node.name: node for node in stub.body if isinstance(node, ast.ClassDef)}
        methods = {node.name for node in classes["Equalizer"].body if isinstance(node, ast.FunctionDef)}
        self.assertEqual({name for name in methods if name[0] != "_"}, {name for name in dir(histeq.Equalizer) if name[0] != "_"})
        fields = [node for name in ("_SameType", "_Options") for node in classes[name].body]
        options = {node.target.id for node in fields if isinstance(node, ast.AnnAssign)}
        self.assertEqual(methods & {"__next__"}, set())
        frames = {node.name for node in classes["Frames"].body if isinstance(node, ast.FunctionDef)}
        self.assertEqual(frames, {"__iter__", "__next__"})
        looks = next(node for node in stub.body if isinstance(node, ast.AnnAssign) and node.target.id == "LOOKS")
        self.assertEqual(ast.unparse(looks.annotation), f"tuple[Literal[{', '.join(map(repr, histeq.LOOKS))}], ...]")
        self.assertEqual(options, set(inspect.signature(histeq.equalize).parameters) - {"array", "out"})
        self.assertTrue(all(getattr(histeq.Equalizer, name).__doc__ for name in methods - {"__init__"}))

    def test_a_mask(self):
        before, mask = picture(48, 64), np.zeros((48, 64), np.uint8)
        mask[:, 32:] = 255
        masked = equalize(before, look="exact", mask=mask)
        self.assertFalse(np.array_equal(masked, equalize(before, look="exact")))
        self.assertTrue(np.array_equal(masked, equalize(before, look="exact", mask=np.asfortranarray(mask))))
        for truth in (mask > 0, OnlyDLPack(mask > 0)):
            self.assertTrue(np.array_equal(masked, equalize(before, look="exact", mask=truth)))


class Strides(unittest.TestCase):
    def views(self):
        for dtype in (np.uint8, np.uint16):
            wide = picture(96, 128, 4, dtype=dtype)
            yield wide[:, :, 0], "one channel of four"
            yield wide[::2, ::2, 1], "every second pixel"
            yield wide[::-1], "upside down"
            yield wide[:, ::-1], "mirrored"
            yield wide[:, :, 2::-1], "BGR seen as RGB"
            yield wide[5:60, 7:100], "a part"
            yield wide[..., :3], "RGB of RGBA"
            yield np.asfortranarray(wide[..., 0]), "columns first"
            yield wide[..., 0].T, "turned"
            yield np.broadcast_to(wide[:1, :, 0], (40, 128)), "a row again and again"
            yield wide.transpose(2, 0, 1)[:3], "planes of packed pixels"
            yield np.ascontiguousarray(wide.transpose(2, 0, 1)).transpose(1, 2, 0), "pixels of planes"
            yield wide[:1, :, 0], "a row"
            yield wide[:, :1, 0], "a column"

    def test_views_are_as_good_as_copies(self):
        for view, name in self.views():
            expected = equalize(np.ascontiguousarray(view), look="haze")
            for source in (view, OnlyDLPack(view)) if view.flags.writeable else (view,):
                self.assertTrue(np.array_equal(equalize(source, look="haze"), expected), name)
            # And as targets.
            if view.flags.writeable:
                target = np.zeros_like(view, subok=False)
                holder = np.zeros([2 * length + 3 for length in view.shape], view.dtype)
                sparse = holder[tuple(slice(1, 2 * length + 1, 2) for length in view.shape)]
                for out in (target, target[::-1], sparse):
                    self.assertIs(equalize(view, look="haze", out=out), out)
                    self.assertTrue(np.array_equal(out, expected), name)
                sparse[...] = 0
                self.assertFalse(holder.any(), f"{name}: nothing beside it was written")

    def test_planes_of_a_tuple_have_strides(self):
        wide = picture(96, 128)
        planes = (wide[::2, ::2], wide[::4, 64:96], np.asfortranarray(wide[::4, :32]))
        expected = equalize(tuple(np.ascontiguousarray(plane) for plane in planes))
        out = tuple(np.zeros((plane.shape[0], 200), np.uint8)[:, : plane.shape[1]] for plane in planes)
        self.assertIs(equalize(planes, out=out), out)
        for found, plane in zip(out, expected):
            self.assertTrue(np.array_equal(found, plane))


class Errors(unittest.TestCase):
    def fails(self, kind, words, call, *arguments, **options):
        with self.assertRaises(kind) as caught:
            call(*arguments, **options)
        for word in words:
            self.assertIn(word, str(caught.exception))

    def test_messages_name_shape_and_type(self):
        gray = picture(48, 64)
        for bad, kind, words in [
            (gray.astype(np.float32), TypeError, ["float32", "(48, 64)", "uint8 or uint16"]),
            (gray.astype(np.int8), TypeError, ["int8", "(48, 64)"]),
            (gray > 3, TypeError, ["bool", "(48, 64)"]),
            (gray.astype(np.float16), TypeError, ["times 255"]),
            (None, TypeError, ["NoneType"]),
            ([[1, 2], [3, 4]], TypeError, ["list of length 2"]),
            ("text", TypeError, ["str"]),
            (gray[:0], ValueError, ["uint8", "(0, 64)", "no pixel"]),
            (gray[None, None], ValueError, ["uint8", "(1, 1, 48, 64)", "(height, width)"]),
            (np.array(3, np.uint8), ValueError, ["shape ()", "no pixel"]),
            (np.zeros((5, 6, 7), np.uint8), ValueError, ["(5, 6, 7)"]),
            (b"123", ValueError, ["bytes of length 3", "width and height"]),
            ((), ValueError, ["at least one plane"]),
            ((gray, gray[:5]), ValueError, ["name the format"]),
            ((gray, gray.astype(np.uint16)), ValueError, ["uint16", "other samples"]),
        ]:
            self.fails(kind, words, equalize, bad)
            self.fails(kind, words, histeq.Equalizer().push, bad)

    def test_shapes_that_are_not_those_of_the_format(self):
        gray = picture(48, 64)
        self.fails(ValueError, ["uint8", "(48, 31)", "no shape of rgb24"], equalize, gray[:, :31], format="rgb24")
        self.fails(ValueError, ["3 planes, not 2"], equalize, (gray, gray), format="yuv444p")
        self.fails(ValueError, ["plane 1", "24 rows of 32 samples", "[48, 64]"], equalize, (gray,) * 3, format="yuv420p")
        self.fails(ValueError, ["gray10le has samples of uint16"], equalize, gray, format="gray10le")
        self.fails(ValueError, ["big-endian"], equalize, gray.astype(np.uint16), format="gray16be")
        self.fails(ValueError, ["64x48", "width=3"], equalize, gray, width=3, height=5)
        self.fails(ValueError, ["10x10", "150 bytes, not 3"], equalize, b"123", format="yuv420p", width=10, height=10)

    def test_options(self):
        gray = picture(48, 64)
        for call in (equalize, lambda _, **options: histeq.Equalizer(**options)):
            self.fails(TypeError, ["no option lok (look?)", "histeq.options()"], call, gray, lok="night")
            self.fails(TypeError, ["no option maxgain (max_gain?)"], call, gray, maxgain=2)
            self.fails(ValueError, ["look is one of natural, night", "not nigth (night?)"], call, gray, look="nigth")
            self.fails(ValueError, ["method is one of global, clahe", "not hist"], call, gray, method="hist")
            self.fails(ValueError, ["not bgr (", "bgr24"], call, gray, format="bgr")
            self.fails(ValueError, ["not yuv42p ("], call, gray, format="yuv42p")
        self.fails(ValueError, ["strength is a number from 0 to 1, not 2"], equalize, gray, strength=2)
        self.fails(ValueError, ["max_gain is", "0.5"], equalize, gray, max_gain=0.5)
        self.fails(TypeError, ["tiles is two numbers from 1 to 256 like 8x8, not dict"], equalize, gray, tiles={})
        self.fails(ValueError, ["tiles is two numbers", "8x8", "not 8x8x8"], equalize, gray, tiles=(8, 8, 8))
        self.fails(ValueError, ["roi is X,Y,W,H in pixels", "not 1,2"], equalize, gray, roi=(1, 2))
        self.fails(TypeError, ["strength", "tuple"], equalize, gray, strength=(1, 2))
        self.fails(ValueError, ["format is one of histeq.FORMATS, not rgb"], equalize, gray, format="rgb")
        self.fails(ValueError, ["rate"], equalize, gray, rate=0)
        self.fails(ValueError, ["range is limited or full, not tv"], equalize, gray, range="tv")
        self.fails(ValueError, ["for videos", "Equalizer"], equalize, gray, smooth="scene")
        self.fails(ValueError, ["make a survey first"], histeq.Equalizer(smooth="scene").push, gray)
        self.fails(ValueError, ["48"], equalize, gray, mask=np.ones((3, 3), np.uint8))

    def test_each_error_is_in_a_class_by_whose_fault_it_is(self):
        classes = ["ParameterError", "StateError", "LimitError", "UnsupportedError", "DeviceError", "InternalError"]
        for name in classes:
            self.assertTrue(issubclass(getattr(histeq, name), histeq.Error), name)
            self.assertEqual(getattr(histeq, name).__module__, "histeq")
        self.assertTrue(issubclass(histeq.ParameterError, ValueError))
        self.assertTrue(issubclass(histeq.StateError, RuntimeError))
        self.assertTrue(issubclass(histeq.DeviceError, RuntimeError))
        with self.assertRaisesRegex(histeq.ParameterError, "plateau does not go with method clahe"):
            equalize(picture(8, 8), method="clahe", plateau=5)
        planes = [picture(8, 8), picture(8, 2), picture(8, 2)]
        with self.assertRaisesRegex(histeq.UnsupportedError, "output_depth: yuv411p has no pixel format of more"):
            equalize(tuple(planes), output_depth=10)
        try:
            histeq.equalize(picture(8, 8), backend="cuda")
        except histeq.DeviceError as error:
            self.assertIn("use backend cpu", str(error))

    def test_tuples_are_what_their_texts_are(self):
        gray = picture(48, 64)
        pairs = [({"tiles": (3, 5)}, {"tiles": "3x5"}), ({"tiles": [3, np.int64(5)]}, {"tiles": "3x5"})]
        for given, text in pairs:
            found = equalize(gray, method="clahe", **given)
            self.assertTrue(np.array_equal(found, equalize(gray, method="clahe", **text)))
            self.assertFalse(np.array_equal(found, equalize(gray, method="clahe")))
        found = equalize(gray, look="exact", roi=(0, 1, 20, 10))
        self.assertTrue(np.array_equal(found, equalize(gray, look="exact", roi="0,1,20,10")))
        self.assertFalse(np.array_equal(found, equalize(gray, look="exact")))
        equalizer = histeq.Equalizer(method="clahe", tiles=(3, 5), backend="cpu")
        equalizer.set(tiles=(2, 2))

    def test_errors_of_arguments_begin_with_their_names(self):
        gray = picture(48, 64)
        for bad in (gray.astype(np.float32), gray.astype(np.uint16), "text", gray.astype(np.int8)):
            for name in ("mask", "out"):
                with self.assertRaises((TypeError, ValueError)) as caught:
                    equalize(gray, **{name: bad})
                self.assertRegex(str(caught.exception), f"^{name}: ")
                self.assertNotIn("times 255", str(caught.exception))

    def test_a_bad_target_loses_no_frame(self):
        frames = [picture(48, 64) + np.uint8(n) for n in range(12)]
        expected = list(histeq.Equalizer(backend="cpu", rate=4).iterate(frames))
        fixed = np.zeros((48, 64), np.uint8)
        fixed.flags.writeable = False
        equalizer, found = histeq.Equalizer(backend="cpu", rate=4), []
        bad = [(np.zeros((3, 3), np.uint8), ValueError), (np.zeros((48, 64), np.uint16), ValueError), (fixed, BufferError), (3, TypeError)]
        for number, frame in enumerate(frames):
            target, kind = bad[number % len(bad)]
            self.fails(kind, ["out"], equalizer.push, frame, out=target)
            done = equalizer.push(frame)
            found += [] if done is None else [done]
            self.fails(kind, ["out"], equalizer.collect, out=target)
        found += equalizer.finish()
        self.assertTrue(all(np.array_equal(a, b) for a, b in zip(expected, found, strict=True)))

    def test_pictures_for_which_there_is_no_memory(self):
        self.fails(MemoryError, ["no memory"], equalize, np.broadcast_to(np.uint8(3), (1 << 20, 1 << 20)))
        huge, limits = np.broadcast_to(np.uint8(3), (1 << 20, 1 << 20)), histeq.Limits(pixels=1 << 40)
        self.fails(MemoryError, ["no memory"], histeq.Equalizer(backend="cpu", limits=limits).push, huge)
        self.fails(histeq.LimitError, ["268435456 pixels"], histeq.Equalizer(backend="cpu").push, huge)
        mask = np.broadcast_to(np.uint8(3), (1 << 22, 1 << 22))
        self.fails(MemoryError, ["no memory"], equalize, picture(48, 64), mask=mask)
        code = """if True:
            import resource, sys, numpy, histeq
            small, large = numpy.zeros((48, 64), "u1"), numpy.zeros((8000, 8000, 3), "u1")
            expected = histeq.equalize(large, look="exact", backend="cpu").tobytes() == large.tobytes()
            used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
            for more in (100, 200, 300, 500):
                resource.setrlimit(resource.RLIMIT_AS, (used + (more << 20), resource.RLIM_INFINITY))
                for call in (histeq.equalize, histeq.Equalizer(backend="cpu", threads=1).push):
                    try:
                        call(large, **({"backend": "cpu", "look": "night"} if call is histeq.equalize else {}))
                    except MemoryError as error:
                        print("refused", error)
            print(histeq.equalize(small, backend="cpu").shape)
        """
        ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
        self.assertEqual((ended.returncode, ended.stdout.splitlines()[-1:]), (0, ["(48, 64)"]), ended.stderr)
        self.assertIn("refused no memory for", ended.stdout)

    def test_targets(self):
        gray, fixed = picture(48, 64), np.zeros((48, 64), np.uint8)
        fixed.flags.writeable = False
        self.fails(BufferError, ["out", "(48, 64)", "read-only"], equalize, gray, out=fixed)
        self.fails(BufferError, ["read-only"], equalize, gray, out=OnlyDLPack(fixed))
        self.fails(ValueError, ["out", "(3, 3)", "uint8 of shape (48, 64) is needed"], equalize, gray, out=fixed[:3, :3])
        self.fails(ValueError, ["uint16"], equalize, gray, out=fixed.astype(np.uint16))
        self.fails(ValueError, ["out"], equalize, (gray, gray, gray), out=gray)

    def test_frames_that_are_not_like_the_first(self):
        equalizer = histeq.Equalizer(backend="cpu")
        equalizer.push(picture(48, 64))
        words = ["(48, 65)", "uint8 of shape (48, 64) is needed"]
        self.fails(ValueError, words, equalizer.push, picture(48, 65))
        self.fails(ValueError, ["uint16"], equalizer.push, picture(48, 64, dtype=np.uint16))
        equalizer.push(picture(48, 64))
        self.assertEqual(len(list(equalizer.finish())), 2)
        self.fails(RuntimeError, ["has ended"], equalizer.push, picture(48, 64))

    def test_a_gpu_is_there_or_the_message_says_the_way_out(self):
        before = picture(48, 64)
        try:
            after = histeq.equalize(before, backend="cuda")
        except RuntimeError as error:
            self.assertIn("use backend cpu", str(error))
        else:
            self.assertTrue(np.array_equal(after, equalize(before)))


class Process(unittest.TestCase):
    def test_the_gil_is_released(self):
        large = np.tile(picture(540, 960, 3), (2, 2, 1))
        equalize(large, look="haze")
        ticks, is_done = [], threading.Event()

        def count():
            while not is_done.wait(0.001):
                ticks.append(time.perf_counter())

        counter = threading.Thread(target=count)
        counter.start()
        begin = time.perf_counter()
        # One call after the other for as long as shows something.
        calls = []
        while time.perf_counter() - begin < 0.5:
            started = time.perf_counter()
            equalize(large, look="haze")
            calls.append((started, time.perf_counter()))
        is_done.set()
        counter.join()
        within = max(sum(first < tick < last for tick in ticks) for first, last in calls)
        longest = max(last - first for first, last in calls)
        print(f"{within} ticks of another thread within a call of {1000 * longest:.0f} ms")
        self.assertGreater(within, 5)

    def test_threads_side_by_side_give_what_one_gives(self):
        pictures = [picture(120 + n % 3, 160, 3) for n in range(24)]
        expected = [equalize(one) for one in pictures]
        found = [None] * len(pictures)

        def work(first):
            for n in range(first, len(pictures), 4):
                found[n] = equalize(pictures[n])

        threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        self.assertTrue(all(np.array_equal(a, b) for a, b in zip(expected, found)))

    def test_one_equalizer_of_several_threads(self):
        equalizer, frame, found = histeq.Equalizer(backend="cpu", look="exact"), picture(120, 160), []
        lock = threading.Lock()

        def work():
            for _ in range(10):
                done = equalizer.push(frame)
                if done is not None:
                    with lock:
                        found.append(done)

        threads = [threading.Thread(target=work) for _ in range(4)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        found += equalizer.finish()
        self.assertEqual(len(found), 40)
        self.assertTrue(all(np.array_equal(one, equalize(frame, look="exact")) for one in found))

    def two_at_once(self, backends, order):
        frames = [picture(48, 64) for _ in range(30)]
        expected = list(histeq.Equalizer(backend="cpu").iterate(frames))
        limits = [histeq.Limits(threads=1), histeq.Limits(memory=1 << 28, threads=3)]
        pairs = zip(backends, limits)
        equalizers = [histeq.Equalizer(backend=backend, limits=limit) for backend, limit in pairs]
        found = [None, None]

        def run(index):
            found[index] = list(equalizers[index].iterate(frames))

        threads = [threading.Thread(target=run, args=(index,)) for index in range(2)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        for index in range(2):
            self.assertTrue(all(map(np.array_equal, found[index], expected)))
            self.assertGreater(limits[index].in_use, 0)
            if backends[index] == "cpu":
                self.assertIn(["1 thread)", "3 threads)"][index], equalizers[index].backend)
        while equalizers:
            equalizers.pop(order)
            gc.collect()
            self.assertEqual(limits.pop(order).in_use, 0)

    def test_two_equalizers_at_once_keep_to_their_own_limits(self):
        for order in (0, -1):
            self.two_at_once(["cpu", "cpu"], order)
        try:
            histeq.equalize(np.zeros((16, 16), np.uint8), backend="cuda")
        except RuntimeError as error:
            print(f"SKIPPED cuda: {error}", file=sys.stderr)
            self.assertNotIn("cuda", os.environ.get("HISTEQ_REQUIRE", ""))
        else:
            self.two_at_once(["cpu", "cuda"], 0)
            self.two_at_once(["cuda", "cpu"], -1)

    def test_an_equalizer_without_room_fails_alone(self):
        narrow, wide = histeq.Equalizer(limits=histeq.Limits(memory=3000)), histeq.Equalizer()
        with self.assertRaisesRegex(histeq.LimitError, r"do not fit .* \(allow about 10 MB"):
            narrow.push(picture(48, 64))
        wide.push(picture(48, 64))
        with self.assertRaisesRegex(histeq.LimitError, "the limit is 3071 pixels"):
            equalize(picture(48, 64), limits=histeq.Limits(pixels=48 * 64 - 1))
        with self.assertRaisesRegex(TypeError, "histeq.Limits"):
            histeq.Equalizer(limits=7)
        with self.assertRaisesRegex(ValueError, "above 0"):
            histeq.Limits(memory=0)
        self.assertEqual((histeq.Limits().memory, histeq.Limits(threads=2).threads), (None, 2))

    def test_ctrl_c_ends_what_is_under_way(self):
        code = """if True:
            import itertools, signal, sys, numpy, histeq
            # Who starts the tests may ignore it.
            signal.signal(signal.SIGINT, signal.default_int_handler)
            frame, out = numpy.full((480, 640, 3), 60, "u1"), numpy.zeros((480, 640, 3), "u1")
            equalizer = histeq.Equalizer(backend="cpu", threads=1)
            calls = {
                "equalize": lambda: histeq.equalize(frame, backend="cpu"),
                "out": lambda: histeq.equalize(frame, out=out, backend="cpu"),
                "push": lambda: equalizer.push(frame),
                "iterate": lambda: [None for _ in equalizer.iterate(itertools.repeat(frame), out=out)],
            }
            calls[sys.argv[1]]()
            print("begun", flush=True)
            try:
                while True:
                    calls[sys.argv[1]]()
            except KeyboardInterrupt:
                print("interrupted", flush=True)
        """
        # Until the interrupt comes, iterate is not over: it begins at once.
        code_of = {"iterate": code.replace("calls[sys.argv[1]]()\n            print", "print", 1)}
        for name in ("equalize", "out", "push", "iterate"):
            for pause in (0.3, 0.313, 0.327):
                program = [sys.executable, "-c", code_of.get(name, code), name]
                with subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
                    try:
                        self.assertEqual(process.stdout.readline(), "begun\n")
                        time.sleep(pause)
                        process.send_signal(signal.SIGINT)
                        found, errors = process.communicate(timeout=10)
                    finally:
                        process.kill()
                self.assertEqual((found, errors), ("interrupted\n", ""), name)

    def test_processes_that_are_forked(self):
        pictures = [picture(48, 64) for _ in range(8)]
        expected = [histeq.equalize(one) for one in pictures]
        with multiprocessing.get_context("fork").Pool(2) as pool:
            found = pool.map_async(histeq.equalize, pictures).get(60)
        self.assertTrue(all(np.array_equal(a, b) for a, b in zip(expected, found)))
        self.assertIs(pickle.loads(pickle.dumps(histeq.equalize)), histeq.equalize)

    def test_nothing_is_kept_of_a_thousand_pictures(self):
        before, out = picture(240, 320, 3), np.zeros((240, 320, 3), np.uint8)
        planes = (picture(48, 64), picture(24, 32), picture(24, 32))
        mask = np.full((240, 320), 9, np.uint8)
        objects = [before, out, mask, *planes]

        def work(times):
            for _ in range(times):
                equalize(before, out=out, mask=mask)
                equalize(OnlyDLPack(before))
                equalize(planes)
                try:
                    equalize(before, out=out[1:])
                except ValueError:
                    pass

        work(50)
        gc.collect()
        counts, kilobytes = [sys.getrefcount(one) for one in objects], resident()
        work(250)
        for look in ("exact", "natural"):
            equalizer = histeq.Equalizer(look=look, backend="cpu")
            shown = sum(1 for _ in equalizer.iterate((before for _ in range(400)), out=out))
            self.assertEqual(shown, 400)
        del equalizer
        gc.collect()
        self.assertEqual([sys.getrefcount(one) for one in objects], counts)
        # The window of the natural look takes its memory, and gives it back or keeps it: a leak would be ten times as much.
        print(f"{resident() - kilobytes} KiB more after 1,550 pictures of 225 KiB")
        self.assertLess(resident() - kilobytes, 100 * 1024)


def resident():
    """Kilobytes of this process that are in memory."""
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() // 1024


class Sequences(unittest.TestCase):
    def frames(self, count=40):
        return [picture(48, 64) + np.uint8(60 if n >= count // 2 else 0) for n in range(count)]

    def test_push_and_finish_give_what_iterate_gives(self):
        frames = self.frames()
        expected = list(histeq.Equalizer(backend="cpu").iterate(frames))
        self.assertEqual(len(expected), len(frames))
        equalizer, found = histeq.Equalizer(backend="cpu"), []
        for frame in frames:
            done = equalizer.push(frame)
            found += [] if done is None else [done]
        self.assertLess(len(found), len(frames), "the newest wait")
        found += list(equalizer.finish())
        self.assertTrue(all(np.array_equal(a, b) for a, b in zip(expected, found, strict=True)))

    def test_any_iterator_and_a_target(self):
        frames = self.frames()
        expected = list(histeq.Equalizer(backend="cpu").iterate(frames))
        out = np.zeros_like(frames[0])
        for number, done in enumerate(histeq.Equalizer(backend="cpu").iterate((frame for frame in frames), out=out)):
            self.assertIs(done, out)
            self.assertTrue(np.array_equal(done, expected[number]))
        stack = np.stack(frames)
        self.assertTrue(np.array_equal(np.stack(list(histeq.Equalizer(backend="cpu").iterate(stack))), np.stack(expected)))

    def test_an_iteration_that_was_left_is_not_in_the_next_one(self):
        frames = self.frames()
        expected = list(histeq.Equalizer(backend="cpu").iterate(frames))
        equalizer = histeq.Equalizer(backend="cpu")
        left = equalizer.iterate(frames)
        self.assertTrue(np.array_equal(next(left), expected[0]))
        for _ in range(2):
            again = list(equalizer.iterate(frames))
            self.assertTrue(all(np.array_equal(a, b) for a, b in zip(expected, again, strict=True)))
        with self.assertRaisesRegex(RuntimeError, "another iteration"):
            next(left)

    def test_the_end_of_a_with_block_closes_it(self):
        def threads():
            return sum(name.read_text() == "cpu\n" for name in pathlib.Path("/proc/self/task").glob("*/comm"))

        frames = self.frames()
        expected = list(histeq.Equalizer(backend="cpu").iterate(frames))
        before = threads()
        with histeq.Equalizer(backend="cpu", threads=4) as equalizer:
            found = list(equalizer.iterate(frames))
            left = equalizer.iterate(frames)
            next(left)
            self.assertEqual(threads(), before + 4)
        self.assertEqual(threads(), before, "its threads are gone")
        self.assertTrue(all(np.array_equal(a, b) for a, b in zip(expected, found, strict=True)))
        enter = equalizer.__enter__
        for call in (lambda: equalizer.push(frames[0]), equalizer.finish, lambda: next(left), equalizer.restart, enter):
            with self.assertRaisesRegex(RuntimeError, "closed"):
                call()
        equalizer.close()
        with self.assertRaisesRegex(ZeroDivisionError, "by zero"), histeq.Equalizer(backend="cpu") as equalizer:
            equalizer.push(frames[0])
            1 / 0
        with self.assertRaisesRegex(RuntimeError, "closed"):
            equalizer.push(frames[0])

    def test_an_error_of_the_iterator_comes_through(self):
        def broken():
            yield from self.frames(3)
            raise KeyError("camera")

        with self.assertRaises(KeyError):
            list(histeq.Equalizer(backend="cpu").iterate(broken()))

    def test_a_camera_has_each_frame_at_once(self):
        equalizer = histeq.Equalizer(backend="cpu", live=True, method="global")
        for frame in self.frames():
            done = equalizer.push(frame)
            if done is None:
                done = equalizer.collect()
            self.assertEqual(done.shape, frame.shape)
        self.assertIsNone(equalizer.collect())

    def test_any_order(self):
        frames = self.frames()
        expected = list(histeq.Equalizer(backend="cpu", method="global", rate=10).iterate(frames))
        equalizer = histeq.Equalizer(backend="cpu", method="global", rate=10)
        with self.assertRaises(RuntimeError):
            equalizer.reach
        self.assertIsNone(equalizer.backend)
        equalizer.push(frames[0])
        before, behind = equalizer.reach
        self.assertRegex(equalizer.backend, "cpu")
        for number in (30, 3):
            equalizer.restart(number)
            for frame in frames[max(0, number - before) : number]:
                equalizer.warm_up(frame)
            done = None
            for frame in frames[number : number + behind + 1]:
                done = equalizer.push(frame) if done is None else done
            done = next(equalizer.finish()) if done is None else done
            self.assertTrue(np.array_equal(done, expected[number]))

    def test_one_curve_for_each_scene(self):
        frames = self.frames()
        equalizer = histeq.Equalizer(backend="cpu", smooth="scene", method="global")
        equalizer.survey(frames)
        found = list(equalizer.iterate(frames))
        self.assertEqual((len(found), equalizer.reach), (len(frames), (0, 0)))
        more = histeq.Equalizer(backend="cpu", smooth="scene", method="global")
        more.survey(frames[:3])
        with self.assertRaisesRegex(RuntimeError, "was not in the survey"):
            list(more.iterate(frames))
        with self.assertRaises(RuntimeError):
            equalizer.survey(frames)

    def test_other_options_on_the_way(self):
        equalizer = histeq.Equalizer(backend="cpu", look="exact", live=True)
        frame = picture(48, 64)
        self.assertTrue(np.array_equal(self.at_once(equalizer, frame), equalize(frame, look="exact")))
        equalizer.set(strength=0)
        self.assertTrue(np.array_equal(self.at_once(equalizer, frame), frame))
        for bad in ({"gray": True}, {"strength": 3}, {"rate": 5}):
            with self.assertRaises((RuntimeError, ValueError, TypeError)):
                equalizer.set(**bad)
        self.assertTrue(np.array_equal(self.at_once(equalizer, frame), frame))

    def at_once(self, equalizer, frame):
        done = equalizer.push(frame)
        return equalizer.collect() if done is None else done


class Documents(unittest.TestCase):
    DOCUMENT = pathlib.Path(__file__).parents[3] / "docs" / "library.md"

    def test_the_loop_over_a_video(self):
        try:
            import cv2
        except ImportError:
            self.skipTest("SKIPPED the loop over a video: OpenCV is not installed")
        section = self.DOCUMENT.read_text().split("\n### A video\n")[1]
        code = section.split("```python\n")[1].split("```")[0]
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            writer = cv2.VideoWriter("night.mp4", cv2.VideoWriter_fourcc(*"mp4v"), 25, (96, 64))
            for n in range(12):
                writer.write(picture(64, 96, 3) // 2 + np.uint8(n))
            writer.release()
            exec(code, {})
            before, after = (
                np.stack([frame for _, frame in iter(cv2.VideoCapture(name).read, (False, None))]).astype(int)
                for name in ("night.mp4", "clear.mp4")
            )
            self.assertEqual((len(before), len(after)), (12, 12))
            equalizer = histeq.Equalizer(look="night", format="bgr24", rate=25)
            expected = np.stack(list(equalizer.iterate(before.astype(np.uint8)))).astype(int)
            # The codec takes a little.
            self.assertLess(np.abs(after - expected).mean(), 8)
            self.assertGreater(np.abs(before - expected).mean(), 20)

    def test_deep_gray_gets_the_look_that_is_named(self):
        deep = picture(48, 64, dtype=np.uint16)
        for options in ({}, {"look": "natural"}, {"look": "auto"}):
            self.assertTrue(np.array_equal(equalize(deep, **options), equalize(deep, look="thermal")))
        self.assertFalse(np.array_equal(equalize(deep, method="natural"), equalize(deep, look="thermal")))


class Tensors(unittest.TestCase):
    def test_arrays_that_have_dlpack_only(self):
        for dtype in (np.uint8, np.uint16):
            before = picture(48, 64, 3, dtype=dtype)
            out = np.zeros_like(before)
            found = equalize(OnlyDLPack(before), out=OnlyDLPack(out))
            self.assertTrue(np.array_equal(out, equalize(before)))
            self.assertIsInstance(found, OnlyDLPack)

    def test_results_go_on_through_dlpack(self):
        for dtype in (np.uint8, np.uint16):
            before = picture(48, 64, 3, dtype=dtype)
            after = equalize(np.from_dlpack(before))
            self.assertEqual(after.__dlpack_device__(), before.__dlpack_device__())
            passed_on = np.from_dlpack(after)
            self.assertTrue(np.shares_memory(passed_on, after) and np.array_equal(passed_on, equalize(before)))
            self.assertTrue(np.array_equal(equalize(OnlyDLPack(after)), equalize(passed_on)))

    def test_torch(self):
        if torch is None:
            self.skipTest("SKIPPED torch: it is not installed")
        for dtype in (np.uint8, np.uint16):
            before = picture(48, 64, 3, dtype=dtype)
            tensor, expected = torch.from_numpy(before), torch.from_numpy(equalize(before))
            after = equalize(tensor)
            self.assertTrue(torch.equal(after.view(torch.uint8), expected.view(torch.uint8)) and after.dtype == tensor.dtype)
            planar = equalize(tensor.permute(2, 0, 1).contiguous())
            self.assertTrue(np.array_equal(planar.numpy().transpose(1, 2, 0), expected.numpy()))
            self.assertTrue(np.array_equal(equalize(tensor.permute(2, 0, 1)).numpy(), planar.numpy()))
            out = torch.zeros_like(tensor)
            self.assertIs(equalize(tensor, out=out), out)
            self.assertTrue(np.array_equal(out.numpy(), expected.numpy()))
        with self.assertRaisesRegex(TypeError, r"torch.Tensor of float32, shape \(4, 5\)"):
            equalize(torch.zeros(4, 5))


if __name__ == "__main__":
    unittest.main()
