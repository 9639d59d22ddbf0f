//! False colours, applied after the equalizer: `--palette` and `--colour-bar`.
//!
//! | file | what it is |
//! |---|---|
//! | `mod.rs` | what is coloured, and in which format |
//! | `painter.rs` | colours a frame, and puts the bar into it |
//! | `values.rs` | which samples the colours of the bar show |

mod painter;
mod values;

use self::painter::Painter;
use self::values::{ValueObserver, ValueQueue};
use crate::options::picture::{EqualizeOptions, PaletteOptions};
use crate::palette::Palette;
use crate::samples::SampleScale;
use anyhow::Result;
use histeq::Limits;
use histeq::internal::equalize::{EqualizeStage, OutputDepth};
use histeq::internal::frame::{Frame, PixelFormat};
use histeq::internal::spec::parameters::{Method, Settings};
use histeq_media::pipeline::{FailureKind, Input, Source};
use histeq_media::sink::encoder::PixelChoice;
use histeq_media::source::filter::coloured;

/// How the frames of an input are coloured.
#[derive(Clone)]
pub struct Colouring {
    palette: Palette,
    format: PixelFormat,
    bar: Option<Bar>,
}

#[derive(Clone)]
struct Bar {
    values: ValueQueue,
    scale: SampleScale,
    has_unit: bool,
}

/// A source of frames, and the description of its frames.
type Frames = (Box<dyn Source>, Input);

/// Appends filters to a source.
type Build<'a> = Box<dyn FnOnce(Box<dyn Source>) -> Result<Frames> + 'a>;

impl Colouring {
    /// The colouring that `options` ask for, when the output has the pixel format `pixels`; `None` without a palette.
    /// `settings` are those of `equalize` for the `input`.
    ///
    /// # Errors
    /// When a bar is asked for, but a colour can show several values.
    pub fn new(
        options: PaletteOptions,
        pixels: PixelChoice,
        (equalize, settings): (&EqualizeOptions, &Settings),
        input: &Input,
    ) -> Result<Option<Self>> {
        let Some(palette) = options.palette else { return Ok(None) };
        let has_one_curve = equalize.has_given_curves() || matches!(settings.method, Method::Global | Method::Faint(_));
        if options.colour_bar && !has_one_curve {
            return Err(FailureKind::Usage.error(format!(
                "--colour-bar says which value each colour stands for, and with --method {} it stands for no one value: \
                 what is done depends on the place in the picture (--look thermal, --method global and --range have a \
                 bar)",
                settings.method.name()
            )));
        }
        let (values, scale) = (ValueQueue::default(), SampleScale::for_input(input));
        let bar = options.colour_bar.then_some(Bar { values, scale, has_unit: input.media.samples.is_some() });
        let bits = match pixels {
            PixelChoice::Exactly(format) => format.depth(),
            _ if equalize.options.output_depth == OutputDepth::Ten => 10,
            _ => 8,
        };
        let format = match bits {
            ..=8 => PixelFormat::Rgb24,
            9..=10 => PixelFormat::Gbrp10le,
            _ => PixelFormat::Rgb48le,
        };
        Ok(Some(Colouring { palette, format, bar }))
    }

    /// `stage`; if there is a bar, with an observer that finds the values at its labels.
    pub fn observe(colouring: Option<&Self>, stage: EqualizeStage) -> EqualizeStage {
        match colouring.and_then(|colouring| colouring.bar.clone()) {
            Some(Bar { values: queue, scale, .. }) => stage.observed_by(Box::new(ValueObserver { queue, scale })),
            None => stage,
        }
    }

    /// The filters after the equalizer: the colouring, then those that `then` appends. `place` receives the function
    /// that builds them, and inserts them into the pipeline. Returns the filters, if any, and the description of the
    /// output frames.
    ///
    /// # Errors
    /// Those of `then` and `place`.
    pub fn filters<F>(
        colouring: Option<&Self>,
        input: &Input,
        then: Option<impl FnOnce(Frames) -> Result<Frames>>,
        place: impl FnOnce(Build<'_>) -> Result<(F, Input)>,
    ) -> Result<(Option<F>, Input)> {
        if colouring.is_none() && then.is_none() {
            return Ok((None, input.clone()));
        }
        let build = |equalized| {
            let coloured = Colouring::behind(colouring, (equalized, input.clone()));
            match then {
                Some(then) => then(coloured),
                None => Ok(coloured),
            }
        };
        let (filter, filtered) = place(Box::new(build))?;
        Ok((Some(filter), filtered))
    }

    /// The equalized frames, coloured if `colouring` is given, and their description.
    fn behind(colouring: Option<&Self>, equalized: Frames) -> Frames {
        let Some(Colouring { palette, format, bar }) = colouring.cloned() else { return equalized };
        let mut painter = Painter::new(palette, format, &equalized.1.limits);
        let paint = move |frame: &Frame| {
            let values = bar.as_ref().and_then(|bar| bar.values.next());
            let labels = bar.as_ref().zip(values).map(|(bar, values)| values::labels(&values, bar.has_unit));
            painter.paint(frame, labels)
        };
        coloured(equalized, format, Box::new(paint))
    }
}

/// Colours `frame` with the palette, in 8 bits and without a bar; without a palette, returns it unchanged.
///
/// # Errors
/// When it cannot be coloured.
pub fn still(palette: Option<Palette>, frame: Frame) -> Result<Frame> {
    palette.map_or(Ok(frame.clone()), |palette| {
        Painter::new(palette, PixelFormat::Rgb24, &Limits::default()).paint(&frame, None)
    })
}
