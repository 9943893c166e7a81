#!/usr/bin/env python3
"""The filters in OBS itself: no screen, a config folder of its own, steered by its websocket.

    obs_program.py [--picture FILE] PROGRAM PLUGINS SOURCE

PROGRAM is equalux, PLUGINS the folder with equalux.so, SOURCE the repository. --picture keeps what the
window of filters looks like, a JPEG for docs/images/obs.jpg. Ends with 0, with 1 where
something is wrong, or with 77 where OBS or what steers it is not installed.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import obs_session
from obs_session import LONGEST_S, Obs, ObsError, wait_for

FILTER = "equalux_filter"
DENOISE = "equalux_denoise_filter"
CLAHE = "equalux_clahe_filter"
# What 20 filters on each of two sources may leave: less than 80 KiB a filter.
MOST_GROWTH_KIB = 3 * 1024


def run(*command, **how):
    done = subprocess.run([str(each) for each in command], capture_output=True, check=False, **how)
    if done.returncode != 0:
        raise AssertionError(f"{command}: {done.returncode}\n{done.stderr.decode()[-2000:]}")
    return done.stdout


class Stage:
    """Clips, pictures, and the sources in OBS that show them."""

    def __init__(self, obs, folder, program):
        self.obs = obs
        self.folder = pathlib.Path(folder)
        self.program = program
        self.count = 0

    def make_clip(self, name, size="320x240", pixels="yuv420p", seconds=1):
        """A clip of one dark picture without contrast, again and again."""
        path = self.folder / name
        run("ffmpeg", "-v", "error", "-f", "lavfi", "-i", f"testsrc2=s={size}:r=10:d=1", "-vf",
            "select=eq(n\\,3),lutyuv=y=16+(val-16)*0.35,"
            f"loop={10 * seconds - 1}:1,setpts=N/10/TB,format={pixels},setparams=range=tv:"
            "colorspace=bt709:color_primaries=bt709:color_trc=bt709", "-r", "10", "-c:v", "ffv1",
            "-colorspace", "bt709", "-color_range", "tv", path)
        return path

    def make_picture(self, name, size):
        path = self.folder / name
        width, height = size.split("x")
        run("ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=320x240", "-vf",
            f"format=rgb24,lutrgb=r=val*0.4:g=val*0.4:b=val*0.3,crop={width}:{height}:exact=1",
            "-frames:v", "1", path)
        return path

    def filtered_clip(self, clip, name, *options):
        path = self.folder / name
        run(self.program, "run", clip, "-o", path, "--preset", "plain", "--lossless", "--backend",
            "cpu", *options)
        return path

    def add_clip(self, name, path):
        self.obs.request("CreateInput", sceneName="Scene", inputName=name,
                         inputKind="ffmpeg_source",
                         inputSettings={"local_file": str(path), "looping": True,
                                        "hw_decode": False})
        self.shown(name)

    def add_picture(self, name, path):
        self.obs.request("CreateInput", sceneName="Scene", inputName=name,
                         inputKind="image_source", inputSettings={"file": str(path)})
        self.shown(name)

    def shown(self, name):
        def is_there():
            for item in self.obs.request("GetSceneItemList", sceneName="Scene")["sceneItems"]:
                if item["sourceName"] == name and item["sceneItemTransform"]["sourceWidth"] > 0:
                    return True
            return False
        wait_for(f"{name} in OBS", is_there)

    def add_filter(self, source, kind=FILTER, name="mine", **settings):
        self.obs.request("CreateSourceFilter", sourceName=source, filterName=name, filterKind=kind,
                         filterSettings={"preset": "plain", **settings})

    def set_filter(self, source, name="mine", **settings):
        self.obs.request("SetSourceFilterSettings", sourceName=source, filterName=name,
                         filterSettings=settings)

    def remove_filter(self, source, name="mine"):
        self.obs.request("RemoveSourceFilter", sourceName=source, filterName=name)

    def remove(self, name):
        self.obs.request("RemoveInput", inputName=name)

    def clear(self):
        for each in self.obs.request("GetInputList")["inputs"]:
            self.remove(each["inputName"])
        for each in self.obs.request("GetSourceFilterList", sourceName="Scene")["filters"]:
            self.remove_filter("Scene", each["filterName"])

    def screenshot(self, source):
        """A file with what a source shows now."""
        self.count += 1
        path = self.folder / f"shot{self.count}.png"
        self.obs.request("SaveSourceScreenshot", sourceName=source, imageFormat="png",
                         imageFilePath=str(path))
        return path

    @staticmethod
    def pixels(path):
        return run("ffmpeg", "-v", "error", "-i", path, "-f", "rawvideo", "-pix_fmt", "rgba", "-")

    def picture(self, source):
        path = self.screenshot(source)
        pixels = self.pixels(path)
        path.unlink()
        return pixels

    def still_picture(self, source):
        """What a clip shows once all of it is there: twice the same, and of more than one colour."""
        last = b""

        def is_still():
            nonlocal last
            before, last = last, self.picture(source)
            return last == before and last != last[:4] * (len(last) // 4)
        wait_for(f"a picture of {source}", is_still)
        return last

    def becomes(self, source, expected, what):
        """Waits until a source shows a picture; frames are under way when settings change."""
        try:
            wait_for(what, lambda: self.picture(source) == expected)
        except ObsError:
            shown = self.picture(source)
            pairs = list(zip(shown, expected))
            raise AssertionError(
                f"{what}: {sum(a != b for a, b in pairs)} of {len(expected)} bytes differ, by at "
                f"most {max((abs(a - b) for a, b in pairs), default=0)}, after {LONGEST_S} s") from None

    def image(self, still, *options):
        """What `equalux image` makes of a still."""
        path = self.folder / "expected.png"
        run(self.program, "image", still, path, "--overwrite", "--backend", "cpu", *options)
        return self.pixels(path)


def expect(holds, what):
    if not holds:
        raise AssertionError(what)


# --- cases -------------------------------------------------------------------------------------

def clips_have_the_programs_bytes(stage):
    """Asynchronous sources: what OBS makes of our frames is what it makes of the program's."""
    for pixels in ("yuv420p", "yuv422p", "yuv420p10le"):
        clip = stage.make_clip(f"{pixels}.mkv", pixels=pixels)
        stage.add_clip("ours", clip)
        unfiltered = stage.still_picture("ours")
        stage.add_filter("ours", **{"clip-limit": 2.5})
        stage.add_clip("theirs", stage.filtered_clip(clip, f"{pixels}-2.mkv", "--clip-limit", "2.5"))
        expected = stage.still_picture("theirs")
        expect(expected != unfiltered, "the filter does nothing")
        stage.becomes("ours", expected, f"{pixels} filtered")

        # Live: another value, a preset, its end.
        stage.set_filter("ours", **{"clip-limit": 0})
        stage.remove("theirs")
        stage.add_clip("theirs", stage.filtered_clip(clip, f"{pixels}-0.mkv"))
        stage.becomes("ours", stage.still_picture("theirs"), f"{pixels} with another clip limit")
        stage.obs.request("SetSourceFilterEnabled", sourceName="ours", filterName="mine",
                          filterEnabled=False)
        stage.becomes("ours", unfiltered, f"{pixels} with the filter off")
        stage.remove("ours")
        stage.remove("theirs")


def drawn_sources_have_the_programs_bytes(stage):
    """Sources that OBS draws: images, displays, scenes."""
    stage.add_picture("drawn", stage.make_picture("odd.png", "161x97"))
    still = stage.screenshot("drawn")
    stage.add_filter("drawn")
    stage.becomes("drawn", stage.image(still), "an image")
    stage.set_filter("drawn", **{"clip-limit": 2, "floor": 1})
    stage.becomes("drawn", stage.image(still, "--clip-limit", "2", "--floor", "1"), "its changes")
    # A filter of OBS's own in front and behind.
    stage.add_filter("drawn", CLAHE, "second", tiles="4,4")
    between = stage.folder / "between.png"
    run(stage.program, "image", still, between, "--clip-limit", "2", "--floor", "1", "--overwrite")
    stage.becomes("drawn", stage.image(between, "--filter", "clahe:tiles=4,4"),
                  "a second filter")
    stage.remove_filter("drawn", "second")

    # The scene, with what is filtered in it already.
    scene = stage.screenshot("Scene")
    stage.obs.request("CreateSourceFilter", sourceName="Scene", filterName="all", filterKind=FILTER,
                      filterSettings={"preset": "plain", "clip-limit": 1.5, "scaler": "min-max"})
    stage.becomes("Scene", stage.image(scene, "--clip-limit", "1.5", "--scaler", "min-max"),
                  "a scene")
    stage.remove_filter("Scene", "all")

    # Left the picture as it was, right the filtered one.
    before = stage.pixels(still)
    after = stage.image(still, "--clip-limit", "2", "--floor", "1")
    stage.set_filter("drawn", split=0.5)
    width, height, pixel = 161, 97, 4
    columns = 81 * pixel
    row = width * pixel
    stage.becomes("drawn", b"".join(before[y * row:y * row + columns] +
                                    after[y * row + columns:(y + 1) * row]
                                    for y in range(height)), "a split")
    stage.remove("drawn")


def presets_are_what_the_program_says(stage):
    stage.add_picture("drawn", stage.make_picture("preset.png", "160x96"))
    still = stage.screenshot("drawn")
    stage.obs.request("CreateSourceFilter", sourceName="drawn", filterName="mine",
                      filterKind=FILTER)
    # Of a still picture the history is the picture's own.
    stage.becomes("drawn", stage.image(still, "--preset", "stable", "--temporal-ms", "0"),
                  "a new filter's preset, stable")

    def settings():
        return stage.obs.request("GetSourceFilter", sourceName="drawn",
                                 filterName="mine")["filterSettings"]

    for preset, ms in (("fog", 3000), ("webcam", 1500)):
        stage.set_filter("drawn", preset=preset)
        wait_for(f"preset {preset}", lambda ms=ms: settings().get("temporal-ms") == ms)
    stage.set_filter("drawn", preset="fog", **{"temporal-ms": 0})
    stage.becomes("drawn", stage.image(still, "--preset", "fog", "--temporal-ms", "0"), "preset fog")
    stage.remove("drawn")


def two_instances_are_apart(stage):
    clip = stage.make_clip("two.mkv")
    for name in ("first", "second"):
        stage.add_clip(name, clip)
    unfiltered = stage.still_picture("second")
    stage.add_filter("first")
    stage.add_clip("theirs", stage.filtered_clip(clip, "two-0.mkv"))
    expected = stage.still_picture("theirs")
    stage.becomes("first", expected, "the first of two")
    stage.becomes("second", unfiltered, "the other one, without a filter")
    stage.add_filter("second", strength=0.5)
    stage.add_filter("first", DENOISE, "calm")
    stage.set_filter("first", "calm", strength=0)
    stage.remove("theirs")
    stage.add_clip("theirs", stage.filtered_clip(clip, "two-5.mkv", "--strength", "0.5"))
    stage.becomes("second", stage.still_picture("theirs"), "the second of two")
    stage.becomes("first", expected, "the first, behind a noise reduction of nothing")
    for name in ("first", "second", "theirs"):
        stage.remove(name)


def sources_may_change_their_size(stage):
    """Files of other sizes, while frames move."""
    clips = [stage.make_clip(f"{size}.mkv", size) for size in ("320x240", "160x120", "200x112")]
    stage.add_clip("resized", clips[0])
    stage.add_filter("resized")
    pictures = [stage.make_picture(f"{size}.png", size) for size in ("64x48", "200x100", "33x17")]
    stage.add_picture("drawn", pictures[0])
    stage.add_filter("drawn")
    for i in range(1, 7):
        stage.obs.request("SetInputSettings", inputName="resized",
                          inputSettings={"local_file": str(clips[i % 3])})
        stage.obs.request("SetInputSettings", inputName="drawn",
                          inputSettings={"file": str(pictures[i % 3])})
        time.sleep(0.15)
    # The last ones are the first ones again.
    stage.obs.request("SetSourceFilterEnabled", sourceName="drawn", filterName="mine",
                      filterEnabled=False)
    stage.becomes("drawn", stage.pixels(pictures[0]), "an image that was others, without the filter")
    stage.obs.request("SetSourceFilterEnabled", sourceName="drawn", filterName="mine",
                      filterEnabled=True)
    stage.becomes("drawn", stage.image(pictures[0]), "an image that was others")
    stage.add_clip("theirs", stage.filtered_clip(clips[0], "resized.mkv"))
    stage.becomes("resized", stage.still_picture("theirs"), "a clip that was others")
    for name in ("resized", "drawn", "theirs"):
        stage.remove(name)


def filters_come_and_go(stage):
    """A hundred times, on both kinds of sources; memory does not grow."""
    stage.add_clip("clip", stage.make_clip("come.mkv"))
    stage.add_picture("drawn", stage.make_picture("come.png", "320x240"))
    unfiltered = stage.still_picture("drawn")
    memory = []
    for i in range(101):
        for source in ("clip", "drawn"):
            stage.add_filter(source, (FILTER, DENOISE)[i % 2])
        time.sleep(0.04)  # A frame of OBS.
        for source in ("clip", "drawn"):
            stage.remove_filter(source)
        if i % 20 == 0:
            memory.append(stage.obs.memory_kib())
    # From the twentieth on: what is lost with a filter is lost in each part, what OBS itself takes once is not.
    parts = [after - before for before, after in zip(memory[1:], memory[2:])]
    print(f"        with each 20 filters OBS grows by {parts} KiB")
    expect(sorted(parts)[1] < MOST_GROWTH_KIB, f"with each 20 filters OBS grows by {parts} KiB")
    stage.becomes("drawn", unfiltered, "the image, without filters")
    stage.remove("clip")
    stage.remove("drawn")


def what_cannot_be_filtered_passes(stage):
    """With one line in OBS's log."""
    clip = stage.make_clip("lightness.mkv")
    stage.add_clip("passes", clip)
    unfiltered = stage.still_picture("passes")
    stage.add_filter("passes", name="of-rgb-alone", space="lightness")
    time.sleep(0.5)
    stage.becomes("passes", unfiltered, "a clip that cannot be filtered")
    lines = [line for line in stage.obs.lines_of_ours() if "of-rgb-alone" in line]
    expect(len(lines) == 1 and "frames pass as they are" in lines[0], f"not one line: {lines}")
    stage.remove("passes")


def the_window_shows_the_settings(stage, clip, picture):
    """OBS's own window of filters, on a clip with the left half as it was."""
    stage.add_clip("Camera", clip)
    stage.obs.request("CreateSourceFilter", sourceName="Camera", filterName="equalux",
                      filterKind=FILTER, filterSettings={"split": 0.5})
    stage.obs.request("CreateSourceFilter", sourceName="Camera", filterName="equalux denoise",
                      filterKind=DENOISE, filterSettings={"preset": "webcam"})
    stage.obs.request("OpenInputFiltersDialog", inputName="Camera")
    width, height = 1000, 940
    window = wait_for("the window of filters", lambda: stage.obs.windows("^Filters for"))[0]
    for change in (["windowsize", window, width, height], ["windowmove", window, 0, 0]):
        run("xdotool", *change, env=dict(os.environ, DISPLAY=stage.obs.display))

    def grab(codec="png"):
        return run("ffmpeg", "-v", "error", "-f", "x11grab", "-video_size", f"{width}x{height}",
                   "-i", stage.obs.display, "-frames:v", "1", "-f", "image2pipe", "-c:v", codec,
                   "-q:v", "3", "-")

    # Drawn in steps: widgets, then the preview.
    seen = [b""]

    def is_whole():
        time.sleep(0.5)
        seen.append(grab())
        return len(seen[-1]) > 100_000
    wait_for("a picture in the window of filters", is_whole)
    if picture:
        time.sleep(1)
        pathlib.Path(picture).write_bytes(grab("mjpeg"))
    stage.obs.close_window("^Filters for")
    stage.remove("Camera")


def the_sample_loads(folder, plugins, sample):
    """samples/obs/equalux.json, with the plugin where users put it."""
    place = pathlib.Path(folder) / "config/obs-studio/plugins/equalux/bin/64bit"
    place.mkdir(parents=True)
    shutil.copy(pathlib.Path(plugins) / "equalux.so", place)
    nowhere = pathlib.Path(folder) / "nowhere"
    nowhere.mkdir()
    with Obs(folder, nowhere, scenes=sample) as obs:
        filters = obs.request("GetSourceFilterList", sourceName="Camera")["filters"]
        kinds = [(each["filterKind"], each["filterSettings"].get("preset")) for each in filters]
        expect(kinds == [(FILTER, "webcam"), (DENOISE, "webcam")], f"filters are {kinds}")
        wait_for("preset webcam", lambda: obs.request(
            "GetSourceFilter", sourceName="Camera",
            filterName="equalux")["filterSettings"].get("darken-ms") == 700)
        items = obs.request("GetSceneItemList", sceneName="Readable camera")["sceneItems"]
        expect([each["sourceName"] for each in items] == ["Camera"], f"items are {items}")
        expect(obs.close() == 0, obs.log()[-2000:])
        # OBS 29 loses one thing with every scene collection that it loads, with filters or without.
        check_log(obs, 0, leaks=1)
    print("ok      the_sample_loads", flush=True)


CASES = [clips_have_the_programs_bytes, drawn_sources_have_the_programs_bytes,
         presets_are_what_the_program_says, two_instances_are_apart, sources_may_change_their_size,
         filters_come_and_go, what_cannot_be_filtered_passes]


def check_log(obs, complaints, leaks=0):
    lines = [line for line in obs.lines_of_ours() if " frames filtered, " not in line]
    expect(len(lines) == complaints, "unexpected lines in OBS's log:\n" + "\n".join(lines))
    expect(f"Number of memory leaks: {leaks}\n" in obs.log(),
           "OBS counts leaks:\n" + obs.log()[-500:])


def check_cases(stage, clip, picture):
    failed = 0
    for case in [*CASES, lambda stage: the_window_shows_the_settings(stage, clip, picture)]:
        name = case.__name__.replace("<lambda>", "the_window_shows_the_settings")
        begin = time.monotonic()
        try:
            case(stage)
            print(f"ok      {name}, {time.monotonic() - begin:.1f} s", flush=True)
        except (AssertionError, ObsError) as error:
            failed += 1
            print(f"FAILED  {name}: {error}", flush=True)
            stage.clear()
    return failed


def close_while_frames_move(stage):
    stage.add_clip("clip", stage.make_clip("last.mkv"))
    stage.add_picture("drawn", stage.make_picture("last.png", "320x240"))
    for name in ("clip", "drawn"):
        stage.add_filter(name)
        stage.add_filter(name, DENOISE, "calm")
    code = stage.obs.close()
    expect(code == 0, f"OBS ends with {code}:\n{stage.obs.log()[-2000:]}")
    check_log(stage.obs, 1)
    print("ok      close_while_frames_move", flush=True)


def main():
    arguments = sys.argv[1:]
    picture = arguments[1] if arguments[0] == "--picture" else None
    program, plugins, source = arguments[2 if picture else 0:]
    source = pathlib.Path(source).resolve()
    if not (pathlib.Path(plugins) / "equalux.so").exists():
        print(f"skipped: no equalux.so in {plugins}; was libobs found (Debian: libobs-dev)?")
        return 77
    if missing := obs_session.missing_programs():
        print("skipped: needs " + ", ".join(missing))
        return 77
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        with Obs(folder, plugins, screen="1100x960") as obs:
            stage = Stage(obs, folder, program)
            failed = check_cases(stage, source / "samples/clip.mp4", picture)
            if not failed:
                close_while_frames_move(stage)
    if not failed:
        with tempfile.TemporaryDirectory() as folder:
            the_sample_loads(folder, plugins, source / "samples/obs/equalux.json")
    print(f"{failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
