//! The window, on a display that exists in memory alone.

use super::{Beside, pause};
use crate::program::{Dir, Run};
use crate::skip::skip;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

/// A display of this size, and its name; `None` where there is no Xvfb.
fn display(size: &str) -> Option<(Beside, String)> {
    let mut command = Command::new("Xvfb");
    command.args(["-displayfd", "1", "-screen", "0", &format!("{size}x24")]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    let mut number = String::new();
    let stdout = child.stdout.take().expect("a pipe");
    BufReader::new(stdout).read_line(&mut number).expect("Xvfb says its number");
    Some((Beside(child), format!(":{}", number.trim())))
}

#[test]
fn the_window_shows_the_equalized_picture() {
    let Some((_xvfb, display)) = display("640x360") else {
        skip("window", "no Xvfb");
        return;
    };
    let dir = Dir::new();
    // A ramp from left to right of which only the middle levels are used.
    dir.ffmpeg("-f lavfi -i nullsrc=s=640x360,geq=lum='100+X*40/W':cb=128:cr=128 -frames:v 1 -pix_fmt gray ramp.png");
    let camera = "movie=ramp.png:loop=0,setpts=N/(15*TB),format=yuv420p,realtime";
    let line = format!("live --backend cpu --duration 5 -f lavfi {camera}");
    let mut command = dir.command(&line);
    let live = Beside(command.env("DISPLAY", &display).stderr(Stdio::piped()).spawn().expect("the program runs"));
    pause(2.5);
    let grab = format!(
        "-hide_banner -nostdin -v error -f x11grab -draw_mouse 0 -video_size 640x360 -i {display} -frames:v 1 \
         -f rawvideo -pix_fmt gray -"
    );
    let shot = Run::of(&mut dir.other_command("ffmpeg", &grab), &grab);
    let (code, said) = live.end();
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("latency from capture to shown"), "{said}");
    if shot.code != Some(0) {
        skip("window", "this ffmpeg cannot grab a screen");
        return;
    }
    let row = &shot.stdout[640 * 100..640 * 101];
    assert!(row[10] < 30 && row[629] > 225, "from {} to {}, should be black to white", row[10], row[629]);
    assert!((100..156).contains(&row[320]), "{} in the middle", row[320]);
    assert!(row.windows(2).all(|pair| pair[1].saturating_add(2) >= pair[0]), "not a ramp: {row:?}");
}
