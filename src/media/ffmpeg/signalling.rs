//! What encoded pictures say of themselves: matrix, range, primaries, transfer, shape of pixels. The table has what
//! FFmpeg and players read, by codec and container.

use super::{Colour, Container};
use ffmpeg_next::codec::Id;
use histeq::frame::{Matrix, Model, Range};

/// The values that can be said of a property.
#[derive(Clone, Copy)]
enum Sayable<T: 'static> {
    /// None: readers take the usual one.
    Nothing,
    Any,
    /// Nothing else than these is read.
    Only(&'static [T]),
}

use Sayable::{Any, Nothing, Only};

impl<T: Copy> Sayable<T> {
    /// What is said in the pictures, or else beside them.
    fn or(self, beside: Self) -> Self {
        if matches!(self, Nothing) { beside } else { self }
    }
}

/// What can be said of pictures of one codec in one container.
#[derive(Clone, Copy)]
pub struct Signalling {
    matrix: Sayable<Matrix>,
    range: Sayable<Range>,
    /// Primaries and transfer characteristics.
    pub colours: bool,
    /// The shape of pixels.
    pub shape: bool,
    /// Whether matrix, primaries and transfer characteristics are said together, or not at all.
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

/// The chunk of PNG for primaries and transfer is of 2022; FFmpeg 7 writes it.
const PNG_HAS_COLOURS: bool = cfg!(ffmpeg_7_0);

/// What is said in the pictures: matrix, range, primaries and transfer, shape of pixels. Where something is, containers
/// do not count.
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

/// What is said beside the pictures, by FFmpeg's names of containers.
const CONTAINERS: &[(&[&str], Signalling)] = &[
    (&["matroska", "webm", "null"], row(Any, Any, true, true)),
    (&["mp4"], Signalling { together: true, ..row(Any, Any, true, true) }),
    (&["mov"], Signalling { together: true, ..row(Any, Nothing, true, true) }),
    // Who reads from a virtual camera asks for nothing.
    (&["mxf", "dash", "video4linux2,v4l2"], row(Any, Nothing, true, true)),
    (
        &["ipod", "3gp", "3g2", "ismv", "f4v", "psp", "avi", "asf", "nut", "ogg", "ogv", "dv", "yuv4mpegpipe"],
        row(Nothing, Nothing, false, true),
    ),
];

impl Signalling {
    /// What is said in pictures of this codec.
    pub fn in_pictures(codec: Id) -> Self {
        CODECS.iter().find(|(codecs, _)| codecs.contains(&codec)).map_or(SILENT, |(_, row)| *row)
    }

    /// What is said in pictures of this codec and beside them.
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

    /// Whether YUV can be of full range. Readers take YUV that says nothing for limited, and such gray for full.
    pub fn says_full_range(self) -> bool {
        match self.range {
            Nothing => false,
            Any => true,
            Only(all) => all.contains(&Range::Full),
        }
    }

    /// Whether it is of full range, whatever it should be.
    pub fn is_always_full(self) -> bool {
        self.says_full_range() && !matches!(self.range, Any)
    }

    /// Whether readers find the matrix of these colours in YUV of this size.
    pub fn says_matrix(self, colour: Colour, size: (usize, usize)) -> bool {
        match self.matrix {
            Nothing => colour.known_matrix() == Some(Matrix::usual(Model::Yuv, size)),
            Any => true,
            Only(all) => colour.known_matrix().is_some_and(|matrix| all.contains(&matrix)),
        }
    }

    /// The colours of YUV of this size that readers find, if those of the pictures are `colour`. Another matrix is one
    /// to convert to, if `converts`; one that is unknown stays.
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

/// The matrix of YUV of this codec and size that names none.
pub(super) fn usual_matrix(codec: Id, size: (usize, usize)) -> Matrix {
    match Signalling::in_pictures(codec).matrix {
        Only(&[only]) => only,
        _ => Matrix::usual(Model::Yuv, size),
    }
}
