//! A check that a JPEG image is complete. Decoders fill in a missing end without an error.

use crate::image_file::end_of_jpeg;

/// Whether the image has its end marker. Data after it, such as the videos of some phones, is ignored.
pub fn is_whole(image: &[u8]) -> bool {
    end_of_jpeg(image).is_some()
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
