//! Names and messages that contain terminal control sequences.

use crate::support::programs::program::{Dir, Run};

/// Control sequences that clear the screen, set the title, ring the bell, and more.
const COMMANDS: &str = "\x1b[2J\x1b]0;title\x07\u{9b}31m\u{7f}\r";

/// Requires messages without control characters, but with the rest of the name.
#[track_caller]
fn harmless(run: Run) -> Run {
    let is_command = |c: char| c.is_control() && c != '\n';
    assert!(!run.stderr.contains(is_command), "`{}` said {:?}", run.command, run.stderr);
    run.says(&["\\u{9b}31m", "\\r.mkv", "ü"])
}

#[test]
fn control_characters_in_names_do_not_reach_the_terminal() {
    let dir = Dir::new();
    let (input, output) = (format!("ü{COMMANDS}.mkv"), format!("ü{COMMANDS}.mkv.mkv"));
    dir.ffmpeg(&format!("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 10 -c:v ffv1 '{input}'"));
    harmless(dir.succeeds(&format!("--backend cpu --encoder ffv1 '{input}' '{output}'")));
    harmless(dir.succeeds(&format!("--backend cpu --encoder ffv1 -v -y '{input}' '{output}'")));
    harmless(dir.run(&format!("--backend cpu '{input}' '{output}'")).fails());
    harmless(dir.run(&format!("--backend cpu 'missing{input}' other.mkv")).fails());
    harmless(dir.run(&format!("'--{input}' other.mkv")).exits_with(2));
}

#[test]
fn a_line_end_in_a_name_begins_no_line() {
    let dir = Dir::new();
    let (input, output) = ("a\nhisteq-video: error: forged.mkv", "b\nhisteq-video: error: forged.mkv");
    dir.ffmpeg(&format!("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 10 -c:v ffv1 '{input}'"));
    for (run, code) in [("-v", 0), ("", 1), ("-y --start 9", 2)] {
        let run = dir.run(&format!("--backend cpu --encoder ffv1 {run} '{input}' '{output}'")).ends_as(code);
        assert!(!run.stderr.contains("\nhisteq-video: error: forged"), "{:?}", run.stderr);
        run.says(&["\\nhisteq-video: error: forged.mkv"]);
    }
}

#[test]
fn names_in_lists_of_files_and_in_dry_runs_make_no_lines_and_turn_nothing_around() {
    const NAME: &str = "\u{202e}a\u{2066}b\u{200b}c\nhisteq-video: error: forged\n\u{9b}.mkv";
    let dir = Dir::new();
    std::fs::create_dir(dir.path("in")).expect("a folder");
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 10 -c:v ffv1 good.mkv");
    std::fs::copy(dir.path("good.mkv"), dir.path(format!("in/{NAME}"))).expect("a file");
    dir.write(&format!("in/x{NAME}"), b"no video");
    let lines = ["--output-dir out in", "-q -y --output-dir out in", "--dry-run --output-dir other in"];
    for (line, code) in lines.iter().map(|line| ((*line).to_owned(), 7)).chain([
        (format!("--dry-run 'in/{NAME}' out.mkv"), 0),
        (format!("preview 'in/{NAME}' 'sheet{NAME}.png'"), 0),
        (format!("'in/{NAME}' 'out{NAME}' --encoder ffv1"), 0),
        (format!("plan 'in/{NAME}' 'out/{NAME}' --encoder ffv1"), 10),
    ]) {
        let run = dir.run(&line).ends_as(code);
        for said in [&run.stderr, &String::from_utf8_lossy(&run.stdout).into_owned()] {
            let is_unseen = |c: char| c.is_control() && c != '\n' || "\u{202e}\u{2066}\u{200b}".contains(c);
            assert!(
                !said.contains(is_unseen) && !said.contains("\nhisteq-video: error: forged"),
                "`{line}` said {said}"
            );
            assert!(!said.starts_with("histeq-video: error: forged"), "`{line}` said {said}");
        }
        let all = format!("{}{}", run.stderr, String::from_utf8_lossy(&run.stdout));
        assert!(all.contains(r"\u{202e}a\u{2066}b\u{200b}c\nhisteq-video: error: forged\n"), "`{line}` said {all}");
    }
    // JSON is valid, and has the names unescaped.
    let json = dir.succeeds(&format!("--dry-run --json 'in/{NAME}' out.mkv")).stdout;
    let json: serde_json::Value = serde_json::from_slice(&json).expect("JSON");
    assert_eq!(json["input"]["name"], format!("in/{NAME}"));
    let line = format!("--progress json -y 'in/{NAME}' out.mkv --encoder ffv1");
    let said = dir.succeeds(&line).stderr;
    let events: Vec<serde_json::Value> =
        said.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect();
    assert!(!said.contains(['\u{202e}', '\u{9b}']), "{said}");
    assert!(events.iter().any(|event| event["input"] == format!("in/{NAME}")), "{events:?}");
}

#[test]
fn control_characters_in_messages_of_ffmpeg_do_not_reach_the_terminal() {
    let dir = Dir::new();
    let list = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:1,\nü\x1b[2J\u{9b}31m\u{7f}\rx.ts\n#EXT-X-ENDLIST\n";
    dir.write("list.m3u8", list.as_bytes());
    for options in ["", "-v"] {
        let run = dir.run(&format!("--backend cpu {options} list.m3u8 out.mkv")).fails();
        let is_command = |c: char| c.is_control() && c != '\n';
        assert!(!run.stderr.contains(is_command), "{:?}", run.stderr);
        run.says(&["ü\\u{1b}[2J"]);
    }
}
