//! What libavfilter's filters do with the two fields of interlaced pictures, each of which has every other row.

use super::Picture;

/// Filters that make frames of fields, take fields apart, or are told which there are: whoever names one knows of
/// fields, and what is behind it is not looked at.
const APART: &str = "bwdif detelecine estdif field fieldhint fieldmatch il kerndeint nnedi pullup separatefields \
                     setfield w3fdif yadif";

/// Filters behind which a row has samples of other rows, whatever they are set to.
const MOVING: &str = "deshake displace lenscorrection lensfun minterpolate perspective remap rotate scroll shear \
                      transpose v360 vidstabtransform zoompan";

/// Filters that take the rows beside a row for its neighbours.
const MIXING: &str = "avgblur bilateral bm3d boxblur cas chromanr chromashift colormatrix colorspace convolution dblur \
                      dctdnoiz deband deblock dedot deflate delogo dilation edgedetect epx erosion fftdnoiz fftfilt \
                      fspp gblur gradfun guided hqdn3d hqx inflate kirsch libplacebo median morpho nlmeans owdenoise \
                      pixelize pp pp7 prewitt removegrain removelogo rgbashift roberts sab scharr smartblur sobel spp \
                      sr super2xsai unsharp uspp vaguedenoiser varblur xbr yaepblur zscale";

/// Filters that keep rows, but make pictures that do not say that they are interlaced.
const UNMARKING: &str = "lagfun maskfun tmedian tmix";

/// The filters of `pp` that make frames of fields, by both of their names.
const DEINTERLACERS: &str =
    "lb linblenddeint li linipoldeint ci cubicipoldeint md mediandeint fd ffmpegdeint l5 lowpass5";

/// Whether a list has this name.
fn has(list: &str, name: &str) -> bool {
    list.split_whitespace().any(|other| other == name)
}

/// Whether it is a filter that scales, and can do so by fields.
pub(super) fn is_scaler(name: &str) -> bool {
    has("scale scale2ref", name)
}

/// Whether it changes the order of rows so that the fields of a picture are not in turn, though the picture says so.
pub(super) fn hides_fields(name: &str) -> bool {
    name == "il"
}

/// Whether the filters that `pp` was given make frames of fields.
pub(super) fn are_deinterlacers(filters: &str) -> bool {
    filters.split(['/', ',']).any(|one| has(DEINTERLACERS, one.split([':', '|']).next().unwrap_or_default().trim()))
}

/// What a filter does as it is set.
pub(super) enum Effect {
    /// What its name says.
    Usual,
    /// All rows keep to themselves.
    Kept,
    /// It makes frames of fields.
    Deinterlaced,
    /// It moves luma, and chroma, by these numbers of rows.
    Moved([usize; 2]),
    /// As that, by a number of rows that only the filter knows.
    MovedSomewhere,
}

/// What becomes of the fields in a chain of filters.
#[derive(Default)]
pub(super) struct Fields {
    /// The first filter that mixes rows of both, and the verb for what it does to them.
    mixed_by: Option<String>,
    /// Whether what comes out has no fields.
    are_gone: bool,
    /// Whether the other field comes first.
    change_order: bool,
    /// Whether a filter knows of them.
    are_known: bool,
    /// Whether pictures no longer say that they have them.
    are_unmarked: bool,
    /// Whether `fieldorder` chooses the one that comes first.
    is_order_chosen: bool,
}

impl Fields {
    /// Takes them through a filter, which makes `rows` (the second number) of rows, by fields if it scales and
    /// `are_scaled_apart`.
    pub(super) fn pass(&mut self, name: &str, rows: [i32; 2], effect: &Effect, are_scaled_apart: bool) {
        if self.are_known || has(APART, name) || matches!(effect, Effect::Deinterlaced) {
            self.are_known = true;
            return;
        }
        let is_moving = has(MOVING, name);
        // Pictures that do not say that they are interlaced are scaled as frames.
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

    /// What interlaced pictures lose, if they lose anything.
    pub(super) fn loss(&self) -> Option<String> {
        let (deed, end) = (self.mixed_by.as_ref()?, if self.are_gone { ", which become progressive" } else { "" });
        Some(format!("{deed} the fields of interlaced pictures{end} (yadif ahead of it makes frames of them)"))
    }

    /// Whether the field that is shown first may be another one behind the filters.
    pub(super) fn may_change_order(&self) -> bool {
        self.change_order || self.are_known || self.is_order_chosen
    }

    /// Marks a picture that has come out of the filters as what it is. `sent`: `Some(top field first?)` if the pictures
    /// that went in are interlaced.
    pub(super) fn mark(&self, picture: &mut Picture, sent: Option<bool>) {
        let sent = sent.filter(|_| self.are_unmarked);
        let Some(top_field_first) = picture.interlaced().or(sent).filter(|_| !self.are_known) else { return };
        picture.set_interlaced((!self.are_gone).then_some(top_field_first != self.change_order));
    }
}
