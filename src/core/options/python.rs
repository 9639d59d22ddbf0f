//! Names of options in Python: as arguments of our Python module, and of VapourSynth scripts.

use super::OPTIONS;

/// The name of an option in Python: `max_gain`.
pub fn python_name(name: &str) -> String {
    name.replace('-', "_")
}

/// A text of the library, with the names of options converted for Python: `--max-gain` and `max-gain` become
/// `max_gain`.
pub fn in_python(text: &str) -> String {
    let mut parts = text.split("--");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|letter: char| !letter.is_ascii_lowercase() && letter != '-').unwrap_or(part.len());
        let name = part[..end].trim_end_matches('-');
        if name.is_empty() {
            out.push_str("--");
        }
        out.push_str(&python_name(name));
        out.push_str(&part[name.len()..]);
    }
    // A look-ahead is no option in every text.
    let names = OPTIONS.iter().map(|option| option.name).filter(|name| name.contains('-') && *name != "look-ahead");
    names.fold(out, |text, name| text.replace(name, &python_name(name)))
}
