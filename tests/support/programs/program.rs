//! The program, run as users run it: in a separate folder, by a command line, judged by its exit code, its messages and
//! its files.
#![allow(dead_code, reason = "no test binary uses all of it")]

use super::loaded;
use crate::support::kept_files::kept;
use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

/// A temporary folder, which is removed with the test.
pub struct Dir(tempfile::TempDir);

/// The exit code and the output of a run.
#[derive(Debug)]
pub struct Run {
    pub command: String,
    pub code: Option<i32>,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

impl Dir {
    pub fn new() -> Self {
        Dir(tempfile::Builder::new().prefix("histeq-video-").tempdir().expect("a temporary folder"))
    }

    /// The path of the file with this name.
    pub fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.0.path().join(name)
    }

    /// A command that runs the program in this folder. In `line`, single quotes keep words together; nothing else is
    /// special.
    pub fn command(&self, line: &str) -> Command {
        self.other_command(program(), line)
    }

    /// A command that runs another program in this folder.
    pub fn other_command(&self, program: impl AsRef<OsStr>, line: &str) -> Command {
        let mut command = Command::new(program);
        command.args(words(line)).current_dir(self.0.path()).stdin(Stdio::null());
        // `.cargo/config.toml` sets these variables only for the processes of the tests.
        command.env_remove("MALLOC_MMAP_THRESHOLD_").env_remove("MALLOC_TRIM_THRESHOLD_");
        // The developer's configuration file must not change the results.
        command.env("HISTEQ_CONFIG", "");
        if uses_ffmpeg(command.get_program()) {
            command.env("LD_PRELOAD", looked_up_first());
        }
        command
    }

    /// Runs the program to its end.
    pub fn run(&self, line: &str) -> Run {
        Run::forked(&mut self.command(line), line, None)
    }

    /// Runs the program and requires success.
    pub fn succeeds(&self, line: &str) -> Run {
        self.run(line).exits_with(0)
    }

    /// Runs the program with `input` coming in through a pipe on stdin.
    pub fn fed(&self, line: &str, input: &[u8]) -> Run {
        Run::forked(&mut self.command(line), line, Some(input))
    }

    /// Runs the ffmpeg program and requires success. A clip that is made only from FFmpeg's filters, or from such
    /// clips, is made once and copied later.
    pub fn ffmpeg(&self, line: &str) -> Run {
        self.tool("ffmpeg", &format!("-hide_banner -nostdin -v error -y {line}"), self.clips_of(line))
    }

    /// Runs a tool of FFmpeg and requires success. If the result depends only on `clips`, an earlier result may be
    /// returned; `None` rules that out.
    pub fn tool(&self, tool: &str, line: &str, clips: Option<Vec<Clip>>) -> Run {
        let Some(clips) = clips else { return self.try_tool(tool, line).exits_with(0) };
        static VERSION: LazyLock<Vec<u8>> =
            LazyLock::new(|| Run::from_command(Command::new("ffmpeg").arg("-version"), "-version").stdout);
        let folder = kept("clip", &(&*VERSION, tool, line, &clips), |folder| {
            let inside = |clip: &Clip| folder.join(&clip.name);
            for clip in &clips {
                std::fs::copy(self.path(&clip.name), inside(clip)).expect("a file that can be copied");
            }
            let run = Run::forked(self.other_command(tool, line).current_dir(folder), line, None).exits_with(0);
            for clip in &clips {
                std::fs::remove_file(inside(clip)).expect("a copy that can be removed");
            }
            std::fs::write(folder.join(STDOUT), run.stdout).expect("a file that can be written");
        });
        let mut stdout = Vec::new();
        for file in std::fs::read_dir(folder).expect("a folder that can be read") {
            let file = file.expect("an entry that can be read");
            let bytes = std::fs::read(file.path()).expect("a file that can be read");
            if file.file_name() == STDOUT {
                stdout = bytes;
            } else {
                made().insert(digest(&bytes));
                std::fs::write(self.path(file.file_name()), bytes).expect("a file that can be written");
            }
        }
        Run { command: line.to_owned(), code: Some(0), stdout, stderr: String::new() }
    }

    /// Runs a tool of FFmpeg, which may fail.
    pub fn try_tool(&self, tool: &str, line: &str) -> Run {
        Run::forked(&mut self.other_command(tool, line), line, None)
    }

    /// A file of the folder as a clip, if ffmpeg made it only from filters or other clips.
    pub fn clip(&self, name: &str) -> Option<Clip> {
        let is_plain = !name.contains(['/', '%']) && ![".m3u8", ".mpd"].iter().any(|list| name.ends_with(list));
        // A FIFO must not be read here, so only regular files count.
        let path = Some(self.path(name)).filter(|path| is_plain && path.is_file())?;
        let digest = digest(&std::fs::read(path).ok()?);
        made().contains(&digest).then(|| Clip { name: name.to_owned(), digest })
    }

    /// The clips that this command line reads, if it reads only clips and FFmpeg's filters.
    fn clips_of(&self, line: &str) -> Option<Vec<Clip>> {
        let words = words(line);
        let output = words.last().filter(|file| !file.contains('/') && !line.contains("movie="))?;
        let inputs = (0..words.len() - 1).filter(|&index| words[index] == "-i");
        let files = inputs.clone().filter(|&index| index < 2 || words[index - 2..index] != ["-f", "lavfi"]);
        let mut clips: Vec<_> = files.map(|index| self.clip(&words[index + 1])).collect::<Option<_>>()?;
        clips.dedup();
        // Files that options other than `-i` read, such as attachments.
        let rest = words.iter().filter(|word| *word != output && self.path(word).is_file());
        let all_known = rest.into_iter().all(|other| clips.iter().any(|clip| clip.name == *other));
        (inputs.count() > 0 && all_known).then_some(clips)
    }

    /// All files in the folder and below, including hidden ones, with their bytes.
    pub fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut found = BTreeMap::new();
        let mut folders = vec![self.0.path().to_owned()];
        while let Some(folder) = folders.pop() {
            let entries = match std::fs::read_dir(folder) {
                // A running program may have removed the folder.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                entries => entries.expect("a folder that can be read"),
            };
            for entry in entries {
                let path = entry.expect("an entry that can be read").path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let bytes = std::fs::read(&path).unwrap_or_default();
                    found.insert(path.strip_prefix(self.0.path()).expect("a path below").to_owned(), bytes);
                }
            }
        }
        found
    }

    /// The names of all files in the folder and below.
    pub fn names(&self) -> Vec<String> {
        self.files().keys().map(|path| path.display().to_string()).collect()
    }

    pub fn write(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.path(name), bytes).expect("a file that can be written");
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }
}

impl Run {
    /// Runs `command`, whose program [`uses_ffmpeg`], to its end with `input` on stdin, in a fork of the loaded program
    /// if possible.
    fn forked(command: &mut Command, line: &str, input: Option<&[u8]>) -> Self {
        match (loaded::output(command, input), input) {
            (Some(output), _) => Run::new(line, output),
            (None, Some(input)) => Run::fed(command, line, input),
            (None, None) => Run::from_command(command, line),
        }
    }

    /// Runs `command` to its end; failures show `line`.
    pub fn from_command(command: &mut Command, line: &str) -> Self {
        let program = command.get_program().to_owned();
        let output = command.output().unwrap_or_else(|error| panic!("{program:?} cannot be run: {error}"));
        Run::new(line, output)
    }

    /// Runs `command` to its end with `input` coming in through a pipe on stdin.
    pub fn fed(command: &mut Command, line: &str, input: &[u8]) -> Self {
        let program = command.get_program().to_owned();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap_or_else(|error| panic!("{program:?} cannot be run: {error}"));
        let mut stdin = child.stdin.take().expect("a pipe");
        let output = std::thread::scope(|scope| {
            // Writing fails if the program stops reading early, which is no error.
            scope.spawn(move || drop(stdin.write_all(input)));
            child.wait_with_output()
        });
        Run::new(line, output.expect("a run that can be waited for"))
    }

    fn new(line: &str, output: Output) -> Self {
        Run {
            command: line.to_owned(),
            code: output.status.code(),
            stdout: output.stdout,
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    #[track_caller]
    pub fn exits_with(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "exit code of `{}`, which said:\n{}", self.command, self.stderr);
        self
    }

    /// Requires a failure other than a usage error (`errors.rs` tests the exit codes).
    #[track_caller]
    pub fn fails(self) -> Self {
        assert!(
            failed(self.code),
            "`{}` should fail, ended with {:?}, and said:\n{}",
            self.command,
            self.code,
            self.stderr
        );
        self
    }

    /// Like [`exits_with`](Self::exits_with), but 1 means any failure.
    #[track_caller]
    pub fn ends_as(self, code: i32) -> Self {
        if code == 1 { self.fails() } else { self.exits_with(code) }
    }

    /// Requires each of `texts` in stderr.
    #[track_caller]
    pub fn says(self, texts: &[&str]) -> Self {
        for text in texts {
            assert!(self.stderr.contains(text), "`{}` should say {text:?}, but said:\n{}", self.command, self.stderr);
        }
        self
    }

    /// Requires that stderr does not contain `text`.
    #[track_caller]
    pub fn never_says(self, text: &str) -> Self {
        assert!(!self.stderr.contains(text), "`{}` should not say {text:?}, but said:\n{}", self.command, self.stderr);
        self
    }
}

/// Is `code` the exit code of a failure other than a usage error?
pub fn failed(code: Option<i32>) -> bool {
    matches!(code, Some(1 | 4..=11))
}

/// The text that the program would print for this line without `--progress json`; `None` for progress. A line that is
/// no JSON is returned unchanged.
pub fn told(line: &str) -> Option<String> {
    let event: serde_json::Value = serde_json::from_str(line).unwrap_or_default();
    let message = event["message"].as_str().unwrap_or_default();
    match event["event"].as_str() {
        None => Some(line.to_owned()),
        Some("error") => Some(format!("histeq-video: error: {message}")),
        Some("warning") => Some(format!("histeq-video: warning: {message}")),
        Some("note" | "detail" | "waiting" | "back" | "change") => Some(format!("histeq-video: {message}")),
        Some("result") => event["summary"].as_str().filter(|summary| !summary.is_empty()).map(str::to_owned),
        Some(_) => None,
    }
}

/// Runs the program and requires a usage error.
#[track_caller]
pub fn usage_error(line: &str) -> Run {
    Dir::new().run(line).exits_with(2)
}

/// Is `name` the program under test, or one of FFmpeg's?
fn uses_ffmpeg(name: &OsStr) -> bool {
    name == program() || name == "ffmpeg" || name == "ffprobe"
}

/// For `LD_PRELOAD`: the libraries in which most symbols are found. The loader looks up each of 43,000 symbols in about
/// 200 libraries in order; with these first, a start takes 95 ms of CPU time instead of 140 ms. The list comes from the
/// loader's log (`LD_DEBUG`), and is made once for each build of the libraries.
fn looked_up_first() -> &'static str {
    const MAX_LIBRARIES: usize = 40;
    static PATHS: LazyLock<String> = LazyLock::new(|| {
        let list = Command::new("ldd").arg(program()).output().map(|output| output.stdout).unwrap_or_default();
        let list = String::from_utf8_lossy(&list).into_owned();
        let libraries: Vec<&str> = list.split_whitespace().filter(|word| word.starts_with('/')).collect();
        let folder = kept("order", &libraries, |folder| {
            let started = Command::new(program()).arg("--version").env("LD_DEBUG", "bindings").output();
            let lines = String::from_utf8_lossy(&started.expect("the program").stderr).into_owned();
            let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
            // binding file USER [0] to LIBRARY [0]: normal symbol `NAME'
            for library in lines.lines().filter_map(|line| line.split_once(" to ")?.1.split(' ').next()) {
                *counts.entry(library).or_default() += 1;
            }
            let mut order: Vec<&str> =
                libraries.iter().copied().filter(|library| counts.contains_key(library)).collect();
            order.sort_by_key(|library| std::cmp::Reverse(counts[library]));
            order.truncate(MAX_LIBRARIES);
            std::fs::write(folder.join("order"), order.join(" ")).expect("a file that can be written");
        });
        std::fs::read_to_string(folder.join("order")).expect("a file that can be read")
    });
    &PATHS
}

/// The program under test: the one in an environment variable, or the one that was built with these tests.
pub fn program() -> PathBuf {
    let (variable, built) = crate::support::PROGRAM;
    std::env::var_os(variable).map_or_else(|| built.into(), PathBuf::from)
}

/// A file whose bytes depend only on the command lines that made it.
#[derive(Hash, PartialEq)]
pub struct Clip {
    name: String,
    digest: u64,
}

/// The file with the standard output of a tool, in the folder of its kept result.
const STDOUT: &str = ".stdout";

/// The digests of all clips so far.
fn made() -> MutexGuard<'static, HashSet<u64>> {
    static MADE: LazyLock<Mutex<HashSet<u64>>> = LazyLock::new(Mutex::default);
    MADE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn digest(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish()
}

fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted) = (Vec::new(), None::<String>, false);
    for c in line.chars() {
        match c {
            '\'' => {
                quoted = !quoted;
                word.get_or_insert_default();
            }
            ' ' if !quoted => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}
