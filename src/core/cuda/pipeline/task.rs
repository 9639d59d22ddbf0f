//! The parameters of one frame on the GPU. A task is made for a frame, and is checked against the buffers that it is
//! used with, because the kernels do not check levels and region.

use crate::cuda::error::Error;
use crate::cuda::memory::layout::{Arrangement, BufferLayout};
use crate::cuda::tuning;
use crate::frame::Frame;
use crate::spec::clahe::{TileBins, Tiles};
use crate::spec::curves::{Histogram, Levels, Mapping, Tone};
use crate::spec::natural::Assumed;
use crate::spec::parameters::{
    Chroma, Gain, Method, Plateau, Rect, Region, Settings, Smoothing, Strength, WindowKind, setters,
};
use crate::spec::time::Counts;
use crate::spec::{self, Guide, Weights};
use std::sync::Arc;

/// The data that is downloaded with a frame's samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Readback {
    /// Nothing.
    #[default]
    Nothing,
    /// The counts, if the temporal window has more than one frame.
    Window,
    /// The counts and the curves.
    Everything,
}

/// The settings that the kernels support. The rest of `cuda` uses these instead of [`Settings`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parameters {
    /// One curve for the frame, one for each tile, or the mapping of the guide.
    pub method: Method,
    /// The temporal window.
    pub smoothing: Smoothing,
    /// The cap of a bin.
    pub plateau: Plateau,
    /// Number of bins of a histogram; `None` is one for each level.
    pub bins: Option<u32>,
    /// The contrast limit, where the guide has none.
    pub max_gain: Gain,
    /// The strength of the equalization, where the guide has none.
    pub strength: Strength,
    /// How the counted rectangle is chosen, and so whether it may change from frame to frame.
    pub region: Region,
    /// The treatment of chroma.
    pub chroma: Chroma,
}

impl TryFrom<Settings> for Parameters {
    type Error = Error;

    /// Lists all fields, methods and treatments of chroma, so that a new one does not compile until it is decided on
    /// here: the kernels support it, the host evaluates it for the guide, or it is refused with [`Error::Unsupported`],
    /// so that the CPU equalizes the frame.
    fn try_from(settings: Settings) -> Result<Self, Error> {
        let Settings {
            // The kernels support these settings.
            method,
            smoothing,
            plateau,
            bins,
            region,
            chroma,
            // The kernels support these settings too, but a tone in the guide, which the host derives from them,
            // replaces them.
            max_gain,
            strength,
            // The host evaluates this setting: the guide has the change of scene.
            scene_threshold: _,
            // The host evaluates these settings: the guide has the resulting tone or mapping.
            hides_noise: _,
            stretch: _,
            keeps_peak: _,
            // The frame is denoised before it gets here.
            denoise: _,
        } = settings;
        match method {
            // For these methods, the kernels count the frame.
            Method::Global | Method::Clahe { .. } | Method::Detail { .. } => {}
            // For these methods, the guide has the mapping.
            Method::Deflicker | Method::Faint(_) | Method::Natural { .. } => {}
        }
        match chroma {
            Chroma::Keep | Chroma::Follow => {}
        }
        Ok(Parameters { method, smoothing, plateau, bins, max_gain, strength, region, chroma })
    }
}

impl Parameters {
    /// The properties that frames of one window share.
    pub fn window_kind(&self) -> WindowKind {
        WindowKind::new(self.method, self.smoothing, self.region, self.plateau, self.bins)
    }

    /// The number of later frames that a frame waits for.
    pub fn look_ahead(&self) -> u32 {
        self.method.look_ahead(self.smoothing)
    }
}

/// The parameters of one frame.
#[derive(Clone, Debug)]
pub struct Task {
    /// The luminance codes from black to white.
    pub(crate) levels: Levels,
    /// The weights of R, G and B in the luminance.
    pub(crate) weights: Weights,
    /// How the frame is equalized.
    pub(crate) parameters: Parameters,
    /// The guide of the frame.
    pub(crate) guide: Guide,
    /// The region that is counted, within `size`.
    pub(crate) counted: Rect,
    size: (usize, usize),
    /// Whether the frame is interlaced.
    pub(crate) is_interlaced: bool,
    /// The number of samples that are counted.
    pub(crate) samples: u64,
    /// Whether other frames of the same window may have another number of samples.
    pub(crate) samples_vary: bool,
    /// The counts of the frame, where they are given.
    pub(crate) counts: Option<Arc<Counts>>,
    /// The data that is downloaded with the frame.
    pub(crate) readback: Readback,
    /// Whether the equalized planes stay on the device.
    pub(crate) stays_on_device: bool,
}

impl Task {
    /// Equalizes `frame`. Counts the samples of `counted` that lie in the frame, or the whole frame if none of them do.
    ///
    /// # Errors
    /// When the kernels do not know one of the settings.
    pub fn new(frame: &Frame, settings: Settings, counted: Rect) -> Result<Self, Error> {
        let size = (frame.width(), frame.height());
        let (levels, weights) = (frame.levels(), frame.weights());
        let counted = counted.within(size).unwrap_or(frame.whole());
        let samples = counted.width as u64 * counted.height as u64;
        let task = Task::for_counts(levels, size, settings, samples)?;
        let samples_vary = settings.region == Region::Auto || frame.format().has_alpha();
        Ok(Task { weights, counted, is_interlaced: frame.is_interlaced, samples_vary, ..task })
    }

    /// Adds the counts of another backend to the history: of `samples` samples of these levels, from a picture of this
    /// size.
    ///
    /// # Errors
    /// When the kernels do not know one of the settings.
    pub(crate) fn for_counts(
        levels: Levels,
        size: (usize, usize),
        settings: Settings,
        samples: u64,
    ) -> Result<Self, Error> {
        Ok(Task {
            levels,
            weights: Weights::BT601,
            parameters: settings.try_into()?,
            guide: Guide::default(),
            counted: Rect::whole(size),
            size,
            is_interlaced: false,
            samples,
            samples_vary: settings.region == Region::Auto,
            counts: None,
            readback: Readback::Nothing,
            stays_on_device: false,
        })
    }

    /// Applies `mapping` and counts nothing: the method becomes one whose mapping comes with the guide.
    /// For [`Ring::submit_given`](super::Ring::submit_given).
    ///
    /// # Panics
    /// When the mapping is that of tiles, whose curves the kernels make.
    #[must_use]
    pub fn giving(self, mapping: Mapping) -> Self {
        let method = match &mapping {
            Mapping::Curve { .. } => Method::Deflicker,
            Mapping::Veil(_) | Mapping::Balance(_) | Mapping::Balanced { .. } => {
                Method::Natural { assumed: Assumed::Nothing, most: Gain::OFF, faithful: true }
            }
            Mapping::Tiles { .. } => panic!("tiles are counted here"),
        };
        let parameters = Parameters { method, smoothing: Smoothing::OFF, ..self.parameters };
        Task { parameters, guide: Guide { mapping: Some(mapping), ..Guide::default() }, ..self }
    }

    /// Uses these counts, if there are any, instead of counting the picture. They are not read back.
    #[must_use]
    pub fn counted_as(self, counts: Option<Arc<Counts>>) -> Self {
        let histogram = counts.as_deref().and_then(Counts::histogram);
        let samples = histogram.map_or(self.samples, Histogram::total);
        Task { samples, counts, ..self }
    }

    setters! {
        /// Sets what is read back.
        pub fn reading_back(readback: Readback) => readback = readback;

        /// Sets the guide of the frame.
        pub fn guided(guide: Guide) => guide = guide;

        /// Keeps the equalized planes of the result on the device, if `stays`; they are not downloaded then.
        pub fn staying_on_device(stays: bool) => stays_on_device = stays;
    }

    /// Replaces the settings.
    ///
    /// # Errors
    /// When the kernels do not know one of them.
    pub fn with(self, settings: Settings) -> Result<Self, Error> {
        Ok(Task { parameters: settings.try_into()?, ..self })
    }

    /// Checks that the task is for pictures of this layout.
    ///
    /// # Panics
    /// When the task was made for a frame of another size or depth.
    pub(crate) fn assert_suits(&self, layout: &BufferLayout) {
        assert!(
            self.size == layout.size && self.levels.codes() == layout.codes(),
            "a task for another kind of picture"
        );
    }

    /// The number of later frames that a frame waits for.
    pub fn look_ahead(&self) -> u32 {
        self.parameters.look_ahead()
    }

    /// Columns and rows of the picture, in pixels.
    pub(crate) fn size(&self) -> (usize, usize) {
        self.size
    }

    /// The tone of a frame that is counted.
    pub(crate) fn tone(&self) -> Tone {
        let Parameters { method, strength, max_gain, .. } = self.parameters;
        let plain = Tone::for_method(self.levels, method, strength, max_gain);
        if self.parameters.method.counts() { self.guide.tone.unwrap_or(plain) } else { plain }
    }

    /// Whether chroma samples may change.
    pub(crate) fn rewrites_chroma(&self) -> bool {
        self.parameters.chroma.changes() || self.parameters.method.is_natural()
    }

    /// The grid of local equalization and the bins of a tile; `None` where there is one curve for the frame.
    pub(crate) fn tiles(&self, layout: &BufferLayout) -> Option<(Tiles, usize)> {
        let (columns, rows) = self.parameters.method.grid()?;
        let bins = TileBins::new(self.levels, self.parameters.bins).count();
        Some((Tiles::new(columns, rows, layout.size), bins))
    }

    /// Whether the whole picture is counted.
    pub(crate) fn is_whole(&self, layout: &BufferLayout) -> bool {
        self.counted == Rect::whole(layout.size)
    }

    /// Whether the curve depends on the plain histogram of the frame alone, and is blended with the codes themselves.
    pub(crate) fn is_plain(&self) -> bool {
        // Without a contrast limit, the range of the tone has no effect. All fields are named, so that a new one does
        // not compile until it is considered here.
        let Parameters { smoothing, plateau, bins, max_gain: _, method: _, strength: _, region: _, chroma: _ } =
            self.parameters;
        let Tone { max_gain, line, ceiling, range: _, strength: _, chroma_gain: _, keeps_black: _, detail: _ } =
            self.tone();
        let counts_plainly =
            smoothing.frames() == 1 && plateau == Plateau::Off && bins.is_none() && max_gain == Gain::OFF;
        self.counts.is_none() && counts_plainly && line.is_identity() && ceiling as usize == self.levels.count() - 1
    }

    /// Whether the fused kernel can do this task: one curve, from the whole of a plane of luma alone.
    pub(crate) fn suits_fused(&self, layout: &BufferLayout) -> bool {
        layout.arrangement() == Arrangement::Luma
            && layout.padded_row == 0
            && tuning::FUSED.iter().any(|row| layout.sample().depth <= row.depth)
            && self.is_whole(layout)
            && self.counts.is_none()
            && self.parameters.method == Method::Global
            && spec::parameters::bins(self.levels, self.parameters.bins) == self.levels.count()
    }

    /// Whether the fused kernel can do this task for a batch of pictures.
    pub(crate) fn suits_batches(&self, layout: &BufferLayout) -> bool {
        self.suits_fused(layout) && self.is_plain() && self.look_ahead() == 0 && layout.sample().depth == 8
    }
}
