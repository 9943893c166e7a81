#!/bin/bash
# A folder of videos over a Slurm array: each task takes its share, and a task that is requeued goes
# on where it was.
#
#   sbatch --array=0-15 slurm-array.sh VIDEOS RESULTS [OPTION of equalux batch...]
#
# VIDEOS and RESULTS lie on a file system that all nodes share. RESULTS/report-I-of-N.json tells of
# each share.
#SBATCH --job-name=equalux
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --signal=B:TERM@60

videos=$1
results=$2
shift 2

# A time limit or a preemption sends SIGTERM to this shell a minute before the end: equalux closes
# what it has in a few seconds, and the task goes back into the queue.
equalux batch "$videos" --out "$results" --shard auto "$@" &
batch=$!
trap 'kill -TERM "$batch" 2>/dev/null' TERM
wait "$batch"
code=$?
while kill -0 "$batch" 2>/dev/null; do
  wait "$batch"
  code=$?
done

case $code in
  # Stopped by a signal; the machine's fault: an encoder or device that is not usable, an output
  # that cannot be made or written. Another node, or another time, may do it.
  130 | 143 | 69 | 73 | 74)
    if [ "${SLURM_RESTART_COUNT:-0}" -lt 3 ]; then
      scontrol requeue "${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}"
      exit 0
    fi
    ;;
esac
# 0: every file is done. 3, 65, 66: some inputs are broken or missing, which no retry mends.
exit "$code"
