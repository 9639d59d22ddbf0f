//! Passwords and tokens in URLs: neither messages nor events contain them.

use super::servers::{Answers, serve};
use crate::support::programs::program::{Dir, Run, program};

#[test]
fn what_is_secret_in_a_url_is_in_no_message() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 5 -c:v ffv1 in.mkv");
    let port = serve(dir.read("in.mkv"), Answers::Once);
    let query = "token=hush&quality=hush";
    for (options, place, says) in [
        ("-v", format!("127.0.0.1:{port}"), ""),
        ("--progress json", format!("127.0.0.1:{port}"), "token=***"),
        ("--dry-run", format!("127.0.0.1:{port}"), ""),
        ("-v", "127.0.0.1:1".to_owned(), "token=***"),
    ] {
        let run = dir.run(&format!("{options} -y http://me:hush@{place}/in.mkv?{query} out.mkv"));
        let run = run.says(&[says]).never_says("hush");
        assert!(!run.stdout.windows(4).any(|part| part == b"hush"), "{options}");
    }
    assert_eq!(dir.frames("out.mkv").len(), 5);
}

#[test]
fn what_a_file_of_cameras_takes_from_elsewhere_is_in_no_message() {
    let dir = Dir::new();
    dir.write("pass", b"hush");
    dir.write(
        "cameras.toml",
        b"[camera.a]\nsource = \"http://me:${PASS}@127.0.0.1:1/a?key=${file:pass}\"\nrecord = \"a.mkv\"\n",
    );
    // The program waits for a missing camera, so `timeout` (`-s INT 3`) interrupts it.
    for (options, says) in [("--dry-run", ""), ("", "key=***"), ("--progress json", "key=***")] {
        let line =
            format!("-s INT 3 {} live --backend cpu --no-preview --config cameras.toml {options}", program().display());
        let run = Run::from_command(dir.other_command("timeout", &line).env("PASS", "hush"), &line);
        let run = run.says(&[says]).never_says("hush");
        assert!(!run.stdout.windows(4).any(|part| part == b"hush"), "{options}");
    }
}
