#!/usr/bin/env bash
# Without libavformat GStreamer configures as off and says why; asked for, it is an error that says so.
#
#   no_libav.sh CMAKE SOURCE_FOLDER
set -euo pipefail
cmake=$1 source=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

configure() { # BUILD_FOLDER OPTION...
  "$cmake" -S "$source" -B "$folder/$1" -DEQUALUX_WITH_CUDA=OFF -DEQUALUX_WITH_OPENCV=OFF \
    -DEQUALUX_WITH_LIBAV=OFF -DEQUALUX_WITH_HTTP=OFF -DEQUALUX_BUILD_TESTS=OFF \
    -DEQUALUX_BUILD_BENCH=OFF "${@:2}" 2>&1
}
expect() { # TEXT OUTPUT; CMake breaks lines as it likes
  grep -qF "$1" <<<"$(tr -s '\n ' ' ' <<<"$2")" || { printf 'no "%s" in:\n%s\n' "$1" "$2"; exit 1; }
}

reason='needs libavformat, which is off (EQUALUX_WITH_LIBAV=OFF)'
expect "GStreamer off ($reason" "$(configure auto)"
if output=$(configure auto -DEQUALUX_WITH_GSTREAMER=ON); then
  echo "EQUALUX_WITH_GSTREAMER=ON was taken"
  exit 1
fi
expect "EQUALUX_WITH_GSTREAMER=ON, but: $reason" "$output"
