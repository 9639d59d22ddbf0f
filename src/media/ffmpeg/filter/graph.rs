//! Runs pictures through a chain of libavfilter's filters.
#![allow(unsafe_code, reason = "FFI")]

use super::fields::{Effect, Fields, are_deinterlacers, hides_fields, is_scaler};
use crate::ffmpeg::decode::Decoded;
use crate::ffmpeg::frame::{Picture, RawFormat};
use crate::ffmpeg::{Error, OUT_OF_MEMORY, c_string, check, rescale, text};
use crate::sys::files::{Name, note_chain};
use ffmpeg_next::filter::{self, Context, Graph};
use ffmpeg_next::{Rational, ffi};
use histeq::Limits;
use std::ffi::CStr;
use std::ptr::{null, null_mut};

/// The pictures that enter or leave a [`FilterGraph`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GraphVideo {
    /// Pixel format.
    pub format: RawFormat,
    /// Width and height in pixels.
    pub size: (usize, usize),
    /// Width to height of a pixel, if known.
    pub sample_aspect_ratio: Option<Rational>,
    /// Unit of timestamps, in seconds.
    pub time_base: Rational,
    /// Frames a second, if known.
    pub frame_rate: Option<Rational>,
}

impl GraphVideo {
    /// Pictures like this one, with times in units of `time_base` (seconds), at this frame rate.
    pub fn new(picture: &Picture, time_base: Rational, frame_rate: Option<Rational>) -> Self {
        let sample_aspect_ratio = picture.sample_aspect_ratio();
        GraphVideo { format: picture.format(), size: picture.size(), sample_aspect_ratio, time_base, frame_rate }
    }
}

/// A conversion between pixel formats inside a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conversion {
    /// The format before the conversion.
    pub source: RawFormat,
    /// The format after the conversion.
    pub target: RawFormat,
    /// Whether it is after the last filter of the chain.
    pub is_last: bool,
    /// Whether a filter `format` of the chain requests the conversion: it comes right before a conversion that is last,
    /// and right after any other one.
    pub is_requested: bool,
}

/// The name of the chain's second input, for a still picture.
const STILL: &str = "cube";

/// The timestamp of the still picture: before all others, so that each of them is filtered with it.
const BEFORE_ALL: i64 = -(1 << 40);

/// A log level offset that hides messages: they count as less important than any that are shown.
const UNHEARD: i32 = 64;

/// Adds the filters of a chain, which need not be UTF-8, between the filters `sources` and the filter `out`.
fn add_chain(graph: &mut Graph, chain: &Name, sources: &[&str]) -> Result<(), Error> {
    note_chain(chain.bytes());
    let mut end = |next, name: &&str| {
        let mut filter = graph.get(name).ok_or(Error::FilterNotFound)?;
        // SAFETY: it is new, and freed with the list that it begins.
        unsafe {
            let end = ffi::avfilter_inout_alloc().as_mut().ok_or(OUT_OF_MEMORY)?;
            (end.name, end.filter_ctx) = (ffi::av_strdup(c_string(name).as_ptr()), filter.as_mut_ptr());
            end.next = next;
            Ok::<_, Error>(std::ptr::from_mut(end))
        }
    };
    let mut outputs = sources.iter().rev().try_fold(null_mut(), &mut end)?;
    let mut inputs = end(null_mut(), &"out")?;
    // SAFETY: the ends are filters of this graph. The call takes both lists and leaves what is not linked.
    unsafe {
        let (graph, chain) = (graph.as_mut_ptr(), c_string(chain));
        let parsed = ffi::avfilter_graph_parse_ptr(graph, chain.as_ptr(), &mut inputs, &mut outputs, null_mut());
        ffi::avfilter_inout_free(&mut inputs);
        ffi::avfilter_inout_free(&mut outputs);
        check(parsed).map(drop)
    }
}

/// A graph of `chain` between `sources` (names and arguments) and a sink for `formats`. With `by_fields`, interlaced
/// pictures are scaled and converted by fields.
fn configured(
    chain: &Name,
    sources: &[(&str, String)],
    formats: &[RawFormat],
    by_fields: bool,
    limits: &Limits,
) -> Result<Graph, Error> {
    let find = |name| filter::find(name).ok_or(Error::FilterNotFound);
    let mut graph = Graph::new();
    // SAFETY: the graph is new; its number of threads is read when filters are added.
    unsafe { (*graph.as_mut_ptr()).nb_threads = limits.given_threads().unwrap_or(0) as i32 };
    for (name, arguments) in sources {
        graph.add(&find("buffer")?, name, arguments)?;
    }
    let mut sink = graph.add(&find("buffersink")?, "sink", "")?;
    let names: Vec<String> = formats.iter().map(|format| format.name()).collect();
    match names.is_empty() {
        true => graph.add(&find("null")?, "out", "")?,
        false => graph.add(&find("format")?, "out", &format!("pix_fmts={}", names.join("|")))?,
    }
    .link(0, &mut sink, 0);
    let names: Vec<&str> = sources.iter().map(|(name, _)| *name).collect();
    add_chain(&mut graph, chain, &names)?;
    if by_fields && !filters(&graph).any(|filter| hides_fields(&name_of(filter))) {
        scale_by_fields(&mut graph)?;
    }
    graph.validate()?;
    Ok(graph)
}

/// Makes scalers process the two fields of interlaced pictures separately: those of the chain, unless they are set to
/// do so for all pictures, and those that libavfilter will insert between filters.
fn scale_by_fields(graph: &mut Graph) -> Result<(), Error> {
    // SAFETY: filters that scale have this option, a number, which is read when the graph is configured. The graph
    // frees the text.
    unsafe {
        for filter in filters(graph).filter(|filter| is_scaler(&name_of(filter))) {
            let (options, key, mut told) = (filter.priv_, c"interl".as_ptr(), 0);
            check(ffi::av_opt_get_int(options, key, 0, &mut told))?;
            if told == 0 {
                check(ffi::av_opt_set_int(options, key, -1, 0))?;
            }
        }
        let graph = graph.as_mut_ptr();
        if (*graph).scale_sws_opts.is_null() {
            (*graph).scale_sws_opts = ffi::av_strdup(c"interl=-1".as_ptr());
        }
    }
    Ok(())
}

/// The filters of a graph, in the order in which they were added.
fn filters(graph: &Graph) -> impl Iterator<Item = &ffi::AVFilterContext> {
    // SAFETY: the graph's array has `nb_filters` filters, which live as long as the graph.
    unsafe {
        let graph = &*graph.as_ptr();
        (0..graph.nb_filters as usize).map(move |index| &**graph.filters.add(index))
    }
}

/// The name of a filter's type, such as `scale`.
fn name_of(filter: &ffi::AVFilterContext) -> String {
    // SAFETY: a filter of a graph is one of libavfilter's, which have names.
    unsafe { text((*filter.filter).name) }
}

/// The first input link and the first output link of a filter of a configured graph.
fn links(filter: &ffi::AVFilterContext) -> Option<[&ffi::AVFilterLink; 2]> {
    // SAFETY: all of the links that a filter says it has are there in a configured graph.
    unsafe {
        let first = |links: *mut *mut ffi::AVFilterLink, count: u32| (count > 0).then(|| &**links);
        Some([first(filter.inputs, filter.nb_inputs)?, first(filter.outputs, filter.nb_outputs)?])
    }
}

/// Rows of luma for each row of chroma.
fn rows_of_chroma(link: &ffi::AVFilterLink) -> usize {
    // SAFETY: FFmpeg set the number, and it is a video's.
    unsafe { RawFormat::from_number(link.format) }.chroma_step().1
}

/// Whether both fields have the same number of rows, also of chroma, at each scaler.
fn has_whole_fields(graph: &Graph) -> bool {
    let scalers = filters(graph).filter(|filter| is_scaler(&name_of(filter)));
    scalers.filter_map(links).flatten().all(|link| (link.h as usize).is_multiple_of(2 * rows_of_chroma(link)))
}

/// How a configured graph changes the two fields.
fn fields_behind(graph: &Graph, are_scaled_apart: bool) -> Fields {
    let mut fields = Fields::default();
    for filter in filters(graph) {
        if let Some([ahead, behind]) = links(filter) {
            let (name, rows) = (name_of(filter), [ahead.h, behind.h]);
            fields.pass(&name, rows, &effect(filter, &name, [ahead, behind]), are_scaled_apart);
        }
    }
    fields
}

/// The value of a filter's numeric option.
fn number(filter: &ffi::AVFilterContext, key: &CStr) -> Option<f64> {
    let mut value = 0.0;
    // SAFETY: a configured filter has its options; those that it lacks are an error.
    check(unsafe { ffi::av_opt_get_double(filter.priv_, key.as_ptr(), 0, &mut value) }).ok()?;
    Some(value)
}

/// The value of a filter's option, as text.
fn option_text(filter: &ffi::AVFilterContext, key: &CStr) -> Option<String> {
    let mut value = null_mut();
    // SAFETY: a configured filter has its options; those that it lacks are an error. The text is a copy.
    unsafe {
        check(ffi::av_opt_get(filter.priv_, key.as_ptr(), 0, &mut value)).ok()?;
        let owned = text(value.cast_const().cast());
        ffi::av_free(value.cast());
        Some(owned)
    }
}

/// The effect of a filter of a configured graph on rows, with its settings.
fn effect(filter: &ffi::AVFilterContext, name: &str, links: [&ffi::AVFilterLink; 2]) -> Effect {
    let [ahead, behind] = links;
    let steps = links.map(rows_of_chroma);
    let all = |keys: &[&CStr], fits: fn(f64) -> bool| keys.iter().all(|key| number(filter, key).is_some_and(fits));
    let (is_even, is_zero, is_unset) = (|by: f64| by % 2.0 == 0.0, |by: f64| by == 0.0, |value: f64| value == -1.0);
    let keeps_rows = ahead.h == behind.h && steps[0] == steps[1];
    let is_kept = match name {
        "chromashift" => all(&[c"cbv", c"crv"], is_even),
        "rgbashift" => all(&[c"rv", c"gv", c"bv", c"av"], is_even),
        "scroll" => all(&[c"v", c"vpos"], is_zero),
        "gblur" => all(&[c"sigmaV"], is_zero),
        // In a configured filter, `passthrough` is 0 if pictures are transposed.
        "transpose" => !all(&[c"passthrough"], is_zero),
        // Luma and chroma are converted together, which mixes rows if they share chroma.
        "colormatrix" | "colorspace" => keeps_rows && steps[0] == 1,
        "zscale" => keeps_rows && (steps[0] == 1 || all(&[c"m", c"p", c"t", c"c"], is_unset)),
        _ => is_scaler(name) && keeps_rows,
    };
    match name {
        _ if is_kept => Effect::Kept,
        "vflip" => Effect::Moved([ahead.h as usize - 1, (ahead.h as usize).div_ceil(steps[0]) - 1]),
        "crop" | "pad" => row_moved(filter, name == "pad", links).map_or(Effect::MovedSomewhere, |row| {
            // Without the option `exact`, rows that share chroma are kept together.
            let is_exact = number(filter, c"exact").is_some_and(|exact| exact != 0.0);
            Effect::Moved([if is_exact { row } else { row / steps[0] * steps[0] }, row / steps[0]])
        }),
        "pp" if option_text(filter, c"subfilters").is_some_and(|filters| are_deinterlacers(&filters)) => {
            Effect::Deinterlaced
        }
        _ => Effect::Usual,
    }
}

/// The first row that `crop` keeps, or the row at which `pad` puts the picture; `None` if it varies between pictures.
fn row_moved(filter: &ffi::AVFilterContext, is_pad: bool, [ahead, behind]: [&ffi::AVFilterLink; 2]) -> Option<usize> {
    let [width, height, out_width, out_height] = [ahead.w, ahead.h, behind.w, behind.h].map(f64::from);
    let names = [c"in_w", c"iw", c"in_h", c"ih", c"out_w", c"ow", c"out_h", c"oh", c"a", c"vsub"];
    let step = rows_of_chroma(ahead) as f64;
    let values = [width, width, height, height, out_width, out_width, out_height, out_height, width / height, step];
    let names: Vec<_> = names.iter().map(|name| name.as_ptr()).chain([null()]).collect();
    let expression = c_string(option_text(filter, c"y")?);
    let mut row = 0.0;
    // SAFETY: texts that end with NUL, and a value for each of the names, of which the last one is null.
    check(unsafe {
        ffi::av_expr_parse_and_eval(
            &mut row,
            expression.as_ptr(),
            names.as_ptr(),
            values.as_ptr(),
            null(),
            null(),
            null(),
            null(),
            null_mut(),
            UNHEARD,
            null_mut(),
        )
    })
    .ok()?;
    let beside = ahead.h.abs_diff(behind.h) as usize;
    match is_pad {
        _ if row.is_nan() => None,
        // `pad` centres a picture that does not fit at this row.
        true if row.trunc() < 0.0 || row.trunc() + height > out_height => Some(beside / 2),
        true => Some(row as usize),
        false => Some((row.round_ties_even().max(0.0) as usize).min(beside)),
    }
}

/// A chain of filters with one video input and one video output.
pub struct FilterGraph {
    graph: Graph,
    /// The arguments of the graph's source filter, which describe the input pictures.
    source: String,
    input: GraphVideo,
    /// How the graph changes the two fields.
    fields: Fields,
    /// `Some(top field first?)` if the last picture that was sent is interlaced.
    sent: Option<bool>,
    /// End time of the last picture that was sent, in the input's time base.
    end: i64,
    /// Whether a filter has ended the video, as `trim` does. Later pictures are dropped.
    has_ended: bool,
}

impl FilterGraph {
    /// Whether this FFmpeg has the filter of this name.
    pub fn knows(name: &str) -> bool {
        crate::ffmpeg::init();
        filter::find(name).is_some()
    }

    /// Opens `chain`, in the syntax of `ffmpeg -vf`, for pictures of the kind `input`. The output has one of `formats`,
    /// or any format if that is empty. `like` is the first picture, if there is one already; FFmpeg 7 needs its
    /// colours. A `still` picture is the chain's second input, called `cube`, for the whole video.
    ///
    /// # Errors
    /// When a filter or an option does not exist, or the chain has other inputs and outputs than one video each. The
    /// last message in the log has the details.
    pub fn open(
        chain: &Name,
        input: GraphVideo,
        like: Option<&Picture>,
        still: Option<Picture>,
        formats: &[RawFormat],
        limits: &Limits,
    ) -> Result<Self, Error> {
        crate::ffmpeg::init();
        let mut sources = vec![("in", arguments(&input, like))];
        if let Some(still) = &still {
            let (format, size) = (still.format(), still.size());
            let video = GraphVideo { format, size, sample_aspect_ratio: None, frame_rate: None, ..input };
            sources.push((STILL, arguments(&video, Some(still))));
        }
        let mut graph = configured(chain, &sources, formats, true, limits)?;
        let are_scaled_apart = has_whole_fields(&graph);
        if !are_scaled_apart {
            graph = configured(chain, &sources, formats, false, limits)?;
        }
        let fields = fields_behind(&graph, are_scaled_apart);
        if let Some(mut still) = still {
            still.set_time(Some(BEFORE_ALL));
            let mut source = graph.get(STILL).ok_or(Error::FilterNotFound)?;
            // SAFETY: the graph is configured, and takes the references of a valid picture.
            check(unsafe { ffi::av_buffersrc_add_frame(source.as_mut_ptr(), still.as_mut_ptr()) })?;
            source.source().close(BEFORE_ALL + 1)?;
        }
        let source = sources.swap_remove(0).1;
        Ok(FilterGraph { graph, source, input, fields, sent: None, end: ffi::AV_NOPTS_VALUE, has_ended: false })
    }

    /// Whether this picture is of the kind that the graph was opened for.
    pub fn takes(&self, picture: &Picture) -> bool {
        let video = GraphVideo::new(picture, self.input.time_base, self.input.frame_rate);
        self.source == arguments(&video, Some(picture))
    }

    /// Sends a picture, or `None` at the end of the video. Receive all pictures before the next one.
    ///
    /// # Errors
    /// When the picture is not in host memory, or a filter fails.
    pub fn send(&mut self, picture: Option<Picture>) -> Result<(), Error> {
        if self.has_ended {
            return Ok(());
        }
        let mut source = self.filter("in")?;
        let sent = match picture {
            Some(mut picture) => {
                picture.samples()?;
                self.sent = picture.interlaced();
                let one = self.input.frame_rate.map_or(0, |rate| rescale(1, rate.invert(), self.input.time_base));
                let duration = Some(picture.duration()).filter(|&duration| duration > 0).unwrap_or(one);
                self.end = picture.time().map_or(ffi::AV_NOPTS_VALUE, |time| time + duration);
                // SAFETY: the graph is configured, and takes the references of a valid picture.
                check(unsafe { ffi::av_buffersrc_add_frame(source.as_mut_ptr(), picture.as_mut_ptr()) }).map(drop)
            }
            // Filters that repeat frames do so until this time.
            None => source.source().close(self.end),
        };
        sent.or_else(|error| if error == Error::Eof { Ok(()) } else { Err(error) })
    }

    /// Receives the next picture, with its time in the time base of the [`output`](Self::output).
    ///
    /// # Errors
    /// When a filter fails.
    pub fn receive(&mut self) -> Result<Decoded, Error> {
        let mut sink = self.filter("sink")?;
        let mut picture = Picture::new();
        // SAFETY: the graph is configured, and the picture valid and empty.
        match check(unsafe { ffi::av_buffersink_get_frame(sink.as_mut_ptr(), picture.as_mut_ptr()) }) {
            Ok(_) => {
                let time = picture.get().pts;
                picture.get_mut().best_effort_timestamp = time;
                if picture.format().is_rgb() != self.input.format.is_rgb() {
                    picture.tag_converted();
                }
                self.fields.mark(&mut picture, self.sent);
                Ok(Decoded::Picture(picture))
            }
            Err(Error::Other { errno: libc::EAGAIN }) => Ok(Decoded::NeedsInput),
            Err(Error::Eof) => {
                self.has_ended = true;
                Ok(Decoded::End)
            }
            Err(error) => Err(error),
        }
    }

    /// Format, size and timing of the output pictures.
    ///
    /// # Errors
    /// None in practice.
    pub fn output(&mut self) -> Result<GraphVideo, Error> {
        let known = |rational: ffi::AVRational| (rational.num > 0 && rational.den > 0).then(|| rational.into());
        let sink = self.filter("sink")?;
        // SAFETY: the graph is configured, so its sink has these properties; FFmpeg set the number of the format.
        unsafe {
            let sink = sink.as_ptr();
            let size = (ffi::av_buffersink_get_w(sink) as usize, ffi::av_buffersink_get_h(sink) as usize);
            Ok(GraphVideo {
                format: RawFormat::from_number(ffi::av_buffersink_get_format(sink)),
                size,
                sample_aspect_ratio: known(ffi::av_buffersink_get_sample_aspect_ratio(sink)),
                time_base: ffi::av_buffersink_get_time_base(sink).into(),
                frame_rate: known(ffi::av_buffersink_get_frame_rate(sink)),
            })
        }
    }

    /// A message about how the filters damage the fields of interlaced pictures, if they do.
    pub fn loss_of_fields(&self) -> Option<String> {
        self.fields.loss()
    }

    /// Whether the filters may change which field is shown first.
    pub fn may_change_order(&self) -> bool {
        self.fields.may_change_order()
    }

    /// The conversions between pixel formats that libavfilter has inserted.
    pub fn conversions(&mut self) -> Vec<Conversion> {
        // SAFETY: the filters of a configured graph have names and links; a conversion has one link on each side, both
        // with a format of FFmpeg.
        unsafe {
            let conversion = |filter: &ffi::AVFilterContext| {
                let (before, behind) = (&**filter.inputs, &**filter.outputs);
                let is_last = text((*behind.dst).name) == "out";
                let beside = if is_last { before.src } else { behind.dst };
                Conversion {
                    source: RawFormat::from_number(before.format),
                    target: RawFormat::from_number(behind.format),
                    is_last,
                    is_requested: text((*(*beside).filter).name) == "format",
                }
            };
            filters(&self.graph).filter(|filter| text(filter.name).starts_with("auto_scale")).map(conversion).collect()
        }
    }

    fn filter(&mut self, name: &str) -> Result<Context, Error> {
        self.graph.get(name).ok_or(Error::FilterNotFound)
    }
}

/// The arguments of a graph's source filter.
fn arguments(video: &GraphVideo, like: Option<&Picture>) -> String {
    let GraphVideo { format, size: (width, height), time_base, .. } = video;
    let aspect = video.sample_aspect_ratio.unwrap_or(Rational::new(0, 1));
    let mut arguments = format!(
        "video_size={width}x{height}:pix_fmt={format}:time_base={}/{}:pixel_aspect={}/{}",
        time_base.numerator(),
        time_base.denominator(),
        aspect.numerator(),
        aspect.denominator()
    );
    if let Some(rate) = video.frame_rate {
        arguments += &format!(":frame_rate={}/{}", rate.numerator(), rate.denominator());
    }
    if let Some(frame) = like.filter(|_| cfg!(ffmpeg_7_0)).map(Picture::get) {
        arguments += &format!(":colorspace={}:range={}", frame.colorspace as i32, frame.color_range as i32);
    }
    arguments
}
