//! A run changes no file but its own output, and that only once it is complete.

use crate::program::outputs::interrupt::interrupted;
use crate::support::media::reader::encoder_is_here;
use crate::support::programs::program::{Dir, Run, program};
use crate::support::programs::running::Running;
use crate::support::skip::skip;
use rustix::process::Signal;
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_secs(60);

fn clip(dir: &Dir, name: &str) {
    dir.ffmpeg(&format!("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 10 -c:v mpeg4 -q:v 3 {name}"));
}

/// A shell that runs `line`, in which PROGRAM is replaced by the program.
fn shell(dir: &Dir, line: &str) -> Command {
    let mut command = dir.other_command("sh", "-c");
    command.arg(line.replace("PROGRAM", &format!("{} --backend cpu", program().display())));
    command
}

/// Starts a run that has checked its output and waits for its input on stdin.
fn waiting(dir: &Dir, line: &str) -> Running {
    let mut command = dir.command(&format!("--backend cpu {line}"));
    let running = Running::start(command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()));
    running.wait_until_it_listens();
    running
}

/// Writes a run's input. Returns its exit code and its messages.
fn fed(mut running: Running, input: &[u8]) -> (Option<i32>, String) {
    let mut stdin = running.child().stdin.take().expect("a pipe");
    // The run may stop reading early.
    let _ = stdin.write_all(input);
    drop(stdin);
    let mut said = String::new();
    running.child().stderr.take().expect("a pipe").read_to_string(&mut said).expect("text");
    (running.ends_within(LIMIT), said)
}

fn wait_for<T>(found: impl Fn() -> Option<T>) -> T {
    let begin = Instant::now();
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(begin.elapsed() < LIMIT, "waited for nothing");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn mode(dir: &Dir, name: &str) -> u32 {
    std::fs::metadata(dir.path(name)).expect("a file").mode() & 0o7777
}

fn set_mode(dir: &Dir, name: &str, mode: u32) {
    std::fs::set_permissions(dir.path(name), std::fs::Permissions::from_mode(mode)).expect("permissions");
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

#[test]
fn what_lies_under_names_like_temporary_ones_is_left_alone() {
    for plant in ["ln -s precious", "echo precious >", "mkfifo"] {
        let dir = Dir::new();
        clip(&dir, "in.mkv");
        dir.write("precious", b"precious\n");
        // `exec` keeps the process ID, so `$$` is that of the program.
        let line = format!("{plant} .$$.out.mkv; {plant} .$$.s.csv; exec PROGRAM --stats s.csv in.mkv out.mkv");
        let mut running = Running::start(shell(&dir, &line).stderr(Stdio::null()));
        assert_eq!(running.ends_within(LIMIT), Some(0), "{plant}");
        assert_eq!(dir.read("precious"), b"precious\n", "{plant}");
        assert_eq!(dir.frames("out.mkv").len(), 10, "{plant}");
        let entries = std::fs::read_dir(dir.path("")).expect("a folder");
        let names = entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("text"));
        assert_eq!(names.filter(|name| name.starts_with('.')).count(), 2, "{plant}");
    }
}

#[test]
fn images_go_into_no_file_that_another_program_has_planted() {
    let dir = Dir::new();
    clip(&dir, "in.mkv");
    for (number, plant) in ["ln -s precious", "ln precious", "mkfifo"].into_iter().enumerate() {
        dir.write("precious", b"precious\n");
        let out = format!("{number}-%d.png");
        let line =
            format!("for i in 1 2 3; do {plant} {number}-$i.png.tmp; done; exec PROGRAM --frames 3 in.mkv {out}");
        let mut running = Running::start(shell(&dir, &line).stderr(Stdio::null()));
        assert_eq!(running.ends_within(LIMIT), Some(0), "{plant}");
        assert_eq!(dir.read("precious"), b"precious\n", "{plant}");
        for image in 1..=3 {
            assert_eq!(dir.frames(&format!("{number}-{image}.png")).len(), 1, "{plant}");
            assert!(std::fs::symlink_metadata(dir.path(format!("{number}-{image}.png.tmp"))).is_ok(), "{plant}");
        }
    }
}

#[test]
fn images_replace_links_and_nothing_that_appears_during_the_run() {
    let dir = Dir::new();
    clip(&dir, "in.mkv");
    dir.write("precious", b"precious");
    for number in 1..=3 {
        std::os::unix::fs::symlink("precious", dir.path(format!("out{number}.png"))).expect("a link");
    }
    dir.run("--frames 3 in.mkv out%d.png").fails().says(&["out1.png exists"]);
    dir.succeeds("-y --frames 4 in.mkv out%d.png");
    assert_eq!(mode(&dir, "out1.png"), mode(&dir, "out4.png"), "that of a new file");
    std::fs::remove_file(dir.path("out4.png")).expect("an image");
    assert_eq!(dir.read("precious"), b"precious");
    assert_eq!(dir.frames("out3.png").len(), 1);
    let running = waiting(&dir, "-q --frames 3 - new%d.png");
    std::os::unix::fs::symlink("precious", dir.path("new2.png")).expect("a link");
    let (code, said) = fed(running, &dir.read("in.mkv"));
    assert_eq!((crate::support::programs::program::failed(code), said.lines().count()), (true, 1), "{said}");
    assert!(said.contains("new2.png exists"), "{said}");
    assert_eq!(dir.read("precious"), b"precious");
    let expected = ["in.mkv", "new1.png", "new2.png", "out1.png", "out2.png", "out3.png", "precious"];
    assert_eq!(dir.names(), expected);
}

#[test]
fn segments_go_through_no_link_that_appears_during_the_run() {
    let dir = Dir::new();
    clip(&dir, "in.mkv");
    for planted in ["list0.ts", "list.m3u8.tmp"] {
        dir.write("precious", b"precious");
        let running = waiting(&dir, "-q -y --encoder mpeg2video - list.m3u8");
        std::os::unix::fs::symlink("precious", dir.path(planted)).expect("a link");
        let (code, said) = fed(running, &dir.read("in.mkv"));
        assert!(
            crate::support::programs::program::failed(code) && said.contains("symbolic links"),
            "{planted}: {code:?} {said}"
        );
        assert_eq!(dir.read("precious"), b"precious", "{planted}");
        std::fs::remove_file(dir.path(planted)).expect("a link");
    }
    assert_eq!(fed(waiting(&dir, "-q -y --encoder mpeg2video - list.m3u8"), &dir.read("in.mkv")).0, Some(0));
    assert_eq!(dir.frames("list.m3u8").len(), 10);
}

#[test]
fn two_runs_in_containers_may_write_the_same_output() {
    let dir = Dir::new();
    clip(&dir, "in.mkv");
    let first = |line: &str| {
        let mut command = dir.other_command("unshare", "--pid --fork --kill-child --mount-proc");
        command.arg(program()).args(line.split(' '));
        command
    };
    if !first("--version").output().is_ok_and(|output| output.status.success()) {
        skip("two containers", "there are none to be had here");
        return;
    }
    let run = || Running::start(first("-q --backend cpu -y in.mkv out.mkv").stderr(Stdio::null()));
    for mut running in [run(), run(), run()] {
        assert_eq!(running.ends_within(LIMIT), Some(0));
    }
    assert_eq!(dir.frames("out.mkv").len(), 10);
    assert_eq!(dir.names(), ["in.mkv", "out.mkv"]);
}

#[test]
fn a_system_that_has_no_files_without_names_has_hidden_ones() {
    let dir = Dir::new();
    clip(&dir, "in.mkv");
    // The program gives an unnamed file its name by a link through /proc, which is missing here.
    let without_proc = |line: &str| {
        let mut command = dir.other_command("unshare", "--mount sh -c");
        command.arg(format!("umount -l /proc && exec {} {line}", program().display()));
        command
    };
    if !without_proc("--version").output().is_ok_and(|output| output.status.success()) {
        skip("a system without /proc", "only root can make one");
        return;
    }
    for (line, frames) in [
        ("--backend cpu --stats s.csv --save-curves c.jsonl in.mkv out.mkv", 10),
        ("--backend cpu -y --frames 3 in.mkv out.mkv", 3),
        ("live --backend cpu --no-preview -y --frames 4 --record out.mkv -f lavfi testsrc2=s=64x48:r=25", 4),
    ] {
        Run::from_command(&mut without_proc(line), line).exits_with(0);
        assert_eq!(dir.frames("out.mkv").len(), frames, "{line}");
    }
    let before = dir.files();
    for (line, code) in [("--backend cpu -y in.mkv out.png", 1), ("--backend cpu -n in.mkv out.mkv", 3)] {
        Run::from_command(&mut without_proc(line), line).ends_as(code);
    }
    assert!(dir.files() == before, "{:?}", dir.names());
    assert_eq!(dir.names(), ["c.jsonl", "in.mkv", "out.mkv", "s.csv"]);
    for signal in [Signal::USR1, Signal::USR2, Signal::ALARM, Signal::PROF, Signal::VTALARM, Signal::XCPU] {
        let mut command = without_proc("-q --backend cpu -y --stats t.csv - out.mkv");
        let mut running = Running::start(command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()));
        wait_for(|| dir.names().into_iter().find(|name| name.starts_with(".out.")));
        running.wait_until_it_listens();
        running.signal(signal);
        assert_eq!(running.ends_within(LIMIT), Some(130), "{signal:?}");
        assert!(dir.files() == before, "{signal:?}: {:?}", dir.names());
    }
    // Another file takes the place of the hidden one.
    let mut command = without_proc("-q --backend cpu -y - out.mkv");
    let running = Running::start(command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()));
    let name = wait_for(|| dir.names().into_iter().find(|name| name.starts_with(".out.")));
    assert!(name.len() == ".out.123456.mkv".len() && name.ends_with(".mkv"), "{name}");
    std::fs::rename(dir.path(&name), dir.path("moved")).expect("a file");
    dir.write(&name, b"theirs");
    let (code, said) = fed(running, &dir.read("in.mkv"));
    assert_eq!((crate::support::programs::program::failed(code), said.lines().count()), (true, 1), "{said}");
    assert!(said.contains("another program has replaced"), "{said}");
    assert!(dir.read(&name) == b"theirs" && dir.read("out.mkv") == before[Path::new("out.mkv")], "{:?}", dir.names());
}

#[test]
fn a_name_may_be_as_long_as_names_get() {
    if !encoder_is_here("interrupting", "libx264") {
        return;
    }
    let dir = Dir::new();
    clip(&dir, "in.mkv");
    let name = format!("{}.mkv", "o".repeat(251));
    dir.succeeds(&format!("in.mkv {name}"));
    assert_eq!(dir.names(), ["in.mkv", &name]);
    dir.succeeds(&format!("-y --frames 3 in.mkv {name}"));
    assert_eq!(dir.frames(&name).len(), 3);
    let images = format!("{}%d.png", "i".repeat(250));
    dir.succeeds(&format!("--frames 2 in.mkv {images}"));
    dir.succeeds(&format!("-y --frames 2 in.mkv {images}"));
    for number in 1..=2 {
        let image = images.replace("%d", &number.to_string());
        assert!(dir.names().contains(&image), "{:?}", dir.names());
        std::fs::remove_file(dir.path(image)).expect("an image");
    }
    let (code, said) = interrupted(&dir, &format!("-y OPTIONS long.mkv {name}"));
    assert_eq!(code, Some(130), "{said}");
    assert_eq!(dir.frames(&name).len(), 3);
    assert!(dir.frames(&format!("{}.partial.mkv", "o".repeat(243))).len() >= 5);
}

#[test]
fn a_file_that_appears_during_the_run_is_replaced_only_when_told_so() {
    let dir = Dir::new();
    clip(&dir, "in.mkv");
    for (option, kept) in [("", "out.new.mkv"), ("-n", "out.new-2.mkv")] {
        let running = waiting(&dir, &format!("-q {option} - out.mkv"));
        dir.write("out.mkv", b"precious");
        let (code, said) = fed(running, &dir.read("in.mkv"));
        assert_eq!((crate::support::programs::program::failed(code), said.lines().count()), (true, 1), "{said}");
        assert!(said.contains("out.mkv has appeared meanwhile") && said.contains(kept), "{said}");
        assert_eq!(dir.read("out.mkv"), b"precious");
        assert_eq!(dir.frames(kept).len(), 10);
        std::fs::remove_file(dir.path("out.mkv")).expect("a file");
    }
    assert_eq!(dir.names(), ["in.mkv", "out.new-2.mkv", "out.new.mkv"]);
    let running = waiting(&dir, "-y - out.mkv");
    dir.write("out.mkv", b"not precious");
    assert_eq!(fed(running, &dir.read("in.mkv")).0, Some(0));
    assert_eq!(dir.frames("out.mkv").len(), 10);
}

#[test]
fn a_video_under_a_name_like_that_of_images_replaces_no_file() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 3 -c:v ffv1 in.mkv");
    dir.write("out%d.png", b"precious");
    for format in ["rawvideo", "yuv4mpegpipe", "matroska"] {
        let line = format!("--backend cpu --output-format {format} in.mkv out%d.png");
        dir.run(&line).fails().says(&["out%d.png exists", "-y"]);
        assert_eq!(dir.read("out%d.png"), b"precious", "{format}");
        dir.succeeds(&format!("-y {line}"));
        assert_ne!(dir.read("out%d.png"), b"precious", "{format}");
        assert_eq!(dir.names(), ["in.mkv", "out%d.png"], "{format}");
        dir.write("out%d.png", b"precious");
    }
}

#[test]
fn one_of_two_runs_that_may_not_overwrite_has_the_name() {
    let dir = Dir::new();
    clip(&dir, "in.mkv");
    let runs = [waiting(&dir, "-n - out.mkv"), waiting(&dir, "-n - out.mkv")];
    let mut codes = runs.map(|running| fed(running, &dir.read("in.mkv")).0);
    codes.sort();
    assert!(codes[0] == Some(0) && crate::support::programs::program::failed(codes[1]), "{codes:?}");
    assert_eq!(dir.names(), ["in.mkv", "out.mkv", "out.new.mkv"]);
}

#[test]
fn what_an_earlier_interruption_has_left_stays() {
    if !encoder_is_here("interrupting", "libx264") {
        return;
    }
    let dir = Dir::new();
    dir.write("out.partial.mkv", b"precious");
    let (code, said) = interrupted(&dir, "OPTIONS -y long.mkv out.mkv");
    assert_eq!(code, Some(130), "{said}");
    assert!(said.contains("out.partial-2.mkv"), "{said}");
    assert_eq!(dir.read("out.partial.mkv"), b"precious");
    assert_eq!(dir.names(), ["long.mkv", "out.partial-2.mkv", "out.partial.mkv"]);
}

#[test]
fn a_disk_behind_a_link_is_only_overwritten_when_told_so() {
    let dir = Dir::new();
    clip(&dir, "in.mkv");
    // A device number that no driver has.
    let made = dir.other_command("mknod", "disk b 240 99").output();
    if !made.is_ok_and(|output| output.status.success()) {
        skip("a disk as the output", "only root can make a block device");
        return;
    }
    std::os::unix::fs::symlink("disk", dir.path("link.mkv")).expect("a link");
    let lines =
        [("-n in.mkv link.mkv", 3), ("in.mkv link.mkv", 1), ("live -n --no-preview --record link.mkv in.mkv", 3)];
    for (line, code) in lines {
        dir.run(line).ends_as(code).says(&["link.mkv exists"]);
    }
}

#[test]
fn stdout_by_the_name_of_a_file_is_appended_to_as_the_shell_says() {
    let dir = Dir::new();
    clip(&dir, "in.mkv");
    for line in [
        "in.mkv /dev/stdout",
        "-y in.mkv /dev/fd/1",
        "-y in.mkv /proc/self/fd/1",
        "compare -y in.mkv in.mkv /dev/stdout",
        "live -y --no-preview --output /dev/stdout in.mkv",
    ] {
        dir.write("log", b"precious\n");
        let line = format!("exec {} -q {line} >> log", program().display());
        let run = Run::from_command(
            &mut shell(&dir, &line.replace("-q compare", "compare -q").replace("-q live", "live -q")),
            &line,
        );
        run.exits_with(0);
        assert!(dir.read("log").starts_with(b"precious\nYUV4MPEG2 "), "{line}");
        assert_eq!(dir.names(), ["in.mkv", "log"]);
    }
}

#[test]
fn a_live_run_without_a_frame_is_an_error_and_leaves_what_was_there() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=320x240 -frames:v 1 -update 1 whole.png");
    dir.write("cut.png", &dir.read("whole.png")[..300]);
    for name in ["old.mkv", "old.mp4", "old.y4m", "old.png", "old.jsonl"] {
        dir.write(name, b"precious");
    }
    let before = dir.files();
    for output in [
        "--record old.mkv",
        "--record old.mp4",
        "--record old.y4m",
        "--record old.png",
        "--output old.mkv",
        "--record new.mkv",
        "--record old.mkv --save-curves old.jsonl",
    ] {
        let run = dir.run(&format!("live --backend cpu --no-preview -y {output} cut.png")).fails();
        assert!(run.stderr.contains("cut.png"), "{}", run.stderr);
        assert!(dir.files() == before, "{output}: {:?}", dir.names());
    }
}

#[test]
fn a_recording_that_cannot_be_made_is_refused_before_the_camera_is_opened() {
    let dir = Dir::new();
    for (output, says) in [
        ("--record no/out.mkv", "there is no folder no"),
        ("--record no/out%03d.png", "there is no folder no"),
        ("--output no/out.y4m", "there is no folder no"),
        ("--record .", "is a folder"),
    ] {
        dir.run(&format!("live --no-preview {output} /dev/no-such-camera")).fails().says(&[says]);
    }
}

#[test]
fn a_recording_does_not_replace_what_appears_before_its_first_frame() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=s=64x48:r=25:d=1 -f yuv4mpegpipe in.y4m");
    let mut command = dir.command("live --backend cpu --no-preview --record out.mkv -");
    let running = Running::start(command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()));
    running.wait_until_it_listens();
    dir.write("out.mkv", b"precious");
    let (code, said) = fed(running, &dir.read("in.y4m"));
    assert!(crate::support::programs::program::failed(code), "{code:?}: {said}");
    assert!(said.contains("out.mkv exists"), "{said}");
    assert_eq!(dir.read("out.mkv"), b"precious");
}

#[test]
fn a_file_that_is_replaced_keeps_its_mode_and_owner() {
    let dir = Dir::new();
    clip(&dir, "in.mkv");
    dir.write("out.mkv", b"old");
    for (before, after) in [(0o640, 0o640), (0o444, 0o444), (0o6755, 0o755)] {
        set_mode(&dir, "out.mkv", before);
        dir.succeeds("-y in.mkv out.mkv");
        assert_eq!(mode(&dir, "out.mkv"), after, "{before:o}");
    }
    if !is_root() {
        skip("a file of another user", "only root can replace one");
        return;
    }
    std::os::unix::fs::chown(dir.path("out.mkv"), Some(65534), Some(65533)).expect("an owner");
    dir.succeeds("-y in.mkv out.mkv");
    let found = std::fs::metadata(dir.path("out.mkv")).expect("a file");
    assert_eq!((found.uid(), found.gid()), (65534, 65533));
    // A user who may not set the file's group gives the new group only the permissions of others.
    for (name, mode) in [("", 0o777), ("out.mkv", 0o664)] {
        set_mode(&dir, name, mode);
    }
    let unprivileged = format!("--reuid 65532 --regid 65532 --clear-groups {}", program().display());
    let run = Run::from_command(
        &mut dir.other_command("setpriv", &format!("{unprivileged} -y in.mkv out.mkv")),
        "as another user",
    );
    run.exits_with(0);
    assert_eq!(mode(&dir, "out.mkv"), 0o644);
}

#[test]
fn a_new_file_has_the_mode_that_new_files_have() {
    let dir = Dir::new();
    clip(&dir, "in.mkv");
    for (umask, expected) in [("027", 0o640), ("002", 0o664), ("077", 0o600)] {
        let line = format!("umask {umask}; exec PROGRAM -q --stats {umask}.csv in.mkv {umask}.mkv");
        Run::from_command(&mut shell(&dir, &line), &line).exits_with(0);
        for name in [format!("{umask}.mkv"), format!("{umask}.csv")] {
            assert_eq!(mode(&dir, &name), expected, "{name}");
        }
    }
}

#[test]
fn no_other_user_can_read_the_new_file_before_it_has_the_mode_of_the_old_one() {
    let dir = Dir::new();
    clip(&dir, "in.mkv");
    dir.write("out.mkv", b"old");
    set_mode(&dir, "out.mkv", 0o600);
    let mut running = waiting(&dir, "-y - out.mkv");
    let open = std::fs::read_dir(format!("/proc/{}/fd", running.child().id())).expect("open files");
    let open = open.map(|entry| entry.expect("an entry").path());
    let ours =
        |path: &std::path::PathBuf| std::fs::read_link(path).is_ok_and(|target| target.starts_with(dir.path("")));
    let modes: Vec<u32> = open.filter(ours).map(|path| std::fs::metadata(path).expect("open").mode() & 0o777).collect();
    assert_eq!(modes, [0o600]);
    assert_eq!(fed(running, &dir.read("in.mkv")).0, Some(0));
}

#[test]
fn success_is_said_only_of_what_is_on_the_disk() {
    let dir = Dir::new();
    clip(&dir, "in.mkv");
    // The first `fsync` is for the file, the second for its directory entry.
    let source = "#include <errno.h>\n#include <stdlib.h>\nint fsync(int f) { static int n; \
                  if (++n != atoi(getenv(\"FAILS\"))) return 0; errno = EIO; return -1; }\n";
    dir.write("fsync.c", source.as_bytes());
    let built = dir.other_command("cc", "-shared -fPIC -o fsync.so fsync.c").output();
    if !built.is_ok_and(|output| output.status.success()) {
        skip("a disk that fails", "there is no C compiler");
        return;
    }
    for (fails, code) in [("1", 1), ("2", 1), ("3", 0)] {
        for output in ["out.mkv", "out.y4m"] {
            let line = format!("--backend cpu -y in.mkv {output}");
            let mut command = dir.command(&line);
            let run = Run::from_command(command.env("LD_PRELOAD", dir.path("fsync.so")).env("FAILS", fails), &line);
            let run = run.ends_as(code);
            if code == 1 {
                run.says(&[output, "Input/output error"]);
            }
            // If the second call fails, the output already has its name, and keeps it.
            let written: Vec<String> = dir.names().into_iter().filter(|name| name.contains("out.")).collect();
            assert_eq!(written, if fails == "1" { vec![] } else { vec![output.to_owned()] });
            written.iter().for_each(|name| std::fs::remove_file(dir.path(name)).expect("a file"));
        }
    }
}

#[test]
fn a_file_that_outgrows_its_limit_is_an_error() {
    let dir = Dir::new();
    clip(&dir, "in.mkv");
    for output in ["out.mkv", "out.y4m", "out.mp4"] {
        let line = format!("ulimit -f 2; exec PROGRAM -q in.mkv {output}");
        let run = Run::from_command(&mut shell(&dir, &line), &line).fails().says(&["File too large"]);
        assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
        assert_eq!(dir.names(), ["in.mkv"]);
    }
}

#[test]
fn a_run_that_is_killed_leaves_nothing() {
    let dir = Dir::new();
    for (signal, code) in [
        (Signal::USR1, Some(130)),
        (Signal::USR2, Some(130)),
        (Signal::ALARM, Some(130)),
        (Signal::QUIT, None),
        (Signal::KILL, None),
    ] {
        for output in ["out.mkv", "out%d.png"] {
            let mut running = waiting(&dir, &format!("--stats s.csv - {output}"));
            running.signal(signal);
            assert_eq!(running.ends_within(LIMIT), code, "{signal:?}");
            assert_eq!(dir.names(), [""; 0], "{signal:?}");
        }
    }
}

#[test]
fn a_stdout_that_is_closed_is_an_error() {
    let dir = Dir::new();
    clip(&dir, "in.mkv");
    for line in [
        "in.mkv -",
        "--output-format nut in.mkv -",
        "--stats - --output-format null in.mkv",
        "--progress-file 1 -y in.mkv out.mkv",
        "compare in.mkv in.mkv -",
        "live --no-preview -o - in.mkv",
        "man",
    ] {
        let line = format!("exec {} {line} >&-", program().display());
        let run = Run::from_command(&mut shell(&dir, &line), &line).fails().says(&["stdout is closed"]);
        assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
        // A run that does not write to stdout succeeds.
        Run::from_command(&mut shell(&dir, "exec PROGRAM -q -y in.mkv out.mkv >&-"), "no stdout").exits_with(0);
    }
}

#[test]
fn a_stdout_that_does_not_wait_gets_everything() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=320x240:rate=25 -frames:v 50 -c:v ffv1 in.mkv");
    for options in ["", "--output-format rawvideo", "--output-format nut --encoder rawvideo"] {
        let line = format!("-q --backend cpu {options} in.mkv -");
        let expected = dir.succeeds(&line).stdout;
        let (mut reader, writer) = std::io::pipe().expect("a pipe");
        let flags = rustix::fs::fcntl_getfl(&writer).expect("flags") | rustix::fs::OFlags::NONBLOCK;
        rustix::fs::fcntl_setfl(&writer, flags).expect("flags");
        let mut command = dir.command(&line);
        let mut running = Running::start(command.stdout(writer));
        drop(command);
        std::thread::sleep(Duration::from_millis(500));
        let mut found = Vec::new();
        reader.read_to_end(&mut found).expect("frames");
        assert_eq!(running.ends_within(LIMIT), Some(0), "{options}");
        assert!(found == expected, "{options}: {} of {} bytes", found.len(), expected.len());
    }
}

#[test]
fn two_outputs_are_never_one_file_however_they_are_spelt() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 5 -c:v ffv1 in.mkv");
    std::fs::create_dir(dir.path("folder")).expect("a folder");
    std::os::unix::fs::symlink("folder", dir.path("link")).expect("a link");
    for records in [
        "--save-curves ./folder/out.mkv",
        "--save-curves link/out.mkv",
        "--stats link/b.jsonl --save-curves folder/../folder/b.jsonl",
    ] {
        for there in [false, true] {
            if there {
                dir.write("folder/out.mkv", b"what was there");
            }
            let run = dir.run(&format!("--backend cpu -y {records} in.mkv folder/out.mkv"));
            run.fails().says(&["are one file (give each its own)"]);
            assert_eq!(dir.path("folder/out.mkv").exists(), there, "{records}");
        }
        std::fs::remove_file(dir.path("folder/out.mkv")).expect("what was there");
    }
}
