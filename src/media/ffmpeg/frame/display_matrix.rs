//! Rotations in metadata: a display matrix, or an Exif orientation.

/// `vflip` only makes strides negative, which some encoders do not accept; `copy` puts the rows in order.
const VERTICAL_FLIP: &str = "vflip,copy";
const HALF_TURN: &str = "vflip,hflip";

/// A rotation by quarter turns, mirrored or not, as a chain of libavfilter's filters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rotation(pub &'static str);

impl Rotation {
    /// The rotation of a display matrix: fixed-point numbers, row by row, which map `(x, y)` to `(a x + c y, b x + d
    /// y)`. `None` for no rotation, or one by other angles than quarter turns.
    pub(crate) fn from_matrix(matrix: &[u8]) -> Option<Self> {
        let filters = match signs(matrix)? {
            [-1, 0, 0, 1] => "hflip",
            [1, 0, 0, -1] => VERTICAL_FLIP,
            [-1, 0, 0, -1] => HALF_TURN,
            [0, 1, 1, 0] => "transpose=cclock_flip",
            [0, 1, -1, 0] => "transpose=clock",
            [0, -1, 1, 0] => "transpose=cclock",
            [0, -1, -1, 0] => "transpose=clock_flip",
            _ => return None,
        };
        Some(Rotation(filters))
    }

    /// Whether a display matrix is the identity.
    pub(crate) fn is_identity(matrix: &[u8]) -> bool {
        signs(matrix) == Some([1, 0, 0, 1])
    }

    /// The rotation of an Exif orientation, a number from 1 to 8.
    pub(crate) fn from_exif(orientation: &str) -> Option<Self> {
        let filters = match orientation.trim() {
            "2" => "hflip",
            "3" => HALF_TURN,
            "4" => VERTICAL_FLIP,
            "5" => "transpose=cclock_flip",
            "6" => "transpose=clock",
            "7" => "transpose=clock_flip",
            "8" => "transpose=cclock",
            _ => return None,
        };
        Some(Rotation(filters))
    }
}

/// The signs of a display matrix' `a`, `b`, `c` and `d`.
fn signs(matrix: &[u8]) -> Option<[i32; 4]> {
    let matrix: Vec<i32> = matrix.chunks_exact(4).map(bytemuck::pod_read_unaligned).collect();
    let &[a, b, _, c, d, ..] = matrix.as_slice() else { return None };
    // Entries may be rounded: those below a hundredth of the largest count as 0.
    let least = [a, b, c, d].map(i32::unsigned_abs).into_iter().max().unwrap_or(0) / 100;
    Some([a, b, c, d].map(|entry| if entry.unsigned_abs() <= least { 0 } else { entry.signum() }))
}
