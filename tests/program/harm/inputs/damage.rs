//! Damaged frames are reported, alike for any number of decoding threads, and show nothing of earlier frames.

use crate::support::media::reader::encoder_is_here;
use crate::support::programs::program::Dir;
use crate::support::random::Random;

/// Codecs with the lines that encode a clip of each.
const CODECS: [(&str, &str, &str); 4] = [
    ("h264.mkv", "libx264", "-preset veryfast -g 25 -threads 1"),
    ("hevc.mkv", "libx265", "-preset ultrafast -x265-params log-level=none:keyint=25:pools=1:frame-threads=1"),
    ("vp9.webm", "libvpx-vp9", "-cpu-used 8 -deadline realtime -g 25 -threads 1"),
    ("av1.mkv", "libsvtav1", "-preset 12 -g 25"),
];

/// The number of tries: 20 with `HISTEQ_LONG`.
fn runs() -> usize {
    if std::env::var_os("HISTEQ_LONG").is_some() { 20 } else { 1 }
}

/// Encodes the clip `name`, and makes `count` copies with 12 flipped bits each. Returns their names.
fn damaged(dir: &Dir, (name, encoder, options): (&str, &str, &str), count: u64) -> Vec<String> {
    let source = "-f lavfi -i testsrc2=size=352x288:rate=25 -frames:v 100";
    dir.ffmpeg(&format!("{source} -pix_fmt yuv420p -c:v {encoder} {options} {name}"));
    let whole = dir.read(name);
    let file = |seed: u64| {
        let (mut bytes, mut random) = (whole.clone(), Random::new(0x5eed_0000_0001 + 2 * seed));
        for _ in 0..12 {
            let begin = whole.len() / 20;
            let index = begin + random.below((whole.len() - 1500 - begin) as u64) as usize;
            bytes[index] ^= 1 << random.below(8);
        }
        let file = format!("{seed}-{name}");
        dir.write(&file, &bytes);
        file
    };
    (0..count).map(file).collect()
}

#[test]
#[ignore = "tries many faults at random: tests/program/faults.sh runs it"]
fn strict_gives_one_answer_whatever_threads_decode() {
    let dir = Dir::new();
    for codec in CODECS.into_iter().filter(|(_, encoder, _)| encoder_is_here("damaged files", encoder)) {
        let files = damaged(&dir, codec, 10);
        let mut refused = 0;
        for file in &files {
            let mut answers = Vec::new();
            for threads in [1, 2, 3, 8] {
                for _ in 0..runs() {
                    let line =
                        format!("--backend cpu --exact --strict --threads {threads} --output-format null -y {file} x");
                    let run = dir.run(&line);
                    if crate::support::programs::program::failed(run.code) {
                        assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
                    }
                    answers.push(run.code);
                }
            }
            assert!(
                answers[0] == Some(0) || crate::support::programs::program::failed(answers[0]),
                "{file}: {:?}",
                answers[0]
            );
            assert!(answers.iter().all(|answer| *answer == answers[0]), "{file}: {answers:?}");
            refused += usize::from(answers[0] != Some(0));
        }
        println!("{}: --strict refuses {refused} of {}, in all of {} runs each", codec.0, files.len(), 4 * runs());
        // FFmpeg does not report most damage in HEVC.
        assert!(refused > 0 || codec.1 == "libx265", "{}", codec.0);
        dir.run(&format!("--backend cpu --exact --strict --output-format null -y {} x", codec.0)).exits_with(0);
    }
}

/// FFmpeg logs errors for this file, and neither conceals nor marks anything: `--strict` accepted it.
#[test]
#[ignore = "tries many faults at random: tests/program/faults.sh runs it"]
fn what_a_decoder_logs_is_damage() {
    if !encoder_is_here("damage that is only logged", "libx265") {
        return;
    }
    let dir = Dir::new();
    let files = damaged(&dir, CODECS[1], 40);
    let mut logged = 0;
    for file in files {
        let said = dir.try_tool("ffmpeg", &format!("-v error -threads 1 -i {file} -f null -")).stderr;
        // Errors of the container do not count. Errors about references do not either: intact streams have them, too.
        let is_of_picture = |line: &str| line.starts_with("[hevc @") && !line.contains("Could not find ref");
        if !said.lines().any(is_of_picture) {
            continue;
        }
        logged += 1;
        let line = "--backend cpu --exact --output-format null -y";
        dir.succeeds(&format!("{line} {file} x")).says(&["damaged frame"]);
        dir.run(&format!("{line} --strict {file} x")).fails().says(&["frame", "--strict"]);
    }
    assert!(logged > 0, "FFmpeg logs errors for none of these files");
}

/// Parts that were not decoded showed older contents of the decoder's buffers, which depended on its threads.
#[test]
#[ignore = "tries many faults at random: tests/program/faults.sh runs it"]
fn a_damaged_picture_shows_nothing_of_older_ones() {
    let dir = Dir::new();
    let (mut tried, runs) = (0, 4 * runs());
    for codec in [CODECS[1], CODECS[2]] {
        if !encoder_is_here("damaged pictures", codec.1) {
            continue;
        }
        for file in damaged(&dir, codec, 10) {
            for threads in [1, 2] {
                let line = format!(
                    "-q --backend cpu --exact --decoder cpu:1 --threads {threads} {file} - --output-format rawvideo"
                );
                let first = dir.succeeds(&line).stdout;
                let same = (1..runs).all(|_| dir.succeeds(&line).stdout == first);
                assert!(same, "{file}: other bytes in another run, with {threads} threads");
                tried += 1;
            }
        }
    }
    println!("{tried} files and numbers of threads, {runs} runs each: the same bytes");
}

/// If decoding begins in the middle, FFmpeg logs errors about references to earlier frames.
#[test]
fn a_whole_stream_that_is_entered_in_the_middle_is_not_damaged() {
    let dir = Dir::new();
    let open = [
        ("libx264", "-preset veryfast -bf 3 -x264-params open-gop=1:keyint=25:b-pyramid=normal"),
        ("libx265", "-preset ultrafast -x265-params log-level=none:open-gop=1:keyint=25:bframes=3"),
    ];
    for (encoder, options) in open.into_iter().filter(|(encoder, _)| encoder_is_here("open groups", encoder)) {
        let source = "-f lavfi -i testsrc2=size=320x180:rate=25 -frames:v 150 -pix_fmt yuv420p";
        for file in ["whole.ts", "whole.mkv"] {
            dir.ffmpeg(&format!("{source} -c:v {encoder} {options} {file}"));
            for part in ["", "--start 2.3 ", "--start 3 --duration 1 "] {
                dir.succeeds(&format!("--backend cpu --strict --encoder ffv1 {part}-y {file} out.mkv"));
            }
        }
    }
}
