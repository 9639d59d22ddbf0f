//! A frame of a video, and the same frame under looks, for `preview` and web pages.

use crate::options::jobs::LookRow;
use crate::options::picture::{EqualizeOptions, FilterOptions};
use crate::session::{Around, prepare};
use anyhow::{Context, Result};
use histeq::Limits;
use histeq::internal::equalize::cpu::Cpu;
use histeq::internal::equalize::{Decided, EqualizeStage, FrameMapper, FrameStudy, OutputDepth};
use histeq::internal::frame::{Frame, HostPool};
use histeq::internal::spec::parameters::{Settings, Smoothing};
use histeq_media::ffmpeg::frame::{AutoRotate, Picture};
use histeq_media::ffmpeg::{microseconds, rescale};
use histeq_media::pipeline::{Cancel, Delivery, Input, Notices, PartPosition, Source};
use histeq_media::source::{self, InputOptions};
use std::collections::VecDeque;
use std::sync::Arc;

/// Frames a second of a video of unknown rate.
pub const DEFAULT_RATE: f64 = 25.0;

/// Memory for a frame and those around it, bytes.
const MEMORY: usize = 512 << 20;

/// Looks are applied to frames of at most this many times the width or height at which they are shown.
const ROOM_TO_SHRINK: usize = 3;

/// Columns and rows around a part of a frame that are denoised together with it. Parts begin at multiples of this, so
/// that tiles of the denoiser, chroma and fields are aligned as in the whole frame.
const AROUND: usize = 64;

/// A frame, and those around it, which looks need.
pub struct Moment {
    /// The input with frames of full size.
    full_size: Input,
    /// The input with frames of the size to which they were scaled.
    pub input: Input,
    /// When the part begins, in microseconds.
    start: Option<i64>,
    /// The frame before equalization.
    pub shown: Frame,
    /// The frames before it, oldest first.
    before: VecDeque<Frame>,
    behind: Vec<Frame>,
}

impl Moment {
    /// The first frame of `options`, and as many around it as the looks of `rows` need. With `room`, the size (columns
    /// and rows) at which it is shown, large frames are scaled down first, which is faster.
    ///
    /// # Errors
    /// When it cannot be read, there is none, or a look conflicts with such a video.
    pub fn read(
        options: &InputOptions,
        rows: &[LookRow],
        room: Option<(usize, usize)>,
        cancel: &Cancel,
    ) -> Result<Self> {
        let (mut source, full_size) = source::open(options, cancel, Notices::silent(), Arc::default())?;
        let mut input = full_size.clone();
        let looks = rows.iter().map(|row| ShownLook::new(row, &input)).collect::<Result<Vec<_>>>()?;
        let size = room.zip(input.picture).and_then(|(room, (_, size))| working_size(size, room));
        if let Some(size) = size {
            (source, input) = source::filter::shrunk((source, input), size, &Notices::silent())?;
        }
        let most = |count: fn(&ShownLook) -> u32| looks.iter().map(count).max().unwrap_or(0);
        let (most_before, most_behind) = (most(ShownLook::before), most(ShownLook::behind));
        source.look_around(most_before, most_behind);
        let (mut shown, mut before, mut behind) = (None, VecDeque::new(), Vec::new());
        while shown.is_none() || behind.len() < most_behind as usize {
            let Some(delivery) = source.next()? else { break };
            let Some(frame) = delivery.frame else { continue };
            match delivery.position {
                PartPosition::Before => before.push_back(frame),
                PartPosition::Within => shown = Some(frame),
                PartPosition::Behind => behind.push(frame),
            }
            if before.len() > most_before as usize {
                before.pop_front();
            }
        }
        let shown = shown.with_context(|| match cancel.is_cancelled() {
            true => format!("{}: interrupted", full_size.name),
            false => format!("{}: there is no frame at that time", full_size.name),
        })?;
        Ok(Moment { full_size, input, start: options.part.start, shown, before, behind })
    }

    /// The frame under the look of `row`, equalized on the CPU.
    ///
    /// # Errors
    /// When the look conflicts with such a video.
    pub fn under(&self, row: &LookRow) -> Result<Frame> {
        let look = ShownLook::new(row, &self.full_size)?;
        let held = Box::new(self.source(look.before(), look.behind()));
        let mut equalized = None;
        look.equalize((held, self.input.clone()), |_, frame| {
            equalized = Some(frame);
            Ok(())
        })?;
        equalized.context("the CPU lost a frame")
    }

    /// The result of the look of `row` for the frame, before noise removal, on the CPU.
    ///
    /// # Errors
    /// When the look conflicts with such a video.
    pub fn judged(&self, row: &LookRow) -> Result<Judged> {
        let look = ShownLook::new(row, &self.full_size)?;
        let held = Box::new(self.source(look.before(), look.behind()));
        let mut source = look.source((held, self.input.clone()))?;
        let (settings, output) = (look.settings, OutputDepth::AsInput);
        let mut study =
            FrameStudy::new(settings, false, output, false, self.input.limits.threads(), &self.input.limits);
        let (mut frames, mut index) = (Vec::new(), 0);
        while let Some(delivery) = source.next()? {
            let Some(frame) = delivery.frame else { continue };
            index += usize::from(delivery.position == PartPosition::Before);
            study.push(frame.clone())?;
            frames.push(frame);
        }
        study.finish()?;
        let decided =
            std::iter::from_fn(|| study.decided().transpose()).nth(index).context("the CPU lost a frame")??;
        let (before, behind) = decided.around();
        let frames: Vec<Frame> = frames.drain(index - before..=index + behind).collect();
        let mut mapper = FrameMapper::new(settings, false, output, &self.input.limits);
        let noisy = mapper.apply(&decided.keeping_noise(), &frames[before..=before])?;
        Ok(Judged { settings, decided, frames, noisy, limits: self.input.limits.clone() })
    }

    /// A source of the frame, with up to `before` frames before it and `behind` frames after it.
    fn source(&self, before: u32, behind: u32) -> Held {
        let (before, behind) = (before as usize, behind as usize);
        let beside = Delivery::beside;
        let earlier = self.before.iter().skip(self.before.len().saturating_sub(before));
        let earlier = earlier.map(|frame| beside(PartPosition::Before, frame.clone()));
        let shown = beside(PartPosition::Within, self.shown.clone());
        let later = self.behind.iter().take(behind).map(|frame| beside(PartPosition::Behind, frame.clone()));
        Held(earlier.chain([shown]).chain(later).collect())
    }

    /// The time of the frame, as `--start` accepts it: `1:23.45`.
    pub fn time(&self) -> String {
        let unit = self.full_size.video_stream().time_base;
        let time = rescale(self.shown.pts.unwrap_or(0), unit, microseconds());
        let time = match self.full_size.media.is_raw() {
            // Times of raw video count from the beginning of the part, rounded to a frame.
            true => time + rescale(rescale(self.start.unwrap_or(0), microseconds(), unit), unit, microseconds()),
            false => time - self.full_size.shift - self.full_size.media.start.unwrap_or(0),
        };
        let hundredths = time.max(0) / 10_000;
        let (minutes, seconds) = (hundredths / 6000, hundredths % 6000);
        let seconds = format!("{:02}.{:02}", seconds / 100, seconds % 100);
        match minutes / 60 {
            0 => format!("{minutes}:{seconds}"),
            hours => format!("{hours}:{:02}:{seconds}", minutes % 60),
        }
    }
}

/// A look applied to the frame of a [`Moment`], except for noise removal, which takes longest.
pub struct Judged {
    settings: Settings,
    decided: Decided,
    /// The frame and those around it that denoising uses, as the look gets them; the oldest first.
    frames: Vec<Frame>,
    /// The frame under the look, with its noise.
    pub noisy: Frame,
    limits: Limits,
}

impl Judged {
    /// Whether noise is removed.
    pub fn removes_noise(&self) -> bool {
        self.decided.removes_noise()
    }

    /// The frame under the look, as a run gives it.
    ///
    /// # Errors
    /// When its noise cannot be removed.
    pub fn clean(&self) -> Result<Frame> {
        if !self.removes_noise() {
            return Ok(self.noisy.clone());
        }
        Ok(self.mapper().apply(&self.decided, &self.frames)?)
    }

    /// A part of the frame under the look, first with its noise, then without: around `point`, in fractions of width
    /// and height of the upright frame, and of at most `size` (columns and rows).
    ///
    /// # Errors
    /// When it cannot be rotated, cropped or denoised.
    pub fn part(&self, mut upright: AutoRotate, point: (f64, f64), size: (usize, usize)) -> Result<[Frame; 2]> {
        let turned = self.frames.iter().map(|frame| upright.frame(frame.clone())).collect::<Result<Vec<_>>>()?;
        let [(left, width), (first, columns)] = span(point.0, size.0, turned[0].width());
        let [(top, height), (above, rows)] = span(point.1, size.1, turned[0].height());
        let wide = |frame: &Frame| cut(frame, (first, above), (columns, rows));
        let frames = turned.iter().map(wide).collect::<Result<Vec<_>>>()?;
        let index = self.decided.around().0;
        // Uses a copy of `decided`: the noise that is measured in a part is not that of the frame.
        let (mut mapper, decided) = (self.mapper(), self.decided.clone());
        let noisy = mapper.apply(&decided.keeping_noise(), &frames[index..=index])?;
        let clean = mapper.apply(&decided, &frames)?;
        Ok([cut(&noisy, (left, top), (width, height))?, cut(&clean, (left, top), (width, height))?])
    }

    fn mapper(&self) -> FrameMapper {
        FrameMapper::new(self.settings, false, OutputDepth::AsInput, &self.limits)
    }
}

/// The position of a part around `point`, a fraction of `whole` samples: first the begin and length of the part within
/// the extended part, then those of the extended part, which has up to [`AROUND`] more samples on either side.
fn span(point: f64, length: usize, whole: usize) -> [(usize, usize); 2] {
    let length = length.min(whole);
    let middle = (point * whole as f64) as usize;
    let begin = middle.saturating_sub(length / 2).min(whole - length) / AROUND * AROUND;
    let outer = begin.saturating_sub(AROUND);
    [(begin - outer, length), (outer, (begin + length + AROUND).min(whole) - outer)]
}

/// The part of a frame with this size and its upper left corner at `corner`. The part shares the frame's memory.
fn cut(frame: &Frame, corner: (usize, usize), size: (usize, usize)) -> Result<Frame> {
    let mut picture = Picture::from_frame(frame)?;
    picture.crop(corner, size)?;
    picture.to_frame()?.context("a part of a frame is not native")
}

/// The number of frames of `input`, which are counted in `source` if that is not known.
///
/// # Errors
/// When they cannot be read.
pub fn count_frames(input: &Input, mut source: Box<dyn Source>) -> Result<u64> {
    if let Some(count) = input.frames {
        return Ok(count);
    }
    let mut count = 0;
    while let Some(delivery) = source.next()? {
        count += u64::from(delivery.frame.is_some() && delivery.position == PartPosition::Within);
    }
    Ok(count)
}

/// The length of `input` in seconds, 0 for an image. Counts the frames of `source` if the length is not known.
///
/// # Errors
/// When they cannot be read.
pub fn seconds(input: &Input, source: Box<dyn Source>) -> Result<f64> {
    Ok(match (input.is_image(), input.duration) {
        (true, _) => 0.0,
        (false, Some(duration)) => duration as f64 / 1e6,
        (false, None) => count_frames(input, source)? as f64 / input.rate().unwrap_or(DEFAULT_RATE),
    })
}

/// Passes the oldest frame of `stage` on to `give`; false if there is none.
fn collect(
    stage: &mut EqualizeStage,
    originals: &mut VecDeque<Frame>,
    give: &mut impl FnMut(Frame, Frame) -> Result<()>,
) -> Result<bool> {
    let Some(equalized) = stage.collect()? else { return Ok(false) };
    // Frames after the part have no original in the queue.
    if let Some(original) = originals.pop_front() {
        give(original, equalized.frame)?;
    }
    Ok(true)
}

/// The size to which large frames are scaled down before looks are applied; `None` if that saves little.
fn working_size((width, height): (usize, usize), room: (usize, usize)) -> Option<(usize, usize)> {
    let share = (ROOM_TO_SHRINK * room.0.max(room.1)) as f64 / width.max(height) as f64;
    let even = |length: usize| ((length as f64 * share / 2.0).round() as usize * 2).max(2);
    (share * share < 0.5).then(|| (even(width), even(height)))
}

/// A source of frames in memory.
struct Held(VecDeque<Delivery>);

impl Source for Held {
    fn next(&mut self) -> Result<Option<Delivery>> {
        Ok(self.0.pop_front())
    }
}

/// A look, with the settings by which it is shown.
pub struct ShownLook {
    options: EqualizeOptions,
    /// The settings of the look, with a shorter temporal window if the whole one would take long, or much memory.
    pub settings: Settings,
}

impl ShownLook {
    /// Shows the look of `row` for `input`.
    ///
    /// # Errors
    /// When the look conflicts with such a video.
    pub fn new(row: &LookRow, input: &Input) -> Result<Self> {
        let mut options = EqualizeOptions::for_look(row.look);
        options.options.strength = row.strength.as_ref().map(|(_, strength)| *strength);
        let mut settings = options.resolve(input, &Notices::silent())?;
        let held = (MEMORY / options.video(input).frame_bytes().unwrap_or(MEMORY).max(1)).max(1) as u32;
        let window = settings.smoothing;
        if window.memory() + window.ahead() > held {
            let frames = held.div_ceil(2);
            settings.smoothing = Smoothing::new(frames, frames / 4).looking_ahead(frames / 2);
        }
        Ok(ShownLook { options, settings })
    }

    /// Equalizes the frames of an opened input on the CPU, and gives the original and the equalized one of each to
    /// `give`.
    ///
    /// # Errors
    /// When they cannot be read or equalized, or `give` fails.
    pub fn equalize(
        &self,
        opened: (Box<dyn Source>, Input),
        mut give: impl FnMut(Frame, Frame) -> Result<()>,
    ) -> Result<()> {
        let limits = opened.1.limits.clone();
        let mut source = self.source(opened)?;
        let threads = limits.threads();
        let cpu = Box::new(Cpu::in_pool(threads, HostPool::new(&limits)));
        let mut stage = EqualizeStage::new(cpu, self.settings).within(&limits).denoising_on(threads);
        let mut originals = VecDeque::new();
        loop {
            while !stage.has_room() {
                collect(&mut stage, &mut originals, &mut give)?;
            }
            let Some(delivery) = source.next()? else { break };
            match (delivery.frame, delivery.position) {
                (Some(frame), PartPosition::Before) => stage.warm_up(frame)?,
                (Some(frame), PartPosition::Within) => {
                    originals.push_back(frame.clone());
                    stage.submit(frame)?;
                }
                (Some(frame), PartPosition::Behind) => stage.submit_behind(frame)?,
                (None, _) => {}
            }
        }
        stage.finish()?;
        while collect(&mut stage, &mut originals, &mut give)? {}
        Ok(())
    }

    /// The frames of an opened input as the look receives them.
    fn source(&self, opened: (Box<dyn Source>, Input)) -> Result<Box<dyn Source>> {
        let (filters, silent) = (FilterOptions::default(), Notices::silent());
        let mut source = prepare(opened, &self.options, &filters, None, Around::BySource, [&silent; 2])?.source;
        source.look_around(self.before(), self.behind());
        Ok(source)
    }

    /// The number of frames before the shown one: a whole window, since at the end of a video, no frames follow.
    fn before(&self) -> u32 {
        self.settings.smoothing.frames() - 1
    }

    /// The number of frames after the shown one.
    fn behind(&self) -> u32 {
        self.settings.look_ahead()
    }
}

#[cfg(test)]
mod tests {
    use super::{AROUND, span};

    #[test]
    fn a_part_lies_in_the_whole_around_its_point_and_keeps_the_places_of_tiles() {
        for (point, length, whole, is) in [
            (0.5, 512, 3840, [(64, 512), (1600, 640)]),
            (0.0, 512, 3840, [(0, 512), (0, 576)]),
            (1.0, 512, 3840, [(64, 512), (3264, 576)]),
            (0.5, 512, 300, [(0, 300), (0, 300)]),
            (0.9, 288, 1080, [(64, 288), (704, 376)]),
        ] {
            let found = span(point, length, whole);
            assert_eq!(found, is, "{point} {length} {whole}");
            let [(inner, length), (outer, all)] = found;
            assert!((outer + inner).is_multiple_of(AROUND) && inner + length <= all && outer + all <= whole);
        }
    }
}
