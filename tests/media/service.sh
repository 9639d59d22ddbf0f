#!/usr/bin/env bash
# tests/media/service.sh [PACKAGE]: the service that the package for Debian has, under Debian 12's own systemd, in a virtual
# machine: it starts, reads its file again, restarts when it hangs or is killed, and ends with whole recordings.
#
# PACKAGE is what .packaging/deb makes, which runs first if none is given. For root, because of debootstrap and chroot.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../support/setup.sh"
source "$(dirname "${BASH_SOURCE[0]}")/../support/machine.sh"
package=${1:+$(realpath "$1")}
set_up debootstrap ffmpeg "${machine_packages[@]}"
[ "$(id -u)" = 0 ] || fail "needs root, for chroot"
[ -n "$package" ] || package=$(.packaging/deb | grep -o '/.*\.deb$')
make_machine

debian=$work/debian
debootstrap --variant=minbase --include=systemd-sysv,dbus,procps,kmod,libnss-systemd bookworm "$debian" >"$work/log" ||
    fail "$(tail "$work/log")"
cp /etc/resolv.conf "$debian/etc/"
cp "$package" "$debian/package.deb"
cp -r "$cache/root/lib/modules" "$debian/lib/"
chroot "$debian" env -i PATH="$PATH" DEBIAN_FRONTEND=noninteractive bash -c '
    apt-get -qq update && apt-get -qq -y --no-install-recommends install /package.deb ffmpeg' >"$work/log" 2>&1 ||
    fail "$(tail "$work/log")"
ffmpeg -v error -f lavfi -i testsrc2=s=160x120:r=2 -t 1800 -c:v mpeg4 -g 2 "$debian/film.ts"
install -m 755 tests/media/service/inside "$debian/inside"
install -m 644 tests/media/service/tried.service "$debian/etc/systemd/system/"
systemctl --root="$debian" enable --quiet tried.service 2>/dev/null || chroot "$debian" systemctl enable --quiet tried.service

# Without udev there, a login on the console would be waited for.
boot "$debian" systemd.getty_auto=no
grep -qx "all is well" "$work/outcome" || fail "the service fell short: see $cache/console.log"

# Two cameras were recorded when it was killed, twice.
mkdir "$work/out"
debugfs -R "rdump /histeq-video $work/out" "$work/disk" 2>/dev/null
whole=0 cut=0
for file in "$work"/out/histeq-video/*.mkv; do
    if [ -z "$(ffmpeg -v error -nostdin -i "$file" -f null - 2>&1)" ]; then whole=$((whole + 1)); else cut=$((cut + 1)); fi
done
echo "$whole recordings are whole, $cut are cut"
[ $whole -ge 8 ] && [ $cut -le 4 ] || fail "of the recordings, at least eight have to be whole, and at most four cut"
