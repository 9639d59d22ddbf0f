//! The structures that kernels take by value, which `build.rs` generates from `kernels/headers/arguments.cuh`.
#![allow(unsafe_code, reason = "implements the bindings' marker trait for structures of plain bytes")]

use super::launch::KernelValue;
use super::memory::layout::{Arrangement, BufferLayout, ChromaLayout};
use super::pipeline::task::{Parameters, Task};
use super::tuning;
use crate::denoise::merge::MAX_OTHERS;
use crate::denoise::noise::Noise;
use crate::frame::FieldRows;
use crate::spec::clahe::TileBins;
use crate::spec::curves::tone::{self, Knot};
use crate::spec::natural::{self, FrameCurve};
use crate::spec::parameters::Method;
use crate::spec::{self, measure};
use bytemuck::{Pod, Zeroable};
use cudarc::driver::DeviceRepr;

/// The memory layout of a structure.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Structure {
    /// The name of the structure, in Rust and in the kernels.
    pub name: &'static str,
    /// The size of the structure in bytes.
    pub bytes: usize,
    /// All of its fields, in declaration order.
    pub fields: &'static [StructureField],
}

/// A field of a structure.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StructureField {
    /// The name of the field, in Rust and in the kernels.
    pub name: &'static str,
    /// Bytes from the start of the structure.
    pub offset: usize,
    /// The size of the field in bytes.
    pub bytes: usize,
}

/// Declares a structure that kernels take by value. Deriving `Pod` fails for a structure with padding.
macro_rules! by_value {
    ($(#[$doc:meta])* pub struct $name:ident { $(pub $field:ident: $type:ty,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Pod, Zeroable)]
        #[repr(C)]
        #[allow(missing_docs, reason = "arguments.cuh describes the fields")]
        pub struct $name {
            $(pub $field: $type,)*
        }

        // SAFETY: `repr(C)` and `Pod`: integers without padding, the bytes that the kernel's structure has.
        unsafe impl DeviceRepr for $name {}

        impl KernelValue for $name {}

        impl $name {
            const STRUCTURE: Structure = Structure {
                name: stringify!($name),
                bytes: size_of::<$name>(),
                fields: &[$(StructureField {
                    name: stringify!($field),
                    offset: std::mem::offset_of!($name, $field),
                    bytes: size_of::<$type>(),
                }),*],
            };
        }
    };
}

include!(concat!(env!("OUT_DIR"), "/structures.rs"));

// The kernels and the specification have to agree on these lengths.
const _: () = assert!(KNOTS == tone::KNOTS && REGIONS == measure::REGIONS);
const _: () = assert!(PIECES == natural::PIECES && MOST_REFERENCES == MAX_OTHERS);

impl Samples {
    /// The sample format of the uploaded planes.
    pub fn new(layout: &BufferLayout) -> Self {
        let sample = layout.sample();
        let offset = match layout.arrangement() {
            Arrangement::Pairs { offset } => offset as u32,
            Arrangement::Luma | Arrangement::Planar { .. } | Arrangement::Packed { .. } => 0,
        };
        Samples {
            pixels: layout.pixels,
            row: layout.padded_row,
            offset,
            shift: sample.shift.into(),
            swapped: layout.swapped().into(),
            max: sample.max().into(),
        }
    }

    /// The sample format of the luminance computed from RGB on the GPU: plain codes in the GPU's byte order.
    pub fn for_luminance(layout: &BufferLayout) -> Self {
        Samples { offset: 0, shift: 0, swapped: 0, ..Samples::new(layout) }
    }
}

impl BlendedLevels {
    pub fn new(levels: spec::curves::Levels, strength: spec::parameters::Strength) -> Self {
        BlendedLevels { lo: levels.lo().into(), hi: levels.hi().into(), strength: strength.to_256ths() }
    }

    /// The levels of a histogram with `bins` bins, one level for each bin.
    pub fn for_bins(bins: u32) -> Self {
        BlendedLevels { lo: 0, hi: bins - 1, strength: spec::parameters::Strength::FULL.to_256ths() }
    }
}

impl Region {
    pub fn new(rect: spec::parameters::Rect, layout: &BufferLayout) -> Self {
        Region {
            x: rect.x as u32,
            y: rect.y as u32,
            width: rect.width as u32,
            height: rect.height as u32,
            pitch: layout.row_pixels(),
        }
    }
}

impl Tiles {
    /// The grid `tiles`, in which each tile has `bins` bins for `levels`.
    pub fn new(tiles: &spec::clahe::Tiles, bins: usize, levels: spec::curves::Levels, layout: &BufferLayout) -> Self {
        let (wide, levels) = ((bins as u64) << 32, levels.count() as u64);
        Tiles {
            columns: tiles.columns as u32,
            rows: tiles.rows as u32,
            width: tiles.width as u32,
            height: tiles.height as u32,
            picture_width: tiles.picture.0 as u32,
            picture_height: tiles.picture.1 as u32,
            pitch: layout.row_pixels(),
            bins: bins as u32,
            bin_multiplier: u32::try_from(wide.div_ceil(levels)).unwrap_or(0),
        }
    }
}

impl Inverse {
    /// No inverse: the kernel divides, because sums may reach 2^31.
    const NONE: Inverse = Inverse { multiplier: 0, shift: 0 };

    /// The inverse of the sum of a pixel's four tile weights, which blend curves of `codes` codes. The kernel keeps the
    /// horizontal weights in 16 bits.
    fn for_blend(tiles: &spec::clahe::Tiles, codes: usize) -> Self {
        let (across, down) = (2 * tiles.width as u64, 2 * tiles.height as u64);
        let whole = across.saturating_mul(down);
        if across > u16::MAX.into() || whole.saturating_mul(codes as u64) > 1 << 31 {
            return Inverse::NONE;
        }
        let shift = (whole - 1).ilog2();
        Inverse { multiplier: (1u64 << (32 + shift)).div_ceil(whole) as u32, shift }
    }

    /// The inverse of the sum of a pixel's four tile weights, for curves that are kept as steps. The kernel drops the
    /// lowest bits of dividends of more than 32 bits.
    fn for_deep_blend(tiles: &spec::clahe::Tiles) -> Self {
        let whole = 4 * tiles.width as u64 * tiles.height as u64;
        let bits = (whole - 1).ilog2() + 1;
        Inverse { multiplier: ((1u64 << (31 + bits)) / whole) as u32, shift: bits.min(16) - 1 }
    }
}

/// The memory and the form of the tiles' curves; `kernels/tiles/tiles.cuh` describes each variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cuda) enum CurvePlace {
    ThroughCaches = 0,
    InShared = 1,
    AsSteps = 2,
    AsSixteenths = 3,
}

impl CurvePlace {
    /// Bytes of shared memory of `tile_map` for the steps of this many bins.
    pub fn bytes_of_steps(bins: usize) -> usize {
        16 * (bins + 1)
    }

    /// The number of 16-bit entries for the curves of all tiles as steps, with `bins` bins each, and for a `Scale`.
    pub fn entries_of_steps(tiles: usize, bins: usize) -> usize {
        2 * (tiles * bins + 8)
    }

    /// How the curves of `tiles`, with `bins` bins each, are stored. `has_room` says whether a block's shared memory
    /// holds the steps of four tiles.
    pub fn new(
        (tiles, bins): (&spec::clahe::Tiles, usize),
        levels: spec::curves::Levels,
        parameters: &Parameters,
        has_room: bool,
    ) -> CurvePlace {
        let brings_out_detail = matches!(parameters.method, Method::Detail { .. });
        // The sum of a tile's steps, in sixteenths of a level or in counts.
        let total = match brings_out_detail {
            true => 16 * levels.count() as u64,
            false => (tiles.width * tiles.height) as u64 * u64::from(parameters.smoothing.frames()),
        };
        if levels.codes() <= tuning::TILE_MAP_SHARED {
            CurvePlace::InShared
        } else if !has_room || !CurvePlace::suits_steps(tiles, bins, levels.count(), total) {
            CurvePlace::ThroughCaches
        } else if brings_out_detail {
            CurvePlace::AsSixteenths
        } else {
            CurvePlace::AsSteps
        }
    }

    /// Whether curves are kept as steps.
    pub fn has_steps(self) -> bool {
        matches!(self, CurvePlace::AsSteps | CurvePlace::AsSixteenths)
    }

    /// The inverse with which the kernel blends curves of `codes` codes.
    pub fn inverse(self, tiles: &spec::clahe::Tiles, codes: usize) -> Inverse {
        if self.has_steps() { Inverse::for_deep_blend(tiles) } else { Inverse::for_blend(tiles, codes) }
    }

    /// Whether the 32-bit arithmetic of steps is exact for curves whose steps add up to at most `total`, with `bins`
    /// bins per tile for `count` levels.
    fn suits_steps(tiles: &spec::clahe::Tiles, bins: usize, count: usize, total: u64) -> bool {
        let area = (tiles.width * tiles.height) as u64;
        // The condition under which `inverse_of` in the kernels divides exactly.
        let divides = |width: usize| {
            let width = width as u64;
            let left = (width - (1 << 32) % width) % width;
            total * width * left.max(1) < 1 << 32
        };
        let widths = [count / bins, count.div_ceil(bins)];
        let has_room = tiles.width <= 1 << 15 && area < 1 << 29 && total < 1 << 31;
        has_room && bins >= 2 && widths[0] >= 2 && widths.into_iter().all(divides)
    }
}

impl WindowUpdate {
    const NOWHERE: u32 = u32::MAX;

    /// The update for a frame whose window has no other frames; `number` is the number of the frame in its history.
    pub fn alone(number: u64) -> Self {
        let half = (number % 2) as u32;
        let (evicted_rows, evicted_windows) = ([WindowUpdate::NOWHERE; 2], [WindowUpdate::NOWHERE; 2]);
        let evicted_caps = [Modifiers::UNCAPPED; 2];
        WindowUpdate {
            remembers: 0,
            half,
            window: 0,
            joins: 1,
            fresh: 1,
            row: 0,
            evicted_rows,
            evicted_windows,
            evicted_caps,
        }
    }

    /// The update for frame `number` of a history, which uses its rows in turn. `caps` has an entry for each row: the
    /// plateau's cap for the frame in that row.
    pub fn new(update: &spec::time::WindowUpdate, number: u64, slots: usize, caps: &[u32]) -> Self {
        let rows = caps.len();
        let row = (number % rows as u64) as usize;
        // Slots are used in turn: the slot before `update.slot` has the previous frame, `update.slot` itself the frame
        // from `slots` frames ago.
        let row_of = |slot: usize| {
            let ago = if slot < update.slot { update.slot - slot } else { update.slot + slots - slot };
            ((row + rows - ago) % rows) as u32
        };
        let evicted_rows = update.evicted.map(|evicted| evicted.map(|evicted| row_of(evicted.slot)));
        WindowUpdate {
            remembers: 1,
            window: update.window as u32,
            joins: update.joins.into(),
            fresh: update.starts_window.into(),
            row: row as u32,
            evicted_rows: evicted_rows.map(|row| row.unwrap_or(WindowUpdate::NOWHERE)),
            evicted_caps: evicted_rows.map(|row| row.map_or(Modifiers::UNCAPPED, |row| caps[row as usize])),
            evicted_windows: update
                .evicted
                .map(|evicted| evicted.map_or(WindowUpdate::NOWHERE, |evicted| evicted.window as u32)),
            ..WindowUpdate::alone(number)
        }
    }
}

impl Modifiers {
    /// The value of `cap` for no cap.
    const UNCAPPED: u32 = u32::MAX;

    /// The most samples of the frame that a level keeps under the plateau.
    pub fn cap(task: &Task) -> u32 {
        // A larger cap has no effect: a frame has fewer samples.
        let cap = task.parameters.plateau.cap(task.samples).unwrap_or(u64::MAX);
        cap.min(Modifiers::UNCAPPED.into()) as u32
    }

    /// The modifiers of a window of `frames` frames.
    pub fn new(task: &Task, frames: u32) -> Self {
        let parameters = &task.parameters;
        let bins = spec::parameters::bins(task.levels, parameters.bins);
        let tone = task.tone();
        let (first, last) = match parameters.method {
            Method::Clahe { .. } | Method::Detail { .. } => {
                let (first, last) = TileBins::new(task.levels, parameters.bins).bin_range(tone.range);
                (first as u32, last as u32)
            }
            _ => tone.range,
        };
        let width = last - first + 1;
        Modifiers {
            frames,
            samples: task.samples as u32,
            varies: task.samples_vary.into(),
            cap: Modifiers::cap(task),
            bins: if bins == task.levels.count() { 0 } else { bins as u32 },
            gain: tone.max_gain.to_256ths().unwrap_or(0),
            first,
            width,
            ceiling: tone.ceiling,
            keeps_black: tone.keeps_black.into(),
            inverse: u64::MAX / u64::from(width),
        }
    }
}

impl PiecewiseLine {
    pub fn new(line: &spec::curves::Line) -> Self {
        let knots = line.knots();
        let value_of = |part: fn(&Knot) -> u32| std::array::from_fn(|index| knots.get(index).map_or(0, part));
        PiecewiseLine {
            used: knots.len() as u32,
            from: value_of(|knot| knot.level),
            to: value_of(|knot| knot.becomes),
            slope: value_of(|knot| knot.slope),
        }
    }
}

impl Detail {
    /// The arguments for `detail`, with the radius counted in `bins`.
    pub fn new(detail: &spec::curves::detail::Detail, bins: TileBins) -> Self {
        let spec::curves::detail::Detail { radius: _, noise, slope, steep, most } = *detail;
        let width = ((bins.levels().count() as u64) << 36).div_ceil(bins.count() as u64);
        Detail { width, radius: detail.radius_in(bins) as u32, noise, slope, steep, most, reserved: 0 }
    }
}

impl ChromaPlaces {
    pub(super) fn new(places: ChromaLayout, (width, height): (usize, usize)) -> Self {
        ChromaPlaces {
            cb: places.cb,
            cr: places.cr,
            step: places.step as u32,
            pitch: places.pitch as u32,
            luma: places.luma as u32,
            luma_step: places.luma_step as u32,
            luma_pitch: places.luma_pitch as u32,
            width: width as u32,
            height: height as u32,
            log2_width: places.log2_width.into(),
            log2_height: places.log2_height.into(),
            reserved: 0,
        }
    }

    /// One entry for each field of an interlaced frame (fields share no sample), or a single entry for a progressive
    /// frame.
    pub(super) fn for_fields(places: ChromaLayout, size: (usize, usize), is_interlaced: bool) -> Vec<Self> {
        let whole = ChromaPlaces::new(places, size);
        let place_of = |FieldRows { luma, chroma, step, rows }: FieldRows| {
            let above = chroma as u64 * u64::from(whole.pitch);
            ChromaPlaces {
                cb: whole.cb + above,
                cr: whole.cr + above,
                pitch: step as u32 * whole.pitch,
                luma: whole.luma + luma as u32 * whole.luma_pitch,
                luma_pitch: step as u32 * whole.luma_pitch,
                height: rows as u32,
                ..whole
            }
        };
        FieldRows::for_frame(is_interlaced, places.log2_height, size.1).into_iter().map(place_of).collect()
    }

    /// The number of pairs of chroma samples.
    pub(super) fn pairs(&self) -> u32 {
        self.width.div_ceil(1 << self.log2_width) * self.height.div_ceil(1 << self.log2_height)
    }
}

impl Colours {
    pub fn new(task: &Task) -> Self {
        let colours = spec::chroma::Colours::new(task.levels, task.weights);
        Colours { centre: colours.centre, reach: colours.reach }
    }
}

impl Gains {
    /// A single gain for the whole frame, in 4096ths.
    pub fn one(gain: u32) -> Self {
        Gains { regions: 1, of: [gain; REGIONS * REGIONS], ..Gains::zeroed() }
    }

    /// The gains of chroma under a veil, one for each region.
    pub fn for_veil(veil: &tone::Veil, layout: &BufferLayout) -> Self {
        let tiles = tone::Veil::tiles(layout.size);
        let mut gains = [0; REGIONS * REGIONS];
        gains.copy_from_slice(veil.chroma.as_flattened());
        let (width, height) = (tiles.width as u32, tiles.height as u32);
        Gains { regions: REGIONS as u32, width, height, pitch: layout.row_pixels(), of: gains }
    }
}

impl Veil {
    /// The arguments for a veil whose `is_of_light` is false.
    pub fn new(veil: &tone::Veil) -> Self {
        let value_of = |regions: &[[u32; REGIONS]; REGIONS]| std::array::from_fn(|index| regions.as_flattened()[index]);
        let bends = veil.then.is_some().into();
        Veil { taken: value_of(&veil.taken), gains: value_of(&veil.gains), ceiling: veil.ceiling, bends }
    }
}

impl ToneCurve {
    /// The pieces of a frame's curve; zeros, which no kernel reads, for `None`.
    pub fn new(curve: Option<&FrameCurve>) -> Self {
        let mut pieces = ToneCurve::zeroed();
        for (index, [start, becomes, slope]) in curve.into_iter().flat_map(FrameCurve::pieces).enumerate() {
            (pieces.from[index], pieces.becomes[index], pieces.slopes[index]) = (start, becomes, slope);
        }
        pieces
    }
}

impl Balance {
    pub fn new(balance: &tone::Balance, layout: &BufferLayout) -> Self {
        Balance { gains: layout.in_order(balance.gains), offsets: layout.in_order(balance.offsets) }
    }
}

impl BalanceOfYuv {
    pub fn new(balance: &tone::Balance, task: &Task) -> Self {
        let colours = spec::chroma::Colours::new(task.levels, task.weights);
        BalanceOfYuv { rows: tone::BalanceOfYuv::new(balance, &colours, task.weights).rows }
    }
}

impl NoiseFactors {
    pub fn new(noise: &Noise) -> Self {
        let Noise { factors, most, of_class } = *noise;
        NoiseFactors { factors, of_class, most: most.into() }
    }
}

/// The arguments of the tile kernels for a frame (of the kernels for a veil, if `task` has no tiles), for tests that
/// run kernels on the CPU: the words of `Tiles`, the `CurvePlace`, and the words of `Inverse`. `has_room` says whether
/// the GPU's shared memory would hold the steps of four tiles.
#[doc(hidden)]
pub fn words_of_tiles(frame: &crate::frame::Frame, task: &Task, has_room: bool) -> Vec<u32> {
    let layout = BufferLayout::new(frame, false).expect("a frame that is not too large");
    let (tiles, bins) = task.tiles(&layout).unwrap_or((tone::Veil::tiles(layout.size), 1));
    let place = CurvePlace::new((&tiles, bins), task.levels, &task.parameters, has_room);
    let (tiles, inverse) = (Tiles::new(&tiles, bins, task.levels, &layout), place.inverse(&tiles, layout.codes()));
    [words_of(&tiles), &[place as u32], words_of(&inverse)].concat()
}

/// The words of `Detail`, for tests that run kernels on the CPU; `None` where `task` brings out no detail.
#[doc(hidden)]
pub fn words_of_detail(task: &Task) -> Option<Vec<u32>> {
    let bins = TileBins::new(task.levels, task.parameters.bins);
    task.tone().detail.map(|detail| words_of(&Detail::new(&detail, bins)).to_vec())
}

/// A structure as 32-bit words.
pub(super) fn words_of(structure: &impl Pod) -> &[u32] {
    bytemuck::cast_slice(std::slice::from_ref(structure))
}

/// The arguments of the kernel of a veil's curves, for tests that run kernels on the CPU: the words of the levels, the veil
/// and the curve that follows.
#[doc(hidden)]
pub fn words_of_veil(veil: &tone::Veil, levels: spec::curves::Levels) -> Vec<u32> {
    let then = ToneCurve::new(veil.then_on(levels).as_ref());
    [
        words_of(&BlendedLevels::new(levels, spec::parameters::Strength::FULL)),
        words_of(&Veil::new(veil)),
        words_of(&then),
    ]
    .concat()
}

/// The words of `NoiseFactors`, for tests that run kernels on the CPU.
#[doc(hidden)]
pub fn words_of_noise(noise: &Noise) -> Vec<u32> {
    words_of(&NoiseFactors::new(noise)).to_vec()
}

/// The arguments of the kernels that change colour, for tests that run kernels on the CPU.
#[doc(hidden)]
#[derive(Debug)]
pub struct ColourArguments {
    /// The words of the structures: samples, levels, places, colours, gains, weights, balance, balance of YUV.
    pub words: Vec<u32>,
    /// The planes that are uploaded.
    pub planes: std::ops::Range<usize>,
    /// The offset of each plane in the buffer, in bytes.
    pub starts: Vec<usize>,
    /// The bytes of all planes together.
    pub bytes: usize,
    /// Vectors from one plane to the next.
    pub plane_vectors: usize,
}

impl ColourArguments {
    /// The arguments of the launches that apply `mapping` to a frame, one launch for each field.
    ///
    /// # Panics
    /// When the frame is too large.
    pub fn for_fields(frame: &crate::frame::Frame, task: &Task, mapping: &spec::curves::Mapping) -> Vec<Self> {
        let layout = BufferLayout::new(frame, true).expect("a frame that is not too large");
        let Some(places) = layout.chroma else { return vec![ColourArguments::new(frame, task, mapping)] };
        let fields = ChromaPlaces::for_fields(places, layout.size, task.is_interlaced);
        fields.into_iter().map(|field| ColourArguments::for_places(frame, task, mapping, field)).collect()
    }

    /// The arguments for a frame to which `mapping` is applied in one launch.
    ///
    /// # Panics
    /// When the frame is too large.
    pub fn new(frame: &crate::frame::Frame, task: &Task, mapping: &spec::curves::Mapping) -> Self {
        let layout = BufferLayout::new(frame, true).expect("a frame that is not too large");
        let places = layout.chroma.map_or(ChromaPlaces::zeroed(), |places| ChromaPlaces::new(places, layout.size));
        ColourArguments::for_places(frame, task, mapping, places)
    }

    fn for_places(
        frame: &crate::frame::Frame,
        task: &Task,
        mapping: &spec::curves::Mapping,
        places: ChromaPlaces,
    ) -> Self {
        let layout = BufferLayout::new(frame, true).expect("a frame that is not too large");
        let (gains, balance) = match mapping {
            spec::curves::Mapping::Curve { chroma_gain, .. } => (Gains::one(*chroma_gain), tone::Balance::IDENTITY),
            spec::curves::Mapping::Veil(veil) => (Gains::for_veil(veil, &layout), tone::Balance::IDENTITY),
            spec::curves::Mapping::Balance(balance) | spec::curves::Mapping::Balanced { balance, .. } => {
                (Gains::zeroed(), *balance)
            }
            spec::curves::Mapping::Tiles { .. } => (Gains::zeroed(), tone::Balance::IDENTITY),
        };
        ColourArguments {
            words: [
                words_of(&Samples::new(&layout)),
                words_of(&BlendedLevels::new(task.levels, spec::parameters::Strength::FULL)),
                words_of(&places),
                words_of(&Colours::new(task)),
                words_of(&gains),
                words_of(&Weights { of: layout.weights_in_order(task.weights) }),
                words_of(&Balance::new(&balance, &layout)),
                words_of(&BalanceOfYuv::new(&balance, task)),
            ]
            .concat(),
            planes: layout.planes.clone(),
            starts: layout.spans.iter().map(|span| span.start).collect(),
            bytes: layout.bytes(),
            plane_vectors: layout.plane_distance() / 16,
        }
    }
}
