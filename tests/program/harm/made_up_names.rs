//! Entries that others have made under a name that the program generates: they stay unchanged, and no link is followed.

use crate::support::programs::program::Dir;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use std::collections::BTreeSet;
use std::os::unix::fs::symlink;
use std::time::{SystemTime, UNIX_EPOCH};

/// Kinds of directory entries that are no regular files.
const KINDS: [&str; 4] = ["a link that leads nowhere", "a pipe", "a link to a device", "a folder"];

/// Makes an entry of this kind. The link leads to `elsewhere`.
fn put(dir: &Dir, kind: usize, name: &str) {
    let place = dir.path(name);
    match kind {
        0 => symlink(dir.path("elsewhere"), place).expect("a link"),
        1 => mknodat(CWD, place, FileType::Fifo, Mode::RWXU, 0).expect("a pipe"),
        2 => symlink("/dev/full", place).expect("a link"),
        _ => std::fs::create_dir(place).expect("a folder"),
    }
}

fn is_there(dir: &Dir, kind: usize, name: &str) -> bool {
    let is = std::fs::symlink_metadata(dir.path(name)).is_ok_and(|there| match kind {
        0 | 2 => there.is_symlink(),
        3 => there.is_dir(),
        _ => !there.is_symlink() && !there.is_dir() && !there.is_file(),
    });
    is && !dir.path("elsewhere").exists()
}

fn clip(dir: &Dir, name: &str) {
    dir.ffmpeg(&format!("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 10 -c:v ffv1 {name}"));
}

#[test]
fn a_recorder_takes_the_next_number_whatever_has_the_name_of_a_segment() {
    let dir = Dir::new();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a time").as_secs();
    let name = |second: u64| format!("a-{second}.mkv");
    (now..now + 60).for_each(|second| put(&dir, second as usize % KINDS.len(), &name(second)));
    dir.succeeds(
        "live --backend cpu --no-preview --segment 1s --record a-%s.mkv --encoder ffv1 --duration 4.5 -f lavfi \
         testsrc2=s=64x48:r=10,realtime",
    );
    // `Dir::names` would read the entries.
    let there = std::fs::read_dir(dir.path("")).expect("a folder").flatten();
    let files = there.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
    let files: Vec<String> = files.map(|entry| entry.file_name().into_string().expect("text")).collect();
    let second = |file: &String| file.strip_prefix("a-")?.strip_suffix(".2.mkv")?.parse::<u64>().ok();
    let met: BTreeSet<usize> = files.iter().filter_map(second).map(|second| second as usize % KINDS.len()).collect();
    assert!(met.len() == KINDS.len() && files.iter().all(|file| second(file).is_some()), "{files:?}");
    assert_eq!(files.iter().map(|file| dir.frames(file).len()).sum::<usize>(), 45);
    (now..now + 60).for_each(|second| assert!(is_there(&dir, second as usize % KINDS.len(), &name(second))));
}

#[test]
fn outputs_that_the_program_names_itself_go_through_no_link_and_into_no_device() {
    for (kind, what) in KINDS.into_iter().enumerate() {
        let dir = Dir::new();
        ["in.mkv", "good.mkv"].iter().for_each(|name| clip(&dir, name));
        std::fs::create_dir(dir.path("out")).expect("a folder");
        for (name, lines) in [
            ("in-equalized.mkv", &["in.mkv", "-y in.mkv", "-y in.mkv --jobs 2"][..]),
            ("in-looks.png", &["preview in.mkv", "preview -y in.mkv"]),
            ("out/in.mkv", &["--output-dir out in.mkv good.mkv", "-y --output-dir out in.mkv good.mkv"]),
        ] {
            put(&dir, kind, name);
            for line in lines {
                let line =
                    if line.starts_with("preview") { (*line).to_owned() } else { format!("--encoder ffv1 {line}") };
                let run = dir.run(&line).exits_with(10);
                assert!(run.stderr.contains(name) && is_there(&dir, kind, name), "{what}, `{line}`: {}", run.stderr);
            }
        }
        assert_eq!(dir.frames("out/good.mkv").len(), 10, "{what}: the others go on");
    }
}

#[test]
fn segments_of_a_playlist_go_through_no_link() {
    let dir = Dir::new();
    clip(&dir, "in.mkv");
    put(&dir, 0, "list0.ts");
    dir.run("-y --encoder mpeg2video in.mkv list.m3u8").exits_with(10).says(&["list0.ts is no file"]);
    assert!(is_there(&dir, 0, "list0.ts"));
    std::fs::remove_file(dir.path("list0.ts")).expect("a link");
    dir.succeeds("-y --encoder mpeg2video in.mkv list.m3u8");
    assert_eq!(dir.frames("list.m3u8").len(), 10);
}
