//! Rules of the source files that the compiler does not check. Cargo runs these tests in the repository's root.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = entries.map(|entry| entry.expect("an entry that can be read").path());
    paths.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

/// The texts of all Rust files in `src`, by path.
fn sources() -> BTreeMap<PathBuf, String> {
    let files = files_below(Path::new("src")).into_iter().filter(|path| path.extension().is_some_and(|it| it == "rs"));
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        (path.strip_prefix("src").expect("a path below src").to_owned(), text)
    };
    files.map(read).collect()
}

/// The text without comments, and without the unit tests at its end.
fn code(text: &str) -> String {
    let tests = text.find("\n#[cfg(test)]\nmod tests").unwrap_or(text.len());
    text[..tests].lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// The roots of the crates; each contains a table of the crate's modules.
const ROOTS: [&str; 4] = ["core/lib.rs", "media/lib.rs", "lab/lib.rs", "program/main.rs"];

/// Each module of a crate, and the modules that it may use according to the table.
fn table(root: &str) -> Vec<(&str, BTreeSet<&str>)> {
    let rows = root.lines().skip_while(|line| !line.starts_with("//! | module |")).skip(2);
    let rows = rows.map_while(|line| line.strip_prefix("//! | ")).map(|row| {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let name = cells[0].trim_matches(['[', ']', '`']).trim_start_matches("mod@");
        (name, cells[2].split(", ").filter(|used| !used.is_empty()).collect())
    });
    rows.collect()
}

#[test]
fn the_tables_have_lower_modules_first_and_none_that_is_gone() {
    let sources = sources();
    for file in ROOTS {
        let root = &sources[Path::new(file)];
        let table = table(root);
        assert!(table.len() > 1, "the table of {file} was not found");
        for (index, (module, uses)) in table.iter().enumerate() {
            assert!(root.contains(&format!("mod {module};")), "{file}: {module} has a row but is no module");
            let below: BTreeSet<&str> = table[..index].iter().map(|(name, _)| *name).collect();
            assert!(uses.is_subset(&below), "{file}: {module} uses {uses:?}, which are not all above it");
        }
    }
}

#[test]
fn each_module_uses_only_what_its_row_names() {
    let sources = sources();
    for root in ROOTS.map(Path::new) {
        let rows: BTreeMap<&str, BTreeSet<&str>> = table(&sources[root]).into_iter().collect();
        let folder = root.parent().expect("the crate's folder");
        for (path, text) in sources.iter().filter(|(path, _)| path.starts_with(folder) && *path != root) {
            let below = path.strip_prefix(folder).expect("a path below the crate's folder").with_extension("");
            let module = below.iter().next().and_then(|name| name.to_str()).expect("a name");
            // `without_` files, which replace modules, and a `main.rs` next to a library have no row.
            if ["build", "main"].contains(&module) || module.starts_with("without_") {
                continue;
            }
            let may_use = rows.get(module).unwrap_or_else(|| panic!("{module} has no row in {}", root.display()));
            for rest in code(text).split("crate::").skip(1) {
                let used = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
                // A name with a capital letter is a type that the crate's root re-exports.
                let is_free = !used.starts_with(char::is_lowercase) || used == module || may_use.contains(used);
                assert!(is_free, "{} uses {used}, its row does not", path.display());
            }
        }
    }
}

#[test]
fn no_command_uses_another_one() {
    let commands = Path::new("program/commands");
    for (path, text) in sources().iter().filter(|(path, _)| path.starts_with(commands)) {
        let text = code(text);
        assert!(!text.contains("crate::commands"), "{} uses another command", path.display());
        let is_alone = path.parent() == Some(commands) && !path.ends_with("mod.rs");
        assert!(!is_alone || !text.contains("super::"), "{} uses what is beside it", path.display());
    }
}

#[test]
fn every_source_file_opens_with_what_it_is_for() {
    for (path, text) in sources() {
        assert!(text.starts_with("//! "), "{} does not open with //!", path.display());
    }
}

/// Files that may have unsafe code: folders, and files in them. rustc denies it everywhere else. The list is kept by
/// hand.
const UNSAFE_FILES: &str = "
c: lib
core: without_cuda
core/cuda: arguments context denoise launch
core/cuda/kernels: balance chroma equalization fused histogram luminance map scan surface
core/cuda/kernels/denoise: merge motion pyramid
core/cuda/kernels/tiles: tile_curves tile_histogram tile_map veil_curves
core/cuda/memory: device_memory pinned samples surface transfer
core/cuda/pipeline: picture readings slot
core/equalize/cpu/simd: avx2 avx512 mod neon
core/frame: pool
core/front: device
frei0r: lib
lab/bench: copies
lab/publications: arguments managed
lab/publications/kernels: cdf_min curve histogram luminance_histogram map pause saturation scan
media/ffmpeg: log mod packet parse
media/ffmpeg/decode: buffers decoder nvdec surface
media/ffmpeg/demux: custom_io demuxer devices interrupt media opens protocols structures wire
media/ffmpeg/encode: encoded_video encoder encoder_info subtitle transcoder
media/ffmpeg/filter: converter graph
media/ffmpeg/frame: picture raw_format rotation shared_planes side_data
media/ffmpeg/mux: container described muxer
media/source/isolated: zygote
media/source/isolated/memory: shared_memory
media/sys: give_up virtual_camera
media/sys/io: descriptors
program: c_memory signals stdout
python: array picture
vapoursynth: host
";

#[test]
fn unsafe_code_is_only_in_files_with_a_permit() {
    let sources = sources();
    let permits = sources.iter().filter(|(_, text)| code(text).contains("allow(unsafe_code"));
    let found: BTreeSet<String> = permits.map(|(path, _)| path.display().to_string()).collect();
    let rows = UNSAFE_FILES.lines().filter_map(|row| row.split_once(": "));
    let listed = rows.flat_map(|(folder, files)| files.split(' ').map(move |file| format!("{folder}/{file}.rs")));
    assert_eq!(found, listed.collect(), "files that allow unsafe code, and UNSAFE_FILES");
}

#[test]
fn maps_of_files_name_files_that_exist() {
    let mut maps = 0;
    for (path, text) in sources() {
        let Some((_, map)) = text.split_once("//! | file | what it is |\n//! |---|---|\n") else { continue };
        maps += 1;
        for row in map.lines().map_while(|line| line.strip_prefix("//! | ")) {
            let cell = row.split('|').next().unwrap_or_default();
            for file in cell.split('`').skip(1).step_by(2) {
                let beside = Path::new("src").join(&path).with_file_name(file);
                let exists = beside.exists() || beside.with_extension("rs").exists();
                assert!(exists, "{} names {file}", path.display());
            }
        }
    }
    assert!(maps > 2, "the maps were not found");
}

/// The options on a help page: the long name, and the short name if there is one.
fn options_of_help(page: &str) -> Vec<(&str, Option<&str>)> {
    // Descriptions of options are indented further.
    let rows = page.lines().filter(|line| line.trim_start().len() + 8 > line.len()).map(str::trim_start);
    let rows = rows.filter(|row| row.starts_with('-') && !row.starts_with("- "));
    let options = rows.filter_map(|row| {
        let mut names = row.split([',', ' ', '[', '=']).filter(|word| word.starts_with('-'));
        let first = names.next()?;
        if first.starts_with("--") { Some((first, None)) } else { Some((names.next()?, Some(first))) }
    });
    options.collect()
}

#[test]
fn each_option_has_a_row_that_names_the_file_of_its_test() {
    let contributing = std::fs::read_to_string(".github/CONTRIBUTING.md").expect("a page that can be read");
    let rows = contributing.lines().skip_while(|line| !line.starts_with("| file | options |")).skip(2);
    let rows = rows.map_while(|line| line.strip_prefix("| `")?.strip_suffix("` |")?.split_once("` | `"));
    let files: BTreeMap<&str, &str> =
        rows.flat_map(|(file, options)| options.split("` `").map(move |option| (option, file))).collect();
    let pages = files_below(Path::new("tests/program/help")).into_iter().filter(|page| {
        let name = page.file_name().expect("a file").to_string_lossy();
        !name.ends_with("-short.txt")
    });
    let pages: Vec<String> = pages.map(|page| std::fs::read_to_string(page).expect("a page of help")).collect();
    let mut options: BTreeMap<&str, Option<&str>> = pages.iter().flat_map(|page| options_of_help(page)).collect();
    assert!(options.len() > 50 && options.get("--format") == Some(&Some("-f")), "{options:?}");
    for (option, file) in &files {
        let short =
            options.remove(option).unwrap_or_else(|| panic!("{option} is no option, but CONTRIBUTING.md has it"));
        let text = std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{file}: {error}"));
        let is_named = text.contains(option.trim_start_matches('-'));
        assert!(is_named || short.is_some_and(|short| text.contains(&format!("{short} "))), "{file} has no {option}");
    }
    assert!(options.is_empty(), "CONTRIBUTING.md does not say where these are tested: {:?}", options.keys());
}

#[test]
fn each_module_of_tests_has_a_line_that_says_what_belongs_there() {
    let roots = files_below(Path::new("tests")).into_iter().filter(|path| {
        ["mod.rs", "main.rs", "suite.rs"].iter().any(|name| path.file_name().is_some_and(|file| file == *name))
    });
    let mut modules = 0;
    for root in roots {
        let text = std::fs::read_to_string(&root).expect("a file that can be read");
        let lines: Vec<&str> = text.lines().collect();
        for (index, line) in lines.iter().enumerate() {
            let name = line.trim_start_matches("pub ").strip_prefix("mod ").and_then(|rest| rest.strip_suffix(';'));
            let Some(name) = name else { continue };
            let above = lines[..index].iter().rev().find(|line| !line.starts_with("#["));
            assert!(above.is_some_and(|line| line.starts_with("// ")), "{}: {name} has no line", root.display());
            modules += 1;
        }
    }
    assert!(modules > 100, "{modules}");
}
