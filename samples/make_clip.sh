#!/usr/bin/env bash
# Draws the sample clip and encodes it: samples/clip.mp4, or the file named.
#
#   samples/make_clip.sh [OUT.mp4]
#
# The pictures and the sound are the same bytes everywhere, and that is checked; the encoded file
# depends on the versions of x264 and FFmpeg, so the one in the repository need not be made again.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
out=${1:-$here/clip.mp4}
most=$((2 * 1024 * 1024))

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"${CXX:-c++}" -std=c++20 -O2 -ffp-contract=off \
  "$here/make_clip.cpp" "$here"/clip/*.cpp -o "$work/make_clip"
"$work/make_clip" "$work/clip.y4m" "$work/clip.wav"
(cd "$work" && sha256sum --check --quiet "$here/clip/SHA256SUMS")

# Grain is kept (it is what hides banding once the picture is equalized), and one thread makes the
# encoder repeatable.
ffmpeg -v error -y -i "$work/clip.y4m" -i "$work/clip.wav" \
  -map 0:v -map 1:a -fflags +bitexact -flags:v +bitexact -flags:a +bitexact \
  -c:v libx264 -preset veryslow -tune grain -crf 14 -aq-mode 3 \
  -x264-params fast-pskip=0 -threads 1 -pix_fmt yuv420p -g 75 \
  -colorspace bt709 -color_primaries bt709 -color_trc bt709 -color_range tv \
  -c:a aac -b:a 96k -ac 2 \
  -metadata title='Harbour at dusk, and below' -metadata artist='The equalux authors' \
  -metadata comment='Drawn by samples/make_clip.cpp' \
  -metadata:s:v title='Picture' -metadata:s:a language=und \
  -movflags +faststart "$work/clip.mp4"

size=$(stat -c %s "$work/clip.mp4")
if ((size > most)); then
  echo "make_clip.sh: the clip has $size bytes, at most $most are meant to be committed" >&2
  exit 1
fi
mv "$work/clip.mp4" "$out"
echo "$out: $size bytes"
