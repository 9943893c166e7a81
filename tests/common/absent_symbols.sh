#!/bin/sh
# usage: absent_symbols.sh PATTERN PROGRAM FILE...
# No FILE defines a symbol that matches PATTERN, and PROGRAM does. A file that is compiled together with others (unity
# builds) pulls all of them in: with CUDA each module of the program was 28 MB instead of 1.
set -eu
if ! command -v nm >/dev/null; then
  echo "skipped: nm is not installed (Debian: binutils)"
  exit 77
fi
pattern=$1
program=$2
shift 2
symbols=$(mktemp)
trap 'rm -f "$symbols"' EXIT
nm -C "$program" >"$symbols"
grep -q "$pattern" "$symbols" || { echo "$program has no $pattern: is it stripped?"; exit 1; }
bad=0
for file in "$@"; do
  nm -C "$file" >"$symbols"
  [ -s "$symbols" ] || { echo "$file has no symbols: is it stripped?"; bad=1; }
  if grep -m 3 "$pattern" "$symbols"; then
    echo "$file contains $pattern"
    bad=1
  fi
done
exit $bad
