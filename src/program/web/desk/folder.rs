//! The files and folders that the page may see. Each gets a number, by which the page refers to it, never by its path.

use crate::options::jobs::is_video_name;
use crate::options::reading::images_in;
use crate::web::view::hub::lock;
use anyhow::{Context, Result, bail, ensure};
use histeq::Limits;
use histeq_media::sink::files::is_made_here;
use histeq_media::source::{InputOptions, Isolation};
use histeq_media::sys::files::{Name, is_image_name};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::UNIX_EPOCH;

/// Most files and folders that have numbers. Beyond that, the oldest numbers are given up.
const MAX_KNOWN: usize = 100_000;

/// Most entries in the listing of one folder.
const MAX_LISTED: usize = 2_000;

/// Extensions of common film and photo formats that the page does not show: a listing only counts such files.
const UNREAD: [&str; 14] =
    ["arw", "braw", "cr2", "cr3", "dav", "dng", "heic", "heif", "insv", "nef", "orf", "r3d", "raf", "rw2"];

/// The fewest numbered images that are offered as the frames of one film: two seconds at 24 frames a second.
const MIN_FILM: usize = 48;

/// The number of the folder, or of the list of named files, that the page shows first.
pub const TOP: usize = 0;

/// The files and folders that the page may see.
pub struct Shelf {
    /// Canonical paths: the page may see a file or folder only if it lies in one of them.
    bounds: Mutex<Vec<PathBuf>>,
    /// The files and folders that were named on the command line.
    named: Vec<PathBuf>,
    known: Mutex<Known>,
    isolation: Isolation,
    limits: Limits,
}

#[derive(Default)]
struct Known {
    paths: BTreeMap<usize, PathBuf>,
    numbers: HashMap<PathBuf, usize>,
    next: usize,
}

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FileKind {
    Folder,
    Film,
    Picture,
}

/// A file or folder on the page.
#[derive(Debug, Serialize)]
pub struct Entry {
    pub number: usize,
    pub name: String,
    pub kind: FileKind,
    pub bytes: u64,
    /// Seconds since 1970.
    modified: u64,
    /// Whether this program has made it.
    made: bool,
}

/// A folder on the page.
#[derive(Serialize)]
pub struct Listing {
    number: usize,
    name: String,
    /// The number of the parent folder, if the page may see that folder.
    up: Option<usize>,
    entries: Vec<Entry>,
    /// How many films, pictures and folders are not in `entries`.
    left_out: usize,
    /// How many files of unreadable film and photo formats the folder has, by their extensions.
    unread: BTreeMap<String, usize>,
    /// The name pattern of numbered images that may be the frames of one film, and the number of these images.
    #[serde(skip)]
    pub film: Option<(Name, usize)>,
}

impl Shelf {
    /// Lets the page see the files and folders `named` with all that these folders contain; or, with a `root`, all in
    /// `root`, which has to contain `named`.
    ///
    /// # Errors
    /// When one of `named` does not exist, lies outside of `root`, or is no film, picture or folder.
    pub fn new(named: &[Name], root: Option<&Path>, (isolation, limits): (Isolation, &Limits)) -> Result<Self> {
        let whole = |path: &Path| path.canonicalize().with_context(|| Name::from(path));
        let named = named.iter().map(|name| whole(name.path())).collect::<Result<Vec<_>>>()?;
        let bounds = match root {
            Some(root) => vec![whole(root)?],
            None => named.clone(),
        };
        if let Some((root, out)) = root.zip(named.iter().find(|path| !bounds.iter().any(|root| path.starts_with(root))))
        {
            bail!("{}: not in --root {} (name a folder in it)", Name::from(out), Name::from(root));
        }
        for path in &named {
            ensure!(kind_of(path).is_some(), "{}: no film, picture or folder (name one of these)", Name::from(path));
        }
        let shelf =
            Shelf { bounds: Mutex::new(bounds), named, known: Mutex::default(), isolation, limits: limits.clone() };
        // The path that is numbered first gets the number `TOP`.
        let top = if let [top] = &shelf.named[..] { top.clone() } else { PathBuf::new() };
        shelf.number(&top);
        Ok(shelf)
    }

    /// From now on, the page may see what lies in this folder, too.
    pub fn add_bound(&self, folder: PathBuf) {
        lock(&self.bounds).push(folder);
    }

    /// The number of a path, which is new for a new path. No number is used twice.
    fn number(&self, path: &Path) -> usize {
        let mut known = lock(&self.known);
        if let Some(number) = known.numbers.get(path) {
            return *number;
        }
        let oldest = known.paths.keys().copied().find(|number| *number != TOP);
        if known.paths.len() == MAX_KNOWN
            && let Some(path) = oldest.and_then(|oldest| known.paths.remove(&oldest))
        {
            known.numbers.remove(&path);
        }
        let number = known.next;
        known.next += 1;
        known.paths.insert(number, path.to_owned());
        known.numbers.insert(path.to_owned(), number);
        number
    }

    /// Whether the path lies in the bounds after all symbolic links in it are resolved.
    fn is_within(&self, path: &Path) -> bool {
        let bounds = lock(&self.bounds);
        path.canonicalize().is_ok_and(|path| bounds.iter().any(|bound| path.starts_with(bound)))
    }

    /// The path of this number, if it exists and the page may see it.
    fn path(&self, number: usize) -> Result<PathBuf> {
        let path = lock(&self.known).paths.get(&number).cloned().context("there is no such file")?;
        let name = Name::from(path.file_name().unwrap_or_default());
        ensure!(self.is_within(&path), "{name}: not there any more");
        Ok(path)
    }

    /// The film or picture of this number.
    ///
    /// # Errors
    /// When there is no such film or picture, or its format refers to other files, which would be read, too.
    pub fn file(&self, number: usize) -> Result<(InputOptions, FileKind)> {
        let path = self.path(number)?;
        let kind = kind_of(&path).filter(|kind| *kind != FileKind::Folder).context("this is no film or picture")?;
        Ok((self.input(&path)?, kind))
    }

    /// The options to read a file.
    ///
    /// # Errors
    /// When the format of the file refers to other files.
    pub fn input(&self, path: &Path) -> Result<InputOptions> {
        let input = InputOptions {
            url: path.into(),
            isolation: self.isolation,
            without_links: true,
            limits: self.limits.clone(),
            ..InputOptions::default()
        };
        let name = Name::from(path.file_name().unwrap_or_default());
        input.obstacle().map_or(Ok(()), |why| bail!("{name}: {why}"))?;
        Ok(input)
    }

    /// The entry of one file or folder, as in the listing of its parent folder.
    pub fn entry(&self, path: &Path) -> Option<Entry> {
        // A folder on the way may have become a link since it was listed.
        let place = path.canonicalize().ok().filter(|place| self.is_within(place))?;
        let (kind, found) = (kind_of(&place)?, place.symlink_metadata().ok()?);
        Some(Entry {
            // The number is that of the canonical path: with symbolic links in a circle, a folder has endlessly many
            // other paths.
            number: self.number(&place),
            name: Name::from(path.file_name()?).to_string(),
            kind,
            bytes: if kind == FileKind::Folder { 0 } else { found.len() },
            modified: modified(&found),
            made: kind != FileKind::Folder && is_result(path),
        })
    }

    /// The films, pictures and folders in the folder of this number. Hidden ones are left out.
    ///
    /// # Errors
    /// When there is no such folder, or it cannot be read.
    pub fn list(&self, number: usize) -> Result<Listing> {
        let is_several = number == TOP && (self.named.len() != 1 || !self.named[0].is_dir());
        let (name, mut paths, up): (_, Vec<PathBuf>, _) = if is_several {
            (String::new(), self.named.iter().filter(|path| self.is_within(path)).cloned().collect(), None)
        } else {
            let folder = self.path(number)?;
            ensure!(folder.is_dir(), "this is no folder");
            let name = Name::from(folder.file_name().unwrap_or_default()).to_string();
            // The page may not see the parent of a bound. If several paths were named, their list takes the parent's
            // place.
            let above = folder.parent().filter(|above| self.is_within(above)).map(Path::to_owned);
            let top = (self.named.len() != 1).then_some(TOP);
            let up = above.map_or(top, |above| Some(self.number(&above)));
            let entries = std::fs::read_dir(&folder).with_context(|| name.clone())?;
            let paths = entries.flatten().filter(|entry| {
                let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
                let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
                !is_hidden && (!is_link || self.is_within(&entry.path()))
            });
            (name, paths.map(|entry| entry.path()).collect(), up)
        };
        let mut unread = BTreeMap::new();
        paths.retain(|path| {
            let end = unread_end(path).filter(|_| path.is_file());
            end.into_iter().for_each(|end| *unread.entry(end).or_default() += 1);
            kind_of(path).is_some()
        });
        let film = paths.first().filter(|_| !is_several).and_then(|path| film_in(path.parent()?));
        paths.sort_by_cached_key(|path| (!path.is_dir(), sort_key(path)));
        let left_out = paths.len().saturating_sub(MAX_LISTED);
        paths.truncate(MAX_LISTED);
        let entries: Vec<Entry> = paths.iter().filter_map(|path| self.entry(path)).collect();
        Ok(Listing { number, name, up, left_out: left_out + paths.len() - entries.len(), entries, unread, film })
    }
}

/// The kind of a file, by its name; `None` if the page does not show such files.
fn kind_of(path: &Path) -> Option<FileKind> {
    let found = path.metadata().ok()?;
    match () {
        () if found.is_dir() => Some(FileKind::Folder),
        () if !found.is_file() => None,
        () if is_video_name(path) => Some(FileKind::Film),
        () if is_image_name(path) => Some(FileKind::Picture),
        () => None,
    }
}

/// The extension in small letters, if it is one of `UNREAD`.
fn unread_end(path: &Path) -> Option<String> {
    let end = path.extension()?.to_str()?.to_ascii_lowercase();
    UNREAD.contains(&end.as_str()).then_some(end)
}

/// The longest sequence of numbered images in a folder: the pattern of their names, and their number. Photos do not
/// count.
fn film_in(folder: &Path) -> Option<(Name, usize)> {
    let longest = images_in(folder).ok()?.sequences.into_iter().max_by_key(|(_, count)| *count);
    longest.filter(|(_, count)| *count >= MIN_FILM)
}

/// Whether this program has made the file: by an extended attribute, or by the file's name where the file system keeps
/// no attributes.
fn is_result(path: &Path) -> bool {
    let has_its_name = || path.file_stem().is_some_and(|stem| stem.as_encoded_bytes().ends_with(b"-equalized"));
    is_made_here(path).unwrap_or_else(has_its_name)
}

/// When the file was last written, in seconds since 1970.
pub fn modified(found: &Metadata) -> u64 {
    let since = found.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    since.map_or(0, |since| since.as_secs())
}

/// The name in small letters, with its numbers padded with zeros: `clip2` comes before `clip10`.
fn sort_key(path: &Path) -> String {
    let name = Name::from(path.file_name().unwrap_or_default()).to_string().to_lowercase();
    let (mut key, mut digits) = (String::new(), String::new());
    for letter in name.chars().chain(['\0']) {
        if letter.is_ascii_digit() {
            digits.push(letter);
            continue;
        }
        if !digits.is_empty() {
            key.push_str(&format!("{digits:0>20}"));
            digits.clear();
        }
        // The dot before the extension sorts first: `clip.mp4` comes before `clip-equalized.mp4`.
        key.push(if letter == '.' { '\0' } else { letter });
    }
    key
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn shelf(folder: &Path, root: Option<&Path>) -> Shelf {
        Shelf::new(&[folder.into()], root, (Isolation::Off, &Limits::default())).expect("a folder")
    }

    fn names(listing: &Listing) -> Vec<&str> {
        listing.entries.iter().map(|entry| entry.name.as_str()).collect()
    }

    #[test]
    fn a_folder_lists_films_and_pictures_in_the_order_of_their_numbers() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        std::fs::create_dir(path("more")).expect("a folder");
        let unlisted = ["notes.txt", ".hidden.mp4", "more/in.mkv"];
        for name in ["clip10.mp4", "clip2-equalized.mp4", "clip2.MP4", "Alpha.jpg"].into_iter().chain(unlisted) {
            std::fs::write(path(name), b"x").expect("a file");
        }
        let shelf = shelf(folder.path(), None);
        let top = shelf.list(TOP).expect("a list");
        assert_eq!(names(&top), ["more", "Alpha.jpg", "clip2.MP4", "clip2-equalized.mp4", "clip10.mp4"]);
        assert_eq!(top.up, None);
        let more = shelf.list(top.entries[0].number).expect("a list");
        assert_eq!((names(&more), more.up), (vec!["in.mkv"], Some(TOP)));
        assert!(shelf.file(top.entries[2].number).is_ok());
        assert!(shelf.file(top.entries[0].number).is_err(), "a folder is no file");
        std::fs::remove_file(path("clip2.MP4")).expect("it was there");
        let gone = shelf.file(top.entries[2].number).expect_err("it has gone").to_string();
        assert_eq!(gone, "clip2.MP4: not there any more");
        assert!(shelf.file(99).is_err());
    }

    #[test]
    fn the_oldest_numbers_are_given_up_and_none_is_used_twice() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        ["first.mp4", "second.mp4"].iter().for_each(|name| std::fs::write(path(name), b"x").expect("a file"));
        let shelf = shelf(folder.path(), None);
        let numbers = || shelf.list(TOP).expect("a list").entries.iter().map(|entry| entry.number).collect::<Vec<_>>();
        assert_eq!(numbers(), [1, 2]);
        (3..=MAX_KNOWN).for_each(|number| assert_eq!(shelf.number(&path(&number.to_string())), number));
        assert!(shelf.file(1).is_err() && shelf.file(2).is_ok());
        let again = numbers();
        assert_eq!(again, [MAX_KNOWN + 1, MAX_KNOWN + 2], "the folder itself keeps its number");
        assert!(again.iter().all(|number| shelf.file(*number).is_ok()));
        assert_eq!(lock(&shelf.known).paths.len(), MAX_KNOWN);
    }

    #[test]
    fn what_is_not_shown_is_counted_and_scans_of_a_film_are_told_from_photos() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str| std::fs::write(folder.path().join(name), b"x").expect("a file");
        ["a.HEIC", "b.heic", "c.CR3", "notes.txt", "in.mp4"].into_iter().for_each(write);
        (1..=MIN_FILM).for_each(|number| write(&format!("IMG_{number:04}.JPG")));
        let top = || shelf(folder.path(), None).list(TOP).expect("a list");
        let unread: Vec<_> = top().unread.into_iter().collect();
        assert_eq!(unread, [("cr3".to_owned(), 1), ("heic".to_owned(), 2)]);
        assert_eq!(top().film, None, "photos");
        (1..MIN_FILM).for_each(|number| write(&format!("reel_{number:05}.dpx")));
        assert_eq!(top().film, None, "too few");
        write("reel_00048.dpx");
        let (pattern, count) = top().film.expect("a film");
        assert_eq!((pattern.path().file_name(), count), (Some("reel_%05d.dpx".as_ref()), MIN_FILM));
    }

    #[test]
    fn nothing_outside_is_seen_whatever_links_lead_there() {
        let outside = tempfile::tempdir().expect("a folder");
        std::fs::write(outside.path().join("secret.mp4"), b"x").expect("a file");
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        std::fs::create_dir(path("in")).expect("a folder");
        std::fs::write(path("in/own.mp4"), b"x").expect("a file");
        std::fs::write(path("beside.mp4"), b"x").expect("a file");
        symlink(outside.path().join("secret.mp4"), path("in/link.mp4")).expect("a link");
        symlink(outside.path(), path("in/folder")).expect("a link");
        symlink(path("beside.mp4"), path("in/beside.mp4")).expect("a link");
        let narrow = shelf(&path("in"), None);
        let list = narrow.list(TOP).expect("a list");
        assert_eq!((names(&list), list.up), (vec!["own.mp4"], None));
        let wide = shelf(&path("in"), Some(folder.path()));
        let list = wide.list(TOP).expect("a list");
        assert_eq!(names(&list), ["beside.mp4", "own.mp4"]);
        let up = wide.list(list.up.expect("a folder above")).expect("a list");
        assert_eq!((names(&up), up.up), (vec!["in", "beside.mp4"], None));
        // A listed file that is now a symbolic link is refused.
        let inside = list.entries[1].number;
        assert!(wide.file(inside).is_ok());
        std::fs::remove_file(path("in/own.mp4")).expect("it was there");
        symlink(outside.path().join("secret.mp4"), path("in/own.mp4")).expect("a link");
        assert!(wide.file(inside).is_err());
        let out = Shelf::new(&[outside.path().into()], Some(folder.path()), (Isolation::Off, &Limits::default()));
        assert!(out.is_err_and(|error| error.to_string().contains("not in --root")));
    }
}
