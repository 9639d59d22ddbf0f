//! Where the output is written: into a temporary file in the same folder until it is complete, or directly to its final
//! name if a temporary file makes no sense.

use super::file_names::{is_free, next_names, resolve_links};
use super::sources::{InputFiles, is_input_itself};
use super::temporary::{Leftover, Temporary};
use super::together::Together;
use crate::pipeline::{Cancel, FailureKind};
use crate::sink::files::place::{
    Files, IS_READ, Overwrite, are_one_file, check_place, is_regular, is_stream, no_file, no_folder, not_created,
    not_written,
};
use crate::sink::recorder::DiskRoom;
use crate::sys::files::{Name, OpenFolder, PrivateFolder, by_descriptor, folder_of, is_input, numbered};
use crate::sys::io::{PlaneWriter, is_fifo, is_pipe, open_for_reader, stdout, stdout_pipe};
use crate::sys::without_password;
use anyhow::{Context, Error, Result, ensure};
use std::fs::{File, Metadata, TryLockError};
use std::io::ErrorKind;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// How an output is written.
#[derive(Debug, Default)]
pub(super) enum Way {
    /// Opened by name later: a device, a FIFO without a reader, stdout that is no pipe, numbered images; or no output.
    #[default]
    ByName,
    /// The muxer writes a playlist and its segments.
    List,
    /// To the server at this URL, which includes passwords.
    Server(Name),
    /// Into a FIFO that has a reader, or into another pipe.
    Pipe(File),
    /// Into a temporary file, which is renamed when it is complete.
    Whole(Temporary),
    /// Into a file with its final name, opened for the first frame. The flag tells whether the file is new.
    Direct(Option<File>, bool),
    /// Into a new segment of a recording, with its final name, which `recorder::room` locks.
    Segment(File),
}

/// An output, and how it is written. Dropping it removes an incomplete temporary file.
#[derive(Debug, Default)]
pub struct Target {
    /// The name that the user gave, without passwords.
    pub(super) name: Name,
    /// The path of the file, with symbolic links resolved.
    pub(super) file: PathBuf,
    pub(super) way: Way,
    /// The folder of the file, if that was opened. The path `file` leads through it.
    pub(super) folder: Option<OpenFolder>,
    /// Whether an existing file may be replaced.
    pub(super) may_replace: bool,
    /// Whether existing images of a sequence are kept.
    pub(super) keeps: bool,
    /// Ends waiting for a reader.
    cancel: Cancel,
    /// The other outputs of the run, if all are renamed to their final names together.
    pub(super) together: Option<Together>,
}

impl Target {
    /// Prepares the output `name`, and checks that it may be written there. It must not be the file `input`.
    ///
    /// # Errors
    /// When the output must not or cannot be written there.
    pub fn new(name: &Name, input: &Name, files: Files, overwrite: Overwrite) -> Result<Self> {
        Target::checked(name, input, files, overwrite, false)
    }

    /// Prepares an output that is written directly to its final name, because a live recording should survive a crash.
    ///
    /// # Errors
    /// When the output must not or cannot be written there.
    pub fn direct(name: &Name, files: Files, overwrite: Overwrite) -> Result<Self> {
        Target::checked(name, &Name::default(), files, overwrite, true)
    }

    fn checked(name: &Name, input: &Name, files: Files, overwrite: Overwrite, is_direct: bool) -> Result<Self> {
        let mut target = Target::nowhere(name);
        if is_stream(name) {
            return Target::differs(name, input).map(|()| target);
        }
        let existed = check_place(name, input, files, overwrite)?;
        target.keeps = overwrite == Overwrite::Keep;
        target.may_replace = overwrite == Overwrite::Yes || existed && !target.keeps;
        if std::fs::metadata(name).is_ok_and(|metadata| !metadata.is_file()) {
            return Ok(target);
        }
        // If the name is a link, the file that it leads to is replaced.
        target.file = resolve_links(name.path());
        let folder = folder_of(&target.file);
        ensure!(folder.is_dir(), no_folder(name, folder));
        // Checks early that the existing file can be opened and locked, without changing it.
        if is_direct && files == Files::One && target.file.exists() {
            let file = File::options().write(true).open(&target.file).map_err(not_created(name))?;
            target.lock(&file)?;
            target.way = Way::Direct(None, false);
            return Ok(target);
        }
        let temporary = Temporary::beside(&target.file).map_err(not_created(name))?;
        target.way = match files {
            Files::One if is_direct => Way::Direct(None, false),
            Files::One => Way::Whole(temporary),
            Files::List if !is_direct => Way::List,
            Files::Sequence | Files::List => Way::ByName,
        };
        Ok(target)
    }

    /// Another output with the same overwriting, cancellation and renaming.
    ///
    /// # Errors
    /// When it must not or cannot be written there.
    pub fn beside(&self, name: &Name) -> Result<Self> {
        let overwrite = if self.may_replace { Overwrite::Yes } else { Overwrite::No };
        let target = Target::new(name, &Name::default(), Files::One, overwrite)?;
        target.check_made_up()?;
        Ok(Target { cancel: self.cancel.clone(), together: self.together.clone(), ..target })
    }

    /// Prepares the file `name` in this folder; it replaces an existing file. If the name is a link, the link is
    /// replaced.
    ///
    /// # Errors
    /// When no file can be created in the folder.
    pub fn in_folder(folder: &PrivateFolder, name: &str) -> Result<Self> {
        let (file, name) = (folder.opened().place().join(name), folder.path(name).into());
        let way = Way::Whole(Temporary::beside(&file).map_err(not_created(&name))?);
        Ok(Target { file, way, folder: Some(folder.opened().clone()), may_replace: true, ..Target::nowhere(&name) })
    }

    /// Creates a file named `first`, or with the next number if that name exists. No link is followed, and no existing
    /// file is opened. The file is written directly, and the caller locks it.
    ///
    /// # Errors
    /// When the folder does not exist, or no file can be created in it.
    pub(crate) fn numbered_file(first: &Path) -> Result<Self> {
        ensure!(folder_of(first).is_dir(), no_folder(&first.into(), folder_of(first)));
        for place in next_names(first).filter(|place| is_free(place)) {
            let (file, name) = (File::create_new(&place), place.into());
            // If another program has just created the file, the next number is tried.
            if !file.as_ref().is_err_and(|error| error.kind() == ErrorKind::AlreadyExists) {
                let way = Way::Segment(file.map_err(not_created(&name))?);
                return Ok(Target { way, ..Target::nowhere(&name) });
            }
        }
        unreachable!("one of all numbers is free")
    }

    /// Prepares a file named `first`, or with the next number if that name exists. It gets the name when it is
    /// complete.
    ///
    /// # Errors
    /// When no file can be created in the folder.
    pub fn numbered_whole(first: &Name) -> Result<Self> {
        let name = next_names(first.path()).find(|place| is_free(place)).unwrap_or_default().into();
        Target::new(&name, &Name::default(), Files::One, Overwrite::No)
    }

    /// Checks that a name chosen by the program does not exist, or belongs to a regular file.
    ///
    /// # Errors
    /// When it is a link, a pipe, a device or a folder.
    pub fn check_made_up(&self) -> Result<()> {
        let path = self.name.path();
        // The paths differ if the name was a link when the target was made.
        ensure!(self.file == path && (is_free(path) || is_regular(path)), no_file(&self.name));
        Ok(())
    }

    /// Opens the folder of the file, without following links, and from now on writes into this folder, whatever its
    /// name leads to meanwhile.
    ///
    /// # Errors
    /// When the path of the folder has a link, or the name is one.
    pub fn without_links(mut self) -> Result<Self> {
        let (place, name) = (folder_of(&self.file), self.file.file_name().unwrap_or_default());
        let folder = OpenFolder::without_links(place).map_err(not_created(&self.name))?;
        self.file = folder.place().join(name);
        ensure!(is_free(&self.file) || is_regular(&self.file), no_file(&self.name));
        if let Way::Whole(_) = self.way {
            self.way = Way::Whole(Temporary::beside(&self.file).map_err(not_created(&self.name))?);
        }
        self.folder = Some(folder);
        Ok(self)
    }

    /// A target for a trial: output is discarded; otherwise, it behaves like the output `name`.
    ///
    /// # Errors
    /// When `/dev/null` cannot be opened.
    pub fn discarding(name: &Name) -> std::io::Result<Self> {
        let nowhere = File::options().write(true).open("/dev/null")?;
        // The trial must not be seekable if the real output is a pipe.
        let way = if is_pipe(name) { Way::Pipe(nowhere) } else { Way::Direct(Some(nowhere), false) };
        Ok(Target { file: "/dev/null".into(), way, ..Target::nowhere(name) })
    }

    /// Checks that `name` is neither the file `input` nor a file that `input` refers to, as a playlist does.
    ///
    /// # Errors
    /// When it is.
    pub fn differs(name: &Name, input: &Name) -> Result<()> {
        InputFiles::new(input).differ_from(name)
    }

    /// Whether both names denote the same file, existing or not. Several outputs may go to /dev/null.
    pub fn are_one(name: &Name, other: &Name) -> bool {
        let place = |name: &Name| {
            let file = resolve_links(name.path());
            let folder = folder_of(&file).canonicalize();
            folder.map_or(file.clone(), |folder| folder.join(file.file_name().unwrap_or_default()))
        };
        let (file, other) = (place(name), place(other));
        file == other && file != Path::new("/dev/null") || are_one_file(&file, &other)
    }

    /// The output to a pipe; `writer` is its writing end.
    pub fn pipe(name: &Name, writer: File) -> Self {
        Target { way: Way::Pipe(writer), ..Target::nowhere(name) }
    }

    /// The output to a network server.
    pub fn network(url: &Name) -> Self {
        Target { way: Way::Server(url.clone()), ..Target::nowhere(&without_password(url)) }
    }

    /// Whether the output goes to a network server.
    pub fn is_network(&self) -> bool {
        matches!(self.way, Way::Server(_))
    }

    /// A target without checks and without a file, for outputs that write no file.
    pub fn nowhere(name: &Name) -> Self {
        Target { name: name.clone(), file: name.path().to_owned(), ..Target::default() }
    }

    /// From now on, `cancel` ends waiting for the reader of a FIFO, or for a server.
    pub fn interruptible(mut self, cancel: &Cancel) -> Self {
        self.cancel = cancel.clone();
        self
    }

    /// From now on, the complete file is renamed only together with the other outputs of `together`.
    pub fn named_with(mut self, together: &Together) -> Self {
        self.together = Some(together.clone());
        self
    }

    /// The cancellation that ends waiting.
    pub fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    /// Waits until a FIFO has a reader; other outputs are ready at once.
    ///
    /// # Errors
    /// When it cannot be opened, or the wait is cancelled.
    pub fn wait_for_reader(&mut self) -> Result<()> {
        let pipe = match self.way {
            Way::ByName if self.name == "-" => stdout_pipe(),
            Way::ByName if is_fifo(&self.name) => {
                let opened = open_for_reader(self.name.path(), &self.cancel.flag());
                let opened = opened.map_err(not_created(&self.name))?;
                Some(opened.with_context(|| format!("{}: interrupted before anybody read from it", self.name))?)
            }
            _ => None,
        };
        if let Some(pipe) = pipe {
            self.way = Way::Pipe(pipe);
        }
        Ok(())
    }

    /// The error if the run was interrupted while the reader of the pipe had stopped reading.
    pub fn stalled(&self) -> Error {
        anyhow::anyhow!("{}: interrupted while its reader read nothing: the rest is not written", self.name)
    }

    /// The pipe that is written to: a FIFO that has a reader, or stdout.
    pub fn fifo(&self) -> Option<&File> {
        if let Way::Pipe(file) = &self.way { Some(file) } else { None }
    }

    /// Whether the file stays unchanged until the first frame is written.
    pub fn waits_for_frame(&self) -> bool {
        matches!(self.way, Way::Direct(..))
    }

    /// Removes the file if it was created under its final name in this run: an output that failed before its first
    /// frame would be in the way of the next run.
    pub fn discard(&mut self) {
        if let Way::Direct(Some(_), true) | Way::Segment(_) = self.way {
            let _ = std::fs::remove_file(&self.file);
        }
    }

    /// Locks a file that is written under its final name, if its file system supports locks.
    fn lock(&self, file: &File) -> Result<()> {
        let is_locked = matches!(file.try_lock(), Err(TryLockError::WouldBlock));
        let in_use = || format!("{}: another run records into it (end that first, or name another file)", self.name);
        ensure!(!is_locked, FailureKind::Exists.error(in_use()));
        Ok(())
    }

    /// Opens and empties a file that is written under its final name.
    ///
    /// # Errors
    /// When it cannot be opened, the input was read from it, another program has created it in the meantime or has
    /// replaced the temporary file, or another run records into it.
    pub fn begin(&mut self) -> Result<()> {
        let is_file = matches!(self.way, Way::Whole(_) | Way::Direct(None, _));
        ensure!(!is_file || !is_input(&self.file), is_input_itself(&self.name, IS_READ));
        match &self.way {
            Way::Whole(temporary) => return temporary.check().map_err(not_written(&self.name)),
            Way::Direct(None, _) => {}
            _ => return Ok(()),
        }
        let is_new = !self.file.exists();
        let mut options = File::options();
        options.write(true).create(true).create_new(!self.may_replace).truncate(false);
        // Links were resolved before. If the name has become a link or FIFO since, opening it fails without waiting.
        options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
        let file = options.open(&self.file).map_err(not_created(&self.name))?;
        ensure!(file.metadata().is_ok_and(|there| there.is_file()), no_file(&self.name));
        self.lock(&file)?;
        file.set_len(0).map_err(not_created(&self.name))?;
        self.way = Way::Direct(Some(file), is_new);
        Ok(())
    }

    /// The open file or pipe, if there is one.
    pub(super) fn open(&self) -> Option<&File> {
        match &self.way {
            Way::Pipe(file) | Way::Direct(Some(file), _) | Way::Segment(file) => Some(file),
            Way::Whole(temporary) => Some(&temporary.file),
            Way::ByName | Way::List | Way::Server(_) | Way::Direct(None, _) => None,
        }
    }

    /// The open output, for sinks that write bytes themselves.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn writer(&mut self) -> Result<File> {
        self.wait_for_reader()?;
        self.begin()?;
        let file = match self.open() {
            Some(file) => file.try_clone(),
            None if self.name == "-" => stdout(),
            None => File::create(&self.name),
        };
        file.map_err(not_created(&self.name))
    }

    /// As [`writer`](Self::writer), for small writes: waits while a FIFO is full, until the run is interrupted.
    ///
    /// # Errors
    /// As for [`writer`](Self::writer).
    pub fn patient_writer(&mut self) -> Result<PlaneWriter> {
        Ok(PlaneWriter::new(self.writer()?, self.cancel.flag()))
    }

    /// The URL or path that FFmpeg opens.
    pub fn url(&self) -> Name {
        match &self.way {
            Way::Pipe(file) => format!("pipe:{}", file.as_raw_fd()).into(),
            Way::Server(url) => url.clone(),
            Way::Whole(temporary) => temporary.location.clone().into(),
            Way::Direct(Some(file), _) | Way::Segment(file) => by_descriptor(file).unwrap_or(self.file.clone()).into(),
            _ if self.name == "-" => "pipe:1".into(),
            _ => self.name.clone(),
        }
    }

    /// The path that this process needs access to: the folder of the file, or the device or FIFO; `None` for stdout and
    /// servers.
    pub fn place(&self) -> Option<PathBuf> {
        let is_other = std::fs::metadata(&self.file).is_ok_and(|metadata| !metadata.is_file());
        let place = if is_other { &self.file } else { folder_of(&self.file) };
        (!is_stream(&self.name)).then(|| place.to_owned())
    }

    /// Whether an existing file may be replaced, whose owner and mode are kept. Of numbered images, any may exist.
    pub fn replaces_file(&self) -> bool {
        self.may_replace && (self.file.exists() || !matches!(self.way, Way::Whole(_)))
    }

    /// The name that the user gave, without passwords.
    pub fn name(&self) -> &Name {
        &self.name
    }

    /// Creates a temporary file for image `number` of a sequence.
    ///
    /// # Errors
    /// When no file can be created in the folder.
    pub(crate) fn image(&self, number: u64) -> Result<Temporary> {
        let name = numbered(&self.name, number);
        Temporary::beside(name.path()).map_err(not_created(&name))
    }

    /// A reservation of disk space for the temporary file, if there is one.
    pub(crate) fn room(&self) -> Option<DiskRoom> {
        if let Way::Whole(temporary) = &self.way { DiskRoom::for_open_file(&temporary.file).ok() } else { None }
    }

    /// Current length of the file, if one is open.
    pub fn bytes(&self) -> Option<u64> {
        Some(self.open()?.metadata().ok().filter(Metadata::is_file)?.len())
    }

    /// The temporary file's hidden name, for removal on an abort.
    pub fn leftover(&self) -> Option<Leftover> {
        if let Way::Whole(temporary) = &self.way { temporary.leftover() } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::Outcome;
    use std::io::Write;

    #[test]
    fn what_the_program_names_itself_takes_the_first_number_that_nothing_has() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        std::os::unix::fs::symlink(path("elsewhere"), path("a.png")).expect("a link");
        std::os::unix::fs::symlink("/dev/full", path("a.2.png")).expect("a link");
        std::fs::create_dir(path("a.3.png")).expect("a folder");
        let whole = Target::numbered_whole(&path("a.png").into()).expect("a place");
        assert_eq!(whole.name().path(), path("a.4.png"));
        whole.end(Outcome::Complete).expect("a name");
        assert!(is_regular(&path("a.4.png")));
        let direct = Target::numbered_file(&path("a.png")).expect("a file");
        assert!(direct.name().path() == path("a.5.png") && is_regular(&path("a.5.png")));
        assert!(!path("elsewhere").exists());
        let error = Target::numbered_file(&path("nowhere/a.png")).expect_err("no folder");
        assert!(error.to_string().contains("there is no folder"), "{error}");
    }

    #[test]
    fn a_folder_that_becomes_a_link_is_still_the_one_that_was_opened() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().canonicalize().expect("a folder").join(name);
        ["in", "out"].iter().for_each(|name| std::fs::create_dir(path(name)).expect("a folder"));
        let target = || {
            let target = Target::new(&path("in/a.mkv").into(), &Name::default(), Files::One, Overwrite::Yes);
            target.expect("a place").without_links()
        };
        let target_before = target().expect("no link");
        std::fs::rename(path("in"), path("moved")).expect("a name");
        std::os::unix::fs::symlink(path("out"), path("in")).expect("a link");
        let name = target_before.end(Outcome::Interrupted).expect("a name");
        assert_eq!((name.path(), path("moved/a.partial.mkv").is_file()), (&*path("in/a.partial.mkv"), true));
        assert_eq!(std::fs::read_dir(path("out")).expect("a folder").count(), 0);
        let error = target().expect_err("a link").to_string();
        assert!(error.contains("cannot write there"), "{error}");
    }

    #[test]
    fn what_one_cannot_replace_none_replaces_and_all_are_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        let read = |name: &str| std::fs::read_to_string(path(name)).expect("a file");
        std::fs::write(path("video.mkv"), "old video").expect("a disk");
        // `record.csv` cannot be replaced, because it is a folder.
        std::fs::create_dir(path("record.csv")).expect("a folder");
        let whole = |name: &str, text: &str| {
            let temporary = Temporary::beside(&path(name)).expect("a file");
            (&temporary.file).write_all(text.as_bytes()).expect("a disk");
            let way = Way::Whole(temporary);
            Target { file: path(name), way, may_replace: true, ..Target::nowhere(&name.into()) }
        };
        let files = vec![whole("video.mkv", "new video"), whole("new.mkv", "new"), whole("record.csv", "new record")];
        let error = Target::name_all(files).expect_err("a folder").to_string();
        assert!(error.starts_with("record.csv: cannot be replaced: ") && error.contains("video.new.mkv"), "{error}");
        assert_eq!(read("video.mkv"), "old video");
        assert_eq!((read("video.new.mkv"), read("record.new.csv")), ("new video".to_owned(), "new record".to_owned()));
        assert!(path("record.csv").is_dir() && !path("new.mkv").exists());
        assert_eq!(read("new.new.mkv"), "new");
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 5, "no hidden names");
        // A single file that cannot be replaced is kept, too.
        std::fs::create_dir(path("other.mkv")).expect("a folder");
        assert!(Target::name_all(vec![whole("other.mkv", "result")]).is_err());
        assert_eq!(read("other.new.mkv"), "result");
        Target::name_all(vec![whole("video.mkv", "new video")]).expect("a file that can be replaced");
        assert_eq!(read("video.mkv"), "new video");
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 7);
    }
}
