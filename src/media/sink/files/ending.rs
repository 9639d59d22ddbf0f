//! The end of outputs: their final names, or what is kept of them.

use crate::pipeline::{FailureKind, Outcome, reason};
use crate::sink::files::file_names::{is_free, names_with};
use crate::sink::files::place::{IS_READ, STAYS, exists, not_written, with_remedy};
use crate::sink::files::sources::is_input_itself;
use crate::sink::files::target::{Target, Way};
use crate::sink::files::temporary::{Temporary, sync, sync_folder};
use crate::sys::files::{Name, is_input, is_same, numbered};
use anyhow::{Error, Result, ensure};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;

impl Target {
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
