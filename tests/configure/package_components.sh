#!/usr/bin/env bash
# find_package() of CMake says why it fails where a component is wanted, of which there are none.
#
#   package_components.sh CMAKE BUILD_FOLDER
set -euo pipefail
cmake=$1 build=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

echo "find_package(equalux REQUIRED COMPONENTS gpu PATHS \"$build\" NO_DEFAULT_PATH)" >"$folder/find.cmake"
if said=$("$cmake" -P "$folder/find.cmake" 2>&1); then
  echo "the component was found"
  exit 1
fi
tr -s ' \n' ' ' <<<"$said" | grep -qF "there is no component 'gpu', must be without COMPONENTS" ||
  { printf 'no reason in:\n%s\n' "$said"; exit 1; }
