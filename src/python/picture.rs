//! Pictures between arrays and frames: planes that the library reads where they lie, and results in arrays of the
//! library that the caller uses.
#![allow(unsafe_code, reason = "rows in memory of other libraries")]

use crate::array::{Array, ArrayMemory, ArraySamples, FLOATS_HINT, Item, describe};
use crate::layout::{Block, Layout};
use crate::sequence::Wrong;
use histeq::{DevicePlanes, DeviceRows, Limits};
use histeq::{Equalizer, Error, Input, Output, PlaneInput};
use pyo3::exceptions::{PyBufferError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple};

/// The arrays of a picture.
pub struct Arrays {
    arrays: Vec<Array>,
    is_tuple: bool,
}

/// The library that the caller's arrays are of, and so those of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Maker {
    NumPy,
    Torch,
    CuPy,
    /// `bytes` and similar objects of Python.
    Bytes,
}

impl Arrays {
    /// The array of a mask.
    pub fn from_mask(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Arrays { arrays: vec![Array::from_mask(object)?], is_tuple: false })
    }

    /// One array, or a tuple of planes.
    pub fn from_object(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let is_tuple = object.is_instance_of::<PyTuple>() || object.is_instance_of::<PyList>();
        let arrays = match is_tuple {
            true => object.try_iter()?.map(|plane| Array::from_object(&plane?)).collect::<PyResult<Vec<_>>>()?,
            false => vec![Array::from_object(object)?],
        };
        if let [first, rest @ ..] = &arrays[..]
            && let Some(other) = rest.iter().find(|other| other.place != first.place)
        {
            return Err(PyValueError::new_err(format!(
                "{}: the first plane is somewhere else: {}",
                other.about, first.about
            )));
        }
        Ok(Arrays { arrays, is_tuple })
    }

    pub fn place(&self) -> ArrayMemory {
        self.arrays.first().map_or(ArrayMemory::Host, |first| first.place)
    }

    fn named(&self) -> Vec<(&ArraySamples, &str)> {
        self.arrays.iter().map(|array| (&array.samples, &*array.about)).collect()
    }

    fn samples(&self) -> Vec<&ArraySamples> {
        self.arrays.iter().map(|array| &array.samples).collect()
    }

    /// The layout of the arrays; `format` and `size` override what is deduced from shapes.
    pub fn layout(&self, format: Option<histeq::PixelFormat>, size: Option<(usize, usize)>) -> Result<Layout, String> {
        Layout::new(&self.named(), self.is_tuple, format, size)
    }

    /// Checks that the arrays have this layout.
    pub fn check(&self, layout: &Layout) -> Result<(), String> {
        layout.check(&self.named())
    }

    /// The weights of a mask.
    pub fn into_mask(self) -> Result<Vec<u8>, Wrong> {
        let [array] = &self.arrays[..] else { return Err(Wrong::Value("a mask is one array".to_owned())) };
        if array.samples.item.bytes != 1 || array.place != ArrayMemory::Host {
            return Err(Wrong::Value(format!("{}: a mask is uint8 or bool, and on the host", array.about)));
        }
        let mut weights = room(array.samples.bytes())?;
        // SAFETY: the array is there, and is read where it has samples; the vector has room for as many bytes, and all
        // are written.
        unsafe {
            array.samples.copy(weights.as_mut_ptr(), false);
            weights.set_len(array.samples.bytes());
        }
        if array.is_bool {
            weights.iter_mut().for_each(|weight| *weight = if *weight == 0 { 0 } else { u8::MAX });
        }
        Ok(weights)
    }
}

/// An allocation of this number of bytes failed.
#[derive(Clone, Copy, Debug)]
pub struct NoMemory(pub usize);

/// An empty vector with the capacity for `bytes` bytes, which callers write through its address.
fn room(bytes: usize) -> Result<Vec<u8>, NoMemory> {
    let mut room = Vec::new();
    room.try_reserve_exact(bytes).map_err(|_| NoMemory(bytes))?;
    Ok(room)
}

/// The least size of a picture, in bytes, for which memory is checked.
const LARGE: usize = 1 << 24;

/// The least size of a picture, in bytes, for which the system is also asked how much memory is free.
const HUGE: usize = 1 << 30;

/// How many times the size of a picture the library needs: for its copy, the result, and its own work.
const COPIES: usize = 4;

/// Checks that there is memory to equalize a picture of this number of bytes. Without the check, the process would end:
/// the library does not survive a failed allocation.
pub fn check_memory(bytes: usize) -> Result<(), NoMemory> {
    if bytes >= LARGE {
        drop(room(bytes.saturating_mul(COPIES))?);
    }
    // Systems that overcommit memory would end the process later.
    if bytes >= HUGE && Limits::available().is_some_and(|available| bytes.saturating_mul(COPIES) > available) {
        return Err(NoMemory(bytes));
    }
    Ok(())
}

/// The library that an array is of.
pub fn maker(object: &Bound<'_, PyAny>) -> PyResult<Maker> {
    if object.is_instance_of::<PyTuple>() || object.is_instance_of::<PyList>() {
        return if object.is_empty()? { Ok(Maker::NumPy) } else { maker(&object.get_item(0)?) };
    }
    let module = object.get_type().module()?.extract::<String>()?;
    Ok(match module.split('.').next() {
        Some("torch") => Maker::Torch,
        Some("cupy") => Maker::CuPy,
        Some("builtins" | "mmap") => Maker::Bytes,
        _ => Maker::NumPy,
    })
}

/// A copy of the picture without gaps, in new arrays on the same device.
pub fn without_gaps<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    if object.is_instance_of::<PyTuple>() || object.is_instance_of::<PyList>() {
        let planes: Vec<_> = object.try_iter()?.map(|plane| without_gaps(&plane?)).collect::<PyResult<_>>()?;
        return Ok(PyTuple::new(object.py(), planes)?.into_any());
    }
    // `copy` of CuPy makes an array without gaps.
    object.call_method0(if object.hasattr("contiguous")? { "contiguous" } else { "copy" })
}

/// The rows of a plane in a caller's memory.
#[derive(Clone, Copy)]
struct PlaneRows {
    address: usize,
    stride: isize,
    row_bytes: usize,
    rows: usize,
}

impl PlaneRows {
    /// The lowest address, and how many bytes there are from there to the end of the last row.
    fn span(&self) -> (usize, usize) {
        let before = self.stride * (self.rows as isize - 1);
        (self.address.wrapping_add_signed(before.min(0)), before.unsigned_abs() + self.row_bytes)
    }

    fn row(&self, y: usize) -> *mut u8 {
        self.address.wrapping_add_signed(self.stride * y as isize) as *mut u8
    }
}

impl Block {
    /// The planes of the block, if each has rows without gaps at one stride.
    fn rows(&self, layout: &Layout) -> Option<Vec<PlaneRows>> {
        if let [(row_bytes, rows)] = self.shapes(layout)[..] {
            let (address, stride) = self.samples.rows(row_bytes, rows)?;
            return Some(vec![PlaneRows { address, stride, row_bytes, rows }]);
        }
        self.samples.is_gapless().then(|| self.packed(layout, self.samples.address))
    }

    /// The planes of the block, one after the other, from this address on.
    fn packed(&self, layout: &Layout, mut address: usize) -> Vec<PlaneRows> {
        let plane = |(row_bytes, rows): (usize, usize)| {
            let plane = PlaneRows { address, stride: row_bytes as isize, row_bytes, rows };
            address += row_bytes * rows;
            plane
        };
        self.shapes(layout).into_iter().map(plane).collect()
    }

    fn shapes(&self, layout: &Layout) -> Vec<(usize, usize)> {
        self.planes.clone().map(|plane| layout.shape(plane)).collect()
    }
}

/// Calls `push` with the planes of `arrays`, which are on the host.
pub fn with_input<R>(
    arrays: &Arrays,
    layout: &Layout,
    push: impl FnOnce(Input<'_>) -> Result<R, Error>,
) -> Result<R, Wrong> {
    check_memory(layout.bytes())?;
    let (mut copies, mut rows) = (Vec::new(), Vec::new());
    for block in layout.blocks(&arrays.samples()) {
        if let Some(planes) = block.rows(layout) {
            rows.extend(planes);
            continue;
        }
        let mut copy = room(block.samples.bytes())?;
        // SAFETY: `arrays` keeps the memory of these samples, and the copy has room for as many bytes, all of which are
        // written.
        unsafe { block.samples.copy(copy.as_mut_ptr(), false) };
        rows.extend(block.packed(layout, copy.as_ptr() as usize));
        copies.push(copy);
    }
    let plane = |rows: &PlaneRows| {
        let (lowest, bytes) = rows.span();
        // SAFETY: `arrays` or `copies` keep this memory, where the layout has found all rows. Callers do not write to a
        // picture that they have passed before the call returns.
        let bytes = unsafe { std::slice::from_raw_parts(lowest as *const u8, bytes) };
        PlaneInput { bytes, stride: rows.stride }
    };
    let planes: Vec<PlaneInput<'_>> = rows.iter().map(plane).collect();
    Ok(push(Input::planes(&planes))?)
}

/// The planes of `arrays` on a GPU; `None` if their rows have gaps or a negative stride.
fn on_device(arrays: &Arrays, layout: &Layout, context: usize) -> Option<DevicePlanes> {
    let mut planes = Vec::new();
    for block in layout.blocks(&arrays.samples()) {
        for PlaneRows { address, stride, row_bytes, rows } in block.rows(layout)? {
            planes.push(DeviceRows { address: address as u64, pitch: usize::try_from(stride).ok()?, row_bytes, rows });
        }
    }
    // `Array::from_object` has passed the default stream, number 0, to the library of the arrays.
    Some(DevicePlanes { context, stream: 0, planes })
}

/// Pushes `arrays`, which are on the GPU.
pub fn push_device(equalizer: &mut Equalizer, arrays: &Arrays, layout: &Layout) -> Result<Option<Output>, Wrong> {
    let context = equalizer.gpu_context().ok_or(Error::NotOnGpu)?;
    let planes = on_device(arrays, layout, context).ok_or(Wrong::Gaps)?;
    // SAFETY: `arrays` keeps this memory, which belongs to the primary context of the GPU, as DLPack has it. What its
    // library has enqueued is done before the work on the default stream, which the copies wait for.
    Ok(unsafe { equalizer.push_device(&planes) }?)
}

/// The arrays of `out`, if a result of this layout can be written there.
pub fn target(out: &Bound<'_, PyAny>, layout: &Layout) -> PyResult<Arrays> {
    let arrays = Arrays::from_object(out).map_err(|error| argument_error("out", out.py(), error))?;
    arrays.check(layout).map_err(|text| PyValueError::new_err(format!("out: {text}")))?;
    if !arrays.arrays.iter().all(|array| array.is_writable) {
        return Err(PyBufferError::new_err(format!("out: {}: it is read-only", describe(out)?)));
    }
    if matches!(arrays.place(), ArrayMemory::Cuda(_)) && on_device(&arrays, layout, 0).is_none() {
        return Err(PyValueError::new_err(format!("out: {}: rows without gaps are needed on a GPU", describe(out)?)));
    }
    Ok(arrays)
}

/// Puts the argument's name before the text of an error, and removes the hint that is for pictures alone.
pub fn argument_error(name: &str, py: Python<'_>, error: PyErr) -> PyErr {
    if !error.is_instance_of::<PyValueError>(py) && !error.is_instance_of::<PyTypeError>(py) {
        return error;
    }
    match error.value(py).str().and_then(|text| text.extract::<String>()) {
        Ok(text) => PyErr::from_type(error.get_type(py), format!("{name}: {}", text.trim_end_matches(FLOATS_HINT))),
        Err(interruption) => interruption,
    }
}

/// The result, which has this layout, in a new array, or in `out`.
pub fn delivered<'py>(
    py: Python<'py>,
    output: &Output,
    layout: &Layout,
    maker: (Maker, ArrayMemory),
    out: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let object = match (out, maker.0) {
        (Some(out), _) => out.clone(),
        (None, Maker::Bytes) if !layout.is_tuple() => {
            return Ok(PyBytes::new_with(py, layout.bytes(), |bytes| output.copy_into(bytes).map_err(crate::raised))?
                .into_any());
        }
        (None, _) => new_arrays(py, layout, maker)?,
    };
    let arrays = target(&object, layout)?;
    crate::detached(py, || write(output, &arrays, layout))?;
    Ok(object)
}

/// Writes the result to `arrays`, which can be written to.
fn write(output: &Output, arrays: &Arrays, layout: &Layout) -> Result<(), Wrong> {
    if let ArrayMemory::Cuda(_) = arrays.place() {
        let context = output.gpu_context().ok_or(Error::NotOnGpu)?;
        let planes = on_device(arrays, layout, context).ok_or(Wrong::Gaps)?;
        // SAFETY: as in `push_device`; and nothing else uses what a caller has passed to be written before the call
        // returns.
        return Ok(unsafe { output.copy_to_device(&planes) }?);
    }
    output.frame().bring_down().map_err(Error::from)?;
    for block in layout.blocks(&arrays.samples()) {
        let sources = &output.frame().planes()[block.planes.clone()];
        let fill = |planes: Vec<PlaneRows>| {
            for (target, sources) in planes.iter().zip(sources) {
                for y in 0..target.rows {
                    // SAFETY: `Block::rows` and `packed` have found that there is memory for this row; callers let
                    // nothing else use it before the call returns.
                    unsafe {
                        std::ptr::copy_nonoverlapping(
                            sources.row(y)[..target.row_bytes].as_ptr(),
                            target.row(y),
                            target.row_bytes,
                        )
                    };
                }
            }
        };
        match block.rows(layout) {
            Some(planes) => fill(planes),
            None => {
                let mut packed = room(block.samples.bytes())?;
                fill(block.packed(layout, packed.as_mut_ptr() as usize));
                // SAFETY: the samples can be written to, and are as many bytes as were written to `packed`.
                unsafe { block.samples.copy(packed.as_mut_ptr(), true) };
            }
        }
    }
    Ok(())
}

fn new_arrays<'py>(
    py: Python<'py>,
    layout: &Layout,
    (maker, place): (Maker, ArrayMemory),
) -> PyResult<Bound<'py, PyAny>> {
    let new = |shape: &[usize]| new_array(py, shape, layout.item, maker, place);
    if let (ArrayMemory::Cuda(_), true, [rows, columns, samples]) =
        (place, layout.has_channels(), &layout.shapes[0][..])
    {
        // Copies on a GPU write whole planes. The result is a view of them with the channels last.
        let planes = new(&[*samples, *rows, *columns])?;
        return planes.call_method1(if maker == Maker::Torch { "permute" } else { "transpose" }, (1, 2, 0));
    }
    let mut arrays = layout.shapes.iter().map(|shape| new(shape)).collect::<PyResult<Vec<_>>>()?;
    match layout.is_tuple() {
        true => Ok(PyTuple::new(py, arrays)?.into_any()),
        false => Ok(arrays.remove(0)),
    }
}

fn new_array<'py>(
    py: Python<'py>,
    shape: &[usize],
    item: Item,
    maker: Maker,
    place: ArrayMemory,
) -> PyResult<Bound<'py, PyAny>> {
    let shape = PyTuple::new(py, shape)?;
    let name = if item.bytes == 1 { "uint8" } else { "uint16" };
    match (maker, place) {
        (Maker::Torch, _) => {
            let torch = py.import("torch")?;
            let device = match place {
                ArrayMemory::Host => "cpu".to_owned(),
                ArrayMemory::Cuda(index) => format!("cuda:{index}"),
            };
            let options = [("dtype", torch.getattr(name)?), ("device", device.into_pyobject(py)?.into_any())];
            torch.call_method("empty", (shape,), Some(&pyo3::types::IntoPyDict::into_py_dict(options, py)?))
        }
        (_, ArrayMemory::Cuda(index)) => {
            let cupy = py.import("cupy")?;
            let device = cupy.getattr("cuda")?.call_method1("Device", (index,))?;
            device.call_method0("__enter__")?;
            let array = cupy.call_method1("empty", (shape, name));
            device.call_method1("__exit__", (py.None(), py.None(), py.None()))?;
            array
        }
        (_, ArrayMemory::Host) => {
            let dtype = if item.is_big_endian { ">u2" } else { name };
            py.import("numpy")?.call_method1("empty", (shape, dtype))
        }
    }
}
