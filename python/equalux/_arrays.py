"""Frames as arrays: which of them fit a format, and where their planes lie.

An array is known by what NumPy's and CUDA's array interfaces say of it, which have one form. Nothing
is copied but what does not lie in memory as frames do: pixels side by side, row below row.
"""

from __future__ import annotations

import operator
import sys
from typing import Any, List, NamedTuple, Optional, Sequence, Tuple

import numpy

from . import _equalux
from ._equalux import Error

FORMATS = _equalux.formats()

# Formats of 16 bits per sample, by the names of their 8-bit forms.
_DEEP = {"gray": "gray16_le", "gray8": "gray16_le"}
for _name in ("rgb", "bgr"):
    _DEEP[_name] = f"{_name}48_le"
for _name in ("rgba", "bgra", "argb", "abgr"):
    _DEEP[_name] = f"{_name}64_le"

_DLPACK_CUDA = (2, 13)  # device memory, and memory that device and host share

_ALIGNMENT = 64  # alignment of the planes of new results, bytes

_ITEMS = {"u1": 1, "u2": 2, "f4": 4}  # bytes per sample of each type


class Desc(NamedTuple):
    """Format and size of a frame."""

    format: str
    width: int
    height: int


class Plane:
    """Where one array lies, in the host's memory or in a device's."""

    __slots__ = ("array", "address", "shape", "strides", "type", "writable", "cuda", "stream",
                 "device", "loan")

    def __init__(self, array: Any, known: dict, cuda: bool):
        self.array = array
        self.address, read_only = known["data"]
        self.writable = not read_only
        self.shape: Tuple[int, ...] = known["shape"]
        self.type: str = known["typestr"][1:]
        strides = known.get("strides")
        # Unknown types have no item size; the formats' check refuses them before strides matter.
        self.strides = tight(self.shape, _ITEMS.get(self.type, 0)) if strides is None else strides
        if known["typestr"][0] == ">":
            raise Error("an array's samples are big-endian, must be little-endian")
        self.cuda = cuda
        self.stream: Optional[int] = known.get("stream")
        self.device: Optional[int] = None
        self.loan: Any = None


def tight(shape: Sequence[int], item: int) -> Tuple[int, ...]:
    """Strides of an array in C order."""
    strides = []
    for length in reversed(shape):
        strides.append(item)
        item *= length
    return tuple(reversed(strides))


def describe(array: Any, stream: Optional[int] = None) -> Plane:
    """Where an array lies. `stream` is the CUDA stream that will use it."""
    if type(array) is numpy.ndarray:
        return Plane(array, array.__array_interface__, False)
    known = getattr(array, "__cuda_array_interface__", None)
    if known is not None:
        return Plane(array, known, True)
    if isinstance(array, numpy.ndarray):
        return Plane(array, array.__array_interface__, False)
    device = getattr(array, "__dlpack_device__", None)
    if device is not None:
        kind, number = device()
        if int(kind) in _DLPACK_CUDA:
            # DLPack's streams 1 and 2 are CUDA's default streams; 0 is not allowed.
            loan = _equalux.DlpackFrame(array.__dlpack__(stream=stream or 1))
            plane = Plane(array, {"data": (loan.address, False), "shape": loan.shape,
                                  "typestr": loan.typestr, "strides": loan.strides}, True)
            plane.device = int(number)
            plane.loan = loan
            return plane
    try:
        whole = numpy.asarray(array)
    except ValueError:  # lists of different lengths
        whole = None
    if whole is None or whole.dtype == object:
        raise Error(f"a frame is a {type(array).__name__}, must be an array or a tuple of planes")
    return Plane(whole, whole.__array_interface__, False)


def channels_of(name: str) -> int:
    """Samples side by side that make a pixel of a format's only plane."""
    row = FORMATS[name]
    if row["model"] == "yuv":
        return 2  # packed 4:2:2: each pixel has luma and one of the two chroma samples
    return row["step"][0] // sample_bytes(name)


def sample_bytes(name: str) -> int:
    row = FORMATS[name]
    return 4 if row["model"] == "real" else 2 if row["depth"] > 8 else 1


def sample_type(name: str) -> str:
    return "f4" if FORMATS[name]["model"] == "real" else f"u{sample_bytes(name)}"


def check_format(wanted: str) -> None:
    """Raises where frames have no format of that name, in any depth."""
    if wanted.lower() != "gray" and wanted.lower() not in FORMATS:
        raise Error(f"format is '{wanted}', must be gray, {', '.join(FORMATS)}")


def format_of(wanted: Optional[str], planes: Sequence[Plane]) -> str:
    """The format of a frame: what `format` says, with the depth that the array has."""
    first = planes[0]
    if first.type not in ("u1", "u2"):
        raise Error(f"the frame is an array of {numpy.dtype(first.type).name}, must be of uint8 or uint16")
    if not 2 <= len(first.shape) <= 3:
        raise Error(f"the frame is an array of {len(first.shape)} dimensions, must be of 2 or 3")
    if wanted is None:
        if len(planes) == 1 and (len(first.shape) == 2 or first.shape[2:] == (1,)):
            return "gray8" if first.type == "u1" else "gray16_le"
        raise Error("format is missing, must be given for colours: 'bgr' as OpenCV has them, 'rgb', "
                    "'nv12' or another")
    name = wanted.lower()
    if first.type == "u2" and name in _DEEP:
        return _DEEP[name]
    if name == "gray":
        name = "gray8"
    if sample_type(name) != first.type:
        raise Error(f"the frame is an array of {numpy.dtype(first.type).name}, must be of "
                    f"{numpy.dtype(sample_type(name)).name} for {name}")
    return name


def plane_shape(desc: Desc, plane: int) -> Tuple[int, ...]:
    """The shape of one plane's array, of those that frames of a format are made of."""
    row = FORMATS[desc.format]
    if row["planes"] == 1:
        channels = channels_of(desc.format)
        return (desc.height, desc.width) if channels == 1 else (desc.height, desc.width, channels)
    if plane == 0 or row["model"] == "real":
        return desc.height, desc.width
    wide = (desc.width + (1 << row["shift_x"]) - 1) >> row["shift_x"]
    high = (desc.height + (1 << row["shift_y"]) - 1) >> row["shift_y"]
    return (high, wide, 2) if row["planes"] == 2 else (high, wide)


def _stacked_height(name: str, planes: Sequence[Plane]) -> Optional[int]:
    """The height of a frame whose planes lie below each other in one array, as OpenCV and PyAV give
    4:2:0; None where they do not."""
    row = FORMATS[name]
    shape = planes[0].shape
    if len(planes) == 1 and row["planes"] > 1 and row["shift_y"] == 1 and len(shape) == 2:
        if shape[0] % 3 or shape[1] % 2:
            raise Error(f"a frame of {name} in one array is {_text(shape)}, must be of 3/2 times an "
                        "even number of rows and an even width, or three planes")
        return shape[0] * 2 // 3
    return None


def size_of(name: str, planes: Sequence[Plane]) -> Desc:
    """Size of a frame by the shape of its first array."""
    shape = planes[0].shape
    height = _stacked_height(name, planes)
    if height is not None:
        return Desc(name, shape[1], height)
    row = FORMATS[name]
    if len(planes) == 1 and row["planes"] > 1 and len(shape) == 3:
        return Desc(name, shape[2], shape[1])
    if row["model"] == "yuv" and row["planes"] == 1 and shape[1] % 2:
        # The last pair of pixels would lie half outside the frame.
        raise Error(f"the frame of {name} is {_text(shape)}, must be of an even width")
    return Desc(name, shape[1], shape[0])


class Loose(Exception):
    """An array whose pixels do not lie side by side."""


def _rows(plane: Plane, shape: Tuple[int, ...], item: int) -> Tuple[int, int]:
    """Address and stride of an array's rows. Throws Loose where pixels are not side by side."""
    step = item
    for length, stride in zip(reversed(shape[1:]), reversed(plane.strides[1:])):
        if length > 1 and stride != step:
            raise Loose
        step *= length
    return plane.address, plane.strides[0] if shape[0] > 1 else step


def _text(shape: Sequence[int]) -> str:
    return "x".join(str(each) for each in shape) or "a number"


class Frame:
    """A frame's arrays, and where its planes lie."""

    __slots__ = ("desc", "arrays", "single", "places")

    def __init__(self, arrays: List[Plane], single: bool, desc: Desc, what: str):
        self.arrays = arrays
        self.single = single  # one array instead of a tuple
        self.desc = desc
        self.places = self._find(what)

    def _find(self, what: str) -> List[Tuple[int, int]]:
        row = FORMATS[self.desc.format]
        item = sample_bytes(self.desc.format)
        kind = sample_type(self.desc.format)
        for plane in self.arrays:
            if plane.type != kind:
                raise Error(f"{what} is an array of {numpy.dtype(plane.type).name}, must be of "
                            f"{numpy.dtype(kind).name} for {self.desc.format}")
        count = row["planes"]
        if self.single and count > 1:
            return self._find_in_one(what, item)
        if len(self.arrays) != count:
            raise Error(f"{what} has {len(self.arrays)} arrays, must be {count} of {self.desc.format}")
        places = []
        for p, plane in enumerate(self.arrays):
            wanted = plane_shape(self.desc, p)
            flat = wanted[:-2] + (wanted[-2] * wanted[-1],) if len(wanted) == 3 else wanted + (1,)
            if plane.shape != wanted and not (plane.shape == flat and (count > 1 or len(wanted) == 2)):
                name = what if count == 1 else f"plane {p} of {what}"
                raise Error(f"{name} is {_text(plane.shape)}, must be {_text(wanted)} for "
                            f"{self.desc.format}")
            places.append(_rows(plane, plane.shape, item))
        return places

    def _find_in_one(self, what: str, item: int) -> List[Tuple[int, int]]:
        plane = self.arrays[0]
        desc = self.desc
        if len(plane.shape) == 3:  # stacked planes of 4:4:4
            wanted = (FORMATS[desc.format]["planes"], desc.height, desc.width)
            if plane.shape != wanted or any(plane_shape(desc, p) != wanted[1:] for p in range(wanted[0])):
                raise Error(f"{what} is {_text(plane.shape)}, must be a tuple of planes for {desc.format}")
            if desc.width > 1 and plane.strides[2] != item:
                raise Loose
            return [(plane.address + p * plane.strides[0], plane.strides[1]) for p in range(wanted[0])]
        wanted_2d = (desc.height * 3 // 2, desc.width)
        if _stacked_height(desc.format, self.arrays) is None:
            raise Error(f"{what} is {_text(plane.shape)}, must be a tuple of planes for {desc.format}")
        if plane.shape != wanted_2d:
            raise Error(f"{what} is {_text(plane.shape)}, must be {_text(wanted_2d)} or a tuple of "
                        f"planes for {desc.format}")
        address, stride = _rows(plane, plane.shape, item)
        below = address + desc.height * stride
        if FORMATS[desc.format]["planes"] == 2:
            return [(address, stride), (below, stride)]
        # Each row of the array holds two rows of chroma.
        if stride != desc.width * item:
            raise Loose
        size = (desc.height // 2) * (desc.width // 2) * item
        half = desc.width // 2 * item
        return [(address, stride), (below, half), (below + size, half)]


def read(frame: Any, wanted: Optional[str], stream: Optional[int] = None) -> Frame:
    """A frame that was handed in. What does not lie as frames do is copied, on the host."""
    single = not isinstance(frame, (tuple, list))
    arrays = [describe(each, stream) for each in ((frame,) if single else frame)]
    if not arrays:
        raise Error("the frame has no arrays, must be an array or a tuple of planes")
    if any(each.cuda != arrays[0].cuda for each in arrays):
        raise Error("the frame's planes lie on the host and on a device, must lie together")
    name = format_of(wanted, arrays)
    desc = size_of(name, arrays)
    try:
        return Frame(arrays, single, desc, "the frame")
    except Loose:
        if arrays[0].cuda:
            raise Error("the frame's pixels do not lie side by side in device memory, must be "
                        "contiguous rows") from None
        copies = [describe(numpy.ascontiguousarray(each.array)) for each in arrays]
        return Frame(copies, single, desc, "the frame")


def shapes_of(desc: Desc, like: Frame) -> List[Tuple[int, ...]]:
    """Shapes of a result's arrays: those of its frame where format and size are the same."""
    if desc == like.desc:
        return [each.shape for each in like.arrays]
    return [plane_shape(desc, p) for p in range(FORMATS[desc.format]["planes"])]


def new_arrays(desc: Desc, like: Frame, pool: Any) -> Tuple[Any, Frame]:
    """Memory for a result, of the library that the frame's arrays are of."""
    shapes = shapes_of(desc, like)
    kind = numpy.dtype(sample_type(desc.format))
    if not like.arrays[0].cuda:
        # All planes share one block, so that the next frame can reuse it as a whole.
        counts = []
        begins = []
        total = 0
        for shape in shapes:
            count = 1
            for length in shape:
                count *= length
            counts.append(count)
            begins.append(total)
            total += -(-count * kind.itemsize // _ALIGNMENT) * _ALIGNMENT
        memory = pool.take(begins[-1] + counts[-1] * kind.itemsize)
        arrays = [numpy.frombuffer(memory, kind, count, begin).reshape(shape)
                  for shape, count, begin in zip(shapes, counts, begins)]
    else:
        arrays = [_device_array(like.arrays[0].array, shape, kind) for shape in shapes]
    single = like.single and desc == like.desc or len(arrays) == 1
    whole = arrays[0] if single else tuple(arrays)
    return whole, Frame([describe(each) for each in arrays], single, desc, "out")


def _device_array(like: Any, shape: Tuple[int, ...], kind: numpy.dtype) -> Any:
    library = sys.modules.get(type(like).__module__.partition(".")[0])
    if hasattr(like, "new_empty"):  # PyTorch
        return like.new_empty(shape, dtype=getattr(library, kind.name))
    if hasattr(library, "cuda") and hasattr(library, "empty"):  # CuPy
        with library.cuda.Device(like.device.id):
            return library.empty(shape, kind)
    raise Error(f"out is missing, must be given for arrays of {type(like).__module__}")


def stream_of(array: Any, stream: Any) -> int:
    """The CUDA stream that is meant, as a number: `stream` itself, or the current one of the array's
    library."""
    for name in ("cuda_stream", "ptr"):  # a stream of PyTorch, of CuPy
        if hasattr(stream, name):
            return int(getattr(stream, name))
    if stream is not None:
        try:
            return operator.index(stream)
        except TypeError:
            raise Error(f"stream is {stream!r}, must be a stream of PyTorch or CuPy, or its number") from None
    library = sys.modules.get(type(array).__module__.partition(".")[0])
    cuda = getattr(library, "cuda", None)
    if hasattr(cuda, "current_stream"):  # PyTorch, whose arrays may lie on the host
        if not array.is_cuda:
            return 0
        return int(cuda.current_stream(array.device).cuda_stream)
    if hasattr(cuda, "get_current_stream"):  # CuPy
        return int(cuda.get_current_stream().ptr)
    known = getattr(array, "__cuda_array_interface__", None) or {}
    return int(known.get("stream") or 0)
