#!/usr/bin/env bash
# What scripts/demo configures: CUDA is off where there is no NVIDIA device, unless it is asked for.
#
#   demo_cuda.sh SOURCE_FOLDER
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/scripts" "$folder/bin"
cp "$1/scripts/demo" "$folder/scripts/"
# In place of what it starts: nothing is installed, configured or built.
printf '#!/bin/sh\n' >"$folder/scripts/install-dependencies"
printf '#!/bin/sh\ncase $1 in --preset) echo "-- equalux $*" ;; *) exit 9 ;; esac\n' >"$folder/bin/cmake"
printf '#!/bin/sh\n[ -z "$GPUS" ] || echo "GPU 0: $GPUS"\n' >"$folder/bin/nvidia-smi"
chmod +x "$folder"/*/*

expect() { # WHAT GPUS OPTION...: WHAT is what CMake is told of CUDA
  local said
  said=$(GPUS=$2 PATH=$folder/bin:$PATH EQUALUX='' "$folder/scripts/demo" "${@:3}" 2>&1) || true
  grep -q -- "-DEQUALUX_WITH_CUDA=$1\$" <<<"$said" || { printf 'no %s with %s:\n%s\n' "$1" "${*:2}" "$said"; exit 1; }
  # Said in one line where it was not asked for.
  [ "$(grep -c 'no NVIDIA device' <<<"$said")" = "$([ "$#" -gt 2 ] || [ "$1" = AUTO ] && echo 0 || echo 1)" ]
}

expect AUTO 'a card'
expect ON '' --cuda on
expect OFF 'a card' --cuda=off
if compgen -G '/dev/nvidia[0-9]*' >/dev/null || [ -e /dev/nvhost-gpu ]; then
  expect AUTO ''
else
  expect OFF ''
fi
if "$folder/scripts/demo" --cuda maybe 2>"$folder/err"; then exit 1; fi
grep -q "must be auto, on or off" "$folder/err"
