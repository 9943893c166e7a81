#!/usr/bin/env python3
"""What the filters cost a frame in OBS at 1080p, without a screen or a GPU (llvmpipe draws).

    obs_cost.py PLUGINS SOURCE [OUT.json]

PLUGINS is the folder with equalux.so, SOURCE the repository. A clip comes through the filters in its own
format, a picture by the way of sources that OBS draws. Times are those that the plugin counts in OBS's
log; ten seconds each, at 30 frames a second.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests/obs"))
import obs_session  # noqa: E402

SECONDS = 10
FILTERS = {"equalux, preset stable": ("equalux_filter", {}),
           "equalux denoise, preset webcam": ("equalux_denoise_filter", {"preset": "webcam"}),
           "equalux clahe, preset stable": ("equalux_clahe_filter", {})}
COST = re.compile(r"'(.*)': (\d+) frames filtered, ([\d.]+) ms each, ([\d.]+) to ([\d.]+)"
                  r"(?:; with the way from and to the GPU ([\d.]+) ms each, ([\d.]+) to ([\d.]+))?")


def make_clip(source, path, pixels, codec):
    subprocess.run(["ffmpeg", "-v", "error", "-i", source / "samples/clip.mp4", "-t", "3", "-vf",
                    f"scale=1920:1080,format={pixels}", "-an", *codec, path], check=True)


def measure(obs, name, add):
    rows = {}
    for title, (kind, settings) in FILTERS.items():
        add()
        obs.request("CreateSourceFilter", sourceName="source", filterName=f"{name}; {title}",
                    filterKind=kind, filterSettings=settings)
        time.sleep(SECONDS)
        obs.request("RemoveInput", inputName="source")
        time.sleep(0.5)
        rows[title] = None
    return rows


def main():
    if missing := obs_session.missing_programs():
        print("needs " + ", ".join(missing))
        return 69
    plugins, source = sys.argv[1:3]
    source = pathlib.Path(source).resolve()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        make_clip(source, folder / "i420.mkv", "yuv420p", ["-c:v", "mpeg4", "-q:v", "4"])
        make_clip(source, folder / "yuy2.mkv", "yuyv422", ["-c:v", "rawvideo"])
        subprocess.run(["ffmpeg", "-v", "error", "-i", folder / "i420.mkv", "-frames:v", "1",
                        folder / "picture.png"], check=True)
        with obs_session.Obs(folder, plugins, width=1920, height=1080) as obs:
            def clip(file):
                obs.request("CreateInput", sceneName="Scene", inputName="source",
                            inputKind="ffmpeg_source",
                            inputSettings={"local_file": str(folder / file), "looping": True,
                                           "hw_decode": False})

            def picture():
                obs.request("CreateInput", sceneName="Scene", inputName="source",
                            inputKind="image_source",
                            inputSettings={"file": str(folder / "picture.png")})

            measure(obs, "a clip, I420", lambda: clip("i420.mkv"))
            measure(obs, "a clip, YUY2", lambda: clip("yuy2.mkv"))
            measure(obs, "a picture that OBS draws", picture)
            obs.close()
            rows = []
            print("| source | filter | frames | filter, ms: mean | least | with the way from and to "
                  "the GPU: mean | least |\n|---|---|---|---|---|---|---|")
            for line in obs.lines_of_ours():
                if found := COST.search(line):
                    where, title = found[1].split("; ")
                    rows.append({"source": where, "filter": title, "frames": int(found[2]),
                                 "mean_ms": float(found[3]), "least_ms": float(found[4]),
                                 **({"way_mean_ms": float(found[6]), "way_least_ms": float(found[7])}
                                    if found[6] else {})})
                    print(f"| {where} | {title} | {found[2]} | {found[3]} | {found[4]} | "
                          f"{found[6] or ''} | {found[7] or ''} |")
    if len(sys.argv) > 3:
        pathlib.Path(sys.argv[3]).write_text(json.dumps(rows, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
