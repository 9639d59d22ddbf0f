//! The encoders of this FFmpeg, and the pixel formats that they take.
#![allow(unsafe_code, reason = "FFI")]

use super::{RawFormat, c_string, text};
use ffmpeg_next::codec::Id;
use ffmpeg_next::ffi;

/// An encoder that is here.
#[derive(Clone, Copy)]
pub struct Encoder(pub(super) *const ffi::AVCodec);

// SAFETY: points to a constant of the library.
unsafe impl Send for Encoder {}

impl Encoder {
    /// The video encoder of this name.
    pub fn find(name: &str) -> Option<Self> {
        super::init();
        // SAFETY: a NUL-terminated name; what is found is a constant.
        unsafe {
            let codec = ffi::avcodec_find_encoder_by_name(c_string(name).as_ptr());
            let video = !codec.is_null() && (*codec).type_ == ffi::AVMediaType::AVMEDIA_TYPE_VIDEO;
            video.then_some(Encoder(codec))
        }
    }

    /// FFmpeg's first choice for a codec.
    pub fn for_codec(id: Id) -> Option<Self> {
        // SAFETY: no precondition.
        let codec = unsafe { ffi::avcodec_find_encoder(id.into()) };
        (!codec.is_null()).then_some(Encoder(codec))
    }

    /// FFmpeg's first choice for the video codec of this name.
    pub fn for_codec_named(name: &str) -> Option<Self> {
        // SAFETY: a NUL-terminated name; what is found is a constant.
        let id = unsafe {
            let descriptor = ffi::avcodec_descriptor_get_by_name(c_string(name).as_ptr()).as_ref()?;
            (descriptor.type_ == ffi::AVMediaType::AVMEDIA_TYPE_VIDEO).then_some(descriptor.id)
        };
        Encoder::for_codec(id?.into())
    }

    /// Its name.
    pub fn name(self) -> String {
        // SAFETY: a constant of the library.
        unsafe { text((*self.0).name) }
    }

    /// What it is, in words.
    pub fn description(self) -> String {
        // SAFETY: a constant of the library.
        unsafe { text((*self.0).long_name) }
    }

    /// What it encodes to.
    pub fn codec(self) -> Id {
        // SAFETY: a constant of the library.
        unsafe { (*self.0).id }.into()
    }

    /// Has it a private option of this name?
    pub fn has_option(self, name: &str) -> bool {
        // SAFETY: `av_opt_find` takes the address of a pointer to a class when told that the object is a fake one.
        unsafe {
            let mut class = (*self.0).priv_class;
            if class.is_null() {
                return false;
            }
            let object = (&raw mut class).cast();
            let fake = ffi::AV_OPT_SEARCH_FAKE_OBJ;
            !ffi::av_opt_find(object, c_string(name).as_ptr(), std::ptr::null(), 0, fake).is_null()
        }
    }

    /// The pixel formats that it takes; empty when it does not say.
    pub fn formats(self) -> Vec<RawFormat> {
        let mut formats = Vec::new();
        // SAFETY: the list is a constant that ends with NONE.
        unsafe {
            let mut next = self.format_list();
            while !next.is_null() && *next != ffi::AVPixelFormat::AV_PIX_FMT_NONE {
                formats.push(RawFormat(*next));
                next = next.add(1);
            }
        }
        formats
    }

    /// Does it take pictures of this format? One that keeps no list takes any.
    pub fn takes(self, format: RawFormat) -> bool {
        let formats = self.formats();
        formats.is_empty() || formats.contains(&format)
    }

    #[cfg(not(ffmpeg_7_1))]
    fn format_list(self) -> *const ffi::AVPixelFormat {
        // SAFETY: a constant of the library.
        unsafe { (*self.0).pix_fmts }
    }

    #[cfg(ffmpeg_7_1)]
    fn format_list(self) -> *const ffi::AVPixelFormat {
        let mut list: *const std::ffi::c_void = std::ptr::null();
        let what = ffi::AVCodecConfig::AV_CODEC_CONFIG_PIX_FORMAT;
        // SAFETY: without a context it answers with the codec's constant list, or null for "any".
        unsafe {
            ffi::avcodec_get_supported_config(std::ptr::null(), self.0, what, 0, &mut list, std::ptr::null_mut())
        };
        list.cast()
    }

    /// Does it only take pictures whose codes are all picture, as JPEG does?
    pub fn wants_full_range(self) -> bool {
        matches!(self.name().as_str(), "mjpeg" | "ljpeg")
    }

    /// Can it code two interlaced fields in one picture, told by a flag?
    pub fn codes_fields(self) -> bool {
        matches!(
            self.name().as_str(),
            "libx264" | "libx264rgb" | "mpeg2video" | "mpeg4" | "prores_ks" | "prores_aw" | "prores" | "ffv1" | "dnxhd"
        )
    }
}

/// All video encoders that are here, by name.
pub fn encoders() -> Vec<Encoder> {
    super::init();
    let mut found = Vec::new();
    let mut state = std::ptr::null_mut();
    loop {
        // SAFETY: `state` starts null and is kept for the next call.
        let codec = unsafe { ffi::av_codec_iterate(&mut state) };
        if codec.is_null() {
            return found;
        }
        // SAFETY: a constant of the library.
        let video =
            unsafe { ffi::av_codec_is_encoder(codec) != 0 && (*codec).type_ == ffi::AVMediaType::AVMEDIA_TYPE_VIDEO };
        if video {
            found.push(Encoder(codec));
        }
    }
}

/// Which of `formats` loses least of a picture in `format`: its colour last, then its depth.
pub fn nearest_format(formats: &[RawFormat], format: RawFormat) -> Option<RawFormat> {
    if formats.contains(&format) {
        return Some(format);
    }
    let coloured = preferably(formats, |f| format.is_gray() || !f.is_gray());
    let deep = preferably(&coloured, |f| f.depth() >= format.depth().min(16));
    // Not many players know red, green and blue in codecs that are made for YUV.
    let alike = preferably(&deep, |f| f.is_rgb() == format.is_rgb());
    let mut list: Vec<_> = alike.iter().map(|f| f.0).collect();
    list.push(ffi::AVPixelFormat::AV_PIX_FMT_NONE);
    // SAFETY: the list ends with NONE.
    let best = unsafe {
        let alpha = format.has_alpha().into();
        ffi::avcodec_find_best_pix_fmt_of_list(list.as_ptr(), format.0, alpha, std::ptr::null_mut())
    };
    (best != ffi::AVPixelFormat::AV_PIX_FMT_NONE).then_some(RawFormat(best))
}

/// Those of `formats` that `suit`, or all if none does.
fn preferably(formats: &[RawFormat], suit: impl Fn(&RawFormat) -> bool) -> Vec<RawFormat> {
    let suitable: Vec<RawFormat> = formats.iter().copied().filter(suit).collect();
    if suitable.is_empty() { formats.to_vec() } else { suitable }
}
