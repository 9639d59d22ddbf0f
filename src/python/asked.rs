//! What is asked for, by names: the options of the table, and what a caller says of the pictures and of the machine.

use crate::texts::{in_python, option_name};
use histeq::frame::Transfer;
use histeq::options::OptionInfo;
use histeq::{Backend, Builder, Equalizer, Matrix, Named, Options, PixelFormat, Range};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyString};

/// The most threads that are asked for.
const MOST_THREADS: usize = 1024;

/// What is asked for.
#[derive(Clone, Default, PartialEq)]
pub struct Asked {
    pub format: Option<PixelFormat>,
    width: Option<usize>,
    height: Option<usize>,
    pub options: Options,
    rate: Option<f64>,
    range: Option<Range>,
    matrix: Option<Matrix>,
    transfer: Transfer,
    is_live: bool,
    pub backend: Backend,
    pub gpu: Option<usize>,
    pub threads: Option<usize>,
    pub mask: Option<Vec<u8>>,
}

impl Asked {
    /// Columns and rows, if both are named.
    pub fn size(&self) -> Option<(usize, usize)> {
        self.width.zip(self.height)
    }

    /// Sets what has this name; `None` is as if it was not named.
    pub fn set(&mut self, name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        if value.is_none() {
            return Ok(());
        }
        let text = text(name, value)?;
        let wrong = |values: &str| PyValueError::new_err(format!("{name} is {values}, not {text}"));
        let number = |least: usize, most: usize, values: &str| {
            text.parse().ok().filter(|number| (least..=most).contains(number)).ok_or_else(|| wrong(values))
        };
        match name {
            "format" => {
                let unknown = || wrong("one of histeq.FORMATS");
                self.format = Some(PixelFormat::from_name(&text).ok_or_else(unknown)?);
            }
            "width" => self.width = Some(number(1, 1 << 20, "a number of columns")?),
            "height" => self.height = Some(number(1, 1 << 20, "a number of rows")?),
            "rate" => {
                let rate = text.parse().ok().filter(|rate: &f64| rate.is_finite() && *rate > 0.0);
                self.rate = Some(rate.ok_or_else(|| wrong("a number of frames a second"))?);
            }
            "range" => {
                self.range = Some(match &*text {
                    "limited" => Range::Limited,
                    "full" => Range::Full,
                    _ => return Err(wrong("limited or full")),
                });
            }
            "matrix" => {
                self.matrix = Some(match &*text {
                    "bt601" => Matrix::Bt601,
                    "bt709" => Matrix::Bt709,
                    "bt2020" => Matrix::Bt2020,
                    _ => return Err(wrong("bt601, bt709 or bt2020")),
                });
            }
            "transfer" => {
                self.transfer = match &*text {
                    "sdr" => Transfer::Sdr,
                    "pq" => Transfer::Pq,
                    "hlg" => Transfer::Hlg,
                    _ => return Err(wrong("sdr, pq or hlg")),
                };
            }
            "live" => self.is_live = text.parse().map_err(|_| wrong("True or False"))?,
            "backend" => self.backend = Backend::from_name(&text).ok_or_else(|| wrong("auto, cpu or cuda"))?,
            "gpu" => self.gpu = Some(number(0, MOST_THREADS, "the index of a GPU, from 0")?),
            "threads" => self.threads = Some(number(1, MOST_THREADS, "a number from 1 to 1024")?),
            _ => self.set_option(name, &text)?,
        }
        Ok(())
    }

    /// Sets an option of the table.
    pub fn set_option(&mut self, name: &str, text: &str) -> PyResult<()> {
        let option = OptionInfo::named(&option_name(name)).ok_or_else(|| unknown(name))?;
        option.set(&mut self.options, text).map_err(|error| PyValueError::new_err(in_python(&error.with_prefix("--"))))
    }

    /// A builder for pictures of this format and size.
    pub fn builder(&self, format: PixelFormat, (width, height): (usize, usize)) -> histeq::Result<Builder> {
        let mut builder = Equalizer::builder(format, width, height).options(self.options.clone()).backend(self.backend);
        builder = builder.transfer(self.transfer).gpu(self.gpu.unwrap_or_default());
        if let Some(rate) = self.rate {
            builder = builder.rate(rate);
        }
        if let Some(range) = self.range {
            builder = builder.range(range);
        }
        if let Some(matrix) = self.matrix {
            builder = builder.matrix(matrix);
        }
        if self.is_live {
            builder = builder.live();
        }
        if let Some(threads) = self.threads {
            builder = builder.threads(threads);
        }
        match &self.mask {
            Some(weights) => builder.mask(weights),
            None => Ok(builder),
        }
    }
}

/// The text of a value, as a command line has it.
pub fn text(name: &str, value: &Bound<'_, PyAny>) -> PyResult<String> {
    if let Ok(flag) = value.cast::<PyBool>() {
        return Ok(flag.is_true().to_string());
    }
    if value.is_instance_of::<PyString>() || value.is_instance_of::<PyInt>() || value.is_instance_of::<PyFloat>() {
        return value.str()?.extract();
    }
    // Numbers of other libraries.
    if let Ok(number) = value.extract::<f64>() {
        return Ok(number.to_string());
    }
    let kind = value.get_type().name()?.extract::<String>()?;
    Err(PyTypeError::new_err(format!("{name} is a text, a number or a truth value, not {kind}")))
}

fn unknown(name: &str) -> PyErr {
    PyTypeError::new_err(format!("there is no option {name}; histeq.options() lists them"))
}
