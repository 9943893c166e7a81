#!/usr/bin/env bash
# A network camera, equalized, in a window.
#
#   samples/gst/rtsp_to_window.sh rtsp://user:password@host/stream
#
# SOURCE and SINK replace the ends: SOURCE="videotestsrc num-buffers=100" SINK=fakesink.
set -euo pipefail
source=${SOURCE:-rtspsrc location=${1:?needs a URL} latency=200}
sink=${SINK:-autovideosink}

# shellcheck disable=SC2086 # SOURCE and SINK are launch strings of several words
exec gst-launch-1.0 $source ! decodebin ! videoconvert ! equalux ! videoconvert ! $sink
