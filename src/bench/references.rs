//! The figures of the five documents that this project starts from, digit for digit, with what each of them was measured
//! on and what its times include; and where our figure of the same is to be found.

use super::{Suite, Unit};

/// A document.
#[derive(Debug)]
pub struct Document {
    /// Its name, without `.txt`.
    pub name: &'static str,
    /// What it was measured on.
    pub hardware: &'static str,
    /// What its times include.
    pub includes: &'static str,
}

/// All five.
pub const DOCUMENTS: [Document; 5] = [NAIVE, OPENCL, SCANS, BINS, LUMINANCE];

/// Naive against optimized kernels, on two machines.
pub const NAIVE: Document = Document {
    name: "cuda-naive-vs-optimized",
    hardware: "config 1: Intel i7-9750H, NVIDIA GTX 1650; config 2: AMD Ryzen 3 1200, NVIDIA GTX 1050",
    includes: "The total is the copy up, equalization and the copy down, without reading the file or showing the result. \
               Its CPU runs OpenCV; here it is this program on one thread.",
};

/// The OpenCL program.
pub const OPENCL: Document = Document {
    name: "opencl-blelloch-scan",
    hardware: "Intel i7-7700HQ, NVIDIA GTX 1050 Ti",
    includes: "Everything from setting up the card and reading the image file to writing the result as PNG, on average of \
               some 15 runs. Neither set-up nor files are in the figures from here.",
};

/// The program with three scans, in C++ and in Python.
pub const SCANS: Document = Document {
    name: "cuda-three-scans",
    hardware: "Intel i5-12400F, NVIDIA RTX 3060 Ti",
    includes: "Averages of 1,000 runs. It does not say whether the copies up and down are included; its times grow with \
               the image as two copies over PCIe do.",
};

/// The histogram of 4,096 bins.
pub const BINS: Document = Document {
    name: "cuda-4096-bins-saturated",
    hardware: "not named",
    includes: "The counting loop on the CPU alone. Its GPU's times are in pictures, of which there are no numbers; they \
               are of both kernels, with the elements on the GPU already.",
};

/// The luminance histogram.
pub const LUMINANCE: Document = Document {
    name: "cuda-rgb-luminance-histogram",
    hardware: "QX6600 (2.4GHz), NVIDIA GeForce GTX 285",
    includes: "The kernel alone, between the copies up and down. Its CPU runs the loop on one thread.",
};

/// A figure in a document, and where ours is.
#[derive(Clone, Debug)]
pub struct Figure {
    /// The document.
    pub document: &'static str,
    /// Where in it.
    pub place: &'static str,
    /// What it is of.
    pub case: String,
    /// As it is written there.
    pub stated: &'static str,
    /// Its unit there.
    pub unit: Unit,
    /// The suite that measures the same.
    pub suite: Suite,
    /// The table and the row of that suite.
    pub table: &'static str,
    /// The keys of the row.
    pub keys: Vec<String>,
    /// The measure of kernels or of computing alone, if there is one.
    pub alone: Option<&'static str>,
    /// The measure with the copies that it takes, if there is one.
    pub with_copies: Option<&'static str>,
}

/// The rows that our CPU's times are in.
pub const SEQUENTIAL: &str = "sequential";
/// The same.
pub const BEST: &str = "this program";

const STAGES: [(&str, [&str; 5]); 5] = [
    ("512x384", ["932", "112", "563", "96", "771"]),
    ("910x682", ["7946", "223", "996", "303", "1522"]),
    ("1000x667", ["8985", "216", "1011", "208", "1436"]),
    ("1920x1080", ["5487", "563", "2196", "476", "3236"]),
    ("5120x2880", ["13612", "3299", "11958", "3349", "18607"]),
];

/// Naive and optimized on config 2, at 5120x2880.
const CONFIG_2: [(&str, [&str; 5]); 2] = [
    ("naive", ["2226", "9296", "103701", "2376", "108304"]),
    ("optimized", ["2255", "5083", "10279", "2317", "14853"]),
];

const OPENCL_TIMES: [(&str, &str, [&str; 3]); 10] = [
    ("big.png", "3072x2048", ["1.2848", "0.8760", "0.7846"]),
    ("bridge.png", "2736x1824", ["1.2292", "0.8740", "0.8323"]),
    ("tick.png", "2560x1920", ["0.9467", "0.6235", "0.5813"]),
    ("nature.png", "1920x1080", ["0.4673", "0.3331", "0.3262"]),
    ("sneg.png", "1024x768", ["0.1422", "0.0890", "0.0820"]),
    ("hill.png", "1024x683", ["0.1400", "0.0870", "0.0810"]),
    ("crowd.png", "800x600", ["0.0842", "0.0565", "0.0625"]),
    ("bog.png", "874x544", ["0.0875", "0.0890", "0.0565"]),
    ("chang.png", "512x512", ["0.0465", "0.0480", "0.0334"]),
    ("car.png", "600x338", ["0.0360", "0.0330", "0.0260"]),
];

/// The columns of its tables: scan, threads of a block.
const SCAN_COLUMNS: [(&str, &str); 6] = [
    ("kogge-stone", "256"),
    ("kogge-stone", "512"),
    ("kogge-stone-double", "256"),
    ("kogge-stone-double", "512"),
    ("brent-kung", "256"),
    ("brent-kung", "512"),
];

/// Tables 1 and 3: the sequential program, then each scan.
const SCAN_TIMES: [(&str, &str, [(&str, &str, [&str; 6]); 4]); 2] = [
    (
        "table 1",
        "C++",
        [
            ("1024x1024", "1.83429", ["0.372956", "0.367343", "0.374107", "0.369951", "0.374339", "0.369508"]),
            ("2048x2048", "8.67020", ["0.987788", "0.977846", "0.98731", "0.986502", "0.991279", "0.982195"]),
            ("4096x4096", "36.8264", ["3.50452", "3.51354", "3.50429", "3.50495", "3.50707", "3.50033"]),
            ("8192x8192", "141.328", ["14.1078", "14.1086", "14.1019", "14.1004", "14.1087", "14.1048"]),
        ],
    ),
    (
        "table 3",
        "Python",
        [
            ("1024x1024", "157.409", ["0.588307", "0.586762", "0.587753", "0.585876", "0.589077", "0.588129"]),
            ("2048x2048", "635.882", ["1.33628", "1.32701", "1.32488", "1.3136", "1.33119", "1.32888"]),
            ("4096x4096", "2515.29", ["4.55209", "4.56166", "4.50042", "4.52382", "4.51677", "4.54483"]),
            ("8192x8192", "10082.3", ["19.7829", "19.7736", "19.6921", "19.5458", "19.3966", "19.8883"]),
        ],
    ),
];

/// Tables 2 and 4.
const SCAN_SPEEDUPS: [(&str, &str, [(&str, [&str; 6]); 4]); 2] = [
    (
        "table 2",
        "C++",
        [
            ("1024x1024", ["4.91825", "4.9934", "4.90311", "4.9582", "4.90008", "4.96414"]),
            ("2048x2048", ["8.77739", "8.86663", "8.78164", "8.78883", "8.74648", "8.82737"]),
            ("4096x4096", ["10.5083", "10.4813", "10.5089", "10.5070", "10.5006", "10.5208"]),
            ("8192x8192", ["10.0177", "10.0172", "10.0219", "10.0230", "10.0170", "10.0199"]),
        ],
    ),
    (
        "table 4",
        "Python",
        [
            ("1024x1024", ["267.563", "268.267", "267.815", "268.673", "267.213", "267.644"]),
            ("2048x2048", ["475.860", "479.185", "479.953", "484.075", "477.680", "478.510"]),
            ("4096x4096", ["552.557", "551.398", "558.901", "556.010", "556.878", "553.439"]),
            ("8192x8192", ["509.647", "509.887", "511.997", "515.829", "519.797", "506.946"]),
        ],
    ),
];

/// Every figure, in the order of the suites. (Table 5 of cuda-three-scans repeats columns of tables 1 and 3.)
pub fn figures() -> Vec<Figure> {
    [stages(), opencl(), scan_times(), scan_speedups(), bins(), luminance()].concat()
}

fn owned(keys: &[&str]) -> Vec<String> {
    keys.iter().map(|key| (*key).to_owned()).collect()
}

fn stages() -> Vec<Figure> {
    let figure = |place, case: String, stated, table, keys: &[&str], alone, with_copies| Figure {
        document: NAIVE.name,
        place,
        case,
        stated,
        unit: Unit::Microseconds,
        suite: Suite::Stages,
        table,
        keys: owned(keys),
        alone,
        with_copies,
    };
    let mut found = Vec::new();
    for (size, [cpu, upload, equalize, download, total]) in STAGES {
        let place = "table, config 1";
        let naive = &[size, "naive"];
        found.extend([
            figure(place, format!("CPU total, {size}"), cpu, "cpu", &[size, BEST], Some("time"), None),
            figure(place, format!("upload, {size}"), upload, "stages", naive, None, Some("upload")),
            figure(place, format!("equalize, {size}"), equalize, "stages", naive, Some("equalize"), None),
            figure(place, format!("download, {size}"), download, "stages", naive, None, Some("download")),
            figure(place, format!("GPU total, {size}"), total, "stages", naive, Some("equalize"), Some("total")),
        ]);
    }
    let large = "5120x2880";
    for (kernels, [upload, histogram, equalize, download, total]) in CONFIG_2 {
        let place = "screenshots, config 2";
        let row = &[large, kernels];
        found.extend([
            figure(place, format!("upload, {kernels}"), upload, "stages", row, None, Some("upload")),
            figure(place, format!("histogram, {kernels}"), histogram, "stages", row, Some("histogram"), None),
            figure(place, format!("equalize, {kernels}"), equalize, "stages", row, Some("equalize"), None),
            figure(place, format!("download, {kernels}"), download, "stages", row, None, Some("download")),
            figure(place, format!("total, {kernels}"), total, "stages", row, Some("equalize"), Some("total")),
        ]);
    }
    for (case, stated, table, keys, alone, with_copies) in [
        ("CPU", "22", "cpu", [large, BEST], "time", None),
        ("naive", "110", "stages", [large, "naive"], "equalize", Some("total")),
        ("optimized", "15", "stages", [large, "optimized"], "equalize", Some("total")),
        ("histogram kernel, naive", "9", "stages", [large, "naive"], "histogram", None),
        ("histogram kernel, improved", "5", "stages", [large, "optimized"], "histogram", None),
    ] {
        let found_here = figure("text, config 2", case.to_owned(), stated, table, &keys, Some(alone), with_copies);
        found.push(Figure { unit: Unit::Milliseconds, ..found_here });
    }
    found
}

fn opencl() -> Vec<Figure> {
    let columns = [
        ("CPU", "sequential", "sequential"),
        ("GPU, reduction", "kernels, reduction", "with copies, reduction"),
        ("GPU, min", "kernels, first-nonzero", "with copies, first-nonzero"),
    ];
    let row = |(picture, size, stated): (&str, &'static str, [&'static str; 3])| {
        columns
            .into_iter()
            .zip(stated)
            .map(move |((column, alone, with_copies), stated)| Figure {
                document: OPENCL.name,
                place: "tables of large and small images",
                case: format!("{column}, {picture} {size}"),
                stated,
                unit: Unit::Seconds,
                suite: Suite::CdfMin,
                table: "cdf-min",
                keys: owned(&[size]),
                alone: Some(alone),
                with_copies: (column != "CPU").then_some(with_copies),
            })
            .collect::<Vec<_>>()
    };
    OPENCL_TIMES.into_iter().flat_map(row).collect()
}

fn scans_figure(place: &'static str, case: String, stated: &'static str, keys: &[&str]) -> Figure {
    Figure {
        document: SCANS.name,
        place,
        case,
        stated,
        unit: Unit::Milliseconds,
        suite: Suite::Scans,
        table: "scans",
        keys: owned(keys),
        alone: Some("kernels"),
        with_copies: Some("with copies"),
    }
}

fn scan_times() -> Vec<Figure> {
    let mut found = Vec::new();
    for (place, language, rows) in SCAN_TIMES {
        for (size, sequential, stated) in rows {
            let case = format!("{language}, sequential, {size}");
            let sequential = scans_figure(place, case, sequential, &[size, SEQUENTIAL]);
            found.push(Figure { table: "cpu", alone: Some("time"), with_copies: None, ..sequential });
            for ((scan, block), stated) in SCAN_COLUMNS.into_iter().zip(stated) {
                let case = format!("{language}, {scan} {block}, {size}");
                found.push(scans_figure(place, case, stated, &[size, scan, block]));
            }
        }
    }
    found
}

fn scan_speedups() -> Vec<Figure> {
    let mut found = Vec::new();
    for (place, language, rows) in SCAN_SPEEDUPS {
        for (size, stated) in rows {
            for ((scan, block), stated) in SCAN_COLUMNS.into_iter().zip(stated) {
                let case = format!("{language}, speed-up, {scan} {block}, {size}");
                let figure = scans_figure(place, case, stated, &[size, scan, block]);
                let (alone, with_copies) = (Some("speed-up of kernels"), Some("speed-up"));
                found.push(Figure { unit: Unit::Times, alone, with_copies, ..figure });
            }
        }
    }
    found
}

fn bins() -> Vec<Figure> {
    vec![Figure {
        document: BINS.name,
        place: "text",
        case: "CPU, 4096 bins, 1920x1080x3 elements (about)".to_owned(),
        stated: "4",
        unit: Unit::Milliseconds,
        suite: Suite::Bins,
        table: "cpu",
        keys: owned(&["6220800", "4096"]),
        alone: Some("sequential"),
        with_copies: None,
    }]
}

fn luminance() -> Vec<Figure> {
    let size = "1280x1024";
    let figure = |case: &str, stated, unit, table, keys: &[&str], alone, with_copies| Figure {
        document: LUMINANCE.name,
        place: "text",
        case: case.to_owned(),
        stated,
        unit,
        suite: Suite::Luminance,
        table,
        keys: owned(keys),
        alone: Some(alone),
        with_copies,
    };
    let gpu = &[size, "document's"];
    vec![
        figure("CPU, 1280x1024", "17.5", Unit::Milliseconds, "cpu", &[size, SEQUENTIAL], "time", None),
        figure("GPU, 1280x1024", "0.54", Unit::Milliseconds, "luminance", gpu, "kernel", Some("with upload")),
        figure("speed-up (about)", "30", Unit::Times, "luminance", gpu, "speed-up", Some("speed-up with upload")),
    ]
}
