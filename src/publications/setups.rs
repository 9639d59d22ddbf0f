//! The five publications, as choices: what each of them launches, so that a benchmark can do the same on another GPU.

use super::{CdfMin, Formula, HistogramVariant, LaunchShape, MapVariant, ScanVariant, Variants, Walk};

/// What a publication measures.
#[derive(Clone, Copy, Debug)]
pub struct PublishedSetup {
    /// A short name, for tables.
    pub name: &'static str,
    /// Stem of the publication in `references/`.
    pub publication: &'static str,
    /// Its kernels.
    pub variants: Variants,
    /// The shape of the launches over elements.
    pub shape: LaunchShape,
    /// Bytes of an element: 1 or 4.
    pub element_bytes: u8,
    /// Bins of its histogram.
    pub bins: u32,
    /// Whether its elements are BGRA pixels, whose luminance is counted in one kernel with the making of it.
    pub is_luminance: bool,
    /// The value that its bins are saturated at, if they are.
    pub saturated_at: Option<u32>,
    /// Its arithmetic, where it is not that of the specification.
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

/// What one scan of cuda-three-scans does: a quarter of the blocks that there would be with a thread an element.
const fn scans(name: &'static str, scan: ScanVariant, block_size: u32) -> PublishedSetup {
    let variants = Variants {
        histogram: Some(HistogramVariant::Aggregated),
        scan: Some(scan),
        map: Some(MapVariant::SharedLut),
        block_size: Some(block_size),
        pixels_per_thread: Some(4),
        ..PLAIN.variants
    };
    PublishedSetup {
        name,
        publication: SCANS,
        variants,
        shape: LaunchShape::DEFAULT,
        formula: Some(Formula::Product32),
        ..PLAIN
    }
}

/// The privatized kernels of that publication, and those that are not.
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

/// In two dimensions, a pixel a work item, with either way to the first occupied bin.
const fn opencl(name: &'static str, cdf_min: CdfMin, formula: Formula) -> PublishedSetup {
    let variants = Variants {
        histogram: Some(HistogramVariant::Privatized),
        scan: Some(ScanVariant::Blelloch),
        cdf_min: Some(cdf_min),
        ..PLAIN.variants
    };
    let shape = LaunchShape { walk: Walk::Tiles, ..PLAIN.shape };
    PublishedSetup { name, publication: OPENCL, variants, shape, formula: Some(formula), ..PLAIN }
}

/// All setups, publication by publication. Only cuda-three-scans varies the threads of the scan with the others.
pub const SETUPS: [PublishedSetup; 13] = [
    PublishedSetup { name: "naive", publication: NAIVE, formula: Some(Formula::FloorNoMin), ..PLAIN },
    PublishedSetup {
        name: "optimized",
        publication: NAIVE,
        variants: Variants { histogram: Some(HistogramVariant::Coarsened), ..PLAIN.variants },
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
