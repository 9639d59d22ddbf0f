//! `src/python/histeq.pyi`, the Python module's types and help for editors, is generated from the table of options.

#[allow(dead_code, reason = "the module uses the rest")]
#[path = "../../src/python/texts.rs"]
mod texts;

use histeq::internal::options::{OPTIONS, OptionInfo, ValueKind};
use histeq::{Look, Named};
use std::fmt::Write as _;
use texts::{ABOUT, EQUALIZE, EQUALIZER, LIMITS, OTHERS, about, errors, in_python, python_name, wrapped};

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

/// The option's type in Python.
fn kind(option: &OptionInfo) -> String {
    match option.kind {
        ValueKind::Flag => "bool".to_owned(),
        ValueKind::Number { .. } => "float".to_owned(),
        // A look's name may also be a plain `str`, for example one that was read from a file.
        ValueKind::Choice(_) if option.name == "look" => "_Look | str".to_owned(),
        ValueKind::Choice(choices) => literal(choices().iter().map(|(name, _)| *name)),
        ValueKind::Text => match option.placeholder {
            "CxR" => "str | tuple[int, int]".to_owned(),
            "X,Y,W,H" => "str | tuple[int, int, int, int]".to_owned(),
            _ => "str | float".to_owned(),
        },
    }
}

/// The Python type of one of these names. A numeric name may also be given as a number.
fn literal<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let value_of =
        |name: &str| if name.parse::<u32>().is_ok() { format!("\"{name}\", {name}") } else { format!("\"{name}\"") };
    format!("Literal[{}]", names.map(value_of).collect::<Vec<_>>().join(", "))
}

/// The text of `histeq.pyi`.
fn stub() -> String {
    let (mut options, mut rest) = (String::new(), String::new());
    for (name, kind, _, about) in OTHERS {
        let _ = write!(options, "    {name}: {kind} | None\n{}", docstring(about, "    "));
    }
    for option in OPTIONS {
        let changes_type = matches!(option.name, "gray" | "output-depth");
        let _ = write!(
            if changes_type { &mut rest } else { &mut options },
            "    {}: {} | None\n{}",
            python_name(option.name),
            kind(option),
            docstring(&about(option), "    ")
        );
    }
    STUB.replace("ABOUT", docstring(ABOUT, "").trim_end())
        .replace("    OPTIONS\n", &options)
        .replace("    OTHERS\n", &rest)
        .replace("NAMES", &literal(Look::ALL.iter().map(|look| look.name())))
        .replace("ERRORS\n", &errors())
        .replace("    LIMITS\n", &docstring(LIMITS, "    "))
        .replace("    EQUALIZER\n", &docstring(EQUALIZER, "    "))
        .replace("    EQUALIZE\n", &docstring(EQUALIZE, "    "))
}

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
from typing import Any, Literal, TypedDict, TypeVar, final, overload

from typing_extensions import Unpack

__version__: str

FORMATS: tuple[str, ...]
"""The names of all pixel formats, which are FFmpeg's."""

LOOKS: tuple[NAMES, ...]
"""The names of all looks."""

_Look = NAMES | Literal["auto"]
_Array = TypeVar("_Array")
_Out = TypeVar("_Out")

class _SameType(TypedDict, total=False):
    OPTIONS

class _Options(_SameType, total=False):
    """With those that change shape and type of results."""

    OTHERS

class _Option(TypedDict):
    name: str
    values: str
    default: str
    summary: str
    details: str
    choices: dict[str, str] | None
    least: float | None
    most: float | None

ERRORS

def options() -> list[_Option]:
    """All options of equalization: names, values, ranges, defaults, help."""

@overload
def equalize(array: bytes | bytearray | memoryview, *, out: None = None, **options: Unpack[_Options]) -> bytes:
    EQUALIZE

@overload
def equalize(array: _Array, *, out: None = None, **options: Unpack[_SameType]) -> _Array: ...
@overload
def equalize(array: Any, *, out: None = None, **options: Unpack[_Options]) -> Any: ...
@overload
def equalize(array: Any, *, out: _Out, **options: Unpack[_Options]) -> _Out: ...

@final
class Frames(Iterator[Any]):
    """Frames as they come out."""

    def __iter__(self) -> Frames: ...
    def __next__(self) -> Any: ...

@final
class Limits:
    LIMITS

    def __init__(
        self, *, memory: int | None = None, pixels: int | None = None, threads: int | None = None
    ) -> None: ...
    @property
    def memory(self) -> int | None:
        """The most bytes of all frames, or None."""

    @property
    def pixels(self) -> int:
        """The most pixels of a frame."""

    @property
    def threads(self) -> int:
        """How many threads each part of the work may start."""

    @property
    def in_use(self) -> int:
        """The bytes of all frames that are in use now."""

@final
class Equalizer:
    EQUALIZER

    def __init__(self, **options: Unpack[_Options]) -> None: ...
    def push(self, array: Any, *, out: Any = None) -> Any | None:
        """Takes a frame in, and returns the oldest one that is done, or None. It is written into `out` if one is
        given, which is returned then."""

    def collect(self, *, out: Any = None) -> Any | None:
        """The oldest frame that needs no later one, waiting until it is done, or None. For cameras: after each push."""

    def finish(self) -> Frames:
        """Ends the video. The frames that are left come out of the iterator."""

    def iterate(self, frames: Iterable[Any], *, out: Any = None) -> Frames:
        """All of `frames` through the equalizer: as many come out, in their order. With `out` each is written there, over
        the one before. Begins a new video if another iteration came before, also one that was left before its end."""

    def set(self, **options: Unpack[_Options]) -> None:
        """Other options for the frames that are pushed from now on. What is not in `options()` stays as it was given."""

    def survey(self, frames: Iterable[Any]) -> None:
        """The first pass for smooth="scene": all frames, before the first push."""

    def restart(self, number: int = 0) -> None:
        """Begins another video, or another part of this one, whose next frame has this number."""

    def warm_up(self, array: Any) -> None:
        """Takes in a frame from before those that are wanted: it is counted, and does not come out."""

    def close(self) -> None:
        """Gives back its threads and its memory, also that on a GPU. Frames that have not come out are lost. The end of a
        `with` block does it."""

    def __enter__(self) -> Equalizer: ...
    def __exit__(self, *error: object) -> None: ...

    @property
    def reach(self) -> tuple[int, int]:
        """On how many frames before it, and behind it, the result of a frame depends."""

    @property
    def backend(self) -> str | None:
        """What does the work: "cpu (avx2, 2 threads)". None before the first frame."""

    @property
    def notes(self) -> list[str]:
        """What a caller may not expect: the CPU works in place of a GPU."""
"#;
