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

/// Who is told, shared by its clones. By default nobody is.
#[derive(Clone, Default)]
pub struct Notes(Option<Arc<Tell>>);

type Tell = dyn Fn(&Note) + Send + Sync;

impl Notes {
    /// `tell` is called with each note, on any thread.
    pub fn new(tell: impl Fn(&Note) + Send + Sync + 'static) -> Self {
        Notes(Some(Arc::new(tell)))
    }

    /// Tells this.
    pub fn send(&self, note: &Note) {
        if let Some(tell) = &self.0 {
            tell(note);
        }
    }

    /// Tells a note.
    pub(crate) fn note(&self, text: String) {
        self.send(&Note::Note(text));
    }

    /// Tells a detail.
    pub(crate) fn detail(&self, text: String) {
        self.send(&Note::Detail(text));
    }
}
