//! Decoding in a process of its own: demuxers and decoders are C code that reads untrusted bytes. An attacker who takes
//! one over controls only its process, which can do nothing but decode, and has no access to the memory of the program.
//!
//! ```text
//! program                                    decoding process, behind walls
//! IsolatedSource ── orders ───────────────>  Child ── FileSource or LiveSource: Demuxer -> Decoder
//!                <─ packets, descriptions ──
//!                <═ shared memory ═════════  SharedPool: decoders write frames there
//! copies each frame, checks all it is told
//! ```
//!
//! | file | what it is |
//! |---|---|
//! | `beginning.rs` | begins decoding processes, and opens inputs in them |
//! | `source.rs` | the source of the program: gives orders, checks what comes, outlives a crash |
//! | `zygote.rs` | the template that processes are forked from, and their supervisors |
//! | `waits.rs` | each wait for a process, and its end |
//! | `child.rs` | what runs in a decoding process |
//! | `transcoders.rs` | sound and subtitles that are converted, in another such process |
//! | `channel.rs`, `messages.rs`, `said.rs` | messages and descriptors between processes; errors and texts |
//! | `memory/shared_memory.rs`, `memory/frames.rs` | frames in shared memory, and their copies |

mod beginning;
mod channel;
mod child;
#[cfg(test)]
mod lies;
mod memory;
mod messages;
mod said;
mod source;
mod transcoders;
mod waits;
mod zygote;

pub use beginning::allow;
pub(super) use beginning::{open_file, open_live};
pub use zygote::{is_ready, start};

/// Ends all decoding processes, whose CPU time then counts as that of this process, and prints the rest of what they
/// have written on stderr. Call it at the end of the program.
pub fn end() {
    zygote::end();
    said::wait_until_relayed();
}
