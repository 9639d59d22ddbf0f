//! What is said about a file and its streams, less what was only true of the file that it was read from.

use crate::ffmpeg::{Container, Metadata, Rational, later_timecode};

/// Facts about the old file that its demuxer tells as metadata, or statistics of its packets.
const OF_THE_OLD_FILE: &[&str] = &[
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

/// The keys that mp4 has fields for; others need its key-value form.
const MP4_KEYS: &[&str] = &[
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

/// What is still true of the new file.
pub fn kept(metadata: &Metadata) -> Metadata {
    let is_old = |key: &str| {
        // Matroska's statistics carry their language: BPS-eng.
        let bare = key.split('-').next().unwrap_or(key);
        OF_THE_OLD_FILE.iter().any(|old| old.eq_ignore_ascii_case(bare))
    };
    metadata.iter().filter(|(key, _)| !is_old(key)).cloned().collect()
}

/// The same of a video that begins so many frames later.
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

/// The same for pictures that have been turned: some versions of FFmpeg say by how much in a key, too.
pub fn kept_of_turned(metadata: &Metadata) -> Metadata {
    kept(metadata).into_iter().filter(|(key, _)| !key.eq_ignore_ascii_case("rotate")).collect()
}

/// The muxer options without which something that the input says would be lost.
pub fn muxer_options(container: Container, metadata: &Metadata) -> Vec<(String, String)> {
    let option = |key: &str, value: &str| vec![(key.to_owned(), value.to_owned())];
    match container.name().as_str() {
        "mp4" | "mov" | "ipod" => {
            let foreign = metadata.iter().any(|(key, _)| !MP4_KEYS.contains(&key.to_ascii_lowercase().as_str()));
            option("movflags", if foreign { "+use_metadata_tags+write_colr" } else { "+write_colr" })
        }
        // Its muxer would keep the last five segments in the list, as for a broadcast that goes on.
        "hls" => option("hls_list_size", "0"),
        // Its muxer would move all times by 1.4 s.
        "mpegts" => option("mpegts_copyts", "1"),
        _ => Vec::new(),
    }
}

/// The muxer options with which a file is playable up to the last second that was written.
pub fn live_options(container: Container) -> Vec<(String, String)> {
    let option = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    let mut options = vec![option("flush_packets", "1")];
    match container.name().as_str() {
        "mp4" | "mov" | "ipod" => {
            options.push(option("movflags", "+frag_keyframe+empty_moov+default_base_moof+write_colr"));
            options.push(option("frag_duration", "1000000"));
        }
        "matroska" | "webm" => options.push(option("cluster_time_limit", "1000")),
        _ => {}
    }
    options
}
