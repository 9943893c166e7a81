#!/usr/bin/env python3
"""Runs the commands that pages of documentation, and the comments of config files, tell people to run.

    documented_commands.py [--list] SOURCE BUILD PAGE...

SOURCE is the repository, BUILD the build tree with the program, a PAGE is a path below SOURCE. --list
only says what the commands are.

From a page come the lines of its fenced `sh` blocks, and those spans of its text that are whole
commands: a span with a word in capitals is a form (`equalux image IN OUT`), one that only names a
command is a mention (`equalux batch`). Each runs in a folder of its own that holds the inputs it
names: clips of ten frames, with sound, and small pictures. It must end with exit code 0, whatever
does not end by itself once it runs and is interrupted. Where it needs what this machine lacks, it must
say so with the exit code for that, and not stumble over an option. What installs, builds, measures
for minutes or talks to other machines is not run, but what it names must exist. A config file must load,
and as a preset too.

Ends with 0, or with 1 where a command failed or no rule knows it.
"""

import contextlib
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from virtual_display import end_display, start_display  # noqa: E402

# How long a command may take until it ends, or shows that it runs; machines may be loaded.
LONGEST_S = 300
# What an endless command may do after it has shown that it runs: a few frames.
RUNNING_S = 0.5
# What says nothing while it works is taken to run after so long, or once it has computed so long.
SILENT_S = 4
SILENT_CPU_S = 1
# How long ffplay may take to end; see end_players().
PLAYER_S = 10
# Experiments say nothing before their first rows: one runs, and is interrupted, once it has computed so long.
LAB_CPU_S = 0.6
MEDIA = r"(?:mp4|mkv|y4m|h264|png|jpg|pgm)"
OUTPUT_OPTIONS = ("-o|--out|--record|--plot|--json|--curve-to|--verify|--timings")


# In place of the desktop's: looks at the page of --open for a moment, and closes it.
BROWSER = r"""#!/bin/sh
token=$(curl -s "$1" | sed -n 's/.*name="token" content="\([^"]*\)".*/\1/p')
curl -s -m 1 -H "Authorization: Bearer $token" "${1%%\?*}api/here"
true
"""


class Rule:
    """What is done with commands that a pattern finds something in; the first that does holds."""

    def __init__(self, pattern, why="", check=None):
        self.pattern = re.compile(pattern)
        self.why = why  # it is not run
        self.check = check  # what must hold instead: (context, command) -> None or what does not


def names_of_scripts(context, command):
    for name in re.findall(r"(?:scripts|bench)/[\w./-]+", command):
        if not os.access(context.source / name, os.X_OK):
            return f"{name} is not there, or cannot be run"
    return None


def names_of_targets(context, command):
    lists = [*context.source.glob("*/CMakeLists.txt"), *context.source.glob("*/*/CMakeLists.txt"),
             *context.source.glob("tests/*.cmake")]
    text = "\n".join(path.read_text() for path in lists)
    names = re.findall(r"build/release/bin/(\w+)", command)
    if "--target" in command:
        names += re.sub(r".*--target|--?\w+.*|\s*#.*", " ", command).split()
    if "bench_$stem" in command:
        names = ["bench_" + stem for stem in re.search(r"in ([\w ]+);", command)[1].split()]
    for name in names:
        # The benchmarks of stems are made in a loop.
        stem = name.removeprefix("bench_").removeprefix("gst")
        if not re.search(rf"\b({name}|{stem})\b", text):
            return f"no CMakeLists.txt has a target {name}"
    presets = (context.source / "CMakePresets.json").read_text()
    for preset in re.findall(r"--preset (\w+)", command):
        if f'"name": "{preset}"' not in presets:
            return f"CMakePresets.json has no preset {preset}"
    return None


def plugin_is_built(context, command):
    del command
    plugin = context.build / "lib/gstreamer-1.0/libgstequalux.so"
    return None if plugin.exists() else f"{plugin} is not there"


def effects_are_built(context, command):
    del command
    plugin = context.build / "lib/frei0r-1/equalux.so"
    return None if plugin.exists() else f"{plugin} is not there"


NOT_RUN = [
    Rule(r"^sudo |^apt-get ", "installs"),
    Rule(r"^scripts/|^bench/(\S+\.(sh|py)|compare\b)", "installs, builds, tests or measures",
         names_of_scripts),
    Rule(r"^\(?cd build/", "packs what was built"),
    Rule(r"^c(make|test) ", "builds", names_of_targets),
    Rule(r"^export PATH=\$PWD/build/release/bin:", "is set for all"),
    Rule(r"^export GST_PLUGIN_PATH=build/", "is set for all", plugin_is_built),
    Rule(r"^export FREI0R_PATH=build/", "is set for all", effects_are_built),
    Rule(r"^(mpv|melt) .*frei0r|\bfrei0r-filter-equalux\b", "tests of frei0r's hosts run it",
         effects_are_built),
    Rule(r"^(ffplay|gst-launch-1\.0) .*rtsp://", "tests of served streams run their clients"),
    Rule(r"^(mkdir|cp) .*/obs-studio/plugins/", "is for who has OBS; the test of OBS does it"),
    Rule(r"^(mkdir|cp) .*/systemd/user", "is for who wants it at login; Samples.UserUnit checks the unit"),
    Rule(r"^gst-launch-1\.0 pipewiresrc |^(systemctl|pw-\w+) ", "tests of virtual cameras read from them"),
    Rule(r"^export GST_PLUGIN_PATH=PREFIX/", "is for an installed tree"),
    Rule(r"^for stem in ", "measures for minutes", names_of_targets),
    Rule(r"^(EQUALUX_(SIMD|MINUTES)=\w+ )?build/release/bin/(?!equalux )", "measures for minutes",
         names_of_targets),
    Rule(r"^ncu ", "needs NVIDIA's profiler"),
    Rule(r"^pip wheel \. ", "the test Python.Wheel runs it"),
    Rule(r"^(EQUALUX_SIMD=\w+ )?(perf (stat|record|annotate)|llvm-mca|LD_DEBUG=files) ",
         "looks at a release build"),
]

# Words that a command has where it needs what may be missing.
CAMERA = re.compile(r"\bcamera:\d|\bv4l2src\b")
LOOPBACK = re.compile(r"\bv4l2:/dev/")
PIPEWIRE = re.compile(r"\bpipewire:\w")
PIPEWIRE_CAMERA = re.compile(r"\brun pipewire:")
GPU = re.compile(r"--backend cuda|--devices \d|\bnvh26|memory:CUDA")
DISPLAY = re.compile(r"\bautovideosink\b|-o window\b|\bffplay\b|\bcamera:\d(?!.* -o )")
# What does not end by itself, or measures for minutes, and what it says once it runs.
ENDLESS = re.compile(
    r"\bvideotestsrc\b|\bv4l2src\b|\bsouphttpsrc\b|\bffplay\b|-o window\b|"
    r"\blab (load|convolution|hessian|vessel|timeline|threads|sweep|stages|scans|scalers)\b")
RUNS = re.compile(rb"Setting pipeline to PLAYING|New clock|equalux: ", re.S)
# Lab experiments of a GPU, on a machine or in a build without one.
NO_GPU = re.compile(r"no CUDA (backend|driver|device)|exists? on the CUDA backend only|CUDA backend")


class Context:
    """The repository, the build, and what is made once for all commands of a page."""

    def __init__(self, source, build, scratch):
        self.source = source
        self.build = build
        self.scratch = scratch
        self.store = scratch / "store"
        self.store.mkdir()
        self.environment = dict(os.environ)
        programs = scratch / "programs"
        programs.mkdir()
        (programs / "xdg-open").write_text(BROWSER)
        (programs / "xdg-open").chmod(0o755)
        self.environment["PATH"] = f"{build / 'bin'}:{programs}:{self.environment['PATH']}"
        self.environment["GST_PLUGIN_PATH"] = str(build / "lib/gstreamer-1.0")
        self.environment["FREI0R_PATH"] = str(build / "lib/frei0r-1")
        # A list of plugins that all pages share: to look at all of them takes a second.
        self.environment["GST_REGISTRY"] = str(build / "documented_commands.registry")
        self.environment.pop("WAYLAND_DISPLAY", None)
        # autovideosink would also try a screen without a desktop: a minute, with GStreamer 1.24.
        self.environment["GST_PLUGIN_FEATURE_RANK"] = "kmssink:NONE"
        self.display = None
        self.port = None

    def run(self, *words):
        subprocess.run(words, env=self.environment, cwd=self.store, check=True,
                       stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)

    def stored(self, name, make):
        """A file of the store, made where it is not there."""
        path = self.store / name
        if not path.exists():
            make(str(path))
        return path

    def clip(self):
        return self.stored("clip.mp4", lambda to: self.run(
            "ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=160x120:r=25:d=0.4",
            "-f", "lavfi", "-i", "sine=d=0.4", "-vf", "lutyuv=y=val/3+10", "-pix_fmt", "yuv420p", to))

    def media(self, extension):
        """A clip or a picture."""
        if extension == "mp4":
            return self.clip()
        still = ["-frames:v", "1"] if extension in ("png", "jpg", "pgm") else []
        return self.stored(f"clip.{extension}", lambda to: self.run(
            "ffmpeg", "-v", "error", "-i", str(self.clip()), *still, "-pix_fmt",
            {"png": "rgb24", "jpg": "yuvj420p", "pgm": "gray"}.get(extension, "yuv420p"), to))

    def curve(self):
        return self.stored("curve.json", lambda to: self.run(
            "equalux", "run", str(self.clip()), "-o", "null", "--quiet", "--curve-to", to))

    def free_port(self):
        if self.port is None:
            with socket.socket() as some:
                some.bind(("127.0.0.1", 0))
                self.port = some.getsockname()[1]
        return self.port

    @contextlib.contextmanager
    def virtual_display(self):
        """An X server for commands that show something; none where Xvfb is not installed."""
        self.environment.pop("DISPLAY", None)
        if not shutil.which("Xvfb"):
            yield
            return
        servers = []
        try:
            self.display = start_display(
                lambda words, **how: servers.append(subprocess.Popen(words, stderr=subprocess.DEVNULL, **how)),
                "1280x800", "-noreset") or None
            if self.display:
                self.environment["DISPLAY"] = self.display
            yield
        finally:
            for server in servers:
                end_display(server)


# --------------------------------------------------------------------------- commands of a page


def logical_lines(lines):
    """(line number, command) of a block's numbered lines: continued ones joined, loops as one,
    comments left out."""
    pending = ""
    first = 0
    for number, line in lines:
        first = first if pending else number
        pending += line.strip()
        if pending.endswith("\\"):
            pending = pending[:-1].rstrip() + " "
            continue
        if pending.startswith("for ") and not pending.endswith("done"):
            pending += " " if pending.endswith((";", "do")) else "; "
            continue
        command = re.sub(r"\s+#.*$|^#.*$", "", pending).strip()
        pending = ""
        if command:
            yield first, command


def commands_of_page(text):
    """(line number, command) of everything that a Markdown page tells people to run."""
    found = []
    block = None
    prose = []
    for number, line in enumerate(text.splitlines(), 1):
        fence = re.match(r"\s*```(\w*)", line)
        if fence and block is None:
            block = (number, fence[1], [])
        elif fence:
            if block[1] in ("sh", "bash", "shell"):
                found += logical_lines(block[2])
            block = None
        elif block is not None:
            block[2].append((number, line))
        elif re.match(r"    (equalux|cmake|ctest|scripts/\S+) ", line):
            found += logical_lines([(number, line)])
        else:
            prose.append((number, line))
    joined = ""
    starts = []
    for number, line in prose:
        starts.append((len(joined), number))
        joined += line + "\n"
    for span in re.finditer(r"`([^`]+)`", joined):
        command = " ".join(span[1].split())
        if is_whole(command):
            found.append((max(n for at, n in starts if at <= span.start()), command))
    return sorted(found, key=lambda each: each[0])


def is_whole(command):
    """Whether a span of text is a command that can be run as it stands."""
    words = command.split()
    if words[0] not in ("equalux", "gst-launch-1.0", "ffmpeg", "curl") or "..." in command:
        return False
    if any(re.fullmatch(r"[A-Z]+(\.\w+)?|\[.*", word) for word in words):
        return False
    if words[0] == "equalux" and len(words) == 2:
        return words[1] in ("devices", "doctor", "help") or "." in words[1]
    if words[0] == "gst-launch-1.0":
        return len(words) > 2 and ("location=" in command or "filesrc" not in command)
    if words[:2] in (["equalux", "run"], ["equalux", "image"], ["equalux", "batch"]):
        return len(words) > 2 and (not words[2].startswith("--") or "--list" in words[2])
    return len(words) > 2 and (words[0] != "ffmpeg" or "-i" in words)


def commands_of_config(text):
    """Commands in the comments of a config file: `between backticks`, or behind a colon."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        comment = line.partition("#")[2]
        for match in re.finditer(r"`(equalux [^`]+)`|: (equalux .*)", comment):
            command = match[1] or match[2]
            command = command.replace("FOLDER", "clips/").replace("RESULTS", "readable/")
            if is_whole(command):
                found.append((number, command))
    return found


# --------------------------------------------------------------------------- running one


def inputs_of(command):
    """Media files that a command reads, by what stands before their names."""
    inputs = []
    for part in re.split(r" \| ", command):
        names = list(re.finditer(rf"(?P<path>[\w./%*-]+\.{MEDIA})(?=[\s\"']|$)", part))
        reads = [n["path"] for n in names
                 if not re.search(rf"(?:^|\s)(?:{OUTPUT_OPTIONS})[ =][\"']?$", part[:n.start()])]
        if re.match(r"equalux image ", part) and len(reads) > 1:
            del reads[1]
        if part.startswith("ffmpeg ") and reads and part.endswith(reads[-1]):
            del reads[-1]
        inputs += reads
    return inputs


def prepare(context, folder, command):
    """Puts what a command reads into its folder."""
    (folder / "build/release").mkdir(parents=True)
    (folder / "build/release/bin").symlink_to(context.build / "bin")
    shutil.copytree(context.source / "configs", folder / "configs")
    (folder / "samples").mkdir()
    for path in inputs_of(command):
        to = folder / path
        to.parent.mkdir(parents=True, exist_ok=True)
        if not to.exists():
            shutil.copy(context.media(path.rpartition(".")[2]), to)
    token = re.search(r"--serve-token @(\S+)", command)
    if token:
        (folder / token[1]).write_text("correct-horse-battery\n")
    batch = re.search(r"\bbatch (\w+)/? ", command)
    if batch:
        (folder / batch[1] / "below").mkdir(parents=True)
        for name in ("one.mp4", "below/two.mp4"):
            shutil.copy(context.clip(), folder / batch[1] / name)
        if "--extension y4m" in command:
            shutil.copy(context.media("y4m"), folder / batch[1] / "three.y4m")
    stills = re.search(r"\bimage (\w+)/ ", command)
    if stills:
        (folder / stills[1] / "below").mkdir(parents=True)
        for name in ("one.png", "below/two.png"):
            shutil.copy(context.media("png"), folder / stills[1] / name)
    curve = re.search(r"--curve-from (\S+)", command)
    if curve:
        shutil.copy(context.curve(), folder / curve[1])
    for name in re.findall(r"--config (\S+)", command):
        if not (folder / name).exists():
            (folder / name).write_text("strength = 0.5\n")
    for name in re.findall(r"\blab plot (\S+)", command):
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(context.source / "docs/benchmarks/lab" / pathlib.Path(name).name, folder / name)


class Outcome:
    def __init__(self, code, text, interrupted):
        self.code = code
        self.text = text
        self.interrupted = interrupted


def status_of(pid):
    """The name of a process, and what its system tells behind that; raises OSError where it is gone."""
    name, _, fields = pathlib.Path(f"/proc/{pid}/stat").read_text().partition("(")[2].rpartition(")")
    return name, fields.split()


def computed_s(process):
    """The seconds of CPU time that a process has taken."""
    try:
        _, fields = status_of(process.pid)
    except OSError:
        return 0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def end_players(process):
    """Kills what is left of an interrupted pipeline where that is ffplay alone: it ends itself in
    its signal handler, which can wait for a lock of its own for ever. Whatever else has not ended
    is left, to be found."""
    left = {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            name, (state, _, group, *_) = status_of(folder.name)
            if int(group) == process.pid and state != "Z":
                left[int(folder.name)] = name
    left.pop(process.pid, None)
    if set(left.values()) == {"ffplay"}:
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def execute(context, folder, command):
    """Runs a command until it ends, or, where it is endless, until it runs. Never longer than
    LONGEST_S."""
    (folder / "tmp").mkdir(exist_ok=True)
    command = command.replace("/tmp/", f"{folder}/tmp/").removesuffix("&")
    if "8080" in command:
        command = command.replace("8080", str(context.free_port()))
    # Hundreds are for those who measure.
    command = re.sub(r"--frames \d{3,}", "--frames 30", command)
    endless = ENDLESS.search(command) is not None
    process = subprocess.Popen(
        ["bash", "-o", "pipefail", "-c", command], cwd=folder,
        env={**context.environment, "XDG_RUNTIME_DIR": str(folder / "tmp")},
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        start_new_session=True)
    text = bytearray()
    runs = threading.Event()

    def read():
        while chunk := os.read(process.stdout.fileno(), 65536):
            text.extend(chunk)
            if RUNS.search(text):
                runs.set()

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    started = time.monotonic()
    interrupted = False
    if endless:
        lab = "equalux lab" in command
        silent = lab or "ffplay" in command
        while process.poll() is None and not runs.is_set():
            if time.monotonic() - started > (SILENT_S if silent else LONGEST_S):
                break
            if silent and computed_s(process) > (LAB_CPU_S if lab else SILENT_CPU_S):
                break
            time.sleep(0.02)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0 if lab else RUNNING_S)
        interrupted = process.poll() is None
        if interrupted:
            os.killpg(process.pid, signal.SIGINT)
            if "ffplay" in command:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(PLAYER_S)
                end_players(process)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(LONGEST_S)
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        reader.join(5)
        return Outcome(-1, text.decode(errors="replace") + "\nkilled: it did not end", interrupted)
    reader.join(5)
    code = process.returncode if process.returncode >= 0 else 128 - process.returncode
    return Outcome(code, text.decode(errors="replace"), interrupted)


def missing_for(context, command):
    """What a command needs that this machine does not have, each with how the command says so."""
    lacks = []
    if CAMERA.search(command):
        lacks.append(("a camera", {1, 66, 255} if "v4l2src" in command else {66}))
    if LOOPBACK.search(command) and not os.path.exists("/dev/video9"):
        lacks.append(("a loopback device", {66, 69, 73}))
    if PIPEWIRE.search(command) and not os.path.exists(
            os.path.join(os.environ.get("XDG_RUNTIME_DIR", ""), "pipewire-0")):
        lacks.append(("PipeWire", {66, 69}))
    if PIPEWIRE_CAMERA.search(command):
        lacks.append(("a camera of PipeWire", {66, 69}))
    if GPU.search(command) and not os.path.exists("/dev/nvidiactl"):
        lacks.append(("a GPU", {1, 69} if "gst-launch" in command else {69}))
    if DISPLAY.search(command) and not context.display:
        lacks.append(("a display", {1, 69, 255}))
    for tool in ("nc", "curl", "ffmpeg", "ffplay", "gst-launch-1.0"):
        if re.search(rf"(^|\| ){tool} ", command) and not shutil.which(tool):
            lacks.append((tool, {127}))
    return lacks


def stand_in(command):
    """A command with test pictures in place of a camera, for what follows it; None without one."""
    if "v4l2src" in command:
        return command.replace("v4l2src", "videotestsrc is-live=true")
    if "--open" in command:
        # Live, since what comes as fast as it can keeps every core busy until the browser has gone.
        return command.replace("camera:0", "'gst:videotestsrc is-live=true'")
    return None


def judge(command, outcome, lacks):
    """None, or what is wrong with how a command ended."""
    codes = {0}
    for _, code in lacks:
        codes |= code
    if outcome.interrupted:
        codes |= {130, 123, 137, 255} if "ffplay" in command else {130}
    lab = re.search(r"\bequalux lab\b", command)
    if outcome.code in ((2, 69) if lab else (69,)) and (lab or GPU.search(command)):
        if NO_GPU.search(outcome.text):  # a build without CUDA, or a machine without a device
            return None
    if outcome.code in codes:
        return None
    return f"exit code {outcome.code}, must be {' or '.join(str(c) for c in sorted(codes))}"


def run_one(context, command):
    """(what was done, None or what went wrong)"""
    for rule in NOT_RUN:
        if rule.pattern.search(command):
            wrong = rule.check(context, command) if rule.check else None
            return f"not run, {rule.why}", wrong
    if not re.match(r"(build/release/bin/)?(equalux|ffmpeg|gst-launch-1\.0|curl|echo) ", command):
        return "unknown", "no rule knows such a command: add one to tests/documentation/documented_commands.py"
    if CAMERA.search(command) and os.path.exists("/dev/video0"):
        return "not run, the camera that is here is left alone", None
    lacks = missing_for(context, command)
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(tempfile.mkdtemp(dir=context.scratch))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        prepare(context, folder, command)
        started = time.monotonic()
        if steering := re.search(r"nc -N -U \S*/([\w.]+)", command):
            stack.enter_context(steered_run(context, folder, ["--control", f"tmp/{steering[1]}"]))
        elif re.search(r"^(curl|ffmpeg|gst-launch-1\.0) .*:8080/", command):
            token = stack.enter_context(
                steered_run(context, folder, ["--serve", str(context.free_port())]))
            command = command.replace("TOKEN", token)
        outcome = execute(context, folder, command)
        wrong = judge(command, outcome, lacks)
        other = stand_in(command) if lacks and not wrong else None
        if other:
            outcome = execute(context, folder, other)
            wrong = judge(other, outcome, [])
        done = f"{time.monotonic() - started:.1f} s"
        if lacks:
            done += ", without " + " and ".join(what for what, _ in lacks)
        if re.search(r"\bnc |\bcurl ", command) and '"error"' in outcome.text:
            wrong = "it was refused"
        if wrong:
            wrong += "\n" + "\n".join("      " + line for line in outcome.text.splitlines()[-12:])
        return done, wrong


@contextlib.contextmanager
def steered_run(context, folder, options):
    """A run that is there to be steered."""
    (folder / "tmp").mkdir(exist_ok=True)
    process = subprocess.Popen(
        ["equalux", "run", "gst:videotestsrc is-live=true ! video/x-raw,width=160,height=120", "-o",
         "null", *options], cwd=folder, env=context.environment, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    # It answers before it says what it filters on; the page's address has what callers must know.
    token = ""
    for line in process.stderr:
        if found := re.search(r"token=(\w+)", line):
            token = found[1]
        if "; equalize" in line:
            break
    try:
        yield token
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate()


# --------------------------------------------------------------------------- a page


def config_commands(path):
    """What shows that a config file loads: the command that it is for takes it, and as a preset."""
    work = "run dark.mp4 -o null"
    if "equalux batch" in path.read_text().splitlines()[0]:
        work = "batch clips/ --out readable/"
    commands = [f"equalux {work} --config configs/{path.name}"]
    if path.stem != "default":
        commands.append(f"equalux {work} --preset {path.stem}")
    return commands


def commands_of(page):
    if page.suffix != ".toml":
        return commands_of_page(page.read_text())
    return commands_of_config(page.read_text()) + [(1, each) for each in config_commands(page)]


def main():
    arguments = [word for word in sys.argv[1:] if word != "--list"]
    if len(arguments) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    source, build = (pathlib.Path(word).resolve() for word in arguments[:2])
    found = {}  # where a command stands first
    for page in arguments[2:]:
        for number, command in commands_of(source / page):
            found.setdefault(command, f"{page}:{number}")
    if "--list" in sys.argv:
        for command, place in found.items():
            print(f"{place}: {command}")
        return 0
    # In the background of a script it is ignored, by all that is started here, too, and what is interrupted would not end.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    failed = 0
    with tempfile.TemporaryDirectory(prefix="equalux-docs-") as scratch:
        context = Context(source, build, pathlib.Path(scratch))
        shows = any(DISPLAY.search(command) for command in found)
        with context.virtual_display() if shows else contextlib.nullcontext():
            for command, place in found.items():
                done, wrong = run_one(context, command)
                print(f"{'FAILED' if wrong else 'ok'}  {place}: {command}   ({done})", flush=True)
                if wrong:
                    failed += 1
                    print(f"    {wrong}", flush=True)
    print(f"{len(found)} commands, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
