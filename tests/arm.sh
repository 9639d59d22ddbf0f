#!/usr/bin/env bash
# The library and the program on 64-bit Arm, without such a machine: cross-compiled for Debian 12 and run by qemu-user, with the
# libraries of a Debian for arm64. What comes out has the bytes of this machine. qemu-user has no seccomp and no Landlock: the
# tests run the filters of decoders as numbers, and the numbers are those of Arm's headers. There is no GPU. No time means
# anything; instructions are counted.
# tests/arm.sh [FOLDER]: keeps that Debian in FOLDER, else in target/arm64. It needs root, to have the kernel run Arm's programs.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/support/setup.sh"
set_up mmdebstrap qemu-user-static binfmt-support gcc-aarch64-linux-gnu libc6-dev-arm64-cross ffmpeg x264
[ "$(id -u)" = 0 ] || fail "needs root, for binfmt_misc"
debian=$(realpath -m "${1:-target/arm64}") target=aarch64-unknown-linux-gnu libraries=usr/lib/aarch64-linux-gnu

[ -e /proc/sys/fs/binfmt_misc/status ] || mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc
[ -e /proc/sys/fs/binfmt_misc/qemu-aarch64 ] || update-binfmts --import qemu-aarch64
if [ ! -e "$debian/.whole" ]; then
    rm -rf --one-file-system "$debian"
    include="libc6-dev libavcodec-dev libavformat-dev libavutil-dev libswscale-dev libavfilter-dev libavdevice-dev python3-numpy dpkg-dev binutils"
    mmdebstrap --quiet --architectures=arm64 --variant=apt --include="$include" bookworm "$debian"
    # A link of Debian's alternatives would lead to this machine's files.
    for name in blas lapack; do ln -sf $name/lib$name.so.3 "$debian/$libraries/lib$name.so.3"; done
    touch "$debian/.whole"
fi
rustup --quiet target add $target

# What libraries need of each other is found when a program starts.
CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUSTFLAGS="-Clink-arg=--sysroot=$debian -Clink-arg=-Wl,--allow-shlib-undefined"
CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUSTFLAGS CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER
export PKG_CONFIG_ALLOW_CROSS_aarch64_unknown_linux_gnu=1 PKG_CONFIG_SYSROOT_DIR_aarch64_unknown_linux_gnu=$debian
export PKG_CONFIG_LIBDIR_aarch64_unknown_linux_gnu=$debian/$libraries/pkgconfig
export BINDGEN_EXTRA_CLANG_ARGS_aarch64_unknown_linux_gnu=--sysroot=$debian CFLAGS_aarch64_unknown_linux_gnu=--sysroot=$debian
export QEMU_LD_PREFIX=$debian
built=target/$target/debug folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

step() {
    echo "== $*"
    SECONDS=0
    "$@"
    echo "-- $SECONDS s"
}
# Without a compiler, each run of a test starts the program by itself: a loaded one is for this machine's architecture.
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="env CC=/nonexistent"
run_tests() { cargo test --quiet --locked --workspace --target $target "$@"; }

# The numbers of the calls that decoders may use: the program's, and those of the kernel's headers for Arm.
numbers_of_calls() {
    local names libc
    mapfile -t names < <(grep -oE '\bSYS_[a-z0-9_]+' src/media/sandbox/calls.rs | sort -u)
    {
        printf '#include <stdio.h>\n#include <sys/syscall.h>\nint main(void) {\n'
        printf '#ifdef %s\nprintf("%s %%d\\n", (int)%s);\n#endif\n' $(for name in "${names[@]}"; do echo "$name $name $name"; done)
        echo '}'
    } >"$folder/headers.c"
    aarch64-linux-gnu-gcc "$folder/headers.c" -o "$folder/headers"
    "$folder/headers" >"$folder/of-headers"
    mapfile -t names < <(cut -d' ' -f1 "$folder/of-headers")
    [ ${#names[@]} -gt 100 ] || fail "only ${#names[@]} calls of calls.rs are known to the headers"
    libc=$(ls -t $built/deps/liblibc-*.rlib | head -1)
    { echo 'fn main() {' && printf '    println!("%s {}", libc::%s);\n' $(for name in "${names[@]}"; do echo "$name $name"; done) && echo '}'; } >"$folder/program.rs"
    rustc --target $target -C linker=aarch64-linux-gnu-gcc -L "dependency=$built/deps" --extern "libc=$libc" "$folder/program.rs" -o "$folder/program"
    "$folder/program" | cmp - "$folder/of-headers"
    echo "${#names[@]} calls have the numbers of the headers"
}

# Clips and pipes, with noise removed and without: the bytes of this machine.
same_bytes() {
    local clip options
    for clip in coast parking-lot; do
        for options in "--look natural" "--look exact" "--method clahe" "--denoise 0"; do
            # shellcheck disable=SC2086 # several options
            for program in target/debug $built; do
                $program/histeq-video -q --backend cpu --frames 6 $options samples/$clip.mp4 - | sha256sum >"$folder/${program//\//-}"
            done
            cmp "$folder/target-debug" "$folder/${built//\//-}" || fail "$clip $options: other bytes"
            echo "$clip $options: the same bytes"
        done
    done
    for program in target/debug $built; do
        ffmpeg -v error -i samples/coast.mp4 -frames:v 6 -f yuv4mpegpipe - | $program/histeq-video -q --backend cpu - - |
            ffmpeg -v error -i - -f md5 - >"$folder/${program//\//-}"
    done
    cmp "$folder/target-debug" "$folder/${built//\//-}"
    $built/histeq-video live -y -q --backend cpu --no-preview --duration 2 --record "$folder/live.mkv" samples/coast.mp4
    ffprobe -v error -show_entries format=duration "$folder/live.mkv"
}

# samples/equalize.c with the library for C.
in_c() {
    local libraries=(-lgcc_s -lutil -lrt -lpthread -lm -ldl)
    head -c $((98 * 62 * 3 / 2 * 4)) </dev/urandom >"$folder/in.raw"
    aarch64-linux-gnu-gcc -Isrc/c samples/equalize.c $built/libhisteq_capi.a "${libraries[@]}" -o "$folder/c-arm"
    gcc -Isrc/c samples/equalize.c target/debug/libhisteq_capi.a "${libraries[@]}" -o "$folder/c-here"
    for look in natural night exact; do
        "$folder/c-here" yuv420p 98 62 look $look <"$folder/in.raw" >"$folder/c.raw"
        "$folder/c-arm" yuv420p 98 62 look $look <"$folder/in.raw" | cmp - "$folder/c.raw"
    done
}

# The vectors through the module for Python.
in_python() {
    mkdir -p "$folder/python"
    cp $built/libhisteq_python.so "$folder/python/histeq.abi3.so"
    (cd tests/hosts/python && PYTHONHOME=$debian/usr PYTHONPATH=$folder/python:$debian/usr/lib/python3/dist-packages \
        "$debian/usr/bin/python3" -m unittest -v test_conformance)
}

# The package, installed in that Debian, and a clip by it.
in_package() {
    .packaging/deb dev "$debian"
    rm -f "$debian"/root/*.deb
    cp target/debian/*_arm64.deb samples/coast.mp4 "$debian/root/"
    mount -t proc proc "$debian/proc"
    local failed=0
    chroot "$debian" sh -ec '
        dpkg --install /root/histeq-video_*_arm64.deb
        histeq-video --version
        histeq-video -q --backend cpu --frames 6 /root/coast.mp4 - >/root/clear
        dpkg --remove histeq-video' || failed=1
    umount "$debian/proc"
    [ $failed = 0 ] && target/debug/histeq-video -q --backend cpu --frames 6 samples/coast.mp4 - | cmp - "$debian/root/clear"
}

step cargo build --quiet --locked --workspace
step cargo build --quiet --locked --workspace --target $target
step numbers_of_calls
step same_bytes
step in_c
step in_python
step in_package
step run_tests --lib --bins
step run_tests --test core -- conformance denoise
step benches/arm/run.sh
step run_tests --test suite -- media::pipes::raw media::pipes::y4m media::decoding::formats program::colour::curves
echo "all is well on Arm, as far as qemu-user goes"
