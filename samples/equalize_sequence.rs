//! Equalizes a sequence of gray frames with the temporal window, on the first GPU if there is one, else on the CPU: the
//! bytes are the same.
//!
//! `cargo run -p histeq --example equalize_sequence`

use anyhow::Result;
use histeq::equalize::{Equalized, Equalizer, Work, cpu::Cpu, cuda::Cuda};
use histeq::frame::{Frame, HostPool, Matrix, PixelFormat, Range};
use histeq::spec::{Settings, Smoothing, Threshold};

const SIZE: (usize, usize) = (320, 180);

/// The histograms of half a second at 25 frames a second make each curve; a cut, where a fifth of the histogram changes,
/// begins a window of its own.
fn settings() -> Settings {
    Settings {
        smoothing: Smoothing::of_seconds(0.5, 25.0),
        scene_threshold: Threshold::from_share(0.2).expect("a share between 0 and 1"),
        ..Settings::default()
    }
}

/// The GPU if it can be used, else the CPU.
fn backend() -> Box<dyn Equalizer> {
    match Cuda::new(0, Cuda::RING_DEPTH) {
        Ok(cuda) => Box::new(cuda),
        Err(reason) => {
            eprintln!("{reason}");
            Box::new(Cpu::new(std::thread::available_parallelism().map_or(1, usize::from)))
        }
    }
}

/// A dark ramp that grows a little brighter from frame to frame.
fn frame(pool: &HostPool, number: usize) -> Result<Frame> {
    let (width, height) = SIZE;
    let pixels: Vec<u8> = (0..width * height).map(|at| (20 + number / 4 + at % width / 8) as u8).collect();
    let plane = pool.plane_from(&pixels, width, height);
    Ok(Frame::new(PixelFormat::Gray, SIZE, Range::Full, Matrix::Bt601, vec![plane])?)
}

/// What is to be done with each frame; here, its mean is printed.
fn consume(number: usize, frame: &Frame) {
    let plane = &frame.planes()[0];
    let sum: u64 = (0..plane.rows()).flat_map(|y| plane.row(y)).map(|&pixel| u64::from(pixel)).sum();
    println!("frame {number}: mean {:.1}", sum as f64 / (SIZE.0 * SIZE.1) as f64);
}

fn main() -> Result<()> {
    let mut equalizer = backend();
    eprintln!("on {}", equalizer.name());
    let pool = HostPool::default();
    let mut done = 0;
    for number in 0..50 {
        // Frames come back in order. With this many under way the backend takes no more until one is collected.
        if equalizer.in_flight() == equalizer.capacity()
            && let Some(Equalized { frame, .. }) = equalizer.collect()?
        {
            consume(done, &frame);
            done += 1;
        }
        equalizer.submit(Work::new(frame(&pool, number)?, settings()))?;
    }
    equalizer.finish()?;
    while let Some(Equalized { frame, .. }) = equalizer.collect()? {
        consume(done, &frame);
        done += 1;
    }
    Ok(())
}
