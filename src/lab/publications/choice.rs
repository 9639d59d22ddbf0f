//! The choice of a kernel for each step. Every choice gives the same bytes in another time.

use std::fmt;
use std::str::FromStr;

/// An unknown name.
#[derive(Debug, thiserror::Error)]
#[error("{name} is none of {}", .names.join(", "))]
pub struct UnknownName {
    name: String,
    names: Vec<&'static str>,
}

impl UnknownName {
    pub(super) fn new(name: &str, names: impl Iterator<Item = &'static str>) -> Self {
        UnknownName { name: name.to_owned(), names: names.collect() }
    }
}

/// Declares an enum whose values have names, for the command line and for tables.
macro_rules! named {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $value:ident = $text:literal,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$doc])* $value,)*
        }

        impl $name {
            /// All values, in the order of the publications.
            pub const ALL: [$name; [$($text),*].len()] = [$($name::$value),*];

            /// The name on the command line and in tables.
            pub const fn name(self) -> &'static str {
                match self {
                    $($name::$value => $text,)*
                }
            }

            /// The names of all values.
            pub fn names() -> impl Iterator<Item = &'static str> {
                $name::ALL.into_iter().map($name::name)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }

        impl FromStr for $name {
            type Err = UnknownName;
            fn from_str(name: &str) -> Result<Self, UnknownName> {
                let found = $name::ALL.into_iter().find(|one| one.name() == name);
                found.ok_or_else(|| UnknownName::new(name, $name::names()))
            }
        }
    };
}

pub(super) use named;

named! {
    /// The histogram kernels. Bins that do not fit in shared memory are counted in windows; the elements are read once
    /// per window.
    HistogramVariant {
        /// One atomic addition in global memory per element.
        Global = "global",
        /// Each block counts into shared memory and then adds its sums; one element per thread.
        Privatized = "privatized",
        /// As privatized with many elements per thread, 128 by default: fewer blocks, so fewer sums to add.
        Coarsened = "coarsened",
        /// A thread adds up a run of equal elements before its atomic addition; 4 elements per thread.
        Aggregated = "aggregated",
        /// Several interleaved copies of each counter in shared memory, and loads of 16 bytes: the algorithm of the
        /// tuned kernel, for elements of any width.
        Replicated = "replicated",
    }
}

named! {
    /// The scan kernels: from counts to cumulative counts (an inclusive prefix sum). More entries than a block can scan
    /// are scanned in segments, one per block; then the sums of the segments are scanned and added.
    ScanVariant {
        /// One launch per doubling of the distance, in global memory, for any width.
        HillisSteele = "hillis-steele",
        /// The same additions by one block in shared memory, with two barriers per step.
        KoggeStone = "kogge-stone",
        /// As Kogge-Stone, with a second buffer in place of the second barrier.
        KoggeStoneDouble = "kogge-stone-double",
        /// A tree up and a tree down: fewer additions, in more steps; two elements per thread.
        BrentKung = "brent-kung",
        /// An exclusive scan by a tree up and a tree down, shifted by one; two elements per thread.
        Blelloch = "blelloch",
        /// In registers, by shuffles within warps.
        WarpShuffle = "warp-shuffle",
    }
}

named! {
    /// The kernels that find the cumulative count of the first occupied bin.
    CdfMin {
        /// The smallest cumulative count above 0, by a tree.
        Reduction = "reduction",
        /// The cumulative count above 0 whose predecessor is 0 or missing: found by its own thread.
        FirstNonzero = "first-nonzero",
        /// The lowest index of an occupied bin by atomic minima, in the launch that makes the curve. By itself it is as
        /// first-nonzero.
        InCurve = "in-curve",
    }
}

named! {
    /// The kernels that map elements through the curve.
    MapVariant {
        /// Each output is computed from the cumulative counts, without a curve. One element per thread.
        Computed = "computed",
        /// As computed with 32 elements per thread. By a formula that multiplies by a factor, each thread makes the factor
        /// once.
        Factored = "factored",
        /// As computed; each block looks for the first occupied bin itself, and the threads of a warp map pixels of
        /// different rows. Takes [`Walk::Tiles`](super::Walk::Tiles).
        GroupMin = "group-min",
        /// One element per thread, the curve in global memory.
        Bytes = "bytes",
        /// As bytes with many elements per thread, 32 by default.
        Coarsened = "coarsened",
        /// Each block copies the curve to shared memory first; 4 elements per thread.
        SharedLut = "shared-lut",
        /// As shared-lut with loads and stores of 16 bytes: the algorithm of the tuned kernel.
        Wide = "wide",
    }
}

impl MapVariant {
    /// Whether it takes cumulative counts in place of a curve.
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
    pub const MOST_PIXELS_PER_THREAD: u32 = 256;

    /// Whether nothing was chosen.
    pub fn is_default(&self) -> bool {
        *self == Variants::default()
    }

    /// The histogram kernel of a normal run. A block size or a number of pixels without a kernel selects coarsened.
    pub(super) fn counting(&self) -> Option<HistogramVariant> {
        let shaped = self.block_size.is_some() && self.scan.is_none() || self.pixels_per_thread.is_some();
        self.histogram.or(shaped.then_some(HistogramVariant::Coarsened))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_choice_has_a_name_of_its_own() {
        for scan in ScanVariant::ALL {
            assert_eq!(scan.name().parse::<ScanVariant>().unwrap(), scan);
        }
        let error = "kogge".parse::<CdfMin>().unwrap_err();
        assert_eq!(error.to_string(), "kogge is none of reduction, first-nonzero, in-curve");
    }

    #[test]
    fn a_shape_alone_asks_for_a_histogram() {
        let shaped = Variants { block_size: Some(256), ..Variants::default() };
        assert_eq!(shaped.counting(), Some(HistogramVariant::Coarsened));
        let scan = Variants { scan: Some(ScanVariant::Blelloch), ..shaped };
        assert_eq!(scan.counting(), None);
        assert!(!scan.is_default() && Variants::default().is_default());
    }
}
