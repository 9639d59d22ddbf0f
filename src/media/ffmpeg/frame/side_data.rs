//! Side data of streams: rotation, mastering display. FFmpeg 6.1 moved it from the stream to the codec
//! parameters; the build selects one of the two.
#![allow(unsafe_code, reason = "FFI")]

use super::Picture;
use super::display_matrix::Rotation;
use crate::ffmpeg::demux::media::CodecParameters;
use crate::sys::out_of_memory;
use ffmpeg_next::ffi;

/// FFmpeg's AVMasteringDisplayMetadata, which the bindings lack.
#[repr(C)]
struct MasteringDisplay {
    display_primaries: [[ffi::AVRational; 2]; 3],
    white_point: [ffi::AVRational; 2],
    min_luminance: ffi::AVRational,
    max_luminance: ffi::AVRational,
    has_primaries: i32,
    has_luminance: i32,
}

/// The types of side data about display, with the names under which they are stored.
const ABOUT_DISPLAY: [(&str, ffi::AVPacketSideDataType); 5] = [
    ("display matrix", ffi::AVPacketSideDataType::AV_PKT_DATA_DISPLAYMATRIX),
    ("stereo 3D", ffi::AVPacketSideDataType::AV_PKT_DATA_STEREO3D),
    ("spherical", ffi::AVPacketSideDataType::AV_PKT_DATA_SPHERICAL),
    ("mastering display", ffi::AVPacketSideDataType::AV_PKT_DATA_MASTERING_DISPLAY_METADATA),
    ("ICC profile", ffi::AVPacketSideDataType::AV_PKT_DATA_ICC_PROFILE),
];

/// The side data of a stream: entries of FFmpeg's type and its bytes.
#[derive(Clone, Default)]
pub struct StreamSideData {
    pub(crate) entries: Vec<(ffi::AVPacketSideDataType, Vec<u8>)>,
}

impl StreamSideData {
    /// The side data of `stream`.
    ///
    /// # Safety
    /// `stream` is a valid stream of an open input.
    pub(crate) unsafe fn from_stream(stream: *const ffi::AVStream) -> Self {
        #[cfg(not(ffmpeg_6_1))]
        // SAFETY: by the caller's promise.
        let (data, count) = unsafe { ((*stream).side_data.cast_const(), (*stream).nb_side_data) };
        #[cfg(ffmpeg_6_1)]
        // SAFETY: by the caller's promise; a stream always has parameters.
        let (data, count) = unsafe {
            let parameters = (*stream).codecpar;
            ((*parameters).coded_side_data.cast_const(), (*parameters).nb_coded_side_data)
        };
        let entries = (0..count as usize)
            .map(|index| {
                // SAFETY: the array has `count` entries, each with `size` bytes at `data`.
                unsafe {
                    let entry = &*data.add(index);
                    (entry.type_, std::slice::from_raw_parts(entry.data, entry.size).to_vec())
                }
            })
            .collect();
        StreamSideData { entries }
    }

    /// Adds all entries to the parameters of a stream, if this FFmpeg (6.1 or later) keeps side data there.
    #[cfg_attr(not(ffmpeg_6_1), allow(unused_variables, clippy::unused_self))]
    pub(crate) fn add_to_parameters(&self, parameters: &mut CodecParameters) {
        #[cfg(ffmpeg_6_1)]
        // SAFETY: the parameters are valid.
        unsafe {
            self.add(parameters.as_mut_ptr());
        }
    }

    /// Adds all entries to parameters.
    ///
    /// # Safety
    /// `parameters` points to valid parameters.
    #[cfg(ffmpeg_6_1)]
    unsafe fn add(&self, parameters: *mut ffi::AVCodecParameters) {
        for (kind, bytes) in &self.entries {
            // SAFETY: by the caller's promise; the new side data has room for exactly these bytes.
            unsafe {
                let (list, count) = (&mut (*parameters).coded_side_data, &mut (*parameters).nb_coded_side_data);
                let entry = ffi::av_packet_side_data_new(list, count, *kind, bytes.len(), 0);
                if entry.is_null() {
                    out_of_memory();
                }
                std::ptr::copy_nonoverlapping(bytes.as_ptr(), (*entry).data, bytes.len());
            }
        }
    }

    /// Adds the mastering display and the stereo packing of the first picture, if the container has none. Streams often
    /// have them only in the bitstream, but players read them from the container.
    pub fn add_from(&mut self, picture: &Picture) {
        let of_stream = ffi::AVPacketSideDataType::AV_PKT_DATA_MASTERING_DISPLAY_METADATA;
        if let Some(bytes) = picture.mastering_display().filter(|_| self.find(of_stream).is_none()) {
            self.entries.push((of_stream, bytes));
        }
        // No container can store the other packings.
        let has_place = matches!(picture.frame_packing(), Some(1 | 2)) && !self.is_stereo();
        let stereo = picture.side_data(ffi::AVFrameSideDataType::AV_FRAME_DATA_STEREO3D).filter(|_| has_place);
        self.entries.extend(stereo.map(|bytes| (ffi::AVPacketSideDataType::AV_PKT_DATA_STEREO3D, bytes)));
    }

    /// Whether the video is spherical.
    pub fn is_spherical(&self) -> bool {
        self.find(ffi::AVPacketSideDataType::AV_PKT_DATA_SPHERICAL).is_some()
    }

    /// Whether the video is stereoscopic.
    pub fn is_stereo(&self) -> bool {
        self.find(ffi::AVPacketSideDataType::AV_PKT_DATA_STEREO3D).is_some()
    }

    /// Whether the mastering display of HDR is described.
    pub fn has_mastering_display(&self) -> bool {
        self.find(ffi::AVPacketSideDataType::AV_PKT_DATA_MASTERING_DISPLAY_METADATA).is_some()
    }

    /// Whether the video has an ICC profile.
    pub fn has_icc_profile(&self) -> bool {
        self.find(ffi::AVPacketSideDataType::AV_PKT_DATA_ICC_PROFILE).is_some()
    }

    /// The profile of Dolby Vision, and the compatibility number: the format that players without Dolby Vision see, or
    /// 0 if they cannot show the video.
    pub fn dolby_vision(&self) -> Option<(u8, u8)> {
        // One byte each: two of the version, profile, level, three flags, compatibility.
        let record = self.find(ffi::AVPacketSideDataType::AV_PKT_DATA_DOVI_CONF)?;
        Some((*record.get(2)?, *record.get(7)?))
    }

    /// Drops the brightness metadata of HDR.
    pub fn forget_hdr(&mut self) {
        use ffi::AVPacketSideDataType as Kind;
        let of_hdr = [
            Kind::AV_PKT_DATA_MASTERING_DISPLAY_METADATA,
            Kind::AV_PKT_DATA_CONTENT_LIGHT_LEVEL,
            Kind::AV_PKT_DATA_DOVI_CONF,
        ];
        self.entries.retain(|(kind, _)| !of_hdr.contains(kind));
    }

    /// The entries that stay valid for pictures that are equalized and encoded: those about display, not those about
    /// coding. MaxCLL and MaxFALL, the brightness of the brightest pixel and frame, change, and are known only after
    /// the last frame. They are left out, so that players use the mastering display.
    #[must_use]
    pub fn for_reencoding(&self) -> Self {
        let is_about_display = |kind| ABOUT_DISPLAY.iter().any(|(_, about)| *about == kind);
        let entries = self.entries.iter().filter(|(kind, _)| is_about_display(*kind)).cloned().collect();
        StreamSideData { entries }
    }

    /// The entries about display with their names, for storage.
    pub(crate) fn named(&self) -> Vec<(String, Vec<u8>)> {
        let name = |kind| ABOUT_DISPLAY.iter().find(|(_, listed)| *listed == kind).map(|(name, _)| (*name).to_owned());
        self.entries.iter().filter_map(|(kind, bytes)| Some((name(*kind)?, bytes.clone()))).collect()
    }

    /// The side data with these names; unknown ones are left out.
    pub(crate) fn from_names(named: &[(String, Vec<u8>)]) -> Self {
        let kind = |name: &str| ABOUT_DISPLAY.iter().find(|(listed, _)| *listed == name).map(|(_, kind)| *kind);
        StreamSideData {
            entries: named.iter().filter_map(|(name, bytes)| Some((kind(name)?, bytes.clone()))).collect(),
        }
    }

    /// Whether players must rotate or mirror the pictures.
    pub fn has_rotation(&self) -> bool {
        let matrix = self.find(ffi::AVPacketSideDataType::AV_PKT_DATA_DISPLAYMATRIX);
        matrix.is_some_and(|matrix| !Rotation::is_identity(matrix))
    }

    /// The rotation that players must apply, if it is by quarter turns.
    pub(crate) fn rotation(&self) -> Option<Rotation> {
        self.find(ffi::AVPacketSideDataType::AV_PKT_DATA_DISPLAYMATRIX).and_then(Rotation::from_matrix)
    }

    /// Whether the rotation is by another angle than quarter turns.
    pub fn has_other_angle(&self) -> bool {
        self.has_rotation() && self.rotation().is_none()
    }

    /// The side data without a rotation, for rotated pictures.
    #[must_use]
    pub fn without_rotation(mut self) -> Self {
        self.entries.retain(|(kind, _)| *kind != ffi::AVPacketSideDataType::AV_PKT_DATA_DISPLAYMATRIX);
        self
    }

    /// The bytes of the entry of this type.
    pub(crate) fn find(&self, kind: ffi::AVPacketSideDataType) -> Option<&[u8]> {
        self.entries.iter().find(|(found, _)| *found == kind).map(|(_, bytes)| bytes.as_slice())
    }

    /// Adds all entries to an output stream.
    ///
    /// # Safety
    /// `stream` is a valid stream of an output whose header has not been written.
    pub(crate) unsafe fn apply(&self, stream: *mut ffi::AVStream) {
        #[cfg(ffmpeg_6_1)]
        // SAFETY: by the caller's promise; a stream has parameters.
        unsafe {
            self.add((*stream).codecpar);
        }
        #[cfg(not(ffmpeg_6_1))]
        for (kind, bytes) in &self.entries {
            // SAFETY: by the caller's promise; the new side data has room for exactly these bytes.
            unsafe {
                let data = ffi::av_stream_new_side_data(stream, *kind, bytes.len());
                if data.is_null() {
                    out_of_memory();
                }
                std::ptr::copy_nonoverlapping(bytes.as_ptr(), data, bytes.len());
            }
        }
    }

    /// The mastering display as a parameter of x265 (`master-display=...`); FFmpeg 5 does not pass it on.
    pub(crate) fn x265_parameters(&self) -> Option<String> {
        let mastering = self.find(ffi::AVPacketSideDataType::AV_PKT_DATA_MASTERING_DISPLAY_METADATA);
        let bytes = mastering.filter(|bytes| bytes.len() >= size_of::<MasteringDisplay>())?;
        // SAFETY: FFmpeg stores this structure under this type, and the length has been checked.
        let m: MasteringDisplay = unsafe { std::ptr::read_unaligned(bytes.as_ptr().cast()) };
        let scaled = |q: ffi::AVRational, scale: f64| (f64::from(q.num) / f64::from(q.den) * scale).round() as i64;
        let point = |p: [ffi::AVRational; 2]| format!("({},{})", scaled(p[0], 50000.0), scaled(p[1], 50000.0));
        let [r, g, b] = m.display_primaries;
        let light = format!("({},{})", scaled(m.max_luminance, 10000.0), scaled(m.min_luminance, 10000.0));
        let white = point(m.white_point);
        (m.has_primaries != 0 && m.has_luminance != 0)
            .then(|| format!("master-display=G{}B{}R{}WP{white}L{light}", point(g), point(b), point(r)))
    }
}
