# Shared by the cluster tests: clips, and results held to those of one run on one machine.
# Sourced with the program's path in $equalux and a folder of the test's own in $work.

make_clips() { # COUNT FRAMES
  mkdir -p "$work/videos/deep"
  local i folder
  for i in $(seq "$1"); do
    folder=$work/videos
    [ $((i % 3)) -eq 0 ] && folder=$work/videos/deep
    ffmpeg -v error -f lavfi -i "testsrc2=size=320x240:rate=25:duration=20" -vf \
      "trim=start_frame=$i,setpts=PTS-STARTPTS,eq=contrast=0.5" -frames:v "$2" -c:v libx264 \
      -preset ultrafast -pix_fmt yuv420p -y "$folder/clip$i.mp4" || return 1
  done
}

# Frame hashes of every result of a folder, decoded by FFmpeg.
hashes_of() { # FOLDER
  (cd "$1" && find . -name '*.mp4' | sort | while read -r file; do
    echo "$file $(ffmpeg -v error -i "$file" -map 0:v -f md5 - </dev/null)"
  done)
}

expect_whole() { # RESULTS: every clip there, and equal to the unsharded run's
  "$equalux" batch "$work/videos" --out "$work/whole" --segment-frames 25 --quiet || return 1
  hashes_of "$work/whole" >"$work/whole.txt"
  hashes_of "$1" >"$work/sharded.txt"
  local clips
  clips=$(find "$work/videos" -name '*.mp4' | wc -l)
  if [ "$(wc -l <"$work/sharded.txt")" -ne "$clips" ]; then
    echo "FAILED: $(wc -l <"$work/sharded.txt") of $clips results"
    return 1
  fi
  cmp "$work/whole.txt" "$work/sharded.txt" || return 1
  # The batch's own check of all of them, decodable and whole.
  "$equalux" batch "$work/videos" --out "$1" --segment-frames 25 2>&1 | tail -1 |
    grep -qx "$clips skipped" || { echo "FAILED: not all results are whole"; return 1; }
  echo "$clips results, all whole, with the frames of the unsharded run"
}
