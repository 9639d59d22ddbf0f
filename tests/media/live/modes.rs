//! Which mode of a camera is chosen, tested with the format lists of real cameras; `cameras/README.md` names them.

use histeq_media::camera::{Mode, SizeRange, Wanted, choose, format_of, rates_between};
use histeq_media::ffmpeg::{Rational, parse_rate, parse_size};

const C920: &str = include_str!("cameras/logitech-c920.txt");
const C930E: &str = include_str!("cameras/logitech-c930e.txt");
const USB_CAMERA: &str = include_str!("cameras/h264-usb-camera.txt");
const USB_CAMERA_H264: &str = include_str!("cameras/h264-usb-camera-h264.txt");
const RASPBERRY_PI: &str = include_str!("cameras/raspberry-pi-camera.txt");
const INFRARED: &str = include_str!("cameras/lenovo-yoga-infrared.txt");
const THERMAL: &str = include_str!("cameras/topdon-tc001.txt");
const ENDOSCOPE: &str = include_str!("cameras/dfrobot-endoscope.txt");

/// Parses the output of `v4l2-ctl --list-formats-ext` to modes, by the rules that apply to a driver's modes.
fn modes(list: &str, wanted: &Wanted) -> Vec<Mode> {
    let (mut modes, mut format, mut fresh) = (Vec::<Mode>::new(), None, 0);
    for line in list.lines().map(str::trim) {
        if line.starts_with('[') || line.starts_with("Pixel Format") {
            let letters = line.split('\'').nth(1).expect("four letters").as_bytes();
            format = format_of(letters.try_into().expect("four letters"));
        } else if let Some(size) = line.strip_prefix("Size: ") {
            fresh = modes.len();
            let Some(format) = format else { continue };
            let mode = |size| Mode { format: format.to_owned(), size, rates: Vec::new() };
            modes.extend(sizes(size, wanted).into_iter().map(mode));
        } else if let Some(interval) = line.strip_prefix("Interval: Discrete ") {
            let rate = interval.split(['(', ' ']).nth(2).and_then(parse_rate).expect("a rate");
            modes[fresh..].iter_mut().for_each(|mode| mode.rates.push(rate));
        }
    }
    assert!(!modes.is_empty());
    modes
}

/// Parses `Discrete 640x480` or `Stepwise 32x32 - 2592x1944 with step 2/2`.
fn sizes(text: &str, wanted: &Wanted) -> Vec<(usize, usize)> {
    let words: Vec<&str> = text.split([' ', '/']).collect();
    let size = |index: usize| parse_size(words[index]).expect("a size");
    let number = |index: usize| words[index].parse().expect("a number");
    match words[0] {
        "Discrete" => vec![size(1)],
        "Stepwise" => {
            SizeRange { smallest: size(1), largest: size(3), step: (number(6), number(7)) }.sizes(wanted.size)
        }
        other => panic!("sizes are {other}"),
    }
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
    let wanted = wanted(size, rate, format);
    choose(&modes(list, &wanted), &wanted).expect("a mode").to_string()
}

#[test]
fn every_list_is_read_as_a_whole() {
    let count = |list| modes(list, &Wanted::default()).len();
    assert_eq!(count(C920), 19 + 17 + 17);
    assert_eq!(count(C930E), 3 + 3);
    assert_eq!((count(USB_CAMERA), count(USB_CAMERA_H264)), (8 + 6, 8));
    assert_eq!((count(INFRARED), count(THERMAL), count(ENDOSCOPE)), (1, 2, 9));
    // 14 formats, of which 3 are not supported, in four common sizes and the largest one.
    assert_eq!(count(RASPBERRY_PI), 11 * 5);
    let rates: usize = modes(C920, &Wanted::default()).iter().map(|mode| mode.rates.len()).sum();
    assert_eq!(rates, C920.matches("Interval: Discrete").count());
}

#[test]
fn mjpeg_is_taken_where_yuyv_cannot_keep_up() {
    assert_eq!(chosen(C920, None, None, None), "1280x720, mjpeg, 30 fps");
    assert_eq!(chosen(C920, Some("1920x1080"), None, None), "1920x1080, mjpeg, 30 fps");
    assert_eq!(chosen(C920, Some("800x600"), None, None), "800x600, mjpeg, 30 fps");
    assert_eq!(chosen(USB_CAMERA, None, None, None), "1280x720, mjpeg, 30 fps");
}

#[test]
fn raw_pictures_are_taken_where_they_keep_up() {
    assert_eq!(chosen(C920, Some("640x480"), None, None), "640x480, yuyv422, 30 fps");
    assert_eq!(chosen(C920, Some("640x360"), Some(15), None), "640x360, yuyv422, 15 fps");
    assert_eq!(chosen(C920, Some("800x600"), Some(24), None), "800x600, yuyv422, 24 fps");
    assert_eq!(chosen(C920, Some("1280x720"), Some(10), None), "1280x720, yuyv422, 10 fps");
    assert_eq!(chosen(USB_CAMERA, Some("800x600"), Some(15), None), "800x600, yuyv422, 15 fps");
}

#[test]
fn what_there_is_is_taken_where_there_is_no_choice() {
    assert_eq!(chosen(USB_CAMERA_H264, None, None, None), "1280x720, h264, 30 fps");
    assert_eq!(chosen(ENDOSCOPE, None, None, None), "1280x720, mjpeg, 30 fps");
    assert_eq!(chosen(INFRARED, None, None, None), "640x360, gray, 30 fps");
    assert_eq!(chosen(INFRARED, None, Some(15), None), "640x360, gray, 15 fps");
}

#[test]
fn the_nearest_size_is_taken() {
    assert_eq!(chosen(C930E, None, None, None), "1920x1080, mjpeg, 30 fps");
    assert_eq!(chosen(C930E, Some("800x600"), None, None), "640x480, yuyv422, 30 fps");
    assert_eq!(chosen(ENDOSCOPE, Some("1920x1080"), None, None), "1280x960, mjpeg, 30 fps");
}

#[test]
fn a_size_that_was_asked_for_counts_more_than_the_rate() {
    assert_eq!(chosen(C920, Some("2304x1536"), None, None), "2304x1536, yuyv422, 2 fps");
    assert_eq!(chosen(C930E, Some("1920x1080"), Some(30), Some("yuyv422")), "1920x1080, yuyv422, 5 fps");
}

#[test]
fn where_no_size_was_asked_for_fluent_comes_before_sharp() {
    assert_eq!(chosen(C920, None, None, Some("yuyv422")), "800x448, yuyv422, 30 fps");
    assert_eq!(chosen(C930E, None, None, Some("yuyv422")), "640x480, yuyv422, 30 fps");
}

#[test]
fn the_next_higher_rate_is_taken_or_else_the_highest() {
    assert_eq!(chosen(C920, Some("1920x1080"), Some(12), None), "1920x1080, mjpeg, 15 fps");
    assert_eq!(chosen(C920, Some("1920x1080"), Some(60), None), "1920x1080, mjpeg, 30 fps");
}

#[test]
fn a_format_that_was_asked_for_is_taken_or_nothing() {
    assert_eq!(chosen(C920, None, None, Some("h264")), "1280x720, h264, 30 fps");
    let nv12 = wanted(None, None, Some("nv12"));
    assert_eq!(choose(&modes(C920, &nv12), &nv12), None);
}

#[test]
fn a_thermal_camera_shows_its_picture_without_the_measurements_below() {
    assert_eq!(chosen(THERMAL, None, None, None), "256x192, yuyv422, 25 fps");
    assert_eq!(chosen(THERMAL, Some("256x384"), None, None), "256x384, yuyv422, 25 fps");
}

#[test]
fn where_rates_are_not_told_usb_sets_them() {
    assert_eq!(chosen(RASPBERRY_PI, None, None, None), "1280x720, mjpeg");
    assert_eq!(chosen(RASPBERRY_PI, Some("640x480"), None, None), "640x480, yuyv422");
}

#[test]
fn a_camera_of_any_size_gives_the_one_asked_for() {
    assert_eq!(chosen(RASPBERRY_PI, Some("2592x1944"), None, Some("nv12")), "2592x1944, nv12");
    assert_eq!(chosen(RASPBERRY_PI, Some("1001x751"), None, Some("nv12")), "1000x750, nv12");
    assert_eq!(chosen(RASPBERRY_PI, Some("4056x3040"), None, Some("nv12")), "2592x1944, nv12");
    assert_eq!(chosen(RASPBERRY_PI, Some("10x10"), None, Some("nv12")), "32x32, nv12");
}

/// The Raspberry Pi's driver reports any rate from 1 to 90, which `v4l2-ctl` does not print; a virtual camera without a
/// writer reports 1 to 600.
#[test]
fn a_camera_of_any_rate_gives_the_one_asked_for_and_no_more() {
    let (one, ninety) = (Rational::new(1, 1), Rational::new(90, 1));
    let choice = |size: Option<&str>, rate: Option<Rational>| {
        let wanted = Wanted { rate, ..wanted(size, None, None) };
        let with_rates = |mode| Mode { rates: rates_between(one, ninety, wanted.rate), ..mode };
        let modes: Vec<Mode> = modes(RASPBERRY_PI, &wanted).into_iter().map(with_rates).collect();
        choose(&modes, &wanted).expect("a mode").to_string()
    };
    assert_eq!(choice(None, None), "1280x720, yuyv422, 30 fps");
    assert_eq!(choice(Some("1920x1080"), Some(Rational::new(24000, 1001))), "1920x1080, yuyv422, 23.98 fps");
    assert_eq!(choice(None, Some(ninety)), "1280x720, yuyv422, 90 fps");
    assert_eq!(choice(None, Some(Rational::new(120, 1))), "1280x720, yuyv422, 90 fps");
    assert_eq!(choice(None, Some(Rational::new(1, 2))), "1280x720, yuyv422, 1 fps");
}

#[test]
fn no_modes_no_choice() {
    assert_eq!(choose(&[], &Wanted::default()), None);
    let unknown = Mode { format: "bayer_bggr8".to_owned(), size: (640, 480), rates: Vec::new() };
    assert_eq!(choose(&[unknown], &Wanted::default()), None);
}
