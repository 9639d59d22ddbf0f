#!/usr/bin/env bash
# tests/media/cameras.sh [TEST...]: runs the tests that take cameras (tests/media/cameras), on a Debian 12 that has none.
#
# They run in a virtual machine: Debian's own kernel in QEMU, as software emulation. Its drivers are real: `vivid` (a
# camera that injects faults), `v4l2loopback` (a virtual camera), `uvcvideo` with `vhci-hcd` (a USB webcam that a test
# plugs in and pulls out), `snd-aloop` and `snd-dummy` (sound). The machine sees the files of this one, with a layer in
# memory over them, so what was built here runs there. At the end its power is cut while it records.
#
# Not to be seen there, and left to a real camera: H.264 and HEVC from a camera, isochronous USB transfers and their
# losses, exposure and other controls, cameras that lie about their modes, real-time behaviour at full size.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../support/setup.sh"
[ "$(uname -m)" = x86_64 ] || fail "needs an x86-64 machine: the kernel that it boots is for that"
set_up ffmpeg v4l-utils alsa-utils qemu-system-x86 busybox-static kmod cpio make libelf1 e2fsprogs
PATH+=:/usr/sbin:/sbin

cache=${XDG_CACHE_HOME:-$HOME/.cache}/histeq-video/cameras
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Downloads Debian's kernel, builds v4l2loopback for it, and packs what the machine starts from. Once.
get_kernel() {
    local kernel common kbuild modules module
    kernel=$(apt-cache depends linux-image-amd64 | sed -n 's/.*Depends: linux-image-//p')
    [ -n "$kernel" ] || fail "no linux-image-amd64 in the package lists (this needs Debian, after apt-get update)"
    echo "getting Linux $kernel"
    common=${kernel%-amd64}-common
    kbuild=$(apt-cache depends "linux-headers-$kernel" | sed -n 's/.*Depends: \(linux-kbuild-.*\)/\1/p')
    rm -rf "$cache" && mkdir -p "$cache/root" "$cache/first"/{bin,proc,sys,dev} && cd "$cache"
    apt-get -qq -o APT::Sandbox::User=root download \
        "linux-image-$kernel" "linux-headers-$kernel" "linux-headers-$common" "$kbuild" v4l2loopback-dkms
    for package in ./*.deb; do dpkg-deb -x "$package" root; done
    rm ./*.deb

    # The makefile of the headers wants to lie below /usr/src.
    sed -i "s#/usr/src#$cache/root/usr/src#" "root/usr/src/linux-headers-$kernel/Makefile"
    make -s -C "root/usr/src/linux-headers-$kernel" M="$(echo "$cache"/root/usr/src/v4l2loopback-*)" modules >make.log 2>&1 ||
        fail "v4l2loopback does not compile: see $cache/make.log"
    modules=root/lib/modules/$kernel
    install -D -m 644 root/usr/src/v4l2loopback-*/v4l2loopback.ko "$modules/extra/v4l2loopback.ko"
    depmod -b root "$kernel"

    # What the machine starts from has what it takes to see our files; all other modules are among those.
    cp "$(command -v busybox)" first/bin/
    for module in virtio_pci 9pnet_virtio 9p overlay; do
        sed -n "s#^\(\S*/$module.ko\):#\1#p" "$modules/modules.dep" | tr ' ' '\n'
    done | sort -u | while read -r file; do install -D -m 644 "$modules/$file" "first/lib/modules/$kernel/$file"; done
    depmod -b first "$kernel" 2>/dev/null
    echo "$kernel" >ready
}

[ -e "$cache/ready" ] || (get_kernel)
suite=$(cargo test --locked --no-run --test suite --message-format=json |
    sed -n 's/.*"executable":"\([^"]*\/suite-[^"]*\)".*/\1/p')
{
    printf 'export %s=%q\n' modules "$cache/root" suite "$suite" program "$PWD/target/debug/histeq-video" tests "${*:-media::cameras::}"
    printf 'cd %q\n' "$PWD"
    cat tests/media/cameras/inside
} >"$work/job"
cp tests/media/cameras/init "$cache/first/init"
(cd "$cache/first" && find . | cpio -o -H newc --quiet | gzip -1) >"$work/initrd"
truncate -s 64M "$work/disk"
mke2fs -q -t ext4 "$work/disk"

# Boots the machine and waits for its end; fails where it hangs before the tests have begun, as an emulated one may on a busy
# machine. Its serial ports: the kernel's messages, what the tests print, how they went.
boot() {
    rm -f "$work/outcome"
    timeout 900 qemu-system-x86_64 -accel tcg,thread=multi -cpu max -smp 2 -m 2048 -no-reboot \
        -net none -display none -monitor none \
        -serial "file:$cache/console.log" -serial stdio -serial "file:$work/outcome" \
        -kernel "$cache/root/boot/vmlinuz-$(cat "$cache/ready")" -initrd "$work/initrd" \
        -append "console=ttyS0 quiet panic=-1 mitigations=off job=$work/job" \
        -drive "if=virtio,format=raw,file=$work/disk" \
        -virtfs local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap </dev/null &
    local machine=$! second
    for ((second = 0; second < 120; second++)); do
        if grep -qs begun "$work/outcome" || ! kill -0 $machine 2>/dev/null; then
            wait $machine || true
            return 0
        fi
        sleep 1
    done
    kill $machine
    wait $machine || true
    echo "the machine does not get as far as the tests: see $cache/console.log"
    return 1
}
boot || boot || boot || fail "the machine does not start"
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
