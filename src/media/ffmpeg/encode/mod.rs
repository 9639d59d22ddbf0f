//! Encodes pictures, sound and subtitles.
//!
//! | file | what it is |
//! |---|---|
//! | `encoder.rs`, `encoder_info.rs`, `encoded_video.rs` | encodes; the encoders of this FFmpeg; encoded video |
//! | `still.rs` | a frame as the bytes of an image file |
//! | `transcoder.rs`, `sound.rs`, `subtitle.rs` | re-encodes audio and text subtitles |

pub(crate) mod encoded_video;
pub(crate) mod encoder;
pub(crate) mod encoder_info;
mod sound;
pub(crate) mod still;
mod subtitle;
pub(crate) mod transcoder;

pub use encoded_video::EncodedVideo;
pub use encoder::{VideoEncoder, VideoOptions};
pub use encoder_info::{Encoder, encoders, is_lossless, nearest_format};
pub use still::Still;
pub use transcoder::{TranscodeTo, Transcoder};
