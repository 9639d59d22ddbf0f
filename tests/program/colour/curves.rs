//! `--save-curves` and `--load-curves`: saved curves reproduce the frames, and edited curves are applied as edited.

use crate::support::media::reader::list;
use crate::support::programs::program::{Dir, Run, usage_error};
use crate::support::skip::is_here;
use serde_json::Value;

/// Two scenes of twenty frames each that get slowly brighter, and ten frames that stay the same.
fn film(dir: &Dir, file: &str, options: &str) {
    let level = "if(lt(N\\,20)\\,20+N/2\\,if(lt(N\\,40)\\,120+N/2\\,140))";
    dir.ffmpeg(&format!(
        "-f lavfi -i nullsrc=size=64x48:rate=25,format=gray,geq=lum='{level}+mod(X*X+Y\\,60)' -frames:v 50 \
         {options} {file}"
    ));
}

fn yuv(dir: &Dir) {
    film(dir, "in.mkv", "-vf format=yuv420p -c:v ffv1");
}

fn lines(dir: &Dir, file: &str) -> Vec<Value> {
    let text = String::from_utf8(dir.read(file)).expect("text");
    text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}

/// A file with one curve.
fn one_curve(frame: u64, range: &str, lut: impl Fn(u32) -> u32) -> String {
    let lut: Vec<u32> = (0..256).map(lut).collect();
    format!("{{\"histeq_curves\":1,\"depth\":8,\"range\":\"{range}\"}}\n{{\"frame\":{frame},\"lut\":{lut:?}}}\n")
}

#[test]
fn kept_curves_give_the_same_frames_again() {
    let dir = Dir::new();
    for (input, options) in [
        ("-pix_fmt yuv420p", ""),
        ("-pix_fmt yuv420p", "--look night --strength 0.6"),
        ("-pix_fmt yuv420p", "--exact"),
        ("-pix_fmt yuv422p10le", "--set bins=100 --roi 3,4,30,20"),
        ("-pix_fmt gray", "--set plateau=1%"),
        ("-pix_fmt bgr0", ""),
    ] {
        film(&dir, "in.mkv", &format!("{input} -c:v ffv1"));
        dir.succeeds(&format!(
            "--denoise 0 --set chroma=keep {options} --save-curves c.jsonl --encoder ffv1 -y in.mkv plain.mkv"
        ));
        dir.succeeds("--load-curves c.jsonl --verify --encoder ffv1 -y in.mkv again.mkv");
        let format = input.rsplit(' ').next().unwrap();
        let (plain, again) = (dir.raw("plain.mkv", format), dir.raw("again.mkv", format));
        assert!(plain == again, "{input} {options}");
        assert!(plain != dir.raw("in.mkv", format));
    }
}

/// Two scenes in weak colours, of which the second one uses all levels.
fn colours(dir: &Dir, format: &str) {
    let weak = "lutyuv=y='60+val/4':u='128+(val-128)/2':v='128+(val-128)/2'";
    dir.ffmpeg(&format!(
        "-f lavfi -i testsrc2=size=64x48:rate=25 -filter_complex \
         [0]trim=end=1,{weak}[a];[0]trim=start=1:end=2,setpts=PTS-STARTPTS,hflip[b];[a][b]concat,format={format} \
         -c:v ffv1 colours.mkv"
    ));
}

#[test]
fn kept_curves_give_the_same_colours_again() {
    let dir = Dir::new();
    for (format, options) in [("yuv420p", ""), ("yuv444p10le", "--look night --denoise 0"), ("bgr0", "--strength 1")] {
        colours(&dir, format);
        dir.succeeds(&format!(
            "--method global {options} --save-curves c.jsonl --encoder ffv1 -y colours.mkv plain.mkv"
        ));
        dir.succeeds("--load-curves c.jsonl --save-curves d.jsonl --verify --encoder ffv1 -y colours.mkv again.mkv");
        let plain = dir.raw("plain.mkv", format);
        assert!(plain == dir.raw("again.mkv", format), "{format} {options}");
        assert!(dir.read("c.jsonl") == dir.read("d.jsonl"));
        dir.succeeds("--load-curves c.jsonl --set chroma=keep --encoder ffv1 -y colours.mkv pale.mkv");
        let gains: Vec<u64> =
            lines(&dir, "c.jsonl")[1..].iter().filter_map(|line| line["chroma_gain"].as_u64()).collect();
        assert!(gains.iter().any(|gain| *gain != 4096), "{format} {options}");
        assert!(plain != dir.raw("pale.mkv", format), "{format} {options}");
    }
}

/// A clip that changes gradually. `what` is `dark`, `haze` or `fog`; haze and fog are tinted and denser towards the
/// top.
fn lacking(dir: &Dir, what: &str, format: &str) {
    let becomes = |component: char, [haze, share]: [u32; 2]| match what {
        "dark" => format!("{component}={component}(X\\,Y)/(5+N/9)"),
        _ => format!("{component}={haze}+{component}(X\\,Y)*{share}/10+48-Y-N/9"),
    };
    let numbers = if what == "fog" { [[120, 4], [130, 4], [140, 4]] } else { [[30, 2], [70, 3], [90, 3]] };
    let [r, g, b] =
        [('r', numbers[0]), ('g', numbers[1]), ('b', numbers[2])].map(|(channel, numbers)| becomes(channel, numbers));
    dir.ffmpeg(&format!(
        "-f lavfi -i testsrc2=size=64x48:rate=25 -vf geq={r}:{g}:{b},format={format} -frames:v 40 -c:v ffv1 {what}.mkv"
    ));
}

#[test]
fn what_one_curve_does_not_say_is_kept_too() {
    let dir = Dir::new();
    for (what, format, options, kept) in [
        ("dark", "yuv420p", "", &["/chroma_gain", "/lut"][..]),
        ("dark", "gray10le", "--method natural", &["/lut"]),
        ("haze", "yuv420p", "", &["/balance", "/regions"]),
        ("haze", "yuv422p10le", "--look haze", &["/balance", "/regions"]),
        ("haze", "yuv444p", "--look haze --set chroma=keep --strength 0.7", &["/regions"]),
        ("haze", "gray", "--look haze", &["/regions"]),
        ("haze", "bgr0", "--look underwater", &["/balance"]),
        ("dark", "yuv444p10le", "--look underwater", &["/balance", "/chroma_gain", "/lut"]),
        ("fog", "yuv420p10le", "--look haze", &["/regions/curve"]),
        ("haze", "gbrp10le", "--look underwater", &["/balance"]),
        ("haze", "yuv420p", "--smooth scene --look haze", &["/balance", "/regions"]),
    ] {
        lacking(&dir, what, format);
        let film = format!("{what}.mkv");
        dir.succeeds(&format!("--denoise 0 {options} --save-curves c.jsonl --encoder ffv1 -y {film} plain.mkv"));
        let (plain, original) = (dir.raw("plain.mkv", format), dir.raw(&film, format));
        let text = format!("{what} {format} {options}");
        assert!(plain != original, "{text}");
        let lines = lines(&dir, "c.jsonl");
        assert!(kept.iter().all(|field| lines.iter().any(|line| line.pointer(field).is_some())), "{text}");
        let loaded = |more: &str| {
            dir.succeeds(&format!("--load-curves c.jsonl {more} --encoder ffv1 -y {film} again.mkv"));
            dir.raw("again.mkv", format)
        };
        assert!(loaded("--save-curves d.jsonl --verify") == plain, "{text}");
        assert!(dir.read("c.jsonl") == dir.read("d.jsonl"), "{text}");
        assert!(loaded("--strength 0") == original, "{text}");
        let half = loaded("--strength 0.5");
        assert!(half != plain && half != original, "{text}");
    }
}

#[test]
fn strength_works_on_balances_and_regions() {
    let dir = Dir::new();
    colours(&dir, "bgr0");
    let flat = |number: u32| format!("{:?}", [[number; 8]; 8]);
    let header = "{\"histeq_curves\":1,\"depth\":8,\"range\":\"full\"}\n{\"frame\":0,";
    let balance = |gains: [u32; 3], offsets: [i32; 3]| {
        format!("{header}\"balance\":{{\"gains\":{gains:?},\"offsets\":{offsets:?}}}}}\n")
    };
    let regions = |taken: &str, gains: &str| {
        format!("{header}\"regions\":{{\"taken\":{taken},\"gains\":{gains},\"chroma\":{gains}}}}}\n")
    };
    let becomes = |kept: String, options: &str| {
        dir.write("c.jsonl", kept.as_bytes());
        dir.succeeds(&format!("--load-curves c.jsonl {options} --encoder ffv1 -y colours.mkv out.mkv"));
        dir.raw("out.mkv", "bgr0")
    };
    let whole = balance([8192, 2048, 4096], [-320, 0, 160]);
    assert!(becomes(whole, "--strength 0.5") == becomes(balance([6144, 3072, 4096], [-160, 0, 80]), ""));
    // Half of `2 (x - 10)` is `1.5 x - 10`, or `1.5 (x - 6.67)`. 6.67 is 106 / 16.
    let whole = regions(&flat(160), &flat(8192));
    assert!(becomes(whole, "--strength 0.5") == becomes(regions(&flat(106), &flat(6144)), ""));
}

#[test]
fn strength_works_on_the_kept_gain_of_colour() {
    let dir = Dir::new();
    colours(&dir, "yuv444p");
    let kept = one_curve(0, "limited", |code| code).replace("}\n{\"frame\":0", "}\n{\"chroma_gain\":8192,\"frame\":0");
    dir.write("c.jsonl", kept.as_bytes());
    let before = dir.raw("colours.mkv", "yuv444p");
    for (options, gain) in [("", 8192), ("--strength 0.5", 6144), ("--strength 0", 4096), ("--set chroma=keep", 4096)] {
        dir.succeeds(&format!("--load-curves c.jsonl {options} --encoder ffv1 -y colours.mkv out.mkv"));
        let plane = 64 * 48;
        let followed = |code: u8| {
            let offset = i32::from(code) - 128;
            let scaled = (offset.abs() * gain + 2048) / 4096;
            // No sample leaves the legal range; a sample outside of it moves no further out.
            (128 + scaled.min(offset.abs().max(112)) * offset.signum()) as u8
        };
        let sample = |(index, code): (usize, &u8)| if index / plane % 3 == 0 { *code } else { followed(*code) };
        let expected: Vec<u8> = before.iter().enumerate().map(sample).collect();
        assert!(dir.raw("out.mkv", "yuv444p") == expected, "{options}");
    }
}

#[test]
fn a_curve_is_written_whenever_it_changes() {
    let dir = Dir::new();
    yuv(&dir);
    dir.succeeds("--exact --save-curves c.jsonl --stats s.jsonl --encoder ffv1 in.mkv out.mkv");
    assert_eq!(dir.names(), ["c.jsonl", "in.mkv", "out.mkv", "s.jsonl"]);
    let text = String::from_utf8(dir.read("c.jsonl")).expect("text");
    assert!(
        text.starts_with("{\"histeq_curves\":1,\"depth\":8,\"range\":\"limited\"}\n{\"frame\":0,\"lut\":[16,16"),
        "{text}"
    );
    let curves = &lines(&dir, "c.jsonl")[1..];
    assert!(curves.iter().all(|line| list(&line["lut"]).len() == 256));
    let changes: Vec<u64> = curves.iter().map(|line| line["frame"].as_u64().unwrap()).collect();
    let records = lines(&dir, "s.jsonl");
    let moved = |frame: &usize| *frame == 0 || records[*frame]["curve_change"].as_f64().unwrap() > 0.0;
    let expected: Vec<u64> = (0..50).filter(moved).map(|frame| frame as u64).collect();
    assert_eq!(changes, expected);
    assert!(changes.len() > 10 && changes.iter().all(|frame| *frame <= 40), "{changes:?}");
}

#[test]
fn frames_are_counted_from_the_first_one_of_the_run() {
    let dir = Dir::new();
    yuv(&dir);
    dir.succeeds(
        "--start 0.4 --frames 20 --denoise 0 --set chroma=keep --save-curves c.jsonl --encoder ffv1 in.mkv part.mkv",
    );
    assert_eq!(lines(&dir, "c.jsonl")[1]["frame"], 0);
    dir.succeeds("--start 0.4 --frames 20 --load-curves c.jsonl --encoder ffv1 in.mkv again.mkv");
    assert!(dir.raw("part.mkv", "yuv420p") == dir.raw("again.mkv", "yuv420p"));
}

#[test]
fn an_edited_curve_does_what_it_says_and_strength_works_on_it() {
    let dir = Dir::new();
    yuv(&dir);
    // A file with a single curve applies it to all frames, whatever its frame number. This curve inverts.
    dir.write("c.jsonl", one_curve(7, "limited", |code| 255 - code).as_bytes());
    let before = dir.raw("in.mkv", "yuv420p");
    for (options, k) in [("", 256), ("--strength 0.25", 64), ("--strength 0", 0)] {
        dir.succeeds(&format!("--load-curves c.jsonl {options} --stats s.jsonl --encoder ffv1 -y in.mkv out.mkv"));
        let mapped = |code: u32| ((code * (256 - k) + (255 - code) * k + 128) >> 8) as u8;
        let is_luma = |index: usize| index % (64 * 48 * 3 / 2) < 64 * 48;
        let sample = |(index, code): (usize, &u8)| if is_luma(index) { mapped((*code).into()) } else { *code };
        let expected: Vec<u8> = before.iter().enumerate().map(sample).collect();
        assert!(dir.raw("out.mkv", "yuv420p") == expected, "{options}");
        let records = lines(&dir, "s.jsonl");
        assert!(records.iter().all(|record| record["curve_change"] == 0.0));
        assert_eq!(records[0]["slope"], [1, 0][usize::from(k == 256)], "{options}");
    }
    dir.succeeds("--load-curves c.jsonl --save-curves d.jsonl --encoder ffv1 -y in.mkv out.mkv");
    assert_eq!(lines(&dir, "d.jsonl")[1]["lut"], lines(&dir, "c.jsonl")[1]["lut"]);
}

#[test]
fn curves_go_through_pipes_and_to_cameras() {
    let dir = Dir::new();
    yuv(&dir);
    dir.succeeds("--denoise 0 --set chroma=keep --save-curves c.jsonl in.mkv plain.y4m");
    dir.succeeds("--levels 1 --strength 0 in.mkv in.y4m");
    let line = "--load-curves c.jsonl - -";
    let piped = Run::fed(&mut dir.command(line), line, &dir.read("in.y4m")).exits_with(0).stdout;
    assert!(piped == dir.read("plain.y4m"));
    let line = "live --backend cpu --no-preview --load-curves c.jsonl --save-curves d.jsonl --output - -";
    let live = Run::fed(&mut dir.command(line), line, &dir.read("in.y4m")).exits_with(0).stdout;
    assert!(!live.is_empty());
    assert_eq!(lines(&dir, "d.jsonl")[..2], lines(&dir, "c.jsonl")[..2]);
}

#[test]
fn curves_for_other_videos_are_refused() {
    let dir = Dir::new();
    yuv(&dir);
    dir.write("full.jsonl", one_curve(0, "full", |code| code).as_bytes());
    dir.write("limited.jsonl", one_curve(0, "limited", |code| code).as_bytes());
    dir.run("--load-curves full.jsonl in.mkv out.mkv")
        .fails()
        .says(&["full.jsonl: curves for 8 bits, full range, but frame 0 of the video has 8 bits, limited range"]);
    film(&dir, "deep.mkv", "-pix_fmt yuv420p10le -c:v ffv1");
    dir.run("--load-curves limited.jsonl deep.mkv out.mkv").fails().says(&["has 10 bits, limited range"]);
    assert!(!dir.path("out.mkv").exists());
}

#[test]
fn files_that_make_no_sense_are_named_with_the_line() {
    let dir = Dir::new();
    yuv(&dir);
    dir.run("--load-curves none.jsonl in.mkv out.mkv").fails().says(&["none.jsonl: cannot be read: No such file"]);
    dir.write(
        "c.jsonl",
        format!("{}{{\"frame\":9,\"lut\":[1,2,3]}}\n", one_curve(0, "limited", |code| code)).as_bytes(),
    );
    let run = dir.run("--load-curves c.jsonl in.mkv out.mkv").fails();
    assert_eq!(run.stderr.lines().count(), 1);
    run.says(&["c.jsonl: line 3: 3 codes, not the 256 of 8 bits"]);
    dir.run("--load-curves in.mkv in.mkv out.mkv").fails().says(&["in.mkv: cannot be read"]);
    assert_eq!(dir.names(), ["c.jsonl", "in.mkv"]);
}

#[test]
fn a_file_of_curves_that_is_read_is_not_written() {
    let dir = Dir::new();
    film(&dir, "in.mkv", "-pix_fmt yuv420p");
    dir.succeeds("--save-curves c.jsonl --encoder ffv1 in.mkv out.mkv");
    let curves = dir.read("c.jsonl");
    for line in [
        "-y --load-curves c.jsonl --stats c.jsonl in.mkv out.mkv",
        "-y --load-curves c.jsonl --save-curves ./c.jsonl in.mkv out.mkv",
        "-y --load-curves c.jsonl --output-format mp4 in.mkv c.jsonl",
        "live -y --no-preview --load-curves c.jsonl --save-curves c.jsonl --record live.mkv in.mkv",
    ] {
        dir.run(line).fails().says(&["is the input itself"]);
        assert_eq!(dir.read("c.jsonl"), curves, "{line}");
    }
    usage_error("--save-curves - in.mkv out.mkv").says(&["--save-curves takes a file's name"]);
}

#[test]
fn options_that_make_curves_do_not_go_with_kept_ones() {
    let dir = Dir::new();
    yuv(&dir);
    for options in [
        "--look night",
        "--exact",
        "--smooth 1",
        "--set scene-threshold=0.1",
        "--max-gain 3",
        "--set plateau=1%",
        "--method clahe",
        "--set bins=64",
        "--roi auto",
    ] {
        usage_error(&format!("--load-curves c.jsonl {options} in.mkv out.mkv")).says(&["--load-curves"]);
    }
    for method in ["clahe", "detail"] {
        usage_error(&format!("--save-curves c.jsonl --method {method} in.mkv out.mkv"))
            .says(&["--save-curves", method]);
    }
    usage_error("--save-curves out.mkv in.mkv out.mkv").says(&["--save-curves"]);
    usage_error("--save-curves s.jsonl --stats s.jsonl in.mkv out.mkv").says(&["--save-curves"]);
    dir.run("--save-curves in.mkv in.mkv out.mkv").fails().says(&["in.mkv is the input itself"]);
    dir.write("c.jsonl", b"precious");
    dir.run("--save-curves c.jsonl in.mkv out.mkv").fails().says(&["c.jsonl exists", "-y"]);
    dir.run("-y --save-curves c.jsonl in.mkv out.png").fails();
    assert_eq!((dir.read("c.jsonl"), dir.names()), (b"precious".to_vec(), vec!["c.jsonl".into(), "in.mkv".into()]));
}

#[test]
fn what_the_page_says_in_python_applies_and_inverts_curves() {
    if !is_here("python3") {
        return;
    }
    let page = std::fs::read_to_string("docs/statistics.md").expect("the page");
    let lines = page.split("```python\n").nth(2).and_then(|rest| rest.split("```").next()).expect("lines of Python");
    let dir = Dir::new();
    // Curves that differ from frame to frame.
    dir.ffmpeg("-f lavfi -i color=size=64x48:rate=25,format=gray,geq=lum=60+X/2+N*5 -frames:v 4 -c:v ffv1 in.mkv");
    dir.succeeds("--exact --save-curves day.jsonl --encoder ffv1 in.mkv out.mkv");
    dir.write("in.raw", &dir.raw("in.mkv", "gray"));
    dir.write("out.raw", &dir.raw("out.mkv", "gray"));
    let check = "
size = 64 * 48
before, after = open('in.raw', 'rb').read(), open('out.raw', 'rb').read()
assert before != after and len(before) == 4 * size
for frame in range(4):
    part = slice(frame * size, (frame + 1) * size)
    assert list(apply(before[part], frame)) == list(after[part]), frame
    back = invert(after[part], frame)
    assert list(apply(back, frame)) == list(after[part]), frame
    assert all(a <= b for a, b in zip(back, before[part])), frame
";
    dir.write("check.py", format!("{lines}{check}").as_bytes());
    Run::from_command(&mut dir.other_command("python3", "check.py"), "check.py").exits_with(0);
}
