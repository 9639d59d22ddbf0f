//! `histeq.Equalizer`: a sequence of frames.

use crate::array::ArrayMemory;
use crate::asked::Asked;
use crate::layout::Layout;
use crate::picture::{
    Arrays, Maker, NoMemory, argument_error, delivered, maker, push_device, target, with_input, without_gaps,
};
use crate::{detached, exception, raised};
use histeq::{Backend, Equalizer, Error, Note, Output, SceneSurvey, Scenes};
use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyIterator, PyTuple};
use std::sync::{Arc, Mutex, MutexGuard};

/// An equalizer for arrays of one shape.
pub struct Video {
    pub layout: Layout,
    /// The layout of results.
    pub result: Layout,
    pub place: ArrayMemory,
    pub equalizer: Equalizer,
}

/// An error before it becomes an exception.
pub enum Wrong {
    /// The value of an argument.
    Value(String),
    /// The order of calls.
    Order(&'static str),
    /// Rows on a GPU that have gaps.
    Gaps,
    NoMemory(NoMemory),
    Error(Error),
}

impl From<NoMemory> for Wrong {
    fn from(none: NoMemory) -> Self {
        Wrong::NoMemory(none)
    }
}

impl From<Error> for Wrong {
    fn from(error: Error) -> Self {
        Wrong::Error(error)
    }
}

impl From<String> for Wrong {
    fn from(text: String) -> Self {
        Wrong::Value(text)
    }
}

impl From<Wrong> for PyErr {
    fn from(wrong: Wrong) -> Self {
        match wrong {
            Wrong::Value(text) => PyValueError::new_err(text),
            Wrong::Order(text) => exception("StateError", text.to_owned()),
            Wrong::Gaps => PyValueError::new_err("rows without gaps are needed on a GPU"),
            Wrong::NoMemory(NoMemory(bytes)) => PyMemoryError::new_err(format!("no memory for {bytes} bytes")),
            Wrong::Error(error) => raised(error),
        }
    }
}

impl Video {
    /// The equalizer that is asked for, for arrays like these.
    pub fn open(
        asked: &Asked,
        layout: Layout,
        place: ArrayMemory,
        notes: &SharedNotes,
        scenes: Option<&Scenes>,
    ) -> Result<Self, Wrong> {
        let mut builder = Video::builder(asked, &layout, place)?;
        let result = layout.result_layout(builder.output_format()?);
        if let Some(scenes) = scenes {
            builder = builder.scenes(scenes);
        }
        let notes = notes.clone();
        let keep = move |note: &Note| {
            if let Note::Note(text) | Note::Warning(text) = note {
                notes.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(text.clone());
            }
        };
        Ok(Video { equalizer: builder.on_note(keep).build()?, layout, result, place })
    }

    fn builder(asked: &Asked, layout: &Layout, place: ArrayMemory) -> Result<histeq::Builder, Wrong> {
        let builder = asked.builder(layout.format, layout.size)?;
        match (place, asked.gpu, asked.backend) {
            (ArrayMemory::Host, ..) => Ok(builder),
            (ArrayMemory::Cuda(index), Some(gpu), _) if gpu != index => {
                Err(Wrong::Value(format!("the arrays are on GPU {index}, and gpu={gpu} is asked for")))
            }
            (ArrayMemory::Cuda(index), _, Backend::Auto) => Ok(builder.gpu(index).backend(Backend::Cuda).stay_on_gpu()),
            (ArrayMemory::Cuda(index), ..) => Ok(builder.gpu(index).stay_on_gpu()),
        }
    }

    /// Pushes a picture, which has to have the layout of those before.
    pub fn push(&mut self, arrays: &Arrays) -> Result<Option<Output>, Wrong> {
        self.check(arrays)?;
        match self.place {
            ArrayMemory::Host => with_input(arrays, &self.layout, |input| self.equalizer.push(input)),
            ArrayMemory::Cuda(_) => push_device(&mut self.equalizer, arrays, &self.layout),
        }
    }

    fn check(&self, arrays: &Arrays) -> Result<(), Wrong> {
        arrays.check(&self.layout)?;
        match arrays.place() == self.place {
            true => Ok(()),
            false => Err(Wrong::Value("the frames before were on another device".to_owned())),
        }
    }
}

/// Notes and warnings for the caller.
type SharedNotes = Arc<Mutex<Vec<String>>>;

/// A video on its way.
#[pyclass(frozen, module = "histeq", name = "Equalizer")]
pub struct Sequence {
    /// `None` when it is closed.
    state: Mutex<Option<State>>,
    notes: SharedNotes,
}

struct State {
    asked: Asked,
    survey: Option<(SceneSurvey, Layout)>,
    /// `None` before the first frame.
    video: Option<Video>,
    maker: Maker,
    /// How often `iterate` was called, and whether the next one has to begin a new video.
    iterated: u64,
    is_iterating: bool,
}

impl State {
    /// The equalizer, which is opened for arrays like these if it is not open.
    fn video(&mut self, arrays: &Arrays, notes: &SharedNotes) -> Result<&mut Video, Wrong> {
        if self.video.is_none() {
            let layout = arrays.layout(self.asked.format, self.asked.size())?;
            let scenes = self.survey.take().map(|(survey, _)| survey.finish());
            self.video = Some(Video::open(&self.asked, layout, arrays.place(), notes, scenes.as_ref())?);
        }
        self.open()
    }

    fn open(&mut self) -> Result<&mut Video, Wrong> {
        self.video.as_mut().ok_or(Wrong::Order("no frame was pushed yet"))
    }
}

impl Sequence {
    /// Does `work` without the GIL, while no other thread uses the equalizer.
    fn alone<R: Send>(
        &self,
        py: Python<'_>,
        work: impl Send + FnOnce(&mut State) -> Result<R, Wrong>,
    ) -> Result<R, Wrong> {
        detached(py, || {
            let state: Result<MutexGuard<'_, Option<State>>, _> = self.state.lock();
            let mut state = state.map_err(|_| Wrong::Order("a bug has broken it: make a new one"))?;
            work(state.as_mut().ok_or(Wrong::Order("this Equalizer is closed: make a new one"))?)
        })
    }

    /// Does `work` with the arrays of a frame; on a GPU, with copies without gaps where there are gaps.
    fn with_frame<R: Send>(
        &self,
        object: &Bound<'_, PyAny>,
        work: impl Send + Sync + Fn(&mut Video, &Arrays) -> Result<R, Wrong>,
    ) -> PyResult<R> {
        let maker = maker(object)?;
        let done = |arrays: &Arrays| {
            self.alone(object.py(), |state| {
                state.maker = maker;
                work(state.video(arrays, &self.notes)?, arrays)
            })
        };
        match done(&Arrays::from_object(object)?) {
            Err(Wrong::Gaps) => Ok(done(&Arrays::from_object(&without_gaps(object)?)?)?),
            other => Ok(other?),
        }
    }

    /// A result as the caller gets it.
    fn result<'py>(
        &self,
        py: Python<'py>,
        output: Option<Output>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(output) = output else { return Ok(None) };
        let (layout, maker) = self.alone(py, |state| {
            let maker = state.maker;
            let video = state.open()?;
            Ok((video.result.clone(), (maker, video.place)))
        })?;
        py.check_signals()?;
        delivered(py, &output, &layout, maker, out).map(Some)
    }
}

#[pymethods]
impl Sequence {
    #[new]
    #[pyo3(signature = (**options))]
    fn new(options: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let state = State {
            asked: asked(options)?,
            survey: None,
            video: None,
            maker: Maker::NumPy,
            iterated: 0,
            is_iterating: false,
        };
        Ok(Sequence { state: Mutex::new(Some(state)), notes: SharedNotes::default() })
    }

    /// Takes a frame in, and returns the oldest one that is done, or None. It is written into `out` if one is given,
    /// which is returned then.
    #[pyo3(signature = (array, *, out = None))]
    fn push<'py>(
        &self,
        array: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        if let Some(out) = out {
            // Checked before the push: the frame that the push returns would be lost if `out` did not fit.
            let checked = |video: &mut Video, arrays: &Arrays| video.check(arrays).map(|()| video.result.clone());
            target(out, &self.with_frame(array, checked)?)?;
        }
        let done = self.with_frame(array, |video, arrays| video.push(arrays))?;
        self.result(array.py(), done, out)
    }

    /// The oldest frame that needs no later one, waiting until it is done, or None. For cameras: after each push.
    #[pyo3(signature = (*, out = None))]
    fn collect<'py>(&self, py: Python<'py>, out: Option<&Bound<'py, PyAny>>) -> PyResult<Option<Bound<'py, PyAny>>> {
        if let Some(out) = out
            && let Some(result) = self.alone(py, |state| Ok(state.video.as_ref().map(|video| video.result.clone())))?
        {
            target(out, &result)?;
        }
        let collect = |state: &mut State| match &mut state.video {
            Some(video) => Ok(video.equalizer.collect()?),
            None => Ok(None),
        };
        let done = self.alone(py, collect)?;
        self.result(py, done, out)
    }

    /// Ends the video. The frames that are left come out of the iterator.
    fn finish(slf: Bound<'_, Self>) -> PyResult<Frames> {
        slf.get().end(slf.py())?;
        Ok(Frames { sequence: slf.unbind(), source: Mutex::new(None), out: None, iterated: None })
    }

    /// All of `frames` through the equalizer: as many come out, in their order. With `out` each is written there, over
    /// the one before. Begins a new video if another iteration came before, also one that was left before its end.
    #[pyo3(signature = (frames, *, out = None))]
    fn iterate(slf: Bound<'_, Self>, frames: &Bound<'_, PyAny>, out: Option<Py<PyAny>>) -> PyResult<Frames> {
        let source = Mutex::new(Some(frames.try_iter()?.unbind()));
        let iterated = slf.get().alone(slf.py(), |state| {
            if let Some(video) = state.video.as_mut().filter(|_| state.is_iterating) {
                video.equalizer.restart(0)?;
            }
            state.is_iterating = true;
            state.iterated += 1;
            Ok(state.iterated)
        })?;
        Ok(Frames { sequence: slf.unbind(), source, out, iterated: Some(iterated) })
    }

    /// Other options for the frames that are pushed from now on. What is not in `histeq.options()` stays as it was
    /// given.
    #[pyo3(signature = (**options))]
    fn set(&self, py: Python<'_>, options: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
        let mut changes = Vec::new();
        for (name, value) in options.into_iter().flatten() {
            let name: String = name.extract()?;
            changes.push((crate::asked::text(&name, &value)?, name));
        }
        let mut failed = Ok(());
        self.alone(py, |state| {
            let mut asked = state.asked.clone();
            if let Some(error) = changes.iter().find_map(|(text, name)| asked.set_option(name, text).err()) {
                failed = Err(error);
                return Ok(());
            }
            if let Some(video) = &mut state.video {
                let before = video.equalizer.options();
                if !asked.options.has_format_of(before) {
                    return Err(Wrong::Order("gray and output_depth stay as they were for the first frame"));
                }
                video.equalizer.change(&asked.options)?;
            }
            state.asked = asked;
            Ok(())
        })?;
        failed
    }

    /// The first pass for smooth="scene": all frames, before the first push.
    fn survey(&self, frames: &Bound<'_, PyAny>) -> PyResult<()> {
        for frame in frames.try_iter()? {
            let arrays = Arrays::from_object(&frame?)?;
            self.alone(frames.py(), |state| {
                if state.video.is_some() {
                    return Err(Wrong::Order("a survey comes before the first frame"));
                }
                if arrays.place() != ArrayMemory::Host {
                    return Err(Wrong::Value("a survey takes frames on the host".to_owned()));
                }
                if state.survey.is_none() {
                    let layout = arrays.layout(state.asked.format, state.asked.size())?;
                    state.survey = Some((state.asked.builder(layout.format, layout.size)?.survey()?, layout));
                }
                let Some((survey, layout)) = &mut state.survey else { return Ok(()) };
                arrays.check(layout)?;
                with_input(&arrays, layout, |input| survey.push(input))
            })?;
        }
        Ok(())
    }

    /// Begins another video, or another part of this one, whose next frame has this number.
    #[pyo3(signature = (number = 0))]
    fn restart(&self, py: Python<'_>, number: u64) -> PyResult<()> {
        let restart = |state: &mut State| {
            state.is_iterating = false;
            match &mut state.video {
                Some(video) => Ok(video.equalizer.restart(number)?),
                None => Ok(()),
            }
        };
        Ok(self.alone(py, restart)?)
    }

    /// Takes in a frame from before those that are wanted: it is counted, and does not come out.
    fn warm_up(&self, array: &Bound<'_, PyAny>) -> PyResult<()> {
        self.with_frame(array, |video, arrays| {
            video.check(arrays)?;
            match video.place {
                ArrayMemory::Host => with_input(arrays, &video.layout, |input| video.equalizer.warm_up(input)),
                ArrayMemory::Cuda(_) => Err(Wrong::Value("frames to warm up with are on the host".to_owned())),
            }
        })
    }

    /// On how many frames before it, and behind it, the result of a frame depends. Known from the first frame on.
    #[getter]
    fn reach(&self, py: Python<'_>) -> PyResult<(u32, u32)> {
        let reach = self.alone(py, |state| Ok(state.open()?.equalizer.reach()))?;
        Ok((reach.before, reach.behind))
    }

    /// What does the work: "cpu (avx2, 2 threads)". Known from the first frame on, and None before.
    #[getter]
    fn backend(&self, py: Python<'_>) -> PyResult<Option<String>> {
        let name = |state: &mut State| Ok(state.video.as_ref().map(|video| video.equalizer.backend_name()));
        Ok(self.alone(py, name)?)
    }

    /// Gives back its threads and its memory, also that on a GPU. Frames that have not come out are lost. The end of a
    /// `with` block does it.
    fn close(&self, py: Python<'_>) {
        detached(py, || drop(self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take()));
    }

    /// Begins a `with` block.
    fn __enter__(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
        slf.get().alone(slf.py(), |_| Ok(()))?;
        Ok(slf)
    }

    /// Closes it, at the end of a `with` block.
    #[pyo3(signature = (*_error))]
    fn __exit__(&self, _error: &Bound<'_, PyTuple>) {
        self.close(_error.py());
    }

    /// What a caller may not expect: the CPU works in place of a GPU.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.notes.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
    }
}

impl Sequence {
    fn end(&self, py: Python<'_>) -> PyResult<()> {
        let finish = |state: &mut State| {
            if let Some(video) = &mut state.video {
                drop(video.equalizer.finish()?);
            }
            Ok(())
        };
        Ok(self.alone(py, finish)?)
    }
}

/// Frames as they come out.
#[pyclass(frozen, module = "histeq")]
pub struct Frames {
    sequence: Py<Sequence>,
    /// The caller's iterator of frames; `None` after its end.
    source: Mutex<Option<Py<PyIterator>>>,
    out: Option<Py<PyAny>>,
    /// The number of the call of `iterate` that returned this; `None` if `finish` did.
    iterated: Option<u64>,
}

impl Frames {
    fn source(&self) -> MutexGuard<'_, Option<Py<PyIterator>>> {
        self.source.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

#[pymethods]
impl Frames {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let (sequence, out) = (self.sequence.get(), self.out.as_ref().map(|out| out.bind(py)));
        if let Some(iteration) = self.iterated {
            sequence.alone(py, |state| match state.iterated == iteration {
                true => Ok(()),
                false => Err(Wrong::Order("another iteration of this Equalizer has begun")),
            })?;
        }
        loop {
            // Not locked while code of the caller makes the next frame.
            let source = self.source().as_ref().map(|source| source.clone_ref(py));
            let Some(source) = source else { return sequence.collect(py, out) };
            match source.into_bound(py).next() {
                Some(frame) => {
                    if let Some(done) = sequence.push(&frame?, out)? {
                        return Ok(Some(done));
                    }
                }
                None => {
                    sequence.end(py)?;
                    *self.source() = None;
                }
            }
            py.check_signals()?;
        }
    }
}

/// Parses the options of a call.
pub fn asked(options: Option<&Bound<'_, PyDict>>) -> PyResult<Asked> {
    let mut asked = Asked::default();
    for (name, value) in options.into_iter().flatten() {
        let name: String = name.extract()?;
        match &*name {
            "mask" if value.is_none() => {}
            "mask" => {
                let weights = Arrays::from_mask(&value).and_then(|arrays| Ok(arrays.into_mask()?));
                asked.mask = Some(weights.map_err(|error| argument_error("mask", value.py(), error))?);
            }
            _ => asked.set(&name, &value)?,
        }
    }
    Ok(asked)
}
