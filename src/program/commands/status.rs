//! `histeq-video status`: prints which pieces of a plan are done.

use crate::options::jobs::StatusArgs;
use crate::pieces::{PieceFolder, PieceState, Plan};
use crate::stdout;
use anyhow::Result;
use histeq_media::sys::{one_line, printable};
use serde::Serialize;

/// Which pieces of a plan exist.
#[derive(Serialize)]
struct Status {
    /// The number of pieces, and of those that are done, joined ones included.
    pieces: usize,
    done: usize,
    /// The numbers of the pieces that do not exist, and of those that are damaged or of another plan.
    missing: Vec<usize>,
    wrong: Vec<usize>,
    files: Vec<FileStatus>,
}

#[derive(Serialize)]
struct FileStatus {
    output: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_bytes: Option<String>,
    /// Whether the output exists. While not all pieces are done, it may be of an earlier run.
    joined: bool,
    pieces: usize,
    done: usize,
    frames: usize,
}

/// Prints which pieces of a plan exist.
pub fn run(job: &StatusArgs) -> Result<()> {
    let plan = Plan::read(&job.plan)?;
    let mut status =
        Status { pieces: plan.pieces(), done: 0, missing: Vec::new(), wrong: Vec::new(), files: Vec::new() };
    let mut number = 0;
    for file in &plan.files {
        let before = status.done;
        let folder = PieceFolder::open(file)?;
        let is_joined = folder.is_joined(&job.plan);
        for piece in 0..file.pieces.len() {
            match if is_joined { PieceState::Done } else { folder.state_of(piece).0 } {
                PieceState::Done => status.done += 1,
                PieceState::Missing => status.missing.push(number),
                PieceState::Wrong => status.wrong.push(number),
            }
            number += 1;
        }
        let (output, output_bytes, frames) = (file.output.to_string(), file.output.encoded_bytes(), file.frames());
        let (joined, pieces, done) = (file.output.path().exists(), file.pieces.len(), status.done - before);
        status.files.push(FileStatus { output, output_bytes, joined, pieces, done, frames });
    }
    if job.json {
        stdout::print(format!("{}\n", serde_json::to_string(&status)?).as_bytes())?;
        return Ok(());
    }
    let list = |numbers: &[usize]| numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(" ");
    let mut text = format!("{} of {} pieces are done\n", status.done, status.pieces);
    for (what, numbers) in [("missing", &status.missing), ("wrong", &status.wrong)] {
        if !numbers.is_empty() {
            text += &format!("{what}: {}\n", list(numbers));
        }
    }
    for file in &status.files {
        let state = if file.joined { "there" } else { "not there" };
        let name = one_line(&file.output.to_string()).into_owned();
        text += &format!("{name}: {state}, {} of {} pieces, {} frames\n", file.done, file.pieces, file.frames);
    }
    stdout::print(printable(&text).as_bytes())
}
