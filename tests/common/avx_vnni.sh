#!/bin/sh
# usage: avx_vnni.sh LIBRARY
# No loop may use AVX-VNNI, whose products of 16 bits are encoded by VEX: Highway looks for AVX-512 VNNI alone
# before it runs loops for AVX3_DL, and Ice Lake and Zen 4 have no more.
set -eu
if ! command -v objdump >/dev/null; then
  echo "skipped: objdump is not installed (Debian: binutils)"
  exit 77
fi
case $(uname -m) in
x86_64) ;;
*)
  echo "skipped: only x86 has AVX-VNNI"
  exit 77
  ;;
esac
code=$(mktemp)
trap 'rm -f "$code"' EXIT
objdump -d --no-show-raw-insn "$1" >"$code"
grep -q '%zmm' "$code" || { echo "$1 has no loops for AVX-512: is it the library?"; exit 1; }
if grep -m 5 '{vex} *vpdp' "$code"; then
  echo "$1 has instructions of AVX-VNNI"
  exit 1
fi
