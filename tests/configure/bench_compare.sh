#!/usr/bin/env bash
# What bench/compare says of what its programs measure. The programs are stand-ins whose figures are
# known: a peer is ahead in one cell, and what a machine lacks is left out with a line.
#
#   bench_compare.sh SOURCE_FOLDER
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/bin"

# stand_in NAME JSON: writes JSON to its first argument; TARGET in it becomes the instruction set.
stand_in() {
  printf '%s' "$2" >"$folder/$1.json"
  printf '#!/bin/sh\nsed "s/TARGET/${EQUALUX_SIMD:-AVX3}/" "%s" >"$1"\n' "$folder/$1.json" >"$folder/bin/$1"
  chmod +x "$folder/bin/$1"
}
hessian() { # MS_OF_OPENCV
  stand_in compare_opencv_hessian '{"simd": "TARGET", "results": [{"sigma": 2, "width": 700, "height": 605,
    "threads": 1, "opencv_ms": '"$1"', "equalux_ms": 2}]}'
}
compare() { # EXIT_CODE ARGUMENT...: sets `said`
  local status=0
  said=$("$source/bench/compare" --build "$folder" --no-build --out "$folder/out" "${@:2}" 2>&1) || status=$?
  [ "$status" = "$1" ] || { printf 'ended with %s, not %s:\n%s\n' "$status" "$1" "$said"; exit 1; }
}
says() { grep -qF -- "$1" <<<"$said" || { printf 'does not say "%s":\n%s\n' "$1" "$said"; exit 1; }; }

source=$1
hessian 5
printf '#!/bin/sh\necho "no equaliz0r here" >&2\nexit 69\n' >"$folder/bin/compare_frei0r"
chmod +x "$folder/bin/compare_frei0r"

compare 0 hessian frei0r
says '| 700x605, sigma 2 | GaussianBlur, Sobel, closed form | 5.00 | 2.00 | 2.50 |'
says 'one thread, beside OpenCV, AVX3'
says 'one thread, beside OpenCV, AVX2'
says 'frei0r is left out: no equaliz0r here'
says '2 cells; a peer is ahead in 0'
grep -q '"peer_is_ahead": false' "$folder/out/compare.json"

hessian 1
compare 1 hessian
says '**0.50, the peer is ahead**'
says '2 cells; a peer is ahead in 2'
grep -q '"peer_is_ahead": true' "$folder/out/compare.json"
grep -qF 'the peer is ahead' "$folder/out/tables.md"

compare 69 frei0r
compare 2 nonsense
says "'nonsense' is no part"

# Filters against noise. Clips that are there are not made again. FFmpeg's results hold their chain's
# name, of which PSNR follows; the first eight frames are wrong, and must not be judged.
for clip in street street2 pan pan2 hand film; do
  mkdir -p "$folder/out/clips"
  for kind in clean noisy; do echo given >"$folder/out/clips/$clip.$kind.y4m"; done
done
mkdir -p "$folder/peers"
cat >"$folder/peers/ffmpeg" <<'END'
#!/bin/sh
input= chain= last=
for word; do
  [ "$last" = -i ] && [ -z "$input" ] && input=$word
  [ "$last" = -vf ] && chain=$word
  last=$word
done
case "$*" in
  *psnr=*)
    case $(cat "$input") in hqdn3d) mse=1 ;; equalux) mse=2 ;; *) mse=4 ;; esac
    for n in 1 2 3 4 5 6 7 8; do echo "n:$n mse_avg:900 mse_y:900 mse_u:900 mse_v:900"; done
    for n in 9 10; do echo "n:$n mse_avg:1 mse_y:$mse mse_u:8 mse_v:$mse"; done ;;
  *-version*) ;;
  *nlmeans*) echo "No such filter: 'nlmeans'" >&2; exit 1 ;;
  *-benchmark*) case $chain in null) time=0.1 ;; atadenoise) time=0.11 ;; *) time=0.6 ;; esac
     echo "bench: utime=${time}s stime=3.000s rtime=1s" >&2 ;;
  *) echo "$chain" >"$last" ;;
esac
END
cat >"$folder/bin/equalux" <<'END'
#!/bin/sh
if [ "$1" = measure ]; then
  case $(cat "$3") in hqdn3d) kept=0.5 ;; equalux) kept=0.4 ;; *) kept=0.9 ;; esac
  echo '{"figures": {"b": {"temporal_noise": 0.7}, "pair": {"texture_kept": '$kept'}}}'
  exit 0
fi
[ -e "$0.knows" ] || { echo "equalux: no filter denoise" >&2; exit 2; }
while [ $# -gt 0 ]; do
  [ "$1" = -o ] && [ "$2" != null ] && echo equalux >"$2"
  [ "$1" = --timings ] && echo '{"stages": {"denoise": 20}}' >"$2"
  shift
done
END
chmod +x "$folder/peers/ffmpeg" "$folder/bin/equalux"
PATH="$folder/peers:$PATH"

# 10 log10(255^2 / 1) = 48.13 dB; chroma is the mean of both planes, (8 + 1) / 2. Texture kept is told,
# and marked for nobody; ghosting could not be measured.
compare 0 denoise
says "knows no filter 'denoise': its row is left out"
says '| dB | film | hand | pan | pan2 | street | street2 |'
says '| as it is | 42.11 |'
says '| `hqdn3d` | 48.13 |'
says '| `hqdn3d` | 41.60 |'
says '| `hqdn3d` | 50.00 |'
says "filter 'nlmeans=s=2.5:p=5:r=9' does not run here: No such filter: 'nlmeans'"
says '### Against noise, temporal noise, own instruction set'
says '| `hqdn3d` | 0.50 |'
says '| `hqdn3d` | - |'
says '0 cells; a peer is ahead in 0'

touch "$folder/bin/equalux.knows"
compare 1 --clips film,street denoise
says '| equalux | 45.12 |'
says '| `hqdn3d` | **48.13, ahead** |'
says '| `atadenoise` | 42.11 |'
says '| `atadenoise` | **1.00, ahead** |'
says '| `hqdn3d` | 50.00 |'
says '| `hqdn3d` | 0.50 |'
says "Against noise, a frame's time on one thread, AVX2"
says "film: \`hqdn3d\` 48.13, equalux 45.12 dB"
grep -q 'fftdnoiz=sigma=3:prev' <<<"$said" && { echo 'a slow peer ran unasked'; exit 1; }
compare 1 --slow --clips film denoise
says '| `fftdnoiz=sigma=3:prev=1:next=1` | 42.11 |'

# Clips that are named, in place of the usual ones.
for kind in clean noisy; do echo given >"$folder/out/clips/fade.$kind.y4m"; done
compare 1 --clips fade,pan denoise
says '| dB | fade | pan |'
says 'bench/compare --clips fade,pan denoise'
compare 1 --clips fade,none denoise
says 'of the clips fade, none there are only fade'

# What cannot be made is one line.
"$source/bench/denoise/make_clips" "$folder/none" --videos "$folder/nowhere" 2>"$folder/said" && exit 1
[ "$(wc -l <"$folder/said")" = 1 ] && grep -q 'Debian: \(python3-opencv\|opencv-doc\)' "$folder/said" ||
  { cat "$folder/said"; exit 1; }
[ -z "$(ls "$folder/none")" ] || { echo 'half a clip was left behind'; exit 1; }
