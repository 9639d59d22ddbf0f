#!/bin/bash
# What the temporal options do to hard cases, as a Markdown table: benches/looks/looks.sh [CLIP...]
#
# For each case and each set of options: cuts that were found, the largest and the mean change of the curve from frame to
# frame outside of cuts (levels, over the whole curve), the largest within the first half second of a scene, and the
# largest slope. Needs ffmpeg and the built program (HISTEQ_VIDEO, else target/release/histeq-video).
set -eu
program=${HISTEQ_VIDEO:-target/release/histeq-video}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

clip() { # NAME LAVFI-GRAPH
    ffmpeg -nostdin -v error -f lavfi -i "$2" -pix_fmt yuv420p -c:v ffv1 "$folder/$1.mkv"
}
scene="color=gray:s=320x180:r=25:d=4,format=yuv420p,geq=lum='60+X*120/W':cb=128:cr=128,noise=alls=8:allf=t"
object="drawbox=0:0:160:90:color=0x141414:t=fill"
clip 'object after 5 frames' "$scene,$object:enable='between(n,5,24)'"
clip 'object after 25 frames' "$scene,$object:enable='between(n,25,44)'"
clip 'flash' "$scene,drawbox=color=white:t=fill:enable='eq(n,40)'"
clip 'fade from black' "testsrc2=s=320x180:r=25:d=4,format=yuv420p,fade=in:0:50"
clip 'near-black noise' "color=0x010101:s=320x180:r=25:d=4,format=yuv420p,geq=lum='17+floor(random(1)*2)':cb=128:cr=128"
clip 'dark to bright' "color=gray:s=320x180:r=25:d=2,format=yuv420p,geq=lum='20+X*40/W':cb=128:cr=128,noise=alls=6:allf=t[a];\
color=gray:s=320x180:r=25:d=2,format=yuv420p,geq=lum='120+X*100/W':cb=128:cr=128,noise=alls=6:allf=t[b];[a][b]concat"
for real; do
    ffmpeg -nostdin -v error -i "$real" -an -t 8 -c:v ffv1 "$folder/$(basename "${real%.*}").mkv"
done

echo '| case | options | cuts | largest change | mean change | in the first half second | largest slope |'
echo '|---|---|---|---|---|---|---|'
for file in "$folder"/*.mkv; do
    while read -r options; do
        rm -f "$folder/stats.csv"
        # shellcheck disable=SC2086 # options are several words
        "$program" -q -y --backend cpu $options --stats "$folder/stats.csv" --encoder rawvideo "$file" "$folder/out.nut"
        awk -F, -v name="$(basename "${file%.mkv}")" -v options="${options:-(default)}" '
            NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
            {
                scene = $column["scene"]
                if (scene != last) { first = NR; last = scene }
                if ($column["cut"] == "true") cuts++
                if ($column["slope"] > slope) slope = $column["slope"]
                change = $column["curve_change"]
                if ($column["cut"] != "true" && $column["after_flash"] != "true") {
                    sum += change; frames++
                    if (change > largest) largest = change
                    if (NR - first < 13 && change > early) early = change
                }
            }
            END { printf "| %s | `%s` | %d | %.2f | %.3f | %.2f | %d |\n", name, options, cuts, largest, sum / frames, early, slope }
        ' "$folder/stats.csv"
        rm -f "$folder/out.nut"
    done <<'OPTIONS'
--exact
--smooth 1 --set look-ahead=0
--smooth 2 --set look-ahead=0
--smooth 1 --set look-ahead=0.5
--smooth 2 --set look-ahead=1
--smooth 2 --set look-ahead=1 --set scene-threshold=0.1
--smooth 2 --set look-ahead=1 --set scene-threshold=0.3
--smooth 2 --set look-ahead=1 --max-gain 0
--smooth 2 --set look-ahead=1 --max-gain 6
OPTIONS
done
