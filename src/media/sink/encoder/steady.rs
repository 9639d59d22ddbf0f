//! The properties that an encoder and a container store once for all frames, taken from the first: field order, pixel
//! aspect ratio, colours, mastering display. A frame with other properties causes a warning, unless it can be adapted
//! without loss.

use crate::ffmpeg::Rational;
use crate::ffmpeg::frame::Picture;
use crate::pipeline::Notices;
use anyhow::Result;

/// The relative difference up to which two display aspect ratios count as equal: one pixel in 500.
const SAME_SHAPE: f64 = 0.002;

/// The properties that the output stores for all frames.
pub(crate) struct Steady {
    /// Display aspect ratio.
    shape: f64,
    pixel: Rational,
    /// What the encoder codes: fields, as `Some(top field first?)`, or `None` for frames.
    fields: Option<bool>,
    first: Picture,
    mastering_display: Option<Vec<u8>>,
    /// The properties about which the user has been warned.
    warned: Vec<&'static str>,
    notices: Notices,
}

impl Steady {
    /// Stores the properties of `first`; `fields` is what the encoder codes.
    pub fn new(first: &Picture, fields: Option<bool>, notices: Notices) -> Self {
        Steady {
            shape: shape(first),
            pixel: pixel(first),
            fields,
            first: first.without_samples(),
            mastering_display: first.mastering_display(),
            warned: Vec::new(),
            notices,
        }
    }

    /// Adapts the metadata of `picture` to the stored properties, or warns. Its samples stay unchanged.
    ///
    /// # Errors
    /// The warning, with `--strict`.
    pub fn check(&mut self, picture: &mut Picture) -> Result<()> {
        self.check_fields(picture)?;
        if (shape(picture) / self.shape - 1.0).abs() > SAME_SHAPE {
            let ratio = |rational: Rational| format!("{}:{}", rational.numerator(), rational.denominator());
            let (was, is) = (ratio(self.pixel), ratio(pixel(picture)));
            self.warn("shape", || match was == is {
                true => "the shape of the pictures changes: from there on they are stretched to that of the first"
                    .to_owned(),
                false => format!(
                    "the pixels change from {was} to {is}: the output says {was} of all, so what follows is stretched"
                ),
            })?;
        }
        let colours = self.first.colour().differences(picture.colour());
        for (property, was, is) in colours {
            self.warn(property, || {
                format!("the {property} of the video change from {was} to {is}: the output says {was} of all of it")
            })?;
        }
        let display = picture.mastering_display();
        if display.is_some() && display != self.mastering_display {
            self.warn("mastering display", || {
                "the mastering display of HDR changes in the video: the output says the first one of all of it"
                    .to_owned()
            })?;
        }
        Ok(())
    }

    fn check_fields(&mut self, picture: &mut Picture) -> Result<()> {
        match (self.fields, picture.interlaced()) {
            (None, None) => {}
            // A progressive frame gets the field order of the frames around it.
            (Some(top), None) => picture.set_top_field_first(top),
            (Some(top), Some(other)) if top == other => {}
            (Some(top), Some(_)) => {
                let order = |top: bool| if top { "top" } else { "bottom" };
                let (was, is, filter) = (order(top), order(!top), if top { "tff" } else { "bff" });
                self.warn("order of fields", || {
                    format!(
                        "the {is} field comes first from here on: the output says {was} of all pictures, so these move \
                         to and fro (--filter fieldorder={filter} has one order)"
                    )
                })?;
                picture.set_top_field_first(top);
            }
            (None, Some(_)) if self.first.interlaced().is_some() => {}
            (None, Some(top)) => {
                let filter = if top { "tff" } else { "bff" };
                self.warn("fields", || {
                    format!(
                        "the video becomes interlaced: the output says frames of all of it (--filter setfield={filter} \
                         says fields, --filter bwdif=deint=interlaced makes frames)"
                    )
                })?;
            }
        }
        Ok(())
    }

    /// Warns once for each property.
    fn warn(&mut self, property: &'static str, message: impl FnOnce() -> String) -> Result<()> {
        if self.warned.contains(&property) {
            return Ok(());
        }
        self.warned.push(property);
        self.notices.warn(&message())
    }
}

fn pixel(picture: &Picture) -> Rational {
    picture.sample_aspect_ratio().unwrap_or(Rational::new(1, 1))
}

fn shape(picture: &Picture) -> f64 {
    let (width, height) = picture.size();
    width as f64 * f64::from(pixel(picture)) / height as f64
}
