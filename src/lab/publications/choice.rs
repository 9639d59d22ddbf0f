//! The choice of a kernel for each step. All kernels of a step give the same bytes and differ in time.

use histeq::named;

named! {
    /// The histogram kernels. Bins that do not fit in shared memory are counted in windows; the elements are read once
    /// per window.
    pub enum HistogramVariant {
        Global = "global", "One atomic addition in global memory per element";
        /// A thread counts one element.
        Privatized = "privatized", "Each block counts into shared memory and then adds its sums";
        /// Fewer blocks than privatized, so that fewer sums are added.
        Coarsened = "coarsened", "As privatized with many elements per thread, 128 by default";
        /// A thread counts 4 elements.
        Aggregated = "aggregated", "A thread adds up a run of equal elements before its atomic addition";
        /// The algorithm of the tuned kernel, for elements of any width.
        Replicated = "replicated", "Several interleaved copies of each counter in shared memory, and loads of 16 bytes";
    }
}

named! {
    /// The scan kernels: from counts to cumulative counts (an inclusive prefix sum). More entries than a block can scan
    /// are scanned in segments, one per block; then the sums of the segments are scanned and added.
    pub enum ScanVariant {
        HillisSteele = "hillis-steele", "One launch per doubling of the distance, in global memory, for any width";
        KoggeStone = "kogge-stone", "The same additions by one block in shared memory, with two barriers per step";
        KoggeStoneDouble = "kogge-stone-double", "As Kogge-Stone, with a second buffer in place of the second barrier";
        /// A thread scans two elements.
        BrentKung = "brent-kung", "A tree up and a tree down: fewer additions, in more steps";
        /// A thread scans two elements.
        Blelloch = "blelloch", "An exclusive scan by a tree up and a tree down, shifted by one";
        WarpShuffle = "warp-shuffle", "In registers, by shuffles within warps";
    }
}

named! {
    /// The kernels that find the cumulative count of the first occupied bin.
    pub enum CdfMin {
        Reduction = "reduction", "The smallest cumulative count above 0, by a tree";
        /// The thread that reads this count writes it.
        FirstNonzero = "first-nonzero", "The cumulative count above 0 whose predecessor is 0 or missing";
        /// The launch that makes the curve finds the bin. A run without a curve uses the launch of first-nonzero.
        InCurve = "in-curve", "The lowest index of an occupied bin by atomic minima";
    }
}

named! {
    /// The kernels that map elements through the curve.
    pub enum MapVariant {
        /// A thread maps one element.
        Computed = "computed", "Each output is computed from the cumulative counts, without a curve";
        /// If the formula multiplies by a factor, each thread computes the factor once.
        Factored = "factored", "As computed with 32 elements per thread";
        /// The threads of a warp map pixels of different rows. Needs [`Walk::Tiles`](super::Walk::Tiles).
        GroupMin = "group-min", "As computed; each block looks for the first occupied bin itself";
        Bytes = "bytes", "One element per thread, the curve in global memory";
        Coarsened = "coarsened", "As bytes with many elements per thread, 32 by default";
        /// A thread maps 4 elements.
        SharedLut = "shared-lut", "Each block copies the curve to shared memory first";
        /// The algorithm of the tuned kernel.
        Wide = "wide", "As shared-lut with loads and stores of 16 bytes";
    }
}

impl MapVariant {
    /// Whether the kernel reads cumulative counts in place of a curve.
    pub fn is_computed(self) -> bool {
        matches!(self, MapVariant::Computed | MapVariant::Factored | MapVariant::GroupMin)
    }
}

/// The kernels of a run. `None` is the tuned kernel of `kernels/`; the others are in `kernels/variants/`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Variants {
    /// The histogram kernel.
    pub histogram: Option<HistogramVariant>,
    /// The scan kernel.
    pub scan: Option<ScanVariant>,
    /// The kernel that finds the first occupied bin.
    pub cdf_min: Option<CdfMin>,
    /// The map kernel.
    pub map: Option<MapVariant>,
    /// Threads of a block: 64, 128, 256, 512 or 1024. `None` is the default of the variant.
    pub block_size: Option<u32>,
    /// Elements that a thread counts or maps, 1 to 256. `None` is the default of the variant.
    pub pixels_per_thread: Option<u32>,
}

impl Variants {
    /// The valid block sizes.
    pub const BLOCK_SIZES: [u32; 5] = [64, 128, 256, 512, 1024];

    /// The most elements per thread.
    pub const MAX_PIXELS_PER_THREAD: u32 = 256;

    /// Whether every kernel and the launch shape are the defaults.
    pub fn is_default(&self) -> bool {
        *self == Variants::default()
    }

    /// The histogram kernel of a normal run. If only a block size or a number of pixels is chosen, it is coarsened.
    pub(super) fn counting(&self) -> Option<HistogramVariant> {
        let shaped = self.block_size.is_some() && self.scan.is_none() || self.pixels_per_thread.is_some();
        self.histogram.or(shaped.then_some(HistogramVariant::Coarsened))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_alone_asks_for_a_histogram() {
        let shaped = Variants { block_size: Some(256), ..Variants::default() };
        assert_eq!(shaped.counting(), Some(HistogramVariant::Coarsened));
        let scan = Variants { scan: Some(ScanVariant::Blelloch), ..shaped };
        assert_eq!(scan.counting(), None);
        assert!(!scan.is_default() && Variants::default().is_default());
    }
}
