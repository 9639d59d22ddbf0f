//! A camera in the network that goes away and comes back.

use super::{Beside, wait_for_listener};
use crate::program::Dir;
use std::net::UdpSocket;

/// Sends pictures with a key frame every `distance` frames.
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
    // A port that is not in use: the socket is closed again at the end of the line.
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
    // The next one comes 100 seconds later.
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
    assert!(begin.elapsed().as_secs_f64() < 5.0, "{:?}", begin.elapsed());
    assert!(dir.names().is_empty(), "{:?}", dir.names());
}
