#!/usr/bin/env bash
# A parent project keeps its own packages (CPack), and may name folders by full paths, as some distributions do.
#
#   parent_project.sh CMAKE SOURCE_FOLDER
set -euo pipefail
cmake=$1 source=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() { printf '%s\n' "$@"; exit 1; }

cat >"$folder/CMakeLists.txt" <<PARENT
cmake_minimum_required(VERSION 3.25)
project(parent LANGUAGES CXX)
set(CPACK_PACKAGE_NAME parent)
include(CPack)
add_subdirectory("$source" equalux)
PARENT
output=$("$cmake" -S "$folder" -B "$folder/build" -DCMAKE_INSTALL_PREFIX=/opt/parent \
  -DCMAKE_INSTALL_LIBDIR=/opt/parent/lib64 -DCMAKE_INSTALL_DATADIR=/opt/data -DEQUALUX_WITH_CUDA=OFF \
  -DEQUALUX_WITH_OPENCV=OFF -DEQUALUX_WITH_GSTREAMER=OFF -DEQUALUX_WITH_LIBAV=OFF -DEQUALUX_WITH_HTTP=OFF 2>&1) ||
  fail "$output"
! grep -q 'CMake Warning' <<<"$output" || fail "warnings:" "$output"
grep -q 'CPACK_PACKAGE_NAME "parent"' "$folder/build/CPackConfig.cmake" || fail "the parent's packages are equalux's"

pc=$folder/build/equalux/equalux.pc
variable() { PKG_CONFIG_PATH=$(dirname "$pc") pkg-config --variable="$1" equalux; }
[ "$(variable libdir)" = /opt/parent/lib64 ] || fail "libdir:" "$(<"$pc")"
[ "$(variable includedir)" = /opt/parent/include ] || fail "includedir:" "$(<"$pc")"
! grep -q 'PREFIX}//' "$folder/build/equalux/cmake_install.cmake" ||
  fail "$(grep 'PREFIX}//' "$folder/build/equalux/cmake_install.cmake")"
