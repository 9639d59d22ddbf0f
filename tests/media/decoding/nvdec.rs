//! Decoding by NVDEC gives the bytes of the CPU decoders, in memory of the chosen pool or on the GPU, where frames are
//! equalized; or a single line says why it is not possible.

use crate::media::decoding::in_place::{Ledger, each_frame, plain_source, plainly, with_gain};
use crate::support::backends::{Sequence, by_reference, gpu};
use crate::support::failing::guarded;
use crate::support::media::reader::encoder_is_here;
use crate::support::pictures::difference;
use crate::support::programs::program::Dir;
use crate::support::skip::skip;
use histeq::internal::equalize::backend::cuda::Cuda;
use histeq::internal::equalize::counting::measure;
use histeq::internal::frame::Pool;
use histeq::internal::spec::parameters::{Chroma, Rect, Settings, Smoothing};
use histeq_media::ffmpeg::decode::DecodeOn;
use histeq_media::pipeline::{Cancel, Notices, Source};
use histeq_media::source::{self, InputOptions};
use std::path::Path;
use std::sync::{Arc, Mutex};

/// Files in codecs whose encoders may be missing: 8, 10 and 12 bits, even sizes and an odd one.
const READY_MADE: [(&str, &[u8]); 5] = [
    ("h265.mkv", include_bytes!("../../data/nvdec/h265.mkv")),
    ("h265-10.mkv", include_bytes!("../../data/nvdec/h265-10.mkv")),
    ("h265-12.mkv", include_bytes!("../../data/nvdec/h265-12.mkv")),
    ("vp9-odd.webm", include_bytes!("../../data/nvdec/vp9-odd.webm")),
    ("vp9-10-odd.webm", include_bytes!("../../data/nvdec/vp9-10-odd.webm")),
];

/// Opens a file for decoding by NVDEC.
fn open(file: &Path) -> anyhow::Result<Box<dyn Source>> {
    let options = InputOptions { url: file.into(), decode_on: DecodeOn::Nvdec(0), ..InputOptions::default() };
    let silent = Notices::new(false, |_, _| {});
    Ok(source::open(&options, &Cancel::default(), silent, Arc::default())?.0)
}

/// Opens a file for decoding by NVDEC into memory of this backend's pool.
fn open_into(file: &Path, cuda: &Sequence) -> Box<dyn Source> {
    let mut source = open(file).unwrap();
    source.use_pool(cuda.input_pool().unwrap());
    source
}

/// Can NVDEC decode this file here? Prints a skip if not.
pub fn is_here(file: &Path) -> bool {
    let tried = open(file).and_then(|mut source| source.next());
    tried.map_err(|error| skip("nvdec", &format!("{error:#}"))).is_ok()
}

/// Makes files of many kinds in this folder, and returns those that this NVDEC can decode; `None` if it cannot decode
/// even H.264.
fn films(dir: &Dir) -> Option<Vec<String>> {
    for (file, size, video) in [
        ("h264.mp4", "854x480", "-c:v libx264 -preset veryfast -bf 3"),
        ("full-range.mp4", "320x240", "-c:v libx264 -pix_fmt yuvj420p"),
    ] {
        dir.ffmpeg(&format!("-f lavfi -i testsrc2=size={size}:rate=25:duration=3 {video} {file}"));
    }
    READY_MADE.iter().for_each(|(file, bytes)| dir.write(file, bytes));
    dir.ffmpeg("-i h264.mp4 -c copy -bsf:v h264_metadata=crop_left=64:crop_right=32:crop_top=16 cropped.mp4");
    let rest = ["full-range.mp4", "cropped.mp4"].into_iter().chain(READY_MADE.map(|(file, _)| file));
    let all = ["h264.mp4"].into_iter().chain(rest.filter(|file| is_here(&dir.path(file))));
    is_here(&dir.path("h264.mp4")).then(|| all.map(str::to_owned).collect())
}

#[test]
fn nvdec_gives_the_frames_of_the_cpu_in_the_memory_that_is_asked_for() {
    let Some(_) = gpu() else { return };
    let dir = Dir::new();
    let Some(files) = films(&dir) else { return };
    for file in &files {
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
fn several_decoders_of_the_gpu_give_what_one_gives() {
    let Some(gpu) = gpu() else { return };
    let dir = Dir::new();
    for (file, video) in [
        ("closed.mp4", "-c:v libx264 -preset veryfast -g 60 -bf 3"),
        ("open.mp4", "-c:v libx264 -preset veryfast -g 60 -bf 3 -x264-params open-gop=1:b-pyramid=normal"),
        ("open-hevc.mkv", "-c:v libx265 -preset ultrafast -x265-params log-level=none:keyint=60:open-gop=1:bframes=3"),
    ] {
        if !encoder_is_here("pieces for NVDEC", video.split(' ').nth(1).expect("an encoder")) {
            continue;
        }
        dir.ffmpeg(&format!("-f lavfi -i testsrc2=size=640x360:rate=25 -frames:v 600 -pix_fmt yuv420p {video} {file}"));
        if !is_here(&dir.path(file)) {
            continue;
        }
        let expected = plainly(&dir.path(file));
        let cuda = Sequence::new(Box::new(Cuda::on(gpu, 1).unwrap()), Settings::default());
        for pool in [None, cuda.input_pool()] {
            let said: Arc<Mutex<Vec<String>>> = Arc::default();
            let list = said.clone();
            let notices = Notices::new(false, move |_, text| list.lock().unwrap().push(text.to_owned()));
            let (url, decode_on) = (dir.path(file).into(), DecodeOn::Nvdec(0));
            let options = InputOptions { url, decode_on, decoders: 8, ..InputOptions::default() };
            let (mut source, _) = source::open(&options, &Cancel::default(), notices, Arc::default()).unwrap();
            pool.into_iter().for_each(|pool| source.use_pool(pool));
            let mut number = 0;
            each_frame(source, |frame| {
                assert_eq!(difference(&expected[number], &frame), None, "{file}: frame {number}");
                number += 1;
            });
            assert_eq!(number, expected.len(), "{file}");
            let said = said.lock().unwrap();
            assert!(said.iter().any(|line| line.contains("decoded in pieces")), "{file}: {said:?}");
            assert!(!said.iter().any(|line| line.contains("not in pieces any more")), "{file}: {said:?}");
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
    let run = dir.run("--decoder nvdec in.mkv out.mkv").fails();
    assert!(run.stderr.contains("in.mkv: NVDEC does not take this") && run.stderr.contains("yuv444p"), "{run:?}");
    assert!(run.stderr.contains("(use --decoder cpu)"), "{run:?}");
}

#[test]
fn without_a_gpu_nvdec_is_an_error_with_a_remedy() {
    if histeq::internal::cuda::Gpu::open(0).is_ok() {
        skip("no-gpu", "there is one");
        return;
    }
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25:duration=1 -c:v libx264 in.mp4");
    let run = dir.run("--backend cpu --decoder nvdec in.mp4 out.mp4").fails();
    let said: Vec<&str> = run.stderr.lines().collect();
    assert!(said.len() == 1 && said[0].contains("in.mp4: GPU 0 cannot decode: "), "{run:?}");
    assert!(said[0].ends_with("(use --decoder cpu)"), "{run:?}");
    let run = dir.run("live --backend cpu --no-preview --decoder nvdec --record out.mp4 in.mp4").fails();
    run.says(&["in.mp4: GPU 0 cannot decode: ", "(use --decoder cpu)"]);
    assert_eq!(dir.names(), ["in.mp4"]);
}

#[test]
fn a_codec_that_nvdec_does_not_know_is_an_error_with_a_remedy() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25:duration=1 -c:v ffv1 in.mkv");
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25:duration=1 raw.y4m");
    let run = dir.run("--decoder nvdec in.mkv out.mkv").fails();
    assert!(
        run.stderr.contains("in.mkv: NVDEC does not decode stream #0 (video, ffv1) (use --decoder cpu)"),
        "{run:?}"
    );
    let run = dir.run("--decoder nvdec raw.y4m out.mkv").fails();
    assert!(run.stderr.contains("raw.y4m: raw frames need no decoder (leave --decoder nvdec out)"), "{run:?}");
    assert_eq!(dir.names(), ["in.mkv", "raw.y4m"]);
}

#[test]
fn luma_is_equalized_where_it_lies() {
    let Some(gpu) = gpu() else { return };
    let dir = Dir::new();
    let Some(files) = films(&dir) else { return };
    for file in files {
        for settings in [Settings::default(), Settings { smoothing: Smoothing::new(6, 2), ..Settings::default() }] {
            let mut cuda = Sequence::new(Box::new(Cuda::on(gpu, 3).unwrap()), settings);
            let mut reference = by_reference(settings);
            let mut expected = plainly(&dir.path(&file)).into_iter().map(|frame| reference.equalize(&frame));
            let mut check = |cuda: &mut Sequence| {
                let found = cuda.collect().unwrap().unwrap();
                assert_eq!(difference(&expected.next().unwrap(), &found), None, "{file}");
                assert!(found.planes().iter().all(|plane| plane.on_device().is_none()), "{file}: for the encoder");
            };
            let mut held = Vec::new();
            each_frame(open_into(&dir.path(&file), &cuda), |frame| {
                let (luma, chroma) = frame.planes().split_first().unwrap();
                assert!(luma.on_device().is_some(), "{file}: luma came down");
                assert!(
                    chroma.iter().all(|plane| plane.on_device().is_none() && plane.memory().is_on_host()),
                    "{file}"
                );
                held.push(luma.memory().clone());
                if cuda.in_flight() == cuda.capacity() {
                    check(&mut cuda);
                }
                cuda.submit(frame).unwrap();
            });
            while cuda.in_flight() > 0 {
                check(&mut cuda);
            }
            assert!(expected.next().is_none(), "{file}: frames are missing");
            assert!(held.iter().all(|luma| !luma.is_on_host()), "{file}: luma came down to be equalized");
        }
    }
}

#[test]
fn luma_on_the_gpu_is_downloaded_once_when_it_is_read() {
    let Some(gpu) = gpu() else { return };
    let dir = Dir::new();
    let Some(files) = films(&dir) else { return };
    for file in files {
        let cuda = Sequence::new(Box::new(Cuda::on(gpu, 1).unwrap()), Settings::default());
        // The test holds all frames at once, many more than NVDEC has surfaces.
        let mut held = Vec::new();
        each_frame(open_into(&dir.path(&file), &cuda), |frame| held.push(frame));
        drop(cuda);
        let expected = plainly(&dir.path(&file));
        assert_eq!(held.len(), expected.len(), "{file}");
        for (number, (expected, found)) in expected.iter().zip(&held).enumerate() {
            let luma = found.planes()[0].memory();
            assert!(luma.on_device().is_some() && !luma.is_on_host(), "{file}: frame {number}");
            // The measurements for scenes, levels and colour read a few rows, of the whole frame or of a part of it.
            let (width, height) = (found.width(), found.height());
            let part = Rect { x: 1, y: height / 3, width: width - 2, height: height / 2 - 1 };
            for counted in [found.whole(), part] {
                let measures = [expected, found].map(|frame| measure(frame, counted, None).unwrap());
                assert_eq!(measures[0], measures[1], "{file}: frame {number}, {counted:?}");
            }
            assert!(!luma.is_on_host(), "{file}: frame {number} came down to be measured");
            assert_eq!(difference(expected, found), None, "{file}: frame {number}");
            assert!(luma.is_on_host(), "{file}: frame {number}");
            let address = luma.bytes().as_ptr();
            found.bring_down().unwrap();
            assert_eq!(luma.bytes().as_ptr(), address, "{file}: frame {number}");
        }
    }
}

#[test]
fn luma_comes_down_where_chroma_is_to_follow() {
    let Some(gpu) = gpu() else { return };
    let dir = Dir::new();
    let Some(files) = films(&dir) else { return };
    let settings = Settings { chroma: Chroma::Follow, ..Settings::default() };
    for file in files {
        let mut cuda = Sequence::new(Box::new(Cuda::on(gpu, 1).unwrap()), settings);
        let mut reference = by_reference(settings);
        let mut expected = plainly(&dir.path(&file)).into_iter().map(|frame| {
            reference.give(Some(with_gain(&frame)));
            reference.equalize(&frame)
        });
        each_frame(open_into(&dir.path(&file), &cuda), |frame| {
            assert!(frame.planes().iter().all(|plane| plane.on_device().is_none()), "{file}");
            cuda.give(Some(with_gain(&frame)));
            cuda.submit(frame).unwrap();
            let found = cuda.collect().unwrap().unwrap();
            assert_eq!(difference(&expected.next().unwrap(), &found), None, "{file}");
        });
        assert!(expected.next().is_none(), "{file}: frames are missing");
    }
}

#[test]
fn what_is_more_than_may_wait_on_the_gpu_comes_down() {
    let Some(gpu) = gpu() else { return };
    let dir = Dir::new();
    // The luma of 64 such frames takes 512 MiB, the limit of luma that waits on the GPU.
    dir.ffmpeg("-f lavfi -i testsrc2=size=3840x2160:rate=25 -frames:v 70 -c:v libx264 -preset ultrafast in.mp4");
    if !is_here(&dir.path("in.mp4")) {
        return;
    }
    let cuda = Sequence::new(Box::new(Cuda::on(gpu, 1).unwrap()), Settings::default());
    let mut held = Vec::new();
    each_frame(open_into(&dir.path("in.mp4"), &cuda), |frame| held.push(frame));
    let on_gpu = held.iter().filter(|frame| frame.planes()[0].on_device().is_some()).count();
    assert!((60..70).contains(&on_gpu), "{on_gpu} frames on the GPU");
    let mut held = held.into_iter();
    each_frame(plain_source(&dir.path("in.mp4")), |expected| {
        assert_eq!(difference(&expected, &held.next().unwrap()), None);
    });
    assert!(held.next().is_none());
}

#[test]
fn when_the_gpu_fails_its_frames_are_equalized_elsewhere() {
    let Some(gpu) = gpu() else { return };
    let dir = Dir::new();
    let Some(files) = films(&dir) else { return };
    let settings = Settings::default();
    for file in files {
        let mut cuda = Cuda::on(gpu, 3).unwrap();
        cuda.refuse_next();
        let (mut equalizer, said) = guarded(Box::new(cuda), settings);
        let source = open_into(&dir.path(&file), &equalizer);
        let mut reference = by_reference(settings);
        let mut expected = plainly(&dir.path(&file)).into_iter().map(|frame| reference.equalize(&frame));
        each_frame(source, |frame| {
            assert!(frame.planes()[0].on_device().is_some(), "{file}");
            equalizer.submit(frame).unwrap();
            let found = equalizer.collect().unwrap().unwrap();
            assert_eq!(difference(&expected.next().unwrap(), &found), None, "{file}");
        });
        assert!(expected.next().is_none(), "{file}: frames are missing");
        assert_eq!(said.lock().unwrap().len(), 1, "{file}");
    }
}

#[test]
fn the_program_says_where_luma_is_and_measures_it_all_the_same() {
    let Some(_) = gpu() else { return };
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=640x360:rate=25:duration=2 -c:v libx264 in.mp4");
    if !is_here(&dir.path("in.mp4")) {
        return;
    }
    let said = |options: &str| {
        let run = dir.run(&format!("-y -v --decoder nvdec --encoder ffv1 {options} in.mp4 nvdec.mkv")).exits_with(0);
        let line = run.stderr.lines().find(|line| line.contains("decoded on GPU 0")).expect("a note").to_owned();
        dir.ffmpeg("-i nvdec.mkv -f framemd5 nvdec.md5");
        let chroma = if options.contains("--set chroma=keep") { "--set chroma=keep" } else { "" };
        dir.run(&format!("-y --backend cpu --encoder ffv1 {chroma} in.mp4 cpu.mkv")).exits_with(0);
        dir.ffmpeg("-i cpu.mkv -f framemd5 cpu.md5");
        assert_eq!(dir.read("cpu.md5"), dir.read("nvdec.md5"), "{options}");
        line
    };
    let stays = "where its luma stays until it is equalized";
    assert!(said("--backend cuda --set chroma=keep").ends_with(stays));
    assert!(said("--backend cuda --set chroma=keep --verify --stats stats.jsonl").ends_with(stays));
    assert_eq!(String::from_utf8(dir.read("stats.jsonl")).unwrap().lines().count(), 50);
    let comes_down = "from where it comes down to be equalized";
    assert!(said("--backend cuda").ends_with(comes_down), "chroma follows");
    assert!(said("--backend cpu --set chroma=keep").ends_with(comes_down));
}

#[test]
fn auto_takes_a_decoder_that_tells_what_is_damaged() {
    let dir = Dir::new();
    if !encoder_is_here("damaged H.264", "libx264") {
        return;
    }
    dir.ffmpeg("-f lavfi -i testsrc2=size=320x180:rate=25:duration=2 -c:v libx264 -g 10 whole.mkv");
    let mut bytes = dir.read("whole.mkv");
    let (begin, end) = (bytes.len() / 3, bytes.len() * 2 / 3);
    bytes[begin..end].iter_mut().step_by(97).for_each(|byte| *byte ^= 0x55);
    dir.write("in.mkv", &bytes);
    for decoder in ["", "--decoder auto", "--decoder cpu"] {
        let run = dir.run(&format!("-y --encoder mpeg4 {decoder} in.mkv out.mkv")).exits_with(0);
        assert!(run.stderr.lines().any(|line| line.contains(" damaged frame")), "{decoder}: {run:?}");
    }
    dir.run("--strict -y --encoder mpeg4 in.mkv out.mkv").fails();
}
