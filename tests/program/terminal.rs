//! The progress bar on a terminal that changes its width.

use crate::support::program::Dir;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::fd::OwnedFd;
use std::process::Stdio;

/// What is drawn of the bar, one after the other: each erases from the beginning of its line on, and waits there. So nothing is
/// left of a line that a narrower terminal has broken.
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

/// A terminal, and what a program writes to.
fn terminal() -> (OwnedFd, File) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&master).expect("a grant");
    unlockpt(&master).expect("no lock");
    let name = ptsname(&master, Vec::new()).expect("a name").into_string().expect("UTF-8");
    let slave = OpenOptions::new().read(true).write(true).open(name).expect("the other end");
    (master, slave)
}

#[test]
fn the_last_lines_fit_the_terminal() {
    let dir = Dir::new();
    // Dark, hazy, tinted and noisy: as much to tell as there can be.
    let picture = "format=yuv420p,lutyuv=y=40+val/9:u=100+val/8:v=150,noise=alls=12:allf=t";
    dir.ffmpeg(&format!("-f lavfi -i testsrc2=size=320x240:rate=25 -vf {picture} -frames:v 30 -c:v ffv1 in.mkv"));
    let output = "a-name-that-goes-on-and-on-as-those-of-cameras-and-of-careful-people-do-2026-11-26.mkv";
    let (master, slave) = terminal();
    tcsetwinsize(&master, Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 }).expect("a size");
    let mut command = dir.command(&format!("--backend cpu --encoder ffv1 --strength 0.7 in.mkv {output}"));
    let mut program =
        command.env("TERM", "xterm").stdout(Stdio::null()).stderr(slave).spawn().expect("the program runs");
    drop(command);
    // Reading fails when the program has closed its end.
    let (mut text, mut bytes, mut terminal) = (String::new(), [0; 4096], File::from(master));
    while let Ok(length @ 1..) = terminal.read(&mut bytes) {
        text.push_str(&String::from_utf8_lossy(&bytes[..length]));
    }
    assert!(program.wait().expect("it ends").success(), "{text}");
    // What stands on lines is no bar.
    let printed = text.split("\u{1b}[J").map(str::trim).find(|part| part.contains(" -> ")).unwrap_or_default();
    let lines: Vec<&str> = printed.lines().collect();
    let last = lines.last().expect("a line");
    assert!(lines.len() >= 3 && lines.iter().all(|line| line.chars().count() < 80), "{lines:?}");
    assert!(last.starts_with("30 frames in ") && last.contains(" -> a-name") && last.ends_with("-26.mkv"), "{last}");
    assert!(last.contains('…') && dir.path(output).exists(), "{last}");
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
    // In real time: 80 seconds.
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
        // The first one may have been under way.
        let at = text[begin..].find("\r\u{1b}[J").expect("a drawing") + begin;
        let drawings = drawings(&text[at..]);
        let widths: Vec<usize> = drawings[1..].iter().map(|line| line.chars().count()).collect();
        assert!(widths.iter().all(|width| *width < columns.into()), "{columns} columns: {drawings:?}");
        assert!(drawings.last().is_some_and(|line| line.contains("% ")), "{drawings:?}");
        // What does not fit leaves a sign.
        let is_whole = |line: &String| ["frames read", "x", "s"].iter().any(|end| line.ends_with(end));
        assert!(columns > 30 || drawings[1..].iter().all(|line| line.ends_with('…')), "{drawings:?}");
        assert!(columns <= 30 || text[..begin].is_empty() || drawings[1..].iter().any(is_whole), "{drawings:?}");
        // A wide terminal is used.
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
