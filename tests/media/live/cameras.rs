//! A TOML file of cameras: its errors, changes to it during a run, and messages to a service manager.

use super::{Beside, PATIENCE, without_display};
use crate::support::programs::program::{Dir, Run};
use rustix::process::Signal;
use std::os::unix::net::UnixDatagram;
use std::process::Stdio;
use std::time::Duration;

/// The TOML of these cameras, whose sources are filters in real time; each camera has additional lines.
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
    // An error in the command line does not blame the file, even if the file has the same option.
    dir.write("c.toml", b"[camera.a]\nsource = \"x\"\nrecord = \"a.mkv\"\nwait = 3\n");
    dir.run("live --config c.toml --wait=2x").exits_with(2).says(&["invalid value '2x'"]).never_says("c.toml");
    // A message shortens a value of a megabyte to its beginning and its end.
    let text = format!("[camera.a]\nsource = \"x\"\nrecord = \"a.mkv\"\nlook = \"{}\"\n", "n".repeat(900_000));
    dir.write("c.toml", text.as_bytes());
    let run =
        dir.run("live --config c.toml").exits_with(2).says(&["c.toml:4:1: camera a: invalid value 'nnn", "bytes ..."]);
    assert!(run.stderr.len() < 3000, "{} bytes", run.stderr.len());
    dir.run("live --config none.toml").exits_with(2).says(&["none.toml: "]);
    // The password is read from the file `secret`, in the form that URLs have, and never printed.
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
fn a_dry_run_checks_the_file_with_its_encoders_and_opens_no_camera() {
    let dir = Dir::new();
    let cameras = |gate: &str, yard: &str| {
        let camera = |name: &str, lines: &str| {
            // The source does not exist, so a real run would wait for it.
            format!(
                "[camera.{name}]\nsource = \"none-{name}\"\nrecord = \"{name}-%s.mkv\"\nsegment = \"1h\"\n{lines}\n"
            )
        };
        format!("# Line 1.\n{}{}", camera("gate", gate), camera("yard", yard))
    };
    dir.write("c.toml", cameras("encoder = \"ffv1\"", "encoder = \"mpeg4\"").as_bytes());
    let before = dir.names();
    let run = dir.succeeds("live --config c.toml --dry-run");
    let told = String::from_utf8(run.stdout).expect("text");
    for said in
        ["gate: none-gate", "gate-%s.mkv: ffv1 in matroska", "yard-%s.mkv: mpeg4 in matroska", "2 cameras, no fault"]
    {
        assert!(told.contains(said), "{said} in:\n{told}");
    }
    for (yard, code, said) in [
        ("encoder = \"abacus\"", 1, "c.toml:7:9: camera yard: no encoder abacus here"),
        (
            "encoder = \"mpeg4\"\nencoder-option = \"bogus=1\"",
            1,
            "c.toml:7:9: camera yard: encoder mpeg4 has no option bogus",
        ),
        ("encoder = \"mpeg4\"\ncrf = 77", 2, "c.toml:7:9: camera yard: --crf is a number from 0 to 31"),
        (
            "encoder = \"mpeg4\"\noutput-option = \"bogus=1\"",
            1,
            "c.toml:7:9: camera yard: yard-%s.mkv: container matroska has no option bogus",
        ),
        ("encoder = \"ffv1\"\nmask = \"none.png\"", 4, "c.toml:7:9: camera yard: --mask: none.png"),
        ("lok = 1", 2, "c.toml:11:1: there is no option lok"),
    ] {
        dir.write("c.toml", cameras("encoder = \"ffv1\"", yard).as_bytes());
        dir.run("live --config c.toml --dry-run").exits_with(code).says(&[said]);
    }
    // An unknown option of the command line is not reported as an error of the file.
    dir.run("live --config c.toml --bogus")
        .exits_with(2)
        .says(&["unexpected argument '--bogus'"])
        .never_says("c.toml:");
    dir.succeeds("live --dry-run --encoder ffv1 --record one.mkv none-gate");
    dir.run("live --dry-run --encoder mpeg4 --record one.webm none-gate").fails().says(&["one.webm"]);
    assert_eq!(dir.names(), before);
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
    // Camera `yard` is stopped, and started again with its new options.
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
    let is_end = |line: &str, name: &str| line.starts_with(&format!("{name}, testsrc2")) && line.contains(" fps) ");
    let ends = |text: &str, name: &str| text.lines().filter(|line| is_end(line, name)).count();
    live.until("the yard ends", |heard| ends(&heard.text, "yard") == 2);
    std::thread::sleep(Duration::from_secs(1));
    live.signal(Signal::TERM);
    hear_of("STOPPING=1");
    let (code, said) = live.end();
    assert_eq!(code, Some(0), "{said}");
    // Camera `gate` was not restarted: its summary counts the frames of all its segments.
    let frames = |name: &str| {
        let names = dir.names().into_iter().filter(|file| file.starts_with(name) && file.ends_with(".mkv"));
        names.map(|file| dir.frame_times(&file).len()).sum::<usize>()
    };
    for name in ["gate", "door"] {
        // The summary has a line for each camera.
        let told = format!("\n{name}, testsrc2=s=64x48:r=10,realtime: {} frames -> {name}-%s.mkv", frames(name));
        assert!(said.contains(&told), "{told}: {said}");
    }
    assert_eq!((ends(&said, "gate"), ends(&said, "yard")), (1, 2), "{said}");
}

/// The time of day, shifted by an offset that `date` understands (`+6 seconds`).
fn time_of_day(dir: &Dir, moved: &str) -> String {
    let run = Run::from_command(&mut dir.other_command("date", &format!("+%T -d '{moved}'")), moved).exits_with(0);
    String::from_utf8_lossy(&run.stdout).trim().to_owned()
}

/// A schedule for the time between two offsets from now.
fn scheduled(dir: &Dir, (start, until): (&str, &str), options: &str) -> String {
    let [start, until] = [start, until].map(|moved| time_of_day(dir, moved));
    format!("schedule = [{{ from = \"{start}\", to = \"{until}\", {options} }}]")
}

/// Offsets of a schedule that is active now and for many hours.
const NOW: (&str, &str) = ("-12 hours", "+11 hours");

/// A camera that shows a dark, still ramp, which the look natural brightens.
const RAMP: &str = "source = \"nullsrc=s=64x48:r=10,geq=lum=16+X:cb=128:cr=128,realtime\"\nformat = \"lavfi\"\n\
                    encoder = \"ffv1\"\n";

/// The mean luma of each frame of a recording.
fn lumas(dir: &Dir, file: &str) -> Vec<f64> {
    let frames = dir.raw(file, "gray");
    frames
        .chunks(64 * 48)
        .map(|frame| frame.iter().map(|&level| f64::from(level)).sum::<f64>() / (64.0 * 48.0))
        .collect()
}

#[test]
fn what_a_schedule_says_at_the_start_is_on_the_pictures_and_in_the_events() {
    let dir = Dir::new();
    // The look natural leaves the first source unchanged, and makes the second one brighter and more colourful.
    let sources = [
        "testsrc2=s=64x48:r=4:d=1.5,lutyuv=y=16+val/4,realtime",
        "nullsrc=s=64x48:r=4:d=1.5,geq=lum=16+X:cb=110+Y/4:cr=140,realtime",
    ];
    let asked = [
        ("look = \"night\"", 0),
        ("look = \"thermal\"", 0),
        ("look = \"exact\"", 0),
        ("strength = 0", 1),
        ("method = \"global\"", 1),
        ("chroma = \"keep\"", 1),
    ];
    let mut cameras = "format = \"lavfi\"\nencoder = \"ffv1\"\n".to_owned();
    let mut add = |name: &str, source: usize, line: &str| {
        let source = sources[source];
        cameras += &format!("[camera.{name}]\nsource = \"{source}\"\nrecord = \"{name}.mkv\"\n{line}\n");
    };
    [0, 1].into_iter().for_each(|source| add(&format!("plain-{source}"), source, ""));
    for (number, (option, source)) in asked.into_iter().enumerate() {
        add(&format!("asked-{number}"), source, option);
        add(&format!("told-{number}"), source, &scheduled(&dir, NOW, option));
    }
    dir.write("c.toml", cameras.as_bytes());
    dir.succeeds("live --backend cpu --config c.toml --progress-file run.jsonl");
    let plain = [0, 1].map(|source| dir.raw(&format!("plain-{source}.mkv"), "yuv420p"));
    let events = String::from_utf8(dir.read("run.jsonl")).expect("a text");
    let events: Vec<serde_json::Value> = events.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let settings = |file: &str| {
        let starts = || events.iter().filter(|event| event["event"] == "start");
        starts().find(|event| event["outputs"][0] == file).expect("a start")["settings"].clone()
    };
    for (number, (asked, source)) in asked.into_iter().enumerate() {
        let [asked_file, told_file] = ["asked", "told"].map(|name| format!("{name}-{number}.mkv"));
        let pictures = dir.raw(&told_file, "yuv420p");
        assert_eq!(pictures.len(), 6 * 64 * 48 * 3 / 2, "{asked}");
        assert!(pictures != plain[source], "{asked}: what was announced was not done");
        assert!(pictures == dir.raw(&asked_file, "yuv420p"), "{asked}: other pictures than by the option");
        assert_eq!(settings(&told_file), settings(&asked_file), "{asked}");
    }
}

#[test]
fn a_schedule_holds_for_a_camera_that_begins_again_and_begins_and_ends_while_one_films() {
    let dir = Dir::new();
    let gate = |schedule: &str, more: &str| {
        let camera = format!("[camera.gate]\n{RAMP}record = \"gate-%s.mkv\"\nsegment = \"1s\"\n");
        dir.write("c.toml", format!("{camera}{schedule}\n{more}\n").as_bytes());
    };
    let segments = || -> Vec<String> {
        dir.names().into_iter().filter(|name| name.starts_with("gate-") && name.ends_with(".mkv")).collect()
    };
    // The mean luma of the unchanged ramp, in full range.
    let dark = 63.0 / 2.0 * 255.0 / 219.0;
    let is_dark = |luma: &f64| (luma - dark).abs() < 1.0;
    gate(&scheduled(&dir, NOW, "strength = 0"), "");
    let live = Beside::live(&dir, "--config c.toml");
    live.until_more_frames(5);
    gate(&scheduled(&dir, NOW, "strength = 0"), "smooth = 3");
    let before = segments().len();
    live.signal(Signal::HUP);
    live.until("another recording", |_| segments().len() > before);
    live.until_it_says("gate, nullsrc");
    live.until_more_frames(5);
    // This schedule starts and ends during the recording.
    gate(&scheduled(&dir, ("+6 seconds", "+12 seconds"), "strength = 0"), "");
    let before = segments();
    live.signal(Signal::HUP);
    live.until("the file is read again", |heard| heard.text.matches("1 changed").count() == 2);
    live.until("it begins again", |heard| heard.text.matches("gate, nullsrc").count() == 2);
    live.until("the schedule holds", |heard| heard.text.matches("the schedule says strength 0").count() == 3);
    live.until_it_says("the schedule says nothing else from now on");
    live.until_more_frames(10);
    live.signal(Signal::TERM);
    let (code, said) = live.end();
    assert_eq!(code, Some(0), "{said}");
    let (old, new): (Vec<String>, Vec<String>) = segments().into_iter().partition(|name| before.contains(name));
    let all = |files: &[String]| files.iter().flat_map(|file| lumas(&dir, file)).collect::<Vec<f64>>();
    let (old, new) = (all(&old), all(&new));
    assert!(old.len() >= 10 && old.iter().all(is_dark), "{old:?}: {said}");
    let count = new.iter().filter(|luma| is_dark(luma)).count();
    let (first, last) = (new[0], new[new.len() - 1]);
    assert!(count >= 30 && !is_dark(&last) && last > dark + 10.0, "{first} to {last}, {count} dark: {said}");
}

#[test]
fn a_schedule_that_could_change_nothing_is_a_fault() {
    let dir = Dir::new();
    let camera = format!("[camera.gate]\n{RAMP}record = \"a.mkv\"\nrange = \"16:80\"\n");
    dir.write("c.toml", format!("{camera}{}\n", scheduled(&dir, NOW, "look = \"night\"")).as_bytes());
    dir.run("live --config c.toml")
        .exits_with(2)
        .says(&["c.toml:7:13: camera gate: its curves or its range are given"]);
}

#[test]
fn a_camera_that_begins_again_records_under_the_next_free_name() {
    for overwrite in ["", "-y "] {
        let dir = Dir::new();
        dir.write("b.2.mkv", b"precious");
        dir.write("there.mkv", b"precious");
        let gate = |more: &str| {
            let camera = format!("[camera.gate]\n{RAMP}record = \"b.mkv\"\nsave-curves = \"b.jsonl\"\n");
            dir.write("c.toml", format!("{camera}{more}\n").as_bytes());
        };
        gate("");
        let live = Beside::live(&dir, &format!("{overwrite}--config c.toml"));
        live.until_more_frames(5);
        gate("strength = 0");
        live.signal(Signal::HUP);
        live.until_it_says("gate, nullsrc");
        live.until("it begins again", |_| dir.path("b.3.mkv").exists());
        live.until_more_frames(5);
        if overwrite.is_empty() {
            gate("strength = 0\n[camera.door]\nsource = \"nullsrc\"\nrecord = \"there.mkv\"");
            live.signal(Signal::HUP);
            live.until_it_says("c.toml: camera door: there.mkv exists (use -y to overwrite it) (all goes on as it was");
        }
        live.signal(Signal::TERM);
        let (code, said) = live.end();
        assert_eq!(code, Some(0), "{said}");
        let (first, second) = (lumas(&dir, "b.mkv"), lumas(&dir, "b.3.mkv"));
        assert!(first.len() >= 5 && second.len() >= 5, "{} and {} frames: {said}", first.len(), second.len());
        assert!(first[first.len() - 1] > second[0] + 10.0, "{first:?} and {second:?}");
        // The first run changes the ramp's levels, and strength 0 does not, so only its curve contains 32 to 37 in
        // order.
        let curves = ["b.jsonl", "b.2.jsonl"].map(|file| String::from_utf8(dir.read(file)).expect("a text"));
        let changes = curves.each_ref().map(|lines| !lines.contains("32,33,34,35,36,37"));
        assert!(changes == [true, false] && curves[1].contains("\"frame\":0"), "{curves:?}");
        assert_eq!([dir.read("b.2.mkv"), dir.read("there.mkv")], [b"precious", b"precious"]);
    }
}

#[test]
fn a_camera_that_never_records_is_told_by_the_exit_code() {
    let dir = Dir::new();
    let door = "[camera.door]\nsource = \"testsrc2=s=64x48:r=10,realtime\"\nformat = \"lavfi\"\nrecord = \"door.mkv\"\n\
                encoder = \"abacus\"\n";
    dir.write("c.toml", format!("[camera.gate]\n{RAMP}record = \"gate.mkv\"\n{door}").as_bytes());
    let live = Beside::live(&dir, "--config c.toml");
    live.until_it_says("door: begins again in 60 s");
    live.until("frames of the other", |heard| heard.frames.get(&1).is_some_and(|frames| *frames > 5));
    live.signal(Signal::TERM);
    let (code, said) = live.end();
    assert!(code.is_some_and(|code| code != 0) && said.contains("1 of 2 cameras failed: door"), "{code:?}: {said}");
    assert!(lumas(&dir, "gate.mkv").len() > 5 && !dir.path("door.mkv").exists());
}

#[test]
fn a_camera_that_has_failed_begins_again_after_a_minute() {
    let dir = Dir::new();
    let camera = "source = \"testsrc2=s=64x48:r=10:d=0.5,realtime\"\nformat = \"lavfi\"\nrecord = \"gate.mkv\"";
    dir.write("c.toml", format!("[camera.gate]\n{camera}\nencoder = \"ffv1\"\nlut = \"x.cube\"\n").as_bytes());
    let live = Beside::live(&dir, "--config c.toml");
    live.until_it_says("gate: begins again in 60 s");
    assert!(!dir.path("gate.mkv").exists());
    dir.write("x.cube", b"LUT_3D_SIZE 2\n0 0 0\n1 0 0\n0 1 0\n1 1 0\n0 0 1\n1 0 1\n0 1 1\n1 1 1\n");
    let (code, said) = live.end();
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(dir.frame_times("gate.mkv").len(), 5, "{said}");
}

#[test]
fn what_is_one_for_the_program_is_not_said_to_be_changed() {
    let dir = Dir::new();
    let gate = |head: &str| {
        dir.write("c.toml", format!("{head}[camera.gate]\n{RAMP}record = \"gate.mkv\"\n").as_bytes());
    };
    gate("");
    let live = Beside::live(&dir, "--config c.toml");
    live.until_more_frames(3);
    gate("web = \"127.0.0.1:0\"\n");
    live.signal(Signal::HUP);
    live.until_it_says(
        "c.toml: --web is one for the whole program (start it again to change that) (all goes on as it was",
    );
    live.until_more_frames(3);
    live.signal(Signal::TERM);
    let (code, said) = live.end();
    assert!(code == Some(0) && said.matches(" fps) ").count() == 1, "{said}");
}

#[test]
fn a_schedule_and_pictures_that_turn_gray_are_told() {
    let dir = Dir::new();
    let camera = format!(
        "[camera.gate]\nformat = \"lavfi\"\nsource = \"testsrc2=s=64x48:r=10,hue=s='lt(t,5)',realtime\"\n\
         record = \"gate.mkv\"\n{}\n",
        scheduled(&dir, NOW, "look = \"night\"")
    );
    dir.write("c.toml", camera.as_bytes());
    let live = Beside::live(&dir, "--config c.toml");
    live.until_it_says("gate: the schedule says look night until ");
    live.until_it_says("gate: the picture is gray");
    live.signal(Signal::TERM);
    let (code, said) = live.end();
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(said.matches("the picture").count(), 1, "{said}");
}
