#!/usr/bin/env bash
# tests/hosts/vapoursynth.sh [--release]: the plug-in for VapourSynth in the real host: built into a wheel and installed into a fresh virtual environment, as
# docs/hosts.md says, and compared with the program: three clips under every look, in order, shuffled and in parallel, the
# conformance vectors, and a script that vspipe runs. It fetches VapourSynth from PyPI, and Python 3.12 where neither the path nor
# PYTHON has it or a newer one; without any, it is skipped. With --release, plug-in and program are those of users, and two of the
# clips are the whole samples.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../support/setup.sh"
export HISTEQ_PROFILE=dev
crates=(--workspace)
[ "${1:-}" != --release ] || { HISTEQ_PROFILE=release && crates=(-p histeq-video); }
set_up python3-venv ffmpeg

# One that runs: a shim on the path may stand for a Python that is not chosen.
python=${PYTHON:-}
for candidate in python3.{12..14} "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.1[2-4].*/bin/python3; do
    [ -n "$python" ] || ! "$candidate" -c "" 2>/dev/null || python=$candidate
done

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
venv=$folder/venv/bin
fetch_python() {
    python3 -m venv "$folder/uv" && "$folder/uv/bin/pip" --quiet install uv &&
        "$folder/uv/bin/uv" --quiet venv --seed --python ">=3.12" "$folder/venv"
}
if [ -n "$python" ]; then
    "$python" -m venv "$folder/venv"
else
    fetch_python || skip "no Python 3.12 or newer here, and uv gets none"
fi
"$venv/pip" --quiet install ./src/vapoursynth numpy

cargo build --quiet --profile $HISTEQ_PROFILE --locked "${crates[@]}"
program=$(cargo metadata --locked --format-version 1 --no-deps | python3 -c 'import json, sys; print(json.load(sys.stdin)["target_directory"])')/${HISTEQ_PROFILE/dev/debug}/histeq-video

# Noise in the dark with a cut, of 10 bits.
dark="lutyuv=y=val*0.12+64,noise=alls=6:allf=t,format=yuv422p10le"
ffmpeg -v error -i samples/coast.mp4 -i samples/parking-lot.mp4 -filter_complex \
    "[0:v]fps=25,trim=end_frame=40,scale=320:180,setsar=1,format=yuv422p10le,$dark[a];[1:v]fps=25,trim=end_frame=40,scale=320:180,setsar=1,format=yuv422p10le,$dark[b];[a][b]concat" \
    -c:v ffv1 "$folder/dark.mkv"
clips=(samples/coast.mp4 samples/parking-lot.mp4)
if [ $HISTEQ_PROFILE = dev ]; then
    for at in "${!clips[@]}"; do
        ffmpeg -v error -i "${clips[at]}" -frames:v 40 -vf "scale=trunc(iw/8)*2:trunc(ih/8)*2" -c:v ffv1 "$folder/$at.mkv"
        clips[at]=$folder/$at.mkv
    done
fi
"$venv/python" tests/hosts/vapoursynth/check.py "$program" "${clips[@]}" "$folder/dark.mkv"

# A script as users write it.
cat >"$folder/script.vpy" <<'PY'
import vapoursynth as vs
clip = vs.core.std.BlankClip(format=vs.YUV420P8, width=64, height=48, length=40, color=[60, 110, 140])
vs.core.histeq.Equalize(vs.core.std.AddBorders(clip, left=16, right=16, color=[20, 128, 128]), look="night").set_output()
PY
sed 's/vs.core.histeq.Equalize(\(.*\), look="night")/\1/' "$folder/script.vpy" >"$folder/plain.vpy"
export XDG_CONFIG_HOME=$folder
"$venv/vapoursynth" config >/dev/null
"$venv/vspipe" -c y4m "$folder/script.vpy" - >"$folder/found.y4m"
"$venv/vspipe" -c y4m "$folder/plain.vpy" "$folder/plain.y4m"
"$program" --backend cpu "$folder/plain.y4m" "$folder/expected.y4m" --look night 2>/dev/null
for name in found expected; do ffmpeg -v error -i "$folder/$name.y4m" -f rawvideo "$folder/$name.raw"; done
cmp "$folder/found.raw" "$folder/expected.raw"
! ffmpeg -v error -i "$folder/plain.y4m" -f rawvideo - 2>/dev/null | cmp -s - "$folder/found.raw" || fail "the script changes nothing"
echo "VapourSynth $("$venv/python" -c 'import vapoursynth; print(vapoursynth.core.core_version)'): the bytes of the program"
