# Sourced by tests/media/cameras.sh and service.sh: a virtual machine that sees files of this one, with a layer in memory over
# them. It has Debian's own kernel, in QEMU, as software emulation.
[ "$(uname -m)" = x86_64 ] || fail "needs an x86-64 machine: the kernel that it boots is for that"
# What it takes, for `set_up`.
# shellcheck disable=SC2034 # by who sources this
machine_packages=(qemu-system-x86 busybox-static kmod cpio make libelf1 e2fsprogs)
PATH+=:/usr/sbin:/sbin

cache=${XDG_CACHE_HOME:-$HOME/.cache}/histeq-video/cameras
work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$work"' EXIT

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

# What the machine starts from, and an empty disk.
make_machine() {
    [ -e "$cache/ready" ] || (get_kernel)
    cp tests/support/machine-init "$cache/first/init"
    (cd "$cache/first" && find . | cpio -o -H newc --quiet | gzip -1) >"$work/initrd"
    truncate -s 64M "$work/disk"
    mke2fs -q -t ext4 "$work/disk"
}

# boot FOLDER WORDS: boots the machine on the files of FOLDER, with WORDS for its kernel, and waits for its end. One that hangs
# before its work has begun, as an emulated one may on a busy machine, is started again, twice. Its serial ports: the kernel's
# messages, what the work prints, how it went.
boot() {
    boot_once "$@" || boot_once "$@" || boot_once "$@" || fail "the machine does not start"
}
boot_once() {
    rm -f "$work/outcome"
    timeout 1800 qemu-system-x86_64 -accel tcg,thread=multi -cpu max -smp 2 -m 2048 -no-reboot \
        -net none -display none -monitor none \
        -serial "file:$cache/console.log" -serial stdio -serial "file:$work/outcome" \
        -kernel "$cache/root/boot/vmlinuz-$(cat "$cache/ready")" -initrd "$work/initrd" \
        -append "console=ttyS0 quiet panic=-1 mitigations=off $2" \
        -drive "if=virtio,format=raw,file=$work/disk" \
        -virtfs "local,path=$1,mount_tag=host,security_model=none,readonly=on,multidevs=remap" </dev/null &
    local machine=$! second
    for ((second = 0; second < 240; second++)); do
        if grep -qs begun "$work/outcome" || ! kill -0 $machine 2>/dev/null; then
            wait $machine || true
            return 0
        fi
        sleep 1
    done
    kill $machine
    wait $machine || true
    echo "the machine does not get as far as its work: see $cache/console.log"
    return 1
}
