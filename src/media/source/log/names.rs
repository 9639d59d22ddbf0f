//! What names a log curve in a file, as FFmpeg shows it.
//!
//! A key is here if files of cameras or recorders have it:
//!
//! | key | value | who writes it | seen in |
//! |---|---|---|---|
//! | `com.apple.proapps.customgamma` | `com.apple.rec2020.apple-log` | Blackmagic Camera on an iPhone 15 Pro, beside the atom `logs` | Apple's documentation of `LogTransferFunction_AppleLog`; an analysis of such a file in LogForge |
//! | the same | `com.blackmagic-design.camera.filmlog`, where `com.blackmagic-design.camera.colorScience` is generation 5 | proxies of Blackmagic RAW | rpresolve |
//! | `com.apple.proapps.customcolor` | `com.sony.s-log3-cine` | Final Cut Pro, for what it imports from Sony's cameras | go-xmp, `models/qt` |
//! | `com.panasonic.Semi-Pro.metadata.xml` | `<CaptureGamma>V-Log</CaptureGamma>`, `V-LogL` | Panasonic's LUMIX cameras (`.MOV`) | outputs of ExifTool in several repositories; rpresolve |
//! | `com.arri.camera.ColorGammaSxS` | `LOG-C` | ARRI's ALEXA (ProRes) | viewers of films that read it from FFmpeg |
//! | `com.atomos.hdr.gamma` and `com.atomos.hdr.gamut` | `VLog` and `VGamut` | Atomos' Ninja V, of what HDMI told it | rpresolve |
//! | the transfer characteristics | 9 and 10 | ITU-T H.273 | FFmpeg's `log100`, `log316` |
//!
//! FFmpeg does not show the atom `logs` of Apple's Camera, the XML of Sony's cameras (`CaptureGammaEquation`, in the
//! file or beside it), nor the notes of Canon, Fujifilm, Nikon and DJI.

use super::{LogCurve, NamedLog};
use crate::ffmpeg::demux::{Media, Metadata};
use crate::ffmpeg::frame::LogTransfer;

/// Who named a curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamedBy {
    /// The metadata of the file or of its video.
    Metadata,
    /// The transfer characteristics.
    Tags,
    /// The user.
    Option,
}

const CUSTOM_GAMMA: &str = "com.apple.proapps.customgamma";
const CUSTOM_COLOUR: &str = "com.apple.proapps.customcolor";
const PANASONIC: &str = "com.panasonic.Semi-Pro.metadata.xml";
const ARRI: &str = "com.arri.camera.ColorGammaSxS";
const ATOMOS: [&str; 2] = ["com.atomos.hdr.gamma", "com.atomos.hdr.gamut"];
const BLACKMAGIC: &str = "com.blackmagic-design.camera.colorScience";

/// The curve that the file names for the pictures of stream `video`, if it names one.
pub fn named_in(media: &Media, video: usize) -> Option<NamedLog> {
    let stream = &media.streams[video];
    let by_metadata = [&stream.metadata, &media.metadata].into_iter().find_map(by_metadata);
    let by_metadata = by_metadata.map(|curve| NamedLog { curve, by: NamedBy::Metadata });
    let by_tags = stream.colour().log_transfer().map(|transfer| match transfer {
        LogTransfer::By100 => LogCurve::Log100,
        LogTransfer::By316 => LogCurve::Log316,
    });
    by_metadata.or(by_tags.map(|curve| NamedLog { curve, by: NamedBy::Tags }))
}

/// Removes the metadata that would make an editor, or this program, convert the pictures once more.
pub fn forget(media: &mut Media, video: usize) {
    let names = [CUSTOM_GAMMA, CUSTOM_COLOUR, PANASONIC, ARRI, ATOMOS[0], ATOMOS[1]];
    let names_curve = |key: &str| names.iter().any(|name| name.eq_ignore_ascii_case(key));
    media.metadata.retain(|(key, _)| !names_curve(key));
    media.streams[video].metadata.retain(|(key, _)| !names_curve(key));
}

fn by_metadata(metadata: &Metadata) -> Option<LogCurve> {
    let value = |key: &str| {
        let found = metadata.iter().find(|(other, _)| other.eq_ignore_ascii_case(key));
        found.map(|(_, value)| value.trim().to_ascii_lowercase())
    };
    let is = |key: &str, wanted: &str| value(key).is_some_and(|value| value == wanted);
    let panasonic = value(PANASONIC).unwrap_or_default();
    let gamma =
        panasonic.split_once("<capturegamma>").and_then(|(_, rest)| rest.split_once('<')).map(|(gamma, _)| gamma);
    if is(CUSTOM_GAMMA, "com.apple.rec2020.apple-log") {
        Some(LogCurve::AppleLog)
    } else if is(CUSTOM_GAMMA, "com.blackmagic-design.camera.filmlog")
        && value(BLACKMAGIC).is_some_and(|science| science.contains("gen 5"))
    {
        Some(LogCurve::BmdFilm5)
    } else if is(CUSTOM_COLOUR, "com.sony.s-log3-cine") {
        Some(LogCurve::SLog3)
    } else if matches!(gamma, Some("v-log" | "v-logl")) || is(ATOMOS[0], "vlog") && is(ATOMOS[1], "vgamut") {
        Some(LogCurve::VLog)
    } else if is(ARRI, "log-c") {
        Some(LogCurve::LogC3)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_are_known_by_what_cameras_write_and_by_nothing_else() {
        let named = |entries: &[(&str, &str)]| {
            by_metadata(&entries.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect())
        };
        let xml = |gamma: &str| format!("<Gamma>\n <CaptureGamma>{gamma}</CaptureGamma>\n</Gamma>");
        assert_eq!(named(&[(CUSTOM_GAMMA, "com.apple.rec2020.apple-log")]), Some(LogCurve::AppleLog));
        assert_eq!(named(&[(CUSTOM_COLOUR, "com.sony.s-log3-cine")]), Some(LogCurve::SLog3));
        assert_eq!(named(&[(PANASONIC, &xml("V-Log"))]), Some(LogCurve::VLog));
        assert_eq!(named(&[(PANASONIC, &xml("V-LogL"))]), Some(LogCurve::VLog));
        assert_eq!(named(&[("com.arri.camera.colorgammasxs", "LOG-C")]), Some(LogCurve::LogC3));
        assert_eq!(named(&[(ATOMOS[0], "VLog"), (ATOMOS[1], "VGamut")]), Some(LogCurve::VLog));
        let film = (CUSTOM_GAMMA, "com.blackmagic-design.camera.filmlog");
        assert_eq!(named(&[film, (BLACKMAGIC, "Blackmagic Design Film Gen 5")]), Some(LogCurve::BmdFilm5));
        for other in [
            &[film][..],
            &[(ATOMOS[0], "VLog"), (ATOMOS[1], "Rec709")],
            &[(PANASONIC, &xml("CINELIKE_D"))],
            &[(ARRI, "REC-709")],
            &[(CUSTOM_GAMMA, "")],
            &[("title", "S-Log3")],
        ] {
            assert_eq!(named(other), None, "{other:?}");
        }
    }
}
