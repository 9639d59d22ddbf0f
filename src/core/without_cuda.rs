//! Replaces `cuda` in builds without the feature `cuda`: there is no GPU, and opening one is an error.
#![allow(unsafe_code, reason = "the signatures of the GPU backend")]

use crate::denoise::Denoiser;
use crate::denoise::noise::{Differences, Noise};
use crate::denoise::search::Way;
use crate::denoise::sheet::Sheet;
use crate::frame::{DevicePlanes, ErrorKind, Frame, Limits, PixelFormat, Plane};
use std::convert::Infallible;
use std::sync::Arc;

/// The error of every use of a GPU: there is no GPU backend.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// This crate was built without the feature `cuda`.
    #[error("built without CUDA (use backend cpu)")]
    NotBuilt,
    /// A request that is refused.
    #[error("{reason}")]
    Refused {
        /// The reason.
        reason: String,
    },
}

impl Error {
    /// The cause, without the remedy.
    pub fn cause(&self) -> String {
        match self {
            Error::NotBuilt => "built without CUDA".to_owned(),
            Error::Refused { reason } => reason.clone(),
        }
    }

    /// Whose fault it is.
    pub(crate) fn kind(&self) -> ErrorKind {
        ErrorKind::Device
    }

    /// Whether there is no driver: always, in such a build.
    pub fn is_no_driver(&self) -> bool {
        true
    }
}

/// A GPU. No value of this type exists.
pub struct Gpu(Infallible);

impl Gpu {
    /// Fails: there is no GPU.
    ///
    /// # Errors
    /// Always.
    pub fn open(_index: usize) -> Result<Arc<Self>, Error> {
        Err(Error::NotBuilt)
    }

    /// Fails: there is no GPU.
    ///
    /// # Errors
    /// Always.
    pub fn open_within(_index: usize, _limits: &Limits) -> Result<Arc<Self>, Error> {
        Err(Error::NotBuilt)
    }

    /// Copies no frame.
    ///
    /// # Errors
    /// Never: there is no GPU.
    ///
    /// # Safety
    /// As for the GPU backend.
    pub unsafe fn import(&self, _: PixelFormat, _: (usize, usize), _: &DevicePlanes) -> Result<Vec<Plane>, Error> {
        self.never()
    }

    /// Copies no frame.
    ///
    /// # Errors
    /// Never: there is no GPU.
    ///
    /// # Safety
    /// As for the GPU backend.
    pub unsafe fn export(&self, _: &Frame, _: &DevicePlanes) -> Result<(), Error> {
        self.never()
    }

    /// The handle of the GPU's context. Never called: no [`Gpu`] exists.
    pub fn handle(&self) -> usize {
        self.never()
    }

    /// The result of every method that needs a GPU. Never called: no [`Gpu`] exists.
    pub(crate) fn never(&self) -> ! {
        match self.0 {}
    }
}

impl Denoiser for Gpu {
    type Picture = Infallible;
    type Field = Infallible;
    type Error = Error;

    fn picture(&self, _: &Arc<Vec<Sheet>>, _: (u8, u8)) -> Result<Infallible, Error> {
        self.never()
    }

    fn differences(&self, _: &Infallible, _: &Infallible) -> Result<Vec<u32>, Error> {
        self.never()
    }

    fn search(&self, _: &Infallible, _: &Infallible, _: u32, _: Option<&Infallible>) -> Result<Infallible, Error> {
        self.never()
    }

    fn farther(&self, _: Option<&Infallible>, _: &Infallible, _: Way) -> Result<Infallible, Error> {
        self.never()
    }

    fn count(&self, _: &Infallible, _: &Infallible, _: &Infallible) -> Result<Vec<Differences>, Error> {
        self.never()
    }

    fn merge(
        &self,
        _: &Infallible,
        _: &[(&Infallible, &Infallible)],
        _: usize,
        _: &[Noise],
    ) -> Result<Vec<Sheet>, Error> {
        self.never()
    }
}

/// Fails: there is no driver.
///
/// # Errors
/// Always.
pub fn find_driver() -> Result<(), Error> {
    Err(Error::NotBuilt)
}

/// Runs `work`; there is no GPU context to keep current.
pub fn keeping_current<R>(work: impl FnOnce() -> R) -> R {
    work()
}
