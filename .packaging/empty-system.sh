# Sourced by .packaging/try and .packaging/install: empty systems, and a package that is tried in one. For root.

mounted=()
unmount_all() {
    local place
    for place in "${mounted[@]}"; do umount --recursive "$place" || true; done
    mounted=()
}
trap unmount_all EXIT

mount_at() {
    mkdir -p "$2"
    mount "${@:3}" "$1" "$2"
    mounted=("$2" "${mounted[@]}")
}

# An empty system of release $1 in folder $2.
empty_system() {
    local mirror=http://deb.debian.org/debian options=()
    if [ ! -f "/usr/share/debootstrap/scripts/$1" ] || grep -q ubuntu "/usr/share/debootstrap/scripts/$1"; then
        mirror=http://archive.ubuntu.com/ubuntu
        options=(--components=main,universe)
        [ -f /usr/share/keyrings/ubuntu-archive-keyring.gpg ] || options+=(--no-check-gpg)
    fi
    if [ ! -f "$2/.whole" ]; then
        rm -rf "$2"
        # A release that is newer than debootstrap is set up as its neighbours are.
        local script=()
        [ -f "/usr/share/debootstrap/scripts/$1" ] || script=(gutsy)
        debootstrap --variant=minbase "${options[@]}" "$1" "$2" "$mirror" "${script[@]}" >"$2.log" || fail "$2.log says why"
        touch "$2/.whole"
    fi
    cp /etc/resolv.conf "$2/etc/"
    mount_at proc "$2/proc" -t proc
    mount_at /dev "$2/dev" --rbind
    mount --make-rslave "$2/dev"
}

inside() {
    chroot "$1" /usr/bin/env -i HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive "${@:2}"
}

# Installs package $2 in the empty system $1, equalizes a clip, and takes the package away again.
try_package() {
    rm -f "$1"/root/*.deb
    cp "$2" samples/parking-lot.mp4 "$1/root/"
    inside "$1" apt-get -qq update
    inside "$1" bash -ec '
        cd /root
        apt-get -qq -y install --no-install-recommends ./histeq-video_*.deb man-db >/dev/null
        dpkg-query -W histeq-video
        histeq-video --version
        man histeq-video | grep -q -- --strength
        histeq-video -y parking-lot.mp4 clear.mp4
        frames() { histeq-video -q --look exact --strength 0 --output-format framemd5 --decoder cpu "$1" - | grep ^0; }
        test "$(frames clear.mp4 | wc -l)" -eq 60
        ! diff -q <(frames parking-lot.mp4) <(frames clear.mp4)
        test -s /usr/share/bash-completion/completions/histeq-video
        test -s /lib/systemd/system/histeq-video.service
        # The program and each crate have owners and a licence, and each name of a licence has a text.
        copyright=/usr/share/doc/histeq-video/copyright
        head -n 1 $copyright | grep -q "^Format: https://www.debian.org/.*/copyright-format/1.0/$"
        grep -A 3 "^Files: serde-[0-9.]*/\*$" $copyright | grep -q "^License: Expat or Apache-2.0$"
        count() { grep -c "^$1: " $copyright; }
        test "$(count Files)" -gt 100
        test "$(count Files)" -eq "$(count Copyright)"
        licences=$(sed -n "s/^License: //p" $copyright | tr -s ", " "\n\n" | grep -vxE "or|and|with" | sort -u)
        for licence in $licences; do
            grep -A 1 -x "License: $licence" $copyright | grep -q "^ .*[A-Za-z]"
        done
        apt-get -qq -y remove histeq-video >/dev/null
        # bash remembers where a program was found.
        hash -r
        ! command -v histeq-video >/dev/null'
}
