//! The sources that are viewed, and who views them.

use super::viewed_file::ViewedFile;
use crate::options::picture::EqualizeOptions;
use crate::web::desk::work::Work;
use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use histeq::Named;
use histeq::internal::spec::parameters::{Look, Method, Settings, Strength, Stretch};
use histeq_media::pipeline::live::{DropOldestQueue, SharedSettings, Shown};
use histeq_media::pipeline::{Input, Notices, Progress};
use histeq_media::sink::recordings;
use histeq_media::sys::files::Name;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// Most viewers of all sources together.
pub const MAX_VIEWERS: usize = 64;

/// Messages that may wait for a viewer: two seconds at 30 frames a second.
const WAITING: usize = 64;

/// Most pictures since the last key frame that a new viewer gets.
const MAX_PICTURES: usize = 256;

/// Most bytes of the pictures since the last key frame.
const MAX_SINCE_KEY: usize = 32 << 20;

/// The time that the rate of frames is counted over.
const RATE_TIME: Duration = Duration::from_secs(2);

/// A message for a viewer.
#[derive(Clone)]
pub enum Message {
    /// JSON.
    Text(Arc<str>),
    /// A part of the video.
    Video(Bytes),
}

/// What the view in a browser shows: live sources, one file, or files to work on.
#[derive(Default)]
pub struct Hub {
    sources: Mutex<BTreeMap<usize, Arc<Viewed>>>,
    /// The names of all cameras of the run, whether they film or not; empty for a run of one camera.
    cameras: Mutex<BTreeMap<usize, String>>,
    /// When the run last called [`tick`](Hub::tick).
    alive: Mutex<Option<Instant>>,
    viewers: Arc<AtomicUsize>,
    /// A file that is viewed, instead of sources.
    file: OnceLock<Arc<ViewedFile>>,
    /// The page that equalizes files, instead of sources or one viewed file.
    work: OnceLock<Arc<Work>>,
}

impl Hub {
    /// The file that is viewed.
    pub fn file(&self) -> Option<Arc<ViewedFile>> {
        self.file.get().cloned()
    }

    /// From now on, this file is viewed.
    pub fn show_file(&self, file: ViewedFile) {
        self.file.get_or_init(|| Arc::new(file));
    }

    /// The page that equalizes files.
    pub fn work(&self) -> Option<Arc<Work>> {
        self.work.get().cloned()
    }

    /// From now on, the page equalizes files.
    pub fn show_work(&self, work: Arc<Work>) {
        self.work.get_or_init(|| work);
    }

    /// The source of this number.
    pub fn source(&self, number: usize) -> Option<Arc<Viewed>> {
        lock(&self.sources).get(&number).cloned()
    }

    /// All sources, by their numbers.
    pub fn sources(&self) -> Vec<Arc<Viewed>> {
        lock(&self.sources).values().cloned().collect()
    }

    /// From now on, these are the cameras of the run.
    pub fn list(&self, cameras: BTreeMap<usize, String>) {
        *lock(&self.cameras) = cameras;
    }

    /// All cameras by their numbers: their names, and the sources of those that film.
    pub fn cameras(&self) -> BTreeMap<usize, (String, Option<Arc<Viewed>>)> {
        let listed = lock(&self.cameras).clone().into_iter().map(|(number, name)| (number, (name, None)));
        let filming = self.sources().into_iter().map(|source| (source.number, (source.name.clone(), Some(source))));
        listed.chain(filming).collect()
    }

    /// Adds a source, in place of one with its number.
    pub fn add(&self, source: &Arc<Viewed>) {
        lock(&self.sources).insert(source.number, source.clone());
    }

    /// Removes a source, unless another one has its number by now.
    pub fn remove(&self, source: &Arc<Viewed>) {
        let mut sources = lock(&self.sources);
        if sources.get(&source.number).is_some_and(|there| Arc::ptr_eq(there, source)) {
            sources.remove(&source.number);
        }
    }

    /// Notes that the run is still alive.
    pub fn tick(&self) {
        *lock(&self.alive) = Some(Instant::now());
    }

    /// Time since the last [`tick`](Self::tick); zero before the first one.
    pub fn silent(&self) -> Duration {
        lock(&self.alive).map_or(Duration::ZERO, |alive| alive.elapsed())
    }

    /// A place for one more viewer; `None` when there are too many.
    pub fn admit(&self) -> Option<Admitted> {
        let admitted = Admitted(self.viewers.clone());
        // If there are too many, the drop of `admitted` takes this one off the count.
        (self.viewers.fetch_add(1, Ordering::SeqCst) < MAX_VIEWERS).then_some(admitted)
    }

    /// How many viewers there are.
    pub fn viewers(&self) -> usize {
        self.viewers.load(Ordering::SeqCst)
    }
}

/// Counts as a viewer until it is dropped.
pub struct Admitted(Arc<AtomicUsize>);

impl Drop for Admitted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// What can be changed of a source while it runs.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceChange {
    /// The name of a look.
    look: Option<String>,
    /// Share of the equalization, 0 to 1.
    strength: Option<f64>,
    /// Whether the source is recorded.
    recording: Option<bool>,
}

/// The state of a source.
#[derive(Serialize)]
pub struct SourceState {
    pub source: usize,
    pub name: String,
    pub width: usize,
    pub height: usize,
    pub look: String,
    pub strength: f64,
    pub frames: u64,
    pub dropped: u64,
    pub damaged: u64,
    pub fps: f64,
    pub latency_ms: Option<f64>,
    pub no_signal_s: Option<f64>,
    pub found: Option<String>,
    /// `None` if there is no recording.
    pub recording: Option<bool>,
    /// Whether there is a list of its recordings.
    pub has_recordings: bool,
    pub viewers: usize,
}

/// The options that viewers can change.
struct ManualChoice {
    /// The video that the settings are resolved for.
    input: Input,
    equalize: EqualizeOptions,
}

impl ManualChoice {
    /// The strength of `settings` on the scale of `--strength`, 0 to 1.
    fn strength(&self, settings: &Settings) -> f64 {
        let options = &self.equalize.options;
        // If a look blends equalization with levels that fill the range, `settings.strength` is the share of
        // equalization in the blend, and the whole blend has strength 1.
        let is_blend = matches!((settings.method, settings.stretch), (Method::Global, Stretch::Full { .. }));
        let chosen = if is_blend && options.levels.is_none() { Strength::FULL } else { settings.strength };
        let of_256 = options.strength.unwrap_or(chosen).to_256ths();
        (f64::from(of_256) / 2.56).round() / 100.0
    }
}

/// A source that is viewed.
pub struct Viewed {
    /// Its number, from 1.
    pub number: usize,
    name: String,
    /// Columns and rows of its pictures.
    size: (usize, usize),
    chosen: Mutex<ManualChoice>,
    settings: SharedSettings,
    notices: Notices,
    progress: Arc<Progress>,
    /// The file name of its recording, and whether that is a pattern for several files.
    record: Option<(Name, bool)>,
    /// Frames for the thread that encodes.
    pub(crate) frames: DropOldestQueue<Shown>,
    pub(crate) last: Mutex<Option<Shown>>,
    /// Small pictures that have just been made.
    pub(crate) small: Mutex<Vec<Small>>,
    times: Mutex<VecDeque<Instant>>,
    stream: Mutex<Stream>,
}

/// A small picture of a source, as JPEG.
pub(crate) struct Small {
    pub rows: usize,
    pub made: Instant,
    pub jpeg: Bytes,
}

/// The video of a source, and its viewers.
#[derive(Default)]
struct Stream {
    header: Option<(Arc<str>, Bytes)>,
    since_key: Vec<Bytes>,
    viewers: Vec<Viewer>,
}

struct Viewer {
    messages: Sender<Message>,
    /// Whether the viewer waits for the next key frame.
    waits: bool,
}

impl Viewed {
    /// The source `number`, with this name, of `input`, which is equalized by `equalize` at first.
    pub fn new(
        (number, name): (usize, String),
        input: &Input,
        equalize: &EqualizeOptions,
        (settings, notices, progress): (&SharedSettings, &Notices, &Arc<Progress>),
        record: Option<(Name, bool)>,
    ) -> Self {
        Viewed {
            number,
            name,
            size: input.picture.map_or((0, 0), |(_, size)| size),
            chosen: Mutex::new(ManualChoice { input: input.clone(), equalize: equalize.clone() }),
            settings: settings.clone(),
            notices: notices.clone(),
            progress: progress.clone(),
            record,
            frames: DropOldestQueue::new(1),
            last: Mutex::default(),
            small: Mutex::default(),
            times: Mutex::default(),
            stream: Mutex::default(),
        }
    }

    /// Accepts a frame for the viewers, without waiting.
    pub fn show(&self, shown: &Shown) {
        let now = Instant::now();
        let mut times = lock(&self.times);
        times.push_back(now);
        while times.front().is_some_and(|time| now.duration_since(*time) > RATE_TIME) {
            times.pop_front();
        }
        drop(times);
        self.frames.push(shown.clone());
    }

    /// The picture that was shown last.
    pub fn last(&self) -> Option<Shown> {
        lock(&self.last).clone()
    }

    /// The state of the source.
    pub fn state(&self) -> SourceState {
        let chosen = lock(&self.chosen);
        let (look, strength) = (chosen.equalize.options.look.to_string(), chosen.strength(&self.settings.get()));
        drop(chosen);
        let (width, height) = self.size;
        let no_signal = self.progress.no_signal();
        let times = lock(&self.times);
        let span =
            times.front().zip(times.back()).map_or(0.0, |(first, last)| last.duration_since(*first).as_secs_f64());
        let fps = if span > 0.0 && no_signal.is_none() { (times.len() - 1) as f64 / span } else { 0.0 };
        SourceState {
            source: self.number,
            name: self.name.clone(),
            width,
            height,
            look,
            strength,
            frames: self.progress.written(),
            dropped: self.progress.dropped(),
            damaged: self.progress.damaged(),
            fps: (fps * 10.0).round() / 10.0,
            latency_ms: self.progress.latency().map(|latency| (latency.as_secs_f64() * 1e4).round() / 10.0),
            no_signal_s: no_signal.map(|time| time.as_secs_f64()),
            found: self.progress.found_in_words(),
            recording: self.record.as_ref().map(|_| !self.settings.is_recording_paused()),
            has_recordings: self.record.as_ref().is_some_and(|(_, is_pattern)| *is_pattern),
            viewers: self.viewers(),
        }
    }

    /// Notes that the run equalizes the source by other options from now on. They replace what viewers have chosen.
    pub fn set(&self, equalize: &EqualizeOptions) {
        lock(&self.chosen).equalize = equalize.clone();
    }

    /// Changes the source from the next frame on.
    ///
    /// # Errors
    /// When the look does not exist, the source's options exclude a look or a strength, the strength is out of range,
    /// or the source is not recorded.
    pub fn change(&self, change: &SourceChange) -> Result<()> {
        let mut chosen = lock(&self.chosen);
        let mut equalize = chosen.equalize.clone();
        if let Some(name) = &change.look {
            let look = Look::from_name(name).with_context(|| format!("there is no look {name:?}"))?;
            ensure!(!equalize.has_given_curves(), "this source has curves that are given, and no look");
            equalize.options.look = look;
        }
        if let Some(share) = change.strength {
            ensure!((0.0..=1.0).contains(&share), "strength is a number from 0 to 1");
            ensure!(equalize.range.is_none(), "this source has a range that is given, and no strength");
            equalize.options.strength = Strength::from_share(share);
        }
        ensure!(change.recording.is_none() || self.record.is_some(), "this source is not recorded");
        if change.look.is_some() || change.strength.is_some() {
            self.settings.set(equalize.resolve(&chosen.input, &Notices::silent())?);
        }
        chosen.equalize = equalize;
        drop(chosen);
        if let Some(name) = &change.look {
            self.notices.changed(&format!("the view in the browser says look {name}"));
        }
        if let Some(share) = change.strength {
            self.notices.changed(&format!("the view in the browser says strength {share}"));
        }
        if let Some(is_recording) = change.recording {
            self.settings.pause_recording(!is_recording);
            let what = if is_recording { "goes on" } else { "is paused" };
            self.notices.changed(&format!("the view in the browser says that recording {what}"));
        }
        Ok(())
    }

    /// Its recordings: their names, when they began, in seconds since 1970, and their sizes in bytes.
    pub fn recordings(&self) -> Vec<(PathBuf, i64, u64)> {
        match &self.record {
            Some((pattern, true)) => recordings(pattern)
                .into_iter()
                .map(|found| (found.file, found.begin.as_second(), found.bytes))
                .collect(),
            _ => Vec::new(),
        }
    }

    /// The file of the recording that is shown under this name.
    pub fn recording(&self, name: &str) -> Option<PathBuf> {
        let shown = |file: &Path| file.file_name().map(|file| Name::from(file).to_string());
        self.recordings().into_iter().map(|(file, ..)| file).find(|file| shown(file).as_deref() == Some(name))
    }

    /// The number of its viewers.
    pub fn viewers(&self) -> usize {
        let mut stream = lock(&self.stream);
        stream.viewers.retain(|viewer| !viewer.messages.is_closed());
        stream.viewers.len()
    }

    /// Adds a viewer, who receives the messages.
    pub fn watch(&self) -> Receiver<Message> {
        let (messages, received) = channel(WAITING + MAX_PICTURES);
        let mut stream = lock(&self.stream);
        let mut viewer = Viewer { messages, waits: true };
        if let Some((codec, header)) = &stream.header {
            viewer.send(Message::Text(codec.clone()));
            viewer.send(Message::Video(header.clone()));
            viewer.waits = stream.since_key.is_empty();
            for picture in &stream.since_key {
                viewer.send(Message::Video(picture.clone()));
            }
        }
        stream.viewers.push(viewer);
        received
    }

    /// Begins a video, and sends its header to all viewers.
    pub(crate) fn begin_video(&self, description: &str, header: Vec<u8>) {
        let mut stream = lock(&self.stream);
        let header: (Arc<str>, Bytes) = (description.into(), header.into());
        stream.since_key.clear();
        for viewer in &mut stream.viewers {
            viewer.waits = true;
            viewer.send(Message::Text(header.0.clone()));
            viewer.send(Message::Video(header.1.clone()));
        }
        stream.header = Some(header);
    }

    /// Ends the video.
    pub(crate) fn end_video(&self) {
        let mut stream = lock(&self.stream);
        (stream.header, stream.since_key) = (None, Vec::new());
    }

    /// Sends a picture of the video to all viewers that keep up.
    pub(crate) fn send_picture(&self, bytes: Vec<u8>, is_key: bool) {
        let picture = Bytes::from(bytes);
        let mut stream = lock(&self.stream);
        let bytes: usize = stream.since_key.iter().map(Bytes::len).sum();
        if is_key || bytes > MAX_SINCE_KEY || stream.since_key.len() == MAX_PICTURES {
            stream.since_key.clear();
        }
        // The kept pictures have to follow a key frame without a gap. Without them, a new viewer waits for the next key
        // frame.
        if is_key || !stream.since_key.is_empty() {
            stream.since_key.push(picture.clone());
        }
        for viewer in &mut stream.viewers {
            let has_room = viewer.messages.capacity() > 0;
            if !has_room || viewer.waits && !is_key {
                viewer.waits = true;
                continue;
            }
            viewer.waits = false;
            viewer.send(Message::Video(picture.clone()));
        }
    }

    /// Sends a text to all viewers that keep up.
    pub(crate) fn send_text(&self, text: &str) {
        let text: Arc<str> = text.into();
        lock(&self.stream).viewers.iter_mut().for_each(|viewer| viewer.send(Message::Text(text.clone())));
    }
}

impl Viewer {
    /// Sends a message if there is room for it.
    fn send(&mut self, message: Message) {
        let _ = self.messages.try_send(message);
    }
}

/// Locks `mutex`, even after a panic of a thread that held the lock.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
