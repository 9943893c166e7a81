#!/usr/bin/env bash
# Before on the left, after on the right, in one picture; a window, or a file.
#
#   samples/gst/before_after.sh [FILE]
#
# Without FILE a test picture. SINK replaces the window: SINK="x264enc ! mp4mux ! filesink
# location=out.mp4".
set -euo pipefail
source=${SOURCE:-videotestsrc pattern=smpte num-buffers=300}
[ $# -eq 0 ] || source="filesrc location=$1 ! decodebin"
sink=${SINK:-autovideosink}

# The histogram is that of the whole frame; the left half is left as it was.
# shellcheck disable=SC2086 # SOURCE and SINK are launch strings of several words
exec gst-launch-1.0 -e $source ! videoconvert ! equalux split=0.5 ! videoconvert ! $sink
