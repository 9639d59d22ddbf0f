//! Notes to the caller beside results.

use std::sync::Arc;

/// A message about something that the caller may not expect. Names of options stand as `--name`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// A detail, for verbose output.
    Detail(String),
    /// Worth knowing.
    Note(String),
    /// The result differs from what was asked for.
    Warning(String),
}

/// The receiver of notes, shared by its clones. The default one drops them.
#[derive(Clone, Default)]
pub struct Notes(Option<Arc<Receive>>);

type Receive = dyn Fn(&Note) + Send + Sync;

impl Notes {
    /// A receiver that calls `receive` with each note, on any thread.
    pub fn new(receive: impl Fn(&Note) + Send + Sync + 'static) -> Self {
        Notes(Some(Arc::new(receive)))
    }

    /// Passes `note` to the receiver.
    pub fn send(&self, note: &Note) {
        if let Some(receive) = &self.0 {
            receive(note);
        }
    }

    /// Passes a note to the receiver.
    pub(crate) fn note(&self, text: String) {
        self.send(&Note::Note(text));
    }

    /// Passes a detail to the receiver.
    pub(crate) fn detail(&self, text: String) {
        self.send(&Note::Detail(text));
    }
}
