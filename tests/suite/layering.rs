//! The modules keep to the tables in `src/lib.rs`, files use each other in one direction, maps name files that exist, and
//! unsafe code is in the files that are listed here. Cargo runs tests in the repository's root, where the sources are.

use std::collections::{BTreeMap, BTreeSet};
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

/// Each module and the modules that it may use, as the table says.
fn table() -> BTreeMap<String, BTreeSet<String>> {
    let text = read(Path::new("src/lib.rs"));
    let rows = text.lines().filter_map(|line| line.strip_prefix("//! | [`"));
    let modules: Vec<(String, String)> = rows
        .map(|row| {
            let (name, rest) = row.split_once("`]").expect("a module's name");
            let uses = rest.trim_end().trim_end_matches('|').rsplit('|').next().unwrap_or_default();
            (name.to_owned(), uses.to_owned())
        })
        .collect();
    let all: BTreeSet<String> = modules.iter().map(|(name, _)| name.clone()).collect();
    let listed = |uses: &str| match uses.trim() {
        "everything" => all.clone(),
        uses => uses.split(',').map(|module| module.trim().to_owned()).filter(|module| !module.is_empty()).collect(),
    };
    modules.iter().map(|(name, uses)| (name.clone(), listed(uses))).collect()
}

/// The modules that a text names as `crate::module`, alone or in a list in braces.
fn modules_named(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let code: String = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
    for after in code.split("crate::").skip(1) {
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        let first = |text: &str| text.trim_start().split(|c| !is_name(c)).next().unwrap_or_default().to_owned();
        match after.strip_prefix('{') {
            Some(list) => found.extend(list.split('}').next().unwrap_or_default().split(',').map(first)),
            None => drop(found.insert(first(after))),
        }
    }
    found.retain(|name| !name.is_empty());
    found
}

#[test]
fn each_module_uses_only_what_its_row_names() {
    let table = table();
    for path in source_files() {
        let below = below_src(&path);
        let Some(module) = below.components().next().filter(|_| below.components().count() > 1) else { continue };
        let module = module.as_os_str().to_string_lossy().into_owned();
        let may_use = table.get(&module).unwrap_or_else(|| panic!("module {module} has no row in src/lib.rs"));
        for used in modules_named(&read(&path)) {
            assert!(used == module || may_use.contains(&used), "{} uses {used}, its row does not", below.display());
        }
    }
}

#[test]
fn the_table_has_lower_layers_first_and_no_module_that_is_gone() {
    let text = read(Path::new("src/lib.rs"));
    let order: Vec<&str> =
        text.lines().filter_map(|line| line.strip_prefix("//! | [`")?.split_once("`]").map(|(name, _)| name)).collect();
    let place = |module: &str| order.iter().position(|name| *name == module);
    let table = table();
    for (module, uses) in &table {
        assert!(text.contains(&format!("mod {module};")), "{module} has a row but is no module");
        for used in uses.iter().filter(|used| *used != module && uses.len() < table.len()) {
            assert!(place(used) < place(module), "{module} uses {used}, which stands below it in the table");
        }
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
    "bench/child.rs",
    "bench/copies.rs",
    "c_memory.rs",
    "cuda/arguments.rs",
    "cuda/context.rs",
    "cuda/kernels/balance.rs",
    "cuda/kernels/chroma.rs",
    "cuda/kernels/equalization.rs",
    "cuda/kernels/fused.rs",
    "cuda/kernels/histogram.rs",
    "cuda/kernels/luminance.rs",
    "cuda/kernels/map.rs",
    "cuda/kernels/scan.rs",
    "cuda/kernels/surface.rs",
    "cuda/kernels/tile_curves.rs",
    "cuda/kernels/tile_histogram.rs",
    "cuda/kernels/tile_map.rs",
    "cuda/launch.rs",
    "cuda/picture.rs",
    "cuda/pinned.rs",
    "cuda/slot.rs",
    "cuda/surface.rs",
    "equalize/cpu/simd/avx2.rs",
    "equalize/cpu/simd/avx512.rs",
    "equalize/cpu/simd/mod.rs",
    "ffmpeg/container.rs",
    "ffmpeg/converter.rs",
    "ffmpeg/custom_io.rs",
    "ffmpeg/decoder.rs",
    "ffmpeg/decoder_buffers.rs",
    "ffmpeg/demuxer.rs",
    "ffmpeg/devices.rs",
    "ffmpeg/encoded_video.rs",
    "ffmpeg/encoder.rs",
    "ffmpeg/encoder_info.rs",
    "ffmpeg/filter_graph.rs",
    "ffmpeg/interrupt.rs",
    "ffmpeg/log.rs",
    "ffmpeg/media.rs",
    "ffmpeg/mod.rs",
    "ffmpeg/muxer.rs",
    "ffmpeg/nvdec.rs",
    "ffmpeg/packet.rs",
    "ffmpeg/parse.rs",
    "ffmpeg/picture.rs",
    "ffmpeg/protocols.rs",
    "ffmpeg/raw_format.rs",
    "ffmpeg/rotation.rs",
    "ffmpeg/shared_planes.rs",
    "ffmpeg/side_data.rs",
    "ffmpeg/subtitle.rs",
    "ffmpeg/surface.rs",
    "frame/pool.rs",
    "io/give_up.rs",
    "io/virtual_camera.rs",
    "publications/arguments.rs",
    "publications/kernels/cdf_min.rs",
    "publications/kernels/curve.rs",
    "publications/kernels/histogram.rs",
    "publications/kernels/luminance_histogram.rs",
    "publications/kernels/map.rs",
    "publications/kernels/pause.rs",
    "publications/kernels/saturation.rs",
    "publications/kernels/scan.rs",
    "publications/managed.rs",
    "signals.rs",
    "stdout.rs",
];

#[test]
fn unsafe_code_is_only_in_files_with_a_permit() {
    let allows = |path: &PathBuf| code(&read(path)).contains("allow(unsafe_code");
    let found: BTreeSet<String> = source_files().iter().filter(|path| allows(path)).map(|path| name(path)).collect();
    let listed: BTreeSet<String> = UNSAFE_FILES.iter().map(|&file| file.to_owned()).collect();
    assert_eq!(found, listed, "files that allow unsafe code, and UNSAFE_FILES");
}

#[test]
fn files_use_each_other_in_one_direction() {
    for (root, files) in [("lib.rs", library_files()), ("main.rs", program_files())] {
        let circle = circle(&uses(&files));
        assert!(circle.is_empty(), "a circle below {root}: {}", circle.join(" uses "));
    }
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

/// A file by the path of its module: `["cuda", "ring"]`; `[]` is the root.
type Files = BTreeMap<Vec<String>, PathBuf>;

fn name(path: &Path) -> String {
    below_src(path).to_string_lossy().into_owned()
}

fn module_of(path: &Path) -> Vec<String> {
    let without = below_src(path).with_extension("");
    let mut module: Vec<String> = without.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    if module.last().is_some_and(|last| ["mod", "lib", "main"].contains(&last.as_str())) {
        module.pop();
    }
    module
}

fn library_files() -> Files {
    let is_inside = |path: &&PathBuf| below_src(path).components().count() > 1;
    source_files().iter().filter(is_inside).map(|path| (module_of(path), path.clone())).collect()
}

/// Those of the binary, and its root.
fn program_files() -> Files {
    let is_top = |path: &&PathBuf| below_src(path).components().count() == 1;
    let other = ["lib.rs", "build.rs"];
    let files = source_files();
    let files = files.iter().filter(is_top).filter(|path| !other.contains(&name(path).as_str()));
    files.map(|path| (module_of(path), path.clone())).collect()
}

/// The text without comments, and without the unit tests at its end.
fn code(text: &str) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let is_test = |pair: &[&str]| pair[0] == "#[cfg(test)]" && pair[1].contains("mod ");
    let end = lines.windows(2).position(is_test).unwrap_or(lines.len());
    // What is above a module in braces is this file.
    let mut is_inside = false;
    let lines = lines[..end].iter().map(|line| {
        is_inside = if is_inside { *line != "}" } else { line.contains("mod ") && line.ends_with(" {") };
        if is_inside { line.replacen("super::", "self::", 1) } else { (*line).to_owned() }
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// A path of a `use` or of an expression, segment by segment, and whether it is a re-export.
struct UsedPath {
    segments: Vec<String>,
    is_reexport: bool,
    /// What the last segment is called here.
    alias: String,
}

/// Takes `a::{b, c::{self, d as e}}` apart.
fn expand(tree: &str, before: &[String], is_reexport: bool, found: &mut Vec<UsedPath>) {
    let tree = tree.trim();
    let Some((head, list)) = tree.split_once('{') else {
        let (path, alias) = tree.split_once(" as ").unwrap_or((tree, ""));
        let segments = path.split("::").map(|segment| segment.trim().to_owned()).filter(|segment| segment != "self");
        let segments: Vec<String> = before.iter().cloned().chain(segments).collect();
        let alias = if alias.is_empty() { segments.last().cloned().unwrap_or_default() } else { alias.to_owned() };
        return found.push(UsedPath { segments, is_reexport, alias });
    };
    let head = head.split("::").map(|segment| segment.trim().to_owned()).filter(|segment| !segment.is_empty());
    let before: Vec<String> = before.iter().cloned().chain(head).collect();
    let list = list.rsplit_once('}').expect("a brace that closes").0;
    let (mut depth, mut start) = (0, 0);
    for (at, c) in list.char_indices().chain([(list.len(), ',')]) {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                let item = list[start..at].trim();
                if !item.is_empty() {
                    expand(item, &before, is_reexport, found);
                }
                start = at + 1;
            }
            _ => {}
        }
    }
}

/// The paths that a file names: those of its `use` items, and those in its code that begin with `crate`, `super`, or a module
/// below it.
fn paths(text: &str, below: &BTreeSet<&str>) -> Vec<UsedPath> {
    let text = code(text);
    let (mut found, mut rest) = (Vec::new(), String::new());
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let (visibility, item) = line.trim_start().split_once("use ").unwrap_or(("", ""));
        if item.is_empty() || !(visibility.is_empty() || visibility.starts_with("pub")) {
            rest.extend([line, "\n"]);
            continue;
        }
        let mut item = item.to_owned();
        while !item.contains(';') {
            item.extend([" ", lines.next().expect("the end of a use item").trim()]);
        }
        expand(item.split(';').next().unwrap_or_default(), &[], !visibility.is_empty(), &mut found);
    }
    let is_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    for word in rest.split(|c| !is_path(c)).filter(|word| word.contains("::")) {
        let first = word.split("::").next().unwrap_or_default();
        if ["crate", "super"].contains(&first) || below.contains(first) {
            expand(word.trim_end_matches(':'), &[], false, &mut found);
        }
    }
    found
}

/// The file that a path leads to from `module`, through re-exports; `None` if it leads out of these files.
fn resolve(
    files: &Files,
    all: &BTreeMap<&Vec<String>, Vec<UsedPath>>,
    module: &[String],
    path: &[String],
) -> Option<Vec<String>> {
    let (mut at, mut rest) = match path.first()?.as_str() {
        "crate" => (Vec::new(), &path[1..]),
        "super" => (module.to_vec(), path),
        first => {
            let below: Vec<String> = module.iter().cloned().chain([first.to_owned()]).collect();
            files.contains_key(&below).then_some((below, &path[1..]))?
        }
    };
    while rest.first().is_some_and(|first| first == "super") {
        at.pop()?;
        rest = &rest[1..];
    }
    while let Some(next) = rest.first() {
        let below: Vec<String> = at.iter().cloned().chain([next.clone()]).collect();
        if !files.contains_key(&below) {
            break;
        }
        (at, rest) = (below, &rest[1..]);
    }
    if let Some(item) = rest.first() {
        let reexports = all.get(&at).into_iter().flatten().filter(|path| path.is_reexport);
        if let Some(reexport) = reexports.into_iter().find(|path| path.alias == *item) {
            return resolve(files, all, &at, &reexport.segments);
        }
    }
    files.contains_key(&at).then_some(at)
}

/// Which files each file uses. A re-export is no use: what takes it uses the file that it is from.
fn uses(files: &Files) -> BTreeMap<String, BTreeSet<String>> {
    let below = |module: &Vec<String>| {
        let children = files.keys().filter(|other| other.len() == module.len() + 1 && other.starts_with(module));
        children.filter_map(|child| child.last().map(String::as_str)).collect::<BTreeSet<_>>()
    };
    let all: BTreeMap<&Vec<String>, Vec<UsedPath>> =
        files.iter().map(|(module, path)| (module, paths(&read(path), &below(module)))).collect();
    let uses_of = |module: &Vec<String>| {
        let taken = all[module].iter().filter(|path| !path.is_reexport);
        let used = taken.filter_map(|path| resolve(files, &all, module, &path.segments));
        used.filter(|used| used != module).map(|used| name(&files[&used])).collect()
    };
    files.iter().map(|(module, path)| (name(path), uses_of(module))).collect()
}

/// Files each of which uses the next one, the last one being the first one again; none if there is no circle.
fn circle(uses: &BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
    /// Goes on from the end of `way`.
    fn walk(uses: &BTreeMap<String, BTreeSet<String>>, way: &mut Vec<String>, done: &mut BTreeSet<String>) -> bool {
        let last = way.last().expect("a file to begin with").clone();
        for used in &uses[&last] {
            if let Some(begin) = way.iter().position(|file| file == used) {
                way.drain(..begin);
                way.push(used.clone());
                return true;
            }
            if !done.contains(used) {
                way.push(used.clone());
                if walk(uses, way, done) {
                    return true;
                }
                way.pop();
            }
        }
        done.insert(last);
        false
    }
    let mut done = BTreeSet::new();
    for file in uses.keys() {
        let mut way = vec![file.clone()];
        if !done.contains(file) && walk(uses, &mut way, &mut done) {
            return way;
        }
    }
    Vec::new()
}
