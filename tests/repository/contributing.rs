//! The lists in CONTRIBUTING.md are complete: those of files that mention a member, and that of scripts.

use crate::support::documents::read;
use crate::support::skip::skip;
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

const PAGE: &str = ".github/CONTRIBUTING.md";

/// A section: the terms that show that a file contains its member, and the files in its table.
struct Recipe {
    name: String,
    /// A file has the member if it contains one word of each of these lists.
    terms: Vec<Vec<String>>,
    /// Files that contain the terms by chance.
    excluded: BTreeSet<String>,
    listed: BTreeSet<String>,
}

fn recipes() -> Vec<Recipe> {
    let text = std::fs::read_to_string(PAGE).expect("the page");
    let sections = text.split("\n### ").skip(1).map(|section| section.split("\n#").next().expect("a section"));
    let recipe = |section: &str| {
        let name = section.lines().next().expect("a heading").to_owned();
        let (_, comment) = section.split_once("<!-- files with: ").unwrap_or_else(|| panic!("{name} has no member"));
        let (comment, _) = comment.split_once(" -->").expect("the comment's end");
        let (words, excluded) = comment.split_once("; not: ").unwrap_or((comment, ""));
        let terms = words.split(" & ").map(|term| term.split('|').map(str::to_owned).collect()).collect();
        let excluded = excluded.split_whitespace().map(str::to_owned).collect();
        let rows = section.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
        Recipe { name, terms, excluded, listed: rows.map(|(file, _)| file.to_owned()).collect() }
    };
    sections.map(recipe).collect()
}

/// The searched files by path, with their texts.
fn texts() -> BTreeMap<String, String> {
    let mut waiting: Vec<PathBuf> =
        ["src", "kernels", "docs", "tests", "README.md", "Cargo.toml"].map(PathBuf::from).into();
    let mut found = BTreeMap::new();
    while let Some(path) = waiting.pop() {
        // The corpus of the fuzzers has words by chance, the changelog by nature, and `built` in the core is a link.
        let is_left_out = path.starts_with("tests/program/fuzz/corpus")
            || path.ends_with("docs/CHANGELOG.md")
            || path.ends_with("src/core/api.txt")
            || path.is_symlink();
        if is_left_out || path.starts_with("tests/repository/contributing.py") || Path::new(file!()).ends_with(&path) {
            continue;
        }
        if path.is_dir() {
            let entries = std::fs::read_dir(&path).expect("a folder");
            waiting.extend(entries.map(|entry| entry.expect("an entry").path()));
        } else if let Ok(text) = std::fs::read_to_string(&path) {
            found.insert(path.to_str().expect("a name in UTF-8").to_owned(), text);
        }
    }
    found
}

/// Does `text` contain `word` as a whole word?
fn has(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(index, _)| {
        let (before, behind) = (text[..index].chars().next_back(), text[index + word.len()..].chars().next());
        !before.is_some_and(is_part) && !behind.is_some_and(is_part)
    })
}

#[test]
fn the_lists_have_each_file_that_a_member_is_in() {
    let texts = texts();
    let recipes = recipes();
    let mut wrong = Vec::new();
    for recipe in &recipes {
        let has_all = |text: &str| recipe.terms.iter().all(|words| words.iter().any(|word| has(text, word)));
        let found = texts.iter().filter(|(_, text)| has_all(text)).map(|(path, _)| path.clone());
        let found: BTreeSet<String> = found.filter(|path| !recipe.excluded.contains(path)).collect();
        assert!(!found.is_empty(), "{}: its member is nowhere", recipe.name);
        let missing = found.difference(&recipe.listed);
        wrong.extend(missing.map(|file| format!("{} does not list {file}, where such a member is", recipe.name)));
        let gone = recipe.listed.iter().chain(&recipe.excluded).filter(|file| !Path::new(file).exists());
        wrong.extend(gone.map(|file| format!("{} names {file}, which is gone", recipe.name)));
    }
    assert!(recipes.len() >= 8, "{} recipes", recipes.len());
    assert!(wrong.is_empty(), "{PAGE}:\n{}", wrong.join("\n"));
}

#[test]
fn each_script_is_a_step_of_ci_or_in_the_list_of_what_that_leaves_out() {
    let (steps, page) = (read(".ci/run"), read(PAGE));
    let (_, list) = page.split_once("\nWhat `.ci/run` leaves out").expect("the list");
    let (list, _) = list.split_once("\n\nWhere").expect("the end of the list");
    let is_program = |path: &str| std::fs::metadata(path).is_ok_and(|file| file.permissions().mode() & 0o100 != 0);
    let scripts: Vec<String> = texts().into_keys().filter(|path| path.ends_with(".sh") && is_program(path)).collect();
    assert!(scripts.len() > 15, "{scripts:?}");
    for script in scripts {
        let is_step = steps.lines().any(|line| line.starts_with(&format!("step {script}")));
        assert!(is_step || list.contains(&format!("`{script}`")), "{script} is in neither");
    }
    let named = list.split('`').skip(1).step_by(2).map(|name| name.split(' ').next().unwrap_or_default());
    for name in named.filter(|name| name.contains('/') && !name.starts_with("target")) {
        assert!(Path::new(name).exists(), "{PAGE} names {name}, which is gone");
    }
}

#[test]
fn the_scratch_changes_find_what_they_replace() {
    match Command::new("tests/repository/contributing.py").arg("--texts").output() {
        Ok(done) => assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr)),
        Err(_) => skip("contributing.py", "no python3"),
    }
}

#[test]
fn a_word_is_found_by_itself_alone() {
    assert!(has("a --max-gain 2", "max-gain") && has("Backend::Cuda)", "Backend::Cuda"));
    assert!(!has("keeps_peaks", "keeps_peak") && !has("pub keeps_peak_of", "keeps_peak"));
}
