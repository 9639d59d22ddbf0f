//! Where the output is written: into a temporary file beside its own place until it is whole, or directly where that
//! would make no sense.

use super::file_names::{folder_of, is_free, names_with, next_names, resolve_links};
use super::recorder::Room;
use super::sources::{are_of_pattern, may_be_source};
use super::temporary::{Leftover, Named, Temporary, sync, sync_folder};
use super::together::Together;
use crate::pipeline::{Cancel, Outcome};
use crate::sys::{
    Name, PlaneWriter, PrivateFolder, by_descriptor, is_fifo, is_same, numbered, numbers_there, one_line,
    open_for_reader, stderr_is_terminal, stdin, stdout, stdout_pipe, without_codes, without_password,
};
use std::ffi::OsStr;
use std::fs::{File, Metadata, TryLockError};
use std::io::{ErrorKind, IsTerminal};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// Whether an existing output is replaced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Overwrite {
    /// Ask on a terminal, else refuse.
    #[default]
    Ask,
    /// Overwrite (`-y`).
    Yes,
    /// Refuse.
    No,
    /// Do nothing (`-n`).
    Skip,
    /// Keep the images of a sequence that are there, and write the others.
    Keep,
}

impl Overwrite {
    /// Whether the user would be asked about an output that exists.
    pub fn asks(self) -> bool {
        self == Overwrite::Ask && std::io::stdin().is_terminal() && stderr_is_terminal()
    }
}

/// Why an output cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// It exists, and is to be kept.
    #[error("{0} exists (use -y to overwrite it)")]
    Exists(Name),
    /// It exists, and may be a source as the input is.
    #[error("{0} exists, and may be a source (-o NAME names another output; --output-dir DIR takes many inputs)")]
    MayBeSource(Name),
    /// An existing name of that kind, with `-y`.
    #[error(
        "{0} is the second of the two names that a pattern like *.mp4 stands for, and may be a source: -y does not \
         replace it (remove it first; --output-dir DIR takes many inputs)"
    )]
    IsOfPattern(Name),
    /// It exists, and nothing is to be done then.
    #[error("{0} exists: nothing was done (-n)")]
    Skipped(Name),
    /// It is the input.
    #[error("{0} is the input itself (give the output another name)")]
    SameAsInput(Name),
    /// What has the name that the program has made up is no file.
    #[error("{0} is no file: what the program names itself never goes through a link (remove it, or name the output)")]
    NoFile(Name),
    /// It is a folder.
    #[error("{0} is a folder (give a file name; --output-dir {word} keeps those of the inputs)", word = .0.quoted())]
    Folder(Name),
    /// Its name is longer than the system takes.
    #[error("{0}: the name is too long (give a shorter one)")]
    TooLong(Name),
    /// The folder that it should lie in does not exist.
    #[error("{0}: there is no folder {1} (make it first)")]
    NoFolder(Name, Name),
    /// The folder that it should lie in takes no new files.
    #[error("{0}: cannot write there: {1}")]
    NotWritable(Name, String),
    /// Another run records into it.
    #[error("{0}: another run records into it (end that first, or name another file)")]
    InUse(Name),
    /// The run was interrupted before the FIFO had a reader.
    #[error("{0}: interrupted before anybody read from it")]
    NoReader(Name),
    /// The disk does not take it.
    #[error("{0}: cannot be written: {1}")]
    NotWritten(Name, String),
    /// The disk does not take all of it; what it has taken can be played, and has another name.
    #[error("{name}: cannot be written: {error} (what there is of it: {kept}; name an output on another disk)")]
    Cut {
        /// The requested name.
        name: Name,
        /// The error of the system.
        error: String,
        /// The name of what there is.
        kept: Name,
    },
    /// Another program has created a file of this name; the output is complete under another name.
    #[error("{name} has appeared meanwhile: the new file is {kept} (-y would have replaced the other)")]
    Appeared {
        /// The requested name.
        name: Name,
        /// The name that it has.
        kept: String,
    },
    /// It cannot be renamed; the output is complete under another name.
    #[error("{name}: cannot be replaced: {error} (the new file is {kept})")]
    Kept {
        /// The name that it should get.
        name: Name,
        /// The name that it has.
        kept: String,
        /// The error of the system.
        error: String,
        /// The kind of that error.
        kind: ErrorKind,
    },
}

impl TargetError {
    /// Why no file can be made for the output of this name.
    fn not_created(name: &Name) -> impl FnOnce(std::io::Error) -> Self {
        move |error| match error.kind() {
            _ if is_full(&error) => TargetError::not_written(name)(error),
            ErrorKind::InvalidFilename => TargetError::TooLong(name.clone()),
            _ => TargetError::NotWritable(name.clone(), with_remedy(&error)),
        }
    }

    /// Why the output of this name is not what it was to be.
    fn not_written(name: &Name) -> impl FnOnce(std::io::Error) -> Self {
        move |error| TargetError::of_name(name, &error)
    }

    fn of_name(name: &Name, error: &std::io::Error) -> Self {
        match error.kind() {
            ErrorKind::IsADirectory => TargetError::Folder(name.clone()),
            ErrorKind::InvalidFilename => TargetError::TooLong(name.clone()),
            _ => TargetError::NotWritten(name.clone(), with_remedy(error)),
        }
    }
}

/// How many files a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Files {
    /// One.
    One,
    /// A sequence, for which it is a pattern.
    Sequence,
    /// A list of segments, which are named after it (HLS) or by rules of their own (DASH).
    List,
}

/// An output and where it is written. Dropping it removes an unfinished temporary file.
#[derive(Debug, Default)]
pub struct Target {
    /// The name as the user gave it, less its passwords.
    name: Name,
    /// A server's URL, with its passwords.
    url: Option<Name>,
    /// The file of this name, or the one that it is a link to.
    file: PathBuf,
    temporary: Option<Temporary>,
    /// The folder of its own that it lies in, if it does. `file` leads through it.
    folder: Option<PrivateFolder>,
    /// Whether it is written under its own name, from the first frame on.
    is_direct: bool,
    /// Whether an existing file there may be replaced.
    may_replace: bool,
    /// Whether images of a sequence that are there are kept.
    keeps: bool,
    /// Whether it is the list of segments.
    is_list: bool,
    /// An open FIFO, which has a reader, or stdout, if that is a pipe.
    fifo: Option<File>,
    /// A file that is written under its own name, once it is open.
    direct: Option<File>,
    /// Whether that file is new.
    is_new: bool,
    /// Whether it is a segment of a recording, which `recorder::room` locks.
    is_locked_elsewhere: bool,
    /// Ends the wait for a reader.
    cancel: Cancel,
    /// The outputs with which it gets its name, if it waits for others.
    together: Option<Together>,
}

impl Target {
    /// Looks at the place where `name` should be written. `input` is the file that it must not be.
    ///
    /// # Errors
    /// When the output must not or cannot be written there.
    pub fn new(name: &Name, input: &Name, files: Files, overwrite: Overwrite) -> Result<Self, TargetError> {
        if is_stream(name) {
            Target::differs(name, input)?;
            return Ok(Target::nowhere(name));
        }
        let mut target = Target::checked(name, input, files, overwrite)?;
        if target.is_direct {
            // Finds out at once whether the folder takes files.
            let temporary = Temporary::beside(&target.file).map_err(TargetError::not_created(name))?;
            target.is_direct = false;
            target.is_list = files == Files::List;
            target.temporary = (files == Files::One).then_some(temporary);
        }
        Ok(target)
    }

    /// A file that lies beside this one, with all that goes for it.
    ///
    /// # Errors
    /// When it must not or cannot be written there.
    pub fn beside(&self, name: &Name) -> Result<Self, TargetError> {
        let overwrite = if self.may_replace { Overwrite::Yes } else { Overwrite::No };
        let target = Target::new(name, &Name::default(), Files::One, overwrite)?;
        target.check_made_up()?;
        Ok(Target { cancel: self.cancel.clone(), together: self.together.clone(), ..target })
    }

    /// The file `name` of a folder, in which it takes the place of what has this name. A link is replaced, and not
    /// followed.
    ///
    /// # Errors
    /// When the folder takes no new files.
    pub fn in_folder(folder: &PrivateFolder, name: &str) -> Result<Self, TargetError> {
        let mut target = Target::nowhere(&folder.path(name).into());
        target.file = folder.place().join(name);
        let temporary = Temporary::beside(&target.file).map_err(TargetError::not_created(&target.name))?;
        target.temporary = Some(temporary);
        (target.folder, target.may_replace) = (Some(folder.clone()), true);
        Ok(target)
    }

    /// A new file with a name that the program makes up: this one, or the next number where something has it, whatever
    /// that is. No link is followed, and nothing that is there is opened. It is written directly, and locked by who
    /// calls this.
    ///
    /// # Errors
    /// When the folder is not there, or takes no new files.
    pub(super) fn numbered_file(first: &Path) -> Result<Self, TargetError> {
        if !folder_of(first).is_dir() {
            return Err(TargetError::NoFolder(first.into(), folder_of(first).into()));
        }
        for place in next_names(first).filter(|place| is_free(place)) {
            let mut target = Target { is_direct: true, is_locked_elsewhere: true, ..Target::nowhere(&place.into()) };
            match target.begin() {
                // It has come meanwhile.
                Err(TargetError::Exists(_)) => {}
                begun => return begun.map(|()| target),
            }
        }
        unreachable!("one of all numbers is free")
    }

    /// A file of this name, or the next number where something has it, as for what the program names itself. It has no
    /// name until it is whole.
    ///
    /// # Errors
    /// When the folder takes no new files.
    pub fn numbered_whole(first: &Name) -> Result<Self, TargetError> {
        let name = next_names(first.path()).find(|place| is_free(place)).unwrap_or_default().into();
        Target::new(&name, &Name::default(), Files::One, Overwrite::No)
    }

    /// Checks that what has this name, which the program has made up, is a file or nothing.
    ///
    /// # Errors
    /// When it is a link, a pipe, a device or a folder.
    pub fn check_made_up(&self) -> Result<(), TargetError> {
        let name = &self.name;
        // A link that was there before has been followed.
        match self.file == name.path() && (is_free(name.path()) || is_regular(name.path())) {
            true => Ok(()),
            false => Err(TargetError::NoFile(name.clone())),
        }
    }

    /// A place that is written to directly from the first frame on, because a live recording should be there even after
    /// a crash.
    ///
    /// # Errors
    /// When the output must not or cannot be written there.
    pub fn direct(name: &Name, files: Files, overwrite: Overwrite) -> Result<Self, TargetError> {
        if is_stream(name) {
            return Ok(Target::nowhere(name));
        }
        let mut target = Target::checked(name, &Name::default(), files, overwrite)?;
        if target.is_direct {
            // Finds out at once whether it can be written, and changes nothing.
            let found = match target.file.exists() && files == Files::One {
                true => File::options().write(true).open(&target.file).map(Some),
                false => Temporary::beside(&target.file).map(|_| None),
            };
            found.map_err(TargetError::not_created(name))?.map_or(Ok(()), |file| target.lock(&file))?;
            target.is_direct = files == Files::One;
        }
        Ok(target)
    }

    /// Looks at the place where `name` should be written; `is_direct` if it is one for files, not a device.
    fn checked(name: &Name, input: &Name, files: Files, overwrite: Overwrite) -> Result<Self, TargetError> {
        let existed = check_place(name, input, files, overwrite)?;
        let mut target = Target::nowhere(name);
        target.keeps = overwrite == Overwrite::Keep;
        target.may_replace = overwrite == Overwrite::Yes || existed && !target.keeps;
        if std::fs::metadata(name).is_ok_and(|metadata| !metadata.is_file()) {
            return Ok(target);
        }
        // The file that a link leads to is replaced as a whole, too.
        target.file = resolve_links(name.path());
        target.is_direct = true;
        let folder = folder_of(&target.file);
        match folder.is_dir() {
            true => Ok(target),
            false => Err(TargetError::NoFolder(name.clone(), folder.into())),
        }
    }

    /// No place, for a try: what is written is discarded, and all else is as for an output of this name.
    ///
    /// # Errors
    /// When `/dev/null` cannot be opened.
    pub fn discarding(name: &Name) -> std::io::Result<Self> {
        let nowhere = File::options().write(true).open("/dev/null")?;
        // A pipe cannot be written again from its begin.
        let is_pipe = *name == "-" || is_fifo(name);
        let (fifo, direct) = if is_pipe { (Some(nowhere), None) } else { (None, Some(nowhere)) };
        Ok(Target { name: name.clone(), file: PathBuf::from("/dev/null"), fifo, direct, ..Target::default() })
    }

    /// Makes sure that `name` is not the file `input`.
    ///
    /// # Errors
    /// When it is.
    pub fn differs(name: &Name, input: &Name) -> Result<(), TargetError> {
        if *name == "-" && is_stdout(input) {
            return Err(TargetError::SameAsInput("stdout".into()));
        }
        // To compare files is to open them, which a FIFO would take for its reader's coming or going.
        let are_files = name.path().is_file() && input.path().is_file();
        if *name != "-" && name == input || are_files && same_file::is_same_file(name, input).unwrap_or(false) {
            return Err(TargetError::SameAsInput(name.clone()));
        }
        Ok(())
    }

    /// Whether both names are of one file, now or once it is there. Any number of outputs may go to /dev/null.
    pub fn are_one(name: &Name, other: &Name) -> bool {
        let place = |name: &Name| {
            let file = resolve_links(name.path());
            let folder = folder_of(&file).canonicalize();
            folder.map_or(file.clone(), |folder| folder.join(file.file_name().unwrap_or_default()))
        };
        let (file, other_file) = (place(name), place(other));
        let are_files = || file.is_file() && other_file.is_file();
        file == other_file && file != Path::new("/dev/null")
            || are_files() && same_file::is_same_file(&file, &other_file).unwrap_or(false)
    }

    /// A pipe, of which `writer` is the end that is written to.
    pub fn pipe(name: &Name, writer: File) -> Self {
        Target { fifo: Some(writer), ..Target::nowhere(name) }
    }

    /// A server in the network.
    pub fn network(url: &Name) -> Self {
        let mut target = Target::nowhere(&without_password(url));
        target.url = Some(url.clone());
        target
    }

    /// Whether it is a server in the network.
    pub fn is_network(&self) -> bool {
        self.url.is_some()
    }

    /// No place at all, for what writes no file, whatever it is called.
    pub fn nowhere(name: &Name) -> Self {
        Target { name: name.clone(), file: name.path().to_owned(), ..Target::default() }
    }

    /// From now on, `cancel` ends the wait for a FIFO's reader, or a server.
    pub fn interruptible(mut self, cancel: &Cancel) -> Self {
        self.cancel = cancel.clone();
        self
    }

    /// From now on, a file that is whole waits for its name until the others of `together` get theirs.
    pub fn named_with(mut self, together: &Together) -> Self {
        self.together = Some(together.clone());
        self
    }

    /// Ends all waits.
    pub fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    /// Waits until a FIFO has a reader; everything else is ready at once.
    ///
    /// # Errors
    /// When it cannot be opened, or the wait is cancelled.
    pub fn wait_for_reader(&mut self) -> Result<(), TargetError> {
        if self.name == "-" && self.fifo.is_none() {
            self.fifo = stdout_pipe();
        }
        if self.fifo.is_some() || self.temporary.is_some() || !is_fifo(&self.name) {
            return Ok(());
        }
        let opened = open_for_reader(self.name.path(), &self.cancel.flag());
        let opened = opened.map_err(TargetError::not_created(&self.name))?;
        self.fifo = Some(opened.ok_or_else(|| TargetError::NoReader(self.name.clone()))?);
        Ok(())
    }

    /// Free bytes on the disk of this file; `None` for what is no file, or where the system does not tell.
    pub fn free_bytes(name: &Name) -> Option<u64> {
        let file = resolve_links(name.path());
        if is_stream(name) || std::fs::metadata(&file).is_ok_and(|there| !there.is_file()) {
            return None;
        }
        let folder = file.ancestors().skip(1).map(|at| if at.as_os_str().is_empty() { Path::new(".") } else { at });
        let disk = rustix::fs::statvfs(folder.into_iter().find(|at| at.is_dir())?).ok()?;
        Some(disk.f_bavail.saturating_mul(disk.f_frsize))
    }

    /// The error for a pipe whose reader was not waited for after an interruption.
    pub fn stalled(&self) -> anyhow::Error {
        anyhow::anyhow!("{}: interrupted while its reader read nothing: the rest is not written", self.name)
    }

    /// The pipe that is written to: a FIFO that has been waited for, or stdout.
    pub fn fifo(&self) -> Option<&File> {
        self.fifo.as_ref()
    }

    /// Whether it is a file that stays as it is until there is a first frame.
    pub fn waits_for_frame(&self) -> bool {
        self.is_direct
    }

    /// Removes a file that was written under its own name and was not there before: what failed before its first frame
    /// would only be in the way of the next run.
    pub fn discard(&mut self) {
        if self.direct.take().is_some() && self.is_new {
            let _ = std::fs::remove_file(&self.file);
        }
    }

    /// Locks a file that is written under its own name, where its file system can.
    fn lock(&self, file: &File) -> Result<(), TargetError> {
        if self.is_locked_elsewhere {
            return Ok(());
        }
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => Err(TargetError::InUse(self.name.clone())),
            Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
        }
    }

    /// Opens a file that is written under its own name, and empties it.
    ///
    /// # Errors
    /// When it cannot be opened, another program has created it meanwhile or has replaced the temporary file, or another
    /// run records into it.
    pub fn begin(&mut self) -> Result<(), TargetError> {
        self.temporary.as_ref().map_or(Ok(()), Temporary::check).map_err(TargetError::not_written(&self.name))?;
        if !self.is_direct || self.direct.is_some() {
            return Ok(());
        }
        self.is_new = !self.file.exists();
        let mut options = File::options();
        options.write(true);
        match self.may_replace {
            true => options.create(true).truncate(false),
            false => options.create_new(true),
        };
        let file = options.open(&self.file).map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => TargetError::Exists(self.name.clone()),
            _ => TargetError::not_created(&self.name)(error),
        })?;
        self.lock(&file)?;
        file.set_len(0).map_err(TargetError::not_created(&self.name))?;
        self.direct = Some(file);
        Ok(())
    }

    /// The open output, for sinks that write bytes themselves.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn writer(&mut self) -> Result<File, TargetError> {
        self.wait_for_reader()?;
        self.begin()?;
        let temporary = self.temporary.as_ref().map(|temporary| &temporary.file);
        let file = match self.fifo.as_ref().or(temporary).or(self.direct.as_ref()) {
            Some(file) => file.try_clone(),
            None if self.name == "-" => stdout(),
            None => File::create(&self.name),
        };
        file.map_err(TargetError::not_created(&self.name))
    }

    /// The writer for small writes: it waits for a full FIFO until the run is interrupted.
    ///
    /// # Errors
    /// As for [`writer`](Self::writer).
    pub fn patient_writer(&mut self) -> Result<PlaneWriter, TargetError> {
        Ok(PlaneWriter::new(self.writer()?, self.cancel.flag()))
    }

    /// The name to write to.
    pub fn url(&self) -> Name {
        if let Some(file) = &self.fifo {
            return format!("pipe:{}", file.as_raw_fd()).into();
        }
        if let Some(url) = &self.url {
            return url.clone();
        }
        let direct = self.direct.as_ref().map(|file| by_descriptor(file).unwrap_or(self.file.clone()));
        match self.temporary.as_ref().map(|temporary| temporary.location.clone()).or(direct) {
            Some(path) => path.into(),
            None if self.name == "-" => "pipe:1".into(),
            None => self.name.clone(),
        }
    }

    /// The path that the process opens for it: the folder of its file, or the device or FIFO; `None` for stdout and
    /// servers.
    pub fn place(&self) -> Option<PathBuf> {
        if let Some(folder) = &self.folder {
            return Some(folder.place());
        }
        let is_other = std::fs::metadata(&self.file).is_ok_and(|metadata| !metadata.is_file());
        let place = if is_other { &self.file } else { folder_of(&self.file) };
        (self.url.is_none() && !is_stream(&self.name)).then(|| place.to_owned())
    }

    /// Whether a file is there that it may replace, and whose owner and mode it takes over. With numbered images, any
    /// of them may be there.
    pub fn replaces_file(&self) -> bool {
        self.may_replace && (self.file.exists() || self.temporary.is_none())
    }

    /// The name as the user gave it, less its passwords.
    pub fn name(&self) -> &Name {
        &self.name
    }

    /// Writes it to the disk and gives it its name, or, where the run was interrupted, `NAME.partial.EXT`. Answers with
    /// the name that it got, or will get [with the others](Self::named_with).
    ///
    /// # Errors
    /// When writing fails, or it cannot get that name; the error names the one that it has.
    pub fn end(mut self, outcome: Outcome) -> Result<Name, TargetError> {
        let name = self.name.clone();
        let Some(temporary) = self.temporary.take() else {
            if let Some(file) = &self.direct {
                sync(file).and_then(|()| sync_folder(&self.file)).map_err(TargetError::not_written(&name))?;
                // To remove a segment ends no recording: the next ones are written as before.
                if !self.is_locked_elsewhere && is_removed(file, &self.file) {
                    return Err(TargetError::NotWritten(name, "it was removed meanwhile".to_owned()));
                }
            }
            if self.is_list && outcome == Outcome::Interrupted {
                // Segments are named in it, and keep their names.
                let free = names_with(&self.file, "partial").find(|path| is_free(path));
                let partial = free.ok_or_else(|| TargetError::not_written(&name)(ErrorKind::AlreadyExists.into()))?;
                std::fs::rename(&self.file, &partial).map_err(TargetError::not_written(&name))?;
                return Ok(partial.into());
            }
            return Ok(name);
        };
        sync(&temporary.file).map_err(TargetError::not_written(&name))?;
        // Links have been followed; one that is there now is replaced itself.
        let old = std::fs::symlink_metadata(&self.file).ok().filter(|old| self.may_replace && old.is_file());
        let (file, folder, may_replace) = (self.file, self.folder, self.may_replace);
        let mut whole = WholeFile { name: name.clone(), file, folder, temporary, may_replace, old };
        match (outcome, self.together) {
            (Outcome::Interrupted, _) => {
                let named = whole.keep("partial").map_err(TargetError::not_written(&name))?;
                sync_folder(&whole.file).map_err(TargetError::not_written(&name))?;
                return Ok(named);
            }
            (Outcome::Complete, Some(together)) => together.add(whole),
            (Outcome::Complete, None) => WholeFile::name_all(vec![whole])?,
        }
        Ok(name)
    }

    /// A temporary file for this image of a sequence.
    ///
    /// # Errors
    /// When the folder takes no new files.
    pub(super) fn image(&self, number: u64) -> Result<Temporary, TargetError> {
        let name = numbered(&self.name, number);
        Temporary::beside(name.path()).map_err(TargetError::not_created(&name))
    }

    /// Gives this image of a sequence its name, if none is kept that has it.
    ///
    /// # Errors
    /// When it cannot get that name.
    pub(super) fn end_image(&self, mut image: Temporary, number: u64) -> Result<(), TargetError> {
        let name = numbered(&self.name, number);
        // A link is replaced by the image.
        let old = std::fs::symlink_metadata(&name).ok().filter(|old| self.may_replace && old.is_file());
        match image.take(name.path(), self.may_replace, old.as_ref()) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists && self.keeps => Ok(()),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(TargetError::Exists(name)),
            taken => taken.map_err(TargetError::not_written(&name)),
        }
    }

    /// The room ahead of the file in the making, if there is one.
    pub(super) fn room(&self) -> Option<Room> {
        self.temporary.as_ref().and_then(|temporary| Room::of_open(&temporary.file).ok())
    }

    /// Ends a file for which there is no room: its first `bytes`, if it is longer, are kept under another name. Returns the
    /// error, which tells it.
    pub(super) fn cut(self, bytes: u64, error: &std::io::Error) -> TargetError {
        let name = self.name.clone();
        let file = self.temporary.as_ref().map(|temporary| &temporary.file);
        let is_cut = file.is_some_and(|file| {
            let length = file.metadata().map_or(0, |metadata| metadata.len());
            bytes > 0 && (length <= bytes || file.set_len(bytes).is_ok())
        });
        match is_cut.then(|| self.end(Outcome::Interrupted)) {
            Some(Ok(kept)) => TargetError::Cut { name, error: reason(error), kept },
            _ => TargetError::NotWritten(name, with_remedy(error)),
        }
    }

    /// The length of the file in the making, if there is one.
    pub fn bytes(&self) -> Option<u64> {
        self.temporary.as_ref().and_then(|temporary| Some(temporary.file.metadata().ok()?.len()))
    }

    /// The temporary file's name, for removal on an abort.
    pub fn leftover(&self) -> Option<Leftover> {
        self.temporary.as_ref().and_then(Temporary::leftover)
    }
}

/// A file that is whole, and has not got its name yet.
#[derive(Debug)]
pub(super) struct WholeFile {
    /// The name as the user gave it.
    name: Name,
    /// The file of this name, or the one that it is a link to.
    file: PathBuf,
    /// The folder of its own that it lies in, if it does.
    folder: Option<PrivateFolder>,
    temporary: Temporary,
    may_replace: bool,
    /// The existing file that is replaced.
    old: Option<Metadata>,
}

impl WholeFile {
    /// Gives each of them its name: first all that may fail is done for all of them.
    ///
    /// # Errors
    /// When one cannot get its name. As far as the file system can exchange names, all old files keep theirs, and the
    /// error names the files in which the new output is kept.
    pub(super) fn name_all(mut files: Vec<WholeFile>) -> Result<(), TargetError> {
        let mut hidden = Vec::with_capacity(files.len());
        for file in &files {
            let name = file.temporary.prepare(&file.file, file.may_replace, file.old.as_ref());
            hidden.push(name.map_err(TargetError::not_written(&file.name))?);
        }
        let mut named = Vec::with_capacity(files.len());
        let mut all = files.iter_mut().zip(hidden).enumerate();
        let linked = all.try_for_each(|(at, (file, hidden))| file.temporary.link(hidden).map_err(|error| (at, error)));
        let placed = linked.and_then(|()| {
            files.iter_mut().enumerate().try_for_each(|(at, file)| {
                named.push(file.temporary.place(&file.file, file.may_replace).map_err(|error| (at, error))?);
                Ok(())
            })
        });
        if let Err((at, error)) = placed {
            return Err(WholeFile::keep_all(files, named, at, &error));
        }
        drop(named);
        for file in &files {
            sync_folder(&file.file).map_err(TargetError::not_written(&file.name))?;
        }
        Ok(())
    }

    /// Keeps all of them under other names, because the one of this index cannot get its own.
    fn keep_all(mut files: Vec<WholeFile>, named: Vec<Named>, at: usize, error: &std::io::Error) -> TargetError {
        let mut kept: Vec<String> = Vec::new();
        for (file, named) in files.iter_mut().zip(named.into_iter().map(Some).chain(std::iter::repeat_with(|| None))) {
            let is_new = matches!(named, Some(Named::New));
            // A file that has lost its last name can get no other: it keeps the hidden one until then.
            if file.temporary.undo(named, &file.file)
                && let Ok(name) = file.keep("new")
            {
                kept.push(name.to_string());
                let _ = is_new.then(|| std::fs::remove_file(&file.file));
            }
        }
        let name = files[at].name.clone();
        match (kept.is_empty(), error.kind()) {
            (true, _) => TargetError::of_name(&name, error),
            (_, ErrorKind::AlreadyExists) => TargetError::Appeared { name, kept: kept.join(", ") },
            (_, kind) => TargetError::Kept { name, kept: kept.join(", "), error: reason(error), kind },
        }
    }

    pub(super) fn is_called(&self, name: &Name) -> bool {
        self.name == *name
    }

    /// Gives the file `NAME.WORD.EXT`, or the next such name that is free.
    pub(super) fn keep(&mut self, word: &str) -> std::io::Result<Name> {
        for path in names_with(&self.file, word) {
            match self.temporary.take(&path, false, self.old.as_ref()) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                taken => return taken.map(|()| self.shown(&path)),
            }
        }
        Err(ErrorKind::AlreadyExists.into())
    }

    /// How messages name this file beside it.
    fn shown(&self, path: &Path) -> Name {
        let name = path.file_name().unwrap_or_default();
        self.folder.as_ref().map_or(path.to_owned(), |folder| folder.path(name)).into()
    }
}

/// Whether this open file was removed: it has no name, and another file or none has the one that it had.
fn is_removed(file: &File, name: &Path) -> bool {
    file.metadata().is_ok_and(|open| open.nlink() == 0) && !is_same(std::fs::metadata(name), file)
}

/// Whether stdout leads to the file `input`.
fn is_stdout(input: &Name) -> bool {
    let read = if *input == "-" { stdin().and_then(|file| file.metadata()) } else { std::fs::metadata(input) };
    read.as_ref().is_ok_and(Metadata::is_file) && stdout().is_ok_and(|stdout| is_same(read, &stdout))
}

/// Whether it is stdout or a URL, where no file is.
pub(super) fn is_stream(name: &Name) -> bool {
    *name == "-" || name.to_string().contains("://")
}

/// Makes sure that output may be written to `name`, or the files that it stands for, and that `input` is none of them.
/// Returns whether such files exist, which may be replaced.
fn check_place(name: &Name, input: &Name, files: Files, overwrite: Overwrite) -> Result<bool, TargetError> {
    Target::differs(name, input)?;
    let metadata = match std::fs::metadata(name) {
        Ok(metadata) if metadata.is_dir() => return Err(TargetError::Folder(name.clone())),
        // Of a sequence, names are as long as their numbers.
        Err(error) if error.kind() == ErrorKind::InvalidFilename && files != Files::Sequence => {
            return Err(TargetError::TooLong(name.clone()));
        }
        metadata => metadata.ok(),
    };
    // The content of a block device is protected like that of a file.
    let is_file = metadata.is_some_and(|metadata| metadata.is_file() || metadata.file_type().is_block_device());
    let itself = is_file.then(|| name.clone());
    let written = match files {
        Files::One => itself.into_iter().collect(),
        Files::Sequence => numbers_there(name).into_iter().map(|number| numbered(name, number)).collect(),
        Files::List => itself.into_iter().chain(segments(name)).collect::<Vec<_>>(),
    };
    // The muxer opens segments by their names.
    let others = written.iter().filter(|other| files == Files::List && other != &name);
    if let Some(other) = others.into_iter().find(|other| !is_regular(other.path())) {
        return Err(TargetError::NoFile(other.clone()));
    }
    let read: Vec<Name> = numbers_there(input).into_iter().map(|number| numbered(input, number)).collect();
    for other in written.iter().filter(|_| files != Files::One) {
        Target::differs(other, input)?;
    }
    // Two sequences are compared by their first images.
    if let Some((read, written)) = read.first().zip(written.iter().find(|_| files == Files::Sequence)) {
        Target::differs(written, read).map_err(|_| TargetError::SameAsInput(name.clone()))?;
    }
    let keeps = files == Files::Sequence && overwrite == Overwrite::Keep;
    match written.first().filter(|other| !keeps && !may_overwrite(other, overwrite)) {
        Some(other) if overwrite == Overwrite::Skip => Err(TargetError::Skipped(other.clone())),
        Some(other) if files == Files::One && may_be_source(other.path(), input.path()) => {
            Err(TargetError::MayBeSource(other.clone()))
        }
        Some(other) => Err(TargetError::Exists(other.clone())),
        None if overwrite == Overwrite::Yes && is_file && are_of_pattern(name.path(), input.path()) => {
            Err(TargetError::IsOfPattern(name.clone()))
        }
        None => Ok(!written.is_empty()),
    }
}

/// Whether it is a file, and no link to one.
fn is_regular(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|there| there.is_file())
}

/// Existing segments that would be overwritten with the playlist `name`.
fn segments(name: &Name) -> Vec<Name> {
    let folder = folder_of(name.path());
    let part = |part: Option<&OsStr>| part.unwrap_or_default().as_bytes().to_vec();
    let stem = part(name.path().file_stem());
    let is_segment = |file: &Path| {
        let name = part(file.file_stem());
        let number = name.strip_prefix(&stem[..]);
        let of_hls = number.is_some_and(|number| !number.is_empty() && number.iter().all(u8::is_ascii_digit));
        let of_dash = name.starts_with(b"init-stream") || name.starts_with(b"chunk-stream");
        file.extension().is_some_and(|extension| extension == "ts" || extension == "m4s") && (of_hls || of_dash)
    };
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    files.map(|file| file.path()).filter(|file| is_segment(file)).map(Name::from).collect()
}

/// The system's error message, without its number.
pub(super) fn reason(error: &std::io::Error) -> String {
    without_codes(&error.to_string()).into_owned()
}

/// The same, with what helps.
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

/// Whether the error is that of a disk, or of the share of it that the user may have, which takes no more files.
pub(super) fn is_full(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
}

fn may_overwrite(name: &Name, overwrite: Overwrite) -> bool {
    match overwrite {
        Overwrite::Yes => true,
        Overwrite::No | Overwrite::Skip | Overwrite::Keep => false,
        Overwrite::Ask if overwrite.asks() => {
            crate::sys::print_text(&format!("{} exists. Overwrite? [y/N] ", one_line(&name.to_string())));
            let mut answer = String::new();
            std::io::stdin().read_line(&mut answer).is_ok() && answer.trim().eq_ignore_ascii_case("y")
        }
        Overwrite::Ask => false,
    }
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
        assert!(matches!(error, TargetError::NoFolder(..)), "{error}");
    }

    #[test]
    fn what_one_cannot_replace_none_replaces_and_all_are_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        let read = |name: &str| std::fs::read_to_string(path(name)).expect("a file");
        std::fs::write(path("video.mkv"), "old video").expect("a disk");
        // It is a folder by now.
        std::fs::create_dir(path("record.csv")).expect("a folder");
        let whole = |name: &str, text: &str| {
            let temporary = Temporary::beside(&path(name)).expect("a file");
            (&temporary.file).write_all(text.as_bytes()).expect("a disk");
            let old = std::fs::metadata(path(name)).ok();
            let (name, file) = (Name::from(name), path(name));
            WholeFile { name, file, folder: None, temporary, may_replace: true, old }
        };
        let files = vec![whole("video.mkv", "new video"), whole("new.mkv", "new"), whole("record.csv", "new record")];
        let error = WholeFile::name_all(files).expect_err("a folder").to_string();
        assert!(error.starts_with("record.csv: cannot be replaced: ") && error.contains("video.new.mkv"), "{error}");
        assert_eq!(read("video.mkv"), "old video");
        assert_eq!((read("video.new.mkv"), read("record.new.csv")), ("new video".to_owned(), "new record".to_owned()));
        assert!(path("record.csv").is_dir() && !path("new.mkv").exists());
        assert_eq!(read("new.new.mkv"), "new");
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 5, "no hidden names");
        // A single file that cannot be replaced is kept, too.
        std::fs::create_dir(path("other.mkv")).expect("a folder");
        assert!(WholeFile::name_all(vec![whole("other.mkv", "result")]).is_err());
        assert_eq!(read("other.new.mkv"), "result");
        WholeFile::name_all(vec![whole("video.mkv", "new video")]).expect("a file that can be replaced");
        assert_eq!(read("video.mkv"), "new video");
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 7);
    }
}
