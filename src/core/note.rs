//! What a caller is told beside results.

use std::sync::Arc;

/// Something that a caller may not expect. Names of options stand as `--name`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// For those who look for details.
    Detail(String),
    /// Worth knowing.
    Note(String),
    /// The result differs from what was asked for.
    Warning(String),
}

/// The receiver of notes, shared by its clones. The default one drops them.
#[derive(Clone, Default)]
pub struct Notes(Option<Arc<Tell>>);

type Tell = dyn Fn(&Note) + Send + Sync;

impl Notes {
    /// A receiver that calls `tell` with each note, on any thread.
    pub fn new(tell: impl Fn(&Note) + Send + Sync + 'static) -> Self {
        Notes(Some(Arc::new(tell)))
    }

    /// Passes `note` to the receiver.
    pub fn send(&self, note: &Note) {
        if let Some(tell) = &self.0 {
            tell(note);
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
