#!/usr/bin/env bash
# What `cmake --install` puts where: the program with its presets and the lab at a prefix with a space, the
# module of Python where the interpreter looks, the desktop's entry with that prefix, and nothing with the folder of
# the source; and the lines of docs/install.md remove all of it.
#
#   install.sh CMAKE SOURCE_FOLDER BUILD_FOLDER PYTHON      (PYTHON: empty where the build has no module)
set -euo pipefail
cmake=$1 source=$2 build=$3 python=$4
folder=$(mktemp -d)
manifest=$build/install_manifest.txt
# An installation of the same tree can still be removed afterwards.
[ ! -e "$manifest" ] || mv "$manifest" "$folder/manifest"
tidy() {
  rm -f "$manifest" "$build/install_manifest_python.txt"
  [ ! -e "$folder/manifest" ] || mv "$folder/manifest" "$manifest"
  rm -rf "$folder"
}
trap tidy EXIT
fail() { printf '%s\n' "$@"; exit 1; }

if [ -n "$python" ]; then
  for prefix in /usr /usr/local; do
    DESTDIR=$folder/root "$cmake" --install "$build" --prefix "$prefix" --component python >"$folder/said"
    # A Python that is nobody's own, such as pyenv's, looks only beside itself.
    mapfile -t looks < <("$python" -c 'import sys; print(*sys.path, sep="\n")' | grep "^$prefix/lib[0-9]*/python" || true)
    [ ${#looks[@]} -gt 0 ] || continue
    found=
    for place in "${looks[@]}"; do [ ! -e "$folder/root$place/equalux/__init__.py" ] || found=$folder/root$place; done
    [ -n "$found" ] || fail "$python does not look where --prefix $prefix puts its module:" "$(<"$folder/said")"
    PYTHONPATH=$found "$python" -c 'import importlib.metadata as about; print(about.version("equalux"))' ||
      fail "Python does not know which version is installed"
    rm -rf "$folder/root"
  done
fi

prefix="$folder/a prefix"
"$cmake" --install "$build" --prefix "$prefix" >"$folder/said"
cd /
"$prefix/bin/equalux" --list-presets | grep '^ *low-light' >/dev/null || fail "the installed program has no presets"
"$prefix/bin/equalux" lab --help | grep scalers >/dev/null || fail "the installed program does not find the lab"
if [ -e "$prefix/lib/equalux/pipewire.so" ]; then
  grep -q '^ExecStart=equalux run' "$prefix/share/doc/equalux/examples/equalux-camera.service" ||
    fail "the unit of docs/live.md is not installed"
fi
entry=$prefix/share/applications/equalux.desktop
if [ -e "$entry" ]; then
  grep -qxF "Exec=\"$prefix/libexec/equalux/camera\"" "$entry" || fail "the entry has another prefix:" "$(<"$entry")"
  [ -x "$prefix/libexec/equalux/camera" ] || fail "what the entry starts is not installed"
  ! command -v desktop-file-validate >/dev/null || desktop-file-validate "$entry" || fail "the entry is wrong:" "$(<"$entry")"
fi
# Debuggers and sanitizers tell of the source.
if grep -qx 'EQUALUX_SANITIZER:STRING=none' "$build/CMakeCache.txt"; then
  while IFS= read -r file; do
    strip -o "$folder/stripped" "$file" 2>/dev/null || cp "$file" "$folder/stripped"
    ! grep -qF "$source/" "$folder/stripped" || fail "$file has the folder of the source:" \
      "$(grep -aoE "$source/[[:alnum:]_./-]*" "$folder/stripped" | sort -u)"
  done < <(grep -rlF "$source/" "$prefix")
fi

commands=$(sed -n '/^## Removing/,/^## D/p' "$source/docs/install.md" | grep -E '^sudo (xargs|find) ' | sed 's/ #.*//; s/^sudo //')
commands=${commands//build\/release/"$build"}
commands=${commands//\/usr\/local/\"$prefix\"}
bash -euo pipefail -c "$commands" || fail "cannot be removed by:" "$commands"
left=$(find "$prefix" ! -type d -o -name '*equalux*')
[ -z "$left" ] || fail "left behind by:" "$commands" "$left"
