//! `histeq-video preview`: a few frames under every look, on one sheet.

use crate::draw::sheet::{self, Column, Miniatures};
use crate::options::{EqualizeOptions, FilterOptions, LookRow, OutputFile, PreviewJob};
use crate::pieces::make_folder_of;
use crate::report::{Console, counted, with_name};
use crate::session::{Around, Outputs, Session, prepare};
use crate::signals;
use anyhow::{Context, Result, bail, ensure};
use histeq::equalize::EqualizeStage;
use histeq::equalize::cpu::Cpu;
use histeq::frame::{Frame, limits};
use histeq::spec::Look;
use histeq::spec::{Settings, Smoothing};
use histeq_media::ffmpeg::{microseconds, rescale};
use histeq_media::pipeline::{Cancel, Delivery, Input, Notices, Outcome, PartPosition, ReaderGone, Source};
use histeq_media::sink::{Overwrite, write_drawn};
use histeq_media::source::{self, InputOptions, Part};
use histeq_media::sys::is_pipe;
use std::collections::{HashSet, VecDeque};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// Memory for the frames of a column, bytes.
const MEMORY: usize = 512 << 20;

/// Frames a second of a video of unknown rate.
const DEFAULT_RATE: f64 = 25.0;

/// Draws the sheets, and writes them.
pub fn run(job: &PreviewJob, console: &Console) -> Result<Outcome> {
    let begin = Instant::now();
    let session = Session::new(job.stderr.clone(), job.limits, console);
    let (sheets, there): (Vec<_>, Vec<_>) = job.sheets.iter().partition(|(_, output)| {
        let is_skipped = job.folder.is_some() && output.overwrite != Overwrite::Yes;
        !(is_skipped && Path::new(&output.name).exists())
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
                failed.push(input.url.as_str());
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

/// Draws a sheet, and writes it. Returns a line on it; `None` when it was interrupted, or its reader went away.
fn draw_sheet(
    job: &PreviewJob,
    options: &InputOptions,
    output: &OutputFile,
    session: &Session<'_>,
) -> Result<Option<String>> {
    let begin = Instant::now();
    let Session { cancel, notices, .. } = session;
    let name = if options.url == "-" { "stdin" } else { &options.url };
    ensure!(
        !is_pipe(&options.url),
        "{name}: the input of preview is read several times, which a pipe does not allow (save it to a file first)"
    );
    options.check_there()?;
    make_folder_of(&output.name)?;
    let outputs = Outputs::from(session.target(output, &options.url)?);
    if job.folder.is_none() {
        session.guard(job.sandbox, &[options], &outputs, signals::GIVING_UP)?;
    }

    let (source, input) = session.open(options, notices)?;
    let is_image = input.is_image();
    ensure!(
        is_image || input.duration.is_some() || Path::new(&options.url).is_file(),
        "{name}: the input of preview is read several times, which a live stream does not allow (record some of it \
         first: histeq-video --duration 10 {name} part.mkv)"
    );
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
            Err(error) => notices.warn(&format!("{error:#} (a column is left out)"))?,
        }
    }
    if cancel.is_cancelled() {
        return Ok(None);
    }
    let drawn = sheet::draw(&labels(&job.rows), &columns)?;
    match write_drawn(drawn, "the sheet", outputs.target, output.options.clone()) {
        Ok(name) => {
            let (seconds, name) = (begin.elapsed().as_secs_f64(), name.unwrap_or_default());
            let looks: HashSet<Look> = job.rows.iter().map(|row| row.look).collect();
            let (frames, looks) = (counted(columns.len() as u64, "frame"), counted(looks.len() as u64, "look"));
            Ok(Some(with_name(&format!("{frames} under {looks} in {seconds:.1} s -> "), &name)))
        }
        Err(error) if error.is::<ReaderGone>() => Ok(None),
        Err(error) => Err(error),
    }
}

/// The labels of the rows, from the top to the bottom.
fn labels(rows: &[LookRow]) -> Vec<String> {
    let label = |LookRow { look, strength }: &LookRow| match strength {
        Some((text, _)) => format!("{look}, strength {text}"),
        None => format!("--look {look}"),
    };
    std::iter::once("original".to_owned()).chain(rows.iter().map(label)).collect()
}

/// The largest size of a cell in pixels (width, height) on a sheet with this number of columns.
fn room(columns: usize) -> (usize, usize) {
    match columns {
        1 => (480, 360),
        2..=5 => (320, 240),
        _ => (240, 180),
    }
}

/// Where the frames of the sheet are, in microseconds: in the middle of this many equal parts of the video, from
/// `begin` on. Its length is counted in `source` if it is not known.
fn starts((frames, begin): (u64, Option<i64>), input: &Input, mut source: Box<dyn Source>) -> Result<Vec<Option<i64>>> {
    let rate = input.rate().unwrap_or(DEFAULT_RATE);
    let by_time = input.duration.map(|duration| (duration as f64 / 1e6 * rate).round() as u64);
    let count = match input.frames.or(by_time) {
        Some(count) => count,
        None => {
            let mut count = 0;
            while let Some(delivery) = source.next()? {
                count += u64::from(delivery.frame.is_some() && delivery.position == PartPosition::Within);
            }
            count
        }
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

/// How many times as large as a cell the frames are that looks are applied to, where those of the video are larger.
const ROOM_TO_SHRINK: usize = 3;

/// The size that frames of this size are scaled to ahead of the looks, if that saves much.
fn working_size((width, height): (usize, usize), room: (usize, usize)) -> Option<(usize, usize)> {
    let share = (ROOM_TO_SHRINK * room.0.max(room.1)) as f64 / width.max(height) as f64;
    let even = |length: usize| ((length as f64 * share / 2.0).round() as usize * 2).max(2);
    (share * share < 0.5).then(|| (even(width), even(height)))
}

/// The original and every row of the first frame of `options`.
fn column(options: &InputOptions, rows: &[LookRow], room: (usize, usize), cancel: &Cancel) -> Result<Column> {
    let (mut source, mut input) = source::open(options, cancel, Notices::silent(), Arc::default())?;
    let looks = rows.iter().map(|row| ShownLook::new(row, &input)).collect::<Result<Vec<_>>>()?;
    if let Some(size) = input.picture.and_then(|(_, size)| working_size(size, room)) {
        (source, input) = source::shrunk((source, input), size, &Notices::silent())?;
    }
    let most = |count: fn(&ShownLook) -> u32| looks.iter().map(count).max().unwrap_or(0);
    let frames = FrameAndNeighbours::read(source.as_mut(), most(ShownLook::before), most(ShownLook::behind))?;
    let shown = frames.shown.as_ref().with_context(|| format!("{}: interrupted", input.name))?;

    let mut miniatures = Miniatures::new(&input, room);
    let mut pictures = vec![miniatures.of(shown)?];
    for look in &looks {
        ensure!(!cancel.is_cancelled(), "{}: interrupted", input.name);
        pictures.push(miniatures.of(&look.equalized(&frames, &input)?)?);
    }
    let label = if input.is_image() { String::new() } else { time_label(shown, &input, options.part.start) };
    Ok(Column { label, pictures })
}

/// The time of the first frame of a part, as `--start` takes it: `1:23.45`.
fn time_label(frame: &Frame, input: &Input, start: Option<i64>) -> String {
    let unit = input.video_stream().time_base;
    let time = rescale(frame.pts.unwrap_or(0), unit, microseconds());
    let time = match input.media.is_raw() {
        // These times begin with the part, at a whole frame.
        true => time + rescale(rescale(start.unwrap_or(0), microseconds(), unit), unit, microseconds()),
        false => time - input.shift - input.media.start.unwrap_or(0),
    };
    let hundredths = time.max(0) / 10_000;
    let (minutes, seconds) = (hundredths / 6000, hundredths % 6000);
    let seconds = format!("{:02}.{:02}", seconds / 100, seconds % 100);
    match minutes / 60 {
        0 => format!("{minutes}:{seconds}"),
        hours => format!("{hours}:{:02}:{seconds}", minutes % 60),
    }
}

/// A frame, and those around it, oldest first.
#[derive(Default)]
struct FrameAndNeighbours {
    before: VecDeque<Frame>,
    shown: Option<Frame>,
    behind: Vec<Frame>,
}

impl FrameAndNeighbours {
    /// Reads the first frame of the part, up to `before` frames before it, and up to `behind` frames behind it.
    fn read(source: &mut dyn Source, before: u32, behind: u32) -> Result<Self> {
        source.look_around(before, behind);
        let mut frames = FrameAndNeighbours::default();
        while frames.shown.is_none() || frames.behind.len() < behind as usize {
            let Some(delivery) = source.next()? else { break };
            let Some(frame) = delivery.frame else { continue };
            match delivery.position {
                PartPosition::Before => frames.before.push_back(frame),
                PartPosition::Within => frames.shown = Some(frame),
                PartPosition::Behind => frames.behind.push(frame),
            }
            if frames.before.len() > before as usize {
                frames.before.pop_front();
            }
        }
        Ok(frames)
    }

    /// A source of the shown frame, with up to `before` frames before it and `behind` frames behind it.
    fn source(&self, before: u32, behind: u32) -> Held {
        let (before, behind) = (before as usize, behind as usize);
        let beside = Delivery::beside;
        let earlier = self.before.iter().skip(self.before.len().saturating_sub(before));
        let earlier = earlier.map(|frame| beside(PartPosition::Before, frame.clone()));
        let shown = self.shown.iter().map(|frame| beside(PartPosition::Within, frame.clone()));
        let later = self.behind.iter().take(behind).map(|frame| beside(PartPosition::Behind, frame.clone()));
        Held(earlier.chain(shown).chain(later).collect())
    }
}

/// A source of frames in memory.
struct Held(VecDeque<Delivery>);

impl Source for Held {
    fn next(&mut self) -> Result<Option<Delivery>> {
        Ok(self.0.pop_front())
    }
}

/// How a look is shown.
struct ShownLook {
    equalize: EqualizeOptions,
    /// Those of the look, with a shorter temporal window where it would take long, or much memory.
    settings: Settings,
}

impl ShownLook {
    /// Shows the look of `row` for `input`.
    fn new(row: &LookRow, input: &Input) -> Result<Self> {
        let mut equalize = EqualizeOptions::of_look(row.look);
        equalize.options.strength = row.strength.as_ref().map(|(_, strength)| *strength);
        let mut settings = equalize.resolve(input, &Notices::silent())?;
        let held = (MEMORY / equalize.video(input).frame_bytes().unwrap_or(MEMORY).max(1)).max(1) as u32;
        let window = settings.smoothing;
        if window.memory() + window.ahead() > held {
            let frames = held.div_ceil(2);
            settings.smoothing = Smoothing::new(frames, frames / 4).looking_ahead(frames / 2);
        }
        Ok(ShownLook { equalize, settings })
    }

    /// The number of frames before the shown one: a whole window, which is all there is at the end of a video.
    fn before(&self) -> u32 {
        self.settings.smoothing.frames() - 1
    }

    /// The number of frames behind the shown one.
    fn behind(&self) -> u32 {
        self.settings.look_ahead()
    }

    /// The shown frame, equalized on the CPU.
    fn equalized(&self, frames: &FrameAndNeighbours, input: &Input) -> Result<Frame> {
        let held = Box::new(frames.source(self.before(), self.behind()));
        let prepared = prepare(
            (held, input.clone()),
            &self.equalize,
            &FilterOptions::default(),
            None,
            Around::BySource,
            [&Notices::silent(); 2],
        )?;
        let mut source = prepared.source;
        source.look_around(self.before(), self.settings.look_ahead());

        let threads = limits::threads();
        let mut stage = EqualizeStage::new(Box::new(Cpu::new(threads)), self.settings);
        let mut wanted = 1 + self.settings.look_ahead();
        while wanted > 0 {
            let Some(delivery) = source.next()? else { break };
            match (delivery.frame, delivery.position) {
                (Some(frame), PartPosition::Before) => stage.warm_up(frame)?,
                (Some(frame), PartPosition::Within) => {
                    stage.submit(frame)?;
                    wanted -= 1;
                }
                (Some(frame), PartPosition::Behind) => {
                    stage.submit_behind(frame)?;
                    wanted -= 1;
                }
                (None, _) => {}
            }
        }
        stage.finish()?;
        Ok(stage.collect()?.context("the CPU lost a frame")?.frame)
    }
}
