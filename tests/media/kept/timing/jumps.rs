//! Broadcasts whose clock starts anywhere and jumps: frames and audio continue without a gap.

use crate::media::kept::film;
use crate::support::media::reader::{assert_same_times, encoder_is_here};
use crate::support::programs::program::Dir;

/// A transport stream of two seconds of MPEG-2 video and audio whose clock starts at `start` seconds.
fn broadcast(dir: &Dir, file: &str, start: &str) {
    film(dir, file, "-c:v mpeg2video -bf 2 -g 12 -q:v 3", &format!("-c:a mp2 -output_ts_offset {start}"));
}

/// Concatenates files, as `cat` does.
fn join(dir: &Dir, parts: &[&str], file: &str) {
    dir.write(file, &parts.iter().flat_map(|part| dir.read(part)).collect::<Vec<u8>>());
}

/// Requires `frames` frames and `packets` audio packets. Timestamps never decrease, and no step reaches three times the
/// usual interval.
#[track_caller]
fn goes_on(dir: &Dir, file: &str, frames: usize, packets: usize) {
    let mut times = [dir.frame_times(file), dir.packet_times("a:0", file)];
    assert_eq!(times.each_ref().map(Vec::len), [frames, packets], "frames and packets of sound of {file}");
    for (times, interval) in times.iter_mut().zip([0.04, 0.024]) {
        for (index, pair) in times.windows(2).enumerate() {
            let step = pair[1] - pair[0];
            assert!((0.0..3.0 * interval).contains(&step), "{file}: a step of {step} s behind {index}");
        }
    }
    assert!((times[0][0] - times[1][0]).abs() < 0.1, "{file}: sound and picture begin apart");
    let ends = times.each_ref().map(|times| times[times.len() - 1]);
    assert!((ends[0] - ends[1]).abs() < 0.1, "{file}: sound and picture end apart, at {ends:?}");
}

#[test]
fn where_recordings_were_joined_times_go_on() {
    let dir = Dir::new();
    broadcast(&dir, "early.ts", "0");
    broadcast(&dir, "late.ts", "47000");
    film(&dir, "program.mpg", "-c:v mpeg2video -bf 2 -g 12 -q:v 3", "-c:a mp2 -f mpeg");
    for (name, parts) in [
        ("back.ts", ["early.ts", "early.ts"]),
        ("ahead.ts", ["early.ts", "late.ts"]),
        ("far_back.ts", ["late.ts", "early.ts"]),
        ("back.mpg", ["program.mpg", "program.mpg"]),
    ] {
        join(&dir, &parts, name);
        // The seam may damage packets; how many are left depends on the demuxer.
        let [frames, packets] = [dir.packets("v:0", name).len(), dir.packets("a:0", name).len()];
        for output in ["out.mkv", "out.mp4"] {
            dir.succeeds(&format!("--backend cpu --encoder mpeg4 -y {name} {output}"))
                .says(&["the clock of", "jumps by"]);
            goes_on(&dir, output, frames, packets);
        }
    }
}

#[test]
fn what_is_left_over_of_the_clock_before_a_seam_goes_with_the_rest_of_it() {
    if !encoder_is_here("recordings of a few seconds", "libx264") {
        return;
    }
    let dir = Dir::new();
    // A transport stream sends audio ahead, so audio crosses the seam before the last frames do.
    dir.ffmpeg(
        "-f lavfi -i testsrc2=size=64x64:rate=10:duration=4,noise=alls=60:allf=t -f lavfi -i sine=duration=4 -map 0 -map 1 \
         -c:v libx264 -bf 0 -pix_fmt yuv420p -c:a mp2 once.ts",
    );
    join(&dir, &["once.ts", "once.ts", "once.ts"], "thrice.ts");
    dir.succeeds("--backend cpu --encoder mpeg4 thrice.ts out.mkv");
    let length = |times: Vec<f64>| times[times.len() - 1] - times[0];
    for times in [dir.frame_times("out.mkv"), dir.packet_times("a:0", "out.mkv")] {
        let widest = times.windows(2).map(|pair| pair[1] - pair[0]).fold(0.0, f64::max);
        assert!(widest < 0.3, "a gap of {widest} s");
        assert!((length(times) - 12.0).abs() < 0.5);
    }
}

#[test]
fn a_part_behind_a_seam_can_be_asked_for() {
    let dir = Dir::new();
    broadcast(&dir, "once.ts", "0");
    join(&dir, &["once.ts", "once.ts"], "twice.ts");
    dir.succeeds("--backend cpu --encoder ffv1 --start 2.5 --duration 1 twice.ts out.mkv");
    let times = dir.frame_times("out.mkv");
    assert_eq!(times.len(), 25, "{times:?}");
    assert!(times[0] < 0.041 && times[24] < 1.0, "{times:?}");
    // `--start` before a seam after which the same timestamps occur again, or quite different ones.
    broadcast(&dir, "late.ts", "47000");
    join(&dir, &["once.ts", "late.ts"], "two.ts");
    for (start, input) in [(0.5, "twice.ts"), (1.5, "twice.ts"), (1.0, "two.ts"), (3.0, "two.ts")] {
        dir.succeeds(&format!("--backend cpu --encoder ffv1 --start {start} -y {input} whole.mkv"));
        let found = dir.frame_times("whole.mkv").len() as f64 / 25.0;
        assert!((found - (4.0 - start)).abs() < 0.2, "{found} s of {input} from {start} s on");
    }
}

#[test]
fn a_broadcast_of_hours_ago_begins_at_zero_in_a_file_and_when_it_was_in_a_broadcast() {
    let dir = Dir::new();
    // The second clock wraps a second after its start: it has 33 bits at 90 kHz, which is 95443.7 s.
    for (clock, start) in [("47000", 47000.0), ("95441.7", 0.0)] {
        broadcast(&dir, "in.ts", clock);
        let (frames, packets) = (dir.frame_times("in.ts").len(), dir.packet_times("a:0", "in.ts").len());
        for output in ["out.mkv", "out.mp4"] {
            dir.succeeds(&format!("--backend cpu --encoder mpeg4 -y in.ts {output}"));
            goes_on(&dir, output, frames, packets);
            let first = dir.frame_times(output)[0];
            assert!((0.0..0.2).contains(&first), "in.ts of {clock} s begins at {first} in {output}");
        }
        if encoder_is_here("a transport stream from a transport stream", "libx264") {
            dir.succeeds("--backend cpu --encoder libx264 --preset ultrafast -y in.ts out.ts");
            goes_on(&dir, "out.ts", frames, packets);
            let first = dir.frame_times("out.ts")[0];
            assert!((start..start + 2.0).contains(&first), "in.ts of {clock} s begins at {first} in out.ts");
        }
    }
}

#[test]
fn a_long_gap_in_one_stream_is_no_jump_of_the_clock() {
    let dir = Dir::new();
    let silence = r"aselect=not(between(t\,1\,13))";
    dir.ffmpeg(&format!(
        "-f lavfi -i testsrc2=size=64x48:rate=5:duration=15 -f lavfi -i sine=duration=15:sample_rate=48000 -af {silence} \
         -c:v mpeg2video -r 25 -g 12 -q:v 5 -c:a mp2 in.ts"
    ));
    dir.succeeds("--backend cpu --encoder mpeg4 in.ts out.mkv").never_says("jumps");
    assert_same_times(&dir.packet_times("a:0", "out.mkv"), &dir.packet_times("a:0", "in.ts"), 0.002);
    assert_same_times(&dir.frame_times("out.mkv"), &dir.frame_times("in.ts"), 0.002);
}

#[test]
fn in_a_container_that_begins_at_zero_sound_and_picture_do() {
    let dir = Dir::new();
    broadcast(&dir, "in.ts", "3");
    dir.succeeds("--backend cpu --encoder mpeg4 in.ts out.avi");
    let times = dir.frame_times("out.avi");
    assert!(times[0] < 0.1 && times[times.len() - 1] < 2.2, "{times:?}");
}
