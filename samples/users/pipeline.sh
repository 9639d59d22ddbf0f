#!/usr/bin/env bash
# pipeline.sh FOLDER [CLIP...]: equalizes each clip into FOLDER, with events and measurements beside it, as a batch system does.
# It can be run again at any time: what is there is skipped, and only what is whole is there. Exits with 1 if any clip failed.
set -euo pipefail
folder=${1:?a folder for the results}
shift
[ $# -gt 0 ] || set -- "$(dirname "$(realpath "$0")")/../parking-lot.mp4"
mkdir -p "$folder"

failed=0
for clip; do
    name=$folder/$(basename "${clip%.*}")
    code=0
    histeq-video -n --quiet --threads 2 --max-memory 4G --sandbox on --progress-file 3 --stats "$name.csv" \
        "$clip" "$name.mp4" 3>"$name.events" || code=$?
    case $code in
    0) echo "$clip: done" ;;
    3) echo "$clip: was there" ;;
    *)
        # What went wrong is in the last events.
        echo "$clip: failed: $(grep '"event":"error"' "$name.events")"
        failed=1
        ;;
    esac
done
exit $failed
