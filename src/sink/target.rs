//! Where the output is written: under a temporary name beside its own until it is whole, or directly where a rename
//! would make no sense.

use crate::io::{is_fifo, numbered, open_for_reader};
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
    name: String,
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
        let path = Path::new(name);
        let direct = || Ok(Target::at(name, None, false));
        if name == "-" || name.contains("://") || name.starts_with("pipe:") {
            return direct();
        }
        Target::differs(name, input)?;
        let metadata = std::fs::symlink_metadata(path).ok();
        let resolved = std::fs::metadata(path).ok();
        if resolved.as_ref().is_some_and(std::fs::Metadata::is_dir) {
            return Err(TargetError::Folder(name.to_owned()));
        }
        let is_regular = resolved.as_ref().is_none_or(std::fs::Metadata::is_file);
        if !is_regular {
            return direct();
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if !folder.is_dir() {
            return Err(TargetError::NoFolder(name.to_owned(), folder.display().to_string()));
        }
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        // The process number keeps two runs apart; the extension stays last, for whoever looks at the folder.
        let temporary = folder.join(format!(".{}.{file}", std::process::id()));
        // Reserves the name, and finds out at once whether the folder takes files.
        let reserve = || {
            std::fs::File::create(&temporary)
                .map_err(|error| TargetError::NotWritable(name.to_owned(), reason(&error)))
                .map(drop)
        };
        let others = match files {
            Files::One => Vec::new(),
            Files::Sequence => vec![numbered(name, 1)],
            Files::List => [vec![name.to_owned()], segments(path, folder)].concat(),
        };
        others.iter().try_for_each(|other| Target::differs(other, input))?;
        let in_the_way = others.iter().find(|other| Path::new(other).exists());
        if let Some(other) = in_the_way.filter(|other| !may_overwrite(other, overwrite)) {
            return Err(TargetError::Exists(other.clone()));
        }
        if files != Files::One {
            reserve()?;
            // If it stays, it is empty and hidden.
            let _ = std::fs::remove_file(&temporary);
            return direct();
        }
        if resolved.is_some() && !may_overwrite(name, overwrite) {
            return Err(TargetError::Exists(name.to_owned()));
        }
        if metadata.as_ref().is_some_and(std::fs::Metadata::is_symlink) {
            return Ok(Target::at(name, None, resolved.is_some()));
        }
        reserve()?;
        Ok(Target::at(name, Some(temporary), resolved.is_some()))
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
    pub fn direct(name: &str, overwrite: Overwrite) -> Result<Self, TargetError> {
        let file = std::fs::metadata(name).ok();
        if file.as_ref().is_some_and(std::fs::Metadata::is_dir) {
            return Err(TargetError::Folder(name.to_owned()));
        }
        if file.is_some_and(|file| file.is_file()) && !may_overwrite(name, overwrite) {
            return Err(TargetError::Exists(name.to_owned()));
        }
        Ok(Target::at(name, None, false))
    }

    fn at(name: &str, temporary: Option<PathBuf>, existed: bool) -> Self {
        Target { name: name.to_owned(), temporary, existed, fifo: None, cancel: Cancel::default() }
    }

    /// From now on, `cancel` ends the wait for a FIFO's reader.
    pub fn interruptible(mut self, cancel: &Cancel) -> Self {
        self.cancel = cancel.clone();
        self
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
        match &self.temporary {
            Some(path) => path.to_string_lossy().into_owned(),
            None if self.name == "-" => "pipe:1".to_owned(),
            None => self.name.clone(),
        }
    }

    /// The name as the user gave it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Gives the whole file its name.
    ///
    /// # Errors
    /// When the system refuses; the file stays under its temporary name, which the error tells.
    pub fn complete(self) -> Result<String, TargetError> {
        let name = self.name.clone();
        self.rename_to(&name)
    }

    /// Gives an interrupted file the name asked for, or, where a file of this name was there before, `NAME.partial.EXT`
    /// beside it. Answers with the name that it got.
    ///
    /// # Errors
    /// As for [`complete`](Target::complete).
    pub fn keep_interrupted(self) -> Result<String, TargetError> {
        let path = Path::new(&self.name);
        let name = match (self.existed && self.temporary.is_some(), path.extension()) {
            (false, _) => self.name.clone(),
            (true, Some(extension)) => {
                path.with_extension(format!("partial.{}", extension.to_string_lossy())).display().to_string()
            }
            (true, None) => format!("{}.partial", self.name),
        };
        self.rename_to(&name)
    }

    /// Gives the file the name that it deserves after this outcome. Answers with the name that it got.
    ///
    /// # Errors
    /// As for [`complete`](Target::complete).
    pub fn end(self, outcome: Outcome) -> Result<String, TargetError> {
        match outcome {
            Outcome::Complete => self.complete(),
            Outcome::Interrupted => self.keep_interrupted(),
        }
    }

    fn rename_to(mut self, name: &str) -> Result<String, TargetError> {
        let Some(temporary) = self.temporary.take() else { return Ok(name.to_owned()) };
        if let Ok(old) = std::fs::metadata(name) {
            // Whoever could read the old file can read the new one; a failure leaves the default, which is no harm.
            let _ = std::fs::set_permissions(&temporary, old.permissions());
        }
        std::fs::rename(&temporary, name).map_err(|error| TargetError::Rename {
            name: name.to_owned(),
            temporary: temporary.display().to_string(),
            error: reason(&error),
        })?;
        Ok(name.to_owned())
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

/// Segments that are there already and would be written anew with the list at `path`.
fn segments(path: &Path, folder: &Path) -> Vec<String> {
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
            eprint!("{name} exists. Overwrite? [y/N] ");
            let mut answer = String::new();
            std::io::stdin().read_line(&mut answer).is_ok() && answer.trim().eq_ignore_ascii_case("y")
        }
        Overwrite::Ask => false,
    }
}
