#!/usr/bin/env bash
# A file to another, with its sound.
#
#   samples/gst/file_to_file.sh IN OUT.mp4
#
# IN must have sound, which is encoded again; subtitles are lost. `equalux run IN -o OUT` takes any
# file and keeps all of it.
set -euo pipefail
[ $# -eq 2 ] || { echo "file_to_file: needs IN and OUT" >&2; exit 2; }

# The queues after the decoder must hold what the video encoder looks ahead.
exec gst-launch-1.0 -e filesrc location="$1" ! decodebin name=in \
  mp4mux name=out ! filesink location="$2" \
  in. ! queue ! videoconvert ! equalux ! x264enc speed-preset=veryfast ! h264parse ! queue ! out. \
  in. ! queue max-size-time=10000000000 max-size-bytes=0 max-size-buffers=0 ! audioconvert ! \
    audioresample ! avenc_aac ! aacparse ! queue ! out.
