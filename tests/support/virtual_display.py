"""A screen of its own for programs that need one."""

import os
import subprocess


def start_display(start, size, *options):
    """Starts Xvfb and returns its name, ":7"; "" where it does not start.

    start: called with a command's words and `pass_fds`, as subprocess.Popen takes it.
    size: "1280x800".
    options: more of Xvfb's words.
    """
    read, write = os.pipe()
    start(["Xvfb", "-displayfd", str(write), "-screen", "0", size + "x24", "-nolisten", "tcp",
           *options], pass_fds=[write])
    os.close(write)
    with os.fdopen(read) as numbers:
        number = numbers.readline().strip()
    return ":" + number if number else ""


def end_display(server):
    """Ends an Xvfb that subprocess.Popen has started, and waits for its end."""
    # Xvfb forgets a SIGTERM that comes after it has written its number and before it listens.
    for _ in range(50):
        server.terminate()
        try:
            server.wait(0.2)
            return
        except subprocess.TimeoutExpired:
            pass
    server.kill()
    server.wait()
