//! File names derived from another file's name, in the same folder.

use crate::sys::files::{Name, folder_of, number_pattern};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The longest file name that file systems accept, in bytes.
const MAX_LENGTH: usize = 255;

/// The longest extension that is kept when a name is shortened, in bytes.
const MAX_EXTENSION: usize = 32;

/// Stem and extension (with its dot) of this file's name, shortened to `length` bytes together.
pub(crate) fn shortened(path: &Path, length: usize) -> [Name; 2] {
    let [stem, extension] = [path.file_stem(), path.extension()].map(|part| part.unwrap_or_default());
    let is_kept = (1..=MAX_EXTENSION).contains(&extension.len());
    let dotted = if is_kept { Name::from_parts([&".", &extension]) } else { Name::default() };
    let stem = cut(stem.as_bytes(), length.saturating_sub(dotted.bytes().len()));
    [Name::from_bytes(stem.to_vec()), dotted]
}

/// The first `most` bytes of a name, or fewer, so that no UTF-8 character is split.
fn cut(name: &[u8], most: usize) -> &[u8] {
    let mut end = name.len().min(most);
    while end > 0 && name.get(end).is_some_and(|byte| byte & 0xc0 == 0x80) {
        end -= 1;
    }
    &name[..end]
}

/// Joins `begin` and `end` to a file name. `begin` is shortened if the name would be too long for a file system, unless
/// it contains a pattern for numbers.
pub fn name_of(begin: &Name, end: &Name) -> Name {
    let most = if number_pattern(begin).is_some() { usize::MAX } else { MAX_LENGTH.saturating_sub(end.bytes().len()) };
    Name::from_parts([&Name::from_bytes(cut(begin.bytes(), most).to_vec()), end])
}

/// The names `NAME.WORD.EXT`, `NAME.WORD-2.EXT` and so on, for `path` = `NAME.EXT`.
pub(crate) fn names_with<'a>(path: &'a Path, word: &'a str) -> impl Iterator<Item = PathBuf> + 'a {
    (1_u32..).map(move |number| {
        let word = if number == 1 { format!(".{word}") } else { format!(".{word}-{number}") };
        let [stem, extension] = shortened(path, MAX_LENGTH - word.len());
        path.with_file_name(Name::from_parts([&stem, &word, &extension]))
    })
}

/// The names `NAME.EXT`, `NAME.2.EXT`, `NAME.3.EXT` and so on, for `first` = `NAME.EXT`.
pub fn next_names(first: &Path) -> impl Iterator<Item = PathBuf> {
    (1_u32..).map(move |number| {
        if number == 1 {
            return first.to_owned();
        }
        let number = number.to_string();
        let end = first.extension().map(|extension| Name::from_parts([&number, &".", &extension]));
        first.with_extension(end.unwrap_or_else(|| number.into()))
    })
}

/// Whether no file, folder or link has this name, not even a dangling symbolic link.
pub fn is_free(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_err()
}

/// The target of the symbolic link `path`, which need not exist; `path` itself, if it is no link.
pub(crate) fn resolve_links(path: &Path) -> PathBuf {
    // Linux follows at most this many links.
    const MAX_LINKS: usize = 40;
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        match std::fs::read_link(&path) {
            Ok(next) => path = folder_of(&path).join(next),
            Err(_) => break,
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_shortened_between_characters_and_keep_their_extension() {
        let long = format!("folder/{}.mkv", "ä".repeat(125));
        let partial = names_with(Path::new(&long), "partial").nth(1).expect("a name");
        let name = partial.file_name().expect("a name").to_string_lossy().into_owned();
        assert!(name.len() <= MAX_LENGTH && name.ends_with("ä.partial-2.mkv"), "{name}");
        assert_eq!(partial.parent(), Some(Path::new("folder")));
        let equalized = name_of(&"ä".repeat(125).as_str().into(), &"-equalized.mkv".into());
        assert!(equalized.bytes().len() == MAX_LENGTH - 1 && equalized.to_string().ends_with("ä-equalized.mkv"));
        assert_eq!(name_of(&"a".into(), &".b".into()), Name::from("a.b"));
        let pattern = Name::from(format!("{}%09d", "x".repeat(250)).as_str());
        assert!(name_of(&pattern, &".png".into()).to_string().ends_with("%09d.png"), "the number stays");
        assert_eq!(shortened(Path::new("a.b"), 100), ["a", ".b"].map(Name::from));
        assert_eq!(shortened(Path::new(&format!("a.{}", "b".repeat(200))), 100), ["a", ""].map(Name::from));
    }
}
