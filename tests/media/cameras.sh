#!/usr/bin/env bash
# tests/media/cameras.sh [TEST...]: runs the tests that take cameras (tests/media/cameras), on a Debian 12 that has none.
#
# They run in a virtual machine (tests/support/machine.sh), which sees the files of this one, so what was built here runs there.
# Its drivers are real: `vivid` (a camera that injects faults), `v4l2loopback` (a virtual camera), `uvcvideo` with `vhci-hcd` (a
# USB webcam that a test plugs in and pulls out), `snd-aloop` and `snd-dummy` (sound). At the end its power is cut while it
# records.
#
# Not to be seen there, and left to a real camera: H.264 and HEVC from a camera, isochronous USB transfers and their
# losses, exposure and other controls, cameras that lie about their modes, real-time behaviour at full size.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../support/setup.sh"
source "$(dirname "${BASH_SOURCE[0]}")/../support/machine.sh"
set_up ffmpeg v4l-utils alsa-utils "${machine_packages[@]}"
make_machine

suite=$(cargo test --locked --no-run --test suite --message-format=json |
    sed -n 's/.*"executable":"\([^"]*\/suite-[^"]*\)".*/\1/p')
{
    printf 'export %s=%q\n' modules "$cache/root" suite "$suite" program "$PWD/target/debug/histeq-video" tests "${*:-media::cameras::}"
    printf 'cd %q\n' "$PWD"
    cat tests/media/cameras/inside
} >"$work/job"
boot / "job=$work/job"
read -r _ code frames_mkv frames_mp4 <<<"$(tr '\n' ' ' <"$work/outcome")"
[ -n "${frames_mp4:-}" ] || fail "the machine did not say how it went: see $cache/console.log"

# What a power cut leaves: all but the last three seconds, at ten frames each.
e2fsck -fy "$work/disk" >/dev/null 2>&1 || [ $? -le 2 ] || fail "the disk is beyond repair"
for kind in mkv mp4; do
    declare -n recorded=frames_$kind
    debugfs -R "dump out.$kind $work/out.$kind" "$work/disk" 2>/dev/null
    left=$(ffprobe -v error -select_streams v -count_packets -show_entries stream=nb_read_packets -of csv=p=0 "$work/out.$kind") || true
    echo "a power cut after $recorded frames of $kind leaves ${left:-0} of them"
    [ "$recorded" -ge 150 ] && [ "${left:-0}" -ge $((recorded - 30)) ] || code=1
done
exit "$code"
