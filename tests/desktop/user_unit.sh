#!/usr/bin/env bash
# The sample that makes a camera at login is a unit that systemd takes, and what it starts is a line that
# the program takes.
#
#   user_unit.sh SOURCE_FOLDER PROGRAM
set -euo pipefail
unit=$1/samples/systemd/equalux-camera.service program=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

line=$(sed -n 's/^ExecStart=equalux //p' "$unit")
[ -n "$line" ] || { echo "$unit starts something else than equalux"; exit 1; }
# Without a webcam, or without PipeWire, it ends; it never is usage.
status=0
# shellcheck disable=SC2086 # words of a line
XDG_RUNTIME_DIR=$folder timeout 20 "$program" run ${line#run } --frames 1 2>"$folder/said" || status=$?
case $status in
  0 | 66 | 69 | 73) ;;
  *) echo "equalux $line ends with $status:"; cat "$folder/said"; exit 1 ;;
esac

command -v systemd-analyze >/dev/null || { echo "systemd-analyze is not installed"; exit 77; }
sed "s#^ExecStart=equalux#ExecStart=$program#" "$unit" >"$folder/equalux-camera.service"
# Keys that are not known are told, and are no failure.
told=$(XDG_RUNTIME_DIR=$folder systemd-analyze --user --man=no verify "$folder/equalux-camera.service" 2>&1) || status=failed
# Newer versions look for a bus, say that there is none, and go on.
told=$(grep -v '^Failed to connect to system bus: ' <<<"$told") || true
[ "$status" != failed ] && [ -z "$told" ] || { echo "systemd-analyze says: $told"; exit 1; }
