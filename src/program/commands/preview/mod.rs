//! `histeq-video preview`: a few frames under every look, on one sheet, or any frame in a browser (`in_browser.rs`).

mod in_browser;

use crate::draw::sheet::{self, Column, Miniatures};
use crate::options::jobs::{LookRow, PreviewJob};
use crate::options::writing::OutputFile;
use crate::pieces::make_folder_of;
use crate::report::{Console, counted, with_name};
use crate::session::{Outputs, Session};
use crate::signals;
use crate::stills::{DEFAULT_RATE, Moment, count_frames};
use anyhow::{Result, bail, ensure};
use histeq::internal::spec::parameters::Look;
use histeq_media::pipeline::{Cancel, Input, Outcome, ReaderGone, Source, said};
use histeq_media::sink::files::Overwrite;
use histeq_media::sink::image::write_drawn;
use histeq_media::source::{InputOptions, Part};
use histeq_media::sys::io::is_pipe;
use std::collections::HashSet;
use std::time::Instant;

/// Draws the sheets, and writes them.
pub fn run(job: &PreviewJob, console: &Console) -> Result<Outcome> {
    let begin = Instant::now();
    let session = Session::new(job.stderr.clone(), job.limits, console);
    if let Some(web) = &job.web {
        return in_browser::run(job, web, &session);
    }
    let (sheets, there): (Vec<_>, Vec<_>) = job.sheets.iter().partition(|(_, output)| {
        let is_skipped = job.folder.is_some() && output.overwrite != Overwrite::Yes;
        !(is_skipped && output.name.path().is_file())
    });
    let were_there = match there.len() {
        0 => String::new(),
        1 => "; 1 sheet was there".to_owned(),
        count => format!("; {count} sheets were there"),
    };
    if let Some(((input, output), _)) = sheets.first().zip(job.folder.as_ref()) {
        make_folder_of(&output.name)?;
        let inputs: Vec<&InputOptions> = sheets.iter().map(|(input, _)| input).collect();
        let outputs = Outputs { folder: job.folder.clone(), ..session.target(output, &input.url)?.into() };
        session.guard(job.sandbox, &inputs, &outputs, signals::GIVING_UP)?;
    }
    let mut failed = Vec::new();
    for (input, output) in &sheets {
        match draw_sheet(job, input, output, &session) {
            Ok(Some(line)) => console.info(&line),
            Ok(None) if session.cancel.is_cancelled() => return Ok(Outcome::Interrupted),
            Ok(None) => {}
            Err(error) if job.folder.is_none() => return Err(error),
            Err(_) if session.cancel.is_cancelled() => return Ok(Outcome::Interrupted),
            Err(error) => {
                console.error(&error);
                failed.push(input.url.to_string());
            }
        }
    }
    if job.folder.is_some() {
        let drawn = counted((sheets.len() - failed.len()) as u64, "sheet");
        let seconds = begin.elapsed().as_secs_f64();
        console.info(&format!("{drawn} in {seconds:.1} s{were_there}"));
    }
    match failed.len() {
        0 => Ok(Outcome::Complete),
        count => bail!("{count} of {} inputs have no sheet: {}", sheets.len(), failed.join(", ")),
    }
}

/// Draws and writes a sheet. Returns a line about it; `None` if interrupted, or if the reader closed the output's pipe.
fn draw_sheet(
    job: &PreviewJob,
    options: &InputOptions,
    output: &OutputFile,
    session: &Session<'_>,
) -> Result<Option<String>> {
    let begin = Instant::now();
    let Session { cancel, notices, .. } = session;
    let options = &InputOptions { limits: session.limits().clone(), ..options.clone() };
    check_is_there(options)?;
    make_folder_of(&output.name)?;
    let outputs = Outputs::from(session.target(output, &options.url)?);
    if job.folder.is_none() {
        session.guard(job.sandbox, &[options], &outputs, signals::GIVING_UP)?;
    }

    let (source, input) = session.open(options, notices)?;
    let is_image = input.is_image();
    check_can_be_read_again(options, &input)?;
    let start = options.part.start;
    let starts = if is_image { vec![start] } else { starts((job.frames, start), &input, source)? };

    let mut columns = Vec::new();
    for &start in &starts {
        if cancel.is_cancelled() {
            return Ok(None);
        }
        let part = Part { start, frames: Some(1), ..Part::default() };
        match column(&InputOptions { part, ..options.clone() }, &job.rows, room(starts.len()), cancel) {
            Ok(column) => columns.push(column),
            Err(_) if cancel.is_cancelled() => {}
            Err(error) if columns.is_empty() => return Err(error),
            // The end of the video may be missing or damaged.
            Err(error) => notices.warn(&format!("{} (a column is left out)", said(&error)))?,
        }
    }
    if cancel.is_cancelled() {
        return Ok(None);
    }
    let above = sheet::alike(&columns);
    let drawn = sheet::draw(&labels(&job.rows, &above), &columns)?;
    match write_drawn(drawn, "the sheet", outputs.target, output.options.clone()) {
        Ok(name) => {
            let (seconds, name) = (begin.elapsed().as_secs_f64(), name.unwrap_or_default());
            let looks: HashSet<Look> = job.rows.iter().map(|row| row.look).collect();
            let (frames, looks) = (counted(columns.len() as u64, "frame"), counted(looks.len() as u64, "look"));
            let alike = alike(&names(&job.rows), &above);
            Ok(Some(with_name(&format!("{frames} under {looks} in {seconds:.1} s{alike}"), &name)))
        }
        Err(error) if error.is::<ReaderGone>() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Checks that the input exists, and is no pipe.
fn check_is_there(options: &InputOptions) -> Result<()> {
    let name = if options.url == "-" { &"stdin".into() } else { &options.url };
    ensure!(
        !is_pipe(&options.url),
        "{name}: the input of preview is read several times, which a pipe does not allow (save it to a file first)"
    );
    options.check_there()
}

/// Checks that the opened input is no live stream.
fn check_can_be_read_again(options: &InputOptions, input: &Input) -> Result<()> {
    let name = &options.url;
    ensure!(
        input.is_image() || input.duration.is_some() || name.path().is_file(),
        "{name}: the input of preview is read several times, which a live stream does not allow (record some of it \
         first: histeq-video --duration 10 {name} part.mkv)"
    );
    Ok(())
}

/// The names of the rows, from the top to the bottom.
fn names(rows: &[LookRow]) -> Vec<String> {
    let name = |LookRow { look, strength }: &LookRow| match strength {
        Some((text, _)) => format!("{look}, strength {text}"),
        None => look.to_string(),
    };
    std::iter::once("original".to_owned()).chain(rows.iter().map(name)).collect()
}

/// The labels of the rows, each as lines. `above` has, for each row, an earlier row that looks the same, if any.
fn labels(rows: &[LookRow], above: &[Option<usize>]) -> Vec<Vec<String>> {
    let names = names(rows);
    let like = |above: &Option<usize>| above.map(|above| format!("like {}", names[above]));
    let label = |(row, above): (usize, &Option<usize>)| -> Vec<String> {
        let (name, is_default) = match row.checked_sub(1).map(|row| &rows[row]) {
            Some(LookRow { look, strength: None }) => (format!("--look {look}"), *look == Look::default()),
            _ => (names[row].clone(), false),
        };
        let default = is_default.then(|| "the default".to_owned());
        [Some(name), default, like(above)].into_iter().flatten().collect()
    };
    above.iter().enumerate().map(label).collect()
}

/// A text on which rows look like a row above them.
fn alike(names: &[String], above: &[Option<usize>]) -> String {
    let like = |number: usize| {
        let rows = names.iter().zip(above).filter(|(_, above)| **above == Some(number)).map(|(name, _)| name.as_str());
        let rows = rows.collect::<Vec<_>>().join(", ");
        (!rows.is_empty()).then(|| format!("; {rows}: like {}", names[number]))
    };
    (0..names.len()).filter_map(like).collect()
}

/// The largest size of a cell in pixels (width, height) on a sheet with this number of columns.
fn room(columns: usize) -> (usize, usize) {
    match columns {
        1 => (480, 360),
        2..=5 => (320, 240),
        _ => (240, 180),
    }
}

/// The times of the sheet's frames in microseconds: the middles of `frames` equal parts of the video, from `begin`
/// on. Counts the frames of `source` if the length of the video is not known.
fn starts((frames, begin): (u64, Option<i64>), input: &Input, source: Box<dyn Source>) -> Result<Vec<Option<i64>>> {
    let rate = input.rate().unwrap_or(DEFAULT_RATE);
    let by_time = input.duration.map(|duration| (duration as f64 / 1e6 * rate).round() as u64);
    let count = match input.frames.or(by_time) {
        Some(count) => count,
        None => count_frames(input, source)?,
    };
    let count = count.max(1);
    let columns = frames.min(count);
    let start = |column: u64| {
        let frame = count * (2 * column + 1) / (2 * columns);
        // A little earlier than the frame, since times are rounded.
        let time = ((frame as f64 - 0.25) / rate * 1e6) as i64;
        if frame == 0 { begin } else { Some(begin.unwrap_or(0) + time) }
    };
    Ok((0..columns).map(start).collect())
}

/// The column of the first frame of `options`: the original, and the frame under the look of each row.
fn column(options: &InputOptions, rows: &[LookRow], room: (usize, usize), cancel: &Cancel) -> Result<Column> {
    let moment = Moment::read(options, rows, Some(room), cancel)?;
    let mut miniatures = Miniatures::new(&moment.input, room).turning();
    let mut pictures = vec![miniatures.miniature(&moment.shown)?];
    for row in rows {
        ensure!(!cancel.is_cancelled(), "{}: interrupted", moment.input.name);
        pictures.push(miniatures.miniature(&moment.under(row)?)?);
    }
    Ok(Column { label: if moment.input.is_image() { String::new() } else { moment.time() }, pictures })
}
