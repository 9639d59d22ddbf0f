#!/usr/bin/env bash
# The libraries and plug-ins installed by the commands of the docs, word for word, where nothing of them is yet: from a fresh copy of
# this folder, in a fresh Debian 12 that debootstrap makes, to which this machine lends its Rust toolchain; that for VapourSynth,
# which takes a newer Python, in a fresh virtual environment. What comes out has the bytes of the program, or the vectors' hashes.
# tests/hosts/installs.sh [c|frei0r|python|vapoursynth]...: these, else all. It needs root, and fetches from Debian and PyPI.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../support/setup.sh"
hosts=${*:-c frei0r python vapoursynth}
set_up debootstrap ffmpeg python3-venv
[ "$(id -u)" = 0 ] || fail "needs root, for chroot"
if [ -z "${HISTEQ_PROGRAM:-}" ]; then
    cargo build --quiet --release --locked -p histeq-video
    HISTEQ_PROGRAM=$(cargo metadata --locked --format-version 1 --no-deps | sed -n 's/.*"target_directory":"\([^"]*\)".*/\1/p')/release/histeq-video
fi
cargo fetch --quiet --locked

folder=$(mktemp -d)
debian=$folder/debian copy=$folder/debian/root/histeq-video mounts=()
clean_up() {
    local mount
    for mount in "${mounts[@]}"; do umount "$mount" || return; done
    rm -rf --one-file-system "$folder"
}
trap clean_up EXIT

lend() { # FOLDER PLACE: read only
    mkdir -p "$debian/$2"
    mount -o bind,ro "$1" "$debian/$2"
    mounts+=("$debian/$2")
}
make_debian() {
    debootstrap --variant=minbase bookworm "$debian" >"$folder/log" || fail "$(tail "$folder/log")"
    cp /etc/resolv.conf "$debian/etc/"
    # The authorities that this machine trusts.
    cp /etc/ssl/certs/ca-certificates.crt "$debian/root/authorities"
    lend "${CARGO_HOME:-$HOME/.cargo}" root/.cargo
    lend "${RUSTUP_HOME:-$HOME/.rustup}" root/.rustup
    mount -t proc proc "$debian/proc"
    mounts+=("$debian/proc")
    in_debian 'apt-get -qq update && apt-get -qq -y --no-install-recommends install gcc libc6-dev pkg-config python3-venv ffmpeg melt' \
        >"$folder/log" 2>&1 || fail "$(tail "$folder/log")"
}
in_debian() { # COMMANDS, in the copy of this folder
    chroot "$debian" env -i HOME=/root PATH=/root/.cargo/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
        DEBIAN_FRONTEND=noninteractive CARGO_NET_OFFLINE=true PIP_CERT=/root/authorities \
        bash -euo pipefail -c "mkdir -p ~/histeq-video && cd ~/histeq-video"$'\n'"$1"
}
commands() { # PAGE NUMBER: a block of shell commands of the docs
    awk -v wanted="$2" '/^```/ { is_in = /^```sh$/ && ++blocks == wanted; next } is_in' "docs/$1" | grep . || fail "docs/$1 has no block $2"
}
program() { "$HISTEQ_PROGRAM" -y --backend cpu "$@" 2>"$folder/log" || fail "$(tail "$folder/log")"; }
same() { # HOST FILE FILE
    [ -s "$2" ] || fail "$1: nothing came out"
    cmp "$2" "$3" || fail "$1: other bytes than the program's"
    echo "$1: the bytes of the program"
}

try_c() {
    command -v cargo-cinstall >/dev/null || fail "c needs cargo-c"
    install -m 755 "$(command -v cargo-cinstall)" "$debian/usr/local/bin/"
    ffmpeg -nostdin -v error -i samples/coast.mp4 -vf scale=1920:1080 -frames:v 12 -pix_fmt yuv420p -f rawvideo "$copy/in.raw"
    in_debian "$(commands library.md 1)"
    program -f rawvideo -s 1920x1080 --pixel-format yuv420p -r 25 --output-format rawvideo "$copy/in.raw" "$folder/expected.raw" \
        --look night
    same c "$copy/out.raw" "$folder/expected.raw"
}

try_frei0r() {
    local size=768x432 raw="f=rawvideo vcodec=rawvideo pix_fmt=rgba an=1 real_time=-1" of=(-vf format=rgba -f rawvideo)
    cp samples/parking-lot.mp4 "$copy/in.mp4"
    in_debian "$(commands hosts.md 3)"
    # As they stand there, then with samples in place of a video.
    in_debian "$(commands hosts.md 4)" 2>"$folder/log" || fail "frei0r: $(tail "$folder/log")"
    in_debian "ffprobe -v error out.mp4" || fail "frei0r: there is no video"
    in_debian "$(commands hosts.md 4 | sed "s/,format=yuv420p\" out.mp4/\" -f rawvideo ffmpeg.raw/; s/avformat:out.mp4/avformat:melt.raw $raw/")
        ffmpeg -i in.mp4 ${of[*]} ffmpeg-in.raw
        melt in.mp4 -consumer avformat:melt-in.raw $raw" 2>"$folder/log" || fail "frei0r: $(tail "$folder/log")"
    local host
    for host in ffmpeg melt; do
        # From a pipe, for which nothing waits.
        cat "$copy/$host-in.raw" | program -f rawvideo -s "$size" --pixel-format rgba -r 25 --output-format rawvideo - - \
            --look night --strength 0.8 >"$folder/expected.raw"
        same "frei0r, $host" "$copy/$host.raw" "$folder/expected.raw"
    done
}

try_python() {
    local block
    for block in 2 3; do
        in_debian "
            python3 -m venv ~/python-$block
            . ~/python-$block/bin/activate
            rm -rf target/wheels
            $(commands library.md "$block")
            pip install --quiet numpy
            cd tests/hosts/python
            python -m unittest test_conformance"
    done
    echo "python: the vectors' hashes"
}

try_vapoursynth() {
    python3 -m venv "$folder/uv"
    "$folder/uv/bin/pip" --quiet install uv
    "$folder/uv/bin/uv" --quiet venv --seed --python "${PYTHON:->=3.12}" "$folder/venv"
    local clip='clip = vs.core.std.BlankClip(format=vs.YUV420P8, width=64, height=48, length=40, color=[60, 110, 140]).std.AddBorders(left=16, right=16, color=[20, 128, 128])'
    (
        cd "$copy"
        export PATH=$folder/venv/bin:$PATH XDG_CONFIG_HOME=$folder
        eval "$(cd "$OLDPWD" && commands hosts.md 1)"
        # The script of the page, with a clip in it, and without the filter.
        awk '/^```/ { is_in = /^```python$/ && ++blocks == 1; next } is_in' docs/hosts.md | sed "s/^clip = \.\.\.$/$clip/" >script.vpy
        eval "$(cd "$OLDPWD" && commands hosts.md 2)"
        sed /Equalize/d script.vpy >plain.vpy
        vspipe -c y4m plain.vpy plain.y4m
    )
    program "$copy/plain.y4m" "$folder/expected.y4m" --look night --strength 0.8
    local name
    for name in "$copy/out" "$folder/expected"; do ffmpeg -nostdin -v error -y -i "$name.y4m" -f rawvideo "$name.raw"; done
    same vapoursynth "$copy/out.raw" "$folder/expected.raw"
}

[ "$hosts" = vapoursynth ] || make_debian
mkdir -p "$copy"
git ls-files -z | tar --null -T - -c | tar -x -C "$copy"
for host in $hosts; do "try_$host"; done
