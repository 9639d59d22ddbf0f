//! The module `histeq` for Python: arrays in, arrays out. `tests/hosts/python.sh` builds, installs and tests it.
//!
//! | file | what it is |
//! |---|---|
//! | `lib.rs` | the module; `equalize` for one picture |
//! | `sequence.rs` | `Equalizer` for many |
//! | `picture.rs` | pictures between arrays and frames |
//! | `layout.rs` | format and planes by the shapes of arrays |
//! | `array.rs` | arrays of other libraries: buffer protocol and DLPack |
//! | `limits.rs` | limits that equalizers share |
//! | `asked.rs` | options by names |
//! | `texts.rs` | help, signatures and types, made of the table of options |

mod array;
mod asked;
mod layout;
mod limits;
mod picture;
mod sequence;
mod texts;

use array::ArrayMemory;
use asked::Asked;
use histeq::OPTIONS;
use histeq::{Error, ErrorKind, Look, Named, Output, PixelFormat, Reach};
use layout::Layout;
use limits::PyLimits;
use picture::{Arrays, check_memory, delivered, maker, target, without_gaps};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple, PyType};
use sequence::{Frames, Sequence, Video, Wrong, asked};
use std::ffi::CString;
use std::sync::Mutex;

/// Does `work` without the GIL. The CUDA context that was current in this thread is current again afterwards.
fn detached<R: Send>(py: Python<'_>, work: impl Send + FnOnce() -> R) -> R {
    py.detach(|| histeq::keeping_current(work))
}

/// An error of the library as an exception.
fn raised(error: Error) -> PyErr {
    let text = texts::in_python(&match &error {
        Error::Option(error) => error.with_prefix("--"),
        Error::NotSurveyed { frame } => {
            format!("frame {frame} was not in the survey, which takes all frames that are pushed then")
        }
        error => error.to_string(),
    });
    let is_order = matches!(error, Error::Finished | Error::TooLate { .. } | Error::NotSurveyed { .. });
    let class = match error.kind() {
        ErrorKind::Parameter if is_order => "StateError",
        ErrorKind::Parameter => "ParameterError",
        ErrorKind::Limit => "LimitError",
        ErrorKind::Unsupported => "UnsupportedError",
        ErrorKind::Device => "DeviceError",
        _ => "InternalError",
    };
    exception(class, text)
}

/// An exception of this class of [`texts::ERRORS`].
fn exception(class: &str, text: String) -> PyErr {
    fn class_of<'py>(py: Python<'py>, class: &str) -> PyResult<Bound<'py, PyType>> {
        Ok(py.import("histeq")?.getattr(class)?.cast_into::<PyType>()?)
    }
    Python::attach(|py| class_of(py, class).map_or_else(|error| error, |class| PyErr::from_type(class, text)))
}

/// Equalizers that were used for a single picture, kept for the next one of the same kind: opening an equalizer takes
/// longer than a small picture.
static IDLE: Mutex<Vec<Idle>> = Mutex::new(Vec::new());

/// Most equalizers in `IDLE`.
const MAX_IDLE: usize = 4;

struct Idle {
    /// The process that the threads of the equalizer belong to.
    process: u32,
    asked: Asked,
    video: Video,
}

/// An equalizer for a picture like this: one of `IDLE`, or a new one.
fn video_for(asked: &Asked, layout: Layout, place: ArrayMemory) -> Result<Video, Wrong> {
    let process = std::process::id();
    // If another thread held the lock when this process was forked, the lock is never released here.
    if let Ok(mut idle) = IDLE.try_lock() {
        // A forked process has no threads of its parent, and a drop of the equalizer would wait for them for ever.
        idle.extract_if(.., |idle| idle.process != process).for_each(std::mem::forget);
        let fits = |idle: &Idle| (&idle.asked, &idle.video.layout, idle.video.place) == (asked, &layout, place);
        if let Some(index) = idle.iter().position(fits) {
            return Ok(idle.remove(index).video);
        }
    }
    Video::open(asked, layout, place, &Default::default(), None)
}

/// Equalizes one picture, and keeps the equalizer in `IDLE`.
fn equalized(asked: &Asked, arrays: &Arrays) -> Result<(Output, Layout), Wrong> {
    let layout = arrays.layout(asked.format, asked.size())?;
    if check_memory(layout.bytes()).is_err()
        && let Ok(mut idle) = IDLE.try_lock()
    {
        idle.clear();
    }
    check_memory(layout.bytes())?;
    let mut video = video_for(asked, layout, arrays.place())?;
    let mut done = video.push(arrays)?;
    // If results depend on no other frame, the equalizer needs no `finish` and no `restart`.
    let is_alone = video.equalizer.reach() == Reach::default();
    if done.is_none() && is_alone {
        done = video.equalizer.collect()?;
    } else if done.is_none() {
        done = video.equalizer.finish()?.next().transpose()?;
    }
    let done = done.ok_or(Wrong::Order("the picture did not come out: a bug"))?;
    if !is_alone {
        video.equalizer.restart(0)?;
    }
    let result = video.result.clone();
    if let Ok(mut idle) = IDLE.try_lock() {
        idle.push(Idle { process: std::process::id(), asked: asked.clone(), video });
        if idle.len() > MAX_IDLE {
            idle.remove(0);
        }
    }
    Ok((done, result))
}

/// What `equalize` calls: `texts.rs` makes that, with its signature and help.
#[pyfunction]
#[pyo3(signature = (array, *, out = None, **options))]
fn _equalize<'py>(
    array: &Bound<'py, PyAny>,
    out: Option<&Bound<'py, PyAny>>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = array.py();
    let mut asked = asked(options)?;
    if asked.options.has_whole_scenes() {
        let text = "smooth scene is for videos: push their frames through an Equalizer, with a survey first";
        return Err(PyValueError::new_err(text));
    }
    // One thread equalizes a single picture: more threads would be started for nothing.
    if asked.limits.is_none() {
        asked.described.entry("threads").or_insert_with(|| "1".to_owned());
    }
    let arrays = Arrays::from_object(array)?;
    if let Some(out) = out {
        let layout = arrays.layout(asked.format, asked.size()).map_err(Wrong::from)?;
        let format = asked.builder(layout.format, layout.size).and_then(|builder| builder.output_format());
        target(out, &layout.result_layout(format.map_err(raised)?))?;
    }
    let done = match detached(py, || equalized(&asked, &arrays)) {
        Err(Wrong::Gaps) => {
            let arrays = Arrays::from_object(&without_gaps(array)?)?;
            detached(py, || equalized(&asked, &arrays))
        }
        other => other,
    };
    let (output, layout) = done?;
    py.check_signals()?;
    delivered(py, &output, &layout, (maker(array)?, arrays.place()), out)
}

/// All options of equalization: names, values, ranges, defaults, help.
#[pyfunction]
fn options(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let list = PyList::empty(py);
    for option in OPTIONS {
        let about = PyDict::new(py);
        about.set_item("name", texts::python_name(option.name))?;
        about.set_item("values", option.values)?;
        about.set_item("default", texts::in_python(option.default))?;
        about.set_item("summary", texts::in_python(option.summary))?;
        about.set_item("details", texts::in_python(option.details))?;
        let (least, most) = option.bounds().unzip();
        about.set_item("least", least)?;
        about.set_item("most", most)?;
        let names = PyDict::new(py);
        option.choices().iter().try_for_each(|(name, text)| names.set_item(name, texts::in_python(text)))?;
        about.set_item("choices", Some(names).filter(|names| !names.is_empty()))?;
        list.append(about)?;
    }
    Ok(list)
}

// Not tested in builds of Python without the GIL.
#[pymodule(name = "histeq", gil_used = true)]
fn histeq_module(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let globals = PyDict::new(py);
    globals.set_item("__name__", "histeq")?;
    globals.set_item("_equalize", wrap_pyfunction!(_equalize, module)?)?;
    globals.set_item("_Equalizer", py.get_type::<Sequence>())?;
    py.run(&CString::new(texts::code())?, Some(&globals), None)?;
    module.add("__doc__", texts::module_doc())?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("equalize", globals.get_item("equalize")?)?;
    for (class, ..) in texts::ERRORS {
        module.add(class, globals.get_item(class)?)?;
    }
    module.add_class::<Sequence>()?;
    module.add_class::<Frames>()?;
    module.add_class::<PyLimits>()?;
    py.get_type::<PyLimits>().setattr("__doc__", texts::limits_doc())?;
    py.get_type::<Sequence>().setattr("__doc__", texts::equalizer_doc())?;
    module.add_function(wrap_pyfunction!(options, module)?)?;
    module.add("FORMATS", PyTuple::new(py, PixelFormat::ALL.iter().map(|format| format.name()))?)?;
    module.add("LOOKS", PyTuple::new(py, Look::ALL.iter().map(|look| look.name()))?)
}
