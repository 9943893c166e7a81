"""equalux: makes low-contrast video readable, with the bytes of the program equalux.

    import cv2, equalux
    readable = equalux.clahe(tiles=(4, 4), format="bgr")(cv2.imread("dark.png"))

`Filter` is one filter or several over a stream of frames; `clahe()`, `equalize()` and a function for
each other filter make one by keyword arguments. `measure()` has the figures of `equalux measure`.
"""

from ._equalux import Error, cuda_status, simd_target
from ._equalux import version as __version__
from ._arrays import FORMATS as _FORMATS
from ._filter import MAKERS as _MAKERS
from ._filter import Filter
from ._measure import measure
from ._options import FILTERS as filters
from ._options import FilterInfo, Option

for _each in (Error, Filter, FilterInfo, Option):
    _each.__module__ = "equalux"
del _each
Error.code = 2  # of those raised here; the library gives each its own
Error.__doc__ = """What is wrong and what would be right, in one line; `code` is the program's exit code."""

formats = tuple(_FORMATS)
"""Names of all formats of frames."""

globals().update(_MAKERS)

__all__ = ["Error", "Filter", "FilterInfo", "Option", "cuda_status", "filters", "formats", "measure",
           "simd_target", *_MAKERS]
