#!/usr/bin/env bash
# What scripts/package builds: what git knows and is there; and of an unpacked archive, without git, everything but
# builds. scripts/format formats nothing that is gone, either.
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
printf '#!/bin/sh\nfor file; do case $file in -*) ;; *) cat "$file" >/dev/null || exit ;; esac; done\n' \
  >"$folder/bin/clang-format-14"
chmod +x "$folder"/bin/*
cd "$folder/other/tree"
cp "$1"/scripts/{package,format} scripts/
touch 'src/a file.cpp' build/object 'not known'
ln -s nowhere src/link

expect() { # FILE...: are built from, and no others
  local said taken
  said=$(PATH=$folder/bin:$PATH scripts/package --out "$out" 2>&1) || { echo "$said"; exit 1; }
  taken=$(cd "$out/source" && find . ! -type d -printf '%P\n' | sort)
  [ "$taken" = "$(printf '%s\n' "$@" | sort)" ] || { printf '%s took, with --out %s:\n%s\n' "$PWD" "$out" "$taken"; exit 1; }
}

for out in build/package packages; do
  expect 'not known' scripts/format scripts/package 'src/a file.cpp' src/link
done
rm -r packages
out=build/package
git init -q
printf '/build/\nnot known\n' >.git/info/exclude
git add .
expect scripts/format scripts/package 'src/a file.cpp' src/link
rm 'src/a file.cpp'
expect scripts/format scripts/package src/link
PATH=$folder/bin:$PATH scripts/format --check || { echo 'scripts/format --check fails'; exit 1; }
touch 'src/a file.cpp'
# Unpacked inside of a repository of something else that ignores it.
rm -rf .git
git -C .. init -q
echo '*' >../.git/info/exclude
expect 'not known' scripts/format scripts/package 'src/a file.cpp' src/link
