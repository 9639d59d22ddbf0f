//! The options of a call by name: those of the table, and properties of the pictures and of the machine.

use crate::limits::PyLimits;
use crate::texts::{in_python, names, option_name};
use histeq::{Backend, Builder, Equalizer, Named, Options, PixelFormat};
use histeq::{OptionInfo, ValueKind};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyList, PyString, PyTuple};
use std::collections::BTreeMap;

/// What [`Builder::described`] sets, and the values in a phrase.
const DESCRIBED: [(&str, &str); 6] = [
    ("rate", "a number of frames a second"),
    ("range", "limited or full"),
    ("matrix", "bt601, bt709 or bt2020"),
    ("transfer", "sdr, pq or hlg"),
    ("live", "True or False"),
    ("threads", "a number from 0 to 1024"),
];

/// The most names that are proposed for an unknown one.
const MAX_NEAR: usize = 3;

/// The options of a call.
#[derive(Clone, Default, PartialEq)]
pub struct Asked {
    pub format: Option<PixelFormat>,
    width: Option<usize>,
    height: Option<usize>,
    pub options: Options,
    /// The values of what is in [`DESCRIBED`].
    pub described: BTreeMap<&'static str, String>,
    pub backend: Backend,
    pub gpu: Option<usize>,
    pub mask: Option<Vec<u8>>,
    pub limits: Option<PyLimits>,
}

impl Asked {
    /// Columns and rows, if both are named.
    pub fn size(&self) -> Option<(usize, usize)> {
        self.width.zip(self.height)
    }

    /// Sets the option or property of this name; `None` changes nothing.
    pub fn set(&mut self, name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        if value.is_none() {
            return Ok(());
        }
        if name == "limits" {
            let limits = value.cast::<PyLimits>();
            self.limits = Some(limits.map_err(|_| PyTypeError::new_err("limits are histeq.Limits"))?.get().clone());
            return Ok(());
        }
        let text = text(name, value)?;
        let wrong = |values: &str| PyValueError::new_err(format!("{name} is {values}, not {text}"));
        let number = |least: usize, most: usize, values: &str| {
            text.parse().ok().filter(|number| (least..=most).contains(number)).ok_or_else(|| wrong(values))
        };
        match name {
            "format" => {
                let unknown = || {
                    let near = near(&text, PixelFormat::ALL.iter().map(|format| format.name().to_owned()));
                    PyValueError::new_err(format!("format is one of histeq.FORMATS, not {text}{near}"))
                };
                self.format = Some(PixelFormat::from_name(&text).ok_or_else(unknown)?);
            }
            "width" => self.width = Some(number(1, 1 << 20, "a number of columns")?),
            "height" => self.height = Some(number(1, 1 << 20, "a number of rows")?),
            "backend" => self.backend = Backend::from_name(&text).ok_or_else(|| wrong("auto, cpu or cuda"))?,
            "gpu" => self.gpu = Some(number(0, 1024, "the index of a GPU, from 0")?),
            _ => match DESCRIBED.into_iter().find(|(known, _)| *known == name) {
                Some((name, values)) => {
                    let tried = Equalizer::builder(PixelFormat::Gray, 1, 1).described(name, &text);
                    tried.ok_or_else(|| wrong(values))?;
                    self.described.insert(name, text);
                }
                None => self.set_option(name, &text)?,
            },
        }
        Ok(())
    }

    /// Sets an option of the table.
    pub fn set_option(&mut self, name: &str, text: &str) -> PyResult<()> {
        let option = OptionInfo::named(&option_name(name)).ok_or_else(|| unknown(name))?;
        option.set(&mut self.options, text).map_err(|error| {
            PyValueError::new_err(match option.kind {
                ValueKind::Choice(choices) => {
                    let names: Vec<_> = choices().iter().map(|(name, _)| (*name).to_owned()).collect();
                    let near = near(text, names.iter().cloned());
                    format!("{name} is one of {}, not {text}{near}", names.join(", "))
                }
                _ => in_python(&error.with_prefix("--")),
            })
        })
    }

    /// A builder for pictures of this format and size.
    pub fn builder(&self, format: PixelFormat, (width, height): (usize, usize)) -> histeq::Result<Builder> {
        let mut builder = Equalizer::builder(format, width, height).options(self.options.clone()).backend(self.backend);
        builder = builder.gpu(self.gpu.unwrap_or_default());
        for (name, text) in &self.described {
            // Each was tried when it was set.
            builder = builder.clone().described(name, text).unwrap_or(builder);
        }
        if let Some(limits) = &self.limits {
            builder = builder.limits(limits.inner());
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
    // As options have it: (8, 8) tiles are 8x8, a rectangle is X,Y,W,H.
    if value.is_instance_of::<PyTuple>() || value.is_instance_of::<PyList>() {
        let option = OptionInfo::named(&option_name(name)).filter(|option| matches!(option.kind, ValueKind::Text));
        let between = option.and_then(|option| match option.placeholder {
            "CxR" => Some("x"),
            "X,Y,W,H" => Some(","),
            _ => None,
        });
        if let Some(between) = between {
            let numbers = value.try_iter()?.map(|number| number?.str()?.extract::<String>());
            return Ok(numbers.collect::<PyResult<Vec<_>>>()?.join(between));
        }
    }
    // Numbers of other libraries.
    if let Ok(number) = value.extract::<f64>() {
        return Ok(number.to_string());
    }
    let kind = value.get_type().name()?.extract::<String>()?;
    let values = match OptionInfo::named(&option_name(name)) {
        Some(option) => format!("{name} is {}", option.values),
        None => format!("{name} is a text, a number or a truth value"),
    };
    Err(PyTypeError::new_err(format!("{values}, not {kind}")))
}

fn unknown(name: &str) -> PyErr {
    let near = near(name, names());
    PyTypeError::new_err(format!("there is no option {name}{near}; histeq.options() lists them"))
}

/// ` (night?)`: a hint with the `names` that are similar to `text`; empty if there are none.
fn near(text: &str, names: impl Iterator<Item = String>) -> String {
    let text = text.to_lowercase();
    let mut near: Vec<(bool, usize, String)> = names
        .map(|name| (!name.starts_with(&text), strsim::osa_distance(&text, &name), name))
        .filter(|(is_other, distance, name)| !is_other || *distance <= 1 + name.len() / 5)
        .collect();
    near.sort();
    // Names that begin with `text` exclude those that are only similar.
    let begins = near.first().is_some_and(|(is_other, ..)| !is_other);
    near.retain(|(is_other, ..)| begins != *is_other);
    near.truncate(MAX_NEAR);
    let names: Vec<String> = near.into_iter().map(|(.., name)| name).collect();
    if text.is_empty() || names.is_empty() { String::new() } else { format!(" ({}?)", names.join(", ")) }
}
