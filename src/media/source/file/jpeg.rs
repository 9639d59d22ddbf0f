//! A check that a JPEG image is complete. Decoders fill in a missing end without an error.

/// Whether the image has its end marker (ITU T.81, B.1.1). Data after it, such as the videos of some phones, is
/// ignored.
pub fn is_whole(image: &[u8]) -> bool {
    let mut at = 2;
    loop {
        // In entropy-coded data, 0xff is followed by 0 or is a restart marker; neither ends the image.
        let Some(start) = image.get(at..).and_then(|rest| rest.iter().position(|&byte| byte == 0xff)) else {
            return false;
        };
        let Some(&marker) = image.get(at + start + 1) else { return false };
        at += start + 2;
        match marker {
            0xd9 => return true,
            // Padding: the second byte may begin a marker.
            0xff => at -= 1,
            0x00 | 0x01 | 0xd0..=0xd8 => {}
            // Skip a segment by its length; thumbnails with end markers of their own are inside of one.
            _ => {
                let Some(length) = image.get(at..at + 2) else { return false };
                at += usize::from(u16::from_be_bytes([length[0], length[1]]));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_whole;

    #[test]
    fn an_image_ends_with_its_own_end_marker() {
        let thumbnail = [0xff, 0xe1, 0, 8, 0xff, 0xd8, 0xff, 0xd9, 1, 2];
        let scan = [0xff, 0xda, 0, 3, 7, 1, 0xff, 0x00, 0xff, 0xd3, 9];
        let image = [&[0xff, 0xd8][..], &thumbnail, &scan].concat();
        assert!(!is_whole(&image));
        assert!(is_whole(&[&image[..], &[0xff, 0xff, 0xd9]].concat()));
        assert!(is_whole(&[&image[..], &[0xff, 0xd9], b"and a video"].concat()));
        for length in 0..image.len() {
            assert!(!is_whole(&image[..length]), "{length}");
        }
    }
}
