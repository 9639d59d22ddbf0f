//! The numbers of the rule. They were chosen on the tuning clips of `benches/pictures` and on photos beside them, by
//! the mean distance to the truth over all kinds of footage, and on real footage: pairs of what is under water or dark
//! and of what people made of it, and scenes that plainly need help; `benches/results/natural.md` has what they do on
//! clips held back. Levels are in sixteenths of 255, shares and gains in 4096ths, shares of points in millionths.

/// Of `cast.rs`.
pub mod cast {
    /// How far the most neutral points are from neutral, where nothing is neutral.
    pub const SATURATED: [i32; 2] = [264, 849];
    /// How far the most neutral points are from neutral where the light or the object itself has one colour: there is
    /// no cast then.
    pub const ONE_COLOUR: [i32; 2] = [3209, 3823];
    /// Green, of red, and red, of blue, in what is no leaves, and in what is nothing else.
    pub const LEAVES_GREEN: [i32; 2] = [5120, 5530];
    pub const LEAVES_RED: [i32; 2] = [4506, 5734];
    /// How far the top of the weakest channel lies below that of the strongest one.
    pub const BRIGHT_TINT: [i32; 2] = [558, 1145];
    /// How far apart the bottoms of the channels are, of white.
    pub const DARK_TINT: [i32; 2] = [381, 470];
    /// The least component of the darkest points: a veil of colour lies over them.
    pub const LIFTED: [i32; 2] = [116, 279];
    /// The top of what is so dim that its shadows need not be lifted.
    pub const DIM: [i32; 2] = [2246, 3009];
    /// By how much less than the least the second component has to be lifted under water.
    pub const UNDER_WATER: i32 = 122;
    /// How much paler a colour becomes of which a channel is gone.
    pub const PALER: i32 = 2048;
    /// How far colours of what is under water are from gray in the mean, at most: those of pictures that people made
    /// good have 22, nine of ten of them less than 44.
    pub const MAX_CHROMA: i32 = 640;
    /// Far water limits red where it is at least one point in this many; red is limited so far that this share of far
    /// water, in millionths, does not become purple.
    pub const FAR: usize = 8;
    pub const PURPLE: u32 = 950_000;
    /// The points of the corners.
    pub const CORNERS: u32 = 1000;
    /// Of other casts and of water: the points of the ends of a channel, how far the ends move to the corners, what
    /// they become, and the most gain.
    pub const ENDS: [i32; 2] = [200, 5400];
    pub const TO_CORNERS: [i32; 2] = [3239, 171];
    pub const BECOMES: [[i32; 2]; 2] = [[249, 4050], [256, 3866]];
    pub const MAX_GAIN: [i32; 2] = [15_949, 27_636];
    /// The ratio of red to green or blue at which nothing is missing, and at which it is water: of all lit points, and
    /// of the brightest.
    pub const WATER_RED: [i32; 2] = [3891, 3211];
    pub const WATER_BRIGHT_RED: [i32; 2] = [3789, 3125];
    /// Green under water, of blue: too little, enough, still enough, too much.
    pub const WATER_GREEN: [i32; 4] = [2634, 3346, 6226, 8274];
    /// The level of the brightest components of what is too dark for water, and of what is not.
    pub const WATER_LIT: [i32; 2] = [414, 1374];
}

/// Of `letters.rs`.
pub mod letters {
    /// The least level of letters, and the most of their background, of white.
    pub const STROKE_WHITE: i64 = 3072;
    pub const STROKE_BLACK: i64 = 256;
    /// How far a stroke is above what is beside it, of white.
    pub const STROKE_CONTRAST: i64 = 512;
    /// How many of the eight points beside one of a stroke are as bright, at most.
    pub const FEW_BESIDE: usize = 3;
    /// A block has letters if more than this part of its points, one in 25, lies on strokes.
    pub const BLOCK_PART: usize = 25;
    /// Letters are at most this part of a picture, one third; what is more is texture, such as snow, and none of it is
    /// letters.
    pub const MAX: usize = 3;
}

/// Of `line.rs`.
pub mod line {
    /// The unused share at which the line sets in and is full.
    pub const UNUSED: [i32; 2] = [750, 2819];
    /// The unused share at which the line sets in and is full where black is lifted; and the blacks between which it is
    /// lifted.
    pub const UNUSED_LIFTED: [i32; 2] = [628, 2015];
    pub const LIFTED: [i32; 2] = [172, 397];
    /// The black from which on the line goes all the way to white, and how far it goes at least.
    pub const TO_WHITE: i32 = 302;
    pub const MIN_TO_WHITE: i32 = 1313;
    /// The points of the ends of luma, and of the corners.
    pub const ENDS: u32 = 2449;
    pub const CORNERS: u32 = 1971;
    /// How far the ends move to the corners.
    pub const TO_CORNERS: i32 = 4096;
    pub const MAX_GAIN: i32 = 23515;
    /// The points that chroma may clip.
    pub const CLIPPED: u32 = 13059;
    /// The gain from which on a tint shows, and at which it is too strong; and how much of it is taken off then.
    pub const TINT_SHOWS: [i32; 2] = [11469, 16794];
    pub const TINT_SHARE: i32 = 1843;
    /// How far the line is held back in the dark.
    pub const DARK_SHARE: i32 = 3113;
}

/// Of `veil.rs`.
pub mod veil {
    /// The veil, of the airlight, that is seen and that is sure.
    pub const DENSE: [i32; 2] = [329, 981];
    /// How much the clearest region counts for it beside the mean.
    pub const CLEAREST_SHARE: i32 = 1964;
    /// The least component of the darkest points before the line.
    pub const DARKEST: [i32; 2] = [341, 884];
    /// How much the two count beside the score.
    pub const DENSE_SHARE: i32 = 2458;
    /// The score is how dense the veil is, of the airlight, and how much denser above than below: how far that counts,
    /// from where to where; and the score of what is seen, and of what is sure.
    pub const DEEPER_SHARE: i32 = 3277;
    pub const DEEPER: [i32; 2] = [-410, 1638];
    pub const SCORE: [i32; 2] = [1638, 2867];
    /// The darkest points of a region.
    pub const REGION_DARKEST: u32 = 5192;
    /// The airlight, of the top.
    pub const TOP_SHARE: i32 = 3393;
    /// The share of the black points that is subtracted, and the most, of the airlight.
    pub const TAKEN: i32 = 4294;
    /// How much of a veil is taken off where it is chosen how a picture looks, and how far the mean is brought back.
    pub const CHOSEN: i32 = 2458;
    pub const KEPT_MEAN: i32 = 3072;
    pub const MAX_TAKEN: i32 = 3329;
    /// The least output of white, and the most gain for that.
    pub const WHITE_BECOMES: i32 = 3211;
    pub const MAX_BRIGHTER: i32 = 6375;
    pub const MAX_CHROMA: i32 = 4096;
}

/// Of `dark.rs`.
pub mod dark {
    /// The top of what is dark, and of what is not.
    pub const DARK: [i32; 2] = [2088, 2854];
    /// The top of what is dark, and of what is not, under letters: these may be what is bright in the scene.
    pub const DARK_UNDER_LETTERS: [i32; 2] = [1500, 2088];
    /// The black of what is dark, and of what is not.
    pub const LIFTED: [i32; 2] = [210, 323];
    /// How far the top lies above most of a picture that is nothing but dark, and of one that is there.
    pub const PICTURE: [i32; 2] = [128, 640];
    /// The points below the top.
    pub const TOP: u32 = 992835;
    /// The output of the top.
    pub const BECOMES: i32 = 3962;
    pub const MAX_GAIN: i32 = 23147;
    /// The most slope near black, unless the gain is larger.
    pub const MAX_SLOPE: i32 = 22294;
    pub const CHROMA_SHARE: i32 = 3944;
    /// Under lamps, or a bright sky: what share of the points is dim at which level, and not at which; how far that
    /// lies above the darkest.
    pub const UNDER: [u32; 2] = [600_000, 900_000];
    pub const DIM: [[i32; 2]; 2] = [[400, 960], [960, 1920]];
    pub const UNDER_LAMPS: [i32; 2] = [128, 512];
    /// The points that lie under them, and what becomes of the brightest of these; the most gain, and from which level
    /// on what comes of it goes straight to white.
    pub const UNDER_TOP: u32 = 970_000;
    pub const UNDER_BECOMES: i32 = 3440;
    pub const MAX_LIFT: i32 = 16_384;
    pub const KNEE: i32 = 3264;
    /// How far the channels go to their own exposures under a cast.
    pub const CAST_SHARE: i32 = 3691;
}

/// Of `middle.rs`.
pub mod middle {
    /// The mean up to which nothing is too bright, and the mean from which on the bend is full.
    pub const AIM: i32 = 1786;
    pub const FULL: i32 = 2691;
    pub const MAX: i32 = 1959;
    /// How far chroma follows.
    pub const CHROMA_SHARE: i32 = 4096;
    /// How much a line and a veil lift.
    pub const LINE_SHARE: i32 = 3765;
    pub const VEIL_SHARE: i32 = 1638;
}

/// Of `meant.rs`, as what follows: fitted to choices between unlabelled versions of real scenes
/// (`benches/results/eye.md`).
pub mod meant {
    use crate::spec::natural::points::from_255;

    /// Between these levels neighbours are looked at, and so far apart they are equal at most.
    pub const BETWEEN: [i32; 2] = [from_255(4), from_255(251)];
    pub const SAME_STEP: i32 = from_255(1) / 2;
    /// What share of neighbours is equal in photographs at most, and in what is drawn; and what share of points the
    /// eight most frequent levels have.
    pub const SAME: [i32; 2] = [1556, 2048];
    pub const FEW_LEVELS: usize = 8;
    pub const FEW: [i32; 2] = [1229, 2048];
    /// How far apart the levels of what is not drawn may lie, and those of what is.
    pub const RANGE: [i32; 2] = [from_255(120), from_255(160)];
    /// What share of neighbours is equal, and of points in those levels, where the range does not matter: green screens,
    /// dark editors.
    pub const SURE_SAME: [i32; 2] = [3277, 3523];
    pub const SURE_FEW: [i32; 2] = [3359, 3686];
    /// The most level of black, the share of the points that is black, and the level of the rest at this share of it
    /// that is not lit, and that is.
    pub const BLACK_LEVEL: i32 = from_255(10);
    pub const BLACK: [i32; 2] = [1638, 2458];
    pub const REST_SHARE: u32 = 800_000;
    pub const LIT: [i32; 2] = [from_255(35), from_255(70)];
    /// The most level of what is dark around a bright thing and its share; the least level of the thing; its least and
    /// its most share, from where to where; how far neighbours that hang together lie apart at most, and their share.
    pub const DARK_LEVEL: i32 = from_255(24);
    pub const DARK: [i32; 2] = [1843, 2458];
    pub const BRIGHT_LEVEL: i32 = from_255(170);
    pub const SMALL: [i32; 4] = [4, 12, 102, 164];
    pub const TOGETHER_STEP: i32 = from_255(50);
    pub const TOGETHER: [i32; 2] = [2048, 2867];
}

/// Of `shade.rs`.
pub mod shade {
    use crate::spec::natural::points::from_255;

    /// The share of the points whose level is that of shade; the level of shade, and of what is none; what becomes of
    /// it; and the level at 95 % of what has nothing bright beside it, and of what has.
    pub const LOW: u32 = 350_000;
    pub const SHADE: [i32; 2] = [from_255(25), from_255(92)];
    pub const AIM: i32 = from_255(100);
    pub const BESIDE: [i32; 2] = [from_255(110), from_255(170)];
    /// The level at 90 % of a dull picture, and of one that is not; the median that it gets, and the most lift; and the
    /// median of what is nearly black, and of what is not.
    pub const DULL: [i32; 2] = [from_255(110), from_255(160)];
    pub const DULL_AIM: i32 = from_255(105);
    pub const MAX_DULL: i32 = 4096;
    pub const NOT_BLACK: [i32; 2] = [from_255(30), from_255(55)];
    /// A lift may clip the colour of one point in this many; the search for the largest such lift ends at steps of this
    /// size, in 4096ths.
    pub const MAX_CLIPPED: usize = 50;
    pub const MIN_STEP: i32 = 32;
    /// The saturation of the brightest points without a colour, and with one.
    pub const PALE: [i32; 2] = [1229, 2048];
    /// The share of skin that has light enough from which on less is lifted, and nothing.
    pub const SKIN: [i32; 2] = [164, 410];
    /// In gray: how far apart the components of a colour are, at 90 %, in what is gray, and in what is not; the levels of
    /// what is lit; its share that is no portrait, and that is one; how far apart its levels are in a window, and in a
    /// face; the level of bars; and that of a background, at 95 % of its edges, that is dark, and that is not.
    pub const GRAY: [i32; 2] = [from_255(6), from_255(16)];
    pub const LIT: [i32; 2] = [from_255(110), from_255(235)];
    pub const SUBJECT: [i32; 2] = [102, 205];
    pub const SHADED: [i32; 2] = [from_255(25), from_255(45)];
    pub const BLACK: i32 = from_255(4);
    pub const BACKGROUND: [i32; 2] = [from_255(60), from_255(90)];
    /// The most lift: with more, the curve would not rise.
    pub const MAX: i32 = 8192;
    /// How far chroma follows the slope near black.
    pub const CHROMA_SHARE: i32 = 1229;
}

/// Of `contrast.rs`.
pub mod contrast {
    /// The points of an end of luma, and by how many more the lower one of a dark picture has.
    pub const ENDS: u32 = 5000;
    pub const DARK_ENDS: i32 = 45_000;
    /// The largest gain, together with that of the line.
    pub const MAX_GAIN: i32 = super::line::MAX_GAIN;
    /// How far the ends move where little of the range is unused, and where much is.
    pub const SHARE: [i32; 2] = [2458, 3277];
    pub const UNUSED: [i32; 2] = [1024, 2458];
    /// The smallest share of the mean brightness that is left behind contrast.
    pub const MIN_LIGHT: i32 = 3584;
}

/// Of `correction.rs`, about noise.
pub mod noise {
    /// The deviation that may be seen near black, and in colour, of 255.
    pub const VISIBLE: [i64; 2] = [8, 6];
    /// The deviation that is taken for granted, in 256ths of 255; to remove it, from this gain on, and fully from that, in
    /// 4096ths: the contrast of footage in daylight has less.
    pub const MIN_NOISE: u64 = 256;
    pub const TAKEN: [i32; 2] = [11_264, 14_336];
    /// The level up to which points are near black, and from which on they are not.
    pub const NEAR_BLACK: [i32; 2] = [64, 640];
    /// The deviation behind the gain from which on noise is removed, and that from which on all of it is, in 256ths of
    /// 255.
    pub const SHOWN: [i32; 2] = [192, 640];
    /// The gain from which on noise is removed, and that from which on all of it is, in 4096ths.
    pub const LIFTED: [i32; 2] = [5120, 8192];
    /// The share of noise below which removing it is not worth its time, and that from which on it is, in 4096ths.
    pub const WORTH_IT: [i32; 2] = [1024, 1536];
}

/// Of `correction.rs`, about what can be noticed.
pub mod noticeable {
    use crate::spec::natural::points::from_255;

    /// How far a level has to be moved for any of it to count, and for all of it.
    pub const MOVES: [i32; 2] = [from_255(2), from_255(4)];
}

/// Of `belief.rs`: for each part, a base and the weight of each thing that is seen. They were learned on about 1500
/// photos that lack nothing, on the tuning clips and 60 photos under each degradation, on pairs under water and in the
/// dark, and on about 650 real scenes that lack something, which may not change by much; those in haze count twice, and
/// those under water six times, so that few of them are left as they are.
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
