//! C++ programs that contain the CUDA kernels' code, compiled by the tests to check that code without a GPU.

use super::kept_files::kept;
use super::skip::skip;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A compiled program.
pub struct Program {
    folder: PathBuf,
}

impl Program {
    /// Compiles `main.cpp`, which has to be among the files, unless an earlier result exists. Without a C++ compiler:
    /// `None`, and a note.
    pub fn new(files: &[(&str, &str)], options: &[&str]) -> Option<Self> {
        let compiler = std::env::var("CXX").unwrap_or_else(|_| "g++".to_owned());
        let version = match Command::new(&compiler).arg("--version").output() {
            Ok(version) => version.stdout,
            Err(error) => {
                skip("c++", &format!("{compiler}: {error}"));
                return None;
            }
        };
        let folder = kept("program", &(&compiler, version, files, options), |folder| {
            for (name, text) in files {
                // Kernels include each other by name, without the folder.
                let name = Path::new(name).file_name().expect("a file");
                std::fs::write(folder.join(name), text).unwrap();
            }
            let mut command = Command::new(&compiler);
            command
                .args(["-std=c++17", "-U_FORTIFY_SOURCE", "-Wall", "-Wextra", "-Werror", "main.cpp", "-o", "main"])
                .args(options);
            let compiled =
                command.current_dir(folder).output().expect("the compiler that was just asked for its version");
            assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
        });
        Some(Program { folder })
    }

    /// The program's answers to these questions: each question is a line of stdin, each answer a line of stdout.
    pub fn answers(&self, questions: &[String]) -> Vec<Vec<u32>> {
        let mut program = Command::new(self.folder.join("main"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program that was just compiled");
        let mut stdin = program.stdin.take().unwrap();
        let text = questions.join("\n");
        // Writing fails if the program ends early; the exit status, which is checked below, shows why.
        let writer = std::thread::spawn(move || drop(stdin.write_all(text.as_bytes())));
        let output = program.wait_with_output().unwrap();
        writer.join().unwrap();
        assert!(output.status.success(), "the program has failed");
        let lines = String::from_utf8(output.stdout).unwrap();
        let answers: Vec<Vec<u32>> =
            lines.lines().map(|line| line.split_whitespace().map(|number| number.parse().unwrap()).collect()).collect();
        assert_eq!(answers.len(), questions.len());
        answers
    }
}

/// Pseudo-random numbers, the same in every run: the upper 32 bits of a linear congruential generator.
pub struct Numbers(pub u64);

impl Numbers {
    pub fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 32) as u32
    }

    pub fn below(&mut self, bound: u32) -> u32 {
        ((u64::from(self.next()) * u64::from(bound)) >> 32) as u32
    }
}
