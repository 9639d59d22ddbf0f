//! A GPU that is missing, or still being opened during a run: what is written, and which encoder is chosen.

use crate::support::backends::gpu;
use crate::support::failing::{Due, NEVER, Said, saying, the_reference};
use crate::support::media::reader::encoder_is_here;
use crate::support::programs::program::Dir;
use histeq::internal::equalize::EqualizeStage;
use histeq::internal::equalize::backend::{Failover, OnUnavailable};
use histeq::internal::equalize::cpu::Cpu;
use histeq::internal::spec::parameters::{Settings, Smoothing};
use histeq_media::pipeline::{Cancel, Input, Notices, Progress, Source, run};
use histeq_media::sink::encoder::EncoderChoice;
use histeq_media::sink::files::{Files, Overwrite, Target};
use histeq_media::sink::{self, OutputOptions};
use histeq_media::source::{self, InputOptions};
use histeq_media::sys::files::Name;
use std::sync::Arc;

fn quiet() -> Notices {
    Notices::new(false, |_, _| {})
}

fn open(dir: &Dir, name: &str) -> (Box<dyn Source>, Input) {
    let options = InputOptions { url: dir.path(name).into(), ..InputOptions::default() };
    source::open(&options, &Cancel::default(), quiet(), Arc::default()).unwrap()
}

#[test]
fn a_gpu_that_turns_out_to_be_missing_leaves_no_output_where_it_was_insisted_on() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25:duration=1 -c:v ffv1 in.mkv");
    for after in [0, 10, NEVER] {
        let (source, input) = open(&dir, "in.mkv");
        let output = Name::from(dir.path("out.mkv"));
        let target = Target::new(&output, &"in.mkv".into(), Files::One, Overwrite::No).unwrap();
        let sink = sink::open(input, target, OutputOptions::default(), &mut || false, quiet()).unwrap();
        let first = Box::new(Cpu::new(2));
        let opening = Due::new(after, || Err(histeq::Error::Worker("no such GPU".to_owned())));
        let tell = saying(&Said::default());
        let failover = Failover::opening(first, opening, OnUnavailable::Fail, Box::new(the_reference), tell);
        let settings = Settings { smoothing: Smoothing::new(3, 1), ..Settings::default() };
        let stage = EqualizeStage::new(Box::new(failover), settings);
        let result = run(source, stage, None, sink, &Cancel::default(), &Progress::default(), |_| {});
        assert_eq!(result.unwrap_err().to_string(), "no such GPU", "after {after}");
        assert_eq!(dir.names(), ["in.mkv"], "after {after}");
    }
}

#[test]
fn a_gpu_is_waited_for_only_where_it_may_encode() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25:duration=1 -c:v ffv1 ffv1.mkv");
    let asked = |input: &str, output: &str, encoder: Option<&str>| {
        let (_, input) = open(&dir, input);
        let target = Target::new(&dir.path(output).into(), &Name::default(), Files::One, Overwrite::Yes).unwrap();
        let encoder = EncoderChoice { encoder: encoder.map(str::to_owned), ..EncoderChoice::default() };
        let mut asked = false;
        let mut on_gpu = || {
            asked = true;
            false
        };
        sink::open(input, target, OutputOptions { encoder, ..OutputOptions::default() }, &mut on_gpu, quiet()).unwrap();
        asked
    };
    assert!(!asked("ffv1.mkv", "out.mkv", None), "no NVENC for FFV1");
    dir.ffmpeg("-i ffv1.mkv -frames:v 1 -c:v ffv1 one.mkv");
    assert!(!asked("one.mkv", "out.png", None), "still images");
    assert!(!asked("ffv1.mkv", "out.y4m", None), "raw frames");
    if !encoder_is_here("H.264", "libx264") {
        return;
    }
    dir.ffmpeg("-i ffv1.mkv -c:v libx264 h264.mkv");
    assert!(!asked("h264.mkv", "out.mkv", Some("libx264")), "the encoder is named");
    assert_eq!(asked("h264.mkv", "out.mkv", None), encoder_is_here("NVENC", "h264_nvenc"), "NVENC is compiled in");
}

#[test]
fn a_file_through_a_gpu_that_is_still_opening_has_the_bytes_of_the_cpu() {
    if gpu().is_none() {
        return;
    }
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=1280x720:rate=50:duration=30 -c:v mpeg4 -q:v 5 in.mkv");
    for options in ["", "--exact", "--set look-ahead=0 --method clahe --start 0.5"] {
        dir.succeeds(&format!("--encoder ffv1 {options} --backend cpu -y in.mkv cpu.mkv"));
        dir.ffmpeg("-i cpu.mkv -f framemd5 cpu.md5");
        for backend in if options.is_empty() { &["auto", "cuda"][..] } else { &["cuda"] } {
            let run = dir.succeeds(&format!("--encoder ffv1 {options} --backend {backend} -y in.mkv gpu.mkv"));
            assert!(run.stderr.contains("by cuda ("), "{options}: {}", run.stderr);
            dir.ffmpeg("-i gpu.mkv -f framemd5 gpu.md5");
            assert_eq!(dir.read("gpu.md5"), dir.read("cpu.md5"), "{backend} {options}");
        }
    }
    // The program learns that there is no GPU 99 from the driver, which starts after the first frames are written.
    let run = dir.run("--encoder ffv1 --backend cuda --gpu 99 in.mkv none.mkv").fails();
    run.says(&["no GPU 99 (--gpu takes 0 to "]);
    assert!(!dir.names().iter().any(|name| name.contains("none")), "{:?}", dir.names());
    let run = dir.succeeds("--encoder ffv1 --gpu 99 in.mkv auto.mkv");
    assert_eq!(run.stderr.matches("no GPU 99: equalizing on the CPU").count(), 1, "{}", run.stderr);
}
