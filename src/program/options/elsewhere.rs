//! Further options of other programs for `habits`: those whose replacement depends on the command, and those of ffmpeg
//! that clap would read as short ones: `-rtsp_transport` as `-r tsp_transport`.

use super::writing::web::web_address;
use clap::Command;

/// Option names of other programs for the address of a web page.
const ADDRESS: &str = "port p host bind listen address";

/// A command, option names of other commands and programs, and the message about what replaces them in this command.
pub(super) const COMMAND_ANSWERS: &[(&str, &str, &str)] = &[
    (
        "live",
        "target-size max-size max-filesize size-limit target-filesize filesize fs",
        "--segment 1h --keep-size 200G records in files of an hour, and removes the oldest when all have more bytes",
    ),
    (
        "live",
        "output-dir outdir out-dir output-directory output-folder paths destination",
        "--record DIR/cam-%Y%m%d-%H%M%S.mkv --segment 1h records into a folder",
    ),
    ("web", "output-dir outdir out-dir output-directory output-folder", "what is made lies beside its original"),
];

/// Option names of ffmpeg, without the dash, and the message about what replaces them here.
pub(super) const FFMPEG_ANSWERS: &[(&str, &str)] = &[
    ("rtsp-transport rtsp-flags", "RTSP comes over TCP here, and over UDP from servers that have nothing else"),
    (
        "timeout stimeout rw-timeout listen-timeout reconnect reconnect-at-eof reconnect-streamed reconnect-delay-max \
         reconnect-on-network-error reconnect-on-http-error",
        "live comes back by itself to a source that was away, and --wait=T says how long it waits for the first picture",
    ),
    (
        "fflags flags avioflags probesize analyzeduration fpsprobesize max-delay rtbufsize buffer-size fifo-size \
         thread-queue-size reorder-queue-size max-interleave-delta use-wallclock-as-timestamps readrate",
        "live reads without delay by itself",
    ),
    ("stream-loop loop", "a file is read once here; ffmpeg -stream_loop N -i IN -c copy OUT makes one that repeats"),
    ("shortest", "--duration T ends the output here"),
    ("fs", "--target-size SIZE says how large the file may be here"),
    ("sws-flags", "--filter-after scale=W:H:flags=lanczos says how a picture is scaled here"),
    (
        "vsync fps-mode async copyts start-at-zero avoid-negative-ts itsoffset itsscale enc-time-base frame-drop-threshold",
        "frames keep their times here; --filter-after fps=N has N of them a second",
    ),
    ("filter-threads filter-complex-threads", "--threads N says how many work here"),
    (
        "qmin qmax qdiff qcomp rc rc-lookahead row-mt speed deadline cpu-used sc-threshold force-key-frames field-order \
         minrate rc-init-occupancy aq-mode b-pyramid nal-hrd slices",
        "--encoder-option KEY=VALUE sets an option of the encoder here",
    ),
    (
        "video-track-timescale id3v2-version write-tmcd brand frag-duration min-frag-duration hls-time hls-list-size",
        "--output-option KEY=VALUE sets an option of the container here",
    ),
    (
        "ignore-unknown copy-unknown",
        "what the output cannot hold is left out with a warning here, and --strict refuses",
    ),
    ("ar ac sample-fmt frame-size vol filter:a", "sound is passed on as it is here (--for web makes AAC of it)"),
    ("vn dn", "--streams LIST says what is kept beside the video here"),
    ("aspect sar", "--filter-after setdar=16/9 changes the shape of the picture here"),
    ("segment-time segment-format", "live --segment 10m records in files of this length here"),
    ("autorotate noautorotate", "the picture is upright here, as its file says"),
    ("accurate-seek noaccurate-seek seek-timestamp", "--start T begins with the frame that is shown at that time"),
    ("vtag tag:v", "the tag follows from encoder and container here"),
    (
        "init-hw-device filter-hw-device hwaccel-device hwaccel-output-format vaapi-device qsv-device",
        "--gpu N chooses a GPU here, and --decoder nvdec decodes on it",
    ),
    ("vstats vstats-file psnr", "--stats NAME.csv has the figures of each frame here"),
    ("filter-script filter-script:v filter-complex-script", "--filter CHAIN has the filters here"),
];

/// The message about what replaces a word of another program in `command`. `is_it` finds the word in a list of names
/// that are separated by spaces; `given` is the value after the word.
pub(super) fn answer(command: &Command, is_it: impl Fn(&str) -> bool, given: &str) -> Option<String> {
    if is_it(ADDRESS) {
        let address = if !given.is_empty() && web_address(given).is_ok() { given } else { "ADDRESS" };
        let has_page = command.get_arguments().any(|argument| argument.get_long() == Some("web"));
        let place = if has_page { "" } else { " of web, live and preview" };
        return Some(format!("--web={address}{place} says where a browser finds the page"));
    }
    let of_command = COMMAND_ANSWERS.iter().find(|(owner, names, _)| *owner == command.get_name() && is_it(names));
    let of_command = of_command.map(|(.., answer)| *answer);
    let of_ffmpeg = || FFMPEG_ANSWERS.iter().find(|(names, _)| is_it(names)).map(|(_, answer)| *answer);
    of_command.or_else(of_ffmpeg).map(str::to_owned)
}
