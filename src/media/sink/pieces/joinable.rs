//! The encoders whose pieces can be joined without re-encoding, and the options that make this possible.

use crate::ffmpeg::encode::Encoder;
use crate::ffmpeg::mux::Container;
use crate::pipeline::{ErrorWithRemedy, Input};
use crate::sink::encoder::choice::{EncoderChoice, Pace, Quality, expected};
use crate::sink::file::is_sequence_name;
use crate::sink::files::place::is_stream;
use crate::sink::kind::OutputKind;
use crate::sink::options::OutputOptions;
use crate::sys::files::Name;
use anyhow::{Context, Result, bail, ensure};

/// An encoder, its options for pieces, and `multiple`: the frame count of each piece but the last is a multiple of it.
struct Row {
    encoder: &'static str,
    /// Options for pieces. If the user sets the same option, this value is appended to the user's.
    options: &'static [(&'static str, &'static str)],
    multiple: u64,
}

const fn row(encoder: &'static str, options: &'static [(&'static str, &'static str)], multiple: u64) -> Row {
    Row { encoder, options, multiple }
}

/// Pieces need closed GOPs, and headers that do not depend on the encoded frames.
const TABLE: &[Row] = &[
    row("libx264", &[("x264-params", "stitchable=1:open-gop=0")], 1),
    row("libx264rgb", &[("x264-params", "stitchable=1:open-gop=0")], 1),
    row("libx265", &[("x265-params", "open-gop=0:opt-qp-pps=0:opt-ref-list-length-pps=0")], 1),
    row("libvpx-vp9", &[], 1),
    row("libsvtav1", &[], 1),
    // The coder state is reset at key frames: every twelfth frame, which is FFmpeg's default of `g`.
    row("ffv1", &[], 12),
    row("prores_ks", &[], 1),
    row("prores", &[], 1),
    row("prores_aw", &[], 1),
    row("dnxhd", &[], 1),
    row("mjpeg", &[], 1),
    row("ffvhuff", &[], 1),
    row("huffyuv", &[], 1),
    row("utvideo", &[], 1),
    row("magicyuv", &[], 1),
    row("rawvideo", &[], 1),
    row("png", &[], 1),
    row("v210", &[], 1),
];

/// Encoder options that apply to the whole video, so that they cannot be used for a single piece.
const ACROSS: [&str; 6] = ["b", "maxrate", "bufsize", "flags", "pass", "stats"];

/// The number of encoder threads for frames of `pixels` pixels. It is fixed, because the encoded bytes depend on it.
fn threads(pixels: usize) -> &'static str {
    match pixels {
        0..500_000 => "2",
        500_000..3_000_000 => "6",
        _ => "12",
    }
}

/// The encoder for pieces of `input`, which are joined to the file `name`, and the options with this encoder set.
///
/// # Errors
/// When this output or this encoder does not support pieces; the message names the remedy.
pub(crate) fn joinable(
    input: &Input,
    container: Container,
    name: &Name,
    mut options: OutputOptions,
) -> Result<(Encoder, OutputOptions)> {
    let is_container = !(container.discards() || container.writes_segments() || container.is_images());
    let is_file = is_file(name, &options) && is_container && container.has_timestamps();
    ensure!(is_file, not_joined(name));
    ensure!(
        !matches!(options.encoder.quality, Quality::BitRate(_)),
        "--bitrate is shared out over the whole video, and pieces are encoded each on its own (use --crf)"
    );
    if let Some((key, _)) = options.encoder.options.iter().find(|(key, _)| ACROSS.contains(&key.as_str())) {
        bail!("--encoder-option {key} is for the whole video, and pieces are encoded each on its own (use --crf)");
    }
    let codec = options.encoder.regard(input, Pace::Offline);
    let (candidates, _) = options.encoder.candidates(codec, container, name, &mut || false)?;
    let encoder = expected(&candidates, input).context("no encoder to try")?;
    let row = row_of(encoder)?;
    let EncoderChoice { options: given, .. } = &mut options.encoder;
    for (key, value) in row.options {
        match given.iter_mut().find(|(other, _)| other == key) {
            Some((_, joined)) => *joined = format!("{joined}:{value}"),
            None => given.push(((*key).to_owned(), own_parameters(key, value))),
        }
    }
    if !given.iter().any(|(key, _)| key == "threads") {
        let pixels = input.picture.map_or(0, |(_, (width, height))| width * height);
        given.push(("threads".to_owned(), threads(pixels).to_owned()));
    }
    options.encoder.encoder = Some(encoder.name());
    Ok((encoder, options))
}

/// Whether `name` is a single file of encoded video.
fn is_file(name: &Name, options: &OutputOptions) -> bool {
    let is_other = is_stream(name) || is_sequence_name(name);
    !is_other && !OutputKind::for_name(name, options.format.as_deref()).takes_only_pictures()
}

fn not_joined(name: &Name) -> ErrorWithRemedy {
    ErrorWithRemedy::not_in_pieces(format!("{name}: pieces are joined in files that store times, like .mkv and .mp4"))
}

/// The value of the option `key`, after the parameters that the encoder table sets for every output.
fn own_parameters(key: &str, value: &str) -> String {
    if key == "x265-params" { format!("log-level=none:{value}") } else { value.to_owned() }
}

/// The encoder for the pieces of a video.
pub struct PieceEncoder {
    /// Its name.
    pub name: String,
    /// All its options.
    pub options: Vec<(String, String)>,
    /// The frame count of each piece but the last is a multiple of this.
    pub multiple: u64,
}

/// The encoder for pieces of `input`, which are joined to the file `name`.
///
/// # Errors
/// When this output or this encoder does not support pieces; the message names the remedy.
pub fn piece_encoder(input: &Input, name: &Name, options: OutputOptions) -> Result<PieceEncoder> {
    ensure!(is_file(name, &options), not_joined(name));
    let container = crate::sink::file::container(name, options.format.as_deref())?;
    let (encoder, options) = joinable(input, container, name, options)?;
    let size = input.picture.map(|(_, size)| size);
    let settings = options.encoder.settings(encoder, container, size, Pace::Offline)?;
    let mut all = settings.options;
    all.extend(settings.quantizer.map(|quantizer| ("q".to_owned(), quantizer.to_string())));
    let row = row_of(encoder)?;
    let group = all.iter().find(|(key, _)| key == "g").and_then(|(_, value)| value.parse().ok());
    let multiple = if row.multiple > 1 { group.unwrap_or(row.multiple).max(1) } else { 1 };
    Ok(PieceEncoder { name: encoder.name(), options: all, multiple })
}

fn row_of(encoder: Encoder) -> Result<&'static Row> {
    let name = encoder.name();
    let row = TABLE.iter().find(|row| row.encoder == name);
    row.with_context(|| {
        let known: Vec<&str> = TABLE.iter().map(|row| row.encoder).collect();
        format!("pieces of encoder {name} cannot be joined (with --encoder, one of {} can)", known.join(", "))
    })
}
