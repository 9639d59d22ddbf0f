//! The code of the repository as words, for rules about it.

use std::collections::BTreeMap;
use std::path::Path;

/// Adds the Rust files in this folder and below, with their texts.
fn add_sources(folder: &Path, found: &mut BTreeMap<String, String>) {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for path in entries.map(|entry| entry.expect("an entry that can be read").path()) {
        if path.is_dir() && !path.is_symlink() {
            add_sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            found.insert(path.display().to_string(), text);
        }
    }
}

/// The texts of all Rust files, by path.
pub fn sources() -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for folder in ["src", "tests", "benches", "samples"] {
        add_sources(Path::new(folder), &mut found);
    }
    found
}

/// The length in bytes of the comment, string, character or attribute at the start of `text`, or 0.
fn skipped(text: &str) -> usize {
    let up_to = |start: usize, end: &str| text[start..].find(end).map_or(text.len(), |found| start + found + end.len());
    let raw = text.strip_prefix(['b', 'c']).unwrap_or(text);
    let hashes = raw.strip_prefix('r').map(|rest| rest.len() - rest.trim_start_matches('#').len());
    if let Some(hashes) = hashes.filter(|hashes| raw[1 + hashes..].starts_with('"')) {
        let quote = text.find('"').expect("a quote");
        return up_to(quote + 1, &format!("\"{}", "#".repeat(hashes)));
    }
    if text.starts_with("//") {
        return text.find('\n').unwrap_or(text.len());
    }
    if text.starts_with("/*") {
        return up_to(2, "*/");
    }
    if text.starts_with("#[") || text.starts_with("#![") {
        // An attribute ends with the matching bracket; strings in attributes contain no brackets.
        let mut depth = 0;
        let closes = |c: char| {
            depth += i32::from(c == '[') - i32::from(c == ']');
            c == ']' && depth == 0
        };
        return text.find(closes).map_or(text.len(), |end| end + 1);
    }
    let quoted = text.starts_with('"') || text.starts_with("'\\") || text.chars().nth(2) == Some('\'');
    let quote = text.chars().next().filter(|quote| ['"', '\''].contains(quote) && quoted);
    let Some(quote) = quote else { return 0 };
    let mut escaped = false;
    let ends = |c: char| {
        let is_end = c == quote && !escaped;
        escaped = c == '\\' && !escaped;
        is_end
    };
    text[1..].find(ends).map_or(text.len(), |end| end + 2)
}

/// The names and operators of code, without comments, strings and attributes. `::` and `..` are single words.
pub fn words(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let length = match skipped(rest) {
            0 if is_part(c) || c == '\'' => {
                let behind = &rest[c.len_utf8()..];
                rest.len() - behind.trim_start_matches(is_part).len()
            }
            0 if rest.starts_with("::") || rest.starts_with("..") => 2,
            0 => c.len_utf8(),
            length => {
                rest = &rest[length..];
                continue;
            }
        };
        if !c.is_whitespace() {
            found.push(&rest[..length]);
        }
        rest = &rest[length..];
    }
    found
}
