//! The properties that encoded video signals, in its pictures or in its container: matrix, range, primaries, transfer,
//! sample aspect ratio. The tables list what FFmpeg and players read.

use super::Container;
use crate::ffmpeg::frame::Colour;
use Sayable::{Any, Nothing, Only};
use ffmpeg_next::codec::Id;
use histeq::internal::frame::{Matrix, Model, Range};

/// The values of a property that can be signalled.
#[derive(Clone, Copy)]
enum Sayable<T: 'static> {
    /// No value: readers assume the usual one.
    Nothing,
    Any,
    /// Readers understand only these.
    Only(&'static [T]),
}

impl<T: Copy> Sayable<T> {
    /// The values that pictures can signal; if there are none, those that the container can (`beside`).
    fn or(self, beside: Self) -> Self {
        if matches!(self, Nothing) { beside } else { self }
    }
}

/// The properties that video of one codec can signal in one container.
#[derive(Clone, Copy)]
pub struct Signalling {
    matrix: Sayable<Matrix>,
    range: Sayable<Range>,
    /// Whether primaries and transfer characteristics are signalled.
    pub colours: bool,
    /// Whether the sample aspect ratio is signalled.
    pub shape: bool,
    /// Whether matrix, primaries and transfer characteristics are signalled together, or not at all.
    together: bool,
}

const fn row(matrix: Sayable<Matrix>, range: Sayable<Range>, colours: bool, shape: bool) -> Signalling {
    Signalling { matrix, range, colours, shape, together: false }
}

const SILENT: Signalling = row(Nothing, Nothing, false, false);

const BT601: Sayable<Matrix> = Only(&[Matrix::Bt601]);
const BT709: Sayable<Matrix> = Only(&[Matrix::Bt709]);
const LIMITED: Sayable<Range> = Only(&[Range::Limited]);
const FULL: Sayable<Range> = Only(&[Range::Full]);

/// PNG has had a chunk for primaries and transfer since 2022; FFmpeg writes it from version 7 on.
const PNG_HAS_COLOURS: bool = cfg!(ffmpeg_7_0);

/// The properties that pictures signal: matrix, range, primaries and transfer, sample aspect ratio. They take
/// precedence over those of containers.
const CODECS: &[(&[Id], Signalling)] = &[
    (&[Id::H264, Id::HEVC], row(Any, Any, true, true)),
    (&[Id::AV1], row(Any, Any, true, false)),
    (&[Id::VP9], row(Any, Any, false, false)),
    (&[Id::VP8], row(BT601, LIMITED, false, false)),
    (&[Id::MPEG2VIDEO], row(Any, LIMITED, true, true)),
    (&[Id::MPEG1VIDEO], row(Nothing, LIMITED, false, true)),
    (&[Id::PRORES], row(Any, LIMITED, true, false)),
    (&[Id::DNXHD, Id::DIRAC], row(BT709, Nothing, false, false)),
    (&[Id::UTVIDEO], row(Only(&[Matrix::Bt601, Matrix::Bt709]), Nothing, false, false)),
    (&[Id::MJPEG, Id::LJPEG], row(BT601, FULL, false, true)),
    (&[Id::TIFF], row(BT601, Nothing, false, true)),
    (&[Id::WEBP], row(BT601, Nothing, false, false)),
    (&[Id::JPEGXL], row(Nothing, Nothing, true, false)),
    (&[Id::PNG, Id::APNG], row(Nothing, Nothing, PNG_HAS_COLOURS, true)),
    (&[Id::MPEG4, Id::DVVIDEO, Id::GIF, Id::DPX, Id::EXR, Id::PCX], row(Nothing, Nothing, false, true)),
];

/// The properties that containers store, by FFmpeg's names of containers.
const CONTAINERS: &[(&[&str], Signalling)] = &[
    (&["matroska", "webm", "null"], row(Any, Any, true, true)),
    (&["mp4"], Signalling { together: true, ..row(Any, Any, true, true) }),
    (&["mov"], Signalling { together: true, ..row(Any, Nothing, true, true) }),
    // Programs that read from a virtual camera do not query any properties.
    (&["mxf", "dash", "video4linux2,v4l2"], row(Any, Nothing, true, true)),
    (
        &["ipod", "3gp", "3g2", "ismv", "f4v", "psp", "avi", "asf", "nut", "ogg", "ogv", "dv", "yuv4mpegpipe"],
        row(Nothing, Nothing, false, true),
    ),
];

impl Signalling {
    /// The properties that pictures of this codec signal.
    pub fn in_pictures(codec: Id) -> Self {
        CODECS.iter().find(|(codecs, _)| codecs.contains(&codec)).map_or(SILENT, |(_, row)| *row)
    }

    /// The properties that pictures of this codec and their container signal.
    pub fn new(codec: Id, container: Container) -> Self {
        let (pictures, name) = (Signalling::in_pictures(codec), container.name());
        let found = CONTAINERS.iter().find(|(names, _)| names.contains(&name.as_str()));
        let beside = found.map_or(SILENT, |(_, row)| *row);
        Signalling {
            matrix: pictures.matrix.or(beside.matrix),
            range: pictures.range.or(beside.range),
            colours: pictures.colours || beside.colours,
            shape: pictures.shape || beside.shape,
            together: beside.together && matches!(pictures.matrix, Nothing),
        }
    }

    /// Whether YUV can be signalled as full range. Without a signalled range, readers assume that YUV is limited, and
    /// gray is full.
    pub fn says_full_range(self) -> bool {
        match self.range {
            Nothing => false,
            Any => true,
            Only(all) => all.contains(&Range::Full),
        }
    }

    /// Whether readers always assume full range.
    pub fn is_always_full(self) -> bool {
        self.says_full_range() && !matches!(self.range, Any)
    }

    /// Whether readers use the right matrix for YUV with these colours and of this size: it is signalled, or the usual
    /// one.
    pub fn says_matrix(self, colour: Colour, size: (usize, usize)) -> bool {
        match self.matrix {
            Nothing => colour.known_matrix() == Some(Matrix::usual(Model::Yuv, size)),
            Any => true,
            Only(all) => colour.known_matrix().is_some_and(|matrix| all.contains(&matrix)),
        }
    }

    /// The colour properties with which to encode YUV pictures of this size that have the properties `colour`. If
    /// `converts`, a matrix that cannot be signalled is replaced by one that can, and the caller has to convert to it.
    /// An unknown matrix stays.
    #[must_use]
    pub fn sayable(self, colour: Colour, size: (usize, usize), converts: bool) -> Colour {
        let usual = Matrix::usual(Model::Yuv, size);
        if converts && colour.known_matrix().is_some() && !self.says_matrix(colour, size) {
            let all = if let Only(all) = self.matrix { all } else { &[] };
            let found = all.iter().find(|found| **found == usual).or(all.first());
            return colour.with_matrix(found.copied().unwrap_or(usual));
        }
        let is_other = colour.known_matrix().is_some_and(|matrix| matrix != usual);
        let is_more = is_other || colour.has_primaries_or_transfer();
        if self.together && is_more { colour.named() } else { colour }
    }
}

/// The matrix to assume for YUV of this codec and size that specifies none.
pub(crate) fn usual_matrix(codec: Id, size: (usize, usize)) -> Matrix {
    match Signalling::in_pictures(codec).matrix {
        Only(&[only]) => only,
        _ => Matrix::usual(Model::Yuv, size),
    }
}
