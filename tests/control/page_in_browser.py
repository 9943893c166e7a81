#!/usr/bin/env python3
"""The page of --serve as people use it, in Chromium without a window.

    page_in_browser.py PROGRAM [--pictures FOLDER]

PROGRAM is equalux. Its input is a pipe at a camera's rate, so that no camera is needed. --pictures keeps what the page
looks like. Ends with 0, with 1 where something is wrong, or with 77 where Chromium is not installed.
"""

import argparse
import base64
import contextlib
import fcntl
import json
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

LONGEST_S = 60
CHAIN = ("equalize", "clahe", "equalize", "denoise")
WIDTH, HEIGHT = 160, 90
# Seconds of each request on a slow connection.
SLOW_S = 0.25
TOKEN = "0123456789abcdef"


class Browser:
    """Chromium, steered through two pipes by its DevTools protocol."""

    def __init__(self, stack, folder):
        to_read, self.to_browser = os.pipe()
        self.from_browser, to_write = os.pipe()
        # Away from 3 and 4, where Chromium has its ends.
        ends = [fcntl.fcntl(each, fcntl.F_DUPFD, 10) for each in (to_read, to_write)]

        def wire():
            os.dup2(ends[0], 3)
            os.dup2(ends[1], 4)

        self.process = subprocess.Popen(
            ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
             "--remote-debugging-pipe", f"--user-data-dir={folder}"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=wire,
            pass_fds=(3, 4), start_new_session=True)
        stack.callback(self.close)
        for each in (to_read, to_write, *ends):
            os.close(each)
        self.unread = b""
        self.calls = 0

    def close(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def message(self):
        while b"\0" not in self.unread:
            more = os.read(self.from_browser, 1 << 16)
            if not more:
                raise AssertionError("Chromium has ended")
            self.unread += more
        text, self.unread = self.unread.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, session=None, **arguments):
        self.calls += 1
        request = {"id": self.calls, "method": method, "params": arguments}
        if session:
            request["sessionId"] = session
        os.write(self.to_browser, json.dumps(request).encode() + b"\0")
        while True:
            answer = self.message()
            if answer.get("id") == self.calls:
                if "error" in answer:
                    raise AssertionError(f"{method}: {answer['error']}")
                return answer["result"]

    def page(self, address):
        target = self.call("Target.createTarget", url=address)["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        return Page(self, session)


class Page:
    def __init__(self, browser, session):
        self.browser = browser
        self.session = session

    def call(self, method, **arguments):
        return self.browser.call(method, self.session, **arguments)

    def value(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise AssertionError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def until(self, expression, expected=True):
        end = time.monotonic() + LONGEST_S
        while (now := self.value(expression)) != expected:
            if time.monotonic() > end:
                raise AssertionError(f"{expression} is {now!r}, expected {expected!r}")
            time.sleep(0.05)

    def resize(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def picture(self, path):
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))


def feed(pipe, stop):
    """Writes a dark ramp at 15 frames a second, as YUV4MPEG2."""
    luma = bytes(20 + x * 60 // WIDTH for x in range(WIDTH)) * HEIGHT
    frame = b"FRAME\n" + luma + bytes([128]) * (WIDTH // 2 * HEIGHT // 2 * 2)
    with contextlib.suppress(BrokenPipeError):
        pipe.write(f"YUV4MPEG2 W{WIDTH} H{HEIGHT} F15:1 Ip A1:1 C420\n".encode())
        while not stop.wait(1 / 15):
            pipe.write(frame)
            pipe.flush()


def start_run(stack, program, folder):
    command = [program, "run", "-", "-o", "null", "--backend", "cpu", "--serve", "0", "--serve-token", TOKEN,
               "--control", str(folder / "socket")]
    for each in CHAIN:
        command += ["--filter", each]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder)
    stack.callback(process.wait)
    stack.callback(process.kill)
    stop = threading.Event()
    threading.Thread(target=feed, args=(process.stdin, stop), daemon=True).start()
    stack.callback(stop.set)
    said = b""
    for line in process.stderr:
        said += line
        if match := re.search(rb"page is at (\S+)", line):
            threading.Thread(target=process.stderr.read, daemon=True).start()
            return process, match[1].decode()
    if process.wait() == 69:
        print("this build has no page")
        sys.exit(77)
    raise AssertionError(said.decode())


def ask(folder, request):
    with socket.socket(socket.AF_UNIX) as caller:
        caller.connect(str(folder / "socket"))
        caller.sendall(json.dumps(request).encode() + b"\n")
        return json.loads(caller.makefile().readline())


def check(what, found, expected):
    if found != expected:
        raise AssertionError(f"{what}: {found!r}, expected {expected!r}")


def token_is_asked_for(page):
    """Without its token in the address the page asks, and says which answer was wrong."""
    label = "by('asking').hidden ? '' : document.querySelector('[for=token]').textContent"
    question = "This run asks for its token, which stands in the address that it prints:"
    page.until("typeof by", "function")
    page.until(label, question)
    page.value("by('token').value = 'a wrong one'; by('asking').requestSubmit()")
    page.until(label, "That token is wrong. " + question)
    page.value(f"by('token').value = '{TOKEN}'; by('asking').requestSubmit()")
    page.until(label, "")


def names_of_controls(page):
    """Every control has a name that no other one of its group has."""
    groups = page.value("""[...document.querySelectorAll('fieldset.filter')].map(group => [
        group.querySelector('legend').textContent,
        ...[...group.querySelectorAll('input, select')].map(each => each.getAttribute('aria-label') ||
            each.labels[0].textContent)])""")
    check("groups", [group[0] for group in groups], ["equalize-1", "clahe", "equalize-2", "denoise"])
    for group in groups:
        check(f"names of {group[0]}", sorted(set(group[1:])), sorted(group[1:]))
        assert all(group), group
    buttons = page.value("[...document.querySelectorAll('button:not([hidden])')].map(each => "
                         "each.getAttribute('aria-label') || each.textContent)")
    check("names of buttons", sorted(set(buttons)), sorted(buttons))


def one_filter_at_a_time(page, folder):
    """Sliders move their own filter, and the page follows what others set."""
    page.value("""(() => { const slider = by('clahe.strength'); slider.value = 0.35;
        slider.dispatchEvent(new Event('input')); slider.dispatchEvent(new Event('change')); })()""")
    page.until("changes.length || sending ? 'busy' : 'done'", "done")
    filters = ask(folder, {})["filters"]
    check("the slider's filter", filters["clahe"]["strength"], 0.35)
    assert filters["equalize-1"]["strength"] != 0.35 and filters["equalize-2"]["strength"] != 0.35, filters
    ask(folder, {"equalize-2.strength": 0.15, "equalize-1.min-gain": "auto", "equalize-1.scaler": "min-max",
                 "denoise.strength": 0})
    page.until("by('equalize-2.strength').value", "0.15")
    page.until("by('equalize-1.min-gain').getAttribute('aria-valuetext')", "auto")
    page.until("by('equalize-1.scaler').value", "min-max")
    page.until("by('denoise.strength').closest('.knob').querySelector('[type=checkbox]').checked", False)
    check("the other's slider", page.value("by('clahe.strength').value"), "0.35")
    # 0 stands for another slider's value, which is shown.
    ask(folder, {"equalize-1.temporal-ms": 1200, "equalize-1.brighten-ms": 0})
    page.until("by('equalize-1.brighten-ms').getAttribute('aria-valuetext')", "= 1200")


def slow_connection(page, folder):
    """A slider that is let go stays where it is, and what it passed over is not sent one by one."""
    page.value(f"""(() => {{ window.posts = 0; window.moves = []; const send = window.fetch;
        window.fetch = async (path, options) => {{
          if (options && options.method === 'POST') ++window.posts;
          const answer = await send(path, options);
          await pause({1000 * SLOW_S});
          return answer;
        }}; }})()""")
    page.value("""(async () => { const slider = by('clahe.strength');
        for (let at = 0; at <= 60; ++at) {
          slider.value = at % 20 / 20;
          slider.dispatchEvent(new Event('input'));
          if (at % 4 === 0) await pause(10);
        }
        slider.value = 0.65;
        slider.dispatchEvent(new Event('input'));
        slider.dispatchEvent(new Event('change'));
        for (let i = 0; i < 80; ++i) { await pause(20); window.moves.push(slider.value); } })()""")
    check("where the slider went", sorted(set(page.value("window.moves"))), ["0.65"])
    check("the value", ask(folder, {})["filters"]["clahe"]["strength"], 0.65)
    posts = page.value("window.posts")
    assert posts <= 5, f"{posts} requests for one movement"


def input_away(page):
    """What is shown while the input is away is said to be no picture of it."""
    said = "by('lost').hidden ? '' : by('lost').textContent"
    page.until(said, "")
    page.value("""(async () => { window.state = await (await call('/api/state')).json();
        window.away = setInterval(() => { ++state.counters.placeholders; ++state.counters.frames; show(state); }, 100);
        })()""")
    page.until(said, "The input is away. Its picture comes back by itself.")
    page.value("clearInterval(away); state.counters.placeholders = 0")
    page.until(said, "")


def sizes(page, pictures):
    """Nothing is wider than the page, and the picture stays in view beside the sliders."""
    for name, width, height in (("phone", 360, 740), ("tablet", 820, 1180), ("desktop", 1280, 720)):
        page.resize(width, height)
        page.value("by('denoise.strength').scrollIntoView({block: 'end'})")
        page.until("scrollY > 0")
        check(f"{name}: the page's width", page.value("document.documentElement.scrollWidth <= innerWidth"), True)
        shown = page.value("(() => { const box = by('after').getBoundingClientRect(); "
                           "return box.top >= 0 && box.bottom <= innerHeight && box.height > 40; })()")
        if pictures:
            page.picture(pictures / f"{name}.png")
        check(f"{name}: the picture beside the last slider", shown, True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--pictures", type=pathlib.Path)
    options = parser.parse_args()
    if not shutil.which("chromium"):
        print("chromium is not installed")
        return 77
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        run, address = start_run(stack, options.program.resolve(), folder)
        page = Browser(stack, folder / "profile").page(address)
        token_is_asked_for(page)
        page.until("typeof knobs !== 'undefined' && knobs.length > 0 && by('after').naturalWidth > 0")
        names_of_controls(page)
        one_filter_at_a_time(page, folder)
        input_away(page)
        sizes(page, options.pictures)
        slow_connection(page, folder)
        run.kill()
        page.until("document.body.classList.contains('lost') && by('controls').disabled")
        check("the title", page.value("document.title"), "equalux: not live")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except AssertionError as error:
        print(f"page_in_browser: {error}", file=sys.stderr)
        sys.exit(1)
