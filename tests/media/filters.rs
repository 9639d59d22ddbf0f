//! Filters before equalization: frames equal those of FFmpeg's filters, and everything else is kept.

use crate::support::backends::gpu;
use crate::support::media::reader::{assert_same_times, encoder_is_here, seconds};
use crate::support::programs::program::Dir;
use crate::support::programs::running::Running;
use crate::support::skip::skip;
use rustix::process::Signal;
use std::process::Stdio;
use std::time::Duration;

/// Two seconds of moving video at 25 frames/s.
fn film(dir: &Dir, file: &str, options: &str) {
    dir.ffmpeg(&format!("-f lavfi -i testsrc2=size=96x64:rate=25:duration=2 {options} {file}"));
}

/// Requires equal frames and timestamps in both files.
#[track_caller]
fn assert_same_films(dir: &Dir, [found, expected]: [&str; 2], what: &str) {
    let format = dir.pixel_format(expected);
    assert_eq!(dir.pixel_format(found), format, "{what}");
    assert!(dir.raw(found, format) == dir.raw(expected, format), "{what}: the samples differ");
    assert_same_times(&dir.frame_times(found), &dir.frame_times(expected), 1e-9);
}

#[test]
fn a_filtered_film_is_what_comes_of_one_that_ffmpeg_has_filtered() {
    let dir = Dir::new();
    film(&dir, "8.mkv", "-c:v ffv1 -pix_fmt yuv420p");
    film(&dir, "10.mkv", "-c:v ffv1 -pix_fmt yuv420p10le");
    film(&dir, "rgb.mkv", "-c:v ffv1 -pix_fmt gbrp10le");
    film(&dir, "raw.y4m", "-pix_fmt yuv422p");
    let chains = [
        // The first four chains are tried on all films.
        "hqdn3d",
        "atadenoise",
        "yadif=1",
        "scale=48:32",
        // The other chains are tried on the first film.
        "fps=50",
        "fps=10",
        "crop=41:31",
        "vflip",
        "reverse",
        "setpts=2*PTS",
        "trim=end_frame=10",
        "'select=not(mod(n\\,3))'",
        "split[a][b];[a]hflip[c];[b][c]hstack",
        "[in]negate",
        "tinterlace",
        "setsar=2",
    ];
    for (film, format) in
        [("8.mkv", "yuv420p"), ("10.mkv", "yuv420p10le"), ("rgb.mkv", "gbrp10le"), ("raw.y4m", "yuv422p")]
    {
        for chain in chains.into_iter().take(if film == "8.mkv" { chains.len() } else { 4 }) {
            dir.succeeds(&format!("--backend cpu -y --encoder ffv1 --filter {chain} {film} found.mkv"));
            dir.ffmpeg(&format!("-i {film} -vf {chain},format={format} -c:v ffv1 filtered.mkv"));
            dir.succeeds("--backend cpu -y --encoder ffv1 filtered.mkv expected.mkv");
            assert_same_films(&dir, ["found.mkv", "expected.mkv"], &format!("{chain} of {film}"));
        }
    }
}

#[test]
fn full_range_stays_full_range() {
    let dir = Dir::new();
    film(&dir, "in.mov", "-c:v mjpeg -pix_fmt yuvj422p");
    for chain in ["hqdn3d", "scale=48:32", "negate"] {
        dir.succeeds(&format!(
            "--backend cpu -y --levels 1 --strength 0 --encoder ffv1 --filter {chain} in.mov out.mkv"
        ));
        let expected = dir.ffmpeg(&format!("-i in.mov -vf {chain} -f rawvideo -pix_fmt yuvj422p -")).stdout;
        assert!(dir.raw("out.mkv", "yuvj422p") == expected, "{chain}");
        assert_eq!(dir.frames("out.mkv")[0]["color_range"], "pc", "{chain}");
    }
}

#[test]
fn frames_that_filters_hold_come_out_at_the_end_and_in_step_with_the_sound() {
    let dir = Dir::new();
    dir.ffmpeg(
        "-f lavfi -i testsrc2=size=96x64:rate=25:duration=2 -f lavfi -i sine=duration=2:sample_rate=48000 \
         -map 0 -map 1 -c:v ffv1 -c:a pcm_s16le in.mkv",
    );
    let sound = dir.packet_times("a:0", "in.mkv");
    for options in ["--filter atadenoise=s=25", "--denoise 0.3", "--denoise 0.3 --filter yadif,hqdn3d"] {
        dir.succeeds(&format!("--backend cpu -y --encoder ffv1 {options} in.mkv out.mkv"));
        assert_same_times(&dir.frame_times("out.mkv"), &dir.frame_times("in.mkv"), 1e-9);
        assert_same_times(&dir.packet_times("a:0", "out.mkv"), &sound, 1e-9);
        assert_eq!(dir.payload("0:a:0", "out.mkv"), dir.payload("0:a:0", "in.mkv"), "{options}");
    }
}

#[test]
fn parts_count_in_the_input_and_filters_see_the_part_alone() {
    let dir = Dir::new();
    film(&dir, "in.mkv", "-c:v ffv1");
    film(&dir, "in.y4m", "");
    for (part, cut) in [
        ("--start 0.4 --frames 20", "trim=start_frame=10:end_frame=30"),
        ("--start 0.4 --duration 0.8", "trim=start_frame=10:end_frame=30"),
        ("--frames 7", "trim=end_frame=7"),
    ] {
        for (input, chain) in [("in.mkv", "reverse"), ("in.mkv", "setpts=2*PTS"), ("in.y4m", "fps=50")] {
            dir.succeeds(&format!("--backend cpu -y --exact --encoder ffv1 {part} --filter {chain} {input} found.mkv"));
            dir.ffmpeg(&format!("-i {input} -vf {cut},setpts=PTS-STARTPTS,{chain} -c:v ffv1 filtered.mkv"));
            dir.succeeds("--backend cpu -y --exact --encoder ffv1 filtered.mkv expected.mkv");
            assert_same_films(&dir, ["found.mkv", "expected.mkv"], &format!("{chain} of {input}, {part}"));
        }
    }
}

#[test]
fn a_part_without_noise_is_that_part_of_the_whole_without_noise() {
    let dir = Dir::new();
    film(&dir, "in.mkv", "-vf noise=alls=20:allf=t:all_seed=7 -c:v ffv1 -pix_fmt yuv420p");
    for look in ["--exact", ""] {
        dir.succeeds(&format!("--backend cpu -y {look} --denoise 1 --encoder ffv1 in.mkv whole.mkv"));
        dir.succeeds(&format!("--backend cpu -y {look} --denoise 1 --start 0.4 --frames 20 in.mkv part.mkv"));
        let frame = 96 * 64 * 3 / 2;
        let whole = dir.raw("whole.mkv", "yuv420p");
        assert!(dir.raw("part.mkv", "yuv420p") == whole[10 * frame..30 * frame], "{look}");
    }
}

#[test]
fn noise_goes_by_its_share() {
    let dir = Dir::new();
    film(&dir, "in.mkv", "-vf noise=alls=20:allf=t:all_seed=7 -c:v ffv1 -pix_fmt yuv420p");
    let change = |share: &str| -> u64 {
        dir.succeeds(&format!(
            "--backend cpu -y --method global --levels 1 --strength 0 --encoder ffv1 --denoise {share} in.mkv out.mkv"
        ));
        let (before, after) = (dir.raw("in.mkv", "yuv420p"), dir.raw("out.mkv", "yuv420p"));
        before.iter().zip(&after).map(|(&before, &after)| u64::from(before.abs_diff(after))).sum()
    };
    let changes = ["0", "0.2", "0.49", "0.5", "1"].map(change);
    assert!(changes[0] == 0 && changes.is_sorted() && 2 * changes[1] < changes[4], "{changes:?}");
}

#[test]
fn clips_that_are_shorter_than_a_denoiser_reaches_keep_all_frames() {
    let dir = Dir::new();
    for frames in [1, 2, 4, 5] {
        dir.ffmpeg(&format!("-f lavfi -i testsrc2=size=96x64:rate=25 -frames:v {frames} -c:v ffv1 in.mkv"));
        dir.succeeds("--backend cpu -y --denoise 1 --encoder ffv1 in.mkv out.mkv");
        assert_same_times(&dir.frame_times("out.mkv"), &dir.frame_times("in.mkv"), 1e-9);
    }
    dir.ffmpeg("-f lavfi -i testsrc2=size=96x64 -frames:v 1 in.png");
    dir.succeeds("--backend cpu --denoise 1 in.png out.png");
    assert_eq!(dir.frames("out.png").len(), 1);
}

#[test]
fn no_bit_is_lost_without_a_word() {
    let dir = Dir::new();
    film(&dir, "in.mkv", "-frames:v 5 -c:v ffv1 -pix_fmt yuv420p10le");
    let run = dir.succeeds("--backend cpu --encoder ffv1 --filter nlmeans=r=3 in.mkv out.mkv");
    assert!(run.stderr.contains("do not take yuv420p10le: it is narrowed to yuv420p for them"), "{run:?}");
    assert_eq!(dir.pixel_format("out.mkv"), "yuv420p10le");
    dir.run("--backend cpu --strict --filter nlmeans=r=3 in.mkv strict.mkv").fails();
    assert_eq!(dir.names(), ["in.mkv", "out.mkv"]);
    let run = dir.succeeds("--backend cpu --strict -y --encoder ffv1 --denoise 1 in.mkv out.mkv");
    run.never_says("narrowed");
    // A filter that works in RGB; its output becomes YUV again.
    film(&dir, "yuv.mkv", "-frames:v 5 -c:v ffv1 -pix_fmt yuv420p");
    dir.succeeds("--backend cpu --strict -y --encoder ffv1 --filter curves=vintage yuv.mkv out.mkv");
    assert_eq!(dir.pixel_format("out.mkv"), "yuv420p");
    dir.succeeds("--backend cpu --strict -y --encoder ffv1 --filter format=gray yuv.mkv out.mkv");
    assert_eq!(dir.pixel_format("out.mkv"), "gray");
}

#[test]
fn hdr_metadata_passes_through_filters() {
    if !encoder_is_here("HDR metadata", "libx265") {
        return;
    }
    let dir = Dir::new();
    film(
        &dir,
        "in.mp4",
        "-frames:v 10 -pix_fmt yuv420p10le -c:v libx265 -x265-params log-level=none:colorprim=bt2020:\
         transfer=smpte2084:colormatrix=bt2020nc:master-display=G(13250,34500)B(7500,3000)R(34000,16000)\
         WP(15635,16450)L(10000000,50):max-cll=1000,400",
    );
    dir.succeeds("--backend cpu --filter hqdn3d --denoise 1 in.mp4 out.mp4");
    let about = |file: &str| {
        let frame = &dir.frames(file)[0];
        let data = frame["side_data_list"].as_array().expect("side data").clone();
        let of_display = |data: &&serde_json::Value| {
            let kind = data["side_data_type"].as_str().unwrap_or_default();
            kind.contains("Mastering")
        };
        let colour = ["pix_fmt", "color_range", "color_space", "color_primaries", "color_transfer"];
        (colour.map(|key| frame[key].clone()), data.iter().filter(of_display).cloned().collect::<Vec<_>>())
    };
    assert_eq!(about("out.mp4").1.len(), 1);
    assert_eq!(about("out.mp4"), about("in.mp4"));
}

#[test]
fn fields_stay_fields_unless_a_filter_makes_them_frames() {
    let dir = Dir::new();
    film(&dir, "in.mkv", "-vf tinterlace=interleave_top -c:v mpeg2video -flags +ilme+ildct -q:v 2");
    for (chain, interlaced) in [("hqdn3d", 1), ("yadif", 0)] {
        dir.succeeds(&format!("--backend cpu -y --filter {chain} in.mkv out.mkv"));
        let frames = dir.frames("out.mkv");
        assert!(frames.iter().all(|frame| frame["interlaced_frame"] == interlaced), "{chain}: {frames:?}");
    }
}

#[test]
fn a_change_of_size_begins_the_filters_again_and_loses_no_frame() {
    let dir = Dir::new();
    let mut both = Vec::new();
    for size in ["96x64", "128x64"] {
        dir.ffmpeg(&format!(
            "-f lavfi -i testsrc2=size={size}:rate=25 -frames:v 10 -c:v mpeg2video -f mpeg2video one.m2v"
        ));
        both.extend(dir.read("one.m2v"));
    }
    dir.write("in.m2v", &both);
    dir.succeeds("--backend cpu --encoder ffv1 in.m2v plain.mkv");
    let frames = dir.frame_times("plain.mkv").len();
    assert!(frames >= 19, "{frames}");
    for options in ["--filter atadenoise", "--denoise 1", "--filter scale=48:48"] {
        dir.succeeds(&format!("--backend cpu -y --encoder ffv1 {options} in.m2v out.mkv"));
        assert_eq!(dir.frame_times("out.mkv").len(), frames, "{options}");
    }
}

#[test]
fn a_bad_chain_is_refused_in_one_line_before_anything_is_written() {
    let dir = Dir::new();
    film(&dir, "in.mkv", "-frames:v 5 -c:v ffv1");
    for (chain, reason) in [
        ("nosuch=1", "No such filter: 'nosuch'"),
        ("hqdn3d=nosuch=1", "'nosuch'"),
        ("overlay", "not connected"),
        ("split", "not connected"),
        ("testsrc", "not connected"),
        ("nullsink", "not connected"),
        ("volume=2", "Media type mismatch"),
        ("crop=1000:1000", "Invalid too big"),
    ] {
        let remedy = "(it takes what ffmpeg -vf takes: video filters, with one input and one output; `ffmpeg -filters`";
        for line in ["--backend cpu in.mkv out.mkv", "live --backend cpu --no-preview --record out.mkv in.mkv"] {
            let run = dir.run(&format!("{line} --filter {chain}")).fails();
            assert_eq!(run.stderr.lines().count(), 1, "{run:?}");
            run.says(&[&format!("--filter {chain}: "), reason, remedy]);
        }
    }
    for chain in ["''", "' '"] {
        let run = dir.run(&format!("--backend cpu --filter {chain} in.mkv out.mkv")).fails();
        assert_eq!(run.stderr.lines().count(), 1, "{run:?}");
        run.says(&["--filter: the chain is empty (leave --filter out, or name a filter)"]);
    }
    let run = dir.run("--backend cpu --filter select=0 in.mkv out.mkv").fails();
    run.says(&["--filter select=0: the filters let no frame through"]);
    dir.run("--backend cpu --denoise 1.5 in.mkv out.mkv").exits_with(2).says(&["--denoise", "a number from 0 to 1"]);
    assert_eq!(dir.names(), ["in.mkv"]);
}

#[test]
fn ctrl_c_ends_filters_that_never_end() {
    let dir = Dir::new();
    film(&dir, "in.mkv", "-frames:v 5 -c:v ffv1");
    let mut command = dir.command("--backend cpu -q --encoder ffv1 --filter tpad=stop=-1 in.mkv out.mkv");
    let mut running = Running::start(command.stderr(Stdio::null()));
    running.wait_until_it_listens();
    std::thread::sleep(Duration::from_millis(500));
    running.signal(Signal::INT);
    assert_eq!(running.ends_within(Duration::from_secs(60)), Some(130));
}

#[test]
fn live_pictures_pass_through_filters_too() {
    let dir = Dir::new();
    let camera = "-f lavfi 'testsrc2=s=160x96:r=30,realtime'";
    let filters = "--denoise 1 --filter scale=80:-2,fps=15";
    let run = dir.succeeds(&format!(
        "live --backend cpu --no-preview {camera} {filters} --frames 30 --encoder mpeg4 --record out.mkv"
    ));
    let frames = dir.frames("out.mkv");
    assert!((14..=16).contains(&frames.len()), "{} frames: {run:?}", frames.len());
    assert!(frames.iter().all(|frame| (&frame["width"], &frame["height"]) == (&80.into(), &48.into())), "{frames:?}");
    for pair in frames.windows(2) {
        let step = seconds(&pair[1]["pts_time"]) - seconds(&pair[0]["pts_time"]);
        assert!((step - 1.0 / 15.0).abs() < 0.002, "{step}");
    }
}

#[test]
fn pictures_of_nvdec_come_down_to_be_filtered() {
    let Some(_) = gpu() else { return };
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=854x480:rate=25:duration=2 -c:v libx264 -bf 3 in.mp4");
    for decoder in ["cpu", "nvdec"] {
        let line = format!("--decoder {decoder} --filter hqdn3d --encoder ffv1 in.mp4 {decoder}.mkv");
        let run = dir.run(&line);
        if run.stderr.contains("cannot decode") {
            skip("nvdec", &run.stderr);
            return;
        }
        run.exits_with(0);
    }
    assert_same_films(&dir, ["nvdec.mkv", "cpu.mkv"], "hqdn3d");
}

#[test]
fn a_film_filtered_after_equalization_is_what_ffmpeg_makes_of_the_equalized_one() {
    let dir = Dir::new();
    film(&dir, "8.mkv", "-c:v ffv1 -pix_fmt yuv420p");
    film(&dir, "10.mkv", "-c:v ffv1 -pix_fmt yuv420p10le");
    for (film, format) in [("8.mkv", "yuv420p"), ("10.mkv", "yuv420p10le")] {
        dir.succeeds(&format!("--backend cpu -y --encoder ffv1 {film} equalized.mkv"));
        for chain in [
            "scale=48:32",
            "crop=40:30",
            "transpose=1",
            "fps=50",
            "fps=10",
            "reverse",
            "trim=end_frame=10",
            "yadif=1",
            "hqdn3d",
            "atadenoise=s=25",
        ] {
            let line = "--backend cpu -y --encoder ffv1 --stats found.csv";
            dir.succeeds(&format!("{line} --filter-after {chain} {film} found.mkv"));
            dir.ffmpeg(&format!("-i equalized.mkv -vf {chain},format={format} -c:v ffv1 expected.mkv"));
            assert_same_films(&dir, ["found.mkv", "expected.mkv"], &format!("{chain} after {film}"));
            let records = String::from_utf8(dir.read("found.csv")).expect("text");
            assert_eq!(records.lines().count(), 51, "the frames ahead of {chain} are measured");
        }
    }
    // `--output-depth` together with filters before and after equalization.
    dir.succeeds(
        "--backend cpu --encoder ffv1 --filter hflip --filter-after hflip,scale=32:32 --output-depth 10 8.mkv deep.mkv",
    );
    assert_eq!((dir.pixel_format("deep.mkv"), dir.frame_times("deep.mkv").len()), ("yuv420p10le", 50));
}

#[test]
fn sound_stays_in_step_with_a_film_that_is_filtered_after_equalization() {
    let dir = Dir::new();
    dir.ffmpeg(
        "-f lavfi -i testsrc2=size=96x64:rate=25:duration=2 -f lavfi -i sine=duration=2:sample_rate=48000 \
         -map 0 -map 1 -c:v ffv1 -c:a pcm_s16le in.mkv",
    );
    dir.succeeds("--backend cpu --encoder ffv1 --filter-after atadenoise=s=25 in.mkv out.mkv");
    assert_same_times(&dir.frame_times("out.mkv"), &dir.frame_times("in.mkv"), 1e-9);
    assert_same_times(&dir.packet_times("a:0", "out.mkv"), &dir.packet_times("a:0", "in.mkv"), 1e-9);
}

#[test]
fn a_filter_after_equalization_that_fails_is_named() {
    let dir = Dir::new();
    film(&dir, "in.mkv", "-c:v ffv1");
    for (chain, says) in [
        ("sharpness", "sharpness"),
        ("crop=999:999", "--filter-after crop=999:999"),
        ("''", "--filter-after: the chain is empty"),
        ("'select=0'", "--filter-after select=0: the filters let no frame through"),
    ] {
        let run = dir.run(&format!("--backend cpu --filter-after {chain} in.mkv out.mkv")).fails();
        assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
        run.says(&["--filter-after", says]);
        assert_eq!(dir.names(), ["in.mkv"], "{chain}");
    }
}
