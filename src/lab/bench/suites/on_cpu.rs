//! The CPU's columns of the publications' suites: the plain loop, and this program on one thread.

use crate::bench::content::{Content, first_plane, picture};
use crate::bench::output::{Row, Table, Unit, Value};
use crate::bench::reference::expected::check_values;
use crate::bench::reference::published::{BEST, SEQUENTIAL};
use crate::bench::reference::sequential;
use crate::bench::setup::size_name;
use crate::bench::{Setup, image_file};
use anyhow::Result;
use histeq::internal::equalize::cpu::{Engine, Isa};
use histeq::internal::frame::{Frame, HostPool, PixelFormat};
use histeq::internal::spec::curves::Curve;
use histeq::internal::spec::parameters::Chroma;
use std::hint::black_box;

/// Photo-like images of these sizes, each of which is a progress step; or only the image of the user.
///
/// # Errors
/// When the user's image cannot be read. The iterator returns an error when the suite is cancelled.
pub fn images(
    setup: &Setup,
    sizes: &[(usize, usize)],
    format: PixelFormat,
) -> Result<impl Iterator<Item = Result<Frame>>> {
    let read = |file| image_file::read(file, format, &setup.steps.cancel);
    let of_user = setup.file.as_deref().map(read).transpose()?;
    let sizes = if of_user.is_some() { Vec::new() } else { setup.sizes(sizes) };
    setup.steps.expect(sizes.len());
    let made = sizes.into_iter().map(move |size| {
        setup.steps.next(size_name(size))?;
        Ok(picture(format, size, Content::Photo))
    });
    Ok(of_user.map(Ok).into_iter().chain(made))
}

/// A gray image to equalize.
pub struct GrayImage {
    /// Columns and rows.
    pub size: (usize, usize),
    /// 8-bit gray of full range, rows without padding.
    pub pixels: Vec<u8>,
    /// The count of each level.
    pub counts: Vec<u32>,
    /// The image as a frame.
    pub frame: Frame,
}

/// The times of the CPU for an image.
pub struct CpuTimes {
    /// The plain loop.
    pub sequential: Value,
    /// This program, on one thread.
    pub best: Value,
}

impl GrayImage {
    /// The image of a gray frame.
    pub fn new(frame: Frame) -> Self {
        let (size, pixels) = ((frame.width(), frame.height()), first_plane(&frame));
        GrayImage { size, counts: sequential::histogram(&pixels).to_vec(), pixels, frame }
    }

    /// A copy whose first row is black.
    pub fn with_black(&self) -> Self {
        let mut pixels = self.pixels.clone();
        pixels[..self.size.0].fill(0);
        let plane = HostPool::default().plane_from(&pixels, self.size.0, self.size.1);
        GrayImage::new(self.frame.with_planes(|_| Some(plane.clone())))
    }

    /// The image mapped by a curve.
    pub fn through(&self, curve: &[u16]) -> Vec<u8> {
        self.pixels.iter().map(|&code| curve[usize::from(code)] as u8).collect()
    }

    /// Equalizes the image on the CPU, by the plain loop and by this program.
    ///
    /// # Errors
    /// When the two outputs differ.
    pub fn on_cpu(&self, setup: &Setup) -> Result<CpuTimes> {
        let mut target = vec![0; self.pixels.len()];
        let sequential = setup.repeats.time(|| sequential::equalize(black_box(&self.pixels), black_box(&mut target)));
        let mut engine = Engine::new(Isa::best(), HostPool::default()).expect("the best is available");
        let mut found = None;
        let best = setup.repeats.time(|| {
            // The memory of the last result goes back to the pool first.
            drop(found.take());
            let histogram = engine.histogram(&self.frame, self.frame.whole());
            found = Some(engine.map(&self.frame, &Curve::equalizing(&histogram), Chroma::Keep));
        });
        let found = found.map(|frame| first_plane(&frame)).unwrap_or_default();
        check_values("equalization on the CPU", &target, &found)?;
        Ok(CpuTimes { sequential, best })
    }
}

/// The table of the CPU's times, with a note that describes the plain loop as `sequential`.
pub fn table(sequential: &str) -> Table {
    Table::new("cpu", "On the CPU, one thread", &["size", "path"])
        .note(format!("{SEQUENTIAL} is {sequential}; {BEST} is the CPU backend with {}.", Isa::best()))
        .measures(["time"], Unit::Microseconds)
}

/// The description of the plain loop for gray images.
pub const PLAIN_LOOP: &str = "the plain loop of the publications, as the compiler makes it";

/// The row of an image and a path in that table.
pub fn row(size: (usize, usize), path: &str, time: Value) -> Row {
    Row::new([&size_name(size), path]).with("time", time)
}

/// The rows of the plain loop and of this program.
pub fn rows(size: (usize, usize), times: &CpuTimes) -> [Row; 2] {
    [(SEQUENTIAL, times.sequential), (BEST, times.best)].map(|(path, time)| row(size, path, time))
}
