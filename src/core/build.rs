//! Translates the structures that kernels take by value to Rust. `kernels/headers/arguments.cuh` alone declares them.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// A symbolic link to `kernels/headers/arguments.cuh`.
const HEADER: &str = "arguments.cuh";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed={HEADER}");
    let header = std::fs::read_to_string(HEADER).expect("the structures of the kernels");
    let folder = std::env::var_os("OUT_DIR").expect("a folder for what is generated");
    std::fs::write(Path::new(&folder).join("structures.rs"), in_rust(&header))
        .expect("a folder that can be written to");
}

/// The constants and the structures of the header, as Rust code.
fn in_rust(header: &str) -> String {
    let (mut rust, mut about) = (String::new(), String::new());
    let (mut constants, mut names) = (BTreeMap::new(), Vec::new());
    for line in header.lines().map(str::trim) {
        let (code, comment) = line.split_once("//").unwrap_or((line, ""));
        let code = code.trim().trim_start_matches("constexpr unsigned ").trim_start_matches("enum : unsigned { ");
        let constant = code.split_once(" = ").filter(|(name, _)| name.chars().all(|c| c.is_uppercase() || c == '_'));
        if code.is_empty() {
            about = if comment.is_empty() { String::new() } else { about + "/// " + comment.trim() + "\n" };
        } else if let Some((name, value)) = constant {
            let value = value.split(['u', ';', ' ']).next().unwrap_or_default();
            // Only constants that are numbers can be lengths of arrays.
            if let Ok(number) = value.parse::<usize>() {
                constants.insert(name.to_owned(), number);
            }
        } else if let Some(name) = code.strip_prefix("struct ").and_then(|code| code.strip_suffix(" {")) {
            names.push(name.to_owned());
            let _ = writeln!(rust, "by_value! {{ {about}pub struct {name} {{");
        } else if code == "};" {
            rust += "} }\n";
        } else if let Some(field) = code.strip_suffix(';').filter(|_| !names.is_empty()) {
            let mut parts = field.split(['[', ']']).filter(|part| !part.is_empty());
            let (kind, name) = parts.next().and_then(|part| part.rsplit_once(' ')).expect("a type and a name");
            let lengths: Vec<&str> = parts.collect();
            let array = |kind: String, length: &&str| format!("[{kind}; {}]", length_of(length, &constants));
            let kind = lengths.iter().rev().fold(type_of(kind), array);
            let _ = writeln!(rust, "    pub {name}: {kind},");
        }
    }
    let list: String = names.iter().map(|name| format!("{name}::STRUCTURE, ")).collect();
    let constant = |(name, value): (&String, &usize)| format!("/// As there.\npub const {name}: usize = {value};\n");
    let constants: String = constants.iter().map(constant).collect();
    format!("{rust}{constants}/// All of them.\n#[doc(hidden)]\npub const STRUCTURES: &[Structure] = &[{list}];\n")
}

/// The Rust type of a type in the header. Pointers, which are GPU addresses, become `u64`.
fn type_of(kind: &str) -> String {
    match kind {
        "unsigned" => "u32",
        "int" => "i32",
        "unsigned short" => "u16",
        "unsigned long long" => "u64",
        "long long" => "i64",
        address if address.ends_with('*') => "u64",
        structure => structure,
    }
    .to_owned()
}

/// The length of an array: numbers and constants, multiplied.
fn length_of(length: &str, constants: &BTreeMap<String, usize>) -> usize {
    let factor = |factor: &str| factor.parse().unwrap_or_else(|_| constants[factor]);
    length.split(" * ").map(factor).product()
}
