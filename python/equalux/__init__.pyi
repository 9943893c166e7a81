# Written by python/backend/make_hints.py out of the tables of options.
from typing import (Any, Dict, Iterable, Iterator, List, Literal, Mapping, NamedTuple, Optional, Sequence,
                    Tuple, Union)

__version__: str
formats: Tuple[str, ...]
filters: Mapping[str, FilterInfo]
_Text = Union[str, float, Sequence[Union[str, float]]]
_Spec = Union[str, Tuple[str, Mapping[str, Any]]]

class Error(ValueError):
    code: int

class Option(NamedTuple):
    key: str
    help: str
    type: str
    default: str
    range: str
    names: Tuple[str, ...]
    live: bool
    cuda_only: bool

class FilterInfo(NamedTuple):
    name: str
    summary: str
    options: Tuple[Option, ...]

class Filter:
    def __init__(self, *specs: Union[_Spec, List[_Spec]],
    format: Optional[str] = None, matrix: Literal["bt601", "bt709", "bt2020"] = "bt709",
    range: Literal["limited", "full"] = "limited", backend: Literal["auto", "cpu", "cuda"] = "auto",
    device: Optional[int] = None, threads: int = 0, fps: float = 30.0,
    **options: Any) -> None: ...
    @property
    def specs(self) -> List[str]: ...
    state: Optional[str]
    def __call__(self, frame: Any, out: Any = None, *, pts: Optional[float] = None,
                 discontinuity: bool = False,
                 field_order: Literal["", "progressive", "top-first", "bottom-first"] = "",
                 stream: Any = None) -> Any: ...
    def frames(self, frames: Iterable[Any]) -> Iterator[Any]: ...
    def update(self, index: int = 0, /, **options: Any) -> None: ...
    def reset(self) -> None: ...

def measure(a: Any, b: Any = None, *, format: Optional[str] = None) -> Dict[str, Any]: ...
def cuda_status() -> Tuple[bool, str]: ...
def simd_target() -> str: ...

def equalize(*,
    format: Optional[str] = None, matrix: Literal["bt601", "bt709", "bt2020"] = "bt709",
    range: Literal["limited", "full"] = "limited", backend: Literal["auto", "cpu", "cuda"] = "auto",
    device: Optional[int] = None, threads: int = 0, fps: float = 30.0,
    scaler: Optional[Literal["max-abs", "min-max", "min-max-nonzero"]] = None,
    bins: Optional[int] = None,
    curve_from: Optional[str] = None,
    space: Optional[Literal["value", "luma", "lightness"]] = None,
    strength: Optional[Union[float, str]] = None,
    clip_limit: Optional[Union[float, str]] = None,
    floor: Optional[Union[float, str]] = None,
    ceiling: Optional[Union[float, str]] = None,
    stretch: Optional[Union[float, str]] = None,
    max_gain: Optional[Union[float, str]] = None,
    min_gain: Optional[Union[float, str]] = None,
    saturation: Optional[Union[float, str]] = None,
    saturation_max: Optional[Union[float, str]] = None,
    temporal_ms: Optional[Union[float, str]] = None,
    brighten_ms: Optional[Union[float, str]] = None,
    darken_ms: Optional[Union[float, str]] = None,
    region: Optional[_Text] = None,
    surround: Optional[Literal["keep", "ignore"]] = None,
    chain: Optional[Literal["fused", "staged"]] = None,
    compatible: Optional[Literal["none", "opencv"]] = None,
    scan: Optional[Literal["baseline", "two-ended", "two-ended-shared", "kogge-stone", "kogge-stone-shared", "brent-kung", "brent-kung-shared", "cub"]] = None,
    equalize: Optional[Literal["divide", "curve"]] = None,
    rgb_to_hsv: Optional[Literal["coalesced", "uncoalesced"]] = None,
    histogram: Optional[Literal["global", "shared"]] = None,
    pixels_per_thread: Optional[int] = None,
    grid: Optional[_Text] = None,
    block: Optional[_Text] = None,
) -> Filter:
    """Histogram equalization of the value channel of HSV.

    Makes a `Filter` of `equalize`; `format` and its like are those of `Filter`.

    scaler: how the cumulative histogram becomes the curve: max-abs (cumulative histogram over the number of pixels), min-max (the same, stretched from the first bin on) or min-max-nonzero (the same, stretched from the first bin that is not empty on) (default: max-abs)
    bins: histogram bins, 2 to 65536; 0 = 2^depth (default: 0)
    curve_from: the curve of every frame: one that equalux run --curve-to wrote, for clips to stay comparable; it stands alone, without what makes or bounds a curve (default: each frame's own)
    space: what is equalized: value (the largest of R, G and B; any format), luma (Y of YUV, or a weighted mean of RGB) or lightness (CIE L*, which keeps hue best; RGB and gray of 8 bits) (default: value)
    strength: how far the curve goes, from the picture as it is to its full equalization, 0 to 1; auto = 0.8 where the picture lacks contrast, down to 0.4 where it has it (default: 1)
    clip_limit: steepest rise of the curve as a multiple of the identity's, 1 to 255; 0 = none (default: 0)
    floor: share of the darkest pixels that may become black, 0 to 99.9 per cent (default: 0)
    ceiling: share of the pixels above which they may become white, 0.1 to 100 per cent (default: 100)
    stretch: steepest straight line from the picture's floor to its ceiling as a multiple of the identity, 1 to 16; the curve may be as steep, and what strength leaves lies on it (default: 1)
    max_gain: largest factor of a pixel's value, 1 to 255; 0 = none (default: 0)
    min_gain: least factor of a pixel's value, 0 to 1; 0 = none; auto = 0.96 where the picture has contrast, down to none where it lacks it; 1 makes nothing darker (default: 0)
    saturation: factor of each colour's saturation, in steps of 1/256, 0 to 4; auto = as much as the curve gives contrast back, level by level; hue is kept (default: 1)
    saturation_max: largest factor of saturation auto, 1 to 16 (default: 2.5)
    temporal_ms: time constant of the curve, 0 to 3600000 milliseconds; 0 = each frame alone; light flicker is undone, cuts are taken at once (default: 0)
    brighten_ms: time constant where the picture gets brighter, 0 to 3600000 milliseconds; 0 = temporal-ms (default: 0)
    darken_ms: time constant where the picture gets darker, 0 to 3600000 milliseconds; 0 = temporal-ms (default: 0)
    region: only these pixels make the curve, all are transformed: a rectangle in pixels or, with a %, in per cent of the frame (10%,10%,80%,80%), or a .pgm, for the program a .png too, of the frame's size whose white counts (default: the frame)
    surround: black bars and the surround of round and octagonal pictures: keep (it counts like the picture) or ignore (it is found and left out of the histogram) (default: keep)
    chain: which implementation runs: fused (two passes over the frame, exact; any format) or staged (the published stages, for study; RGB and GRAY8) (default: fused)
    compatible: whose bytes are made: none (our own formulas; any format) or opencv (OpenCV's, of equalize cv::equalizeHist on GRAY8, of clahe cv::createCLAHE on GRAY8 and GRAY16); it stands alone, but for clahe's tiles and clip-limit (default: none)
    scan: staged chain: prefix sum of the histogram: baseline (one bin after another), two-ended (from both ends), kogge-stone (Kogge and Stone) or brent-kung (Brent and Kung); on CUDA also two-ended-shared (from both ends, in shared memory), kogge-stone-shared (Kogge and Stone, in shared memory), brent-kung-shared (Brent and Kung, in shared memory) or cub (CUB's scan) (default: the backend's choice)
    equalize: staged chain: how the curve is applied: divide (a division for each pixel) or curve (a division for each bin, a look-up for each pixel) (default: the backend's choice)
    rgb_to_hsv: staged chain, CUDA: how pixels are read: coalesced (neighbouring threads read neighbouring pixels) or uncoalesced (each thread reads a run of pixels) (default: the backend's choice)
    histogram: staged chain, CUDA: where bins are counted: global (counts in global memory) or shared (counts in each block's shared memory first) (default: the backend's choice)
    pixels_per_thread: staged chain, CUDA: pixels that a thread handles, 1, 2, 4 or 8 (default: the backend's choice)
    grid: staged chain, CUDA: blocks of a launch, x from 1 to 2147483647, y and z from 1 to 65535 (default: the backend's choice)
    block: staged chain, CUDA: threads of a block, x and y from 1 to 1024, z from 1 to 64, x*y*z at most 1024 (default: the backend's choice)
    """
def clahe(*,
    format: Optional[str] = None, matrix: Literal["bt601", "bt709", "bt2020"] = "bt709",
    range: Literal["limited", "full"] = "limited", backend: Literal["auto", "cpu", "cuda"] = "auto",
    device: Optional[int] = None, threads: int = 0, fps: float = 30.0,
    tiles: Optional[_Text] = None,
    clip_limit: Optional[Union[float, str]] = None,
    strength: Optional[Union[float, str]] = None,
    floor: Optional[Union[float, str]] = None,
    ceiling: Optional[Union[float, str]] = None,
    max_gain: Optional[Union[float, str]] = None,
    min_gain: Optional[Union[float, str]] = None,
    temporal_ms: Optional[Union[float, str]] = None,
    brighten_ms: Optional[Union[float, str]] = None,
    darken_ms: Optional[Union[float, str]] = None,
    scaler: Optional[Literal["max-abs", "min-max", "min-max-nonzero"]] = None,
    compatible: Optional[Literal["none", "opencv"]] = None,
    saturation: Optional[Union[float, str]] = None,
    saturation_max: Optional[Union[float, str]] = None,
) -> Filter:
    """Adaptive equalization, a curve of its own for each tile.

    Makes a `Filter` of `clahe`; `format` and its like are those of `Filter`.

    tiles: tiles beside and above each other, x,y, 1 to 16 each, with compatible opencv to 256 (default: 8,8)
    clip_limit: steepest rise of the curve as a multiple of the identity's, 1 to 255; 0 = none (default: 2)
    strength: how far the curve goes, from the picture as it is to its full equalization, 0 to 1; auto = 0.8 where the picture lacks contrast, down to 0.4 where it has it (default: 1)
    floor: share of the darkest pixels that may become black, 0 to 99.9 per cent (default: 0)
    ceiling: share of the pixels above which they may become white, 0.1 to 100 per cent (default: 100)
    max_gain: largest factor of a pixel's value, 1 to 255; 0 = none (default: 0)
    min_gain: least factor of a pixel's value, 0 to 1; 0 = none; auto = 0.96 where the picture has contrast, down to none where it lacks it; 1 makes nothing darker (default: 0)
    temporal_ms: time constant of the curve, 0 to 3600000 milliseconds; 0 = each frame alone; light flicker is undone, cuts are taken at once (default: 0)
    brighten_ms: time constant where the picture gets brighter, 0 to 3600000 milliseconds; 0 = temporal-ms (default: 0)
    darken_ms: time constant where the picture gets darker, 0 to 3600000 milliseconds; 0 = temporal-ms (default: 0)
    scaler: how the cumulative histogram becomes the curve: max-abs (cumulative histogram over the number of pixels), min-max (the same, stretched from the first bin on) or min-max-nonzero (the same, stretched from the first bin that is not empty on) (default: max-abs)
    compatible: whose bytes are made: none (our own formulas; any format) or opencv (OpenCV's, of equalize cv::equalizeHist on GRAY8, of clahe cv::createCLAHE on GRAY8 and GRAY16); it stands alone, but for clahe's tiles and clip-limit (default: none)
    saturation: factor of each colour's saturation, in steps of 1/256, 0 to 4; auto = as much as the curve gives contrast back, level by level; hue is kept (default: 1)
    saturation_max: largest factor of saturation auto, 1 to 16 (default: 2.5)
    """
def denoise(*,
    format: Optional[str] = None, matrix: Literal["bt601", "bt709", "bt2020"] = "bt709",
    range: Literal["limited", "full"] = "limited", backend: Literal["auto", "cpu", "cuda"] = "auto",
    device: Optional[int] = None, threads: int = 0, fps: float = 30.0,
    strength: Optional[Union[float, str]] = None,
    temporal: Optional[int] = None,
    spatial: Optional[Union[float, str]] = None,
    noise: Optional[Union[float, str]] = None,
    dither: Optional[Literal["none", "ordered"]] = None,
) -> Filter:
    """Noise reduction over time, along what moves.

    Makes a `Filter` of `denoise`; `format` and its like are those of `Filter`.

    strength: how much of the noise that is found is taken off, 0 to 1; 0 = off (default: 1)
    temporal: frames that are averaged at most where nothing moves by itself, 1 to 31 (default: 24)
    spatial: how much neighbours help where there are few frames to go by, 0 to 1 (default: 0.6)
    noise: standard deviation of the noise, in levels of 8 bits, 0.1 to 64; 0 = estimated (default: 0)
    dither: how the fractions of levels that are found become levels, here or in the equalize behind: none (each becomes the nearest) or ordered (the one above or below by a pattern, so that slopes stay smooth) (default: none)
    """
def convolve(*,
    format: Optional[str] = None, matrix: Literal["bt601", "bt709", "bt2020"] = "bt709",
    range: Literal["limited", "full"] = "limited", backend: Literal["auto", "cpu", "cuda"] = "auto",
    device: Optional[int] = None, threads: int = 0, fps: float = 30.0,
    kernel: Optional[Literal["box-blur", "gaussian-blur", "edge", "emboss-horizontal", "emboss-vertical", "sharpen", "identity", "gaussian", "box", "custom"]] = None,
    weights: Optional[_Text] = None,
    divisor: Optional[_Text] = None,
    offset: Optional[_Text] = None,
    size: Optional[int] = None,
    sigma: Optional[Union[float, str]] = None,
    truncate: Optional[Union[float, str]] = None,
    border: Optional[Literal["replicate", "reflect-101", "constant"]] = None,
    border_value: Optional[int] = None,
    mode: Optional[Literal["production", "sequential", "global", "constant", "shared"]] = None,
    block: Optional[int] = None,
) -> Filter:
    """Convolution with a named kernel or with weights of your own.

    Makes a `Filter` of `convolve`; `format` and its like are those of `Filter`.

    kernel: which kernel: box-blur (mean of 3 x 3 samples), gaussian-blur (3 x 3 samples weighted 1 2 1, 2 4 2, 1 2 1), edge (8 times a sample less its neighbours), emboss-horizontal (left less right, on 128), emboss-vertical (above less below, on 128), sharpen (5 times a sample less the four beside it), identity (the frame as it is), gaussian (Gaussian of any sigma, up to 31 x 31), box (mean of up to 31 x 31 samples) or custom (weights of your own); weights make it custom (default: gaussian-blur)
    weights: decimals with commas between them, row after row: n * n of them, n odd and at most 15 (default: the kernel's own)
    divisor: a decimal that the weights are divided by (default: 1)
    offset: a decimal that is added to sums (default: the kernel's own)
    size: gaussian and box: samples a side, odd, 3 to 31; 0 = what fits sigma, else 3 (default: 0)
    sigma: gaussian: its standard deviation, 0.01 to 1000 pixels; 0 = one that fits the size (default: 0)
    truncate: gaussian without size: radius in units of sigma, above 0 to 100 (default: 4)
    border: what stands for samples outside the frame: replicate (the frame's edge, repeated), reflect-101 (the frame mirrored, its edge once) or constant (border-value) (default: replicate)
    border_value: level outside, where border is constant, 0 to 255 (default: 0)
    mode: how it runs: production (the fastest of the backend); on the CPU also sequential (one sample after another); on CUDA also global (a thread a sample, all in global memory), constant (the kernel in constant memory) or shared (the kernel in constant, samples in shared memory); all give the same bytes (default: production)
    block: threads a side of a block of the GPU's modes for study, 8, 16 or 32 (default: 16)
    """
def box_blur(*,
    format: Optional[str] = None, matrix: Literal["bt601", "bt709", "bt2020"] = "bt709",
    range: Literal["limited", "full"] = "limited", backend: Literal["auto", "cpu", "cuda"] = "auto",
    device: Optional[int] = None, threads: int = 0, fps: float = 30.0,
    offset: Optional[_Text] = None,
    border: Optional[Literal["replicate", "reflect-101", "constant"]] = None,
    border_value: Optional[int] = None,
    mode: Optional[Literal["production", "sequential", "global", "constant", "shared"]] = None,
    block: Optional[int] = None,
) -> Filter:
    """Mean of 3 x 3 samples.

    Makes a `Filter` of `box-blur`; `format` and its like are those of `Filter`.

    offset: a decimal that is added to sums (default: the kernel's own)
    border: what stands for samples outside the frame: replicate (the frame's edge, repeated), reflect-101 (the frame mirrored, its edge once) or constant (border-value) (default: replicate)
    border_value: level outside, where border is constant, 0 to 255 (default: 0)
    mode: how it runs: production (the fastest of the backend); on the CPU also sequential (one sample after another); on CUDA also global (a thread a sample, all in global memory), constant (the kernel in constant memory) or shared (the kernel in constant, samples in shared memory); all give the same bytes (default: production)
    block: threads a side of a block of the GPU's modes for study, 8, 16 or 32 (default: 16)
    """
def gaussian_blur(*,
    format: Optional[str] = None, matrix: Literal["bt601", "bt709", "bt2020"] = "bt709",
    range: Literal["limited", "full"] = "limited", backend: Literal["auto", "cpu", "cuda"] = "auto",
    device: Optional[int] = None, threads: int = 0, fps: float = 30.0,
    offset: Optional[_Text] = None,
    border: Optional[Literal["replicate", "reflect-101", "constant"]] = None,
    border_value: Optional[int] = None,
    mode: Optional[Literal["production", "sequential", "global", "constant", "shared"]] = None,
    block: Optional[int] = None,
) -> Filter:
    """3 x 3 samples weighted 1 2 1, 2 4 2, 1 2 1.

    Makes a `Filter` of `gaussian-blur`; `format` and its like are those of `Filter`.

    offset: a decimal that is added to sums (default: the kernel's own)
    border: what stands for samples outside the frame: replicate (the frame's edge, repeated), reflect-101 (the frame mirrored, its edge once) or constant (border-value) (default: replicate)
    border_value: level outside, where border is constant, 0 to 255 (default: 0)
    mode: how it runs: production (the fastest of the backend); on the CPU also sequential (one sample after another); on CUDA also global (a thread a sample, all in global memory), constant (the kernel in constant memory) or shared (the kernel in constant, samples in shared memory); all give the same bytes (default: production)
    block: threads a side of a block of the GPU's modes for study, 8, 16 or 32 (default: 16)
    """
def edge(*,
    format: Optional[str] = None, matrix: Literal["bt601", "bt709", "bt2020"] = "bt709",
    range: Literal["limited", "full"] = "limited", backend: Literal["auto", "cpu", "cuda"] = "auto",
    device: Optional[int] = None, threads: int = 0, fps: float = 30.0,
    offset: Optional[_Text] = None,
    border: Optional[Literal["replicate", "reflect-101", "constant"]] = None,
    border_value: Optional[int] = None,
    mode: Optional[Literal["production", "sequential", "global", "constant", "shared"]] = None,
    block: Optional[int] = None,
) -> Filter:
    """8 times a sample less its neighbours.

    Makes a `Filter` of `edge`; `format` and its like are those of `Filter`.

    offset: a decimal that is added to sums (default: the kernel's own)
    border: what stands for samples outside the frame: replicate (the frame's edge, repeated), reflect-101 (the frame mirrored, its edge once) or constant (border-value) (default: replicate)
    border_value: level outside, where border is constant, 0 to 255 (default: 0)
    mode: how it runs: production (the fastest of the backend); on the CPU also sequential (one sample after another); on CUDA also global (a thread a sample, all in global memory), constant (the kernel in constant memory) or shared (the kernel in constant, samples in shared memory); all give the same bytes (default: production)
    block: threads a side of a block of the GPU's modes for study, 8, 16 or 32 (default: 16)
    """
def emboss_horizontal(*,
    format: Optional[str] = None, matrix: Literal["bt601", "bt709", "bt2020"] = "bt709",
    range: Literal["limited", "full"] = "limited", backend: Literal["auto", "cpu", "cuda"] = "auto",
    device: Optional[int] = None, threads: int = 0, fps: float = 30.0,
    offset: Optional[_Text] = None,
    border: Optional[Literal["replicate", "reflect-101", "constant"]] = None,
    border_value: Optional[int] = None,
    mode: Optional[Literal["production", "sequential", "global", "constant", "shared"]] = None,
    block: Optional[int] = None,
) -> Filter:
    """Left less right, on 128.

    Makes a `Filter` of `emboss-horizontal`; `format` and its like are those of `Filter`.

    offset: a decimal that is added to sums (default: the kernel's own)
    border: what stands for samples outside the frame: replicate (the frame's edge, repeated), reflect-101 (the frame mirrored, its edge once) or constant (border-value) (default: replicate)
    border_value: level outside, where border is constant, 0 to 255 (default: 0)
    mode: how it runs: production (the fastest of the backend); on the CPU also sequential (one sample after another); on CUDA also global (a thread a sample, all in global memory), constant (the kernel in constant memory) or shared (the kernel in constant, samples in shared memory); all give the same bytes (default: production)
    block: threads a side of a block of the GPU's modes for study, 8, 16 or 32 (default: 16)
    """
def emboss_vertical(*,
    format: Optional[str] = None, matrix: Literal["bt601", "bt709", "bt2020"] = "bt709",
    range: Literal["limited", "full"] = "limited", backend: Literal["auto", "cpu", "cuda"] = "auto",
    device: Optional[int] = None, threads: int = 0, fps: float = 30.0,
    offset: Optional[_Text] = None,
    border: Optional[Literal["replicate", "reflect-101", "constant"]] = None,
    border_value: Optional[int] = None,
    mode: Optional[Literal["production", "sequential", "global", "constant", "shared"]] = None,
    block: Optional[int] = None,
) -> Filter:
    """Above less below, on 128.

    Makes a `Filter` of `emboss-vertical`; `format` and its like are those of `Filter`.

    offset: a decimal that is added to sums (default: the kernel's own)
    border: what stands for samples outside the frame: replicate (the frame's edge, repeated), reflect-101 (the frame mirrored, its edge once) or constant (border-value) (default: replicate)
    border_value: level outside, where border is constant, 0 to 255 (default: 0)
    mode: how it runs: production (the fastest of the backend); on the CPU also sequential (one sample after another); on CUDA also global (a thread a sample, all in global memory), constant (the kernel in constant memory) or shared (the kernel in constant, samples in shared memory); all give the same bytes (default: production)
    block: threads a side of a block of the GPU's modes for study, 8, 16 or 32 (default: 16)
    """
def sharpen(*,
    format: Optional[str] = None, matrix: Literal["bt601", "bt709", "bt2020"] = "bt709",
    range: Literal["limited", "full"] = "limited", backend: Literal["auto", "cpu", "cuda"] = "auto",
    device: Optional[int] = None, threads: int = 0, fps: float = 30.0,
    offset: Optional[_Text] = None,
    border: Optional[Literal["replicate", "reflect-101", "constant"]] = None,
    border_value: Optional[int] = None,
    mode: Optional[Literal["production", "sequential", "global", "constant", "shared"]] = None,
    block: Optional[int] = None,
) -> Filter:
    """5 times a sample less the four beside it.

    Makes a `Filter` of `sharpen`; `format` and its like are those of `Filter`.

    offset: a decimal that is added to sums (default: the kernel's own)
    border: what stands for samples outside the frame: replicate (the frame's edge, repeated), reflect-101 (the frame mirrored, its edge once) or constant (border-value) (default: replicate)
    border_value: level outside, where border is constant, 0 to 255 (default: 0)
    mode: how it runs: production (the fastest of the backend); on the CPU also sequential (one sample after another); on CUDA also global (a thread a sample, all in global memory), constant (the kernel in constant memory) or shared (the kernel in constant, samples in shared memory); all give the same bytes (default: production)
    block: threads a side of a block of the GPU's modes for study, 8, 16 or 32 (default: 16)
    """
def identity(*,
    format: Optional[str] = None, matrix: Literal["bt601", "bt709", "bt2020"] = "bt709",
    range: Literal["limited", "full"] = "limited", backend: Literal["auto", "cpu", "cuda"] = "auto",
    device: Optional[int] = None, threads: int = 0, fps: float = 30.0,
    offset: Optional[_Text] = None,
    border: Optional[Literal["replicate", "reflect-101", "constant"]] = None,
    border_value: Optional[int] = None,
    mode: Optional[Literal["production", "sequential", "global", "constant", "shared"]] = None,
    block: Optional[int] = None,
) -> Filter:
    """The frame as it is.

    Makes a `Filter` of `identity`; `format` and its like are those of `Filter`.

    offset: a decimal that is added to sums (default: the kernel's own)
    border: what stands for samples outside the frame: replicate (the frame's edge, repeated), reflect-101 (the frame mirrored, its edge once) or constant (border-value) (default: replicate)
    border_value: level outside, where border is constant, 0 to 255 (default: 0)
    mode: how it runs: production (the fastest of the backend); on the CPU also sequential (one sample after another); on CUDA also global (a thread a sample, all in global memory), constant (the kernel in constant memory) or shared (the kernel in constant, samples in shared memory); all give the same bytes (default: production)
    block: threads a side of a block of the GPU's modes for study, 8, 16 or 32 (default: 16)
    """
def gaussian(*,
    format: Optional[str] = None, matrix: Literal["bt601", "bt709", "bt2020"] = "bt709",
    range: Literal["limited", "full"] = "limited", backend: Literal["auto", "cpu", "cuda"] = "auto",
    device: Optional[int] = None, threads: int = 0, fps: float = 30.0,
    sigma: Optional[Union[float, str]] = None,
    size: Optional[int] = None,
    truncate: Optional[Union[float, str]] = None,
    border: Optional[Literal["replicate", "reflect-101", "constant"]] = None,
    border_value: Optional[int] = None,
    mode: Optional[Literal["production", "sequential", "global", "constant", "shared"]] = None,
    block: Optional[int] = None,
) -> Filter:
    """Gaussian of any sigma, up to 31 x 31.

    Makes a `Filter` of `gaussian`; `format` and its like are those of `Filter`.

    sigma: gaussian: its standard deviation, 0.01 to 1000 pixels; 0 = one that fits the size (default: 0)
    size: gaussian and box: samples a side, odd, 3 to 31; 0 = what fits sigma, else 3 (default: 0)
    truncate: gaussian without size: radius in units of sigma, above 0 to 100 (default: 4)
    border: what stands for samples outside the frame: replicate (the frame's edge, repeated), reflect-101 (the frame mirrored, its edge once) or constant (border-value) (default: replicate)
    border_value: level outside, where border is constant, 0 to 255 (default: 0)
    mode: how it runs: production (the fastest of the backend); on the CPU also sequential (one sample after another); on CUDA also global (a thread a sample, all in global memory), constant (the kernel in constant memory) or shared (the kernel in constant, samples in shared memory); all give the same bytes (default: production)
    block: threads a side of a block of the GPU's modes for study, 8, 16 or 32 (default: 16)
    """
def box(*,
    format: Optional[str] = None, matrix: Literal["bt601", "bt709", "bt2020"] = "bt709",
    range: Literal["limited", "full"] = "limited", backend: Literal["auto", "cpu", "cuda"] = "auto",
    device: Optional[int] = None, threads: int = 0, fps: float = 30.0,
    size: Optional[int] = None,
    border: Optional[Literal["replicate", "reflect-101", "constant"]] = None,
    border_value: Optional[int] = None,
    mode: Optional[Literal["production", "sequential", "global", "constant", "shared"]] = None,
    block: Optional[int] = None,
) -> Filter:
    """Mean of up to 31 x 31 samples.

    Makes a `Filter` of `box`; `format` and its like are those of `Filter`.

    size: gaussian and box: samples a side, odd, 3 to 31; 0 = what fits sigma, else 3 (default: 0)
    border: what stands for samples outside the frame: replicate (the frame's edge, repeated), reflect-101 (the frame mirrored, its edge once) or constant (border-value) (default: replicate)
    border_value: level outside, where border is constant, 0 to 255 (default: 0)
    mode: how it runs: production (the fastest of the backend); on the CPU also sequential (one sample after another); on CUDA also global (a thread a sample, all in global memory), constant (the kernel in constant memory) or shared (the kernel in constant, samples in shared memory); all give the same bytes (default: production)
    block: threads a side of a block of the GPU's modes for study, 8, 16 or 32 (default: 16)
    """
def eigenvalues(*,
    format: Optional[str] = None, matrix: Literal["bt601", "bt709", "bt2020"] = "bt709",
    range: Literal["limited", "full"] = "limited", backend: Literal["auto", "cpu", "cuda"] = "auto",
    device: Optional[int] = None, threads: int = 0, fps: float = 30.0,
    sigma: Optional[Union[float, str]] = None,
    truncate: Optional[Union[float, str]] = None,
    derivative: Optional[Literal["gaussian", "gradient", "sobel-laplacian"]] = None,
    channel: Optional[Literal["luma", "value", "red", "green", "blue"]] = None,
) -> Filter:
    """Eigenvalues of the Hessian, two planes of floats.

    Makes a `Filter` of `eigenvalues`; `format` and its like are those of `Filter`.

    sigma: scale of the Gaussian, 0.5 to 16 pixels; not of sobel-laplacian (default: 2)
    truncate: radius of a Gaussian in units of its sigma, 1 to 8; at most 64 pixels (default: 4)
    derivative: how second derivatives are taken: gaussian (derivatives of a sampled Gaussian), gradient (the Gaussian, then differences) or sobel-laplacian (small kernels, which have no scale) (default: gaussian)
    channel: what is read of a frame: luma (luma; of YUV the only one), value (max(R, G, B)), red (red), green (green, the best for the back of an eye) or blue (blue); all but luma need RGB or gray (default: luma)
    """
def vessel(*,
    format: Optional[str] = None, matrix: Literal["bt601", "bt709", "bt2020"] = "bt709",
    range: Literal["limited", "full"] = "limited", backend: Literal["auto", "cpu", "cuda"] = "auto",
    device: Optional[int] = None, threads: int = 0, fps: float = 30.0,
    sigmas: Optional[_Text] = None,
    truncate: Optional[Union[float, str]] = None,
    derivative: Optional[Literal["gaussian", "gradient"]] = None,
    channel: Optional[Literal["luma", "value", "red", "green", "blue"]] = None,
    polarity: Optional[Literal["dark", "bright"]] = None,
    measure: Optional[Literal["ridge", "frangi"]] = None,
    mask: Optional[Literal["auto", "none"]] = None,
    low: Optional[Union[float, str]] = None,
    high: Optional[Union[float, str]] = None,
    min_size: Optional[int] = None,
    output: Optional[Literal["mask", "overlay", "heat"]] = None,
) -> Filter:
    """Vessels and other lines: mask, overlay or heat map.

    Makes a `Filter` of `vessel`; `format` and its like are those of `Filter`.

    sigmas: scales, up to 8 with commas between them, 1 to 16 pixels; a vessel of width w answers best to w / 2 (default: 2,3,4)
    truncate: radius of a Gaussian in units of its sigma, 1 to 8; at most 64 pixels (default: 4)
    derivative: how second derivatives are taken: gaussian (derivatives of a sampled Gaussian) or gradient (the Gaussian, then differences) (default: gaussian)
    channel: what is read of a frame: luma (luma; of YUV the only one), value (max(R, G, B)), red (red), green (green, the best for the back of an eye) or blue (blue); all but luma need RGB or gray (default: luma)
    polarity: which lines are looked for: dark (lines darker than what is around them) or bright (lines brighter than what is around them) (default: dark)
    measure: what makes a line a line: ridge (contrast to the local mean) or frangi (Frangi's vesselness, 0 to 1: less in blobs, corners) (default: ridge)
    mask: where vessels may be: auto (not in a dark surround, where all corners of the frame are dark) or none (everywhere) (default: auto)
    low: measure of all pixels of a vessel, above 0 to 10 (default: the measure's own: ridge 0.08, frangi 0.1)
    high: measure that a vessel has somewhere, above 0 to 10 (default: the measure's own: ridge 0.16, frangi 0.4)
    min_size: smallest vessel that is kept, 0 to 2147483647 pixels (default: 100)
    output: what becomes of the vessels: mask (GRAY8: 255 in vessels, 0 elsewhere), overlay (the frame in its own format, vessels tinted) or heat (BGR: the measure, black over red and yellow to white); what is not filtered is black in mask and heat (default: mask)
    """
def shapes(*,
    format: Optional[str] = None, matrix: Literal["bt601", "bt709", "bt2020"] = "bt709",
    range: Literal["limited", "full"] = "limited", backend: Literal["auto", "cpu", "cuda"] = "auto",
    device: Optional[int] = None, threads: int = 0, fps: float = 30.0,
    sigma: Optional[Union[float, str]] = None,
    truncate: Optional[Union[float, str]] = None,
    derivative: Optional[Literal["gaussian", "gradient", "sobel-laplacian"]] = None,
    channel: Optional[Literal["luma", "value", "red", "green", "blue"]] = None,
    threshold: Optional[Union[float, str]] = None,
    line_ratio: Optional[Union[float, str]] = None,
    blob_ratio: Optional[Union[float, str]] = None,
    output: Optional[Literal["overlay", "classes"]] = None,
) -> Filter:
    """Colours dark and bright lines and blobs.

    Makes a `Filter` of `shapes`; `format` and its like are those of `Filter`.

    sigma: scale of the Gaussian, 1 to 16 pixels; not of sobel-laplacian (default: 3)
    truncate: radius of a Gaussian in units of its sigma, 1 to 8; at most 64 pixels (default: 4)
    derivative: how second derivatives are taken: gaussian (derivatives of a sampled Gaussian), gradient (the Gaussian, then differences) or sobel-laplacian (small kernels, which have no scale) (default: gaussian)
    channel: what is read of a frame: luma (luma; of YUV the only one), value (max(R, G, B)), red (red), green (green, the best for the back of an eye) or blue (blue); all but luma need RGB or gray (default: luma)
    threshold: |lambda2| of the least line or blob, above 0 to 1000 levels (default: 8)
    line_ratio: |lambda1 / lambda2| up to which there is a line, 0 to 1 (default: 0.3)
    blob_ratio: lambda1 / lambda2 from which on there is a blob, 0 to 1 (default: 0.6)
    output: what becomes of lines and blobs: overlay (the frame in its own format, classes tinted) or classes (GRAY8: 0 none, 1 dark line, 2 bright line, 3 dark blob, 4 bright blob); what is not filtered is black in classes (default: overlay)
    """
