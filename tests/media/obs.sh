#!/usr/bin/env bash
# tests/media/obs.sh [FOLDER]: OBS shows and records the virtual camera of `live --loopback` (docs/live.md), in a virtual
# machine, since the camera takes a kernel module. The recorded picture has to be the equalized one. With FOLDER, one frame of
# what OBS recorded (obs.png) and of what we recorded (ours.png) are left there.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../support/setup.sh"
source "$(dirname "${BASH_SOURCE[0]}")/../support/machine.sh"
pictures=${1:+$(realpath -m "$1")}
set_up ffmpeg obs-studio xvfb xauth libgl1-mesa-dri python3 "${machine_packages[@]}"
make_machine
cargo build --quiet --locked

printf 'export modules=%q program=%q settings=%q\n' "$cache/root" "$PWD/target/debug/histeq-video" "$PWD/tests/media/obs" >"$work/job"
cat tests/media/obs/inside >>"$work/job"
boot / "job=$work/job"
if [ -n "$pictures" ]; then
    mkdir -p "$pictures"
    for file in obs.png ours.png obs.log; do debugfs -R "dump $file $pictures/$file" "$work/disk" 2>/dev/null; done
fi
read -r _ outcome <<<"$(tr '\n' ' ' <"$work/outcome")"
[ "${outcome% }" = same ] || fail "OBS and the virtual camera: ${outcome:-the machine did not say how it went: see $cache/console.log}"
echo "OBS recorded the equalized picture"
