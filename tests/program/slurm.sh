#!/usr/bin/env bash
# tests/program/slurm.sh: works on a film in pieces with Slurm, on a Debian or Ubuntu that has none: a cluster of this one machine, as
# the scripts in samples/slurm use it. One task is put back into the queue while it runs, the program of another is killed.
# The joined film has to have the frames of one run.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../support/setup.sh"
set_up ffmpeg slurm-wlm munge jq
PATH=$PWD/samples/slurm:$PWD/target/debug:$PATH:/usr/sbin:/sbin
[ "$(id -u)" -eq 0 ] || fail "needs root: slurmd starts jobs as the users who submit them"
cargo build --quiet --locked

work=$(mktemp -d)
chmod 755 "$work"
daemons=()
end() {
    local code=$?
    [ $code -eq 0 ] || tail -n 30 "$work"/slurm{ctld,d}.log "$work"/*.out 2>/dev/null || true
    kill "${daemons[@]}" 2>/dev/null || true
    sleep 1
    kill -KILL "${daemons[@]}" 2>/dev/null || true
    rm -rf "$work"
}
trap end EXIT

# A cluster of this machine with two CPUs, whose ports and files are apart from those of an installed one.
host=$(hostname -s)
export SLURM_CONF=$work/slurm.conf
cat >"$SLURM_CONF" <<CONF
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
NodeName=$host NodeAddr=127.0.0.1 CPUs=2 RealMemory=4000 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP
AuthType=auth/munge
AuthInfo=socket=$work/munge.socket
SlurmUser=root
SlurmctldPort=26817
SlurmdPort=26818
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=2,batch_sched_delay=0
MinJobAge=3600
ReturnToService=2
MpiDefault=none
CONF
# Slurm 23.11 and newer can do without control groups; older ones look for them.
slurmd -V | grep -E 'slurm(-wlm)? 22\.' >/dev/null || echo "CgroupPlugin=disabled" >"$work/cgroup.conf"
mkdir "$work/state" "$work/spool"
head -c 1024 /dev/urandom >"$work/munge.key"
chmod 400 "$work/munge.key"
munged --force --foreground --socket "$work/munge.socket" --key-file "$work/munge.key" --pid-file "$work/munge.pid" \
    --log-file "$work/munge.log" --seed-file "$work/munge.seed" &>/dev/null &
daemons+=($!)
sleep 1
slurmctld -D &>/dev/null &
daemons+=($!)
slurmd -D -N "$host" &>/dev/null &
daemons+=($!)
within() { # SECONDS COMMAND...: whether the command succeeds in this time
    local end=$((SECONDS + $1))
    until "${@:2}"; do
        [ $SECONDS -lt $end ] || return 1
        sleep 0.2
    done
}
is_idle() { [ "$(sinfo --noheader --format=%T 2>/dev/null)" = idle ]; }
within 60 is_idle || fail "Slurm does not start"

# A film of ten pieces with sound, and what one run makes of it.
cd "$work"
ffmpeg -nostdin -v error -f lavfi -i testsrc2=size=640x360:rate=25,noise=alls=6:allf=t -f lavfi -i sine=440 -t 24 \
    -c:v libx264 -preset ultrafast -g 25 -c:a aac film.mkv
options=(--encoder ffv1 --backend cpu)
histeq-video "${options[@]}" film.mkv one.mkv

echo "== an array job, and one that joins"
PIECE_OPTIONS="--cpus-per-task=1 --mem=200" equalize.sh film.mkv joined.mkv "${options[@]}" --piece 2 | tee said.txt
array=$(sed -n 's/^job \([0-9]*\) .*/\1/p' said.txt) join=$(sed -n 's/.*, job \([0-9]*\) .*/\1/p' said.txt)
state() { squeue --noheader --array --format=%T --states=all --job "$1"; }
is_running() { [ "$(state "$1")" = RUNNING ]; }
is_over() { ! squeue --noheader --format=%T --job "$join" | grep . >/dev/null; }

within 60 is_running "${array}_1" || fail "task 1 does not run"
scontrol requeue "${array}_1"
echo "task 1 was put back into the queue"
within 60 pkill -KILL -f -- '--piece 5' || fail "task 5 does not run"
echo "the program of task 5 was killed"
within 300 is_over || fail "the film is not joined after five minutes"
state "$array" | sort | uniq -c
[ "$(state "$join")" = COMPLETED ] || fail "the join is $(state "$join")"
for task in 1 5; do
    scontrol show job "${array}_$task" | grep 'Restarts=[1-9]' >/dev/null || fail "task $task was not started again"
done

hashes() { ffmpeg -nostdin -v error -i "$1" -map 0:v -f framemd5 - | grep -v '^#'; }
cmp <(hashes one.mkv) <(hashes joined.mkv) || fail "the frames are not those of one run"
echo "$(hashes joined.mkv | wc -l) frames, equal to those of one run"
sound() { ffmpeg -nostdin -v error -i "$1" -map 0:a -c copy -f md5 -; }
[ "$(sound film.mkv)" = "$(sound joined.mkv)" ] || fail "the sound is not that of the film"
