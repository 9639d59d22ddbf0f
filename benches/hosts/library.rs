//! What the library takes beside the program's own use of the backends: 8-bit 4:2:0 of 1080p on the CPU, each way in a
//! process of its own, in turns. `cargo bench -p histeq --bench library [-- FRAMES ROUNDS]`
//!
//! * `stage`: the program's way. Bytes are read into memory of a pool, as from a pipe, and the stage takes the frame.
//! * `push`: [`Equalizer::push`] of the same bytes; `shared`: of a frame in memory of the same pool.
//! * `copied`: `push`, and [`Output::copy_into`](histeq::Output::copy_into) of each result.

use histeq::internal::Notes;
use histeq::internal::equalize::EqualizeStage;
use histeq::internal::equalize::backend::{BackendChoice, BackendStartup};
use histeq::internal::frame::{HostPool, Plane};
use histeq::{Backend, Equalizer, Frame, Input, Limits, Look, Matrix, PixelFormat, Range};
use std::process::Command;

const SIZE: (usize, usize) = (1920, 1080);
const FORMAT: PixelFormat = PixelFormat::Yuv420p;
const WAYS: [&str; 4] = ["stage", "push", "shared", "copied"];

/// How many pictures the video repeats.
const PICTURES: usize = 4;

/// How many frames go in before time is taken: memory is written for the first time then.
const WARM_UP: usize = 60;

/// Passes one picture on.
type Pass = Box<dyn FnMut(&[u8])>;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if let [way, look, threads, frames] = &arguments[..] {
        let look = if look == "exact" { Look::Exact } else { Look::Natural };
        return measure(way, look, threads.parse().expect("threads"), frames.parse().expect("frames"));
    }
    let number = |index: usize, usual| arguments.get(index).map_or(usual, |text| text.parse().expect("a number"));
    let (frames, rounds) = (number(0, 300), number(1, 7));
    for (look, threads) in [("natural", 1), ("natural", 2), ("exact", 1), ("exact", 2)] {
        let mut seen = vec![Vec::new(); WAYS.len()];
        for round in 0..rounds {
            // No way comes first in each round.
            for index in (0..WAYS.len()).map(|index| (index + round) % WAYS.len()) {
                seen[index].push(in_a_process(WAYS[index], look, threads, frames));
            }
        }
        let medians: Vec<(f64, f64)> = seen
            .iter()
            .map(|seen| (median(seen.iter().map(|seen| seen.0)), median(seen.iter().map(|seen| seen.1))))
            .collect();
        for (way, (time, peak)) in WAYS.iter().zip(&medians) {
            let (ratio, more) = (time / medians[0].0, peak - medians[0].1);
            println!("{look}, {threads} threads, {way}: {time:.3} ms, {ratio:.3} times; {peak:.1} MiB, {more:+.1}");
        }
    }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Milliseconds of all threads for a frame, and the most memory of the process in MiB. Time of processors tells more
/// than time of a clock where other programs run.
fn in_a_process(way: &str, look: &str, threads: usize, frames: usize) -> (f64, f64) {
    let program = std::env::current_exe().expect("the path of this program");
    let words = [way, look, &threads.to_string(), &frames.to_string()];
    let done = Command::new(program).args(words).output().expect("this program runs again");
    let text = String::from_utf8(done.stdout).expect("text");
    let (time, peak) = text.trim().split_once(' ').expect("a time and a peak");
    (time.parse().expect("a time"), peak.parse().expect("a peak"))
}

/// Prints what [`in_a_process`] returns.
fn measure(way: &str, look: Look, threads: usize, frames: usize) {
    let pictures: Vec<Vec<u8>> = (0..PICTURES).map(picture).collect();
    let limits = Limits::default();
    let builder = Equalizer::builder(FORMAT, SIZE.0, SIZE.1).look(look).backend(Backend::Cpu).threads(threads);
    let mut equalizer = builder.limits(&limits).build().expect("an equalizer");
    let pool = HostPool::new(&limits);
    let mut pass: Pass = if way == "stage" {
        let settings = *equalizer.settings();
        let choice = BackendChoice {
            backend: Backend::Cpu,
            threads: Some(threads),
            limits: limits.clone(),
            ..BackendChoice::default()
        };
        let notes = Notes::default();
        let backend = BackendStartup::begin(choice).finish(&notes).expect("the CPU");
        let mut stage = EqualizeStage::new(backend, settings).within(&limits).denoising_on(threads);
        Box::new(move |bytes| {
            while !stage.has_room() && stage.collect().expect("a frame").is_some() {}
            stage.submit(frame(&pool, bytes)).expect("a frame goes in");
        })
    } else {
        let mut result = if way == "copied" { picture(0) } else { Vec::new() };
        let is_shared = way == "shared";
        Box::new(move |bytes| {
            let done =
                if is_shared { equalizer.push(Input::frame(&frame(&pool, bytes))) } else { equalizer.push(bytes) };
            if let Some(done) = done.expect("a frame").filter(|_| !result.is_empty()) {
                done.copy_into(&mut result).expect("a result of the same size");
            }
        })
    };
    let video = || pictures.iter().cycle();
    video().take(WARM_UP).for_each(|bytes| pass(bytes));
    let start = busy();
    video().take(frames).for_each(|bytes| pass(bytes));
    let time = (busy() - start) / frames as f64;
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
    println!("{time} {}", peak.expect("a peak").parse::<f64>().expect("a number") / 1024.0);
}

/// Milliseconds that the threads of this process have run.
fn busy() -> f64 {
    let threads = std::fs::read_dir("/proc/self/task").expect("Linux").map(|thread| thread.expect("a thread").path());
    let nanoseconds = |thread: std::path::PathBuf| -> f64 {
        let times = std::fs::read_to_string(thread.join("schedstat")).expect("the times of a thread");
        times.split(' ').next().expect("a time").parse().expect("a number")
    };
    threads.map(nanoseconds).sum::<f64>() / 1e6
}

fn frame(pool: &HostPool, bytes: &[u8]) -> Frame {
    let mut rest = bytes;
    let planes = (0..FORMAT.descriptor().planes().len()).map(|plane| -> Plane {
        let (row_bytes, rows) = (FORMAT.row_bytes(plane, SIZE.0), FORMAT.rows(plane, SIZE.1));
        let (bytes, behind) = rest.split_at(row_bytes * rows);
        rest = behind;
        pool.plane_from(bytes, row_bytes, rows)
    });
    Frame::new(FORMAT, SIZE, Range::Limited, Matrix::Bt709, planes.collect()).expect("a frame")
}

/// Dark waves that move with `turn`, and gray chroma.
fn picture(turn: usize) -> Vec<u8> {
    let (width, height) = SIZE;
    let wave = |length: f64, index: usize| (25.0 * ((index + 3 * turn) as f64 / length).sin()) as i32;
    let across: Vec<i32> = (0..width).map(|x| wave(97.0, x)).collect();
    let rows = (0..height).map(|y| 70 + wave(61.0, y));
    let mut picture: Vec<u8> = rows.flat_map(|base| across.iter().map(move |along| (base + along) as u8)).collect();
    picture.resize(width * height * 3 / 2, 128);
    picture
}
