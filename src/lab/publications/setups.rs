//! The launches of the five publications, so that a benchmark can repeat them on another GPU.

use super::{CdfMin, Formula, HistogramVariant, LaunchShape, MapVariant, ScanVariant, Variants, Walk};

/// A measurement of a publication.
#[derive(Clone, Copy, Debug)]
pub struct PublishedSetup {
    /// A short name, for tables.
    pub name: &'static str,
    /// Stem of the publication's file in `references/`.
    pub publication: &'static str,
    /// Its kernels.
    pub variants: Variants,
    /// The shape of the launches over elements.
    pub shape: LaunchShape,
    /// Bytes of an element: 1 or 4.
    pub element_bytes: u8,
    /// Bins of its histogram.
    pub bins: u32,
    /// Whether its elements are BGRA pixels, whose luminance is computed and counted by one kernel.
    pub is_luminance: bool,
    /// The value that its bins are saturated at, if they are.
    pub saturated_at: Option<u32>,
    /// Its arithmetic; `None` is that of the specification.
    pub formula: Option<Formula>,
}

const PLAIN: PublishedSetup = PublishedSetup {
    name: "",
    publication: "",
    variants: Variants {
        histogram: Some(HistogramVariant::Global),
        scan: Some(ScanVariant::HillisSteele),
        cdf_min: Some(CdfMin::FirstNonzero),
        map: Some(MapVariant::Computed),
        block_size: Some(1024),
        pixels_per_thread: None,
    },
    shape: LaunchShape { scan_block_size: Some(256), ..LaunchShape::DEFAULT },
    element_bytes: 1,
    bins: 256,
    is_luminance: false,
    saturated_at: None,
    formula: None,
};

const NAIVE: &str = "cuda-naive-vs-optimized";
const SATURATED: &str = "cuda-4096-bins-saturated";
const LUMINANCE: &str = "cuda-rgb-luminance-histogram";
const SCANS: &str = "cuda-three-scans";
const OPENCL: &str = "opencl-blelloch-scan";

/// A setup of cuda-three-scans with this scan, where other kernels have 4 elements per thread.
const fn scans(name: &'static str, scan: ScanVariant, block_size: u32) -> PublishedSetup {
    let variants = Variants {
        histogram: Some(HistogramVariant::Aggregated),
        scan: Some(scan),
        cdf_min: Some(CdfMin::InCurve),
        map: Some(MapVariant::SharedLut),
        block_size: Some(block_size),
        pixels_per_thread: Some(4),
    };
    // The publication's scan with two buffers returns the result of its step before the last.
    let formula = match scan {
        ScanVariant::KoggeStoneDouble => Formula::StaleBuffer,
        _ => Formula::Product32,
    };
    PublishedSetup { name, publication: SCANS, variants, shape: LaunchShape::DEFAULT, formula: Some(formula), ..PLAIN }
}

/// A setup of cuda-4096-bins-saturated, with private counters or without.
const fn saturated(name: &'static str, histogram: HistogramVariant) -> PublishedSetup {
    PublishedSetup {
        name,
        publication: SATURATED,
        variants: Variants {
            histogram: Some(histogram),
            map: Some(MapVariant::Bytes),
            block_size: Some(512),
            ..PLAIN.variants
        },
        shape: LaunchShape { blocks: Some(120), ..LaunchShape::DEFAULT },
        element_bytes: 4,
        bins: 4096,
        saturated_at: Some(256),
        ..PLAIN
    }
}

/// A setup of opencl-blelloch-scan: two-dimensional blocks with a pixel per thread, and one of two searches for the
/// first occupied bin, in every block of the map.
const fn opencl(name: &'static str, cdf_min: CdfMin, formula: Formula) -> PublishedSetup {
    let variants = Variants {
        histogram: Some(HistogramVariant::Privatized),
        scan: Some(ScanVariant::Blelloch),
        cdf_min: Some(cdf_min),
        map: Some(MapVariant::GroupMin),
        ..PLAIN.variants
    };
    let shape = LaunchShape { walk: Walk::Tiles, ..PLAIN.shape };
    PublishedSetup { name, publication: OPENCL, variants, shape, formula: Some(formula), ..PLAIN }
}

/// All setups, grouped by publication. Only in cuda-three-scans does the scan have the block size of the other
/// kernels.
pub const SETUPS: [PublishedSetup; 13] = [
    PublishedSetup { name: "naive", publication: NAIVE, formula: Some(Formula::FloorInteger), ..PLAIN },
    PublishedSetup {
        name: "optimized",
        publication: NAIVE,
        variants: Variants {
            histogram: Some(HistogramVariant::Coarsened),
            map: Some(MapVariant::Factored),
            ..PLAIN.variants
        },
        formula: Some(Formula::FloorNoMin),
        ..PLAIN
    },
    saturated("4096 bins, global", HistogramVariant::Global),
    saturated("4096 bins, privatized", HistogramVariant::Privatized),
    PublishedSetup {
        name: "luminance",
        publication: LUMINANCE,
        variants: Variants {
            histogram: Some(HistogramVariant::Privatized),
            block_size: Some(128),
            pixels_per_thread: Some(64),
            ..PLAIN.variants
        },
        shape: LaunchShape { walk: Walk::Consecutive, ..PLAIN.shape },
        element_bytes: 4,
        is_luminance: true,
        formula: Some(Formula::TruncatedLuminance),
        ..PLAIN
    },
    scans("Kogge-Stone 256", ScanVariant::KoggeStone, 256),
    scans("Kogge-Stone 512", ScanVariant::KoggeStone, 512),
    scans("Kogge-Stone double 256", ScanVariant::KoggeStoneDouble, 256),
    scans("Kogge-Stone double 512", ScanVariant::KoggeStoneDouble, 512),
    scans("Brent-Kung 256", ScanVariant::BrentKung, 256),
    scans("Brent-Kung 512", ScanVariant::BrentKung, 512),
    opencl("OpenCL, reduction", CdfMin::Reduction, Formula::FloatRound),
    opencl("OpenCL, min", CdfMin::FirstNonzero, Formula::WrongMin),
];
