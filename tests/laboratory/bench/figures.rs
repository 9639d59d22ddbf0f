//! `bench --compare references`: the publications' figures next to ours.

use crate::support::programs::program::Dir;
use histeq::Named;
use histeq_lab::bench::Suite;

#[test]
fn comparison_names_the_hardware_and_shows_both_figures() {
    let dir = Dir::new();
    let line = "--compare references --backend cpu --quick --repeat 1 --warmup 0";
    let text = String::from_utf8(dir.succeeds(line).stdout).expect("text");
    for words in [
        "NVIDIA RTX 3060 Ti",
        "NVIDIA GTX 1650",
        "NVIDIA GTX 1050 Ti",
        "NVIDIA GeForce GTX 285",
        " 0.372956 |",
        " 1.2848 |",
        " 17.5 |",
        "### table 5 (ms)",
        "does not say whether the copies up and down are included",
    ] {
        assert!(text.contains(words), "{words} in {text}");
    }
    let with_figures = Suite::ALL.iter().filter(|suite| suite.has_references());
    assert_eq!(with_figures.count(), text.matches("beside the publications").count());
}

#[test]
fn our_table_has_the_rows_and_columns_of_theirs() {
    let run = Dir::new().succeeds("luminance --compare references --backend cpu --repeat 1 --warmup 0");
    let text = String::from_utf8(run.stdout).expect("text");
    assert!(text.contains("\nHere: "), "{text}");
    let cpu: Vec<Vec<&str>> = text
        .lines()
        .filter(|line| line.starts_with("| CPU"))
        .map(|line| line.split('|').map(str::trim).collect())
        .collect();
    // The publication's figure, its method on this machine, and our method.
    assert_eq!(cpu.len(), 3, "{text}");
    assert_eq!(cpu[0], ["", "CPU", "17.5", ""]);
    let [same, ours] = [1, 2].map(|row: usize| cpu[row][2].parse::<f64>().unwrap_or_else(|_| panic!("{text}")));
    assert!(same > 0.0 && ours > 0.0);
    assert_eq!(text.matches("| 1280x1024 ").count(), 4, "{text}");
}
