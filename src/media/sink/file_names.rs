//! Names in the folder of a file, derived from its own.

use std::path::{Path, PathBuf};

/// The longest file name that file systems accept, in bytes.
const LONGEST: usize = 255;

/// The longest extension that is kept when a name is shortened, in bytes.
const LONGEST_EXTENSION: usize = 32;

/// The folder of this file.
pub(super) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Stem and extension (with its dot) of this file's name, shortened to `length` bytes together.
pub(super) fn shortened(path: &Path, length: usize) -> [String; 2] {
    let text = |part: Option<&std::ffi::OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
    let (mut stem, mut extension) = (text(path.file_stem()), text(path.extension()));
    if extension.len() > LONGEST_EXTENSION {
        extension.clear();
    }
    if !extension.is_empty() {
        extension.insert(0, '.');
    }
    let mut end = stem.len().min(length.saturating_sub(extension.len()));
    while !stem.is_char_boundary(end) {
        end -= 1;
    }
    stem.truncate(end);
    [stem, extension]
}

/// The names `NAME.WORD.EXT`, `NAME.WORD-2.EXT` and so on, for `NAME.EXT`.
pub(super) fn names_with<'a>(path: &'a Path, word: &'a str) -> impl Iterator<Item = PathBuf> + 'a {
    (1_u32..).map(move |number| {
        let word = if number == 1 { format!(".{word}") } else { format!(".{word}-{number}") };
        let [stem, extension] = shortened(path, LONGEST - word.len());
        path.with_file_name(format!("{stem}{word}{extension}"))
    })
}

/// The target of the symbolic link `path`, which need not exist; `path` itself, if it is no link.
pub(super) fn resolve_links(path: &Path) -> PathBuf {
    // The limit of the system.
    const MOST: usize = 40;
    let mut path = path.to_owned();
    for _ in 0..MOST {
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
        assert!(name.len() <= LONGEST && name.ends_with("ä.partial-2.mkv"), "{name}");
        assert_eq!(partial.parent(), Some(Path::new("folder")));
        assert_eq!(shortened(Path::new("a.b"), 100), ["a", ".b"].map(str::to_owned));
        assert_eq!(shortened(Path::new(&format!("a.{}", "b".repeat(200))), 100), ["a", ""].map(str::to_owned));
    }
}
