//! A file that is viewed before anything is written: its frames with any look, as pictures and as short films.

use super::hub::lock;
use super::numbers::frame_numbers;
use super::playing::media_type;
use crate::draw::sheet::Miniatures;
use crate::options::jobs::{LookRow, ReadyCommand};
use crate::stills::{DEFAULT_RATE, Judged, Moment, ShownLook};
use crate::web::http::bodies::{Gone, MAKERS, Of};
use crate::web::http::routes::value_of;
use anyhow::{Context, Result, anyhow, bail, ensure};
use histeq::Named;
use histeq::internal::frame::Frame;
use histeq::internal::spec::parameters::Look;
use histeq_media::ffmpeg::encode::Still;
use histeq_media::ffmpeg::frame::AutoRotate;
use histeq_media::ffmpeg::{microseconds, rescale};
use histeq_media::pipeline::{Cancel, FailureKind, Input, Notices};
use histeq_media::sink::live::{BrowserStream, Fragment, Pairs};
use histeq_media::source::{self, InputOptions, Part};
use serde::Serialize;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tokio::sync::{Semaphore, SemaphorePermit};

/// Most rows of a picture.
const MAX_ROWS: usize = 1080;

/// Pictures of fewer rows are made from frames that are scaled down first.
const SMALL: usize = 360;

/// Most rows of a film's original, and of its equalized picture.
const FILM_ROWS: usize = 720;

/// Length of a film in seconds, and the most frames of it.
const FILM_SECONDS: f64 = 4.0;
const FILM_FRAMES: u64 = 240;

/// Columns of a cut-out that shows noise, by default and at most. It has a fourth as many rows, since the picture
/// stacks two cut-outs.
const PART_COLUMNS: usize = 640;
const MAX_PART_COLUMNS: usize = 960;

/// Requests that may wait for a picture or a film.
const MAX_WAITING: usize = 8;

const LEFT: &str = "the connection that asked for it was closed";
const NO_FRAME: Plain = Plain("there is no frame at that time");

/// A file that is viewed, and a cache of the frames that were asked for last.
pub struct ViewedFile {
    facts: Facts,
    options: InputOptions,
    rows: Vec<LookRow>,
    command: ReadyCommand,
    /// A result of this file, which is shown in place of previews of looks.
    made: Option<InputOptions>,
    cancel: Cancel,
    notices: Notices,
    /// Locked while a picture or film is made, one at a time; unlocked while the noise of a picture is removed.
    last: Mutex<Last>,
    /// How many requests wait for `last`, or for one of the permits `MAKERS`.
    waiting: AtomicUsize,
    /// Permits to remove the noise of one picture at a time. That takes seconds for a large one; other pictures are
    /// made meanwhile.
    pub whole: Arc<Semaphore>,
}

/// What the page has to know of the file.
#[derive(Serialize)]
struct Facts {
    name: String,
    /// The duration in seconds.
    duration: f64,
    /// Frames a second.
    rate: f64,
    width: usize,
    height: usize,
    is_image: bool,
    looks: Vec<String>,
    /// The media types of the file and of its result for the browser's `canPlayType`, as far as they are known.
    types: [Option<String>; 2],
}

/// The cache of a [`ViewedFile`]: the last [`Moment`] in full size and one scaled down, what a look does to the one in
/// full size, and the last pair of frames in full size.
struct Last {
    input: Input,
    full: Option<(i64, Moment)>,
    small: Option<(i64, Moment)>,
    judged: Option<(Asked, Arc<Judged>)>,
    pair: Option<(Asked, Pair)>,
}

/// Original and equalized frame.
type Pair = Arc<[Frame; 2]>;

/// An error whose text is safe to send to any viewer.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Plain(&'static str);

/// Counts as a waiting request until it is dropped.
struct WaitingRequest<'a>(&'a AtomicUsize);

impl<'a> WaitingRequest<'a> {
    /// Counts one more request, and returns how many waited before.
    fn new(count: &'a AtomicUsize) -> (Self, usize) {
        let before = count.fetch_add(1, Ordering::SeqCst);
        (WaitingRequest(count), before)
    }
}

impl Drop for WaitingRequest<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Which frame is requested, and how it is equalized.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// Microseconds from the begin of the part of the file that the input options choose.
    at: i64,
    row: LookRow,
    /// Whether the equalized frame keeps the noise that a run removes.
    keeps_noise: bool,
}

impl Asked {
    /// Reads a query string: `at` in seconds, `look`, `strength`, and `noise`, which is `keep` or left out. The default
    /// is the first frame with the default look, at the look's own strength and without noise.
    ///
    /// # Errors
    /// When a value is not valid.
    pub fn read(query: &str) -> Result<Self> {
        let value = |name| value_of(query, name);
        let seconds = value("at").unwrap_or("0").parse().ok().filter(|index: &f64| index.is_finite() && *index >= 0.0);
        let seconds = seconds.context("at is a time in seconds")?;
        let look = match value("look") {
            Some(name) => Look::from_name(name).with_context(|| format!("there is no look {name:?}"))?,
            None => Look::default(),
        };
        let row = LookRow::read(look, value("strength")).map_err(anyhow::Error::msg)?;
        let keeps_noise = match value("noise") {
            None => false,
            Some("keep") => true,
            Some(_) => bail!("noise is keep, or left out"),
        };
        Ok(Asked { at: (seconds.min(1e9) * 1e6) as i64, row, keeps_noise })
    }
}

/// Which part of a frame is requested.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AskedPart {
    /// The centre, in shares of the upright frame's width and height, 0 to 1.
    point: (f64, f64),
    columns: usize,
}

impl AskedPart {
    /// Reads a query string: `x`, `y` and `columns`; by default the middle of the frame.
    ///
    /// # Errors
    /// When a value is not valid.
    pub fn read(query: &str) -> Result<Self> {
        let share = |name: &str| {
            let share = value_of(query, name).unwrap_or("0.5").parse().ok();
            let share = share.filter(|share: &f64| (0.0..=1.0).contains(share));
            share.with_context(|| format!("{name} is a share of the picture, 0 to 1"))
        };
        let columns = value_of(query, "columns").map_or(Ok(PART_COLUMNS), str::parse);
        let columns = columns.context("columns is a number")?.clamp(16, MAX_PART_COLUMNS);
        Ok(AskedPart { point: (share("x")?, share("y")?), columns })
    }
}

impl ViewedFile {
    /// The file `options`, which has been opened as `input`, has a `duration` in seconds, and is shown with the looks
    /// of `rows`. `command` is the command line that equalizes it.
    pub fn new(
        (options, input): (InputOptions, Input),
        duration: f64,
        rows: Vec<LookRow>,
        command: ReadyCommand,
        (cancel, notices): (Cancel, Notices),
    ) -> Self {
        let mut looks: Vec<String> = rows.iter().map(|row| row.look.to_string()).collect();
        looks.dedup();
        let (rate, is_image) = (input.rate().unwrap_or(DEFAULT_RATE), input.is_image());
        let (width, height) = input.picture.map_or((0, 0), |(_, size)| size);
        let name = command.input_name().to_string();
        let types = [media_type(options.url.path(), input.video_stream()), None];
        let last = Mutex::new(Last { input, full: None, small: None, judged: None, pair: None });
        ViewedFile {
            facts: Facts { name, duration, rate, width, height, is_image, looks, types },
            options,
            rows,
            command,
            made: None,
            cancel,
            notices,
            last,
            waiting: AtomicUsize::new(0),
            whole: Arc::new(Semaphore::new(1)),
        }
    }

    /// The same file, shown beside its result `made`, which has the media type `its_type`.
    pub fn beside(mut self, made: InputOptions, its_type: Option<String>) -> Self {
        self.facts.looks.clear();
        self.facts.types[1] = its_type;
        ViewedFile { made: Some(made), ..self }
    }

    /// What the page has to know of the file.
    pub fn facts(&self) -> Value {
        json!(self.facts)
    }

    /// Waits for a permit to make a picture or film. A request that waits here blocks no thread.
    ///
    /// # Errors
    /// When too many requests wait.
    pub async fn place(&self) -> Result<SemaphorePermit<'static>> {
        let (_waits, before) = WaitingRequest::new(&self.waiting);
        ensure!(before < MAX_WAITING, Plain("too much is asked for at once"));
        Ok(MAKERS.acquire().await?)
    }

    /// Blocks the thread until no other picture or film is being made. The caller has a permit of
    /// [`place`](Self::place).
    fn turn(&self, gone: &Gone) -> Result<MutexGuard<'_, Last>> {
        let waits = WaitingRequest::new(&self.waiting);
        let last = lock(&self.last);
        drop(waits);
        ensure!(!gone.is_so(), Plain(LEFT));
        Ok(last)
    }

    /// Replaces the error of `make`, which may name files and passwords, by one that is safe to send to viewers. The
    /// program itself reports the original one.
    fn told<T>(&self, make: impl FnOnce() -> Result<T>) -> Result<T> {
        make().map_err(|error| {
            if error.is::<Plain>() {
                return error;
            }
            if !self.cancel.is_cancelled() {
                self.notices.detail(&format!("the view in a browser: {error:#}"));
            }
            anyhow!("{}: that cannot be shown (the program says why, with --verbose)", self.facts.name)
        })
    }

    /// The command line that equalizes the file as asked. Only this machine learns the folder of the file.
    pub fn command(&self, asked: &Asked, is_local: bool) -> String {
        self.command.with(&asked.row, is_local)
    }

    /// Numbers about a frame: its time, the strength of its look, whether noise is removed, histogram and curve.
    ///
    /// # Errors
    /// When it cannot be read or equalized.
    pub fn numbers(&self, asked: &Asked, gone: &Gone) -> Result<Value> {
        // The numbers are those of the noisy frame, which need not wait until noise is removed.
        let asked = &Asked { keeps_noise: self.made.is_none(), ..asked.clone() };
        let (pair, last) = self.told(|| self.pair(asked, false, gone))?;
        let time = last.full.as_ref().map(|(_, moment)| moment.time());
        let removes_noise = last.judged.as_ref().is_some_and(|(_, judged)| judged.removes_noise());
        let strength = f64::from(ShownLook::new(&asked.row, &last.input)?.settings.strength.to_256ths()) / 256.0;
        drop(last);
        let mut numbers = frame_numbers(&pair[0], &pair[1]);
        numbers["time"] = json!(time);
        numbers["strength"] = json!((strength * 100.0).round() / 100.0);
        numbers["noise"] = json!(removes_noise);
        Ok(numbers)
    }

    /// Whether this picture may take seconds: then the caller needs the permit of [`whole`](Self::whole).
    pub fn takes_long(&self, asked: &Asked, side: Of, rows: usize) -> bool {
        self.made.is_none() && !asked.keeps_noise && !matches!(side, Of::Original) && rows >= SMALL
    }

    /// The frame as JPEG, upright and with square pixels, with at most `rows` rows.
    ///
    /// # Errors
    /// When it cannot be read or equalized.
    pub fn jpeg(&self, asked: &Asked, side: Of, rows: usize, gone: &Gone) -> Result<Vec<u8>> {
        let rows = rows.clamp(16, MAX_ROWS);
        let keeps_noise = asked.keeps_noise || !self.takes_long(asked, side, rows);
        let asked = &Asked { keeps_noise: keeps_noise && self.made.is_none(), ..asked.clone() };
        let (pair, last) = self.told(|| self.pair(asked, rows < SMALL, gone))?;
        if self.made.is_some() {
            drop(last);
            return match side {
                Of::Original => Still::Jpeg.encode(&pair[0]),
                Of::Equalized => Still::Jpeg.encode(&pair[1]),
                Of::Both => Still::Jpeg.encode(&Pairs::new(&pair[0], rows)?.join([&pair[0], &pair[1]])?),
            };
        }
        // Frames are not scaled up.
        let upright = AutoRotate::new(last.input.video_stream(), false, &last.input.limits).frame(pair[0].clone())?;
        let rows = rows.min(upright.height());
        let mut miniatures = Miniatures::new(&last.input, (4 * rows, rows));
        drop(last);
        match side {
            Of::Original => Still::Jpeg.encode(&miniatures.miniature(&pair[0])?),
            Of::Equalized => Still::Jpeg.encode(&miniatures.miniature(&pair[1])?),
            Of::Both => {
                let [upper, lower] = [miniatures.miniature(&pair[0])?, miniatures.miniature(&pair[1])?];
                Still::Jpeg.encode(&Pairs::new(&upper, rows)?.join([&upper, &lower])?)
            }
        }
    }

    /// A cut-out of the frame with its look as JPEG, upright and not scaled: above with noise, below without.
    ///
    /// # Errors
    /// When it cannot be read or equalized.
    pub fn part(&self, asked: &Asked, part: AskedPart, gone: &Gone) -> Result<Vec<u8>> {
        let [noisy, clean] = self.told(|| {
            ensure!(self.made.is_none(), Plain("a result has no look"));
            let mut last = self.turn(gone)?;
            let (_, judged) = self.judged(&mut last, asked)?;
            let upright = AutoRotate::new(last.input.video_stream(), false, &last.input.limits);
            judged.part(upright, part.point, (part.columns, part.columns / 4))
        })?;
        Still::Jpeg.encode(&Pairs::new(&noisy, usize::MAX)?.join([&noisy, &clean])?)
    }

    /// Original and equalized frame, and the locked cache that has the moments of which they are made.
    fn pair(&self, asked: &Asked, is_small: bool, gone: &Gone) -> Result<(Pair, MutexGuard<'_, Last>)> {
        let mut last = self.turn(gone)?;
        let known = last
            .pair
            .as_ref()
            .filter(|(asked_before, _)| !is_small && asked_before == asked)
            .map(|(_, pair)| pair.clone());
        if let Some(pair) = known {
            return Ok((pair, last));
        }
        if is_small || self.made.is_some() {
            let moment = self.moment(&mut last, asked.at, is_small)?;
            let pair = Arc::new(match &self.made {
                None => [moment.shown.clone(), moment.under(&asked.row)?],
                Some(made) => self.alike(moment, made, asked.at)?,
            });
            if !is_small {
                last.pair = Some((asked.clone(), pair.clone()));
            }
            return Ok((pair, last));
        }
        let (original, judged) = self.judged(&mut last, asked)?;
        if asked.keeps_noise {
            return Ok((Arc::new([original, judged.noisy.clone()]), last));
        }
        // Unlocked, so that other pictures are made while noise is removed from this one.
        drop(last);
        let pair = Arc::new([original, judged.clean()?]);
        let mut last = self.turn(gone)?;
        last.pair = Some((asked.clone(), pair.clone()));
        Ok((pair, last))
    }

    /// The frame at this time and its neighbours, from the cache or newly read.
    fn moment<'a>(&self, last: &'a mut Last, time: i64, is_small: bool) -> Result<&'a Moment> {
        ensure!(time as f64 <= self.facts.duration * 1e6, NO_FRAME);
        let (room, held) = match is_small {
            true => (Some((SMALL, SMALL)), &mut last.small),
            false => (None, &mut last.full),
        };
        let moment = match held.take().filter(|(known, _)| *known == time) {
            Some((_, moment)) => moment,
            None => {
                let read = Moment::read(&self.from(time, 1), &self.rows, room, &self.cancel);
                // A usage error means that no frame begins so late: the last one begins before the end of the file.
                let is_time =
                    |cause: &(dyn std::error::Error + 'static)| source::kind_of_cause(cause) == FailureKind::Usage;
                read.map_err(|error| if error.chain().any(is_time) { NO_FRAME.into() } else { error })?
            }
        };
        Ok(&held.insert((time, moment)).1)
    }

    /// The original frame, and how the look equalizes it, from the cache or computed.
    fn judged(&self, last: &mut Last, asked: &Asked) -> Result<(Frame, Arc<Judged>)> {
        let known = last
            .judged
            .take()
            .filter(|(asked_before, _)| (asked_before.at, &asked_before.row) == (asked.at, &asked.row));
        let moment = self.moment(last, asked.at, false)?;
        let original = moment.shown.clone();
        let judged = match known {
            Some((_, judged)) => judged,
            None => Arc::new(moment.judged(&asked.row)?),
        };
        last.judged = Some((asked.clone(), judged.clone()));
        Ok((original, judged))
    }

    /// A frame and the frame at the same time in the result, both upright and scaled to the size of the smaller one.
    fn alike(&self, moment: &Moment, made: &InputOptions, time: i64) -> Result<[Frame; 2]> {
        let made =
            Moment::read(&InputOptions { part: self.from(time, 1).part, ..made.clone() }, &[], None, &self.cancel)?;
        let frames = [(&moment.input, &moment.shown), (&made.input, &made.shown)];
        let size = |(input, frame): (&Input, &Frame)| {
            let upright = AutoRotate::new(input.video_stream(), false, &input.limits).frame(frame.clone())?;
            anyhow::Ok((upright.width(), upright.height()))
        };
        let [original, result] = [size(frames[0])?, size(frames[1])?];
        let room = original.min(result);
        let [mut upper, mut lower] = frames.map(|(input, _)| Miniatures::new(input, room));
        Ok([upper.miniature(frames[0].1)?, lower.miniature(frames[1].1)?])
    }

    /// The file from this time on, with this many frames.
    fn from(&self, time: i64, frames: u64) -> InputOptions {
        let begin = self.options.part.start;
        // A quarter of a frame earlier, since times are rounded.
        let early = (0.25 / self.facts.rate * 1e6) as i64;
        let start = if time <= early { begin } else { Some(begin.unwrap_or(0) + time - early) };
        let part = Part { start, frames: Some(frames), ..Part::default() };
        InputOptions { part, ..self.options.clone() }
    }

    /// Up to four seconds from that frame on as a fragmented MP4 film: the original above the equalized picture,
    /// upright, with the pixel aspect ratio of the file.
    ///
    /// # Errors
    /// When they cannot be read, equalized or encoded, or something else is asked for meanwhile.
    pub fn film(&self, asked: &Asked, gone: &Gone) -> Result<Vec<u8>> {
        let _one_at_a_time = self.turn(gone)?;
        self.told(|| self.make_film(asked, gone))
    }

    fn make_film(&self, asked: &Asked, gone: &Gone) -> Result<Vec<u8>> {
        let seconds = (self.facts.duration - asked.at as f64 / 1e6).min(FILM_SECONDS);
        let frames = ((seconds * self.facts.rate).round() as u64).clamp(1, FILM_FRAMES);
        let opened = source::open(&self.from(asked.at, frames), &self.cancel, Notices::silent(), Arc::default())?;
        let look = ShownLook::new(&asked.row, &opened.1)?;
        let mut upright = AutoRotate::new(opened.1.video_stream(), false, &opened.1.limits);
        let unit = opened.1.video_stream().time_base;
        let film = Arc::new(Mutex::new(Vec::new()));
        let (mut stream, mut first) = (None, None);
        look.equalize(opened, |original, equalized| {
            ensure!(!self.cancel.is_cancelled(), "interrupted");
            ensure!(!gone.is_so(), Plain(LEFT));
            ensure!(self.waiting.load(Ordering::SeqCst) == 0, Plain("something else was asked for meanwhile"));
            let time = original.pts.map_or(0, |time| rescale(time, unit, microseconds()));
            let time = time - *first.get_or_insert(time);
            let pair = [upright.frame(original)?, upright.frame(equalized)?];
            let stream = match &mut stream {
                Some(stream) => stream,
                None => {
                    let film = film.clone();
                    let give = move |fragment| match fragment {
                        Fragment::Header { bytes, .. } | Fragment::Picture { bytes, .. } => lock(&film).extend(bytes),
                    };
                    stream.insert(BrowserStream::open(&pair[0], FILM_ROWS, give)?)
                }
            };
            stream.write_at(Duration::from_micros(time.max(0) as u64), [&pair[0], &pair[1]])
        })?;
        // Dropping the stream writes the end of the film.
        ensure!(stream.take().is_some(), NO_FRAME);
        let film = std::mem::take(&mut *lock(&film));
        Ok(film)
    }
}

#[cfg(test)]
mod tests {
    use super::{Asked, AskedPart, MAX_PART_COLUMNS, PART_COLUMNS};

    #[test]
    fn what_is_asked_for_has_values_that_exist() {
        let asked = Asked::read("at=1.5&look=night&strength=0.25&rows=90").expect("values");
        assert_eq!((asked.at, asked.row.strength.map(|(text, _)| text).as_deref()), (1_500_000, Some("0.25")));
        assert_eq!(Asked::read("").expect("defaults").at, 0);
        assert!(Asked::read("noise=keep").expect("a value").keeps_noise && !asked.keeps_noise);
        for wrong in [
            "at=-1",
            "at=x",
            "at=NaN",
            "at=inf",
            "look=none",
            "strength=2",
            "strength=",
            "strength=0.5;x",
            "noise=",
            "noise=no",
        ] {
            assert!(Asked::read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_part_that_is_asked_for_lies_in_the_picture_and_has_a_limit() {
        let part = |query| AskedPart::read(query).expect("values");
        assert_eq!(part(""), AskedPart { point: (0.5, 0.5), columns: PART_COLUMNS });
        assert_eq!(part("x=0&y=1&columns=99999"), AskedPart { point: (0.0, 1.0), columns: MAX_PART_COLUMNS });
        assert_eq!(part("columns=0").columns, 16);
        for wrong in ["x=-0.1", "x=1.1", "y=NaN", "y=", "x=a", "columns=-1", "columns=x", "columns=1e3"] {
            assert!(AskedPart::read(wrong).is_err(), "{wrong}");
        }
    }
}
