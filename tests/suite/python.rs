//! `src/python/histeq.pyi`: what editors and type checkers say of the module for Python, made of the table of options.

#[allow(dead_code, reason = "the module uses the rest")]
#[path = "../../src/python/texts.rs"]
mod texts;

use histeq::options::{OPTIONS, OptionInfo, ValueKind};
use std::fmt::Write as _;
use texts::{ABOUT, EQUALIZE, EQUALIZER, OTHERS, about, in_python, python_name, wrapped};

const STUB_FILE: &str = "src/python/histeq.pyi";

#[test]
fn the_types_for_python_are_those_of_the_table() {
    let stub = stub();
    if std::env::var_os("HISTEQ_REGENERATE").is_some() {
        std::fs::write(STUB_FILE, &stub).expect("the file can be written");
    }
    let file = std::fs::read_to_string(STUB_FILE).expect("the file can be read");
    assert!(file == stub, "{STUB_FILE} is not what the table says: HISTEQ_REGENERATE=1 writes it");
}

#[test]
fn texts_name_options_as_python_has_them() {
    assert_eq!(
        in_python("Not with --look-ahead, --max-gain auto or --gray."),
        "Not with look_ahead, max_gain auto or gray."
    );
    assert_eq!(in_python("--strength is a number, not --2"), "strength is a number, not --2");
    assert!(OPTIONS.iter().all(|option| !about(option).contains("--")));
}

/// Its type.
fn kind(option: &OptionInfo) -> String {
    match option.kind {
        ValueKind::Flag => "bool".to_owned(),
        ValueKind::Number { .. } => "float".to_owned(),
        ValueKind::Choice(choices) => literal(choices().iter().map(|(name, _)| *name)),
        ValueKind::Text => "str | float".to_owned(),
    }
}

/// One of these names; those that are numbers may be given as such.
fn literal<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let of =
        |name: &str| if name.parse::<u32>().is_ok() { format!("\"{name}\", {name}") } else { format!("\"{name}\"") };
    format!("Literal[{}]", names.map(of).collect::<Vec<_>>().join(", "))
}

/// `histeq.pyi`: types and help for editors and type checkers.
fn stub() -> String {
    let mut options = String::new();
    for (name, kind, _, about) in OTHERS {
        let _ = write!(options, "    {name}: {kind} | None\n{}", docstring(about, "    "));
    }
    for option in &OPTIONS {
        let _ = write!(
            options,
            "    {}: {} | None\n{}",
            python_name(option.name),
            kind(option),
            docstring(&about(option), "    ")
        );
    }
    STUB.replace("ABOUT", docstring(ABOUT, "").trim_end())
        .replace("    OPTIONS\n", &options)
        .replace("    EQUALIZER\n", &docstring(EQUALIZER, "    "))
        .replace("    EQUALIZE\n", &docstring(EQUALIZE, "    "))
}

/// A docstring.
fn docstring(text: &str, indent: &str) -> String {
    let lines = wrapped(text, indent);
    let lines = lines.trim();
    match lines.contains('\n') {
        true => format!("{indent}\"\"\"{lines}\n{indent}\"\"\"\n"),
        false => format!("{indent}\"\"\"{lines}\"\"\"\n"),
    }
}

const STUB: &str = r#"# Generated: HISTEQ_REGENERATE=1 cargo test -p histeq-video --test suite -- python::
ABOUT

from collections.abc import Iterable, Iterator
from typing import Any, Literal, TypedDict, TypeVar, final

from typing_extensions import Unpack

__version__: str

FORMATS: tuple[str, ...]
"""The names of all pixel formats, which are FFmpeg's."""

LOOKS: tuple[str, ...]
"""The names of all looks."""

_Array = TypeVar("_Array")

class _Options(TypedDict, total=False):
    OPTIONS

class _Option(TypedDict):
    name: str
    values: str
    default: str
    summary: str
    details: str
    choices: dict[str, str] | None
    least: float | None
    most: float | None

def options() -> list[_Option]:
    """All options of equalization: names, values, ranges, defaults, help."""

def equalize(array: _Array, *, out: Any = None, **options: Unpack[_Options]) -> _Array:
    EQUALIZE

@final
class Equalizer:
    EQUALIZER

    def __init__(self, **options: Unpack[_Options]) -> None: ...
    def push(self, array: Any, *, out: Any = None) -> Any | None:
        """Takes a frame in, and returns the oldest one that is done, or None. It is written into `out` if one is
        given, which is returned then."""

    def collect(self, *, out: Any = None) -> Any | None:
        """The oldest frame that needs no later one, waiting until it is done, or None. For cameras: after each push."""

    def finish(self) -> Iterator[Any]:
        """Ends the video. The frames that are left come out of the iterator."""

    def iterate(self, frames: Iterable[Any], *, out: Any = None) -> Iterator[Any]:
        """All of `frames` through the equalizer: as many come out, in their order. With `out` each is written there, over
        the one before."""

    def set(self, **options: Unpack[_Options]) -> None:
        """Other options for the frames that are pushed from now on. What is not in `options()` stays as it was given."""

    def survey(self, frames: Iterable[Any]) -> None:
        """The first pass for smooth="scene": all frames, before the first push."""

    def restart(self, number: int = 0) -> None:
        """Begins another video, or another part of this one, whose next frame has this number."""

    def warm_up(self, array: Any) -> None:
        """Takes in a frame from before those that are wanted: it is counted, and does not come out."""

    @property
    def reach(self) -> tuple[int, int]:
        """On how many frames before it, and behind it, the result of a frame depends."""

    @property
    def backend(self) -> str:
        """What does the work: "cpu (avx2, 2 threads)"."""

    @property
    def notes(self) -> list[str]:
        """What a caller may not expect: the CPU works in place of a GPU."""
"#;
