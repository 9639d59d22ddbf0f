//! The files of `kernels/variants/`, compiled.

use histeq::internal::cuda::compiled::Compiled;

/// Declares a [`Compiled`] for each file.
macro_rules! files {
    ($($file:ident: $name:literal,)*) => {
        $(pub(super) static $file: Compiled = Compiled::new(
            $name,
            include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../kernels/built/variants/", $name, ".kernels")),
        );)*

        /// The names of all files.
        #[cfg(test)]
        const NAMES: &[&str] = &[$($name),*];
    };
}

files! {
    CDF_MIN: "cdf_min",
    CURVE: "curve",
    HISTOGRAM_AGGREGATED: "histogram_aggregated",
    HISTOGRAM_GLOBAL: "histogram_global",
    HISTOGRAM_PRIVATIZED: "histogram_privatized",
    HISTOGRAM_REPLICATED: "histogram_replicated",
    LUMINANCE_HISTOGRAM: "luminance_histogram",
    MAP_BYTES: "map_bytes",
    MAP_COMPUTED: "map_computed",
    MAP_GROUP_MIN: "map_group_min",
    MAP_SHARED_LUT: "map_shared_lut",
    MAP_WIDE: "map_wide",
    PAUSE: "pause",
    SATURATION: "saturation",
    SCAN_ADD_SUMS: "scan_add_sums",
    SCAN_BLELLOCH: "scan_blelloch",
    SCAN_BRENT_KUNG: "scan_brent_kung",
    SCAN_HILLIS_STEELE: "scan_hillis_steele",
    SCAN_KOGGE_STONE: "scan_kogge_stone",
    SCAN_KOGGE_STONE_DOUBLE: "scan_kogge_stone_double",
    SCAN_WARP_SHUFFLE: "scan_warp_shuffle",
}

#[cfg(test)]
mod tests {
    use super::NAMES;
    use std::collections::BTreeSet;
    use std::path::Path;

    /// The names of the files in a folder and below that have this extension, without it.
    fn stems(folder: &str, extension: &str) -> BTreeSet<String> {
        let (mut found, mut folders) =
            (BTreeSet::new(), vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder)]);
        while let Some(folder) = folders.pop() {
            for path in std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()) {
                if path.extension().is_some_and(|found| found == extension) {
                    found.insert(path.file_stem().unwrap().to_str().unwrap().to_owned());
                } else if path.is_dir() {
                    folders.push(path);
                }
            }
        }
        found
    }

    #[test]
    fn every_variant_has_its_launcher_and_its_archive() {
        let named: BTreeSet<String> = NAMES.iter().map(|&name| name.to_owned()).collect();
        assert_eq!(named, stems("kernels/variants", "cu"));
        assert_eq!(named, stems("kernels/built/variants", "kernels"));
        let launchers = stems("src/lab/publications/kernels", "rs");
        for file in named {
            let launches = |launcher: &String| file == *launcher || file.starts_with(&format!("{launcher}_"));
            assert!(launchers.iter().any(launches), "{file} has no launcher");
        }
    }
}
