//! A compromised decoder or encoder that speaks the protocol between the processes itself (`liar.c`): it delays
//! nothing, gets nothing more than the run needs, and impossible messages are refused. Each test checks that the lie
//! was sent.

use super::sandbox::built;
use crate::program::harm::servers::{Answers, serve};
use crate::support::programs::program::{Dir, Run};
use crate::support::programs::running::{Running, under_load};
use crate::support::skip::skip;
use rustix::process::Signal;
use std::io::{BufRead, BufReader, Write};
use std::process::{ChildStderr, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Options with which no frame has to wait for later frames.
const LINE: &str = "--backend cpu --encoder ffv1 --smooth 0 --method global -y";

const LIAR: &str = include_str!("liar.c");

/// A folder with a clip as Matroska and as mp4, and with the liar. Without a C compiler, or where decoding processes
/// have no namespaces: `None`, and a note.
fn with_liar() -> Option<Dir> {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 25 -c:v mpeg4 -bf 0 -q:v 3 in.mkv");
    dir.ffmpeg("-i in.mkv -c copy in.mp4");
    if !dir.other_command("unshare", "--user --pid --fork true").output().is_ok_and(|run| run.status.success()) {
        skip("lies of a decoding process", "no process can have name spaces of its own here (unshare --user)");
        return None;
    }
    built(&dir, "liar.so", "-shared -fPIC", LIAR).then_some(dir)
}

fn lying(dir: &Dir, line: &str, lie: &str) -> Command {
    let mut command = dir.command(line);
    command.env("LD_PRELOAD", dir.path("liar.so")).env("LIAR", lie);
    command
}

/// A run to its end, in which the decoder or encoder has sent its lie.
#[track_caller]
fn lied(dir: &Dir, line: &str, lie: &str) -> Run {
    Run::from_command(&mut lying(dir, line, lie), line).says(&["liar: told"])
}

/// A run that has received the lie, and its stderr from then on.
#[track_caller]
fn lies(dir: &Dir, line: &str, lie: &str) -> (Running, BufReader<ChildStderr>) {
    let mut running = Running::start(lying(dir, line, lie).stderr(Stdio::piped()));
    let mut said = BufReader::new(running.child().stderr.take().expect("a pipe"));
    let mut line = String::new();
    while !line.contains("liar: told") {
        line.clear();
        assert!(said.read_line(&mut line).expect("text") > 0, "the lie was not told");
    }
    (running, said)
}

#[test]
fn a_decoder_that_reads_no_orders_or_says_nothing_holds_up_no_signal() {
    let Some(dir) = with_liar() else { return };
    for lie in ["stall", "idle"] {
        let (mut running, _said) = lies(&dir, &format!("{LINE} in.mkv out.mkv"), lie);
        running.signal(Signal::TERM);
        assert_eq!(running.ends_within(under_load(Duration::from_secs(7))), Some(130), "{lie}");
        assert!(dir.frames("out.partial.mkv").len() > 1, "{lie}: what was decoded before is kept");
        std::fs::remove_file(dir.path("out.partial.mkv")).expect("a file");
        // The limit leaves time to send the lie, but is less than the timeout of a silent decoder.
        let (mut running, _said) = lies(&dir, &format!("{LINE} --max-seconds 15 in.mkv out.mkv"), lie);
        assert_eq!(running.ends_within(under_load(Duration::from_secs(19))), Some(8), "{lie}");
        assert!(dir.frames("out.partial.mkv").len() > 1, "{lie}: what was decoded before is kept");
    }
}

/// With the same lies, a signal ends `live`, and the recording so far is kept.
#[test]
fn live_goes_on_or_ends_whatever_a_decoder_says() {
    let Some(dir) = with_liar() else { return };
    let line = "live --backend cpu --no-preview --encoder ffv1 -y --record out.mkv in.mkv";
    for lie in ["stall", "idle", "requests"] {
        let (mut running, _said) = lies(&dir, line, lie);
        running.signal(Signal::TERM);
        assert_eq!(running.ends_within(under_load(Duration::from_secs(7))), Some(0), "{lie}");
        assert!(dir.frames("out.mkv").len() > 1, "{lie}: what was recorded before is kept");
    }
}

/// The decoding processes of the run with this process ID.
fn decoders(parent: u32) -> Vec<u32> {
    let children = |id: u32| -> Vec<u32> {
        let list = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap_or_default();
        list.split_whitespace().filter_map(|id| id.parse().ok()).collect()
    };
    children(parent).into_iter().flat_map(children).flat_map(children).collect()
}

/// A second of sound is one packet, larger than a socket's buffer.
#[test]
fn a_process_that_converts_sound_and_stops_holds_up_no_signal() {
    let dir = Dir::new();
    dir.ffmpeg(
        "-f lavfi -i testsrc2=size=64x48:rate=25 -f lavfi -i sine=r=48000 -t 60 -af asetnsamples=n=96000 -c:v mpeg4 \
         -c:a pcm_s24le in.mkv",
    );
    let bytes = dir.read("in.mkv");
    let line = "-q --backend cpu --encoder mpeg4 -y - out.mp4";
    let mut running = Running::start(dir.command(line).stdin(Stdio::piped()));
    let mut stdin = running.child().stdin.take().expect("a pipe");
    stdin.write_all(&bytes[..bytes.len() / 4]).expect("a reader");
    let (begin, limit) = (Instant::now(), under_load(Duration::from_secs(20)));
    while decoders(running.id()).len() < 2 {
        assert!(begin.elapsed() < limit, "no process converts sound");
        std::thread::sleep(Duration::from_millis(5));
    }
    let id = i32::try_from(decoders(running.id())[1]).ok().and_then(rustix::process::Pid::from_raw);
    rustix::process::kill_process(id.expect("a process"), Signal::STOP).expect("a process that stops");
    let rest = bytes[bytes.len() / 4..].to_vec();
    let count = Arc::new(AtomicUsize::new(0));
    let counts = count.clone();
    let written = std::thread::spawn(move || {
        for part in rest.chunks(1 << 16) {
            // Writing fails when the reading run ends.
            if stdin.write_all(part).is_err() {
                break;
            }
            counts.fetch_add(1, Ordering::Relaxed);
        }
    });
    // The run stops reading before the end of the input, and does not exit.
    let (mut since, mut before) = (Instant::now(), 0);
    while since.elapsed() < Duration::from_secs(2) {
        assert!(begin.elapsed() < limit, "it goes on");
        if std::mem::replace(&mut before, count.load(Ordering::Relaxed)) != count.load(Ordering::Relaxed) {
            since = Instant::now();
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(running.child().try_wait().expect("a process").is_none());
    running.signal(Signal::TERM);
    assert_eq!(running.ends_within(under_load(Duration::from_secs(9))), Some(130));
    assert!(!dir.frames("out.partial.mp4").is_empty(), "what was converted before is kept");
    written.join().expect("no panic");
}

/// In the outer sandbox, the template forks only the processes that the run needs.
#[test]
fn an_encoder_that_is_taken_over_gets_neither_the_network_nor_many_processes() {
    let Some(dir) = with_liar() else { return };
    std::fs::create_dir(dir.path("out")).expect("a folder");
    for when in ["on", "auto"] {
        let line = format!("{LINE} --sandbox {when} in.mkv out/out.mkv");
        let run = lied(&dir, &line, "processes");
        let made = run.stderr.lines().find_map(|line| line.trim().strip_prefix("liar: network ")).map(str::to_owned);
        // The run may have one of three processes; the others serve its audio, and one that was dropped.
        let made = made.expect("it asks");
        assert!(["1, made 2, then 1", "1, made 3, then 1"].contains(&&*made), "--sandbox {when}: {made}");
    }
}

/// The file permissions would let root open these files.
#[test]
fn with_a_url_a_decoder_reads_certificates_and_no_keys() {
    let Some(dir) = with_liar() else { return };
    let (open, closed) =
        ("/etc/ssl/certs", ["/etc/ssl/private", "/etc/pki/tls/private", "/etc/shadow", "/root", "/etc"]);
    if !std::path::Path::new(open).exists() {
        return skip("certificates behind a URL", "there is no /etc/ssl/certs");
    }
    let url = format!("http://127.0.0.1:{}/in.mkv", serve(dir.read("in.mkv"), Answers::Once));
    for when in ["on", "auto"] {
        let line = format!("{LINE} --sandbox {when} {url} out.mkv");
        let files = format!("{open}:{}", closed.join(":"));
        let run = Run::from_command(lying(&dir, &line, "files").env("FILES", files), &line).says(&["liar: told"]);
        let run = run.exits_with(0).says(&[&format!("liar: {open} opened")]);
        closed.iter().for_each(|name| assert!(run.stderr.contains(&format!("liar: {name} refused")), "{}", run.stderr));
        assert_eq!(dir.frames("out.mkv").len(), 25);
    }
}

#[test]
fn what_a_decoder_says_is_short_and_about_its_input() {
    let Some(dir) = with_liar() else { return };
    let line = format!("{LINE} in.mkv out.mkv");
    let run = lied(&dir, &line, "flood").exits_with(0);
    assert!((2000..300_000).contains(&run.stderr.len()), "{} bytes", run.stderr.len());
    assert!(run.stderr.lines().any(|line| line.starts_with("histeq-video: warning: in.mkv: AAAA")), "{}", run.stderr);
    let run = lied(&dir, &line, "line").exits_with(0);
    let run = run.says(&["histeq-video: decoder of in.mkv: histeq-video: error: a line of its own"]);
    assert!(run.stderr.lines().all(|line| !line.starts_with("histeq-video: error")), "{}", run.stderr);
}

/// `kind` is the number of a `FailureKind` in the protocol, `code` the exit code of the run: a decoder may report
/// damage or an exceeded limit, and nothing else.
#[test]
fn a_decoder_does_not_choose_whose_fault_it_is() {
    let Some(dir) = with_liar() else { return };
    for (kind, code) in [(0, 1), (1, 1), (2, 1), (3, 1), (4, 1), (5, 7), (6, 8), (7, 1), (8, 1)] {
        let line = format!("{LINE} in.mkv out.mkv");
        let run = Run::from_command(lying(&dir, &line, "kind").env("KIND", kind.to_string()), &line).exits_with(code);
        run.says(&["histeq-video: error: in.mkv: text"]);
        assert!(!dir.path("out.mkv").exists());
    }
}

#[test]
fn an_end_long_before_that_of_the_container_is_damage() {
    let Some(dir) = with_liar() else { return };
    let (line, strict) = (format!("{LINE} in.mp4 out.mkv"), format!("{LINE} --strict in.mp4 out.mkv"));
    let run = Run::from_command(&mut lying(&dir, &line, "end"), &line).exits_with(0);
    run.says(&["in.mp4 ends early: ", " of 25 frames"]);
    std::fs::remove_file(dir.path("out.mkv")).expect("an output");
    Run::from_command(&mut lying(&dir, &strict, "end"), &strict).exits_with(7).says(&["ends early", "--strict"]);
    assert!(!dir.path("out.mkv").exists());
    dir.succeeds(&strict).never_says("ends early");
}

#[test]
fn lies_take_no_memory_of_the_program() {
    let Some(dir) = with_liar() else { return };
    let line = format!("{LINE} in.mkv out.mkv");
    // The message is refused before all of it has arrived.
    let run = Run::from_command(&mut lying(&dir, &line, "times"), &line).exits_with(0);
    run.says(&["in.mkv: stream #0", "sends what is no message"]);
    let (mut running, _said) = lies(&dir, &line, "requests");
    let status = std::fs::read_to_string(format!("/proc/{}/status", running.id())).expect("a process");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().split(' ').next()?.parse().ok());
    let peak: usize = peak.expect("KiB");
    assert!(peak < 250 << 10, "{peak} KiB");
    running.signal(Signal::TERM);
    assert_eq!(running.ends_within(under_load(Duration::from_secs(7))), Some(130));
}
