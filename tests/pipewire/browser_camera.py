#!/usr/bin/env python3
"""A browser's page takes pictures of `-o pipewire:NAME`, asked for as any page asks for a webcam.

    browser_camera.py [--picture FILE [--clip FILE]] BROWSER PROGRAM

BROWSER is chromium or firefox-esr, PROGRAM is equalux. The session is one of its own: bus, PipeWire, WirePlumber
and the desktop's portal, which lets the page have the camera as if the user had agreed. --picture keeps what the
browser's window looks like, a JPEG for docs/images/browser.jpg, with a clip in place of the colour bars, which are
compared. Ends with 0, with 1 where something is wrong, or
with 77 where a program is not installed.
"""

import argparse
import base64
import contextlib
import http.server
import os
import pathlib
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from virtual_display import start_display  # noqa: E402

# How long a browser may take to start on a loaded machine.
LONGEST_S = 90
# What browsers say when their capture of video crashes by a check of its own: Chromium 156 as a page gives a camera
# back while a frame comes, and Firefox 153 as a page asks for a camera of which it does not know the formats yet.
CRASHES = ("RaceDetected()", "format != SPA_VIDEO_FORMAT_UNKNOWN")
ATTEMPTS = 6
SIZE = (640, 480)
# In each of two rounds; a camera has 30 a second, and a page without a graphics card draws fewer.
LEAST_FRAMES = 15
# Of 255, where the picture that was not filtered is 11 away. YCbCr is converted here and there, each with its own
# rounding.
MOST_DIFFERENCE = 4
PICTURE = ("videotestsrc {} pattern=smpte ! videobalance contrast=0.4 brightness=-0.2 ! "
           "video/x-raw,format=NV12,width=640,height=480,framerate=30/1")

PAGE = """<!doctype html><title>A page with a camera</title>
<body style="font: 20px sans-serif; background: #eee"><p id=name>Waiting for a camera</p>
<video id=shown muted playsinline></video><canvas id=drawn hidden></canvas><script>
const tell = (kind, text) => fetch('/' + kind, {method: 'POST', body: text});
const pause = ms => new Promise(done => setTimeout(done, ms));
async function camera() {
  // The portal grants first and lists what is granted afterwards.
  for (let i = 0; ; ++i) {
    try { return await navigator.mediaDevices.getUserMedia({video: true}); }
    catch (error) { if (i == 30) throw error; await pause(500); }
  }
}
async function round(last) {
  const stream = await camera();
  const track = stream.getVideoTracks()[0];
  document.getElementById('name').textContent = track.label;
  shown.srcObject = stream;
  await shown.play();
  let frames = 0;
  const start = performance.now();
  const count = () => { ++frames; shown.requestVideoFrameCallback(count); };
  shown.requestVideoFrameCallback(count);
  while (performance.now() - start < 3000 || frames < LEAST && performance.now() - start < 30000) await pause(100);
  await tell('round', [track.label, shown.videoWidth, shown.videoHeight, frames].join('|'));
  drawn.width = shown.videoWidth;
  drawn.height = shown.videoHeight;
  drawn.getContext('2d').drawImage(shown, 0, 0);
  await tell('picture', drawn.toDataURL('image/png'));
  if (last) return;
  track.stop();
  shown.srcObject = null;
  await pause(500);
}
(async () => {
  try { await round(false); await round(true); await tell('end', ''); }
  catch (error) { await tell('error', error.name + ': ' + error.message); }
})();
</script>""".replace("LEAST", str(LEAST_FRAMES))

FIREFOX = """user_pref("media.webrtc.camera.allow-pipewire", true);
user_pref("media.navigator.permission.disabled", true);
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("browser.shell.checkDefaultBrowser", false);
user_pref("browser.startup.homepage_override.mstone", "ignore");
user_pref("browser.aboutwelcome.enabled", false);
"""


def missing(browser):
    absent = [name for name in (browser, "dbus-daemon", "pipewire", "wireplumber", "gdbus", "Xvfb", "ffmpeg")
              if shutil.which(name) is None]
    for name in ("xdg-desktop-portal", "xdg-desktop-portal-gtk"):
        if not any(os.path.exists(f"{folder}/{name}") for folder in ("/usr/libexec", "/usr/lib")):
            absent.append(name)
    return absent


def pixels_of(path):
    """R, G and B of a picture's samples."""
    return subprocess.run(["ffmpeg", "-v", "error", "-i", str(path), "-frames:v", "1", "-f", "rawvideo", "-pix_fmt",
                           "rgb24", "-"], check=True, capture_output=True).stdout


def difference(a, b):
    """The mean distance of samples."""
    if len(a) != len(b):
        raise AssertionError(f"{len(a)} samples instead of {len(b)}")
    return sum(abs(x - y) for x, y in zip(a, b)) / len(a)


class NothingSeen(AssertionError):
    """The page has seen no picture: the browser's session may be at fault, so that another one is tried."""


class Page:
    """Serves the page and hears what it tells."""

    def __init__(self):
        told = self.told = queue.Queue()

        class Handler(http.server.BaseHTTPRequestHandler):
            def answer(self, body):
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_GET(self):
                self.answer(PAGE.encode() if self.path == "/" else b"")

            def do_POST(self):
                told.put((self.path[1:], self.rfile.read(int(self.headers["Content-Length"])).decode()))
                self.answer(b"")

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def address(self):
        return f"http://127.0.0.1:{self.server.server_port}/"

    def next(self, kind, browser):
        end = time.monotonic() + LONGEST_S
        while True:
            try:
                got, text = self.told.get(timeout=0.5)
                break
            except queue.Empty:
                if browser.poll() is not None:
                    raise NothingSeen(f"the browser ended with {browser.returncode}, expected {kind}") from None
                if time.monotonic() > end:
                    raise NothingSeen(f"the page told nothing for {LONGEST_S} s, expected {kind}") from None
        if got != kind:
            raise NothingSeen(f"the page told {got} {text[:200]}, expected {kind}")
        return text


def log_in(folder, program):
    """What a program of the session in this folder has printed."""
    path = pathlib.Path(folder) / (program + ".log")
    return path.read_text(errors="replace") if path.exists() else ""


class Session:
    """A desktop's session of its own, as far as a browser needs one."""

    def __init__(self, folder, stack):
        self.folder = pathlib.Path(folder)
        self.stack = stack
        runtime = self.folder / "runtime"
        runtime.mkdir(mode=0o700)
        for part in ("main.lua.d", "bluetooth.lua.d", "wireplumber.conf.d"):
            (self.folder / "config/wireplumber" / part).mkdir(parents=True)
        # No device of this machine is for tests. Both forms of WirePlumber's configuration, old and new.
        self.write("config/wireplumber/main.lua.d/60-no-devices.lua",
                   "alsa_monitor.enabled = false\nv4l2_monitor.enabled = false\nlibcamera_monitor.enabled = false\n")
        self.write("config/wireplumber/bluetooth.lua.d/60-no-devices.lua", "bluez_monitor.enabled = false\n")
        self.write("config/wireplumber/wireplumber.conf.d/60-no-devices.conf",
                   "wireplumber.profiles = { main = { hardware.audio = disabled, hardware.bluetooth = disabled, "
                   "hardware.video-capture = disabled } }\n")
        self.environment = {key: value for key, value in os.environ.items()
                            if key not in ("WAYLAND_DISPLAY", "PIPEWIRE_REMOTE")}
        self.environment.update(
            HOME=str(self.folder), XDG_RUNTIME_DIR=str(runtime), XDG_CONFIG_HOME=str(self.folder / "config"),
            XDG_STATE_HOME=str(self.folder / "state"), XDG_CACHE_HOME=str(self.folder / "cache"),
            XDG_DATA_HOME=str(self.folder / "data"), XDG_CURRENT_DESKTOP="GNOME", LIBGL_ALWAYS_SOFTWARE="1",
            DBUS_SESSION_BUS_ADDRESS=f"unix:path={runtime}/bus", MOZ_CRASHREPORTER_DISABLE="1")
        self.environment["DISPLAY"] = self.display()
        self.start("dbus-daemon", "--session", "--nofork", f"--address=unix:path={runtime}/bus")
        self.until("the bus", (runtime / "bus").exists)
        self.start("pipewire")
        self.until("PipeWire", (runtime / "pipewire-0").exists)
        self.start("wireplumber")

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def display(self):
        display = start_display(lambda command, **how: self.start(*command, **how), "1280x800")
        if not display:
            raise NothingSeen("Xvfb does not start")
        return display

    def start(self, *command, **how):
        """Starts a program that ends with the session, and its children with it."""
        with open(self.folder / (pathlib.Path(command[0]).name + ".log"), "ab") as log:
            process = subprocess.Popen(command, env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                       start_new_session=True, **how)

        def end():
            for how_hard in (signal.SIGTERM, signal.SIGKILL):
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, how_hard)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(10)
        self.stack.callback(end)
        return process

    @staticmethod
    def until(what, condition):
        end = time.monotonic() + LONGEST_S
        while not condition():
            if time.monotonic() > end:
                raise NothingSeen(f"{what} does not come")
            time.sleep(0.05)

    def allow_cameras(self):
        """As if the user had agreed when the portal asked."""
        store = "org.freedesktop.impl.portal.PermissionStore"
        command = ["gdbus", "call", "--session", "--dest", store, "--object-path", "/" + store.replace(".", "/"),
                   "--method", store + ".SetPermission", "devices", "true", "camera", "", "['yes']"]
        try:
            subprocess.run(command, env=self.environment, check=True, capture_output=True, timeout=LONGEST_S)
        except subprocess.SubprocessError as error:
            raise NothingSeen(f"the portal takes no permission: {error}") from None

    def log(self, program):
        return log_in(self.folder, program)


def browse(browser, session, address):
    if browser.startswith("firefox"):
        profile = session.folder / "profile"
        profile.mkdir()
        (profile / "user.js").write_text(FIREFOX)
        return session.start(browser, "--no-remote", "--width", "1000", "--height", "720", "--profile", str(profile),
                             address)
    # The sandbox asks more of a kernel than a container gives. The page is answered as if by the user.
    return session.start(browser, "--no-sandbox", "--no-first-run", "--window-size=1000,720", "--window-position=0,0",
                         f"--user-data-dir={session.folder}/profile", "--enable-features=WebRtcPipeWireCamera",
                         "--use-fake-ui-for-media-stream", address)


def filtered(program, session):
    """The picture that the page should see."""
    clip = session.folder / "expected.y4m"
    subprocess.run([program, "run", "gst:" + PICTURE.format("num-buffers=1"), "-o", str(clip), "--preset", "plain",
                    "--backend", "cpu"], check=True, capture_output=True)
    return pixels_of(clip)


def check(browser, program, session, keep, clip):
    expected = None if clip else filtered(program, session)
    session.allow_cameras()
    camera = session.start(program, "run", clip or "gst:" + PICTURE.format("is-live=true"), "-o", "pipewire:equalux",
                           "--preset", "stable" if clip else "plain", "--backend", "cpu")
    session.until("the camera", lambda: "programs list it as equalux" in session.log("equalux"))
    page = Page()
    shown = browse(browser, session, page.address)
    for number in (1, 2):
        label, width, height, frames = page.next("round", shown).split("|")
        if label != "equalux" or int(frames) < LEAST_FRAMES:
            raise NothingSeen(f"round {number}: {frames} frames of '{label}'")
        picture = session.folder / f"seen{number}.png"
        picture.write_bytes(base64.b64decode(page.next("picture", shown).partition(",")[2]))
        if clip:
            continue
        if (int(width), int(height)) != SIZE:
            raise AssertionError(f"round {number}: frames of {width}x{height}")
        far = difference(pixels_of(picture), expected)
        if far > MOST_DIFFERENCE:
            raise AssertionError(f"round {number}: samples are {far:.1f} from the filtered picture's on average")
        print(f"{browser}, round {number}: {frames} frames of {width}x{height}, {far:.1f} from the filtered picture's")
    page.next("end", shown)
    if keep:
        time.sleep(3)
        subprocess.run(["ffmpeg", "-v", "error", "-y", "-f", "x11grab", "-video_size", "1000x720", "-i",
                        session.environment["DISPLAY"], "-frames:v", "1", "-q:v", "4", keep], check=True)
    os.killpg(camera.pid, signal.SIGINT)
    camera.wait(LONGEST_S)
    given = [line for line in session.log("equalux").splitlines() if line.startswith("pipewire:equalux: ")][-1]
    if camera.returncode != 130 or not given.startswith("pipewire:equalux: 2 readers, "):
        raise AssertionError(f"equalux ended with {camera.returncode}: {given}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--picture")
    parser.add_argument("--clip")
    parser.add_argument("browser")
    parser.add_argument("program")
    wanted = parser.parse_args()
    if absent := missing(wanted.browser):
        print(f"skipped: {', '.join(absent)} not installed")
        return 77
    for attempt in range(ATTEMPTS):
        with tempfile.TemporaryDirectory(prefix="equalux-browser-", ignore_cleanup_errors=True) as folder:
            with contextlib.ExitStack() as stack:
                try:
                    check(wanted.browser, os.path.abspath(wanted.program), Session(folder, stack), wanted.picture,
                          wanted.clip)
                    return 0
                except AssertionError as error:
                    for name in (wanted.browser, "equalux", "xdg-desktop-portal", "dbus-daemon", "wireplumber"):
                        print(f"-- {name}\n{log_in(folder, name)[-1500:]}")
                    print(f"FAILED: {error}")
                    log = log_in(folder, wanted.browser)
                    if not isinstance(error, NothingSeen) and not any(crash in log for crash in CRASHES):
                        return 1
                    print("another session is tried" if attempt + 1 < ATTEMPTS else "no other session is tried",
                          flush=True)
    return 1


if __name__ == "__main__":
    sys.exit(main())
