#!/usr/bin/python3
"""Changes the element's properties while the stream runs, and reads what each frame costs.

    samples/gst/live_property.py [LAUNCH]

LAUNCH is a pipeline with an equalux element named "e"; without it a test picture in a window.
Needs python3-gi and gir1.2-gstreamer-1.0, which the distribution's own python3 finds.
"""

import math
import sys

import gi

gi.require_version("Gst", "1.0")
from gi.repository import GLib, Gst  # noqa: E402

DEFAULT = "videotestsrc num-buffers=300 ! equalux name=e ! videoconvert ! autovideosink"


def main() -> int:
    Gst.init(None)
    pipeline = Gst.parse_launch(sys.argv[1] if len(sys.argv) > 1 else DEFAULT)
    equalux = pipeline.get_by_name("e")
    if equalux is None:
        print("no element is named e", file=sys.stderr)
        return 2
    loop = GLib.MainLoop()
    status = 0
    ticks = 0

    def change() -> bool:
        nonlocal ticks
        ticks += 1
        equalux.props.split = 0.5 + 0.4 * math.sin(0.04 * ticks)
        if ticks % 25 == 0:
            timings = equalux.props.last_timings
            if timings is not None:
                print(f"frame {timings.get_uint64('index')[1]}: "
                      f"{timings.get_double('latency_ms')[1]:.2f} ms")
        return GLib.SOURCE_CONTINUE

    def on_message(_bus, message) -> None:
        nonlocal status
        if message.type == Gst.MessageType.ERROR:
            print(message.parse_error()[0].message, file=sys.stderr)
            status = 1
        if message.type in (Gst.MessageType.ERROR, Gst.MessageType.EOS):
            loop.quit()

    bus = pipeline.get_bus()
    bus.add_signal_watch()
    bus.connect("message", on_message)
    GLib.timeout_add(40, change)
    pipeline.set_state(Gst.State.PLAYING)
    loop.run()
    print("filtered by", equalux.props.device_used)
    pipeline.set_state(Gst.State.NULL)
    return status


if __name__ == "__main__":
    sys.exit(main())
