#!/bin/bash
# A folder of videos over several machines by GNU parallel and ssh.
#
#   parallel-ssh.sh HOSTS VIDEOS RESULTS [OPTION of equalux batch...]
#
# HOSTS is a file with a machine a line, as --sshloginfile takes them (":" is this one); VIDEOS and
# RESULTS lie on a file system that all of them share, under the same absolute paths. SHARES
# (default 4 a machine) is how finely the work is cut; EQUALUX the program on those machines.
set -euo pipefail

hosts=$1
videos=$(realpath "$2")
mkdir -p "$3"
results=$(realpath "$3")
shift 3
shares=${SHARES:-$((4 * $(grep -cv '^[[:space:]]*\(#\|$\)' "$hosts")))}

# A share whose machine dies is given to another one, which goes on with its files; each share is
# tried three times. --joblog lists what every one exited with.
mapfile -t words < <(printf '%q\n' "${EQUALUX:-equalux}" batch "$videos" --out "$results" "$@")
seq 0 $((shares - 1)) |
  parallel --sshloginfile "$hosts" --jobs 1 --retries 3 --joblog "$results/joblog.txt" --halt never \
    "${words[*]} --quiet --shard {}/$shares"
