//! Which metadata of files each container keeps. The warning about lost metadata, and the table in `docs/files.md`, are
//! made from this table.

use super::metadata::{MP4_KEYS, is_ours, service, timecode};
use crate::ffmpeg::Rational;
use crate::ffmpeg::demux::{Media, Programme, Stream, Unshown};
use crate::ffmpeg::encode::Encoder;
use crate::ffmpeg::filter::VideoFormat;
use crate::ffmpeg::frame::Picture;
use crate::ffmpeg::mux::{Container, Signalling};
use crate::image_file::{About, ImageMetadata};
use crate::pipeline::{Input, Notices};
use crate::sys::files::Name;
use anyhow::Result;

/// A kind of metadata of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileMetadata {
    /// Chapters.
    Chapters,
    /// The timecode of the first frame.
    Timecode,
    /// The place of the recording (GPS).
    Place,
    /// The part of a sphere that the video covers (360 degree video).
    Sphere,
    /// Stereo 3D: the layout of the views for the two eyes.
    Stereo,
    /// The mastering display of HDR video.
    MasteringDisplay,
}

/// Each kind of metadata, its name in messages, and the containers that keep it, by FFmpeg's names.
pub const KEPT: [(FileMetadata, &str, &[&str]); 6] = [
    (
        FileMetadata::Chapters,
        "chapters",
        &["mp4", "mov", "ipod", "3gp", "3g2", "ismv", "f4v", "matroska", "webm", "nut", "asf"],
    ),
    (
        FileMetadata::Timecode,
        "timecode",
        &["mp4", "mov", "matroska", "webm", "nut", "mxf", "asf", "avi", "flv", "wtv", "ogg", "ogv", "dv"],
    ),
    (
        FileMetadata::Place,
        "place of the recording (GPS)",
        &[
            "mp4", "mov", "ipod", "3gp", "3g2", "ismv", "f4v", "matroska", "webm", "nut", "asf", "flv", "wtv", "ogg",
            "ogv",
        ],
    ),
    (FileMetadata::Sphere, "360 degrees (spherical)", &["mp4", "matroska", "webm"]),
    (FileMetadata::Stereo, "stereo 3D", &["mp4", "matroska", "webm"]),
    (FileMetadata::MasteringDisplay, "mastering display of HDR", &["mp4", "mov", "matroska", "webm", "mxf"]),
];

impl FileMetadata {
    /// Whether a container stores the timecode only in the metadata of the whole file, not in that of the video stream.
    pub(crate) fn timecode_is_of_file(container: Container) -> bool {
        matches!(container.name().as_str(), "asf" | "avi" | "flv" | "wtv" | "ogg" | "ogv")
    }

    /// Whether this metadata is kept in a file of `container` with video from `encoder`.
    pub fn is_kept(self, container: Container, encoder: Option<Encoder>) -> bool {
        let name = container.name();
        let row = KEPT.iter().find(|(what, ..)| *what == self);
        // x265 writes the mastering display into the bitstream.
        let in_video =
            self == FileMetadata::MasteringDisplay && encoder.is_some_and(|encoder| encoder.name() == "libx265");
        container.discards() || in_video || row.is_some_and(|(_, _, by)| by.contains(&name.as_str()))
    }

    fn is_present(self, media: &Media, video: &Stream, first: Option<&Picture>) -> bool {
        let has_key = |keys: &[&str]| {
            let entries = media.metadata.iter().chain(&video.metadata);
            entries.map(|(key, _)| key).any(|key| keys.iter().any(|known| known.eq_ignore_ascii_case(key)))
        };
        match self {
            FileMetadata::Chapters => !media.chapters.is_empty(),
            FileMetadata::Timecode => has_key(&["timecode"]),
            FileMetadata::Place => has_key(&["location", "com.apple.quicktime.location.ISO6709"]),
            FileMetadata::Sphere => video.side_data.is_spherical(),
            FileMetadata::Stereo => {
                let of_picture = first.and_then(Picture::frame_packing);
                video.side_data.is_stereo() || matches!(of_picture, Some(1 | 2))
            }
            FileMetadata::MasteringDisplay => {
                let of_picture = first.is_some_and(|first| first.mastering_display().is_some());
                video.side_data.has_mastering_display() || of_picture
            }
        }
    }
}

/// Keys of mp4 that do not describe the video, or that the warning names separately.
const OTHER_KEYS: [&str; 7] =
    ["hd_video", "media_type", "gapless_playback", "compilation", "rating", "location", "timecode"];

/// The keys that containers with only a few text fields can store.
const COMMON_KEYS: [&str; 8] = ["title", "artist", "album", "date", "comment", "genre", "copyright", "creation_time"];

/// Keys that describe how an image is stored, which do not apply to a re-encoded file.
const STORAGE_KEYS: [&str; 37] = [
    "Orientation",
    "XResolution",
    "YResolution",
    "ResolutionUnit",
    "YCbCrPositioning",
    "YCbCrSubSampling",
    "ExifVersion",
    "ComponentsConfiguration",
    "FlashpixVersion",
    "FlashPixVersion",
    "ColorSpace",
    "PixelXDimension",
    "PixelYDimension",
    "ImageWidth",
    "ImageLength",
    "BitsPerSample",
    "Compression",
    "SamplesPerPixel",
    "PhotometricInterpretation",
    "PlanarConfiguration",
    "FillOrder",
    "Predictor",
    "ColorMap",
    "ExtraSamples",
    "SampleFormat",
    // The tag number of `SampleFormat`.
    "0x0153",
    "RowsPerStrip",
    "StripOffsets",
    "StripByteCounts",
    "TileWidth",
    "TileLength",
    "TileOffsets",
    "TileByteCounts",
    "Software",
    "encoder",
    // Keys of EXR files.
    "writer",
    "gamma",
];

/// The gamma of sRGB, which readers also assume if there is no gamma.
const USUAL_GAMMA: [&str; 2] = ["45455/100000", "0.454550"];

/// Whether it is an image or animation container.
pub(crate) fn is_of_images(container: Container) -> bool {
    container.takes_pattern() || matches!(container.name().as_str(), "gif" | "apng" | "avif" | "webp" | "image2pipe")
}

/// The first frame of an output, its image metadata, and the format that it is encoded in.
#[derive(Clone, Copy)]
pub(crate) struct First<'a> {
    pub picture: &'a Picture,
    pub about: Option<&'a About>,
    pub encoded: VideoFormat,
}

/// Warns, once, of all metadata of the input that a file of this container does not keep.
///
/// # Errors
/// The warning, with `--strict`.
pub(crate) fn check(
    input: &Input,
    container: Container,
    encoder: Option<Encoder>,
    first: Option<First<'_>>,
    output: &Name,
    notices: &Notices,
) -> Result<()> {
    let (media, video) = (&input.media, input.video_stream());
    let picture = first.map(|first| first.picture);
    let to_images = is_of_images(container);
    let mut lost = dynamic(video, picture);
    // For images, the loss of film metadata such as chapters is not reported.
    let of_film =
        KEPT.iter().filter(|(what, ..)| !to_images || matches!(what, FileMetadata::Sphere | FileMetadata::Stereo));
    let is_kept = |what: FileMetadata| {
        let in_pictures = what == FileMetadata::Stereo && !video.side_data.is_stereo() && packs_frames(encoder);
        in_pictures || what.is_kept(container, encoder)
    };
    let of_film = of_film.filter(|(what, ..)| what.is_present(media, video, picture) && !is_kept(*what));
    lost.extend(of_film.map(|(_, name, _)| (*name).to_owned()));
    if let (Some(first), Some(encoder)) = (first, encoder) {
        lost.extend(lost_colours(first, video, container, encoder));
    }
    if !container.discards() {
        lost.extend(media.unshown.iter().filter(|what| !to_images || **what == Unshown::Crop).map(ToString::to_string));
        if !to_images {
            lost.extend(lost_programmes(media, container));
            lost.extend(lost_texts(media, container));
            lost.extend(broken_texts(media));
            lost.extend(picture.map(|picture| lost_frame_data(picture, input, encoder)).unwrap_or_default());
        }
    }
    if media.is_images() && to_images {
        lost.extend(first.map(|first| lost_image_data(first.picture, first.about, encoder)).unwrap_or_default());
        let header = lost_header(media, first.and_then(|first| first.about), encoder);
        lost.extend((!header.is_empty()).then(|| format!("texts{}", listed(&header))));
    }
    if lost.is_empty() {
        return Ok(());
    }
    notices.warn(&format!("{output} does not say what {} says of itself: {}", input.name, lost.join("; ")))
}

/// Whether an encoder writes the frame packing of stereo video into the bitstream.
fn packs_frames(encoder: Option<Encoder>) -> bool {
    encoder.is_some_and(|encoder| matches!(encoder.name().as_str(), "libx264" | "libx264rgb" | "mpeg2video"))
}

/// Metadata of frames that this encoder does not write.
fn lost_frame_data(first: &Picture, input: &Input, encoder: Option<Encoder>) -> Vec<String> {
    let has = |option: &str| encoder.is_some_and(|encoder| encoder.has_option(option));
    let mut lost = Vec::new();
    lost.extend((first.has_user_data() && !has("udu_sei")).then(|| "user data in the video (SEI)".to_owned()));
    lost.extend(first.active_format().map(|code| format!("part of the picture that is meant (AFD {code})")));
    let is_packed = matches!(first.frame_packing(), Some(3..)) && !input.video_stream().side_data.is_stereo();
    lost.extend((is_packed && !packs_frames(encoder)).then(|| "frame packing".to_owned()));
    let said = timecode(&input.video_stream().metadata).or(timecode(&input.media.metadata));
    // For a part of a video, the timecode of its first frame is not reported as lost.
    let timecode = first.timecode().filter(|_| said.is_none() && input.shift == 0 && !has("gop_timecode"));
    lost.extend(timecode.map(|timecode| format!("timecode in the video ({timecode})")));
    lost
}

/// The metadata of a transport stream's programmes that is lost.
fn lost_programmes(media: &Media, container: Container) -> Vec<String> {
    let programmes = || media.programmes.iter().filter(|programme| !programme.streams.is_empty());
    if container.name() == "mpegts" || !service(media, container).is_empty() {
        return Vec::new();
    }
    let names: Vec<&str> = programmes().filter_map(Programme::name).collect();
    let count = programmes().count();
    let several = (count > 1).then(|| format!("{count} programmes"));
    let named = (!names.is_empty()).then(|| format!("names of services{}", listed(&names)));
    [several, named].into_iter().flatten().collect()
}

/// Texts about the video for which this container has no field.
fn lost_texts(media: &Media, container: Container) -> Option<String> {
    let name = container.name();
    let has_place = |key: &str| match name.as_str() {
        "mp4" | "mov" | "ipod" | "ismv" | "f4v" | "psp" | "matroska" | "webm" | "nut" | "flv" | "ogg" | "ogv"
        | "wtv" => true,
        "asf" => key != "creation_time",
        "avi" => key != "creation_time" && COMMON_KEYS.contains(&key),
        "3gp" | "3g2" => COMMON_KEYS.contains(&key),
        "mxf" => key == "creation_time",
        _ => false,
    };
    let is_text = |key: &str| MP4_KEYS.contains(&key) && !OTHER_KEYS.contains(&key);
    let said = media.metadata.iter().filter(|(_, text)| !text.is_empty() && !is_ours(text));
    let said = said.map(|(key, _)| key.to_ascii_lowercase());
    let keys: Vec<String> = said.filter(|key| is_text(key) && !has_place(key)).collect();
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    (!keys.is_empty()).then(|| format!("texts{}", listed(&keys)))
}

/// The keys of texts that are not valid UTF-8. Their invalid bytes were replaced when they were read.
fn broken_texts(media: &Media) -> Option<String> {
    let all = media
        .streams
        .iter()
        .map(|stream| &stream.metadata)
        .chain(media.chapters.iter().map(|chapter| &chapter.metadata));
    let broken = all.chain([&media.metadata]).flatten().filter(|(_, text)| text.contains('\u{fffd}'));
    let mut keys: Vec<&str> = broken.map(|(key, _)| key.as_str()).collect();
    keys.sort_unstable();
    keys.dedup();
    (!keys.is_empty()).then(|| format!("texts that are not UTF-8{}", listed(&keys)))
}

/// Metadata about colours and pixel aspect ratio that the output does not store.
fn lost_colours(first: First<'_>, video: &Stream, container: Container, encoder: Encoder) -> Vec<String> {
    let First { picture, about, encoded } = first;
    let (signalling, name) = (Signalling::new(encoder.codec(), container), encoder.name());
    let by = KEPT_OF_IMAGES.iter().find(|(what, ..)| *what == ImageMetadata::Icc).map_or(&[][..], |(_, _, by)| *by);
    let is_kept = by.contains(&name.trim_end_matches("_anim")) && (writes_icc(&name) || is_of_images(container));
    let keeps_profile = is_kept && picture.icc_profile().is_some();
    let has_profile = picture.icc_profile().is_some() || video.side_data.has_icc_profile();
    let keeps_gamma = name == "png" && about.is_some_and(|about| about.has(ImageMetadata::Gamma));
    let mut lost = Vec::new();
    if !(signalling.colours || keeps_profile || keeps_gamma) {
        lost.extend(picture.colour().unusual());
    }
    let has_matrix = encoded.is_yuv() && !picture.format().is_gray();
    if has_matrix && !signalling.says_matrix(encoded.colour, encoded.size) {
        lost.push(format!("matrix coefficients ({})", encoded.colour.matrix_name()));
    }
    let (to_exr, said) = (name == "exr", picture.colour().is_linear());
    let is_linear = said.unwrap_or(video.codec == "exr");
    if is_linear && !to_exr && !(said.is_some() && signalling.colours) {
        lost.push("linear light (--filter zscale=tin=linear:t=iec61966-2-1 makes that of displays)".to_owned());
    } else if to_exr && !is_linear && !picture.format().is_gray() {
        lost.push("light of displays (EXR is linear: --filter-after zscale=tin=iec61966-2-1:t=linear)".to_owned());
    }
    lost.extend((has_profile && !keeps_profile).then(|| "ICC profile".to_owned()));
    let shape = picture.sample_aspect_ratio().or(video.sample_aspect_ratio).unwrap_or(Rational::new(1, 1));
    if !signalling.shape && shape.numerator() != shape.denominator() {
        lost.push(format!("pixels of {}:{}", shape.numerator(), shape.denominator()));
    }
    lost
}

/// Metadata of the video that no longer applies after equalization.
fn dynamic(video: &Stream, first: Option<&Picture>) -> Vec<String> {
    let dolby = match video.side_data.dolby_vision() {
        // With compatibility ID 0, only Dolby Vision players show the right colours.
        Some((profile, 0)) => Some(format!(
            "Dolby Vision of profile {profile}, without which the colours are wrong (take a version of the video in \
             HDR10, HLG or SDR)"
        )),
        Some((profile, _)) => Some(format!("Dolby Vision of profile {profile}, which does not fit equalized pictures")),
        None if first.is_some_and(Picture::has_dolby_vision) => {
            Some("Dolby Vision, which does not fit equalized pictures".to_owned())
        }
        None => None,
    };
    let has_plus = first.is_some_and(Picture::has_hdr10_plus);
    let plus = has_plus.then(|| "HDR10+, which does not fit equalized pictures".to_owned());
    [dolby, plus].into_iter().flatten().collect()
}

/// Each kind of image metadata, its name in messages, and the encoders whose images keep it. This program writes what
/// FFmpeg's encoders do not.
pub const KEPT_OF_IMAGES: [(ImageMetadata, &str, &[&str]); 11] = [
    (ImageMetadata::Exif, "EXIF (camera, date, GPS)", &["png", "mjpeg", "tiff", "libwebp"]),
    (ImageMetadata::Xmp, "XMP", &["png", "mjpeg", "tiff", "libwebp"]),
    (ImageMetadata::Iptc, "IPTC", &["mjpeg"]),
    (ImageMetadata::Comment, "comment of JPEG", &["mjpeg"]),
    (ImageMetadata::Icc, "ICC profile", &["png", "mjpeg", "tiff", "libwebp", "libjxl", "apng"]),
    (ImageMetadata::Resolution, "resolution (dpi)", &["png", "mjpeg", "tiff", "libwebp"]),
    (ImageMetadata::Gamma, "gamma", &["png"]),
    (ImageMetadata::Texts, "texts of PNG", &["png"]),
    (ImageMetadata::GainMap, "gain map behind a JPEG, with the XMP that tells of it", &[]),
    (ImageMetadata::Film, "film behind a JPEG, with the XMP that tells of it", &[]),
    (ImageMetadata::More, "other data behind a JPEG, with the XMP that tells of it", &[]),
];

/// Whether FFmpeg's encoder of this name writes the ICC profile of a picture itself.
pub(crate) fn writes_icc(encoder: &str) -> bool {
    matches!(encoder, "png" | "apng" | "mjpeg" | "libjxl")
}

/// The number of keys and their names (at most six), for a message; empty without keys.
pub(crate) fn listed(keys: &[&str]) -> String {
    match keys.len() {
        0 => String::new(),
        count @ 1..=6 => format!(" ({count}: {})", keys.join(", ")),
        count => format!(" ({count}: {} and others)", keys[..6].join(", ")),
    }
}

/// The header keys of the input's image stack or numbered files that images of this encoder do not keep.
fn lost_header<'a>(media: &'a Media, about: Option<&'a About>, encoder: Option<Encoder>) -> Vec<&'a str> {
    match about.map(About::card_keys).filter(|keys| !keys.is_empty()) {
        Some(_) if encoder.is_some_and(|encoder| encoder.name() == "fits") => Vec::new(),
        Some(keys) => keys,
        None => media.metadata.iter().map(|(key, _)| key.as_str()).collect(),
    }
}

/// The image metadata that images of this encoder do not keep.
fn lost_image_data(first: &Picture, about: Option<&About>, encoder: Option<Encoder>) -> Vec<String> {
    let metadata = first.metadata();
    let encoder = encoder.map(Encoder::name).unwrap_or_default();
    // WebP has two encoders: `libwebp`, and `libwebp_anim` for animations.
    let encoder = encoder.trim_end_matches("_anim").to_owned();
    // FFmpeg 9 puts the name of the tag's directory and a slash before its key.
    let name_of = |key| str::rsplit(key, '/').next().unwrap_or_default();
    let keys = metadata.iter().map(|(key, _)| name_of(key)).filter(|key| !STORAGE_KEYS.contains(key));
    let keys: Vec<&str> = keys.collect();
    let list = listed(&keys);
    let is_lost = |what: ImageMetadata, by: &[&str]| {
        about.is_some_and(|about| about.has(what) && !(by.contains(&encoder.as_str()) && about.fits(what, &encoder)))
    };
    let lost = KEPT_OF_IMAGES.iter().filter(|(what, _, by)| is_lost(*what, by));
    let mut lost: Vec<String> = lost
        .map(|(what, name, _)| match what {
            ImageMetadata::Exif | ImageMetadata::Texts => format!("{name}{list}"),
            _ => (*name).to_owned(),
        })
        .collect();
    // Without `about`, the metadata was read by FFmpeg.
    if about.is_none() {
        let gamma = metadata.iter().find(|(key, value)| key == "gamma" && !USUAL_GAMMA.contains(&value.as_str()));
        lost.extend(gamma.map(|(_, value)| format!("gamma {value}")));
        if !keys.is_empty() {
            lost.push(format!("EXIF and texts{list}"));
        }
    }
    lost
}
