//! The files that an input is read from: those that are opened for it, and those that it lists, as a playlist does. No
//! output may replace one.

use super::{Name, folder_of, number_pattern, numbered, numbers_there, open_regular};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs::{Metadata, symlink_metadata};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

/// The identity of a file, whatever its names: its device, its inode, and, since inodes are used again, its creation
/// time, where that is known.
pub type FileId = (u64, u64, Option<SystemTime>);

/// The most lists of an input that are read, and their most bytes in all.
const MAX_LISTS: usize = 64;
const MAX_BYTES: u64 = 16 << 20;

/// The longest name, in bytes, and the most positions at which a name is split.
const MAX_NAME: usize = 4096;
const MAX_PLACES: usize = 16;

/// The most folders in which the files of a DASH manifest are searched.
const MAX_FOLDERS: usize = 64;

/// Bytes between the parts of a URL of FFmpeg's, and of a chain of filters.
const SEPARATORS: &[u8] = b"|:+=,;[]'";

/// Extensions of files that name other files.
const LISTS: [&str; 8] = ["m3u8", "m3u", "mpd", "ffconcat", "concat", "sdp", "avs", "idx"];

/// Words with which such files begin, whatever their names, and the number of bytes that are searched for a word.
const FIRST_WORDS: [&[u8]; 5] = [b"#EXTM3U", b"ffconcat", b"file", b"stream", b"chapter"];
const BEGINNING: u64 = 8 << 10;

/// Entities of XML, and the bytes that they stand for.
const ENTITIES: [(&[u8], &[u8]); 5] =
    [(b"&lt;", b"<"), (b"&gt;", b">"), (b"&quot;", b"\""), (b"&apos;", b"'"), (b"&amp;", b"&")];

/// The files that were opened for inputs.
static OPENED: Mutex<BTreeSet<FileId>> = Mutex::new(BTreeSet::new());

/// The identity of the file with this metadata.
pub fn id_of(file: &Metadata) -> FileId {
    (file.dev(), file.ino(), file.created().ok())
}

/// Remembers the files of this URL, which is opened for an input.
pub fn note_input(url: &[u8]) {
    let files = files_of_url(url).into_iter().map(|(_, id)| id);
    OPENED.lock().unwrap_or_else(PoisonError::into_inner).extend(files);
}

/// Remembers the files that a chain of filters may name. Some of them are opened by FFmpeg's filters, not by this
/// program.
pub fn note_chain(chain: &[u8]) {
    let pieces = chain.split(|byte| b"=:,;[]'".contains(byte));
    let quoted = chain.split(|&byte| byte == b'\'').skip(1).step_by(2);
    pieces.chain(quoted).filter(|piece| !piece.is_empty()).for_each(note_input);
}

/// Whether the file of this name was opened for an input. A link is not followed.
pub fn is_input(path: &Path) -> bool {
    let there = symlink_metadata(path).ok().filter(Metadata::is_file);
    there.is_some_and(|there| OPENED.lock().unwrap_or_else(PoisonError::into_inner).contains(&id_of(&there)))
}

/// The path of the input of this name; the name `-` is stdin.
pub fn path_of_input(input: &Name) -> &Path {
    if *input == "-" { Path::new("/dev/stdin") } else { input.path() }
}

/// Whether the name has the extension of a list of other files.
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
    let url = path.as_os_str().as_bytes();
    // A list of `concatf` may have any name and any first word.
    let is_list = contains(url, b"concatf:");
    let mut left = files_of_url(url);
    let mut found: HashSet<FileId> = left.iter().map(|(_, id)| *id).collect();
    let (mut folders, mut bytes) = (HashMap::new(), MAX_BYTES);
    for _ in 0..MAX_LISTS {
        let list = std::iter::from_fn(|| left.pop()).find_map(|(path, _)| {
            let text = text_of_list(&path, is_list, bytes)?;
            Some((path, text))
        });
        let Some((path, text)) = list else { break };
        bytes = bytes.saturating_sub(text.len() as u64);
        let folder = folder_of(&path);
        let files = match is_dash(&path, &text) {
            true => files_in_dash(&text, folder, &mut folders),
            false => names_in(&text).flat_map(|name| files_named(&name, folder)).collect::<Vec<_>>(),
        };
        // `concatf` looks for its files in the current folder.
        let current = is_list.then(|| names_in(&text).flat_map(|name| files_named(&name, Path::new(""))));
        let files = files.into_iter().chain(current.into_iter().flatten());
        // Only files with the name of a list are opened, not the many segments.
        left.extend(files.filter(|(file, id)| found.insert(*id) && is_list_name(file)));
    }
    found
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

/// Whether the URL is not that of a file.
fn is_remote(url: &[u8]) -> bool {
    contains(url, b"://") && !contains(url, b"file:")
}

/// The path and the identity of the file, if it is one.
fn file(path: PathBuf) -> Option<(PathBuf, FileId)> {
    let there = std::fs::metadata(&path).ok().filter(Metadata::is_file)?;
    Some((path, id_of(&there)))
}

/// The file of this name in the folder.
fn file_in(folder: &Path, name: &[u8]) -> Option<(PathBuf, FileId)> {
    if name.len() > MAX_NAME { None } else { file(folder.join(OsStr::from_bytes(name))) }
}

/// The files of a URL: the one of this name, or those whose names are parts of it, as in `concat:a.ts|b.ts`.
fn files_of_url(url: &[u8]) -> Vec<(PathBuf, FileId)> {
    let current = Path::new("");
    if let Some(whole) = file_in(current, url) {
        return vec![whole];
    }
    let mut found = files_named(url, current);
    if url.len() > MAX_NAME || url.starts_with(b"concat:") || is_remote(url) {
        return found;
    }
    let places = (0..url.len()).filter(|&place| SEPARATORS.contains(&url[place])).take(MAX_PLACES);
    let ends: Vec<usize> = places.chain([url.len()]).collect();
    for start in std::iter::once(0).chain(ends.iter().map(|end| end + 1)) {
        found.extend(ends.iter().filter(|&&end| end > start).filter_map(|&end| file_in(current, &url[start..end])));
    }
    found
}

/// The files that a name in a list in `folder` refers to: the file of this name, or those after protocols, as in
/// `file:a.ts` and `concat:a.ts|b.ts`, which FFmpeg looks for in the current folder.
fn files_named(name: &[u8], folder: &Path) -> Vec<(PathBuf, FileId)> {
    if let Some(whole) = file_in(folder, name) {
        return vec![whole];
    }
    let in_both = |name| [folder, Path::new("")].into_iter().filter_map(move |folder| file_in(folder, name));
    let mut found = Vec::new();
    for part in name.split(|&byte| byte == b'|') {
        if part.len() < name.len() {
            found.extend(in_both(part));
        }
        if is_remote(part) {
            continue;
        }
        let colons = (0..part.len()).filter(|&place| part[place] == b':').take(MAX_PLACES);
        found.extend(colons.flat_map(|place| in_both(&part[place + 1..])));
    }
    found
}

/// Whether the list is a DASH manifest.
fn is_dash(path: &Path, text: &[u8]) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("mpd")) || is_xml_of_dash(text)
}

fn is_xml_of_dash(text: &[u8]) -> bool {
    contains(&text[..text.len().min(BEGINNING as usize)], b"<MPD")
}

/// The names of the files in each folder that was read.
type Folders = HashMap<PathBuf, Vec<OsString>>;

/// The files that a DASH manifest names, in its folder and in its base URLs.
fn files_in_dash(text: &[u8], folder: &Path, read: &mut Folders) -> Vec<(PathBuf, FileId)> {
    let bases = text.split(|&byte| byte == b'<').filter(|tag| tag.starts_with(b"BaseURL"));
    let bases = bases.filter_map(|tag| tag.splitn(2, |&byte| byte == b'>').nth(1)).map(decoded);
    let mut folders = vec![folder.to_owned()];
    for base in bases.take(MAX_FOLDERS) {
        let base = OsStr::from_bytes(base.strip_prefix(b"file:").unwrap_or(&base));
        let below: Vec<PathBuf> = folders.iter().map(|folder| folder.join(base)).filter(|path| path.is_dir()).collect();
        folders.extend(below);
        folders.sort();
        folders.dedup();
        folders.truncate(MAX_FOLDERS);
    }
    let parts: Vec<&[u8]> = text.split(|byte| b"\"'".contains(byte)).collect();
    let is_id = |before: &[u8]| {
        before.strip_suffix(b"id=").is_some_and(|rest| rest.last().is_some_and(u8::is_ascii_whitespace))
    };
    let ids = parts.windows(2).filter(|pair| is_id(pair[0])).map(|pair| decoded(pair[1]));
    let ids: BTreeSet<Vec<u8>> = ids.collect();
    let values = text.split(|byte| b"\"<>".contains(byte)).chain(text.split(|byte| b"'<>".contains(byte)));
    let names: BTreeSet<Vec<u8>> = values.map(decoded).filter(|name| (1..=MAX_NAME).contains(&name.len())).collect();
    let mut found = Vec::new();
    for name in &names {
        for name in with_ids(name, &ids) {
            for folder in &folders {
                found.append(&mut match name.contains(&b'$') {
                    true => files_of_template(&name, folder, read),
                    false => files_named(&name, folder),
                });
            }
        }
    }
    found
}

/// A value in XML, without the spaces around it.
fn decoded(value: &[u8]) -> Vec<u8> {
    let value = value.trim_ascii().to_vec();
    ENTITIES.iter().fold(value, |value, (entity, byte)| replaced(&value, entity, byte))
}

fn replaced(text: &[u8], old: &[u8], new: &[u8]) -> Vec<u8> {
    let (mut done, mut rest) = (Vec::new(), text);
    while let Some(place) = rest.windows(old.len()).position(|part| part == old) {
        done.extend_from_slice(&rest[..place]);
        done.extend_from_slice(new);
        rest = &rest[place + old.len()..];
    }
    done.extend_from_slice(rest);
    done
}

/// A DASH template for each ID of a representation, with the ID inserted; unchanged if it has no place for one.
fn with_ids(template: &[u8], ids: &BTreeSet<Vec<u8>>) -> Vec<Vec<u8>> {
    let id = b"$RepresentationID$";
    match contains(template, id) {
        true => ids.iter().map(|given| replaced(template, id, given)).collect(),
        false => vec![template.to_vec()],
    }
}

/// The files of a template of DASH, as in `$Bandwidth$/chunk-$Number%05d$.m4s`.
fn files_of_template(template: &[u8], folder: &Path, read: &mut Folders) -> Vec<(PathBuf, FileId)> {
    let template = template.strip_prefix(b"file:").unwrap_or(template);
    let mut paths = vec![if template.starts_with(b"/") { PathBuf::from("/") } else { folder.to_owned() }];
    for component in template.split(|&byte| byte == b'/').filter(|component| !component.is_empty()) {
        if !component.contains(&b'$') {
            paths.iter_mut().for_each(|path| path.push(OsStr::from_bytes(component)));
            continue;
        }
        let parts: Vec<&[u8]> = component.split(|&byte| byte == b'$').collect();
        let mut found = Vec::new();
        for path in &paths {
            let names = read.entry(path.clone()).or_insert_with(|| {
                std::fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.file_name()).collect()
            });
            let names = names.iter().filter(|name| is_of_template(&parts, name.as_bytes()));
            found.extend(names.map(|name| path.join(name)));
        }
        paths = found;
    }
    paths.into_iter().filter_map(file).collect()
}

/// Whether `name` matches a template that was split at `$`: every second part is a variable, which stands for digits,
/// or, if it is empty, for `$` itself.
fn is_of_template(parts: &[&[u8]], name: &[u8]) -> bool {
    let [literal, rest @ ..] = parts else { return name.is_empty() };
    let Some(name) = name.strip_prefix(*literal) else { return false };
    let [variable, rest @ ..] = rest else { return name.is_empty() };
    if variable.is_empty() {
        return name.strip_prefix(b"$").is_some_and(|name| is_of_template(rest, name));
    }
    let digits = name.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (1..=digits).any(|count| is_of_template(rest, &name[count..]))
}

/// The first `bytes` bytes of this file, if it is a list.
fn text_of_list(path: &Path, is_list: bool, bytes: u64) -> Option<Vec<u8>> {
    let (file, mut text) = (open_regular(path).ok()?, Vec::new());
    (&file).take(BEGINNING.min(bytes)).read_to_end(&mut text).ok()?;
    if !is_list && !is_list_name(path) && !begins_as_list(&text) && !is_xml_of_dash(&text) {
        return None;
    }
    file.take(bytes.saturating_sub(text.len() as u64)).read_to_end(&mut text).ok()?;
    Some(text)
}

/// Whether the first word after comments is one that begins a list, or `text` has nothing but comments.
fn begins_as_list(text: &[u8]) -> bool {
    let mut lines = lines(text);
    let first = lines.find(|line| line.starts_with(FIRST_WORDS[0]) || !(line.is_empty() || line.starts_with(b"#")));
    first.is_none_or(|line| {
        line.split(u8::is_ascii_whitespace).next().is_some_and(|word| FIRST_WORDS.contains(&word))
            || line.starts_with(FIRST_WORDS[0])
    })
}

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| b"\r\n".contains(byte)).map(<[u8]>::trim_ascii)
}

/// What may be the names of files in a list.
fn names_in(list: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    lines(list).flat_map(names_in_line).filter(|name| !name.is_empty())
}

/// Possible names in a line: all of it, as in HLS and `concatf`; the word after `file`, as in `concat`; parts in quotes
/// or between tags.
fn names_in_line(line: &[u8]) -> Vec<Vec<u8>> {
    if line.starts_with(b"#") {
        // Of comments, only the URIs in tags of HLS count.
        let parts: Vec<&[u8]> = line.split(|&byte| byte == b'"').collect();
        let is_uri = |pair: &&[&[u8]]| line.starts_with(b"#EXT-X-") && pair[0].ends_with(b"URI=");
        return parts.windows(2).filter(is_uri).map(|pair| pair[1].to_vec()).collect();
    }
    let behind = line.strip_prefix(b"file").filter(|rest| rest.first().is_some_and(u8::is_ascii_whitespace));
    let word = behind.map(|rest| unquoted(rest.trim_ascii_start()));
    let escaped = line.iter().any(|byte| b"'\\".contains(byte)).then(|| unquoted(line));
    let marked = line.split(|byte| b"\"<>".contains(byte)).filter(|part| *part != line).map(<[u8]>::to_vec);
    [line.to_vec()].into_iter().chain(word).chain(escaped).chain(marked).collect()
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
        std::fs::create_dir_all(path("sub/v8")).expect("a folder");
        for name in [
            "a.mkv",
            "it's b.mkv",
            "sub/c 1.ts",
            "sub/init.mp4",
            "a=a.mkv",
            "i1.png",
            "i2.png",
            "x.ts",
            "sub/out.mp4",
            "sub/v8/12&.m4s",
        ] {
            std::fs::write(path(name), name).expect("a file");
        }
        let lists = [
            ("l.txt", "file a.mkv\nfile 'it'\\''s b.mkv'\n# \"x.ts\" is a comment\n"),
            ("c.txt", "# mine\n\n  \r\tfile a.mkv\rfile_packet_metadata i1.png\n"),
            ("f.txt", "x.ts\n'sub/c 1.ts'\n"),
            ("sub/p.m3u8", "#EXTM3U\n#EXTINF:1,\"x.ts\"\nfile:c 1.ts\ncrypto:init.mp4\n"),
            ("words.ffconcat", "ffconcat version 1.0\r\nfile it\\'s\\ b.mkv\r\nduration 3\r\n"),
            ("sub/s.m3u8", "#EXTM3U\n#EXT-X-MAP:URI=\"init.mp4\"\n#EXTINF:1,a.mkv\nc 1.ts\nhttp://h/?x.ts\n../m.m3u\n"),
            ("m.m3u", "sub/s.m3u8\n"),
            ("d.mpd", "<MPD><BaseURL>sub/c 1.ts</BaseURL><S initialization=\"x.ts\"/></MPD>"),
            (
                "t.mpd",
                "<MPD><SegmentTemplate media=\"sub/c $Number%03d$.ts\" initialization=\"i$RepresentationID$.png\"/>\
                 <Representation id=\"1\"/>",
            ),
            (
                "b.txt",
                "<?xml?><MPD><BaseURL>sub/</BaseURL><S media='v$Bandwidth$/$Number$&amp;.m4s' \
                 initialization='$RepresentationID$.mp4'/><R id=\"init\"/>",
            ),
        ];
        lists.iter().for_each(|(name, text)| std::fs::write(path(name), text).expect("a list"));
        let within = |name: &str| format!("{}/{name}", folder.path().display());
        for (input, named) in [
            (within("a.mkv"), vec!["a.mkv"]),
            (within("a=a.mkv"), vec!["a=a.mkv"]),
            (within("i%d.png"), vec!["i1.png", "i2.png"]),
            (within("l.txt"), vec!["l.txt", "a.mkv", "it's b.mkv"]),
            (within("c.txt"), vec!["c.txt", "a.mkv"]),
            (within("sub/p.m3u8"), vec!["sub/p.m3u8", "sub/c 1.ts", "sub/init.mp4"]),
            (within("b.txt"), vec!["b.txt", "sub/init.mp4", "sub/v8/12&.m4s"]),
            (format!("concatf:{}", within("f.txt")), vec!["f.txt", "x.ts", "sub/c 1.ts"]),
            (format!("concat:{}{}", "gone.ts|".repeat(600), within("x.ts")), vec!["x.ts"]),
            (within("words.ffconcat"), vec!["words.ffconcat", "it's b.mkv"]),
            (within("m.m3u"), vec!["m.m3u", "sub/s.m3u8", "sub/init.mp4", "sub/c 1.ts"]),
            (within("d.mpd"), vec!["d.mpd", "sub/c 1.ts", "x.ts"]),
            (within("t.mpd"), vec!["t.mpd", "sub/c 1.ts", "i1.png"]),
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
    fn what_a_chain_of_filters_may_open_is_known() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        ["a.cube", "b,c.cube"].iter().for_each(|name| std::fs::write(path(name), "a cube").expect("a file"));
        let (one, other) = (path("a.cube"), path("b,c.cube"));
        note_chain(format!("[in]null,lut3d={}:interp=nearest,lut3d='{}'", one.display(), other.display()).as_bytes());
        assert_eq!([&one, &other].map(|path| is_input(path)), [true, true]);
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
