#!/usr/bin/env bash
# What bench/compare says of what its programs measure. The programs are stand-ins whose figures are
# known: OpenCV is ahead in one cell, and what a machine lacks is left out with a line.
#
#   bench_compare.sh SOURCE_FOLDER
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/bin"

# stand_in NAME JSON: writes JSON to its first argument; TARGET in it becomes the instruction set.
stand_in() {
  printf '%s' "$2" >"$folder/$1.json"
  printf '#!/bin/sh\nsed "s/TARGET/${EQUALUX_SIMD:-AVX3}/" "%s" >"$1"\n' "$folder/$1.json" >"$folder/bin/$1"
  chmod +x "$folder/bin/$1"
}
hessian() { # MS_OF_OPENCV
  stand_in compare_opencv_hessian '{"simd": "TARGET", "results": [{"sigma": 2, "width": 700, "height": 605,
    "threads": 1, "opencv_ms": '"$1"', "equalux_ms": 2}]}'
}
compare() { # EXIT_CODE ARGUMENT...: sets `said`
  local status=0
  said=$("$source/bench/compare" --build "$folder" --no-build --out "$folder/out" "${@:2}" 2>&1) || status=$?
  [ "$status" = "$1" ] || { printf 'ended with %s, not %s:\n%s\n' "$status" "$1" "$said"; exit 1; }
}
says() { grep -qF -- "$1" <<<"$said" || { printf 'does not say "%s":\n%s\n' "$1" "$said"; exit 1; }; }

source=$1
hessian 5
printf '#!/bin/sh\necho "no equaliz0r here" >&2\nexit 69\n' >"$folder/bin/compare_frei0r"
chmod +x "$folder/bin/compare_frei0r"

compare 0 hessian frei0r
says '| 700x605, sigma 2 | GaussianBlur, Sobel, closed form | 5.00 | 2.00 | 2.50 |'
says 'one thread, beside OpenCV, AVX3'
says 'one thread, beside OpenCV, AVX2'
says 'frei0r is left out: no equaliz0r here'
says '2 cells; a peer is ahead in 0'
grep -q '"peer_is_ahead": false' "$folder/out/compare.json"

hessian 1
compare 1 hessian
says '**0.50, the peer is ahead**'
says '2 cells; a peer is ahead in 2'
grep -q '"peer_is_ahead": true' "$folder/out/compare.json"
grep -qF 'the peer is ahead' "$folder/out/tables.md"

compare 69 frei0r
compare 2 nonsense
says "'nonsense' is no part"
