//! `histeq-lab cpu`: the CPU backend on one to all threads, and the time of each pass, for every instruction set of
//! this machine.

use crate::bench::Setup;
use crate::bench::content::{Content, gray, picture, several};
use crate::bench::copies::memcpy;
use crate::bench::output::value::microseconds;
use crate::bench::output::{Row, Table, Unit, Value};
use crate::bench::reference::expected::{Expected, check, local, modified};
use crate::bench::setup::size_name;
use anyhow::{Result, ensure};
use histeq::Named;
use histeq::internal::equalize::backend::reference::{histogram, map, tile_histograms};
use histeq::internal::equalize::cpu::{Cpu, Engine, Isa};
use histeq::internal::equalize::{Executor, Work};
use histeq::internal::frame::{Frame, HostPool, PixelFormat};
use histeq::internal::spec::clahe::{TileBins, TileCurves, Tiles};
use histeq::internal::spec::curves::{Curve, Tone};
use histeq::internal::spec::parameters::{Chroma, Settings};
use std::time::Instant;

const SIZES: [(usize, usize); 2] = [(1920, 1080), (3840, 2160)];

const DEPTHS: [u8; 3] = [8, 10, 16];

/// Separate frames that are used in turn, so that none is in a cache.
const FRAMES: usize = 8;

/// The measured settings, by the names of their columns.
fn columns() -> [(&'static str, Settings); 3] {
    [("exact", Settings::default()), ("modified", modified()), ("clahe", local())]
}

/// A table of whole frames, and one of single passes.
pub fn run(setup: &Setup) -> Result<Vec<Table>> {
    Ok(vec![frames(setup)?, passes(setup)?])
}

fn frames(setup: &Setup) -> Result<Table> {
    let mut table = Table::new("frames", "Whole frames on the CPU", &["size", "bits", "path", "threads"])
        .note(
            "Time a frame of photo-like gray: exact is the textbook; modified has a window of 25 frames, scene cuts, \
             plateau and contrast limit; clahe has 8x8 tiles, a contrast limit and the same window. The copy is of the \
             same bytes by as many threads, and share is its time in that of exact.",
        )
        .measures(["copy", "exact"], Unit::Microseconds)
        .measures(["share of copy"], Unit::Percent)
        .measures(["modified", "clahe"], Unit::Microseconds);
    let sizes = setup.sizes(&SIZES);
    let paths = paths();
    setup.steps.expect(sizes.len() * DEPTHS.len() * paths.len());
    for size in sizes {
        for depth in DEPTHS {
            let frames = several(&picture(gray(depth), size, Content::Photo), FRAMES);
            let mut expected = columns().map(|(_, settings)| Expected::new(&frames[0], settings));
            for &(isa, threads) in &paths {
                setup.steps.next(format!("{} {depth} bits {isa} {threads}", size_name(size)))?;
                let mut row = Row::new([size_name(size), depth.to_string(), isa.to_string(), threads.to_string()]);
                let copy = memcpy(&frames, threads, 8, setup.repeats);
                row.set("copy", copy);
                for ((name, settings), expected) in columns().into_iter().zip(&mut expected) {
                    let time = whole_frames(setup, &frames, (isa, threads), settings, expected)?;
                    row.set(name, time);
                    if name == "exact" {
                        row.set("share of copy", Value::derived(copy.median / time.median * 100.0));
                    }
                }
                table.push(row);
            }
        }
    }
    Ok(table)
}

/// Every instruction set on one thread; the best one also on 2, 4, 8 and so on, and on all threads.
fn paths() -> Vec<(Isa, usize)> {
    let all = std::thread::available_parallelism().map_or(1, usize::from);
    let mut threads: Vec<usize> = (1..).map(|power| 1 << power).take_while(|&threads| threads < all).collect();
    threads.extend((all > 1).then_some(all));
    Isa::available().map(|isa| (isa, 1)).chain(threads.into_iter().map(|threads| (Isa::best(), threads))).collect()
}

/// Microseconds per frame through the whole backend, as the program uses it.
fn whole_frames(
    setup: &Setup,
    frames: &[Frame],
    (isa, threads): (Isa, usize),
    settings: Settings,
    expected: &mut Expected,
) -> Result<Value> {
    let Some(mut cpu) = Cpu::with_isa(threads, isa) else { unreachable!("{isa} is available") };
    let count = if setup.quick { 3 } else { (4 * threads).max(FRAMES) };
    // As soon as the window is full, the curve of a still picture does not change.
    let full = settings.smoothing.frames() as usize;
    through(&mut cpu, frames, settings, full)?;
    expected.begin();
    expected.skip(full);
    let what = format!("{isa} on {threads} threads");
    let value = setup.repeats.value(|| {
        let begin = Instant::now();
        let last = through(&mut cpu, frames, settings, count)?;
        let time = microseconds(begin);
        check(&what, expected.after(count), &last)?;
        Ok::<f64, anyhow::Error>(time)
    })?;
    Ok(value.times(1.0 / count as f64))
}

/// Equalizes `count` frames, and returns the last one.
fn through(equalizer: &mut dyn Executor, frames: &[Frame], settings: Settings, count: usize) -> Result<Frame> {
    let mut last = None;
    for frame in frames.iter().cycle().take(count) {
        if equalizer.in_flight() >= equalizer.capacity() {
            last = equalizer.collect()?;
        }
        equalizer.submit(Work::new(frame.clone(), settings))?;
    }
    equalizer.finish()?;
    while let Some(equalized) = equalizer.collect()? {
        last = Some(equalized);
    }
    Ok(last.ok_or_else(|| anyhow::anyhow!("no frame came back"))?.frame)
}

/// The formats and contents that are measured pass by pass.
fn passed() -> Vec<(PixelFormat, Content)> {
    let grays = [PixelFormat::Gray, PixelFormat::Gray10le, PixelFormat::Gray16le];
    let rest = [PixelFormat::Uyvy422, PixelFormat::Rgb24, PixelFormat::Bgra, PixelFormat::Gbrp10le];
    let grays = grays.into_iter().flat_map(|format| Content::ALL.iter().map(move |&content| (format, content)));
    grays.chain(rest.map(|format| (format, Content::Photo))).collect()
}

fn passes(setup: &Setup) -> Result<Table> {
    let size = setup.sizes(&SIZES)[0];
    let title = format!("Passes over {} on one thread", size_name(size));
    let mut table = Table::new("passes", title, &["format", "content", "path"])
        .note(
            "The curve between histogram and map takes some microseconds, 16 bits some tens. The last three are \
             clahe's.",
        )
        .measures(["histogram", "map", "tile histograms", "tile curves", "tile map"], Unit::Microseconds);
    let passed = if setup.quick { vec![(PixelFormat::Gray, Content::Photo)] } else { passed() };
    setup.steps.expect(passed.len() * Isa::available().count());
    for (format, content) in passed {
        let frame = picture(format, size, content);
        for isa in Isa::available() {
            setup.steps.next(format!("{format} {} {isa}", content.name()))?;
            let row = Row::new([format.to_string(), content.name().to_owned(), isa.to_string()]);
            table.push(pass_by_pass(setup, &frame, isa, row)?);
        }
    }
    Ok(table)
}

fn pass_by_pass(setup: &Setup, frame: &Frame, isa: Isa, mut row: Row) -> Result<Row> {
    let Some(mut engine) = Engine::new(isa, HostPool::default()) else { unreachable!("{isa} is available") };
    let (pool, repeats) = (HostPool::default(), setup.repeats);
    let counts = histogram(frame, frame.whole());
    let curve = Curve::equalizing(&counts);
    let mut found = None;
    row.set("histogram", repeats.time(|| found = Some(engine.histogram(frame, frame.whole()))));
    ensure!(found.as_ref() == Some(&counts), "{isa}: the histogram is not what the reference says");
    let mut mapped = None;
    row.set("map", repeats.time(|| mapped = Some(engine.map(frame, &curve, Chroma::Keep))));
    let expected = map(frame, Chroma::Keep, &pool, |_, _, code| curve.apply(code));
    check("map", &expected, mapped.as_ref().unwrap_or(frame))?;
    let settings = local();
    let tiles = Tiles::new(8, 8, (frame.width(), frame.height()));
    let expected = tile_histograms(frame, tiles, TileBins::new(frame.levels(), settings.bins));
    let mut found = None;
    row.set("tile histograms", repeats.time(|| found = Some(engine.tile_histograms(frame, tiles, settings.bins))));
    ensure!(found.as_ref() == Some(&expected), "{isa}: the tiles' histograms are not what the reference says");
    let tone = Tone::plain(frame.levels(), &settings);
    let mut curves = TileCurves::equalizing(&expected, &settings, &tone.tile_levels());
    row.set("tile curves", repeats.time(|| curves = TileCurves::equalizing(&expected, &settings, &tone.tile_levels())));
    let mut mapped = None;
    row.set("tile map", repeats.time(|| mapped = Some(engine.map_tiles(frame, &curves, Chroma::Keep))));
    let expected = map(frame, Chroma::Keep, &pool, |x, y, code| curves.value(x, y, code));
    check("the map of tiles", &expected, mapped.as_ref().unwrap_or(frame))?;
    Ok(row)
}
