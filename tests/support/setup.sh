# Sourced by samples/run.sh, tests/run.sh and .ci/run: gets a fresh Debian or Ubuntu with a Rust toolchain ready.

# What building takes: a linker, FFmpeg's libraries, and libclang, with which the bindings to them are made.
packages=(gcc pkg-config libclang-dev libavcodec-dev libavformat-dev libavutil-dev libswscale-dev libavfilter-dev libavdevice-dev)

fail() {
    echo "${0##*/}: $*" >&2
    exit 1
}

# Ends the script with a code by which .ci/run knows that this machine cannot take it.
skip() {
    echo "${0##*/}: skipped: $*" >&2
    exit 77
}

# Installs those of $@ that are not there yet.
install_packages() {
    if ! command -v apt-get >/dev/null; then
        echo "no apt-get here: taking for granted what Debian calls $*" >&2
        return
    fi
    local missing=() package as_root=()
    for package; do
        dpkg-query -W -f '${db:Status-Abbrev}' "$package" 2>/dev/null | grep -q '^.i' || missing+=("$package")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || fail "needs root or sudo, once, to install ${missing[*]}"
        as_root=(sudo)
    fi
    echo "installing ${missing[*]}"
    "${as_root[@]}" apt-get -qq update
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get -qq -y --no-install-recommends -o Dpkg::Use-Pty=0 install "${missing[@]}" >/dev/null
}

# Makes sure of a Rust toolchain that is new enough.
find_cargo() {
    command -v cargo >/dev/null || PATH="$HOME/.cargo/bin:$PATH"
    command -v cargo >/dev/null || fail "no cargo here: install Rust from https://rustup.rs"
    local needed found
    needed=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
    found=$(cargo --version | cut -d' ' -f2)
    printf '%s\n' "$needed" "$found" | sort --version-sort --check=quiet ||
        fail "needs Rust $needed or newer, and this is $found: run 'rustup update'"
}

# Gets the machine ready, with $@ beside what building takes, and goes to the top of the repository.
set_up() {
    local script owner
    script=$(realpath "$0")
    cd "$(dirname "${BASH_SOURCE[0]}")/../.."
    owner=$(stat -c %U .)
    if [ "$(id -u)" -eq 0 ] && [ "$owner" != root ] && [ "$owner" = "${SUDO_USER:-}" ]; then
        # Called by way of sudo: only the packages are root's business, the rest is done by the user's own toolchain.
        install_packages "${packages[@]}" "$@"
        exec sudo -u "$owner" -H "$script"
    fi
    find_cargo
    install_packages "${packages[@]}" "$@"
}
