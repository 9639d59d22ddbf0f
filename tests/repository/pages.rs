//! The README and the other pages: their length, examples and links.

use crate::support::documents::{OPTIONS, pages, read};
use crate::support::programs::program::Dir;
use histeq::internal::spec::parameters::{Look, Named};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

#[test]
fn the_readme_is_short() {
    assert!(read("README.md").len() <= 12 << 10, "README.md has {} bytes", read("README.md").len());
}

#[test]
fn pages_and_results_can_be_read_in_an_afternoon() {
    fn words(folder: &Path) -> usize {
        let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
        let of_entry = |path: PathBuf| match path.extension() {
            None if path.is_dir() => words(&path),
            Some(ending) if ending == "md" => read(&path).split_whitespace().count(),
            _ => 0,
        };
        entries.map(of_entry).sum()
    }
    for folder in ["docs", "benches/results"] {
        let words = words(Path::new(folder));
        assert!((20_000..=40_000).contains(&words), "{folder}: {words} words");
    }
}

#[test]
fn the_readme_cites_this_version() {
    let cited = format!("version = {{{}}}", env!("CARGO_PKG_VERSION"));
    assert!(read("README.md").contains(&cited), "README.md does not cite {cited}");
}

#[test]
fn the_options_page_has_the_numbers_of_each_look() {
    let dir = Dir::new();
    // A clip with haze that is denser towards the top, and with a slight tint.
    let filters = r"format=yuv420p,geq=lum=90-1.6*Y+lum(X\,Y)*Y/70:cb=130+(cb(X\,Y)-128)/5:cr=124+(cr(X\,Y)-128)/5,noise=alls=8:allf=t";
    dir.ffmpeg(&format!("-f lavfi -i testsrc2=size=64x48:rate=25 -vf {filters} -frames:v 20 -c:v ffv1 in.mkv"));
    let pixels = |options: &str| dir.succeeds(&format!("-q {options} --output-format rawvideo in.mkv -")).stdout;
    let page = read(OPTIONS);
    let table = page.split("\n## Looks\n").nth(1).and_then(|rest| rest.split("\n## ").next()).expect("the section");
    let mut rows = table.lines().filter_map(|line| line.strip_prefix("| ")).map(|line| line.split(" | ").collect());
    let options: Vec<&str> = rows.next().expect("a first row");
    let mut seen = BTreeSet::new();
    for row in rows {
        let row: Vec<&str> = row;
        let bare = |cell: &str| cell.trim_matches([' ', '|', '`']).to_owned();
        // A cell with several words, or with a dash, has no value.
        let is_value = |value: &str| !value.is_empty() && value != "–" && !value.contains(' ');
        let pairs = options.iter().zip(&row).skip(2).map(|(option, value)| (bare(option), bare(value)));
        let pairs = pairs.filter(|(_, value)| is_value(value));
        let sign = |option: &str| if option.starts_with("--set ") { '=' } else { ' ' };
        let numbers: String = pairs.map(|(option, value)| format!("{option}{}{value} ", sign(&option))).collect();
        let name = format!("--look {}", bare(row[0]));
        let look = pixels(&name);
        assert!(look == pixels(&format!("{name} {numbers}")), "{name}: not {numbers}");
        assert!(seen.insert(look), "{} looks like another look", row[0]);
    }
    assert_eq!(seen.len(), Look::ALL.len());
    let clahe = pixels("--method clahe");
    assert!(clahe == pixels("--method clahe --max-gain 2 --strength 1") && clahe != pixels(""), "the numbers of clahe");
    let exact = "--look exact --method clahe";
    assert!(pixels(exact) == pixels(&format!("{exact} --max-gain 3 --strength 1")), "the numbers of clahe, exact");
    assert!(pixels("--method deflicker") == pixels("--method deflicker --smooth 1"), "the window of deflicker");
}
#[test]
fn every_link_in_the_pages_leads_to_a_file_and_a_heading_that_exist() {
    let for_contributors = [".github/CONTRIBUTING.md", ".github/SECURITY.md"].map(PathBuf::from);
    for page in pages().into_iter().chain(for_contributors) {
        for target in links(&read(&page)) {
            let (file, heading) = target.split_once('#').unwrap_or((&target, ""));
            let path = match file {
                "" => page.clone(),
                file => page.parent().expect("a folder").join(file),
            };
            assert!(path.exists(), "{}: no file {target}", page.display());
            let anchors = || read(&path).lines().filter_map(anchor).collect::<Vec<_>>();
            assert!(heading.is_empty() || anchors().iter().any(|a| a == heading), "{}: {target}", page.display());
        }
    }
}

#[test]
fn every_page_can_be_reached_from_the_readme() {
    let linked: BTreeSet<PathBuf> = links(&read("README.md")).into_iter().map(PathBuf::from).collect();
    let there = pages().into_iter().filter(|page| page.starts_with("docs"));
    let missing: Vec<PathBuf> = there.filter(|page| !linked.contains(page)).collect();
    assert!(missing.is_empty(), "README.md does not link to {missing:?}");
}

#[test]
fn the_tests_that_hold_what_happens_to_files_of_the_world_are_there() {
    let page = read("docs/reliability.md");
    let section = page.split("\n## ").find(|section| section.starts_with("Files of the world")).expect("the section");
    let named: Vec<&str> = section.split('`').skip(1).step_by(2).filter(|name| name.contains("::")).collect();
    for name in &named {
        let (module, test) = name.rsplit_once("::").expect("a module");
        let path = format!("tests/{}.rs", module.replace("::", "/"));
        assert!(read(&path).contains(&format!("\nfn {test}()")), "{path} has no {test}");
    }
    assert!(named.len() > 40, "{named:?}");
}

/// The targets of links, except web addresses.
fn links(text: &str) -> Vec<String> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    targets.filter(|target| !target.contains("://")).map(str::to_owned).collect()
}

/// The anchor of the heading in this line, as GitHub generates it.
fn anchor(line: &str) -> Option<String> {
    let heading = line.strip_prefix('#')?.trim_start_matches('#').strip_prefix(' ')?;
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    Some(kept.collect::<String>().to_lowercase().replace(' ', "-"))
}
