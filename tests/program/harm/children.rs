//! Children do not outlive their parent, replacing the program's file harms no run, and names and settings that look
//! like something else are taken literally.

use crate::support::programs::program::{Dir, Run, program};
use crate::support::programs::running::Running;
use rustix::process::Signal;
use serde_json::Value;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// A lossless clip of `frames` frames, with a keyframe each second.
fn clip(dir: &Dir, name: &str, frames: u32) {
    let source = "-f lavfi -i testsrc2=size=64x48:rate=25,format=yuv420p -f lavfi -i sine";
    dir.ffmpeg(&format!("{source} -frames:v {frames} -shortest -c:v ffv1 -g 25 -c:a pcm_s16le {name}"));
}

#[track_caller]
fn wait_for<T>(what: &str, found: impl Fn() -> Option<T>) -> T {
    let begin = Instant::now();
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(begin.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn children_that_look_at_inputs_end_with_a_parent_that_is_killed() {
    let dir = Dir::new();
    clip(&dir, "in.mkv", 100);
    let plan = dir.succeeds("plan --backend cpu --encoder ffv1 --piece 1 in.mkv out.mkv");
    let mut plan: Value = serde_json::from_slice(&plan.stdout).expect("JSON");
    // A file that takes minutes to read, on any disk.
    let large = dir.path("large");
    std::fs::File::create(&large).and_then(|file| file.set_len(1 << 40)).expect("a sparse file");
    plan["files"][0]["read"] = serde_json::json!([[large, "0000000000000000"]]);
    dir.write("plan.json", &serde_json::to_vec(&plan).expect("JSON"));
    let mut parent = Running::start(dir.command("run plan.json --jobs 2").stderr(Stdio::null()));
    let children = wait_for("two children", || Some(parent.children()).filter(|children| children.len() == 2));
    // Both children read the file.
    let opened = |id: &str| {
        let links = std::fs::read_dir(format!("/proc/{id}/fd")).into_iter().flatten().flatten();
        links.filter_map(|link| std::fs::read_link(link.path()).ok()).any(|path| path == large)
    };
    let ids: Vec<String> = children.iter().map(|child| child.id().to_string()).collect();
    wait_for("they read", || ids.iter().all(|id| opened(id)).then_some(()));
    parent.signal(Signal::KILL);
    parent.ends_within(Duration::from_secs(60));
    wait_for("they end", || ids.iter().all(|id| !opened(id)).then_some(()));
}

#[test]
fn a_new_version_of_the_program_harms_no_run_of_the_old_one() {
    let dir = Dir::new();
    clip(&dir, "in.mkv", 600);
    std::fs::copy(program(), dir.path("program")).expect("a copy");
    let line = "--backend cpu --encoder ffv1 --jobs 2 in.mkv out.mkv";
    let mut command = dir.other_command(dir.path("program"), line);
    let mut run = Running::start(command.stderr(Stdio::null()));
    wait_for("a piece is worked on", || dir.path(".out.mkv.pieces").exists().then_some(()));
    dir.write("new", b"#!/bin/sh\nexit 9\n");
    std::fs::set_permissions(dir.path("new"), std::fs::Permissions::from_mode(0o755)).expect("a mode");
    std::fs::rename(dir.path("new"), dir.path("program")).expect("a new name");
    assert_eq!(run.ends_within(Duration::from_secs(60)), Some(0));
    assert_eq!(dir.frames("out.mkv").len(), 600);
}

#[test]
fn a_film_that_is_joined_twice_has_the_same_bytes() {
    let dir = Dir::new();
    clip(&dir, "in.mkv", 100);
    for (name, encoder) in [("out.mkv", "ffv1"), ("out.mov", "prores_ks"), ("out.nut", "ffv1")] {
        let plan = dir.succeeds(&format!("plan -y --backend cpu --encoder {encoder} --piece 1 in.mkv {name}"));
        dir.write("plan.json", &plan.stdout);
        dir.succeeds("run plan.json");
        dir.succeeds("join plan.json --keep");
        let once = dir.read(name);
        // Some containers store the time of creation, in whole seconds.
        std::thread::sleep(Duration::from_millis(1100));
        dir.succeeds("join plan.json -y");
        assert!(once == dir.read(name), "{name}");
        assert_eq!(dir.frames(name).len(), 100, "{name}");
    }
}

#[test]
fn a_file_whose_name_begins_like_the_url_of_a_pipe_is_a_file() {
    let dir = Dir::new();
    clip(&dir, "in.mkv", 5);
    std::fs::copy(dir.path("in.mkv"), dir.path("pipe:0.mkv")).expect("a copy");
    std::fs::copy(dir.path("in.mkv"), dir.path("pipe:0")).expect("a copy");
    dir.succeeds("--backend cpu --encoder ffv1 pipe:0.mkv pipe:1.mkv");
    dir.succeeds("--backend cpu --encoder ffv1 --output-dir into pipe:0.mkv in.mkv pipe:0 --output-format matroska");
    for name in ["./pipe:1.mkv", "into/pipe:0.mkv", "into/in.mkv", "into/pipe:0"] {
        let name = dir.path(name).display().to_string();
        assert_eq!(dir.frames(&format!("file:{name}")).len(), 5, "{name}");
    }
    dir.succeeds("compare --encoder ffv1 pipe:0.mkv in.mkv both.mkv");
    // If no file has that name, it means the pipe, as with ffmpeg.
    std::fs::remove_file(dir.path("pipe:0")).expect("a file");
    let line = "--backend cpu -f matroska --encoder ffv1 --output-format nut pipe:0 pipe:1";
    let run = dir.fed(line, &dir.read("in.mkv")).exits_with(0);
    dir.write("piped.nut", &run.stdout);
    assert_eq!(dir.frames("piped.nut").len(), 5);
    assert!(!dir.path("pipe:1").exists());
    dir.run("--backend cpu pipe:none.mkv out.mkv").fails().says(&["pipe:none.mkv: No such file"]);
}

#[test]
fn hidden_options_are_out_of_reach_of_the_environment_and_the_configuration() {
    let dir = Dir::new();
    clip(&dir, "in.mkv", 5);
    let with = |variable: &str, value: &str| {
        let mut command = dir.command("--backend cpu --encoder ffv1 -y in.mkv out.mkv");
        let output = command.env(variable, value).output().expect("a run");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    for variable in ["HISTEQ_ONE_OF", "HISTEQ_CHILD", "HISTEQ_MORE", "HISTEQ_VERIFY"] {
        let (code, said) = with(variable, "1");
        assert_eq!(code, Some(0), "{variable}: {said}");
        assert_eq!(dir.frames("out.mkv").len(), 5, "{variable}");
    }
    for option in ["one-of = ['a', 'b']", "verify = true", "child = true"] {
        dir.write("config.toml", format!("[defaults]\n{option}\n").as_bytes());
        let (code, said) = with("HISTEQ_CONFIG", "config.toml");
        assert!(code == Some(2) && said.contains("there is no option"), "{option}: {code:?}: {said}");
    }
}

#[test]
fn a_folder_of_outputs_inside_of_an_input_folder_is_no_input() {
    let dir = Dir::new();
    std::fs::create_dir_all(dir.path("in/sub")).expect("folders");
    clip(&dir, "in/a.mkv", 5);
    std::fs::copy(dir.path("in/a.mkv"), dir.path("in/sub/b.mkv")).expect("a copy");
    symlink(dir.path("in"), dir.path("link")).expect("a link");
    let absolute = dir.path("in/out").display().to_string();
    let inside = |line: &str, folder: &str| {
        let mut command = dir.command(&format!("--backend cpu --encoder ffv1 -y {line}"));
        let run = command.current_dir(dir.path(folder)).output().expect("a run");
        assert_eq!(run.status.code(), Some(0), "{line}: {}", String::from_utf8_lossy(&run.stderr));
    };
    for into in ["out", "./out", "sub/../out", "../in/out", "../link/out", &absolute] {
        inside(&format!("--output-dir {into} ."), "in");
        inside(&format!("--output-dir {into} {}", dir.path("in").display()), "in");
    }
    inside("--output-dir in/out link", "");
    std::fs::remove_file(dir.path("link")).expect("a link");
    let videos: Vec<String> = dir.names().into_iter().filter(|name| name.ends_with(".mkv")).collect();
    assert_eq!(videos, ["in/a.mkv", "in/out/a.mkv", "in/out/sub/b.mkv", "in/sub/b.mkv"]);
    // The inputs may lie inside of the folder of the outputs.
    inside("--output-dir . in/sub", "");
    assert!(Path::new(&dir.path("b.mkv")).exists());
}

#[test]
fn a_folder_of_outputs_that_is_that_of_the_inputs_is_an_error() {
    let dir = Dir::new();
    std::fs::create_dir(dir.path("in")).expect("a folder");
    clip(&dir, "in/a.mkv", 5);
    symlink(dir.path("in"), dir.path("link")).expect("a link");
    let before = dir.files();
    for (into, source) in [("in", "in"), ("link", "in"), ("in", "link"), ("./in/", "in")] {
        for command in ["", "plan "] {
            let run = dir.run(&format!("{command}--backend cpu --encoder ffv1 -y --output-dir {into} {source}"));
            run.exits_with(2).says(&[&format!("{source} is the folder of the outputs, too")]);
        }
    }
    assert!(dir.files() == before, "{:?}", dir.names());
    // An output folder among several inputs, as from the shell's `*`, is no error.
    clip(&dir, "b.mkv", 5);
    dir.succeeds("--backend cpu --encoder ffv1 -y --output-dir link b.mkv in");
    assert!(dir.read("in/a.mkv") == before[Path::new("in/a.mkv")] && dir.path("in/b.mkv").exists());
}

#[test]
fn a_run_whose_record_does_not_fit_leaves_video_and_records_as_they_were() {
    let dir = Dir::new();
    clip(&dir, "in.mkv", 5);
    for (name, text) in [("out.mkv", "old video"), ("out.html", "old page"), ("out.jsonl", "old curves")] {
        dir.write(name, text.as_bytes());
    }
    let before = dir.files();
    // The HTML page is written after the video, and exceeds this limit of the file size.
    let limit = format!("--fsize=40000 {}", program().display());
    let options = "--backend cpu --encoder ffv1 --stats out.html --save-curves out.jsonl";
    let line = format!("{limit} -y {options} in.mkv out.mkv");
    let run = Run::from_command(&mut dir.other_command("prlimit", &line), &line).fails();
    run.says(&["what is whole is out.new.mkv: out.html: cannot be written"]);
    assert_eq!(dir.frames("out.new.mkv").len(), 5);
    std::fs::remove_file(dir.path("out.new.mkv")).expect("a file");
    assert!(dir.files() == before, "{:?}", dir.names());
    dir.succeeds(&format!("-y {options} in.mkv out.mkv"));
    assert_eq!(dir.frames("out.mkv").len(), 5);
    assert!(dir.read("out.html").starts_with(b"<!") && dir.read("out.jsonl") != b"old curves");
}

/// An element of Matroska.
fn element(id: u32, content: &[u8]) -> Vec<u8> {
    let id = id.to_be_bytes();
    let length = (1_u64 << 56 | content.len() as u64).to_be_bytes();
    [&id[id.iter().take_while(|byte| **byte == 0).count()..], &length, content].concat()
}

/// For each tag that it adds, FFmpeg searches all tags, which takes minutes, and does not check for an interruption.
#[test]
fn a_signal_ends_the_opening_of_a_file_with_too_many_tags() {
    let dir = Dir::new();
    let tag = |number: u32| {
        let name = element(0x45a3, format!("K{number}").as_bytes());
        element(0x7373, &element(0x67c8, &[name, element(0x4487, b"v")].concat()))
    };
    let tags: Vec<u8> = (0..300_000).flat_map(tag).collect();
    // FFmpeg processes the tags when it reads the first cluster.
    let segment = [element(0x1254_c367, &tags), element(0x1f43_b675, b"")].concat();
    let head = element(0x1a45_dfa3, &element(0x4282, b"matroska"));
    dir.write("tags.mkv", &[head, element(0x1853_8067, &segment)].concat());
    let mut run = Running::start(&mut dir.command("--backend cpu tags.mkv out.mkv"));
    run.wait_until_it_listens();
    // FFmpeg is processing the tags by then.
    std::thread::sleep(Duration::from_secs(2));
    assert!(run.child().try_wait().expect("a process").is_none(), "it ends before the signal");
    run.signal(Signal::TERM);
    assert_eq!(run.ends_within(Duration::from_secs(30)), Some(130));
    assert_eq!(dir.names(), ["tags.mkv"]);
}
