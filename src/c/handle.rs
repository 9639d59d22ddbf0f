//! The state of a handle: the options until the backend is opened, then the equalizer, and the frame that is ready.

use crate::{Failure, Status};
use histeq::{Equalizer, Error, ErrorKind, Input, LazyEqualizer, Output, PixelFormat, PlaneInput};
use std::ffi::CString;

/// The most columns, and the most rows, of a frame.
const MAX_SIDE: usize = 1 << 20;

/// The state of a C caller's handle.
pub struct Handle {
    /// The format of input frames.
    pub format: PixelFormat,
    pub size: (usize, usize),
    pub lazy: LazyEqualizer,
    /// The frame that the next pull copies to the caller.
    ready: Option<Output>,
    is_finished: bool,
    /// Whether a panic has left the handle in an unknown state.
    pub is_broken: bool,
    /// The text of the last error.
    pub error: CString,
    /// The name of the backend that `histeq_backend` has returned.
    pub name: CString,
}

/// A text for C, cut at its first zero byte.
pub fn text(text: &str) -> CString {
    CString::new(text.split('\0').next().unwrap_or_default()).unwrap_or_default()
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let status = match error.kind() {
            ErrorKind::Limit => Status::Limit,
            ErrorKind::Unsupported => Status::Unsupported,
            ErrorKind::Device => Status::Device,
            ErrorKind::Parameter => match error {
                Error::Option(_) | Error::NoScenes | Error::MaskedTiles => Status::Option,
                Error::TooLate { .. } | Error::Finished | Error::NotSurveyed { .. } => Status::State,
                _ => Status::Picture,
            },
            _ => Status::Bug,
        };
        Failure(status, error.to_string())
    }
}

impl Handle {
    pub fn new(format: &str, size: (usize, usize)) -> Result<Self, Failure> {
        let unknown = || Failure(Status::Argument, format!("there is no pixel format {format}"));
        let format = PixelFormat::from_name(format).ok_or_else(unknown)?;
        if ![size.0, size.1].iter().all(|side| (1..=MAX_SIDE).contains(side)) {
            let text = format!("a picture has 1 to {MAX_SIDE} columns and rows, not {}x{}", size.0, size.1);
            return Err(Failure(Status::Argument, text));
        }
        Ok(Handle {
            format,
            size,
            lazy: LazyEqualizer::new(Equalizer::builder(format, size.0, size.1)),
            ready: None,
            is_finished: false,
            is_broken: false,
            error: CString::default(),
            name: CString::default(),
        })
    }

    pub fn push(&mut self, input: Input<'_>) -> Result<Status, Failure> {
        if self.ready.is_some() {
            return Err(Failure(Status::State, "a frame has come out: pull it first".to_owned()));
        }
        self.ready = self.lazy.open()?.push(input)?;
        Ok(Status::Ok)
    }

    pub fn warm_up(&mut self, planes: &[PlaneInput<'_>]) -> Result<Status, Failure> {
        self.lazy.open()?.warm_up(Input::planes(planes))?;
        Ok(Status::Ok)
    }

    pub fn survey(&mut self, planes: &[PlaneInput<'_>]) -> Result<Status, Failure> {
        self.lazy.check_not_open("a survey")?;
        self.lazy.survey(Input::planes(planes))?;
        Ok(Status::Ok)
    }

    pub fn finish(&mut self) -> Result<Status, Failure> {
        drop(self.lazy.open()?.finish()?);
        self.is_finished = true;
        Ok(Status::Ok)
    }

    /// The next frame, if one is ready; otherwise the status for the caller. After `finish`, waits for the frame.
    pub fn next(&mut self) -> Result<Result<&Output, Status>, Failure> {
        if self.is_finished {
            self.wait()?;
        }
        Ok(self.ready.as_ref().ok_or(if self.is_finished { Status::End } else { Status::Again }))
    }

    /// Discards the frame after it was copied.
    pub fn pulled(&mut self) -> Status {
        self.ready = None;
        Status::Ok
    }

    pub fn wait(&mut self) -> Result<Status, Failure> {
        if self.ready.is_none()
            && let Some(equalizer) = self.lazy.opened()
        {
            self.ready = equalizer.collect()?;
        }
        Ok(match (&self.ready, self.is_finished) {
            (Some(_), _) => Status::Ok,
            (None, true) => Status::End,
            (None, false) => Status::Again,
        })
    }

    pub fn restart(&mut self, number: u64) -> Result<Status, Failure> {
        self.lazy.open()?.restart(number)?;
        (self.ready, self.is_finished) = (None, false);
        Ok(Status::Ok)
    }
}
