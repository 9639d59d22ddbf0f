//! The modules keep to the tables in the roots of their crates, maps name files that exist, and
//! unsafe code is in the files that are listed here. Cargo runs tests in the repository's root, where the sources are.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn source_files() -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![PathBuf::from("src")]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
            let path = entry.expect("an entry that can be read").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    assert!(found.len() > 10, "the source files were not found");
    found
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn below_src(path: &Path) -> &Path {
    path.strip_prefix("src").expect("a path below src")
}

/// The roots of the crates, each of which has a table of its modules.
const ROOTS: [&str; 4] = ["src/core/lib.rs", "src/media/lib.rs", "src/lab/lib.rs", "src/program/main.rs"];

/// Each module of a crate and the modules that it may use, lowest first, as the table in the crate's root says.
fn table(root: &str) -> Vec<(String, BTreeSet<String>)> {
    let text = read(Path::new(root));
    let rows = text.lines().skip_while(|line| !line.starts_with("//! | module |")).skip(2);
    let rows = rows.map_while(|line| line.strip_prefix("//! | "));
    let row = |row: &str| {
        let (name, rest) = row.split_once(" | ").expect("a module's name");
        let name = name.trim_matches(['[', ']', '`']);
        let uses = rest.trim_end().trim_end_matches('|').rsplit('|').next().unwrap_or_default();
        let uses = uses.split(',').map(|module| module.trim().to_owned()).filter(|module| !module.is_empty());
        (name.trim_start_matches("mod@").to_owned(), uses.collect())
    };
    rows.map(row).collect()
}

/// The modules that a text names as `crate::module`.
fn modules_named(text: &str) -> BTreeSet<String> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let first = |text: &str| text.split(|c| !is_name(c)).next().unwrap_or_default().to_owned();
    // What begins with a capital letter is a type that the crate's root exports from one of them.
    let is_module = |name: &String| name.starts_with(char::is_lowercase);
    code(text).split("crate::").skip(1).map(first).filter(is_module).collect()
}

#[test]
fn each_module_uses_only_what_its_row_names() {
    for root in ROOTS {
        let table = table(root);
        let folder = Path::new(root).parent().expect("the crate's folder");
        for path in source_files().iter().filter(|path| path.starts_with(folder)) {
            let below = path.strip_prefix(folder).expect("a path below the crate's folder");
            // What stands in for a module that is left out is that module.
            let stands_in = below.to_string_lossy().starts_with("without_");
            if Path::new(root) == path || below == Path::new("build.rs") || stands_in {
                continue;
            }
            let first = Path::new(below.components().next().expect("a name").as_os_str());
            let module = first.file_stem().expect("a name").to_string_lossy().into_owned();
            let row = table.iter().find(|(name, _)| *name == module);
            let (_, may_use) = row.unwrap_or_else(|| panic!("module {module} has no row in {root}"));
            for used in modules_named(&read(path)) {
                assert!(used == module || may_use.contains(&used), "{} uses {used}, its row does not", path.display());
            }
        }
    }
}

#[test]
fn the_tables_have_lower_modules_first_and_none_that_is_gone() {
    for root in ROOTS {
        let (text, table) = (read(Path::new(root)), table(root));
        assert!(table.len() > 1, "the table of {root} was not found");
        for (index, (module, uses)) in table.iter().enumerate() {
            assert!(text.contains(&format!("mod {module};")), "{module} has a row in {root} but is no module");
            for used in uses {
                let is_below = table[..index].iter().any(|(name, _)| name == used);
                assert!(is_below, "{module} uses {used}, which does not stand above it in the table of {root}");
            }
        }
    }
}

#[test]
fn no_command_uses_another_one() {
    let commands = Path::new("src/program/commands");
    for path in source_files().iter().filter(|path| path.starts_with(commands)) {
        let text = code(&read(path));
        assert!(!text.contains("crate::commands"), "{} uses another command", path.display());
        let is_alone = path.parent() == Some(commands) && !path.ends_with("mod.rs");
        assert!(!is_alone || !text.contains("super::"), "{} uses what is beside it", path.display());
    }
}

#[test]
fn every_source_file_opens_with_what_it_is_for() {
    for path in source_files() {
        assert!(read(&path).starts_with("//! "), "{} does not open with //!", below_src(&path).display());
    }
}

/// Files that may have unsafe code. rustc denies it everywhere else; a file comes into this list, or leaves it, by hand.
const UNSAFE_FILES: &[&str] = &[
    "core/cuda/arguments.rs",
    "core/cuda/context.rs",
    "core/cuda/device_memory.rs",
    "core/cuda/kernels/balance.rs",
    "core/cuda/kernels/chroma.rs",
    "core/cuda/kernels/equalization.rs",
    "core/cuda/kernels/fused.rs",
    "core/cuda/kernels/histogram.rs",
    "core/cuda/kernels/luminance.rs",
    "core/cuda/kernels/map.rs",
    "core/cuda/kernels/scan.rs",
    "core/cuda/kernels/surface.rs",
    "core/cuda/kernels/tile_curves.rs",
    "core/cuda/kernels/tile_histogram.rs",
    "core/cuda/kernels/tile_map.rs",
    "core/cuda/launch.rs",
    "core/cuda/picture.rs",
    "core/cuda/pinned.rs",
    "core/cuda/slot.rs",
    "core/cuda/surface.rs",
    "core/cuda/transfer.rs",
    "core/equalize/cpu/simd/avx2.rs",
    "core/equalize/cpu/simd/avx512.rs",
    "core/equalize/cpu/simd/mod.rs",
    "core/frame/pool.rs",
    "core/front/device.rs",
    "core/without_cuda.rs",
    "lab/bench/child.rs",
    "lab/bench/copies.rs",
    "lab/publications/arguments.rs",
    "lab/publications/kernels/cdf_min.rs",
    "lab/publications/kernels/curve.rs",
    "lab/publications/kernels/histogram.rs",
    "lab/publications/kernels/luminance_histogram.rs",
    "lab/publications/kernels/map.rs",
    "lab/publications/kernels/pause.rs",
    "lab/publications/kernels/saturation.rs",
    "lab/publications/kernels/scan.rs",
    "lab/publications/managed.rs",
    "media/ffmpeg/container.rs",
    "media/ffmpeg/converter.rs",
    "media/ffmpeg/custom_io.rs",
    "media/ffmpeg/decoder.rs",
    "media/ffmpeg/decoder_buffers.rs",
    "media/ffmpeg/demuxer.rs",
    "media/ffmpeg/devices.rs",
    "media/ffmpeg/encoded_video.rs",
    "media/ffmpeg/encoder.rs",
    "media/ffmpeg/encoder_info.rs",
    "media/ffmpeg/filter_graph.rs",
    "media/ffmpeg/interrupt.rs",
    "media/ffmpeg/log.rs",
    "media/ffmpeg/media.rs",
    "media/ffmpeg/mod.rs",
    "media/ffmpeg/muxer.rs",
    "media/ffmpeg/nvdec.rs",
    "media/ffmpeg/packet.rs",
    "media/ffmpeg/parse.rs",
    "media/ffmpeg/picture.rs",
    "media/ffmpeg/protocols.rs",
    "media/ffmpeg/raw_format.rs",
    "media/ffmpeg/rotation.rs",
    "media/ffmpeg/shared_planes.rs",
    "media/ffmpeg/side_data.rs",
    "media/ffmpeg/subtitle.rs",
    "media/ffmpeg/surface.rs",
    "media/sys/give_up.rs",
    "media/sys/virtual_camera.rs",
    "program/c_memory.rs",
    "program/signals.rs",
    "program/stdout.rs",
];

#[test]
fn unsafe_code_is_only_in_files_with_a_permit() {
    let allows = |path: &PathBuf| code(&read(path)).contains("allow(unsafe_code");
    let found: BTreeSet<String> = source_files().iter().filter(|path| allows(path)).map(|path| name(path)).collect();
    let listed: BTreeSet<String> = UNSAFE_FILES.iter().map(|&file| file.to_owned()).collect();
    assert_eq!(found, listed, "files that allow unsafe code, and UNSAFE_FILES");
}

#[test]
fn maps_of_files_name_files_that_exist() {
    let mut maps = 0;
    for path in source_files() {
        let text = read(&path);
        let rows = text.lines().skip_while(|line| *line != "//! | file | what it is |").skip(2);
        let rows: Vec<&str> = rows.take_while(|line| line.starts_with("//! | ")).collect();
        maps += usize::from(!rows.is_empty());
        for file in rows.iter().flat_map(|row| row.split('|').nth(1).unwrap_or_default().split('`').skip(1).step_by(2))
        {
            let beside = path.with_file_name(file);
            assert!(beside.exists() || beside.with_extension("rs").exists(), "{} names {file}", name(&path));
        }
    }
    assert!(maps > 2, "the maps were not found");
}

fn name(path: &Path) -> String {
    below_src(path).to_string_lossy().into_owned()
}

/// The text without comments, and without the unit tests at its end.
fn code(text: &str) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let is_test = |pair: &[&str]| pair[0] == "#[cfg(test)]" && pair[1].contains("mod ");
    let end = lines.windows(2).position(is_test).unwrap_or(lines.len());
    lines[..end].join("\n")
}
