//! Notes to the caller, in addition to results.

use std::sync::Arc;

/// A message about something that the caller may not expect. It has options by their names: `max-gain`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// A detail, for verbose output.
    Detail(String),
    /// Information that the caller may need.
    Note(String),
    /// The result differs from what the caller requested.
    Warning(String),
}

impl Note {
    /// The note with `before` before the name of each option, which was in braces: `{max-gain}`.
    #[doc(hidden)]
    #[must_use]
    pub fn with_prefix(&self, before: &str) -> Self {
        let prefixed = |text: &str| text.replace('{', before).replace('}', "");
        match self {
            Note::Detail(text) => Note::Detail(prefixed(text)),
            Note::Note(text) => Note::Note(prefixed(text)),
            Note::Warning(text) => Note::Warning(prefixed(text)),
        }
    }
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

    pub(crate) fn note(&self, text: String) {
        self.send(&Note::Note(text));
    }

    pub(crate) fn detail(&self, text: String) {
        self.send(&Note::Detail(text));
    }
}
