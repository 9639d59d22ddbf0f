//! File names that are not UTF-8, such as umlauts in Latin-1 from an old card, work like any other name.

use crate::support::programs::program::{Dir, Run};
use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// The bytes of the text in Latin-1.
fn latin(text: &str) -> OsString {
    OsString::from_vec(text.chars().map(|c| u8::try_from(u32::from(c)).expect("a letter of Latin-1")).collect())
}

/// Runs the program with arguments in Latin-1.
fn run(dir: &Dir, line: &str) -> Run {
    let mut command = dir.command("");
    Run::from_command(command.args(line.split(' ').map(latin)), line)
}

/// The bytes of all files by their names.
fn files(dir: &Dir) -> BTreeMap<Vec<u8>, Vec<u8>> {
    dir.files().into_iter().map(|(path, bytes)| (path.as_os_str().as_bytes().to_vec(), bytes)).collect()
}

/// Copies all files of a folder into another one, and replaces Q in their names by an umlaut.
fn copied(plain: &Dir) -> Dir {
    let dir = Dir::new();
    for (path, bytes) in plain.files() {
        let path = dir.path(latin(&path.to_str().expect("text").replace('Q', "ü")));
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, bytes).expect("a file");
    }
    dir
}

/// Runs the lines in `plain` with the letter Q, and in a copy of the folder with a Latin-1 umlaut: both have to end
/// with the same files. Returns the copy and its runs.
fn same(plain: &Dir, lines: &[&str]) -> (Dir, Vec<Run>) {
    let dir = copied(plain);
    let mut runs = Vec::new();
    for line in lines {
        let expected = run(plain, &line.replace('ü', "Q"));
        let mut found = run(&dir, line).exits_with(expected.code.expect("an exit code"));
        assert!(!found.stderr.contains('\u{fffd}'), "`{line}` said: {}", found.stderr);
        if line.starts_with("plan ") {
            plain.write("Q.json", &expected.stdout);
            std::fs::write(dir.path(latin("ü.json")), &found.stdout).expect("a file");
        }
        found.stderr = found.stderr.replace("\\xfc", "Q");
        runs.push(found);
    }
    let expected = files(plain).into_iter().map(|(name, bytes)| {
        (name.into_iter().map(|byte| if byte == b'Q' { 0xfc } else { byte }).collect::<Vec<u8>>(), bytes)
    });
    let (expected, found): (BTreeMap<_, _>, _) = (expected.collect(), files(&dir));
    let names = |files: &BTreeMap<Vec<u8>, _>| {
        files.keys().map(|name| String::from_utf8_lossy(name).into_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names(&found), names(&expected));
    for (name, bytes) in &expected {
        // Files of these kinds contain names or times.
        let differs = [&b".json"[..], b".html", b".csv", b".mkv", b".mp4"].iter().any(|end| name.ends_with(end));
        assert!(differs || found[name] == *bytes, "{}", String::from_utf8_lossy(name));
        assert!(!bytes.is_empty(), "{}", String::from_utf8_lossy(name));
    }
    (dir, runs)
}

fn with_film() -> Dir {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=10:duration=1,format=yuv420p -c:v ffv1 -g 5 Q.nut");
    dir
}

#[test]
fn inputs_outputs_and_what_lies_beside_them() {
    let plain = with_film();
    plain.ffmpeg("-f lavfi -i color=white:size=64x48 -frames:v 1 mQ.png");
    plain.write("tQ,'[.cube", b"LUT_1D_SIZE 2\n0 0 0\n0.5 0.5 0.5\n");
    let (dir, runs) = same(
        &plain,
        &[
            "--backend cpu ü.nut",
            "--backend cpu --method global --mask mü.png --stats sü.csv --save-curves cü.jsonl ü.nut oü.nut",
            "--backend cpu --load-curves cü.jsonl --stats sü.html ü.nut lü.nut",
            "--backend cpu --lut tü,'[.cube ü.nut dunkelü.nut",
            "--backend cpu --method global --save-curves gü.cube ü.nut gü.nut",
            "--backend cpu --target-size 60k ü.nut zü.mp4",
            "compare --plain ü.nut oü.nut vü.nut",
            "preview ü.nut",
            "live --no-preview --backend cpu --record aü-%Y.mkv --segment 1h ü.nut",
            // These runs fail, and print the name in a readable form.
            "--backend cpu -n ü.nut oü.nut",
            "--backend cpu fehltü.nut o.nut",
            "--backend cpu ü.nut ü.nut",
        ],
    );
    assert_eq!(runs.iter().map(|run| run.code).collect::<Vec<_>>()[9..], [Some(3), Some(4), Some(10)]);
    let said = ["-> Q-equalized.nut", "oQ.nut exists", "fehltQ.nut: No such file", "Q.nut is the input itself"];
    for (run, text) in [0, 9, 10, 11].into_iter().zip(said) {
        assert!(runs[run].stderr.contains(text), "{}", runs[run].stderr);
    }
    let page = std::fs::read(dir.path(latin("sü.html"))).expect("a page");
    assert!(String::from_utf8(page).expect("text").contains("<title>\\xfc.nut"));
}

#[test]
fn folders_numbered_images_and_the_names_of_many() {
    let plain = with_film();
    for folder in ["kartQ/tQg", "bildQr"] {
        std::fs::create_dir_all(plain.path(folder)).expect("a folder");
    }
    plain.ffmpeg("-i Q.nut -frames:v 4 bQ%03d.png");
    for number in 1..=4 {
        let (source, target) = (format!("bQ{number:03}.png"), format!("bildQr/50%_{number:03}Q.png"));
        std::fs::copy(plain.path(&source), plain.path(target)).expect("a file");
    }
    for name in ["kartQ/Q.nut", "kartQ/tQg/gut.nut"] {
        std::fs::copy(plain.path("Q.nut"), plain.path(name)).expect("a file");
    }
    std::fs::write(plain.path("kartQ/kaputtQ.nut"), "no video").expect("a file");
    let (_, runs) = same(
        &plain,
        &[
            "--backend cpu bü%03d.png nü%03d.png",
            "--backend cpu --encoder ffv1 bü001.png bü.nut",
            "--backend cpu --encoder ffv1 bildür cü.nut",
            // A damaged file does not stop the others, and the second run skips existing outputs.
            "--backend cpu --output-dir neü kartü bildür",
            "--backend cpu --output-dir neü kartü bildür",
            "preview --output-dir bogü kartü",
        ],
    );
    assert_eq!(runs.iter().map(|run| run.code).collect::<Vec<_>>()[3..], [Some(7), Some(7), Some(1)]);
    assert!(runs[3].stderr.contains("kartQ/Q.nut: 10 frames in "), "{}", runs[3].stderr);
    assert!(runs[3].stderr.contains("kartQ/kaputtQ.nut: failed: not a video"), "{}", runs[3].stderr);
    assert!(runs[4].stderr.contains("3 files were there"), "{}", runs[4].stderr);
}

#[test]
fn pieces_and_their_plans() {
    let plain = Dir::new();
    plain.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=10:duration=40,format=yuv420p -c:v ffv1 -g 5 Q.nut");
    plain.ffmpeg("-f lavfi -i color=white:size=64x48 -frames:v 1 mQ.png");
    let (dir, runs) = same(
        &plain,
        &[
            "--backend cpu --jobs 2 --encoder ffv1 --method clahe ü.nut jü.nut",
            "plan ü.nut pü.nut --backend cpu --encoder ffv1 --method global --piece 20 --mask mü.png --stats sü.csv",
            "run ü.json",
            "status ü.json --json",
            "join ü.json",
        ],
    );
    assert!(runs[0].stderr.contains(" by 2 jobs in "), "{}", runs[0].stderr);
    let status: Value = serde_json::from_slice(&runs[3].stdout).expect("JSON");
    assert_eq!((&status["pieces"], &status["done"]), (&2.into(), &2.into()));
    assert!(status["files"][0]["output"].as_str().expect("a name").ends_with("/p\\xfc.nut"));
    let bytes = status["files"][0]["output_bytes"].as_str().expect("bytes");
    assert_eq!(decoded(bytes), dir.path(latin("pü.nut")).as_os_str().as_bytes());
}

#[test]
fn events_have_the_bytes_beside_the_name() {
    let dir = copied(&with_film());
    run(&dir, "--backend cpu --progress-file eü.jsonl --encoder ffv1 ü.nut oü.nut").exits_with(0);
    let text = std::fs::read_to_string(dir.path(latin("eü.jsonl"))).expect("events");
    let events: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("an event")).collect();
    let (start, result) = (&events[0], &events[events.len() - 1]);
    assert_eq!(
        (&start["input"], decoded(start["input_bytes"].as_str().expect("bytes"))),
        (&"\\xfc.nut".into(), latin("ü.nut").into_vec())
    );
    assert_eq!(start["outputs"][0], "o\\xfc.nut");
    let outputs = [&start["outputs_bytes"][0], &result["outputs"][0]["name_bytes"]];
    for bytes in outputs {
        assert_eq!(decoded(bytes.as_str().expect("bytes")), latin("oü.nut").into_vec());
    }
    let many = run(&dir, "--backend cpu --progress json --output-dir neu ü.nut").exits_with(0).stderr;
    let file = many.lines().map(|line| serde_json::from_str::<Value>(line).expect("an event"));
    let file = file.into_iter().find(|event| event["event"] == "file").expect("an event of a file");
    assert_eq!(
        (&file["output"], decoded(file["output_bytes"].as_str().expect("bytes"))),
        (&"neu/\\xfc.nut".into(), latin("neu/ü.nut").into_vec())
    );
    let dry = run(&dir, "--backend cpu --dry-run --json ü.nut nü.nut").exits_with(0).stdout;
    let dry: Value = serde_json::from_slice(&dry).expect("JSON");
    assert_eq!((&dry["input"]["name"], &dry["output"]["name"]), (&"\\xfc.nut".into(), &"n\\xfc.nut".into()));
    assert_eq!(decoded(dry["output"]["name_bytes"].as_str().expect("bytes")), latin("nü.nut").into_vec());
    // The JSON has a field of raw bytes only for names that are not UTF-8.
    let plain = dir.run("--progress json --backend cpu --dry-run --json neu/no.nut out.nut").stdout;
    assert!(!String::from_utf8_lossy(&plain).contains("_bytes"));
}

fn decoded(base64: &str) -> Vec<u8> {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD.decode(base64).expect("base64")
}
