//! Options from a configuration file, the user's presets and the environment.

use crate::support::programs::program::{Dir, Run};
use serde_json::Value;

/// A run of `line` with the configuration file `config` and these variables.
fn run(dir: &Dir, config: &str, variables: &[(&str, &str)], line: &str) -> Run {
    std::fs::create_dir_all(dir.path("home/histeq-video")).expect("a folder");
    dir.write("home/histeq-video/config.toml", config.as_bytes());
    let mut command = dir.command(line);
    command.env_remove("HISTEQ_CONFIG").env("XDG_CONFIG_HOME", dir.path("home")).envs(variables.iter().copied());
    Run::from_command(&mut command, line)
}

/// The settings of such a run, from its events.
#[track_caller]
fn settings(dir: &Dir, config: &str, variables: &[(&str, &str)], options: &str) -> Value {
    let line = format!("-y --progress json {options} in.mkv out.mkv");
    let run = run(dir, config, variables, &line).exits_with(0);
    let first = run.stderr.lines().next().expect("an event");
    serde_json::from_str::<Value>(first).expect("JSON")["settings"].take()
}

fn with_clip() -> Dir {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 5 -c:v ffv1 in.mkv");
    dir
}

const CONFIG: &str = "
[defaults]
look = 'haze'
smooth = 1.0
encoder-option = ['slices=4', 'g=1']

[preset.mine]
look = 'thermal'
gray = true
";

#[test]
fn the_file_lies_below_the_folder_for_it_or_the_home() {
    let dir = with_clip();
    for (folder, look) in [("given", "night"), ("person/.config", "haze")] {
        std::fs::create_dir_all(dir.path(format!("{folder}/histeq-video"))).expect("a folder");
        dir.write(&format!("{folder}/histeq-video/config.toml"), format!("[defaults]\nlook = '{look}'").as_bytes());
    }
    let given = dir.path("given").display().to_string();
    for (folder, look) in [(Some(given.as_str()), "night"), (None, "haze"), (Some("given"), "haze"), (Some(""), "haze")]
    {
        let mut command = dir.command("--dry-run --json in.mkv out.mkv");
        command.env_remove("HISTEQ_CONFIG").env_remove("XDG_CONFIG_HOME").env("HOME", dir.path("person"));
        command.envs(folder.map(|folder| ("XDG_CONFIG_HOME", folder)));
        let run = Run::from_command(&mut command, "dry run").exits_with(0);
        let said = serde_json::from_slice::<Value>(&run.stdout).expect("JSON").to_string();
        assert!(said.contains(&format!("\"look\":\"{look}\"")), "{folder:?}: {said}");
    }
}

#[test]
fn what_is_nearer_to_the_command_line_takes_precedence() {
    let dir = with_clip();
    let value_of = |config, variables: &[_], options| {
        let settings = settings(&dir, config, variables, options);
        let text = |name: &str| settings[name].to_string();
        [text("look"), text("smooth"), text("gray")].join(" ").replace('"', "")
    };
    assert_eq!(value_of("", &[], ""), "natural 4.0 false");
    assert_eq!(value_of(CONFIG, &[], ""), "haze 1.0 false");
    let look = ("HISTEQ_LOOK", "underwater");
    assert_eq!(value_of(CONFIG, &[look], ""), "underwater 1.0 false");
    assert_eq!(value_of(CONFIG, &[look, ("HISTEQ_GRAY", "true")], "--look natural"), "natural 1.0 true");
    assert_eq!(value_of(CONFIG, &[look, ("HISTEQ_SMOOTH", "")], "--use mine"), "thermal 1.0 true");
    assert_eq!(value_of(CONFIG, &[look], "--use mine --look natural"), "natural 1.0 true");
    assert_eq!(value_of(CONFIG, &[("HISTEQ_GRAY", "0"), ("HISTEQ_NO_SUCH_OPTION", "1")], ""), "haze 1.0 false");
    // `HISTEQ_HELP` and `HISTEQ_VERSION` have no effect: options that only print a text have no defaults.
    assert_eq!(value_of("", &[("HISTEQ_HELP", "true"), ("HISTEQ_VERSION", "1.0")], ""), "natural 4.0 false");
    // A default that conflicts with an option on the command line is ignored.
    assert_eq!(value_of(CONFIG, &[], "--exact"), "exact 0.0 false");
    assert_eq!(value_of(CONFIG, &[("HISTEQ_CONFIG", "")], ""), "natural 4.0 false");
    dir.write("other.toml", b"[defaults]\nlook = 'night'");
    assert_eq!(value_of(CONFIG, &[("HISTEQ_CONFIG", "other.toml")], ""), "night 4.0 false");
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    let dir = with_clip();
    for (config, line, says) in [
        ("[defaults]\nlok = 'night'", "in.mkv out.mkv", "config.toml: there is no option lok"),
        ("[defaults]\nlook = ", "in.mkv out.mkv", "config.toml:2:8: "),
        ("look = 'night'", "in.mkv out.mkv", "look belongs below [defaults] or [preset.NAME]"),
        ("[defaults]\ngray = 'often'", "in.mkv out.mkv", "gray is true or false"),
        ("[defaults]\nlook = { a = 1 }", "in.mkv out.mkv", "look is a text, a number"),
        ("[defaults]\nfilter = \"null\\u0000x\"", "in.mkv out.mkv", "config.toml:2:10: a text cannot have a NUL"),
        ("[preset.a]\nencoder = [\"x\\u0000\"]", "in.mkv out.mkv", "config.toml:2:12: a text cannot have a NUL"),
        ("[defaults]\nlook = 'foggy'", "in.mkv out.mkv", "options also come from [defaults] of"),
        (CONFIG, "--use yours in.mkv out.mkv", "has no [preset.yours] (it has mine)"),
    ] {
        let run = run(&dir, config, &[], line).exits_with(2);
        let said = run.stderr.clone();
        run.says(&[says]);
        assert!(said.starts_with("histeq-video: error: "), "{said}");
    }
    run(&dir, "", &[("HISTEQ_CRF", "high")], "in.mkv out.mkv").exits_with(2).says(&["HISTEQ_CRF"]);
    run(&dir, "", &[("HISTEQ_CONFIG", "gone.toml")], "in.mkv out.mkv").exits_with(2).says(&["gone.toml"]);
    assert!(!dir.path("out.mkv").exists());
    // Help does not depend on the configuration file.
    run(&dir, "look = 1", &[], "--help").exits_with(0);
    // Defaults of options that another command has are ignored.
    run(&dir, "[defaults]\nrecord = 'x.mkv'\nno-preview = true", &[], "in.mkv out.mkv").exits_with(0);
}

#[test]
fn numbers_that_are_none_are_told_what_is_wanted() {
    let dir = with_clip();
    for option in ["--crf", "--strength", "--levels", "--denoise", "--set scene-threshold", "--set look-ahead"] {
        for value in ["foo", "nan", "inf"] {
            let run = dir.run(&format!("{option}={value} in.mkv out.mkv")).exits_with(2);
            run.says(&[option, value, "number"]);
        }
    }
}

#[test]
fn each_level_prints_what_the_one_below_prints_and_more() {
    let dir = with_clip();
    dir.ffmpeg("-i in.mkv -f lavfi -i sine=duration=0.2 -c:v copy -c:a flac sound.mkv");
    let lines = |options: &str| {
        let run = dir.succeeds(&format!("-y --backend cpu --encoder mpeg4 {options} sound.mkv out.3gp"));
        let has = |text| usize::from(run.stderr.contains(text));
        [has("warning: "), has("5 frames in "), has("sandbox: ")]
    };
    assert_eq!(lines("-q"), [0, 0, 0]);
    assert_eq!(lines(""), [1, 1, 0]);
    assert_eq!(lines("-v"), [1, 1, 1]);
    // ffmpeg's spellings of the levels.
    assert_eq!(lines("-loglevel error"), lines("-q"));
    assert_eq!(lines("-v warning"), lines(""));
    assert_eq!(lines("-v debug"), lines("-v"));
    dir.run("-q -v in.mkv out.mkv").exits_with(2).says(&["--quiet"]);
}

#[test]
fn threads_are_as_many_as_are_given() {
    let dir = with_clip();
    dir.succeeds("--backend cpu --threads 1 in.mkv one.mkv").says(&["1 thread)"]);
    dir.succeeds("--backend cpu --threads 3 in.mkv three.mkv").says(&["3 threads)"]);
    assert!(dir.raw("one.mkv", "yuv420p") == dir.raw("three.mkv", "yuv420p"));
    dir.run("--threads 0 in.mkv out.mkv").exits_with(2).says(&["--threads"]);
}

#[test]
fn colours_go_when_they_are_not_wanted() {
    let dir = Dir::new();
    let help = |variables: &[(&str, &str)]| {
        let mut command = dir.command("--help");
        command.env_remove("NO_COLOR").envs(variables.iter().copied());
        Run::from_command(&mut command, "--help").exits_with(0).stdout
    };
    assert!(help(&[("CLICOLOR_FORCE", "1")]).contains(&0x1b));
    assert!(!help(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]).contains(&0x1b));
}

#[test]
fn what_changes_nothing_is_not_told() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48 -frames:v 1 -pix_fmt rgb48le in.tiff");
    dir.succeeds("in.tiff out.png").never_says("does not take");
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48 -frames:v 1 -pix_fmt gray16le deep.tiff");
    dir.succeeds("--look exact --method clahe deep.tiff tiles.tiff")
        .says(&["4096 steps of brightness in a tile, not 65536"]);
}
