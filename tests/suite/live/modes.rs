//! In which mode a camera is opened, on lists like those of real ones, a line a format and size: the sizes of a Logitech
//! C920 (`c920.txt`, its rates as commonly reported), and the YUYV modes of another webcam (`webcam.txt`).

use histeq_video::camera::{Mode, Wanted, choose};
use histeq_video::ffmpeg::{Rational, parse_rate, parse_size};

const C920: &str = include_str!("c920.txt");
const WEBCAM: &str = include_str!("webcam.txt");

fn modes(list: &str) -> Vec<Mode> {
    list.lines()
        .map(|line| {
            let mut words = line.split_whitespace();
            let format = words.next().expect("a format").to_owned();
            let size = parse_size(words.next().expect("a size")).expect("a size");
            Mode { format, size, rates: words.map(|rate| parse_rate(rate).expect("a rate")).collect() }
        })
        .collect()
}

fn wanted(size: Option<&str>, rate: Option<i32>, format: Option<&str>) -> Wanted {
    Wanted {
        size: size.and_then(parse_size),
        rate: rate.map(|rate| Rational::new(rate, 1)),
        format: format.map(str::to_owned),
    }
}

#[track_caller]
fn chosen(list: &str, size: Option<&str>, rate: Option<i32>, format: Option<&str>) -> String {
    choose(&modes(list), &wanted(size, rate, format)).expect("a mode").to_string()
}

#[test]
fn mjpeg_is_taken_where_yuyv_cannot_keep_up() {
    assert_eq!(chosen(C920, None, None, None), "1280x720, mjpeg, 30 fps");
    assert_eq!(chosen(C920, Some("1920x1080"), None, None), "1920x1080, mjpeg, 30 fps");
    assert_eq!(chosen(C920, Some("1280x720"), Some(10), None), "1280x720, yuyv422, 10 fps");
}

#[test]
fn raw_pictures_are_taken_where_they_keep_up() {
    assert_eq!(chosen(C920, Some("640x480"), None, None), "640x480, yuyv422, 30 fps");
    assert_eq!(chosen(C920, Some("640x360"), Some(15), None), "640x360, yuyv422, 15 fps");
}

#[test]
fn a_size_that_was_asked_for_counts_more_than_the_rate() {
    assert_eq!(chosen(WEBCAM, Some("1280x720"), None, None), "1280x720, yuyv422, 10 fps");
    assert_eq!(chosen(WEBCAM, Some("1920x1080"), Some(30), None), "1280x720, yuyv422, 10 fps");
    assert_eq!(chosen(C920, Some("2304x1536"), None, None), "2304x1536, yuyv422, 2 fps");
}

#[test]
fn where_nothing_was_asked_for_fluent_comes_before_sharp() {
    assert_eq!(chosen(WEBCAM, None, None, None), "800x448, yuyv422, 30 fps");
}

#[test]
fn the_next_higher_rate_is_taken_or_else_the_highest() {
    assert_eq!(chosen(C920, Some("1920x1080"), Some(12), None), "1920x1080, mjpeg, 15 fps");
    assert_eq!(chosen(C920, Some("1920x1080"), Some(60), None), "1920x1080, mjpeg, 30 fps");
}

#[test]
fn a_format_that_was_asked_for_is_taken_or_nothing() {
    assert_eq!(chosen(C920, None, None, Some("h264")), "1280x720, h264, 30 fps");
    assert_eq!(choose(&modes(C920), &wanted(None, None, Some("nv12"))), None);
}

#[test]
fn where_rates_are_not_told_usb_sets_them() {
    let without_rates =
        |list: &str| -> Vec<Mode> { modes(list).into_iter().map(|mode| Mode { rates: Vec::new(), ..mode }).collect() };
    let choice = |size| choose(&without_rates(C920), &wanted(Some(size), None, None)).expect("a mode").to_string();
    assert_eq!(choice("1280x720"), "1280x720, mjpeg");
    assert_eq!(choice("640x480"), "640x480, yuyv422");
}

#[test]
fn no_modes_no_choice() {
    assert_eq!(choose(&[], &Wanted::default()), None);
    let unknown = Mode { format: "bayer_bggr8".to_owned(), size: (640, 480), rates: Vec::new() };
    assert_eq!(choose(&[unknown], &Wanted::default()), None);
}
