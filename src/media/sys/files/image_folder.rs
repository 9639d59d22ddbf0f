//! Which images in a folder are numbered, and by which patterns.

use super::numbered::{number, number_pattern, numbered};
use super::{Name, folder_of};
use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Extensions of images.
const IMAGES: [&str; 34] = [
    "avif", "bmp", "dib", "dpx", "exr", "fit", "fits", "fts", "hdr", "j2k", "jfif", "jif", "jp2", "jpe", "jpeg", "jpg",
    "jxl", "pam", "pbm", "pcx", "pfm", "pgm", "png", "pnm", "ppm", "psd", "qoi", "ras", "sgi", "tga", "tif", "tiff",
    "webp", "xbm",
];

/// Whether the name has the extension of an image.
pub fn is_image_name(name: &Path) -> bool {
    let extension = name.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    extension.is_some_and(|extension| IMAGES.contains(&extension.as_str()))
}

/// The images in a folder.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ImageFolder {
    /// The patterns of numbered images, sorted by name, each with the number of its images, two or more.
    pub sequences: Vec<(Name, usize)>,
    /// The other images.
    pub others: Vec<PathBuf>,
}

impl ImageFolder {
    /// The images in `folder` whose names `counts` accepts; hidden ones are left out.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn read(folder: &Path, counts: impl Fn(&Path) -> bool) -> std::io::Result<Self> {
        let mut names = Vec::new();
        for entry in std::fs::read_dir(folder)? {
            let (name, path) = entry.map(|entry| (Name::from(entry.file_name()), entry.path()))?;
            if !name.bytes().starts_with(b".") && is_image_name(&path) && path.is_file() && counts(&path) {
                names.push(name);
            }
        }
        names.sort();
        let ImageFolder { sequences, others: rest } = ImageFolder::from_names(&names);
        Ok(ImageFolder {
            sequences: sequences.into_iter().map(|(pattern, count)| (folder.join(pattern).into(), count)).collect(),
            others: rest.iter().map(|name| folder.join(name)).collect(),
        })
    }

    /// The pattern of the sequence that begins with the image `first`; `None` if no image has the next number.
    pub fn begun_by(first: &Path) -> Option<Name> {
        let all = ImageFolder::read(folder_of(first), |path| path.extension() == first.extension()).ok()?;
        all.sequences.into_iter().find_map(|(pattern, _)| {
            let file = pattern.path().file_name()?;
            let numbers = super::numbers_there(&pattern);
            let is_first = numbered(file, *numbers.first()?) == *first.file_name()?;
            let begins = is_first && numbers.get(1) == Some(&(numbers[0] + 1));
            begins.then(|| first.with_file_name(file).into())
        })
    }

    /// Sorts names of files into sequences. If a name has several numbers, the one counts by which it differs from most
    /// other names.
    fn from_names(names: &[Name]) -> Self {
        // The parts around each number, and how many names differ only in that number.
        let mut alike: HashMap<Around<'_>, usize> = HashMap::new();
        for around in names.iter().flat_map(around_numbers) {
            *alike.entry(around).or_default() += 1;
        }
        let mut groups: Vec<(Around<'_>, Vec<&Name>)> = Vec::new();
        let mut remaining = Vec::new();
        for name in names {
            // Of equal counts, take the last number: versions precede frame numbers.
            match around_numbers(name).max_by_key(|around| alike[around]) {
                None => remaining.push(name),
                Some(around) => match groups.iter_mut().find(|(known, _)| *known == around) {
                    Some((_, group)) => group.push(name),
                    None => groups.push((around, vec![name])),
                },
            }
        }
        let mut sequences = Vec::new();
        for (around, group) in groups {
            let pattern = pattern_of(around, &group);
            let is_of =
                |name: &&Name| number(digits(name, around)).is_some_and(|number| numbered(&pattern, number) == **name);
            let (mut known, mut rest): (Vec<&Name>, Vec<&Name>) = group.into_iter().partition(is_of);
            if known.len() < 2 || number_pattern(&pattern).is_none() {
                rest.append(&mut known);
            } else {
                sequences.push((pattern, known.len()));
            }
            remaining.extend(rest);
        }
        remaining.sort();
        ImageFolder { sequences, others: remaining.into_iter().map(PathBuf::from).collect() }
    }
}

/// The parts of a name before and after a number.
type Around<'a> = (&'a [u8], &'a [u8]);

/// The parts around each number in a name.
fn around_numbers(name: &Name) -> impl Iterator<Item = Around<'_>> {
    let name = name.bytes();
    numbers_in(name).map(move |digits| (&name[..digits.start], &name[digits.end..]))
}

/// The number between these parts of a name.
fn digits<'a>(name: &'a Name, (before, behind): Around<'_>) -> &'a [u8] {
    &name.bytes()[before.len()..name.bytes().len() - behind.len()]
}

/// The pattern of these names, which are alike around a number.
fn pattern_of(around: Around<'_>, names: &[&Name]) -> Name {
    let all = names.iter().map(|name| digits(name, around));
    let width = all.filter(|digits| digits.len() > 1 && digits.starts_with(b"0")).map(<[u8]>::len).max();
    let number = width.map_or("%d".to_owned(), |width| format!("%0{width}d"));
    let escaped = |part: &[u8]| part.split(|&byte| byte == b'%').collect::<Vec<_>>().join(&b"%%"[..]);
    Name::from_bytes([&escaped(around.0)[..], number.as_bytes(), &escaped(around.1)].concat())
}

/// The positions of the numbers in a name, before its extension.
fn numbers_in(name: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let stem = name.iter().rposition(|&byte| byte == b'.').unwrap_or(name.len());
    let is_digit = |index: usize| name.get(index).is_some_and(u8::is_ascii_digit);
    let begins = (0..stem).filter(move |&index| is_digit(index) && (index == 0 || !is_digit(index - 1)));
    begins.map(move |begin| begin..(begin..stem).find(|&index| !is_digit(index)).unwrap_or(stem))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(names: &[&str]) -> (Vec<(String, usize)>, Vec<String>) {
        let mut names: Vec<Name> = names.iter().map(Name::from).collect();
        names.sort();
        let ImageFolder { sequences, others: rest } = ImageFolder::from_names(&names);
        let sequences = sequences.into_iter().map(|(pattern, count)| (pattern.to_string(), count)).collect();
        (sequences, rest.into_iter().map(|path| path.to_string_lossy().into_owned()).collect())
    }

    /// Names, the sequences in them, and the others.
    type Case<'a> = (&'a [&'a str], &'a [(&'a str, usize)], &'a [&'a str]);

    #[test]
    fn images_are_numbered_where_they_differ() {
        let cases: [Case<'_>; 6] = [
            (&["f_0009.png", "f_0010.png", "f_0011.png", "cover.png"], &[("f_%04d.png", 3)], &["cover.png"]),
            (&["f9.png", "f10.png", "f100.png"], &[("f%d.png", 3)], &[]),
            (&["shot2_001_v3.exr", "shot2_002_v3.exr"], &[("shot2_%03d_v3.exr", 2)], &[]),
            (&["a1.png", "b1.png"], &[], &["a1.png", "b1.png"]),
            (&["0999.jpg", "1000.jpg", "10000.jpg"], &[("%04d.jpg", 3)], &[]),
            (&["50%_1.png", "50%_2.png", "x.jpg"], &[("50%%_%d.png", 2)], &["x.jpg"]),
        ];
        for (names, sequences, rest) in cases {
            let expected: Vec<(String, usize)> =
                sequences.iter().map(|&(pattern, count)| (pattern.to_owned(), count)).collect();
            assert_eq!(sorted(names), (expected, rest.iter().map(|&name| name.to_owned()).collect()), "{names:?}");
        }
    }
}
