"""Arrays on a GPU, of PyTorch and CuPy: the bytes of the CPU, in and out without a trip over the bus."""

import ctypes
import gc
import json
import pathlib
import sys
import tempfile
import time
import unittest

import numpy as np

import histeq

try:
    import torch
except ImportError:
    torch = None
try:
    import cupy
except ImportError:
    cupy = None


def why_not():
    """Why there is nothing to test."""
    try:
        histeq.equalize(np.zeros((16, 16), np.uint8), backend="cuda")
    except RuntimeError as error:
        return f"SKIPPED cuda: {error}"
    try:
        has_torch = torch is not None and torch.cuda.is_available()
        has_cupy = cupy is not None and cupy.cuda.runtime.getDeviceCount() > 0
    except Exception as error:
        return f"SKIPPED cuda: {error}"
    return None if has_torch or has_cupy else "SKIPPED cuda: neither PyTorch nor CuPy has a GPU here"


WHY_NOT = why_not()
if WHY_NOT:
    print(WHY_NOT, file=sys.stderr)

LIBRARIES = []
if not WHY_NOT and torch is not None and torch.cuda.is_available():
    LIBRARIES.append("torch")
if not WHY_NOT and cupy is not None:
    LIBRARIES.append("cupy")


def up(library, array):
    return torch.from_numpy(array).cuda() if library == "torch" else cupy.asarray(array)


def down(array):
    return array.cpu().numpy() if isinstance(array, (torch.Tensor if torch else ())) else cupy.asnumpy(array)


def empty(array):
    return torch.zeros_like(array) if torch is not None and isinstance(array, torch.Tensor) else cupy.zeros_like(array)


def address(array):
    return array.data_ptr() if torch is not None and isinstance(array, torch.Tensor) else array.data.ptr


def picture(*shape, dtype=np.uint8, seed=7):
    rows, columns = shape[:2]
    y, x = np.mgrid[0:rows, 0:columns]
    shade = 40 + 50 * x / columns + 20 * np.sin(y / 9) + np.random.default_rng(seed).integers(0, 5, (rows, columns))
    if len(shape) == 3:
        shade = shade[..., None] + np.arange(shape[2]) * 7
    return (shade * (257 if dtype == np.uint16 else 1)).astype(dtype)


def on_cpu(array, **options):
    return histeq.equalize(array, backend="cpu", **options)


@unittest.skipIf(WHY_NOT, WHY_NOT)
class Cuda(unittest.TestCase):
    def test_every_look_and_shape_has_the_bytes_of_the_cpu(self):
        for library in LIBRARIES:
            for dtype in (np.uint8, np.uint16):
                for shape in [(120, 160), (121, 163, 3), (120, 160, 4), (120, 160, 1)]:
                    for look in histeq.LOOKS:
                        before = picture(*shape, dtype=dtype)
                        source = up(library, before)
                        after = histeq.equalize(source, look=look)
                        self.assertIs(type(after), type(source))
                        self.assertEqual((after.dtype, after.device), (source.dtype, source.device))
                        self.assertTrue(np.array_equal(down(after), on_cpu(before, look=look)), (library, dtype, shape, look))
                        self.assertTrue(np.array_equal(down(source), before), "what went in is as it was")

    def test_planes_of_yuv_and_of_rgb(self):
        for library in LIBRARIES:
            planes = (picture(120, 160), picture(60, 80, seed=1), picture(60, 80, seed=2))
            for look in histeq.LOOKS:
                found = histeq.equalize(tuple(up(library, plane) for plane in planes), look=look)
                expected = on_cpu(planes, look=look)
                self.assertTrue(all(np.array_equal(down(a), b) for a, b in zip(found, expected)), (library, look))
            planar = np.ascontiguousarray(picture(120, 160, 3).transpose(2, 0, 1))
            self.assertTrue(np.array_equal(down(histeq.equalize(up(library, planar))), on_cpu(planar)))
            rows = picture(180, 160)
            found = histeq.equalize(up(library, rows), format="yuv420p")
            self.assertTrue(np.array_equal(down(found), on_cpu(rows, format="yuv420p")))
            deeper = histeq.equalize(up(library, planes[0]), output_depth=10)
            self.assertTrue(np.array_equal(down(deeper), on_cpu(planes[0], output_depth=10)))
            for shape, form in [((120, 160, 3), "rgb24"), ((120, 160, 3), "bgr24"), ((120, 160, 4), "rgba")]:
                before = picture(*shape)
                source = up(library, before)
                deeper = histeq.equalize(source, output_depth=10, format=form)
                expected = on_cpu(before, output_depth=10, format=form)
                self.assertEqual(expected.shape, shape)
                self.assertTrue(np.array_equal(down(deeper), expected), (library, form))
                into = empty(deeper)
                histeq.equalize(source, output_depth=10, format=form, out=into)
                self.assertTrue(np.array_equal(down(into), expected), (library, form, "out"))

    def test_strides(self):
        for library in LIBRARIES:
            wide = picture(240, 320, 4)
            source = up(library, wide)
            for cut in [np.s_[:, 7:200], np.s_[::2], np.s_[:, ::2], np.s_[..., 0], np.s_[..., :3], np.s_[3:50, 5:9, 1:4]]:
                expected = on_cpu(np.ascontiguousarray(wide[cut]), look="haze")
                self.assertTrue(np.array_equal(down(histeq.equalize(source[cut], look="haze")), expected), (library, cut))
            # Rows at a distance are a target, too; pixels with gaps are none.
            out = empty(source)
            part = out[10:130, 20:180]
            self.assertIs(histeq.equalize(up(library, wide[:120, :160]), look="haze", out=part), part)
            self.assertTrue(np.array_equal(down(out)[10:130, 20:180], on_cpu(wide[:120, :160], look="haze")))
            self.assertFalse(down(out)[:10].any() or down(out)[:, 180:].any())
            with self.assertRaisesRegex(ValueError, "rows without gaps"):
                histeq.equalize(up(library, wide[:120, :160, 0]), out=empty(source)[:120, :160, 0])

    def test_a_target_is_written_where_it_lies(self):
        for library in LIBRARIES:
            before = picture(120, 160, 3)
            source = up(library, before)
            out = empty(source)
            where = address(out)
            self.assertIs(histeq.equalize(source, out=out), out)
            self.assertEqual(address(out), where)
            self.assertTrue(np.array_equal(down(out), on_cpu(before)))
            self.assertIs(histeq.equalize(source, out=source), source)
            self.assertTrue(np.array_equal(down(source), on_cpu(before)))
        if len(LIBRARIES) == 2:
            # One library's memory seen by the other: an address, no copy.
            source = up("torch", picture(120, 160, 3))
            seen = cupy.from_dlpack(histeq.equalize(source))
            self.assertTrue(np.array_equal(cupy.asnumpy(seen), on_cpu(picture(120, 160, 3))))

    def test_sequences(self):
        frames = [picture(120, 160, 3, seed=n) + np.uint8(60 if n > 20 else 0) for n in range(40)]
        for look in ("natural", "haze", "exact"):
            expected = list(histeq.Equalizer(look=look, backend="cpu").iterate(frames))
            for library in LIBRARIES:
                equalizer = histeq.Equalizer(look=look)
                buffer, found = up(library, frames[0]), []

                def camera():
                    # The same memory again and again.
                    for frame in frames:
                        buffer[...] = up(library, frame)
                        yield buffer

                found = [down(frame) for frame in equalizer.iterate(camera())]
                self.assertIn("cuda", equalizer.backend)
                self.assertTrue(all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True)), (library, look))

    def test_streams_wait_for_each_other(self):
        before = np.tile(picture(540, 960, 3), (4, 4, 1))
        expected = on_cpu(before, look="exact")
        if "torch" in LIBRARIES:
            ready, busy = up("torch", before), torch.rand(6000, 6000, device="cuda")
            stream = torch.cuda.Stream()
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):
                for _ in range(3):
                    source = torch.zeros_like(ready)
                    for _ in range(10):
                        busy = busy @ busy
                        busy /= busy.max()
                    source.copy_(ready)
                    # Neither the stream nor the device was waited for.
                    after = histeq.equalize(source, look="exact")
                    self.assertTrue(np.array_equal(down(after), expected))
        if "cupy" in LIBRARIES:
            ready, busy = up("cupy", before), cupy.random.rand(4000, 4000, dtype=cupy.float32)
            cupy.cuda.Device().synchronize()
            with cupy.cuda.Stream(non_blocking=True):
                source = cupy.zeros_like(ready)
                for _ in range(10):
                    busy = busy @ busy
                    busy /= busy.max()
                source[...] = ready
                self.assertTrue(np.array_equal(down(histeq.equalize(source, look="exact")), expected))

    def test_the_context_of_the_thread_stays(self):
        driver = ctypes.CDLL("libcuda.so.1")
        for library in LIBRARIES:
            source = up(library, picture(120, 160))
            contexts = []
            for _ in range(2):
                context = ctypes.c_void_p()
                self.assertEqual(driver.cuCtxGetCurrent(ctypes.byref(context)), 0)
                contexts.append(context.value)
                histeq.equalize(source)
            self.assertEqual(contexts[0], contexts[1])
            self.assertIsNotNone(contexts[0])

    def test_errors_say_where_arrays_are(self):
        for library in LIBRARIES:
            source = up(library, picture(120, 160))
            for wrong, words in [
                ({"backend": "cpu"}, "hand them over in host memory"),
                ({"gpu": 99}, "on GPU 0, and gpu=99"),
                ({"out": empty(source)[:5]}, r"shape \(5, 160\)"),
            ]:
                with self.assertRaisesRegex((ValueError, RuntimeError), words):
                    histeq.equalize(source, **wrong)
            with self.assertRaisesRegex(TypeError, r"float32, shape \(120, 160\) on "):
                histeq.equalize(up(library, picture(120, 160).astype(np.float32)))
            with self.assertRaisesRegex(ValueError, "another device"):
                equalizer = histeq.Equalizer()
                equalizer.push(source)
                equalizer.push(picture(120, 160))
            # A result can come down by itself.
            out = np.zeros((120, 160), np.uint8)
            histeq.equalize(source, out=out)
            self.assertTrue(np.array_equal(out, on_cpu(picture(120, 160))))

    def test_arrays_on_the_host_go_through_the_gpu(self):
        before = picture(120, 160, 3)
        for look in histeq.LOOKS:
            self.assertTrue(np.array_equal(histeq.equalize(before, look=look, backend="cuda"), on_cpu(before, look=look)))

    def test_nothing_is_kept_of_a_thousand_pictures(self):
        for library in LIBRARIES:
            source = up(library, picture(240, 320, 3))
            out = empty(source)
            free = lambda: torch.cuda.mem_get_info()[0] if library == "torch" else cupy.cuda.runtime.memGetInfo()[0]

            def work(times):
                for _ in range(times):
                    histeq.equalize(source, out=out)
                    histeq.equalize(source)

            work(50)
            gc.collect()
            counts, before = [sys.getrefcount(one) for one in (source, out)], free()
            work(500)
            gc.collect()
            self.assertEqual([sys.getrefcount(one) for one in (source, out)], counts)
            print(f"{library}: {(before - free()) >> 10} KiB more on the GPU after 1,000 pictures")
            self.assertLess(before - free(), 64 << 20)

    @unittest.skipUnless("torch" in LIBRARIES, "SKIPPED torch: its profiler counts copies")
    def test_no_picture_crosses_the_bus(self):
        for shape, look in [((1080, 1920), "exact"), ((1080, 1920, 3), "exact"), ((1080, 1920, 3), "natural")]:
            source = up("torch", picture(*shape))
            out = empty(source)
            equalizer = histeq.Equalizer(look=look, live=True)
            once = lambda: equalizer.collect(out=out) if equalizer.push(source, out=out) is None else None
            [once() for _ in range(5)]
            activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
            with torch.profiler.profile(activities=activities) as profile:
                [once() for _ in range(10)]
                torch.cuda.synchronize()
            with tempfile.TemporaryDirectory() as folder:
                trace = pathlib.Path(folder) / "trace.json"
                profile.export_chrome_trace(str(trace))
                events = json.loads(trace.read_text())["traceEvents"]
            moved = {}
            for event in events:
                if event.get("cat") == "gpu_memcpy":
                    kind = next(kind for kind in ("DtoD", "DtoH", "HtoD", "") if kind in event["name"])
                    moved[kind] = moved.get(kind, 0) + event["args"].get("bytes", 0)
            if not moved:
                self.skipTest("SKIPPED profiler: it sees no copies here")
            bytes_of_all = 10 * source.numel()
            print(f"look {look}, {'x'.join(map(str, shape))}, 10 pictures of {source.numel()} bytes: {moved}")
            self.assertGreaterEqual(moved.get("DtoD", 0), bytes_of_all, "the profiler saw the copies within the GPU")
            self.assertLess(moved.get("DtoH", 0) + moved.get("HtoD", 0), bytes_of_all / 4)

    def test_times_for_the_record(self):
        for library in LIBRARIES:
            for shape, look in [((1080, 1920), "exact"), ((1080, 1920, 3), "exact"), ((1080, 1920, 3), "natural")]:
                source = up(library, picture(*shape))
                out = empty(source)
                equalizer = histeq.Equalizer(look=look)
                list(equalizer.iterate([source] * 50, out=out))
                equalizer.restart()
                begin = time.perf_counter()
                count = sum(1 for _ in equalizer.iterate([source] * 300, out=out))
                print(f"{library}, look {look}, {'x'.join(map(str, shape))}: {1e3 * (time.perf_counter() - begin) / count:.3f} ms a frame")
                self.assertEqual(count, 300)


if __name__ == "__main__":
    unittest.main(verbosity=2)
