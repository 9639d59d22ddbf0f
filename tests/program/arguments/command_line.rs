//! The command line: help, completions, man page, overwriting, exit codes, and what goes to stdout and to stderr.

use crate::support::programs::program::{Dir, Run};
use crate::support::skip::is_here;
use std::collections::BTreeSet;

fn clip(dir: &Dir) {
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 10 -c:v ffv1 in.mkv");
}

fn text(run: &Run) -> String {
    String::from_utf8_lossy(&run.stdout).into_owned()
}

/// The help of every command: file of its snapshot, command line.
const HELP: [(&str, &str); 15] = [
    ("main", "--help"),
    ("live", "live --help"),
    ("compare", "compare --help"),
    ("preview", "preview --help"),
    ("web", "web --help"),
    ("plan", "plan --help"),
    ("run", "run --help"),
    ("join", "join --help"),
    ("status", "status --help"),
    ("bench", "bench --help"),
    ("main-short", "-h"),
    ("live-short", "live -h"),
    ("compare-short", "compare -h"),
    ("preview-short", "preview -h"),
    ("web-short", "web -h"),
];

fn help(dir: &Dir, line: &str) -> String {
    text(&Run::from_command(dir.command(line).env("COLUMNS", "100"), line).exits_with(0))
}

/// `HISTEQ_REGENERATE=1` writes the help that this test compares with.
#[test]
fn help_is_what_it_was() {
    let dir = Dir::new();
    for (name, line) in HELP {
        let help = help(&dir, line);
        let snapshot = format!("tests/program/help/{name}.txt");
        if std::env::var_os("HISTEQ_REGENERATE").is_some() {
            std::fs::write(&snapshot, &help).expect("the snapshot can be written");
            continue;
        }
        let was = std::fs::read_to_string(&snapshot).expect("the snapshot");
        assert!(help == was, "{snapshot} is out of date (HISTEQ_REGENERATE=1 writes it again):\n{help}");
    }
}

#[test]
fn the_short_help_fits_on_a_screen_and_a_half_and_says_where_the_rest_is() {
    let dir = Dir::new();
    for line in ["-h", "live -h", "compare -h", "preview -h", "web -h"] {
        let help = help(&dir, line);
        let rows: Vec<&str> = help.lines().collect();
        assert!(rows.len() <= 41, "`{line}` takes {} rows", rows.len());
        assert!(rows.iter().all(|row| row.chars().count() <= 100), "{help}");
        let last = rows.last().expect("a last row");
        assert!(last.contains(&line.replace("-h", "--help")), "{last}");
    }
}

#[test]
fn the_short_help_of_live_has_what_keeps_a_recorder_going() {
    let dir = Dir::new();
    let help = help(&dir, "live -h");
    for option in ["--segment <T>", "--keep <T>", "--web-token <FILE>"] {
        assert!(help.lines().any(|row| row.trim_start().starts_with(option)), "{option}:\n{help}");
    }
}

#[test]
fn the_long_help_begins_with_the_options_of_the_short_one() {
    let dir = Dir::new();
    let options = |help: &str| -> Vec<String> {
        // Descriptions of options are indented further.
        let is_row = |row: &&str| row.trim_start().starts_with('-') && row.len() < row.trim_start().len() + 8;
        let names = help.lines().filter(is_row).map(|row| row.trim().split("  ").next().unwrap_or_default().to_owned());
        names.filter(|name| !name.starts_with("- ")).collect()
    };
    // The short help of the main command is written by hand, in typed.rs.
    for command in ["live", "compare", "preview"] {
        let short = options(&help(&dir, &format!("{command} -h")));
        let long = options(&help(&dir, &format!("{command} --help")));
        assert!(short.len() > 5 && short.len() < long.len(), "{command}: {short:?}");
        assert_eq!(long[..short.len()], short, "{command}");
    }
}

#[test]
fn help_is_had_in_either_order_and_the_word_alone_is_short() {
    let dir = Dir::new();
    for (line, same) in [
        ("help", "-h"),
        ("-h live", "live -h"),
        ("--help preview", "preview --help"),
        ("compare help", "compare --help"),
    ] {
        assert_eq!(help(&dir, line), help(&dir, same), "{line}");
    }
    assert!(help(&dir, "help live").contains("--record"));
}

#[test]
fn each_command_tells_the_version_with_that_of_ffmpeg() {
    let dir = Dir::new();
    let version = text(&dir.succeeds("--version"));
    let begin = format!("histeq-video {} (FFmpeg ", env!("CARGO_PKG_VERSION"));
    let release = version.strip_prefix(&begin).expect("a version").split(',').next().unwrap_or_default();
    assert!(release.contains(|c: char| c.is_ascii_digit()) && version.lines().count() == 1, "{version}");
    let json = dir.succeeds("--version --json").stdout;
    let json: serde_json::Value = serde_json::from_slice(&json).expect("JSON");
    assert!(version.contains(json["ffmpeg"].as_str().expect("a version")), "{version} {json}");
    for line in ["-V", "live --version", "preview -V", "compare in.mkv --version", "bench --version", "run -V"] {
        assert_eq!(text(&dir.succeeds(line)), version, "{line}");
    }
    assert!(text(&dir.succeeds("live --version --json")).starts_with('{'));
}

#[test]
fn the_man_page_names_every_option() {
    let dir = Dir::new();
    let help = help(&dir, "--help");
    let rows = help.lines().map(str::trim_start).filter(|row| row.starts_with('-'));
    let name = |row: &'_ str| {
        row.split("--")
            .nth(1)
            .map(|name| name.split(|c: char| !c.is_alphanumeric() && c != '-').next().unwrap_or_default().to_owned())
    };
    let options: Vec<String> = rows.filter_map(name).filter(|name| !name.is_empty()).collect();
    assert!(options.len() > 15);
    let run = dir.succeeds("man");
    assert_eq!(run.stderr, "");
    // roff escapes dashes as \-.
    let page = text(&run).replace('\\', "");
    for option in &options {
        assert!(page.contains(option), "the man page does not name --{option}");
    }
}

#[test]
fn man_pages_begin_with_what_people_look_for() {
    let dir = Dir::new();
    for (line, usage) in [
        ("man", "histeq-video [OPTIONS] INPUT [OUTPUT]"),
        ("man live", "histeq-video live [OPTIONS] [CAMERA]..."),
        ("man preview", "histeq-video preview [OPTIONS] INPUT [OUTPUT]"),
    ] {
        let page = text(&dir.succeeds(line)).replace('\\', "");
        let (before, synopsis) = page.split_once(".SH SYNOPSIS\n").expect("a synopsis");
        assert!(before.contains(".SH NAME"), "{page}");
        assert_eq!(synopsis.lines().next(), Some(usage), "{line}");
        let titles: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix(".SH ")).collect();
        let first: &[&str] = match line {
            "man" => &["NAME", "SYNOPSIS", "DESCRIPTION", "EXAMPLES", "FILES", "OPTIONS"],
            "man live" => &["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS"],
            _ => &["NAME", "SYNOPSIS", "DESCRIPTION", "EXAMPLES", "OPTIONS"],
        };
        assert_eq!(titles[..first.len()], *first, "{line}: {titles:?}");
    }
    let page = text(&dir.succeeds("man")).replace('\\', "");
    let examples = page.split(".SH EXAMPLES\n.nf\n").nth(1).and_then(|rest| rest.split("\n.fi").next());
    assert!(examples.is_some_and(|lines| lines.lines().all(|line| line.contains("histeq-video "))), "{page}");
    assert!(page.contains("config.toml") && page.contains(".pieces"), "{page}");
    if !is_here("groff") {
        return;
    }
    dir.succeeds("man --out pages");
    for name in dir.names() {
        let mut groff = dir.other_command("groff", &format!("-man -Tutf8 -ww -z {name}"));
        let output = groff.env("MANROFFOPT", "").output().expect("groff runs");
        assert!(
            output.status.success() && output.stderr.is_empty(),
            "{name}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

/// A man page, without roff's backslashes and quotes.
fn man_page(dir: &Dir, line: &str) -> String {
    text(&dir.succeeds(line)).replace(['\\', '"'], "")
}

#[track_caller]
fn section<'a>(page: &'a str, title: &str) -> &'a str {
    let rest = page.split(&format!(".SH {title}\n")).nth(1).unwrap_or_else(|| panic!("no {title}: {page}"));
    rest.split(".SH ").next().unwrap_or_default()
}

#[test]
fn the_man_page_has_exit_codes_variables_bugs_and_other_pages() {
    let dir = Dir::new();
    let page = man_page(&dir, "man");
    // The man page has the exit codes of the tables in these pages.
    let codes = |(file, title): (&str, &str)| -> BTreeSet<u8> {
        let text = std::fs::read_to_string(file).expect("a page");
        let table = text.split(title).nth(1).and_then(|rest| rest.split("\n## ").next()).expect("the section");
        let first = |line: &str| line.strip_prefix("| ")?.split([' ', ',']).next()?.parse().ok();
        table.lines().filter_map(first).collect()
    };
    let tables = [("docs/options.md", "\n## Exit codes\n"), ("docs/reliability.md", "\n## How a run fails\n")];
    let documented: BTreeSet<u8> = tables.into_iter().flat_map(codes).collect();
    let told: BTreeSet<u8> = section(&page, "EXIT STATUS").lines().filter_map(|line| line.parse().ok()).collect();
    assert!(told.len() > 12 && told == documented, "{told:?} in the man page, {documented:?} in the tables");
    assert!(!section(&page, "NOTES").contains("Exit codes"), "{page}");
    assert!(section(&man_page(&dir, "man run"), "EXIT STATUS").contains("75 try again"));

    // Each variable belongs to an option in the help, except for variables of child processes and tests.
    let names = section(&page, "ENVIRONMENT").split(|c: char| c != '_' && !c.is_ascii_uppercase());
    let names: BTreeSet<&str> = names.filter_map(|name| name.strip_prefix("HISTEQ_")).collect();
    let lines = HELP.iter().map(|(_, line)| *line).chain(["devices --help", "man --help"]);
    let helps: String = lines.map(|line| help(&dir, line)).collect();
    for name in names.iter().filter(|name| !["OPTION", "CONFIG"].contains(name)) {
        let option = name.to_lowercase().replace('_', "-");
        let is_told = helps.contains(&format!("--{option}")) || helps.contains(&format!("    {option}: "));
        assert!(is_told, "HISTEQ_{name} sets no option that the help has");
    }
    assert!(names.len() > 60, "{names:?}");
    assert!(["LOOK", "MAX_GAIN", "PLATEAU", "RECORD", "STRICT", "CONFIG"].iter().all(|name| names.contains(name)));
    for hidden in ["ONE_OF", "VERIFY", "CHILD", "MADE_UP", "HELP", "VERSION", "USE", "REGENERATE", "LONG", "BIN"] {
        assert!(!names.contains(hidden), "HISTEQ_{hidden} is no variable of users");
    }

    let (bugs, remaining) = (section(&page, "BUGS"), section(&page, "SEE ALSO"));
    assert!(bugs.contains("docs/limits.md") && bugs.contains("--version --json"), "{bugs}");
    assert!(["histeq-video-live(1)", "ffmpeg(1)"].iter().all(|other| remaining.contains(other)), "{remaining}");
    assert_eq!(section(&man_page(&dir, "man live"), "SEE ALSO").lines().next(), Some("histeq-video(1)"));
}

#[test]
fn every_subcommand_has_a_man_page() {
    let dir = Dir::new();
    let live = text(&dir.succeeds("man live")).replace('\\', "");
    assert!(live.contains("histeq-video-live"), "{live}");
    for option in ["--record", "--loopback", "--no-preview", "--backend"] {
        assert!(live.contains(option), "`man live` does not name {option}");
    }
    assert!(live.contains("histeq-video 0."), "a page says what it belongs to: {live}");
    let run = dir.succeeds("man --out man1");
    assert_eq!((run.stdout.as_slice(), run.stderr.as_str()), (&b""[..], ""));
    let page = |name: &str| format!("man1/{}.1", ["histeq-video", name].join("-").trim_end_matches('-'));
    let help = help(&dir, "--help");
    let list = help.lines().skip_while(|row| *row != "Commands:").skip(1).take_while(|row| !row.is_empty());
    let list = list.filter(|row| !row.trim_start().starts_with("help "));
    let subcommands: Vec<String> = list.map(|row| page(row.split_whitespace().next().expect("a command"))).collect();
    let mut pages: Vec<String> = subcommands.into_iter().chain([page("")]).collect();
    pages.sort();
    assert_eq!(dir.names(), pages);
    assert_eq!(dir.read("man1/histeq-video-live.1"), dir.succeeds("man live").stdout);
    dir.run("man abacus").exits_with(2).says(&["no subcommand abacus"]);
    std::fs::write(dir.path("file"), "").expect("a file");
    dir.run("man --out file/man1").fails().says(&["file/man1: cannot write man pages there"]);
}

#[test]
fn usage_errors_exit_with_2() {
    let dir = Dir::new();
    clip(&dir);
    let before = dir.files();
    for (line, says) in [
        ("", "Usage"),
        ("-q", "<INPUT>"),
        ("--backend cpu bench kernels", "histeq-video bench --help"),
        ("bench kernels", "histeq-lab kernels does that now"),
        ("--histogram global in.mkv out.mkv", "--stats NAME.html"),
        ("--scan=blelloch in.mkv out.mkv", "histeq-lab"),
        ("live --no-preview --block-size 64 in.mkv", "histeq-lab"),
        ("--no-such-option in.mkv out.mkv", "--no-such-option"),
        ("--backend abacus in.mkv out.mkv", "abacus"),
        ("--strength 2 in.mkv out.mkv", "--strength is a number from 0 to 1"),
        ("--strength much in.mkv out.mkv", "much"),
        ("--exact --strength 1 in.mkv out.mkv", "--strength"),
        ("--start yesterday in.mkv out.mkv", "yesterday"),
        ("--duration=-3 in.mkv out.mkv", "--duration"),
        ("--duration 0 in.mkv out.mkv", "--duration is more than 0"),
        ("--frames 0 in.mkv out.mkv", "--frames"),
        ("--crf 20 --bitrate 1M in.mkv out.mkv", "--bitrate"),
        ("--bitrate fast in.mkv out.mkv", "bits a second look like 5M"),
        ("--bitrate -5M in.mkv out.mkv", "-5"),
        ("-y -n in.mkv out.mkv", "-n"),
        ("--encoder-option fast in.mkv out.mkv", "KEY=VALUE"),
        ("in.mkv out.mkv third.mkv", "third.mkv is one name too many"),
    ] {
        dir.run(line).exits_with(2).says(&[says]);
    }
    assert_eq!(dir.files(), before);
}

#[test]
fn an_output_that_exists_is_only_overwritten_when_told_so() {
    let dir = Dir::new();
    clip(&dir);
    dir.write("out.mkv", b"precious");
    dir.run("in.mkv out.mkv").fails().says(&["out.mkv exists", "-y"]);
    assert_eq!(dir.read("out.mkv"), b"precious");
    dir.succeeds("-y in.mkv out.mkv");
    assert_eq!(dir.frames("out.mkv").len(), 10);
    assert_eq!(dir.names(), ["in.mkv", "out.mkv"]);
}

#[test]
fn an_output_behind_a_symbolic_link_is_written_through_it() {
    let dir = Dir::new();
    clip(&dir);
    std::os::unix::fs::symlink("real.mkv", dir.path("link.mkv")).expect("a link");
    dir.succeeds("in.mkv link.mkv");
    assert!(dir.path("link.mkv").is_symlink());
    assert_eq!(dir.frames("real.mkv").len(), 10);
    let before = dir.read("real.mkv");
    dir.run("-y --encoder-option nope=1 in.mkv link.mkv").fails();
    assert_eq!(dir.read("real.mkv"), before, "a run that fails should leave what the link leads to");
    dir.succeeds("-y --frames 3 in.mkv link.mkv");
    assert!(dir.path("link.mkv").is_symlink());
    assert_eq!(dir.frames("real.mkv").len(), 3);
    assert_eq!(dir.names(), ["in.mkv", "link.mkv", "real.mkv"]);
}

#[test]
fn a_file_that_is_given_as_a_url_is_that_file() {
    let dir = Dir::new();
    clip(&dir);
    let before = dir.read("in.mkv");
    dir.write("out.mkv", b"precious");
    for line in ["file:in.mkv file:out.mkv", "live --no-preview --record file:out.mkv in.mkv"] {
        dir.run(line).fails().says(&["out.mkv exists"]);
    }
    for line in ["-y in.mkv file:in.mkv", "live -y --no-preview --output file:in.mkv file:in.mkv"] {
        dir.run(line).fails().says(&["is the input itself"]);
    }
    assert_eq!(dir.read("in.mkv"), before);
    dir.succeeds("-y file:in.mkv file:out.mkv");
    assert_eq!(dir.frames("out.mkv").len(), 10);
    // `-` means stdout even if a file is named `pipe:1`, FFmpeg's URL of stdout.
    dir.write("pipe:1", b"precious");
    let run = dir.succeeds("--output-format nut --encoder ffv1 in.mkv -");
    assert!(run.stdout.len() > 1000);
    assert_eq!(dir.read("pipe:1"), b"precious");
    dir.run("in.mkv ''").exits_with(2);
}

#[test]
fn images_that_exist_are_only_overwritten_when_told_so() {
    let dir = Dir::new();
    clip(&dir);
    for (there, out) in [("o003.png", "o%03d.png"), ("50%_2.png", "50%%_%d.png"), ("7.png", "%d.png")] {
        dir.write(there, b"precious");
        for line in [format!("in.mkv {out}"), format!("live --no-preview --record {out} in.mkv")] {
            dir.run(&line).fails().says(&[&format!("{there} exists"), "-y"]);
            assert_eq!(dir.read(there), b"precious");
        }
        std::fs::remove_file(dir.path(there)).expect("it was there");
    }
    assert_eq!(dir.names(), ["in.mkv"]);
    dir.succeeds("in.mkv o%03d.png");
    let before = dir.read("o001.png");
    std::fs::create_dir(dir.path("folder")).expect("a folder");
    for line in ["-y o%03d.png o%03d.png", "-y o%03d.png folder/../o%03d.png", "-y o002.png o%03d.png"] {
        dir.run(line).fails().says(&["is the input itself"]);
    }
    assert_eq!(dir.read("o001.png"), before);
    // From 100 on, both patterns name the same files.
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 4 -start_number 98 f_%03d.png");
    let images = ["f_098.png", "f_099.png", "f_100.png", "f_101.png"];
    let before = images.map(|image| dir.read(image));
    dir.run("-y f_%03d.png f_%d.png").fails().says(&["is the input itself"]);
    assert!(before == images.map(|image| dir.read(image)));
    dir.run("live --no-preview --record o.m3u8 -f lavfi testsrc2=s=64x48:r=25 --frames 3").exits_with(0);
    let segment = dir.read("o0.ts");
    std::fs::remove_file(dir.path("o.m3u8")).expect("a list");
    dir.run("live --no-preview --record o.m3u8 -f lavfi testsrc2=s=64x48:r=25 --frames 3")
        .fails()
        .says(&["o0.ts exists"]);
    assert_eq!(dir.read("o0.ts"), segment);
}

#[test]
fn file_names_with_spaces_colons_and_dashes_are_file_names() {
    let dir = Dir::new();
    clip(&dir);
    dir.succeeds("live -q --no-preview --backend cpu --record 12:31.mkv -f lavfi --frames 3 testsrc2=s=64x48:r=25");
    assert_eq!(dir.frames("file:12:31.mkv").len(), 3);
    dir.succeeds("--frames 3 in.mkv 12:%02d.png");
    assert!(dir.path("12:03.png").is_file());
    dir.succeeds("12:%02d.png 13:00.mkv");
    for name in ["a b.mkv", "12:30.mkv", "ünïcödé.mkv", "50% off.mkv", "-dash.mkv"] {
        std::fs::copy(dir.path("in.mkv"), dir.path(name)).expect("a copy");
        let mut command = dir.command("-y --");
        let run = Run::from_command(command.arg(name).arg(format!("./out {name}")), name);
        run.exits_with(0);
        let out = dir.read(&format!("out {name}"));
        assert!(out.len() > 1000, "{name}");
    }
}

#[test]
fn nothing_goes_to_stdout_and_a_few_lines_to_stderr() {
    let dir = Dir::new();
    clip(&dir);
    let run = dir.succeeds("--backend cpu in.mkv out.mkv");
    assert_eq!(run.stdout, b"");
    let lines: Vec<&str> = run.stderr.lines().collect();
    assert_eq!(lines.len(), 3, "{}", run.stderr);
    for (line, words) in
        [(1, ["decode", "equalize", "encode", " by cpu ("]), (2, ["10 frames", " s (", " fps)", "-> out.mkv"])]
    {
        assert!(words.iter().all(|word| lines[line].contains(word)), "{}", run.stderr);
    }
}

#[test]
fn quiet_says_nothing_but_errors() {
    let dir = Dir::new();
    clip(&dir);
    assert_eq!(dir.succeeds("-q in.mkv out.mkv").stderr, "");
    let run = dir.run("-q in.mkv out.mkv").fails();
    assert_eq!(run.stderr.lines().count(), 1);
}

#[test]
fn progress_as_text_is_lines_without_control_characters() {
    let dir = Dir::new();
    clip(&dir);
    let run = dir.succeeds("-q --progress plain in.mkv out.mkv");
    assert!(run.stderr.contains("frame 10"), "{}", run.stderr);
    assert!(run.stderr.chars().all(|c| c == '\n' || !c.is_control()));
}

#[test]
fn a_quality_is_that_of_every_encoder_with_a_quantizer() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=128x96:rate=25,noise=alls=30:allf=t -frames:v 5 -c:v ffv1 in.mkv");
    for (encoder, container) in [("mpeg4", "mkv"), ("mjpeg", "avi"), ("mpeg2video", "mpg"), ("flv", "flv")] {
        let bytes = ["2", "10", "31"].map(|quality| {
            dir.succeeds(&format!("-y --encoder {encoder} --crf {quality} in.mkv out.{container}"));
            dir.read(&format!("out.{container}")).len()
        });
        assert!(bytes.is_sorted_by(|one, next| one > next), "{encoder}: {bytes:?}");
    }
}

#[test]
fn an_encoder_is_set_as_the_options_say() {
    let dir = Dir::new();
    clip(&dir);
    dir.run("--encoder ffv1 --crf 20 in.mkv out.mkv").fails().says(&["ffv1", "drop --crf"]);
    dir.run("--encoder ffv1 --preset slow in.mkv out.mkv").fails().says(&["ffv1", "no presets"]);
    dir.run("--encoder ffv1 --encoder-option colour=blue in.mkv out.mkv").fails().says(&["no option colour"]);
    assert_eq!(dir.names(), ["in.mkv"]);
    dir.succeeds("--encoder mpeg4 --crf 5 --encoder-option mpeg_quant=1 in.mkv out.mkv");
    dir.succeeds("--encoder mpeg4 --bitrate 300k in.mkv out.mp4");
    assert_eq!(dir.streams("out.mp4")[0]["codec_name"], "mpeg4");
}

#[test]
fn who_reads_no_further_has_seen_enough_of_a_list() {
    let dir = Dir::new();
    for line in ["completions bash", "man", "devices"] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let mut command = dir.command(line);
        command.stdout(writer).stderr(std::process::Stdio::piped());
        let run = command.spawn().and_then(std::process::Child::wait_with_output).expect("a run");
        assert_eq!((run.status.code(), String::from_utf8_lossy(&run.stderr).as_ref()), (Some(0), ""), "{line}");
        let full = std::fs::File::create("/dev/full").expect("a full device");
        let mut command = dir.command(line);
        command.stdout(full).stderr(std::process::Stdio::piped());
        let run = command.spawn().and_then(std::process::Child::wait_with_output).expect("a run");
        let said = String::from_utf8_lossy(&run.stderr).into_owned();
        assert!(crate::support::programs::program::failed(run.status.code()), "{line}: {said}");
        assert!(said.contains("No space left on device") && said.lines().count() == 1, "{line}: {said}");
    }
}

#[test]
fn a_playlist_and_its_segments_go_by_the_name_that_was_given() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 400 -c:v mpeg2video -g 25 in.ts");
    let line = "--encoder mpeg2video --encoder-option g=50 in.ts list.m3u8";
    dir.succeeds(line);
    let names = dir.names();
    assert!(names.len() > 8 && names.iter().all(|name| name == "in.ts" || name.starts_with("list")), "{names:?}");
    assert_eq!(dir.frames("list.m3u8").len(), 400);
    dir.run(line).fails().says(&["list.m3u8 exists"]);
    dir.run("-y list.m3u8 list.m3u8").fails().says(&["is the input itself"]);
    std::fs::remove_file(dir.path("list.m3u8")).expect("a playlist");
    dir.run(line).fails().says(&[".ts exists"]);
    std::fs::rename(dir.path("in.ts"), dir.path("other0.ts")).expect("another name");
    let before = dir.read("other0.ts");
    for line in ["-y --encoder mpeg2video other0.ts other.m3u8", "-n --encoder mpeg2video other0.ts other.m3u8"] {
        dir.run(line).fails().says(&["other0.ts is the input itself"]);
    }
    assert!(dir.read("other0.ts") == before);
    dir.run("--encoder mpeg2video other0.ts nowhere/list.m3u8").fails().says(&["there is no folder nowhere"]);
}

#[test]
fn devices_lists_the_encoders_that_people_use_and_all_when_asked() {
    let dir = Dir::new();
    let encoders = |line: &str| {
        let list = String::from_utf8(dir.succeeds(line).stdout).expect("text");
        list.split_once("Video encoders:\n").expect("a list").1.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let (short, all) = (encoders("devices"), encoders("devices --all"));
    assert!(short.len() < 22 && all.len() > short.len(), "{short:?}");
    let rest = all.len() - (short.len() - 1);
    assert_eq!(short.last().map(|line| line.trim()), Some(format!("and {rest} others (--all lists them)").as_str()));
    assert!(short[..short.len() - 1].iter().all(|line| all.contains(line)));
}
