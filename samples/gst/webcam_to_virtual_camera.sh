#!/usr/bin/env bash
# A camera, equalized, as another camera that browsers and meetings can choose.
#
#   sudo modprobe v4l2loopback video_nr=9 card_label=equalux exclusive_caps=1
#   samples/gst/webcam_to_virtual_camera.sh [/dev/videoN [/dev/videoM]]
#
# SOURCE and SINK replace the ends: SOURCE="videotestsrc num-buffers=100" SINK=fakesink.
set -euo pipefail
source=${SOURCE:-v4l2src device=${1:-/dev/video0}}
sink=${SINK:-v4l2sink device=${2:-/dev/video9} sync=false}

# YUY2 is what most programs expect of a camera; the filter takes it as it is.
# shellcheck disable=SC2086 # SOURCE and SINK are launch strings of several words
exec gst-launch-1.0 $source ! decodebin ! queue leaky=downstream max-size-buffers=2 ! \
  videoconvert ! video/x-raw,format=YUY2 ! equalux ! $sink
