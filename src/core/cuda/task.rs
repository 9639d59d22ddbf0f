//! The parameters of one frame on the GPU. A task is made for a frame, and is checked against the buffers that it is
//! used with, because the kernels do not check levels and region.

use super::layout::{Arrangement, BufferLayout};
use super::tuning;
use crate::frame::Frame;
use crate::spec::clahe::{TileBins, Tiles};
use crate::spec::{self, Gain, Guide, Levels, Mapping, Method, Plateau, Rect, Settings, Smoothing, Tone, Weights};

/// The data that is downloaded with a frame's samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Readback {
    /// Nothing.
    #[default]
    Nothing,
    /// The counts, where the temporal window has more frames than one.
    Window,
    /// The counts and the curves.
    Everything,
}

/// The parameters of one frame.
#[derive(Clone, Debug)]
pub struct Task {
    /// The codes of its luminance that are levels.
    pub(super) levels: Levels,
    /// The weights of R, G and B in the luminance.
    pub(super) weights: Weights,
    /// The settings of the equalization.
    pub(super) settings: Settings,
    /// What was decided of the frame before.
    pub(super) guide: Guide,
    /// The region that is counted, within `size`.
    pub(super) counted: Rect,
    size: (usize, usize),
    /// The number of samples that are counted.
    pub(super) samples: u64,
    /// The data that is downloaded with it.
    pub(super) readback: Readback,
}

impl Task {
    /// Equalizes `frame`. Counts the samples of `counted` that lie in the frame, or the whole frame if none of them do.
    pub fn new(frame: &Frame, settings: Settings, counted: Rect) -> Self {
        let size = (frame.width(), frame.height());
        let (levels, weights) = (frame.levels(), frame.weights());
        let counted = counted.within(size).unwrap_or(frame.whole());
        let samples = counted.width as u64 * counted.height as u64;
        let (guide, readback) = (Guide::default(), Readback::Nothing);
        Task { levels, weights, settings, guide, counted, size, samples, readback }
    }

    /// Adds the counts of another backend to the history: of `samples` samples of these levels, from a picture of this
    /// size.
    pub(super) fn for_counts(levels: Levels, size: (usize, usize), settings: Settings, samples: u64) -> Self {
        let (weights, counted) = (Weights::BT601, Rect::whole(size));
        let (guide, readback) = (Guide::default(), Readback::Nothing);
        Task { levels, weights, settings, guide, counted, size, samples, readback }
    }

    /// The same, with this read back.
    #[must_use]
    pub fn reading_back(self, readback: Readback) -> Self {
        Task { readback, ..self }
    }

    /// The same, with what was decided of the frame before.
    #[must_use]
    pub fn guided(self, guide: Guide) -> Self {
        Task { guide, ..self }
    }

    /// The same, with `mapping` applied and nothing counted: the method becomes one whose mapping is decided before. For
    /// [`Ring::submit_given`](super::Ring::submit_given).
    ///
    /// # Panics
    /// When the mapping is that of tiles, whose curves are made here.
    #[must_use]
    pub fn giving(self, mapping: Mapping) -> Self {
        let method = match &mapping {
            Mapping::Curve { .. } => Method::Deflicker,
            Mapping::Veil(_) => Method::Dehaze,
            Mapping::Balance(_) => Method::Balance,
            Mapping::Tiles { .. } => panic!("tiles are counted here"),
        };
        let settings = Settings { method, smoothing: Smoothing::OFF, ..self.settings };
        Task { settings, guide: Guide { mapping: Some(mapping), ..Guide::default() }, ..self }
    }

    /// The same, with other settings.
    #[must_use]
    pub fn with(self, settings: Settings) -> Self {
        Task { settings, ..self }
    }

    /// Checks that it is for pictures of this layout.
    ///
    /// # Panics
    /// When it was made for a frame of another size or depth.
    pub(super) fn assert_suits(&self, layout: &BufferLayout) {
        assert!(
            self.size == layout.size() && self.levels.codes() == layout.codes(),
            "a task for another kind of picture"
        );
    }

    /// The number of later frames that a frame waits for.
    pub fn look_ahead(&self) -> u32 {
        self.settings.backend_look_ahead()
    }

    /// Columns and rows of the picture, in pixels.
    pub(super) fn size(&self) -> (usize, usize) {
        self.size
    }

    /// What is done to the levels of a frame that is counted.
    pub(super) fn tone(&self) -> Tone {
        let plain = Tone::plain(self.levels, &self.settings);
        if self.settings.method.counts() { self.guide.tone.unwrap_or(plain) } else { plain }
    }

    /// Whether chroma samples may change.
    pub(super) fn rewrites_chroma(&self) -> bool {
        self.settings.chroma.changes() || self.settings.method == Method::Balance
    }

    /// The grid of local equalization and the bins of a tile; `None` where there is one curve for the frame.
    pub(super) fn tiles(&self, layout: &BufferLayout) -> Option<(Tiles, usize)> {
        let Method::Clahe { columns, rows } = self.settings.method else { return None };
        let bins = TileBins::new(self.levels, self.settings.bins).count();
        Some((Tiles::new(columns, rows, layout.size()), bins))
    }

    /// Whether the whole picture is counted.
    pub(super) fn is_whole(&self, layout: &BufferLayout) -> bool {
        self.counted == Rect::whole(layout.size())
    }

    /// Whether the curve depends on the plain histogram of the frame alone, and is blended with the codes themselves.
    pub(super) fn is_plain(&self) -> bool {
        // Without a contrast limit, the range of the tone has no effect. A new setting has to say here whether the kernels for plain histograms know it: each field is named.
        let Settings {
            smoothing,
            plateau,
            bins,
            max_gain: _,
            hides_noise: _,
            method: _,
            scene_threshold: _,
            strength: _,
            region: _,
            chroma: _,
            stretch: _,
            keeps_peak: _,
        } = self.settings;
        let tone = self.tone();
        let is_textbook =
            smoothing.frames() == 1 && plateau == Plateau::Off && bins.is_none() && tone.max_gain == Gain::OFF;
        is_textbook && tone.line.is_identity() && tone.ceiling as usize == self.levels.count() - 1
    }

    /// Whether the fused kernel can do this task: one curve, from the whole of a plane of luma alone.
    pub(super) fn suits_fused(&self, layout: &BufferLayout) -> bool {
        layout.arrangement() == Arrangement::Luma
            && layout.padded_row() == 0
            && tuning::FUSED.iter().any(|row| layout.sample().depth <= row.depth)
            && self.is_whole(layout)
            && self.settings.method == Method::Global
            && spec::bins(self.levels, self.settings.bins) == self.levels.count()
    }

    /// Whether the fused kernel can do this task for a batch of pictures.
    pub(super) fn suits_batches(&self, layout: &BufferLayout) -> bool {
        self.suits_fused(layout) && self.is_plain() && self.look_ahead() == 0 && layout.sample().depth == 8
    }
}
