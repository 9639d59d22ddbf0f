//! Which devices are listed as cameras, who may open them, and which devices are no cameras.

use super::film::Film;
use super::loopback::LABELS;
use super::{Live, SMALL, Vivid, frames_counted, nodes};
use crate::support::programs::program::{Dir, Run};
use crate::support::skip::skip;
use histeq::Limits;
use histeq_media::ffmpeg::Packet;
use histeq_media::ffmpeg::demux::{Demuxer, ReadFrom};
use rustix::process::Signal;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The device nodes that `devices` lists as cameras.
fn listed(dir: &Dir) -> Vec<String> {
    let run = dir.succeeds("devices");
    let list = String::from_utf8_lossy(&run.stdout).into_owned();
    let nodes = list.lines().filter_map(|line| line.trim().split("  ").next().filter(|word| word.starts_with("/dev/")));
    nodes.map(str::to_owned).collect()
}

#[test]
fn a_camera_films() {
    let dir = Dir::new();
    // A virtual camera sends frames only while a program feeds it.
    let loopbacks = nodes(|name| LABELS.contains(&name));
    let camera = listed(&dir).into_iter().find(|node| !loopbacks.contains(node));
    let Some(camera) = camera else { return skip("v4l2", "no camera here") };
    // Another test may be using this camera of vivid's at the moment.
    let _vivid =
        nodes(|name| name.starts_with("vivid-")).contains(&camera).then(|| Vivid::take_one_of(vec![camera.clone()]));
    let run = dir.succeeds(&format!("live {SMALL} --frames 10 --record out.mkv {camera}"));
    assert_eq!(Film::read(&dir.path("out.mkv")).len(), frames_counted(&run.stderr, "out.mkv"));
}

#[test]
fn what_is_no_camera_is_not_listed_as_one() {
    let rest = nodes(|name| name.starts_with("vivid-") && !name.ends_with("-vid-cap"));
    if rest.is_empty() {
        return skip("vivid", "the kernel's test camera is not loaded, or only as a camera");
    }
    let dir = Dir::new();
    let listed = listed(&dir);
    for node in Vivid::all() {
        assert!(listed.contains(&node), "{node} is missing from {listed:?}");
    }
    for node in &rest {
        assert!(!listed.contains(node), "{node} is no camera");
    }
    let metadata = nodes(|name| name.ends_with("-meta-cap"));
    for node in metadata.iter().chain(rest.iter().filter(|node| node.contains("vbi"))) {
        let run = dir.run(&format!("live {SMALL} --record out.mkv {node}")).fails();
        let run = run.says(&[node, "not a camera"]).never_says("no such mode");
        assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
    }
}

#[test]
fn two_cameras_film_side_by_side_and_a_busy_one_is_refused() {
    if Vivid::all().len() < 2 {
        return skip("vivid", "the kernel's test camera is not loaded twice (sudo modprobe vivid n_devs=2)");
    }
    let (Some(first), Some(second)) = (Vivid::take(), Vivid::take()) else { return };
    let dir = Dir::new();
    let mut one = Live::start(&dir, &format!("{SMALL} --record one.mkv {}", first.0));
    let mut two = Live::start(&dir, &format!("{SMALL} --record two.mkv {}", second.0));
    one.wait_for_frames(5);
    two.wait_for_frames(5);
    let third = dir.run(&format!("live {SMALL} --record three.mkv {}", first.0)).fails();
    third.says(&[&first.0, "another program uses the camera"]);
    // While a run waits for a busy camera, it says so only once.
    let mut waiting = Live::start(&dir, &format!("{SMALL} --wait --record four.mkv {}", first.0));
    waiting.wait_for("waiting for it");
    one.wait_for_frames(30);
    let (code, said) = waiting.end_by(Signal::INT);
    assert_eq!(code, Some(130), "{said}");
    assert_eq!(said.matches("320x180").count(), 1, "{said}");
    for (live, file) in [(one, "one.mkv"), (two, "two.mkv")] {
        let (code, said) = live.end_by(Signal::INT);
        assert_eq!(code, Some(0), "{said}");
        assert_eq!(Film::read(&dir.path(file)).len(), frames_counted(&said, file), "{said}");
    }
    assert_eq!(dir.names(), ["one.mkv", "two.mkv"]);
}

#[test]
fn a_camera_of_another_user_is_refused_with_the_way_out() {
    let Some(camera) = Vivid::take() else { return };
    if !rustix::process::geteuid().is_root() {
        return skip("rig", "only root can take a camera away from itself");
    }
    let dir = Dir::new();
    let change = |line: &str| Run::from_command(&mut dir.other_command("chmod", line), line).exits_with(0);
    change(&format!("000 {}", camera.0));
    // Root without its capabilities cannot open the camera, but can still read the program, which it owns.
    let program = crate::support::programs::program::program();
    let line = format!("--bounding-set=-all {} live {SMALL} --record out.mkv {}", program.display(), camera.0);
    let run = Run::from_command(&mut dir.other_command("setpriv", &line), &line);
    change(&format!("600 {}", camera.0));
    run.fails().says(&[&camera.0, "no permission", "usermod -aG video"]);
}

#[test]
fn a_camera_that_others_have_set_up_otherwise_is_set_up_again() {
    let Some(camera) = Vivid::take() else { return };
    let dir = Dir::new();
    let line = format!("-d {} -v width=640,height=360,pixelformat=RGB3", camera.0);
    Run::from_command(&mut dir.other_command("v4l2-ctl", &line), &line).exits_with(0);
    dir.succeeds(&format!("live {SMALL} --frames 3 --record out.mkv {}", camera.0)).says(&["320x180, yuyv422"]);
    assert_eq!(Film::read(&dir.path("out.mkv")).sizes, [(320, 180); 3]);
}

#[test]
fn packets_outlive_a_camera_that_was_opened_by_its_name_alone() {
    const CAMERA: &str = "HISTEQ_TEST_CAMERA";
    let Ok(camera) = std::env::var(CAMERA) else {
        let Some(camera) = Vivid::take() else { return };
        // The test runs in a process of its own: FFmpeg opens a camera such that programs which other tests start
        // meanwhile inherit its descriptor, and keep the camera busy as long as they run.
        let (_, module) = module_path!().split_once("::").expect("a module of the suite");
        let test = format!("{module}::packets_outlive_a_camera_that_was_opened_by_its_name_alone");
        let this = std::env::current_exe().expect("a path");
        let run = Command::new(this).args(["--exact", &test]).env(CAMERA, &camera.0).output().expect("the suite runs");
        let said = String::from_utf8_lossy(&run.stdout);
        assert!(run.status.success() && said.contains("1 passed"), "{said}");
        return;
    };
    let mut demuxer =
        Demuxer::open(&camera.into(), ReadFrom::Url, None, &[], Arc::<AtomicBool>::default(), &Limits::default())
            .expect("a camera");
    let packets: Vec<Packet> = (0..3).map(|_| demuxer.read().expect("a packet").expect("no end")).collect();
    let bytes: Vec<Vec<u8>> = packets.iter().map(|packet| packet.data().to_vec()).collect();
    drop(demuxer);
    for (packet, bytes) in packets.iter().zip(&bytes) {
        assert!(packet.data() == bytes && !bytes.is_empty());
    }
}
