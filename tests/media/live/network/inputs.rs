//! A network camera that disappears and comes back.

use crate::media::live::{Beside, wait_for_listener};
use crate::program::harm::servers::{Answers, serve};
use crate::support::media::reader::encoder_is_here;
use crate::support::programs::program::Dir;
use crate::support::programs::running::under_load;
use rustix::process::Signal;
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{TcpListener, UdpSocket};
use std::process::Stdio;
use std::time::Duration;

/// Sends video with a keyframe every `distance` frames.
pub fn sender(dir: &Dir, port: u16, distance: u32) -> Beside {
    let line = format!(
        "-v error -nostdin -re -f lavfi -i testsrc2=s=320x180:r=25 -c:v mpeg2video -g {distance} -f mpegts \
         udp://127.0.0.1:{port}?pkt_size=1316"
    );
    Beside::start(&mut dir.other_command("ffmpeg", &line)).expect("ffmpeg runs")
}

#[test]
fn a_sender_that_is_killed_and_started_again_goes_on_in_the_same_recording() {
    let dir = Dir::new();
    // An unused port: its socket is closed at the end of this statement.
    let port = UdpSocket::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).expect("a port").port();
    let live = Beside::live(&dir, &format!("--encoder mpeg4 --record out.mkv udp://127.0.0.1:{port}"));
    let first = sender(&dir, port, 10);
    live.until_more_frames(50);
    drop(first);
    live.until_it_says("waiting for it to come back");
    let second = sender(&dir, port, 10);
    live.until_it_says("back after");
    live.until_more_frames(50);
    live.interrupt();
    let (code, said) = live.end();
    drop(second);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("waiting for it to come back") && said.contains("back after"), "{said}");
    let times = dir.frame_times("out.mkv");
    let rises = times.windows(2).all(|pair| pair[1] > pair[0]);
    let gaps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).filter(|gap| *gap > 2.0).collect();
    assert!(rises && gaps.len() == 1 && gaps[0] < 30.0, "{gaps:?} in {times:?}");
    let gap = times.windows(2).position(|pair| pair[1] - pair[0] > 2.0).expect("a gap");
    assert!(gap > 30 && times.len() - gap > 30, "{gap} frames of {} before the gap", times.len());
}

#[test]
fn the_key_frame_that_a_stream_opens_with_is_not_lost() {
    let dir = Dir::new();
    let port = UdpSocket::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).expect("a port").port();
    let live = Beside::live(&dir, &format!("--frames 20 --encoder mpeg4 --record out.mkv udp://127.0.0.1:{port}"));
    wait_for_listener(port);
    let begin = std::time::Instant::now();
    // The next keyframe comes 100 seconds later.
    let sender = sender(&dir, port, 2500);
    let (code, said) = live.end();
    assert!(begin.elapsed().as_secs_f64() < 60.0, "{:?}: {said}", begin.elapsed());
    assert_eq!((code, dir.frame_times("out.mkv").len()), (Some(0), 20), "{said}");
    assert!(!said.contains("damaged"), "{said}");
    drop(sender);
}

#[test]
fn ctrl_c_reaches_a_run_that_waits_for_a_silent_sender() {
    let dir = Dir::new();
    let port = UdpSocket::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).expect("a port").port();
    let live = Beside::live(&dir, &format!("--record out.mkv udp://127.0.0.1:{port}"));
    wait_for_listener(port);
    let begin = std::time::Instant::now();
    live.interrupt();
    let (code, said) = live.end();
    assert_eq!(code, Some(130), "{said}");
    assert!(said.contains("interrupted before the first frame") && !said.contains("error"), "{said}");
    assert!(begin.elapsed() < under_load(Duration::from_secs(5)), "{:?}", begin.elapsed());
    assert!(dir.names().is_empty(), "{:?}", dir.names());
}

/// The events of a run in this file.
fn events(dir: &Dir, file: &str) -> Vec<Value> {
    let text = String::from_utf8(dir.read(file)).expect("text");
    text.lines().map(|line| serde_json::from_str(line).expect("an event")).collect()
}

#[test]
fn a_silent_sender_is_said_in_lines_and_events_until_it_goes_on() {
    let dir = Dir::new();
    let port = UdpSocket::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).expect("a port").port();
    let line = format!("live --backend cpu --no-preview --encoder mpeg4 --record out.mkv udp://127.0.0.1:{port}");
    let mut command = dir.command(&format!("{line} --progress plain --progress-file events.jsonl"));
    let sender = sender(&dir, port, 10);
    let live = Beside::start(command.stderr(Stdio::piped())).expect("the program runs");
    live.until_it_says("frame 2");
    sender.signal(Signal::STOP);
    live.until_it_says("no signal for 2 s");
    live.until_it_says("waiting for it to come back");
    sender.signal(Signal::CONT);
    live.until_it_says("back after");
    live.interrupt();
    let (code, said) = live.end();
    assert_eq!(code, Some(0), "{said}");
    let events = events(&dir, "events.jsonl");
    let value_of = |name: &'static str| events.iter().filter(move |event| event["event"] == name);
    let silences: Vec<f64> = value_of("progress").filter_map(|event| event["no_signal"].as_f64()).collect();
    assert!(
        silences.iter().all(|silence| *silence >= 1.0) && silences.iter().any(|silence| *silence > 2.0),
        "{silences:?}"
    );
    assert!(value_of("progress").next().is_some_and(|first| first["no_signal"].is_null()), "{events:?}");
    assert_eq!((value_of("waiting").count(), value_of("back").count()), (1, 1), "{events:?}");
}

#[test]
fn a_sender_that_is_not_there_yet_is_waited_for() {
    let dir = Dir::new();
    // An unused port: its socket is closed at the end of this statement.
    let port = TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).expect("a port").port();
    let line =
        format!("live --backend cpu --no-preview --frames 5 --encoder mpeg4 --record out.mkv tcp://127.0.0.1:{port}");
    let refused = dir.run(&line).fails();
    assert!(!refused.stderr.contains("waiting"), "{}", refused.stderr);
    dir.run(&format!("{line} --wait 0.3")).fails().says(&["waited for"]);
    dir.run(&format!("{line} --wait=0.4")).fails().says(&["waited for", &format!("tcp://127.0.0.1:{port}")]);
    let mut command = dir.command(&format!("{line} --wait --progress-file events.jsonl"));
    let live = Beside::start(command.stderr(Stdio::piped())).expect("the program runs");
    live.until_it_says("waiting for it");
    let pictures = "-v error -nostdin -re -f lavfi -i testsrc2=s=64x48:r=25 -c:v mpeg2video -f mpegts";
    let server = format!("{pictures} tcp://127.0.0.1:{port}?listen=1");
    let server = Beside::start(&mut dir.other_command("ffmpeg", &server)).expect("ffmpeg runs");
    let (code, said) = live.end();
    drop(server);
    assert_eq!((code, dir.frame_times("out.mkv").len()), (Some(0), 5), "{said}");
    let events = events(&dir, "events.jsonl");
    let names: Vec<&str> = events.iter().filter_map(|event| event["event"].as_str()).collect();
    let value_at = |name: &str| names.iter().position(|event| *event == name);
    assert!(
        value_at("waiting") < value_at("back") && value_at("back") < value_at("start") && value_at("waiting").is_some(),
        "{names:?}"
    );
}

#[test]
fn a_server_that_refuses_the_password_is_not_waited_for() {
    let dir = Dir::new();
    let server = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = server.local_addr().expect("a port").port();
    let refuse = std::thread::spawn(move || {
        let (mut client, _) = server.accept().expect("a client");
        let _ = client.read(&mut [0; 4096]);
        client
            .write_all(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            .expect("it reads");
    });
    let url = format!("http://127.0.0.1:{port}/cam.ts");
    let said = dir.run(&format!("live --backend cpu --no-preview --record out.mkv --wait=20 {url}")).fails().stderr;
    assert!(said.contains("name and password may be wrong") && !said.contains("wait"), "{said}");
    refuse.join().expect("one client");
}

#[test]
fn formats_without_times_have_the_pace_at_which_their_frames_come() {
    let dir = Dir::new();
    // Both formats have no timestamps, so FFmpeg assumes 25 frames/s; the real rate is 10.
    let pictures = "-v error -nostdin -re -f lavfi -i testsrc2=s=64x48:r=10 -t 4 -c:v mjpeg";
    let port = TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).expect("a port").port();
    let server = format!("{pictures} -f mpjpeg -listen 1 http://127.0.0.1:{port}/");
    let server = Beside::start(&mut dir.other_command("ffmpeg", &server)).expect("ffmpeg runs");
    let live = "live --backend cpu --no-preview --encoder mpeg4 --frames 25 --wait=20 --record";
    dir.succeeds(&format!("{live} server.mkv http://127.0.0.1:{port}/"));
    drop(server);
    let mut pipe = dir.other_command("ffmpeg", &format!("{pictures} -f mjpeg -"));
    let mut pipe = pipe.stdout(Stdio::piped()).spawn().expect("ffmpeg runs");
    let mut command = dir.command(&format!("{live} pipe.mkv -"));
    let stdin = Stdio::from(pipe.stdout.take().expect("a pipe"));
    let live = Beside::start(command.stdin(stdin).stderr(Stdio::piped())).expect("the program runs");
    let (code, said) = live.end();
    pipe.kill().and_then(|()| pipe.wait()).expect("ffmpeg ends");
    assert_eq!(code, Some(0), "{said}");
    for file in ["server.mkv", "pipe.mkv"] {
        let times = dir.frame_times(file);
        let mut distances: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        distances.sort_by(f64::total_cmp);
        // A busy machine drops frames.
        assert!(times.len() > 15, "{file}: {times:?}");
        // A busy sender may send frames late.
        assert!((0.08..0.3).contains(&distances[distances.len() / 2]), "{file}: {times:?}");
        // The frames that were buffered while the pipe was probed are not squeezed together either.
        assert!(distances[2] > 0.03 && times[times.len() - 1] - times[0] > 2.0, "{file}: {times:?}");
    }
}

#[test]
fn a_sender_that_does_not_come_back_is_not_waited_for_beyond_the_duration() {
    let dir = Dir::new();
    let port = UdpSocket::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).expect("a port").port();
    let live = Beside::live(&dir, &format!("--duration 5 --encoder mpeg4 --record out.mkv udp://127.0.0.1:{port}"));
    let sender = sender(&dir, port, 10);
    live.until_more_frames(10);
    drop(sender);
    let begin = std::time::Instant::now();
    let (code, said) = live.end();
    assert!(begin.elapsed() < under_load(Duration::from_secs(10)), "{:?}: {said}", begin.elapsed());
    assert_eq!(code, Some(0), "{said}");
    assert!(dir.frame_times("out.mkv").len() >= 10, "{said}");
}

#[test]
fn a_stream_without_a_key_frame_is_said_to_be_one() {
    if !encoder_is_here("a stream without a key frame", "libx264") {
        return;
    }
    let dir = Dir::new();
    let encode = "-f lavfi -i testsrc2=s=64x48:r=25 -frames:v 50 -c:v libx264 -preset ultrafast -bf 0 -g 1000 all.h264";
    dir.ffmpeg(encode);
    dir.ffmpeg("-i all.h264 -c copy -bsf:v noise=drop=key,dump_extra=freq=all rest.ts");
    for sandbox in ["auto", "off"] {
        let line = format!("live --backend cpu --no-preview --sandbox {sandbox} --record out.mkv rest.ts");
        dir.run(&line).exits_with(7).says(&["not a single frame could be decoded", "no key frame"]);
    }
    assert!(!dir.path("out.mkv").exists());
    let port = UdpSocket::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).expect("a port").port();
    let live = Beside::live(&dir, &format!("--record out.mkv udp://127.0.0.1:{port}"));
    wait_for_listener(port);
    let send =
        format!("-v error -nostdin -re -stream_loop -1 -i rest.ts -c copy -copyinkf -f mpegts udp://127.0.0.1:{port}");
    let sender = Beside::start(&mut dir.other_command("ffmpeg", &send)).expect("ffmpeg runs");
    live.until_it_says("data comes, but no frame of it can be decoded");
    live.interrupt();
    let (code, said) = live.end();
    drop(sender);
    assert_eq!(code, Some(130), "{said}");
}

#[test]
fn a_stream_that_ends_as_soon_as_it_begins_gives_frames_and_fills_no_log() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=s=64x48:r=25:d=1 -c:v mpeg2video -f mpegts clip.ts");
    let port = serve(dir.read("clip.ts"), Answers::Once);
    let live =
        Beside::live(&dir, &format!("--duration 3 --encoder mpeg4 --record out.mkv http://127.0.0.1:{port}/clip.ts"));
    live.until_it_says(" -> out.mkv");
    let (code, said) = live.end();
    assert_eq!(code, Some(0), "{said}");
    assert!(dir.frame_times("out.mkv").len() >= 2, "{said}");
    // The stream ends about twice a second; not every end is reported.
    let told = ["waiting for it to come back", "back after"].map(|text| said.matches(text).count());
    assert!((1..=2).contains(&told[0]) && told[1] <= told[0], "{told:?}: {said}");
}

#[test]
fn a_stream_that_never_gives_a_frame_is_not_waited_for_beyond_the_duration() {
    if !encoder_is_here("a stream without a key frame", "libx264") {
        return;
    }
    let dir = Dir::new();
    let encode = "-f lavfi -i testsrc2=s=64x48:r=25 -frames:v 50 -c:v libx264 -preset ultrafast -bf 0 -g 1000 all.h264";
    dir.ffmpeg(encode);
    dir.ffmpeg("-i all.h264 -c copy -bsf:v noise=drop=key,dump_extra=freq=all rest.ts");
    let port = serve(dir.read("rest.ts"), Answers::Once);
    let runs = ["auto", "off"].map(|sandbox| {
        let more = format!("--sandbox {sandbox} --duration 2 --record {sandbox}.mkv");
        Beside::live(&dir, &format!("{more} http://127.0.0.1:{port}/rest.ts"))
    });
    for live in runs {
        live.until_it_says("not a single frame came");
        let (code, said) = live.end();
        assert_eq!(code, Some(4), "{said}");
        assert_eq!(said.matches("waiting for it to come back").count(), 1, "{said}");
        assert!(!said.contains("back after"), "{said}");
    }
    assert!(!dir.names().iter().any(|name| name.ends_with(".mkv")), "{:?}", dir.names());
}
