#!/usr/bin/env bash
#SBATCH --job-name=histeq-join
#SBATCH --cpus-per-task=1
#SBATCH --mem=1G
#SBATCH --time=00:30:00
#SBATCH --output=%x-%j.out
#
# join.sh PLAN: joins the pieces of a plan.
exec histeq-video join "$1"
