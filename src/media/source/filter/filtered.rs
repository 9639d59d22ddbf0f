//! A source whose frames pass filters of libavfilter.

use crate::ffmpeg::decode::Decoded;
use crate::ffmpeg::encode::nearest_format;
use crate::ffmpeg::filter::{Conversion, FilterGraph, GraphVideo};
use crate::ffmpeg::frame::{Picture, RawFormat};
use crate::ffmpeg::{Error, FieldOrder, Packet, Rational, first_message, last_message, rescale};
use crate::pipeline::{Delivery, Input, Notices, PartPosition, Source};
use crate::source::log::{Cubes, Developed, LogChoice, NamedBy, NamedLog, chain, forget, named_in};
use crate::sys::files::Name;
use anyhow::{Context, Result, anyhow, bail, ensure};
use histeq::Limits;
use histeq::internal::frame::{Frame, PixelFormat};
use std::collections::VecDeque;
use std::fmt;
use std::time::Instant;

/// Packets wait for the next frame out of the filters, or until they are this many bytes.
const MAX_BYTES: usize = 4 << 20;

/// The most frames inside the filters whose origin is remembered. With more, times of capture are approximate.
const MAX_SENT: usize = 1024;

/// The size that filters are tried with while the size of the input is unknown.
pub(crate) const TYPICAL_SIZE: (usize, usize) = (1920, 1080);

/// `source` with its frames filtered by a chain in the syntax of `ffmpeg -vf`, and the description of the output.
/// `option` is the command-line option that contains the chain.
///
/// # Errors
/// When the filters do not exist, or do not fit the input; with `--strict`, also when they lose bits or colour.
pub fn filtered(
    (source, input): (Box<dyn Source>, Input),
    option: &'static str,
    chain: &str,
    notices: &Notices,
) -> Result<(Box<dyn Source>, Input)> {
    filtered_in((source, input), option, chain.into(), Scope::Part, notices)
}

/// As [`filtered`], where `scope` says which frames share one filter graph.
pub(crate) fn filtered_in(
    (source, input): (Box<dyn Source>, Input),
    option: &'static str,
    chain: Name,
    scope: Scope,
    notices: &Notices,
) -> Result<(Box<dyn Source>, Input)> {
    FilteredSource::open(source, input, option, chain.into(), scope, notices)
}

/// `source` with its frames scaled down to this size, in pixels.
///
/// # Errors
/// When FFmpeg cannot scale them.
pub fn shrunk(
    (source, input): (Box<dyn Source>, Input),
    (width, height): (usize, usize),
    notices: &Notices,
) -> Result<(Box<dyn Source>, Input)> {
    // Small views need no separate fields: scale interlaced frames as progressive.
    let chain = Name::from(format!("setfield=prog,scale={width}:{height}:flags=area"));
    FilteredSource::open(source, input, "scaling", chain.into(), Scope::Whole, notices)
}

/// `source` with frames of SDR, where those of `input` are HDR.
///
/// # Errors
/// When this FFmpeg lacks the filters for it.
pub(crate) fn in_sdr(
    (source, mut input): (Box<dyn Source>, Input),
    notices: &Notices,
) -> Result<(Box<dyn Source>, Input)> {
    let stream = &mut input.media.streams[input.video];
    let colour = stream.colour();
    if !colour.transfer().is_hdr() {
        return Ok((source, input));
    }
    let missing = ["zscale", "tonemap", "sidedata"].into_iter().find(|name| !FilterGraph::knows(name));
    if let Some(name) = missing {
        bail!(
            "{}: HDR video becomes SDR for the web by the filter {name}, which this FFmpeg lacks (take one that is \
             built with libzimg, or keep HDR with --for quality)",
            input.name
        );
    }
    notices.note("HDR video becomes SDR, which all browsers show (--for quality keeps HDR)");
    stream.side_data.forget_hdr();
    let scope = Scope::Whole;
    let chain = Name::from(to_sdr(colour.has_primaries())).into();
    FilteredSource::open(source, input, "--for web", chain, scope, notices)
}

/// The filters from HDR to SDR: zscale makes linear light, in multiples of the white of an SDR picture in HDR (203
/// cd/m2, ITU-R BT.2408). Up to 0.6 it is unchanged; the range above, up to 1,000 cd/m2, is compressed into the rest.
/// Unspecified primaries are taken for those of HDR.
fn to_sdr(has_primaries: bool) -> String {
    let primaries = if has_primaries { "" } else { "setparams=color_primaries=bt2020," };
    let forgotten = ["MASTERING_DISPLAY_METADATA", "CONTENT_LIGHT_LEVEL", "DYNAMIC_HDR_PLUS"];
    let forgotten = forgotten.map(|kind| format!("sidedata=mode=delete:type={kind},")).concat();
    format!(
        "{primaries}{forgotten}zscale=t=linear:npl=203,format=gbrpf32le,zscale=p=bt709,\
         tonemap=mobius:param=0.6:peak=4.926,zscale=t=bt709:m=bt709:r=tv,format=yuv420p10le"
    )
}

/// `source` with log footage converted to BT.709, the log curve, and who named the curve.
///
/// # Errors
/// When the curve was asked for and this FFmpeg lacks the filter for it, or the pictures have alpha, which it would
/// lose.
pub fn developed(
    (source, mut input): (Box<dyn Source>, Input),
    choice: LogChoice,
    notices: &Notices,
) -> Result<(Box<dyn Source>, Input, Option<Developed>)> {
    let named = match choice {
        LogChoice::Off => None,
        LogChoice::Auto => named_in(&input.media, input.video),
        LogChoice::Curve(curve) => Some(NamedLog { curve, by: NamedBy::Option }),
    };
    let Some(named) = named else { return Ok((source, input, None)) };
    let format = delivered_format(input.picture.map_or(PixelFormat::Yuv420p.into(), |(format, _)| format));
    let hindrance = match () {
        () if format.has_alpha() => Some("the pictures have alpha, which the conversion would lose"),
        () if !FilterGraph::knows("haldclut") => Some("this FFmpeg lacks the filter haldclut"),
        () => None,
    };
    if let Some(hindrance) = hindrance {
        // An error if the user asked for the curve.
        ensure!(choice == LogChoice::Auto, "{}: {named}: {hindrance}", input.name);
        notices.warn(&format!("{named}: not brought to BT.709, because {hindrance}"))?;
        return Ok((source, input, None));
    }
    notices.note(&format!("{named}: brought to BT.709 first (--log off leaves it as it is)"));
    let colour = input.media.streams[input.video].colour();
    let is_full = colour.is_full_range(format);
    forget(&mut input.media, input.video);
    let chain = Chain { text: chain(format).into(), cubes: Some(Cubes::new(named.curve)) };
    let scope = Scope::Whole;
    let (source, input) = FilteredSource::open(source, input, "--log", chain, scope, notices)?;
    Ok((source, input, Some(Developed { named, is_full })))
}

/// The frames that pass through one graph.
#[derive(Clone, Copy)]
pub(crate) enum Scope {
    /// Frames of the requested part. The frames before and after it, which only the equalizer needs, pass through other
    /// graphs.
    Part,
    /// All frames. The filters keep the time of each, and its result depends on no other frame.
    Whole,
}

/// Filters, and the 3D LUTs (cubes) that they use.
struct Chain {
    /// A `Name`, because names of files in the chain need not be UTF-8.
    text: Name,
    cubes: Option<Cubes>,
}

impl From<Name> for Chain {
    fn from(text: Name) -> Self {
        Chain { text, cubes: None }
    }
}

impl fmt::Display for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text.fmt(f)
    }
}

struct FilteredSource {
    source: Box<dyn Source>,
    /// The option of the filters, in messages.
    option: &'static str,
    chain: Chain,
    scope: Scope,
    /// Time base and frame rate of `source`.
    before: (Rational, Option<Rational>),
    /// Time base and frame rate of the filters' output.
    after: (Rational, Option<Rational>),
    notices: Notices,
    limits: Limits,
    /// Whether the user was warned that filters mix fields.
    told_fields: bool,
    /// The filters, built for frames of one format.
    graph: Option<FilterGraph>,
    /// Position of the frames in the graph, with [`Scope::Part`].
    position: PartPosition,
    /// Whether the graph is being drained of its last frames.
    closing: bool,
    /// A frame for the next graph.
    waiting: Option<(Picture, Sent)>,
    is_over: bool,
    /// The frames inside the graph, and the last one that it has output.
    sent: VecDeque<Sent>,
    /// Packets that wait for the next frame.
    packets: Vec<Packet>,
    /// How many more frames are requested after the part.
    behind: u32,
    taken: u64,
    delivered: u64,
}

/// The properties of a frame that filters do not keep.
#[derive(Clone, Copy)]
struct Sent {
    time: Option<i64>,
    position: PartPosition,
    read_at: Option<Instant>,
}

impl FilteredSource {
    fn open(
        source: Box<dyn Source>,
        mut input: Input,
        option: &'static str,
        chain: Chain,
        scope: Scope,
        notices: &Notices,
    ) -> Result<(Box<dyn Source>, Input)> {
        let text = chain.to_string();
        ensure!(!text.trim().is_empty(), "{option}: the chain is empty (leave {option} out, or name a filter)");
        let stream = &mut input.media.streams[input.video];
        let origin = (stream.time_base, stream.frame_rate);
        let (format, size) = input.picture.unwrap_or((PixelFormat::Yuv420p.into(), TYPICAL_SIZE));
        let format = delivered_format(format);
        let sample_aspect_ratio = stream.sample_aspect_ratio;
        let video = GraphVideo { format, size, sample_aspect_ratio, time_base: origin.0, frame_rate: origin.1 };
        last_message();
        let explained = |error: Error| {
            let reason = first_message().unwrap_or_else(|| error.to_string());
            let reason = reason.trim_start_matches("AVFilterGraph: ");
            // From version 6 on, FFmpeg reports an unknown filter as a missing option.
            let unknown = unknown_filter(&text).filter(|_| reason.starts_with("No option name"));
            let reason = unknown.map_or_else(|| reason.to_owned(), |name| format!("No such filter: '{name}'"));
            anyhow!(
                "{option} {chain}: {reason} (it takes what ffmpeg -vf takes: video filters, with one input and one \
                 output; `ffmpeg -filters` lists them)"
            )
        };
        let is_full = stream.colour().is_full_range(format);
        let mut graph = open_graph(&chain, video, None, is_full, &input.limits).map_err(explained)?;
        let out = graph.output()?;
        let mut conversions = graph.conversions().into_iter();
        let narrows = |step: &Conversion| !step.is_last && !step.is_requested && format.loses_in(step.target);
        if let Some(Conversion { target: destination, .. }) = conversions.find(narrows) {
            notices.warn(&format!(
                "{option} {chain}: the filters do not take {format}: it is narrowed to {destination} for them"
            ))?;
        }
        let destination = (out.time_base, out.frame_rate.or(origin.1));
        let times = match (origin.1, destination.1) {
            (Some(origin), Some(destination)) => f64::from(destination) / f64::from(origin),
            _ => 1.0,
        };
        input.frames = input.frames.map(|frames| (frames as f64 * times).round() as u64);
        (stream.time_base, stream.frame_rate) = destination;
        if times != 1.0 {
            stream.base_rate = destination.1;
        }
        if graph.may_change_order() {
            stream.field_order = FieldOrder::Unknown;
        }
        stream.sample_aspect_ratio = out.sample_aspect_ratio.or(sample_aspect_ratio);
        input.picture = input.picture.map(|_| (out.format, out.size));
        let source = FilteredSource {
            source,
            option,
            chain,
            scope,
            before: origin,
            after: destination,
            notices: notices.clone(),
            limits: input.limits.clone(),
            told_fields: false,
            graph: None,
            position: PartPosition::Within,
            closing: false,
            waiting: None,
            is_over: false,
            sent: VecDeque::new(),
            packets: Vec::new(),
            behind: 0,
            taken: 0,
            delivered: 0,
        };
        Ok((Box::new(source), input))
    }

    /// The next frame that the graph has ready.
    fn receive(&mut self) -> Result<Option<Delivery>> {
        while let Some(graph) = &mut self.graph {
            match graph.receive().map_err(|error| self.failed(error))? {
                Decoded::Picture(picture) => {
                    if let Some(delivery) = self.delivery(picture)? {
                        return Ok(Some(delivery));
                    }
                }
                Decoded::NeedsInput | Decoded::End if self.closing => (self.graph, self.closing) = (None, false),
                Decoded::NeedsInput | Decoded::End => break,
            }
        }
        Ok(None)
    }

    /// The delivery of a picture from the graph; `None` when it is beyond the requested frames.
    fn delivery(&mut self, mut picture: Picture) -> Result<Option<Delivery>> {
        let Some(graph) = &mut self.graph else { return Ok(None) };
        let out = graph.output()?;
        let in_units_of = |time_base| picture.time().map(|time| rescale(time, out.time_base, time_base));
        let (time, time_before) = (in_units_of(self.after.0), in_units_of(self.before.0));
        if (out.time_base, out.frame_rate.or(self.before.1)) != self.before {
            let rate = out.frame_rate.map(|rate| rescale(1, rate.invert(), self.after.0));
            picture.set_duration(rate.unwrap_or(0));
        }
        picture.set_time(time);
        while self.sent.get(1).is_some_and(|next| next.time <= time_before) {
            self.sent.pop_front();
        }
        let sent = self.sent.front();
        let position = match self.scope {
            Scope::Part => self.position,
            Scope::Whole => sent.map_or(self.position, |sent| sent.position),
        };
        let read_at = sent.and_then(|sent| sent.read_at);
        if position == PartPosition::Behind {
            let Some(left) = self.behind.checked_sub(1) else { return Ok(None) };
            self.behind = left;
        }
        let frame = picture.to_frame()?.with_context(|| format!("{}: the pixel format is not native", self.option))?;
        let is_within = position == PartPosition::Within;
        self.delivered += u64::from(is_within);
        let packets = if is_within { std::mem::take(&mut self.packets) } else { Vec::new() };
        Ok(Some(Delivery { packets, frame: Some(frame), position, read_at }))
    }

    fn take(&mut self, frame: &Frame, sent: Sent) -> Result<()> {
        let mut picture = Picture::from_frame(frame)?;
        // As FFmpeg's decoders do, mark full range by the format (`yuvj`): many filters recognize it only by that.
        if let Some(full) = picture.format().full_range_yuv().filter(|_| picture.is_full_range()) {
            picture.rename(full);
        }
        self.taken += 1;
        let is_whole = matches!(self.scope, Scope::Whole);
        let same_part = is_whole || sent.position == self.position;
        match self.graph.take_if(|graph| same_part && graph.takes(&picture)) {
            Some(graph) => self.send(graph, picture, sent)?,
            None => {
                self.waiting = Some((picture, sent));
                self.close()?;
            }
        }
        Ok(())
    }

    /// Sends a frame into `graph`, which becomes or stays the current graph.
    fn send(&mut self, mut graph: FilterGraph, picture: Picture, sent: Sent) -> Result<()> {
        if self.sent.len() == MAX_SENT {
            self.sent.pop_front();
        }
        self.sent.push_back(sent);
        let is_new = picture.interlaced().is_some() && !self.told_fields;
        if let Some(loss) = graph.loss_of_fields().filter(|_| is_new) {
            self.told_fields = true;
            self.notices.warn(&format!("{} {}: {loss}", self.option, self.chain))?;
        }
        graph.send(Some(picture)).map_err(|error| self.failed(error))?;
        self.graph = Some(graph);
        Ok(())
    }

    /// Drains the graph of its last frames.
    fn close(&mut self) -> Result<()> {
        let Some(mut graph) = self.graph.take() else { return Ok(()) };
        graph.send(None).map_err(|error| self.failed(error))?;
        (self.graph, self.closing) = (Some(graph), true);
        Ok(())
    }

    /// Builds a graph for `picture`, and sends the picture into it.
    fn begin(&mut self, picture: Picture, sent: Sent) -> Result<()> {
        let video = GraphVideo::new(&picture, self.before.0, self.before.1);
        let graph = open_graph(&self.chain, video, Some(&picture), picture.is_full_range(), &self.limits);
        let graph = graph.map_err(|error| self.failed(error))?;
        self.position = sent.position;
        self.sent.clear();
        self.send(graph, picture, sent)
    }

    fn failed(&self, error: Error) -> anyhow::Error {
        let reason = last_message().unwrap_or_else(|| error.to_string());
        anyhow!("{} {}: frame {}: {reason}", self.option, self.chain, self.taken)
    }
}

/// The first name in a chain that no filter has; `None` in a chain with quotes, where a comma may be part of a text.
fn unknown_filter(chain: &str) -> Option<&str> {
    let elements = chain.split([',', ';']).take(if chain.contains(['\'', '\\']) { 0 } else { usize::MAX });
    let names = elements.map(|element| element.rsplit(']').find(|text| !text.trim().is_empty()).unwrap_or_default());
    names
        .map(|text| text.split(['=', '@', '[']).next().unwrap_or_default().trim())
        .find(|name| !FilterGraph::knows(name))
}

impl Source for FilteredSource {
    fn look_around(&mut self, before: u32, behind: u32) {
        let times = match (self.before.1, self.after.1) {
            (Some(before_rate), Some(after_rate)) => f64::from(before_rate) / f64::from(after_rate),
            _ => 1.0,
        };
        let of_source = |frames: u32| (f64::from(frames) * times).ceil() as u32;
        self.source.look_around(of_source(before), of_source(behind));
        self.behind = behind;
    }

    fn next(&mut self) -> Result<Option<Delivery>> {
        loop {
            if let Some(delivery) = self.receive()? {
                return Ok(Some(delivery));
            }
            if let Some((picture, sent)) = self.waiting.take() {
                self.begin(picture, sent)?;
                continue;
            }
            let waiting: usize = self.packets.iter().map(Packet::len).sum();
            if self.is_over && !self.packets.is_empty() || waiting > MAX_BYTES {
                return Ok(Some(Delivery { packets: std::mem::take(&mut self.packets), ..Delivery::default() }));
            }
            if self.is_over {
                let (option, chain) = (self.option, &self.chain);
                ensure!(self.taken == 0 || self.delivered > 0, "{option} {chain}: the filters let no frame through");
                return Ok(None);
            }
            match self.source.next()? {
                Some(Delivery { packets, frame: Some(frame), position, read_at }) => {
                    self.packets.extend(packets);
                    self.take(&frame, Sent { time: frame.pts, position, read_at })?;
                }
                Some(Delivery { packets, frame: None, .. }) => {
                    self.packets.extend(packets);
                    if !self.packets.is_empty() {
                        return Ok(Some(Delivery {
                            packets: std::mem::take(&mut self.packets),
                            ..Delivery::default()
                        }));
                    }
                }
                None => {
                    self.is_over = true;
                    self.close()?;
                }
            }
        }
    }
}

/// The format in which a source delivers pictures that are decoded in `format`.
pub(crate) fn delivered_format(format: RawFormat) -> RawFormat {
    match format.native() {
        Some(_) => format,
        None => nearest_format(&RawFormat::natives(), format).unwrap_or(format),
    }
}

/// A graph whose output is native and has no fewer bits than its input. Where the filters give no such format, or
/// change from YUV to RGB or back without a request for it, the output has the format of the input.
fn open_graph(
    Chain { text: chain, cubes }: &Chain,
    input: GraphVideo,
    like: Option<&Picture>,
    is_full: bool,
    limits: &Limits,
) -> Result<FilterGraph, Error> {
    let open = |formats: &[RawFormat]| {
        let cube = cubes.as_ref().map(|cubes| Picture::from_host_frame(cubes.get(is_full))).transpose()?;
        FilterGraph::open(chain, input, like, cube, formats, limits)
    };
    let mut formats = RawFormat::natives();
    formats.retain(|format| format.depth() >= input.format.depth());
    if input.format.is_full_range_yuv() {
        formats = formats.iter().filter_map(|format| format.full_range_yuv()).chain(formats.iter().copied()).collect();
    }
    let same_model: Vec<RawFormat> =
        formats.iter().copied().filter(|format| format.is_rgb() == input.format.is_rgb()).collect();
    let mut graph = open(&same_model)?;
    let last = graph.conversions().into_iter().find(|step| step.is_last && step.target != input.format);
    match last {
        Some(step) if step.is_requested && formats.contains(&step.source) => open(&[step.source]),
        Some(_) => open(&[input.format]),
        None => Ok(graph),
    }
}
