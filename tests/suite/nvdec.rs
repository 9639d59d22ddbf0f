//! Decoding by NVDEC: the same frames to the byte as from the decoders on the CPU, in the memory that is asked for, or one
//! line that says why not.

use crate::backends::gpu;
use crate::in_place::{Ledger, each_frame, plainly};
use crate::pictures::difference;
use crate::program::Dir;
use crate::skip::skip;
use histeq_video::ffmpeg::DecodeOn;
use histeq_video::frame::Pool;
use histeq_video::pipeline::{Cancel, Notices, Source};
use histeq_video::source::{self, InputOptions};
use std::path::Path;
use std::sync::Arc;

/// Files of codecs for which there may be no encoder: 8 and 10 bits, even sizes and an odd one.
const READY_MADE: [(&str, &[u8]); 3] = [
    ("h265.mkv", include_bytes!("../data/nvdec/h265.mkv")),
    ("h265-10.mkv", include_bytes!("../data/nvdec/h265-10.mkv")),
    ("vp9-odd.webm", include_bytes!("../data/nvdec/vp9-odd.webm")),
];

/// The file, decoded by NVDEC.
fn open(file: &Path) -> anyhow::Result<Box<dyn Source>> {
    let options =
        InputOptions { url: file.display().to_string(), decode_on: DecodeOn::Nvdec(0), ..InputOptions::default() };
    let silent = Notices::new(false, |_, _| {});
    Ok(source::open(&options, &Cancel::default(), silent, Arc::default())?.0)
}

/// Can NVDEC be asked to decode this file? Said if not.
fn is_here(file: &Path) -> bool {
    let tried = open(file).and_then(|mut source| source.next());
    tried.map_err(|error| skip("nvdec", &format!("{error:#}"))).is_ok()
}

#[test]
fn nvdec_gives_the_frames_of_the_cpu_in_the_memory_that_is_asked_for() {
    let Some(_) = gpu() else { return };
    let dir = Dir::new();
    for (file, size, video) in [
        ("h264.mp4", "854x480", "-c:v libx264 -preset veryfast -bf 3"),
        ("full-range.mp4", "320x240", "-c:v libx264 -pix_fmt yuvj420p"),
    ] {
        dir.ffmpeg(&format!("-f lavfi -i testsrc2=size={size}:rate=25:duration=2 {video} {file}"));
    }
    READY_MADE.iter().for_each(|(file, bytes)| dir.write(file, bytes));
    dir.ffmpeg("-i h264.mp4 -c copy -bsf:v h264_metadata=crop_left=64:crop_right=32:crop_top=16 cropped.mp4");
    if !is_here(&dir.path("h264.mp4")) {
        return;
    }
    let made_here = ["h264.mp4", "full-range.mp4", "cropped.mp4"];
    for file in made_here.into_iter().chain(READY_MADE.map(|(file, _)| file)) {
        let expected = plainly(&dir.path(file));
        for pool in [None, Some(Ledger::default())] {
            let mut source = open(&dir.path(file)).unwrap();
            pool.iter().for_each(|pool| source.use_pool(Arc::new(pool.clone()) as Arc<dyn Pool>));
            let mut number = 0;
            each_frame(source, |frame| {
                assert!(number < expected.len(), "{file}: a frame too many");
                assert_eq!(difference(&expected[number], &frame), None, "{file}: frame {number}");
                assert_eq!(frame.planes()[0].memory().is_pinned(), pool.is_some(), "{file}");
                number += 1;
            });
            assert_eq!(number, expected.len(), "{file}");
            assert!(pool.iter().all(|pool| pool.lent() == 0), "{file}: buffers are missing");
        }
    }
}

#[test]
fn the_program_decodes_by_nvdec_with_the_same_result() {
    let Some(_) = gpu() else { return };
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=640x360:rate=25:duration=2 -c:v libx264 in.mp4");
    if !is_here(&dir.path("in.mp4")) {
        return;
    }
    for backend in ["cpu", "cuda"] {
        for decoder in ["cpu", "nvdec"] {
            let line =
                format!("-y --verify --backend {backend} --decoder {decoder} --encoder ffv1 in.mp4 {decoder}.mkv");
            dir.succeeds(&line);
            dir.ffmpeg(&format!("-i {decoder}.mkv -f framemd5 {decoder}.md5"));
        }
        assert_eq!(dir.read("cpu.md5"), dir.read("nvdec.md5"), "{backend}");
    }
}

#[test]
fn what_nvdec_does_not_take_is_said_in_a_line_with_the_way_out() {
    let Some(_) = gpu() else { return };
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25:duration=1 -c:v libx264 -pix_fmt yuv444p in.mkv");
    dir.ffmpeg("-f lavfi -i testsrc2=size=640x480:rate=25:duration=1 -c:v libx264 plain.mkv");
    if !is_here(&dir.path("plain.mkv")) {
        return;
    }
    let run = dir.run("--decoder nvdec in.mkv out.mkv").exits_with(1);
    assert!(run.stderr.contains("in.mkv: NVDEC does not take this") && run.stderr.contains("yuv444p"), "{run:?}");
    assert!(run.stderr.contains("(use --decoder cpu)"), "{run:?}");
}

#[test]
fn without_a_gpu_nvdec_is_an_error_with_a_remedy() {
    if histeq_video::cuda::Gpu::open(0).is_ok() {
        skip("no-gpu", "there is one");
        return;
    }
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25:duration=1 -c:v libx264 in.mp4");
    let run = dir.run("--backend cpu --decoder nvdec in.mp4 out.mp4").exits_with(1);
    let said: Vec<&str> = run.stderr.lines().collect();
    assert!(said.len() == 1 && said[0].contains("in.mp4: GPU 0 cannot decode: "), "{run:?}");
    assert!(said[0].ends_with("(use --decoder cpu)"), "{run:?}");
    assert_eq!(dir.names(), ["in.mp4"]);
}

#[test]
fn a_codec_that_nvdec_does_not_know_is_an_error_with_a_remedy() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25:duration=1 -c:v ffv1 in.mkv");
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25:duration=1 raw.y4m");
    let run = dir.run("--decoder nvdec in.mkv out.mkv").exits_with(1);
    assert!(
        run.stderr.contains("in.mkv: NVDEC does not decode stream #0 (video, ffv1) (use --decoder cpu)"),
        "{run:?}"
    );
    let run = dir.run("--decoder nvdec raw.y4m out.mkv").exits_with(1);
    assert!(run.stderr.contains("raw.y4m: raw frames need no decoder (leave --decoder nvdec out)"), "{run:?}");
    assert_eq!(dir.names(), ["in.mkv", "raw.y4m"]);
}
