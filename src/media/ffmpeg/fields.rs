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
const MIXING: &str = "avgblur bilateral bm3d boxblur cas chromanr colorspace convolution dblur dctdnoiz deband deblock \
                      dedot deflate delogo dilation edgedetect epx erosion fftdnoiz fftfilt fspp gblur gradfun guided \
                      hqdn3d hqx inflate kirsch libplacebo median morpho nlmeans owdenoise pixelize pp pp7 prewitt \
                      removegrain removelogo roberts sab scharr smartblur sobel spp sr super2xsai unsharp uspp \
                      vaguedenoiser varblur xbr yaepblur zscale";

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

/// What becomes of the fields in a chain of filters.
#[derive(Default)]
pub(super) struct Fields {
    /// The first filter that mixes rows of both.
    mixed_by: Option<String>,
    /// Whether what comes out has no fields.
    are_gone: bool,
    /// Whether the other field comes first.
    change_order: bool,
    /// Whether a filter knows of them.
    are_known: bool,
}

impl Fields {
    /// Takes them through a filter, which makes `rows` (the second number) of rows, by fields if it scales and
    /// `are_scaled_apart`. It brings luma and chroma down or up by so many rows, if that is known.
    pub(super) fn pass(&mut self, name: &str, rows: [i32; 2], by: Option<[usize; 2]>, are_scaled_apart: bool) {
        if self.are_known || has(APART, name) {
            self.are_known = true;
            return;
        }
        let is_moving = has(MOVING, name);
        if is_moving || has(MIXING, name) || is_scaler(name) && !are_scaled_apart {
            self.mixed_by.get_or_insert_with(|| name.to_owned());
            self.are_gone |= is_moving || rows[0] != rows[1];
        }
        let [of_luma, of_chroma] = by.unwrap_or_default();
        self.change_order ^= of_luma % 2 == 1;
        if of_luma % 2 != of_chroma % 2 {
            self.mixed_by.get_or_insert_with(|| format!("{name} by {of_luma} rows"));
        }
    }

    /// What interlaced pictures lose, if they lose anything.
    pub(super) fn loss(&self) -> Option<String> {
        let (name, end) = (self.mixed_by.as_ref()?, if self.are_gone { ", which become progressive" } else { "" });
        Some(format!("{name} mixes the fields of interlaced pictures{end} (yadif ahead of it makes frames of them)"))
    }

    /// Marks a picture that has come out of the filters as what it is.
    pub(super) fn mark(&self, picture: &mut Picture) {
        let Some(top_field_first) = picture.interlaced().filter(|_| !self.are_known) else { return };
        if self.are_gone {
            picture.set_interlaced(None);
        } else if self.change_order {
            picture.set_interlaced(Some(!top_field_first));
        }
    }
}
