//! A file of cameras: what is wrong with it, what happens when it changes, what a service manager hears.

use super::{Beside, PATIENCE, without_display};
use crate::support::program::{Dir, Run};
use rustix::process::Signal;
use std::os::unix::net::UnixDatagram;
use std::process::Stdio;
use std::time::Duration;

/// Cameras that are filters with a clock; each name with lines of its own.
fn file(cameras: &[(&str, &str)]) -> String {
    let camera = |(name, lines): &(&str, &str)| {
        format!("[camera.{name}]\nsource = \"testsrc2=s=64x48:r=10,realtime\"\nrecord = \"{name}-%s.mkv\"\n{lines}\n")
    };
    let head = "# For all of them.\nformat = \"lavfi\"\nsegment = \"1s\"\nencoder = \"ffv1\"\n";
    head.to_owned() + &cameras.iter().map(camera).collect::<String>()
}

#[test]
fn faults_are_told_with_line_and_column_before_anything_starts() {
    let dir = Dir::new();
    dir.write("secret", b"hu/sh\n");
    for (text, said) in [
        ("look = \"night\"\n", "c.toml:1:1: there is no camera"),
        ("[camera.a]\nsource = \"x\"\n", "c.toml:1:9: camera a goes nowhere"),
        ("[camera.a]\nrecord = \"a.mkv\"\n", "c.toml:1:9: camera a has no source"),
        ("[camera.a\n", "c.toml:1:10: "),
        ("[cameras.a]\n", "c.toml:1:2: cameras is no table of this file"),
        ("[camera.a]\nsource = \"x\"\nrecord = \"a.mkv\"\nlok = \"night\"\n", "c.toml:4:1: there is no option lok"),
        (
            "[camera.a]\nsource = \"x\"\nrecord = \"a.mkv\"\nlook = \"nigt\"\n",
            "c.toml:4:1: camera a: invalid value 'nigt'",
        ),
        ("[camera.a]\nsource = \"x\"\nrecord = \"a.mkv\"\n\nstrength = 9\n", "c.toml:5:1: camera a: --strength is"),
        (
            "[camera.a]\nsource = \"x\"\nrecord = \"a.mkv\"\nprogress = \"json\"\n",
            "c.toml:4:1: progress is one for all",
        ),
        (
            "[camera.a]\nsource = \"rtsp://me:${NOT_THERE}@h/\"\nrecord = \"a.mkv\"\n",
            "c.toml:2:10: there is no variable",
        ),
        ("[camera.a]\nsource = \"\"\nrecord = \"a.mkv\"\n", "c.toml:1:9: camera a: its source is empty"),
        (
            "[camera.a]\nsource = \"x\"\nrecord = \"a.mkv\"\nsegment = \"1h\"\n",
            "c.toml: camera a: a.mkv: segments need the time in their names",
        ),
        ("[camera.a]\nsource = \"rtsp://me:${file:no}@h/\"\nrecord = \"a.mkv\"\n", "c.toml:2:10: no: "),
        (
            "[camera.a]\nsource = \"x\"\nrecord = \"o.mkv\"\n[camera.b]\nsource = \"y\"\nrecord = \"./o.mkv\"\n",
            "c.toml:4:9: o.mkv and ./o.mkv are one file for two sources",
        ),
        (
            "[camera.a]\nsource = \"x\"\nrecord = \"a.mkv\"\nschedule = [{ from = \"8\", to = \"9\" }]\n",
            "c.toml:4:13: from = \"8\" is no time of the day; a schedule is a list like",
        ),
        (
            "[camera.a]\nsource = \"x\"\nrecord = \"a.mkv\"\nschedule = [{ from = \"20:00\", to = \"06:00\", crf = 3 }]\n",
            "crf cannot change while a camera films",
        ),
        (
            "[camera.a]\nsource = \"x\"\nrecord = \"a.mkv\"\nsegment = \"x --wait\"\n",
            "c.toml:4:1: camera a: invalid value 'x --wait'",
        ),
        (
            "[camera.a]\nsource = \"x\"\nrecord = \"a.mkv\"\nfilter = \"null\\u0000x\"\n",
            "c.toml:4:10: a text cannot have a NUL",
        ),
    ] {
        dir.write("c.toml", text.as_bytes());
        dir.run("live --config c.toml").exits_with(2).says(&[said]);
    }
    // What the command line says is not in the file, even if that has it, too.
    dir.write("c.toml", b"[camera.a]\nsource = \"x\"\nrecord = \"a.mkv\"\nwait = 3\n");
    dir.run("live --config c.toml --wait=2s").exits_with(2).says(&["invalid value '2s'"]).never_says("c.toml");
    // What is repeated of a value of a megabyte is its beginning and its end.
    let text = format!("[camera.a]\nsource = \"x\"\nrecord = \"a.mkv\"\nlook = \"{}\"\n", "n".repeat(900_000));
    dir.write("c.toml", text.as_bytes());
    let run =
        dir.run("live --config c.toml").exits_with(2).says(&["c.toml:4:1: camera a: invalid value 'nnn", "bytes ..."]);
    assert!(run.stderr.len() < 3000, "{} bytes", run.stderr.len());
    dir.run("live --config none.toml").exits_with(2).says(&["none.toml: "]);
    // A password is what stands in the file, as URLs have it, and nothing prints it.
    dir.write(
        "c.toml",
        b"[camera.a]\nwait = true\nsource = \"rtsp://me:${file:secret}@127.0.0.1:9/\"\nrecord = \"a.mkv\"\n",
    );
    let live = Beside::live(&dir, "--config c.toml -v");
    live.until_it_says("rtsp://me@127.0.0.1:9/");
    live.signal(Signal::TERM);
    let (_, said) = live.end();
    assert!(!said.contains("sh@") && !said.contains("hu/sh") && !said.contains("hu%2Fsh"), "{said}");
}

#[test]
fn what_does_not_change_goes_on_when_the_file_is_read_again() {
    let dir = Dir::new();
    dir.write("c.toml", file(&[("gate", ""), ("yard", "")]).as_bytes());
    let socket = UnixDatagram::bind(dir.path("notify")).expect("a socket");
    socket.set_read_timeout(Some(PATIENCE)).expect("a socket");
    let hear = || {
        let mut text = [0; 200];
        let length = socket.recv(&mut text).expect("a message");
        String::from_utf8_lossy(&text[..length]).into_owned()
    };
    let hear_of = |what: &str| while !hear().contains(what) {};
    let mut command = without_display(dir.command("live --backend cpu --progress json --config c.toml"));
    command.env("NOTIFY_SOCKET", dir.path("notify")).env("WATCHDOG_USEC", "400000").stderr(Stdio::piped());
    let live = Beside::start(&mut command).expect("the program runs");
    hear_of("READY=1");
    hear_of("WATCHDOG=1");
    live.until_more_frames(10);

    dir.write("c.toml", file(&[("gate", ""), ("yard", "look = \"haze\""), ("door", "")]).as_bytes());
    live.signal(Signal::HUP);
    hear_of("RELOADING=1");
    hear_of("READY=1");
    live.until_it_says("cameras: 1 as before, 1 changed, 1 new, 0 gone");
    // The yard as it was ends, and as it is now begins.
    live.until_it_says("yard, testsrc2");
    let yards = || dir.names().iter().filter(|file| file.starts_with("yard")).count();
    let before = yards();
    live.until("the yard begins again", |_| yards() > before);
    dir.write("c.toml", file(&[("gate", "lok = 1")]).as_bytes());
    live.signal(Signal::HUP);
    live.until_it_says("there is no option lok of `histeq-video live` (all goes on as it was before)");
    dir.write("c.toml", file(&[("gate", ""), ("door", "")]).as_bytes());
    live.signal(Signal::HUP);
    live.until_it_says("cameras: 2 as before, 0 changed, 0 new, 1 gone");
    live.until("the yard ends", |heard| heard.text.matches("yard, testsrc2").count() == 2);
    std::thread::sleep(Duration::from_secs(1));
    live.signal(Signal::TERM);
    hear_of("STOPPING=1");
    let (code, said) = live.end();
    assert_eq!(code, Some(0), "{said}");
    // The gate was never interrupted: as many frames as ever came, all in its segments.
    let frames = |name: &str| {
        let names = dir.names().into_iter().filter(|file| file.starts_with(name) && file.ends_with(".mkv"));
        names.map(|file| dir.frame_times(&file).len()).sum::<usize>()
    };
    for name in ["gate", "door"] {
        let told = format!("{} frames -> {name}-%s.mkv", frames(name));
        assert!(said.contains(&told), "{told}: {said}");
    }
    assert_eq!(said.matches("gate, testsrc2").count(), 1, "{said}");
    assert_eq!(said.matches("yard, testsrc2").count(), 2, "{said}");
}

#[test]
fn a_schedule_and_pictures_that_turn_gray_are_told() {
    let dir = Dir::new();
    // All of the day but for an hour that is half a day away.
    let hour = Run::of(&mut dir.other_command("date", "+%H"), "+%H").stdout;
    let hour: u32 = String::from_utf8_lossy(&hour).trim().parse().expect("an hour");
    let (until, from) = ((hour + 12) % 24, (hour + 13) % 24);
    let camera = format!(
        "[camera.gate]\nformat = \"lavfi\"\nsource = \"testsrc2=s=64x48:r=10,hue=s='lt(t,5)',realtime\"\n\
         record = \"gate.mkv\"\nschedule = [{{ from = \"{from:02}:00\", to = \"{until:02}:00\", look = \"night\" }}]\n"
    );
    dir.write("c.toml", camera.as_bytes());
    let live = Beside::live(&dir, "--config c.toml");
    live.until_it_says(&format!("gate: the schedule says look night until {until:02}:00:00"));
    live.until_it_says("gate: the picture is gray");
    live.signal(Signal::TERM);
    let (code, said) = live.end();
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(said.matches("the picture").count(), 1, "{said}");
}
