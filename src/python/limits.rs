//! `histeq.Limits`.

use histeq::Limits;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Limits that equalizers share.
#[pyclass(frozen, module = "histeq", name = "Limits")]
#[derive(Clone, PartialEq)]
pub struct PyLimits(Limits);

impl PyLimits {
    /// The limits of the library.
    pub fn inner(&self) -> &Limits {
        &self.0
    }
}

#[pymethods]
impl PyLimits {
    #[new]
    #[pyo3(signature = (*, memory = None, pixels = None, threads = None))]
    fn new(memory: Option<usize>, pixels: Option<u64>, threads: Option<usize>) -> PyResult<Self> {
        if memory == Some(0) || pixels == Some(0) || threads == Some(0) {
            return Err(PyValueError::new_err("a limit is a number above 0, or None"));
        }
        let mut limits = Limits::default();
        if let Some(memory) = memory {
            limits = limits.with_memory(memory);
        }
        if let Some(pixels) = pixels {
            limits = limits.with_pixels(pixels);
        }
        if let Some(threads) = threads {
            limits = limits.with_threads(threads);
        }
        Ok(PyLimits(limits))
    }

    /// The most bytes of all frames, or None.
    #[getter]
    fn memory(&self) -> Option<usize> {
        Some(self.0.memory()).filter(|memory| *memory < usize::MAX)
    }

    /// The most pixels of a frame.
    #[getter]
    fn pixels(&self) -> u64 {
        self.0.pixels()
    }

    /// How many threads each part of the work may start.
    #[getter]
    fn threads(&self) -> usize {
        self.0.threads()
    }

    /// The bytes of all frames that are in use now.
    #[getter]
    fn in_use(&self) -> usize {
        self.0.in_use()
    }
}
