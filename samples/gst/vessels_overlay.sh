#!/usr/bin/env bash
# Vessels and other dark lines, tinted, in a window.
#
#   samples/gst/vessels_overlay.sh [FILE]
#
# Without FILE a camera. SINK replaces the window: SINK="x264enc ! mp4mux ! filesink
# location=out.mp4". For the back of an eye: CHANNEL=green.
set -euo pipefail
source=${SOURCE:-v4l2src}
[ $# -eq 0 ] || source="filesrc location=$1"
sink=${SINK:-autovideosink}

# Any channel but luma makes the element ask for RGB, which videoconvert gives. output=mask gives
# the vessels alone, as GRAY8.
# shellcheck disable=SC2086 # SOURCE and SINK are launch strings of several words
exec gst-launch-1.0 -e $source ! decodebin ! queue ! videoconvert ! \
  equaluxvessel sigmas=2,3,4 channel="${CHANNEL:-luma}" ! videoconvert ! $sink
