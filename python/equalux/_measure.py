"""Figures of quality and stability, as `equalux measure` has them."""

from __future__ import annotations

import itertools
import json
from typing import Any, Dict, Iterator, Optional

import numpy

from . import _arrays, _equalux
from ._equalux import Error

_ORDERS = {"bgr": (0, 1, 2), "rgb": (2, 1, 0), "bgra": (0, 1, 2), "rgba": (2, 1, 0)}


def _bgr(frame: Any, format: Optional[str]) -> _arrays.Frame:
    array = numpy.asarray(frame)
    format = format.lower() if isinstance(format, str) else format
    if array.dtype != numpy.uint8:
        raise Error(f"the frame is an array of {array.dtype.name}, must be of uint8 to be measured")
    if array.ndim == 2 or array.shape[2:] == (1,):
        array = numpy.repeat(array.reshape(array.shape[:2] + (1,)), 3, axis=2)
    elif format is None:
        raise Error("format is missing, must be given for colours: 'bgr' as OpenCV has them, or 'rgb'")
    elif format not in _ORDERS:
        raise Error(f"format is '{format}', must be {', '.join(list(_ORDERS)[:-1])} or rgba")
    elif _ORDERS[format] != (0, 1, 2) or array.shape[2:] != (3,):
        if array.shape[2:] != (len(format),):
            raise Error(f"the frame is {_arrays._text(array.shape)}, must have {len(format)} samples "
                        f"in a pixel of {format}")
        array = numpy.ascontiguousarray(array[..., list(_ORDERS[format])])
    return _arrays.read(array, "bgr")


def _clip(frames: Any, format: Optional[str]) -> Iterator[_arrays.Frame]:
    if (hasattr(frames, "__array__") or hasattr(frames, "__array_interface__") or
            isinstance(frames, memoryview)):
        frames = numpy.asarray(frames)
        frames = frames if frames.ndim > 3 else [frames]
    elif not hasattr(frames, "__iter__"):
        raise Error(f"what is measured is a {type(frames).__name__}, must be an array or an iterable of arrays")
    return (_bgr(frame, format) for frame in frames)


def measure(a: Any, b: Any = None, *, format: Optional[str] = None) -> Dict[str, Any]:
    """Figures of a clip or a picture, or of a result `b` beside its original `a`.

    a, b: arrays, or iterables of arrays that are read one by one; of uint8, H x W or, in `format`
        ('bgr', 'rgb', 'bgra' or 'rgba'), colours. The shorter one ends it.
    Returns what `equalux measure --json` writes: 'figures', 'cuts' and 'frames', and 'width' and
    'height'. docs/quality.md tells what each figure is.
    """
    meter = None
    size = None
    others = itertools.repeat(None) if b is None else _clip(b, format)
    for one, two in zip(_clip(a, format), others):
        if meter is None:
            size = (one.desc.width, one.desc.height)
            meter = _equalux.Meter(*size, b is not None)
        for each, name in ((one, "a"), (two, "b")):
            if each is not None and (each.desc.width, each.desc.height) != size:
                raise Error(f"a frame of {name} is {each.desc.width}x{each.desc.height}, must be "
                            f"{size[0]}x{size[1]} as the first one")
        meter.add(one.places, [] if two is None else two.places)
    if meter is None:
        raise Error("there is no frame to measure")
    return {"width": size[0], "height": size[1], **json.loads(meter.json())}
