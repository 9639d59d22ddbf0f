//! The numbers of the rule for the look `natural`. They were tuned on the tuning clips of `benches/pictures` and
//! further photos, by the mean distance to the ground truth over all kinds of footage, and on real footage: underwater
//! and dark originals with versions that people made of them, and scenes that plainly need help;
//! `benches/results/natural.md` has the results on clips held back. Levels are in sixteenths of 255, shares and gains
//! in 4096ths, shares of points in millionths.

/// The numbers of `cast.rs`.
pub mod cast {
    /// The saturation of the most neutral points at which there may be a cast, and at which there surely is.
    pub const SATURATED: [i32; 2] = [264, 849];
    /// The saturation of the most neutral points at which the frame may be of one pure colour, which is no cast, and at
    /// which it surely is.
    pub const ONE_COLOUR: [i32; 2] = [3209, 3823];
    /// The ratios of green to red, and of red to blue, of frames without leaves, and of frames that are all leaves.
    pub const LEAVES_GREEN: [i32; 2] = [5120, 5530];
    pub const LEAVES_RED: [i32; 2] = [4506, 5734];
    /// By how much the top of the weakest channel lies below that of the strongest one, as a share: without and with a
    /// cast.
    pub const BRIGHT_TINT: [i32; 2] = [558, 1145];
    /// How far apart the low ends of the channels are, without and with a cast.
    pub const DARK_TINT: [i32; 2] = [381, 470];
    /// The least component of the darkest points, without and with a veil of colour over them.
    pub const LIFTED: [i32; 2] = [116, 279];
    /// The top level of a frame that is so dim that a cast need not lift its shadows, and of one that is not.
    pub const DIM: [i32; 2] = [2246, 3009];
    /// Under water, where red may be gone, the second least component of the darkest points, less this, counts as
    /// lifted, too.
    pub const UNDER_WATER: i32 = 122;
    /// The share by which chroma is reduced where a channel has no light left.
    pub const PALER: i32 = 2048;
    /// The largest mean distance of underwater colours from gray: in versions that people made it is 22, of 255, and in
    /// nine of ten of them less than 44.
    pub const MAX_CHROMA: i32 = 640;
    /// Far water limits red where it is at least one point in `FAR`; red is limited so far that the share `PURPLE` of
    /// far water, in millionths, does not become purple.
    pub const FAR: usize = 8;
    pub const PURPLE: u32 = 950_000;
    /// The red of far water is less than its green by what blue has more than green, divided by this.
    pub const BELOW_GREEN: i32 = 3;
    /// The share of the darkest and of the brightest points whose mean colours are the corners.
    pub const CORNERS: u32 = 1000;
    /// Each for other casts, then for water. `ENDS`: the share of points beyond either end of a channel. `TO_CORNERS`:
    /// how far the ends move to the corners. `BECOMES`: the outputs of the ends. `MAX_GAIN`: the largest gain.
    pub const ENDS: [i32; 2] = [200, 5400];
    pub const TO_CORNERS: [i32; 2] = [3239, 171];
    pub const BECOMES: [[i32; 2]; 2] = [[249, 4050], [256, 3866]];
    pub const MAX_GAIN: [i32; 2] = [15_949, 27_636];
    /// The ratio of red to the strongest component at which no red is missing, and at which it is water: of all lit
    /// points, and of the brightest.
    pub const WATER_RED: [i32; 2] = [3891, 3211];
    pub const WATER_BRIGHT_RED: [i32; 2] = [3789, 3125];
    /// The ratio of green to blue under water: too low, low, high, too high; between low and high it is as in water.
    pub const WATER_GREEN: [i32; 4] = [2634, 3346, 6226, 8274];
    /// The level of the brightest components of a frame that is too dark for water, and of one that is not.
    pub const WATER_LIT: [i32; 2] = [414, 1374];
}

/// The numbers of `letters.rs`.
pub mod letters {
    /// The least level of strokes, and the highest level of black beside them, in 4096ths of white.
    pub const STROKE_WHITE: i64 = 3072;
    pub const STROKE_BLACK: i64 = 256;
    /// By how much a stroke is brighter than the points beside it, in 4096ths of white.
    pub const STROKE_CONTRAST: i64 = 512;
    /// Of the eight points around a point of a stroke, at most this many are as bright.
    pub const FEW_BESIDE: usize = 3;
    /// A block has letters if more than one in this many of its points lies on strokes.
    pub const BLOCK_PART: usize = 25;
    /// Letters have at most one in this many points of a frame; if more seem to be letters, they are texture, such as
    /// snow.
    pub const MAX: usize = 3;
}

/// The numbers of `line.rs`.
pub mod line {
    /// The unused share at which the line sets in and is full.
    pub const UNUSED: [i32; 2] = [750, 2819];
    /// The unused share at which the line sets in and is full where black is lifted; and the levels of black at which
    /// it counts as not lifted, and as lifted.
    pub const UNUSED_LIFTED: [i32; 2] = [628, 2015];
    pub const LIFTED: [i32; 2] = [172, 397];
    /// The level of black from which on the line moves q all the way to white, and the least share of that way.
    pub const TO_WHITE: i32 = 302;
    pub const MIN_TO_WHITE: i32 = 1313;
    /// The share of points beyond either end of luma, and the share of the points whose mean colours are the corners.
    pub const ENDS: u32 = 2449;
    pub const CORNERS: u32 = 1971;
    /// How far the ends move to the corners.
    pub const TO_CORNERS: i32 = 4096;
    pub const MAX_GAIN: i32 = 23515;
    /// The share of points that the gain of chroma may clip.
    pub const CLIPPED: u32 = 13059;
    /// The gain from which on a tint shows, and at which it is too strong; and the share of it that is removed then.
    pub const TINT_SHOWS: [i32; 2] = [11469, 16794];
    pub const TINT_SHARE: i32 = 1843;
    /// How far darkness reduces the line.
    pub const DARK_SHARE: i32 = 3113;
}

/// The numbers of `veil.rs`.
pub mod veil {
    /// The density, as a share of the airlight, at which there may be a veil, and at which there surely is.
    pub const DENSE: [i32; 2] = [329, 981];
    /// How much the clearest region counts for the density, against the mean of the regions.
    pub const CLEAREST_SHARE: i32 = 1964;
    /// The least component of the darkest points before the line, without and with a veil.
    pub const DARKEST: [i32; 2] = [341, 884];
    /// How much the density and the darkest points count, relative to the score.
    pub const DENSE_SHARE: i32 = 2458;
    /// The score is the density of the veil, as a share of the airlight, plus `DEEPER_SHARE` of how much denser it is
    /// above than below, which is clamped to `DEEPER`; and the score at which there may be a veil, and at which there
    /// surely is.
    pub const DEEPER_SHARE: i32 = 3277;
    pub const DEEPER: [i32; 2] = [-410, 1638];
    pub const SCORE: [i32; 2] = [1638, 2867];
    /// The quantile of the darkest components that is the black point of a region.
    pub const REGION_DARKEST: u32 = 5192;
    /// The airlight, as a share of the top level.
    pub const TOP_SHARE: i32 = 3393;
    /// The share of the black points that is subtracted; at most `MAX_TAKEN` of the airlight.
    pub const TAKEN: i32 = 4294;
    /// Unless the look is faithful: the share of a veil that is removed, and how far the mean is restored.
    pub const CHOSEN: i32 = 2458;
    pub const KEPT_MEAN: i32 = 3072;
    pub const MAX_TAKEN: i32 = 3329;
    /// The level to which white is raised, and the largest gain for that.
    pub const WHITE_BECOMES: i32 = 3211;
    pub const MAX_BRIGHTER: i32 = 6375;
    pub const MAX_CHROMA: i32 = 4096;
}

/// The numbers of `dark.rs`.
pub mod dark {
    /// The top level of a dark frame, and of one that is not.
    pub const DARK: [i32; 2] = [2088, 2854];
    /// The same without letters: these may be the bright parts of a scene.
    pub const DARK_UNDER_LETTERS: [i32; 2] = [1500, 2088];
    /// The level of black of a dark frame, and of one that is not.
    pub const LIFTED: [i32; 2] = [210, 323];
    /// By how much the top lies above the level at 5 % in a frame that shows nothing, and in one that shows something.
    pub const PICTURE: [i32; 2] = [128, 640];
    /// `SHOWN_SHARE`: the share of points whose level is compared with that at 5 %. `SHOWN`: how far apart the exposure
    /// would bring these two levels in a frame whose dark hides nothing, and in one whose dark hides a scene.
    pub const SHOWN_SHARE: u32 = 900_000;
    pub const SHOWN: [i32; 2] = [384, 640];
    /// The share of points below the top level.
    pub const TOP: u32 = 992835;
    /// The output of the top level.
    pub const BECOMES: i32 = 3962;
    pub const MAX_GAIN: i32 = 23147;
    /// The largest slope near black, unless the gain is larger.
    pub const MAX_SLOPE: i32 = 22294;
    pub const CHROMA_SHARE: i32 = 3944;
    /// For dark parts under lamps or a bright sky. `UNDER`: two shares of the points. `DIM`: for each of these, the
    /// level at that share in a dim frame, and in one that is not. `UNDER_LAMPS`: how far that level lies above the
    /// level at 5 % in a frame whose dark parts show nothing, and in one where they do.
    pub const UNDER: [u32; 2] = [600_000, 900_000];
    pub const DIM: [[i32; 2]; 2] = [[400, 960], [960, 1920]];
    pub const UNDER_LAMPS: [i32; 2] = [128, 512];
    /// `UNDER_TOP`: the share of points under lamps. `UNDER_BECOMES`: the output of the brightest of these. `MAX_LIFT`:
    /// the largest gain. `KNEE`: the output above which levels rise linearly to white.
    pub const UNDER_TOP: u32 = 970_000;
    pub const UNDER_BECOMES: i32 = 3440;
    pub const MAX_LIFT: i32 = 16_384;
    pub const KNEE: i32 = 3264;
    /// How far a cast moves the channels to their own exposures.
    pub const CAST_SHARE: i32 = 3691;
}

/// The numbers of `middle.rs`.
pub mod middle {
    /// The mean up to which nothing is too bright, and the mean from which on the bend is full.
    pub const AIM: i32 = 1786;
    pub const FULL: i32 = 2691;
    pub const MAX: i32 = 1959;
    /// How far chroma follows the gain of the mean luma.
    pub const CHROMA_SHARE: i32 = 4096;
    /// How much a line and a veil lift the midtones.
    pub const LINE_SHARE: i32 = 3765;
    pub const VEIL_SHARE: i32 = 1638;
}

/// The numbers of `meant.rs`. They and those below were fitted to choices between unlabelled versions of real scenes
/// (`benches/results/eye.md`).
pub mod meant {
    use crate::spec::natural::points::from_255;

    /// The levels between which neighbours are compared, and the largest distance at which they count as equal.
    pub const BETWEEN: [i32; 2] = [from_255(4), from_255(251)];
    pub const SAME_STEP: i32 = from_255(1) / 2;
    /// The share of neighbours that are equal in photographs at most, and in drawings; and the share of points in the
    /// eight most frequent levels, likewise.
    pub const SAME: [i32; 2] = [1556, 2048];
    pub const FEW_LEVELS: usize = 8;
    pub const FEW: [i32; 2] = [1229, 2048];
    /// How far apart the levels of frames that are not drawn may lie, and those of drawings.
    pub const RANGE: [i32; 2] = [from_255(120), from_255(160)];
    /// The share of neighbours that are equal, and of points in those levels, of surely drawn frames, whatever the
    /// range: green screens, dark editors.
    pub const SURE_SAME: [i32; 2] = [3277, 3523];
    pub const SURE_FEW: [i32; 2] = [3359, 3686];
    /// `BLACK_LEVEL`: the highest level of black. `BLACK`: the share of black points without and with a stage. `LIT`:
    /// the level at the share `REST_SHARE` of the other points without and with a lit subject.
    pub const BLACK_LEVEL: i32 = from_255(10);
    pub const BLACK: [i32; 2] = [1638, 2458];
    pub const REST_SHARE: u32 = 800_000;
    pub const LIT: [i32; 2] = [from_255(35), from_255(70)];
    /// A small bright object in the dark. `DARK_LEVEL`: the highest level that is dark. `DARK`: the share of dark
    /// points without and with such an object. `BRIGHT_LEVEL`: the least level of the object. `SMALL`: the shares of
    /// bright points from which on it is an object, and from which on it is too large, each as the ends of a ramp.
    /// `TOGETHER_STEP`: the largest distance of coherent neighbours. `TOGETHER`: the share of these in lamps, and in an
    /// object.
    pub const DARK_LEVEL: i32 = from_255(24);
    pub const DARK: [i32; 2] = [1843, 2458];
    pub const BRIGHT_LEVEL: i32 = from_255(170);
    pub const SMALL: [i32; 4] = [4, 12, 102, 164];
    pub const TOGETHER_STEP: i32 = from_255(50);
    pub const TOGETHER: [i32; 2] = [2048, 2867];
}

/// The numbers of `shade.rs`.
pub mod shade {
    use crate::spec::natural::points::from_255;

    /// `LOW`: the share of points below the level of shade. `SHADE`: that level with and without shade. `AIM`: the
    /// level to which shade is lifted. `BESIDE`: the level at 95 % without and with bright areas beside shade.
    pub const LOW: u32 = 350_000;
    pub const SHADE: [i32; 2] = [from_255(25), from_255(92)];
    pub const AIM: i32 = from_255(100);
    pub const BESIDE: [i32; 2] = [from_255(110), from_255(170)];
    /// `DULL`: the level at 90 % of a dull frame, and of one that is not. `DULL_AIM`: the median of a dull frame after
    /// the lift. `MAX_DULL`: the largest lift of a dull frame. `NOT_BLACK`: the median of a nearly black frame, and of
    /// one that is not.
    pub const DULL: [i32; 2] = [from_255(110), from_255(160)];
    pub const DULL_AIM: i32 = from_255(105);
    pub const MAX_DULL: i32 = 4096;
    pub const NOT_BLACK: [i32; 2] = [from_255(30), from_255(55)];
    /// `MAX_CLIPPED`: a lift may clip the colour of one point in this many. `MIN_STEP`: the step at which the search
    /// for the largest such lift ends, in 4096ths.
    pub const MAX_CLIPPED: usize = 50;
    pub const MIN_STEP: i32 = 32;
    /// The saturation of the brightest points without a colour, and with one.
    pub const PALE: [i32; 2] = [1229, 2048];
    /// The share of well-lit skin from which on less is lifted, and from which on nothing is.
    pub const SKIN: [i32; 2] = [164, 410];
    /// Portraits in gray. `GRAY`: how far apart the components of colours are at 90 %, in gray frames and in others.
    /// `LIT`: the levels that are lit. `SUBJECT`: the share of lit points without and with a portrait. `SHADED`: how
    /// far apart their levels are in a window, and in a face. `BLACK`: the highest level of black bars. `BACKGROUND`:
    /// the level at 95 % of the points at the edges, with a dark background and with another.
    pub const GRAY: [i32; 2] = [from_255(6), from_255(16)];
    pub const LIT: [i32; 2] = [from_255(110), from_255(235)];
    pub const SUBJECT: [i32; 2] = [102, 205];
    pub const SHADED: [i32; 2] = [from_255(25), from_255(45)];
    pub const BLACK: i32 = from_255(4);
    pub const BACKGROUND: [i32; 2] = [from_255(60), from_255(90)];
    /// The largest lift: with a larger one, the curve would fall in places.
    pub const MAX: i32 = 8192;
    /// How far chroma follows the slope near black.
    pub const CHROMA_SHARE: i32 = 1229;
}

/// The numbers of `contrast.rs`.
pub mod contrast {
    /// The share of points beyond an end of luma, and by how much that of the lower end is larger in a dark frame.
    pub const ENDS: u32 = 5000;
    pub const DARK_ENDS: i32 = 45_000;
    /// The largest gain, together with that of the line.
    pub const MAX_GAIN: i32 = super::line::MAX_GAIN;
    /// How far the ends move where little of the range is unused, and where much is.
    pub const SHARE: [i32; 2] = [2458, 3277];
    pub const UNUSED: [i32; 2] = [1024, 2458];
    /// The smallest share of the mean brightness that is left after contrast.
    pub const MIN_LIGHT: i32 = 3584;
}

/// The numbers of `correction.rs` for noise.
pub mod noise {
    /// The standard deviation of noise, of 255, that may remain near black, and in colour.
    pub const VISIBLE: [i64; 2] = [8, 6];
    /// The least standard deviation of noise that is assumed, in 256ths of a level of 255. When noise is removed, it
    /// counts from the first gain of `TAKEN` on, in 4096ths, and fully from the second: daylight footage gets smaller
    /// gains.
    pub const MIN_NOISE: u64 = 256;
    pub const TAKEN: [i32; 2] = [11_264, 14_336];
    /// The level up to which points are near black, and from which on they are not.
    pub const NEAR_BLACK: [i32; 2] = [64, 640];
    /// The deviation after the gain from which on noise is removed, and that from which on all of it is, in 256ths of
    /// 255.
    pub const SHOWN: [i32; 2] = [192, 640];
    /// The gain from which on noise is removed, and that from which on all of it is, in 4096ths.
    pub const LIFTED: [i32; 2] = [5120, 8192];
    /// The share of noise below which removing it is not worth its time, and that from which on it is, in 4096ths.
    pub const WORTH_IT: [i32; 2] = [1024, 1536];
}

/// The numbers of `correction.rs` for what can be noticed.
pub mod noticeable {
    use crate::spec::natural::points::from_255;

    /// How far a correction has to move a level for any of it to be applied, and for all of it.
    pub const MOVES: [i32; 2] = [from_255(2), from_255(4)];
}

/// For each part, a base and the weights of features. They were learned on about 1500 photos that lack nothing, on the
/// tuning clips and 60 photos under each degradation, on pairs under water and in the dark, and on about 650 real
/// scenes that lack something, which may not change by much; those in haze count twice, and those under water six
/// times, so that few of them are left as they are.
pub mod belief {
    pub const WATER: i32 = -9936;
    pub const WATER_BRIGHT_TINT: i32 = 28_884;
    pub const WATER_STRONGEST: i32 = -18_054;
    pub const WATER_HEADROOM: i32 = -6485;
    pub const WATER_BLACK: i32 = 47_559;
    pub const WATER_SATURATION: i32 = 19_196;
    pub const WATER_COLOUR_ABOVE: i32 = 24_466;

    pub const LINE: i32 = 12_283;
    pub const LINE_QUARTER: i32 = -11_386;
    pub const LINE_BRIGHT_TINT: i32 = -5803;
    pub const LINE_VARIETY: i32 = -7794;
    pub const LINE_STEP: i32 = -67_626;

    pub const VEIL: i32 = -9450;
    pub const VEIL_TEXTURE: i32 = 52_188;
    pub const VEIL_EDGES: i32 = 50_797;

    pub const DARK: i32 = 44_811;
    pub const DARK_BRIGHT_TINT: i32 = 8868;
    pub const DARK_STRONGEST: i32 = -39_471;
    pub const DARK_WARMEST: i32 = 5469;
    pub const DARK_LIGHT: i32 = -44_653;
}

/// What is drawn over a picture.
pub mod overlay {
    /// By how much of 255 the components of points of one colour differ.
    pub const TOLERANCE: i32 = 5;
    /// The fewest lines of a bar, and rows of a box.
    pub const MIN_BAR: usize = 2;
    /// The most lines of a bar, next to the picture, that are less even.
    pub const SOFT_EDGE: usize = 6;
    /// The least share of the line behind a bar that has other colours, as a divisor.
    pub const PART_AT_EDGE: usize = 3;
    /// The least share of lines that bars leave, as a divisor.
    pub const MIN_PICTURE: usize = 8;
    /// The least share of the picture that a box covers, as a divisor.
    pub const SMALL_BOX: usize = 160;
    /// The fewest columns of a box.
    pub const MIN_BOX_COLUMNS: usize = 6;
    /// The largest share of a line of a bar that has other colours, as a divisor: what encoders add at its edge.
    pub const STRAYS: usize = 16;
    /// How far apart the components of the colour of a stripe at one edge are, in tolerances.
    pub const STRONG: i32 = 12;
    /// The largest share of the picture that such a stripe covers, as a divisor.
    pub const THIN_STRIPE: usize = 4;
    /// The most rows of letters without a gap that interrupt a box.
    pub const LETTER_ROWS: usize = 4;
    /// How far letters are from the colour of their box, of 255.
    pub const LETTER_CONTRAST: i64 = 50;
    /// The least share of a box that is letters, as a divisor.
    pub const LETTER_PART: usize = 25;
}

/// Lines of letters over a picture.
pub mod captions {
    /// The least level of a stroke, and by how much a point near it is darker, of 255.
    pub const BRIGHT: i32 = 180;
    pub const CONTRAST: i32 = 70;
    /// How far from a stroke that point is at most.
    pub const NEAR: usize = 2;
    /// The least level of the brightest stroke, and by how much others as bright differ from it, of 255.
    pub const MIN_TOP: i32 = 225;
    pub const AS_BRIGHT: i32 = 30;
    /// The most points between strokes of a row, the fewest strokes there, and their least part, as a divisor.
    pub const GAP: usize = 9;
    pub const MIN_IN_ROW: usize = 3;
    pub const SPARSE: usize = 10;
    /// The fewest strokes of a line, and its rows and columns.
    pub const MIN_STROKES: usize = 15;
    pub const MIN_ROWS: usize = 2;
    pub const MAX_ROWS: usize = 8;
    pub const MIN_COLUMNS: usize = 20;
    /// The part of a line that strokes cover, in percent.
    pub const MIN_COVERED: usize = 12;
    pub const MAX_COVERED: usize = 70;
    /// The least number of strokes that begin in a row, in percent of the points of a line, in a line of at most `LOW`
    /// rows, and in a higher one.
    pub const LOW: usize = 5;
    pub const PIECES_OF_LOW: usize = 15;
    pub const PIECES: usize = 17;
    /// How many times as many strokes a row of the line has as the rows above and below it.
    pub const ALONE: usize = 5;
    /// A clear line: its least length, and its least number of strokes as above.
    pub const LONG: usize = 40;
    pub const CLEAR_PIECES: usize = 20;
    /// The least share of strokes as bright as letters that lie in lines, as a divisor, and that with a clear line.
    pub const SHARE: usize = 2;
    pub const CLEAR_SHARE: usize = 4;
    /// The largest part of a row or column of a box that has other colours, as a divisor.
    pub const MISSING: usize = 5;
    /// How many times as high as its letters a box is at most.
    pub const MAX_BOX: usize = 4;
}
