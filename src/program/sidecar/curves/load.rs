//! Reads a curve file, and checks all of it before a run begins.

use super::lines::{CurveFormat, CurveLine, Header, VERSION};
use anyhow::{Context, Result, anyhow, bail, ensure};
use histeq::Limits;
use histeq::internal::spec::chroma::UNIT_GAIN;
use histeq::internal::spec::curves::Mapping;
use histeq_media::sys::files::{Name, open_regular};
use histeq_media::sys::io::is_fifo;
use std::fs::File;
use std::io::Read;

/// An example of the first line, for messages.
const EXAMPLE: &str = r#"{"histeq_curves":1,"depth":8,"range":"limited"}"#;

/// The curves of a file.
#[derive(Clone, Debug)]
pub struct CurveFile {
    /// The name of the file.
    pub name: String,
    /// The format of the curves.
    pub format: CurveFormat,
    /// Mappings, each with the number of the first frame that it is for, in the order of frames.
    mappings: Vec<(u64, Mapping)>,
}

impl CurveFile {
    /// Reads the file or FIFO `name`.
    ///
    /// # Errors
    /// When it cannot be read, or a line is invalid.
    pub fn read(name: &Name, limits: &Limits) -> Result<Self> {
        // Opening a FIFO waits for its writer. Signals are not handled yet, so that they still end the program.
        let file = if is_fifo(name) { File::open(name) } else { open_regular(name) };
        CurveFile::from_file(file.with_context(|| format!("{name}: cannot be read"))?, &name.to_string(), limits)
    }

    /// Reads this open file; `name` is its name in messages.
    ///
    /// # Errors
    /// As for [`read`](Self::read).
    pub fn from_file(file: File, name: &str, limits: &Limits) -> Result<Self> {
        let most = limits.memory() / 4;
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
        let mut mappings: Vec<(u64, Mapping)> = Vec::new();
        for (place, line) in lines {
            let (frame, mapping) = parse_line(line, format).with_context(|| place.clone())?;
            if let Some((before, _)) = mappings.last().filter(|(before, _)| *before >= frame) {
                bail!("{place}: frame {frame} after frame {before} (frame numbers must increase)");
            }
            mappings.push((frame, mapping));
        }
        ensure!(!mappings.is_empty(), "{name}: no curve in it");
        Ok(CurveFile { name: name.to_owned(), format, mappings })
    }

    /// The first frame that a curve is for.
    pub fn begins_at(&self) -> u64 {
        self.mappings[0].0
    }

    /// Index of the mapping of frame `frame`.
    pub fn index_at(&self, frame: u64) -> usize {
        self.mappings.partition_point(|(start, _)| *start <= frame).saturating_sub(1)
    }

    /// The mapping with this index.
    pub fn mapping(&self, index: usize) -> &Mapping {
        &self.mappings[index].1
    }

    /// Whether any mapping has a gain of chroma other than 1.
    pub fn changes_chroma(&self) -> bool {
        self.mappings.iter().any(|(_, mapping)| has_gain(mapping))
    }
}

fn has_gain(mapping: &Mapping) -> bool {
    match mapping {
        Mapping::Curve { chroma_gain, .. } => *chroma_gain != UNIT_GAIN,
        Mapping::Veil(veil) => veil.chroma.as_flattened().iter().any(|gain| *gain != UNIT_GAIN),
        Mapping::Balanced { then, .. } => has_gain(then),
        Mapping::Balance(_) | Mapping::Tiles { .. } => false,
    }
}

fn parse_line(line: &str, format: CurveFormat) -> Result<(u64, Mapping)> {
    let line: CurveLine<Vec<u64>> = serde_json::from_str(line).map_err(|error| anyhow!("{}", reason(&error)))?;
    Ok((line.frame, line.mapping(format)?))
}

/// The message of the parser, without its position, which counts lines from the parsed one.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or(&text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use histeq::internal::spec::curves::Levels;
    use serde_json::json;

    const HEADER: &str = EXAMPLE;

    fn line(frame: u64, code: u16) -> String {
        format!("{{\"frame\":{frame},\"lut\":{:?}}}", vec![code; 256])
    }

    fn error(text: &str) -> String {
        format!("{:#}", CurveFile::parse("c", text).expect_err("an error"))
    }

    #[test]
    fn a_frame_has_the_last_curve_that_begins_at_or_before_it() {
        let text = format!("{HEADER}\n\n{}\r\n  {}\n{}\n", line(3, 1), line(7, 2), line(8, 3));
        let curves = CurveFile::parse("c", &text).expect("curves");
        let codes = [0, 2, 3, 6, 7, 8, 1000].map(|frame| match curves.mapping(curves.index_at(frame)) {
            Mapping::Curve { curve, .. } => curve.apply(9),
            other => panic!("{other:?}"),
        });
        assert_eq!(codes, [1, 1, 1, 1, 2, 3, 3]);
        assert_eq!(curves.format.levels(), Levels::limited(8));
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
        assert_eq!(after("{\"frame\":0}"), "c: line 3: missing field `lut` (or `balance`, or `regions`)");
        assert_eq!(after("{\"frame\":0,\"lut\":[1,2]}"), "c: line 3: 2 codes, not the 256 of 8 bits");
        assert_eq!(after(&line(0, 256)), "c: line 3: code 0 becomes 256, which is above 255");
        let negative = line(0, 7).replacen('7', "-7", 1);
        assert!(after(&negative).starts_with("c: line 3: invalid value: integer `-7`"), "{}", after(&negative));
        let less = line(0, 7).replacen('}', ",\"chroma_gain\":-1}", 1);
        assert!(after(&less).starts_with("c: line 3: invalid value: integer `-1`"), "{}", after(&less));
        let (flat, points) = (|number: u32| [[number; 8]; 8], |point: i32| [point; 17]);
        let curve = json!({"points": points(0), "light": 65536});
        let regions = json!({"taken": flat(0), "gains": flat(4096), "chroma": flat(4096), "curve": curve});
        let balance = json!({"gains": [1, 2, 3], "offsets": [0, -7, 0]});
        let whole = json!({"frame": 0, "balance": balance, "regions": regions});
        assert!(CurveFile::parse("c", &format!("{HEADER}\n{whole}")).is_ok());
        for (part, name, value, message) in [
            ("/balance", "gains", json!([1, 2]), "invalid length 2"),
            ("/balance", "gains", json!([1, 1_048_577, 3]), "balance.gains: 1048577 is not from 0 to 1048576"),
            ("/balance", "offsets", json!([0, -56_065, 0]), "balance.offsets: -56065 is not from -56064 to 56064"),
            ("/regions", "gains", json!(flat(u32::MAX)), "regions.gains: 4294967295 is not from 0 to 1048576"),
            ("/regions", "chroma", json!([[1]]), "invalid length 1"),
            ("/regions", "taken", json!(7), "invalid type: integer `7`"),
            ("/regions", "ceiling", json!(220), "regions.ceiling: 220 is not from 0 to 219"),
            ("/regions", "more", json!(0), "unknown field `more`"),
            (
                "/regions/curve",
                "points",
                json!(points(-65_281)),
                "regions.curve.points: -65281 is not from -65280 to 65280",
            ),
            ("/regions/curve", "light", json!(1 << 21), "regions.curve.light: 2097152 is not from 0 to 1048576"),
            ("", "lut", json!([0, 1, 2]), "a `lut` and `regions`"),
            ("", "chroma_gain", json!(5), "a `chroma_gain` without a `lut`"),
        ] {
            let mut line = whole.clone();
            line.pointer_mut(part).expect("a part")[name] = value;
            let found = after(&line.to_string());
            assert!(found.starts_with(&format!("c: line 3: {message}")), "{found}");
        }
        let twice = format!("{}\n{}", line(5, 1), line(5, 2));
        assert!(after(&twice).starts_with("c: line 4: frame 5 after frame 5 ("), "{}", after(&twice));
    }
}
