//! The cases of the vectors: pictures, and options by name and value as in the table of options.

use histeq::internal::options::{OPTIONS, Options, ValueKind};
use histeq::internal::spec::parameters::MethodName;
use histeq::{Look, Named};

/// One vector: the columns of its row before the hashes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    pub format: String,
    pub size: (usize, usize),
    pub frames: usize,
    /// `limited` or `full`.
    pub range: &'static str,
    /// `bt601`, `bt709` or `bt2020`.
    pub matrix: &'static str,
    /// `sdr`, `pq` or `hlg`.
    pub transfer: &'static str,
    /// Live frames (`Builder::live`), or frames of a file?
    pub is_live: bool,
    /// `name=value` pairs, separated by spaces.
    pub options: String,
}

pub const SIZE: (usize, usize) = (49, 37);
pub const RATE: f64 = 10.0;
/// Enough frames for a scene after a cut, and for a look-ahead that reaches this scene from before the cut.
pub const FRAMES: usize = 18;

/// Formats of all kinds, depths and samplings.
const FORMATS: [&str; 36] = [
    "gray",
    "gray10le",
    "gray12le",
    "gray16le",
    "gray16be",
    "yuv420p",
    "yuv420p10le",
    "yuv420p12le",
    "yuv420p16le",
    "yuv422p",
    "yuv422p10le",
    "yuv422p12le",
    "yuv422p16le",
    "yuv444p",
    "yuv444p10le",
    "yuv444p12le",
    "yuv444p16le",
    "yuv420p10be",
    "yuv411p",
    "yuva420p",
    "nv12",
    "nv21",
    "p010le",
    "p016le",
    "p210le",
    "yuyv422",
    "uyvy422",
    "rgb24",
    "bgra",
    "rgb48le",
    "rgba64be",
    "gbrp",
    "gbrp10le",
    "gbrp12le",
    "gbrp16le",
    "gbrap",
];

/// The formats and ranges that each look and method is tested with.
const MAIN: [(&str, &str); 7] = [
    ("yuv420p", "limited"),
    ("yuv420p", "full"),
    ("yuv444p10le", "limited"),
    ("gray", "full"),
    ("gray16le", "full"),
    ("rgb24", "full"),
    ("gbrp12le", "full"),
];

/// Single options, without a look or method.
const OPTIONS_ALONE: [&str; 33] = [
    "strength=0.5",
    "strength=0",
    "look=night strength=0.3",
    "levels=1.5",
    "method=global levels=1 strength=0.7",
    "method=global strength=1 max-gain=3",
    "max-gain=auto",
    "method=clahe max-gain=auto",
    "smooth=0",
    "smooth=0.5 look-ahead=0",
    "method=global smooth=1",
    "method=global smooth=2.4 look-ahead=1.2",
    "smooth=scene",
    "method=global smooth=scene strength=1",
    "scene-threshold=1",
    "scene-threshold=0.05 smooth=1",
    "plateau=0.5%",
    "plateau=20 strength=1",
    "denoise=0",
    "denoise=0.5",
    "method=global denoise=1",
    "denoise-effort=fast",
    "denoise-effort=best",
    "method=global denoise=1 denoise-effort=best",
    "method=clahe tiles=3x5 max-gain=4",
    "method=clahe tiles=1x1 look=exact",
    "bins=32 look=exact smooth=1",
    "chroma=keep",
    "chroma=follow method=global",
    "gray=true",
    "roi=10,8,20,15 method=global",
    "roi=auto look=night",
    "look-ahead=0.5",
];

pub fn cases() -> Vec<Case> {
    let plain = |format: &str, range, options: String| Case {
        format: format.to_owned(),
        size: SIZE,
        frames: FRAMES,
        range,
        matrix: "bt601",
        transfer: "sdr",
        is_live: false,
        options,
    };
    let mut cases = Vec::new();
    for (format, range) in MAIN {
        cases.extend(Look::ALL.iter().map(|look| plain(format, range, format!("look={look}"))));
        cases.extend(MethodName::ALL.iter().map(|method| plain(format, range, format!("method={method}"))));
    }
    for format in FORMATS {
        for options in ["look=natural", "look=exact", "method=clahe"] {
            let is_full = format.starts_with("gray") || format.contains("rgb") || format.starts_with(['g', 'b']);
            cases.push(plain(format, if is_full { "full" } else { "limited" }, options.to_owned()));
        }
    }
    let depths = ["output-depth=8", "output-depth=10", "output-depth=10 gray=true", "output-depth=auto"];
    for options in OPTIONS_ALONE.into_iter().chain(depths) {
        cases.push(plain("yuv420p", "limited", options.to_owned()));
    }
    for options in ["look=natural", "method=global strength=1"] {
        for matrix in ["bt709", "bt2020"] {
            cases.push(Case { matrix, ..plain("gbrp", "full", options.to_owned()) });
            cases.push(Case { matrix, ..plain("yuv420p", "limited", options.to_owned()) });
        }
    }
    for transfer in ["pq", "hlg"] {
        for options in ["look=natural", "look=night", "look=exact", "method=global"] {
            cases.push(Case { transfer, matrix: "bt2020", ..plain("yuv420p10le", "limited", options.to_owned()) });
        }
    }
    for look in Look::ALL {
        cases.push(Case { is_live: true, ..plain("yuv420p", "limited", format!("look={look}")) });
        cases.push(Case { frames: 1, ..plain("rgb24", "full", format!("look={look}")) });
    }
    for size in [(64, 48), (16, 12), (7, 5)] {
        cases.push(Case { size, ..plain("yuv420p", "limited", "look=natural".to_owned()) });
        cases.push(Case { size, ..plain("gray", "full", "method=clahe".to_owned()) });
    }
    let mut seen: Vec<Case> = Vec::new();
    for case in cases {
        if !seen.contains(&case) {
            seen.push(case);
        }
    }
    seen
}

#[test]
fn every_option_has_a_vector_and_so_has_each_of_its_names() {
    let all: String = cases().iter().map(|case| format!(" {} ", case.options)).collect();
    for option in OPTIONS {
        assert!(all.contains(&format!(" {}=", option.name)), "no vector sets {}", option.name);
        if let ValueKind::Choice(choices) = option.kind {
            for (name, _) in choices() {
                let is_there = all.contains(&format!(" {}={name} ", option.name));
                assert!(is_there, "no vector sets {} to {name}", option.name);
            }
        }
    }
}

/// The fields of the options in `{:#?}` format.
fn fields(options: &Options) -> Vec<String> {
    let mut fields: Vec<String> = Vec::new();
    for line in format!("{options:#?}").lines() {
        match line.strip_prefix("    ") {
            Some(field) if field.starts_with(char::is_alphabetic) => fields.push(field.to_owned()),
            _ => {
                if let Some(field) = fields.last_mut() {
                    field.push_str(line);
                }
            }
        }
    }
    fields
}

#[test]
fn every_field_of_options_has_a_row_that_sets_it() {
    let mut left = fields(&Options::default());
    for case in cases() {
        let mut options = Options::default();
        for (name, value) in case.options.split(' ').filter_map(|option| option.split_once('=')) {
            options.set(name, value).unwrap();
        }
        let set = fields(&options);
        left.retain(|field| set.contains(field));
    }
    assert!(left.is_empty(), "no row of OPTIONS sets {left:?}");
}
