#!/usr/bin/env bash
# Flags that give up exact arithmetic are refused, from wherever they come.
#
#   fast_math.sh CMAKE SOURCE_FOLDER HAVE_CUDA
set -euo pipefail
cmake=$1 source=$2 cuda=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

refused() { # FLAG SOURCE BUILD_FOLDER OPTION...
  local output
  if output=$("$cmake" -S "$2" -B "$folder/$3" -DEQUALUX_WITH_OPENCV=OFF \
      -DEQUALUX_WITH_GSTREAMER=OFF -DEQUALUX_WITH_LIBAV=OFF -DEQUALUX_WITH_HTTP=OFF \
      -DEQUALUX_BUILD_TESTS=OFF "${@:4}" 2>&1); then
    echo "$1 was taken"
    exit 1
  fi
  tr -s ' \n' ' ' <<<"$output" | grep -qF "flags have $1, must be without" ||
    { printf 'no word of %s in:\n%s\n' "$1" "$output"; exit 1; }
}

mkdir "$folder/parent"
cat >"$folder/parent/CMakeLists.txt" <<PARENT
cmake_minimum_required(VERSION 3.25)
project(parent LANGUAGES C CXX)
add_compile_options(-ffast-math)
add_subdirectory("$source" equalux)
PARENT
refused -ffast-math "$folder/parent" parents -DEQUALUX_WITH_CUDA=OFF
refused -Ofast "$source" own -DEQUALUX_WITH_CUDA=OFF -DCMAKE_CXX_FLAGS=-Ofast
# A build without CUDA says FALSE, or nothing.
case ${cuda^^} in
  '' | 0 | NO | OFF | FALSE) ;;
  *)
    # In the same folder, where the compilers of C and C++ are known by now.
    refused --use_fast_math "$source" own -DEQUALUX_WITH_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES=75 \
      -DCMAKE_CXX_FLAGS= -DCMAKE_CUDA_FLAGS=--use_fast_math
    ;;
esac
