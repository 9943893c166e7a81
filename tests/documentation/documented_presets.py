#!/usr/bin/env python3
"""Compares the presets that docs/gstreamer.md writes as properties of elements with the files in configs/.

    documented_presets.py SOURCE

Ends with 1 and a line for each difference.
"""

import pathlib
import re
import sys
import tomllib

# In the order in which the page has them.
PRESETS = ("stable", "webcam")
# Options of a preset that are not the filter's.
OTHERS = ("output", "frames", "threads", "filter", "backend")


def elements(pipeline):
    """Properties of each element of a launch line, by the element's name."""
    return {words[0]: dict(word.split("=") for word in words[1:])
            for words in (part.split() for part in pipeline.split("!"))}


def wanted(preset):
    """The same of a config file."""
    def number(value):
        return "-1" if value == "auto" else f"{float(value):g}"

    found = {"equalux": {key: number(value) for key, value in preset.items() if key not in OTHERS}}
    for spec in preset.get("filter", []):
        name, _, keys = spec.partition(":")
        if keys:
            found["equalux" + name] = {key: number(value) for key, value in
                                       (each.split("=") for each in keys.split(","))}
    return found


def main():
    source = pathlib.Path(sys.argv[1])
    page = (source / "docs/gstreamer.md").read_text(encoding="utf-8").replace("\\\n", " ")
    pipelines = re.findall(r"^gst-launch-1\.0 (.* equalux strength=.*)$", page, re.M)
    if len(pipelines) != len(PRESETS):
        print(f"{len(pipelines)} pipelines have a preset's properties, must be {len(PRESETS)}")
        return 1
    wrong = 0
    for name, pipeline in zip(PRESETS, pipelines):
        is_now = {element: properties for element, properties in elements(pipeline).items()
                  if element.startswith("equalux")}
        must_be = wanted(tomllib.loads((source / f"configs/{name}.toml").read_text(encoding="utf-8")))
        if is_now != must_be:
            print(f"preset {name} is {is_now}, must be {must_be}")
            wrong = 1
    return wrong


if __name__ == "__main__":
    sys.exit(main())
