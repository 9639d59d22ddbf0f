#!/usr/bin/env bash
# tests/gpu-bundle.sh OUT [FFMPEG]
#
# Packs the release builds of the program and the integration tests into the folder OUT, with the libraries that they
# need, for a machine that has an NVIDIA driver and neither FFmpeg nor Rust:
#
#   OUT/gpu-suite             all integration tests; a missing GPU is a failure. Takes a test's name, or any other
#                             argument of a Rust test binary
#   OUT/run PROGRAM ARGS...   any of the programs: histeq-video, histeq-lab, and the tests core, lab, suite
#
# FFMPEG is a folder or a tarball whose lib/ (or first level's lib/) holds FFmpeg's shared libraries; by default they
# are this system's. glibc and the driver are the other machine's: it has to have at least this system's glibc.
set -euo pipefail
out=$(realpath -m "${1:?usage: tests/gpu-bundle.sh OUT [FFMPEG]}")
ffmpeg=${2:-${HISTEQ_FFMPEG:-}}
repository=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)

rm -rf "$out"
mkdir -p "$out/bin" "$out/lib"
if [[ -d $ffmpeg ]]; then
    cp -L "$ffmpeg"/lib/*.so* "$out/lib/"
elif [[ -n $ffmpeg ]]; then
    tar -C "$out" --strip-components=1 -xf "$ffmpeg"
fi

cd "$repository"
cargo build --release --locked
target=$(cargo metadata --format-version 1 --no-deps | python3 -c 'import json, sys; print(json.load(sys.stdin)["target_directory"])')
install -m 755 "$target/release/histeq-video" "$target/release/histeq-lab" "$out/bin/"
cargo test --release --locked --workspace --test core --test lab --test suite --no-run --message-format json | python3 -c '
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message.get("executable") and message["target"]["kind"] == ["test"]:
        print(message["executable"], message["target"]["name"])
' | while read -r executable name; do install -m 755 "$executable" "$out/bin/$name"; done
strip --strip-unneeded "$out"/bin/*

# Every library that they need, and that a bare system with a driver does not have.
theirs='^(linux-vdso|ld-linux-x86-64|libc|libm|libdl|libpthread|librt|libresolv|libutil|libstdc\+\+|libgcc_s|libcuda|libnvidia.*|libnvcuvid)\.so'
for program in "$out"/bin/*; do
    LD_LIBRARY_PATH=$out/lib ldd "$program" | awk '/=> \//{print $3}' | while read -r library; do
        name=$(basename "$library")
        [[ $name =~ $theirs || -e $out/lib/$name ]] || cp -L "$library" "$out/lib/$name"
    done
done

cat > "$out/run" <<'RUN'
#!/bin/sh
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
program=$1
shift
PATH=$here/bin:$PATH LD_LIBRARY_PATH=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} exec "$here/bin/$program" "$@"
RUN
cat > "$out/gpu-suite" <<'SUITE'
#!/bin/sh
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
export HISTEQ_REQUIRE=cuda HISTEQ_BIN=$here/bin/histeq-video HISTEQ_LAB_BIN=$here/bin/histeq-lab
failed=0
for tests in core lab suite; do
    "$here/run" $tests --include-ignored "$@" || failed=1
done
exit $failed
SUITE
chmod 755 "$out/run" "$out/gpu-suite"
du -sm "$out" | awk '{print $1 " MB in " $2}'
