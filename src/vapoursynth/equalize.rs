//! The two nodes: one reads segments of the clip in order and decides; the other one returns frames, in any order.

use crate::decisions::Decisions;
use crate::host::{Arguments, Clip, Filter, Format, Host, HostFrame, NewFrame, Node, Order, Reason, Request, Results};
use crate::{picture, value};
use histeq::Frame;
use histeq::{Builder, Equalizer, Input, Mapper, Note, PixelFormat, Reach, Study};
use histeq::{OPTIONS, in_python};
use std::sync::{Arc, Mutex, PoisonError};

/// The limits of frames that a segment requests at once: bytes (but at least one frame), and frames.
const MAX_AHEAD: usize = 128 << 20;
const MAX_FRAMES_AHEAD: usize = 16;

/// The function `Equalize(clip, ...)` of the plug-in.
pub fn create(host: Host, arguments: &Arguments<'_>, results: &Results<'_>) -> Result<(), String> {
    let source = arguments.node(host, "clip").ok_or("Equalize: there is no clip")?;
    let clip = source.clip();
    let of_equalize = |error: &dyn std::fmt::Display| in_python(&format!("Equalize: {error}"));
    let (builder, format, size) = builder(&clip, arguments).map_err(|error| of_equalize(&error))?;
    // Only the study logs notes, because the mappers would repeat them.
    let log = move |note: &Note| host.log(note);
    let study = builder.clone().on_note(log).study().map_err(|error| of_equalize(&error))?;
    let output = builder.output_format().map_err(|error| of_equalize(&error))?;
    let frames = clip.frames as usize;
    let whole = study.reach().is_none().then_some(frames);
    let decisions = Arc::new(Decisions::new(study.bytes_of_decided(), whole));
    let kind = ClipKind { format, size };

    let segments = frames.div_ceil(decisions.length);
    let token = Format { family: picture::GRAY, is_float: false, depth: 8, log2_width: 0, log2_height: 0 };
    let token = Clip { format: token, size: (1, 1), frames: segments as i32, ..clip };
    let frame_bytes: usize = (0..picture::planes(format).len())
        .map(|plane| format.row_bytes(plane, size.0) * format.rows(plane, size.1))
        .sum();
    let reader = Reader {
        source: source.again(),
        kind,
        frames,
        decisions: decisions.clone(),
        at_once: (MAX_AHEAD / frame_bytes.max(1)).clamp(1, MAX_FRAMES_AHEAD),
        reading: Mutex::new(Reading { study, next: None, last: 0, decided: 0 }),
    };
    let study = host.node("EqualizeStudy", &token, reader, Order::OneByOne, &[&source])?;

    let output = picture::host_format(output, &clip.format);
    // Each thread gets a separate mapper. Making the first one here reports options that exclude each other.
    let mappers = Mutex::new(vec![builder.mapper().map_err(|error| of_equalize(&error))?]);
    let equalize = Equalize {
        source: source.again(),
        study: study.again(),
        kind,
        output,
        decisions,
        builder: Mutex::new(builder),
        mappers,
    };
    let node =
        host.node("Equalize", &Clip { format: output, ..clip }, equalize, Order::Parallel, &[&source, &study])?;
    results.give(node);
    Ok(())
}

/// A builder for the clip and the arguments, with the format and size of frames.
fn builder(clip: &Clip, arguments: &Arguments<'_>) -> Result<(Builder, PixelFormat, (usize, usize)), String> {
    let size = (clip.size.0 as usize, clip.size.1 as usize);
    if clip.format.family == 0 || size.0 == 0 || size.1 == 0 {
        return Err("the frames of the clip have to be of one format and size".to_owned());
    }
    let format = picture::format(&clip.format).ok_or_else(|| {
        format!("{} is not supported: make it YUV444P16, RGB48 or GRAY16 with resize", picture::name(&clip.format))
    })?;
    let mut builder = Equalizer::builder(format, size.0, size.1);
    if clip.rate.0 > 0 && clip.rate.1 > 0 {
        builder = builder.rate(clip.rate.0 as f64 / clip.rate.1 as f64);
    }
    for option in OPTIONS {
        if let Some(value) = value(option, arguments) {
            builder = builder.set(option.name, &value).map_err(|error| error.to_string())?;
        }
    }
    Ok((builder, format, size))
}

/// The format and size of all frames of the clip.
#[derive(Clone, Copy)]
struct ClipKind {
    format: PixelFormat,
    size: (usize, usize),
}

impl ClipKind {
    fn frame(self, host: &Arc<HostFrame>) -> Result<Frame, String> {
        picture::frame(host, self.format, self.size)
    }
}

/// Reads a segment for each request.
struct Reader {
    source: Node,
    kind: ClipKind,
    frames: usize,
    decisions: Arc<Decisions>,
    /// How many frames are requested at once.
    at_once: usize,
    reading: Mutex<Reading>,
}

struct Reading {
    study: Study,
    /// The frame that is read next, if the study has read the frames before; `None` if it has to restart, as after a
    /// failure.
    next: Option<usize>,
    /// The number after the last frame to read for the segment.
    last: usize,
    /// The number after the last frame that is decided.
    decided: usize,
}

impl Filter for Reader {
    fn frame(&self, segment: usize, reason: Reason, request: &mut Request<'_>) -> Result<Option<NewFrame>, String> {
        // VapourSynth calls this node for one frame at a time, so the lock is always free.
        let mut reading = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        let read = match reason {
            Reason::Initial if self.decisions.has(segment) => Ok(true),
            Reason::Initial => self.begin(segment, &mut reading, request),
            Reason::AllFramesReady => self.go_on(segment, &mut reading, request),
            Reason::Error => {
                reading.next = None;
                return Ok(None);
            }
        };
        match read {
            Ok(false) => Ok(None),
            Ok(true) => {
                let format = Format { family: picture::GRAY, is_float: false, depth: 8, log2_width: 0, log2_height: 0 };
                let mut token = request.host.new_frame(format, (1, 1), None, &[])?;
                token.write(0, [&[0][..]].into_iter())?;
                Ok(Some(token))
            }
            Err(error) => {
                reading.next = None;
                Err(error)
            }
        }
    }
}

impl Reader {
    /// Begins to read a segment, or continues after the previous one. Returns whether all its frames are read.
    fn begin(&self, segment: usize, reading: &mut Reading, request: &Request<'_>) -> Result<bool, String> {
        let first = segment * self.decisions.length;
        let end = (first + self.decisions.length).min(self.frames);
        let Reach { before, behind } = reading.study.reach().unwrap_or_default();
        let follows = reading.next.is_some() && reading.decided == first && first > 0;
        if !follows {
            let begin = first.saturating_sub(before as usize);
            reading.study.restart(begin as u64);
            reading.next = Some(begin);
        }
        reading.last = (end + behind as usize).min(self.frames);
        self.ask_or_end(segment, reading, request)
    }

    fn go_on(&self, segment: usize, reading: &mut Reading, request: &Request<'_>) -> Result<bool, String> {
        let Some(next) = reading.next else { return Err("the clip is read twice at once".to_owned()) };
        let until = (next + self.at_once).min(reading.last);
        for number in next..until {
            let frame = self.kind.frame(&request.take(&self.source, number)?)?;
            request.release(&self.source, number);
            reading.study.push(Input::frame(&frame)).map_err(|error| error.to_string())?;
            reading.next = Some(number + 1);
        }
        if until == self.frames {
            reading.study.finish().map_err(|error| error.to_string())?;
        }
        self.ask_or_end(segment, reading, request)
    }

    /// Requests the next frames, or if all are read, ends the segment.
    fn ask_or_end(&self, segment: usize, reading: &mut Reading, request: &Request<'_>) -> Result<bool, String> {
        let next = reading.next.unwrap_or(reading.last);
        let until = (next + self.at_once).min(reading.last);
        (next..until).for_each(|number| request.ask(&self.source, number));
        if next < until {
            return Ok(false);
        }
        let first = segment * self.decisions.length;
        let end = (first + self.decisions.length).min(self.frames);
        let mut decided = Vec::with_capacity(end - first);
        while decided.len() < end - first {
            let of_next = reading.study.decided().map_err(|error| error.to_string())?;
            let (number, of_frame) = of_next.ok_or("a frame was not decided")?;
            if number >= first as u64 {
                decided.push(of_frame);
            }
        }
        reading.decided = end;
        self.decisions.keep(segment, decided);
        Ok(true)
    }
}

/// Equalizes frames, in any order.
struct Equalize {
    source: Node,
    study: Node,
    kind: ClipKind,
    output: Format,
    decisions: Arc<Decisions>,
    builder: Mutex<Builder>,
    /// The mappers that no thread is using.
    mappers: Mutex<Vec<Mapper>>,
}

/// The step of a request that has also requested the frames around its frame.
const HAS_ALL: usize = 1;

impl Filter for Equalize {
    fn frame(&self, number: usize, reason: Reason, request: &mut Request<'_>) -> Result<Option<NewFrame>, String> {
        if reason == Reason::Error {
            return Ok(None);
        }
        let decided = self.decisions.frame(number);
        let Some(decided) = decided.filter(|_| reason == Reason::AllFramesReady) else {
            // The segment is requested again, because `Decisions` may have dropped it to save memory.
            request.ask(&self.study, number / self.decisions.length);
            request.ask(&self.source, number);
            return Ok(None);
        };
        let (before, behind) = decided.around();
        let around = number - before..=number + behind;
        if before + behind > 0 && *request.step != HAS_ALL {
            *request.step = HAS_ALL;
            around.for_each(|number| request.ask(&self.source, number));
            return Ok(None);
        }
        let host = request.take(&self.source, number)?;
        let take = |other: usize| if other == number { Ok(host.clone()) } else { request.take(&self.source, other) };
        let frames: Vec<Frame> = around.map(|number| self.kind.frame(&take(number)?)).collect::<Result<_, String>>()?;
        let inputs: Vec<Input<'_>> = frames.iter().map(Input::frame).collect();
        let mut mapper = self.mapper()?;
        let done = mapper.apply(&decided, &inputs).map_err(|error| error.to_string())?;
        self.mappers.lock().unwrap_or_else(PoisonError::into_inner).push(mapper);
        self.made(&done, &frames[before], &host, request).map(Some)
    }
}

impl Equalize {
    fn mapper(&self) -> Result<Mapper, String> {
        let idle = self.mappers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let builder = || self.builder.lock().unwrap_or_else(PoisonError::into_inner).mapper();
        idle.map_or_else(builder, Ok).map_err(|error| error.to_string())
    }

    /// The equalized frame for the host. It shares with `before` the planes that are unchanged.
    fn made(&self, done: &Frame, before: &Frame, input: &HostFrame, request: &Request<'_>) -> Result<NewFrame, String> {
        let order = picture::planes(done.format());
        let mut shared = [false; 3];
        if done.format() == before.format() {
            for ((plane, was), host) in done.planes().iter().zip(before.planes()).zip(order) {
                shared[*host] = Arc::ptr_eq(plane.memory(), was.memory());
            }
        }
        let mut made = request.host.new_frame(self.output, self.kind.size, Some(input), &shared)?;
        for (plane, host) in done.planes().iter().zip(order).filter(|(_, host)| !shared[**host]) {
            made.write(*host, (0..plane.rows()).map(|y| plane.row(y)))?;
        }
        picture::properties(done, self.kind.format).for_each(|(name, value)| made.set(name, value));
        Ok(made)
    }
}
