//! Metadata of the output, without entries that are only true of the input file; options of muxers and protocols.

use crate::ffmpeg::demux::{Media, Metadata, Stream};
use crate::ffmpeg::mux::{Container, MUX_DELAY};
use crate::ffmpeg::{Rational, counts_timecode, later_timecode};
use crate::pipeline::Notices;
use anyhow::Result;

/// Keys that describe the input file itself, such as its brand, and statistics of its packets.
const OLD_FILE_KEYS: &[&str] = &[
    "major_brand",
    "minor_version",
    "compatible_brands",
    "encoder",
    "duration",
    "vendor_id",
    "BPS",
    "NUMBER_OF_FRAMES",
    "NUMBER_OF_BYTES",
    "_STATISTICS_WRITING_APP",
    "_STATISTICS_WRITING_DATE_UTC",
    "_STATISTICS_TAGS",
];

/// The longest time by which a frame is decoded before it is shown, in microseconds.
const MAX_REORDERING: i64 = 500_000;

/// The keys for which mp4 has fields; others need its key-value form.
pub(crate) const MP4_KEYS: &[&str] = &[
    "title",
    "artist",
    "album_artist",
    "composer",
    "album",
    "date",
    "comment",
    "genre",
    "copyright",
    "grouping",
    "lyrics",
    "description",
    "synopsis",
    "show",
    "episode_id",
    "episode_sort",
    "season_number",
    "network",
    "keywords",
    "track",
    "disc",
    "hd_video",
    "media_type",
    "gapless_playback",
    "compilation",
    "rating",
    "make",
    "model",
    "location",
    "creation_time",
    "timecode",
];

/// The metadata that is still true of the output file.
pub fn kept(metadata: &Metadata) -> Metadata {
    let is_old = |key: &str| {
        // Matroska's statistics keys end in a language, such as BPS-eng.
        let bare = key.split('-').next().unwrap_or(key);
        OLD_FILE_KEYS.iter().any(|old| old.eq_ignore_ascii_case(bare))
    };
    metadata.iter().filter(|(key, _)| !is_old(key)).cloned().collect()
}

/// ISO 639-2 language codes that FFmpeg does not write into mov files, and the synonymous codes that it does write.
const MOV_LANGUAGES: [(&str, &str); 18] = [
    ("bod", "tib"),
    ("cym", "wel"),
    ("cze", "ces"),
    ("deu", "ger"),
    ("ell", "gre"),
    ("eus", "baq"),
    ("fre", "fra"),
    ("hye", "arm"),
    ("isl", "ice"),
    ("kat", "geo"),
    ("mkd", "mac"),
    ("msa", "may"),
    ("mya", "bur"),
    ("nld", "dut"),
    ("rum", "ron"),
    ("slo", "slk"),
    ("sqi", "alb"),
    ("zho", "chi"),
];

/// The stream metadata that is still true of the output file, in the form that this container can store.
pub fn kept_in(container: Container, metadata: &Metadata) -> Metadata {
    let mut metadata = kept(metadata);
    for (key, value) in metadata.iter_mut().filter(|_| container.name() == "mov") {
        let other =
            MOV_LANGUAGES.iter().find(|(code, _)| key.eq_ignore_ascii_case("language") && value.as_str() == *code);
        if let Some((_, code)) = other {
            (*code).clone_into(value);
        }
    }
    metadata
}

/// Name and provider of the service, for a container that stores any key but has no programmes.
pub fn service(media: &Media, container: Container) -> Metadata {
    match &media.programmes[..] {
        [one] if one.name().is_some() && matches!(container.name().as_str(), "matroska" | "webm" | "nut") => {
            one.metadata.iter().filter(|(key, _)| key.starts_with("service_")).cloned().collect()
        }
        _ => Metadata::new(),
    }
}

/// The prefix of comments that this program writes into its outputs.
const OURS: &str = "histeq-video ";

/// Whether this program has written the comment.
pub fn is_ours(comment: &str) -> bool {
    comment.starts_with(OURS)
}

/// Stores `text`, which tells how the file was made, in the comment, after the text of an earlier run. If the comment
/// is not from this program, it stays, and only Matroska has a key for `text`. Without `text`, the comment of an
/// earlier run is removed.
pub fn add_provenance(metadata: &mut Metadata, text: Option<&str>, container: Container, notices: &Notices) {
    let is_comment = |key: &str| key.eq_ignore_ascii_case("comment");
    let Some(text) = text else {
        return metadata.retain(|(key, value)| !(is_comment(key) && is_ours(value)));
    };
    match metadata.iter_mut().find(|(key, _)| is_comment(key)) {
        None => metadata.push(("comment".to_owned(), text.to_owned())),
        Some((_, earlier)) if is_ours(earlier) => *earlier += &format!("; {text}"),
        Some(_) if matches!(container.name().as_str(), "matroska" | "webm") => {
            metadata.push(("ENCODER_SETTINGS".to_owned(), text.to_owned()));
        }
        Some(_) => notices.detail("the comment of the input is kept, so the settings of this run are not in the file"),
    }
}

/// The metadata of a video whose first `frames` frames are left out: the timecode is advanced.
pub fn begun_later(mut metadata: Metadata, rate: Option<Rational>, frames: i32) -> Metadata {
    if frames == 0 {
        return metadata;
    }
    for (_, value) in metadata.iter_mut().filter(|(key, _)| key.eq_ignore_ascii_case("timecode")) {
        if let Some(later) = rate.and_then(|rate| later_timecode(value, rate, frames)) {
            *value = later;
        }
    }
    metadata
}

/// The timecode in the metadata of a file or of its video stream.
pub fn timecode(metadata: &Metadata) -> Option<&str> {
    metadata.iter().find(|(key, _)| key.eq_ignore_ascii_case("timecode")).map(|(_, value)| value.as_str())
}

/// Common timecode rates, in frames a second.
const TIMECODE_RATES: [(i32, i32); 10] =
    [(24_000, 1001), (24, 1), (25, 1), (30_000, 1001), (30, 1), (48, 1), (50, 1), (60_000, 1001), (60, 1), (120, 1)];

/// The rate at which this timecode of `video` counts: the rate of the timecode track or of the frames, but not the
/// average of a variable rate. `None` if it fits no known rate.
pub fn timecode_rate(timecode: &str, video: &Stream, media: &Media) -> Option<Rational> {
    let counts = |rate: &Rational| counts_timecode(timecode, *rate);
    let known: Vec<Rational> = TIMECODE_RATES.iter().map(|&(frames, seconds)| Rational::new(frames, seconds)).collect();
    let near =
        |rate: Rational| known.iter().copied().find(|other| (f64::from(*other) / f64::from(rate) - 1.0).abs() < 0.0004);
    let track = media.streams.iter().find(|stream| stream.is_timecode()).and_then(|stream| stream.frame_rate);
    // The track's rate may be rounded to whole frames a second, although the real rate is fractional.
    let per_second = track.map(|rate| f64::from(rate).round());
    let of_track = known.iter().copied().filter(|rate| per_second == Some(f64::from(*rate).round()));
    let of_pictures = [video.base_rate, video.frame_rate].into_iter().flatten().filter_map(near);
    let average = video.frame_rate;
    let above =
        known.iter().copied().find(|rate| average.is_some_and(|mean| f64::from(*rate) > f64::from(mean) * 0.999));
    let agree = of_pictures.clone().filter(|rate| per_second.is_none_or(|count| count == f64::from(*rate).round()));
    let exact = track.filter(|rate| rate.denominator() != 1);
    exact.into_iter().chain(agree).chain(of_track).chain(of_pictures).chain(above).chain(average).find(counts)
}

/// As [`kept`], for rotated frames: without the key `rotate`, in which some FFmpeg versions store the rotation.
pub fn kept_of_turned(metadata: &Metadata) -> Metadata {
    kept(metadata).into_iter().filter(|(key, _)| !key.eq_ignore_ascii_case("rotate")).collect()
}

/// Keys for which mp4 has no field, so that only its key-value form can store them.
fn foreign_keys(metadata: &Metadata) -> Vec<&str> {
    let is_known = |key: &str| MP4_KEYS.contains(&key.to_ascii_lowercase().as_str());
    metadata.iter().map(|(key, _)| key.as_str()).filter(|key| !is_known(key)).collect()
}

/// Warns of metadata that is left out because of cover art: mp4 can store only one of them.
///
/// # Errors
/// The warning, with `--strict`.
pub fn check_keys(container: Container, metadata: &Metadata, has_cover: bool, notices: &Notices) -> Result<()> {
    let keys = foreign_keys(metadata);
    if !has_cover || keys.is_empty() || !is_mp4(container) {
        return Ok(());
    }
    let (name, keys) = (container.name(), keys.join(", "));
    notices.warn(&format!("{name} holds cover art or other metadata: {keys} is left out (a .mkv file holds both)"))
}

fn is_mp4(container: Container) -> bool {
    matches!(container.name().as_str(), "mp4" | "mov" | "ipod")
}

/// Joins `preset` options of a muxer with the user's, which replace them. Flags that begin with a sign are added to the
/// preset flags, or removed from them.
pub fn with_given(mut preset: Vec<(String, String)>, given: &[(String, String)]) -> Vec<(String, String)> {
    for (key, value) in given {
        match preset.iter_mut().find(|(other, _)| other == key) {
            Some((_, flags)) if flags.starts_with('+') && value.starts_with(['+', '-']) => flags.push_str(value),
            Some((_, other)) => other.clone_from(value),
            None => preset.push((key.clone(), value.clone())),
        }
    }
    preset
}

/// The muxer options for a file that is read only once it is complete. Its index is at the front, so that a player can
/// start before it has the whole file, or read it from a pipe.
pub fn file_options(container: Container) -> Vec<(String, String)> {
    match container.name().as_str() {
        "mp4" | "mov" | "ipod" | "3gp" | "3g2" | "psp" | "f4v" => {
            vec![("movflags".to_owned(), "+faststart".to_owned())]
        }
        _ => Vec::new(),
    }
}

/// The muxer options without which metadata of the input would be lost. The output starts at `start` (microseconds).
pub fn muxer_options(container: Container, metadata: &Metadata, has_cover: bool, start: i64) -> Vec<(String, String)> {
    let option = |key: &str, value: &str| vec![(key.to_owned(), value.to_owned())];
    match container.name().as_str() {
        _ if is_mp4(container) => {
            // The key-value form of mp4 cannot store cover art.
            let any_key = !has_cover && !foreign_keys(metadata).is_empty();
            option("movflags", if any_key { "+use_metadata_tags+write_colr" } else { "+write_colr" })
        }
        // By default, the muxer makes the animation play once; 0 repeats it forever.
        "apng" => option("plays", "0"),
        // By default, the muxer keeps only the last five segments in the playlist, as for a live broadcast.
        "hls" => option("hls_list_size", "0"),
        // By default, the muxer delays all times by 1.4 s. That is needed only if its clock (PCR) would start below
        // zero.
        "mpegts" if start >= MUX_DELAY + MAX_REORDERING => option("mpegts_copyts", "1"),
        _ => Vec::new(),
    }
}

/// The longest time that the muxer waits to interleave video and audio, in microseconds.
const TOGETHER: &str = "200000";

/// The muxer options of a live stream to a server.
pub fn network_options(container: Container) -> Vec<(String, String)> {
    let option = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    let mut options = vec![option("flush_packets", "1"), option("max_interleave_delta", TOGETHER)];
    match container.name().as_str() {
        "flv" => options.push(option("flvflags", "no_duration_filesize")),
        "rtsp" => options.push(option("rtsp_transport", "tcp")),
        _ => {}
    }
    options
}

/// The options of the protocol for a live stream to `url`.
pub fn protocol_options(url: &str) -> Vec<(String, String)> {
    let option = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    match url.split_once("://").map_or("", |(scheme, _)| scheme) {
        // The size of seven MPEG-TS packets, in bytes.
        "udp" | "rtp" => vec![option("pkt_size", "1316")],
        // A larger send buffer would add delay.
        "tcp" | "rtmp" | "rtmps" => vec![option("tcp_nodelay", "1"), option("send_buffer_size", "262144")],
        _ => Vec::new(),
    }
}

/// The muxer options that keep a file playable while it grows, except for its last second.
pub fn live_options(container: Container) -> Vec<(String, String)> {
    let option = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    let mut options = vec![option("flush_packets", "1")];
    match container.name().as_str() {
        "mp4" | "mov" | "ipod" => {
            // The header is written after the first second, which gives the time offset between video and audio.
            options.push(option("movflags", "+frag_keyframe+delay_moov+default_base_moof+write_colr"));
            options.push(option("frag_duration", "1000000"));
        }
        "matroska" | "webm" => options.push(option("cluster_time_limit", "1000")),
        // To stay short, the playlist lists only the segments of the last hour; older segments stay on the disk.
        "hls" => options.extend([option("hls_time", "2"), option("hls_list_size", "1800")]),
        _ => {}
    }
    options
}

#[cfg(test)]
mod tests {
    use super::with_given;

    #[test]
    fn given_options_replace_those_of_the_program_and_flags_with_a_sign_join_them() {
        let options = |options: &[(&str, &str)]| -> Vec<(String, String)> {
            options.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
        };
        let program = options(&[("movflags", "+write_colr+faststart"), ("flush_packets", "1")]);
        let given = options(&[("movflags", "-faststart"), ("flush_packets", "0"), ("brand", "mp42")]);
        let joined = [("movflags", "+write_colr+faststart-faststart"), ("flush_packets", "0"), ("brand", "mp42")];
        assert_eq!(with_given(program.clone(), &given), options(&joined));
        assert_eq!(
            with_given(program, &options(&[("movflags", "empty_moov")]))[0],
            options(&[("movflags", "empty_moov")])[0]
        );
    }
}
