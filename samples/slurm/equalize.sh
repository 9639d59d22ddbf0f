#!/usr/bin/env bash
# equalize.sh IN OUT [OPTIONS OF plan...]
#
# Equalizes a video on a Slurm cluster: plans its pieces here, and submits an array job that works on them and a job that joins
# them afterwards. PIECE_OPTIONS are options of sbatch for the pieces, like PIECE_OPTIONS="--gres=gpu:1 --cpus-per-task=8".
set -euo pipefail
[ $# -ge 2 ] || { sed -n '2,5s/^# \?//p' "$0" >&2; exit 2; }
here=$(dirname "$(realpath "$0")")
plan=$(realpath "$2").plan.json
histeq-video plan "$@" >"$plan"
last=$(($(histeq-video status --json "$plan" | jq .pieces) - 1))
# shellcheck disable=SC2086 # several options
pieces=$(sbatch --parsable --array="0-$last" ${PIECE_OPTIONS:-} "$here/piece.sh" "$plan")
join=$(sbatch --parsable --dependency="afterok:$pieces" --kill-on-invalid-dep=yes "$here/join.sh" "$plan")
echo "job $pieces works on pieces 0 to $last, job $join joins them into $2; histeq-video status $plan tells how far they are"
