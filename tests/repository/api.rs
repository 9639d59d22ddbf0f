//! The public API of `histeq`: `src/core/api.txt` lists it, it is small, it names every type that it uses, and the
//! libraries for other hosts use nothing else.

use crate::support::skip::is_here;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

const LIST: &str = "src/core/api.txt";

/// The most items: types, functions, methods, constants, fields and variants.
const MAX_ITEMS: usize = 600;

/// The crates for other hosts.
const HOSTS: [&str; 5] = ["src/c", "src/python", "src/vapoursynth", "src/frei0r", "src/wasm"];

/// What rustdoc tells about the crate.
struct Crate {
    documentation: Value,
    /// The items of the API, by their ids, and the lines about them.
    listed: BTreeSet<String>,
    lines: BTreeSet<String>,
    /// The ids of the types that signatures name.
    named: BTreeMap<String, String>,
}

/// An id is a number in newer versions of rustdoc, a text in older ones.
fn id(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// The kind of an item, and what is told about this kind.
fn kind(item: &Value) -> (&str, &Value) {
    item["inner"].as_object().and_then(|inner| inner.iter().next()).map_or(("", &Value::Null), |(kind, it)| (kind, it))
}

impl Crate {
    fn read() -> Self {
        let mut rustdoc = Command::new(std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned()));
        rustdoc.args(["rustdoc", "--quiet", "--locked", "-p", "histeq", "--target-dir", "target/api", "--"]);
        // With this variable, a stable compiler takes unstable options.
        rustdoc.args(["-Z", "unstable-options", "--output-format", "json"]).env("RUSTC_BOOTSTRAP", "1");
        let done = rustdoc.output().expect("cargo can be started");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let text = std::fs::read("target/api/doc/histeq.json").expect("the documentation");
        let documentation: Value = serde_json::from_slice(&text).expect("JSON");
        let root = id(&documentation["root"]);
        let mut read = Crate { documentation, listed: BTreeSet::new(), lines: BTreeSet::new(), named: BTreeMap::new() };
        let items: Vec<Value> = list(&read.item(&root)["inner"]["module"]["items"]).cloned().collect();
        for item in items {
            let (kind, it) = kind(read.item(&id(&item)));
            match (kind, it["name"].as_str().map(str::to_owned), id(&it["id"])) {
                ("use", Some(name), target) => read.add(&target, &name),
                _ => {
                    let name = read.item(&id(&item))["name"].as_str().expect("a name").to_owned();
                    read.add(&id(&item), &name);
                }
            }
        }
        read
    }

    fn item(&self, id: &str) -> &Value {
        &self.documentation["index"][id]
    }

    /// Adds the item with this id, which is called `name`, and what belongs to it.
    fn add(&mut self, item_id: &str, name: &str) {
        let item = self.item(item_id).clone();
        assert!(!item.is_null(), "{name} is exported and not documented");
        self.listed.insert(item_id.to_owned());
        let (kind, it) = kind(&item);
        match kind {
            "struct" | "union" | "enum" | "trait" => {
                self.lines.insert(format!("{kind} {name}"));
                let fields = it["kind"]["plain"]["fields"].clone();
                let tuple = it["kind"]["tuple"].clone();
                let members = [&fields, &tuple, &it["variants"], &it["items"]].map(|ids| list(ids).map(id).collect());
                let members: Vec<String> = members.into_iter().flat_map(|ids: Vec<String>| ids).collect();
                members.iter().for_each(|member| self.add_member(member, name));
                for block in list(&it["impls"]).map(id).collect::<Vec<_>>() {
                    let block = self.item(&block)["inner"]["impl"].clone();
                    if block["trait"].is_null() {
                        list(&block["items"]).for_each(|member| self.add_member(&id(member), name));
                    }
                }
            }
            _ => self.add_line(name, kind, it),
        }
    }

    /// Adds a field, variant, method or constant of the type `owner`, if it is documented.
    fn add_member(&mut self, member: &str, owner: &str) {
        let item = self.item(member).clone();
        let Some(name) = item["name"].as_str() else { return };
        let (kind, it) = kind(&item);
        let path = format!("{owner}::{name}");
        self.add_line(&path, kind, it);
        let fields = list(&it["kind"]["struct"]["fields"]).chain(list(&it["kind"]["tuple"]));
        for field in fields.map(id).collect::<Vec<_>>() {
            let item = self.item(&field).clone();
            if kind_is_named(&item) {
                self.add_member(&field, &path);
            } else if !item.is_null() {
                self.name_types(&item["inner"]["struct_field"], &path);
            }
        }
    }

    fn add_line(&mut self, path: &str, kind: &str, it: &Value) {
        self.name_types(it, path);
        let signature = match kind {
            "function" => signature(it),
            "struct_field" => format!(": {}", type_of(it)),
            "assoc_const" | "constant" | "static" | "type_alias" => format!(": {}", type_of(&it["type"])),
            "variant" => String::new(),
            other => format!(" ({other})"),
        };
        let word = match kind {
            "function" => "fn",
            "struct_field" => "field",
            "assoc_const" => "const",
            other => other,
        };
        self.lines.insert(format!("{word} {path}{signature}"));
    }

    /// Notes the types that `it` names, for the item `path`.
    fn name_types(&mut self, it: &Value, path: &str) {
        match it {
            Value::Object(entries) => {
                for (key, value) in entries {
                    if ["resolved_path", "trait"].contains(&key.as_str()) && value["id"] != Value::Null {
                        self.named.entry(id(&value["id"])).or_insert_with(|| path.to_owned());
                    }
                    self.name_types(value, path);
                }
            }
            Value::Array(values) => values.iter().for_each(|value| self.name_types(value, path)),
            _ => {}
        }
    }
}

/// Whether a field has a name, not a number.
fn kind_is_named(item: &Value) -> bool {
    item["name"].as_str().is_some_and(|name| !name.starts_with(|first: char| first.is_ascii_digit()))
}

fn signature(function: &Value) -> String {
    let inputs = list(&function["sig"]["inputs"]).map(|input| {
        let (name, kind) = (input[0].as_str().unwrap_or_default(), type_of(&input[1]));
        match (name, kind.as_str()) {
            ("self", "Self") => "self".to_owned(),
            ("self", "&Self") => "&self".to_owned(),
            ("self", "&mut Self") => "&mut self".to_owned(),
            _ => format!("{name}: {kind}"),
        }
    });
    let inputs = inputs.collect::<Vec<_>>().join(", ");
    let output = &function["sig"]["output"];
    let result = if output.is_null() { String::new() } else { format!(" -> {}", type_of(output)) };
    let is_unsafe = function["header"]["is_unsafe"] == true;
    format!("({inputs}){result}{}", if is_unsafe { " (unsafe)" } else { "" })
}

/// A path with its arguments, without lifetimes.
fn path_of(path: &Value) -> String {
    let name = path["path"].as_str().or(path["name"].as_str()).unwrap_or_default();
    let name = name.rsplit("::").next().unwrap_or_default();
    let angle = list(&path["args"]["angle_bracketed"]["args"]).filter_map(|one| one.get("type")).map(type_of);
    let angle: Vec<String> = angle.collect();
    let constraints = list(&path["args"]["angle_bracketed"]["constraints"]).map(|one| {
        let bound = &one["binding"]["equality"]["type"];
        format!("{} = {}", one["name"].as_str().unwrap_or_default(), type_of(bound))
    });
    let angle: Vec<String> = angle.into_iter().chain(constraints).collect();
    let parenthesized = &path["args"]["parenthesized"];
    let mut text = name.to_owned();
    if !angle.is_empty() {
        let _ = write!(text, "<{}>", angle.join(", "));
    }
    if !parenthesized.is_null() {
        let inputs: Vec<String> = list(&parenthesized["inputs"]).map(type_of).collect();
        let _ = write!(text, "({})", inputs.join(", "));
        if !parenthesized["output"].is_null() {
            let _ = write!(text, " -> {}", type_of(&parenthesized["output"]));
        }
    }
    text
}

fn bounds_of(bounds: &Value) -> String {
    let traits = list(bounds).filter_map(|bound| {
        let bound = if bound["trait_bound"].is_null() { bound } else { &bound["trait_bound"] };
        bound.get("trait").map(path_of)
    });
    traits.collect::<Vec<_>>().join(" + ")
}

fn type_of(kind: &Value) -> String {
    let Some((key, it)) = kind.as_object().and_then(|kind| kind.iter().next()) else { return "_".to_owned() };
    let all = |types: &Value| list(types).map(type_of).collect::<Vec<_>>().join(", ");
    match key.as_str() {
        "resolved_path" => path_of(it),
        "primitive" | "generic" => it.as_str().unwrap_or_default().to_owned(),
        "borrowed_ref" => {
            format!("&{}{}", if it["is_mutable"] == true { "mut " } else { "" }, type_of(&it["type"]))
        }
        "tuple" => format!("({})", all(it)),
        "slice" => format!("[{}]", type_of(it)),
        "array" => format!("[{}; {}]", type_of(&it["type"]), it["len"].as_str().unwrap_or_default()),
        "impl_trait" => format!("impl {}", bounds_of(it)),
        "dyn_trait" => format!("dyn {}", bounds_of(&it["traits"])),
        "qualified_path" => format!("{}::{}", type_of(&it["self_type"]), it["name"].as_str().unwrap_or_default()),
        "function_pointer" => format!("fn{}", signature(it)),
        other => other.to_owned(),
    }
}

#[test]
fn the_api_is_the_one_that_is_listed_and_names_every_type_that_it_uses() {
    if !is_here("cargo") {
        return;
    }
    let api = Crate::read();
    let list: String = api.lines.iter().map(|line| format!("{line}\n")).collect();
    if std::env::var_os("HISTEQ_REGENERATE").is_some() {
        std::fs::write(LIST, &list).expect("the file can be written");
    }
    let file = std::fs::read_to_string(LIST).expect("the file can be read");
    let (was, is): (BTreeSet<&str>, BTreeSet<&str>) = (file.lines().collect(), list.lines().collect());
    let [gone, added] = [was.difference(&is).collect::<Vec<_>>(), is.difference(&was).collect()];
    assert!(file == list, "{LIST}: HISTEQ_REGENERATE=1 writes it. Gone: {gone:#?}, added: {added:#?}");
    assert!((300..=MAX_ITEMS).contains(&is.len()), "{} items, {MAX_ITEMS} at most", is.len());
    let local = |id: &str| api.documentation["paths"][id]["crate_id"] == 0 || !api.item(id).is_null();
    let unnamed: Vec<_> = api.named.iter().filter(|(id, _)| local(id) && !api.listed.contains(*id)).collect();
    assert!(unnamed.is_empty(), "the API names types that callers cannot: {unnamed:?}");
}

#[test]
fn hosts_use_the_api_alone() {
    for folder in HOSTS {
        let entries = std::fs::read_dir(Path::new(folder)).expect("a folder");
        let paths = entries.map(|entry| entry.expect("an entry").path());
        for path in paths.filter(|path| path.extension().is_some_and(|ending| ending == "rs")) {
            let text = std::fs::read_to_string(&path).expect("a file that can be read");
            assert!(!text.contains("internal::"), "{} uses what is not in {LIST}", path.display());
        }
    }
}

#[test]
fn the_library_names_options_and_no_flags() {
    fn sources(folder: &Path) -> Vec<std::path::PathBuf> {
        let entries = std::fs::read_dir(folder).expect("a folder");
        let paths = entries.map(|entry| entry.expect("an entry").path());
        paths.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] }).collect()
    }
    let sources =
        sources(Path::new("src/core")).into_iter().filter(|path| path.extension().is_some_and(|it| it == "rs"));
    let mut wrong = Vec::new();
    // In the table, which every host reads, `--name` is the name of an option.
    for path in sources.filter(|path| !path.ends_with("options/table.rs")) {
        let text = std::fs::read_to_string(&path).expect("a file that can be read");
        let code = text.split("\n#[cfg(test)]\nmod tests").next().unwrap_or_default();
        let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
        let has_flag =
            |line: &&str| line.split("--").skip(1).any(|rest| rest.starts_with(|c: char| c.is_ascii_lowercase()));
        wrong.extend(lines.filter(has_flag).map(|line| format!("{}: {}", path.display(), line.trim())));
    }
    assert!(wrong.is_empty(), "a caller of the library has no command line:\n{}", wrong.join("\n"));
}
