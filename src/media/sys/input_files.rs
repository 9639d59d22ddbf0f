//! The files that an input is read from: those that are opened for it, and those that it names, as a playlist does. No
//! output may take the place of one.

use super::{Name, folder_of, number_pattern, numbered, numbers_there, open_regular};
use std::collections::{BTreeSet, HashSet};
use std::ffi::OsStr;
use std::fs::{Metadata, symlink_metadata};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

/// What tells a file from all others, whatever its names: its device, its number there, and, since numbers are used
/// again, when it was made, where that is known.
pub type FileId = (u64, u64, Option<SystemTime>);

/// The most bytes of a list that are read.
const MAX_BYTES: u64 = 4 << 20;

/// The longest name, in bytes, and the most places at which one is taken apart.
const MAX_NAME: usize = 4096;
const MAX_PLACES: usize = 16;

/// Bytes between the parts of a URL of FFmpeg's, and of a chain of filters.
const SEPARATORS: &[u8] = b"|:+=,;[]'";

/// Extensions of files that name other files.
const LISTS: [&str; 8] = ["m3u8", "m3u", "mpd", "ffconcat", "concat", "sdp", "avs", "idx"];

/// What such files begin with, whatever they are called, and the bytes of the longest of these.
const BEGINNINGS: [&[u8]; 3] = [b"#EXTM3U", b"ffconcat", b"file "];
const BEGINNING: u64 = 8;

/// The files that were opened for inputs.
static OPENED: Mutex<BTreeSet<FileId>> = Mutex::new(BTreeSet::new());

/// The one of the file with this metadata.
pub fn id_of(file: &Metadata) -> FileId {
    (file.dev(), file.ino(), file.created().ok())
}

/// Remembers the files of this URL, which is opened for an input.
pub fn note_input(url: &[u8]) {
    let files = files_of_url(url, Path::new("")).into_iter().map(|(_, id)| id);
    OPENED.lock().unwrap_or_else(PoisonError::into_inner).extend(files);
}

/// Whether the file of this name was opened for an input. A link is not followed.
pub fn is_input(path: &Path) -> bool {
    let there = symlink_metadata(path).ok().filter(Metadata::is_file);
    there.is_some_and(|there| OPENED.lock().unwrap_or_else(PoisonError::into_inner).contains(&id_of(&there)))
}

/// The path of the input of this name: that of stdin is `-`.
pub fn path_of_input(input: &Name) -> &Path {
    if *input == "-" { Path::new("/dev/stdin") } else { input.path() }
}

/// Whether the name ends as those of files do that name other files.
pub fn is_list_name(name: &Path) -> bool {
    let extension = name.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    extension.is_some_and(|extension| LISTS.contains(&extension.as_str()))
}

/// The files that the input of this name is read from, as far as that is known before it is opened: the file itself,
/// numbered images, the parts of a URL, and what lists name.
pub fn files_of_input(input: &Name) -> HashSet<FileId> {
    let path = path_of_input(input);
    if number_pattern(path).is_some() && !path.exists() {
        let images = numbers_there(path).into_iter().map(|number| numbered(path, number));
        return images.filter_map(|image| std::fs::metadata(image).ok()).map(|image| id_of(&image)).collect();
    }
    let (mut found, mut left) = (HashSet::new(), files_of_url(path.as_os_str().as_bytes(), Path::new("")));
    while let Some((path, id)) = left.pop() {
        let list = if found.insert(id) { text_of_list(&path) } else { None };
        for name in list.iter().flat_map(|list| names_in(list)) {
            let folder = folder_of(&path);
            for (file, id) in files_of_url(&name, folder).into_iter().chain(files_of_template(&name, folder)) {
                // Of many segments, none is opened.
                if is_list_name(&file) {
                    left.push((file, id));
                } else {
                    found.insert(id);
                }
            }
        }
    }
    found
}

/// The files of a URL in this folder: the one of this name, or those whose names are parts of it, as in
/// `concat:a.ts|b.ts`.
fn files_of_url(url: &[u8], folder: &Path) -> Vec<(PathBuf, FileId)> {
    if url.len() > MAX_NAME {
        return Vec::new();
    }
    let file = |name: &[u8]| {
        let path = folder.join(OsStr::from_bytes(name));
        let there = std::fs::metadata(&path).ok().filter(Metadata::is_file)?;
        Some((path, id_of(&there)))
    };
    if let Some(whole) = file(url) {
        return vec![whole];
    }
    if !url.starts_with(b"file:") && url.windows(3).any(|part| part == b"://") {
        return Vec::new();
    }
    let places = (0..url.len()).filter(|&place| SEPARATORS.contains(&url[place])).take(MAX_PLACES);
    let ends: Vec<usize> = places.chain([url.len()]).collect();
    let mut found = Vec::new();
    for start in std::iter::once(0).chain(ends.iter().map(|end| end + 1)) {
        found.extend(ends.iter().filter(|&&end| end > start).filter_map(|&end| file(&url[start..end])));
    }
    found
}

/// The files of a template of DASH, as in `chunk-$Number%05d$.m4s`: those that begin and end as it does.
fn files_of_template(template: &[u8], folder: &Path) -> Vec<(PathBuf, FileId)> {
    let places = [template.iter().position(|&byte| byte == b'$'), template.iter().rposition(|&byte| byte == b'$')];
    let [Some(first), Some(last)] = places else { return Vec::new() };
    let path = folder.join(OsStr::from_bytes(&template[..first]));
    let is_folder = first == 0 || template[first - 1] == b'/';
    let (folder, begin) = if is_folder { (&*path, b"".as_slice()) } else { (folder_of(&path), name_of(&path)) };
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let is_one = |path: &PathBuf| name_of(path).starts_with(begin) && name_of(path).ends_with(&template[last + 1..]);
    let paths = entries.map(|entry| entry.path()).filter(is_one);
    paths.filter_map(|path| Some((path.clone(), id_of(&std::fs::metadata(path).ok()?)))).collect()
}

fn name_of(path: &Path) -> &[u8] {
    path.file_name().unwrap_or_default().as_bytes()
}

/// The text of this file, if it is a list.
fn text_of_list(path: &Path) -> Option<Vec<u8>> {
    let (file, mut text) = (open_regular(path).ok()?, Vec::new());
    (&file).take(BEGINNING).read_to_end(&mut text).ok()?;
    if !is_list_name(path) && !BEGINNINGS.iter().any(|begin| text.starts_with(begin)) {
        return None;
    }
    file.take(MAX_BYTES).read_to_end(&mut text).ok()?;
    Some(text)
}

/// What may be the names of files in a list.
fn names_in(list: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let names = list.split(|&byte| byte == b'\n').flat_map(|line| names_in_line(line.trim_ascii()));
    names.filter(|name| !name.is_empty())
}

/// The line, as in HLS; its second word, as in lists of FFmpeg's `concat`; what is quoted or between tags, as in DASH.
fn names_in_line(line: &[u8]) -> Vec<Vec<u8>> {
    if line.starts_with(b"#") {
        // Of comments, as HLS has its tags, what is quoted alone.
        return line.split(|&byte| byte == b'"').skip(1).step_by(2).map(<[u8]>::to_vec).collect();
    }
    let word = line.iter().position(u8::is_ascii_whitespace).map(|end| unquoted(line[end..].trim_ascii_start()));
    let marked = line.split(|byte| b"\"<>".contains(byte)).filter(|part| *part != line).map(<[u8]>::to_vec);
    [line.to_vec()].into_iter().chain(word).chain(marked).collect()
}

/// The first word, without its quotes, as FFmpeg reads it.
fn unquoted(words: &[u8]) -> Vec<u8> {
    let (mut word, mut rest, mut is_quoted) = (Vec::new(), words.iter(), false);
    while let Some(&byte) = rest.next() {
        match byte {
            b'\'' => is_quoted = !is_quoted,
            b'\\' if !is_quoted => word.extend(rest.next()),
            _ if byte.is_ascii_whitespace() && !is_quoted => break,
            _ => word.push(byte),
        }
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(path: PathBuf) -> FileId {
        id_of(&std::fs::metadata(path).expect("a file"))
    }

    #[test]
    fn what_lists_patterns_and_urls_name_is_known_before_it_is_opened() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        std::fs::create_dir(path("sub")).expect("a folder");
        for name in ["a.mkv", "it's b.mkv", "sub/c 1.ts", "sub/init.mp4", "a=a.mkv", "i1.png", "i2.png", "x.ts"] {
            std::fs::write(path(name), name).expect("a file");
        }
        let lists = [
            ("l.txt", "file a.mkv\nfile 'it'\\''s b.mkv'\n# \"x.ts\" is quoted, i1.png is not\n"),
            ("words.ffconcat", "ffconcat version 1.0\r\nfile it\\'s\\ b.mkv\r\nduration 3\r\n"),
            ("sub/s.m3u8", "#EXTM3U\n#EXT-X-MAP:URI=\"init.mp4\"\n#EXTINF:1,a.mkv\nc 1.ts\nhttp://h/?x.ts\n../m.m3u\n"),
            ("m.m3u", "sub/s.m3u8\n"),
            ("d.mpd", "<MPD><BaseURL>sub/c 1.ts</BaseURL><S initialization=\"x.ts\"/></MPD>"),
            (
                "t.mpd",
                "<MPD><SegmentTemplate media=\"sub/c $Number%03d$.ts\" initialization=\"i$RepresentationID$.png\"/>",
            ),
        ];
        lists.iter().for_each(|(name, text)| std::fs::write(path(name), text).expect("a list"));
        let within = |name: &str| format!("{}/{name}", folder.path().display());
        for (input, named) in [
            (within("a.mkv"), vec!["a.mkv"]),
            (within("a=a.mkv"), vec!["a=a.mkv"]),
            (within("i%d.png"), vec!["i1.png", "i2.png"]),
            (within("l.txt"), vec!["l.txt", "a.mkv", "it's b.mkv", "x.ts"]),
            (within("words.ffconcat"), vec!["words.ffconcat", "it's b.mkv"]),
            (within("m.m3u"), vec!["m.m3u", "sub/s.m3u8", "sub/init.mp4", "sub/c 1.ts"]),
            (within("d.mpd"), vec!["d.mpd", "sub/c 1.ts", "x.ts"]),
            (within("t.mpd"), vec!["t.mpd", "sub/c 1.ts", "i1.png", "i2.png"]),
            (format!("concat:{}|{}", within("x.ts"), within("sub/c 1.ts")), vec!["x.ts", "sub/c 1.ts"]),
            (format!("subfile,,start,0,end,9,,:{}", within("x.ts")), vec!["x.ts"]),
            (format!("movie='{}':loop=2[a]", within("a.mkv")), vec!["a.mkv"]),
            (within("missing.mkv"), vec![]),
        ] {
            let expected: HashSet<FileId> = named.into_iter().map(|name| id(path(name))).collect();
            assert_eq!(files_of_input(&input.as_str().into()), expected, "{input}");
        }
    }

    #[test]
    fn what_was_opened_is_known_by_all_of_its_names() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        ["a.mkv", "b.mkv"].iter().for_each(|name| std::fs::write(path(name), "video").expect("a file"));
        std::fs::hard_link(path("a.mkv"), path("twin.mkv")).expect("a hard link");
        std::os::unix::fs::symlink("a.mkv", path("link.mkv")).expect("a link");
        assert!(!is_input(&path("a.mkv")));
        note_input(format!("file:{}", path("link.mkv").display()).as_bytes());
        let known = ["a.mkv", "twin.mkv", "b.mkv", "link.mkv", "none.mkv"].map(|name| is_input(&path(name)));
        assert_eq!(known, [true, true, false, false, false]);
    }
}
