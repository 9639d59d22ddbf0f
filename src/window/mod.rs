//! The preview window.

use crate::pipeline::Notices;
use crate::pipeline::live::{Dial, Shown, Status, Viewer, Wish};
use anyhow::{Result, bail};

/// A window.
pub struct Window;

impl Window {
    /// Opens it.
    ///
    /// # Errors
    /// When there is no display.
    pub fn open(_dial: Dial, _notices: Notices) -> Result<Self> {
        bail!("no display");
    }
}

impl Viewer for Window {
    fn show(&mut self, _frame: Option<Shown>, _status: &Status) -> Result<Wish> {
        Ok(Wish::End)
    }
}
