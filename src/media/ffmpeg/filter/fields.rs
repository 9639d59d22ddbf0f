//! What libavfilter's filters do with the two fields of interlaced pictures, each of which has every other row.

use crate::ffmpeg::frame::Picture;

/// Filters that deinterlace, separate fields, or have settings for fields. A user who names one handles fields himself,
/// so that the filters after it are not checked.
const APART: &str = "bwdif detelecine estdif field fieldhint fieldmatch il kerndeint nnedi pullup separatefields \
                     setfield w3fdif yadif";

/// Filters that move samples to other rows, whatever their settings.
const MOVING: &str = "deshake displace lenscorrection lensfun minterpolate perspective remap rotate scroll shear \
                      transpose v360 vidstabtransform zoompan";

/// Filters that compute a row from the adjacent rows, which are of the other field.
const MIXING: &str = "avgblur bilateral bm3d boxblur cas chromanr chromashift colormatrix colorspace convolution dblur \
                      dctdnoiz deband deblock dedot deflate delogo dilation edgedetect epx erosion fftdnoiz fftfilt \
                      fspp gblur gradfun guided hqdn3d hqx inflate kirsch libplacebo median morpho nlmeans owdenoise \
                      pixelize pp pp7 prewitt removegrain removelogo rgbashift roberts sab scharr smartblur sobel spp \
                      sr super2xsai unsharp uspp vaguedenoiser varblur xbr yaepblur zscale";

/// Filters that keep rows, but whose output lacks the interlaced flag.
const UNMARKING: &str = "lagfun maskfun tmedian tmix";

/// The deinterlacers of the filter `pp`, by their short and long names.
const DEINTERLACERS: &str =
    "lb linblenddeint li linipoldeint ci cubicipoldeint md mediandeint fd ffmpegdeint l5 lowpass5";

fn has(list: &str, name: &str) -> bool {
    list.split_whitespace().any(|other| other == name)
}

/// Whether this filter is a scaler that can scale the two fields separately.
pub(crate) fn is_scaler(name: &str) -> bool {
    has("scale scale2ref", name)
}

/// Whether this filter may group the rows of each field, and leave the picture flagged as interlaced.
pub(crate) fn hides_fields(name: &str) -> bool {
    name == "il"
}

/// Whether one of these filters of `pp` deinterlaces.
pub(crate) fn are_deinterlacers(filters: &str) -> bool {
    filters.split(['/', ',']).any(|one| has(DEINTERLACERS, one.split([':', '|']).next().unwrap_or_default().trim()))
}

/// The effect of a filter with its settings on rows.
pub(crate) enum Effect {
    /// The effect of the list above that has the filter's name.
    Usual,
    /// Rows get samples of their own field alone.
    Kept,
    Deinterlaced,
    /// It moves luma, and chroma, by these numbers of rows.
    Moved([usize; 2]),
    /// It moves rows by a number that is unknown here.
    MovedSomewhere,
}

/// How a chain of filters changes the two fields.
#[derive(Default)]
pub(crate) struct Fields {
    /// The first filter that mixes rows of both fields, with a verb for the message.
    mixed_by: Option<String>,
    /// Whether the output is progressive.
    are_gone: bool,
    /// Whether the order of the two fields is exchanged.
    change_order: bool,
    /// Whether the user handles fields himself, by one of the filters [`APART`] or a deinterlacer.
    are_known: bool,
    /// Whether pictures have lost their interlaced flag.
    are_unmarked: bool,
    /// Whether the filter `fieldorder` sets which field is shown first.
    is_order_chosen: bool,
}

impl Fields {
    /// Adds a filter to the chain. `rows` are the heights of its input and output. With `are_scaled_apart`, scalers
    /// scale the two fields separately.
    pub(crate) fn pass(&mut self, name: &str, rows: [i32; 2], effect: &Effect, are_scaled_apart: bool) {
        if self.are_known || has(APART, name) || matches!(effect, Effect::Deinterlaced) {
            self.are_known = true;
            return;
        }
        let is_moving = has(MOVING, name);
        // Pictures without the interlaced flag are scaled as frames.
        let is_scaled = is_scaler(name) && (!are_scaled_apart || self.are_unmarked);
        self.are_unmarked |= has(UNMARKING, name);
        self.is_order_chosen |= name == "fieldorder";
        match *effect {
            Effect::Usual if is_moving || is_scaled || has(MIXING, name) => {
                self.mixed_by.get_or_insert_with(|| format!("{name} mixes"));
                self.are_gone |= is_moving || rows[0] != rows[1];
            }
            Effect::Moved([of_luma, of_chroma]) => {
                self.change_order ^= of_luma % 2 == 1;
                if of_luma % 2 != of_chroma % 2 {
                    self.mixed_by.get_or_insert_with(|| format!("{name} by {of_luma} rows mixes"));
                }
            }
            Effect::MovedSomewhere => {
                self.mixed_by.get_or_insert_with(|| format!("{name} may exchange"));
            }
            _ => (),
        }
    }

    /// A message about how the filters damage the fields of interlaced pictures, if they do.
    pub(crate) fn loss(&self) -> Option<String> {
        let (deed, end) = (self.mixed_by.as_ref()?, if self.are_gone { ", which become progressive" } else { "" });
        Some(format!("{deed} the fields of interlaced pictures{end} (yadif ahead of it makes frames of them)"))
    }

    /// Whether the filters may change which field is shown first.
    pub(crate) fn may_change_order(&self) -> bool {
        self.change_order || self.are_known || self.is_order_chosen
    }

    /// Marks a picture that the filters have returned as interlaced or progressive. `sent`: `Some(top field first?)` if
    /// the input pictures are interlaced.
    pub(crate) fn mark(&self, picture: &mut Picture, sent: Option<bool>) {
        let sent = sent.filter(|_| self.are_unmarked);
        let Some(top_field_first) = picture.interlaced().or(sent).filter(|_| !self.are_known) else { return };
        picture.set_interlaced((!self.are_gone).then_some(top_field_first != self.change_order));
    }
}
