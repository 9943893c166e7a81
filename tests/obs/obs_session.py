"""OBS without a screen, in a folder of its own, steered by its websocket (obs-websocket 5).

The server inside OBS listens on all addresses; it is guarded by a password made for each run.
"""

import base64
import ctypes
import ctypes.util
import hashlib
import json
import os
import pathlib
import secrets
import shutil
import socket
import struct
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from virtual_display import start_display  # noqa: E402

# How long OBS may take for anything on a loaded machine.
LONGEST_S = 120
PROGRAMS = {"obs": "obs-studio", "Xvfb": "xvfb", "ffmpeg": "ffmpeg",
            "xdotool": "xdotool"}

GLOBAL_INI = """\
[General]
FirstRun=true
LastVersion=486539266
EnableAutoUpdates=false
ConfirmOnExit=false
[Basic]
Profile=test
ProfileDir=test
SceneCollection=test
SceneCollectionFile=test
ConfigOnNewProfile=false
[BasicWindow]
PreviewEnabled={preview}
[OBSWebSocket]
FirstLoad=false
ServerEnabled=true
ServerPort={port}
AlertsEnabled=false
AuthRequired=true
ServerPassword={password}
"""
PROFILE_INI = """\
[General]
Name=test
[Video]
BaseCX={width}
BaseCY={height}
OutputCX={width}
OutputCY={height}
FPSType=1
FPSInt={rate}
"""


class ObsError(Exception):
    """OBS refused a request, or is not there."""


def missing_programs():
    """What a machine lacks to run OBS here, with the packages of Debian that have it."""
    return [f"{name} (Debian: {package})" for name, package in PROGRAMS.items()
            if not shutil.which(name)]


def wait_for(what, done):
    """What done() returns once that is true. Throws ObsError where it never is."""
    deadline = time.monotonic() + LONGEST_S
    while time.monotonic() < deadline:
        result = done()
        if result:
            return result
        time.sleep(0.05)
    raise ObsError(f"{what}: not within {LONGEST_S} s")


class ClientMessage(ctypes.Structure):
    """Xlib's XClientMessageEvent, and the rest of an XEvent."""
    _fields_ = [("type", ctypes.c_int), ("serial", ctypes.c_ulong), ("send_event", ctypes.c_int),
                ("display", ctypes.c_void_p), ("window", ctypes.c_ulong),
                ("message_type", ctypes.c_ulong), ("format", ctypes.c_int),
                ("data", ctypes.c_long * 5), ("rest", ctypes.c_long * 24)]


def close_window(display_name, window):
    """What a window manager does when people close a window; here is none."""
    x11 = ctypes.CDLL(ctypes.util.find_library("X11") or "libX11.so.6")
    for name in ("XOpenDisplay", "XInternAtom"):
        getattr(x11, name).restype = ctypes.c_void_p
    display = ctypes.c_void_p(x11.XOpenDisplay(display_name.encode()))
    if not display:
        raise ObsError(f"no display {display_name}")
    protocols = x11.XInternAtom(display, b"WM_PROTOCOLS", 0)
    event = ClientMessage(type=33, send_event=1, window=window, message_type=protocols, format=32)
    event.data[0] = x11.XInternAtom(display, b"WM_DELETE_WINDOW", 0)
    x11.XSendEvent(display, ctypes.c_ulong(window), 0, ctypes.c_long(0), ctypes.byref(event))
    x11.XCloseDisplay(display)


class WebSocket:
    """The part of RFC 6455 that a client of obs-websocket needs: texts, without extensions."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=LONGEST_S)
        key = base64.b64encode(secrets.token_bytes(16)).decode()
        self.socket.sendall((f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\n"
                             f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\n"
                             "Sec-WebSocket-Version: 13\r\n"
                             "Sec-WebSocket-Protocol: obswebsocket.json\r\n\r\n").encode())
        self.rest = b""
        while b"\r\n\r\n" not in self.rest:
            self.rest += self.more()
        head, self.rest = self.rest.split(b"\r\n\r\n", 1)
        if b" 101 " not in head.split(b"\r\n")[0]:
            raise ObsError(f"no websocket: {head[:80]!r}")

    def more(self):
        part = self.socket.recv(1 << 20)
        if not part:
            raise ObsError("OBS closed the connection")
        return part

    def take(self, count):
        while len(self.rest) < count:
            self.rest += self.more()
        taken, self.rest = self.rest[:count], self.rest[count:]
        return taken

    def send(self, value):
        text = json.dumps(value).encode()
        length = len(text)
        head = bytes([0x81, 0x80 | length]) if length < 126 else \
            bytes([0x81, 0xFE]) + struct.pack(">H", length) if length < 1 << 16 else \
            bytes([0x81, 0xFF]) + struct.pack(">Q", length)
        # A mask of zeros is one, too.
        self.socket.sendall(head + bytes(4) + text)

    def receive(self):
        text = b""
        while True:
            first, second = self.take(2)
            length = second & 0x7F
            if length == 126:
                length = struct.unpack(">H", self.take(2))[0]
            elif length == 127:
                length = struct.unpack(">Q", self.take(8))[0]
            part = self.take(length)
            code = first & 0x0F
            if code == 8:
                raise ObsError(f"OBS closed the connection: {part!r}")
            if code == 9:
                self.socket.sendall(bytes([0x8A, 0x80 | len(part)]) + bytes(4) + part)
            if code in (0, 1):
                text += part
                if first & 0x80:
                    return json.loads(text)


class Obs:
    """One OBS, from its start to its end. Use as a context."""

    def __init__(self, folder, plugins, width=320, height=240, rate=30, preview=False,
                 screen="800x600", scenes=None):
        self.folder = pathlib.Path(folder)
        self.plugins = pathlib.Path(plugins).resolve()
        self.width, self.height, self.rate = width, height, rate
        self.preview = preview
        self.screen = screen
        self.scenes = scenes
        self.processes = []
        self.socket = None
        self.next_request = 0

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.kill()
            raise
        return self

    def __exit__(self, *_):
        self.kill()

    def start_display(self):
        def start(command, **how):
            self.processes.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                                   **how))

        display = start_display(start, self.screen)
        if not display:
            raise ObsError("Xvfb does not start")
        return display

    def start(self):
        config = self.folder / "config/obs-studio"
        runtime = self.folder / "runtime"
        (config / "basic/profiles/test").mkdir(parents=True, exist_ok=True)
        (config / "basic/scenes").mkdir(parents=True, exist_ok=True)
        runtime.mkdir(mode=0o700, exist_ok=True)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        password = secrets.token_hex(16)
        (config / "global.ini").write_text(GLOBAL_INI.format(
            port=port, password=password, preview=str(self.preview).lower()))
        (config / "basic/profiles/test/basic.ini").write_text(
            PROFILE_INI.format(width=self.width, height=self.height, rate=self.rate))
        if self.scenes:
            shutil.copy(self.scenes, config / "basic/scenes/test.json")
        self.display = self.start_display()
        environment = {key: value for key, value in os.environ.items()
                       if key not in ("WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS")}
        environment.update(
            HOME=str(self.folder), XDG_CONFIG_HOME=str(self.folder / "config"),
            XDG_CACHE_HOME=str(self.folder / "cache"), XDG_RUNTIME_DIR=str(runtime),
            DISPLAY=self.display, QT_QPA_PLATFORM="xcb", LIBGL_ALWAYS_SOFTWARE="1",
            LC_ALL="C.UTF-8", OBS_PLUGINS_PATH=str(self.plugins),
            OBS_PLUGINS_DATA_PATH=str(self.plugins))
        self.log_path = self.folder / "obs.log"
        with open(self.log_path, "wb") as log:
            self.obs = subprocess.Popen(
                ["obs", "--multi", "--disable-updater", "--disable-missing-files-check"],
                env=environment, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log,
                stderr=subprocess.STDOUT)
        self.processes.append(self.obs)
        self.socket = wait_for("OBS's websocket", lambda: self.try_connect(port))
        hello = self.socket.receive()["d"]
        asked = hello["authentication"]
        secret = base64.b64encode(
            hashlib.sha256((password + asked["salt"]).encode()).digest()).decode()
        answer = base64.b64encode(
            hashlib.sha256((secret + asked["challenge"]).encode()).digest()).decode()
        self.socket.send({"op": 1, "d": {"rpcVersion": 1, "authentication": answer,
                                         "eventSubscriptions": 0}})
        self.socket.receive()
        wait_for("OBS", lambda: self.try_request("GetSceneList"))

    def try_connect(self, port):
        if self.obs.poll() is not None:
            raise ObsError(f"OBS ended with {self.obs.returncode}:\n{self.log()[-2000:]}")
        try:
            return WebSocket(port)
        except OSError:
            return None

    def try_request(self, kind):
        try:
            return self.request(kind)
        except ObsError:
            return None

    def request(self, kind, **data):
        """What OBS answers to a request. Throws ObsError where it refuses it."""
        self.next_request += 1
        name = str(self.next_request)
        self.socket.send({"op": 6, "d": {"requestType": kind, "requestId": name,
                                         "requestData": data}})
        while True:
            message = self.socket.receive()
            if message["op"] == 7 and message["d"]["requestId"] == name:
                break
        status = message["d"]["requestStatus"]
        if not status["result"]:
            raise ObsError(f"{kind}: {status['code']} {status.get('comment', '')}")
        return message["d"].get("responseData", {})

    def log(self):
        return self.log_path.read_text(errors="replace")

    def lines_of_ours(self):
        """What the plugin has written into OBS's log."""
        return [line[line.index("[equalux]"):] for line in self.log().splitlines()
                if "[equalux]" in line]

    def memory_kib(self):
        for line in pathlib.Path(f"/proc/{self.obs.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1])
        raise ObsError("OBS is gone")

    def windows(self, title):
        """Those that are shown, by the beginning of their titles."""
        return [int(number) for number in subprocess.run(
            ["xdotool", "search", "--onlyvisible", "--name", title], capture_output=True, text=True,
            env=dict(os.environ, DISPLAY=self.display), check=False).stdout.split()]

    def close_window(self, title):
        for window in wait_for(f"a window {title}", lambda: self.windows(title)):
            close_window(self.display, window)
        wait_for(f"the end of the window {title}", lambda: not self.windows(title))

    def close(self):
        """Has OBS end as by its window's close button, and returns its exit code."""
        self.socket.socket.close()  # OBS would wait for it.
        self.close_window("^OBS ")
        try:
            return self.obs.wait(LONGEST_S)
        except subprocess.TimeoutExpired:
            raise ObsError(f"OBS does not end:\n{self.log()[-2000:]}") from None

    def kill(self):
        for process in reversed(self.processes):
            if process.poll() is None:
                process.kill()
            process.wait()
        if self.socket:
            self.socket.socket.close()
