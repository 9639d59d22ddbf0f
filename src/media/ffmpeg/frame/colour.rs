//! Colour properties of pictures: range, matrix, primaries, transfer function, location of chroma samples.

use super::RawFormat;
use crate::ffmpeg::ChromaLocation;
use ffmpeg_next::{color, ffi};
use histeq::internal::frame::{Matrix, Model, Range, Transfer};

/// The colour properties of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colour {
    pub(crate) range: ffi::AVColorRange,
    pub(crate) primaries: ffi::AVColorPrimaries,
    pub(crate) transfer: ffi::AVColorTransferCharacteristic,
    pub(crate) space: ffi::AVColorSpace,
    pub(crate) chroma_location: ffi::AVChromaLocation,
}

/// Range, primaries, transfer, matrix and chroma location, as numbers of FFmpeg's enumerations.
pub(crate) type Colours = [i32; 5];

/// The transfer characteristics of ITU-T H.273 that are logarithms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogTransfer {
    /// A logarithm with a range of 100:1.
    By100,
    /// A logarithm with a range of about 316:1, which is 100 times the square root of 10.
    By316,
}

impl From<&ffi::AVCodecParameters> for Colour {
    fn from(parameters: &ffi::AVCodecParameters) -> Self {
        Colour {
            range: parameters.color_range,
            primaries: parameters.color_primaries,
            transfer: parameters.color_trc,
            space: parameters.color_space,
            chroma_location: parameters.chroma_location,
        }
    }
}

impl Colour {
    /// The properties as numbers of FFmpeg's enumerations.
    pub(crate) fn numbers(self) -> Colours {
        let Colour { range, primaries, transfer, space, chroma_location } = self;
        [range as i32, primaries as i32, transfer as i32, space as i32, chroma_location as i32]
    }

    /// The transfer function of the samples: PQ or HLG for HDR, otherwise SDR.
    pub fn transfer(self) -> Transfer {
        match self.transfer {
            ffi::AVColorTransferCharacteristic::AVCOL_TRC_SMPTE2084 => Transfer::Pq,
            ffi::AVColorTransferCharacteristic::AVCOL_TRC_ARIB_STD_B67 => Transfer::Hlg,
            _ => Transfer::Sdr,
        }
    }

    /// Whether the samples are linear light; `None` if the transfer characteristics are unspecified.
    pub fn is_linear(self) -> Option<bool> {
        use ffi::AVColorTransferCharacteristic as Transfer;
        let is_said = !matches!(self.transfer, Transfer::AVCOL_TRC_UNSPECIFIED | Transfer::AVCOL_TRC_RESERVED0);
        is_said.then_some(self.transfer == Transfer::AVCOL_TRC_LINEAR)
    }

    /// The transfer characteristics, if they are logarithmic.
    pub fn log_transfer(self) -> Option<LogTransfer> {
        use ffi::AVColorTransferCharacteristic as Transfer;
        match self.transfer {
            Transfer::AVCOL_TRC_LOG => Some(LogTransfer::By100),
            Transfer::AVCOL_TRC_LOG_SQRT => Some(LogTransfer::By316),
            _ => None,
        }
    }

    /// The properties in which `later` differs from `self`: name and both values. Aliases of the same curve or
    /// primaries do not count. Nor do unspecified values, unless `later` is HDR or BT.2020. Matrices count only if both
    /// are YUV, and the program cannot convert between them.
    pub fn differences(self, later: Colour) -> Vec<(&'static str, String, String)> {
        use ffi::AVColorPrimaries as P;
        use ffi::AVColorTransferCharacteristic as T;
        let curve = |transfer: T| match transfer {
            T::AVCOL_TRC_SMPTE170M | T::AVCOL_TRC_BT2020_10 | T::AVCOL_TRC_BT2020_12 => T::AVCOL_TRC_BT709,
            other => other,
        };
        let gamut = |transfer: P| if transfer == P::AVCOL_PRI_SMPTE240M { P::AVCOL_PRI_SMPTE170M } else { transfer };
        // An unspecified curve counts as SDR.
        let is_open = |transfer: T| transfer == T::AVCOL_TRC_UNSPECIFIED;
        let is_hdr = later.transfer() != Transfer::Sdr;
        let same_curve = curve(self.transfer) == curve(later.transfer)
            || is_open(later.transfer)
            || is_open(self.transfer) && !is_hdr;
        let is_given = |transfer: P| transfer != P::AVCOL_PRI_UNSPECIFIED;
        let same_gamut = gamut(self.primaries) == gamut(later.primaries)
            || !is_given(later.primaries)
            || !is_given(self.primaries) && later.primaries != P::AVCOL_PRI_BT2020;
        let unlike = self.unlike_matrix(later).filter(|both| !both.contains(&ffi::AVColorSpace::AVCOL_SPC_RGB));
        let names = [
            (!same_curve).then(|| {
                let name =
                    |transfer| color::TransferCharacteristic::from(transfer).name().unwrap_or("unknown").to_owned();
                ("transfer characteristics", name(self.transfer), name(later.transfer))
            }),
            (!same_gamut).then(|| {
                let name = |transfer| color::Primaries::from(transfer).name().unwrap_or("unknown").to_owned();
                ("primaries", name(self.primaries), name(later.primaries))
            }),
            unlike
                .filter(|_| self.known_matrix().and(later.known_matrix()).is_none())
                .map(|[was, is]| ("matrix coefficients", space_name(was), space_name(is))),
        ];
        names.into_iter().flatten().collect()
    }

    /// The matrices of both, if they are specified and differ.
    fn unlike_matrix(self, later: Colour) -> Option<[ffi::AVColorSpace; 2]> {
        use ffi::AVColorSpace as S;
        let matrix = |space: S| if space == S::AVCOL_SPC_BT470BG { S::AVCOL_SPC_SMPTE170M } else { space };
        let [was, is] = [self.space, later.space];
        let is_given = [was, is].iter().all(|space| *space != S::AVCOL_SPC_UNSPECIFIED);
        (is_given && matrix(was) != matrix(is)).then_some([was, is])
    }

    /// The matrix, if it is specified, and the program can convert from and to it.
    pub(crate) fn known_matrix(self) -> Option<Matrix> {
        use ffi::AVColorSpace as S;
        match self.space {
            S::AVCOL_SPC_BT709 => Some(Matrix::Bt709),
            S::AVCOL_SPC_BT470BG | S::AVCOL_SPC_SMPTE170M => Some(Matrix::Bt601),
            S::AVCOL_SPC_BT2020_NCL => Some(Matrix::Bt2020),
            _ => None,
        }
    }

    /// Sets the matrix. FFmpeg has two values for BT.601: if one of them is set, it stays.
    #[must_use]
    pub(crate) fn with_matrix(mut self, matrix: Matrix) -> Self {
        if self.known_matrix() != Some(matrix) {
            self.space = match matrix {
                Matrix::Bt601 => ffi::AVColorSpace::AVCOL_SPC_SMPTE170M,
                Matrix::Bt709 => ffi::AVColorSpace::AVCOL_SPC_BT709,
                Matrix::Bt2020 => ffi::AVColorSpace::AVCOL_SPC_BT2020_NCL,
            };
        }
        self
    }

    /// Replaces a missing matrix, or the one of RGB, by that which the primaries or HDR imply, or else by `usual`.
    #[must_use]
    pub(crate) fn with_any_matrix(self, usual: Matrix) -> Self {
        use ffi::AVColorSpace::{AVCOL_SPC_RGB, AVCOL_SPC_UNSPECIFIED};
        match self.space {
            AVCOL_SPC_RGB | AVCOL_SPC_UNSPECIFIED => self.with_matrix(self.implied_matrix().unwrap_or(usual)),
            _ => self,
        }
    }

    /// The matrix that the primaries imply, or HDR.
    fn implied_matrix(self) -> Option<Matrix> {
        match self.primaries {
            ffi::AVColorPrimaries::AVCOL_PRI_BT709 => Some(Matrix::Bt709),
            ffi::AVColorPrimaries::AVCOL_PRI_BT2020 => Some(Matrix::Bt2020),
            _ => self.transfer().is_hdr().then_some(Matrix::Bt2020),
        }
    }

    /// The names of its matrix and of that of `target`, if they differ and pictures are converted between them.
    pub fn other_matrix(self, target: Colour) -> Option<(String, String)> {
        let [is, was] =
            self.unlike_matrix(target).filter(|_| self.known_matrix().and(target.known_matrix()).is_some())?;
        Some((space_name(is), space_name(was)))
    }

    /// Whether its primaries are given.
    pub fn has_primaries(self) -> bool {
        self.primaries != ffi::AVColorPrimaries::AVCOL_PRI_UNSPECIFIED
    }

    /// Whether its primaries or its transfer characteristics are given.
    pub(crate) fn has_primaries_or_transfer(self) -> bool {
        self.has_primaries() || self.transfer != ffi::AVColorTransferCharacteristic::AVCOL_TRC_UNSPECIFIED
    }

    /// The names of the primaries and of the transfer characteristics, each only if displays do not assume it for
    /// untagged video.
    pub fn unusual(self) -> Vec<String> {
        use ffi::AVColorPrimaries as P;
        let is_wide = matches!(
            self.primaries,
            P::AVCOL_PRI_BT2020 | P::AVCOL_PRI_SMPTE428 | P::AVCOL_PRI_SMPTE431 | P::AVCOL_PRI_SMPTE432
        );
        let is_other = self.transfer().is_hdr() || self.log_transfer().is_some();
        let transfer = color::TransferCharacteristic::from(self.transfer);
        let named = [
            is_wide.then(|| ("primaries", color::Primaries::from(self.primaries).name())),
            is_other.then(|| ("transfer characteristics", transfer.name())),
        ];
        named.into_iter().flatten().map(|(what, name)| format!("{what} ({})", name.unwrap_or("unknown"))).collect()
    }

    /// The name of its matrix.
    pub fn matrix_name(self) -> String {
        space_name(self.space)
    }

    /// The properties of a picture of this size after its conversion from `source` to `target`. RGB that becomes YUV
    /// gets the matrix that its primaries imply, or the usual one for the size.
    #[must_use]
    pub fn converted(mut self, source: RawFormat, target: RawFormat, size: (usize, usize)) -> Self {
        use ffi::{AVColorRange as Range, AVColorSpace as Space};
        match (source.is_rgb(), target.is_rgb()) {
            (false, true) => {
                self.space = Space::AVCOL_SPC_RGB;
                self.range = Range::AVCOL_RANGE_JPEG;
            }
            (true, false) if !target.is_gray() => {
                if self.known_matrix().is_none() {
                    self.space = Space::AVCOL_SPC_RGB;
                }
                self = self.with_any_matrix(Matrix::usual(Model::Yuv, size));
                self.range = Range::AVCOL_RANGE_MPEG;
            }
            _ => {}
        }
        if target.is_full_range_yuv() {
            self.range = Range::AVCOL_RANGE_JPEG;
        }
        self
    }

    /// Where the chroma samples of 4:2:0 are between the luma samples.
    pub fn chroma_location(self) -> ChromaLocation {
        self.chroma_location.into()
    }

    /// These properties, with full range.
    #[must_use]
    pub fn full_range(mut self) -> Self {
        self.range = ffi::AVColorRange::AVCOL_RANGE_JPEG;
        self
    }

    /// These properties, with limited range.
    #[must_use]
    pub fn limited_range(mut self) -> Self {
        self.range = ffi::AVColorRange::AVCOL_RANGE_MPEG;
        self
    }

    /// Whether a picture of this format has full range.
    pub fn is_full_range(self, format: RawFormat) -> bool {
        self.range_of(format) == Range::Full
    }

    /// Sets unspecified matrix, primaries and transfer characteristics to the values that this program assumes for YUV:
    /// players would guess them from the size.
    #[must_use]
    pub fn named(self) -> Self {
        use ffi::{AVColorPrimaries as Primaries, AVColorTransferCharacteristic as Transfer};
        let mut named = self.with_any_matrix(Matrix::Bt601);
        if named.primaries == Primaries::AVCOL_PRI_UNSPECIFIED {
            named.primaries = Primaries::AVCOL_PRI_BT709;
        }
        if named.transfer == Transfer::AVCOL_TRC_UNSPECIFIED {
            named.transfer = Transfer::AVCOL_TRC_BT709;
        }
        named
    }

    /// The matrix for conversions between YUV and RGB: BT.601 if no property implies another one. YUV from a decoder
    /// always has a matrix.
    pub fn matrix(self) -> Matrix {
        use ffi::AVColorSpace as Space;
        match self.space {
            Space::AVCOL_SPC_BT709 => Matrix::Bt709,
            Space::AVCOL_SPC_BT2020_NCL | Space::AVCOL_SPC_BT2020_CL => Matrix::Bt2020,
            // No matrix is specified; RGB never has one.
            Space::AVCOL_SPC_RGB | Space::AVCOL_SPC_UNSPECIFIED => self.implied_matrix().unwrap_or(Matrix::Bt601),
            _ => Matrix::Bt601,
        }
    }

    /// The range of a picture of this format. Untagged YUV is limited, untagged gray and RGB are full.
    pub(crate) fn range_of(self, format: RawFormat) -> Range {
        if format.is_rgb() || format.is_full_range_yuv() {
            return Range::Full;
        }
        match self.range {
            ffi::AVColorRange::AVCOL_RANGE_JPEG => Range::Full,
            ffi::AVColorRange::AVCOL_RANGE_MPEG => Range::Limited,
            _ if format.is_gray() => Range::Full,
            _ => Range::Limited,
        }
    }
}

fn space_name(space: ffi::AVColorSpace) -> String {
    color::Space::from(space).name().unwrap_or("unknown").to_owned()
}

/// FFmpeg's value for a range.
pub(crate) fn range_tag(range: Range) -> ffi::AVColorRange {
    match range {
        Range::Full => ffi::AVColorRange::AVCOL_RANGE_JPEG,
        Range::Limited => ffi::AVColorRange::AVCOL_RANGE_MPEG,
    }
}
