//! The keys of the window.

use super::desktop::{Desktop, wait_for};
use super::shot::Shot;
use super::{ROW, ramp};
use crate::media::live::{Beside, frames_counted};
use crate::support::programs::program::Dir;
use rustix::process::Signal;
use std::net::UdpSocket;

const CURVE: [u8; 3] = [255, 200, 40];

/// The origin of the chart in a window of 640x360.
const CHART: (usize, usize) = (371, 150);

fn is_equalized(shot: &Shot) -> bool {
    shot.level(10, ROW) < 30 && shot.level(629, ROW) > 225
}

fn is_original(shot: &Shot) -> bool {
    (90..110).contains(&shot.level(10, ROW)) && (135..155).contains(&shot.level(629, ROW))
}

fn ends_well(live: Beside) -> String {
    let (code, said) = live.end();
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("latency from capture to shown"), "{said}");
    said
}

#[test]
fn keys_and_mouse_change_what_is_seen() {
    let Some(desktop) = Desktop::new("640x360") else { return };
    let dir = Dir::new();
    let live = desktop.live(&dir, ramp(&dir), "1");
    let shot = desktop.until("the equalized picture", is_equalized);
    let row: Vec<u8> = (0..640).map(|x| shot.level(x, ROW)).collect();
    assert!((100..156).contains(&row[320]), "{} in the middle", row[320]);
    assert!(row.windows(2).all(|pair| pair[1].saturating_add(2) >= pair[0]), "not a ramp: {row:?}");
    let status = |shot: &Shot| shot.count([255; 3], 0..640, 336..360);
    assert!(status(&shot) > 200, "no status line");

    desktop.press("o");
    desktop.until("the original", is_original);

    desktop.press("v");
    let shot = desktop.until("a divider in the middle", |shot| shot.divider(ROW) == Some(320));
    assert!((90..110).contains(&shot.level(10, ROW)), "the original should be on the left");
    assert!(shot.level(629, ROW) > 225, "the equalized picture should be on the right");
    desktop.press("Right Right");
    desktop.until("a divider two steps to the right", |shot| shot.divider(ROW) == Some(384));
    desktop.press("Left Left Left");
    desktop.until("a divider three steps to the left", |shot| shot.divider(ROW) == Some(288));
    assert!(desktop.xdotool("mousemove 100 200 mousedown 1"));
    desktop.until("a divider where the mouse went down", |shot| shot.divider(ROW) == Some(100));
    assert!(desktop.xdotool("mousemove 500 210"));
    desktop.until("a divider that follows the mouse", |shot| shot.divider(ROW) == Some(500));
    assert!(desktop.xdotool("mouseup 1 mousemove 5 150"));

    desktop.press("e");
    let shot = desktop.until("the equalized picture again", is_equalized);
    let drawn = |shot: &Shot| shot.count(CURVE, 360..640, 0..180);
    assert_eq!(drawn(&shot), 0);
    desktop.press("h");
    let shot = desktop.until("the curve", |shot| drawn(shot) > 300);
    // In a chart of 256x128 pixels, the curve rises from black at the ramp's lowest level to white at its highest.
    let shot = &shot;
    let curve = |level: usize| {
        (CHART.1 - 127..=CHART.1).filter(move |&y| shot.colour(CHART.0 + level, y) == CURVE).map(|y| CHART.1 - y)
    };
    let middle = curve(119).sum::<usize>() / curve(119).count().max(1);
    assert!(middle.abs_diff(125 / 2) <= 4, "level 119 is drawn as {}", 2 * middle);
    let lowest = (0..256).flat_map(curve).min().expect("a curve");
    let highest = (0..256).flat_map(curve).max().expect("a curve");
    assert!(lowest.abs_diff(16 / 2) <= 2 && highest.abs_diff(235 / 2) <= 2, "{lowest} to {highest}");
    let levels: Vec<usize> = (0..256).filter(|&level| curve(level).count() > 0).collect();
    assert!(levels[0].abs_diff(102) <= 4 && levels[levels.len() - 1].abs_diff(136) <= 4, "{levels:?}");
    desktop.press("h");
    desktop.until("no curve", |shot| drawn(shot) == 0);

    let written = |shot: &Shot| shot.count([255; 3], 120..520, 40..320);
    let before = written(&desktop.shot());
    desktop.press("F1");
    desktop.until("the list of keys", |shot| written(shot) > before + 1000);
    desktop.press("F1");
    desktop.until("no list of keys", |shot| written(shot) == before);

    desktop.press("q");
    ends_well(live);
}

#[test]
fn strength_acts_at_once_on_a_picture_that_stands_still_too() {
    let Some(desktop) = Desktop::new("640x360") else { return };
    let dir = Dir::new();
    let live = desktop.live(&dir, ramp(&dir), "1");
    desktop.until("the equalized picture", is_equalized);
    let one_step = |shot: &Shot| (238..254).contains(&shot.level(639, ROW));
    desktop.press("Down");
    desktop.until("a little less", one_step);
    desktop.press(&["Down"; 20].join(" "));
    desktop.until("the input at strength 0", is_original);
    desktop.press("space");
    desktop.press(&["Up"; 20].join(" "));
    desktop.until("the equalized picture, paused", is_equalized);
    desktop.press("Down");
    desktop.until("a little less, paused", one_step);
    desktop.press("Escape");
    ends_well(live);
}

#[test]
fn a_picture_that_stands_still_keeps_to_the_options() {
    let Some(desktop) = Desktop::new("640x360") else { return };
    let dir = Dir::new();
    let live = desktop.live(&dir, "--set gray -f lavfi color=0x8040c0:s=640x360:r=25,realtime", "1");
    let is_gray = |shot: &Shot| {
        let [r, g, b] = shot.colour(300, ROW);
        r > 50 && r == g && g == b
    };
    desktop.until("a gray picture", is_gray);
    desktop.press("space");
    let before = desktop.until("a gray picture, paused", is_gray);
    desktop.press("Down Down Down");
    let after = desktop.until("another strength in the line below", |shot| *shot != before);
    assert!(is_gray(&after), "the colour is back");
    desktop.press("q");
    ends_well(live);
}

#[test]
fn pause_holds_the_picture_while_the_recording_goes_on() {
    let Some(desktop) = Desktop::new("640x360") else { return };
    let dir = Dir::new();
    let camera = "-f lavfi testsrc2=s=320x180:r=25,realtime --encoder mpeg4 --record out.mkv";
    let live = desktop.live(&dir, camera, "1");
    let length = || std::fs::metadata(dir.path("out.mkv")).map_or(0, |file| file.len());
    wait_for("a picture that moves", || (!desktop.stands_still(0.5)).then_some(()));
    desktop.press("space");
    wait_for("a picture that stands still", || desktop.stands_still(0.5).then_some(()));
    let (held, begin) = (desktop.shot(), length());
    wait_for("a recording that grows", || (length() > begin + 10_000).then_some(()));
    assert!(desktop.shot() == held, "the picture should stand still");
    desktop.press("space");
    desktop.until("a picture that moves again", |shot| *shot != held);
    desktop.press("q");
    let said = ends_well(live);
    assert_eq!(frames_counted(&said, "out.mkv"), dir.frame_times("out.mkv").len(), "{said}");
}

#[test]
fn a_screenshot_is_the_equalized_picture() {
    let Some(desktop) = Desktop::new("640x360") else { return };
    let dir = Dir::new();
    let line = format!("{} --encoder ffv1 --record out.mkv", ramp(&dir));
    let live = desktop.live(&dir, &line, "1");
    desktop.until("the equalized picture", is_equalized);
    // The overlays are not in the screenshot.
    desktop.press("v h F1 s");
    let is_screenshot = |name: &String| name.starts_with("histeq-video-") && name.ends_with(".png");
    let name = wait_for("a screenshot", || dir.names().into_iter().find(is_screenshot));
    desktop.press("q");
    let said = ends_well(live);
    assert!(said.contains(&format!("screenshot -> {name}")), "{said}");
    // The recorded frame, converted to PNG like the screenshot.
    dir.succeeds("--levels 1 --strength 0 --frames 1 out.mkv recorded.png");
    assert!(dir.raw(&name, "rgb24") == dir.raw("recorded.png", "rgb24"), "another picture than was recorded");
}

#[test]
fn a_source_that_stops_is_said_over_the_picture_until_it_goes_on() {
    let Some(desktop) = Desktop::new("640x360") else { return };
    let dir = Dir::new();
    let port = UdpSocket::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).expect("a port").port();
    let ramp = "-v error -nostdin -re -f lavfi -i nullsrc=s=320x180:r=25,geq=lum=100+X*40/W:cb=128:cr=128";
    let line = format!("{ramp} -c:v mpeg2video -g 10 -f mpegts udp://127.0.0.1:{port}?pkt_size=1316");
    let sender = Beside::start(&mut dir.other_command("ffmpeg", &line)).expect("ffmpeg runs");
    let live = desktop.live(&dir, &format!("udp://127.0.0.1:{port}"), "1");
    // The middle of the window. The video is gray there, so only text is white.
    let letters = |shot: &Shot| shot.count([255; 3], 220..420, 160..200);
    desktop.until("a picture", |shot| is_equalized(shot) && letters(shot) == 0);
    sender.signal(Signal::STOP);
    let first = desktop.until("no signal", |shot| letters(shot) > 100);
    desktop.until("its seconds", |shot| letters(shot) > 100 && letters(shot) != letters(&first));
    sender.signal(Signal::CONT);
    desktop.until("the picture alone", |shot| is_equalized(shot) && letters(shot) == 0);
    desktop.press("q");
    ends_well(live);
}
