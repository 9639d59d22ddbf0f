#!/usr/bin/env bash
#SBATCH --job-name=histeq-piece
#SBATCH --cpus-per-task=4
#SBATCH --mem=4G
#SBATCH --time=01:00:00
#SBATCH --requeue
#SBATCH --output=%x-%A-%a.out
#SBATCH --open-mode=append
#
# piece.sh PLAN: works on the piece of a plan that has the number of this task.
histeq-video run "$1" --piece "$SLURM_ARRAY_TASK_ID"
code=$?
# 75: a GPU was lost, a disk is full, the run was terminated. Above 128: killed, for example because memory ran out. Another try,
# on another node perhaps, may do it; what was done before is not done again.
if [ $code -eq 75 ] || [ $code -gt 128 ] && [ "${SLURM_RESTART_COUNT:-0}" -lt 3 ]; then
    scontrol requeue "$SLURM_JOB_ID"
    sleep 60 # Slurm ends this script.
fi
exit $code
