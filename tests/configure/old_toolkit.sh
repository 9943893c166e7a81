#!/usr/bin/env bash
# A CUDA toolkit below 12.0 configures as off and says so; asked for, it is an error that says so.
#
#   old_toolkit.sh CMAKE SOURCE_FOLDER
set -euo pipefail
cmake=$1 source=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# As much of a toolkit as CMake asks for.
toolkit=$folder/toolkit
mkdir -p "$toolkit"/{bin,include,lib64}
cat >"$toolkit/bin/nvcc" <<'NVCC'
#!/bin/sh
case "$*" in
  *--version*) echo "Cuda compilation tools, release 11.8, V11.8.89" ;;
  *) echo "#\$ TOP=$(dirname "$0")/.." >&2 ;;
esac
NVCC
chmod +x "$toolkit/bin/nvcc"
echo '#define CUDART_VERSION 11080' >"$toolkit/include/cuda_runtime.h"
echo '#define CUDA_VERSION 11080' >"$toolkit/include/cuda.h"
touch "$toolkit/lib64/libcudart.so"

configure() { # BUILD_FOLDER OPTION...
  "$cmake" -S "$source" -B "$folder/$1" -DCUDAToolkit_ROOT="$toolkit" \
    -DEQUALUX_WITH_OPENCV=OFF -DEQUALUX_WITH_GSTREAMER=OFF -DEQUALUX_WITH_LIBAV=OFF \
    -DEQUALUX_WITH_HTTP=OFF -DEQUALUX_BUILD_TESTS=OFF -DEQUALUX_BUILD_BENCH=OFF "${@:2}" 2>&1
}
expect() { # TEXT OUTPUT
  grep -qF "$1" <<<"$2" || { printf 'no line with "%s" in:\n%s\n' "$1" "$2"; exit 1; }
}

expect 'CUDA       off (CUDA toolkit 11.8.89 is older than 12.0)' "$(configure auto)"
if output=$(configure auto -DEQUALUX_WITH_CUDA=ON); then
  echo "EQUALUX_WITH_CUDA=ON was taken"
  exit 1
fi
expect 'EQUALUX_WITH_CUDA=ON, but: CUDA toolkit 11.8.89 is older than 12.0' "$output"
