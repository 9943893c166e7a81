#!/usr/bin/env bash
# Built for another machine, manual pages and completions come from a build for this one: no program of the
# other machine's runs. Where that build cannot be made, they are off, and a line says so.
#
#   cross_manual.sh CMAKE SOURCE_FOLDER
set -euo pipefail
cmake=$1 source=$2
command -v ninja >/dev/null || { echo "ninja is not installed"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# A machine of the same kind, so that no other compiler is needed; to CMake it is another one.
configure() { # BUILD_FOLDER OPTION...
  "$cmake" -S "$source" -B "$folder/$1" -G Ninja -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=riscv64 \
    -DEQUALUX_WITH_CUDA=OFF -DEQUALUX_WITH_OPENCV=OFF -DEQUALUX_WITH_GSTREAMER=OFF \
    -DEQUALUX_WITH_LIBAV=OFF -DEQUALUX_WITH_HTTP=OFF -DEQUALUX_BUILD_TESTS=OFF \
    -DEQUALUX_BUILD_BENCH=OFF "${@:2}" 2>&1
}
fail() { printf '%s\n' "$@"; exit 1; }

# Variables of the other machine's compiler must not reach the build for this one.
output=$(CXXFLAGS=-DOTHER_MACHINE configure cross) || fail "$output"
grep -q 'completions: by a build for this machine' <<<"$output" || fail "not said:" "$output"
commands=$(ninja -C "$folder/cross" -t commands equalux_manual)
grep -q -- "--build $folder/cross/host --target equalux_manual" <<<"$commands" || fail "$commands"
! grep -q 'cross/[^h].*write_manual' <<<"$commands" || fail "the other machine's program runs:" "$commands"
grep -q OTHER_MACHINE "$folder/cross/build.ninja" || fail "the flags did not reach the build"
! grep -q OTHER_MACHINE "$folder/cross/host/build.ninja" || fail "they reached the build for this machine, too"
! grep 'EQUALUX_WITH_.*=AUTO$' "$folder/cross/host/CMakeCache.txt" || fail "that build is more than the core"
commands=$(ninja -C "$folder/cross/host" -t commands equalux_manual)
grep -q 'equalux_write_manual' <<<"$commands" ||
  fail "the build for this machine writes no manual"
grep -q "$folder/cross/host/manual/equalux.bash" "$folder/cross/cmake_install.cmake" ||
  fail "what it writes is not installed"

mkdir "$folder/made"
output=$(configure given -DEQUALUX_MANUAL="$folder/made") || fail "$output"
grep -q "$folder/made/equalux.bash" "$folder/given/cmake_install.cmake" || fail "EQUALUX_MANUAL is not installed"

cd "$folder"
output=$(configure relative -DEQUALUX_MANUAL=made) || fail "$output"
grep -q "$folder/made/equalux.bash" "$folder/relative/cmake_install.cmake" || fail "it is not relative to this folder"
! output=$(configure relative -DEQUALUX_MANUAL=making) || fail "a folder that is not there is taken"
grep -q "there is no folder $folder/making" <<<"$output" || fail "$output"
