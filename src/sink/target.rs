//! Where the output is written: under a temporary name beside its own until it is whole, or directly where a rename
//! would make no sense.

use crate::io::{is_fifo, numbered, numbers_there, open_for_reader, without_password};
use crate::pipeline::{Cancel, Outcome};
use std::fs::File;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

/// What to do about an output that exists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Overwrite {
    /// Ask on a terminal, else refuse.
    #[default]
    Ask,
    /// Overwrite (`-y`).
    Yes,
    /// Refuse (`-n`).
    No,
}

/// Why an output cannot be written where it should.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// It exists, and is to be kept.
    #[error("{0} exists (use -y to overwrite it)")]
    Exists(String),
    /// It is the input.
    #[error("{0} is the input itself (give the output another name)")]
    SameAsInput(String),
    /// It is a folder.
    #[error("{0} is a folder (give a file name)")]
    Folder(String),
    /// The folder that it should lie in does not exist.
    #[error("{0}: there is no folder {1} (make it first)")]
    NoFolder(String, String),
    /// The folder that it should lie in takes no new files.
    #[error("{0}: cannot write there: {1}")]
    NotWritable(String, String),
    /// Nobody has read from it until somebody wanted to stop.
    #[error("{0}: interrupted before anybody read from it")]
    NoReader(String),
    /// It is whole under another name.
    #[error("{name}: cannot be renamed from {temporary}: {error}")]
    Rename {
        /// The name that it should get.
        name: String,
        /// The name that it has.
        temporary: String,
        /// What the system says.
        error: String,
    },
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

/// An output and the name that it is written under. Dropping it removes an unfinished temporary file.
#[derive(Debug)]
pub struct Target {
    /// The name as the user gave it, less its passwords.
    name: String,
    /// A server's URL, with its passwords.
    url: Option<String>,
    /// The file of this name, or the one that it is a link to.
    file: PathBuf,
    temporary: Option<PathBuf>,
    existed: bool,
    /// A FIFO that somebody reads from.
    fifo: Option<File>,
    /// Ends the wait for that.
    cancel: Cancel,
}

impl Target {
    /// Looks at the place where `name` should be written. `input` is the file that it must not be.
    ///
    /// # Errors
    /// When nothing may, or can, be written there.
    pub fn new(name: &str, input: &str, files: Files, overwrite: Overwrite) -> Result<Self, TargetError> {
        if name == "-" || name.contains("://") || name.starts_with("pipe:") {
            return Ok(Target::at(name, None, false));
        }
        let existed = check_place(name, input, files, overwrite)?;
        let is_regular = std::fs::metadata(name).map_or(true, |metadata| metadata.is_file());
        let is_dangling = !existed && Path::new(name).is_symlink();
        if !is_regular || is_dangling {
            return Ok(Target::at(name, None, existed));
        }
        // What a link leads to is replaced as a whole, too.
        let path = std::fs::canonicalize(name).ok().filter(|_| Path::new(name).is_symlink());
        let path = path.unwrap_or(PathBuf::from(name));
        let folder = folder_of(&path);
        if !folder.is_dir() {
            return Err(TargetError::NoFolder(name.to_owned(), folder.display().to_string()));
        }
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        // The process number keeps two runs apart; the extension stays last, for whoever looks at the folder.
        let temporary = folder.join(format!(".{}.{file}", std::process::id()));
        // Reserves the name, and finds out at once whether the folder takes files.
        File::create(&temporary).map_err(|error| TargetError::NotWritable(name.to_owned(), reason(&error)))?;
        if files != Files::One {
            // If it stays, it is empty and hidden.
            let _ = std::fs::remove_file(&temporary);
            return Ok(Target::at(name, None, false));
        }
        let mut target = Target::at(name, Some(temporary), existed);
        target.file = path;
        Ok(target)
    }

    /// No place at all, for what writes no file, whatever it is called.
    pub fn nowhere(name: &str) -> Self {
        Target::at(name, None, false)
    }

    /// Makes sure that `name` is not the file `input`.
    ///
    /// # Errors
    /// When it is.
    pub fn differs(name: &str, input: &str) -> Result<(), TargetError> {
        // To compare files is to open them, which a FIFO would take for its reader's coming or going.
        let are_files = Path::new(name).is_file() && Path::new(input).is_file();
        if name != "-" && name == input || are_files && same_file::is_same_file(name, input).unwrap_or(false) {
            return Err(TargetError::SameAsInput(name.to_owned()));
        }
        Ok(())
    }

    /// A place that is written to directly, because a live recording should be there even after a crash.
    ///
    /// # Errors
    /// When it exists and is to be kept, or is a folder.
    pub fn direct(name: &str, files: Files, overwrite: Overwrite) -> Result<Self, TargetError> {
        check_place(name, "", files, overwrite)?;
        Ok(Target::at(name, None, false))
    }

    /// A server in the network.
    pub fn network(url: &str) -> Self {
        let mut target = Target::at(&without_password(url), None, false);
        target.url = Some(url.to_owned());
        target
    }

    /// Is it a server in the network?
    pub fn is_network(&self) -> bool {
        self.url.is_some()
    }

    fn at(name: &str, temporary: Option<PathBuf>, existed: bool) -> Self {
        let cancel = Cancel::default();
        Target { name: name.to_owned(), url: None, file: PathBuf::from(name), temporary, existed, fifo: None, cancel }
    }

    /// From now on, `cancel` ends the wait for a FIFO's reader, or a server.
    pub fn interruptible(mut self, cancel: &Cancel) -> Self {
        self.cancel = cancel.clone();
        self
    }

    /// What ends all waiting.
    pub fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    /// Waits until a FIFO has a reader; everything else is ready at once.
    ///
    /// # Errors
    /// When it cannot be opened, or the wait is cancelled.
    pub fn wait_for_reader(&mut self) -> Result<(), TargetError> {
        if !is_fifo(&self.name) {
            return Ok(());
        }
        match open_for_reader(&self.name, &self.cancel.flag()) {
            Ok(Some(file)) => self.fifo = Some(file),
            Ok(None) => return Err(TargetError::NoReader(self.name.clone())),
            Err(error) => return Err(TargetError::NotWritable(self.name.clone(), reason(&error))),
        }
        Ok(())
    }

    /// The FIFO that has been waited for.
    pub fn fifo(&self) -> Option<&File> {
        self.fifo.as_ref()
    }

    /// The name to write to.
    pub fn url(&self) -> String {
        #[cfg(unix)]
        if let Some(file) = &self.fifo {
            use std::os::fd::AsRawFd;
            return format!("pipe:{}", file.as_raw_fd());
        }
        if let Some(url) = &self.url {
            return url.clone();
        }
        match &self.temporary {
            Some(path) => path.to_string_lossy().into_owned(),
            None if self.name == "-" => "pipe:1".to_owned(),
            None => self.name.clone(),
        }
    }

    /// The name as the user gave it, less its passwords.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Gives the whole file its name.
    ///
    /// # Errors
    /// When the system refuses; the file stays under its temporary name, which the error tells.
    fn complete(self) -> Result<String, TargetError> {
        let (name, file) = (self.name.clone(), self.file.clone());
        self.rename_to(&file)?;
        Ok(name)
    }

    /// Gives an interrupted file the name asked for, or, where a file of this name was there before, `NAME.partial.EXT`
    /// beside it. Answers with the name that it got.
    ///
    /// # Errors
    /// As for [`complete`](Target::complete).
    fn keep_interrupted(self) -> Result<String, TargetError> {
        if !self.existed || self.temporary.is_none() {
            return self.complete();
        }
        let extension = match self.file.extension() {
            Some(extension) => format!("partial.{}", extension.to_string_lossy()),
            None => "partial".to_owned(),
        };
        let partial = self.file.with_extension(extension);
        self.rename_to(&partial)?;
        Ok(partial.display().to_string())
    }

    /// Gives the file the name that it deserves after this outcome. Answers with the name that it got.
    ///
    /// # Errors
    /// When the system refuses; the file stays under its temporary name, which the error tells.
    pub fn end(self, outcome: Outcome) -> Result<String, TargetError> {
        match outcome {
            Outcome::Complete => self.complete(),
            Outcome::Interrupted => self.keep_interrupted(),
        }
    }

    fn rename_to(mut self, name: &Path) -> Result<(), TargetError> {
        let Some(temporary) = self.temporary.take() else { return Ok(()) };
        if let Ok(old) = std::fs::metadata(name) {
            // Whoever could read the old file can read the new one; a failure leaves the default, which is no harm.
            let _ = std::fs::set_permissions(&temporary, old.permissions());
        }
        std::fs::rename(&temporary, name).map_err(|error| TargetError::Rename {
            name: name.display().to_string(),
            temporary: temporary.display().to_string(),
            error: reason(&error),
        })
    }

    /// The temporary file, for whoever has to give up in a hurry.
    pub fn temporary(&self) -> Option<&Path> {
        self.temporary.as_deref()
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            // If it cannot be removed, its hidden name still says that it is not the output.
            let _ = std::fs::remove_file(temporary);
        }
    }
}

/// Makes sure that output may be written to `name`, or the files that it stands for, and that `input` is none of them.
/// Answers whether there is a file of this name.
fn check_place(name: &str, input: &str, files: Files, overwrite: Overwrite) -> Result<bool, TargetError> {
    Target::differs(name, input)?;
    let metadata = std::fs::metadata(name).ok();
    if metadata.as_ref().is_some_and(std::fs::Metadata::is_dir) {
        return Err(TargetError::Folder(name.to_owned()));
    }
    let is_file = metadata.is_some_and(|metadata| metadata.is_file());
    let itself = is_file.then(|| name.to_owned());
    let written = match files {
        Files::One => itself.into_iter().collect(),
        Files::Sequence => numbers_there(name).into_iter().map(|number| numbered(name, number)).collect(),
        Files::List => itself.into_iter().chain(segments(name)).collect::<Vec<_>>(),
    };
    let read: Vec<String> = numbers_there(input).into_iter().map(|number| numbered(input, number)).collect();
    for other in written.iter().filter(|_| files != Files::One) {
        Target::differs(other, input)?;
    }
    // Of two sequences, the first images tell whether they are one.
    if let Some((read, written)) = read.first().zip(written.iter().find(|_| files == Files::Sequence)) {
        Target::differs(written, read).map_err(|_| TargetError::SameAsInput(name.to_owned()))?;
    }
    match written.first().filter(|other| !may_overwrite(other, overwrite)) {
        Some(other) => Err(TargetError::Exists(other.clone())),
        None => Ok(is_file),
    }
}

/// The folder that a file of this name lies in.
fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Segments that are there already and would be written anew with the list `name`.
fn segments(name: &str) -> Vec<String> {
    let (path, folder) = (Path::new(name), folder_of(Path::new(name)));
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let is_segment = |file: &str| {
        let Some((name, extension)) = file.rsplit_once('.') else { return false };
        let number = name.strip_prefix(stem.as_ref());
        let of_hls = number.is_some_and(|number| !number.is_empty() && number.bytes().all(|c| c.is_ascii_digit()));
        let of_dash = name.starts_with("init-stream") || name.starts_with("chunk-stream");
        matches!(extension, "ts" | "m4s") && (of_hls || of_dash)
    };
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let segments = files.filter(|file| file.file_name().to_str().is_some_and(is_segment));
    segments.map(|file| file.path().to_string_lossy().into_owned()).collect()
}

/// What the system says, without the number that says it again.
fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}

fn may_overwrite(name: &str, overwrite: Overwrite) -> bool {
    match overwrite {
        Overwrite::Yes => true,
        Overwrite::No => false,
        Overwrite::Ask if std::io::stdin().is_terminal() && std::io::stderr().is_terminal() => {
            crate::io::print_text(&format!("{name} exists. Overwrite? [y/N] "));
            let mut answer = String::new();
            std::io::stdin().read_line(&mut answer).is_ok() && answer.trim().eq_ignore_ascii_case("y")
        }
        Overwrite::Ask => false,
    }
}
