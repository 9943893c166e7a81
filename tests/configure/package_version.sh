#!/usr/bin/env bash
# find_package() of CMake takes each later version with the same major number, whose library has the same name.
#
#   package_version.sh CMAKE BUILD_FOLDER
set -euo pipefail
cmake=$1 build=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

version=$(sed -n 's/^set(PACKAGE_VERSION "\(.*\)")$/\1/p' "$build/equalux-config-version.cmake")
major=${version%%.*}

taken() { # INSTALLED WANTED: what find_package(equalux WANTED) makes of that installed version
  sed "s/\"$version\"/\"$1\"/g" "$build/equalux-config-version.cmake" >"$folder/version.cmake"
  IFS=. read -r -a part <<<"$2.0.0"
  cat >"$folder/find.cmake" <<CMAKE
set(PACKAGE_FIND_VERSION $2)
set(PACKAGE_FIND_VERSION_COMPLETE $2)
set(PACKAGE_FIND_VERSION_MAJOR ${part[0]})
set(PACKAGE_FIND_VERSION_MINOR ${part[1]})
include($folder/version.cmake)
if(PACKAGE_VERSION_COMPATIBLE)
  message("taken")
else()
  message("refused")
endif()
CMAKE
  "$cmake" -P "$folder/find.cmake" 2>&1
}
expect() { # ANSWER INSTALLED WANTED
  [ "$(taken "$2" "$3")" = "$1" ] || { echo "asked for $3, version $2 is not $1"; exit 1; }
}

expect taken "$version" "$major"
expect taken "$major.7.2" "$major.0"
expect taken "$major.7.2" "$major.7"
expect refused "$major.7.2" "$major.8"
expect refused "$((major + 1)).0.0" "$major.0"
