//! The encoders of this FFmpeg, and the pixel formats that they accept.
#![allow(unsafe_code, reason = "FFI")]

use crate::ffmpeg::c_string;
use crate::ffmpeg::frame::RawFormat;
use ffmpeg_next::codec::Id;
use ffmpeg_next::{Codec, encoder, ffi};

/// A video encoder of this FFmpeg.
#[derive(Clone, Copy)]
pub struct Encoder(pub(crate) Codec);

impl Encoder {
    /// The video encoder of this name.
    pub fn find(name: &str) -> Option<Self> {
        crate::ffmpeg::init();
        encoder::find_by_name(name).filter(Codec::is_video).map(Encoder)
    }

    /// FFmpeg's default encoder for a codec.
    pub fn for_codec(id: Id) -> Option<Self> {
        encoder::find(id).map(Encoder)
    }

    /// FFmpeg's default encoder for the video codec of this name.
    pub fn for_codec_named(name: &str) -> Option<Self> {
        // SAFETY: a NUL-terminated name; the result is null or a constant.
        let id = unsafe {
            let descriptor = ffi::avcodec_descriptor_get_by_name(c_string(name).as_ptr()).as_ref()?;
            (descriptor.type_ == ffi::AVMediaType::AVMEDIA_TYPE_VIDEO).then_some(descriptor.id)
        };
        Encoder::for_codec(id?.into())
    }

    /// The encoder's name, such as `libx264`.
    pub fn name(self) -> String {
        self.0.name().to_owned()
    }

    /// FFmpeg's description of the encoder.
    pub fn description(self) -> String {
        self.0.description().to_owned()
    }

    /// Whether it encodes in hardware, always or where available.
    pub fn is_hardware(self) -> bool {
        let flags = ffi::AV_CODEC_CAP_HARDWARE | ffi::AV_CODEC_CAP_HYBRID;
        // SAFETY: a constant of the library.
        unsafe { (*self.0.as_ptr()).capabilities & flags as i32 != 0 }
    }

    /// The codec of the encoder's output.
    pub fn codec(self) -> Id {
        self.0.id()
    }

    /// Whether it has a private option of this name.
    pub fn has_option(self, name: &str) -> bool {
        self.option(name).is_some()
    }

    /// The least and the greatest value of its private option of this name.
    pub fn range(self, name: &str) -> Option<(f64, f64)> {
        self.option(name).map(|option| (option.min, option.max))
    }

    fn option(self, name: &str) -> Option<&'static ffi::AVOption> {
        // SAFETY: with AV_OPT_SEARCH_FAKE_OBJ, `av_opt_find` takes the address of a pointer to a class; the result is
        // null or a constant of the library.
        unsafe {
            let mut class = (*self.0.as_ptr()).priv_class;
            if class.is_null() {
                return None;
            }
            let object = (&raw mut class).cast();
            let fake = ffi::AV_OPT_SEARCH_FAKE_OBJ;
            ffi::av_opt_find(object, c_string(name).as_ptr(), std::ptr::null(), 0, fake).as_ref()
        }
    }

    /// The pixel formats that the encoder accepts; empty when FFmpeg has no list.
    pub fn formats(self) -> Vec<RawFormat> {
        let formats = self.0.video().ok().and_then(|codec| codec.formats());
        formats.into_iter().flatten().map(|format| RawFormat(format.into())).collect()
    }

    /// Whether the encoder accepts this pixel format. An encoder without a list accepts any.
    pub fn takes(self, format: RawFormat) -> bool {
        let formats = self.formats();
        formats.is_empty() || formats.contains(&format)
    }

    /// Whether it has interlaced coding, switched on by AV_CODEC_FLAG_INTERLACED_DCT.
    pub fn codes_interlaced(self) -> bool {
        matches!(
            self.name().as_str(),
            "libx264"
                | "libx264rgb"
                | "mpeg2video"
                | "mpeg4"
                | "prores_ks"
                | "prores_aw"
                | "prores"
                | "ffv1"
                | "dnxhd"
                | "dvvideo"
        )
    }
}

/// Whether a codec is lossless with all settings of its encoder.
pub fn is_lossless(codec: Id) -> bool {
    let kinds = ffi::AV_CODEC_PROP_LOSSLESS | ffi::AV_CODEC_PROP_LOSSY;
    // SAFETY: the result is null or a constant of the library.
    let properties = unsafe { ffi::avcodec_descriptor_get(codec.into()).as_ref() };
    properties.is_some_and(|descriptor| descriptor.props & kinds == ffi::AV_CODEC_PROP_LOSSLESS)
}

/// All video encoders of this FFmpeg, in FFmpeg's order.
pub fn encoders() -> Vec<Encoder> {
    crate::ffmpeg::init();
    let mut state = std::ptr::null_mut();
    let all = std::iter::from_fn(|| {
        // SAFETY: `state` starts as null, and is passed to each call.
        let codec = unsafe { ffi::av_codec_iterate(&mut state) };
        // SAFETY: a constant of the library.
        (!codec.is_null()).then(|| unsafe { Codec::wrap(codec) })
    });
    all.filter(|codec| codec.is_encoder() && codec.is_video()).map(Encoder).collect()
}

/// The one of `formats` that loses least in a conversion from `format`: colour has priority over bit depth.
pub fn nearest_format(formats: &[RawFormat], format: RawFormat) -> Option<RawFormat> {
    if formats.contains(&format) {
        return Some(format);
    }
    let coloured = preferably(formats, |f| format.is_gray() || !f.is_gray());
    let deep = preferably(&coloured, |f| f.depth() >= format.depth().min(16));
    // YUV does not become RGB: few players decode RGB in codecs that are made for YUV.
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

/// The `formats` for which `suit` is true, or all if there are none.
fn preferably(formats: &[RawFormat], suit: impl Fn(&RawFormat) -> bool) -> Vec<RawFormat> {
    let suitable: Vec<RawFormat> = formats.iter().copied().filter(suit).collect();
    if suitable.is_empty() { formats.to_vec() } else { suitable }
}
