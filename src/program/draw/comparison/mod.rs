//! Two videos in one (`compare`): side by side or split, with their histograms and the curve from A to B.
//!
//! ```text
//! source A -> draw_pairs: Partners (with source B) -> Comparer: PairLayout, chart -> sink
//! ```

mod comparer;
mod layout;
mod partners;

pub use comparer::Comparer;
pub use partners::Partners;

use anyhow::Result;
use crossbeam_channel::{Receiver, Sender};
use histeq_media::pipeline::{Delivery, Message, Outcome};

/// The stage between the source of A and the sink: draws each frame of A with its partner, until one of the videos
/// ends.
///
/// # Errors
/// When B cannot be read, or frames cannot be drawn.
pub fn draw_pairs(
    mut partners: Partners,
    mut comparer: Comparer,
    before: &Receiver<Message>,
    next: &Sender<Message>,
) -> Result<String> {
    for message in before {
        let message = match message {
            Message::Delivery(Delivery { frame: Some(frame), packets, .. }) => match partners.pair(frame)? {
                Some([a, b]) => {
                    let frame = Some(comparer.draw(&a, &b)?);
                    Message::Delivery(Delivery { packets, frame, ..Delivery::default() })
                }
                None => Message::End(Outcome::Complete),
            },
            other => other,
        };
        let is_end = matches!(message, Message::End(_));
        if next.send(message).is_err() || is_end {
            break;
        }
    }
    Ok("comparison".to_owned())
}
