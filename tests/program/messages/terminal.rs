//! The progress bar and messages, on terminals of several widths and in logs.

use crate::support::programs::program::{Dir, Run};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::fd::OwnedFd;
use std::process::Stdio;

/// The redraws of the progress bar in order. Each erases from the beginning of its line and returns the cursor there,
/// so that nothing is left of a line that a narrower terminal has wrapped.
fn drawings(text: &str) -> Vec<String> {
    let mut drawings: Vec<&str> = text.split("\r\u{1b}[J").collect();
    assert!(drawings.remove(0).is_empty(), "{text:?}");
    // The last one may have been read in part.
    drawings.pop();
    let line = |drawing: &&str| {
        let line = drawing.strip_suffix('\r').unwrap_or_else(|| panic!("{drawing:?} does not wait at its beginning"));
        assert!(!line.contains(['\n', '\r', '\u{1b}']), "{line:?}");
        line.to_owned()
    };
    drawings.iter().map(line).collect()
}

/// A pseudo-terminal: its master, and the end that a program writes to.
fn terminal() -> (OwnedFd, File) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&master).expect("a grant");
    unlockpt(&master).expect("no lock");
    let name = ptsname(&master, Vec::new()).expect("a name").into_string().expect("UTF-8");
    let slave = OpenOptions::new().read(true).write(true).open(name).expect("the other end");
    (master, slave)
}

/// Runs the program in a terminal of so many columns. Returns its exit code and its output.
fn in_terminal(dir: &Dir, columns: u16, line: &str) -> (Option<i32>, String) {
    let (master, slave) = terminal();
    tcsetwinsize(&master, Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }).expect("a size");
    let mut command = dir.command(line);
    let mut program =
        command.env("TERM", "xterm").stdout(Stdio::null()).stderr(slave).spawn().expect("the program runs");
    drop(command);
    // Reading fails when the program has closed its end.
    let (mut text, mut bytes, mut terminal) = (Vec::new(), [0; 4096], File::from(master));
    while let Ok(length @ 1..) = terminal.read(&mut bytes) {
        text.extend_from_slice(&bytes[..length]);
    }
    (program.wait().expect("it ends").code(), String::from_utf8_lossy(&text).into_owned())
}

/// The redraws of the progress bar, and the lines that were printed between them.
fn drawn_and_printed(text: &str) -> (Vec<&str>, Vec<&str>) {
    let (printed, drawn): (Vec<&str>, Vec<&str>) =
        text.split("\r\u{1b}[J").map(|part| part.trim_matches('\r')).partition(|part| part.contains('\n'));
    (drawn.into_iter().filter(|bar| !bar.is_empty()).collect(), printed.into_iter().flat_map(str::lines).collect())
}

/// A clip with several defects to report: dark, tinted and noisy.
fn dark_clip(dir: &Dir, file: &str) {
    let picture = "format=yuv420p,lutyuv=y=40+val/9:u=100+val/8:v=150,noise=alls=12:allf=t";
    dir.ffmpeg(&format!("-f lavfi -i testsrc2=size=160x120:rate=25 -vf {picture} -frames:v 30 -c:v ffv1 {file}"));
}

#[test]
fn the_last_lines_fit_the_terminal_and_have_whole_names_and_words() {
    let dir = Dir::new();
    dark_clip(&dir, "in.mkv");
    let output = "a-name-that-goes-on-and-on-as-those-of-cameras-and-of-careful-people-do-2026-11-26.mkv";
    let options = "--backend cpu --encoder ffv1 --strength 0.7";
    let log = dir.succeeds(&format!("{options} in.mkv out.mkv")).stderr;
    for columns in [80, 50] {
        let (code, text) = in_terminal(&dir, columns, &format!("{options} -y in.mkv {output}"));
        assert_eq!(code, Some(0), "{text}");
        let (_, printed) = drawn_and_printed(&text);
        let (last, lines) = printed.split_last().expect("lines");
        assert_eq!(*last, format!("  -> {output}"), "{printed:?}");
        assert!(lines.iter().all(|line| line.chars().count() < columns.into()), "{columns}: {printed:?}");
        // Without the line breaks of the terminal, the lines equal those of a log.
        let whole = lines.join("\n").replace("\n  ", " ");
        let words = |line: &str| line.chars().filter(|letter| !letter.is_ascii_digit()).collect::<String>();
        for (line, logged) in whole.lines().zip(log.lines()).take(2) {
            assert_eq!(words(line), words(logged), "{columns}: {printed:?}");
        }
        assert!(whole.contains("; corrected with strength 0.7\n"), "{whole}");
        assert!(dir.path(output).exists());
    }
}

#[test]
fn a_log_has_whole_lines() {
    let dir = Dir::new();
    dark_clip(&dir, "in.mkv");
    let output = format!("{}.mkv", "a name that goes on and on ".repeat(4));
    let line = format!("--backend cpu --encoder ffv1 --strength 0.7 in.mkv '{output}'");
    let run = Run::from_command(dir.command(&line).env("COLUMNS", "40").env("TERM", "xterm"), &line).exits_with(0);
    let lines: Vec<&str> = run.stderr.lines().collect();
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert!(
        lines[0].starts_with("dark (brightened ") && lines[0].ends_with("; corrected with strength 0.7"),
        "{lines:?}"
    );
    assert!(lines[1].starts_with("decode ") && lines[1].contains(" by cpu ("), "{lines:?}");
    assert!(lines[2].starts_with("30 frames in ") && lines[2].ends_with(&format!("B -> {output}")), "{lines:?}");
}

#[test]
fn an_error_is_one_line_in_a_log_and_whole_words_on_a_terminal() {
    let dir = Dir::new();
    for line in ["--strength 2 in.mkv out.mkv", "missing-file-of-a-camera-in-a-folder-far-away.mkv out.mkv"] {
        let log = dir.run(line).stderr;
        assert_eq!(log.lines().count(), 1, "{log}");
        let (code, text) = in_terminal(&dir, 40, line);
        assert!(code.is_some_and(|code| code > 0), "{text}");
        let text = text.replace("\r\n", "\n");
        assert!(text.lines().count() > 1, "{text}");
        assert_eq!(text.replace("\n  ", " "), log);
    }
}

#[test]
fn the_time_that_is_left_is_cut_off_last() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 100 -c:v ffv1 in.mkv");
    // The filter `realtime` makes the run last 4 seconds.
    let line = "--backend cpu --exact --filter realtime --encoder ffv1 in.mkv out.mkv";
    let (code, text) = in_terminal(&dir, 24, line);
    assert_eq!(code, Some(0), "{text}");
    let (drawn, _) = drawn_and_printed(&text);
    assert!(drawn.iter().all(|bar| bar.chars().count() < 24 && bar.contains('%')), "{drawn:?}");
    let times: Vec<&str> = drawn.iter().filter_map(|bar| bar.split_once("% ETA ")?.1.split(' ').next()).collect();
    assert!(times.len() > 3, "{drawn:?}");
    let is_whole = |time: &&str| time.ends_with(|end: char| end == 's' || end.is_ascii_digit());
    assert!(times.iter().all(is_whole), "{times:?}");
    assert!(drawn.iter().any(|bar| bar.contains(" ETA ") && bar.ends_with('…')), "nothing was cut off: {drawn:?}");
}

#[test]
fn many_files_have_a_share_a_time_and_the_name_of_the_file() {
    let dir = Dir::new();
    std::fs::create_dir(dir.path("dives")).expect("a folder");
    for (file, frames) in [("dives/deep one.mkv", 50), ("dives/reef.mkv", 100)] {
        dir.ffmpeg(&format!("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v {frames} -c:v ffv1 clip.mkv"));
        std::fs::rename(dir.path("clip.mkv"), dir.path(file)).expect("a file");
    }
    // The filter `realtime` makes the files last 2 and 4 seconds.
    let line = "--backend cpu --exact --filter realtime --encoder ffv1 --jobs 1 --output-dir out dives";
    let (code, text) = in_terminal(&dir, 100, line);
    assert_eq!(code, Some(0), "{text}");
    let (drawn, printed) = drawn_and_printed(&text);
    let share = |bar: &&str| bar.split_once('%').and_then(|(share, _)| share.trim().parse::<u32>().ok());
    let shares: Vec<u32> = drawn.iter().map(|bar| share(bar).unwrap_or_else(|| panic!("no share: {bar}"))).collect();
    assert!(shares.is_sorted() && shares.last() >= Some(&80), "{drawn:?}");
    let value_of = |place: &str| drawn.iter().copied().filter(|bar| bar.contains(place)).collect::<Vec<_>>();
    // The first file has about a third of the frames, and of the bytes.
    let (first, second) = (value_of(" 0/2 files: deep one.mkv, "), value_of(" 1/2 files: reef.mkv, "));
    assert!(first.iter().any(|bar| share(bar) > Some(10)), "{drawn:?}");
    assert!(
        first.iter().all(|bar| share(bar) < Some(50)) && second.iter().all(|bar| share(bar) > Some(20)),
        "{drawn:?}"
    );
    let has_time = |bar: &&str| bar.contains("% ETA ");
    assert!(first.iter().any(has_time) && second.iter().any(has_time), "{drawn:?}");
    let [one, two, last] = &printed[..] else { panic!("three lines: {printed:?}") };
    assert!(one.starts_with("dives/deep one.mkv: 50 frames in ") && two.starts_with("dives/reef.mkv: 100 frames in "));
    let bytes: u64 = ["out/deep one.mkv", "out/reef.mkv"].iter().map(|file| dir.read(file).len() as u64).sum();
    let size = format!(" s, {:.0} kB", bytes as f64 / 1e3);
    assert!(last.starts_with("2 files with 150 frames in ") && last.ends_with(&size), "{last}, {bytes}");
}

#[test]
fn the_bar_keeps_to_one_line_while_the_terminal_is_resized() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 2000 -c:v ffv1 in.mkv");
    let (master, slave) = terminal();
    let resize = |columns| {
        let size = Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&master, size).expect("a size");
    };
    resize(100);
    // The filter `realtime` makes the run last 80 seconds.
    let mut command = dir.command("--filter realtime --encoder ffv1 in.mkv out.mkv");
    let mut program =
        command.env("TERM", "xterm").stdout(Stdio::null()).stderr(slave).spawn().expect("the program runs");
    drop(command);
    let mut terminal = File::from(rustix::io::dup(&master).expect("a descriptor"));
    let mut text = String::new();
    for (columns, next) in [(100, 60), (60, 30), (30, 120), (120, 120)] {
        resize(columns);
        let (begin, mut bytes) = (text.len(), [0; 4096]);
        while text[begin..].matches("\u{1b}[J").count() < 6 {
            let length = terminal.read(&mut bytes).expect("the program draws");
            text.push_str(&String::from_utf8_lossy(&bytes[..length]));
        }
        // The first drawing may have begun before the terminal was resized.
        let index = text[begin..].find("\r\u{1b}[J").expect("a drawing") + begin;
        let drawings = drawings(&text[index..]);
        let widths: Vec<usize> = drawings[1..].iter().map(|line| line.chars().count()).collect();
        assert!(widths.iter().all(|width| *width < columns.into()), "{columns} columns: {drawings:?}");
        assert!(drawings.last().is_some_and(|line| line.contains("% ")), "{drawings:?}");
        // A line that is cut off ends with `…`.
        let is_whole = |line: &String| [" frames", " frame", "x"].iter().any(|end| line.ends_with(end));
        assert!(columns > 30 || drawings[1..].iter().all(|line| line.ends_with('…')), "{drawings:?}");
        assert!(columns <= 30 || text[..begin].is_empty() || drawings[1..].iter().any(is_whole), "{drawings:?}");
        // In a wide terminal, the bar uses the width.
        assert!(columns < 100 || widths.iter().any(|width| *width + 10 > columns.into()), "{columns}: {drawings:?}");
        resize(next);
    }
    program.kill().expect("it is there");
    program.wait().expect("it ends");
}

#[test]
fn a_terminal_that_cannot_move_its_cursor_gets_lines() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 200 -c:v ffv1 in.mkv");
    let (master, slave) = terminal();
    let mut command = dir.command("--backend cpu --encoder ffv1 in.mkv out.mkv");
    let mut program =
        command.env("TERM", "dumb").stdout(Stdio::null()).stderr(slave).spawn().expect("the program runs");
    drop(command);
    let (mut text, mut bytes, mut terminal) = (String::new(), [0; 4096], File::from(master));
    while let Ok(length @ 1..) = terminal.read(&mut bytes) {
        text.push_str(&String::from_utf8_lossy(&bytes[..length]));
    }
    assert!(program.wait().expect("it ends").success(), "{text}");
    assert!(text.contains("200 frames in ") && !text.contains('\u{1b}') && text.is_ascii(), "{text:?}");
}
