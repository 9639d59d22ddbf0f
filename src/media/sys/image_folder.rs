//! Which images in a folder are numbered, and by which patterns.

use super::numbered::{number_pattern, numbered};
use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Ends of the names of images.
const IMAGES: [&str; 29] = [
    "avif", "bmp", "dpx", "exr", "fit", "fits", "hdr", "j2k", "jp2", "jpeg", "jpg", "jxl", "pam", "pbm", "pcx", "pfm",
    "pgm", "png", "pnm", "ppm", "psd", "qoi", "ras", "sgi", "tga", "tif", "tiff", "webp", "xbm",
];

/// Whether the name ends as those of images do.
pub fn is_image_name(name: &Path) -> bool {
    let extension = name.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    extension.is_some_and(|extension| IMAGES.contains(&extension.as_str()))
}

/// The images in a folder.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ImageFolder {
    /// The patterns of numbered images, each of two or more, and the number of them; in the order of their names.
    pub sequences: Vec<(String, usize)>,
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
            let entry = entry?;
            // A name that is no text has no pattern.
            let Ok(name) = entry.file_name().into_string() else { continue };
            let path = entry.path();
            if !name.starts_with('.') && is_image_name(&path) && path.is_file() && counts(&path) {
                names.push(name);
            }
        }
        names.sort();
        let of_all = ImageFolder::of_names(&names);
        // Joined as text: a folder of images may be called `./`.
        let folder = folder.to_string_lossy();
        let within = |name: &str| match folder.as_ref() {
            "" => name.to_owned(),
            folder if folder.ends_with('/') => format!("{folder}{name}"),
            folder => format!("{folder}/{name}"),
        };
        Ok(ImageFolder {
            sequences: of_all.sequences.into_iter().map(|(pattern, count)| (within(&pattern), count)).collect(),
            others: of_all.others.iter().map(|name| within(&name.to_string_lossy()).into()).collect(),
        })
    }

    /// The pattern of the sequence that begins with the image `first`; `None` if no image has the next number.
    pub fn begun_by(first: &Path) -> Option<String> {
        let folder = first.parent()?;
        let in_folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let name = first.file_name()?.to_str()?;
        let all = ImageFolder::read(in_folder, |path| path.extension() == first.extension()).ok()?;
        let before = first.to_str()?.strip_suffix(name)?;
        all.sequences.into_iter().find_map(|(pattern, _)| {
            let file = pattern.rsplit('/').next()?;
            let numbers = super::numbers_there(&pattern);
            let begins = numbered(file, *numbers.first()?) == name && numbers.get(1) == Some(&(numbers[0] + 1));
            begins.then(|| format!("{before}{file}"))
        })
    }

    /// Sorts names of files into sequences: in each name, the number counts in which most others differ from it.
    fn of_names(names: &[String]) -> Self {
        // Names that differ only in the number at this place.
        let mut alike: HashMap<(&str, &str), usize> = HashMap::new();
        for (name, digits) in names.iter().flat_map(|name| numbers_in(name).map(move |digits| (name, digits))) {
            *alike.entry((&name[..digits.start], &name[digits.end..])).or_default() += 1;
        }
        let mut groups: Vec<((&str, &str), Vec<&String>)> = Vec::new();
        let mut others = Vec::new();
        for name in names {
            let around = numbers_in(name).map(|digits| (&name[..digits.start], &name[digits.end..]));
            // Of equals, the last: versions come before numbers of frames.
            match around.max_by_key(|around| alike[around]) {
                None => others.push(name),
                Some(around) => match groups.iter_mut().find(|(of, _)| *of == around) {
                    Some((_, group)) => group.push(name),
                    None => groups.push((around, vec![name])),
                },
            }
        }
        let mut sequences = Vec::new();
        for ((before, behind), group) in groups {
            let pattern = pattern_of(before, behind, &group);
            let is_of = |name: &&String| {
                let number = name[before.len()..name.len() - behind.len()].parse();
                number.is_ok_and(|number| numbered(&pattern, number) == **name)
            };
            let (mut of, mut rest): (Vec<&String>, Vec<&String>) = group.into_iter().partition(is_of);
            if of.len() < 2 || number_pattern(&pattern).is_none() {
                rest.append(&mut of);
            } else {
                sequences.push((pattern, of.len()));
            }
            others.extend(rest);
        }
        others.sort();
        ImageFolder { sequences, others: others.into_iter().map(PathBuf::from).collect() }
    }
}

/// The pattern of these names, which are alike `before` and `behind` a number.
fn pattern_of(before: &str, behind: &str, names: &[&String]) -> String {
    let digits = |name: &&&String| name[before.len()..name.len() - behind.len()].to_owned();
    let is_filled = |digits: &String| digits.len() > 1 && digits.starts_with('0');
    let width = names.iter().map(|name| digits(&name)).filter(is_filled).map(|digits| digits.len()).max();
    let number = width.map_or("%d".to_owned(), |width| format!("%0{width}d"));
    [&before.replace('%', "%%"), number.as_str(), &behind.replace('%', "%%")].concat()
}

/// The places of the numbers in a name, ahead of its extension.
fn numbers_in(name: &str) -> impl Iterator<Item = Range<usize>> {
    let stem = name.rfind('.').unwrap_or(name.len());
    let is_digit = |at: usize| name.as_bytes().get(at).is_some_and(u8::is_ascii_digit);
    let begins = (0..stem).filter(move |&at| is_digit(at) && (at == 0 || !is_digit(at - 1)));
    begins.map(move |begin| begin..(begin..stem).find(|&at| !is_digit(at)).unwrap_or(stem))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(names: &[&str]) -> (Vec<(String, usize)>, Vec<String>) {
        let mut names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        names.sort();
        let ImageFolder { sequences, others } = ImageFolder::of_names(&names);
        (sequences, others.into_iter().map(|path| path.to_string_lossy().into_owned()).collect())
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
        for (names, sequences, others) in cases {
            let expected: Vec<(String, usize)> = sequences.iter().map(|&(of, count)| (of.to_owned(), count)).collect();
            assert_eq!(sorted(names), (expected, others.iter().map(|&name| name.to_owned()).collect()), "{names:?}");
        }
    }
}
