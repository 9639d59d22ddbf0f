//! Which kernel does a step. Every choice gives the same bytes; how long it takes is what there is to learn.

use std::fmt;
use std::str::FromStr;

/// A name that is none of those there are.
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

/// An enum whose values have names, as they are typed and as tables show them.
macro_rules! named {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $value:ident = $text:literal,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$doc])* $value,)*
        }

        impl $name {
            /// All of them, in the order of the publications.
            pub const ALL: [$name; [$($text),*].len()] = [$($name::$value),*];

            /// As it is typed, and as tables show it.
            pub const fn name(self) -> &'static str {
                match self {
                    $($name::$value => $text,)*
                }
            }

            /// The names of all of them.
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
    /// How elements are counted. What does not fit in shared memory at once is counted in windows of bins, for each of
    /// which the elements are read again.
    HistogramVariant {
        /// Every element is an atomic addition in global memory.
        Global = "global",
        /// Each block counts into shared memory and then adds its sums; one element a thread.
        Privatized = "privatized",
        /// The same with many elements a thread, 128 unless told otherwise: fewer blocks, so fewer sums to add.
        Coarsened = "coarsened",
        /// A thread adds up a run of equal elements before its atomic addition; 4 elements a thread.
        Aggregated = "aggregated",
        /// Several interleaved copies of each counter in shared memory, and loads of 16 bytes: the algorithm of the
        /// tuned kernel, for elements of any width.
        Replicated = "replicated",
    }
}

named! {
    /// How counts become cumulative counts (an inclusive prefix sum). What is wider than a block is scanned in segments,
    /// a block each; then their sums are scanned, and added.
    ScanVariant {
        /// A launch for each doubling of the distance; in global memory, and so of any width.
        HillisSteele = "hillis-steele",
        /// The same additions by one block in shared memory, with two barriers a step.
        KoggeStone = "kogge-stone",
        /// With a second buffer in place of the second barrier.
        KoggeStoneDouble = "kogge-stone-double",
        /// A tree up and a tree down: fewer additions, in more steps; two elements a thread.
        BrentKung = "brent-kung",
        /// An exclusive scan by a tree up and a tree down, shifted by one; two elements a thread.
        Blelloch = "blelloch",
        /// In registers, by shuffles within warps.
        WarpShuffle = "warp-shuffle",
    }
}

named! {
    /// How the cumulative count of the first occupied bin is found.
    CdfMin {
        /// The smallest cumulative count above 0, by a tree.
        Reduction = "reduction",
        /// The one whose predecessor is 0, or that has none: found by its own thread.
        FirstNonzero = "first-nonzero",
    }
}

named! {
    /// How elements go through the curve.
    MapVariant {
        /// Each element computes what it becomes from the cumulative counts: there is no curve. One element a thread.
        Computed = "computed",
        /// One element a thread, the curve in global memory.
        Bytes = "bytes",
        /// The same with many elements a thread, 32 unless told otherwise.
        Coarsened = "coarsened",
        /// Each block copies the curve to shared memory first; 4 elements a thread.
        SharedLut = "shared-lut",
        /// The same with loads and stores of 16 bytes: the algorithm of the tuned kernel.
        Wide = "wide",
    }
}

/// The kernels of a run. `None` is the tuned default, whose kernels are those of `kernels/`, not of `kernels/variants/`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Variants {
    /// What counts.
    pub histogram: Option<HistogramVariant>,
    /// What sums up.
    pub scan: Option<ScanVariant>,
    /// What finds the first occupied bin.
    pub cdf_min: Option<CdfMin>,
    /// What maps.
    pub map: Option<MapVariant>,
    /// Threads of a block: 64, 128, 256, 512 or 1024. `None` is what suits the variant.
    pub block_size: Option<u32>,
    /// Elements that a thread counts or maps, 1 to 256. `None` is what suits the variant.
    pub pixels_per_thread: Option<u32>,
}

impl Variants {
    /// The block sizes that there are.
    pub const BLOCK_SIZES: [u32; 5] = [64, 128, 256, 512, 1024];

    /// The most elements a thread.
    pub const MOST_PIXELS_PER_THREAD: u32 = 256;

    /// Whether nothing was chosen.
    pub fn is_default(&self) -> bool {
        *self == Variants::default()
    }

    /// The histogram of a normal run. A block size or a number of pixels alone chooses coarsened.
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
        assert_eq!(error.to_string(), "kogge is none of reduction, first-nonzero");
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
