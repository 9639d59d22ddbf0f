//! Conformance vectors: small inputs, options, and hashes of the outputs, which every backend has to produce through
//! the library's API. With them, others can check a port of the specification; `README.md` explains how.

// Pictures and options.
mod cases;
// The rule that makes the input.
mod clip;

use crate::backends::available;
use crate::skip::is_here;
use cases::{Case, RATE, cases};
use clip::{RULE, Rule};
use histeq::internal::equalize::backend::reference::Reference;
use histeq::internal::equalize::{EqualizeStage, Executor, Observation, Observer};
use histeq::internal::frame::{Frame, HostPool, Transfer};
use histeq::internal::spec::curves::Mapping;
use histeq::internal::spec::time::Counts;
use histeq::{Builder, CallerError, Decided, Equalizer, Input, Matrix, Output, PixelFormat, Range, Reach};
use std::fmt::Write as _;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/core/conformance");
const VECTORS: &str = include_str!("vectors.tsv");
const STEPS: &str = include_str!("steps.tsv");

const VECTORS_HEAD: &str = "\
# Conformance vectors: README.md beside it has the rule of the input and what the columns are.
# Generated: HISTEQ_REGENERATE=1 cargo test -p histeq --test core conformance
format\twidth\theight\tframes\trange\tmatrix\ttransfer\tdelivery\toptions\tinput\toutput_format\toutput
";
const STEPS_HEAD: &str = "\
# Numbers on the way: README.md beside it has what they are.
# Generated: HISTEQ_REGENERATE=1 cargo test -p histeq --test core conformance
format\trange\toptions\tframe\tstep\tnumbers
";

/// FNV-1a of 64 bits.
struct Hash(u64);

impl Hash {
    fn new() -> Self {
        Hash(0xcbf2_9ce4_8422_2325)
    }

    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        }
    }

    fn hashed(bytes: &[u8]) -> u64 {
        let mut hash = Hash::new();
        hash.add(bytes);
        hash.0
    }
}

impl Case {
    fn format(&self) -> PixelFormat {
        PixelFormat::from_name(&self.format).expect("a format of ours")
    }

    fn range(&self) -> Range {
        if self.range == "full" { Range::Full } else { Range::Limited }
    }

    fn frames(&self, rule: &Rule) -> Vec<Vec<u8>> {
        (0..self.frames).map(|n| rule.frame(self.format(), self.size, self.range(), n)).collect()
    }

    fn builder(&self) -> Builder {
        let builder = Equalizer::builder(self.format(), self.size.0, self.size.1).rate(RATE).range(self.range());
        let builder = builder.matrix(match self.matrix {
            "bt709" => Matrix::Bt709,
            "bt2020" => Matrix::Bt2020,
            _ => Matrix::Bt601,
        });
        let builder = builder.transfer(match self.transfer {
            "pq" => Transfer::Pq,
            "hlg" => Transfer::Hlg,
            _ => Transfer::Sdr,
        });
        let builder = if self.is_live { builder.live() } else { builder };
        self.options.split(' ').fold(builder, |builder, option| {
            let (name, value) = option.split_once('=').expect("name=value");
            builder.set(name, value).unwrap_or_else(|error| panic!("{option}: {error}"))
        })
    }

    fn outputs(&self, frames: &[Vec<u8>], make: impl Fn() -> Box<dyn Executor> + Send + Sync + 'static) -> Vec<Output> {
        let mut builder = self.builder();
        if self.options.contains("smooth=scene") {
            let mut survey = builder.survey().expect("a survey");
            frames.iter().for_each(|frame| survey.push(frame).expect("a frame"));
            builder = builder.scenes(&survey.finish());
        }
        let mut equalizer = builder.threads(2).executor(make).build().expect("options that go together");
        let mut done: Vec<Output> = Vec::new();
        for frame in frames {
            done.extend(equalizer.push(frame).expect("a frame"));
        }
        done.extend(equalizer.finish().expect("an end").map(|done| done.expect("a frame")));
        assert_eq!(done.len(), frames.len());
        done
    }

    /// The decisions for frames `first` to `end`, from a study of only the frames that they depend on (`Reach`).
    fn decided(&self, frames: &[Vec<u8>], first: usize, end: usize) -> Vec<Decided> {
        let mut study = self.builder().study().expect("options that go together");
        let Reach { before, behind } = study.reach().unwrap_or(Reach { before: u32::MAX, behind: u32::MAX });
        let begin = first.saturating_sub(before as usize);
        let last = end.saturating_add(behind as usize).min(frames.len());
        study.restart(begin as u64);
        frames[begin..last].iter().for_each(|frame| study.push(frame).expect("a frame"));
        if last == frames.len() {
            study.finish().expect("an end");
        }
        let decided = std::iter::from_fn(|| study.decided().expect("what is done"));
        let numbered = decided.zip(begin..).map(|((number, decided), expected)| {
            assert_eq!(number, expected as u64);
            decided
        });
        let wanted: Vec<Decided> = numbered.skip(first - begin).take(end - first).collect();
        assert_eq!(wanted.len(), end - first);
        wanted
    }

    /// The hashes of all frames, equalized from the last to the first, and then the first again.
    fn in_any_order(&self, frames: &[Vec<u8>], decided: &[Decided]) -> Vec<u64> {
        let builder = self.builder();
        let mut mapper = builder.mapper().expect("options that go together");
        let mut hashes = vec![0; frames.len()];
        for number in (0..frames.len()).rev().chain([0]) {
            let (before, behind) = decided[number].around();
            let around: Vec<Input<'_>> = frames[number - before..=number + behind].iter().map(Input::from).collect();
            let done = mapper.apply(&decided[number], &around).expect("a frame");
            assert_eq!(done.format(), builder.output_format().expect("a format"));
            let rows = done.planes().iter().flat_map(|plane| (0..plane.rows()).flat_map(|y| plane.row(y)));
            let hash = Hash::hashed(&rows.copied().collect::<Vec<u8>>());
            assert!([0, hash].contains(&hashes[number]), "another frame for the second time");
            hashes[number] = hash;
        }
        hashes
    }

    fn row(&self, rule: &Rule, make: impl Fn() -> Box<dyn Executor> + Send + Sync + 'static) -> String {
        self.row_of(rule, |frames| {
            let done = self.outputs(frames, make);
            (done[0].format(), done.iter().map(|done| Hash::hashed(&bytes(done))).collect())
        })
    }

    fn row_of(&self, rule: &Rule, outputs: impl FnOnce(&[Vec<u8>]) -> (PixelFormat, Vec<u64>)) -> String {
        let frames = self.frames(rule);
        let mut input = Hash::new();
        frames.iter().for_each(|frame| input.add(frame));
        let (output_format, hashes) = outputs(&frames);
        let hashes: Vec<String> = hashes.iter().map(|hash| format!("{hash:016x}")).collect();
        let Case { format, size: (width, height), frames, range, matrix, transfer, is_live, options } = self;
        let delivery = if *is_live { "live" } else { "stored" };
        format!(
            "{format}\t{width}\t{height}\t{frames}\t{range}\t{matrix}\t{transfer}\t{delivery}\t{options}\t{:016x}\t{}\t{}",
            input.0,
            output_format,
            hashes.join(",")
        )
    }
}

fn bytes(done: &Output) -> Vec<u8> {
    let mut bytes = vec![0; done.packed_bytes()];
    done.copy_into(&mut bytes).expect("a frame on the host");
    bytes
}

fn reference() -> Box<dyn Executor> {
    Box::new(Reference::default())
}

/// The rows of all cases, computed by several threads.
fn rows(cases: &[Case], row: impl Fn(&Case) -> String + Sync) -> Vec<String> {
    let next = AtomicUsize::new(0);
    let mut rows: Vec<(usize, String)> = std::thread::scope(|scope| {
        let work = || {
            let mut found = Vec::new();
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(case) = cases.get(index) else { return found };
                found.push((index, row(case)));
            }
        };
        let threads: Vec<_> = (0..2).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("rows")).collect()
    });
    rows.sort_unstable();
    rows.into_iter().map(|(_, row)| row).collect()
}

/// The rows of a file that differ from `found`.
fn differences(file: &str, head: &str, found: &[String]) -> Vec<String> {
    let Some(rows) = file.strip_prefix(head) else { return vec!["the head".to_owned()] };
    let rows: Vec<&str> = rows.lines().collect();
    let value_of = |rows: usize, found: usize| format!("{rows} rows in place of {found}");
    let count = (rows.len() != found.len()).then(|| value_of(rows.len(), found.len()));
    let differ = rows.iter().zip(found).filter(|(row, found)| row != found);
    count.into_iter().chain(differ.map(|(row, found)| format!("{row}\n  found {found}"))).collect()
}

/// Compares a file with the computed rows; with `HISTEQ_REGENERATE=1`, writes it.
fn compare_or_write(name: &str, file: &str, head: &str, found: &[String]) {
    if std::env::var_os("HISTEQ_REGENERATE").is_some() {
        let text = found.iter().fold(head.to_owned(), |text, row| text + row + "\n");
        std::fs::write(format!("{FOLDER}/{name}"), text).expect("a file that can be written");
        return;
    }
    let differences = differences(file, head, found);
    assert!(differences.is_empty(), "{name} (HISTEQ_REGENERATE=1 writes it again):\n{}", differences.join("\n"));
}

#[test]
fn the_definition_gives_the_vectors() {
    let rows = rows(&cases(), |case| case.row(&RULE, reference));
    compare_or_write("vectors.tsv", VECTORS, VECTORS_HEAD, &rows);
}

#[test]
fn every_backend_gives_the_vectors() {
    if std::env::var_os("HISTEQ_REGENERATE").is_some() {
        return;
    }
    for backend in available().into_iter().map(std::sync::Arc::new) {
        let name = backend.name.clone();
        let found = rows(&cases(), |case| {
            let backend = backend.clone();
            case.row(&RULE, move || backend.open(2))
        });
        let differences = differences(VECTORS, VECTORS_HEAD, &found);
        assert!(differences.is_empty(), "{name}:\n{}", differences.join("\n"));
    }
}

#[test]
fn frames_in_any_order_give_the_vectors() {
    if std::env::var_os("HISTEQ_REGENERATE").is_some() {
        return;
    }
    let found = rows(&cases(), |case| {
        case.row_of(&RULE, |frames| {
            let format = case.builder().output_format().expect("a format");
            (format, case.in_any_order(frames, &case.decided(frames, 0, frames.len())))
        })
    });
    let differences = differences(VECTORS, VECTORS_HEAD, &found);
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// A part, studied with only the frames around it that it depends on, gets the decisions of the whole video.
#[test]
fn a_part_is_decided_as_in_the_whole_video() {
    let is_it = |case: &Case| case.format == "yuv420p" && !case.is_live && case.transfer == "sdr";
    for case in cases().into_iter().filter(is_it) {
        // Windows are shorter than a part, so that some frames are outside of them.
        let options = match case.options.as_str() {
            options if options.contains("smooth=") => options.to_owned(),
            options => format!("{options} smooth=0.6"),
        };
        let case = Case { options, size: (16, 12), frames: 40, ..case };
        let frames: Vec<Vec<u8>> = case.frames(&RULE);
        let whole = case.in_any_order(&frames, &case.decided(&frames, 0, 40));
        let mut parts: Vec<Decided> = Vec::new();
        for (first, end) in [(0, 13), (13, 26), (26, 39), (39, 40)] {
            parts.extend(case.decided(&frames, first, end));
        }
        assert_eq!(case.in_any_order(&frames, &parts), whole, "{}", case.options);
    }
}

/// The vectors detect any change: another constant in the formula changes the hashes of input and output, and another
/// option value changes the hash of the output.
#[test]
fn other_numbers_give_other_hashes() {
    if std::env::var_os("HISTEQ_REGENERATE").is_some() {
        return;
    }
    let case = cases().into_iter().find(|case| case.options == "look=natural").expect("the default");
    let row = |case: &Case, rule: &Rule| case.row(rule, reference);
    let was = row(&case, &RULE);
    assert!(VECTORS.lines().any(|line| line == was));
    let mut rules = vec![
        Rule { multiplier: RULE.multiplier + 4, ..RULE },
        Rule { increment: RULE.increment + 2, ..RULE },
        Rule { flash: RULE.flash + 1, ..RULE },
        Rule { cut: RULE.cut + 1, ..RULE },
    ];
    for (shot, part, number) in (0..27).map(|place| (place / 9, place / 3 % 3, place % 3)) {
        let mut rule = RULE;
        // 300 of 65536 are about one level of 8 bits.
        rule.shots[shot][part][number] += 300;
        rules.push(rule);
    }
    let hashes = |row: &str| {
        let mut columns = row.rsplit('\t');
        let output = columns.next().expect("hashes of output").to_owned();
        (columns.nth(1).expect("a hash of input").to_owned(), output)
    };
    let (input, output) = hashes(&was);
    for (index, rule) in rules.iter().enumerate() {
        let found = hashes(&row(&case, rule));
        assert!(found.0 != input && found.1 != output, "change {index} of the rule does not show");
    }
    let other = Case { options: "look=natural strength=0.99".to_owned(), ..case };
    assert_ne!(hashes(&row(&other, &RULE)).1, output);
    assert_eq!(
        differences(VECTORS, VECTORS_HEAD, &[row(&other, &RULE)]).len(),
        2,
        "rows that are missing, and one that differs"
    );
}

#[test]
fn the_input_has_a_cut_a_flash_and_noise() {
    let case = cases().into_iter().find(|case| case.options == "look=natural").expect("the default");
    let frames = case.frames(&RULE);
    let done = case.outputs(&frames, reference);
    let scenes: Vec<u64> = done.iter().map(|done| done.scene().expect("a scene").number).collect();
    let cut = scenes.iter().position(|scene| *scene != scenes[0]);
    assert_eq!((cut, scenes.iter().max()), (Some(RULE.cut), Some(&(scenes[0] + 1))), "{scenes:?}");
    let noisy = Case { options: "look=natural denoise=0".to_owned(), ..case };
    let noisy = noisy.outputs(&frames, reference);
    assert!(bytes(&noisy[0]) != bytes(&done[0]), "noise that is removed");
}

/// Sends the intermediate results of each frame as lines of `steps.tsv`.
struct Steps(Sender<String>);

impl Observer for Steps {
    fn equalized(&mut self, seen: Observation<'_>) -> Result<(), CallerError> {
        let applied = &seen.after.applied;
        let tell = |step: &str, numbers: &dyn Fn(&mut String)| {
            let mut text = format!("{}\t{step}\t", seen.number);
            numbers(&mut text);
            text.truncate(text.trim_end_matches(',').len());
            self.0.send(text)
        };
        fn list<T: std::fmt::Display>(text: &mut String, numbers: impl IntoIterator<Item = T>) {
            numbers.into_iter().for_each(|number| write!(text, "{number},").expect("a string"));
        }
        if let Some(Counts::Frame { histogram, .. }) = applied.counts.as_deref() {
            tell("histogram", &|text| list(text, histogram.counts()))?;
        }
        if let Some(found) = seen.before.guide().found {
            let found = [found.dark, found.cast, found.unused, found.veil, found.exposure, found.contrast, found.noise];
            tell("found", &|text| list(text, found))?;
        }
        if let Some(scene) = applied.scene {
            tell("scene", &|text| list(text, [scene.number]))?;
        }
        let mapped = match &applied.mapping {
            Some(Mapping::Curve { curve, .. }) => Some(curve.codes().to_vec()),
            Some(Mapping::Balanced { then, .. }) => match &**then {
                Mapping::Curve { curve, .. } => Some(curve.codes().to_vec()),
                _ => None,
            },
            _ => applied.curves.as_ref().map(|curve| curve.to_vec()),
        };
        if let Some(curve) = mapped {
            tell("curve", &|text| list(text, &curve))?;
        }
        Ok(())
    }

    fn asks_for_everything(&self) -> bool {
        true
    }
}

/// The numbers of the frames whose intermediate results are in `steps.tsv`.
const STEPS_OF: [&str; 5] = ["0", "4", "5", "10", "17"];

/// The reference produces the intermediate results of `steps.tsv`, for a few 8-bit cases.
#[test]
fn the_definition_gives_the_steps() {
    let mut rows = Vec::new();
    let few = ["look=exact", "look=thermal", "method=global", "method=deflicker", "look=natural"];
    for (format, range) in [("gray", "full"), ("yuv420p", "limited")] {
        for options in few {
            let is_it = |case: &Case| case.format == format && case.range == range && case.options == options;
            let case = cases().into_iter().find(is_it).expect("a case");
            let settings = *case.builder().executor(reference).build().expect("a backend").settings();
            let (sender, told) = channel();
            let mut stage = EqualizeStage::new(reference(), settings).observed_by(Box::new(Steps(sender)));
            for bytes in case.frames(&RULE) {
                stage.submit(frame(&case, &bytes)).expect("a frame");
                while !stage.has_room() && stage.collect().expect("a frame").is_some() {}
            }
            stage.finish().expect("an end");
            while stage.collect().expect("a frame").is_some() {}
            drop(stage);
            let wanted = |line: &String| line.split_once('\t').is_some_and(|(frame, _)| STEPS_OF.contains(&frame));
            rows.extend(told.iter().filter(wanted).map(|line| format!("{format}\t{range}\t{options}\t{line}")));
        }
    }
    for step in ["histogram", "curve", "found", "scene"] {
        assert!(rows.iter().any(|row| row.contains(&format!("\t{step}\t"))), "no {step}");
    }
    compare_or_write("steps.tsv", STEPS, STEPS_HEAD, &rows);
}

fn frame(case: &Case, mut bytes: &[u8]) -> Frame {
    let (format, (width, height)) = (case.format(), case.size);
    let pool = HostPool::default();
    let plane = |plane: usize| {
        let (row_bytes, rows) = (format.row_bytes(plane, width), format.rows(plane, height));
        let (samples, rest) = bytes.split_at(row_bytes * rows);
        bytes = rest;
        pool.plane_from(samples, row_bytes, rows)
    };
    let planes = (0..format.descriptor().planes().len()).map(plane).collect();
    Frame::new(format, case.size, case.range(), Matrix::Bt601, planes).expect("a frame")
}

/// A Python port of the input and of `look=exact`, written only from the specification, produces the vectors.
#[test]
fn a_port_in_python_gives_the_vectors_of_the_exact_look() {
    let is_written = std::env::var_os("HISTEQ_REGENERATE").is_some();
    if is_written || !is_here("python3") || !std::path::Path::new(FOLDER).exists() {
        return;
    }
    let run = Command::new("python3").arg("port.py").current_dir(FOLDER).output().expect("python3");
    let (said, complaint) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    assert!(run.status.success(), "{said}\n{complaint}");
    assert!(said.contains("of the input are right") && said.contains("of look=exact are right"), "{said}");
}
