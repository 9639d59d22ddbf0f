//! Tables of encoders and containers by name: settings of each encoder, encoders for each input codec, preferences of
//! containers.

use crate::ffmpeg::encode::Encoder;
use ConstantQuality::{Lossless, Option as By, Quantizer};
use ffmpeg_next::codec::Id;

/// How an encoder is given a constant quality.
#[derive(Clone, Copy)]
pub(crate) enum ConstantQuality {
    /// By the private option of this name.
    Option(&'static str),
    /// By FFmpeg's generic quantizer option (`-q:v`).
    Quantizer,
    /// Not at all, because the encoder is lossless.
    Lossless,
}

/// The settings of an encoder.
pub(crate) struct EncoderRow {
    pub(crate) encoder: &'static str,
    pub(crate) quality: ConstantQuality,
    /// The default quality: visually near-transparent.
    pub(crate) default_quality: Option<f32>,
    /// The private option for `--preset`.
    pub(crate) preset: Option<&'static str>,
    pub(crate) options: &'static [(&'static str, &'static str)],
}

pub(crate) const fn row(
    encoder: &'static str,
    quality: ConstantQuality,
    default_quality: Option<f32>,
    preset: Option<&'static str>,
    options: &'static [(&'static str, &'static str)],
) -> EncoderRow {
    EncoderRow { encoder, quality, default_quality, preset, options }
}

/// The default qualities look like the input, at a moderate file size.
pub(crate) const TABLE: &[EncoderRow] = &[
    row("libx264", By("crf"), Some(18.0), Some("preset"), &[("preset", "medium")]),
    row("libx264rgb", By("crf"), Some(18.0), Some("preset"), &[("preset", "medium")]),
    row("libx265", By("crf"), Some(20.0), Some("preset"), &[("preset", "medium"), ("x265-params", "log-level=none")]),
    row("libvpx-vp9", By("crf"), Some(24.0), Some("cpu-used"), &[("cpu-used", "4"), ("row-mt", "1"), ("b", "0")]),
    row("libvpx", By("crf"), Some(8.0), Some("cpu-used"), &[("cpu-used", "4"), ("b", "100M")]),
    row("libsvtav1", By("crf"), Some(24.0), Some("preset"), &[("preset", "8")]),
    row("libaom-av1", By("crf"), Some(22.0), Some("cpu-used"), &[("cpu-used", "6"), ("row-mt", "1"), ("b", "0")]),
    row("h264_nvenc", By("cq"), Some(19.0), Some("preset"), &[("preset", "p5"), ("rc", "vbr"), ("b", "0")]),
    row("hevc_nvenc", By("cq"), Some(21.0), Some("preset"), &[("preset", "p5"), ("rc", "vbr"), ("b", "0")]),
    row("av1_nvenc", By("cq"), Some(24.0), Some("preset"), &[("preset", "p5"), ("rc", "vbr"), ("b", "0")]),
    row("mjpeg", Quantizer, Some(2.0), None, &[]),
    row("mpeg4", Quantizer, Some(2.0), None, &[]),
    // A bit rate of 0: otherwise, MPEG containers would state FFmpeg's default bit rate in their headers.
    row("mpeg2video", Quantizer, Some(2.0), None, &[("b", "0")]),
    row("mpeg1video", Quantizer, Some(2.0), None, &[("b", "0")]),
    row("msmpeg4", Quantizer, Some(2.0), None, &[]),
    row("msmpeg4v2", Quantizer, Some(2.0), None, &[]),
    row("wmv1", Quantizer, Some(2.0), None, &[]),
    row("wmv2", Quantizer, Some(2.0), None, &[]),
    row("flv", Quantizer, Some(2.0), None, &[]),
    row("h263", Quantizer, Some(2.0), None, &[]),
    row("h263p", Quantizer, Some(2.0), None, &[]),
    row("libxvid", Quantizer, Some(2.0), None, &[]),
    row("libtheora", Quantizer, Some(9.0), None, &[]),
    row("prores_ks", Quantizer, None, None, &[("vendor", "apl0")]),
    row("libwebp", By("quality"), Some(95.0), Some("preset"), &[]),
    row("libwebp_anim", By("quality"), Some(95.0), Some("preset"), &[]),
    row("ffv1", Lossless, None, None, &[("level", "3"), ("slicecrc", "1"), ("slices", "16")]),
    row("ffvhuff", Lossless, None, None, &[]),
    row("huffyuv", Lossless, None, None, &[]),
    row("utvideo", Lossless, None, None, &[]),
    row("magicyuv", Lossless, None, None, &[]),
    row("v210", Lossless, None, None, &[]),
    row("rawvideo", Lossless, None, None, &[]),
    row("png", Lossless, None, None, &[]),
    row("apng", Lossless, None, None, &[]),
    row("bmp", Lossless, None, None, &[]),
    row("tiff", Lossless, None, None, &[("compression_algo", "deflate")]),
    row("gif", Lossless, None, None, &[]),
];

/// Options that an encoder needs for video with alpha.
pub(crate) const FOR_ALPHA: &[(&str, (&str, &str))] = &[("libvpx", ("auto-alt-ref", "0"))];

/// Encoders that print an error to stderr for an unknown preset, and their presets.
pub(crate) const X26: &[&str] = &["libx264", "libx264rgb", "libx265"];
pub(crate) const X26_PRESETS: &[&str] =
    &["ultrafast", "superfast", "veryfast", "faster", "fast", "medium", "slow", "slower", "veryslow", "placebo"];

/// The encoders that keep the input's codec, best first.
pub(crate) const KEEPING: &[(Id, &[&str])] = &[
    (Id::H264, &["libx264", "libopenh264"]),
    (Id::HEVC, &["libx265"]),
    (Id::VP8, &["libvpx"]),
    (Id::VP9, &["libvpx-vp9"]),
    (Id::AV1, &["libsvtav1", "libaom-av1"]),
    (Id::MJPEG, &["mjpeg"]),
    (Id::PRORES, &["prores_ks"]),
    (Id::FFV1, &["ffv1"]),
    (Id::HUFFYUV, &["huffyuv"]),
    (Id::FFVHUFF, &["ffvhuff"]),
    (Id::UTVIDEO, &["utvideo"]),
    (Id::MAGICYUV, &["magicyuv"]),
    (Id::V210, &["v210"]),
    (Id::PNG, &["png"]),
    (Id::RAWVIDEO, &["rawvideo"]),
    // Used for DNxHR inputs only, not for DNxHD.
    (Id::DNXHD, &["dnxhd"]),
];

/// Containers made for MPEG-2, in which an MPEG-2 input keeps its codec.
pub(crate) const KEEPS_MPEG2: &[&str] = &["mpeg", "vob", "dvd", "svcd", "mxf"];

/// The pixel formats for which raw video in AVI has a tag: readers misinterpret others.
pub(crate) const RAW_IN_AVI: &[&str] = &["gray", "bgr24", "bgra", "yuv420p", "yuv422p", "yuyv422", "uyvy422", "nv12"];

/// Codecs of web animations. They store few colours, so video made from them need not be lossless.
pub(crate) const ANIMATIONS: &[Id] = &[Id::GIF, Id::APNG, Id::WEBP];

/// Containers without presentation times: with B-frames, video would be late against audio.
pub(crate) const WITHOUT_B_FRAMES: &[&str] = &["avi"];

/// The encoders on a GPU.
pub(crate) const NVENC: &[(Id, &str)] = &[(Id::H264, "h264_nvenc"), (Id::HEVC, "hevc_nvenc"), (Id::AV1, "av1_nvenc")];

/// Containers that get H.264 when the input's codec is not kept, instead of FFmpeg's default codec.
pub(crate) const TAKES_H264: &[&str] = &[
    "mp4",
    "mov",
    "matroska",
    "ipod",
    "3gp",
    "3g2",
    "ismv",
    "f4v",
    "avi",
    "flv",
    "mpegts",
    "hls",
    "dash",
    "nut",
    "rtsp",
    "rtp",
    "rtp_mpegts",
];

/// Options for encoding in real time.
pub(crate) const LIVE: &[(&str, &[(&str, &str)])] = &[
    ("libx264", &[("preset", "veryfast")]),
    ("libx264rgb", &[("preset", "veryfast")]),
    ("libx265", &[("preset", "ultrafast")]),
    ("libvpx-vp9", &[("cpu-used", "8"), ("deadline", "realtime")]),
    ("libvpx", &[("cpu-used", "8"), ("deadline", "realtime")]),
    ("libsvtav1", &[("preset", "11")]),
    ("libaom-av1", &[("cpu-used", "8"), ("usage", "realtime")]),
    ("h264_nvenc", &[("preset", "p3")]),
    ("hevc_nvenc", &[("preset", "p3")]),
    ("av1_nvenc", &[("preset", "p3")]),
];

/// Options for encoding without delay, with key frames wherever the program requests them.
pub(crate) const NETWORK: &[(&str, &[(&str, &str)])] = &[
    ("libx264", &[("tune", "zerolatency"), ("bf", "0"), ("forced-idr", "1")]),
    ("libx265", &[("tune", "zerolatency"), ("bf", "0"), ("forced-idr", "1")]),
    ("h264_nvenc", NVENC_NETWORK),
    ("hevc_nvenc", NVENC_NETWORK),
];

const NVENC_NETWORK: &[(&str, &str)] =
    &[("tune", "ull"), ("bf", "0"), ("delay", "0"), ("zerolatency", "1"), ("forced-idr", "1")];

/// The best available encoder that makes `codec`.
pub(crate) fn keep(codec: Id) -> Option<Encoder> {
    let names = KEEPING.iter().find(|(id, _)| *id == codec)?.1;
    names.iter().find_map(|name| Encoder::find(name))
}
