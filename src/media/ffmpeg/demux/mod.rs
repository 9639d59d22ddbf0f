//! Opens an input and reads its packets.
//!
//! | file | what it is |
//! |---|---|
//! | `demuxer.rs`, `interrupt.rs` | opens an input, seeks, reads packets, and gives up in time |
//! | `custom_io.rs`, `opens.rs`, `protocols.rs` | files that this program opens for FFmpeg; what an input may open besides |
//! | `images.rs` | numbered images |
//! | `media.rs` | the description of an input and its streams |
//! | `wire.rs` | streams, packets and properties of pictures as they come from a decoding process |
//! | `devices.rs` | lists of cameras and microphones |

mod custom_io;
pub(crate) mod demuxer;
pub(crate) mod devices;
pub(crate) mod images;
pub(crate) mod interrupt;
pub(crate) mod media;
mod opens;
pub(crate) mod protocols;
mod structures;
pub(crate) mod wire;

pub use demuxer::{Demuxer, ReadFrom, is_opening, opens_more};
pub use devices::{Device, input_devices};
pub use images::{GivePackets, OpenImage, Sequence};
pub use interrupt::Interrupt;
pub use media::{Chapter, Media, Metadata, Programme, Stream, Unshown};
pub use protocols::OpenError;
pub use structures::Lie;
pub use wire::{WireChapter, WirePacket, WireProperties, WireStream};
