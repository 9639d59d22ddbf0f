//! Rules for names: none is a preposition, constants that are limits begin with `MAX` or `MIN`, and type names are
//! unique. Cargo runs these tests in the repository's root.

use super::code::{sources, words};
use crate::support::documents::read;
use std::collections::{BTreeMap, BTreeSet};

/// Names that no parameter and no variable may have.
const PREPOSITIONS: [&str; 6] = ["of", "from", "to", "at", "own", "others"];

/// Words that no constant may be, or begin with.
const SUPERLATIVES: [&str; 6] = ["MOST", "LEAST", "FEWEST", "LONGEST", "SHORTEST", "OF"];

/// In each file of this folder, one `from` is a macro keyword (`every Launcher from FILE`), not a name.
const MACROS: &str = "src/core/cuda/kernels/";

/// Type names that may occur several times, with the reason.
const SHARED: [(&str, &str); 4] = [
    ("Equalizer", "that of JavaScript is called as that of Rust"),
    ("Error", "that of a GPU, and of FFmpeg, is made into that of the library"),
    ("Input", "of the library an array, of the program a file or a camera"),
    ("Result", "that of a crate's own errors"),
];

/// The functions, parameters and variables of a text whose name is a preposition or begins with `of_`.
fn prepositions(text: &str) -> Vec<String> {
    let words = words(text);
    let word = |index: usize| words.get(index).copied().unwrap_or_default();
    let mut found = Vec::new();
    for index in 1..words.len() {
        let (before, name, behind) = (word(index - 1), word(index), word(index + 1));
        let is_function = before == "fn" && (name == "of" || name.starts_with("of_"));
        // Methods and paths of other crates may be called `from`. A name before a colon may be a field, and is
        // skipped: a parameter of that name is found where it is used.
        let is_other = [".", "::", "fn"].contains(&before) || ["::", ":"].contains(&behind);
        if is_function || (PREPOSITIONS.contains(&name) && !is_other) {
            found.push(format!("{before} {name} {behind}"));
        }
    }
    found
}

#[test]
fn no_function_parameter_or_variable_is_called_by_a_preposition() {
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        let found = prepositions(&text);
        if found.len() > usize::from(path.starts_with(MACROS)) {
            wrong.push(format!("{path}: {}", found.join("; ")));
        }
    }
    assert!(wrong.is_empty(), "name them for what they are:\n{}", wrong.join("\n"));
}

#[test]
fn constants_that_limit_are_called_max_and_min() {
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        let words = words(&text);
        for pair in words.windows(2).filter(|pair| ["const", "static"].contains(&pair[0])) {
            if SUPERLATIVES.contains(&pair[1].split('_').next().unwrap_or_default()) {
                wrong.push(format!("{path}: {}", pair[1]));
            }
        }
    }
    assert!(wrong.is_empty(), "MAX_ and MIN_ say it:\n{}", wrong.join("\n"));
}

/// The types that a text defines, without associated types of trait implementations.
fn types(text: &str) -> BTreeSet<&str> {
    let mut found = BTreeSet::new();
    // For each open brace: does it belong to an `impl` or a trait? `is_next` is the answer for the next brace.
    let (mut open, mut is_next) = (Vec::<bool>::new(), false);
    for pair in words(text).windows(2) {
        let is_type = match pair[0] {
            "struct" | "enum" | "union" | "trait" => true,
            "type" => open.last() != Some(&true),
            _ => false,
        };
        if is_type && pair[1].starts_with(char::is_uppercase) {
            found.insert(pair[1]);
        }
        match pair[0] {
            "impl" | "trait" => is_next = true,
            ";" => is_next = false,
            "{" => open.push(std::mem::take(&mut is_next)),
            "}" => {
                open.pop();
            }
            _ => {}
        }
    }
    found
}

/// The files in `src` that define a type, by the type's name and the crate's folder. Types of unit tests do not count,
/// nor do those of `without_` files, which repeat the types of the files that they replace.
fn definitions(sources: &BTreeMap<String, String>) -> BTreeMap<(&str, &str), BTreeSet<&str>> {
    let mut found: BTreeMap<_, BTreeSet<&str>> = BTreeMap::new();
    for (path, text) in sources {
        let below = path.strip_prefix("src/").and_then(|below| below.split_once('/'));
        let Some((folder, _)) = below.filter(|_| !path.contains("/without_")) else { continue };
        let tests = text.find("\n#[cfg(test)]\nmod tests").unwrap_or(text.len());
        for name in types(&text[..tests]) {
            found.entry((name, folder)).or_default().insert(path);
        }
    }
    found
}

fn is_shared(name: &str) -> bool {
    SHARED.iter().any(|(shared, _)| *shared == name)
}

#[test]
fn no_crate_has_two_types_of_one_name() {
    let sources = sources();
    let several = definitions(&sources).into_iter().filter(|((name, _), files)| files.len() > 1 && !is_shared(name));
    let wrong: Vec<String> = several.map(|((name, _), files)| format!("{name}: {files:?}")).collect();
    assert!(wrong.is_empty(), "{} names of several types, which say too little:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn no_other_type_has_a_name_that_the_library_exports() {
    let sources = sources();
    let exports = sources["src/core/lib.rs"].split("\npub use ").skip(1).filter_map(|rest| rest.split(';').next());
    let exported: BTreeSet<&str> =
        exports.flat_map(words).filter(|word| word.starts_with(char::is_uppercase)).collect();
    assert!(exported.contains("Look"), "the names of the library were not found");
    let definitions = definitions(&sources);
    let taken = definitions.iter().filter(|((name, folder), _)| *folder != "core" && exported.contains(name));
    let wrong: Vec<String> = taken
        .filter(|((name, _), _)| !is_shared(name))
        .map(|((name, _), files)| format!("{name}: {files:?}"))
        .collect();
    assert!(wrong.is_empty(), "they mean what they mean in `histeq`:\n{}", wrong.join("\n"));
}

#[test]
fn a_term_of_the_glossary_is_one_type() {
    let page = read("docs/internals.md");
    let glossary =
        page.split("\n## Glossary\n").nth(1).and_then(|rest| rest.split("\n## ").next()).expect("a glossary");
    let entries = glossary.lines().filter_map(|line| line.strip_prefix("* `")?.split('`').next());
    let entries: Vec<&str> = entries.collect();
    assert!(entries.len() > 9, "the entries of the glossary were not found");
    let sources = sources();
    let definitions = definitions(&sources);
    for entry in entries {
        let files: Vec<&BTreeSet<&str>> =
            definitions.iter().filter(|((name, _), _)| *name == entry).map(|(_, files)| files).collect();
        assert!(files.iter().map(|files| files.len()).sum::<usize>() == 1, "{entry}: {files:?}");
    }
}

#[test]
fn types_are_found_where_they_are_defined() {
    let text = "pub struct A<T>(T); macro! { enum B { C } } trait D { type E; } impl D for A<u8> { type E = F; }
        type G = u8; fn f(x: impl Fn()) {} mod m { union H { x: u8 } } // struct I;
        #[doc = \"struct J;\"] unsafe trait K {}";
    assert_eq!(types(text), BTreeSet::from(["A", "B", "D", "G", "H", "K"]));
}

#[test]
fn prepositions_are_found_in_code_alone() {
    let bad = ["fn of(x: u8) {}", "fn of_x() {}", "let to = 1;", "f(|at| at + 1)", "fn f(own: u8) { g(own) }"];
    assert!(bad.iter().all(|text| !prepositions(text).is_empty()), "{:?}", bad.map(prepositions));
    let good = [
        "// to be or not",
        "x(\"to\\\" at\", 'a', r#\"of \"at\" own\"#)",
        "u8::from(1).at(2)",
        "#[serde(from = \"X\")] struct A;",
        "A { to: 1 }",
        "fn f<'at>(x: &'at u8) {}",
    ];
    assert!(good.iter().all(|text| prepositions(text).is_empty()), "{:?}", good.map(prepositions));
}
