#!/bin/sh
# usage: small_modules.sh PROGRAM MODULE...
# The program has filters and kernels; its modules have neither. A file that is compiled together with others (unity
# builds) pulls all of them in, and with CUDA each module was 28 MB instead of less than 2.
set -eu
if ! command -v nm >/dev/null; then
  echo "skipped: nm is not installed (Debian: binutils)"
  exit 77
fi
symbols=$(mktemp)
trap 'rm -f "$symbols"' EXIT
pattern='equalux::make_\(cpu\|cuda\)_filter\|equalux::filter_list\|fatbinData'
program=$1
shift
nm -C "$program" >"$symbols"
grep -q "$pattern" "$symbols" || { echo "$program has no filters: is it stripped?"; exit 1; }
bad=0
for module in "$@"; do
  nm -C "$module" >"$symbols"
  grep -q equalux_module "$symbols" || { echo "$module is no module"; bad=1; }
  if grep -m 3 "$pattern" "$symbols"; then
    echo "$module contains filters"
    bad=1
  fi
done
exit $bad
