//! The state of a handle: the options until the backend is opened, then the equalizer, and the frame that is ready.

use crate::{Failure, Status};
use histeq::{Backend, Builder, Equalizer, Error, Input, Named, Output, PixelFormat, PlaneInput, SceneSurvey};
use std::ffi::CString;

/// The most columns, and rows.
const MOST: usize = 1 << 20;
/// The most threads.
const MOST_THREADS: usize = 1024;

/// A handle of a caller.
pub struct Handle {
    /// Format and size of what goes in.
    pub format: PixelFormat,
    pub size: (usize, usize),
    /// The options; fixed once the backend is open.
    builder: Builder,
    survey: Option<SceneSurvey>,
    equalizer: Option<Equalizer>,
    /// The frame that the next pull copies.
    ready: Option<Output>,
    is_finished: bool,
    /// Whether a panic has left it in an unknown state.
    pub is_broken: bool,
    /// The text of the last error.
    pub error: CString,
    /// The name of the backend that `histeq_backend` has returned.
    pub name: CString,
}

/// A text for C, which ends with its first zero.
pub fn text(text: &str) -> CString {
    CString::new(text.split('\0').next().unwrap_or_default()).unwrap_or_default()
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let status = match error {
            Error::Option(_)
            | Error::NoScenes
            | Error::MaskedTiles
            | Error::NoGrayFormat { .. }
            | Error::NoDeeperFormat { .. } => Status::Option,
            Error::Frame(_)
            | Error::FrameBytes { .. }
            | Error::OtherPicture { .. }
            | Error::PlaneCount { .. }
            | Error::PlaneBytes { .. }
            | Error::NoMask { .. }
            | Error::MaskSize { .. } => Status::Picture,
            Error::Finished | Error::NotSurveyed { .. } => Status::State,
            _ => Status::Backend,
        };
        Failure(status, error.to_string())
    }
}

impl Handle {
    pub fn new(format: &str, size: (usize, usize)) -> Result<Self, Failure> {
        let unknown = || Failure(Status::Argument, format!("there is no pixel format {format}"));
        let format = PixelFormat::from_name(format).ok_or_else(unknown)?;
        if ![size.0, size.1].iter().all(|side| (1..=MOST).contains(side)) {
            let text = format!("a picture has 1 to {MOST} columns and rows, not {}x{}", size.0, size.1);
            return Err(Failure(Status::Argument, text));
        }
        Ok(Handle {
            format,
            size,
            builder: Equalizer::builder(format, size.0, size.1),
            survey: None,
            equalizer: None,
            ready: None,
            is_finished: false,
            is_broken: false,
            error: CString::default(),
            name: CString::default(),
        })
    }

    pub fn set(&mut self, name: &str, value: &str) -> Result<Status, Failure> {
        let wrong = || Failure(Status::Option, format!("{name} is not {value}"));
        let builder = self.builder.clone();
        let number = || value.parse::<usize>().ok();
        let changed = match name {
            "rate" | "range" | "matrix" | "transfer" | "live" => builder.described(name, value),
            "backend" => Backend::from_name(value).map(|backend| builder.backend(backend)),
            "gpu" => number().map(|gpu| builder.gpu(gpu)),
            "threads" => {
                number().filter(|threads| (1..=MOST_THREADS).contains(threads)).map(|threads| builder.threads(threads))
            }
            _ => return self.set_option(name, value),
        };
        let changed = changed.ok_or_else(wrong)?;
        self.is_not_open(name)?;
        self.builder = changed;
        Ok(Status::Ok)
    }

    /// An option of the table.
    fn set_option(&mut self, name: &str, value: &str) -> Result<Status, Failure> {
        let Some(equalizer) = &mut self.equalizer else {
            self.builder = self.builder.clone().set(name, value)?;
            return Ok(Status::Ok);
        };
        let mut options = equalizer.options().clone();
        options.set(name, value).map_err(Error::from)?;
        if (options.gray, options.output_depth) != (equalizer.options().gray, equalizer.options().output_depth) {
            return Err(too_late(name));
        }
        equalizer.change(&options)?;
        Ok(Status::Ok)
    }

    fn is_not_open(&self, what: &str) -> Result<(), Failure> {
        if self.equalizer.is_some() { Err(too_late(what)) } else { Ok(()) }
    }

    pub fn mask(&mut self, weights: &[u8]) -> Result<Status, Failure> {
        self.is_not_open("a mask")?;
        self.builder = self.builder.clone().mask(weights)?;
        Ok(Status::Ok)
    }

    /// The equalizer, which is opened if it is not.
    pub fn open(&mut self) -> Result<&mut Equalizer, Failure> {
        if self.equalizer.is_none() {
            if let Some(survey) = self.survey.take() {
                self.builder = self.builder.clone().scenes(&survey.finish());
            }
            self.equalizer = Some(self.builder.clone().build()?);
        }
        self.equalizer.as_mut().ok_or_else(|| Failure(Status::Backend, "no backend".to_owned()))
    }

    pub fn push(&mut self, input: Input<'_>) -> Result<Status, Failure> {
        if self.ready.is_some() {
            return Err(Failure(Status::State, "a frame has come out: pull it first".to_owned()));
        }
        self.ready = self.open()?.push(input)?;
        Ok(Status::Ok)
    }

    pub fn warm_up(&mut self, planes: &[PlaneInput<'_>]) -> Result<Status, Failure> {
        self.open()?.warm_up(Input::planes(planes))?;
        Ok(Status::Ok)
    }

    pub fn survey(&mut self, planes: &[PlaneInput<'_>]) -> Result<Status, Failure> {
        self.is_not_open("a survey")?;
        if self.survey.is_none() {
            self.survey = Some(self.builder.survey()?);
        }
        self.survey.as_mut().map_or(Ok(()), |survey| survey.push(Input::planes(planes)))?;
        Ok(Status::Ok)
    }

    pub fn finish(&mut self) -> Result<Status, Failure> {
        drop(self.open()?.finish()?);
        self.is_finished = true;
        Ok(Status::Ok)
    }

    /// The next frame, if one has come out, or all have to.
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
            && let Some(equalizer) = &mut self.equalizer
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
        self.open()?.restart(number)?;
        (self.ready, self.is_finished) = (None, false);
        Ok(Status::Ok)
    }
}

fn too_late(what: &str) -> Failure {
    Failure(Status::State, format!("{what}: too late, the backend is open"))
}
