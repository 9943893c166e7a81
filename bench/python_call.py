#!/usr/bin/env python3
"""What a call from Python costs over the same frame in C++: 1080p, BGR, one thread.

    PYTHONPATH=build/release/python bench/python_call.py

Two filters of the same kind take turns: one is called as users call it, the other by the module's own
submit(), which is the library's with its lock given back. The least difference of medians stands.
"""
import statistics
import time

import numpy

import equalux
from equalux import _arrays, _equalux

ROUNDS = 60


def main():
    frame = numpy.random.default_rng(1).integers(20, 110, (1080, 1920, 3), dtype=numpy.uint8)
    out = numpy.empty_like(frame)
    called = equalux.Filter("equalize", format="bgr", threads=1)
    called(frame, out=out)
    core = _equalux.Filter([("equalize", [])], False, 1, -1, 30.0)
    core.configure("bgr", 1920, 1080, "bt709", "limited")
    places = _arrays.read(frame, "bgr").places, _arrays.read(out, "bgr").places
    times = {"submit()": [], "into out": [], "new result": []}
    for _ in range(ROUNDS):
        for name, call in (("submit()", lambda: core.submit(*places, None, False, "", 0)),
                           ("into out", lambda: called(frame, out=out)), ("new result", lambda: called(frame))):
            began = time.perf_counter()
            call()
            times[name].append(time.perf_counter() - began)
    least = min(times["submit()"])
    for name, each in times.items():
        print(f"{name:10}  median {statistics.median(each) * 1e6:7.0f} us, least {min(each) * 1e6:7.0f} us, "
              f"{(min(each) - least) * 1e6:+5.0f} us")
    # A frame of one pixel leaves out the filter's own time, which varies by more than the difference.
    pixel = numpy.zeros((1, 1, 3), numpy.uint8)
    called(pixel)
    core.configure("bgr", 1, 1, "bt709", "limited")
    place = _arrays.read(pixel, "bgr").places
    for name, call in (("submit()", lambda: core.submit(place, place, None, False, "", 0)),
                       ("called", lambda: called(pixel))):
        print(f"over one pixel, {name:8}  least {least_of(call) * 1e6:5.1f} us")


def least_of(call):
    """Least seconds of a call, timed in groups of a hundred."""
    times = []
    for _ in range(30):
        began = time.perf_counter()
        for _ in range(100):
            call()
        times.append((time.perf_counter() - began) / 100)
    return min(times)


if __name__ == "__main__":
    main()
