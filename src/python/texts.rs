//! The texts for Python's help and type checkers, generated from the table of options. The tests write `histeq.pyi`
//! with this module.

use histeq::{OPTIONS, OptionInfo, ValueKind};
pub use histeq::{in_python, python_name};
use std::fmt::Write as _;

/// Options that are not in the table: name, type, default, and what it is.
pub const OTHERS: [(&str, &str, &str, &str); 13] = [
    ("format", "str", "None", "Pixel format, by FFmpeg's name (`FORMATS`): None takes it from shape and type."),
    ("width", "int", "None", "Columns of arrays that do not tell them: bytes, flat arrays."),
    ("height", "int", "None", "Rows of such arrays."),
    (
        "mask",
        "Any",
        "None",
        "A weight for each pixel, 0 to 255, with which it is counted: uint8 or bool (True is 255), (height, width).",
    ),
    ("rate", "float", "25", "Frames a second, on which the lengths of temporal windows depend."),
    ("range", "Literal[\"limited\", \"full\"]", "None", "Range of luma codes: None is limited for YUV, full for gray."),
    (
        "matrix",
        "Literal[\"bt601\", \"bt709\", \"bt2020\"]",
        "None",
        "Matrix between RGB and YUV: None is BT.709 for HD in YUV, else BT.601.",
    ),
    ("transfer", "Literal[\"sdr\", \"pq\", \"hlg\"]", "'sdr'", "What codes stand for: SDR, or HDR by PQ or HLG."),
    ("live", "bool", "False", "Frames come as they are filmed: by default none waits for later ones."),
    (
        "backend",
        "Literal[\"auto\", \"cpu\", \"cuda\"]",
        "'auto'",
        "Where the work is done: auto is a GPU if there is one.",
    ),
    ("gpu", "int", "None", "Index of the GPU: None is that of the first array, or 0."),
    ("threads", "int", "None", "Threads of the CPU: None is one for each core, at most 8; one for a single picture."),
    (
        "limits",
        "Limits",
        "None",
        "Limits of memory, pixels and threads, which equalizers share that get the same ones.",
    ),
];

/// The help text of the module.
pub const ABOUT: &str = "Brings out what pictures and video hide: histogram equalization and more, on the CPU or an \
                     NVIDIA GPU to the same byte.";

/// How the module is used, in lines of code.
const USE: &str = "    clear = histeq.equalize(picture, look=\"night\")      # one picture: an array in, an array out
    equalizer = histeq.Equalizer(rate=25)              # a video, whose frames are looked at together
    for frame in equalizer.iterate(frames): ...
";

/// What else is in the module.
const REST: &str = "\
help(histeq.equalize) tells which arrays it takes, and all options; histeq.options() has these as data, with ranges and \
defaults. histeq.LOOKS and histeq.FORMATS name looks and pixel formats. histeq.Limits bounds memory and threads. Errors \
of the library are histeq.Error, in a class by whose fault they are.";

/// The help text of `equalize`, without its options.
pub const EQUALIZE: &str = "\
One picture, equalized.

array: uint8 or uint16 of NumPy, PyTorch, CuPy or whatever has the buffer protocol or DLPack, with any strides, on the \
host or on a GPU. (height, width) is gray, (height, width, 3) RGB, (height, width, 4) RGBA, (3, height, width) planar \
RGB. A tuple has the planes of YUV: (Y, U, V). `format` names others: BGR (\"bgr24\"), rows of all planes below each \
other (\"yuv420p\"), 10 and 12 bits in words of 16.

The result is an array of the same library, on the same device; of the same shape and type, unless `gray` or \
`output_depth` change them. With `out` it is written there, and `out` is returned.";

/// The help text of `Equalizer`, without its options.
pub const EQUALIZER: &str = "\
A video on its way: frames go in and come out in their order, some calls later, because the newest wait for those \
behind them.

The first frame decides on format and size. Each call releases the GIL while it works. An equalizer may be used from \
several threads, one at a time.";

/// The exceptions of the library: name, bases, and what they are.
pub const ERRORS: [(&str, &str, &str); 7] = [
    ("Error", "Exception", "An error of the library, in a class by whose fault it is."),
    ("ParameterError", "Error, ValueError", "The caller's: an option, an array, or the order of calls."),
    ("StateError", "ParameterError, RuntimeError", "A call that comes too early or too late."),
    ("LimitError", "Error, RuntimeError", "A limit is exceeded: `Limits` with more, or smaller pictures, help."),
    ("UnsupportedError", "Error, ValueError", "What was asked for is not done for such pictures."),
    (
        "DeviceError",
        "Error, RuntimeError",
        "A GPU, its driver or its memory is missing, or fails. The CPU gives the same bytes.",
    ),
    ("InternalError", "Error, RuntimeError", "A bug of the library."),
];

/// The classes of [`ERRORS`] in Python.
pub fn errors() -> String {
    let class = |(name, bases, about): (&str, &str, &str)| format!("class {name}({bases}):\n    \"\"\"{about}\"\"\"\n");
    ERRORS.map(class).join("\n")
}

/// The help text of `Limits`.
pub const LIMITS: &str = "\
Limits of what equalizers use that get them as `limits`.

memory: bytes of all their frames; a frame goes in only where it and a result of its size fit into what is left. None \
is no limit. pixels: of a frame; None is 268435456, which is 16384x16384. threads: of each part of an equalizer's work; \
None is one for each core.";

/// The name of an option in the table: `max-gain`.
pub fn option_name(name: &str) -> String {
    name.replace('_', "-")
}

/// The default of an option as Python writes it; None where the look decides.
fn default(option: &OptionInfo) -> String {
    match option.kind {
        ValueKind::Flag => "False".to_owned(),
        ValueKind::Number { .. } if option.default.parse::<f64>().is_ok() => option.default.to_owned(),
        ValueKind::Choice(choices) if choices().iter().any(|(name, _)| *name == option.default) => {
            format!("'{}'", option.default)
        }
        _ => "None".to_owned(),
    }
}

/// What an option is, with its values.
pub fn about(option: &OptionInfo) -> String {
    let mut text = format!("{}.", in_python(option.summary));
    if let ValueKind::Choice(choices) = option.kind {
        let names: Vec<String> =
            choices().iter().map(|(name, about)| format!("{name}: {}", in_python(about))).collect();
        let _ = write!(text, " {}.", names.join("; "));
    }
    if !option.details.is_empty() {
        let _ = write!(text, " {}", in_python(option.details));
    }
    text
}

/// `text` in lines of at most 100 letters, each after `indent`.
pub fn wrapped(text: &str, indent: &str) -> String {
    let mut lines = String::new();
    for paragraph in text.split('\n') {
        let mut line = String::new();
        for word in paragraph.split_whitespace() {
            if !line.is_empty() && indent.len() + line.len() + word.len() >= 100 {
                let _ = writeln!(lines, "{indent}{line}");
                line.clear();
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        let _ = writeln!(lines, "{}", if line.is_empty() { String::new() } else { format!("{indent}{line}") });
    }
    lines
}

/// All options below each other.
fn list() -> String {
    let mut text = String::new();
    for (name, _, default, about) in OTHERS {
        let _ = write!(text, "{name} = {default}\n{}", wrapped(about, "    "));
    }
    for option in OPTIONS {
        let _ = write!(text, "{} = {}\n{}", python_name(option.name), default(option), wrapped(&about(option), "    "));
    }
    text
}

/// The options in a signature.
fn parameters() -> String {
    let rest = OTHERS.iter().map(|(name, _, default, _)| format!("{name}={default}"));
    let options = OPTIONS.iter().map(|option| format!("{}={}", python_name(option.name), default(option)));
    rest.chain(options).collect::<Vec<_>>().join(", ")
}

/// The help of the module.
pub fn module_doc() -> String {
    format!("{}\n{}\n{}", wrapped(ABOUT, ""), USE, wrapped(REST, "")).trim_end().to_owned()
}

/// The names of all options.
pub fn names() -> impl Iterator<Item = String> {
    let rest = OTHERS.iter().map(|(name, ..)| (*name).to_owned());
    rest.chain(OPTIONS.iter().map(|option| python_name(option.name)))
}

/// `equalize` in Python; `_equalize` does the work. Its signature and that of `_Equalizer` name every option.
pub fn code() -> String {
    let help = format!("{}\nOptions\n-------\n{}", wrapped(EQUALIZE, ""), list());
    let parameters = parameters();
    format!(
        "{}import inspect\n\
         def equalize(array, *, out=None, **options):\n    {help:?}\n    return _equalize(array, out=out, **options)\n\
         def _all(array, *, out=None, {parameters}): ...\n\
         equalize.__signature__ = inspect.signature(_all)\n\
         def _all(*, {parameters}): ...\n\
         _Equalizer.__signature__ = inspect.signature(_all)\n",
        errors()
    )
}

/// The help of `Limits`.
pub fn limits_doc() -> String {
    wrapped(LIMITS, "").trim_end().to_owned()
}

/// The help of `Equalizer`.
pub fn equalizer_doc() -> String {
    format!("{}\nOptions\n-------\n{}", wrapped(EQUALIZER, ""), list())
}
