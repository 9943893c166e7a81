"""Filters and their options, as the library's tables have them."""

from __future__ import annotations

import inspect
import keyword
from typing import Any, Iterable, List, Mapping, NamedTuple, Tuple, Union

from . import _equalux

Spec = Tuple[str, List[Tuple[str, str]]]


class Option(NamedTuple):
    """One option of a filter."""

    key: str
    """its name in specs; by keyword, `_` stands for `-`"""
    help: str
    """what it does, with its range, in one line"""
    type: str
    """number, whole, onoff, name, text or file"""
    default: str
    """what holds where it is not set, as text"""
    range: str
    """its values, in words"""
    names: Tuple[str, ...]
    """the names that it takes, of a name"""
    live: bool
    """True where it is meant to change while frames move"""
    cuda_only: bool
    """True where only filters on a GPU have it"""


class FilterInfo(NamedTuple):
    """A filter that specs name."""

    name: str
    summary: str
    options: Tuple[Option, ...]


def _read() -> Mapping[str, FilterInfo]:
    filters = {}
    for row in _equalux.filters():
        options = tuple(
            Option(o["key"], o["help"], o["type"], o["default"], o["range"], tuple(o["names"]),
                   o["live"], o["cuda_only"]) for o in row["options"])
        filters[row["name"]] = FilterInfo(row["name"], row["summary"], options)
    return filters


FILTERS: Mapping[str, FilterInfo] = _read()


def keyword_of(key: str) -> str:
    """The name of an option as a keyword argument."""
    name = key.replace("-", "_")
    return name + "_" if keyword.iskeyword(name) else name


def key_of(name: str) -> str:
    """The option that a keyword argument sets."""
    if name.endswith("_") and keyword.iskeyword(name[:-1]):
        name = name[:-1]
    return name.replace("_", "-")


def is_known(filter: str, name: str) -> bool:
    """True where a filter has an option that a keyword argument of that name sets."""
    return filter in FILTERS and any(each.key == key_of(name) for each in FILTERS[filter].options)


def text_of(value: Any) -> str:
    """The value of an option as specs write it."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or type(value).__name__ == "bool_":
        return "true" if value else "false"
    if isinstance(value, (list, tuple, range)):
        return ",".join(text_of(each) for each in value)
    if isinstance(value, float):
        # NumPy's floats are floats, too, but their repr() names the type.
        return repr(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(float(value))
    if hasattr(value, "tolist"):  # number or array of NumPy
        return text_of(value.tolist())
    return str(value)


def utf8(text: str) -> str:
    """A text that can be handed to the library."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise _equalux.Error(f"{ascii(text)} cannot be written as UTF-8") from None
    if "\0" in text:
        raise _equalux.Error(f"{ascii(text)} has a zero byte, must be without")
    return text


def values_of(options: Mapping[str, Any]) -> List[Tuple[str, str]]:
    """Keyword arguments as keys and texts; those that are None are left out."""
    return [(utf8(key_of(name)), utf8(text_of(value))) for name, value in options.items()
            if value is not None]


SpecLike = Union[str, Tuple[str, Mapping[str, Any]]]


def specs_of(specs: Iterable[SpecLike]) -> List[Spec]:
    """Specs as the library reads them."""
    read: List[Spec] = []
    for spec in specs:
        if isinstance(spec, str):
            name, values = _equalux.parse(utf8(spec))
        elif (isinstance(spec, (tuple, list)) and len(spec) == 2 and isinstance(spec[0], str) and
              isinstance(spec[1], Mapping)):
            name, values = utf8(spec[0]), values_of(spec[1])
        else:
            raise _equalux.Error(f"a filter is {spec!r}, must be a spec as 'clahe:tiles=4,4', or a "
                                 "pair as ('clahe', {'tiles': (4, 4)})")
        read.append((name, list(values)))
    if not read:
        raise _equalux.Error("there is no filter, must be one or more")
    return read


def add(options: Mapping[str, Any], specs: List[Spec]) -> None:
    """Adds keyword arguments to the only one of specs, whose keys stand once each then."""
    if options:
        if len(specs) > 1:
            first = next(iter(options))
            raise _equalux.Error(
                f"{first} is given for {len(specs)} filters, must be in the spec of one of them")
        specs[0][1].extend(values_of(options))
    for name, values in specs:
        keys = [key for key, _ in values]
        for key in keys:
            if keys.count(key) > 1:
                raise _equalux.Error(f"filter '{name}' sets {key} twice, must be once")


def spec_text(spec: Spec) -> str:
    """A spec as behind the program's --filter."""
    return spec[0] + "".join(
        (":" if i == 0 else ",") + f"{key}={value}" for i, (key, value) in enumerate(spec[1]))


def signature_of(info: FilterInfo, common: List[inspect.Parameter]) -> inspect.Signature:
    """The signature of the function that makes a filter."""
    own = [inspect.Parameter(keyword_of(o.key), inspect.Parameter.KEYWORD_ONLY, default=None)
           for o in info.options]
    return inspect.Signature(common + own)


def documentation_of(info: FilterInfo) -> str:
    """The docstring of the function that makes a filter."""
    lines = [f"{info.summary[0].upper()}{info.summary[1:]}.", "",
             f"Makes a `Filter` of `{info.name}`; `format` and its like are those of `Filter`.", ""]
    for option in info.options:
        default = f" (default: {option.default})" if option.default else ""
        lines.append(f"{keyword_of(option.key)}: {option.help}{default}")
    return "\n".join(lines)
