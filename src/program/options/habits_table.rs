//! Options of other programs, and what they are called here.

use Here::{Is, Says};

/// What an option or a value of another program means here.
#[derive(Clone, Copy)]
pub(super) enum Here {
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

pub(super) const LIGHT: &str = "what is dark is lit by itself here; --look night is sure that it is dark, and --filter-after \
                     eq=gamma=1.3 makes any file brighter";

/// Option names of other programs, separated by spaces, without dashes; one with a dash matches that spelling only.
pub(super) const WORDS: &[(&str, Here)] = &[
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
pub(super) const VALUES: &[(&str, &str, Here)] = &[
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
pub(super) const DEFAULTS: [&str; 4] = ["-hide_banner", "-nostdin", "-stats", "-nostats"];

/// Options with a value that state a default of this program.
pub(super) const DEFAULTS_WITH_VALUE: [(&str, &str); 9] = [
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
pub(super) const LEVELS: [(&str, Option<&str>); 9] = [
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
pub(super) const NAMED: [&str; 4] = ["-i", "--input", "-o", "--output"];

/// Names of a command that would restore the original, which does not exist.
pub(super) const UNDO: [&str; 4] = ["restore", "undo", "revert", "reset"];
