//! The table of pixel formats matches FFmpeg's: planes, offsets, steps, depth, byte order, chroma size.
#![allow(unsafe_code, reason = "reads FFmpeg's descriptors")]

use crate::support::skip::skip;
use ffmpeg_sys_next as ffi;
use histeq::internal::frame::{Component, Endian, Luminance, Model, PixelFormat};
use std::ffi::CString;

/// FFmpeg's descriptor of a format; `None` if this FFmpeg lacks the format.
fn descriptor(format: PixelFormat) -> Option<&'static ffi::AVPixFmtDescriptor> {
    let name = CString::new(format.name()).expect("a name without NUL");
    // SAFETY: the name ends with NUL and lives through the call; descriptors are constants of the library, and the
    // answer for a number it does not know is null.
    unsafe { ffi::av_pix_fmt_desc_get(ffi::av_get_pix_fmt(name.as_ptr())).as_ref() }
}

/// All native formats that this FFmpeg knows, with its descriptors.
fn known() -> Vec<(PixelFormat, &'static ffi::AVPixFmtDescriptor)> {
    let with_descriptor = |&format: &PixelFormat| {
        let found = descriptor(format);
        if found.is_none() {
            skip(format.name(), "this FFmpeg does not know the pixel format");
        }
        found.map(|found| (format, found))
    };
    PixelFormat::ALL.iter().filter_map(with_descriptor).collect()
}

fn has(descriptor: &ffi::AVPixFmtDescriptor, flag: i32) -> bool {
    descriptor.flags & flag as u64 != 0
}

#[test]
fn samples_are_stored_as_ffmpeg_stores_them() {
    for (format, theirs) in known() {
        let ours = format.descriptor().sample;
        for component in &theirs.comp[..usize::from(theirs.nb_components)] {
            assert_eq!(i32::from(ours.depth), component.depth, "{format}: depth");
            assert_eq!(i32::from(ours.shift), component.shift, "{format}: shift");
        }
        assert_eq!(ours.bytes, if ours.depth > 8 { 2 } else { 1 }, "{format}: bytes");
        if ours.bytes == 2 {
            assert_eq!(ours.endian == Endian::Big, has(theirs, ffi::AV_PIX_FMT_FLAG_BE), "{format}: byte order");
        }
        assert!(!has(theirs, ffi::AV_PIX_FMT_FLAG_BITSTREAM), "{format}: not whole bytes");
    }
}

#[test]
fn alpha_is_where_ffmpeg_has_it() {
    for (format, theirs) in known() {
        assert_eq!(format.has_alpha(), has(theirs, ffi::AV_PIX_FMT_FLAG_ALPHA), "{format}");
    }
}

#[test]
fn luminance_lies_where_ffmpeg_has_it() {
    for (format, theirs) in known() {
        let bytes = i32::from(format.descriptor().sample.bytes);
        let same = |ours: Component, theirs: &ffi::AVComponentDescriptor| {
            assert_eq!(ours.plane as i32, theirs.plane, "{format}: plane");
            assert_eq!(ours.offset as i32 * bytes, theirs.offset, "{format}: offset");
            assert_eq!(ours.step as i32 * bytes, theirs.step, "{format}: step");
        };
        match format.descriptor().luminance {
            Luminance::Stored(luma) => same(luma, &theirs.comp[0]),
            Luminance::FromRgb { r, g, b } => {
                same(r, &theirs.comp[0]);
                same(g, &theirs.comp[1]);
                same(b, &theirs.comp[2]);
            }
        }
    }
}

#[test]
fn chroma_lies_where_ffmpeg_has_it() {
    for (format, theirs) in known() {
        let descriptor = format.descriptor();
        assert_eq!(descriptor.chroma.is_some(), descriptor.model == Model::Yuv, "{format}");
        let Some(chroma) = descriptor.chroma else { continue };
        let bytes = i32::from(descriptor.sample.bytes);
        for (ours, theirs) in [(chroma.cb, &theirs.comp[1]), (chroma.cr, &theirs.comp[2])] {
            assert_eq!(ours.plane as i32, theirs.plane, "{format}: plane");
            assert_eq!(ours.offset as i32 * bytes, theirs.offset, "{format}: offset");
            assert_eq!(ours.step as i32 * bytes, theirs.step, "{format}: step");
        }
        let log2 = (theirs.log2_chroma_w, theirs.log2_chroma_h);
        assert_eq!((chroma.log2_width, chroma.log2_height), log2, "{format}: subsampling");
    }
}

#[test]
fn models_are_what_ffmpeg_says() {
    for (format, theirs) in known() {
        let rgb = has(theirs, ffi::AV_PIX_FMT_FLAG_RGB);
        let model = match (rgb, theirs.nb_components) {
            (true, _) => Model::Rgb,
            (false, 1 | 2) => Model::Gray,
            (false, _) => Model::Yuv,
        };
        assert_eq!(format.descriptor().model, model, "{format}");
    }
}

#[test]
fn planes_have_the_size_that_ffmpeg_gives_them() {
    for (format, theirs) in known() {
        // SAFETY: the name ends with NUL; the number it stands for is known, or there would be no descriptor.
        let number = unsafe { ffi::av_get_pix_fmt(CString::new(format.name()).expect("no NUL").as_ptr()) };
        // SAFETY: no precondition.
        let planes = unsafe { ffi::av_pix_fmt_count_planes(number) };
        assert_eq!(format.descriptor().planes().len() as i32, planes, "{format}: planes");
        for (width, height) in [(1, 1), (33, 17), (64, 48), (1919, 1)] {
            for plane in 0..planes {
                // SAFETY: a valid format and a plane that it has.
                let row_bytes = unsafe { ffi::av_image_get_linesize(number, width, plane) };
                let ours = format.row_bytes(plane as usize, width as usize);
                // For packed 4:2:2 of an odd width, FFmpeg counts half of the last pair of pixels; we count the whole
                // pair.
                let packed = planes == 1 && theirs.log2_chroma_w > 0;
                if !packed || width % 2 == 0 {
                    assert_eq!(ours as i32, row_bytes, "{format}: plane {plane} of {width}x{height}");
                }
                let chroma = plane == 1 || plane == 2;
                let shift = if chroma && !has(theirs, ffi::AV_PIX_FMT_FLAG_RGB) { theirs.log2_chroma_h } else { 0 };
                let rows = (height + (1 << shift) - 1) >> shift;
                assert_eq!(format.rows(plane as usize, height as usize), rows as usize, "{format}: rows of {plane}");
            }
        }
    }
}
