#!/usr/bin/env bash
# What scripts/package builds: what git knows; and of an unpacked archive, without git, everything but builds.
#
#   package_source.sh SOURCE_FOLDER
set -euo pipefail
command -v git >/dev/null || { echo "git is not installed"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/bin" "$folder/other/tree"/{scripts,src,build}
# In place of what it starts: nothing is built.
printf '#!/bin/sh\ntouch ../equalux_1.deb ../equalux_1.changes\n' >"$folder/bin/dpkg-buildpackage"
printf '#!/bin/sh\n' | tee "$folder/bin/dh" >"$folder/bin/lintian"
chmod +x "$folder"/bin/*
cd "$folder/other/tree"
cp "$1/scripts/package" scripts/
touch 'src/a file.cpp' build/object 'not known'
ln -s nowhere src/link

expect() { # FILE...: are built from, and no others
  local said taken
  said=$(PATH=$folder/bin:$PATH scripts/package --out "$out" 2>&1) || { echo "$said"; exit 1; }
  taken=$(cd "$out/source" && find . ! -type d -printf '%P\n' | sort)
  [ "$taken" = "$(printf '%s\n' "$@" | sort)" ] || { printf '%s took, with --out %s:\n%s\n' "$PWD" "$out" "$taken"; exit 1; }
}

for out in build/package packages; do
  expect 'not known' scripts/package 'src/a file.cpp' src/link
done
rm -r packages
out=build/package
git init -q
printf '/build/\nnot known\n' >.git/info/exclude
git add .
expect scripts/package 'src/a file.cpp' src/link
# Unpacked inside of a repository of something else that ignores it.
rm -rf .git
git -C .. init -q
echo '*' >../.git/info/exclude
expect 'not known' scripts/package 'src/a file.cpp' src/link
