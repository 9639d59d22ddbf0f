//! `preview`: one sheet that shows a few frames under every look.

use crate::support::pictures::apart;
use crate::support::programs::program::{Dir, Run};

/// The left edge of the first column, and the gap between cells, in pixels.
const LEFT: usize = 202;
const GAP: usize = 8;

/// The looks in the order of their rows; row 0 is the original.
const LOOKS: [&str; 7] = ["natural", "night", "haze", "underwater", "faithful", "thermal", "exact"];

/// 40 frames at 25 frames/s; each is brighter than the one before by four levels.
fn clip(dir: &Dir, file: &str) {
    let picture = "format=yuv420p,geq=lum=16+mod(X+Y\\,64)/2+4*N:cb=128:cr=128";
    let codec = if file.ends_with(".y4m") { "" } else { "-c:v ffv1" };
    dir.ffmpeg(&format!("-f lavfi -i nullsrc=size=480x270:rate=25 -vf {picture} -frames:v 40 {codec} {file}"));
}

fn photo(dir: &Dir) {
    dir.ffmpeg(
        r"-f lavfi -i testsrc2=size=640x360 -vf format=gbrp,geq=r=r(X\,Y)*(Y+60)/1000+(360-Y)/6:g=g(X\,Y)*(Y+60)/1000+(360-Y)/6+4:b=b(X\,Y)*(Y+60)/1000+(360-Y)/6+8 -frames:v 1 -update 1 in.png",
    );
}

/// An 8-bit RGB image.
struct Rgb {
    width: usize,
    bytes: Vec<u8>,
}

impl Rgb {
    /// The first frame of a file.
    fn open(dir: &Dir, file: &str) -> Self {
        let width = dir.streams(file)[0]["width"].as_u64().expect("a width") as usize;
        Rgb { width, bytes: dir.raw(file, "rgb24") }
    }

    fn size(&self) -> (usize, usize) {
        (self.width, self.bytes.len() / 3 / self.width)
    }

    /// The bytes of a rectangle of the image.
    fn cut(&self, (x, y): (usize, usize), (width, height): (usize, usize)) -> Vec<u8> {
        let row = |row: usize| &self.bytes[3 * (row * self.width + x)..][..3 * width];
        (y..y + height).flat_map(|y| row(y).to_vec()).collect()
    }

    /// The bytes of a cell; all cells of the sheet have the size `cell`.
    fn cell(&self, column: usize, row: usize, cell: (usize, usize)) -> Vec<u8> {
        let top = self.size().1 - 8 * (cell.1 + GAP);
        self.cut((LEFT + column * (cell.0 + GAP), top + row * (cell.1 + GAP)), cell)
    }
}

/// The frames `numbers` of a file, scaled to this size.
fn all_scaled(dir: &Dir, file: &str, numbers: &[usize], (width, height): (usize, usize)) -> Vec<Vec<u8>> {
    let chosen: Vec<String> = numbers.iter().map(|number| format!("eq(n\\,{number})")).collect();
    let scale = format!("scale={width}:{height}:flags=bicubic+accurate_rnd+full_chroma_int");
    let filters = format!("select={},{scale},format=rgb24", chosen.join("+"));
    dir.ffmpeg(&format!("-i {file} -vf {filters} -fps_mode passthrough -f rawvideo scaled.rgb"));
    let frames: Vec<Vec<u8>> = dir.read("scaled.rgb").chunks(3 * width * height).map(<[u8]>::to_vec).collect();
    assert_eq!(frames.len(), numbers.len(), "frames of {file}");
    frames
}

fn scaled(dir: &Dir, file: &str, number: usize, size: (usize, usize)) -> Vec<u8> {
    all_scaled(dir, file, &[number], size).remove(0)
}

#[test]
fn a_video_has_a_column_for_each_of_four_frames_and_a_row_for_each_look() {
    let dir = Dir::new();
    clip(&dir, "in.mkv");
    let run = dir.succeeds("preview in.mkv").says(&["4 frames under 7 looks", " -> in-looks.png"]);
    assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
    assert_eq!(dir.names(), ["in-looks.png", "in.mkv"]);
    let (sheet, cell) = (Rgb::open(&dir, "in-looks.png"), (320, 180));
    assert_eq!(sheet.size(), (LEFT + 4 * 328, 36 + 8 * 188));
    // These looks run without a denoiser, so `preview` has the whole temporal window and matches a run.
    for (row, look) in [(0, "the original"), (1, "natural"), (3, "haze"), (6, "thermal"), (7, "exact")] {
        let file = if row == 0 { "in.mkv" } else { "out.mkv" };
        if row > 0 {
            dir.succeeds(&format!("-q -y --look {look} --encoder ffv1 in.mkv out.mkv"));
        }
        let frames = all_scaled(&dir, file, &[5, 15, 25, 35], cell);
        for (column, frame) in frames.iter().enumerate() {
            let levels = apart(&sheet.cell(column, row, cell), frame);
            assert!(levels < 1.0, "column {column} under {look} is {levels} levels apart");
        }
    }
}

#[test]
fn an_image_is_shown_as_each_look_makes_it() {
    let dir = Dir::new();
    photo(&dir);
    dir.succeeds("preview in.png").says(&["1 frame under 7 looks"]);
    let (sheet, cell) = (Rgb::open(&dir, "in-looks.png"), (480, 270));
    assert_eq!(sheet.size(), (LEFT + 488, GAP + 8 * 278));
    let original = sheet.cell(0, 0, cell);
    assert!(apart(&original, &scaled(&dir, "in.png", 0, cell)) < 1.0);
    for (row, look) in (1..).zip(LOOKS) {
        dir.succeeds(&format!("-q -y --look {look} in.png out.png"));
        let found = sheet.cell(0, row, cell);
        let difference = apart(&found, &scaled(&dir, "out.png", 0, cell));
        assert!(difference < 1.0, "{look} is {difference} levels apart");
        assert!(apart(&found, &original) > 2.0, "{look} does nothing");
        assert!((0..row).all(|other| apart(&found, &sheet.cell(0, other, cell)) > 0.1), "{look} is as another look");
    }
}

#[test]
fn columns_are_of_the_part_that_is_asked_for() {
    let dir = Dir::new();
    clip(&dir, "in.mkv");
    dir.succeeds("preview --start 0.8 --duration 0.2 --frames 1 in.mkv part.png");
    let part = Rgb::open(&dir, "part.png");
    assert_eq!(part.size(), (LEFT + 488, 36 + 8 * 278));
    assert!(apart(&part.cell(0, 0, (480, 270)), &scaled(&dir, "in.mkv", 22, (480, 270))) < 1.0);
    dir.run("preview --start 100 in.mkv").exits_with(2).says(&["no frame at or after --start"]);
    dir.run("preview --frames 9 in.mkv").exits_with(2);
}

#[test]
fn frames_are_counted_where_the_length_is_not_known() {
    let dir = Dir::new();
    clip(&dir, "in.y4m");
    dir.succeeds("preview --frames 2 in.y4m");
    let (sheet, cell) = (Rgb::open(&dir, "in-looks.png"), (320, 180));
    assert_eq!(sheet.size().0, LEFT + 2 * 328);
    for (column, frame) in [10, 30].into_iter().enumerate() {
        assert!(apart(&sheet.cell(column, 0, cell), &scaled(&dir, "in.y4m", frame, cell)) < 1.0);
    }
}

#[test]
fn short_videos_have_a_column_for_each_frame_and_keep_their_shape() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -vf setsar=2 -frames:v 2 -c:v ffv1 wide.mkv");
    dir.succeeds("preview wide.mkv");
    assert_eq!(Rgb::open(&dir, "wide-looks.png").size(), (LEFT + 2 * 328, 36 + 8 * 128));
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 3 frame%03d.png");
    dir.succeeds("preview frame%03d.png");
    assert_eq!(Rgb::open(&dir, "frame-looks.png").size(), (LEFT + 3 * 328, 36 + 8 * 248));
}

#[test]
fn a_sheet_that_exists_is_only_overwritten_when_told_so() {
    let dir = Dir::new();
    photo(&dir);
    dir.write("in-looks.png", b"precious");
    for (line, code, says) in [("preview in.png", 1, "-y"), ("preview -n in.png", 3, "nothing was done")] {
        dir.run(line).ends_as(code).says(&["in-looks.png exists", says]);
        assert_eq!(dir.read("in-looks.png"), b"precious");
    }
    assert_eq!(dir.succeeds("preview -q -y in.png").stderr, "");
    assert!(dir.read("in-looks.png").starts_with(b"\x89PNG"));
    dir.run("preview -y in.png in.png").fails().says(&["in.png is the input itself"]);
    dir.run("preview in.png looks.mp4").exits_with(2).says(&["looks.mp4: the sheet is an image"]);
    dir.succeeds("preview in.png looks.jpg");
    assert_eq!(dir.streams("looks.jpg")[0]["codec_name"], "mjpeg");
    assert_eq!(dir.names(), ["in-looks.png", "in.png", "looks.jpg"]);
}

#[test]
fn a_dash_is_stdout() {
    let dir = Dir::new();
    photo(&dir);
    let run = dir.succeeds("preview in.png -");
    assert_eq!(dir.names(), ["in.png"]);
    dir.succeeds("preview in.png looks.png");
    dir.write("stdout.png", &run.stdout);
    assert!(dir.raw("stdout.png", "rgb24") == dir.raw("looks.png", "rgb24"));
}

/// Whether a row's label has a second line; a single line is in the middle of the row.
fn has_a_second_line(sheet: &Rgb, row: usize, cell: (usize, usize)) -> bool {
    let top = sheet.size().1 - 8 * (cell.1 + GAP) + row * (cell.1 + GAP);
    sheet.cut((GAP, top + cell.1 / 2 + 12), (LEFT - 2 * GAP, 20)).iter().any(|sample| *sample > 200)
}

#[test]
fn the_default_is_marked_and_so_are_rows_that_look_like_another() {
    let dir = Dir::new();
    let cell = (480, 270);
    photo(&dir);
    dir.succeeds("preview in.png").never_says("like ");
    let sheet = Rgb::open(&dir, "in-looks.png");
    let marked: Vec<usize> = (0..8).filter(|&row| has_a_second_line(&sheet, row, cell)).collect();
    assert_eq!(marked, [1], "natural is the default");
    // Clean footage, which the looks natural (the default) and faithful leave unchanged.
    dir.ffmpeg("-f lavfi -i testsrc2=size=160x90:rate=25 -frames:v 5 -c:v ffv1 clean.mkv");
    let said = dir.succeeds("preview --frames 1 clean.mkv").stderr;
    let sheet = Rgb::open(&dir, "clean-looks.png");
    let rows: Vec<Vec<u8>> = (0..8).map(|row| sheet.cell(0, row, cell)).collect();
    let like = said.split("; ").find_map(|part| part.split_once(": like original")).expect("rows like the original").0;
    let like: Vec<&str> = like.split(", ").collect();
    assert!(like.contains(&"natural") && like.contains(&"faithful") && !like.contains(&"exact"), "{said}");
    for (row, look) in (1..).zip(LOOKS) {
        let levels = apart(&rows[0], &rows[row]);
        assert!(if like.contains(&look) { levels <= 3.0 } else { levels > 1.0 }, "{look} is {levels} apart: {said}");
        let is_marked = has_a_second_line(&sheet, row, cell);
        assert!(is_marked || !like.contains(&look), "{look} has no mark");
    }
    assert!(!has_a_second_line(&sheet, 0, cell) && !has_a_second_line(&sheet, 7, cell));
    // Rows of `--strength` are marked, too.
    dir.succeeds("preview --looks night --strength 0,1 in.png night.png").says(&["; night, strength 0: like original"]);
}

#[test]
fn clips_that_stand_are_as_large_as_those_that_lie() {
    let dir = Dir::new();
    for (file, size) in [("lies.mkv", "128x72"), ("stands.mkv", "72x128")] {
        dir.ffmpeg(&format!("-f lavfi -i testsrc2=size={size}:rate=25 -frames:v 3 -c:v ffv1 {file}"));
        dir.succeeds(&format!("preview --looks thermal {file}"));
    }
    let (lies, stands) = (Rgb::open(&dir, "lies-looks.png"), Rgb::open(&dir, "stands-looks.png"));
    let left = 10 * "--look thermal".len() + 4 * GAP;
    assert_eq!(lies.size(), (left + 3 * 328, 36 + 2 * 188));
    assert_eq!(stands.size(), (left + 3 * 188, 36 + 2 * 328));
    let cell = stands.cut((left, 36), (180, 320));
    assert!(apart(&cell, &scaled(&dir, "stands.mkv", 0, (180, 320))) < 1.0);
}

/// Requires that the run fails with one line and leaves no sheet.
#[track_caller]
fn refused(dir: &Dir, run: Run, says: &[&str]) {
    let run = run.fails().says(says);
    assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
    assert!(dir.names().iter().all(|name| !name.ends_with(".png")), "{:?}", dir.names());
}

#[test]
fn what_cannot_be_read_several_times_is_refused() {
    let dir = Dir::new();
    clip(&dir, "in.mkv");
    refused(&dir, dir.fed("preview -", &dir.read("in.mkv")), &["stdin: ", "save it to a file first"]);
    Run::from_command(&mut dir.other_command("mkfifo", "fifo"), "fifo").exits_with(0);
    let run = dir.run("preview fifo");
    std::fs::remove_file(dir.path("fifo")).expect("it was there");
    refused(&dir, run, &["fifo: ", "save it to a file first"]);
    refused(&dir, dir.run("preview -f lavfi testsrc2"), &["testsrc2: ", "record some of it first"]);
}

#[test]
fn what_is_no_video_is_refused() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i sine=duration=1 in.wav");
    refused(&dir, dir.run("preview in.wav"), &["in.wav: no video stream in it"]);
    dir.write("text.mp4", b"no video");
    refused(&dir, dir.run("preview text.mp4"), &["text.mp4: "]);
    refused(&dir, dir.run("preview nothing.mp4"), &["nothing.mp4: No such file"]);
}

/// Makes a folder of clips.
fn folder_of_clips(dir: &Dir) {
    std::fs::create_dir_all(dir.path("dive/deep")).expect("a folder");
    for name in ["dive/a.mkv", "dive/deep/b.mkv"] {
        dir.ffmpeg(&format!("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 3 -c:v ffv1 {name}"));
    }
    dir.write("dive/notes.txt", b"no video");
}

#[test]
fn each_of_several_inputs_and_folders_gets_a_sheet() {
    let dir = Dir::new();
    folder_of_clips(&dir);
    let sheets = || dir.names().into_iter().filter(|name| name.ends_with(".png")).collect::<Vec<_>>();
    dir.succeeds("preview --frames 1 dive").says(&["-> ./a-looks.png", "-> ./deep/b-looks.png", "2 sheets in"]);
    assert_eq!(sheets(), ["a-looks.png", "deep/b-looks.png"]);
    // An existing sheet stays.
    dir.write("a-looks.png", b"precious");
    dir.succeeds("preview --frames 1 dive/a.mkv dive/deep/b.mkv").says(&["1 sheet in", "; 1 sheet was there"]);
    assert_eq!(dir.read("a-looks.png"), b"precious");
    assert_eq!(sheets(), ["a-looks.png", "b-looks.png", "deep/b-looks.png"]);
    dir.succeeds("preview --frames 1 -y dive/a.mkv dive/deep/b.mkv").says(&["2 sheets in"]);
    assert!(dir.read("a-looks.png").starts_with(b"\x89PNG"));
    // An input that is no video does not affect the others.
    dir.write("dive/broken.mkv", b"no video");
    let run = dir.run("preview --frames 1 --output-dir sheets dive").fails();
    run.says(&["error: dive/broken.mkv: ", "2 sheets in", "1 of 3 inputs have no sheet: dive/broken.mkv"]);
    assert_eq!(sheets()[3..], ["sheets/a-looks.png", "sheets/deep/b-looks.png"]);
    std::fs::copy(dir.path("dive/a.mkv"), dir.path("dive/a.mov.mkv")).expect("a copy");
    std::fs::rename(dir.path("dive/a.mov.mkv"), dir.path("dive/a.avi")).expect("a file");
    dir.run("preview dive").exits_with(2).says(&["two inputs would become ./a-looks.png"]);
    std::fs::create_dir(dir.path("empty")).expect("a folder");
    dir.run("preview empty").exits_with(2).says(&["there is no video in these folders"]);
}

#[test]
fn looks_and_strengths_are_rows() {
    let dir = Dir::new();
    photo(&dir);
    dir.succeeds("preview --looks night,exact --strength 0.5,1 in.png").says(&["1 frame under 2 looks"]);
    let (sheet, cell) = (Rgb::open(&dir, "in-looks.png"), (480, 270));
    let (left, height) = (10 * "exact, strength 0.5".len() + 4 * GAP, GAP + 5 * 278);
    assert_eq!(sheet.size(), (left + 488, height));
    for (row, options) in (1..).zip([
        "--look night --strength 0.5",
        "--look night --strength 1",
        "--look exact --strength 0.5",
        "--look exact --strength 1",
    ]) {
        dir.succeeds(&format!("-q -y {options} in.png out.png"));
        let found = sheet.cut((left, GAP + row * 278), cell);
        let difference = apart(&found, &scaled(&dir, "out.png", 0, cell));
        assert!(difference < 1.0, "{options} is {difference} levels apart");
    }
    dir.succeeds("preview -y --look haze in.png one.png").says(&["1 frame under 1 look "]);
    assert_eq!(Rgb::open(&dir, "one.png").size().1, GAP + 2 * 278);
    dir.run("preview --looks nihgt in.png").exits_with(2).says(&["night"]);
    dir.run("preview --strength 2 in.png").exits_with(2).says(&["a number from 0 to 1"]);
}

#[test]
fn large_pictures_are_shown_as_they_become() {
    let dir = Dir::new();
    // A dark clip with little noise, so that measuring the downscaled frame gives nearly the same correction.
    let picture = "format=yuv420p,geq=lum=16+mod(X/6+Y/4.5\\,64):cb=118:cr=132,noise=alls=4";
    dir.ffmpeg(&format!("-f lavfi -i nullsrc=size=1280x720 -vf {picture} -frames:v 1 -c:v ffv1 large.mkv"));
    dir.succeeds("preview --frames 1 large.mkv");
    let (sheet, cell) = (Rgb::open(&dir, "large-looks.png"), (480, 270));
    for (row, look) in (1..).zip(LOOKS) {
        dir.succeeds(&format!("-q -y --look {look} --encoder ffv1 large.mkv out.mkv"));
        let difference = apart(&sheet.cell(0, row, cell), &scaled(&dir, "out.mkv", 0, cell));
        assert!(difference < 8.0, "{look} is {difference} levels apart");
    }
}
