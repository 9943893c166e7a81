#!/usr/bin/env python3
"""Compares what is promised for 1.x (docs/compatibility.md) with what was built.

    compatibility.py [--write] SOURCE BUILD TABLES SUBJECT...

SOURCE is the repository, BUILD the build tree, TABLES the program promised_tables. For each SUBJECT what
the built program says is compared with tests/compatibility/SUBJECT.txt (symbols: tests/abi/symbols.txt), line by line. What is missing there
breaks a promise; what is new needs its line, so that somebody has seen that it is promised from now on.
--write writes the files. Lines that begin with # are for readers.

Subjects: options, filters, presets, exit-codes, json-keys, requests, symbols, elements, effects, obs, bytes.
Ends with 1 where something differs, with 77 where this build lacks what a subject speaks of.
"""

import ctypes
import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import urllib.request

LONGEST_S = 120


class Lacking(Exception):
    """What a subject needs and this build or machine has not."""


class Built:
    def __init__(self, build, tables, scratch):
        self.build = build
        self.program = build / "bin/equalux"
        self.tables = tables
        self.scratch = scratch

    def equalux(self, *words, codes=(0,)):
        done = subprocess.run([self.program, *words], cwd=self.scratch, capture_output=True,
                              text=True, stdin=subprocess.DEVNULL, timeout=LONGEST_S, check=False)
        if done.returncode not in codes:
            raise RuntimeError(f"equalux {' '.join(words)} ended with {done.returncode}: {done.stderr}")
        return done

    def table(self, name):
        return subprocess.run([self.tables, name], capture_output=True, text=True, check=True,
                              timeout=LONGEST_S).stdout.splitlines()


# --------------------------------------------------------------------------- inputs


def noise(size, seed):
    """Bytes that are the same everywhere: a generator of 64 bits, its upper ones."""
    state = seed
    made = bytearray(size)
    for i in range(size):
        state = (state * 6364136223846793005 + 1442695040888963407) & 0xFFFFFFFFFFFFFFFF
        made[i] = state >> 56
    return made


def dim(samples, width):
    """Noise as a dark picture with a slope and some black: every limit and scaler shows in it."""
    return bytes(each // 4 + i % width // 2 + (20 if each >= 10 else 0) for i, each in enumerate(samples))


def write_clip(path, width=64, height=48, frames=3):
    chroma = width * height // 2
    with open(path, "wb") as clip:
        clip.write(f"YUV4MPEG2 W{width} H{height} F25:1 Ip A1:1 C420mpeg2\n".encode())
        for frame in range(frames):
            clip.write(b"FRAME\n" + dim(noise(width * height, frame + 1), width))
            clip.write(bytes(96 + each // 4 for each in noise(chroma, frame + 100)))


def write_still(path, width=64, height=48):
    path.write_bytes(f"P6\n{width} {height}\n255\n".encode()
                     + dim(noise(width * height * 3, 7), width * 3))


# --------------------------------------------------------------------------- subjects


def json_paths(value, path):
    """Each key with all above it; what stands in a list is one kind of thing."""
    if isinstance(value, dict):
        # Names of stages are those of the filters that ran, parameters those of a preset.
        several = path.endswith((".stages", ".parameters")) and value
        names = {"*": next(iter(value.values()))} if several else value
        for key, each in names.items():
            yield f"{path}.{key}"
            yield from json_paths(each, f"{path}.{key}")
    elif isinstance(value, list):
        for each in value:
            yield from json_paths(each, path + "[]")


def paths_of_last_line(text, path):
    """Of lines of JSON; how many there are before, and what they know by then, takes its time."""
    return json_paths(json.loads([line for line in text.splitlines() if line.startswith("{")][-1]), path)


def json_keys(built):
    folder = built.scratch
    write_clip(folder / "clip.y4m")
    found = []

    def add(name, text):
        found.extend(json_paths(json.loads(text), name))

    run = built.equalux("run", "clip.y4m", "-o", "result.y4m", "--timings", "timings.jsonl", "--progress",
                        "json", "--preset", "plain", "--backend", "cpu")
    found += paths_of_last_line((folder / "timings.jsonl").read_text(), "--timings")
    found += paths_of_last_line(run.stderr, "run --progress")
    built.equalux("run", "clip.y4m", "-o", "null", "--curve-to", "curve.json", "--preset", "plain",
                  "--backend", "cpu")
    add("--curve-to", (folder / "curve.json").read_text())
    batch = built.equalux("batch", "clip.y4m", "--out", "results", "--extension", "y4m", "--progress", "json",
                          "--backend", "cpu")
    found += paths_of_last_line(batch.stderr, "batch --progress")
    add("report.json", (folder / "results/report.json").read_text())
    built.equalux("measure", "clip.y4m", "result.y4m", "--json", "figures.json")
    add("measure --json", (folder / "figures.json").read_text())
    add("doctor --json", built.equalux("doctor", "--json", codes=(0, 69)).stdout)
    # Where there is something to advise.
    return [each for each in found if not each.endswith(".advice")]


def requests(built):
    """What a page's run answers, and its counters for Prometheus."""
    process = subprocess.Popen(
        [built.program, "run", "test:64x48@25", "-o", "null", "--serve", "0", "--backend", "cpu",
         "--frames", "100000"], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
        stdin=subprocess.DEVNULL, text=True, cwd=built.scratch)
    try:
        address = None
        for line in process.stderr:
            if match := re.search(r"page is at (http://\S+/)\?token=(\w+)", line):
                address, token = match[1], match[2]
                break
        if address is None:
            process.wait(timeout=LONGEST_S)
            if process.returncode == 69:
                raise Lacking("this build has no page")
            raise RuntimeError(f"the page's address was not told, exit code {process.returncode}")

        def get(path):
            request = urllib.request.Request(address + path,
                                             headers={"Authorization": f"Bearer {token}"})
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.headers.get_content_type(), answer.read()

        found = []
        for path in ("", "api/picture?view=before&width=32", "snapshot.jpg?view=both"):
            found.append(f"GET /{path} {get(path)[0]}")
        for path in ("api/state", "api/tones", "api/parameters"):
            kind, body = get(path)
            found.append(f"GET /{path} {kind}")
            for each in json_paths(json.loads(body), f"/{path}"):
                # Curves' options are filters.txt's, presets presets.txt's.
                if not re.match(r"/api/parameters\.(?!sliders)|/api/state\.state\.(?!preset|changed)"
                                r"|/api/state\.filters\.", each):
                    found.append(each)
        kind, body = get("metrics")
        found.append(f"GET /metrics {kind}")
        found += [f"/metrics {name}" for name in re.findall(r"^# TYPE (\w+ \w+)", body.decode(), re.M)]
        return found
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=LONGEST_S)


def has_sanitizers(built):
    cache = (built.build / "CMakeCache.txt").read_text()
    return "EQUALUX_SANITIZER:STRING=none" not in cache


def symbols(built):
    """The names that the library exports with their versions, as scripts/check-abi lists them."""
    library = built.build / "lib/libequalux.so"
    if has_sanitizers(built):
        raise Lacking("sanitizers have symbols of their own")
    if not shutil.which("readelf"):
        raise Lacking("binutils are not installed")
    names = subprocess.run(["readelf", "--dyn-syms", "--wide", library], capture_output=True, text=True,
                           check=True).stdout
    return re.findall(r" GLOBAL DEFAULT +\d+ (.*@@.*)$", names, re.M)


ELEMENTS = ("equalux", "equaluxclahe", "equaluxconvolve", "equaluxdenoise", "equaluxshapes", "equaluxvessel")


def elements(built):
    plugins = built.build / "lib/gstreamer-1.0"
    if not (plugins / "libgstequalux.so").exists() or not shutil.which("gst-inspect-1.0"):
        raise Lacking("no GStreamer elements, or no gst-inspect-1.0")
    environment = {**os.environ, "GST_PLUGIN_PATH": str(plugins), "LC_ALL": "C.UTF-8",
                   "GST_REGISTRY": str(built.scratch / "registry")}
    found = []
    for element in ELEMENTS:
        text = subprocess.run(["gst-inspect-1.0", "--no-colors", element], env=environment,
                              capture_output=True, text=True, check=True, timeout=LONGEST_S).stdout
        text = text.partition("Element Properties:")[2]
        # The base class's own are GStreamer's.
        for name, rest in re.findall(r"^  (\S+)\s+: .*\n\s+flags: .*\n\s+(.*)", text, re.M):
            if name not in ("name", "parent", "qos"):
                kind = re.match(r"(Enum|Integer|Double|Boolean|String|Unsigned Integer|Boxed|\w+)", rest)[0]
                found.append(f"{element} {name} {kind}")
    return found


class Effect(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("author", ctypes.c_char_p)] + [
        (each, ctypes.c_int) for each in ("kind", "colour", "frei0r", "major", "minor", "parameters")
    ] + [("explanation", ctypes.c_char_p)]


class Parameter(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("kind", ctypes.c_int), ("explanation", ctypes.c_char_p)]


def effects(built):
    """frei0r's hosts know parameters by their places."""
    plugins = sorted((built.build / "lib/frei0r-1").glob("equalux*.so"))
    if not plugins:
        raise Lacking("no frei0r plugins")
    if has_sanitizers(built):
        raise Lacking("plugins with sanitizers load into programs with them alone")
    found = []
    for plugin in plugins:
        library = ctypes.CDLL(str(plugin))
        library.f0r_init()
        effect = Effect()
        library.f0r_get_plugin_info(ctypes.byref(effect))
        for at in range(effect.parameters):
            parameter = Parameter()
            library.f0r_get_param_info(ctypes.byref(parameter), at)
            kind = {0: "bool", 1: "number", 2: "colour", 3: "position", 4: "text"}[parameter.kind]
            found.append(f"{plugin.stem} {at:02} {parameter.name.decode()} {kind}")
    return found


def obs(built):
    """What people's scene collections of OBS hold."""
    table = built.tables.with_name("equalux_promised_obs")
    if not table.exists():
        raise Lacking("no filters of OBS")
    return subprocess.run([table], capture_output=True, text=True, check=True, timeout=LONGEST_S).stdout.splitlines()


CLIP = (
    ("scaler=max-abs",), ("scaler=min-max",), ("scaler=min-max-nonzero",), ("bins=32",),
    ("strength=0.5", "clip-limit=2"), ("min-gain=1", "max-gain=3"), ("temporal-ms=500",), ("space=luma",),
    ("floor=10", "ceiling=90"), ("saturation=1.5",),
)
STILL = ("scaler=max-abs", "scaler=min-max-nonzero", "space=lightness", "chain=staged")
FILTERS = ("clahe", "gaussian:sigma=1.5", "sharpen", "convolve:weights=-2,-1,0,-1,1,1,0,1,2")


def read_frames(path):
    """The hashes of frames out of FFmpeg's framemd5."""
    return [line.split(",")[-1].strip() for line in path.read_text().splitlines()
            if line and not line.startswith("#")]


def bytes_of_formulas(built):
    write_clip(built.scratch / "clip.y4m")
    write_still(built.scratch / "still.ppm")
    found = []
    for options in [("equalize:" + ",".join(each)) for each in CLIP] + list(FILTERS):
        built.equalux("run", "clip.y4m", "-o", "null", "--verify", "frames.md5", "--preset", "plain", "--backend",
                      "cpu", "--filter", options, "--quiet")
        frames = read_frames(built.scratch / "frames.md5")
        found.append(f"4:2:0, {options}: {' '.join(each[:16] for each in frames)}")
    for options in [("equalize:" + each) for each in STILL] + list(FILTERS) + ["vessel", "shapes"]:
        built.equalux("image", "still.ppm", "out.ppm", "-y", "--backend", "cpu", "--filter", options,
                      "--quiet")
        found.append(f"RGB, {options}: {hashlib.md5((built.scratch / 'out.ppm').read_bytes()).hexdigest()}")
    built.equalux("image", "still.ppm", "out.npy", "-y", "--backend", "cpu", "--filter",
                  "eigenvalues:sigma=2,channel=green", "--quiet")
    found.append(f"RGB, eigenvalues: {hashlib.md5((built.scratch / 'out.npy').read_bytes()).hexdigest()}")
    return found


# Lists that stand elsewhere.
STORED = {"symbols": "tests/abi/symbols.txt"}

SUBJECTS = {
    "options": lambda built: built.table("options"),
    "filters": lambda built: built.table("filters"),
    "presets": lambda built: built.table("presets"),
    "exit-codes": lambda built: built.table("exit-codes"),
    "json-keys": json_keys,
    "requests": requests,
    "symbols": symbols,
    "elements": elements,
    "effects": effects,
    "obs": obs,
    "bytes": bytes_of_formulas,
}


def compare(subject, promised, built):
    """Prints what differs; true where nothing does."""
    missing = sorted(set(promised) - set(built))
    fresh = sorted(set(built) - set(promised))
    for line in missing:
        print(f"{subject}: PROMISED AND GONE, or another now: {line}")
    for line in fresh:
        print(f"{subject}: new, and not promised yet: {line}")
    if missing or fresh:
        print(f"{subject}: docs/compatibility.md says what may change. What should has its line in CHANGELOG.md\n"
              f"  and in {STORED.get(subject, f'tests/compatibility/{subject}.txt')}, which the target equalux_promises writes.")
    return not missing and not fresh


def main():
    words = [word for word in sys.argv[1:] if word != "--write"]
    if len(words) < 4 or any(word not in SUBJECTS for word in words[3:]):
        print(__doc__, file=sys.stderr)
        return 2
    source, build, tables = (pathlib.Path(word).resolve() for word in words[:3])
    same = True
    lacking = 0
    for subject in words[3:]:
        stored = source / STORED.get(subject, f"tests/compatibility/{subject}.txt")
        with tempfile.TemporaryDirectory(prefix="equalux-compatibility-") as scratch:
            try:
                built = sorted(set(SUBJECTS[subject](Built(build, tables, pathlib.Path(scratch)))))
            except Lacking as what:
                print(f"{subject}: skipped, {what}")
                lacking += 1
                continue
        lines = stored.read_text().splitlines() if stored.exists() else []
        heads = [line for line in lines if line.startswith("#")]
        if "--write" in sys.argv:
            stored.write_text("\n".join(heads + built) + "\n")
            print(f"{subject}: {len(built)} lines")
            continue
        same = compare(subject, [line for line in lines if line and line not in heads], built) and same
        print(f"{subject}: {len(built)} lines compared")
    if not same:
        return 1
    return 77 if lacking == len(words[3:]) else 0


if __name__ == "__main__":
    sys.exit(main())
