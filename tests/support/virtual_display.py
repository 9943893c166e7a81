"""A screen of its own for programs that need one."""

import os


def start_display(start, size):
    """Starts Xvfb and returns its name, ":7"; "" where it does not start.

    start: called with a command's words and `pass_fds`, as subprocess.Popen takes it.
    size: "1280x800".
    """
    read, write = os.pipe()
    start(["Xvfb", "-displayfd", str(write), "-screen", "0", size + "x24", "-nolisten", "tcp"], pass_fds=[write])
    os.close(write)
    with os.fdopen(read) as numbers:
        number = numbers.readline().strip()
    return ":" + number if number else ""
