//! A file that another input names, as a playlist does, is never replaced by an output.

use crate::support::programs::program::Dir;
use crate::support::skip::skip;

const FILM: &str = "-f lavfi -i testsrc2=size=64x48:rate=25";

/// Two clips of 50 frames.
fn clips(dir: &Dir) {
    dir.ffmpeg(&format!("{FILM} -frames:v 50 -c:v ffv1 a.mkv"));
    std::fs::copy(dir.path("a.mkv"), dir.path("b.mkv")).expect("a copy");
}

#[test]
fn an_output_that_the_input_names_is_refused() {
    let dir = Dir::new();
    clips(&dir);
    dir.ffmpeg(&format!("{FILM} -frames:v 5 img%03d.png"));
    let segments = "-c:v mpeg2video -g 25 -hls_time 1 -hls_list_size 0";
    dir.ffmpeg(&format!("{FILM} -frames:v 100 {segments} list.m3u8"));
    dir.write("master.m3u8", b"#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=100000\nlist.m3u8\n");
    dir.write("l.ffconcat", b"ffconcat version 1.0\nfile a.mkv\nfile 'b.mkv'\n");
    dir.write("l.txt", b"file a.mkv\nfile b.mkv\n");
    dir.write("c.txt", b"# mine\n\n  file a.mkv\n\tfile b.mkv\n");
    dir.write("f.txt", b"list0.ts\nlist1.ts\n");
    dir.write("x.cube", b"LUT_1D_SIZE 2\n0 0 0\n1 1 1\n");
    std::fs::create_dir(dir.path("folder")).expect("a folder");
    std::fs::hard_link(dir.path("b.mkv"), dir.path("twin.mkv")).expect("a hard link");
    std::os::unix::fs::symlink("b.mkv", dir.path("link.mkv")).expect("a link");
    let before = dir.files();
    for line in [
        "-y l.ffconcat a.mkv",
        "-y l.ffconcat ./folder/../b.mkv",
        "-y l.ffconcat twin.mkv",
        "-y l.ffconcat link.mkv",
        "-y --sandbox off l.ffconcat b.mkv",
        "-y --jobs 2 l.ffconcat b.mkv",
        "-y -f concat l.txt b.mkv",
        "-y -f concat c.txt b.mkv",
        "-y --sandbox off -f concat c.txt b.mkv",
        "live -y --no-preview -f concat --record b.mkv c.txt",
        "-y --encoder mpeg2video concatf:f.txt list1.ts",
        "-y --save-curves b.mkv l.ffconcat out.mkv",
        "-y --encoder mpeg2video list.m3u8 list2.ts",
        "-y --encoder mpeg2video --sandbox off list.m3u8 list2.ts",
        "-y --encoder mpeg2video master.m3u8 list3.ts",
        "-y --encoder mpeg2video master.m3u8 list.m3u8",
        "-y --encoder mpeg2video --sandbox off concat:list0.ts|list1.ts list1.ts",
        "-y --frames 1 img%03d.png img003.png",
        "-y -f lavfi movie=b.mkv b.mkv",
        "-y --lut x.cube --save-curves x.cube a.mkv out.mkv",
        "compare -y a.mkv l.ffconcat b.mkv",
        "live -y --no-preview --record b.mkv l.ffconcat",
    ] {
        let run = dir.run(line).exits_with(10).says(&["is the input itself"]);
        assert_eq!(run.stderr.lines().count(), 1, "`{line}` said {}", run.stderr);
        assert!(dir.files() == before, "`{line}` changed files: {:?}", dir.names());
    }
    dir.succeeds("-y --frames 3 l.ffconcat out.mkv");
    dir.succeeds("-y --frames 3 l.ffconcat out.mkv");
    assert_eq!(dir.frames("out.mkv").len(), 3);
}

#[test]
fn what_turns_out_to_be_read_is_not_replaced() {
    let dir = Dir::new();
    clips(&dir);
    // The extension `.txt` does not show that this is a playlist.
    dir.write("inner.txt", b"ffconcat version 1.0\nfile b.mkv\n");
    std::fs::copy(dir.path("b.mkv"), dir.path("other.mov")).expect("a file");
    dir.write("first.ffconcat", b"ffconcat version 1.0\nfile inner.txt\nfile a.mkv\n");
    dir.write("last.ffconcat", b"ffconcat version 1.0\nfile a.mkv\nfile inner.txt\n");
    let before = dir.files();
    for line in ["-y first.ffconcat b.mkv", "-y --filter movie=other.mov[b];[in][b]overlay a.mkv other.mov"] {
        dir.run(line).exits_with(10).says(&["is the input itself, or one of the files"]);
        assert!(dir.files() == before, "`{line}` changed files: {:?}", dir.names());
    }
    // The finished output is kept under another name.
    dir.run("-y last.ffconcat b.mkv").exits_with(10).says(&["b.mkv: cannot be replaced", "b.new.mkv"]);
    assert_eq!(dir.frames("b.new.mkv").len(), 100);
    std::fs::remove_file(dir.path("b.new.mkv")).expect("it was there");
    assert!(dir.files() == before, "{:?}", dir.names());
}

#[test]
fn a_segment_that_a_template_names_is_not_replaced() {
    let dir = Dir::new();
    let segments = "-c:v mpeg4 -g 25 -seg_duration 1 -f dash";
    dir.ffmpeg(&format!("{FILM} -frames:v 100 {segments} in.mpd"));
    if dir.try_tool("ffprobe", "-v error in.mpd").code != Some(0) {
        return skip("dash", "this FFmpeg does not read it");
    }
    let before = dir.files();
    for number in [1, 4] {
        let segment = format!("chunk-stream0-{number:05}.m4s");
        let line = format!("-y --encoder mpeg2video --output-format mpegts in.mpd {segment}");
        dir.run(&line).exits_with(10).says(&[&format!("{segment} is the input itself")]);
        assert!(dir.files() == before, "{:?}", dir.names());
    }
}

#[test]
fn what_a_filter_or_a_muxer_opens_by_itself_is_not_replaced() {
    let dir = Dir::new();
    clips(&dir);
    dir.write("g.cube", b"LUT_3D_SIZE 2\n0 0 0\n1 0 0\n0 1 0\n1 1 0\n0 0 1\n1 0 1\n0 1 1\n1 1 1\n");
    std::fs::copy(dir.path("b.mkv"), dir.path("o0.ts")).expect("a copy");
    // The extension `.txt` does not show that this is a playlist.
    dir.write("inner.txt", b"ffconcat version 1.0\nfile o0.ts\n");
    dir.write("l.ffconcat", b"ffconcat version 1.0\nfile inner.txt\nfile a.mkv\n");
    let (cube, segment) = (dir.read("g.cube"), dir.read("o0.ts"));
    assert_ne!(dir.run("-y --filter lut3d=g.cube --save-curves g.cube a.mkv o.mkv").code, Some(0));
    assert!(dir.read("g.cube") == cube, "the cube was replaced");
    let line = "-y --encoder mpeg2video --output-option hls_flags=temp_file l.ffconcat o.m3u8";
    assert_ne!(dir.run(line).code, Some(0));
    assert!(dir.read("o0.ts") == segment, "the segment was replaced");
}

#[test]
fn no_output_of_many_takes_the_place_of_another_input() {
    let dir = Dir::new();
    clips(&dir);
    std::fs::create_dir(dir.path("d")).expect("a folder");
    std::fs::copy(dir.path("b.mkv"), dir.path("d/a.mkv")).expect("a copy");
    dir.write("l.ffconcat", b"ffconcat version 1.0\nfile d/a.mkv\n");
    let before = dir.read("d/a.mkv");
    for line in ["-y --output-dir d a.mkv l.ffconcat", "-y --jobs 2 --output-dir d l.ffconcat a.mkv"] {
        dir.run(line).exits_with(2).says(&["d/a.mkv would be replaced"]);
        assert!(dir.read("d/a.mkv") == before, "`{line}` replaced it");
    }
    dir.succeeds("-y --frames 3 --output-dir d a.mkv");
}
