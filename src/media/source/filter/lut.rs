//! A table of colours in a .cube file, as grading programs write it, through which pictures pass.

use super::filtered::{Scope, TYPICAL_SIZE, delivered_format, filtered_in};
use super::text::escaped;
use crate::ffmpeg::filter::FilterGraph;
use crate::ffmpeg::frame::RawFormat;
use crate::pipeline::{FailureKind, Input, Notices, Source};
use crate::sys::files::{Name, open_regular};
use anyhow::{Context, Result, bail, ensure};
use histeq::internal::frame::{Matrix, PixelFormat};
use std::io::{BufRead, BufReader, Read};

/// The most bytes that are read to find the line with the table's kind, which follows titles and comments.
const HEAD: u64 = 1 << 20;

/// The most bytes of a line. Those of a table are shorter by far.
const MAX_LINE: u64 = 4096;

/// The largest size of a table of curves that FFmpeg accepts.
const MAX_SIZE: u64 = 65_536;

/// The largest number in a table: FFmpeg multiplies it by 65535, and the product has to fit into 32 bits.
const MAX_NUMBER: f32 = 32_767.0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TableKind {
    /// A curve for each of red, green and blue.
    Curves,
    /// A colour for each point of a three-dimensional grid of colours.
    Colours,
}

/// `source` with the table of the .cube file `name` applied to its pictures, and the description of the output. The
/// table is applied in RGB of 16 bits, with tetrahedral interpolation if it has a grid; format, range and matrix of the
/// pictures stay.
///
/// # Errors
/// When the file is no table, FFmpeg lacks the filter for it or refuses it, or the pictures have alpha, which it would
/// lose.
pub fn looked_up(
    (source, input): (Box<dyn Source>, Input),
    name: &Name,
    notices: &Notices,
) -> Result<(Box<dyn Source>, Input)> {
    let kind = kind_of(name)?;
    let filter = if kind == TableKind::Curves { "lut1d" } else { "lut3d" };
    ensure!(FilterGraph::knows(filter), "--lut {name}: this FFmpeg lacks the filter {filter}");
    let format = delivered_format(input.picture.map_or(PixelFormat::Yuv420p.into(), |(format, _)| format));
    ensure!(!format.has_alpha(), "--lut {name}: {} has alpha, which the table would lose", input.name);
    let stream = input.video_stream();
    let matrix = stream.matrix(input.picture.map_or(TYPICAL_SIZE, |(_, size)| size));
    let chain = chain(kind, name, format, matrix, stream.colour().is_full_range(format));
    filtered_in((source, input), "--lut", chain, Scope::Whole, notices)
}

/// The kind of table in the file `name`. Its numbers are checked, because FFmpeg accepts all.
fn kind_of(name: &Name) -> Result<TableKind> {
    let path = name.path();
    let is_cube = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("cube"));
    ensure!(is_cube, "--lut {name}: is no .cube file");
    let of_system = |error| FailureKind::file_error(Name::from(format!("--lut {name}")), &error);
    let file = open_regular(path).map_err(of_system)?;
    let (mut reader, mut line, mut read) = (BufReader::new(file), Vec::new(), 0);
    let (mut found, mut left) = (None, u64::MAX);
    let mut domain = [[0_f32; 3], [1.0; 3]];
    for number in 1_u64.. {
        line.clear();
        let bytes = reader.by_ref().take(MAX_LINE).read_until(b'\n', &mut line).map_err(of_system)?;
        read += bytes as u64;
        if bytes == 0 || left == 0 || found.is_none() && read > HEAD {
            break;
        }
        ensure!(
            (bytes as u64) < MAX_LINE || line.ends_with(b"\n"),
            "--lut {name}: line {number} is longer than {MAX_LINE} bytes: it is no .cube file"
        );
        let text = String::from_utf8_lossy(&line);
        let mut words = text.split_ascii_whitespace();
        let first = words.next().unwrap_or_default();
        match (first, found) {
            ("LUT_1D_SIZE" | "LUT_3D_SIZE", None) => {
                let size = words.next().and_then(|word| word.parse::<u64>().ok()).filter(|&size| size <= MAX_SIZE);
                let kind = if first == "LUT_1D_SIZE" { TableKind::Curves } else { TableKind::Colours };
                left = size.unwrap_or(0).pow(if kind == TableKind::Curves { 1 } else { 3 });
                found = Some(kind);
            }
            ("DOMAIN_MIN" | "DOMAIN_MAX", _) => {
                check(words.clone(), name, number)?;
                let end = &mut domain[usize::from(first == "DOMAIN_MAX")];
                end.iter_mut().zip(words.filter_map(|word| word.parse().ok())).for_each(|(end, number)| *end = number);
            }
            ("LUT_1D_INPUT_RANGE" | "LUT_3D_INPUT_RANGE", _) => {
                check(words.clone(), name, number)?;
                let ends = words.filter_map(|word| word.parse().ok());
                domain.iter_mut().zip(ends).for_each(|(end, number)| *end = [number; 3]);
            }
            ("" | "TITLE", _) | (_, None) => {}
            _ if first.starts_with(['#', 'L', 'D']) => {}
            (_, Some(_)) => {
                check(text.split_ascii_whitespace(), name, number)?;
                left -= 1;
            }
        }
    }
    let [low, high] = domain;
    ensure!(
        low.iter().zip(high).all(|(low, high)| *low < high),
        "--lut {name}: its domain ends where it begins, or before (DOMAIN_MIN is below DOMAIN_MAX, mostly 0 and 1)"
    );
    found.with_context(|| format!("--lut {name}: has neither LUT_1D_SIZE nor LUT_3D_SIZE: it is no .cube file"))
}

/// Checks the first three of these words to be numbers that FFmpeg can work with.
fn check<'a>(words: impl Iterator<Item = &'a str>, name: &Name, line: u64) -> Result<()> {
    let is_number = |word: &str| word.parse::<f32>().is_ok_and(|number| number.abs() <= MAX_NUMBER);
    match words.take(3).find(|word| !is_number(word)) {
        Some(word) => bail!("--lut {name}: line {line}: {word} is no number of a table, where black is 0 and white 1"),
        None => Ok(()),
    }
}

/// The filters that apply the table to pictures of `format`.
fn chain(kind: TableKind, name: &Name, format: RawFormat, matrix: Matrix, is_full: bool) -> Name {
    let (lut, interpolation) = match kind {
        TableKind::Curves => ("lut1d", "linear"),
        TableKind::Colours => ("lut3d", "tetrahedral"),
    };
    let [before, behind] = around(format, matrix, is_full);
    let mut chain = format!("{before}{lut}=interp={interpolation}:file=").into_bytes();
    for chunk in name.bytes().utf8_chunks() {
        // FFmpeg parses the name twice: as an option, as a part of a chain.
        chain.extend(escaped(&escaped(chunk.valid(), "\\':"), "\\'[],;").bytes());
        chain.extend(chunk.invalid());
    }
    chain.extend(behind.bytes());
    Name::from_bytes(chain)
}

/// The filters before and after the table. The filter before it reads the matrix from the tags of the pictures.
fn around(format: RawFormat, matrix: Matrix, is_full: bool) -> [String; 2] {
    let format_name = format.name().replacen("yuvj", "yuv", 1);
    if format.is_rgb() {
        return ["format=gbrp16le,".to_owned(), format!(",format={format_name}")];
    }
    let flags = "flags=bilinear+accurate_rnd+full_chroma_int+full_chroma_inp";
    let (scaled, tagged) = match matrix {
        Matrix::Bt601 => ("bt601", "smpte170m"),
        Matrix::Bt709 => ("bt709", "bt709"),
        Matrix::Bt2020 => ("bt2020", "bt2020nc"),
    };
    let range = if is_full { "pc" } else { "tv" };
    [
        format!("scale=in_range={range}:{flags},format=gbrp16le,"),
        format!(
            ",scale=out_color_matrix={scaled}:out_range={range}:{flags},format={format_name},\
             setparams=colorspace={tagged}:range={range}"
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_is_found_behind_titles_and_comments() {
        let folder = tempfile::tempdir().expect("a folder");
        let kind = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).expect("written");
            kind_of(&(&*path).into()).map_err(|error| error.to_string())
        };
        assert_eq!(kind("a.cube", "# by hand\nTITLE \"a\"\r\nLUT_3D_SIZE 2\n"), Ok(TableKind::Colours));
        assert_eq!(kind("b.CUBE", "LUT_1D_SIZE 16\n0 0 0\n"), Ok(TableKind::Curves));
        assert!(kind("c.cube", "hello\n").is_err_and(|error| error.contains("neither")));
        assert!(kind("d.3dl", "LUT_3D_SIZE 2\n").is_err_and(|error| error.contains("no .cube")));
    }

    #[test]
    fn names_are_escaped() {
        let chain = chain(TableKind::Colours, &"a, b's [1].cube".into(), PixelFormat::Gbrp.into(), Matrix::Bt709, true);
        assert!(chain.to_string().contains(r"file=a\, b\\\'s \[1\].cube,"), "{chain}");
    }
}
