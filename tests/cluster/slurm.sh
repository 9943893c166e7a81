#!/bin/bash
# samples/cluster/slurm-array.sh on a cluster of two nodes, both this machine, one of which is killed
# while it works. Runs slurmctld and slurmd as they come from Debian, in a folder of the test's own.
#   slurm.sh PROGRAM SAMPLES
# Takes some minutes, and runs with EQUALUX_FULL=1 only. Exits with 77 where Slurm, munge or ffmpeg is missing or one is not root.
set -uo pipefail
[ -n "${EQUALUX_FULL:-}" ] || { echo "skipped: takes some minutes, EQUALUX_FULL=1 runs it"; exit 77; }
equalux=$1 samples=$2
for needed in slurmctld slurmd sbatch scontrol munged ffmpeg; do
  PATH=$PATH:/usr/sbin command -v "$needed" >/dev/null ||
    { echo "skipped: $needed is not installed (slurm-wlm, munge, ffmpeg)"; exit 77; }
done
[ "$(id -u)" -eq 0 ] || { echo "skipped: slurmd needs root"; exit 77; }
export PATH=$PATH:/usr/sbin
work=$(mktemp -d /tmp/equalux-slurm-XXXXXX)
. "$(dirname "$0")/common.sh"
host=$(hostname -s)
tasks=${TASKS:-8}

# Processes that this test started, and no others; of one node, or all. First the daemons, which have
# the test's logs open, and would tell the controller how their tasks ended; then the tasks, which
# have its configuration in their environment.
ours() { # n1, n2, or nothing for all
  local pid daemons='' tasks=''
  for pid in $(ls /proc | grep -x '[0-9]*'); do
    [ "$pid" -eq $$ ] || [ "$pid" -eq "$BASHPID" ] && continue
    if ls -l "/proc/$pid/fd" 2>/dev/null | grep -q "$work/slurm.*${1:-}.*\.log"; then
      daemons="$daemons $pid"
    elif { tr '\0' '\n' <"/proc/$pid/environ"; } 2>/dev/null | grep -qx "SLURM_CONF=$work/slurm.conf" &&
      { tr '\0' '\n' <"/proc/$pid/environ"; } 2>/dev/null | grep -q "^SLURMD_NODENAME=${1:-}"; then
      tasks="$tasks $pid"
    fi
  done
  echo $daemons $tasks
}
end() {
  local pid
  for pid in $(ours); do kill -KILL "$pid" 2>/dev/null; done
  [ -s "$work/munged.pid" ] && kill "$(cat "$work/munged.pid")" 2>/dev/null
  [ -n "${KEEP:-}" ] || rm -rf "$work"
}
trap end EXIT

mkdir -p "$work"/{state,spool-n1,spool-n2,bin,munge}
chmod 755 "$work"
ln -s "$(realpath "$equalux")" "$work/bin/equalux"
dd if=/dev/urandom of="$work/munge/key" bs=128 count=1 2>/dev/null
chmod 700 "$work/munge"
chmod 400 "$work/munge/key"
cat >"$work/slurm.conf" <<END
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=17810
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$work/munge.socket
StateSaveLocation=$work/state
SlurmctldPidFile=$work/slurmctld.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdPidFile=$work/slurmd-%n.pid
SlurmdLogFile=$work/slurmd-%n.log
SlurmdSpoolDir=$work/spool-%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SlurmdTimeout=10
KillWait=10
ReturnToService=2
NodeName=n1 NodeHostname=$host NodeAddr=127.0.0.1 Port=17811 CPUs=1
NodeName=n2 NodeHostname=$host NodeAddr=127.0.0.1 Port=17812 CPUs=1
PartitionName=all Nodes=n1,n2 Default=YES State=UP
END
export SLURM_CONF=$work/slurm.conf

munged --force --socket="$work/munge.socket" --key-file="$work/munge/key" \
  --pid-file="$work/munged.pid" --log-file="$work/munged.log" --seed-file="$work/munge/seed" ||
  exit 1
slurmctld -D >"$work/slurmctld.out" 2>&1 &
slurmd -D -N n1 >"$work/n1.out" 2>&1 &
slurmd -D -N n2 >"$work/n2.out" 2>&1 &

make_clips "${CLIPS:-40}" 300 || exit 1
for _ in $(seq 60); do
  [ "$(sinfo -h -t idle -o %D 2>/dev/null)" = 2 ] && break
  sleep 0.5
done
[ "$(sinfo -h -t idle -o %D)" = 2 ] || { echo "FAILED: the nodes do not come up"; sinfo; exit 1; }

PATH=$work/bin:$PATH sbatch --array=0-$((tasks - 1)) --output="$work/task-%a.log" --export=ALL \
  "$samples/cluster/slurm-array.sh" "$work/videos" "$work/results" --segment-frames 25 --quiet ||
  exit 1

# In the middle: some results are there, and the node has been at a task for a second.
before='' lost=''
for _ in $(seq 120); do
  done_so_far=$(find "$work/results" -name '*.mp4' ! -name '*partial*' 2>/dev/null | wc -l)
  lost=$(squeue -h -w n2 -t R -o %K)
  [ "$done_so_far" -ge $((${CLIPS:-40} / 4)) ] && [ -n "$lost" ] && [ "$lost" = "$before" ] && break
  before=$lost
  sleep 1
done
[ -n "$lost" ] || { echo "FAILED: n2 never worked"; exit 1; }
for _ in 1 2 3 4 5; do # with what it starts while it dies
  for pid in $(ours n2); do kill -KILL "$pid" 2>/dev/null; done
  sleep 0.2
done
echo "n2 killed with $done_so_far results there, while it was at task $lost"

for _ in $(seq 300); do
  [ -z "$(squeue -h)" ] && break
  sleep 1
done
if [ -n "$(squeue -h)" ]; then
  echo "FAILED: tasks are left"
  squeue
  exit 1
fi
restarted=$(scontrol show job 2>/dev/null | grep -c 'Restarts=[1-9]')
echo "$restarted task(s) requeued"
[ "$restarted" -ge 1 ] || { echo "FAILED: the lost task was not requeued"; exit 1; }
expect_whole "$work/results"
