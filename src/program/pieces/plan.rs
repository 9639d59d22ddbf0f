//! The plan: a JSON file that fixes all decisions, so that work on a piece makes none.

use super::Times;
use super::folder::{PLAN, hash_of};
use crate::options::jobs::{FileJob, PlannedFile};
use anyhow::{Context, Result, anyhow, ensure};
use histeq_media::ffmpeg::mux::Container;
use histeq_media::ffmpeg::{self, Rational, microseconds, rescale};
use histeq_media::pipeline::{Cancel, Encoding, ErrorWithRemedy, FailureKind, Input};
use histeq_media::source::{Chunk, InputChanged, PacketSurvey, PlannedPart};
use histeq_media::sys::files::{Name, PrivateFolder, open_regular, read_regular, read_whole};
use histeq_media::sys::{Hash, Hasher};
use serde::{Deserialize, Serialize};
use std::io::BufWriter;
use std::path::Path;

/// The version of the format.
const VERSION: u32 = 1;

/// A plan, as it is stored in its file.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The version of the format.
    pub histeq_plan: u32,
    /// The version of this program that planned.
    pub program: String,
    /// The version of libavcodec, which decodes and encodes.
    pub ffmpeg: String,
    /// The folder in which `plan` was called.
    pub folder: Name,
    /// The arguments of `plan`.
    pub arguments: Vec<Name>,
    pub files: Vec<FilePlan>,
}

/// What is planned for a file.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct FilePlan {
    /// The absolute path of the file that is read.
    pub input: Name,
    /// The absolute path of the file that is written.
    pub output: Name,
    /// The folder of its pieces.
    pub folder: Name,
    /// How long the input is, in bytes.
    pub bytes: u64,
    /// The settings that the options of equalization resolve to for this input.
    pub settings: String,
    pub encoder: String,
    /// All options of the encoder.
    pub encoder_options: Vec<(String, String)>,
    /// Other files that are read, and their hashes.
    pub read: Vec<(Name, Hash)>,
    /// The index of the video stream.
    pub stream: usize,
    /// Columns and rows of the frames.
    pub size: (usize, usize),
    /// Numerator and denominator of the unit of its times, in seconds.
    pub time_base: [i32; 2],
    /// The times of all frames of the input, in the order of display.
    pub times: Times,
    /// The packets of the video, in the order of the file.
    pub chunks: Vec<Chunk>,
    /// The hash of the packets of all other streams.
    pub others: Hash,
    /// Whether a seek leads to the same times as reading all packets.
    pub can_seek: bool,
    /// How many frames before and after a piece are needed to equalize it.
    pub around: (u32, u32),
    /// Whether the frame before a piece is equalized, too, to measure how the curve changes at the piece's first frame.
    pub measures_change: bool,
    /// Whether a page of statistics is drawn.
    pub draws_page: bool,
    /// Whether curves are saved.
    pub saves_curves: bool,
    /// The pieces: the number of the first frame of each in the input, and how many frames it has.
    pub pieces: Vec<(usize, usize)>,
}

/// What is known of a file before it is divided into pieces.
pub struct Planning {
    /// The plan as far as it is known; times and pieces follow.
    pub file: FilePlan,
    /// The survey of its packets.
    pub survey: PacketSurvey,
    /// Frames from this moment on are in the part, in microseconds of the input's clock.
    pub begin: Option<i64>,
    /// Frames before this moment are in the part.
    pub end: Option<i64>,
    /// The most frames in the part.
    pub most: Option<u64>,
    /// How long the pieces are.
    pub length: PieceLength,
    /// Each piece but the last has a multiple of this many frames.
    pub multiple: u64,
}

/// How long pieces are.
#[derive(Clone, Copy, Debug)]
pub enum PieceLength {
    /// This many seconds.
    Seconds(f64),
    /// A length that suits any number of processes.
    ByVideo,
    /// Equal shares for this many processes. A piece is at least this many times as long as what is decoded around it.
    Shares(usize, usize),
}

/// The longest piece by default, in seconds.
const LENGTH: f64 = 60.0;

/// The shortest piece by default, in seconds.
const MIN_SECONDS: f64 = 2.0;

/// The number of pieces into which a short video is divided.
const MIN_PIECES: usize = 8;

impl Plan {
    /// The most bytes of a plan.
    pub const MAX_BYTES: u64 = 1 << 30;

    /// An empty plan of this program, made in this folder with these arguments.
    pub fn new(folder: Name, arguments: Vec<Name>) -> Self {
        Plan {
            histeq_plan: VERSION,
            program: program(),
            ffmpeg: ffmpeg::version(),
            folder,
            arguments,
            files: Vec::new(),
        }
    }

    /// Reads the plan in this file, or the one that lies in this folder of pieces.
    pub fn read(path: &Path) -> Result<Self> {
        let text = match path.is_dir() {
            true => Plan::text_within(path),
            false => read_regular(path, Plan::MAX_BYTES).map_err(Into::into),
        };
        let text = text.with_context(|| Name::from(path))?;
        Plan::parse(&text).with_context(|| Name::from(path))
    }

    /// The text of the plan in this folder of pieces.
    fn text_within(path: &Path) -> Result<Vec<u8>> {
        let folder = PrivateFolder::open(path)?;
        let plan = folder.map(|folder| folder.read(PLAN)).transpose()?.flatten();
        Ok(read_whole(plan.context("a folder without a plan (give the name of a file)")?, Plan::MAX_BYTES)?)
    }

    /// The plan of this text.
    pub fn parse(text: &[u8]) -> Result<Self> {
        #[derive(Deserialize)]
        struct Head {
            histeq_plan: u32,
            program: String,
            ffmpeg: String,
        }
        let head: Head = serde_json::from_slice(text).map_err(|error| anyhow!("not a plan: {error}"))?;
        let (ours, libraries) = (program(), ffmpeg::version());
        ensure!(head.histeq_plan == VERSION, "a plan of version {}; this is for version {VERSION}", head.histeq_plan);
        ensure!(head.program == ours, "planned by {}; this is {ours} (plan again, or run that one)", head.program);
        ensure!(
            head.ffmpeg == libraries,
            "planned with {}; here is {libraries}, whose frames may differ (plan again, or use the same FFmpeg)",
            head.ffmpeg
        );
        let plan: Plan = serde_json::from_slice(text).map_err(|error| anyhow!("not a plan: {error}"))?;
        ensure!(!plan.files.is_empty(), "a plan of no files: there is nothing to do");
        plan.files.iter().try_for_each(FilePlan::check)?;
        Ok(plan)
    }

    /// The job of equalizing a file of the plan, with all that was decided when it was planned.
    pub fn job(&self, file: &FilePlan) -> Result<FileJob> {
        let (arguments, folder) = (&self.arguments, self.folder.path());
        PlannedFile { arguments, folder, input: &file.input, output: &file.output }.job()
    }

    /// How many pieces there are of all files.
    pub fn pieces(&self) -> usize {
        self.files.iter().map(|file| file.pieces.len()).sum()
    }

    /// The file of piece `number` of the plan, and the number of the piece in that file.
    pub fn piece(&self, number: usize) -> Result<(&FilePlan, usize)> {
        let mut left = number;
        for file in &self.files {
            if left < file.pieces.len() {
                return Ok((file, left));
            }
            left -= file.pieces.len();
        }
        let last = self.pieces().saturating_sub(1);
        Err(FailureKind::Usage.error(format!("there is no piece {number}; the last one is {last} (the first is 0)")))
    }
}

impl FilePlan {
    /// How its pieces are encoded, for a file in this container if one is named.
    pub fn encoding(&self, format: Option<&str>) -> Option<Encoding> {
        Some(Encoding {
            container: Container::guess(format, &self.output)?.name(),
            encoder: Some(self.encoder.clone()),
            options: self.encoder_options.iter().cloned().collect(),
            ..Encoding::default()
        })
    }

    /// The hash of this plan and the program's version, which each piece stores. Takes as long as writing the plan.
    pub fn id(&self) -> Hash {
        let mut hasher = Hasher::default();
        let mut text = BufWriter::new(&mut hasher);
        // Ignore errors: a plan can always be serialized.
        let _ = serde_json::to_writer(&mut text, self);
        drop(text);
        hasher.add(program().as_bytes());
        hasher.hash()
    }

    /// Unit of its times, in seconds.
    pub fn time_base(&self) -> Rational {
        Rational::new(self.time_base[0], self.time_base[1])
    }

    /// Whether this plan and `other` are equal except for the pieces.
    pub fn is_like(&self, other: &FilePlan) -> bool {
        FilePlan { pieces: other.pieces.clone(), ..self.clone() }.id() == other.id()
    }

    /// The number of the first frame of the part that is equalized.
    pub fn first(&self) -> usize {
        self.pieces.first().map_or(0, |(first, _)| *first)
    }

    /// How many frames are equalized.
    pub fn frames(&self) -> usize {
        self.pieces.iter().map(|(_, frames)| frames).sum()
    }

    /// Frames a second of the equalized part, if it has two frames or more.
    pub fn rate(&self) -> Option<f64> {
        let (first, frames) = (self.first(), self.frames());
        let length = self.moment((first + frames).checked_sub(1)?)? - self.moment(first)?;
        (length > 0).then(|| (frames - 1) as f64 / (length as f64 / 1e6))
    }

    /// The moment of frame `number`, in microseconds of the input's clock; `None` after the last one.
    pub fn moment(&self, number: usize) -> Option<i64> {
        self.times.at(number).map(|time| rescale(time, self.time_base(), microseconds()))
    }

    /// How many frames before this piece are equalized for its measurements, but not written.
    pub fn left_out(&self, piece: usize) -> usize {
        usize::from(self.measures_change && self.pieces[piece].0 > self.first())
    }

    /// The part of the input that a piece is decoded from.
    pub fn part(&self, piece: usize) -> Result<PlannedPart> {
        let (first, frames) = *self.pieces.get(piece).context("there is no such piece")?;
        let (begin, end) = (first - self.left_out(piece), first + frames);
        let lead = begin.saturating_sub(self.around.0 as usize);
        let behind = end + self.around.1 as usize;
        let times: Vec<i64> = self.times.from(lead).take(behind - lead).collect();
        let (mut skipped, mut passed, mut start) = (0, 0, 0);
        for (index, chunk) in self.chunks.iter().enumerate() {
            if chunk.start.is_some_and(|time| Some(time) <= times.first().copied()) || index == 0 {
                (start, skipped) = (index, passed);
            }
            passed += u64::from(chunk.packets);
        }
        Ok(PlannedPart {
            times,
            before: begin - lead,
            within: end - begin,
            skipped,
            chunks: self.chunks[start..].to_vec(),
            can_seek: self.can_seek,
        })
    }

    /// Checks that the input, and the other files that are read, are those that were planned, by length and hashes.
    ///
    /// # Errors
    /// When they are not, or the run was interrupted.
    pub fn check_inputs(&self, cancel: &Cancel) -> Result<()> {
        let changed = |name: &Name, how: &'static str| Err(InputChanged(name.clone(), how.into()).into());
        let open = |name: &Name| open_regular(name).with_context(|| name.clone());
        if open(&self.input)?.metadata()?.len() != self.bytes {
            return changed(&self.input, "it has another length");
        }
        for (name, hash) in &self.read {
            if hash_of(open(name)?, cancel).with_context(|| name.clone())? != *hash {
                return changed(name, "it has other bytes");
            }
        }
        Ok(())
    }

    /// Checks that the parts of the plan fit together.
    fn check(&self) -> Result<()> {
        let wrong = |what: &str| anyhow!("not a plan: {what} of {} do not fit together", self.input);
        let frames = self.times.count().ok_or_else(|| wrong("the times"))?;
        // Each frame has at least a byte in the input: this bounds the memory for the times of a hostile plan.
        ensure!(frames as u64 <= self.bytes, wrong("the times"));
        ensure!(self.time_base.iter().all(|number| *number > 0), wrong("the units of time"));
        let mut next = self.first();
        for (first, frames) in &self.pieces {
            ensure!(*first == next && *frames > 0, wrong("the pieces"));
            next = first.checked_add(*frames).ok_or_else(|| wrong("the pieces"))?;
        }
        ensure!(!self.pieces.is_empty() && next <= frames, wrong("the pieces"));
        let packets: u64 = self.chunks.iter().map(|chunk| u64::from(chunk.packets)).sum();
        let has_empty = self.chunks.iter().any(|chunk| chunk.packets == 0);
        ensure!(packets >= frames as u64 && !has_empty, wrong("the packets"));
        Ok(())
    }
}

impl Planning {
    /// Divides the file into pieces.
    ///
    /// # Errors
    /// When the file cannot be divided: the reason and the remedy.
    pub fn divide(self, input: &Input) -> Result<FilePlan> {
        let Planning { mut file, survey, begin, end, most, length, multiple } = self;
        let name = &input.name;
        let refused = |why: &str| ErrorWithRemedy::not_in_pieces(format!("{name}: cannot be cut into pieces: {why}"));
        if let Some(why) = &survey.obstacle {
            return Err(refused(why).into());
        }
        let mut times = survey.times;
        times.sort_unstable();
        let unit = Rational::new(file.time_base[0], file.time_base[1]);
        let moments: Vec<i64> = times.iter().map(|time| rescale(*time, unit, microseconds())).collect();
        ensure!(
            !times.is_empty() && times.windows(2).all(|pair| pair[0] < pair[1]),
            refused("its packets have no times that increase")
        );
        ensure!(survey.chunks[0].start.is_some(), refused("it does not begin with a key frame"));
        let first = begin.map_or(0, |begin| moments.partition_point(|moment| *moment < begin));
        let last = end.map_or(times.len(), |end| moments.partition_point(|moment| *moment < end));
        let most = most.map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX));
        let frames = last.saturating_sub(first).min(most);
        if frames == 0 {
            return Err(FailureKind::Usage.error(format!("{name}: no frame in this part")));
        }
        let rate = input.rate().unwrap_or(25.0);
        let of_seconds = |seconds: f64| (seconds * rate).round().clamp(1.0, 1e9) as usize;
        let around = (survey.around.0 + survey.around.1) as usize;
        let longest = of_seconds(LENGTH);
        let length = match length {
            PieceLength::Seconds(seconds) => of_seconds(seconds),
            // Short videos are divided, too, unless decoding around the pieces would cost more than that saves.
            PieceLength::ByVideo => (frames / MIN_PIECES).max(4 * around).max(of_seconds(MIN_SECONDS)).min(longest),
            PieceLength::Shares(processes, around_it) => {
                let rounds = frames.div_ceil(longest).div_ceil(processes);
                let most = frames / (around_it * around).max(of_seconds(MIN_SECONDS));
                frames.div_ceil((rounds * processes).min(most.max(1)))
            }
        };
        let multiple = usize::try_from(multiple).unwrap_or(1);
        let length = length.div_ceil(multiple) * multiple;
        file.pieces = (0..frames).step_by(length).map(|index| (first + index, length.min(frames - index))).collect();
        // Merges a short last piece, which would cost more than it saves.
        if let [.., (_, before), (_, rest)] = &mut file.pieces[..]
            && *rest < length / 4
        {
            *before += *rest;
            file.pieces.pop();
        }
        (file.times, file.chunks, file.others) = (Times::new(&times), survey.chunks, survey.others);
        (file.can_seek, file.around) = (!survey.jumps, survey.around);
        Ok(file)
    }
}

fn program() -> String {
    concat!("histeq-video ", env!("CARGO_PKG_VERSION")).to_owned()
}
