//! The folder of the pieces of a file: which pieces exist, and whether they are those of the plan.

use super::{FilePlan, Plan};
use anyhow::{Context, Result, ensure};
use histeq_media::pipeline::Cancel;
use histeq_media::sink::pieces::{PieceDescription, PieceFile};
use histeq_media::sys::files::{Name, PrivateFolder, read_whole};
use histeq_media::sys::{Hash, Hasher};
use serde::Serialize;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The file of the plan of `--jobs`, beside the pieces.
pub const PLAN: &str = "plan.json";

/// The state of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PieceState {
    /// The piece is whole.
    Done,
    /// The piece does not exist.
    Missing,
    /// The piece exists, but is damaged or of another plan.
    Wrong,
}

/// The pieces of a file, in their open folder.
pub struct PieceFolder<'a> {
    /// What was planned for the file.
    pub plan: &'a FilePlan,
    /// The hash of the plan, which is stored in each piece.
    pub id: Hash,
    /// `None` while there is no such folder.
    folder: Option<PrivateFolder>,
}

impl<'a> PieceFolder<'a> {
    /// Opens the folder of the pieces, if it exists.
    ///
    /// # Errors
    /// When users other than its owner may write into the folder.
    pub fn open(plan: &'a FilePlan) -> Result<Self> {
        Ok(PieceFolder { plan, id: plan.id(), folder: open_folder(plan.folder.path())? })
    }

    /// The pieces in this open folder.
    pub fn within(plan: &'a FilePlan, folder: PrivateFolder) -> Self {
        PieceFolder { plan, id: plan.id(), folder: Some(folder) }
    }

    /// How messages name a file of the folder.
    pub fn name(&self, file: &str) -> String {
        Name::from(self.plan.folder.path().join(file)).to_string()
    }

    /// A path to the open folder, if it exists; it stays valid if the folder is renamed.
    pub fn place(&self) -> Option<PathBuf> {
        self.folder.as_ref().map(|folder| folder.opened().place())
    }

    /// Whether the pieces have been joined and then removed: their folder does not exist, and the output is not older
    /// than the file `plan`.
    pub fn is_joined(&self, plan: &Path) -> bool {
        let written = |path: &Path| std::fs::metadata(path).and_then(|file| file.modified()).ok();
        let output = written(self.plan.output.path());
        self.folder.is_none() && output.is_some() && output >= written(plan)
    }

    /// The state of a piece, and its description if it is whole.
    pub fn state_of(&self, piece: usize) -> (PieceState, Option<PieceDescription>) {
        match self.piece(piece) {
            Ok(Some(PieceFile { description, .. })) => (PieceState::Done, Some(description)),
            Ok(None) => (PieceState::Missing, None),
            Err(_) => (PieceState::Wrong, None),
        }
    }

    /// The file of a piece; `None` if there is none.
    ///
    /// # Errors
    /// When it cannot be read, is not whole, or of another plan.
    pub fn piece(&self, piece: usize) -> Result<Option<PieceFile>> {
        let file = file_of_piece(piece);
        let Some(open) = self.read(&file)? else { return Ok(None) };
        let open = PieceFile::from_file(open, self.name(&file))?;
        let PieceDescription { plan, piece: number, packets, .. } = &open.description;
        let is_planned = (*plan, *number, packets.len()) == (self.id, piece, self.plan.pieces[piece].1);
        ensure!(is_planned, "{}: a piece of another plan (remove it)", self.name(&file));
        Ok(Some(open))
    }

    /// Whether all bytes of a piece, and of its measurements and curves, are those that were written; true if there is
    /// no such piece.
    ///
    /// # Errors
    /// When the run was interrupted.
    pub fn is_intact(&self, piece: usize, cancel: &Cancel) -> Result<bool> {
        let Ok(open) = self.piece(piece) else { return Ok(false) };
        let Some(mut open) = open else { return Ok(true) };
        if self.hashes_of_records(piece, cancel).ok() != Some(open.description.records) {
            return not_cancelled(cancel).map(|()| false);
        }
        loop {
            not_cancelled(cancel)?;
            match open.next_packet() {
                Ok(Some(_)) => {}
                end => return Ok(end.is_ok()),
            }
        }
    }

    /// The hashes of the measurements and of the curves of a piece, as far as there are any.
    pub fn hashes_of_records(&self, piece: usize, cancel: &Cancel) -> Result<[Option<Hash>; 2]> {
        self.folder.as_ref().map_or(Ok([None; 2]), |folder| hashes_of_records(folder, piece, cancel))
    }

    /// Opens a file of the folder; `None` if there is none.
    pub fn read(&self, file: &str) -> Result<Option<File>> {
        let Some(folder) = &self.folder else { return Ok(None) };
        folder.read(file).with_context(|| self.name(file))
    }

    /// Removes a piece.
    pub fn remove(&self, piece: usize) -> Result<()> {
        let file = file_of_piece(piece);
        let removed = self.folder.as_ref().map_or(Ok(()), |folder| folder.remove(&file));
        removed.with_context(|| self.name(&file))
    }

    /// Removes all pieces, and their folder if nothing else is in it. What cannot be removed stays.
    pub fn remove_all(&self) {
        let Some(folder) = &self.folder else { return };
        for piece in 0..self.plan.pieces.len() {
            let [stats, curves] = files_of_records(piece);
            [file_of_piece(piece), stats, curves].iter().for_each(|file| drop(folder.remove(file)));
        }
        let _ = folder.remove_itself();
    }
}

/// Opens the folder of pieces of this name; `None` if there is none.
pub fn open_folder(path: &Path) -> Result<Option<PrivateFolder>> {
    PrivateFolder::open(path).with_context(|| Name::from(path))
}

/// Opens the folder of pieces of this name, and makes it if there is none.
pub fn make_folder(path: &Path) -> Result<PrivateFolder> {
    PrivateFolder::make(path).with_context(|| Name::from(path))
}

/// The plan in this folder; `None` if it is missing or cannot be read.
pub fn plan_within(folder: &PrivateFolder) -> Option<Plan> {
    let file = folder.read(PLAN).ok().flatten()?;
    Plan::parse(&read_whole(file, Plan::MAX_BYTES).ok()?).ok()
}

/// The name of the file of a piece.
pub fn file_of_piece(piece: usize) -> String {
    format!("{piece:06}.piece")
}

/// The file of the measurements of a piece, and that of its curves.
pub fn files_of_records(piece: usize) -> [String; 2] {
    ["stats", "curves"].map(|kind| format!("{piece:06}.{kind}.jsonl"))
}

/// The hashes of the measurements and of the curves of a piece in this folder, as far as there are any.
pub fn hashes_of_records(folder: &PrivateFolder, piece: usize, cancel: &Cancel) -> Result<[Option<Hash>; 2]> {
    let hash = |file: String| -> Result<Option<Hash>> {
        let hash =
            folder.read(&file).map_err(Into::into).and_then(|open| open.map(|open| hash_of(open, cancel)).transpose());
        hash.with_context(|| Name::from(folder.path(&file)))
    };
    let [stats, curves] = files_of_records(piece).map(hash);
    Ok([stats?, curves?])
}

/// The hash of the bytes of a file.
///
/// # Errors
/// When it cannot be read, or the run was interrupted.
pub fn hash_of(mut file: File, cancel: &Cancel) -> Result<Hash> {
    let (mut hasher, mut bytes) = (Hasher::default(), vec![0; 1 << 16]);
    loop {
        not_cancelled(cancel)?;
        match file.read(&mut bytes)? {
            0 => return Ok(hasher.hash()),
            count => hasher.add(&bytes[..count]),
        }
    }
}

/// # Errors
/// When the run was interrupted.
fn not_cancelled(cancel: &Cancel) -> Result<()> {
    ensure!(!cancel.is_cancelled(), "interrupted while files were checked");
    Ok(())
}
