//! Limits belong to equalizers, not to the process: two at once, each within its own, dropped in any order.

use crate::backends::gpu;
use histeq::{Backend, Equalizer, Error, ErrorKind, Limits, Output, PixelFormat};
use std::sync::Barrier;
use std::thread::scope;

const SIZE: (usize, usize) = (320, 180);

/// Bytes of a frame.
const BYTES: usize = SIZE.0 * SIZE.1;

const FRAMES: usize = 40;

fn frame(number: usize) -> Vec<u8> {
    (0..BYTES).map(|index| (40 + number / 20 * 60 + (index * 7 + index / SIZE.0 * 3 + number) % 50) as u8).collect()
}

fn equalizer(backend: Backend, limits: &Limits) -> Equalizer {
    let builder = Equalizer::builder(PixelFormat::Gray, SIZE.0, SIZE.1).backend(backend).limits(limits);
    builder.build().expect("a backend")
}

/// All frames through the equalizer, which stays open with the last output.
fn run(equalizer: &mut Equalizer, limits: &Limits) -> (Vec<Vec<u8>>, Option<Output>) {
    let (mut found, mut last) = (Vec::new(), None);
    let mut take = |output: Output| {
        let mut bytes = vec![0; BYTES];
        output.copy_into(&mut bytes).expect("a frame of this size");
        assert!((BYTES..=limits.memory()).contains(&limits.in_use()), "{} bytes", limits.in_use());
        found.push(bytes);
        last = Some(output);
    };
    for number in 0..FRAMES {
        equalizer.push(&frame(number)).expect("room for a frame").into_iter().for_each(&mut take);
    }
    equalizer.finish().expect("an end").for_each(|output| take(output.expect("a frame")));
    assert_eq!(found.len(), FRAMES);
    (found, last)
}

/// Two equalizers on two threads, each within its limits, dropped in this order.
fn at_once(backends: [Backend; 2], first_goes_first: bool) {
    let limits = [Limits::default().with_threads(1), Limits::default().with_memory(4000 * BYTES).with_threads(3)];
    let alone = Limits::default();
    let expected = run(&mut equalizer(Backend::Cpu, &alone), &alone).0;
    let begin = Barrier::new(2);
    let mut open: Vec<_> = scope(|scope| {
        let start = |(backend, limits)| {
            let begin = &begin;
            scope.spawn(move || {
                let mut equalizer = equalizer(backend, limits);
                begin.wait();
                let (found, last) = run(&mut equalizer, limits);
                (equalizer, found, last)
            })
        };
        let threads: Vec<_> = backends.into_iter().zip(&limits).map(start).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    for ((equalizer, found, _), (backend, name)) in open.iter().zip(backends.iter().zip(["1 thread)", "3 threads)"])) {
        assert!(*backend == Backend::Cuda || equalizer.backend_name().ends_with(name), "{}", equalizer.backend_name());
        assert!(*found == expected, "{backend}: other bytes");
    }
    if first_goes_first {
        open.reverse();
    }
    let mut order = if first_goes_first { [0, 1] } else { [1, 0] }.into_iter();
    while let Some((equalizer, _, last)) = open.pop() {
        let limits = &limits[order.next().expect("two")];
        assert!(limits.in_use() > 0);
        drop(equalizer);
        assert!(limits.in_use() >= BYTES, "the output is still there");
        drop(last);
        assert_eq!(limits.in_use(), 0);
    }
}

#[test]
fn two_equalizers_at_once_keep_to_their_own_limits() {
    at_once([Backend::Cpu; 2], true);
    at_once([Backend::Cpu; 2], false);
    if gpu().is_some() {
        at_once([Backend::Cpu, Backend::Cuda], true);
        at_once([Backend::Cuda, Backend::Cpu], false);
        at_once([Backend::Cuda; 2], true);
    }
}

#[test]
fn an_equalizer_without_room_fails_alone() {
    let (narrow, wide) = (Limits::default().with_memory(BYTES), Limits::default().with_memory(4000 * BYTES));
    let (mut refused, mut works) = (equalizer(Backend::Cpu, &narrow), equalizer(Backend::Cpu, &wide));
    let error = refused.push(&frame(0)).err();
    assert!(matches!(error, Some(Error::NoRoom(_))), "{error:?}");
    run(&mut works, &wide);
    // Clones share the memory: what one equalizer uses, the other one lacks.
    let shared = Limits::default().with_memory(3 * BYTES);
    let [mut first, mut second] = [shared.clone(), shared].map(|limits| equalizer(Backend::Cpu, &limits));
    first.push(&frame(0)).expect("room for one frame");
    assert!(second.push(&frame(0)).is_err());
}

#[test]
fn a_frame_of_too_many_pixels_is_refused_before_it_is_there() {
    let limits = Limits::default().with_pixels(BYTES as u64);
    let builder = |rows| Equalizer::builder(PixelFormat::Gray, SIZE.0, rows).backend(Backend::Cpu).limits(&limits);
    assert!(builder(SIZE.1).build().is_ok());
    let error = builder(SIZE.1 + 1).build().err().expect("too large");
    assert_eq!(
        error.to_string(),
        "frames of 320x181 pixels are too large: the limit is 57600 pixels (allow more of them)"
    );
}

#[test]
fn outputs_that_are_kept_count_until_they_are_dropped() {
    for frames in [12, 16, 40] {
        let limits = Limits::default().with_memory(frames * BYTES).with_threads(1);
        let builder = Equalizer::builder(PixelFormat::Gray, SIZE.0, SIZE.1).backend(Backend::Cpu).live();
        let mut equalizer = builder.limits(&limits).build().expect("a backend");
        let mut kept = Vec::new();
        let refused = (0..2 * frames).find_map(|number| match equalizer.push(&frame(number)) {
            Ok(output) => {
                kept.extend(output);
                None
            }
            Err(error) => Some(error),
        });
        assert_eq!(refused.map(|error| error.kind()), Some(ErrorKind::Limit), "{frames} frames");
        assert!(limits.in_use() <= limits.memory() * 17 / 16 + BYTES, "{frames} frames: {}", limits.in_use());
        let full = limits.in_use();
        drop(kept);
        equalizer.push(&frame(0)).expect("room again");
        assert!(limits.in_use() < full && limits.peak() >= full, "{frames} frames: {} of {full}", limits.peak());
    }
}
