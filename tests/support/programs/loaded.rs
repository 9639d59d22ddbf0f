//! Programs that are loaded once and forked for each run: `loaded.c` explains why, and defines the messages.

use crate::support::kept_files::kept;
use rustix::net::{
    AddressFamily, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType, sendmsg, socketpair,
};
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{IoSlice, PipeReader, Read, Write, pipe};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Output};
use std::sync::{LazyLock, Mutex, PoisonError};

/// Runs `command` in a fork of its loaded program, with `input` (or nothing) on stdin. `None` without a C compiler, or
/// before Linux 5.3, which cannot report the end of a fork. Only program, arguments, environment and folder of the
/// command are used. A program is loaded with the environment of its first command.
pub fn output(command: &Command, input: Option<&[u8]>) -> Option<Output> {
    static LIBRARY: LazyLock<Option<OsString>> = LazyLock::new(library);
    static PROGRAMS: LazyLock<Mutex<HashMap<OsString, (Child, OwnedFd)>>> = LazyLock::new(Mutex::default);
    let library = LIBRARY.as_ref()?;
    let program = command.get_program();
    let (stdin, to_stdin) = pipe().expect("a pipe");
    let (stdout, from_stdout) = outlet();
    let (stderr, from_stderr) = outlet();
    let (status, from_status) = outlet();
    {
        let mut programs = PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, socket) = programs.entry(program.to_owned()).or_insert_with(|| start(command, library));
        let stdin =
            if input.is_some() { stdin.into() } else { OwnedFd::from(File::open("/dev/null").expect("a null device")) };
        send(socket, &message(command), [stdin.as_fd(), from_stdout.as_fd(), from_stderr.as_fd(), from_status.as_fd()]);
    }
    drop((from_stdout, from_stderr, from_status));
    std::thread::scope(|scope| {
        // Writing fails if the program stops reading early, which is no error.
        scope.spawn(move || drop({ to_stdin }.write_all(input.unwrap_or_default())));
        let stdout = scope.spawn(|| all(stdout));
        let stderr = all(stderr);
        let status = all(status).try_into().expect("a loaded program that lives until its run has ended");
        let status = ExitStatus::from_raw(i32::from_ne_bytes(status));
        Some(Output { status, stdout: stdout.join().expect("a pipe that can be read"), stderr })
    })
}

fn outlet() -> (PipeReader, OwnedFd) {
    let (reader, writer) = pipe().expect("a pipe");
    (reader, writer.into())
}

fn all(mut pipe: PipeReader) -> Vec<u8> {
    let mut bytes = Vec::new();
    pipe.read_to_end(&mut bytes).expect("a pipe that can be read");
    bytes
}

/// Compiles `loaded.c`.
fn library() -> Option<OsString> {
    let source = include_str!("loaded.c");
    let cc = std::env::var_os("CC").unwrap_or("cc".into());
    let compiler = Command::new(&cc).arg("--version").output().ok().filter(|said| said.status.success())?.stdout;
    let folder = kept("loaded", &(source, compiler), |folder| {
        std::fs::write(folder.join("loaded.c"), source).expect("a file that can be written");
        let options = ["-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", "loaded.so", "loaded.c"];
        let compiled = Command::new(&cc).args(options).current_dir(folder).output().expect("a compiler");
        assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    });
    let has_descriptors_of_processes =
        rustix::process::pidfd_open(rustix::process::getpid(), rustix::process::PidfdFlags::empty()).is_ok();
    has_descriptors_of_processes.then(|| folder.join("loaded.so").into())
}

/// Starts the program, which waits for runs on the returned socket, and ends when the socket is closed.
fn start(command: &Command, library: &OsStr) -> (Child, OwnedFd) {
    let (socket, other) =
        socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None).expect("sockets");
    let (program, mut environment) = (command.get_program(), environment(command));
    let mut preloaded = library.to_owned();
    if let Some(rest) = environment.get(OsStr::new("LD_PRELOAD")) {
        preloaded.push(" ");
        preloaded.push(rest);
    }
    environment.extend([("LD_PRELOAD".into(), preloaded), ("HISTEQ_LOADED".into(), "1".into())]);
    let child = Command::new(program).env_clear().envs(environment).stdin(other).spawn();
    let child = child.unwrap_or_else(|error| panic!("{program:?} cannot be run: {error}"));
    (child, socket)
}

/// All environment variables of the command's process.
fn environment(command: &Command) -> HashMap<OsString, OsString> {
    let mut environment: HashMap<OsString, OsString> = std::env::vars_os().collect();
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => environment.insert(name.to_owned(), value.to_owned()),
            None => environment.remove(name),
        };
    }
    environment
}

fn message(command: &Command) -> Vec<u8> {
    let environment = environment(command);
    let arguments = command.get_args().len() as u32 + 1;
    let mut bytes = [arguments.to_ne_bytes(), (environment.len() as u32).to_ne_bytes()].concat();
    let mut add = |words: &[&OsStr]| {
        words.iter().for_each(|word| bytes.extend(word.as_bytes()));
        bytes.push(0);
    };
    add(&[command.get_current_dir().expect("a folder").as_os_str()]);
    add(&[command.get_program()]);
    command.get_args().for_each(|argument| add(&[argument]));
    environment.iter().for_each(|(name, value)| add(&[name, OsStr::new("="), value]));
    bytes
}

fn send(socket: &OwnedFd, message: &[u8], descriptors: [std::os::fd::BorrowedFd; 4]) {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(4))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    assert!(ancillary.push(SendAncillaryMessage::ScmRights(&descriptors)), "room for four descriptors");
    sendmsg(socket, &[IoSlice::new(message)], &mut ancillary, SendFlags::NOSIGNAL)
        .expect("a loaded program that lives");
}
