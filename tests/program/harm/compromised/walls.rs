//! What a compromised decoder or encoder can reach: `exploit.c` tries it, in the inner sandbox and in the outer one.
//! Without sandboxes, all of it works.

use super::sandbox::{attacked, exploited, tried, worked};
use crate::support::programs::program::{Dir, Run, program};
use crate::support::programs::running::{Running, under_load};
use crate::support::skip::{is_here, skip};
use rustix::process::Signal;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Read;
use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// All actions that the exploit tries, by what they would reach.
const ACTIONS: [(&str, &[&str]); 8] = [
    ("files", &["read", "make", "change", "empty", "folder", "environment", "its-memory", "own-memory", "remove"]),
    (
        "modes and attributes",
        &[
            "mode",
            "mode-at",
            "mode-at-2",
            "owner",
            "times",
            "mode-of-input",
            "owner-of-input",
            "attribute",
            "attribute-at",
            "flags",
        ],
    ),
    ("connections", &["connect", "abstract", "local", "pair"]),
    ("programs and processes", &["start", "copy"]),
    ("signals", &["signal-parent", "signal", "signal-thread", "signal-by-file", "signal-by-pipe"]),
    ("limits of others", &["limit", "limit-from-high", "cores", "priority", "scheduler"]),
    ("memory of others", &["trace", "write-memory", "shared-memory"]),
    (
        "parts of the kernel",
        &["queue", "unshare", "ring", "keys", "bpf", "perf", "faults", "watch", "memory-file", "x32"],
    ),
];

/// Actions that some kernels lack, or deny to unprivileged users.
const MAY_LACK: [&str; 19] = [
    "its-memory",
    "mode-at-2",
    "attribute",
    "attribute-at",
    "flags",
    "signal-by-file",
    "trace",
    "write-memory",
    "shared-memory",
    "queue",
    "ring",
    "keys",
    "bpf",
    "perf",
    "faults",
    "watch",
    "memory-file",
    "x32",
    "environment",
];

/// Processes of the same user, which the exploit attacks.
struct Victims(BTreeMap<&'static str, Running>);

impl Victims {
    fn new(dir: &Dir) -> Self {
        let start = |who| (who, Running::start(&mut dir.other_command("sleep", "600")));
        Victims(super::sandbox::WHO.map(start).into())
    }

    /// The limits, cores and priority of each victim; its priority is "gone" once the process has ended.
    fn state(&mut self) -> Vec<[String; 3]> {
        let state = |victim: &mut Running| {
            let child = victim.child();
            let is_there = child.try_wait().expect("a process that can be waited for").is_none();
            let read = |name: &str| std::fs::read_to_string(format!("/proc/{}/{name}", child.id())).unwrap_or_default();
            let cores =
                read("status").lines().find(|line| line.starts_with("Cpus_allowed:")).unwrap_or_default().to_owned();
            // The fields follow the name, which may contain spaces.
            let stat = read("stat");
            let numbers: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
            let priority = if is_there { numbers[15..17].join(" ") + " " + numbers[38] } else { "gone".to_owned() };
            [read("limits"), cores, priority]
        };
        self.0.values_mut().map(state).collect()
    }
}

/// All files of `dir` outside of the output folder: name, bytes, time of the last status change, mode.
fn untouched(dir: &Dir) -> Vec<(PathBuf, Vec<u8>, i64, i64, u32)> {
    let files = dir.files().into_iter().filter(|(name, _)| !name.starts_with("out"));
    let with_times = files.map(|(name, bytes)| {
        let metadata = std::fs::metadata(dir.path(&name)).expect("a file");
        (name, bytes, metadata.ctime(), metadata.ctime_nsec(), metadata.mode())
    });
    with_times.collect()
}

#[test]
fn whoever_is_taken_over_reaches_nothing() {
    let Some(dir) = attacked() else { return };
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.set_nonblocking(true).expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let name = format!("histeq-video-test-{}-{port}", std::process::id());
    let socket = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).expect("a name")).expect("a socket");
    let run = |when: &str, victims: &Victims| {
        let line = format!("--backend cpu --sandbox {when} in.mkv out/{when}.mp4");
        let mut command = exploited(&dir, dir.command(&line));
        command.env("EXPLOIT_PORT", port.to_string()).env("EXPLOIT_SOCKET", &name);
        for (who, victim) in &victims.0 {
            command.env(format!("EXPLOIT_VICTIM_{who}"), victim.id().to_string());
        }
        Run::from_command(&mut command, &line).exits_with(0)
    };
    let before = untouched(&dir);
    let have_spaces = dir.other_command("unshare", "--user true").output().is_ok_and(|run| run.status.success());
    if !have_spaces {
        skip("kernel", "no process can have name spaces of its own here (unshare --user)");
    }
    for when in ["on", "auto"] {
        let mut victims = Victims::new(&dir);
        let state = victims.state();
        let mut all = tried(&run(when, &victims));
        for (who, tries) in &mut all {
            for (kind, actions) in ACTIONS {
                for action in actions {
                    let index = tries.iter().position(|(tried, _)| tried == action);
                    let (_, worked) = tries.remove(index.unwrap_or_else(|| panic!("{who} has not tried {action}")));
                    assert!(!worked, "--sandbox {when}: {who} reaches {kind}: {action}");
                }
            }
            let (look, worked) = tries.remove(0);
            assert!(look == "look" && tries.is_empty(), "{who} also tries {look} and {tries:?}");
            // A decoding process in its own namespaces has an empty root. The encoding process opens files.
            assert!(!worked || *who == "encode" || !have_spaces, "--sandbox {when}: {who} looks at files");
        }
        assert!(listener.accept().is_err(), "a connection");
        assert_eq!(untouched(&dir), before, "--sandbox {when}");
        assert_eq!(victims.state(), state, "--sandbox {when}");
    }
    // Without sandboxes, each action works: this shows that the checks above can fail.
    let mut victims = Victims::new(&dir);
    for (who, done) in worked(&run("off", &victims)) {
        for action in ACTIONS.iter().flat_map(|(_, actions)| *actions) {
            if !done.iter().any(|done| done == action) {
                assert!(MAY_LACK.contains(action), "{who} could not {action} without walls");
                skip("kernel", &format!("{action} by {who} does not work without walls either"));
            }
        }
    }
    assert!(listener.accept().is_ok() && socket.accept().is_ok());
    // The kernel delivers the signal of a descriptor with some delay.
    let begin = Instant::now();
    while !victims.state().iter().all(|[.., priority]| priority == "gone") {
        assert!(begin.elapsed() < under_load(Duration::from_secs(10)), "{:?}", victims.state());
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(dir.read("out/on.mp4") == dir.read("out/off.mp4") && dir.read("out/auto.mp4") == dir.read("out/off.mp4"));
    assert_eq!(dir.frames("out/on.mp4").len(), 10);
}

/// Loads the exploit in `command`; process `who` tries action `what` and nothing else.
fn alone(dir: &Dir, command: Command, who: &str, what: &str) -> Command {
    let mut command = exploited(dir, command);
    command.env("EXPLOIT_ONLY", who).env("EXPLOIT_DOES", what);
    command
}

/// A shell would run the typed text as its next command.
#[test]
fn nothing_is_typed_into_the_terminal() {
    let Some(dir) = attacked() else { return };
    if !is_here("setsid") {
        return;
    }
    let typed = |who: &str, when: &str| {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&master).expect("a grant");
        unlockpt(&master).expect("no lock");
        let name = ptsname(&master, Vec::new()).expect("a name").into_string().expect("UTF-8");
        let slave = OpenOptions::new().read(true).write(true).open(name).expect("the other end");
        let mut command = dir.other_command("setsid", "--ctty --wait");
        let line = format!("-y --backend cpu --sandbox {when} in.mkv out/out.mkv");
        command.arg(program()).args(line.split(' '));
        let mut command = alone(&dir, command, who, "type");
        let (stdin, stderr) = (slave.try_clone().expect("a descriptor"), slave);
        let mut child = command.stdin(stdin).stdout(Stdio::null()).stderr(stderr).spawn().expect("the program runs");
        // `command` holds a descriptor that would keep the terminal open.
        drop(command);
        let (mut terminal, mut text, mut bytes) = (File::from(master), String::new(), [0; 4096]);
        while let Ok(length @ 1..) = terminal.read(&mut bytes) {
            text.push_str(&String::from_utf8_lossy(&bytes[..length]));
        }
        assert!(child.wait().expect("it ends").success(), "{text}");
        let said = text.lines().find_map(|line| Some(line.trim().split_once(&format!("exploit {who} type "))?.1));
        let is_said = said.unwrap_or_else(|| panic!("{who} has not typed: {text}")) == "1";
        // A terminal echoes what is typed into it.
        assert_eq!(text.contains("typed"), is_said, "{text}");
        is_said
    };
    if !typed("encode", "off") {
        return skip("kernel", "typing into the terminal does not work without walls either");
    }
    for who in super::sandbox::WHO {
        for when in ["on", "auto"] {
            assert!(!typed(who, when), "--sandbox {when}: {who} has typed");
        }
    }
}

/// A shell that runs the program with these options and redirections.
fn shell(dir: &Dir, line: &str) -> Command {
    let mut command = dir.other_command("sh", "-c");
    command.arg(format!("exec '{}' {line}", program().display()));
    command
}

#[test]
fn what_is_inherited_is_closed_unless_it_is_named() {
    let Some(dir) = attacked() else { return };
    for who in super::sandbox::WHO {
        for (options, is_named) in
            [("", false), ("--sandbox on", false), ("--sandbox off", false), ("--progress-file 9", true)]
        {
            dir.write("home/inherited", b"");
            let line = format!("-q -y --backend cpu {options} in.mkv out/out.mkv 9>>home/inherited");
            Run::from_command(&mut alone(&dir, shell(&dir, &line), who, "inherit"), &line).exits_with(0);
            let harm = String::from_utf8(dir.read("home/inherited")).expect("text").contains("harm");
            // A decoding process never inherits the descriptor.
            let is_there = is_named && who == "encode";
            assert_eq!(harm, is_there, "{options}: {who}");
        }
        // Child processes do not inherit the descriptor either: they send their events to their parent.
        let line = "-q -y --backend cpu --output-dir out/all --progress-file 9 in.mkv copy.mkv 9>home/inherited";
        std::fs::copy(dir.path("in.mkv"), dir.path("copy.mkv")).expect("a copy");
        Run::from_command(&mut alone(&dir, shell(&dir, line), who, "inherit"), line).exits_with(0);
        let events = String::from_utf8(dir.read("home/inherited")).expect("text");
        assert!(events.contains("\"event\":\"result\"") && !events.contains("harm"), "{events}");
    }
}

#[test]
fn named_descriptors_are_read_and_written() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 10 -c:v mpeg4 -q:v 3 in.mkv");
    dir.succeeds("--backend cpu --encoder ffv1 in.mkv expected.mkv");
    for when in ["on", "auto", "off"] {
        for line in [
            "/dev/fd/7 out.mkv 7<in.mkv",
            "/proc/self/fd/6 out.mkv 6<in.mkv 5<source.c",
            "pipe:7 out.mkv 7<in.mkv",
            "--output-format matroska in.mkv /dev/fd/8 8>out.mkv",
        ] {
            dir.write("source.c", b"");
            let line = format!("-q -y --backend cpu --sandbox {when} --encoder ffv1 {line}");
            Run::from_command(&mut shell(&dir, &line), &line).exits_with(0);
            assert!(dir.frames("out.mkv") == dir.frames("expected.mkv"), "{line}");
            std::fs::remove_file(dir.path("out.mkv")).expect("the output");
        }
    }
}

/// i386 numbers its system calls otherwise, so its calls must not pass the filter for x86-64.
#[test]
fn a_call_of_another_architecture_ends_the_program() {
    let Some(dir) = attacked() else { return };
    if cfg!(not(target_arch = "x86_64")) {
        return skip("kernel", "calls of i386: this is no x86-64");
    }
    let run = |who: &str, when: &str| {
        let line = format!("-q -y --backend cpu --sandbox {when} in.mkv out/out.mkv");
        let mut command = alone(&dir, dir.command(&line), who, "call-i386");
        command.output().expect("a run")
    };
    if !String::from_utf8_lossy(&run("encode", "off").stderr).contains("call-i386 1") {
        return skip("kernel", "it has no calls of i386");
    }
    for who in super::sandbox::WHO {
        let ended = run(who, "on");
        if who != "encode" {
            // The decoding process is killed, and the program reports it.
            let said = String::from_utf8_lossy(&ended.stderr).into_owned();
            assert!(ended.status.code().is_some() && said.contains("forbidden call"), "{who}: {said}");
            continue;
        }
        assert_eq!(
            ended.status.signal(),
            Some(Signal::SYS.as_raw()),
            "{who}: {}",
            String::from_utf8_lossy(&ended.stderr)
        );
    }
}

#[test]
fn too_few_descriptors_for_walls_are_an_error_that_says_so() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 3 -c:v mpeg4 in.mkv");
    for when in ["on", "auto"] {
        let mut command = dir.other_command("sh", "-c");
        let line = format!("ulimit -n 5; exec '{}' --backend cpu --sandbox {when} in.mkv out.mkv", program().display());
        let run = Run::from_command(command.arg(&line), &line).fails();
        assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
        run.says(&["--sandbox", "Too many open files", "ulimit -n"]).never_says("Permission denied");
        assert_eq!(dir.names(), ["in.mkv"]);
    }
}
