#!/usr/bin/env bash
# The desktop's entry, its icon and the AppStream file are what their validators want; and the launcher
# ends as the run does, and shows what goes wrong.
#
#   desktop_files.sh SOURCE_FOLDER BUILD_FOLDER
set -euo pipefail
source=$1 made=$2/desktop
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

skipped=0
checked() { # PROGRAM ARGUMENT...
  command -v "$1" >/dev/null || { echo "$1 is not installed"; skipped=1; return; }
  "$@" || { echo "$1 finds faults"; exit 1; }
}
checked desktop-file-validate "$made/equalux.desktop"
checked appstreamcli validate --no-net "$made/example.equalux.equalux.metainfo.xml"
python3 -c 'import sys, xml.dom.minidom as x; x.parse(sys.argv[1])' "$source/src/cli/desktop/equalux.svg"
launcher=$(sed -n 's/^Exec=.*\/\(equalux\/camera\)$/\1/p' "$made/equalux.desktop")
[ "$launcher" = equalux/camera ] || { echo "the entry starts another program"; exit 1; }

# As installed, with a program that ends as it is told, and what shows a message.
mkdir -p "$folder/bin" "$folder/libexec/equalux" "$folder/path"
cp "$source/src/cli/desktop/camera" "$folder/libexec/equalux/"
cat >"$folder/bin/equalux" <<'PROGRAM'
#!/bin/sh
printf '%s ' "$@" >"$FOLDER/arguments"
echo "equalux: the page is at http://127.0.0.1:1/?token=secret" >&2
[ "$2" != pipewire: ] || ENDS=$PIPEWIRE
[ "$ENDS" -eq 0 ] || echo "equalux: $2: there is no such camera" >&2
exit "$ENDS"
PROGRAM
printf '#!/bin/sh\nprintf "%%s\\n" "$@" >"$FOLDER/shown"\n' >"$folder/path/zenity"
chmod +x "$folder/bin/equalux" "$folder/path/zenity"
for program in dirname grep tail sh; do ln -s "$(command -v $program)" "$folder/path/"; done

launched() { # EXIT_CODE [OF_CAMERA_0 OF_PIPEWIRE]
  local status=0
  rm -f "$folder/shown"
  env -i PATH="$folder/path" FOLDER="$folder" ENDS="${2-$1}" PIPEWIRE="${3-66}" "$folder/libexec/equalux/camera" || status=$?
  [ "$status" -eq "$1" ] || { echo "the launcher ended with $status, must be $1"; exit 1; }
}
for quiet in 0 130 143; do
  launched $quiet
  [ ! -e "$folder/shown" ] || { echo "exit code $quiet was shown as an error"; exit 1; }
done
grep -q '^run camera:0 .*--serve 0 .*--open' "$folder/arguments"
# A camera that PipeWire has alone; what goes wrong with that one; and no camera at all.
launched 0 66 0
grep -q '^run pipewire: .*--open' "$folder/arguments" || { echo "PipeWire is not asked"; exit 1; }
launched 2 69 2
grep -q 'pipewire:: there' "$folder/shown" || { echo "the error of PipeWire's camera was not shown"; exit 1; }
launched 66
grep -q 'camera:0: there is no such camera' "$folder/shown" || { echo "the error was not shown"; exit 1; }
! grep -q secret "$folder/shown" || { echo "the token was shown"; exit 1; }
[ "$skipped" -eq 0 ] || exit 77
