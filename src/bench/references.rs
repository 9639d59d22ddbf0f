//! The figures of the five publications that this project starts from, digit for digit, with their hardware and what
//! their times include; and the place of this program's figure in a report.

use super::{Suite, Unit};

/// A publication.
#[derive(Debug)]
pub struct Publication {
    /// Its name, without `.txt`.
    pub name: &'static str,
    /// The hardware of its measurements.
    pub hardware: &'static str,
    /// The scope of its times.
    pub includes: &'static str,
}

/// All five publications.
pub const PUBLICATIONS: [Publication; 5] = [NAIVE, OPENCL, SCANS, BINS, LUMINANCE];

/// Naive against optimized kernels, on two machines.
pub const NAIVE: Publication = Publication {
    name: "cuda-naive-vs-optimized",
    hardware: "config 1: Intel i7-9750H, NVIDIA GTX 1650; config 2: AMD Ryzen 3 1200, NVIDIA GTX 1050",
    includes: "The total is the copy up, equalization and the copy down, without reading the file or showing the result. \
               Its CPU runs OpenCV; here it is this program on one thread.",
};

/// The OpenCL program.
pub const OPENCL: Publication = Publication {
    name: "opencl-blelloch-scan",
    hardware: "Intel i7-7700HQ, NVIDIA GTX 1050 Ti",
    includes: "Everything from setting up the card and reading the image file to writing the result as PNG, on average of \
               some 15 runs. Neither set-up nor files are in the figures from here.",
};

/// The program with three scans, in C++ and in Python.
pub const SCANS: Publication = Publication {
    name: "cuda-three-scans",
    hardware: "Intel i5-12400F, NVIDIA RTX 3060 Ti",
    includes: "Averages of 1,000 runs. It does not say whether the copies up and down are included; its times grow with \
               the image as two copies over PCIe do.",
};

/// The histogram of 4,096 bins.
pub const BINS: Publication = Publication {
    name: "cuda-4096-bins-saturated",
    hardware: "not named",
    includes: "The counting loop on the CPU alone. Its GPU's times are in pictures, of which there are no numbers; they \
               are of both kernels, with the elements on the GPU already.",
};

/// The luminance histogram.
pub const LUMINANCE: Publication = Publication {
    name: "cuda-rgb-luminance-histogram",
    hardware: "QX6600 (2.4GHz), NVIDIA GeForce GTX 285",
    includes: "The kernel alone, between the copies up and down. Its CPU runs the loop on one thread.",
};

/// A figure of a publication, and the place of this program's figure.
#[derive(Clone, Debug)]
pub struct PublishedFigure {
    /// The publication.
    pub publication: &'static str,
    /// Its place in the publication.
    pub place: &'static str,
    /// The measured case.
    pub case: String,
    /// The figure, as written there.
    pub stated: &'static str,
    /// Its unit there.
    pub unit: Unit,
    /// The suite that measures the same.
    pub suite: Suite,
    /// The place of the figure by the publication's kernels, or the closest ones.
    pub here: MeasuredCell,
    /// The place of the figure by the kernels of normal runs, if that is another one.
    pub tuned: Option<MeasuredCell>,
}

/// A place in a report's tables.
#[derive(Clone, Debug)]
pub struct MeasuredCell {
    /// The table.
    pub table: &'static str,
    /// The keys of the row.
    pub keys: Vec<String>,
    /// The measure without copies, if there is one.
    pub alone: Option<&'static str>,
    /// The measure with copies, if there is one.
    pub with_copies: Option<&'static str>,
}

impl MeasuredCell {
    fn new(
        table: &'static str,
        keys: &[&str],
        alone: impl Into<Option<&'static str>>,
        with_copies: impl Into<Option<&'static str>>,
    ) -> Self {
        let keys = keys.iter().map(|key| (*key).to_owned()).collect();
        MeasuredCell { table, keys, alone: alone.into(), with_copies: with_copies.into() }
    }
}

/// The rows of the plain loop on the CPU.
pub const SEQUENTIAL: &str = "sequential";
/// The rows of this program on the CPU.
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

/// The columns of the tables of cuda-three-scans: scan, threads of a block.
const SCAN_COLUMNS: [(&str, &str); 6] = [
    ("kogge-stone", "256"),
    ("kogge-stone", "512"),
    ("kogge-stone-double", "256"),
    ("kogge-stone-double", "512"),
    ("brent-kung", "256"),
    ("brent-kung", "512"),
];

/// A row of those tables, and a table: its place, the language of the program, its rows.
type ScanRow = [&'static str; 6];
type ScanTable<Row> = (&'static str, &'static str, [Row; 4]);

/// Tables 1 and 3: the sequential program, then each scan.
const SCAN_TIMES: [ScanTable<(&str, &str, ScanRow)>; 2] = [
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
const SCAN_SPEEDUPS: [ScanTable<(&str, ScanRow)>; 2] = [
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
pub fn figures() -> Vec<PublishedFigure> {
    [stages(), opencl(), scan_times(), scan_speedups(), bins(), luminance()].concat()
}

fn stages() -> Vec<PublishedFigure> {
    let figure = |place, case: String, stated, here, tuned| PublishedFigure {
        publication: NAIVE.name,
        place,
        case,
        stated,
        unit: Unit::Microseconds,
        suite: Suite::Stages,
        here,
        tuned,
    };
    let of = |keys: [&str; 2], alone: Option<&'static str>, with_copies| {
        MeasuredCell::new("stages", &keys, alone, with_copies)
    };
    let tuned = |size, with_copies: Option<&'static str>| Some(of([size, "tuned"], Some("equalize"), with_copies));
    let (equalize, total, pinned) = (Some("equalize"), Some("total"), Some("total, pinned"));
    let mut found = Vec::new();
    for (size, [cpu, up, equalized, down, whole]) in STAGES {
        let (place, row) = ("table, config 1", [size, "naive"]);
        let on_cpu = MeasuredCell::new("cpu", &[size, BEST], "time", None);
        found.extend([
            figure(place, format!("CPU total, {size}"), cpu, on_cpu, None),
            figure(place, format!("upload, {size}"), up, of(row, None, Some("upload")), None),
            figure(place, format!("equalize, {size}"), equalized, of(row, equalize, None), tuned(size, None)),
            figure(place, format!("download, {size}"), down, of(row, None, Some("download")), None),
            figure(place, format!("GPU total, {size}"), whole, of(row, equalize, total), tuned(size, pinned)),
        ]);
    }
    let size = "5120x2880";
    for (kernels, [up, counted, equalized, down, whole]) in CONFIG_2 {
        let (place, row) = ("screenshots, config 2", [size, kernels]);
        found.extend([
            figure(place, format!("upload, {kernels}"), up, of(row, None, Some("upload")), None),
            figure(place, format!("histogram, {kernels}"), counted, of(row, Some("histogram"), None), None),
            figure(place, format!("equalize, {kernels}"), equalized, of(row, equalize, None), tuned(size, None)),
            figure(place, format!("download, {kernels}"), down, of(row, None, Some("download")), None),
            figure(place, format!("total, {kernels}"), whole, of(row, equalize, total), tuned(size, pinned)),
        ]);
    }
    let counted = |kernels| of([size, kernels], Some("histogram"), None);
    for (case, stated, here, tuned) in [
        ("CPU", "22", MeasuredCell::new("cpu", &[size, BEST], "time", None), None),
        ("naive", "110", of([size, "naive"], equalize, total), tuned(size, pinned)),
        ("optimized", "15", of([size, "optimized"], equalize, total), tuned(size, pinned)),
        ("histogram kernel, naive", "9", counted("naive"), None),
        ("histogram kernel, improved", "5", counted("optimized"), None),
    ] {
        let in_text = figure("text, config 2", case.to_owned(), stated, here, tuned);
        found.push(PublishedFigure { unit: Unit::Milliseconds, ..in_text });
    }
    found
}

fn opencl() -> Vec<PublishedFigure> {
    let mut found = Vec::new();
    for (picture, size, [cpu, reduction, min]) in OPENCL_TIMES {
        let here = |alone, with_copies| MeasuredCell::new("cdf-min", &[size], alone, with_copies);
        let figure = |column: &str, stated, here, tuned| PublishedFigure {
            publication: OPENCL.name,
            place: "tables of large and small images",
            case: format!("{column}, {picture} {size}"),
            stated,
            unit: Unit::Seconds,
            suite: Suite::CdfMin,
            here,
            tuned,
        };
        let tuned = || Some(here("kernels, tuned", Some("with pinned copies, tuned")));
        let by_reduction = here("kernels, reduction", Some("with copies, reduction"));
        let by_first = here("kernels, first-nonzero", Some("with copies, first-nonzero"));
        found.extend([
            figure("CPU", cpu, here("sequential", None), None),
            figure("GPU, reduction", reduction, by_reduction, tuned()),
            figure("GPU, min", min, by_first, tuned()),
        ]);
    }
    found
}

fn scans_figure(
    place: &'static str,
    case: String,
    stated: &'static str,
    unit: Unit,
    keys: [&str; 3],
) -> PublishedFigure {
    let [alone, with_copies, pinned] = match unit {
        Unit::Times => ["speed-up of kernels", "speed-up", "speed-up, pinned"],
        _ => ["kernels", "with copies", "with pinned copies"],
    };
    PublishedFigure {
        publication: SCANS.name,
        place,
        case,
        stated,
        unit,
        suite: Suite::Scans,
        here: MeasuredCell::new("scans", &keys, alone, with_copies),
        tuned: Some(MeasuredCell::new("scans", &[keys[0], "tuned", "-"], alone, pinned)),
    }
}

fn scan_times() -> Vec<PublishedFigure> {
    let mut found = Vec::new();
    for (place, language, rows) in SCAN_TIMES {
        for (size, sequential, stated) in rows {
            found.push(PublishedFigure {
                here: MeasuredCell::new("cpu", &[size, SEQUENTIAL], "time", None),
                tuned: Some(MeasuredCell::new("cpu", &[size, BEST], "time", None)),
                ..scans_figure(
                    place,
                    format!("{language}, sequential, {size}"),
                    sequential,
                    Unit::Milliseconds,
                    [size; 3],
                )
            });
            for ((scan, block), stated) in SCAN_COLUMNS.into_iter().zip(stated) {
                let case = format!("{language}, {scan} {block}, {size}");
                found.push(scans_figure(place, case, stated, Unit::Milliseconds, [size, scan, block]));
            }
        }
    }
    found
}

fn scan_speedups() -> Vec<PublishedFigure> {
    let mut found = Vec::new();
    for (place, language, rows) in SCAN_SPEEDUPS {
        for (size, stated) in rows {
            for ((scan, block), stated) in SCAN_COLUMNS.into_iter().zip(stated) {
                let case = format!("{language}, speed-up, {scan} {block}, {size}");
                found.push(scans_figure(place, case, stated, Unit::Times, [size, scan, block]));
            }
        }
    }
    found
}

fn bins() -> Vec<PublishedFigure> {
    vec![PublishedFigure {
        publication: BINS.name,
        place: "text",
        case: "CPU, 4096 bins, 1920x1080x3 elements (about)".to_owned(),
        stated: "4",
        unit: Unit::Milliseconds,
        suite: Suite::Bins,
        here: MeasuredCell::new("cpu", &["6220800", "4096"], "sequential", None),
        tuned: None,
    }]
}

fn luminance() -> Vec<PublishedFigure> {
    let size = "1280x1024";
    let figure = |case: &str, stated, unit, here, tuned| PublishedFigure {
        publication: LUMINANCE.name,
        place: "text",
        case: case.to_owned(),
        stated,
        unit,
        suite: Suite::Luminance,
        here,
        tuned,
    };
    let on_cpu = |path| MeasuredCell::new("cpu", &[size, path], "time", None);
    let on_gpu = |alone, with_copies| MeasuredCell::new("luminance", &[size, "publication's"], alone, with_copies);
    let speed_up = on_gpu("speed-up", "speed-up with upload");
    vec![
        figure("CPU, 1280x1024", "17.5", Unit::Milliseconds, on_cpu(SEQUENTIAL), Some(on_cpu(BEST))),
        figure("GPU, 1280x1024", "0.54", Unit::Milliseconds, on_gpu("kernel", "with upload"), None),
        figure("speed-up (about)", "30", Unit::Times, speed_up, None),
    ]
}

impl Suite {
    /// Whether a publication has figures for this suite.
    pub fn has_references(self) -> bool {
        figures().iter().any(|figure| figure.suite == self)
    }
}
