//! `histeq::Equalizer` produces the program's bytes: with every look and method, across a cut, for formats of all
//! kinds, on every backend, with frames in order and in any order. Both samples do, too.

use crate::support::backends::gpu;
use crate::support::programs::program::Dir;
use histeq::{
    Backend, Builder, Equalizer, Error, Input, LazyEqualizer, Look, Named, Options, PixelFormat, PlaneInput,
    PlaneOutput,
};
use std::fmt::Write as _;

#[path = "../../samples/equalize_array.rs"]
mod equalize_array;
#[path = "../../samples/equalize_sequence.rs"]
mod equalize_sequence;

pub const SIZE: (usize, usize) = (66, 46);
pub const RATE: f64 = 10.0;
const FRAMES: usize = 45;

/// A clip of this format with a dark noisy shot, a cut, a bright hazy one with a flash, and black bars.
pub fn clip(dir: &Dir, name: &str, format: &str) -> Vec<Vec<u8>> {
    let (width, height) = SIZE;
    let dark = "lutyuv=y=16+val/6:u=128+(val-128)/3:v=128+(val-128)/3,noise=alls=6:allf=t:all_seed=5";
    let bright = "lutyuv=y=120+val/4,drawbox=t=fill:c=white:enable=between(n\\,9\\,10)";
    let picture = format!("testsrc2=s={width}x{height}:r={RATE}");
    let shots =
        format!("[0]format=yuv420p,{dark},trim=end_frame=20[a];[1]format=yuv420p,{bright},trim=end_frame=25[b]");
    dir.ffmpeg(&format!(
        "-f lavfi -i {picture} -f lavfi -i {picture} -filter_complex \
         '{shots};[a][b]concat,drawbox=h=6:t=fill:c=black,setpts=N/{RATE}/TB,format={format}' -r {RATE} -frames:v {FRAMES} \
         -c:v ffv1 {name}"
    ));
    let bytes = dir.ffmpeg(&format!("-i {name} -f rawvideo -pix_fmt {format} -")).stdout;
    let frames: Vec<Vec<u8>> = bytes.chunks_exact(bytes.len() / FRAMES).map(<[u8]>::to_vec).collect();
    assert_eq!(frames.len(), FRAMES);
    frames
}

/// The raw output of the program for the clip.
fn by_program(dir: &Dir, name: &str, options: &str) -> Vec<u8> {
    let line = format!("-q --backend cpu {options} --output-pixel-format keep --output-format rawvideo {name} -");
    dir.succeeds(&line).stdout
}

fn builder(format: &str, backend: Backend) -> Builder {
    let format = PixelFormat::from_name(format).expect("a format of ours");
    Equalizer::builder(format, SIZE.0, SIZE.1).rate(RATE).backend(backend).threads(2)
}

/// Sets the options of a command line by name in the builder.
fn with(mut builder: Builder, options: &str) -> Builder {
    let mut words = options.split_whitespace();
    while let Some(option) = words.next() {
        let value = words.next().expect("a value");
        let (name, value) = match option {
            "--set" => value.split_once('=').unwrap_or((value, "true")),
            option => (option.trim_start_matches("--"), value),
        };
        builder = builder.set(name, value).expect("an option of the table");
    }
    builder
}

/// Sends all frames through an equalizer. Returns the output frames.
fn through(equalizer: &mut Equalizer, frames: &[Vec<u8>]) -> Vec<u8> {
    let (mut all, mut next) = (Vec::new(), 0);
    let mut take = |done: histeq::Output| {
        assert_eq!(done.number(), next, "in order");
        next += 1;
        let begin = all.len();
        all.resize(begin + done.packed_bytes(), 0);
        done.copy_into(&mut all[begin..]).expect("a frame on the host");
    };
    for frame in frames {
        equalizer.push(frame).expect("a frame").map(&mut take);
    }
    equalizer.finish().expect("an end").for_each(|done| take(done.expect("a frame")));
    all
}

#[track_caller]
fn assert_same(found: &[u8], expected: &[u8], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}: bytes");
    let first = found.iter().zip(expected).position(|(a, b)| a != b);
    assert_eq!(first, None, "{what}: the first byte that differs, of {}", found.len());
}

/// The CPU, and the GPU if there is one.
fn backends() -> Vec<Backend> {
    [Backend::Cpu].into_iter().chain(gpu().map(|_| Backend::Cuda)).collect()
}

const OPTIONS: [&str; 14] = [
    "--strength 1 --max-gain 3",
    "--method global --levels 1 --strength 0.7",
    "--method clahe",
    "--method clahe --set tiles=3x5 --max-gain 4 --look exact",
    "--method detail",
    "--method detail --set tiles=3x5 --max-gain 4 --look thermal",
    "--method deflicker",
    "--smooth 0.5 --set look-ahead=0",
    "--smooth 2 --set scene-threshold=1 --set chroma=follow",
    "--max-gain auto --set plateau=0.5%",
    "--set bins=32 --look exact --smooth 1",
    "--roi auto --look night",
    "--roi 10,10,40,30 --set chroma=keep",
    "--set gray --output-depth 10",
];

#[test]
fn every_look_and_method_gives_the_bytes_of_the_program() {
    let dir = Dir::new();
    let frames = clip(&dir, "in.mkv", "yuv420p");
    let looks = Look::ALL.iter().map(|look| format!("--look {look}"));
    for options in looks.chain(OPTIONS.map(str::to_owned)) {
        let expected = by_program(&dir, "in.mkv", &options);
        for backend in backends() {
            let mut equalizer = with(builder("yuv420p", backend), &options).build().expect("a backend");
            assert_same(&through(&mut equalizer, &frames), &expected, &format!("{options} on {backend}"));
        }
    }
}

#[test]
fn formats_of_all_kinds_give_the_bytes_of_the_program() {
    let dir = Dir::new();
    for format in ["gray", "gray10le", "gray16le", "nv12", "yuv422p10le", "yuv444p12le", "rgb24", "gbrp", "yuyv422"] {
        // FFV1 does not store packed formats and 8-bit RGB unchanged.
        let is_raw = ["nv12", "yuyv422", "rgb24", "gbrp"].contains(&format);
        let name = format!("{format}.{}", if is_raw { "nut" } else { "mkv" });
        let frames = if is_raw {
            let (plain, raw) = (clip(&dir, "plain.mkv", "yuv444p"), format!("-c:v rawvideo -pix_fmt {format}"));
            assert_eq!(plain.len(), FRAMES);
            dir.ffmpeg(&format!("-i plain.mkv {raw} {name}"));
            let bytes = dir.ffmpeg(&format!("-i {name} -f rawvideo -pix_fmt {format} -")).stdout;
            bytes.chunks_exact(bytes.len() / FRAMES).map(<[u8]>::to_vec).collect()
        } else {
            clip(&dir, &name, format)
        };
        for options in ["--look natural", "--method clahe --look haze", "--look exact"] {
            let expected = by_program(&dir, &name, options);
            for backend in backends() {
                let mut equalizer = with(builder(format, backend), options).build().expect("a backend");
                assert_same(&through(&mut equalizer, &frames), &expected, &format!("{format} {options} on {backend}"));
            }
        }
    }
}

#[test]
fn frames_can_be_asked_for_in_any_order() {
    let dir = Dir::new();
    let frames = clip(&dir, "in.mkv", "yuv420p");
    for options in
        ["--look natural", "--look night --roi auto", "--method deflicker", "--max-gain auto", "--look exact"]
    {
        let expected = by_program(&dir, "in.mkv", options);
        let expected: Vec<&[u8]> = expected.chunks_exact(frames[0].len()).collect();
        let mut equalizer = with(builder("yuv420p", Backend::Cpu), options).build().expect("a backend");
        let reach = equalizer.reach();
        for number in [44_usize, 20, 0, 31, 19, 29, 21] {
            equalizer.restart(number as u64).expect("a backend");
            for before in &frames[number.saturating_sub(reach.before as usize)..number] {
                equalizer.warm_up(before).expect("a frame");
            }
            let mut done = None;
            for frame in frames[number..].iter().take(1 + reach.behind as usize) {
                done = done.or(equalizer.push(frame).expect("a frame"));
            }
            let rest = equalizer.finish().expect("an end").next();
            let done = done.or(rest.map(|done| done.expect("a frame"))).expect("the frame");
            assert_eq!(done.number(), number as u64);
            let mut bytes = vec![0; done.packed_bytes()];
            done.copy_into(&mut bytes).expect("a frame on the host");
            assert_same(&bytes, expected[number], &format!("{options}: frame {number}"));
        }
    }
}

#[test]
fn with_the_scenes_of_a_survey_each_frame_depends_on_itself_alone() {
    let dir = Dir::new();
    let frames = clip(&dir, "in.mkv", "yuv420p");
    let expected = by_program(&dir, "in.mkv", "--smooth scene");
    let expected: Vec<&[u8]> = expected.chunks_exact(frames[0].len()).collect();
    let builder = with(builder("yuv420p", Backend::Cpu), "--smooth scene");
    assert!(matches!(builder.clone().build(), Err(Error::NoScenes)));
    let mut survey = builder.survey().expect("options that go with it");
    frames.iter().for_each(|frame| survey.push(frame).expect("a frame"));
    let scenes = survey.finish();
    assert_eq!((scenes.frames(), scenes.count()), (45, 2));
    let mut equalizer = builder.scenes(&scenes).build().expect("a backend");
    assert_eq!(equalizer.reach(), histeq::Reach::default());
    for number in [40, 3, 22, 22, 0] {
        equalizer.restart(number as u64).expect("a backend");
        equalizer.push(&frames[number]).expect("a frame");
        let done = equalizer.collect().expect("a frame").expect("which waits for no other");
        let mut bytes = vec![0; done.packed_bytes()];
        done.copy_into(&mut bytes).expect("a frame on the host");
        assert_same(&bytes, expected[number], &format!("frame {number}"));
    }
}

#[test]
fn planes_lie_as_the_caller_has_them() {
    let dir = Dir::new();
    let frames = clip(&dir, "in.mkv", "yuv420p");
    let expected = by_program(&dir, "in.mkv", "--look natural");
    let mut equalizer = builder("yuv420p", Backend::Cpu).build().expect("a backend");
    let (width, height) = SIZE;
    let shapes = [(width, height), (width / 2, height / 2), (width / 2, height / 2)];
    let mut found = Vec::new();
    let mut take = |done: histeq::Output| {
        let mut memory: Vec<Vec<u8>> = shapes.iter().map(|(columns, rows)| vec![7; (columns + 5) * rows]).collect();
        let planes = memory.iter_mut().zip(&shapes);
        let mut planes: Vec<_> =
            planes.map(|(bytes, (columns, _))| PlaneOutput { bytes, stride: columns + 5 }).collect();
        done.copy_into_planes(&mut planes).expect("planes of that size");
        for (bytes, (columns, _)) in memory.iter().zip(&shapes) {
            for row in bytes.chunks_exact(columns + 5) {
                found.extend_from_slice(&row[..*columns]);
                assert_eq!(row[*columns..], [7; 5], "what lies between rows stays");
            }
        }
    };
    for (number, frame) in frames.iter().enumerate() {
        // The layouts alternate: padded rows, bottom-up rows, rows that are both.
        let (pad, turned) = ([13, 0, 3][number % 3], number % 3 > 0);
        let mut memory = Vec::new();
        let mut rest = frame.as_slice();
        for (columns, rows) in shapes {
            let (plane, behind) = rest.split_at(columns * rows);
            rest = behind;
            let mut lines: Vec<&[u8]> = plane.chunks_exact(columns).collect();
            if turned {
                lines.reverse();
            }
            memory.push(lines.iter().flat_map(|line| line.iter().copied().chain(vec![99; pad])).collect::<Vec<u8>>());
        }
        let sign = if turned { -1 } else { 1 };
        let planes = memory.iter().zip(shapes);
        let planes: Vec<_> =
            planes.map(|(bytes, (columns, _))| PlaneInput { bytes, stride: sign * (columns + pad) as isize }).collect();
        let done = equalizer.push(Input::planes(&planes).at(number as i64 * 40)).expect("a frame");
        done.into_iter().for_each(&mut take);
    }
    for done in equalizer.finish().expect("an end") {
        let done = done.expect("a frame");
        assert_eq!(done.pts(), Some(done.number() as i64 * 40));
        take(done);
    }
    assert_same(&found, &expected, "planes with strides");
}

#[test]
fn live_frames_come_out_at_once_and_options_change_while_they_do() {
    let dir = Dir::new();
    let frames = clip(&dir, "in.mkv", "yuv420p");
    let expected = by_program(&dir, "in.mkv", "--set look-ahead=0 --denoise 0");
    let expected: Vec<&[u8]> = expected.chunks_exact(frames[0].len()).collect();
    let mut equalizer = builder("yuv420p", Backend::Cpu).live().build().expect("a backend");
    let mut bytes = vec![0; frames[0].len()];
    for (number, frame) in frames.iter().enumerate() {
        if number == 30 {
            let mut options = Options::for_look(Look::Natural);
            options.set("strength", "0").expect("a share");
            options.set("levels", "1").expect("a stretch");
            equalizer.change(&options).expect("options that go together");
        }
        let mut done = equalizer.push(frame).expect("a frame");
        done = done.or(equalizer.collect().expect("a frame"));
        done.expect("the frame, at once").copy_into(&mut bytes).expect("a frame on the host");
        let expected = if number < 30 { expected[number] } else { frame };
        assert_same(&bytes, expected, &format!("frame {number}"));
    }
}

#[test]
fn a_change_before_the_first_frame_or_between_videos_holds() {
    let dir = Dir::new();
    let frames = clip(&dir, "in.mkv", "yuv420p");
    let through_all = |equalizer: &mut Equalizer| through(equalizer, &frames);
    let exact = by_program(&dir, "in.mkv", "--exact");
    let build = || builder("yuv420p", Backend::Cpu).build().expect("a backend");

    // Options that change before the first frame.
    let mut equalizer = build();
    equalizer.change(&Options::for_look(Look::Exact)).expect("options that go together");
    assert_same(&through_all(&mut equalizer), &exact, "changed before the first frame");
    // Options that change between two videos.
    let mut equalizer = build();
    through_all(&mut equalizer);
    equalizer.change(&Options::for_look(Look::Exact)).expect("options that go together");
    equalizer.restart(0).expect("a backend");
    assert_eq!((equalizer.look(), equalizer.reach()), (Look::Exact, Default::default()));
    assert_same(&through_all(&mut equalizer), &exact, "changed between two videos");

    // Changed options do not change the format.
    let mut options = Options::for_look(Look::Haze);
    options.set("strength", "0.5").expect("a share");
    options.gray = true;
    equalizer.change(&options).expect("options that go together");
    assert!(!equalizer.options().gray && equalizer.options().strength.is_some());
    equalizer.restart(0).expect("a backend");
    assert_eq!(through_all(&mut equalizer).len(), frames.concat().len());
    // If options conflict, `change` returns an error and changes nothing.
    let mut scene = Options::for_look(Look::Natural);
    scene.set("smooth", "scene").expect("a word");
    assert!(matches!(equalizer.change(&scene), Err(Error::NoScenes)));
    assert_eq!(equalizer.look(), Look::Haze);
    assert!(Equalizer::builder(PixelFormat::Gray, 0, 5).build().is_err());
}

#[test]
fn what_is_set_by_name_opens_nothing_and_some_of_it_is_fixed_from_the_first_frame_on() {
    let mut lazy = LazyEqualizer::new(Equalizer::builder(PixelFormat::Gray, SIZE.0, SIZE.1));
    for (name, value) in [("look", "exact"), ("backend", "cpu"), ("threads", "2"), ("live", "true"), ("rate", "10")] {
        lazy.set(name, value).expect("a value of its own");
    }
    for (name, value) in [("rate", "0"), ("range", "tv"), ("live", "1"), ("gpu", "-1"), ("threads", "1025")] {
        let error = lazy.set(name, value).expect_err("no value of its own");
        assert_eq!(error.to_string(), format!("{name} is not {value}"));
        assert!(matches!(error, Error::Option(_)));
    }
    assert!(lazy.opened().is_none());
    let frame: Vec<u8> = (0..SIZE.0 * SIZE.1).map(|index| (index % 97) as u8).collect();
    let equalizer = lazy.open().expect("a backend");
    assert!(equalizer.backend_name().ends_with("2 threads)"), "{}", equalizer.backend_name());
    equalizer.push(&frame).expect("a frame");
    for (name, value) in [("rate", "5"), ("backend", "cpu"), ("gray", "true"), ("output-depth", "10")] {
        let error = lazy.set(name, value).expect_err("it is open");
        assert_eq!(error.to_string(), format!("{name}: too late, the backend is open"));
        assert!(matches!(error, Error::TooLate { .. }));
    }
    assert!(matches!(lazy.mask(&frame), Err(Error::TooLate { .. })));
    assert!(matches!(lazy.set("rate", "0"), Err(Error::Option(_))));
    for (name, value) in [("gray", "false"), ("look", "night")] {
        lazy.set(name, value).expect("an option that may change, or does not");
    }
    assert_eq!(lazy.opened().map(|equalizer| equalizer.look()), Some(Look::Night));
}

#[test]
fn a_mask_counts_as_that_of_the_program() {
    let dir = Dir::new();
    let frames = clip(&dir, "in.mkv", "yuv420p");
    let (width, height) = SIZE;
    let weights: Vec<u8> = (0..width * height).map(|index| if index % width < 50 { 255 } else { 0 }).collect();
    let mut picture = format!("P5 {width} {height} 255\n").into_bytes();
    picture.extend_from_slice(&weights);
    dir.write("mask.pgm", &picture);
    let expected = by_program(&dir, "in.mkv", "--mask mask.pgm");
    let builder = builder("yuv420p", Backend::Cpu).mask(&weights).expect("weights");
    assert_same(&through(&mut builder.build().expect("a backend"), &frames), &expected, "with a mask");
}

#[test]
fn both_samples_give_the_bytes_of_the_program() {
    let dir = Dir::new();
    let (width, height) = equalize_sequence::SIZE;
    let frames: Vec<u8> = (0..75).flat_map(equalize_sequence::frame).collect();
    let raw = format!("-f rawvideo --size {width}x{height} --pixel-format gray");
    let raw_in = |rate: f64| format!("{raw} --rate {rate}");
    dir.write("in.raw", &frames);
    let line = format!("-q --backend cpu {} --output-format rawvideo in.raw -", raw_in(equalize_sequence::RATE));
    let expected = dir.succeeds(&line).stdout;
    let mut found = Vec::new();
    equalize_sequence::equalize(75, |_, pixels| found.extend_from_slice(pixels)).expect("a backend");
    assert_same(&found, &expected, "equalize_sequence");

    let first = &frames[..width * height];
    dir.write("one.pgm", &[format!("P5 {width} {height} 255\n").as_bytes(), first].concat());
    let expected = dir.succeeds("-q --backend cpu --exact --output-format rawvideo one.pgm -").stdout;
    let found = equalize_array::equalized(first, width, height).expect("a backend");
    assert_same(&found, &expected, "equalize_array");
}

#[test]
fn what_does_not_fit_is_an_error_that_says_so() {
    let said = |error: Error| {
        let mut text = String::new();
        write!(text, "{error}").expect("a text");
        text
    };
    let build = || builder("yuv420p", Backend::Cpu);
    let mut equalizer = build().build().expect("a backend");
    let error = equalizer.push(&[0; 10]).err().expect("too short");
    assert_eq!(said(error), "a yuv420p picture of 66x46 pixels has 4554 bytes, not 10");
    let planes = [PlaneInput { bytes: &[0; 66 * 46], stride: 66 }];
    let error = equalizer.push(Input::planes(&planes)).err().expect("too few");
    assert_eq!(said(error), "yuv420p has 3 planes, not 1");
    let planes = [66, 33, 33].map(|stride| PlaneInput { bytes: &[0; 3035], stride });
    let error = equalizer.push(Input::planes(&planes)).err().expect("too short");
    assert_eq!(said(error), "plane 0 has 46 rows of 66 bytes, which do not lie in 3035 bytes with a stride of 66");
    equalizer.finish().expect("an end").for_each(drop);
    assert!(matches!(equalizer.push(&[0; 4554]), Err(Error::Finished)));
    equalizer.restart(0).expect("a backend");
    equalizer.push(&[0; 4554]).expect("a frame of another video");

    for (name, value, says) in [
        ("strength", "2", "strength is a number from 0 to 1, not 2"),
        ("tiles", "8", "tiles is two numbers from 1 to 256 like 8x8, not 8"),
        ("gamma", "2", "there is no option gamma"),
    ] {
        assert_eq!(said(build().set(name, value).err().expect("no such value")), says);
    }
    let conflict = with(build(), "--set tiles=4x4").build().err().expect("a conflict");
    assert_eq!(said(conflict), "tiles goes with method clahe and detail only");
    let outside = with(build(), "--roi 200,0,10,10").build().err().expect("outside");
    assert!(said(outside).starts_with("roi 200,0,10,10 lies outside of its picture of 66x46 pixels"));
    assert!(matches!(build().mask(&[0; 66 * 46]), Err(Error::NoMask { .. })));
    let tiled = with(build(), "--method clahe").mask(&[1; 66 * 46]).expect("weights").build();
    assert!(matches!(tiled, Err(Error::MaskedTiles)));
    if gpu().is_none() {
        assert!(build().backend(Backend::Cuda).build().is_err_and(|error| error.gpu().is_some()));
    }
}
