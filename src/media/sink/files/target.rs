//! Where the output is written: into a temporary file in the same folder until it is complete, or directly to its final
//! name if a temporary file makes no sense.

use super::file_names::{is_free, names_with, next_names, resolve_links};
use super::sources::{InputFiles, are_of_pattern, is_input_itself, may_be_source};
use super::temporary::{Leftover, Temporary, sync, sync_folder};
use super::together::Together;
use crate::pipeline::{Cancel, FailureKind, Outcome, reason};
use crate::sink::recorder::DiskRoom;
use crate::sys::files::{
    Name, OpenFolder, PrivateFolder, by_descriptor, folder_of, is_input, is_same, numbered, numbers_there,
};
use crate::sys::io::{PlaneWriter, is_fifo, is_pipe, open_for_reader, stdout, stdout_pipe};
use crate::sys::{one_line, stderr_is_terminal, without_password};
use anyhow::{Context, Error, Result, ensure};
use std::fs::{File, Metadata, TryLockError};
use std::io::{ErrorKind, IsTerminal};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Whether an existing output is replaced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Overwrite {
    /// Ask the user on a terminal; without a terminal, refuse.
    #[default]
    Ask,
    /// Overwrite the output (`-y`).
    Yes,
    /// Refuse to overwrite the output.
    No,
    /// Write nothing (`-n`).
    Skip,
    /// Keep existing images of a sequence, and write the missing ones.
    Keep,
}

impl Overwrite {
    /// Whether the user is asked before an existing output is overwritten.
    pub fn asks(self) -> bool {
        self == Overwrite::Ask && std::io::stdin().is_terminal() && stderr_is_terminal()
    }
}

/// The error for an existing output with [`Overwrite::Skip`].
#[derive(Debug, thiserror::Error)]
#[error("{0} exists: nothing was done (-n)")]
pub struct Skipped(Name);

/// The error for an existing output that must not be overwritten.
fn exists(name: &Name) -> Error {
    FailureKind::Exists.error(format!("{name} exists (use -y to overwrite it)"))
}

/// The error if a name that the program has chosen belongs to something other than a regular file.
fn no_file(name: &Name) -> Error {
    FailureKind::Exists.error(format!(
        "{name} is no file: what the program names itself never goes through a link (remove it, or name the output)"
    ))
}

/// The error if the folder of an output does not exist.
pub(crate) fn no_folder(name: &Name, folder: &Path) -> Error {
    FailureKind::Missing.error(format!("{name}: there is no folder {} (make it first)", Name::from(folder)))
}

/// The error if the file of an output cannot be created.
fn not_created(name: &Name) -> impl FnOnce(std::io::Error) -> Error {
    move |error| match error.kind() {
        ErrorKind::AlreadyExists => exists(name),
        ErrorKind::InvalidFilename | ErrorKind::StorageFull | ErrorKind::QuotaExceeded => not_written(name)(error),
        _ => FailureKind::Refused.error(format!("{name}: cannot write there: {}", with_remedy(&error))),
    }
}

/// The error if an output cannot be completed.
fn not_written(name: &Name) -> impl FnOnce(std::io::Error) -> Error {
    move |error| match error.kind() {
        ErrorKind::IsADirectory => is_folder(name),
        ErrorKind::InvalidFilename => {
            FailureKind::Usage.error(format!("{name}: the name is too long (give a shorter one)"))
        }
        _ => FailureKind::Disk.error(format!("{name}: cannot be written: {}", with_remedy(&error))),
    }
}

/// Which files an output name denotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Files {
    /// One file.
    One,
    /// A sequence of numbered files; the name is its pattern.
    Sequence,
    /// A playlist and its segments, whose names derive from the playlist's (HLS) or are fixed (DASH).
    List,
}

/// How an output is written.
#[derive(Debug, Default)]
enum Way {
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
    name: Name,
    /// The path of the file, with symbolic links resolved.
    file: PathBuf,
    way: Way,
    /// The folder of the file, if that was opened. The path `file` leads through it.
    folder: Option<OpenFolder>,
    /// Whether an existing file may be replaced.
    may_replace: bool,
    /// Whether existing images of a sequence are kept.
    keeps: bool,
    /// Ends waiting for a reader.
    cancel: Cancel,
    /// The other outputs of the run, if all are renamed to their final names together.
    together: Option<Together>,
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
    fn open(&self) -> Option<&File> {
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

    /// Syncs the file to the disk and renames it to its final name; after an interruption, to `NAME.partial.EXT`.
    /// Returns the name that it has now, or will get [with the others](Self::named_with).
    ///
    /// # Errors
    /// When writing or renaming fails; the error then contains the current name.
    pub fn end(mut self, outcome: Outcome) -> Result<Name> {
        let name = self.name.clone();
        match &self.way {
            Way::Whole(temporary) => {
                // Links were resolved before; if the name has become a link since, the link is replaced.
                temporary.resemble(&self.file, self.may_replace);
                sync(&temporary.file).map_err(not_written(&name))?;
            }
            Way::Direct(Some(file), _) | Way::Segment(file) => {
                sync(file).and_then(|()| sync_folder(&self.file)).map_err(not_written(&name))?;
                // The open file has been removed: it has no name, and its old name is free or belongs to another file.
                let is_removed = file.metadata().is_ok_and(|open| open.nlink() == 0)
                    && !is_same(std::fs::metadata(&self.file), file);
                // If a segment is removed, the recording continues with the next ones.
                let is_missed = is_removed && !matches!(self.way, Way::Segment(_));
                ensure!(!is_missed, not_written(&name)(std::io::Error::other("it was removed meanwhile")));
                return Ok(name);
            }
            Way::List if outcome == Outcome::Interrupted => {
                // The playlist is renamed; its segments keep their names.
                let partial = names_with(&self.file, "partial").find(|path| is_free(path)).unwrap_or_default();
                std::fs::rename(&self.file, &partial).map_err(not_written(&name))?;
                return Ok(partial.into());
            }
            _ => return Ok(name),
        }
        match (outcome, self.together.take()) {
            (Outcome::Interrupted, _) => {
                let partial = self.keep("partial").map_err(not_written(&name))?;
                sync_folder(&self.file).map_err(not_written(&name))?;
                return Ok(partial);
            }
            (Outcome::Complete, Some(together)) => together.add(self),
            (Outcome::Complete, None) => Target::name_all(vec![self])?,
        }
        Ok(name)
    }

    /// Creates a temporary file for image `number` of a sequence.
    ///
    /// # Errors
    /// When no file can be created in the folder.
    pub(crate) fn image(&self, number: u64) -> Result<Temporary> {
        let name = numbered(&self.name, number);
        Temporary::beside(name.path()).map_err(not_created(&name))
    }

    /// Renames image `number` of a sequence to its final name, unless an existing image of this name is kept.
    ///
    /// # Errors
    /// When it cannot be renamed.
    pub(crate) fn end_image(&self, mut image: Temporary, number: u64) -> Result<()> {
        let name = numbered(&self.name, number);
        ensure!(!self.may_replace || !is_input(name.path()), is_input_itself(&name, IS_READ));
        // If the name is a link, the link is replaced.
        image.resemble(name.path(), self.may_replace);
        match image.take(name.path(), self.may_replace) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists && self.keeps => Ok(()),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(exists(&name)),
            taken => taken.map_err(not_written(&name)),
        }
    }

    /// A reservation of disk space for the temporary file, if there is one.
    pub(crate) fn room(&self) -> Option<DiskRoom> {
        if let Way::Whole(temporary) = &self.way { DiskRoom::for_open_file(&temporary.file).ok() } else { None }
    }

    /// Ends a file because the disk is full. Keeps its first `bytes`; a temporary file gets another name. Returns the
    /// error, which contains that name.
    pub fn cut(self, bytes: u64, error: &std::io::Error) -> Error {
        let name = self.name.clone();
        let is_cut = self
            .open()
            .zip(self.bytes())
            .is_some_and(|(file, length)| bytes > 0 && (length <= bytes || file.set_len(bytes).is_ok()));
        let kept = if is_cut { self.end(Outcome::Interrupted).ok() } else { None };
        let why = match kept {
            Some(kept) => format!("{} (what there is of it: {kept}; name an output on another disk)", reason(error)),
            None => with_remedy(error),
        };
        FailureKind::Disk.error(format!("{name}: cannot be written: {why}"))
    }

    /// Current length of the file, if one is open.
    pub fn bytes(&self) -> Option<u64> {
        Some(self.open()?.metadata().ok().filter(Metadata::is_file)?.len())
    }

    /// The temporary file's hidden name, for removal on an abort.
    pub fn leftover(&self) -> Option<Leftover> {
        if let Way::Whole(temporary) = &self.way { temporary.leftover() } else { None }
    }

    /// Renames each of these complete files to its final name. The steps that may fail are done first, for all files.
    ///
    /// # Errors
    /// When one cannot be renamed. If the file system can exchange names, all old files keep their names, and the error
    /// names the files in which the new output is kept.
    pub(crate) fn name_all(mut files: Vec<Target>) -> Result<()> {
        for is_prepared in [false, true] {
            for index in 0..files.len() {
                let Target { way: Way::Whole(temporary), file, may_replace, .. } = &mut files[index] else { continue };
                let done = match is_prepared {
                    false if *may_replace && is_input(file) => Err(std::io::Error::new(ErrorKind::ResourceBusy, STAYS)),
                    false => temporary.prepare(*may_replace),
                    true => temporary.place(file, *may_replace),
                };
                if let Err(error) = done {
                    return Err(Target::keep_all(files, index, error));
                }
            }
        }
        // Dropping the temporary files removes the replaced files.
        files.iter_mut().for_each(|file| file.way = Way::ByName);
        files.iter().try_for_each(|file| sync_folder(&file.file).map_err(not_written(&file.name)))
    }

    /// Keeps all files under other names, because file `index` cannot be renamed to its final name.
    fn keep_all(mut files: Vec<Target>, index: usize, error: std::io::Error) -> Error {
        let mut kept: Vec<String> = Vec::new();
        for target in &mut files {
            let Way::Whole(temporary) = &mut target.way else { continue };
            let is_new = temporary.is_new();
            // A file without a name would be deleted, so it gets the new name before it loses the old one.
            if temporary.undo(&target.file)
                && let Ok(name) = target.keep("new")
            {
                kept.push(name.to_string());
                let _ = is_new.then(|| std::fs::remove_file(&target.file));
            }
        }
        let (name, kept) = (&files[index].name, kept.join(", "));
        let kind = match error.kind() {
            _ if kept.is_empty() => return not_written(name)(error),
            ErrorKind::AlreadyExists => {
                let message = format!("{name} has appeared meanwhile: the new file is {kept}");
                return FailureKind::Exists.error(format!("{message} (-y would have replaced the other)"));
            }
            ErrorKind::IsADirectory | ErrorKind::ResourceBusy => FailureKind::Exists,
            _ => FailureKind::Disk,
        };
        kind.error(format!("{name}: cannot be replaced: {} (the new file is {kept})", reason(&error)))
    }

    /// Renames the file to `NAME.WORD.EXT`, or to the next free name of that kind.
    pub(crate) fn keep(&mut self, word: &str) -> std::io::Result<Name> {
        let Way::Whole(temporary) = &mut self.way else { return Ok(self.name.clone()) };
        for path in names_with(&self.file, word) {
            match temporary.take(&path, false) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                taken => {
                    let shown = self.folder.as_ref().zip(path.file_name()).map(|(folder, name)| folder.path(name));
                    return taken.map(|()| shown.unwrap_or(path).into());
                }
            }
        }
        Err(ErrorKind::AlreadyExists.into())
    }
}

/// Whether both paths lead to the same existing file. Only regular files are compared, because comparing opens them:
/// the writer of a FIFO would take that for a reader.
fn are_one_file(a: &Path, b: &Path) -> bool {
    a.is_file() && b.is_file() && same_file::is_same_file(a, b).unwrap_or(false)
}

/// Error text if only opening the input shows that the output belongs to it.
const IS_READ: &str = ", or one of the files that this is read from";

/// The reason in the error message for not replacing a file of the input.
const STAYS: &str = "the input was read from it";

/// Whether `name` is stdout or a URL instead of a file.
pub(crate) fn is_stream(name: &Name) -> bool {
    *name == "-" || name.to_string().contains("://")
}

/// Checks that `name`, or each file that it denotes, may be written and is not `input`. Returns whether such files
/// exist, which may then be replaced.
fn check_place(name: &Name, input: &Name, files: Files, overwrite: Overwrite) -> Result<bool> {
    let read = InputFiles::new(input);
    read.differ_from(name)?;
    let there = match std::fs::metadata(name) {
        Ok(there) if there.is_dir() => Err(ErrorKind::IsADirectory.into()),
        // A pattern may be too long for a file name: its numbered names may be shorter.
        Err(error) if error.kind() == ErrorKind::InvalidFilename && files != Files::Sequence => Err(error),
        there => Ok(there.ok()),
    };
    // A block device is protected from overwriting like a file.
    let is_file = |there: Metadata| there.is_file() || there.file_type().is_block_device();
    let is_file = there.map_err(not_written(name))?.is_some_and(is_file);
    let itself = is_file.then(|| name.clone()).into_iter();
    let written: Vec<Name> = match files {
        Files::One => itself.collect(),
        Files::Sequence => numbers_there(name).into_iter().map(|number| numbered(name, number)).collect(),
        Files::List => itself.chain(segments(name)).collect(),
    };
    for other in written.iter().filter(|_| files != Files::One) {
        // The muxer would follow a link when it opens a segment.
        ensure!(files != Files::List || other == name || is_regular(other.path()), no_file(other));
        read.differ_from(other)?;
    }
    let keeps = files == Files::Sequence && overwrite == Overwrite::Keep;
    let message = match written.first().filter(|other| !keeps && !may_overwrite(other, overwrite)) {
        Some(other) if overwrite == Overwrite::Skip => return Err(Skipped(other.clone()).into()),
        Some(other) if files == Files::One && may_be_source(other.path(), input.path()) => format!(
            "{other} exists, and may be a source (-o NAME names another output; --output-dir DIR takes many inputs)"
        ),
        Some(other) => return Err(exists(other)),
        None if overwrite == Overwrite::Yes && is_file && are_of_pattern(name.path(), input.path()) => format!(
            "{name} is the second of the two names that a pattern like *.mp4 stands for, and may be a source: -y does \
             not replace it (remove it first; --output-dir DIR takes many inputs)"
        ),
        None => return Ok(!written.is_empty()),
    };
    Err(FailureKind::Exists.error(message))
}

/// Whether `path` is a regular file, not a link to one.
fn is_regular(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|there| there.is_file())
}

/// Existing segments that the playlist `name` would overwrite.
fn segments(name: &Name) -> Vec<Name> {
    let stem = name.path().file_stem().unwrap_or_default().as_bytes();
    let is_segment = |file: &Path| {
        let [name, end] = [file.file_stem(), file.extension()].map(|part| part.unwrap_or_default().as_bytes());
        let number = name.strip_prefix(stem);
        let of_hls = number.is_some_and(|number| !number.is_empty() && number.iter().all(u8::is_ascii_digit));
        let of_dash = name.starts_with(b"init-stream") || name.starts_with(b"chunk-stream");
        (end == b"ts" || end == b"m4s") && (of_hls || of_dash)
    };
    let files = std::fs::read_dir(folder_of(name.path())).into_iter().flatten().flatten();
    files.map(|file| file.path()).filter(|file| is_segment(file)).map(Name::from).collect()
}

fn is_folder(name: &Name) -> Error {
    let word = name.quoted();
    FailureKind::Exists
        .error(format!("{name} is a folder (give a file name; --output-dir {word} keeps those of the inputs)"))
}

/// The system's error message, with a remedy if there is one.
fn with_remedy(error: &std::io::Error) -> String {
    let remedy = match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => " (make room, or name an output on another disk)",
        ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied => {
            " (name an output elsewhere, or all of them with --output-dir DIR)"
        }
        _ => "",
    };
    reason(error) + remedy
}

/// Whether the file `name` may be overwritten. Asks the user if `overwrite` requires that.
fn may_overwrite(name: &Name, overwrite: Overwrite) -> bool {
    if !overwrite.asks() {
        return overwrite == Overwrite::Yes;
    }
    crate::sys::print_text(&format!("{} exists. Overwrite? [y/N] ", one_line(&name.to_string())));
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer).is_ok() && answer.trim().eq_ignore_ascii_case("y")
}

#[cfg(test)]
mod tests {
    use super::*;
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
