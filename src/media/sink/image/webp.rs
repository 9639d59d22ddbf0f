//! Corrects the duration of the last image in an animated WebP: FFmpeg's encoder writes the duration of the one before.

/// The WebP file with a duration of `duration` microseconds for its last image; `None` if it is not animated.
pub(crate) fn with_last_duration(webp: &[u8], duration: i64) -> Option<Vec<u8>> {
    let mut offset = webp.strip_prefix(b"RIFF").filter(|rest| rest.get(4..8) == Some(b"WEBP")).map(|_| 12)?;
    let mut last = None;
    while let Some([name @ .., a, b, c, d]) = webp.get(offset..offset + 8) {
        let length = u32::from_le_bytes([*a, *b, *c, *d]) as usize;
        if name == b"ANMF" {
            // In a frame chunk, position and size take 12 bytes; the 3 bytes of the duration follow.
            last = Some(offset + 8 + 12);
        }
        offset = offset.checked_add(8 + length + length % 2)?;
    }
    let milliseconds = u32::try_from((duration + 500) / 1000).unwrap_or(0).clamp(1, 0xff_ffff);
    let mut changed = webp.to_vec();
    changed.get_mut(last?..last? + 3)?.copy_from_slice(&milliseconds.to_le_bytes()[..3]);
    Some(changed)
}
