//! The rooms of the house keep to the table in `src/lib.rs`: prose rots, a test does not. Cargo runs tests in the
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

/// Each room and the rooms that it may use, as the table says.
fn table() -> BTreeMap<String, BTreeSet<String>> {
    let text = read(Path::new("src/lib.rs"));
    let rows = text.lines().filter_map(|line| line.strip_prefix("//! | [`"));
    let rooms: Vec<(String, String)> = rows
        .map(|row| {
            let (name, rest) = row.split_once("`]").expect("a room's name");
            let uses = rest.trim_end().trim_end_matches('|').rsplit('|').next().unwrap_or_default();
            (name.to_owned(), uses.to_owned())
        })
        .collect();
    let all: BTreeSet<String> = rooms.iter().map(|(name, _)| name.clone()).collect();
    let listed = |uses: &str| match uses.trim() {
        "everything" => all.clone(),
        uses => uses.split(',').map(|room| room.trim().to_owned()).filter(|room| !room.is_empty()).collect(),
    };
    rooms.iter().map(|(name, uses)| (name.clone(), listed(uses))).collect()
}

/// The rooms that a text names as `crate::room`, alone or in a list in braces.
fn rooms_named(text: &str) -> BTreeSet<String> {
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
fn each_room_uses_only_what_its_row_names() {
    let table = table();
    for path in source_files() {
        let below = below_src(&path);
        let Some(room) = below.components().next().filter(|_| below.components().count() > 1) else { continue };
        let room = room.as_os_str().to_string_lossy().into_owned();
        let may_use = table.get(&room).unwrap_or_else(|| panic!("room {room} has no row in src/lib.rs"));
        for used in rooms_named(&read(&path)) {
            assert!(used == room || may_use.contains(&used), "{} uses {used}, its row does not", below.display());
        }
    }
}

#[test]
fn the_table_has_lower_rooms_first_and_no_room_that_is_gone() {
    let text = read(Path::new("src/lib.rs"));
    let order: Vec<&str> =
        text.lines().filter_map(|line| line.strip_prefix("//! | [`")?.split_once("`]").map(|(name, _)| name)).collect();
    let place = |room: &str| order.iter().position(|name| *name == room);
    let table = table();
    for (room, uses) in &table {
        assert!(text.contains(&format!("mod {room};")), "{room} has a row but is no module");
        for used in uses.iter().filter(|used| *used != room && uses.len() < table.len()) {
            assert!(place(used) < place(room), "{room} uses {used}, which stands below it in the table");
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
