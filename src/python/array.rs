//! Arrays of callers: the addresses of their samples, by the buffer protocol and DLPack, without a copy.
#![allow(unsafe_code, reason = "addresses that other libraries give")]

use dlpark::ffi::{DLDataTypeCode, DLDevice, DLDeviceType};
use dlpark::python::{DlpackStream, ImportRequest, ImportedDlpack, StreamArg, consumer};
use dlpark::{DlpackFlags, TensorRef};
use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::{PyException, PyTypeError, PyValueError};
use pyo3::prelude::*;
use std::ffi::c_void;
use std::ptr::null_mut;

/// An array of a caller, whose memory stays until this is dropped.
pub struct Array {
    pub samples: ArraySamples,
    pub place: ArrayMemory,
    pub is_writable: bool,
    /// Whether samples are truth values, in bytes.
    pub is_bool: bool,
    /// What it is, for messages: `uint8 array of shape (1080, 1920)`.
    pub about: String,
    _owner: Owner,
}

/// The memory layout of an array's samples.
#[derive(Clone, Debug)]
pub struct ArraySamples {
    /// Address of the first sample.
    pub address: usize,
    pub item: Item,
    pub shape: Vec<usize>,
    /// Bytes from one sample to the next, for each dimension.
    pub strides: Vec<isize>,
}

/// A sample in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    /// 1 or 2.
    pub bytes: usize,
    pub is_big_endian: bool,
}

/// The memory that an array is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrayMemory {
    Host,
    /// The GPU of this index.
    Cuda(usize),
}

/// Keeps the memory of the samples alive.
#[allow(dead_code, reason = "it is dropped, and not read")]
enum Owner {
    Buffer(PyUntypedBuffer),
    Tensor(ImportedDlpack),
}

/// The default stream of the CUDA runtime. Owners of arrays order their work before it, and the copies of `histeq` wait
/// for it.
struct DefaultStream;

// SAFETY: the default stream of a device is always there, and belongs to its primary context. On the host there are no
// streams.
unsafe impl DlpackStream for DefaultStream {
    fn as_python_arg(&self, _: Python<'_>, device: DLDevice) -> PyResult<StreamArg> {
        let is_cuda = device.device_type == DLDeviceType::CUDA;
        Ok(if is_cuda { consumer::stream::cuda(null_mut::<c_void>()) } else { consumer::stream::none() })
    }
}

impl Array {
    /// The array behind `object`.
    pub fn from_object(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        Array::taking(object, false)
    }

    /// The array behind `object`, whose samples may be truth values.
    pub fn from_mask(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        Array::taking(object, true)
    }

    fn taking(object: &Bound<'_, PyAny>, takes_bools: bool) -> PyResult<Self> {
        // Raises a pending interruption (Ctrl-C), which calls into other libraries would swallow.
        object.py().check_signals()?;
        let about = describe(object)?;
        if let Some(buffer) = unless_interrupted(object.py(), PyUntypedBuffer::get(object))? {
            return Array::from_buffer(buffer, about, takes_bools);
        }
        if !object.hasattr("__dlpack__")? {
            let text = format!("{about}: an array of uint8 or uint16 is needed (NumPy, PyTorch, CuPy, bytes, DLPack)");
            return Err(PyTypeError::new_err(text));
        }
        let request = ImportRequest::new(object.as_borrowed())?;
        // An array without a device has no streams.
        let stream: Option<&dyn DlpackStream> = request.device().is_ok().then_some(&DefaultStream);
        Array::from_tensor(request.import(stream, None)?, about, takes_bools)
    }

    fn from_buffer(buffer: PyUntypedBuffer, about: String, takes_bools: bool) -> PyResult<Self> {
        let is_bool = takes_bools && matches!(buffer.format().to_bytes(), b"?" | b"@?" | b"=?" | b"<?" | b">?" | b"!?");
        let item = match buffer.format().to_bytes() {
            _ if is_bool => Item { bytes: 1, is_big_endian: false },
            b"B" | b"@B" | b"=B" | b"<B" | b">B" | b"!B" => Item { bytes: 1, is_big_endian: false },
            b"H" | b"@H" | b"=H" => Item { bytes: 2, is_big_endian: cfg!(target_endian = "big") },
            b"<H" => Item { bytes: 2, is_big_endian: false },
            b">H" | b"!H" => Item { bytes: 2, is_big_endian: true },
            _ => return Err(wrong_type(&about)),
        };
        let samples = ArraySamples {
            address: buffer.buf_ptr() as usize,
            item,
            shape: buffer.shape().to_vec(),
            strides: buffer.strides().to_vec(),
        };
        if buffer.suboffsets().is_some() {
            return Err(PyValueError::new_err(format!("{about}: its rows are somewhere else, behind pointers")));
        }
        let is_writable = !buffer.readonly();
        Ok(Array { samples, place: ArrayMemory::Host, is_writable, is_bool, about, _owner: Owner::Buffer(buffer) })
    }

    fn from_tensor(imported: ImportedDlpack, about: String, takes_bools: bool) -> PyResult<Self> {
        let wrong = |text: String| PyValueError::new_err(format!("{about}: {text}"));
        let tensor = imported.validate().map_err(|error| wrong(error.to_string()))?;
        let (dtype, device) = (tensor.dtype(), tensor.device());
        let is_bool = takes_bools && (dtype.code, dtype.bits, dtype.lanes) == (DLDataTypeCode::BOOL, 8, 1);
        let item = match (dtype.code, dtype.bits, dtype.lanes) {
            _ if is_bool => Item { bytes: 1, is_big_endian: false },
            (DLDataTypeCode::UINT, 8, 1) => Item { bytes: 1, is_big_endian: false },
            (DLDataTypeCode::UINT, 16, 1) => Item { bytes: 2, is_big_endian: cfg!(target_endian = "big") },
            _ => return Err(wrong_type(&about)),
        };
        let index = usize::try_from(device.device_id).map_err(|_| wrong("its device has no number".to_owned()))?;
        let place = match device.device_type {
            DLDeviceType::CPU | DLDeviceType::CUDAHOST => ArrayMemory::Host,
            DLDeviceType::CUDA => ArrayMemory::Cuda(index),
            other => {
                return Err(wrong(format!("it is on a device of DLPack's type {}, not the host or CUDA", other.0)));
            }
        };
        let samples = ArraySamples {
            address: address(&tensor).map_err(&wrong)?,
            item,
            shape: tensor.shape().iter().map(|&count| count as usize).collect(),
            strides: strides(&tensor)
                .map_err(&wrong)?
                .iter()
                .map(|&step| step as isize * item.bytes as isize)
                .collect(),
        };
        let is_writable = !imported.flags().contains(DlpackFlags::READ_ONLY);
        Ok(Array { samples, place, is_writable, is_bool, about, _owner: Owner::Tensor(imported) })
    }
}

fn address(tensor: &TensorRef<'_>) -> Result<usize, String> {
    // SAFETY: the producer promises that the first sample lies in its memory.
    unsafe { tensor.offset_bytes_ptr() }.map(|index| index as usize).map_err(|error| error.to_string())
}

fn strides(tensor: &TensorRef<'_>) -> Result<Vec<i64>, String> {
    tensor.strides_or_compact().map(|strides| strides.into_owned()).map_err(|error| error.to_string())
}

/// A hint in errors about pictures of floats.
pub const FLOATS_HINT: &str = " (floats from 0 to 1: times 255, rounded)";

fn wrong_type(about: &str) -> PyErr {
    let hint = if about.contains(" of float") { FLOATS_HINT } else { "" };
    PyTypeError::new_err(format!("{about}: samples are uint8 or uint16{hint}"))
}

/// The value of `result`, or `None` after an exception. An interruption by the user (Ctrl-C), which any call into
/// Python may raise, stays an error.
fn unless_interrupted<T>(py: Python<'_>, result: PyResult<T>) -> PyResult<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.is_instance_of::<PyException>(py) => Ok(None),
        Err(error) => Err(error),
    }
}

/// `uint8 array of shape (1080, 1920)`; with the device if the array is not on the host.
pub fn describe(object: &Bound<'_, PyAny>) -> PyResult<String> {
    let py = object.py();
    let text = |name: &str| {
        let value = unless_interrupted(py, object.getattr(name))?.filter(|value| !value.is_callable());
        value.map(|value| value.str()?.extract::<String>()).transpose()
    };
    let class = object.get_type();
    // PyO3's `fully_qualified_name` swallows an interruption.
    let (module, name) = (class.module()?.extract::<String>()?, class.qualname()?.extract::<String>()?);
    let kind = if module == "builtins" { name } else { format!("{module}.{name}") };
    Ok(match (text("shape")?, text("dtype")?) {
        (Some(shape), Some(dtype)) => {
            let shape =
                shape.trim_start_matches("torch.Size(").trim_start_matches('[').trim_end_matches([']', ')', '(']);
            let shape = shape.trim_start_matches('(');
            let device =
                text("device")?.filter(|device| device != "cpu").map_or_else(String::new, |on| format!(" on {on}"));
            format!("{kind} of {}, shape ({shape}){device}", dtype.trim_start_matches("torch."))
        }
        _ => match unless_interrupted(py, object.len())? {
            Some(len) => format!("{kind} of length {len}"),
            None => kind,
        },
    })
}

impl ArraySamples {
    /// The bytes of all samples, at most `usize::MAX`: a view with strides of 0 may have more samples than memory.
    pub fn bytes(&self) -> usize {
        self.shape.iter().fold(self.item.bytes, |bytes, &count| bytes.saturating_mul(count))
    }

    /// The samples at `index` of the first dimension.
    pub fn at(&self, index: usize) -> ArraySamples {
        ArraySamples {
            address: self.address.wrapping_add_signed(self.strides[0] * index as isize),
            item: self.item,
            shape: self.shape[1..].to_vec(),
            strides: self.strides[1..].to_vec(),
        }
    }

    /// The samples at `index` of the last dimension.
    pub fn at_last(&self, index: usize) -> ArraySamples {
        let last = self.shape.len() - 1;
        ArraySamples {
            address: self.address.wrapping_add_signed(self.strides[last] * index as isize),
            item: self.item,
            shape: self.shape[..last].to_vec(),
            strides: self.strides[..last].to_vec(),
        }
    }

    /// The dimensions as (length, stride), without those of length 1, and with neighbours joined if there is no gap
    /// between them. The last one is a run of bytes.
    fn runs(&self) -> Vec<(usize, isize)> {
        let mut runs = vec![(self.item.bytes, 1)];
        for (&count, &step) in self.shape.iter().zip(&self.strides).rev().filter(|(count, _)| **count != 1) {
            let (inner, inner_step) = runs[0];
            match step == inner as isize * inner_step {
                true => runs[0].0 *= count,
                false => runs.insert(0, (count, step)),
            }
        }
        runs
    }

    /// The address and the stride in bytes, if the samples are `rows` rows of `row_bytes` bytes without gaps in a row.
    pub fn rows(&self, row_bytes: usize, rows: usize) -> Option<(usize, isize)> {
        match self.runs()[..] {
            [(bytes, _)] if bytes == row_bytes * rows => Some((self.address, row_bytes as isize)),
            [(count, step), (bytes, _)] if (count, bytes) == (rows, row_bytes) && step.unsigned_abs() >= row_bytes => {
                Some((self.address, step))
            }
            _ => None,
        }
    }

    /// Whether all bytes are one after the other.
    pub fn is_gapless(&self) -> bool {
        self.runs().len() == 1
    }

    /// Copies the bytes of the samples, in their order, between here and `packed`.
    ///
    /// # Safety
    /// The samples lie in memory of the host that can be read; with `is_written`, that can be written to. `packed` has
    /// as many bytes, which do not overlap them.
    pub unsafe fn copy(&self, packed: *mut u8, is_written: bool) {
        let runs = self.runs();
        let (last, outer) = runs.split_last().map_or((1, &[][..]), |((bytes, _), outer)| (*bytes, outer));
        let mut place = packed;
        let mut each = |source: *mut u8| {
            // SAFETY: by the caller's promise: each run is as long as `last` on both sides, and there are no more of
            // them.
            unsafe {
                let (source, target) = if is_written { (place, source) } else { (source, place) };
                match last {
                    1 => target.write(source.read()),
                    _ => std::ptr::copy_nonoverlapping(source, target, last),
                }
                place = place.add(last);
            }
        };
        walk(self.address as *mut u8, outer, &mut each);
    }
}

/// Calls `each` with the address of every run.
fn walk(address: *mut u8, outer: &[(usize, isize)], each: &mut impl FnMut(*mut u8)) {
    match outer {
        [] => each(address),
        [(count, step), inner @ ..] => {
            for index in 0..*count {
                walk(address.wrapping_offset(index as isize * step), inner, each);
            }
        }
    }
}
