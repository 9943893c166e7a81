#!/usr/bin/env python3
"""Arrays on a GPU have the CPU's bytes: by PyTorch and CuPy, whichever are installed, on streams of their own.

    PYTHONPATH=build/release/python tests/python/gpu_arrays.py

Needs a build with CUDA and a device; ends with 77 where one of them or both libraries are missing.
"""
import sys

import numpy as np

import equalux


def check(library, upload, download, stream, current):
    """Each spec over frames: new results, `out`, in place, DLPack; on a stream of each frame's own,
    which is gone before the next one comes."""
    generator = np.random.default_rng(1)
    for specs in (["equalize"], ["clahe:tiles=4,4"], ["denoise", "equalize:temporal-ms=300"], ["gaussian:sigma=2"]):
        host = equalux.Filter(*specs, format="bgr")
        device = equalux.Filter(*specs, format="bgr")
        for n in range(4):
            frame = generator.integers(10, 110, (480, 640, 3), dtype=np.uint8)
            expected = host(frame)
            with stream():
                array = upload(frame)
                if n == 0:
                    result = device(array)
                elif n == 1:
                    result = upload(np.zeros_like(frame))
                    assert device(array, out=result) is result
                elif n == 2:
                    result = upload(np.zeros_like(frame))
                    # Of DLPack alone nobody can tell which stream is the current one.
                    device(Pack(array), out=Pack(result), stream=current())
                else:
                    try:
                        result = device(array, out=array)
                    except equalux.Error as error:  # a filter that reads what is beside a pixel
                        assert "over the frame" in str(error), error
                        result = device(array)
                assert np.array_equal(download(result), expected), f"{library}: {specs}, frame {n}"
        host.state = device.state
        print(f"{library}: {' '.join(specs)}: the CPU's bytes")


class Pack:
    """An array that has DLPack alone."""

    def __init__(self, array):
        self.array = array
        self.__dlpack__, self.__dlpack_device__ = array.__dlpack__, array.__dlpack_device__


def main():
    available, reason = equalux.cuda_status()
    if not available:
        print(f"skipped: {reason}")
        return 77
    ran = 0
    try:
        import torch
        check("PyTorch", lambda a: torch.from_numpy(a).cuda(), lambda a: a.cpu().numpy(),
              lambda: torch.cuda.stream(torch.cuda.Stream()), torch.cuda.current_stream)
        ran += 1
    except ModuleNotFoundError:
        print("PyTorch is not installed")
    try:
        import cupy
        check("CuPy", cupy.asarray, cupy.asnumpy, lambda: cupy.cuda.Stream(non_blocking=True),
              cupy.cuda.get_current_stream)
        ran += 1
    except ModuleNotFoundError:
        print("CuPy is not installed")
    return 0 if ran else 77


if __name__ == "__main__":
    sys.exit(main())
