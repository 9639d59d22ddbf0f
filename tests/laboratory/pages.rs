//! The laboratory accepts each of its command lines in the pages.

use histeq_lab::command_line::check;

const PAGES: [&str; 3] = ["src/lab/README.md", "kernels/variants/README.md", "README.md"];

#[test]
fn every_command_line_in_the_pages_is_one_that_the_laboratory_takes() {
    let mut checked = 0;
    for page in PAGES {
        let path = format!("{}/../../{page}", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        // Command lines are in code blocks, or quoted in the text.
        let lines = text.lines().filter(|line| line.starts_with("histeq-lab "));
        let quoted = text.split('`').filter(|part| part.starts_with("histeq-lab ") && !part.contains('\n'));
        for line in lines.chain(quoted) {
            let line = line.split(" #").next().unwrap_or_default();
            let words: Vec<&str> = line.split_whitespace().collect();
            // `SUITE` is a placeholder.
            if words[1].chars().any(char::is_lowercase) || words[1].starts_with('-') {
                assert!(check(&words).is_ok(), "{page}: {line}: {}", check(&words).unwrap_err());
                checked += 1;
            }
        }
    }
    assert!(checked > 20, "only {checked} command lines were found");
}
