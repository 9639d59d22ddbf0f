//! Pieces of a video, and the file that is joined of them.

pub(crate) mod file;
pub(crate) mod joinable;
pub(crate) mod joined;
pub(crate) mod piece;

pub use file::{KeptPacket, PieceDescription, PieceFile};
pub use joinable::{PieceEncoder, piece_encoder};
pub use joined::{JoinedFile, check_joined};
pub use piece::{PieceOf, PieceSink};
