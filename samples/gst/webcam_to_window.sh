#!/usr/bin/env bash
# A camera, equalized, in a window.
#
#   samples/gst/webcam_to_window.sh [/dev/videoN]
#
# SOURCE and SINK replace the ends: SOURCE="videotestsrc num-buffers=100" SINK=fakesink.
set -euo pipefail
source=${SOURCE:-v4l2src device=${1:-/dev/video0}}
sink=${SINK:-autovideosink}

# decodebin takes cameras that send MJPG, and lets raw video through. The queue gives the filter a
# thread of its own; leaky: a slow window drops frames instead of growing late.
# shellcheck disable=SC2086 # SOURCE and SINK are launch strings of several words
exec gst-launch-1.0 $source ! decodebin ! queue leaky=downstream max-size-buffers=2 ! \
  videoconvert ! equalux ! videoconvert ! $sink
