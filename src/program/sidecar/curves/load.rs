//! Reads a curve file, and checks all of it before a run begins.

use super::lines::{CurveFormat, CurveLine, Header, VERSION};
use anyhow::{Context, Result, anyhow, bail, ensure};
use histeq::frame::limits;
use histeq::spec::Curve;
use histeq::spec::chroma::UNIT_GAIN;
use histeq_media::sys::{is_fifo, open_regular};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// An example of the first line, for messages.
const EXAMPLE: &str = r#"{"histeq_curves":1,"depth":8,"range":"limited"}"#;

/// The curves of a file.
#[derive(Clone, Debug)]
pub struct CurveFile {
    name: String,
    format: CurveFormat,
    /// The curves, in the order of their frames.
    curves: Vec<CurveLine<Curve>>,
}

impl CurveFile {
    /// Reads the file or FIFO `name`.
    ///
    /// # Errors
    /// When it cannot be read, or a line is invalid.
    pub fn read(name: &str) -> Result<Self> {
        // A FIFO is waited for before signals are listened for, so that they still end the program.
        let file = if is_fifo(name) { File::open(name) } else { open_regular(name) };
        CurveFile::of(file.with_context(|| format!("{name}: cannot be read"))?, name)
    }

    /// Reads this open file; `name` is its name in messages.
    ///
    /// # Errors
    /// As for [`read`](Self::read).
    pub fn of(file: File, name: &str) -> Result<Self> {
        let is_archive = Path::new(name).extension().is_some_and(|extension| extension == "npz");
        ensure!(!is_archive, "{name}: an archive is for NumPy, and not read here (save curves to a .jsonl)");
        let most = limits::memory() / 4;
        let mut text = String::new();
        let length = file.take(most as u64).read_to_string(&mut text);
        let length = length.with_context(|| format!("{name}: cannot be read"))?;
        ensure!(length < most, "{name}: more than {} MiB of curves (give more with --max-memory)", most >> 20);
        CurveFile::parse(name, &text)
    }

    /// Parses the content `text` of a file; `name` is its name in messages.
    ///
    /// # Errors
    /// When a line is invalid.
    pub fn parse(name: &str, text: &str) -> Result<Self> {
        let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
        let mut lines = lines.map(|(number, line)| (format!("{name}: line {number}"), line));
        let Some((place, line)) = lines.next() else { bail!("{name}: the file is empty") };
        let header: Header = serde_json::from_str(line).map_err(|error| {
            anyhow!("{place}: {}: not the header of a curve file; expected {EXAMPLE}", reason(&error))
        })?;
        let (version, format) = (header.histeq_curves, header.format);
        ensure!(version == VERSION, "{place}: unsupported format version {version} (supported: {VERSION})");
        ensure!((8..=16).contains(&format.depth), "{place}: a depth of {} bits, not 8 to 16", format.depth);
        let mut curves: Vec<CurveLine<Curve>> = Vec::new();
        for (place, line) in lines {
            let line = parse_line(line, format).with_context(|| place.clone())?;
            if let Some(before) = curves.last().filter(|before| before.frame >= line.frame) {
                bail!("{place}: frame {} after frame {} (frame numbers must increase)", line.frame, before.frame);
            }
            curves.push(line);
        }
        ensure!(!curves.is_empty(), "{name}: no curve in it");
        Ok(CurveFile { name: name.to_owned(), format, curves })
    }

    /// The name of the file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The format of the curves.
    pub fn format(&self) -> CurveFormat {
        self.format
    }

    /// The first frame that a curve is for.
    pub fn begins_at(&self) -> u64 {
        self.curves[0].frame
    }

    /// Index of the curve of frame `frame`.
    pub fn index_at(&self, frame: u64) -> usize {
        self.curves.partition_point(|line| line.frame <= frame).saturating_sub(1)
    }

    /// The curve with this index, and the gain of chroma where it follows, in 4096ths.
    pub fn curve(&self, index: usize) -> (&Curve, u32) {
        let line = &self.curves[index];
        (&line.lut, line.chroma_gain)
    }

    /// Whether colour changes with a curve, where it follows.
    pub fn changes_chroma(&self) -> bool {
        self.curves.iter().any(|line| line.chroma_gain != UNIT_GAIN)
    }
}

fn parse_line(line: &str, format: CurveFormat) -> Result<CurveLine<Curve>> {
    let CurveLine { frame, lut, chroma_gain }: CurveLine<Vec<u64>> =
        serde_json::from_str(line).map_err(|error| anyhow!("{}", reason(&error)))?;
    let codes = format.levels().codes();
    ensure!(lut.len() == codes, "{} codes, not the {codes} of {} bits", lut.len(), format.depth);
    if let Some((code, to)) = lut.iter().enumerate().find(|(_, to)| **to >= codes as u64) {
        bail!("code {code} becomes {to}, which is above {}", codes - 1);
    }
    let lut = lut.into_iter().map(|to| to as u16).collect();
    let lut = Curve::from_codes(format.levels(), lut).context("a curve of another depth")?;
    Ok(CurveLine { frame, lut, chroma_gain })
}

/// The message of the parser, without its position, which counts lines from the parsed one.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or(&text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use histeq::spec::Levels;

    const HEADER: &str = EXAMPLE;

    fn line(frame: u64, to: u16) -> String {
        format!("{{\"frame\":{frame},\"lut\":{:?}}}", vec![to; 256])
    }

    fn error(text: &str) -> String {
        format!("{:#}", CurveFile::parse("c", text).expect_err("an error"))
    }

    #[test]
    fn a_frame_has_the_last_curve_that_begins_at_or_before_it() {
        let text = format!("{HEADER}\n\n{}\r\n  {}\n{}\n", line(3, 1), line(7, 2), line(8, 3));
        let curves = CurveFile::parse("c", &text).expect("curves");
        let codes = [0, 2, 3, 6, 7, 8, 1000].map(|frame| curves.curve(curves.index_at(frame)).0.apply(9));
        assert_eq!(codes, [1, 1, 1, 1, 2, 3, 3]);
        assert_eq!(curves.format().levels(), Levels::limited(8));
    }

    #[test]
    fn an_invalid_line_is_reported_with_its_number() {
        assert_eq!(error(" \n"), "c: the file is empty");
        assert_eq!(error(HEADER), "c: no curve in it");
        assert!(error(&line(0, 1)).starts_with("c: line 1: missing field `histeq_curves`: not the header"));
        assert!(error("PNG").starts_with("c: line 1: expected value"), "{}", error("PNG"));
        let version = HEADER.replace(":1", ":2");
        assert!(error(&version).starts_with("c: line 1: unsupported format version 2"), "{}", error(&version));
        assert_eq!(error(&HEADER.replace(":8", ":40")), "c: line 1: a depth of 40 bits, not 8 to 16");
        assert!(error(&HEADER.replace("limited", "tv")).starts_with("c: line 1: unknown variant `tv`"));
        let after = |line: &str| error(&format!("{HEADER}\n\n{line}"));
        assert_eq!(after("{\"frame\":0}"), "c: line 3: missing field `lut`");
        assert_eq!(after("{\"frame\":0,\"lut\":[1,2]}"), "c: line 3: 2 codes, not the 256 of 8 bits");
        assert_eq!(after(&line(0, 256)), "c: line 3: code 0 becomes 256, which is above 255");
        let negative = line(0, 7).replacen('7', "-7", 1);
        assert!(after(&negative).starts_with("c: line 3: invalid value: integer `-7`"), "{}", after(&negative));
        let less = line(0, 7).replacen('}', ",\"chroma_gain\":-1}", 1);
        assert!(after(&less).starts_with("c: line 3: invalid value: integer `-1`"), "{}", after(&less));
        let twice = format!("{}\n{}", line(5, 1), line(5, 2));
        assert!(after(&twice).starts_with("c: line 4: frame 5 after frame 5 ("), "{}", after(&twice));
    }
}
