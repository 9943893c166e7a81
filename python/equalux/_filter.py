"""The class Filter, and the functions that make one of each filter's name."""

from __future__ import annotations

import inspect
import operator
import threading
from typing import Any, Iterable, Iterator, List, Mapping, Optional, Sequence

from . import _arrays, _equalux, _options
from ._equalux import Error

_BACKENDS = ("auto", "cpu", "cuda")
_LEAST_FPS = 0.000001
_MOST_FPS = 1000000
_MOST_DEVICE = 1023
_FURTHEST_S = 4e9  # limit of timestamps, which keeps their differences in range

# Keywords that every filter takes besides its own options.
_KEYWORDS = ("format", "matrix", "range", "backend", "device", "threads", "fps")
# Attributes that are not copied: each filter has its own.
_OWN = ("_lock", "_core", "_on_cuda", "_in", "_out", "_state", "_pool")


def _whole(name: str, value: Any) -> int:
    """A whole number that the library can count to."""
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or abs(number) >= 1 << 31:
        raise Error(f"{name} is {value!r}, must be a whole number")
    return number


def _number(name: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise Error(f"{name} is {value!r}, must be a number") from None


def _nanoseconds(pts: Any) -> int:
    seconds = _number("pts", pts)
    if not abs(seconds) <= _FURTHEST_S:
        raise Error(f"pts is {seconds:g}, must be within {_FURTHEST_S:.0f} seconds of 0")
    return round(seconds * 1e9)


class Filter:
    """One filter or several, one after another, over a stream of frames.

    specs: as behind the program's --filter, 'clahe:tiles=4,4', or ('clahe', {'tiles': (4, 4)}).
    format: what a frame's samples are: 'bgr' as OpenCV has them, 'rgb', 'bgra', 'gray', 'nv12',
        'i420' or any name of `equalux.formats`. Only gray frames (H x W) go without. The depth
        follows from the array: uint8, or uint16 for 16 bits.
    matrix, range: colours of YCbCr: 'bt601', 'bt709' or 'bt2020', and 'limited' or 'full'.
    backend: 'cpu', 'cuda', or 'auto': where the first frame lies.
    device: CUDA's number; by itself that of the first frame.
    threads: of the CPU; 0 = all cores.
    fps: frames in a second, for filters that work over time; a call's `pts` wins.
    options: of the only filter, with `_` for `-`: clip_limit=3, tiles=(4, 4).

    Threads may share a filter: they take turns, and filtering itself does not hold the GIL. Raises
    equalux.Error, a ValueError, with the line that the program would print.
    """

    def __init__(self, *specs: Any, format: Optional[str] = None, matrix: str = "bt709",
                 range: str = "limited", backend: str = "auto", device: Optional[int] = None,
                 threads: int = 0, fps: float = 30.0, **options: Any):
        if len(specs) == 1 and isinstance(specs[0], list):
            specs = tuple(specs[0])
        self._specs = _options.specs_of(specs)
        for name in options:
            meant = _equalux.nearest(_options.utf8(name), _KEYWORDS)
            if meant and not any(_options.is_known(each, name) for each, _ in self._specs):
                raise Error(f"there is no keyword '{name}', must be {meant}")
        _options.add(options, self._specs)
        for name, text in (("format", format), ("matrix", matrix), ("range", range), ("backend", backend)):
            if not isinstance(text, str) and (text is not None or name != "format"):
                raise Error(f"{name} is {text!r}, must be text")
        if backend not in _BACKENDS:
            raise Error(f"backend is '{backend}', must be auto, cpu or cuda")
        if format is not None:
            _arrays.check_format(format)
        self._format = format
        self._colour = (matrix, range)
        self._backend = backend
        self._device = None if device is None else _whole("device", device)
        if self._device is not None and not -1 <= self._device <= _MOST_DEVICE:
            raise Error(f"device is {self._device}, must be -1 to {_MOST_DEVICE}")
        if self._names_device() and backend == "cpu":
            raise Error(f"device is {self._device}, the number of a GPU, must be left out for backend cpu")
        self._threads = _whole("threads", threads)
        self._fps = _number("fps", fps)
        if not _LEAST_FPS <= self._fps <= _MOST_FPS:
            raise Error(f"fps is {self._fps:g}, must be {_LEAST_FPS:f} to {_MOST_FPS}")
        self._check(self._specs)
        self._begin()

    def _names_device(self) -> bool:
        return self._device is not None and self._device >= 0

    def _check(self, specs: List[_options.Spec]) -> None:
        _equalux.check(specs, self._backend, self._threads, *self._colour)

    def _begin(self) -> None:
        """Makes what each filter has for itself, and no copy of it shares."""
        self._lock = threading.RLock()
        self._core: Any = None
        self._on_cuda = False
        self._in: Optional[_arrays.Desc] = None
        self._out: Optional[_arrays.Desc] = None
        self._state: Optional[str] = None
        self._pool = _equalux.Pool()
        if self._backend == "cpu":
            self._make(False, -1)

    def __getstate__(self) -> Mapping[str, Any]:
        with self._lock:
            kept = {name: value for name, value in vars(self).items() if name not in _OWN}
            return {**kept, "_specs": list(self._specs), "state": self.state}

    def __setstate__(self, kept: Mapping[str, Any]) -> None:
        vars(self).update(kept)
        state = vars(self).pop("state")
        self._begin()
        self._state = state

    @property
    def specs(self) -> List[str]:
        """The filters as specs."""
        return [_options.spec_text(each) for each in self._specs]

    def __repr__(self) -> str:
        of = f", format={self._format!r}" if self._format else ""
        return f"equalux.Filter({', '.join(map(repr, self.specs))}{of})"

    def _make(self, cuda: bool, device: int) -> None:
        self._core = _equalux.Filter(self._specs, cuda, self._threads, device, self._fps)
        self._on_cuda = cuda
        self._in = None

    def __call__(self, frame: Any, out: Any = None, *, pts: Optional[float] = None,
                 discontinuity: bool = False, field_order: str = "",
                 stream: Any = None) -> Any:
        """Filters one frame, and returns the result.

        frame: an array of H x W, or H x W x 3 or 4, uint8 or uint16, with any strides; for planes of
            YCbCr a tuple of arrays, or the one array that OpenCV and PyAV have of 4:2:0. In device
            memory it is a PyTorch, CuPy or other array with `__cuda_array_interface__` or DLPack.
            A frame of another size or format begins a new stream: what is known of the frames
            before is forgotten.
        out: arrays of the result's shape; they may be the frame itself. Without it the result is new.
        pts: when the frame is shown, in seconds.
        discontinuity: True where frames before this one are missing.
        field_order: 'progressive', 'top-first' or 'bottom-first'.
        stream: CUDA: where to enqueue; by itself the current stream of the array's library, and the
            default stream for arrays that have DLPack alone. The call returns before the result is
            there, as calls of those libraries do.
        """
        time = None if pts is None else _nanoseconds(pts)
        if not isinstance(field_order, str):
            raise Error(f"field_order is {field_order!r}, must be text")
        with self._lock:
            number = 0
            first = frame[0] if isinstance(frame, (tuple, list)) and frame else frame
            if type(first).__module__ != "numpy":
                number = _arrays.stream_of(first, stream)
            source = _arrays.read(frame, self._format, number)
            if stream is not None and not source.arrays[0].cuda:
                raise Error("the frame lies on the host, must be in device memory for a stream")
            self._prepare(source)
            if self._on_cuda:
                self._order(source, number)
            assert self._out is not None
            if out is None:
                result, target = _arrays.new_arrays(self._out, source, self._pool)
                copies: Sequence[Any] = ()
            else:
                result = out
                target, copies = self._target(source, out, number)
            self._core.submit(source.places, target.places, time, bool(discontinuity), field_order,
                              number)
            for each, to in zip(target.arrays, copies):
                to[...] = each.array
            return result

    def _prepare(self, source: _arrays.Frame) -> None:
        """Makes and configures the filter for a frame."""
        cuda = source.arrays[0].cuda
        if self._core is None:
            if self._backend == "cuda" and not cuda:
                raise Error("the frame lies on the host, must be in device memory for backend cuda")
            if self._names_device() and not cuda:
                raise Error("the frame lies on the host, must be in device memory for device "
                            f"{self._device}")
            device = self._device
            if cuda and device is None:
                device = source.arrays[0].device
                if device is None:
                    device = _equalux.cuda_device_of(source.arrays[0].address)
            self._make(cuda, -1 if device is None else device)
        if cuda != self._on_cuda:
            raise Error("the frame lies " + ("in device memory" if cuda else "on the host") +
                        ", must be where those before it did" +
                        (" (backend cpu)" if self._backend == "cpu" else ""))
        if self._in != source.desc:
            # Validation comes first, so that an invalid frame changes nothing.
            _equalux.validate(*source.desc)
            self._in = None
            if not self._core.accepts(source.desc.format):
                # configure() raises the library's message, which lists the formats that the filter
                # takes.
                self._core.configure(*source.desc, *self._colour)
            self._out = _arrays.Desc(*self._core.configure(*source.desc, *self._colour))
            if self._state is not None:
                # A state that does not fit raises, and is kept for frames that it fits.
                self._core.load(self._state)
                self._state = None
            self._in = source.desc

    def _order(self, source: _arrays.Frame, stream: int) -> None:
        """Has the stream wait for what other streams still do to the frame."""
        for each in source.arrays:
            if each.stream is not None and each.stream != stream and {each.stream, stream} != {0, 1}:
                device = each.device
                if device is None:
                    device = _equalux.cuda_device_of(each.address)
                _equalux.cuda_wait(device, stream, each.stream)

    def _target(self, source: _arrays.Frame, out: Any, stream: int) -> Any:
        """Where the result goes, and the arrays of `out` that it is then copied to where they cannot
        be written to as frames are."""
        single = not isinstance(out, (tuple, list))
        wanted = (out,) if single else out
        arrays = [_arrays.describe(each, stream) for each in wanted]
        for each, given in zip(arrays, wanted):
            if not each.cuda and each.array is not given:
                raise Error(f"out is a {type(given).__name__}, must be writable arrays")
            if not each.writable:
                raise Error("out cannot be written to, must be writable arrays")
            if each.cuda != self._on_cuda:
                raise Error("out does not lie where the frame does, must be beside it")
        try:
            target = _arrays.Frame(arrays, single, self._out, "out")
        except _arrays.Loose:
            if self._on_cuda:
                raise Error("out's pixels do not lie side by side in device memory, must be "
                            "contiguous rows") from None
            target = None
        if target is not None and self._may_write(source, target):
            return target, ()
        if self._on_cuda:
            raise Error("out lies over the frame, must be another array for this filter")
        _, spare = _arrays.new_arrays(self._out, _like(source, arrays, single, self._out), self._pool)
        return spare, wanted

    def _may_write(self, source: _arrays.Frame, target: _arrays.Frame) -> bool:
        """False where results would be written over what is still to be read."""
        if not _overlap(source, target):
            return True
        if not self._core.works_in_place():
            return False
        return len(self._specs) > 1 or (source.places == target.places and source.desc == target.desc)

    def frames(self, frames: Iterable[Any]) -> Iterator[Any]:
        """Filters frames one by one as they are asked for: `for result in filter.frames(clip)`."""
        for frame in frames:
            yield self(frame)

    def update(self, index: int = 0, /, **options: Any) -> None:
        """Gives options of a filter, counted from 0, other values for the frames to come. What it
        knows of the frames before is kept where the filter can. All stays as it was where this
        raises."""
        with self._lock:
            for key, value in options.items():
                if value is None:
                    raise Error(f"{key} is None, must be a value")
            if not hasattr(index, "__index__") or not 0 <= index < len(self._specs):
                raise Error(f"filter {index!r} is not there, must be 0 to {len(self._specs) - 1}")
            values = _options.values_of(options)
            name, before = self._specs[index]
            changed = [each for each in before if each[0] not in dict(values)] + values
            if self._core is None:
                self._check([(name, changed)])
            else:
                self._core.update(index, values)
            self._specs[index] = (name, changed)

    def reset(self) -> None:
        """Forgets the frames seen so far."""
        with self._lock:
            self._state = None
            if self._core is not None:
                self._core.reset()

    @property
    def state(self) -> Optional[str]:
        """What is known of the frames so far, as a JSON text; None before the first one. Set, it goes
        on from there, also in another process: before the first frame it counts from that one on."""
        with self._lock:
            return self._state if self._in is None else self._core.save()

    @state.setter
    def state(self, state: Optional[str]) -> None:
        with self._lock:
            if state is None:
                self.reset()
            elif self._in is None:
                self._state = _options.utf8(str(state))
            else:
                self._core.load(_options.utf8(str(state)))


def _overlap(a: _arrays.Frame, b: _arrays.Frame) -> bool:
    for one in a.arrays:
        low, high = _bounds(one)
        for two in b.arrays:
            begin, end = _bounds(two)
            if low < end and begin < high:
                return True
    return False


def _bounds(plane: _arrays.Plane) -> Any:
    low = high = plane.address
    for length, stride in zip(plane.shape, plane.strides):
        if stride < 0:
            low += (length - 1) * stride
        else:
            high += (length - 1) * stride
    return low, high + int(plane.type[1:])


def _like(source: _arrays.Frame, arrays: Any, single: bool, desc: Any) -> _arrays.Frame:
    """A frame whose shapes are those of `arrays`, for memory of the same shape."""
    like = object.__new__(_arrays.Frame)
    like.arrays, like.single, like.desc, like.places = arrays, single, desc, source.places
    return like


def _common() -> List[inspect.Parameter]:
    return [each.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            for name, each in inspect.signature(Filter).parameters.items()
            if name not in ("specs", "options")]


def _maker(info: _options.FilterInfo) -> Any:
    def make(**options: Any) -> Filter:
        return Filter(info.name, **options)

    make.__name__ = make.__qualname__ = _options.keyword_of(info.name)
    make.__module__ = "equalux"
    make.__doc__ = _options.documentation_of(info)
    make.__signature__ = _options.signature_of(info, _common())  # type: ignore[attr-defined]
    return make


MAKERS: Mapping[str, Any] = {_options.keyword_of(name): _maker(info) for name, info in _options.FILTERS.items()}
