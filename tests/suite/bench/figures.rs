//! The publications' figures, and ours beside them.

use crate::program::Dir;
use histeq_video::bench::{PUBLICATIONS, Suite, figures};

/// What the publications say, picked from all over them.
#[test]
fn figures_are_those_of_the_documents() {
    let figures = figures();
    for (publication, case, stated) in [
        ("cuda-naive-vs-optimized", "CPU total, 910x682", "7946"),
        ("cuda-naive-vs-optimized", "equalize, 5120x2880", "11958"),
        ("cuda-naive-vs-optimized", "GPU total, 512x384", "771"),
        ("cuda-naive-vs-optimized", "total, naive", "108304"),
        ("cuda-naive-vs-optimized", "histogram, optimized", "5083"),
        ("opencl-blelloch-scan", "CPU, big.png 3072x2048", "1.2848"),
        ("opencl-blelloch-scan", "GPU, reduction, bog.png 874x544", "0.0890"),
        ("opencl-blelloch-scan", "GPU, min, car.png 600x338", "0.0260"),
        ("cuda-three-scans", "C++, sequential, 2048x2048", "8.67020"),
        ("cuda-three-scans", "C++, kogge-stone-double 512, 8192x8192", "14.1004"),
        ("cuda-three-scans", "Python, brent-kung 256, 8192x8192", "19.3966"),
        ("cuda-three-scans", "Python, sequential, 8192x8192", "10082.3"),
        ("cuda-three-scans", "C++, speed-up, brent-kung 512, 4096x4096", "10.5208"),
        ("cuda-three-scans", "Python, speed-up, kogge-stone 256, 1024x1024", "267.563"),
        ("cuda-rgb-luminance-histogram", "GPU, 1280x1024", "0.54"),
        ("cuda-4096-bins-saturated", "CPU, 4096 bins, 1920x1080x3 elements (about)", "4"),
    ] {
        let found: Vec<&str> = figures
            .iter()
            .filter(|figure| (figure.publication, figure.case.as_str()) == (publication, case))
            .map(|figure| figure.stated)
            .collect();
        assert_eq!(found, [stated], "{publication}: {case}");
    }
}

#[test]
fn every_figure_is_a_number_of_a_document_that_is_described() {
    let figures = figures();
    // 5 rows of 5, 2 of 5 and 5 alone; 10 of 3; 2 tables of 4 rows of 7, 2 of 4 of 6; 1; 3.
    assert_eq!(figures.len(), 25 + 10 + 5 + 30 + 56 + 48 + 1 + 3);
    for figure in &figures {
        assert!(figure.stated.parse::<f64>().is_ok_and(|stated| stated > 0.0), "{figure:?}");
        assert!(PUBLICATIONS.iter().any(|publication| publication.name == figure.publication), "{figure:?}");
        assert!(figure.here.alone.is_some() || figure.here.with_copies.is_some(), "{figure:?}");
    }
}

/// Speed-ups are quotients of the tables of times: a digit that is wrong in either shows.
#[test]
fn the_scans_speed_ups_follow_from_its_times() {
    let figures = figures();
    let stated = |case: &str| -> f64 {
        let found = figures.iter().find(|figure| figure.case == case).unwrap_or_else(|| panic!("no figure {case}"));
        found.stated.parse().expect("a number")
    };
    for figure in figures.iter().filter(|figure| figure.case.contains("speed-up, ")) {
        let time = stated(&figure.case.replace("speed-up, ", ""));
        let (language, size) = (&figure.case[..figure.case.find(',').expect("a comma")], &figure.here.keys[0]);
        let quotient = stated(&format!("{language}, sequential, {size}")) / time;
        let there: f64 = figure.stated.parse().expect("a number");
        assert!((quotient / there - 1.0).abs() < 2e-3, "{}: {there}, not {quotient}", figure.case);
    }
}

#[test]
fn comparison_names_the_hardware_and_shows_both_figures() {
    let dir = Dir::new();
    let line = "bench --compare references --backend cpu --quick --repeat 1 --warmup 0";
    let text = String::from_utf8(dir.succeeds(line).stdout).expect("text");
    for words in [
        "NVIDIA RTX 3060 Ti",
        "NVIDIA GTX 1650",
        "NVIDIA GTX 1050 Ti",
        "NVIDIA GeForce GTX 285",
        "| 0.372956 ms |",
        "1.2848 s",
        "17.5 ms",
        "does not say whether the copies up and down are included",
    ] {
        assert!(text.contains(words), "{words} in {text}");
    }
    let with_figures = Suite::ALL.into_iter().filter(|suite| suite.has_references());
    assert_eq!(with_figures.count(), text.matches("beside the publications").count());
}

#[test]
fn our_figure_stands_beside_theirs_with_the_ratio() {
    let run = Dir::new().succeeds("bench luminance --compare references --backend cpu --repeat 1 --warmup 0");
    let text = String::from_utf8(run.stdout).expect("text");
    let row = text.lines().find(|line| line.contains("| CPU, 1280x1024")).expect("a row");
    let cells: Vec<&str> = row.split('|').map(str::trim).collect();
    let number = |cell: &str, unit: &str| -> f64 {
        cell.strip_suffix(unit).and_then(|text| text.trim().parse().ok()).unwrap_or_else(|| panic!("{cell} in {row}"))
    };
    let (there, here, ratio) = (number(cells[3], "ms"), number(cells[4], "ms"), number(cells[8], "x"));
    assert_eq!(there, 17.5);
    assert!((there / here / ratio - 1.0).abs() < 0.05, "{row}");
}
