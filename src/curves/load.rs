//! The curves of a file, read and checked as a whole before anything is done with them.

use super::lines::{Header, Kind, Line, VERSION};
use crate::spec::Curve;
use anyhow::{Context, Result, anyhow, bail, ensure};

/// What the first line has to look like.
const EXAMPLE: &str = r#"{"histeq_curves":1,"depth":8,"range":"limited"}"#;

/// Curves, and which frames get them.
#[derive(Clone, Debug)]
pub struct CurveFile {
    name: String,
    kind: Kind,
    /// The first frame of each, in order.
    curves: Vec<(u64, Curve)>,
}

impl CurveFile {
    /// Those of the file `name`.
    ///
    /// # Errors
    /// When it cannot be read, or a line of it makes no sense.
    pub fn read(name: &str) -> Result<Self> {
        let text = std::fs::read_to_string(name).with_context(|| format!("{name}: cannot be read"))?;
        CurveFile::parse(name, &text)
    }

    /// Those of `text`; messages call it `name`.
    ///
    /// # Errors
    /// When a line of it makes no sense.
    pub fn parse(name: &str, text: &str) -> Result<Self> {
        let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
        let mut lines = lines.map(|(number, line)| (format!("{name}: line {number}"), line));
        let Some((place, line)) = lines.next() else { bail!("{name}: the file is empty") };
        let header: Header = serde_json::from_str(line).map_err(|error| {
            anyhow!("{place}: {}: not the header of a curve file; expected {EXAMPLE}", reason(&error))
        })?;
        let (version, kind) = (header.histeq_curves, header.kind);
        ensure!(version == VERSION, "{place}: unsupported format version {version} (supported: {VERSION})");
        ensure!((8..=16).contains(&kind.depth), "{place}: a depth of {} bits, not 8 to 16", kind.depth);
        let mut curves: Vec<(u64, Curve)> = Vec::new();
        for (place, line) in lines {
            let Line { frame, lut } = parse_line(line, kind).with_context(|| place.clone())?;
            if let Some((before, _)) = curves.last().filter(|(before, _)| *before >= frame) {
                bail!("{place}: frame {frame} after frame {before} (frame numbers must increase)");
            }
            curves.push((frame, lut));
        }
        ensure!(!curves.is_empty(), "{name}: no curve in it");
        Ok(CurveFile { name: name.to_owned(), kind, curves })
    }

    /// How messages name the file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the curves are for.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Which curve is that of a frame.
    pub fn index_at(&self, frame: u64) -> usize {
        self.curves.partition_point(|(first, _)| *first <= frame).saturating_sub(1)
    }

    /// The curve of this index.
    pub fn curve(&self, index: usize) -> &Curve {
        &self.curves[index].1
    }
}

fn parse_line(line: &str, kind: Kind) -> Result<Line<Curve>> {
    let Line { frame, lut }: Line<Vec<u64>> =
        serde_json::from_str(line).map_err(|error| anyhow!("{}", reason(&error)))?;
    let codes = kind.levels().codes();
    ensure!(lut.len() == codes, "{} codes, not the {codes} of {} bits", lut.len(), kind.depth);
    if let Some((code, to)) = lut.iter().enumerate().find(|(_, to)| **to >= codes as u64) {
        bail!("code {code} becomes {to}, which is above {}", codes - 1);
    }
    let lut = lut.into_iter().map(|to| to as u16).collect();
    let lut = Curve::from_codes(kind.levels(), lut).context("a curve of another depth")?;
    Ok(Line { frame, lut })
}

/// What the parser says, without the line, which is always its first.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or(&text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Levels;

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
        let codes = [0, 2, 3, 6, 7, 8, 1000].map(|frame| curves.curve(curves.index_at(frame)).apply(9));
        assert_eq!(codes, [1, 1, 1, 1, 2, 3, 3]);
        assert_eq!(curves.kind().levels(), Levels::limited(8));
    }

    #[test]
    fn what_makes_no_sense_is_named_with_its_line() {
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
        let twice = format!("{}\n{}", line(5, 1), line(5, 2));
        assert!(after(&twice).starts_with("c: line 4: frame 5 after frame 5 ("), "{}", after(&twice));
    }
}
