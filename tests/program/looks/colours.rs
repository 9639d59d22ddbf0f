//! Ten bits and HDR by default: looks change the luma, and keep the colour tags.

use crate::support::media::reader::{encoder_is_here, list};
use crate::support::programs::program::Dir;
use serde_json::Value;

/// HDR10 side data, in x265's syntax.
const LIGHT: &str =
    "master-display=G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,50):max-cll=1000,400";

/// ffprobe's fields that describe a stream's colours.
const KEYS: [&str; 6] = ["codec_name", "pix_fmt", "color_range", "color_space", "color_transfer", "color_primaries"];

/// The program's note on HDR video.
const NOTE: &str = "HDR video (PQ or HLG) stays HDR";

/// A dim clip of ten bits in HEVC with this matrix, transfer and primaries.
fn clip(dir: &Dir, file: &str, [matrix, transfer, primaries]: [&str; 3], light: &str) {
    // FFmpeg 5.1 takes the colours from the options, 7.1 from the frames.
    dir.ffmpeg(&format!(
        "-f lavfi -i testsrc2=size=128x96:rate=25,format=gbrp10le,colorlevels=romax=0.5:gomax=0.5:bomax=0.5 \
         -frames:v 8 -vf format=yuv420p10le,setparams=range=tv:colorspace={matrix}:color_trc={transfer}:\
         color_primaries={primaries} -color_range tv -colorspace {matrix} -color_trc {transfer} \
         -color_primaries {primaries} -c:v libx265 -x265-params log-level=none{light} {file}"
    ));
}

fn colours(dir: &Dir, file: &str) -> [Value; 6] {
    let stream = dir.streams(file).remove(0);
    KEYS.map(|key| stream[key].clone())
}

#[test]
fn hdr_is_made_no_brighter_than_diffuse_white_or_the_peak_of_its_scene() {
    if !encoder_is_here("HDR10", "libx265") {
        return;
    }
    let dir = Dir::new();
    clip(&dir, "pq.mkv", ["bt2020nc", "smpte2084", "bt2020"], "");
    clip(&dir, "hlg.mkv", ["bt2020nc", "arib-std-b67", "bt2020"], "");
    clip(&dir, "sdr.mkv", ["bt709"; 3], "");
    // The level that a thousandth of the luma samples exceed.
    let peak = |file: &str| {
        let raw = dir.raw(file, "gray10le");
        let mut luma: Vec<u16> = raw.chunks_exact(2).map(|two| u16::from_le_bytes([two[0], two[1]])).collect();
        luma.sort_unstable();
        luma[luma.len() - luma.len() / 1000]
    };
    for options in ["", "--look night --denoise 0", "--look haze", "--look underwater --denoise 0", "--method clahe"] {
        for input in ["pq.mkv", "hlg.mkv", "sdr.mkv"] {
            dir.succeeds(&format!("--backend cpu --encoder ffv1 {options} -y {input} out.mkv"));
            let (before, after) = (peak(input), peak("out.mkv"));
            if input == "sdr.mkv" && options != "--look haze" {
                assert!(after > before + 100, "{options}: {before} becomes {after}, the test shows nothing");
            } else if input != "sdr.mkv" {
                // The code of diffuse white: 58 % of the range in PQ, 75 % in HLG.
                let white = if input == "pq.mkv" { 595 } else { 768 };
                let most = if options == "--method clahe" { before } else { before.max(white) };
                assert!(after <= most, "{input} with '{options}': {before} becomes {after}");
                let changed = dir.raw("out.mkv", "gray10le") != dir.raw(input, "gray10le");
                assert!(changed || options != "--method clahe", "the test shows nothing");
            }
        }
    }
}

/// The first frame's side data about light: mastering display and content light level.
fn light(dir: &Dir, file: &str) -> Vec<Value> {
    let is_light = |side: &Value| {
        let name = side["side_data_type"].as_str().unwrap_or_default();
        // A content light level of 0 means unknown.
        name.starts_with("Mastering display") || (name.starts_with("Content light") && side["max_content"] != 0)
    };
    list(&dir.frames(file)[0]["side_data_list"]).into_iter().filter(is_light).collect()
}

#[test]
fn ten_bits_of_bt709_stay_what_they_are_with_every_look() {
    if !encoder_is_here("ten bits of BT.709", "libx265") {
        return;
    }
    let dir = Dir::new();
    clip(&dir, "in.mkv", ["bt709"; 3], "");
    assert_eq!(colours(&dir, "in.mkv"), ["hevc", "yuv420p10le", "tv", "bt709", "bt709", "bt709"]);
    for options in ["", "--look night", "--look haze", "--look thermal", "--exact"] {
        for output in ["out.mkv", "out.mp4"] {
            let run = dir.succeeds(&format!("--backend cpu {options} -y in.mkv {output}"));
            run.never_says("HDR").never_says("warning");
            assert_eq!(colours(&dir, output), colours(&dir, "in.mkv"), "{output} with '{options}'");
            assert!(dir.raw(output, "yuv420p10le") != dir.raw("in.mkv", "yuv420p10le"), "nothing happened");
        }
    }
}

#[test]
fn hdr10_stays_hdr10_by_default_and_is_noted() {
    if !encoder_is_here("HDR10", "libx265") {
        return;
    }
    let dir = Dir::new();
    clip(&dir, "in.mp4", ["bt2020nc", "smpte2084", "bt2020"], &format!(":{LIGHT}"));
    assert_eq!(colours(&dir, "in.mp4"), ["hevc", "yuv420p10le", "tv", "bt2020nc", "smpte2084", "bt2020"]);
    let [mastering, _] = &light(&dir, "in.mp4")[..] else { panic!("the clip has other side data") };
    for (options, output) in [("", "out.mp4"), ("", "out.mkv"), ("--look night", "out.mp4"), ("--exact", "out.mkv")] {
        let run = dir.succeeds(&format!("--backend cpu {options} -y in.mp4 {output}")).says(&[NOTE]);
        assert_eq!(run.stderr.matches(NOTE).count(), 1, "once: {}", run.stderr);
        assert_eq!(colours(&dir, output), colours(&dir, "in.mp4"), "{output} with '{options}'");
        // The content light level (the brightest pixel and frame) is dropped, because equalization changes it.
        assert_eq!(light(&dir, output), std::slice::from_ref(mastering), "{output} with '{options}'");
    }
    dir.succeeds("--backend cpu -q -y in.mp4 out.mp4").never_says("HDR");
    // The note is no warning.
    dir.succeeds("--backend cpu --strict -y in.mp4 out.mp4").says(&[NOTE]);
}

#[test]
fn hlg_is_noted_in_a_file_in_a_pipe_and_from_a_camera() {
    if !encoder_is_here("HLG", "libx265") {
        return;
    }
    let dir = Dir::new();
    clip(&dir, "in.ts", ["bt2020nc", "arib-std-b67", "bt2020"], "");
    dir.succeeds("--backend cpu in.ts out.mkv").says(&[NOTE]);
    assert_eq!(colours(&dir, "out.mkv"), colours(&dir, "in.ts"));
    dir.fed("--backend cpu - piped.mkv", &dir.read("in.ts")).exits_with(0).says(&[NOTE]);
    dir.fed("live --backend cpu --no-preview --record live.mkv -f mpegts -", &dir.read("in.ts"))
        .exits_with(0)
        .says(&[NOTE]);
}
