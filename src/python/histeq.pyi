# Generated: HISTEQ_REGENERATE=1 cargo test -p histeq-video --test suite -- python::
"""Brings out what pictures and video hide: histogram equalization and more, on the CPU or an NVIDIA
GPU to the same byte.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Literal, TypedDict, TypeVar, final, overload

from typing_extensions import Unpack

__version__: str

FORMATS: tuple[str, ...]
"""The names of all pixel formats, which are FFmpeg's."""

LOOKS: tuple[Literal["natural", "night", "haze", "underwater", "faithful", "thermal", "exact"], ...]
"""The names of all looks."""

_Look = Literal["natural", "night", "haze", "underwater", "faithful", "thermal", "exact"] | Literal["auto"]
_Array = TypeVar("_Array")
_Out = TypeVar("_Out")

class _SameType(TypedDict, total=False):
    format: str | None
    """Pixel format, by FFmpeg's name (`FORMATS`): None takes it from shape and type."""
    width: int | None
    """Columns of arrays that do not tell them: bytes, flat arrays."""
    height: int | None
    """Rows of such arrays."""
    mask: Any | None
    """A weight for each pixel, 0 to 255, with which it is counted: uint8 or bool (True is 255),
    (height, width).
    """
    rate: float | None
    """Frames a second, on which the lengths of temporal windows depend."""
    range: Literal["limited", "full"] | None
    """Range of luma codes: None is limited for YUV, full for gray."""
    matrix: Literal["bt601", "bt709", "bt2020"] | None
    """Matrix between RGB and YUV: None is BT.709 for HD in YUV, else BT.601."""
    transfer: Literal["sdr", "pq", "hlg"] | None
    """What codes stand for: SDR, or HDR by PQ or HLG."""
    live: bool | None
    """Frames come as they are filmed: by default none waits for later ones."""
    backend: Literal["auto", "cpu", "cuda"] | None
    """Where the work is done: auto is a GPU if there is one."""
    gpu: int | None
    """Index of the GPU: None is that of the first array, or 0."""
    threads: int | None
    """Threads of the CPU: None is one for each core, at most 8; one for a single picture."""
    limits: Limits | None
    """Limits of memory, pixels and threads, which equalizers share that get the same ones."""
    look: _Look | str | None
    """Preset for a kind of footage. natural: What each scene lacks, and contrast; gray video of more
    than 8 bits gets thermal; night: The same, sure that it is dark; haze: The same, sure of haze,
    fog, smoke; underwater: The same, sure of a cast, as under water; faithful: Faults alone: what
    lacks nothing stays as it is; thermal: Thermal cameras, and other footage that uses a small part
    of the range; exact: Textbook equalization of each frame by itself. A preset sets method,
    levels, strength, max_gain, plateau, chroma, smooth and scene_threshold. Each of these options,
    if given, replaces the preset's value. Where one of them belongs to equalization (plateau, bins,
    max_gain), method is global then. auto is another name for natural.
    """
    strength: float | None
    """Share of the correction to apply, 0 to 1. With method natural, and the look thermal without
    levels, 0 is the input. With other equalization, 0 leaves the levels as levels has them, 1 is
    fully equalized. With deflicker, it is how much of the flicker goes. There are 256 steps.
    """
    method: Literal["global", "clahe", "detail", "deflicker", "asinh", "midtones", "natural"] | None
    """What is done. global: One curve for the frame; clahe: A curve per tile, blended between tiles
    (contrast-limited adaptive histogram equalization); detail: Small differences of brightness are
    brought out beside large ones, edges without halos; deflicker: Flicker of the light is evened
    out: of the frame, of a colour, in patches, in bands that roll; asinh: What is faint in linear
    data, as telescopes record, is brought up by asinh; midtones: The same by the midtones function
    of astronomers; natural: What each scene lacks: light, contrast, colour; a veil goes.
    """
    levels: str | float | None
    """The most that the range of levels in use is stretched, 1 (not at all) to 4096, or full. The
    darkest and the brightest colours of a scene are moved towards black and white, as far as the
    range between is unused; equalization adds its share to that. full stretches them to the whole
    range, however few they are. With method natural, neither contrast nor light has a larger gain.
    """
    max_gain: str | float | None
    """Contrast limit: the largest slope of the curve, 1 to 4096; 0 is no limit; or auto. This is about
    the most by which equalization amplifies contrast, and with it noise, beyond levels. Higher
    values show more, lower ones are calmer, and 1 adds nothing. With method clahe, it is the clip
    limit of OpenCV: what is cut off the counts of a tile is spread over all levels again, so that
    the slope is up to 1 more, and no level is cut below one pixel. A tile with fewer pixels than
    there are levels, as of 16 bits, has hardly a limit: 256 bins give it one. auto measures the
    noise of each scene, and lowers the look's limit and levels as far as keeps noise from being
    seen; with method global and clahe, and a temporal window. With method detail, it is the gain of
    detail, 4 for thermal and else 2, which noise always lowers.
    """
    smooth: str | float | None
    """Length of the temporal window in seconds, 0 to 3600, at most 512 frames; or scene. The frames of
    a scene within the window share one histogram, which prevents flicker. A longer window is
    steadier and follows changes of light more slowly; 0 equalizes each frame by itself. Light that
    wavers more slowly than this window is no flicker to method deflicker. scene gives all frames of
    a scene the same curve: a file is then read twice. Not with look_ahead, method clahe, detail,
    deflicker, asinh or midtones, pipes, network streams and live.
    """
    scene_threshold: float | None
    """Difference between two frames, 0 to 1, above which they are a scene cut. The difference is that
    of brightness in most parts of the picture. A cut restarts the temporal window. Lower values
    find more cuts, at each of which brightness may jump; 1 finds none.
    """
    plateau: str | float | None
    """Maximum count of one level of a frame, in samples (500) or in percent of the frame (0.5%); 0 is
    no cap. A cap keeps large flat areas from taking contrast away from small details; the lower it
    is, the more range small details get. Not with method clahe and detail.
    """
    denoise: float | None
    """Remove noise along motion before all else: 0 is off, 1 is all of it. With method natural, noise
    goes as far as the correction would show it: what is not lifted keeps its noise, and its bytes.
    With other methods it goes from every frame. A frame is made clean with the three before it and,
    of files, the three behind it, never across a cut. Not with smooth scene and load_curves.
    """
    denoise_effort: Literal["fast", "best"] | None
    """How much is done to remove noise. fast: A frame is made clean with two on either side, smooth
    parts with three; best: With four everywhere, in a fifth more time: less noise is left. Frames
    of pipes, streams and cameras are made clean with those before them; of pipes and streams,
    look_ahead adds the two behind.
    """
    tiles: str | tuple[int, int] | None
    """Number of tiles of method clahe and detail, across and down, 1 to 256 each. More tiles bring out
    smaller structures, and their noise.
    """
    bins: float | None
    """Number of histogram bins, 2 to 65536. With fewer bins than levels the curve is smoother: it is
    straight within each bin.
    """
    chroma: Literal["keep", "follow"] | None
    """What happens to colour. keep: Colour stays as it is; follow: Saturation grows with the contrast
    of the stretched levels.
    """
    roi: str | tuple[int, int, int, int] | None
    """Count the histogram in this rectangle only, in pixels of the decoded picture, or auto: all but
    black bars. X,Y is the upper left corner, counted from 0,0. The curve applies to the whole
    picture. Not with method clahe and detail, which count each tile.
    """
    look_ahead: float | None
    """Length of the part of smooth that lies ahead of each frame, in seconds, 0 to 3600. With a
    look-ahead, the first frames of a scene flicker no more than the rest. It delays the output by
    its length and holds that many frames in memory; 0 delays nothing.
    """

class _Options(_SameType, total=False):
    """With those that change shape and type of results."""

    gray: bool | None
    """Write luma only."""
    output_depth: Literal["auto", "8", 8, "10", 10] | None
    """Bits of the output: against bands in skies and other smooth areas of 8-bit video. auto: As many
    as the input has, without noise; 8: 8; video of more bits is dithered; 10: 10; video of more
    bits keeps them. With 8 and 10, 8-bit video gets noise of half a level, too fine to be seen,
    before its contrast grows, so that no gaps come between the levels. For files that are encoded,
    10 serves best.
    """

class _Option(TypedDict):
    name: str
    values: str
    default: str
    summary: str
    details: str
    choices: dict[str, str] | None
    least: float | None
    most: float | None

class Error(Exception):
    """An error of the library, in a class by whose fault it is."""

class ParameterError(Error, ValueError):
    """The caller's: an option, an array, or the order of calls."""

class StateError(ParameterError, RuntimeError):
    """A call that comes too early or too late."""

class LimitError(Error, RuntimeError):
    """A limit is exceeded: `Limits` with more, or smaller pictures, help."""

class UnsupportedError(Error, ValueError):
    """What was asked for is not done for such pictures."""

class DeviceError(Error, RuntimeError):
    """A GPU, its driver or its memory is missing, or fails. The CPU gives the same bytes."""

class InternalError(Error, RuntimeError):
    """A bug of the library."""

def options() -> list[_Option]:
    """All options of equalization: names, values, ranges, defaults, help."""

@overload
def equalize(array: bytes | bytearray | memoryview, *, out: None = None, **options: Unpack[_Options]) -> bytes:
    """One picture, equalized.

    array: uint8 or uint16 of NumPy, PyTorch, CuPy or whatever has the buffer protocol or DLPack,
    with any strides, on the host or on a GPU. (height, width) is gray, (height, width, 3) RGB,
    (height, width, 4) RGBA, (3, height, width) planar RGB. A tuple has the planes of YUV: (Y, U,
    V). `format` names others: BGR ("bgr24"), rows of all planes below each other ("yuv420p"), 10
    and 12 bits in words of 16.

    The result is an array of the same library, on the same device; of the same shape and type,
    unless `gray` or `output_depth` change them. With `out` it is written there, and `out` is
    returned.
    """

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
    """Limits of what equalizers use that get them as `limits`.

    memory: bytes of all their frames; a frame goes in only where it and a result of its size fit
    into what is left. None is no limit. pixels: of a frame; None is 268435456, which is
    16384x16384. threads: of each part of an equalizer's work; None is one for each core.
    """

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
    """A video on its way: frames go in and come out in their order, some calls later, because the
    newest wait for those behind them.

    The first frame decides on format and size. Each call releases the GIL while it works. An
    equalizer may be used from several threads, one at a time.
    """

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
