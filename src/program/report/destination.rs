//! Opens the destination of the events of `--progress json`.

use super::Events;
use crate::options::Job;
use crate::options::writing::EventsTo;
use crate::stdout;
use anyhow::{Context, Result};
use histeq_media::pipeline::FailureKind;
use histeq_media::sink::files::{Files, Overwrite, Target};
use histeq_media::sys::files::Name;
use std::fs::{File, Metadata};
use std::io::{Read, Seek, SeekFrom, Write};

/// Opens the destination of events; `None` if there is none.
pub fn open_events(job: &Job) -> Result<Option<Events>> {
    let name = match job.events() {
        EventsTo::Nowhere => return Ok(None),
        EventsTo::Stderr => return Ok(Some(Events::on_stderr())),
        EventsTo::File(name) => name,
    };
    let file = match name.text().and_then(|number| number.parse::<u32>().ok()) {
        Some(number) => {
            // If stdout was closed, descriptor 1 is /dev/null.
            (number == 1).then(|| stdout::check(&"-".into())).transpose()?;
            let opened = File::options().append(true).open(format!("/dev/fd/{number}"));
            let message = format!("--progress-file {number}: no open descriptor has this number");
            opened.map_err(|_| FailureKind::Usage.error(message))?
        }
        None => {
            if job.files().into_iter().any(|other| Target::are_one(name, other)) {
                let message = format!("{name} is read or written by the run (give --progress-file another name)");
                return Err(FailureKind::Exists.error(message));
            }
            match with_events(name) {
                Some(file) if job.replaces_events() => {
                    file.set_len(0).with_context(|| name.clone())?;
                    file
                }
                Some(mut file) => {
                    end_line(&mut file).with_context(|| name.clone())?;
                    file
                }
                None if name.path().is_file() => {
                    let message = format!("{name} exists, and holds no events (give --progress-file another name)");
                    return Err(FailureKind::Exists.error(message));
                }
                None => Target::direct(name, Files::One, Overwrite::No)?.writer()?,
            }
        }
    };
    Ok(Some(Events::in_file(file, name, job.is_strict())))
}

/// Opens the file of this name for appending, if it is empty or begins with an event of an earlier run.
fn with_events(name: &Name) -> Option<File> {
    std::fs::metadata(name).ok().filter(Metadata::is_file)?;
    let mut file = File::options().read(true).append(true).open(name).ok()?;
    let (mut begin, expected) = (Vec::new(), b"{\"event\":");
    Read::by_ref(&mut file).take(expected.len() as u64).read_to_end(&mut begin).ok()?;
    (begin.is_empty() || begin == expected).then_some(file)
}

/// Ends the last line, which a full disk may have truncated.
fn end_line(file: &mut File) -> std::io::Result<()> {
    let mut last = [b'\n'];
    if file.metadata()?.len() > 0 {
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
    }
    if last == *b"\n" { Ok(()) } else { file.write_all(b"\n") }
}

/// Whether a command line that cannot be understood asks for events on stderr.
pub fn events_are_asked_for() -> bool {
    let arguments: Vec<_> = std::env::args_os().collect();
    arguments.iter().any(|argument| argument == "--progress=json")
        || arguments.windows(2).any(|pair| pair[0] == "--progress" && pair[1] == "json")
}
