//! Small pictures of the scenes of a video, before and after equalization: at most `MAX_SCENES` scenes. When there
//! would be more, every other one is dropped.

use super::series::Point;
use crate::sidecar::statistics::FrameRecord;

/// The most scenes with pictures.
const MAX_SCENES: usize = 24;

/// The frame that is shown for a scene, counted from 0, if the scene is that long: many scenes begin with a fade.
pub const SETTLED: u64 = 12;

/// Width and height that a picture fits in, in pixels.
pub const ROOM: (usize, usize) = (320, 320);

/// A scene, and its pictures as JPEG files, before and after.
pub struct ScenePictures {
    /// The position of its first frame, as [`Point::at`].
    pub at: f64,
    /// Its number, from 0.
    pub number: u64,
    /// The pictures; empty ones could not be made.
    pub files: [Vec<u8>; 2],
}

/// The scenes that have pictures.
#[derive(Default)]
pub struct PicturedScenes {
    /// In the order of the video.
    pub kept: Vec<ScenePictures>,
    /// Number of scenes that have begun.
    pub begun: u64,
    /// One in this many scenes is kept.
    stride: u64,
    /// Number of frames of the current scene so far.
    frames: u64,
}

impl PicturedScenes {
    /// Adds a frame; `pictures` makes its files where they are wanted.
    pub fn add(&mut self, record: &FrameRecord, pictures: impl FnOnce() -> [Vec<u8>; 2]) {
        let begins = record.cut || self.begun == 0;
        if begins {
            (self.begun, self.frames) = (self.begun + 1, 0);
            self.stride = self.stride.max(1);
            let is_kept = |begun: u64, stride: u64| (begun - 1).is_multiple_of(stride);
            if is_kept(self.begun, self.stride) && self.kept.len() == MAX_SCENES {
                self.stride *= 2;
                let mut index = 0;
                self.kept.retain(|_| {
                    index += 1;
                    index % 2 == 1
                });
            }
            if is_kept(self.begun, self.stride) {
                self.kept.push(ScenePictures { at: Point::position(record), number: record.scene, files: pictures() });
            }
        } else if self.frames == SETTLED
            && let Some(last) = self.kept.last_mut().filter(|last| last.number == record.scene)
        {
            last.files = pictures();
        }
        self.frames += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_scenes_have_no_more_pictures_than_a_few() {
        let mut scenes = PicturedScenes::default();
        let (mut made, length) = (0, 20);
        for frame in 0..1000 * length {
            let cut = frame > 0 && frame % length == 0;
            let record = FrameRecord { frame, cut, scene: frame / length, ..FrameRecord::default() };
            scenes.add(&record, || {
                made += 1;
                [vec![(frame % length) as u8], Vec::new()]
            });
        }
        let numbers: Vec<u64> = scenes.kept.iter().map(|scene| scene.number).collect();
        assert_eq!(numbers, (0..16).map(|kept| kept * 64).collect::<Vec<_>>());
        assert!(scenes.kept.iter().all(|scene| scene.at == (scene.number * length) as f64));
        // Each scene is shown by its frame `SETTLED`.
        assert!(scenes.kept.iter().all(|scene| scene.files[0] == [SETTLED as u8]));
        assert_eq!(scenes.begun, 1000);
        assert!(made < 400, "{made} pictures were made");
    }

    #[test]
    fn a_short_scene_has_its_first_frame() {
        let mut scenes = PicturedScenes::default();
        for frame in 0..5 {
            scenes.add(&FrameRecord { frame, ..FrameRecord::default() }, || [vec![frame as u8], Vec::new()]);
        }
        assert_eq!((scenes.kept.len(), &scenes.kept[0].files[0]), (1, &vec![0]));
    }
}
