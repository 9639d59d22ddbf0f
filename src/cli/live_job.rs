//! What the options of `live` mean, once all of them agree. Nothing has been opened yet.

use super::backend::BackendChoice;
use super::values::{curves_name, duration, output_name, plain_name, rate, size};
use super::{LiveArgs, RequestedSettings, Talk};
use crate::sink::{EncoderChoice, Overwrite, PixelChoice, network_format};
use crate::source::CameraOptions;

/// A camera to be equalized as it films.
#[derive(Debug)]
pub struct LiveJob {
    /// What to film with.
    pub camera: CameraOptions,
    /// A file to record into.
    pub record: Option<String>,
    /// What to do if it exists.
    pub overwrite: Overwrite,
    /// How to encode what is encoded.
    pub encoder: EncoderChoice,
    /// Which pixel format is encoded.
    pub pixels: PixelChoice,
    /// A virtual camera.
    pub loopback: Option<String>,
    /// A pipe or a URL, and the container that it gets.
    pub output: Option<(String, Option<String>)>,
    /// Whether there may be a window.
    pub preview: bool,
    /// A microphone to be recorded.
    pub microphone: Option<String>,
    /// Where to keep the curves.
    pub save_curves: Option<String>,
    /// Where to take curves from, in place of equalizing.
    pub load_curves: Option<String>,
    /// How to equalize.
    pub requested: RequestedSettings,
    /// Where to equalize.
    pub backend: BackendChoice,
    /// What is said on stderr.
    pub talk: Talk,
}

impl LiveJob {
    /// What `args` mean.
    ///
    /// # Errors
    /// When a value makes no sense: a usage error for clap to print.
    pub fn from_args(args: LiveArgs) -> Result<Self, clap::Error> {
        let output = args.output.map(output_name).map(|url| {
            let format = args.written.output_format.clone().or_else(|| network_format(&url).map(str::to_owned));
            (url, format)
        });
        let load_curves = args.equalize.load_curves.clone();
        let save_curves = curves_name(args.equalize.save_curves.clone())?;
        let requested = RequestedSettings::from_args(args.equalize)?;
        let kernels = args.place.kernel_choice(&requested, load_curves.is_some())?;
        let is_heard = args.record.is_some() || output.as_ref().is_some_and(|(url, _)| url != "-");
        let microphone = args.audio.clone().filter(|name| name != "none" && is_heard);
        Ok(LiveJob {
            camera: CameraOptions {
                camera: args.camera.map(plain_name),
                format: args.format,
                size: size(args.size)?,
                rate: rate(args.rate)?,
                pixel_format: args.pixel_format,
                duration: duration(args.duration)?,
                frames: args.frames,
                wait: args.wait,
                with_sound: is_heard && args.audio.is_none(),
            },
            record: args.record.map(output_name),
            overwrite: args.written.overwrite(false),
            encoder: args.written.encoder(),
            // What is strict narrows nothing.
            pixels: args.written.output_pixel_format.unwrap_or(match args.talk.strict {
                true => PixelChoice::NearInput,
                false => PixelChoice::ForPlayers,
            }),
            loopback: args.loopback,
            output,
            preview: !args.no_preview,
            microphone,
            save_curves,
            load_curves,
            requested,
            backend: BackendChoice { backend: args.place.backend, gpu: args.place.gpu, kernels, hand_over: false },
            talk: args.talk.into(),
        })
    }
}
