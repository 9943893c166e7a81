#!/usr/bin/env python3
"""Writes the type hints of the package, __init__.pyi, to stdout, out of the tables of options: with the
built package on PYTHONPATH. A test compares them with python/equalux/__init__.pyi."""
import textwrap

import equalux
from equalux._options import documentation_of, keyword_of

TYPES = {"number": "float", "whole": "int", "onoff": "bool", "file": "str", "text": "_Text"}
COMMON = """\
    format: Optional[str] = None, matrix: Literal["bt601", "bt709", "bt2020"] = "bt709",
    range: Literal["limited", "full"] = "limited", backend: Literal["auto", "cpu", "cuda"] = "auto",
    device: Optional[int] = None, threads: int = 0, fps: float = 30.0,"""
HEAD = '''\
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
{common}
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
'''


def type_of(option):
    if option.type == "name":
        return "Literal[" + ", ".join(f'"{name}"' for name in option.names) + "]"
    kind = TYPES[option.type]
    return f"Union[{kind}, str]" if option.type == "number" else kind


def main():
    print(HEAD.replace("{common}", COMMON))
    for name, info in equalux.filters.items():
        print(f"def {keyword_of(name)}(*,\n{COMMON}")
        for option in info.options:
            print(f"    {keyword_of(option.key)}: Optional[{type_of(option)}] = None,")
        print(") -> Filter:")
        print(textwrap.indent(f'"""{documentation_of(info)}\n"""', "    ", lambda line: True).replace("    \n", "\n"))


if __name__ == "__main__":
    main()
