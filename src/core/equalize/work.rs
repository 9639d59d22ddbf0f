//! The input and the output of a backend: one [`Work`] for each frame, one [`Equalized`] for each work.

use super::counting::Mask;
use crate::frame::{Frame, MemoryError};
use crate::spec::Guide;
use crate::spec::curves::Mapping;
use crate::spec::natural::Found;
use crate::spec::parameters::{Method, Rect, Region, Settings, setters};
use crate::spec::time::{Counts, Scene};
use std::sync::Arc;

/// One frame on its way through a backend, with its settings and decisions.
#[derive(Clone, Debug)]
pub struct Work {
    frame: Frame,
    settings: Settings,
    counted: Rect,
    guide: Guide,
    role: Role,
    report: Report,
    is_behind: bool,
    stays_on_device: bool,
    original: Option<Original>,
    /// The weights of the frame's pixels; `None` if all are equal.
    mask: Option<Arc<Mask>>,
    /// The counts of the frame, if the backend does not have to count it.
    counts: Option<Arc<Counts>>,
    /// How many frames before and after this one are used to denoise it.
    pub(super) clean_with: (usize, usize),
}

/// A frame before denoising gave it more bits, and the mapping that would be applied to it.
#[derive(Clone, Debug)]
pub struct Original {
    /// The frame.
    pub frame: Frame,
    /// The mapping that would be applied to it.
    pub mapping: Option<Mapping>,
}

/// What a backend does with a frame.
#[derive(Clone, Debug)]
pub enum Role {
    /// It is equalized, and remembered for the sake of later frames.
    Equalize,
    /// This mapping is applied. The frame is neither counted nor remembered, and of the settings only `chroma` has an
    /// effect.
    Apply(Mapping),
    /// It comes before the wanted frames: it is counted and remembered, and comes out unchanged.
    WarmUp,
}

/// How much a backend reports about what was applied to a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Report {
    /// The counts, if the window has more than one frame: another backend needs them to continue with the next
    /// frame.
    #[default]
    Window,
    /// The counts, the scene and the curves.
    Everything,
}

impl Work {
    /// `frame` to be equalized. Its counted region is that of `settings`, or the whole frame; for
    /// [`Region::Auto`], pass the region that [`CountedRegion`](super::counting::CountedRegion) measures to
    /// [`counting`](Work::counting).
    pub fn new(frame: Frame, settings: Settings) -> Self {
        let counted = match settings.region {
            Region::Fixed(rect) => rect,
            Region::Whole | Region::Auto => frame.whole(),
        };
        let (guide, role, report) = (Guide::default(), Role::Equalize, Report::Window);
        let (is_behind, stays_on_device, original, clean_with) = (false, false, None, (0, 0));
        let (mask, counts) = (None, None);
        let work = Work {
            frame,
            settings,
            counted,
            guide,
            role,
            report,
            is_behind,
            stays_on_device,
            original,
            mask,
            counts,
            clean_with,
        };
        work.counting(counted)
    }

    /// Replaces the frame by its denoised version. If this has more bits, the guide's mapping for
    /// denoised frames replaces the mapping.
    #[must_use]
    pub fn cleaned(mut self, frame: Frame) -> Self {
        let Some(clean) = self.guide.clean.clone() else { return self };
        if frame.levels() != self.frame.levels() {
            let mapping = std::mem::replace(&mut self.guide.mapping, clean.mapping);
            self.original = Some(Original { frame: self.frame, mapping });
        }
        Work { frame, ..self }
    }

    /// Counts the frame here if its pixels have weights: the backend does not count it then.
    ///
    /// # Errors
    /// When the GPU that the frame is on fails.
    pub(super) fn counting_by_weight(mut self) -> Result<Self, MemoryError> {
        if let Some(mask) = self.mask.as_ref().filter(|_| self.settings.method.counts()) {
            self.counts = Some(mask.counts(&self)?.into());
            self.settings = mask.settings(&self.settings);
        }
        Ok(self)
    }

    /// Counts the samples in the part of `region` that lies in the frame; all samples of the frame if no part does.
    #[must_use]
    pub fn counting(self, region: Rect) -> Self {
        let counted = region.within((self.frame.width(), self.frame.height())).unwrap_or(self.frame.whole());
        Work { counted, ..self }
    }

    /// Applies `mapping` to the frame. Not to be submitted while frames wait for later ones.
    ///
    /// # Panics
    /// When the mapping is a curve without an entry for each code of the frame, or the counts of tiles, from which
    /// curves would have to be made.
    #[must_use]
    pub fn applying(self, mapping: Mapping) -> Self {
        assert!(mapping.suits(self.frame.levels()), "a curve of another depth");
        assert!(!mapping.has_tiles(), "tiles are not applied");
        Work { role: Role::Apply(mapping), ..self }
    }

    setters! {
        /// Sets how many frames before and after this one are used to denoise it.
        pub(super) fn clean_with(clean_with: (usize, usize)) => clean_with = clean_with;

        /// Sets the weights of the pixels, in a mask of the frame's size.
        pub(super) fn with_mask(mask: Option<Arc<Mask>>) => mask = mask;

        /// Sets the decisions on the frame: its scene, levels and colour. Without a guide, the frame continues the
        /// scene of the frame before it, and its levels and colour stay as they are.
        /// [`EqualizeStage`](super::EqualizeStage) makes the guides.
        pub fn guided(guide: Guide) => guide = guide;

        /// Marks the frame as one that is only remembered. Submit it before any frame that is equalized.
        pub fn warming_up() => role = Role::WarmUp;

        /// Marks the frame as one after the wanted ones: its result is not used.
        pub fn lying_behind() => is_behind = true;

        /// Asks for a report of everything that is applied to the frame.
        pub fn reporting_everything() => report = Report::Everything;

        /// Leaves the equalized planes of the result in memory of the GPU, if `stays` and a GPU equalizes: they are
        /// copied to the host when they are read there. Planes that equalization does not rewrite are passed on where
        /// they lie. Without effect on a CPU, also on one that continues for a GPU that has failed: the result is then
        /// on the host.
        pub fn staying_on_device(stays: bool) => stays_on_device = stays;
    }

    /// The frame that is equalized.
    pub fn frame(&self) -> &Frame {
        &self.frame
    }

    /// The frame that is equalized.
    pub fn into_frame(self) -> Frame {
        self.frame
    }

    /// The frame before denoising, if denoising gave it more bits.
    pub fn original(&self) -> Option<&Original> {
        self.original.as_ref()
    }

    /// The settings for this frame.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The part of the frame that is counted.
    pub fn counted(&self) -> Rect {
        self.counted
    }

    /// The decisions on the frame (scene, levels, colour).
    pub fn guide(&self) -> &Guide {
        &self.guide
    }

    /// What the backend does with the frame.
    pub fn role(&self) -> &Role {
        &self.role
    }

    /// Whether the frame comes after those that are wanted.
    pub fn is_behind(&self) -> bool {
        self.is_behind
    }

    /// Whether the result stays on the GPU, if a GPU equalizes the frame.
    pub fn stays_on_device(&self) -> bool {
        self.stays_on_device
    }

    /// The weights of the frame's pixels; `None` if all are equal.
    pub(super) fn mask(&self) -> Option<&Arc<Mask>> {
        self.mask.as_ref()
    }

    /// The counts of the frame, if the backend does not have to count it.
    pub fn counts(&self) -> Option<&Arc<Counts>> {
        self.counts.as_ref()
    }

    /// How much the backend reports about the frame.
    pub fn report(&self) -> Report {
        self.report
    }

    /// Whether the backend counts one histogram, of all samples of the frame.
    pub fn counts_frame(&self) -> bool {
        let is_given = matches!(self.role, Role::Apply(_));
        !is_given
            && self.mask.is_none()
            && (self.settings.method != Method::Global || self.counted == self.frame.whole())
    }

    /// Whether the histogram of the frame is needed beside those of its tiles.
    pub fn counts_frame_with_tiles(&self) -> bool {
        self.report == Report::Everything
    }

    /// Empty counts, for methods that count nothing.
    pub fn uncounted(&self) -> Counts {
        Counts::Nothing { size: (self.frame.width(), self.frame.height()), levels: self.frame.levels() }
    }
}

/// The result of a [`Work`].
#[derive(Clone, Debug)]
pub struct Equalized {
    /// The frame, equalized.
    pub frame: Frame,
    /// What was applied to the frame, as far as the work asks for a report.
    pub applied: Applied,
}

/// What was applied to a frame. A frame with a given mapping has neither counts nor a scene.
#[derive(Clone, Debug, Default)]
pub struct Applied {
    /// Its counts.
    pub counts: Option<Arc<Counts>>,
    /// Its scene.
    pub scene: Option<Scene>,
    /// The mapping that was applied, if it was given, or decided without counts. With a look-ahead it can be the
    /// mapping that was decided for a later frame.
    pub mapping: Option<Mapping>,
    /// The curve of the frame, or the curves of its tiles one after the other, row by row: an entry for each code.
    /// `None` if more than a curve was applied.
    pub curves: Option<Arc<[u16]>>,
    /// If there is one curve: the gain of chroma for [`Chroma::Follow`](crate::spec::parameters::Chroma::Follow), in 4096ths.
    pub chroma_gain: Option<u32>,
    /// Its measured deficiencies, with [`Method::Natural`](crate::spec::parameters::Method::Natural).
    pub found: Option<Found>,
}
