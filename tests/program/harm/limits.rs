//! Readers that close a pipe, and a system that provides no threads or only a small stack.

use crate::support::programs::program::{Dir, Run, program};
use crate::support::programs::running::Running;
use crate::support::skip::skip;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use std::time::Duration;

/// The exit code of a run whose stderr has no reader.
fn unheard(dir: &Dir, line: &str) -> Option<i32> {
    let mut command = dir.command(line);
    let mut run = Running::start(command.stdout(Stdio::null()).stderr(Stdio::piped()));
    drop(run.child().stderr.take());
    run.ends_within(Duration::from_secs(60))
}

#[test]
fn a_run_whose_stderr_has_no_reader_goes_on_to_its_end() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 30 -c:v ffv1 in.mkv");
    for options in ["--progress json", "--progress plain", "-v"] {
        assert_eq!(unheard(&dir, &format!("--backend cpu --encoder ffv1 -y {options} in.mkv out.mkv")), Some(0));
        assert_eq!(dir.frames("out.mkv").len(), 30, "{options}");
    }
    let live = "live --backend cpu --no-preview --progress json --encoder mpeg4 --frames 20";
    let source = "-f lavfi testsrc2=size=64x48:rate=25,realtime";
    assert_eq!(unheard(&dir, &format!("{live} --record live.mkv {source}")), Some(0));
    assert_eq!(dir.frames("live.mkv").len(), 20);
    assert_eq!(unheard(&dir, "--backend cpu missing.mkv out.mkv"), Some(4));
    assert_eq!(unheard(&dir, "--no-such-option"), Some(2));
}

#[test]
fn a_system_that_gives_no_threads_gets_an_error_and_no_panic() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 10 -c:v ffv1 -threads 1 in.mkv");
    std::fs::set_permissions(dir.path(""), std::fs::Permissions::from_mode(0o777)).expect("permissions");
    // The limit does not apply to root, and counts all processes of a user, so the test has a user of its own.
    let user = "--reuid 54321 --regid 54321 --clear-groups";
    let run_with = |limit: u32, rest: &str| {
        let line = format!("{user} prlimit --nproc={limit} {} {rest}", program().display());
        let mut run = Running::start(dir.other_command("setpriv", &line).stderr(Stdio::piped()));
        let code = run.ends_within(Duration::from_secs(60));
        let mut said = String::new();
        run.child().stderr.take().expect("a pipe").read_to_string(&mut said).expect("text");
        (code, said)
    };
    let file = "--backend cpu --encoder ffv1 -y in.mkv out.mkv";
    let live = "live --backend cpu --no-preview --encoder mpeg4 -y --record out.mkv in.mkv";
    if run_with(1000, file).0 != Some(0) {
        skip("a limit of threads", "the program cannot be run as another user");
        return;
    }
    let mut failed = 0;
    for (limit, rest) in (1..16).flat_map(|limit| [(limit, file), (limit, live)]) {
        let (code, said) = run_with(limit, rest);
        assert!(
            (code == Some(0) || crate::support::programs::program::failed(code)) && !said.contains("panicked"),
            "{rest} with {limit} threads: {code:?}: {said}"
        );
        if code != Some(0) {
            failed += 1;
            assert!(said.lines().any(|line| line.starts_with("histeq-video: error: ")), "{said}");
        }
    }
    assert!(failed > 0, "the limit never held");
}

#[test]
fn a_stack_that_is_too_small_is_an_error() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 5 -c:v ffv1 in.mkv");
    for (stack, code) in [("64", 1), ("511", 1), ("512", 0)] {
        let line =
            format!("-c 'ulimit -s {stack}; exec {} --backend cpu --encoder ffv1 in.mkv out.mkv'", program().display());
        let run = Run::from_command(&mut dir.other_command("sh", &line), &line).exits_with(code);
        assert_eq!(run.stderr.contains("histeq-video: error: the stack is limited"), code == 1, "{}", run.stderr);
        assert_eq!(dir.path("out.mkv").exists(), code == 0);
    }
}

#[test]
fn a_filter_that_needs_the_network_is_refused_behind_walls() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 5 -c:v ffv1 in.mkv");
    for chain in ["--filter zmq", "--filter-after 'null, zmq@a=b=tcp\\://*\\:7793'", "--filter '[in]zmq[out]'"] {
        dir.run(&format!("{chain} in.mkv out.mkv")).exits_with(2).says(&["zmq", "--sandbox off"]);
    }
    dir.succeeds("--filter metadata=mode=add:key=zmq:value=zmq in.mkv out.mkv --encoder ffv1");
}
