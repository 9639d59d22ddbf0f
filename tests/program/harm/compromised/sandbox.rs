//! A compromised decoder: what it can reach with and without sandboxes, and that sandboxed runs lose nothing.

use crate::support::programs::program::{Dir, Run};
use crate::support::programs::running::Running;
use crate::support::skip::skip;
use rustix::process::Signal;
use std::collections::BTreeMap;
use std::fs::Permissions;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::time::Duration;

/// What a compromised decoder or encoder does.
pub(crate) const EXPLOIT: &str = include_str!("exploit.c");

pub(crate) const WHO: [&str; 4] = ["demux", "decode", "thread", "encode"];

/// A folder with a clip, the exploit, and a home folder as its target. Without a C compiler: `None`, and a note.
pub(crate) fn attacked() -> Option<Dir> {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 10 -c:v mpeg4 -q:v 3 in.mkv");
    let home = dir.path("home");
    std::fs::create_dir(&home).expect("a folder");
    std::fs::create_dir(dir.path("out")).expect("a folder");
    WHO.iter().for_each(|who| dir.write(&format!("home/there-{who}"), b"there"));
    built(&dir, "exploit.so", "-shared -fPIC", EXPLOIT).then_some(dir)
}

pub(crate) fn built(dir: &Dir, name: &str, options: &str, source: &str) -> bool {
    dir.write("source.c", source.as_bytes());
    let built = dir.other_command("cc", &format!("{options} -pthread -o {name} source.c -ldl")).output();
    let Ok(built) = built else {
        skip("a program in C", "there is no C compiler");
        return false;
    };
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    true
}

/// Makes `command` load the exploit.
pub(crate) fn exploited(dir: &Dir, mut command: Command) -> Command {
    command.env("LD_PRELOAD", dir.path("exploit.so")).env("EXPLOIT_HOME", dir.path("home"));
    command
}

/// The actions that each process has tried, and whether they worked.
pub(crate) fn tried(run: &Run) -> BTreeMap<&'static str, Vec<(String, bool)>> {
    let value_of = |who: &'static str| {
        // In the log, lines of a decoding process begin with its input.
        let tries = run.stderr.lines().filter_map(|line| Some(line.split_once(&format!("exploit {who} "))?.1));
        let tries =
            tries.filter_map(|line| line.split_once(' ')).map(|(what, worked)| (what.to_owned(), worked == "1"));
        (who, tries.collect())
    };
    WHO.map(value_of).into()
}

/// The actions that worked in each process.
pub(crate) fn worked(run: &Run) -> BTreeMap<&'static str, Vec<String>> {
    let all = tried(run).into_iter().map(|(who, tries)| {
        assert!(tries.len() > 40, "{who}: {}", run.stderr);
        (who, tries.into_iter().filter(|(_, worked)| *worked).map(|(what, _)| what).collect())
    });
    all.collect()
}

#[test]
fn nothing_becomes_another_program() {
    let Some(dir) = attacked() else { return };
    for who in WHO {
        let run = |when: &str| {
            let line = format!("-y --backend cpu --sandbox {when} in.mkv out/out.mkv");
            let mut command = exploited(&dir, dir.command(&line));
            Run::from_command(command.env("EXPLOIT_ONLY", who).env("EXPLOIT_DOES", "execute"), &line).exits_with(0);
            dir.path("out/out.mkv").exists()
        };
        assert!(!run("off"), "{who} could not become /bin/true");
        assert!(run("on"), "{who} became /bin/true");
        std::fs::remove_file(dir.path("out/out.mkv")).expect("the output");
    }
}

/// Runs a program under a seccomp filter that answers ENOSYS to calls 444 to 446, as a kernel without Landlock does.
const OLDER: &str = r#"
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int count, char **words) {
    (void)count;
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 444, 0, 2),
        BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, 446, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) return 99;
    execv(words[1], words + 1);
    return 98;
}
"#;

#[test]
fn on_a_kernel_without_landlock_files_stay_open_to_the_program_or_the_run_is_refused() {
    let Some(dir) = attacked() else { return };
    assert!(built(&dir, "older", "", OLDER));
    let run = |line: &str| {
        let mut command = dir.other_command(dir.path("older"), "");
        command.arg(crate::support::programs::program::program()).args(line.split(' '));
        Run::from_command(&mut exploited(&dir, command), line)
    };
    let refused = run("--backend cpu --sandbox on in.mkv out/out.mkv").fails();
    refused.says(&["--sandbox on: this kernel has no Landlock", "--sandbox auto"]);
    assert!(!dir.path("out/out.mkv").exists());
    let done = worked(&run("--backend cpu in.mkv out/out.mkv").exits_with(0));
    for who in ["demux", "decode", "thread"] {
        assert_eq!(done[who], [""; 0], "{who}");
    }
    let of_files = ["look", "read", "make", "change", "empty", "folder", "own-memory", "remove"];
    assert!(done["encode"].iter().all(|what| of_files.contains(&what.as_str())), "{:?}", done["encode"]);
}

/// The length of a file, and its bytes. Matroska files hold a random number, so the hashes of their streams replace the
/// bytes.
fn content(dir: &Dir, name: &str) -> (usize, Vec<u8>) {
    let bytes = dir.read(name);
    let line = format!("-v error -i {name} -map 0 -map -0:t -c copy -f framehash -hash md5 -");
    let streams = name.ends_with(".mkv").then(|| dir.tool("ffmpeg", &line, None).stdout);
    (bytes.len(), streams.unwrap_or(bytes))
}

/// Requires that `line` writes the same files and prints the same with and without a sandbox.
#[track_caller]
fn same(dir: &Dir, line: &str, stdin: Option<&str>, outputs: &[&str]) {
    let input = stdin.map(|name| dir.read(name)).unwrap_or_default();
    let run = |when: &str| {
        let line = format!("-q --backend cpu -y --sandbox {when} {line}");
        let run = dir.fed(&line, &input).exits_with(0);
        let files: Vec<_> = outputs.iter().map(|name| content(dir, name)).collect();
        outputs.iter().for_each(|name| std::fs::remove_file(dir.path(name)).expect("an output"));
        (run.stdout, run.stderr, files)
    };
    let without = run("off");
    assert!(!without.0.is_empty() || !without.2.is_empty());
    for when in ["on", "auto"] {
        assert!(run(when) == without, "--sandbox {when}: {line}");
    }
}

#[test]
fn walls_change_no_output() {
    let dir = Dir::new();
    let film = "-f lavfi -i testsrc2=size=64x48:rate=25";
    dir.ffmpeg(&format!("{film} -f lavfi -i sine -t 1 -c:v libx264 -threads 1 -c:a aac in.mp4"));
    dir.ffmpeg("-i in.mp4 -c copy -mpegts_copyts 1 in.ts");
    dir.ffmpeg(&format!("{film} -frames:v 5 in.gif"));
    dir.ffmpeg(&format!("{film} -frames:v 5 in%02d.png"));
    dir.ffmpeg(&format!("{film} -frames:v 1 in.jpg"));
    dir.ffmpeg(&format!("{film} -frames:v 5 in.y4m"));
    dir.ffmpeg(&format!("{film} -frames:v 5 -pix_fmt yuv420p -f rawvideo in.yuv"));
    dir.write("in.srt", b"1\n00:00:00,000 --> 00:00:01,000\nHello\n");
    dir.write("font.ttf", b"not really a font");
    let attached = "-attach font.ttf -metadata:s:t mimetype=application/x-truetype-font";
    dir.ffmpeg(&format!("-i in.mp4 -i in.srt -c copy -c:s srt {attached} in.mkv"));
    std::fs::create_dir(dir.path("sub")).expect("a folder");
    for (line, stdin, outputs) in [
        ("in.mp4 out.mp4", None, &["out.mp4"][..]),
        ("in.mkv sub/out.mkv", None, &["sub/out.mkv"]),
        ("in.mkv out.mp4", None, &["out.mp4"]),
        ("in.ts out.ts", None, &["out.ts"]),
        ("- out.ts", Some("in.ts"), &["out.ts"]),
        ("- -", Some("in.ts"), &[]),
        ("/dev/stdin out.mkv", Some("in.mkv"), &["out.mkv"]),
        ("in.gif out.gif", None, &["out.gif"]),
        ("in.jpg sub/out.png", None, &["sub/out.png"]),
        ("in%02d.png out%02d.png", None, &["out01.png", "out05.png"]),
        ("in%02d.png out.mkv", None, &["out.mkv"]),
        ("in.y4m -", None, &[]),
        ("-f rawvideo -s 64x48 --pixel-format yuv420p in.yuv out.yuv", None, &["out.yuv"]),
        ("--smooth scene --look night in.mp4 out.mkv", None, &["out.mkv"]),
        ("--start 0.4 --frames 5 in.mp4 out.mkv", None, &["out.mkv"]),
        ("--filter hflip in.mp4 out.mkv", None, &["out.mkv"]),
        ("--encoder-option tune=film in.mp4 out.mp4", None, &["out.mp4"]),
        ("--mask in.jpg --stats sub/s.jsonl --save-curves c.jsonl in.mp4 out.mkv", None, &["out.mkv", "c.jsonl"]),
        ("--output-format hls in.mp4 sub/list.m3u8", None, &["sub/list.m3u8", "sub/list0.ts"]),
    ] {
        same(&dir, line, stdin, outputs);
    }
    for (line, outputs) in [("compare in.mp4 in.mkv out.mkv", ["out.mkv"]), ("preview in.mp4 out.png", ["out.png"])] {
        let run = |when: &str| {
            dir.succeeds(&format!("{line} -q -y --sandbox {when}"));
            outputs.map(|name| content(&dir, name))
        };
        assert!(run("on") == run("off"), "{line}");
    }
}

#[test]
fn files_that_are_replaced_behind_walls_keep_their_modes() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 2 -c:v mpeg4 in.mkv");
    for (output, file) in [("out.mkv", "out.mkv"), ("out%d.png", "out2.png")] {
        dir.succeeds(&format!("-q --backend cpu in.mkv {output}"));
        for (mode, when) in [(0o640, "on"), (0o604, "auto")] {
            std::fs::set_permissions(dir.path(file), Permissions::from_mode(mode)).expect("permissions");
            dir.succeeds(&format!("-q -y --backend cpu --sandbox {when} in.mkv {output}"));
            let after = std::fs::metadata(dir.path(file)).expect("the output").permissions().mode();
            assert_eq!(after & 0o7777, mode, "--sandbox {when}: {file}");
        }
    }
}

#[test]
fn several_decoders_are_inside() {
    let dir = Dir::new();
    let film = "-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 400";
    dir.ffmpeg(&format!("{film} -c:v libx264 -g 50 -threads 1 in.mkv"));
    let line = |when: &str| format!("-v --backend cpu -y --sandbox {when} --decoder cpu:2 in.mkv {when}.y4m");
    for when in ["off", "on"] {
        dir.succeeds(&line(when)).says(&["decoded in pieces, by up to 2 decoders at once"]);
    }
    assert!(dir.read("on.y4m") == dir.read("off.y4m"));
    // With `--sandbox on`, the threads of a sandboxed process cannot make files either.
    if !built(&dir, "exploit.so", "-shared -fPIC", EXPLOIT) {
        return;
    }
    std::fs::create_dir(dir.path("home")).expect("a folder");
    for (when, is_held) in [("off", false), ("on", true)] {
        let line = line(when);
        let run = Run::from_command(&mut exploited(&dir, dir.command(&line)), &line).exits_with(0);
        let made = run.stderr.contains("exploit decode make 1") && run.stderr.contains("exploit thread make 1");
        assert_eq!(!made, is_held, "--sandbox {when}: {}", run.stderr);
    }
}

#[test]
fn an_interrupted_run_leaves_its_part() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 50 -c:v mpeg2video in.ts");
    let mut command = dir.command("-q --backend cpu --sandbox on - out.mkv");
    let mut running = Running::start(command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()));
    let mut stdin = running.child().stdin.take().expect("a pipe");
    // The file is longer than the data that FFmpeg probes for the streams.
    stdin.write_all(&dir.read("in.ts")).expect("a reader");
    running.wait_until_it_listens();
    std::thread::sleep(Duration::from_millis(500));
    running.signal(Signal::INT);
    let mut said = String::new();
    running.child().stderr.take().expect("a pipe").read_to_string(&mut said).expect("text");
    assert_eq!(running.ends_within(Duration::from_secs(60)), Some(130), "{said}");
    drop(stdin);
    assert_eq!(dir.names(), ["in.ts", "out.partial.mkv"], "{said}");
}

#[test]
fn what_is_wrong_is_said_as_without_walls() {
    let dir = Dir::new();
    std::fs::create_dir(dir.path("folder")).expect("a folder");
    dir.write("empty.mp4", b"");
    dir.write("text.txt", b"hello\n");
    dir.write("cut.mkv", &[0x1a, 0x45, 0xdf, 0xa3]);
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 3 -c:v mpeg4 in.mkv");
    for line in [
        "missing.mp4 out.mkv",
        "empty.mp4 out.mkv",
        "text.txt out.mkv",
        "cut.mkv out.mkv",
        "in.mkv missing/out.mkv",
        "in.mkv folder",
        "in.mkv out.unknown",
        "-f unknown in.mkv out.mkv",
        "--video-stream 3 in.mkv out.mkv",
        "--mask missing.png in.mkv out.mkv",
        "missing%d.png out.mkv",
    ] {
        let run = |when: &str| {
            let run = dir.run(&format!("--backend cpu --sandbox {when} {line}"));
            (run.code, run.stderr)
        };
        let without = run("off");
        assert!(crate::support::programs::program::failed(without.0) || without.0 == Some(2), "{line}: {}", without.1);
        assert_eq!(run("on"), without, "{line}");
        assert_eq!(run("auto"), without, "{line}");
    }
}

#[test]
fn a_playlist_in_disguise_opens_nothing() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 10 -c:v mpeg2video secret.ts");
    let hls = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:1,\nsecret.ts\n#EXT-X-ENDLIST\n";
    for (name, text) in [("concat", "ffconcat version 1.0\nfile secret.ts\n"), ("hls", hls)] {
        dir.write("upload.mp4", text.as_bytes());
        let run = dir.run("--backend cpu upload.mp4 out.mkv").exits_with(7);
        assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
        run.says(&["the sandbox opens no file that a playlist names", "-f", "--sandbox off"]);
        dir.run(&format!("--backend cpu --sandbox on -f {name} upload.mp4 out.mkv"))
            .exits_with(2)
            .says(&["--sandbox on"]);
        assert!(!dir.path("out.mkv").exists());
        dir.succeeds(&format!("--backend cpu -f {name} upload.mp4 out.mkv"));
        std::fs::remove_file(dir.path("out.mkv")).expect("the output");
    }
}

#[test]
fn walls_that_cannot_hold_are_refused() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 3 -c:v mpeg4 in.mkv");
    for (line, says) in [
        ("in.mkv rtmp://127.0.0.1:1/x", "rtmp://127.0.0.1:1/x: an output of this kind is a connection"),
        ("list.m3u8 out.mkv", "list.m3u8: such a file names others"),
        ("-f lavfi testsrc2 out.mkv", "testsrc2: an input in this format opens devices or other files"),
        ("--decoder nvdec in.mkv out.mkv", "in.mkv: NVDEC opens devices"),
        ("--backend cuda in.mkv out.mkv", "the driver of a GPU opens devices"),
    ] {
        dir.run(&format!("--sandbox on {line}")).exits_with(2).says(&[says, "--sandbox auto"]);
    }
    let said = dir.succeeds("-v --backend cpu in.mkv out.mkv").stderr;
    assert!(said.contains("sandbox: the program opens only its own files"), "{said}");
    let said = dir.succeeds("-v -y --backend cpu --sandbox off in.mkv out.mkv").stderr;
    assert!(!said.contains("sandbox"), "{said}");
}

/// Users often renumber images by symbolic links to other folders.
#[test]
fn numbered_images_can_be_links_and_in_numbered_folders() {
    let dir = Dir::new();
    for folder in ["photos", "links", "set1"] {
        std::fs::create_dir(dir.path(folder)).expect("a folder");
    }
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 4 photos/shot%d.png");
    for (number, shot) in [(1, 4), (2, 2), (3, 1), (4, 3)] {
        let photo = format!("../photos/shot{shot}.png");
        std::os::unix::fs::symlink(photo, dir.path(format!("links/f{number:03}.png"))).expect("a link");
    }
    std::fs::copy(dir.path("photos/shot1.png"), dir.path("set1/f001.png")).expect("a copy");
    for input in ["links/f%03d.png", "set%d/f001.png"] {
        let line = |sandbox: &str| format!("--backend cpu --sandbox {sandbox} --encoder ffv1 -y {input} {sandbox}.mkv");
        dir.succeeds(&line("off"));
        dir.succeeds(&line("auto")).never_says("damaged");
        assert_eq!(dir.frames("auto.mkv"), dir.frames("off.mkv"), "{input}");
    }
    dir.succeeds("--backend cpu --sandbox on --encoder ffv1 -y links/f%03d.png on.mkv").never_says("damaged");
    dir.run("--backend cpu --sandbox on --encoder ffv1 -y set%d/f001.png on.mkv")
        .exits_with(2)
        .says(&["--sandbox on: set%d/f001.png", "name of a folder"]);
}
