//! The modules keep to the table in `src/lib.rs`: prose rots, a test does not. Cargo runs tests in the
//! repository's root, where the sources are.

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

#[test]
fn unsafe_code_is_only_in_files_with_a_permit() {
    for path in source_files() {
        let text = read(&path);
        let permitted = text.contains("allow(unsafe_code");
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        let uses = code
            .filter(|line| ["unsafe {", "unsafe fn", "unsafe impl", "unsafe extern"].iter().any(|u| line.contains(u)));
        assert!(permitted || uses.count() == 0, "{} has unsafe code and no permit", below_src(&path).display());
    }
}
