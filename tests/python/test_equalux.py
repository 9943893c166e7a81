#!/usr/bin/env python3
"""Tests of `import equalux`: its bytes beside the program's, arrays of all shapes, state, errors, threads.

    test_equalux.py PROGRAM SOURCE [unittest's arguments]

with build/<preset>/python on PYTHONPATH. Ends with 77 where NumPy is missing; what needs OpenCV, PyAV or
ffmpeg is skipped by name where they are.
"""
import copy
import inspect
import json
import pathlib
import pickle
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import types
import unittest

try:
    import numpy as np
except ModuleNotFoundError:
    print("skipped: NumPy is not installed (python3-numpy)")
    sys.exit(77)
try:
    import cv2
except ModuleNotFoundError:
    cv2 = None
try:
    import av
except ModuleNotFoundError:
    av = None

import equalux
from equalux import Error, Filter, _arrays, _equalux

PROGRAM, SOURCE = (pathlib.Path(each) for each in sys.argv[1:3])


def dim(*shape, seed=1, dtype=np.uint8):
    """A dim picture with noise, a ramp and a bright line."""
    generator = np.random.default_rng(seed)
    top = 100 if dtype == np.uint8 else 20000
    ramp = np.linspace(0.3, 1, shape[1]).reshape(1, -1, *[1] * (len(shape) - 2))
    picture = (generator.integers(top // 5, top, shape) * ramp).astype(dtype)
    picture[shape[0] // 2] = np.iinfo(dtype).max * 9 // 10
    return picture


def error_of(call):
    try:
        call()
    except Error as error:
        return str(error)
    return "nothing was raised"


def image_by_program(picture, spec):
    """What `equalux image` makes of an RGB picture."""
    with tempfile.TemporaryDirectory() as folder:
        source, result = f"{folder}/in.ppm", f"{folder}/out.ppm"
        height, width = picture.shape[:2]
        pathlib.Path(source).write_bytes(b"P6\n%d %d\n255\n" % (width, height) + picture.tobytes())
        subprocess.run([PROGRAM, "image", source, result, "--filter", spec, "--backend", "cpu", "--quiet"],
                       check=True)
        return np.frombuffer(pathlib.Path(result).read_bytes()[-picture.size:], np.uint8).reshape(picture.shape)


def clip_by_program(frames, specs):
    """What `equalux run` makes of planes of 4:2:0, limited range."""
    height, width = frames[0][0].shape
    stream = b"YUV4MPEG2 W%d H%d F30:1 Ip C420jpeg XCOLORRANGE=LIMITED\n" % (width, height)
    for planes in frames:
        stream += b"FRAME\n" + b"".join(plane.tobytes() for plane in planes)
    words = [PROGRAM, "run", "-", "-o", "-", "--preset", "plain", "--backend", "cpu", "--quiet"]
    for spec in specs:
        words += ["--filter", spec]
    body = subprocess.run(words, input=stream, capture_output=True, check=True).stdout
    results = []
    for part in body.split(b"FRAME\n")[1:]:
        results.append(np.frombuffer(part, np.uint8))
    return results


class Bytes(unittest.TestCase):
    def test_pictures_have_the_programs_bytes(self):
        picture = dim(45, 67, 3)
        for spec in ("equalize", "clahe:tiles=3,2", "equalize:strength=0.6,clip-limit=3", "gaussian:sigma=2"):
            expected = image_by_program(picture, spec)
            self.assertTrue(np.array_equal(Filter(spec, format="rgb")(picture), expected), spec)
            swapped = Filter(spec, format="bgr")(np.ascontiguousarray(picture[..., ::-1]))
            self.assertTrue(np.array_equal(swapped[..., ::-1], expected), spec)

    def test_a_clip_has_the_programs_bytes(self):
        frames = [(dim(32, 48, seed=n), dim(16, 24, seed=n + 10), dim(16, 24, seed=n + 20)) for n in range(5)]
        for specs in (["equalize:temporal-ms=300"], ["denoise", "equalize:strength=0.7,temporal-ms=200"]):
            expected = clip_by_program(frames, specs)
            self.assertEqual(len(expected), 5)
            several = Filter(*specs, format="i420", matrix="bt601")
            for n, planes in enumerate(several.frames(frames)):
                mine = np.concatenate([plane.reshape(-1) for plane in planes])
                self.assertTrue(np.array_equal(mine, expected[n]), f"{specs}, frame {n}")

    @unittest.skipUnless(cv2, "OpenCV is not installed (python3-opencv)")
    def test_frames_of_opencv(self):
        picture = dim(40, 52, 3)
        with tempfile.TemporaryDirectory() as folder:
            cv2.imwrite(f"{folder}/dark.png", picture)
            result = equalux.clahe(tiles=(2, 2), format="bgr")(cv2.imread(f"{folder}/dark.png"))
            expected = image_by_program(np.ascontiguousarray(picture[..., ::-1]), "clahe:tiles=2,2")
            self.assertTrue(np.array_equal(result[..., ::-1], expected))
            self.assertTrue(cv2.imwrite(f"{folder}/out.png", result))
        # 4:2:0 in one array, as cvtColor() makes it, equals the same planes one by one.
        stacked = cv2.cvtColor(picture, cv2.COLOR_BGR2YUV_I420)
        filtered = Filter("equalize", format="i420")(stacked)
        planes = (stacked[:40], stacked[40:50].reshape(20, 26), stacked[50:].reshape(20, 26))
        y, u, v = Filter("equalize", format="i420")(planes)
        self.assertTrue(np.array_equal(filtered, np.vstack([y, u.reshape(10, 52), v.reshape(10, 52)])))

    @unittest.skipUnless(av and shutil.which("ffmpeg"), "PyAV or ffmpeg is not installed (python3-av)")
    def test_frames_of_pyav(self):
        with tempfile.TemporaryDirectory() as folder:
            clip = f"{folder}/clip.y4m"
            subprocess.run(["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=64x48:r=30:d=0.17", "-vf",
                            "lutyuv=y=val/3+10", "-pix_fmt", "yuv420p", clip], check=True)
            with av.open(clip) as container:
                read = [frame.to_ndarray() for frame in container.decode(video=0)]
        many = Filter("clahe:tiles=2,2,temporal-ms=100", format="i420", matrix="bt601")
        mine = list(many.frames(read))
        apart = [(f[:48], f[48:60].reshape(24, 32), f[60:].reshape(24, 32)) for f in read]
        expected = clip_by_program(apart, ["clahe:tiles=2,2,temporal-ms=100"])
        self.assertGreater(len(mine), 3)
        self.assertEqual(len(mine), len(expected))
        for n, result in enumerate(mine):
            self.assertTrue(np.array_equal(result.reshape(-1), expected[n]), n)


class Arrays(unittest.TestCase):
    def test_strides_are_taken_as_they_are(self):
        whole = dim(64, 90, 3)
        part = whole[8:40, 10:50]
        expected = Filter("equalize", format="bgr")(part.copy())
        same = lambda array: array
        views = {
            "a part": (part, same),
            "bottom up": (part[::-1], lambda array: array[::-1]),
            "every second row": (np.repeat(part, 2, axis=0)[::2], same),
            "mirrored": (part[:, ::-1], lambda array: array[:, ::-1]),
            "columns first": (np.asfortranarray(part), same),
            "other samples first": (np.ascontiguousarray(part[..., ::-1])[..., ::-1], same),
        }
        for name, (view, undo) in views.items():
            before = view.copy()
            result = Filter("equalize", format="bgr")(view)
            self.assertTrue(np.array_equal(undo(result), expected), name)
            self.assertTrue(np.array_equal(view, before), name)
            target = undo(np.zeros_like(whole)[8:40, 10:50])
            given = Filter("equalize", format="bgr")(view, out=target)
            self.assertIs(given, target)
            self.assertTrue(np.array_equal(undo(target), expected), name)

    def test_a_result_may_take_its_frames_place(self):
        for spec in ("equalize", "vessel:output=overlay", "gaussian:sigma=1.5", "clahe:tiles=2,2"):
            frame = dim(40, 48, 3)
            expected = Filter(spec, format="bgr")(frame)
            again = frame.copy()
            Filter(spec, format="bgr")(again, out=again)
            self.assertTrue(np.array_equal(again, expected), spec)
            long = np.concatenate([frame, frame])  # Or lie over a part of it.
            over = Filter(spec, format="bgr")(long[:40], out=long[7:47])
            self.assertTrue(np.array_equal(over, expected), spec)

    def test_a_tuple_of_one_array_takes_a_result_too(self):
        frame = dim(40, 48)
        expected = Filter("equalize")(frame)
        for name, target in (("columns first", np.zeros_like(frame, order="F")),
                             ("mirrored", np.zeros_like(frame)[:, ::-1])):
            Filter("equalize")(frame, out=(target,))
            self.assertTrue(np.array_equal(target, expected), name)
        long = np.concatenate([frame, frame])
        Filter("equalize")(long[:40], out=[long[7:47]])
        self.assertTrue(np.array_equal(long[7:47], expected))

    def test_subclasses_of_arrays_are_arrays(self):
        frame = dim(20, 30)
        expected = Filter("equalize")(frame)
        with tempfile.TemporaryDirectory() as folder:
            mapped = np.memmap(f"{folder}/frame", np.uint8, "w+", shape=frame.shape)
            Filter("equalize")(frame, out=mapped)
            self.assertTrue(np.array_equal(mapped, expected))
            mapped[:] = frame
            Filter("equalize")(mapped, out=mapped)
            self.assertTrue(np.array_equal(mapped, expected))
        masked = np.ma.zeros(frame.shape, np.uint8)
        Filter("equalize")(np.ma.masked_less(frame, 30), out=masked)
        self.assertTrue(np.array_equal(masked, expected))
        self.assertEqual(error_of(lambda: Filter("equalize")(frame, out=bytearray(600))),
                         "out is a bytearray, must be writable arrays")

    def test_rows_of_a_result_may_not_lie_over_each_other(self):
        frame = dim(20, 30)
        strided = np.lib.stride_tricks.as_strided
        for stride in (0, 10, -29):
            target = strided(np.zeros(900, np.uint8)[600:], (20, 30), (stride, 1))
            self.assertEqual(error_of(lambda: Filter("equalize")(frame, out=target)),
                             f"rows of plane 0 of out are {stride} bytes apart, must be 30 or more")
        # Of a frame they may: it is only read.
        one = np.broadcast_to(frame[:1], frame.shape)
        self.assertTrue(np.array_equal(Filter("equalize")(one), Filter("equalize")(one.copy())))

    def test_planes_of_results_share_memory_that_is_used_again(self):
        several = Filter("equalize", format="nv12")
        frame = (dim(40, 60), dim(20, 30, 2))
        addresses = set()
        for _ in range(6):
            y, uv = several(frame)
            addresses.add(y.ctypes.data)
            kept = uv.copy()
            del y  # The other plane still lies there.
            several(frame)
            self.assertTrue(np.array_equal(uv, kept))
        self.assertLess(len(addresses), 4)

    def test_formats_follow_from_arrays(self):
        gray = dim(20, 30)
        color = np.repeat(gray[..., None], 3, axis=2)
        self.assertTrue(np.array_equal(Filter("equalize")(gray)[..., None],
                                       Filter("equalize", format="rgb")(color)[..., :1]))
        self.assertEqual(Filter("equalize")(gray[..., None]).shape, (20, 30, 1))
        deep = dim(20, 30, dtype=np.uint16)
        result = Filter("equalize")(deep)
        self.assertEqual((result.dtype, result.shape), (np.uint16, (20, 30)))
        four = np.dstack([np.repeat(deep[..., None], 3, axis=2), deep])
        alpha = Filter("equalize", format="rgba")(four)
        self.assertTrue(np.array_equal(alpha[..., 3], deep))
        self.assertTrue(np.array_equal(alpha[..., 0], result))
        nv12 = (dim(20, 30), dim(10, 15, 2))
        a = Filter("equalize", format="nv12")(nv12)
        b = Filter("equalize", format="nv12")((nv12[0], nv12[1].reshape(10, 30)))
        self.assertEqual(b[1].shape, (10, 30))
        self.assertTrue(np.array_equal(a[0], b[0]) and np.array_equal(a[1].reshape(10, 30), b[1]))
        odd = (dim(5, 7), dim(3, 4), dim(3, 4))
        self.assertEqual([p.shape for p in Filter("equalize", format="i420")(odd)], [(5, 7), (3, 4), (3, 4)])
        ten = tuple(plane.astype(np.uint16) * 4 for plane in odd)
        self.assertEqual(Filter("equalize", format="i420_10le")(ten)[1].dtype, np.uint16)
        self.assertEqual(Filter("equalize", format="yuy2")(dim(6, 8, 2)).shape, (6, 8, 2))
        full = np.stack([dim(6, 8), dim(6, 8, seed=2), dim(6, 8, seed=3)])
        self.assertEqual(Filter("equalize", format="y444")(full).shape, (3, 6, 8))
        strong, weak = Filter("eigenvalues:sigma=2")(gray)
        self.assertEqual((strong.dtype, strong.shape, weak.shape), (np.float32, (20, 30), (20, 30)))

    def test_results_do_not_share_memory(self):
        several = Filter("equalize")
        kept = [several(dim(100, 120, seed=n)) for n in range(6)]
        for n, result in enumerate(kept):
            self.assertTrue(np.array_equal(result, Filter("equalize")(dim(100, 120, seed=n))), n)

    def test_a_frame_of_another_size_begins_a_new_stream(self):
        several = Filter("equalize:temporal-ms=500")
        several(dim(20, 30))
        self.assertTrue(np.array_equal(several(dim(24, 30)), Filter("equalize")(dim(24, 30))))


class State(unittest.TestCase):
    def test_it_goes_on_in_another_filter(self):
        specs = ("denoise", "equalize:temporal-ms=400")
        first = Filter(*specs)
        self.assertIsNone(first.state)
        frames = [dim(32, 40, seed=n) for n in range(6)]
        results = list(first.frames(frames[:3]))
        state = first.state
        rest = [first(frame, pts=n / 30) for n, frame in enumerate(frames[3:], 3)]
        second = Filter(*specs)
        second.state = state  # before the first frame
        self.assertEqual(second.state, state)
        for n, frame in enumerate(frames[3:], 3):
            self.assertTrue(np.array_equal(second(frame, pts=n / 30), rest[n - 3]), n)
        second.state = state  # and behind some
        self.assertTrue(np.array_equal(second(frames[3], pts=3 / 30), rest[0]))
        second.reset()
        self.assertTrue(np.array_equal(second(frames[0]), results[0]))
        self.assertEqual(error_of(lambda: setattr(second, "state", "[1]")),
                         "the filters' state is of another chain, must be of 2 filters")

    def test_it_stays_where_something_is_refused(self):
        frames = [dim(32, 40, seed=n) for n in range(4)]
        specs = ("equalize:temporal-ms=400", "clahe:tiles=2,2,temporal-ms=400")
        several = Filter(*specs)
        for frame in frames:
            several(frame)
        known = several.state
        for frame in (np.zeros((0, 5), np.uint8), np.zeros((1, 70000), np.uint8), frames[0] / 2, None):
            self.assertNotEqual(error_of(lambda: several(frame)), "nothing was raised")
            self.assertEqual(several.state, known)
        # A state whose second half does not fit is not taken by halves.
        first, second = json.loads(known)
        first["frames"] = 1
        with self.assertRaises(Error):
            several.state = json.dumps([first, dict(second, version=99)])
        self.assertEqual(several.state, known)
        fresh = Filter(*specs)
        fresh(frames[0])
        fresh.reset()
        with self.assertRaises(Error):
            fresh.state = json.dumps([first, dict(second, version=99)])
        for frame, other in zip(frames, Filter(*specs).frames(frames)):
            self.assertTrue(np.array_equal(fresh(frame), other))
        # One that is there before the first frame is not lost with it.
        later = Filter("denoise")
        other = Filter("denoise")
        other(frames[0])
        later.state = other.state
        for _ in range(2):
            self.assertEqual(error_of(lambda: later(dim(8, 8))), 'the state is of "gray8" [40,32], must be of "gray8" [8,8]')
        self.assertTrue(np.array_equal(later(frames[1], pts=1), other(frames[1], pts=1)))

    def test_copies_go_on_by_themselves(self):
        frames = [dim(32, 40, seed=n) for n in range(4)]
        several = Filter("denoise", "equalize:temporal-ms=400", matrix="bt601", threads=1)
        several(frames[0])
        copies = [copy.copy(several), copy.deepcopy(several), pickle.loads(pickle.dumps(several))]
        expected = several(frames[1], pts=0.1)
        several.update(1, strength=0)
        for n, each in enumerate(copies):
            self.assertEqual(each.specs, ["denoise", "equalize:temporal-ms=400"])
            self.assertTrue(np.array_equal(each(frames[1], pts=0.1), expected), n)
            # Of another size each: nothing is shared.
            self.assertEqual(each(dim(50 + n, 60)).shape, (50 + n, 60))
        self.assertEqual(several(frames[2]).shape, (32, 40))
        self.assertEqual(copy.copy(Filter("vessel", backend="cpu"))(frames[0]).shape, (32, 40))
        self.assertIn(b"equalux", pickle.dumps(several))
        self.assertNotIn(b"equalux._", pickle.dumps(several))

    def test_options_change_between_frames(self):
        one = equalux.equalize()
        frame = dim(20, 30)
        full = one(frame)
        one.update(strength=0)
        self.assertTrue(np.array_equal(one(frame), frame))
        self.assertEqual(one.specs, ["equalize:strength=0"])
        with self.assertRaises(Error):
            one.update(strength=3)
        self.assertTrue(np.array_equal(one(frame), frame))
        one.update(strength=1)
        self.assertTrue(np.array_equal(one(frame), full))


class Errors(unittest.TestCase):
    def test_they_are_the_programs_lines(self):
        for spec in ("clahee", "clahe:tile=4,4", "clahe:tiles=99,1", "equalize:strength=x", "equalize:strength=4",
                     "denoise:", "equalize:strength=1,strength=2"):
            done = subprocess.run([PROGRAM, "image", "in.ppm", "out.ppm", "--filter", spec], capture_output=True,
                                  text=True)
            mine = error_of(lambda: Filter(spec, backend="cpu"))
            self.assertEqual(done.returncode, 2, spec)
            self.assertTrue(done.stderr.strip().endswith(mine), f"{spec}: {mine!r} and {done.stderr!r}")

    def test_they_are_one_line(self):
        self.assertEqual(error_of(lambda: Filter("clahe:tile\n\x1b=4,4")),
                         "clahe has no key 'tile\\n\\x1b', must be tiles")
        for call in (lambda: Filter("clahe\0he"), lambda: equalux.clahe(scaler="max\0"),
                     lambda: Filter(("clahe", {"tiles\0": 3}))):
            self.assertTrue(error_of(call).endswith(" has a zero byte, must be without"), error_of(call))

    def test_they_are_value_errors_with_the_exit_code(self):
        with self.assertRaises(ValueError) as raised:
            Filter("clahee")
        self.assertEqual(raised.exception.code, 2)
        with self.assertRaises(Error) as raised:
            equalux.clahe()(dim(8, 8, 3))
        self.assertEqual(raised.exception.code, 2)

    def test_frames_that_do_not_fit(self):
        gray, color = dim(8, 8), dim(8, 8, 3)
        plain = Filter("equalize")
        for call, text in (
            (lambda: plain(color), "format is missing, must be given for colours: 'bgr' as OpenCV"),
            (lambda: Filter("equalize", format="bgra")(color), "the frame is 8x8x3, must be 8x8x4 for bgra"),
            (lambda: plain(gray.astype(float)), "the frame is an array of float64, must be of uint8 or uint16"),
            (lambda: Filter("equalize", format="nv12")(gray.astype(np.uint16)),
             "the frame is an array of uint16, must be of uint8 for nv12"),
            (lambda: plain(gray.astype(">u2")), "an array's samples are big-endian, must be little-endian"),
            (lambda: Filter("equalize", format="i420")((gray, gray)), "the frame has 2 arrays, must be 3 of i420"),
            (lambda: Filter("equalize", format="i420")((gray, gray, gray)),
             "plane 1 of the frame is 8x8, must be 4x4 for i420"),
            (lambda: plain(gray, out=color), "out is 8x8x3, must be 8x8 for gray8"),
            (lambda: plain(gray, out=np.zeros((8, 8), np.uint16)), "out is an array of uint16, must be of uint8"),
            (lambda: plain(gray, out=np.frombuffer(bytes(64), np.uint8).reshape(8, 8)), "out cannot be written to"),
            (lambda: plain(object()), "a frame is a object, must be an array or a tuple of planes"),
            (lambda: plain(()), "the frame has no arrays, must be an array or a tuple of planes"),
            (lambda: Filter(), "there is no filter, must be one or more"),
            (lambda: Filter("clahe", "denoise", tiles=2), "tiles is given for 2 filters, must be in the spec"),
            (lambda: Filter("clahe", backend="gpu"), "backend is 'gpu', must be auto, cpu or cuda"),
            (lambda: Filter("clahe", fps=0), "fps is 0, must be 0.000001 to 1000000"),
            (lambda: Filter("clahe", fps=float("nan")), "fps is nan, must be 0.000001 to 1000000"),
            (lambda: Filter("clahe", fps="25 fps"), "fps is '25 fps', must be a number"),
            (lambda: Filter("clahe", threads=1025), "threads is 1025, must be 0 to 1024"),
            (lambda: Filter("clahe", threads=2.5), "threads is 2.5, must be a whole number"),
            (lambda: Filter("clahe", device="0"), "device is '0', must be a whole number"),
            (lambda: Filter("clahe", device=1 << 40), "device is 1099511627776, must be a whole number"),
            (lambda: Filter("clahe", device=-7), "device is -7, must be -1 to 1023"),
            (lambda: Filter("clahe", device=1, backend="cpu"),
             "device is 1, the number of a GPU, must be left out for backend cpu"),
            (lambda: Filter("clahe", device=1)(gray), "the frame lies on the host, must be in device memory for device 1"),
            (lambda: plain(gray, stream=5), "the frame lies on the host, must be in device memory for a stream"),
            (lambda: plain.update(strength=None), "strength is None, must be a value"),
            (lambda: Filter("clahe", format=3), "format is 3, must be text"),
            (lambda: Filter("clahe", matrix=None), "matrix is None, must be text"),
            (lambda: Filter("clahe", format="bgrr"), "format is 'bgrr', must be gray, gray8, rgb, bgr"),
            (lambda: Filter("clahe", matrix="bt2100"), "matrix is 'bt2100', must be bt601, bt709 or bt2020"),
            (lambda: Filter("clahe", range="Full"), "range is 'Full', must be limited or full"),
            (lambda: Filter("clahe", "denoise", fromat="bgr"), "there is no keyword 'fromat', must be format"),
            (lambda: equalux.clahe(fromat="bgr"), "there is no keyword 'fromat', must be format"),
            (lambda: equalux.clahe(clip_limit_=3), "clahe has no key 'clip-limit-', must be clip-limit"),
            (lambda: Filter("clahe:tiles=2", tiles=3), "filter 'clahe' sets tiles twice, must be once"),
            (lambda: Filter(3), "a filter is 3, must be a spec as 'clahe:tiles=4,4', or a pair as ('clahe', {'tiles'"),
            (lambda: Filter(("clahe", "denoise")), "a filter is ('clahe', 'denoise'), must be a spec as 'clahe:tiles"),
            (lambda: Filter("clahe\udc80"), "'clahe\\udc80' cannot be written as UTF-8"),
            (lambda: equalux.equalize(strength=np.array([0.5, 1])), "strength is '0.5,1', must be a number"),
            (lambda: Filter("equalize", matrix="bt2100")(gray), "matrix is 'bt2100', must be bt601, bt709 or bt2020"),
            (lambda: plain(gray, field_order=None), "field_order is None, must be text"),
            (lambda: plain(gray, pts=float("nan")), "pts is nan, must be within 4000000000 seconds of 0"),
            (lambda: plain(gray, pts=1e10), "pts is 1e+10, must be within 4000000000 seconds of 0"),
            (lambda: plain(gray, pts="1 s"), "pts is '1 s', must be a number"),
            (lambda: plain.update("0", strength=1), "filter '0' is not there, must be 0 to 0"),
            (lambda: plain(np.zeros(9, np.uint8)), "the frame is an array of 1 dimensions, must be of 2 or 3"),
            (lambda: Filter("equalize", format="bgr")(np.zeros((2, 3, 4, 3), np.uint8)),
             "the frame is an array of 4 dimensions, must be of 2 or 3"),
            (lambda: plain(gray.astype("M8[s]")), "the frame is an array of datetime64[s], must be of uint8"),
            (lambda: plain(gray.astype(object)), "the frame is an array of object, must be of uint8 or uint16"),
            (lambda: plain([[[1, 2], [3]]]), "a frame is a list, must be an array or a tuple of planes"),
            (lambda: Filter("equalize", format="yuy2")(dim(6, 7, 2)), "the frame of yuy2 is 6x7x2, must be of an even"),
            (lambda: Filter("equalize", format="y444")(dim(24, 8)), "the frame is 24x8, must be a tuple of planes for"),
            (lambda: plain(gray, field_order="odd"), "field_order is 'odd', must be progressive, top-first"),
            (lambda: Filter("equalize", backend="cuda")(gray), "the frame lies on the host, must be in device memory"),
        ):
            found = error_of(call)
            self.assertTrue(found.startswith(text), f"{found!r}, should be {text!r}")


class Threads(unittest.TestCase):
    def test_the_lock_of_python_is_free_while_a_frame_is_filtered(self):
        frame = dim(500, 700, 3)
        slow = Filter("denoise", "vessel", format="bgr", threads=1)
        slow(frame)
        counted = []
        done = threading.Event()

        def count():
            while not done.is_set():
                counted.append(time.perf_counter())
                time.sleep(0.0005)

        other = threading.Thread(target=count)
        other.start()
        began = time.perf_counter()
        for _ in range(3):
            slow(frame)
        ended = time.perf_counter()
        done.set()
        other.join()
        # Were it held, the other thread would come in between the calls alone.
        self.assertGreater(len([each for each in counted if began < each < ended]), 8, f"{ended - began:.3f} s")

    def test_threads_take_turns(self):
        shared = Filter("clahe:tiles=2,2")
        frames = [dim(60, 80, seed=n) for n in range(4)]
        expected = [Filter("clahe:tiles=2,2")(frame) for frame in frames]
        wrong = []

        def work(n):
            for _ in range(20):
                if not np.array_equal(shared(frames[n]), expected[n]):
                    wrong.append(n)

        threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        self.assertEqual(wrong, [])


    def test_the_interpreter_ends_while_threads_filter(self):
        code = ("import threading, numpy, equalux\n"
                "def work():\n"
                "    mine = equalux.Filter('denoise', 'equalize', format='bgr')\n"
                "    while True:\n"
                "        mine(numpy.full((200, 300, 3), 40, numpy.uint8))\n"
                "        begun.set()\n"
                "begun = threading.Event()\n"
                "for _ in range(3):\n"
                "    threading.Thread(target=work, daemon=True).start()\n"
                "begun.wait()\n")
        for _ in range(3):
            done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
            self.assertEqual((done.returncode, done.stderr), (0, ""))


class Table(unittest.TestCase):
    def test_hints_are_those_of_the_table(self):
        done = subprocess.run([sys.executable, SOURCE / "python/backend/make_hints.py"], capture_output=True, text=True,
                              check=True)
        written = (SOURCE / "python/equalux/__init__.pyi").read_text()
        self.assertTrue(written == done.stdout, "python/backend/make_hints.py > python/equalux/__init__.pyi mends it")
        compile(written, "__init__.pyi", "exec")

    def test_each_filter_has_a_function(self):
        own = set(inspect.signature(Filter).parameters)
        for name, info in equalux.filters.items():
            function = getattr(equalux, name.replace("-", "_"))
            parameters = inspect.signature(function).parameters
            for option in info.options:
                keyword = option.key.replace("-", "_")
                self.assertIn(keyword, parameters)
                self.assertIn(f"{keyword}: {option.help}", function.__doc__)
                self.assertNotIn(keyword, own, name)

    def test_values_are_written_as_in_specs(self):
        self.assertEqual(equalux.vessel(sigmas=(2, 3.5)).specs, ["vessel:sigmas=2,3.5"])
        self.assertEqual(equalux.equalize(strength=np.float64(0.5), bins=np.int64(64)).specs,
                         ["equalize:strength=0.5,bins=64"])
        self.assertEqual(Filter(("clahe", {"clip_limit": 3.0})).specs, ["clahe:clip-limit=3"])
        self.assertEqual(equalux.vessel(sigmas=np.linspace(2, 3, 3)).specs, ["vessel:sigmas=2,2.5,3"])
        self.assertEqual(equalux.clahe(tiles=range(2, 4)).specs, ["clahe:tiles=2,3"])

        class Loud(float):  # As NumPy 2 has them.
            def __repr__(self):
                return f"Loud({float(self)})"

        self.assertEqual(equalux.equalize(strength=Loud(0.5)).specs, ["equalize:strength=0.5"])

    def test_the_version_is_the_programs(self):
        said = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True, check=True).stdout
        self.assertIn(equalux.__version__, said)


class Measure(unittest.TestCase):
    def test_figures_are_the_programs(self):
        pictures = [dim(64, 80, 3), dim(64, 80, 3, seed=2)]
        with tempfile.TemporaryDirectory() as folder:
            for n, picture in enumerate(pictures):
                pathlib.Path(f"{folder}/{n}.ppm").write_bytes(b"P6\n80 64\n255\n" + picture.tobytes())
            done = subprocess.run([PROGRAM, "measure", f"{folder}/0.ppm", f"{folder}/1.ppm", "--json", "-", "--quiet"],
                                  capture_output=True, text=True, check=True)
        expected = json.loads(done.stdout)
        mine = equalux.measure(*pictures, format="rgb")
        for key in ("width", "height", "figures", "cuts", "frames"):
            self.assertEqual(mine[key], expected[key])
        self.assertEqual(len(equalux.measure((p for p in pictures), format="rgb")["frames"]), 2)
        self.assertEqual(error_of(lambda: equalux.measure([])), "there is no frame to measure")
        self.assertEqual(error_of(lambda: equalux.measure([pictures[0], pictures[1][:9]], format="bgr")),
                         "a frame of a is 80x9, must be 80x64 as the first one")
        self.assertEqual(equalux.measure(*pictures, format="RGB")["figures"], expected["figures"])
        gray = pictures[0][..., 0].copy()
        self.assertEqual(equalux.measure(memoryview(gray))["figures"], equalux.measure(gray)["figures"])
        self.assertEqual(error_of(lambda: equalux.measure(None)),
                         "what is measured is a NoneType, must be an array or an iterable of arrays")
        for shape, text in (((0, 5), "height is 0"), ((5, 0), "width is 0"), ((0, 5, 3), "height is 0")):
            found = error_of(lambda: equalux.measure(np.zeros(shape, np.uint8), format="bgr"))
            self.assertTrue(found.startswith(text), found)


class FakeDeviceArray:
    """What an array in device memory tells of itself, over the host's memory."""

    def __init__(self, array, stream=None):
        self.array = array
        self.__cuda_array_interface__ = dict(array.__array_interface__, version=3, stream=stream)


class FakeDlpackArray:
    def __init__(self, array):
        self.array = array
        self.streams = []

    def __dlpack_device__(self):
        return 2, 0  # CUDA's device 0

    def __dlpack__(self, stream=None):
        self.streams.append(stream)
        return self.array.__dlpack__()


class FakeStream:
    cuda_stream = 77


class DeviceArrays(unittest.TestCase):
    """What can be told without a device; tests/python/gpu_arrays.py is the rest."""

    def test_interfaces_are_read_without_a_copy(self):
        array = dim(12, 20, 3)[:, 2:9]
        fake = _arrays.read(FakeDeviceArray(array, stream=5), "bgr")
        self.assertTrue(fake.arrays[0].cuda)
        self.assertEqual(fake.arrays[0].stream, 5)
        self.assertEqual(fake.places, _arrays.read(array, "bgr").places)
        whole = dim(12, 20)
        pack = FakeDlpackArray(whole)
        read = _arrays.read(pack, None, 77)
        self.assertEqual(pack.streams, [77])
        self.assertEqual(read.places, _arrays.read(whole, None).places)
        self.assertEqual((read.arrays[0].device, read.desc), (0, ("gray8", 20, 12)))
        self.assertEqual(error_of(lambda: _arrays.read(FakeDeviceArray(np.asfortranarray(whole)), None)),
                         "the frame's pixels do not lie side by side in device memory, must be contiguous rows")

    def test_a_capsule_is_used_once_and_given_back(self):
        array = dim(6, 8)
        counted = sys.getrefcount(array)
        capsule = array.__dlpack__()
        frame = _equalux.DlpackFrame(capsule)
        self.assertGreater(sys.getrefcount(array), counted)
        self.assertEqual(error_of(lambda: _equalux.DlpackFrame(capsule)),
                         "an array gave no DLPack capsule of version 0 that is unused")
        del frame
        self.assertEqual(sys.getrefcount(array), counted)

    def test_a_librarys_arrays_on_the_host_have_no_stream(self):
        class Tensor:  # PyTorch's, where its CUDA answers nothing
            is_cuda = False

            def __init__(self, array):
                self.array = array

            def __array__(self, dtype=None, copy=None):
                return self.array

            def __dlpack_device__(self):
                return 1, 0

        library = types.ModuleType("fake_torch")
        library.cuda = types.SimpleNamespace(current_stream=lambda device: self.fail("CUDA is asked"))
        Tensor.__module__ = "fake_torch"
        sys.modules["fake_torch"] = library
        try:
            frame = dim(6, 8)
            self.assertTrue(np.array_equal(Filter("equalize")(Tensor(frame)), Filter("equalize")(frame)))
        finally:
            del sys.modules["fake_torch"]

    def test_streams_are_numbers_in_the_end(self):
        self.assertEqual(_arrays.stream_of(None, FakeStream()), 77)
        self.assertEqual(_arrays.stream_of(None, 9), 9)
        self.assertEqual(_arrays.stream_of(FakeDeviceArray(dim(4, 4), stream=3), None), 3)

    @unittest.skipIf(equalux.cuda_status()[0], "a device answers here")
    def test_without_a_device_they_say_so(self):
        with self.assertRaises(Error) as raised:
            Filter("equalize", device=0)(FakeDeviceArray(dim(8, 8)))
        self.assertEqual(raised.exception.code, 69)
        host = Filter("equalize", backend="cpu")
        self.assertEqual(error_of(lambda: host(FakeDeviceArray(dim(8, 8)))),
                         "the frame lies in device memory, must be where those before it did (backend cpu)")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
