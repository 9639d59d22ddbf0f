//! Named inputs that are no regular files: a FIFO without a writer, or an endless device, neither blocks the program
//! nor costs memory. And plans cost memory in proportion to their length.

use crate::support::programs::program::{Dir, Run};
use crate::support::programs::running::{Running, under_load};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::io::Read;
use std::os::unix::fs::symlink;
use std::process::Stdio;
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_secs(60);

/// Runs the program, which has to end by itself and soon. Returns the run.
#[track_caller]
fn ended(dir: &Dir, line: &str) -> Run {
    let mut command = dir.command(line);
    let mut running = Running::start(command.stdout(Stdio::null()).stderr(Stdio::piped()));
    let code = running.ends_within(LIMIT);
    let mut stderr = String::new();
    running.child().stderr.take().expect("a pipe").read_to_string(&mut stderr).expect("text");
    Run { command: line.to_owned(), code, stdout: Vec::new(), stderr }
}

/// Requires that a run fails soon, with one line.
#[track_caller]
fn fails(dir: &Dir, line: &str, says: &[&str]) {
    let run = ended(dir, line).fails().says(says);
    assert_eq!(run.stderr.lines().count(), 1, "{line}: {}", run.stderr);
}

fn fifo(dir: &Dir, name: &str) {
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, dir.path(name), rustix::fs::FileType::Fifo, mode, 0).expect("a FIFO");
}

/// A folder with a clip of 100 frames, a FIFO, and a plan of pieces of a second.
pub(crate) fn planned() -> (Dir, Value) {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 100 -c:v ffv1 -g 25 in.mkv");
    fifo(&dir, "fifo");
    let plan = dir.succeeds("plan in.mkv out.mkv --encoder ffv1 --backend cpu --piece 1").stdout;
    dir.write("plan.json", &plan);
    (dir, serde_json::from_slice(&plan).expect("JSON"))
}

pub(crate) fn write(dir: &Dir, plan: &Value) {
    dir.write("other.json", &serde_json::to_vec(plan).expect("JSON"));
}

#[test]
fn fifos_and_devices_in_the_place_of_a_plan_end_in_a_line() {
    let (dir, _) = planned();
    symlink("/dev/zero", dir.path("zero")).expect("a link");
    for command in ["status", "run", "join"] {
        fails(&dir, &format!("{command} fifo"), &["fifo: a pipe, which is not read here"]);
        fails(&dir, &format!("{command} zero"), &["zero: a device, which is not read here"]);
    }
    std::fs::create_dir(dir.path("folder")).expect("a folder");
    fails(&dir, "status folder", &["folder: a folder without a plan"]);
    std::fs::File::create(dir.path("long")).and_then(|file| file.set_len((1 << 30) + 1)).expect("a sparse file");
    fails(&dir, "status long", &["long: longer than 1024 MiB"]);
}

#[test]
fn a_plan_that_reads_fifos_and_devices_ends_in_a_line() {
    let (dir, plan) = planned();
    let named = |name: &str| dir.path(name).display().to_string();
    for (name, what) in [(named("fifo"), "a pipe"), ("/dev/zero".to_owned(), "a device")] {
        let mut reads = plan.clone();
        reads["files"][0]["read"] = json!([[name, "0000000000000000"]]);
        let mut input = plan.clone();
        (input["files"][0]["input"], input["files"][0]["bytes"]) = (json!(name), json!(1000));
        for plan in [reads, input] {
            write(&dir, &plan);
            for command in ["run other.json --piece 0", "join other.json"] {
                fails(&dir, command, &[&format!("{name}: {what}, which is not read here")]);
            }
        }
    }
    fails(&dir, "plan in.mkv out.mkv --load-curves fifo", &["fifo: a pipe, which is not read here"]);
    fifo(&dir, "table.cube");
    fails(&dir, "in.mkv other.mkv --lut table.cube", &["--lut table.cube: a pipe, which is not read here"]);
}

#[test]
fn fifos_in_the_folder_of_the_pieces_hold_nothing_up() {
    let (dir, _) = planned();
    let folder = ".out.mkv.pieces";
    std::fs::create_dir(dir.path(folder)).expect("a folder");
    fifo(&dir, ".out.mkv.pieces/plan.json");
    fails(&dir, "in.mkv out.mkv --jobs 2 --encoder ffv1 --backend cpu", &["plan.json: a pipe"]);
    std::fs::remove_file(dir.path(".out.mkv.pieces/plan.json")).expect("a FIFO");
    fifo(&dir, ".out.mkv.pieces/000000.piece");
    fifo(&dir, ".out.mkv.pieces/000002.piece");
    let status: Value = serde_json::from_slice(&dir.succeeds("status --json plan.json").stdout).expect("JSON");
    assert_eq!((&status["wrong"], &status["missing"]), (&json!([0, 2]), &json!([1])), "{status}");
    fails(&dir, "join plan.json", &["3 of 3 pieces are missing"]);
    // A new piece replaces an entry that is no valid piece.
    ended(&dir, "run plan.json --jobs 2").exits_with(0);
    fifo(&dir, ".out.mkv.pieces/000000.stats.jsonl");
    fails(&dir, "join plan.json", &["000000.stats.jsonl: a pipe"]);
    std::fs::remove_file(dir.path(".out.mkv.pieces/000000.stats.jsonl")).expect("a FIFO");
    ended(&dir, "join plan.json").exits_with(0);
    assert_eq!(dir.frames("out.mkv").len(), 100);
}

#[test]
fn settings_curves_and_masks_are_not_read_from_devices() {
    let (dir, _) = planned();
    for name in ["fifo", "/dev/zero"] {
        let mut command = dir.command("in.mkv out.mkv");
        let mut running = Running::start(command.env("HISTEQ_CONFIG", name).stderr(Stdio::null()));
        assert_eq!(running.ends_within(LIMIT), Some(2), "{name}");
    }
    // `/dev/null` is accepted as an empty configuration.
    let mut command = dir.command("in.mkv none.mkv --frames 1 --encoder ffv1 --backend cpu");
    let mut running = Running::start(command.env("HISTEQ_CONFIG", "/dev/null").stderr(Stdio::null()));
    assert_eq!(running.ends_within(LIMIT), Some(0));
    for option in ["--load-curves", "--mask"] {
        fails(&dir, &format!("in.mkv out.mkv {option} /dev/zero"), &["/dev/zero", "a device, which is not read here"]);
    }
}

#[test]
fn curves_that_come_from_another_program_are_read() {
    let (dir, _) = planned();
    dir.succeeds("in.mkv a.mkv --encoder ffv1 --backend cpu --save-curves curves.jsonl");
    let curves = dir.read("curves.jsonl");
    let path = dir.path("fifo");
    let writer = std::thread::spawn(move || std::fs::write(path, curves));
    ended(&dir, "in.mkv b.mkv --encoder ffv1 --backend cpu --load-curves fifo").exits_with(0);
    writer.join().expect("no panic").expect("a reader");
    assert!(dir.raw("a.mkv", "yuv420p") == dir.raw("b.mkv", "yuv420p"));
}

/// Options that wait for the other end of a FIFO.
const WAITING: [&str; 5] =
    ["--load-curves fifo", "--save-curves fifo", "--stats fifo.csv", "--stats fifo.html", "--progress-file fifo"];

#[test]
fn a_run_that_waits_for_the_other_end_of_a_fifo_ends_in_time() {
    let (dir, _) = planned();
    fifo(&dir, "fifo.csv");
    fifo(&dir, "fifo.html");
    for option in WAITING {
        // On a busy machine, a run may have begun, and says how many frames it equalized; `-q` suppresses that line.
        let line = format!("-q in.mkv out.mkv --encoder ffv1 --backend cpu --max-seconds 0.5 {option}");
        let begin = Instant::now();
        fails(&dir, &line, &["took longer than --max-seconds allows"]);
        assert!(begin.elapsed() < under_load(Duration::from_secs(5)), "{option}: {:?}", begin.elapsed());
    }
    assert!(!dir.path("out.mkv").exists());
}

#[test]
fn a_run_that_waits_for_the_other_end_of_a_fifo_ends_with_a_signal() {
    let (dir, _) = planned();
    fifo(&dir, "fifo.csv");
    fifo(&dir, "fifo.html");
    for (option, signal) in WAITING.iter().flat_map(|option| [(option, Signal::INT), (option, Signal::TERM)]) {
        let mut command = dir.command(&format!("in.mkv out.mkv --encoder ffv1 --backend cpu {option}"));
        let mut running = Running::start(command.stderr(Stdio::null()));
        std::thread::sleep(Duration::from_millis(700));
        running.signal(signal);
        let code = running.ends_within(under_load(Duration::from_secs(5)));
        assert!(matches!(code, None | Some(130)), "{option}: {code:?}");
    }
}

#[test]
fn statistics_go_to_a_slow_reader() {
    let (dir, _) = planned();
    fifo(&dir, "fifo.csv");
    let mut command = dir.command("in.mkv out.mkv --encoder ffv1 --backend cpu --stats fifo.csv --exact");
    let mut running = Running::start(command.stderr(Stdio::null()));
    let mut reader = std::fs::File::open(dir.path("fifo.csv")).expect("a FIFO");
    rustix::pipe::fcntl_setpipe_size(&reader, 4096).ok();
    std::thread::sleep(Duration::from_millis(1500));
    let mut read = String::new();
    reader.read_to_string(&mut read).expect("text");
    assert_eq!(read.lines().count(), 101);
    assert_eq!(running.ends_within(LIMIT), Some(0));
}

#[test]
fn jobs_end_in_time_and_with_a_signal_even_if_their_processes_do_not() {
    let (dir, _) = planned();
    // The video is long enough for two pieces.
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 500 -c:v ffv1 -g 25 long.mkv");
    let line = "long.mkv out.mkv --jobs 2 --encoder ffv1 --backend cpu --verify";
    let stopped = " --piece ";
    // The time limit lets the pieces begin.
    let in_time = format!("--max-seconds {:.1}", under_load(Duration::from_secs(2)).as_secs_f64());
    let limit = under_load(LIMIT);
    for (options, code) in [("", 130), (in_time.as_str(), 8)] {
        let mut command = dir.command(&format!("{line} {options}"));
        let mut running = Running::start(command.stderr(Stdio::null()));
        let begin = Instant::now();
        // Stopped processes do not end by themselves.
        while running
            .children()
            .iter()
            .filter(|child| child.line().contains(stopped))
            .map(|child| child.signal(Signal::STOP))
            .count()
            == 0
        {
            assert!(begin.elapsed() < limit, "{stopped} never begins");
            std::thread::sleep(Duration::from_millis(1));
        }
        if options.is_empty() {
            running.signal(Signal::TERM);
        }
        assert_eq!(running.ends_within(limit), Some(code), "{stopped} {options}");
        assert!(!dir.path("out.mkv").exists());
    }
}

/// Runs the program with this limit of its address space. Returns the run.
fn within(dir: &Dir, kilobytes: u64, line: &str) -> Run {
    let program = dir.command("").get_program().to_string_lossy().into_owned();
    let line = format!("-c 'ulimit -v {kilobytes}; exec {program} {line}'");
    Run::from_command(&mut dir.other_command("bash", &line), &line)
}

#[test]
fn a_plan_costs_memory_in_proportion_to_its_length() {
    let (dir, mut plan) = planned();
    let file = &mut plan["files"][0];
    file["times"] = json!({"first": 0, "steps": [[1, 215_999_999]]});
    file["chunks"][0]["packets"] = json!(u32::MAX);
    write(&dir, &plan);
    for command in ["status other.json", "run other.json --piece 0", "join other.json"] {
        within(&dir, 1_500_000, command).fails().says(&["the times of", "do not fit together"]);
    }
    // The length in the plan is compared with the input only when the input is read.
    plan["files"][0]["bytes"] = json!(1_u64 << 40);
    write(&dir, &plan);
    within(&dir, 1_500_000, "status other.json").exits_with(0);
    within(&dir, 1_500_000, "run other.json --piece 0").exits_with(65).says(&["another length"]);
    within(&dir, 1_500_000, "join other.json").exits_with(65).says(&["another length"]);
}

#[test]
fn a_plan_of_no_files_is_an_error() {
    let (dir, mut plan) = planned();
    plan["files"] = json!([]);
    write(&dir, &plan);
    for command in ["status", "run", "join"] {
        fails(&dir, &format!("{command} other.json"), &["other.json: a plan of no files"]);
    }
}

/// Copies of a piece, each with one of the descriptions that `remaining` makes from its own.
pub(crate) fn with_description(
    whole: &[u8],
    remaining: impl Fn(&Value) -> Vec<(String, Value)>,
) -> Vec<(String, Vec<u8>)> {
    let (rest, end) = whole.split_at(whole.len() - 24);
    let length = u64::from_le_bytes(end[8..16].try_into().expect("eight bytes")) as usize;
    let (packets, text) = rest.split_at(rest.len() - length);
    let piece = |(what, description)| {
        let text = serde_json::to_vec::<Value>(&description).expect("JSON");
        let hash = xxhash_rust::xxh3::xxh3_64(&text).to_le_bytes();
        (what, [packets, &text, &hash, &(text.len() as u64).to_le_bytes(), b"HEQPIECE"].concat())
    };
    remaining(&serde_json::from_slice(text).expect("JSON")).into_iter().map(piece).collect()
}

#[test]
fn a_piece_whose_frames_have_other_times_is_not_joined() {
    let (dir, _) = planned();
    dir.succeeds("run plan.json");
    let piece = ".out.mkv.pieces/000002.piece";
    let whole = dir.read(piece);
    // In one copy, all frames of the piece are later by 3 ticks; in the other, only the last frame is.
    let late = |description: &Value, count: usize| {
        let mut late = description.clone();
        let packets = late["packets"].as_array_mut().expect("packets").iter_mut().rev().take(count);
        packets.for_each(|packet| packet[1] = json!(packet[1].as_i64().expect("a time") + 3));
        (count.to_string(), late)
    };
    for (_, other) in with_description(&whole, |description| vec![late(description, 25), late(description, 1)]) {
        dir.write(piece, &other);
        fails(&dir, "join plan.json", &["000002.piece: other times than planned", "run piece 2 again"]);
    }
    dir.write(piece, &whole);
    dir.succeeds("join plan.json");
}
