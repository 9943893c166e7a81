#!/usr/bin/env bash
# What the element adds to what a pipeline in CUDA memory does on the device:
#   nvh264dec ! cudadownload   and   nvh264dec ! equalux ! cudadownload
#
#   bench/plugin/gst_timeline.sh CLIP.h264 BUILD_FOLDER OUT_FOLDER
#
# Writes plain.csv and equalux.csv, every copy, fill and kernel (see cuda_timeline.cpp), and prints them by
# kind. Exit 1 if with the element more went between host and device than without it, two small tables at
# its start aside, or if it did nothing on the device.
set -euo pipefail
[ $# -eq 3 ] || { echo "gst_timeline: needs CLIP.h264, BUILD_FOLDER and OUT_FOLDER" >&2; exit 2; }
clip=$1 build=$2 out=$3
[ -r "$clip" ] || { echo "gst_timeline: $clip can't be read" >&2; exit 2; }
recorder=$(realpath -m "$build/lib/libcuda_timeline.so")
[ -r "$recorder" ] || { echo "gst_timeline: no $recorder; build the target cuda_timeline" >&2; exit 2; }
export GST_PLUGIN_PATH="$build/lib/gstreamer-1.0${GST_PLUGIN_PATH:+:$GST_PLUGIN_PATH}"
mkdir -p "$out"

record() {  # FILE.csv ELEMENT...
  local file=$1
  shift
  CUDA_INJECTION64_PATH=$recorder CUDA_TIMELINE=$file gst-launch-1.0 -q filesrc location="$clip" ! \
    h264parse ! nvh264dec ! "video/x-raw(memory:CUDAMemory),format=NV12" ! "$@" \
    cudadownload ! video/x-raw ! fakesink sync=false  # without caps it would download nothing
  grep -qx "# dropped: 0" "$file" || { echo "gst_timeline: $file is not whole" >&2; exit 1; }
}

by_kind() {
  awk -F, '/^[0-9]/ { key = $4 "," $5 "," $6 "," $7 "," $8; calls[key]++; us[key] += $2 - $1 }
    END { for (key in calls) printf "%s,%d,%.3f\n", key, calls[key], us[key] / 1000 }' "$1" |
    sort -t, -k1,1 -k6,6nr | c++filt |
    awk -F, 'BEGIN { printf "%-7s %-7s %-7s %9s %6s %9s  %s\n", "what", "from", "to", "bytes", "calls", "ms", "kernel" }
      { kernel = $5; for (i = 6; i < NF - 1; i++) kernel = kernel "," $i
        printf "%-7s %-7s %-7s %9s %6d %9.3f  %.60s\n", $1, $2, $3, $4, $(NF - 1), $NF, kernel }'
}

host_bytes() {
  awk -F, '/^[0-9]/ && $4 == "copy" && ($5 != "device" || $6 != "device") { sum += $7 }
    END { printf "%d", sum }' "$1"
}

record "$out/plain.csv"
record "$out/equalux.csv" equalux backend=cuda !
for name in plain equalux; do
  echo "== $name"
  by_kind "$out/$name.csv"
done
frames=$(grep -c ConvertNV12 "$out/equalux.csv" || true)  # the decoder's own kernel, one a frame
filtered=$(grep -c ',kernel,.*equalux' "$out/equalux.csv" || true)
before=$(host_bytes "$out/plain.csv")
after=$(host_bytes "$out/equalux.csv")
echo "bytes between host and device: $before without equalux, $after with it"
if [ "$filtered" -eq 0 ] || [ "$filtered" -lt "$frames" ]; then
  echo "gst_timeline: $filtered kernels of equalux for $frames frames" >&2
  exit 1
fi
[ "$((after - before))" -lt 16384 ] || { echo "gst_timeline: equalux copied over the host" >&2; exit 1; }
