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
               some 15 runs, with the results of each kernel read back; so it is here, but our way. The average gains here \
               are without set-up: opening CUDA takes longer than all the rest.",
};

/// The program with three scans, in C++ and in Python.
pub const SCANS: Publication = Publication {
    name: "cuda-three-scans",
    hardware: "Intel i5-12400F, NVIDIA RTX 3060 Ti",
    includes: "Averages of 1,000 runs. It does not say whether the copies up and down are included; its times grow with \
               the image as two copies over PCIe do. The sequential program of tables 3 and 4 is a loop in Python here too; \
               the kernels of tables 1 to 4 are launched by this program, and the column Python of table 5 is NumPy, without a \
               GPU.",
};

/// The histogram of 4,096 bins.
pub const BINS: Publication = Publication {
    name: "cuda-4096-bins-saturated",
    hardware: "not named",
    includes: "The counting loop on the CPU alone. Its GPU's times are in pictures, of which there are no numbers; they \
               are of both kernels, with the elements prefetched: bench bins has them.",
};

/// The luminance histogram.
pub const LUMINANCE: Publication = Publication {
    name: "cuda-rgb-luminance-histogram",
    hardware: "QX6600 (2.4GHz), NVIDIA GeForce GTX 285",
    includes: "The kernel alone, between the copies up and down. Its CPU runs the loop on one thread.",
};

/// A table of a publication, in its own rows and columns.
#[derive(Clone, Debug)]
pub struct PublishedTable {
    /// The publication.
    pub publication: &'static str,
    /// Its place in the publication.
    pub place: &'static str,
    /// The unit of its figures.
    pub unit: Unit,
    /// The suite that measures the same.
    pub suite: Suite,
    /// The head of its first column.
    pub head: &'static str,
    /// The heads of its other columns.
    pub columns: Vec<String>,
    /// The name of each row, and a figure for each column.
    pub rows: Vec<(String, Vec<PublishedFigure>)>,
}

/// A figure of a publication, and the place of this program's figure.
#[derive(Clone, Debug)]
pub struct PublishedFigure {
    /// The figure, as written there.
    pub stated: &'static str,
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
    /// The measure of the kernels alone, if there is one.
    pub alone: Option<&'static str>,
    /// The measure of all that the publication's time includes, such as copies, if there is one.
    pub whole: Option<&'static str>,
}

impl MeasuredCell {
    fn new(
        table: &'static str,
        keys: &[&str],
        alone: impl Into<Option<&'static str>>,
        whole: impl Into<Option<&'static str>>,
    ) -> Self {
        let keys = keys.iter().map(|key| (*key).to_owned()).collect();
        MeasuredCell { table, keys, alone: alone.into(), whole: whole.into() }
    }

    fn stated(self, stated: &'static str) -> PublishedFigure {
        PublishedFigure { stated, here: self, tuned: None }
    }

    fn beside(self, tuned: MeasuredCell, stated: &'static str) -> PublishedFigure {
        PublishedFigure { stated, here: self, tuned: Some(tuned) }
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

/// Tables 2 and 4: speed-ups over the sequential program.
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

/// Table 5: Kogge-Stone in blocks of 512 threads.
const SCAN_LANGUAGES: [(&str, [&str; 2]); 4] = [
    ("1024x1024", ["0.367343", "0.586762"]),
    ("2048x2048", ["0.977846", "1.32701"]),
    ("4096x4096", ["3.51354", "4.56166"]),
    ("8192x8192", ["14.1086", "19.7736"]),
];

/// Every table, in the order of the suites.
pub fn tables() -> Vec<PublishedTable> {
    [stages(), opencl(), scan_times(), scan_speedups(), scan_languages(), bins(), luminance()].concat()
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

fn stages() -> Vec<PublishedTable> {
    let of = |size: &str, kernels: &str, alone: Option<&'static str>, whole: Option<&'static str>| {
        MeasuredCell::new("stages", &[size, kernels], alone, whole)
    };
    let on_cpu = |size: &str| MeasuredCell::new("cpu", &[size, BEST], None, "time");
    let (equalize, total, pinned) = (Some("equalize"), Some("total"), Some("total, pinned"));
    let table = |place, head, columns: &[&str], rows| PublishedTable {
        publication: NAIVE.name,
        place,
        unit: Unit::Microseconds,
        suite: Suite::Stages,
        head,
        columns: names(columns),
        rows,
    };
    let config_1 = STAGES.map(|(size, [cpu, up, equalized, down, whole])| {
        let figures = vec![
            on_cpu(size).stated(cpu),
            of(size, "naive", None, Some("upload")).stated(up),
            of(size, "naive", None, equalize).beside(of(size, "tuned", None, equalize), equalized),
            of(size, "naive", None, Some("download")).stated(down),
            of(size, "naive", equalize, total).beside(of(size, "tuned", equalize, pinned), whole),
        ];
        (size.to_owned(), figures)
    });
    let size = "5120x2880";
    let screenshots = CONFIG_2.map(|(kernels, [up, counted, equalized, down, whole])| {
        let figures = vec![
            of(size, kernels, None, Some("upload")).stated(up),
            of(size, kernels, None, Some("histogram")).stated(counted),
            of(size, kernels, None, equalize).beside(of(size, "tuned", None, equalize), equalized),
            of(size, kernels, None, Some("download")).stated(down),
            of(size, kernels, equalize, total).beside(of(size, "tuned", equalize, pinned), whole),
        ];
        (kernels.to_owned(), figures)
    });
    let whole = |kernels| of(size, kernels, equalize, total);
    let text = [
        ("CPU", on_cpu(size).stated("22")),
        ("naive", whole("naive").beside(of(size, "tuned", equalize, pinned), "110")),
        ("optimized", whole("optimized").beside(of(size, "tuned", equalize, pinned), "15")),
        ("histogram kernel, naive", of(size, "naive", None, Some("histogram")).stated("9")),
        ("histogram kernel, improved", of(size, "optimized", None, Some("histogram")).stated("5")),
    ];
    let text = text.map(|(row, figure)| (row.to_owned(), vec![figure])).to_vec();
    let stages = ["upload", "histogram", "equalize", "download", "total"];
    vec![
        table(
            "table, config 1",
            "image",
            &["CPU total", "upload", "equalize on the GPU", "download", "GPU total"],
            config_1.to_vec(),
        ),
        table("screenshots, 5120x2880, config 2", "program", &stages, screenshots.to_vec()),
        PublishedTable { unit: Unit::Milliseconds, ..table("text, 5120x2880, config 2", "what", &["time"], text) },
    ]
}

fn opencl() -> Vec<PublishedTable> {
    let rows = OPENCL_TIMES.map(|(picture, size, [cpu, reduction, min])| {
        let whole = |measure| MeasuredCell::new("program", &[size], None, measure);
        let tuned =
            || MeasuredCell::new("cdf-min", &[size, "photo-like"], "kernels, tuned", Some("with pinned copies, tuned"));
        let gpu = |measure: &'static str, stated| whole(measure).beside(tuned(), stated);
        let figures = vec![
            whole("CPU").stated(cpu),
            gpu("GPU with set-up, reduction", reduction),
            gpu("GPU with set-up, first-nonzero", min),
        ];
        (format!("{picture} {size}"), figures)
    });
    let table = |place, rows: &[(String, Vec<PublishedFigure>)]| PublishedTable {
        publication: OPENCL.name,
        place,
        unit: Unit::Seconds,
        suite: Suite::CdfMin,
        head: "image",
        columns: names(&["CPU", "GPU (reduction)", "GPU (min)"]),
        rows: rows.to_vec(),
    };
    let gain = |images: &'static str, stated: [&'static str; 2]| {
        let cell = |measure| MeasuredCell::new("gains", &[images], None, measure);
        (format!("{images} images"), vec![cell("reduction").stated(stated[0]), cell("first-nonzero").stated(stated[1])])
    };
    let gains = PublishedTable {
        unit: Unit::Times,
        columns: names(&["reduction", "min"]),
        head: "average gain",
        ..table("text", &[gain("large", ["1.4", "1.7"]), gain("small", ["1.4 to 1.5", "1.5"])])
    };
    vec![table("table of large images", &rows[..4]), table("table of small images", &rows[4..]), gains]
}

fn scans_table(place: &'static str, unit: Unit, columns: Vec<String>) -> PublishedTable {
    PublishedTable {
        publication: SCANS.name,
        place,
        unit,
        suite: Suite::Scans,
        head: "image",
        columns,
        rows: Vec::new(),
    }
}

/// A figure of the GPU.
fn scans_figure(unit: Unit, language: &str, keys: [&str; 3], stated: &'static str) -> PublishedFigure {
    let [alone, whole, pinned] = match (unit, language) {
        (Unit::Times, "Python") => [None, Some("speed-up over Python"), None],
        (Unit::Times, _) => [Some("speed-up of kernels"), Some("speed-up"), Some("speed-up, pinned")],
        _ => [Some("kernels"), Some("with copies"), Some("with pinned copies")],
    };
    let here = MeasuredCell::new("scans", &keys, alone, whole);
    match pinned {
        Some(pinned) => here.beside(MeasuredCell::new("scans", &[keys[0], "tuned", "-"], alone, pinned), stated),
        None => here.stated(stated),
    }
}

fn scan_columns() -> impl Iterator<Item = String> {
    SCAN_COLUMNS.into_iter().map(|(scan, block)| format!("{scan} {block}"))
}

fn scan_times() -> Vec<PublishedTable> {
    let table = |(place, language, rows): ScanTable<(&'static str, &'static str, ScanRow)>| {
        let columns = std::iter::once("sequential".to_owned()).chain(scan_columns()).collect();
        let rows = rows.map(|(size, sequential, stated)| {
            let in_python = || MeasuredCell::new("python", &[size, "loop"], None, "time");
            let on_cpu = |path| MeasuredCell::new("cpu", &[size, path], None, "time");
            let sequential = match language {
                "Python" => in_python().stated(sequential),
                _ => on_cpu(SEQUENTIAL).beside(on_cpu(BEST), sequential),
            };
            let of_scan =
                |((scan, block), stated)| scans_figure(Unit::Milliseconds, language, [size, scan, block], stated);
            let figures = std::iter::once(sequential).chain(SCAN_COLUMNS.into_iter().zip(stated).map(of_scan));
            (size.to_owned(), figures.collect())
        });
        PublishedTable { rows: rows.to_vec(), ..scans_table(place, Unit::Milliseconds, columns) }
    };
    SCAN_TIMES.map(table).to_vec()
}

fn scan_speedups() -> Vec<PublishedTable> {
    let table = |(place, language, rows): ScanTable<(&'static str, ScanRow)>| {
        let rows = rows.map(|(size, stated)| {
            let of_scan = |((scan, block), stated)| scans_figure(Unit::Times, language, [size, scan, block], stated);
            (size.to_owned(), SCAN_COLUMNS.into_iter().zip(stated).map(of_scan).collect())
        });
        PublishedTable { rows: rows.to_vec(), ..scans_table(place, Unit::Times, scan_columns().collect()) }
    };
    SCAN_SPEEDUPS.map(table).to_vec()
}

fn scan_languages() -> Vec<PublishedTable> {
    let rows = SCAN_LANGUAGES.map(|(size, stated)| {
        let [launched, in_python] = stated;
        let figures = vec![
            scans_figure(Unit::Milliseconds, "C++", [size, "kogge-stone", "512"], launched),
            MeasuredCell::new("python", &[size, "NumPy"], None, "time").stated(in_python),
        ];
        (size.to_owned(), figures)
    });
    let columns = names(&["C++", "Python"]);
    vec![PublishedTable { rows: rows.to_vec(), ..scans_table("table 5", Unit::Milliseconds, columns) }]
}

fn bins() -> Vec<PublishedTable> {
    let loops = |elements: &str| MeasuredCell::new("cpu", &[elements, "4096", "random"], None, "sequential");
    vec![PublishedTable {
        publication: BINS.name,
        place: "text",
        unit: Unit::Milliseconds,
        suite: Suite::Bins,
        head: "what",
        columns: names(&["CPU"]),
        rows: vec![
            (
                "4,096 bins, three elements for each pixel of 1920x1080 (about)".to_owned(),
                vec![loops("6220800").stated("4")],
            ),
            ("its largest (up to; here 2^30 elements)".to_owned(), vec![loops("1073741824").stated("600")]),
        ],
    }]
}

fn luminance() -> Vec<PublishedTable> {
    let size = "1280x1024";
    let on_cpu = |path| MeasuredCell::new("cpu", &[size, path], None, "time");
    let on_gpu = |measure| MeasuredCell::new("luminance", &[size, "publication's"], None, measure);
    let table = |unit, rows: &[(&str, PublishedFigure)]| PublishedTable {
        publication: LUMINANCE.name,
        place: "text",
        unit,
        suite: Suite::Luminance,
        head: "1280x1024",
        columns: names(&[if unit == Unit::Times { "speed-up (about)" } else { "time" }]),
        rows: rows.iter().map(|(row, figure)| ((*row).to_owned(), vec![figure.clone()])).collect(),
    };
    let times = [("CPU", on_cpu(SEQUENTIAL).beside(on_cpu(BEST), "17.5")), ("GPU", on_gpu("kernel").stated("0.54"))];
    vec![table(Unit::Milliseconds, &times), table(Unit::Times, &[("GPU", on_gpu("speed-up").stated("30"))])]
}

impl Suite {
    /// Whether a publication has figures for this suite.
    pub fn has_references(self) -> bool {
        tables().iter().any(|table| table.suite == self)
    }
}
