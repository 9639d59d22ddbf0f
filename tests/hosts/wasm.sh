#!/usr/bin/env bash
# tests/hosts/wasm.sh [--release [FOLDER]]: the library for browsers: the conformance vectors in Node, and the bytes of the program
# for frames of 720p; says how long these take. With --release, the library is that of users, and the page in Chromium gives the bytes
# of the program for a picture that is dropped, and plays a webcam; the screenshots are kept in FOLDER.
set -euo pipefail
profile=dev
[ "${1:-}" != --release ] || { profile=release && shift; }
kept=${1:+$(realpath -m "$1")}
source "$(dirname "${BASH_SOURCE[0]}")/../support/setup.sh"
set_up nodejs ffmpeg python3
[ $profile = dev ] || install_packages chromium

folder=$(mktemp -d)
trap 'kill "${pids[@]}" 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
pids=()
samples/web/build.sh "$folder/web" $profile
echo "the library has $(stat -c %s "$folder/web/histeq_bg.wasm") bytes, $(gzip -9 <"$folder/web/histeq_bg.wasm" | wc -c) with gzip"

# In Node.
mkdir "$folder/inputs"
tests/hosts/wasm/inputs.py "$folder/inputs"
vectors=tests/core/conformance/vectors.tsv
node tests/hosts/wasm/node.mjs "$folder/web" "$folder/inputs" "$vectors" | tee "$folder/said"
count=$(grep -c '^[^#]' "$vectors")
[ "$count" -gt 200 ] && grep -qx "$((count - 1)) of $((count - 1)) vectors" "$folder/said" || fail "not all vectors were run"

# Beside the program.
cargo build --quiet --locked
program=$(cargo metadata --locked --format-version 1 --no-deps | sed -n 's/.*"target_directory":"\([^"]*\)".*/\1/p')/debug/histeq-video
cd "$folder"
convert() { ffmpeg -hide_banner -nostdin -v error -y "$@"; }
raw() { convert -i "$1" -pix_fmt rgba -f rawvideo "$2"; }
# Frames that are larger than those of the vectors, with noise: sums and products of many samples in words of 32 bits.
convert -i "$OLDPWD/samples/coast.mp4" -frames:v 12 -vf "scale=1280:720,lutyuv=y=val*0.12+14,noise=alls=4:allf=t" \
    -pix_fmt yuv420p -f rawvideo film.raw
"$program" -q --backend cpu -f rawvideo -s 1280x720 --pixel-format yuv420p -r 25 --output-format rawvideo film.raw film-expected.raw
! cmp -s film.raw film-expected.raw || fail "the program changes nothing"
node "$OLDPWD/tests/hosts/wasm/node.mjs" web film film.raw film-found.raw
cmp film-expected.raw film-found.raw || fail "frames of 720p are not the program's"
echo "12 frames of 720p, with noise: the bytes of the program"
[ $profile = release ] || exit 0

# In Chromium.
# Without a profile, which the browser would have it converted by.
convert -ss 2 -i "$OLDPWD/samples/coast.mp4" -frames:v 1 \
    -vf "lutyuv=y=val*0.3+12,format=rgb24,setparams=color_primaries=unknown:color_trc=unknown" picture.png
raw picture.png picture.raw
"$program" -q --backend cpu picture.png natural.png
raw natural.png expected.raw
"$program" -q --backend cpu --look night --strength 0.5 picture.png half.png
raw half.png half.raw
! cmp -s picture.raw expected.raw && ! cmp -s expected.raw half.raw || fail "the program changes nothing"
"$OLDPWD/tests/media/players/serve.py" web >serving &
pids+=($!)
for _ in {1..100}; do
    [ -s serving ] && break
    sleep 0.1
done
node "$OLDPWD/tests/hosts/wasm/chromium.mjs" "http://127.0.0.1:$(head -n 1 serving)" "$folder" | tee said
if [ -n "$kept" ]; then
    mkdir -p "$kept"
    cp ./*.png "$kept"
fi
grep -q '^the page in Chromium: ' said || fail "the page does not do what it has to"
raw saved/picture-equalized.png saved.raw
cmp saved.raw half.raw || fail "the saved picture is not the program's"
# Left of the divider the original, and right of it what the program makes.
raw divided.png divided.raw
python3 - <<'END' || fail "the divider is not where it has to be"
width, height = map(int, open("size").read().split())
files = [open(f"{name}.raw", "rb").read() for name in ("divided", "picture", "expected")]
# Without the divider itself at 30 %, and the rounded corners and names at the edges.
for first, end, own in ((8, int(width * 0.3) - 20, 1), (int(width * 0.3) + 20, width - 8, 2)):
    for y in range(8, height - 48):
        row = slice(4 * (y * width + first), 4 * (y * width + end))
        assert files[0][row] == files[own][row], (first, y)
END
echo "wasm: all vectors in Node, and the bytes of the program in Chromium"
