//! The tables and the text of `benches/results`.

use super::pattern;
use std::cell::RefCell;
use std::collections::HashMap;
use std::path::PathBuf;
use std::rc::Rc;

/// The content of a page of results.
pub struct Page {
    pub text: String,
    pub tables: Vec<Table>,
}

pub struct Table {
    /// The headings above the table, and the text between the previous table and this one.
    pub intro: String,
    pub columns: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

/// The pages of results; each is read once.
pub struct Results {
    folder: PathBuf,
    pages: RefCell<HashMap<String, Rc<Page>>>,
}

impl Results {
    pub fn new(folder: PathBuf) -> Self {
        Self { folder, pages: RefCell::default() }
    }

    pub fn page(&self, name: &str) -> Result<Rc<Page>, String> {
        if let Some(page) = self.pages.borrow().get(name) {
            return Ok(Rc::clone(page));
        }
        let path = self.folder.join(format!("{name}.md"));
        let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let page = Rc::new(Page { tables: tables(&text), text: text.split_whitespace().collect::<Vec<_>>().join(" ") });
        self.pages.borrow_mut().insert(name.to_owned(), Rc::clone(&page));
        Ok(page)
    }
}

fn cells(line: &str) -> Vec<String> {
    line.trim().trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()
}

fn tables(text: &str) -> Vec<Table> {
    let mut found = Vec::new();
    let (mut intro, mut open) = (String::new(), false);
    for line in text.lines() {
        if !line.starts_with('|') {
            if open {
                intro.clear();
            }
            open = false;
            intro += line;
            intro += "\n";
        } else if !open {
            open = true;
            found.push(Table { intro: intro.clone(), columns: cells(line), rows: Vec::new() });
        } else if !line.starts_with("|-") {
            found.last_mut().expect("a table").rows.push(cells(line));
        }
    }
    found
}

/// Parses a number with commas between thousands.
pub fn number(text: &str) -> f64 {
    text.replace(',', "").parse().unwrap_or_else(|_| panic!("{text} is no number"))
}

/// The numbers of a cell.
pub fn values(cell: &str) -> Vec<f64> {
    pattern::numbers(cell).map(|(_, text)| number(text)).collect()
}

#[test]
fn tables_have_an_intro_columns_and_rows() {
    let found = tables("# A\nhere:\n\n| a | b |\n|---|--:|\n| x | 1.5 ±2 % |\n\nthere:\n\n| a |\n|---|\n| y |\n");
    assert_eq!(found.len(), 2);
    assert!(found[0].intro.contains("here:") && found[0].columns == ["a", "b"] && found[0].rows == [["x", "1.5 ±2 %"]]);
    assert!(found[1].intro.contains("there:") && !found[1].intro.contains("\nhere:"));
    assert_eq!(values("1.5 ±2 %, 1,729"), [1.5, 2.0, 1729.0]);
}
