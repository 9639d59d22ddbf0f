//! The library in C: the sample produces the program's bytes, and every function does what `histeq.h` says, including
//! errors, and with AddressSanitizer, too.

use crate::hosts::front::{RATE, SIZE, clip};
use crate::support::programs::program::{Dir, Run};
use crate::support::skip::{is_here, skip};
use histeq::{Backend, Equalizer, Look, Named, PixelFormat};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of the library, which is built together with this suite. Without it or a C compiler: `None`, and a note.
fn library() -> Option<PathBuf> {
    let folder = std::env::current_exe().expect("this suite").parent().expect("its folder").to_owned();
    if !folder.join("libhisteq_capi.so").exists() {
        assert!(std::env::var_os("HISTEQ_BIN").is_some(), "no libhisteq_capi.so in {}", folder.display());
        skip("library for C", "the suite has come to another machine");
        return None;
    }
    is_here("cc").then_some(folder)
}

/// Compiles a C program against the header and the library.
fn compiled(dir: &Dir, library: &Path, source: &str, how: &[&str]) {
    let mut command = Command::new("cc");
    command.args(["-std=c99", "-O1", "-g", "-Wall", "-Wextra", "-pedantic", "-Werror", "-I", "src/c", source]);
    command.args(how).arg("-o").arg(dir.path("program"));
    // Cargo's `LD_LIBRARY_PATH` begins with the parent folder, which may contain an older library; RPATH has
    // precedence.
    command.arg(format!("-Wl,--disable-new-dtags,-rpath,{}", library.display())).arg("-L").arg(library);
    Run::from_command(&mut command, source).exits_with(0);
}

const SHARED: &[&str] = &["-lhisteq_capi", "-lpthread"];

#[test]
fn a_c_program_gives_the_bytes_of_the_program() {
    let Some(library) = library() else { return };
    let dir = Dir::new();
    compiled(&dir, &library, "samples/equalize.c", SHARED);
    let size = format!("{}x{}", SIZE.0, SIZE.1);
    for format in ["gray", "yuv420p", "yuv422p10le"] {
        let frames = clip(&dir, &format!("{format}.mkv"), format).concat();
        dir.write("in.raw", &frames);
        let looks = Look::ALL.iter().map(|look| format!("look {look}"));
        let rest = ["method clahe tiles 3x5", "gray true strength 0.5", "output-depth 10"].map(str::to_owned);
        for options in looks.chain(rest).filter(|options| format == "yuv420p" || options.starts_with("look")) {
            let of_program: String = options
                .split(' ')
                .collect::<Vec<_>>()
                .chunks(2)
                .map(|pair| match pair[0] {
                    "gray" | "tiles" => format!("--set {}={} ", pair[0], pair[1]),
                    name => format!("--{name} {} ", pair[1]),
                })
                .collect();
            let raw = format!("-f rawvideo -s {size} --pixel-format {format} -r {RATE}");
            // From a file, all frames are available at once; from a pipe, frames arrive one by one.
            let stored = format!("-q --backend cpu {of_program} {raw} --output-format rawvideo in.raw -");
            let piped = format!("-q --backend cpu {of_program} {raw} --output-format rawvideo - -");
            let expected = [dir.succeeds(&stored), dir.fed(&piped, &frames).exits_with(0)];
            for (expected, live) in expected.into_iter().zip(["false", "true"]) {
                let line = format!("{format} {} {} rate {RATE} live {live} backend cpu {options}", SIZE.0, SIZE.1);
                let found = Run::fed(&mut dir.other_command(dir.path("program"), &line), &line, &frames).exits_with(0);
                assert_eq!(found.stdout.len(), expected.stdout.len(), "{line}");
                assert!(!found.stdout.is_empty() && found.stdout == expected.stdout, "{line}");
            }
        }
    }
    let wrong = Run::from_command(&mut dir.other_command(dir.path("program"), "gray 4 4 look dusk"), "look dusk");
    wrong.exits_with(1).says(&["equalize: look is one of natural, "]);
}

#[test]
fn every_function_does_what_the_header_says() {
    let Some(library) = library() else { return };
    let dir = Dir::new();
    let archive = library.join("libhisteq_capi.a").display().to_string();
    let address = ["-lhisteq_capi", "-lpthread", "-fsanitize=address"];
    for how in [SHARED, &[&archive, "-lpthread", "-ldl", "-lm"], &address] {
        compiled(&dir, &library, "tests/hosts/from_c/calls.c", how);
        let run = Run::from_command(&mut dir.other_command(dir.path("program"), ""), "calls");
        assert_eq!(String::from_utf8_lossy(&run.stdout), "all is well\n", "{}", run.stderr);
        run.exits_with(0);
    }
}

#[test]
fn the_header_is_cpp_too_and_names_every_function_of_the_library() {
    if !is_here("c++") {
        return;
    }
    let check =
        ["-x", "c++", "-std=c++11", "-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only", "src/c/histeq.h"];
    Run::from_command(Command::new("c++").args(check), "histeq.h").exits_with(0);
    let read = |path: &str| std::fs::read_to_string(path).expect("a file that can be read");
    let (header, source) = (read("src/c/histeq.h"), read("src/c/lib.rs"));
    let functions: Vec<&str> =
        source.split("extern \"C\" fn ").skip(1).filter_map(|rest| rest.split('(').next()).collect();
    assert!(functions.len() > 15 && functions.contains(&"histeq_push"));
    for function in &functions {
        let is_declared = |line: &&str| line.starts_with(char::is_lowercase) && line.contains(&format!("{function}("));
        let line = header.lines().find(is_declared).unwrap_or_else(|| panic!("histeq.h has no {function}"));
        let before = header.split(line).next().unwrap_or_default();
        let comment = before.rsplit("/*").next().unwrap_or_default();
        assert!(
            comment.contains("any thread") || comment.contains("[one at a time]"),
            "{function}: from which thread?"
        );
    }
    let version = format!("#define HISTEQ_VERSION \"{}\"", env!("CARGO_PKG_VERSION"));
    assert!(header.contains(&version), "histeq.h: {version}");
}

#[test]
fn the_program_in_the_page_is_the_sample_and_gives_the_bytes_of_the_library() {
    let read = |path: &str| std::fs::read_to_string(path).expect("a file that can be read");
    let (page, sample) = (read("docs/library.md"), read("samples/equalize_picture.c"));
    let code = page.split("```c\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a block of C");
    assert!(code.lines().count() > 8 && sample.split_once("*/\n").is_some_and(|(_, sample)| sample == code));

    let Some(library) = library() else { return };
    let dir = Dir::new();
    compiled(&dir, &library, "samples/equalize_picture.c", SHARED);
    let found = Run::from_command(&mut dir.other_command(dir.path("program"), ""), "a picture").exits_with(0);
    let dark: Vec<u8> = (0..320 * 180).map(|index| (40 + index % 320 / 8) as u8).collect();
    let builder = Equalizer::builder(PixelFormat::Gray, 320, 180).look(Look::Exact).backend(Backend::Cpu);
    let mut equalizer = builder.build().expect("an equalizer");
    assert!(equalizer.push(&dark).expect("a frame goes in").is_none());
    let clear = equalizer.finish().expect("the end").next().expect("a frame").expect("the CPU");
    let mut expected = b"P5 320 180 255\n".to_vec();
    expected.resize(expected.len() + clear.packed_bytes(), 0);
    clear.copy_into(&mut expected[15..]).expect("the result");
    assert!(found.stdout == expected);
}
