#!/bin/bash
# samples/cluster/parallel-ssh.sh with two "machines", both this one, one of which dies with every
# share that it is given.
#   parallel.sh PROGRAM SAMPLES
# Runs with EQUALUX_FULL=1 only. Exits with 77 where GNU parallel or ffmpeg is missing.
set -uo pipefail
[ -n "${EQUALUX_FULL:-}" ] || { echo "skipped: takes half a minute, EQUALUX_FULL=1 runs it"; exit 77; }
equalux=$1 samples=$2
for needed in parallel ffmpeg; do
  command -v "$needed" >/dev/null || { echo "skipped: $needed is not installed"; exit 77; }
done
work=$(mktemp -d /tmp/equalux-parallel-XXXXXX)
trap 'rm -rf "$work"' EXIT
. "$(dirname "$0")/common.sh"
mkdir -p "$work/home/.parallel"
export HOME=$work/home
touch "$HOME/.parallel/will-cite"

make_clips "${CLIPS:-10}" 40 || exit 1
# In place of ssh: "dying" lets its program live for a moment only.
cat >"$work/ssh" <<'END'
#!/bin/bash
host=$1
shift
[ "$1" = -- ] && shift
[ "$host" = dying ] && exec timeout -s KILL 0.7 bash -c "$*"
exec bash -c "$*"
END
chmod +x "$work/ssh"
export PARALLEL_SSH=$work/ssh
printf 'living\ndying\n' >"$work/hosts"

EQUALUX=$equalux SHARES=5 "$samples/cluster/parallel-ssh.sh" "$work/hosts" "$work/videos" \
  "$work/results" --segment-frames 25 --log-level error
code=$?
# A share may have come to the dying machine three times; that is what the same command is for.
[ "$code" -eq 0 ] || EQUALUX=$equalux SHARES=5 "$samples/cluster/parallel-ssh.sh" \
  <(echo living) "$work/videos" "$work/results" --segment-frames 25 --log-level error || exit 1
expect_whole "$work/results"
