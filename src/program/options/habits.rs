//! Options of ffmpeg, HandBrake, ImageMagick, yt-dlp, x264 and OBS, which users may type here: those with one meaning
//! are translated, all others are an error that names what to use.

use super::elsewhere;
use super::picture::option_args::is_rare;
use super::values::{seconds, usage};
use super::writing::web::web_address;
use Here::{Is, Says};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, Error};
use histeq::internal::options::OPTIONS;
use histeq_media::ffmpeg::parse_number;
use histeq_media::sys::files::Name;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// What an option or a value of another program means here.
#[derive(Clone, Copy)]
enum Here {
    /// Translates to this option or value.
    Is(&'static str),
    /// No translation; the message names what to use.
    Says(&'static str),
}

const FILTERS: &str = "--filter CHAIN filters before equalization here, and --filter-after CHAIN behind it";
const SIZE: &str = "--fit 1280x720 scales the video down here, and --filter-after scale=W:H to any size; --size is \
                    that of cameras and raw frames";
const RATE: &str = "--filter-after fps=N has N frames a second here; --rate is that of cameras, raw frames and images";
const SOUND: &str = "sound is passed on as it is here (--for web makes AAC of it)";
const SUBTITLES: &str = "subtitles are passed on as they are here";
const ENCODER: &str = "--encoder-option KEY=VALUE sets an option of the encoder here";
const RESUME: &str = "--jobs N goes on where an interrupted run stopped, when it is called again";
const KERNELS: &str = "kernels are chosen in studies of them: histeq-lab stages --help";
const KEEP: &str = "live --segment 1h --keep 7d --keep-size 200G records for years: how long, and how much";
const START: &str = "--start T says where the part begins here, in seconds or as 1:30";
const END: &str = "--duration T says how long the part is, from --start T on";
const LIGHT: &str = "what is dark is lit by itself here; --look night is sure that it is dark, and --filter-after \
                     eq=gamma=1.3 makes any file brighter";

/// Option names of other programs, separated by spaces, without dashes; one with a dash matches that spelling only.
const WORDS: &[(&str, Here)] = &[
    ("c:v codec:v vcodec codec video-codec e", Is("--encoder")),
    ("encoder-preset", Is("--preset")),
    ("b b:v vb video-bitrate", Is("--bitrate")),
    ("q:v qscale qscale:v qp cq cqp rf", Is("--crf")),
    ("ss seek from start-time", Is("--start")),
    ("t length", Is("--duration")),
    ("pix-fmt", Is("--output-pixel-format")),
    ("depth bits bit-depth", Is("--output-depth")),
    ("frames:v vframes", Is("--frames")),
    ("cores cpus num-threads", Is("--threads")),
    ("j workers parallel", Is("--jobs")),
    ("movflags", Is("--output-option=movflags")),
    ("lut3d cube apply-lut", Is("--lut")),
    ("max-size max-filesize size-limit target-filesize filesize", Is("--target-size")),
    ("outdir out-dir output-directory output-folder paths destination", Is("--output-dir")),
    ("in infile input-file", Is("--input")),
    ("out outfile output-file", Is("--output")),
    ("overwrite overwrite-output force force-overwrites yes", Is("-y")),
    ("no-overwrite no-overwrites no-clobber skip-existing", Is("-n")),
    ("simulate dryrun info probe", Is("--dry-run")),
    ("silent no-warnings", Is("-q")),
    ("debug", Is("-v")),
    ("vf filter:v filter-complex lavfi video-filter", Says(FILTERS)),
    ("resolution scale resize width height w maxwidth maxheight max-resolution video-size", Says(SIZE)),
    ("fps framerate frame-rate r:v", Says(RATE)),
    ("crop", Says("--filter crop=W:H:X:Y crops here, and --roi looks at a part alone")),
    (
        "rotate transpose flip mirror hflip vflip",
        Says("--filter-after transpose=1, hflip or vflip turns the picture here"),
    ),
    ("stabilize stabilise deshake vidstab", Says("--filter deshake steadies the picture here")),
    ("deinterlace yadif bwdif decomb", Says("--filter yadif deinterlaces here")),
    ("sharpen sharpness unsharp", Says("--filter-after unsharp sharpens here")),
    ("saturation vibrance modulate", Says("--filter-after eq=saturation=1.3 has stronger colours here")),
    ("watermark logo overlay drawtext", Says("--filter-after CHAIN draws into the picture here, as ffmpeg -vf does")),
    ("brightness brighten brighter lighten exposure gamma auto-gamma", Says(LIGHT)),
    (
        "contrast contrast-stretch sigmoidal-contrast",
        Says(
            "contrast is set by itself here; --look faithful adds none, and --filter-after eq=contrast=1.2 more of it, \
             in files",
        ),
    ),
    ("low-light lowlight dark night-vision", Says("--look night is sure that it is dark")),
    ("dehaze defog", Says("--look haze is sure of haze, fog or smoke")),
    (
        "white-balance wb awb color-balance colour-balance",
        Says("a colour cast goes by itself here; --look underwater is sure that there is one"),
    ),
    (
        "normalize equalize auto auto-level enhance",
        Says("that is done by itself here; --exact is textbook equalization of each frame"),
    ),
    (
        "noise low-noise nr noise-reduction denoiser nlmeans hqdn3d",
        Says("noise goes by itself where it would be seen; --denoise S says how much of it, 0 to 1"),
    ),
    ("grayscale greyscale monochrome bw", Says("--set gray writes luma alone")),
    ("hdr sdr tonemap to-sdr hdr-to-sdr", Says("HDR stays HDR here; --for web makes SDR of it")),
    ("export-lut save-lut write-lut export-curves", Says("--save-curves NAME.cube writes tables for grading programs")),
    ("af c:a acodec b:a ab aencoder audio audio-bitrate audio-codec audio-quality sound", Says(SOUND)),
    ("an no-audio noaudio no-sound mute", Says("--streams -a leaves the sound out here")),
    ("c:s scodec subtitle subtitles subs", Says(SUBTITLES)),
    ("sn no-subtitles no-subs", Says("--streams -s leaves the subtitles out here")),
    ("map", Says("--video-stream N chooses the video here, and --streams LIST what is kept beside it")),
    ("map-metadata metadata map-chapters chapters", Says("metadata and chapters are copied here")),
    ("c", Says("--encoder NAME chooses the encoder of the video here; all other streams are copied")),
    ("nvenc", Says("--encoder h264_nvenc or hevc_nvenc encodes on a GPU here")),
    (
        "tune profile profile:v g keyint bframes bf refs x264-params x265-params x264opts encopts encoder-tune \
         encoder-profile encoder-level maxrate vbv-maxrate",
        Says(ENCODER),
    ),
    ("quality", Says("--crf Q sets the quality here, on the encoder's own scale")),
    ("pass two-pass 2-pass multi-pass turbo", Says("--target-size SIZE has two passes here")),
    (
        "container muxer merge-output-format remux-video recode-video",
        Says("the name of the output decides its container here"),
    ),
    ("O optimize faststart", Says("mp4 and mov files have their index in front here")),
    ("Z", Says("--for web makes what browsers and phones play, and --for edit what editors take")),
    ("start-at", Says(START)),
    ("to end end-time stop-at until", Says(END)),
    ("trim cut clip", Says("--start T and --duration T take a part here")),
    ("recursive recurse batch R", Says("--output-dir DIR FOLDER equalizes the videos of a folder and of those in it")),
    ("resume continue", Says(RESUME)),
    ("re", Says("histeq-video live keeps the pace of a source; files and pipes are read as fast as they come")),
    ("hwaccel hwdec hw-decoding enable-hw-decoding", Says("--decoder nvdec decodes on a GPU here")),
    ("cuda use-gpu gpu-id device", Says("--gpu N chooses a GPU here, and --backend cuda is an error without one")),
    ("decoders", Says("--decoder nvdec:N or cpu:N says how many work at once")),
    ("-progress", Says("--progress json prints events here, and --progress-file NAME writes them into a file")),
    ("log-file logfile report", Says("--progress-file NAME writes events into a file here, as lines of JSON")),
    ("loglevel log-level verbosity", Says("-q prints errors alone, and -v details")),
    (
        "encoders codecs list-encoders devices list-devices",
        Says("histeq-video devices lists encoders, GPUs and cameras"),
    ),
    ("camera webcam cam", Says("histeq-video live takes cameras and streams")),
    (
        "startrecording startstreaming startvirtualcam",
        Says("histeq-video live records (--record FILE), streams (--output URL) and is a camera (--loopback DEV)"),
    ),
    (
        "gui ui window show play page browser grid",
        Says("histeq-video web shows files on a page and makes them, and live --web cameras"),
    ),
    ("difference", Says("ffmpeg -i A -i B -lavfi blend=all_mode=difference OUTPUT shows how far two videos are apart")),
    ("scan", Says("--dry-run says what a file is and becomes here, and histeq-lab --scan KERNEL chooses a kernel")),
    ("block-size pixels-per-thread", Says(KERNELS)),
    ("histogram statistics report-file", Says("--stats NAME.html, .csv or .jsonl has the figures of each frame")),
    ("days retention keep-days quota disk-limit max-age", Says(KEEP)),
    ("token password auth", Says("--web-token FILE keeps the token of --web")),
    ("timestamp clock", Says("live --osd '%F %T' writes the time into the picture")),
    ("lossless", Says("--for archive loses nothing (FFV1 in .mkv)")),
    ("flicker antiflicker anti-flicker", Says("--method deflicker takes out flicker")),
    ("whatsapp", Says("--for web --target-size 16M is what WhatsApp takes")),
    ("cpu no-gpu", Says("--backend cpu works without a GPU")),
    ("no-denoise", Says("--denoise 0 leaves the noise in")),
];

/// Options of this program, names of other programs for their values, and what these mean here.
const VALUES: &[(&str, &str, Here)] = &[
    ("for", "youtube vimeo", Says("--for web --fit off keeps the size, which they want")),
    ("for", "whatsapp", Says("--for web --target-size 16M is what WhatsApp takes")),
    ("for", "discord", Says("--for web --target-size 10M is what Discord takes")),
    ("for", "email mail", Says("--for web --target-size 20M is what most mail servers take")),
    (
        "for",
        "instagram facebook tiktok telegram signal messenger twitter x mastodon bluesky reddit",
        Says("--for web is what it takes; --target-size SIZE keeps to its limit"),
    ),
    ("for", "phone mobile iphone android tablet browser", Says("--for web is what phones, tablets and browsers play")),
    (
        "for",
        "tv television bluray kodi plex",
        Says("--for quality is for a large screen (H.265), and --for web what any of them plays (H.264)"),
    ),
    (
        "for",
        "davinci resolve premiere finalcut avid editing prores dnxhr",
        Says("--for edit makes ProRes in .mov, which programs for editing take"),
    ),
    ("for", "archiving lossless preservation", Says("--for archive loses nothing (FFV1 in .mkv)")),
    ("for", "gif", Says("an output whose name ends in .gif is one")),
    (
        "for",
        "h264 h265 hevc mp4 webm mkv",
        Says("--encoder NAME chooses the encoder, and the name of the output its container"),
    ),
    (
        "look",
        "dark lowlight low-light nightvision night-vision infrared ir",
        Says("--look night is sure that it is dark; without it, what is dark is lit as well"),
    ),
    ("look", "none off", Says("--strength 0 leaves the picture as it is")),
    ("look", "flicker deflicker film old vintage", Says("--method deflicker takes out flicker")),
    ("look", "astro stars", Says("--method asinh and midtones bring up what is faint")),
    ("encoder", "x264", Is("libx264")),
    ("encoder", "x265", Is("libx265")),
    ("encoder", "h.264 avc", Is("h264")),
    ("encoder", "h265 h.265", Is("hevc")),
    ("encoder", "svt_av1 svt-av1 svtav1", Is("libsvtav1")),
    ("encoder", "nvenc_h264", Is("h264_nvenc")),
    ("encoder", "nvenc_h265 nvenc_hevc", Is("hevc_nvenc")),
    ("encoder", "nvenc", Says("h264_nvenc and hevc_nvenc are the encoders of NVIDIA's GPUs")),
    ("encoder", "qsv_h264", Is("h264_qsv")),
    ("encoder", "mjpg jpeg", Is("mjpeg")),
    (
        "encoder",
        "prores_hq prores-hq proreshq",
        Says("--encoder prores_ks --encoder-option profile=hq makes it, in a .mov file"),
    ),
    ("encoder", "dnxhr dnxhr_hq", Says("--encoder dnxhd --encoder-option profile=dnxhr_hq makes it, in a .mov file")),
    ("encoder", "lossless", Says("--encoder ffv1 loses nothing, in an .mkv file")),
    ("encoder", "copy", Says("what is equalized is encoded again; all other streams are copied")),
    ("output-pixel-format pixel-format", "bgr", Is("bgr24")),
    ("output-pixel-format pixel-format", "rgb", Is("rgb24")),
    ("output-pixel-format pixel-format", "grey mono luma", Is("gray")),
    ("output-pixel-format pixel-format", "yuv420 i420 420", Is("yuv420p")),
    ("output-pixel-format pixel-format", "yuv422 422", Is("yuv422p")),
    ("output-pixel-format pixel-format", "yuv444 444", Is("yuv444p")),
    ("output-pixel-format pixel-format", "yuyv yuy2", Is("yuyv422")),
    ("output-pixel-format", "10bit 10-bit", Says("--output-depth 10 has 10 bits")),
];

/// Options that state a default of this program: they are left out.
const DEFAULTS: [&str; 4] = ["-hide_banner", "-nostdin", "-stats", "-nostats"];

/// Options with a value that state a default of this program.
const DEFAULTS_WITH_VALUE: [(&str, &str); 9] = [
    ("-c:a", "copy"),
    ("-acodec", "copy"),
    ("-c:s", "copy"),
    ("-scodec", "copy"),
    ("-map", "0"),
    ("-map_metadata", "0"),
    ("-strict", "experimental"),
    ("-strict", "unofficial"),
    ("-strict", "-2"),
];

/// Levels that FFmpeg's `-v` takes, with the options that replace them; `-v` alone is an option of this program.
const LEVELS: [(&str, Option<&str>); 9] = [
    ("quiet", Some("-q")),
    ("panic", Some("-q")),
    ("fatal", Some("-q")),
    ("error", Some("-q")),
    ("warning", None),
    ("info", None),
    ("verbose", Some("-v")),
    ("debug", Some("-v")),
    ("trace", Some("-v")),
];

/// Options that introduce the names of input and output.
const NAMED: [&str; 4] = ["-i", "--input", "-o", "--output"];

/// Names of a command that would restore the original, which does not exist.
const UNDO: [&str; 4] = ["restore", "undo", "revert", "reset"];

/// Translates the options of other programs in `words`.
///
/// # Errors
/// When an option has no translation: the message names what to use.
pub(super) fn understood(program: &Command, words: Vec<OsString>) -> Result<Vec<OsString>, Error> {
    // `bench`, `run` and others have few options, and other programs lack these commands.
    let first = words.get(1).and_then(|word| word.to_str()).unwrap_or_default().to_owned();
    let first = first.as_str();
    if let ("bench", Some(word)) = (first, words.get(2)) {
        let word = word.display();
        let answer = format!("bench {word}: bench alone measures this machine; histeq-lab {word} does that now");
        return Err(usage(ErrorKind::UnknownArgument, &answer));
    }
    if ["bench", "run", "join", "status", "devices", "completions", "man", "help"].contains(&first) {
        return Ok(words);
    }
    if UNDO.contains(&first) && !Path::new(first).exists() {
        let answer = "nothing is undone: the video that was equalized is as it was, and keeps its samples";
        return Err(usage(ErrorKind::InvalidSubcommand, &format!("{first}: {answer}")));
    }
    let known = program.find_subcommand(first);
    let (command, is_main) = (known.unwrap_or(program), known.is_none());
    // `live` has an option -o of its own.
    let has_output = find(command, "-o").is_some();
    let (mut inputs, mut is_raw, mut names, mut outputs) = (0, false, Vec::new(), Vec::new());
    let mut rest = words.into_iter();
    let mut options: Vec<OsString> = rest.by_ref().take(if is_main { 1 } else { 2 }).collect();
    while let Some(word) = rest.next() {
        if word == "--" {
            options.push(word);
            break;
        }
        let Some((typed, inline)) = parts(&word) else {
            names.push(word.clone());
            options.push(word);
            continue;
        };
        let next = rest.as_slice().first();
        is_raw |= typed == "-f" && next.is_some_and(|next| next == "rawvideo");
        let given = inline.as_ref().or(next).and_then(|value| value.to_str()).unwrap_or_default().to_owned();
        if DEFAULTS.contains(&typed.as_str()) {
            continue;
        }
        if inline.is_none() && DEFAULTS_WITH_VALUE.contains(&(typed.as_str(), given.as_str())) {
            rest.next();
            continue;
        }
        // FFmpeg's `-v LEVEL`, HandBrake's `-q NUMBER`, and `-f` after an input, for the output's format. If a file
        // of the value's name exists, the value is an input.
        let stands_alone = inline.is_none() && !Path::new(&given).exists();
        let level = LEVELS.iter().find(|(level, _)| stands_alone && *level == given);
        if let ("-v" | "-loglevel", Some((_, ours))) = (typed.as_str(), level) {
            rest.next();
            options.extend(ours.map(OsString::from));
            continue;
        }
        let ours = match typed.as_str() {
            "-q" if stands_alone && given.parse::<f64>().is_ok() => "--crf".to_owned(),
            "-f" if inputs > 0 && first != "live" => "--output-format".to_owned(),
            // Before the input, these options describe its raw frames.
            "-pix_fmt" | "-video_size" | "-s:v" | "-framerate" if is_raw && inputs == 0 && names.is_empty() => {
                match typed.as_str() {
                    "-pix_fmt" => "--pixel-format".to_owned(),
                    "-framerate" => "-r".to_owned(),
                    _ => "-s".to_owned(),
                }
            }
            _ => meant(program, command, &typed, (&word, &given))
                .map_err(|answer| usage(ErrorKind::UnknownArgument, &format!("{typed}: {answer}")))?,
        };
        match ours.as_str() {
            "-i" | "--input" => {
                inputs += 1;
                let inline = inline.map(as_name);
                options.extend(inline.clone());
                names.extend(inline);
                continue;
            }
            // The output's name moves to the end.
            "-o" | "--output" if !has_output => {
                let name = match (inline, next) {
                    (Some(inline), _) => as_name(inline),
                    (None, Some(next)) if parts(next).is_none() => rest.next().unwrap_or_default(),
                    _ => {
                        let answer = format!("{typed}: the name of the output is missing behind it");
                        return Err(usage(ErrorKind::InvalidValue, &answer));
                    }
                };
                outputs.push(name);
                continue;
            }
            _ => {}
        }
        let argument = find(command, &ours).filter(|argument| argument.get_action().takes_values());
        let long = argument.and_then(Arg::get_long).unwrap_or_default();
        let value = value_here(long, &given, is_main).map_err(|answer| usage(ErrorKind::InvalidValue, &answer))?;
        let needs_equals = argument.is_some_and(Arg::is_require_equals_set);
        if inline.is_some() || ours.contains('=') || needs_equals && stands_apart(long, &given) {
            let given = inline.or_else(|| rest.next()).unwrap_or_default();
            let given = value.map_or(given, OsString::from);
            // If the option takes no value, clap reports that.
            options.push(Name::from_parts([&ours, &"=", &given]).into());
            continue;
        }
        options.push(ours.into());
        let mut values = argument.filter(|_| !needs_equals).map_or(0, values_of);
        if let Some(value) = value {
            rest.next();
            options.push(value.into());
            values = values.saturating_sub(1);
        }
        options.extend(rest.by_ref().take(values));
    }
    let is_folder = |word: &OsString| word.as_bytes().starts_with(b"--output-dir");
    if inputs > 1 && !["compare", "preview", "live", "web"].contains(&first) && !options.iter().any(is_folder) {
        let answer = "-i: one input makes one output here; --output-dir DIR takes many";
        return Err(usage(ErrorKind::TooManyValues, answer));
    }
    match without_quotes(&names) {
        Some((first, whole)) => {
            let answer =
                format!("{first}: no such file, but {} is there: a name with spaces needs quotes", whole.quoted());
            Err(usage(ErrorKind::ValueValidation, &answer))
        }
        None => Ok(options.into_iter().chain(rest).chain(outputs).collect()),
    }
}

/// `name` in a form that is not read as an option: `./-a` for `-a`.
fn as_name(name: OsString) -> OsString {
    match parts(&name) {
        Some(_) => Path::new(".").join(name).into(),
        None => name,
    }
}

/// The option in `word`, and the value after its equals sign; `None` if the word is a name.
fn parts(word: &OsStr) -> Option<(String, Option<OsString>)> {
    let bytes = word.as_bytes();
    let is_option = bytes.len() > 1 && bytes.starts_with(b"-");
    let place = bytes.iter().position(|byte| *byte == b'=').unwrap_or(bytes.len());
    let name = std::str::from_utf8(&bytes[..place]).ok().filter(|_| is_option)?;
    Some((name.to_owned(), bytes.get(place + 1..).map(|value| OsStr::from_bytes(value).to_owned())))
}

/// The option of `command` of this name.
fn find<'a>(command: &'a Command, name: &str) -> Option<&'a Arg> {
    command.get_arguments().find(|argument| match name.strip_prefix("--") {
        Some(long) => {
            let is_alias = argument.get_all_aliases().is_some_and(|aliases| aliases.contains(&long));
            argument.get_long() == Some(long) || is_alias
        }
        None => argument.get_short().is_some_and(|short| name.strip_prefix('-') == Some(short.to_string().as_str())),
    })
}

/// How many of the words after an option are its values.
fn values_of(argument: &Arg) -> usize {
    argument.get_num_args().map_or(1, |count| count.max_values())
}

/// The option of `command` that `typed` means, which may be another program's name for it. `word` is the whole word,
/// `given` the option's value.
///
/// # Errors
/// When there is none: a message that names what to use.
fn meant(program: &Command, command: &Command, typed: &str, (word, given): (&OsStr, &str)) -> Result<String, String> {
    if find(command, typed).is_some() || NAMED.contains(&typed) {
        return Ok(typed.to_owned());
    }
    let bare = typed.trim_start_matches('-').replace('_', "-");
    let bare = if bare.len() > 1 { bare.to_lowercase() } else { bare };
    let is_it = |names: &str| names.split(' ').any(|name| name == typed || name == bare);
    if let Some(answer) = elsewhere::answer(command, is_it, given) {
        return Err(answer);
    }
    let mut long = format!("--{bare}");
    match WORDS.iter().find(|(names, _)| is_it(names)) {
        Some((_, Is(ours))) => {
            let name = ours.split('=').next().unwrap_or_default();
            if NAMED.contains(&name) || find(command, name).is_some() {
                return Ok((*ours).to_owned());
            }
            // Another command may have this option.
            long = name.to_owned();
        }
        Some((_, Says(answer))) => return Err((*answer).to_owned()),
        None => {}
    }
    if find(command, &long).is_some() {
        return Ok(long);
    }
    if is_rare(&bare) {
        return Err(format!("--set {bare}=VALUE says that here"));
    }
    if let Some(ours) = value_as_option(&long) {
        return Err(format!("{ours} says that here"));
    }
    if Path::new(word).exists() {
        let path = Name::from_parts([&"./", &word]).quoted();
        return Err(format!("a file whose name begins with a dash: {path} names it, and ./* all of them"));
    }
    let commands = [program].into_iter().chain(program.get_subcommands());
    let has_it = |command: &&Command| find(command, &long).is_some_and(|argument| !argument.is_hide_set());
    let rest: Vec<&str> = commands.filter(has_it).map(Command::get_name).collect();
    match rest.first() {
        None => Ok(typed.to_owned()),
        Some(other) => {
            let command = if *other == program.get_name() { String::new() } else { format!(" {other}") };
            Err(format!("it is an option of {} ({}{command} {long})", rest.join(", "), program.get_name()))
        }
    }
}

/// The value of this program for a value of another program; `None` if `given` is not one.
///
/// # Errors
/// When there is no such value here: a message that names what to use.
fn value_here(option: &str, given: &str, is_main: bool) -> Result<Option<&'static str>, String> {
    let is_more_than_all = || given.parse::<f64>().is_ok_and(|share| share > 1.0);
    if is_main && option == "strength" && is_more_than_all() {
        return Err(format!(
            "--strength is a number from 0 to 1, which is all of the correction, not {given} ({LIGHT})"
        ));
    }
    let has_unit = given.ends_with(|last: char| last.is_ascii_alphabetic());
    if is_main && option == "size" && has_unit && parse_number(given).is_some() {
        let answer = "says how large the file may be; --size is that of raw frames";
        return Err(format!("--size {given}: --target-size {given} {answer}"));
    }
    let given = given.to_lowercase();
    let is_it = |names: &str, name: &str| names.split(' ').any(|other| other == name);
    match VALUES.iter().find(|(options, names, _)| is_it(options, option) && is_it(names, &given)) {
        Some((.., Is(ours))) => Ok(Some(*ours)),
        Some((.., Says(answer))) => Err(format!("--{option} {given}: {answer}")),
        None => Ok(None),
    }
}

/// Whether the word after an option that needs an equals sign is its value, and not the name of a camera.
fn stands_apart(option: &str, given: &str) -> bool {
    let is_value = match option {
        "web" => web_address(given).is_ok(),
        "wait" => seconds(given).is_ok(),
        _ => false,
    };
    is_value && !given.is_empty() && !Path::new(given).exists()
}

/// The first of several words that, joined by spaces, are the name of an existing file, and that name.
fn without_quotes(names: &[OsString]) -> Option<(Name, Name)> {
    const MAX_WORDS: usize = 20;
    let whole = |begin: usize| {
        let ends = begin + 2..=names.len().min(begin + MAX_WORDS);
        ends.map(|end| names[begin..end].join(OsStr::new(" "))).find(|whole| Path::new(whole).exists())
    };
    let missing = (0..names.len()).filter(|&begin| !Path::new(&names[begin]).exists());
    missing.into_iter().find_map(|begin| Some((Name::from(&names[begin]), whole(begin)?.into())))
}

/// `words` with requests for help in the form that clap knows: `help`, `-h live` and `live help` are translated.
pub(super) fn asked(program: &Command, words: Vec<OsString>) -> Vec<OsString> {
    let is_command = |name: &str| program.find_subcommand(name).is_some();
    let texts: Vec<&str> = words.iter().skip(1).filter_map(|word| word.to_str()).collect();
    let asked = match texts[..] {
        ["help"] => vec!["-h"],
        [help @ ("-h" | "--help"), command] if is_command(command) => vec![command, help],
        [command, "help"] if is_command(command) && !Path::new("help").exists() => vec![command, "--help"],
        _ => return words,
    };
    words.iter().take(1).cloned().chain(asked.into_iter().map(OsString::from)).collect()
}

/// The option that has the name of this one as a value: `--look night` for `--night`.
fn value_as_option(word: &str) -> Option<String> {
    let name = word.strip_prefix("--")?.to_lowercase();
    ["look", "method"].into_iter().find_map(|kind| {
        let option = OPTIONS.iter().find(|option| option.name == kind)?;
        // `--exact` is an option of its own.
        let is_value = name != "exact" && option.choices().iter().any(|(choice, _)| *choice == name);
        is_value.then(|| format!("--{kind} {name}"))
    })
}

/// Other words for commands.
const COMMANDS: [(&str, &str); 6] = [
    ("camera", "live"),
    ("webcam", "live"),
    ("record", "live"),
    ("stream", "live"),
    ("diff", "compare"),
    ("version", "--version"),
];

/// The command of `program` that a mistyped word may mean.
pub(super) fn similar_command(program: &Command, word: &str) -> Option<String> {
    if let Some((_, command)) = COMMANDS.iter().find(|(theirs, _)| *theirs == word) {
        return Some((*command).to_owned());
    }
    let commands = Command::new("").subcommands(program.get_subcommands().cloned());
    let error = commands.try_get_matches_from(["", word]).err()?;
    let similar = match error.get(ContextKind::SuggestedSubcommand)? {
        ContextValue::Strings(names) => names.clone(),
        ContextValue::String(name) => vec![name.clone()],
        _ => return None,
    };
    // Few people mistype the first letter: `tapes`, for example, does not mean `status`.
    similar.into_iter().find(|name| name.chars().next() == word.chars().next())
}

/// The short help (`-h`), on 24 lines.
pub(super) const SHORT_HELP: &str = "\
Bring out what is hidden in dark, hazy or flat video

Usage: histeq-video [OPTIONS] <INPUT> [OUTPUT]

  histeq-video dark.mp4                    makes dark-equalized.mp4
  histeq-video preview dark.mp4            draws every look on one sheet
  histeq-video --output-dir clear holiday  equalizes the videos of a folder

Options:
      --look <LOOK>       natural, night, haze, underwater, faithful, ...
      --strength <S>      Share of the correction to apply, 0 to 1
      --start <T>         Start at this time of the input, like 90 or 1:30
      --duration <T>      Stop after this long
      --for <PURPOSE>     What it is for: web, archive, edit or quality
      --output-dir <DIR>  Equalize many files and folders into this folder
      --dry-run           Say what would be done, and write nothing
  -y                      Overwrite an existing output

Commands: web (all of it on a page), live (a camera), preview, compare
  of specialists: plan, run, join, status, bench, devices, completions, man

histeq-video --help shows all options, exit codes and more examples, and
histeq-video COMMAND --help those of a command.
";

/// What is printed without arguments: the examples of the short help.
pub fn examples() -> String {
    let end = SHORT_HELP.find("\nOptions:").unwrap_or(SHORT_HELP.len());
    format!("{}\nhisteq-video -h lists what most people need.\n", &SHORT_HELP[..end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Args;
    use clap::CommandFactory;

    #[test]
    fn what_other_programs_have_is_no_option_here_and_what_it_is_here_is_one() {
        let program = Args::command();
        let any = |name: &str| {
            [&program].into_iter().chain(program.get_subcommands()).any(|command| find(command, name).is_some())
        };
        let mut known: Vec<&str> = Vec::new();
        for (names, here) in WORDS {
            for name in names.split(' ') {
                assert!(!known.contains(&name), "{name} stands twice");
                known.push(name);
                let is_exact = name.starts_with('-');
                let typed = if is_exact { name.to_owned() } else { format!("--{name}") };
                assert!(find(&program, &typed).is_none(), "{typed} is an option");
            }
            match here {
                Is(ours) => {
                    let ours = ours.split('=').next().unwrap_or_default();
                    assert!(NAMED.contains(&ours) || find(&program, ours).is_some(), "{ours}");
                }
                Says(answer) => {
                    named(answer).for_each(|name| assert!(any(&name) || name == "--scan", "{answer}: {name}"))
                }
            }
        }
        let of_commands =
            elsewhere::COMMAND_ANSWERS.iter().map(|(owner, names, answer)| (Some(*owner), *names, *answer));
        let of_ffmpeg = elsewhere::FFMPEG_ANSWERS.iter().map(|(names, answer)| (None, *names, *answer));
        for (owner, names, answer) in of_commands.chain(of_ffmpeg) {
            for name in names.split(' ') {
                let has_it = |command: &Command| {
                    owner.is_none_or(|owner| command.get_name() == owner)
                        && find(command, &format!("--{name}")).is_some()
                };
                let mut commands = [&program].into_iter().chain(program.get_subcommands());
                assert!(!commands.any(has_it), "--{name} is an option");
                assert!(owner.is_some() || !known.contains(&name), "{name} stands twice");
            }
            named(answer).for_each(|name| assert!(any(&name), "{answer}: {name}"));
        }
        for (options, _, here) in VALUES {
            options.split(' ').for_each(|option| assert!(any(&format!("--{option}")), "{option}"));
            if let Says(answer) = here {
                named(answer).for_each(|name| assert!(any(&name), "{answer}: {name}"));
            }
        }
    }

    #[test]
    fn words_with_one_meaning_are_translated_and_values_are_left_alone() {
        fn words(line: &str) -> Vec<&str> {
            ["histeq-video"].into_iter().chain(line.split(' ')).collect()
        }
        let program = Args::command();
        for (line, ours) in [
            ("-i a.mov --output=b.mov", "a.mov b.mov"),
            ("--input=a.mov --out b.mov", "a.mov b.mov"),
            ("-ss 5 -t=9 --vcodec=x265 a b", "--start 5 --duration=9 --encoder=libx265 a b"),
            ("--max_gain 2 -look night a b", "--max-gain 2 --look night a b"),
            ("--force --max-size 16M --silent a b", "-y --target-size 16M -q a b"),
            ("-movflags +faststart a b", "--output-option=movflags=+faststart a b"),
            ("--output-pixel-format bgr a b", "--output-pixel-format bgr24 a b"),
            // Values that look like options are kept.
            ("--streams -t --sample-range -1:2 a b", "--streams -t --sample-range -1:2 a b"),
            ("--one-of -an -ss --made-up", "--one-of -an -ss --made-up"),
            ("-strict -2 -i a b", "a b"),
            ("web --web 8125 --workers 2 -i a", "web --web 8125 --jobs 2 a"),
            ("live --web 8125 --wait 1m cam", "live --web=8125 --wait=1m cam"),
            ("preview --web 0.0.0.0:80 a.mov", "preview --web=0.0.0.0:80 a.mov"),
            ("live --web cam --audio default --output=-", "live --web cam --audio default --output=-"),
            ("a -- -ss b", "a -- -ss b"),
        ] {
            let typed = words(line).into_iter().map(OsString::from).collect();
            let found = understood(&program, typed).unwrap_or_else(|error| panic!("{line}: {error}"));
            assert_eq!(found, words(ours), "{line}");
        }
    }

    /// The options that an answer mentions.
    fn named(answer: &str) -> impl Iterator<Item = String> {
        let is_end = |c: char| !c.is_ascii_alphanumeric() && c != '-';
        let words = answer.split_whitespace().map(|word| word.trim_start_matches('('));
        let options = words.filter(|word| word.starts_with("--"));
        options
            .map(move |word| word.split(is_end).next().unwrap_or_default().to_owned())
            .filter(|name| name != "--help")
    }
}
