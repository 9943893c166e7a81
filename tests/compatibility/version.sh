#!/usr/bin/env bash
# The version is one: what the source, its packages and its list of changes say is what the program says.
# And scripts/set-version sets all of them.
#
#   version.sh SOURCE_FOLDER PROGRAM
set -euo pipefail
source=$1 program=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() { echo "$*"; exit 1; }

of_source() { sed -n 's/^project(equalux VERSION \([0-9.]*\).*/\1/p' "$1/CMakeLists.txt"; }
of_packages() { sed -n '1s/^equalux (\(.*\)-[0-9.~+a-z]*) .*/\1/p' "$1/debian/changelog"; }
of_changes() { sed -n 's/^## \[\([0-9.]*\)\] - [0-9]\{4\}-[0-9][0-9]-[0-9][0-9]$/\1/p' "$1/CHANGELOG.md" | head -n 1; }

version=$(of_source "$source")
[ "$("$program" --version)" = "equalux $version" ] || fail "the program says $("$program" --version), not $version"
[ "$(of_packages "$source")" = "$version" ] || fail "debian/changelog has $(of_packages "$source"), not $version"
changes=$(of_changes "$source")
[ -z "$changes" ] || [ "$changes" = "$version" ] || fail "CHANGELOG.md ends with $changes, not $version"
grep -q '^## \[Unreleased\]$' "$source/CHANGELOG.md" || fail "CHANGELOG.md has no place for what is new"

mkdir -p "$folder/scripts" "$folder/debian"
cp "$source/CMakeLists.txt" "$source/CHANGELOG.md" "$folder/"
cp "$source/debian/changelog" "$folder/debian/"
cp "$source/scripts/set-version" "$folder/scripts/"
"$folder/scripts/set-version" 98.7.6 2031-05-04 >/dev/null
for of in of_source of_packages of_changes; do
  [ "$($of "$folder")" = 98.7.6 ] || fail "set-version leaves $($of "$folder") ($of)"
done
grep -q 'Sun, 04 May 2031' "$folder/debian/changelog" || fail "the package's entry has another date"
status=0
"$folder/scripts/set-version" 98.7.6 2>/dev/null || status=$?
[ "$status" -eq 2 ] || fail "a version that is there is taken again"
for wrong in 1.0 v1.0.0 ''; do
  status=0
  "$folder/scripts/set-version" "$wrong" 2>/dev/null || status=$?
  [ "$status" -eq 2 ] || fail "'$wrong' is taken for a version"
done
[ "$(of_source "$folder")" = 98.7.6 ] || fail "a refused version was written"
