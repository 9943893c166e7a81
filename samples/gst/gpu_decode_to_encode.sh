#!/usr/bin/env bash
# H.264 decoded, equalized and encoded on an NVIDIA GPU: no frame comes to the host.
#
#   samples/gst/gpu_decode_to_encode.sh IN.mp4 OUT.mp4
#
# ENCODE=download for GPUs without an encoder: frames are downloaded and encoded on the CPU.
set -euo pipefail
[ $# -eq 2 ] || { echo "gpu_decode_to_encode: needs IN and OUT" >&2; exit 2; }
case ${ENCODE:-nvenc} in
  nvenc) encode="nvh264enc" ;;
  download) encode="cudadownload ! x264enc speed-preset=veryfast" ;;
  *) echo "gpu_decode_to_encode: ENCODE is '$ENCODE', must be nvenc or download" >&2; exit 2 ;;
esac

# shellcheck disable=SC2086 # $encode is a launch string of several words
exec gst-launch-1.0 -e filesrc location="$1" ! qtdemux ! h264parse ! nvh264dec ! \
  "video/x-raw(memory:CUDAMemory),format=NV12" ! equalux ! $encode ! h264parse ! mp4mux ! \
  filesink location="$2"
