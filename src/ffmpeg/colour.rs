//! How the numbers of a picture become colours: range, matrix, primaries, transfer, where chroma lies.

use super::RawFormat;
use crate::frame::{Matrix, Range};
use ffmpeg_next::ffi;

/// How the numbers of a picture become colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colour {
    pub(super) range: ffi::AVColorRange,
    pub(super) primaries: ffi::AVColorPrimaries,
    pub(super) transfer: ffi::AVColorTransferCharacteristic,
    pub(super) space: ffi::AVColorSpace,
    pub(super) chroma_location: ffi::AVChromaLocation,
}

impl Colour {
    /// Is it HDR (PQ or HLG)?
    pub fn is_hdr(self) -> bool {
        use ffi::AVColorTransferCharacteristic as Transfer;
        matches!(self.transfer, Transfer::AVCOL_TRC_SMPTE2084 | Transfer::AVCOL_TRC_ARIB_STD_B67)
    }

    /// The same colours, once RGB has become YUV or the other way round; `hd` decides what an untagged one becomes.
    #[must_use]
    pub fn converted(mut self, from: RawFormat, to: RawFormat, hd: bool) -> Self {
        use ffi::{AVColorRange as Range, AVColorSpace as Space};
        match (from.is_rgb(), to.is_rgb()) {
            (false, true) => {
                self.space = Space::AVCOL_SPC_RGB;
                self.range = Range::AVCOL_RANGE_JPEG;
            }
            (true, false) if !to.is_gray() => {
                self.space = match self.matrix() {
                    Matrix::Bt2020 => Space::AVCOL_SPC_BT2020_NCL,
                    Matrix::Bt709 => Space::AVCOL_SPC_BT709,
                    Matrix::Bt601 if hd => Space::AVCOL_SPC_BT709,
                    Matrix::Bt601 => Space::AVCOL_SPC_SMPTE170M,
                };
                self.range = Range::AVCOL_RANGE_MPEG;
            }
            _ => {}
        }
        if to.is_full_range_yuv() {
            self.range = Range::AVCOL_RANGE_JPEG;
        }
        self
    }

    /// Where chroma lies, if that is one of the places that other programs have a word for.
    pub fn siting(self) -> Option<Siting> {
        match self.chroma_location {
            ffi::AVChromaLocation::AVCHROMA_LOC_LEFT => Some(Siting::Left),
            ffi::AVChromaLocation::AVCHROMA_LOC_CENTER => Some(Siting::Center),
            ffi::AVChromaLocation::AVCHROMA_LOC_TOPLEFT => Some(Siting::TopLeft),
            _ => None,
        }
    }

    /// The same colours in full range.
    #[must_use]
    pub fn full_range(mut self) -> Self {
        self.range = ffi::AVColorRange::AVCOL_RANGE_JPEG;
        self
    }

    /// The same colours in limited range.
    #[must_use]
    pub fn limited_range(mut self) -> Self {
        self.range = ffi::AVColorRange::AVCOL_RANGE_MPEG;
        self
    }

    /// Are all codes of a picture of this format picture?
    pub fn is_full_range(self, format: RawFormat) -> bool {
        self.range_of(format) == Range::Full
    }

    pub(super) fn matrix(self) -> Matrix {
        use ffi::{AVColorPrimaries as Primaries, AVColorSpace as Space};
        match self.space {
            Space::AVCOL_SPC_BT709 => Matrix::Bt709,
            Space::AVCOL_SPC_BT2020_NCL | Space::AVCOL_SPC_BT2020_CL => Matrix::Bt2020,
            // The matrix says nothing (for RGB it never does): the primaries decide.
            Space::AVCOL_SPC_RGB | Space::AVCOL_SPC_UNSPECIFIED => match self.primaries {
                Primaries::AVCOL_PRI_BT709 => Matrix::Bt709,
                Primaries::AVCOL_PRI_BT2020 => Matrix::Bt2020,
                _ => Matrix::Bt601,
            },
            _ => Matrix::Bt601,
        }
    }

    /// The range of a picture of this format; what says nothing is limited if it is YUV, full if it is gray or RGB.
    pub(super) fn range_of(self, format: RawFormat) -> Range {
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

/// FFmpeg's word for a range.
pub(super) fn tag(range: Range) -> ffi::AVColorRange {
    match range {
        Range::Full => ffi::AVColorRange::AVCOL_RANGE_JPEG,
        Range::Limited => ffi::AVColorRange::AVCOL_RANGE_MPEG,
    }
}

/// Where the chroma samples of 4:2:0 lie between the luma samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Siting {
    /// MPEG-2, H.264: on the left column, between the rows.
    Left,
    /// JPEG, MPEG-1: in the middle of four.
    Center,
    /// DV, BT.2020: on the upper left one.
    TopLeft,
}
