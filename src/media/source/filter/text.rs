//! A text that is drawn into pictures.

use super::filtered::filtered;
use crate::ffmpeg::filter::FilterGraph;
use crate::pipeline::{Input, Notices, Source};
use anyhow::{Context, Result, ensure};
use std::path::Path;

/// Fonts of usual packages, by their files: not every FFmpeg finds fonts by name.
const FONTS: [&str; 6] = [
    "/usr/share/fonts/truetype/dejavu/DejaVuSansMono.ttf",
    "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",
    "/usr/share/fonts/truetype/liberation/LiberationMono-Regular.ttf",
    "/usr/share/fonts/truetype/noto/NotoSansMono-Regular.ttf",
    "/usr/share/fonts/dejavu-sans-mono-fonts/DejaVuSansMono.ttf",
    "/usr/share/fonts/TTF/DejaVuSansMono.ttf",
];

/// `opened` with `text` at the top left of its pictures. Conversions of `strftime` in `text` give the time of drawing.
///
/// # Errors
/// When FFmpeg lacks the filter for it, or finds no font.
pub fn with_text(opened: (Box<dyn Source>, Input), text: &str, notices: &Notices) -> Result<(Box<dyn Source>, Input)> {
    ensure!(
        FilterGraph::knows("drawtext"),
        "--osd: this FFmpeg lacks the filter drawtext (take one that is built with libfreetype)"
    );
    let chain = drawtext(text, FONTS.into_iter().find(|font| Path::new(font).exists()));
    filtered(opened, "--osd", &chain, notices).context("--osd needs a font (as in Debian's package fonts-dejavu-core)")
}

/// The filter that draws `text` with this font file, or with FFmpeg's default font.
fn drawtext(text: &str, font: Option<&str>) -> String {
    // FFmpeg parses the text three times: as an argument of `localtime`, as an option of the filter, as a part of a
    // chain.
    let text = format!("%{{localtime:{}}}", escaped(text, "\\':}"));
    let text = escaped(&escaped(&text, "\\':"), "\\'[],;");
    let font = font.map(|font| format!("fontfile={font}:")).unwrap_or_default();
    format!(
        "drawtext={font}text={text}:x=h/60:y=h/60:fontsize=max(h/24\\,12):fontcolor=white:box=1:boxcolor=black@0.5:\
         boxborderw=4"
    )
}

/// `text` with a backslash before each of these characters.
pub(crate) fn escaped(text: &str, special: &str) -> String {
    text.chars().fold(String::new(), |mut all, c| {
        if special.contains(c) {
            all.push('\\');
        }
        all.push(c);
        all
    })
}
