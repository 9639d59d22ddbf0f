//! Image stacks that FFmpeg cannot read: BigTIFF, tiles, floating point, FITS, SER. Samples are kept unchanged, or
//! mapped linearly from a range that the program prints.

use crate::support::media::reader::seconds;
use crate::support::programs::program::Dir;

const SIZE: (usize, usize) = (33, 17);

/// Options that leave the frames unchanged.
const AS_IT_IS: &str = "--backend cpu --strength 0 -y";

/// The 16-bit samples of image `k`.
fn words(k: usize) -> Vec<u16> {
    (0..SIZE.0 * SIZE.1).map(|index| ((k * 1000 + index * 7) % 65_536) as u16).collect()
}

fn bytes(pictures: usize) -> Vec<u8> {
    (0..pictures).flat_map(words).flat_map(u16::to_le_bytes).collect()
}

/// The floating-point samples of image `k`, as temperatures.
fn floats(k: usize) -> Vec<f32> {
    (0..SIZE.0 * SIZE.1).map(|index| -20.0 + 10.0 * k as f32 + 0.25 * index as f32).collect()
}

/// The 16-bit codes of samples that are mapped linearly from the range `least` to `most`.
fn codes(samples: impl Iterator<Item = f64>, least: f64, most: f64) -> Vec<u8> {
    let code = |value: f64| (((value - least) / (most - least)).clamp(0.0, 1.0) * 65535.0).round() as u16;
    samples.map(code).flat_map(u16::to_le_bytes).collect()
}

/// The properties of a TIFF file besides its samples.
#[derive(Clone, Copy, Default)]
struct Kind {
    is_big: bool,
    /// Are samples stored in tiles of 16x16 pixels?
    has_tiles: bool,
    /// 1: unsigned, 2: signed, 3: floating point.
    format: u16,
    /// The number of bytes of a sample; `channels` is the number of samples of a pixel.
    each: usize,
    channels: usize,
}

/// The type of a tag's values, their number, and their bytes.
type Values = (u16, usize, Vec<u8>);

/// A TIFF of these pages.
fn tiff(kind: Kind, pages: &[Vec<u8>]) -> Vec<u8> {
    let Kind { is_big, has_tiles, format, each, channels } = kind;
    let (width, height) = SIZE;
    let offset = |number: usize| {
        if is_big { (number as u64).to_le_bytes().to_vec() } else { (number as u32).to_le_bytes().to_vec() }
    };
    let mut file = if is_big { b"II+\0\x08\0\0\0".to_vec() } else { b"II*\0".to_vec() };
    let mut link = file.len();
    file.extend(offset(0));
    for page in pages {
        let pixel = each * channels;
        let chunks: Vec<Vec<u8>> = match has_tiles {
            false => vec![page.clone()],
            true => (0..height.div_ceil(16) * width.div_ceil(16))
                .map(|tile| {
                    let (left, top) = (tile % width.div_ceil(16) * 16, tile / width.div_ceil(16) * 16);
                    let sample = |x: usize, y: usize| (y < height && x < width).then(|| (y * width + x) * pixel);
                    let pixels = (0..256).map(|pixel_number| sample(left + pixel_number % 16, top + pixel_number / 16));
                    pixels
                        .flat_map(|sample| {
                            sample.map_or(vec![0; pixel], |sample| page[sample..sample + pixel].to_vec())
                        })
                        .collect()
                })
                .collect(),
        };
        let mut places = Vec::new();
        for chunk in &chunks {
            places.push(file.len());
            file.extend(chunk);
        }
        file.resize(file.len().next_multiple_of(2), 0);
        let short = |numbers: &[usize]| {
            (
                3_u16,
                numbers.len(),
                numbers.iter().flat_map(|pixel_number| (*pixel_number as u16).to_le_bytes()).collect(),
            )
        };
        let long = |numbers: &[usize]| {
            let bytes: Vec<u8> = numbers.iter().flat_map(|pixel_number| offset(*pixel_number)).collect();
            (if is_big { 16_u16 } else { 4 }, numbers.len(), bytes)
        };
        let lengths: Vec<usize> = chunks.iter().map(Vec::len).collect();
        let mut tags: Vec<(u16, Values)> = vec![
            (256, short(&[width])),
            (257, short(&[height])),
            (258, short(&vec![each * 8; channels])),
            (259, short(&[1])),
            (262, short(&[if channels == 3 { 2 } else { 1 }])),
            (277, short(&[channels])),
            (339, short(&vec![format.into(); channels])),
        ];
        match has_tiles {
            true => {
                tags.extend([(322, short(&[16])), (323, short(&[16])), (324, long(&places)), (325, long(&lengths))])
            }
            false => tags.extend([(273, long(&places)), (278, short(&[height])), (279, long(&lengths))]),
        }
        tags.sort_by_key(|(tag, _)| *tag);
        let room = if is_big { 8 } else { 4 };
        let mut list = if is_big {
            (tags.len() as u64).to_le_bytes().to_vec()
        } else {
            (tags.len() as u16).to_le_bytes().to_vec()
        };
        for (tag, (numeric_type, count, mut values)) in tags {
            list.extend([tag.to_le_bytes(), numeric_type.to_le_bytes()].concat());
            list.extend(offset(count));
            if values.len() > room {
                let place = file.len();
                file.extend(&values);
                file.resize(file.len().next_multiple_of(2), 0);
                values = offset(place);
            }
            values.resize(room, 0);
            list.extend(values);
        }
        let here = offset(file.len());
        file[link..link + room].copy_from_slice(&here);
        file.extend(list);
        link = file.len();
        file.extend(offset(0));
    }
    file
}

fn word_stack(kind: Kind, count: usize) -> Vec<u8> {
    let pages: Vec<Vec<u8>> = (0..count).map(|k| words(k).into_iter().flat_map(u16::to_le_bytes).collect()).collect();
    tiff(Kind { format: 1, each: 2, channels: 1, ..kind }, &pages)
}

fn float_stack(kind: Kind, count: usize) -> Vec<u8> {
    let pages: Vec<Vec<u8>> = (0..count).map(|k| floats(k).into_iter().flat_map(f32::to_le_bytes).collect()).collect();
    tiff(Kind { format: 3, each: 4, channels: 1, ..kind }, &pages)
}

#[test]
fn bigtiff_and_tiles_are_read_to_the_sample_and_a_stack_makes_a_stack() {
    let dir = Dir::new();
    let (big, tiles) = (Kind { is_big: true, ..Kind::default() }, Kind { has_tiles: true, ..Kind::default() });
    let both = Kind { is_big: true, ..tiles };
    for (name, kind) in [("plain", Kind::default()), ("big", big), ("tiles", tiles), ("both", both)] {
        dir.write("in.tif", &word_stack(kind, 3));
        dir.succeeds(&format!("{AS_IT_IS} --strict in.tif out.tif")).says(&["3 frames in"]);
        // The output is a TIFF of three pages. FFmpeg reads only the first one, the program all.
        assert_eq!(dir.raw("out.tif", "gray16le"), bytes(1), "{name}");
        dir.succeeds(&format!("{AS_IT_IS} --strict --encoder ffv1 out.tif out.mkv")).says(&["3 frames in"]);
        assert_eq!(dir.raw("out.mkv", "gray16le"), bytes(3), "{name}");
        dir.succeeds(&format!("{AS_IT_IS} --encoder ffv1 --start 0.04 --frames 1 in.tif out.mkv"));
        assert_eq!(dir.raw("out.mkv", "gray16le"), bytes(2)[bytes(1).len()..], "{name}: the second page");
    }
    for options in ["--sandbox off", "--sandbox on"] {
        dir.succeeds(&format!("{AS_IT_IS} {options} --encoder ffv1 in.tif out.mkv"));
        assert_eq!(dir.raw("out.mkv", "gray16le"), bytes(3), "{options}");
    }
    let colours: Vec<u8> = (0..SIZE.0 * SIZE.1 * 3).map(|index| (index * 5 % 256) as u8).collect();
    let kind = Kind { format: 1, each: 1, channels: 3, ..both };
    dir.write("rgb.tif", &tiff(kind, std::slice::from_ref(&colours)));
    dir.succeeds(&format!("{AS_IT_IS} --strict rgb.tif rgb.png"));
    assert_eq!(dir.raw("rgb.png", "rgb24"), colours);
}

/// The floating-point samples of three pages.
fn float_samples() -> impl Iterator<Item = f64> {
    (0..3).flat_map(floats).map(f64::from)
}

#[test]
fn floating_point_becomes_codes_along_one_line_for_all_pages() {
    let dir = Dir::new();
    for kind in [Kind::default(), Kind { is_big: true, has_tiles: true, ..Kind::default() }] {
        dir.write("in.tif", &float_stack(kind, 3));
        let run = dir.succeeds(&format!("{AS_IT_IS} --strict --encoder ffv1 in.tif out.mkv"));
        run.says(&["in.tif: samples from -20 to 140 become 0 to 65535", "--sample-range"]);
        assert_eq!(dir.raw("out.mkv", "gray16le"), codes(float_samples(), -20.0, 140.0));
    }
}

#[test]
fn the_line_of_samples_can_be_given() {
    let dir = Dir::new();
    dir.write("in.tif", &float_stack(Kind::default(), 3));
    dir.succeeds(&format!("{AS_IT_IS} --sample-range -40:100 --encoder ffv1 in.tif out.mkv"));
    assert_eq!(dir.raw("out.mkv", "gray16le"), codes(float_samples(), -40.0, 100.0));
    // `--sample-range` applies to unsigned samples, too.
    dir.write("words.tif", &word_stack(Kind::default(), 2));
    dir.succeeds(&format!("{AS_IT_IS} --sample-range 100:2000 --encoder ffv1 words.tif out.mkv"));
    let samples = (0..2).flat_map(words).map(f64::from);
    assert_eq!(dir.raw("out.mkv", "gray16le"), codes(samples, 100.0, 2000.0));
}

#[test]
fn numbered_images_of_floating_point_share_one_line() {
    let dir = Dir::new();
    for k in 0..3 {
        let page: Vec<u8> = floats(k).into_iter().flat_map(f32::to_le_bytes).collect();
        let kind = Kind { format: 3, each: 4, channels: 1, ..Kind::default() };
        dir.write(&format!("t{k}.tif"), &tiff(kind, &[page]));
    }
    dir.succeeds(&format!("{AS_IT_IS} --encoder ffv1 t%d.tif out.mkv")).says(&["samples from -20 to 140"]);
    assert_eq!(dir.raw("out.mkv", "gray16le"), codes(float_samples(), -20.0, 140.0));
}

#[test]
fn signed_samples_become_codes_from_their_lowest_on() {
    let dir = Dir::new();
    let page: Vec<u8> = (0..SIZE.0 * SIZE.1).flat_map(|index| (index as i16 - 300).to_le_bytes()).collect();
    dir.write("signed.tif", &tiff(Kind { format: 2, each: 2, channels: 1, ..Kind::default() }, &[page]));
    dir.succeeds(&format!("{AS_IT_IS} --encoder ffv1 signed.tif out.mkv")).says(&["samples from -300 to 260"]);
    let samples = (0..SIZE.0 * SIZE.1).map(|index| f64::from(index as i16 - 300));
    assert_eq!(dir.raw("out.mkv", "gray16le"), codes(samples, -300.0, 260.0));
}

#[test]
fn what_is_no_number_is_black_and_infinity_white() {
    let dir = Dir::new();
    let mut odd = floats(0);
    (odd[0], odd[1], odd[2]) = (f32::NAN, f32::INFINITY, f32::NEG_INFINITY);
    let page: Vec<u8> = odd.iter().flat_map(|number| number.to_le_bytes()).collect();
    dir.write("odd.tif", &tiff(Kind { format: 3, each: 4, channels: 1, ..Kind::default() }, &[page]));
    dir.succeeds(&format!("{AS_IT_IS} --encoder ffv1 odd.tif out.mkv")).says(&["samples from -19.25 to 120"]);
    assert_eq!(dir.raw("out.mkv", "gray16le")[..8], [0, 0, 255, 255, 0, 0, 0, 0]);
}

#[test]
fn a_line_that_makes_no_sense_or_has_no_use_is_told() {
    let dir = Dir::new();
    dir.write("in.tif", &float_stack(Kind::default(), 1));
    dir.run("--sample-range 3:1 in.tif out.mkv").exits_with(2).says(&["two numbers like -20:150"]);
    dir.ffmpeg("-f lavfi -i testsrc=size=64x48 -frames:v 1 in.png");
    dir.run("--strict --sample-range 1:3 in.png out.png").fails().says(&["--sample-range is ignored"]);
}

/// A FITS file with these axes.
fn fits(bits: i32, axes: &[usize], data: &[u8], more: &[(&str, &str)]) -> Vec<u8> {
    let card = |key: &str, value: &str| format!("{:<80}", format!("{key:<8}= {value:>20}"));
    let mut header = card("SIMPLE", "T") + &card("BITPIX", &bits.to_string()) + &card("NAXIS", &axes.len().to_string());
    for (index, axis) in axes.iter().enumerate() {
        header += &card(&format!("NAXIS{}", index + 1), &axis.to_string());
    }
    more.iter().for_each(|(key, value)| header += &card(key, value));
    header += &format!("{:<80}", "END");
    let mut file = format!("{header:<width$}", width = header.len().next_multiple_of(2880)).into_bytes();
    file.extend(data);
    file.resize(file.len().next_multiple_of(2880), 0);
    file
}

/// The rows of an image in reverse order, because FITS begins with the bottom row.
fn from_below<T: Copy>(samples: &[T]) -> Vec<T> {
    samples.chunks(SIZE.0).rev().flatten().copied().collect()
}

#[test]
fn cubes_of_fits_are_stacks() {
    let dir = Dir::new();
    let cube: Vec<u8> = (0..4).flat_map(stored).collect();
    dir.write("cube.fits", &fits(16, &[SIZE.0, SIZE.1, 4], &cube, &[("BZERO", "32768"), ("BSCALE", "1.0")]));
    dir.succeeds(&format!("{AS_IT_IS} --strict --encoder ffv1 cube.fits out.mkv")).says(&["4 frames in"]);
    assert_eq!(dir.raw("out.mkv", "gray16le"), bytes(4));
    dir.succeeds(&format!("{AS_IT_IS} --strict cube.fits out.tif"));
    dir.succeeds(&format!("{AS_IT_IS} --strict --encoder ffv1 out.tif out.mkv")).says(&["4 frames in"]);
    assert_eq!(dir.raw("out.mkv", "gray16le"), bytes(4));
    // Floating point, signed samples with a scale, and three planes of colours.
    let data: Vec<u8> = from_below(&floats(0)).into_iter().flat_map(f32::to_be_bytes).collect();
    dir.write("float.fits", &fits(-32, &[SIZE.0, SIZE.1], &data, &[]));
    dir.succeeds(&format!("{AS_IT_IS} --encoder ffv1 float.fits out.mkv")).says(&["samples from -20 to 120"]);
    assert_eq!(dir.raw("out.mkv", "gray16le"), codes(floats(0).into_iter().map(f64::from), -20.0, 120.0));
    let data: Vec<u8> = (0..SIZE.0 * SIZE.1).flat_map(|index| (index as i16 - 300).to_be_bytes()).collect();
    dir.write("signed.fits", &fits(16, &[SIZE.0, SIZE.1], &data, &[("BZERO", "10"), ("BSCALE", "0.5D0")]));
    dir.succeeds(&format!("{AS_IT_IS} --encoder ffv1 signed.fits out.mkv")).says(&["samples from -140 to 140"]);
    let plane =
        |channel: usize| (0..SIZE.0 * SIZE.1).map(move |index| ((index * 3 + channel) % 256) as u8).collect::<Vec<_>>();
    let data: Vec<u8> = (0..3).flat_map(|channel| from_below(&plane(channel))).collect();
    dir.write("rgb.fits", &fits(8, &[SIZE.0, SIZE.1, 3], &data, &[]));
    dir.succeeds(&format!("{AS_IT_IS} rgb.fits rgb.png"));
    let expected: Vec<u8> =
        (0..SIZE.0 * SIZE.1).flat_map(|index| (0..3).map(move |channel| ((index * 3 + channel) % 256) as u8)).collect();
    assert_eq!(dir.raw("rgb.png", "rgb24"), expected);
}

/// The cards of the header of a FITS file.
fn cards(file: &[u8]) -> Vec<String> {
    let cards = file.chunks(80).map(|card| String::from_utf8_lossy(card).trim_end().to_owned());
    cards.take_while(|card| card != "END").collect()
}

/// The samples of image `k` as FITS stores them, with a BZERO of 32768.
fn stored(k: usize) -> Vec<u8> {
    from_below(&words(k)).into_iter().flat_map(|word| (word ^ 0x8000).to_be_bytes()).collect()
}

#[test]
fn a_pattern_for_fits_names_a_file_for_each_picture() {
    let dir = Dir::new();
    let cube = (0..4).flat_map(stored).collect::<Vec<u8>>();
    dir.write("cube.fits", &fits(16, &[SIZE.0, SIZE.1, 4], &cube, &[("BZERO", "32768")]));
    dir.succeeds(&format!("{AS_IT_IS} --strict cube.fits out%04d.fits"));
    let names: Vec<String> = (1..=4).map(|number| format!("out{number:04}.fits")).collect();
    assert_eq!(dir.names()[1..], names);
    for (k, name) in names.iter().enumerate() {
        let expected: Vec<u8> = words(k).into_iter().flat_map(u16::to_le_bytes).collect();
        assert_eq!(dir.raw(name, "gray16le"), expected, "{name}, as FFmpeg reads it");
    }
    dir.succeeds(&format!("{AS_IT_IS} --strict --encoder ffv1 out%04d.fits out.mkv")).says(&["4 frames in"]);
    assert_eq!(dir.raw("out.mkv", "gray16le"), bytes(4));
    // An output name without a number pattern gives one file with all images.
    dir.succeeds(&format!("{AS_IT_IS} --strict out%04d.fits all.fits"));
    dir.succeeds(&format!("{AS_IT_IS} --strict --encoder ffv1 all.fits out.mkv")).says(&["4 frames in"]);
    assert_eq!(dir.raw("out.mkv", "gray16le"), bytes(4));
}

#[test]
fn fits_keeps_the_cards_of_its_header() {
    let dir = Dir::new();
    let card = |key: &str, value: &str| format!("{key:<8}= {value:>20}");
    let more = [("OBJECT", "'M 31'"), ("EXPTIME", "120.5"), ("DATE-OBS", "'2026-10-25'"), ("FILTER", "'Ha'")];
    let layout = [("BZERO", "32768"), ("DATAMAX", "7"), ("CHECKSUM", "'0000000000000000'")];
    let all = [&more[..], &layout].concat();
    let cube = (0..4).flat_map(stored).collect::<Vec<u8>>();
    dir.write("in.fits", &fits(16, &[SIZE.0, SIZE.1, 4], &cube, &all));
    dir.succeeds(&format!("{AS_IT_IS} --strict in.fits out.fits"));
    let made = dir.read("out.fits");
    assert_eq!(made.len() % 2880, 0);
    let header = cards(&made);
    for (key, value) in more {
        assert_eq!(header.iter().filter(|line| **line == card(key, value)).count(), 1, "{key}: {header:?}");
    }
    let count = |key: &str| header.iter().filter(|line| line.starts_with(key)).count();
    assert_eq!(["SIMPLE", "BITPIX", "NAXIS ", "BZERO", "DATAMAX", "CHECKSUM"].map(count), [1, 1, 1, 1, 1, 0]);
    assert!(header.contains(&card("DATAMAX", "65535")), "{header:?}");
    assert!(header.iter().any(|line| line.starts_with("HISTORY histeq-video ")), "{header:?}");
    dir.succeeds(&format!("{AS_IT_IS} --strict --encoder ffv1 out.fits out.mkv")).says(&["4 frames in"]);
    assert_eq!(dir.raw("out.mkv", "gray16le"), bytes(4));
    // Each numbered file keeps its own cards; if the output supports no cards, a warning names them.
    let times = [(1, "60"), (2, "90.5")];
    for (number, time) in times {
        let more = [("BZERO", "32768"), ("EXPTIME", time)];
        dir.write(&format!("n{number}.fits"), &fits(16, &[SIZE.0, SIZE.1], &stored(number), &more));
    }
    dir.succeeds(&format!("{AS_IT_IS} --strict n%d.fits m%d.fits"));
    for (number, time) in times {
        let header = cards(&dir.read(&format!("m{number}.fits")));
        assert!(header.contains(&card("EXPTIME", time)), "{header:?}");
    }
    dir.succeeds(&format!("{AS_IT_IS} --strict n%d.fits both.fits"));
    let both = dir.read("both.fits");
    let of_second = both.windows(8).position(|bytes| bytes == b"XTENSION").expect("an extension");
    assert!(cards(&both[of_second..]).contains(&card("EXPTIME", "90.5")), "{:?}", cards(&both[of_second..]));
    dir.succeeds(&format!("{AS_IT_IS} n%d.fits p%d.png")).says(&["does not say what", "texts (1: EXPTIME)"]);
    // For a colour image, the program replaces an existing CTYPE3 card.
    let colours: Vec<u8> = (0..SIZE.0 * SIZE.1 * 3).map(|index| (index * 5 % 256) as u8).collect();
    dir.write("rgb.fits", &fits(8, &[SIZE.0, SIZE.1, 3], &colours, &[("CTYPE3", "'WAVE'"), ("OBJECT", "'M 1'")]));
    dir.succeeds(&format!("{AS_IT_IS} --strict rgb.fits colours.fits"));
    let header = cards(&dir.read("colours.fits"));
    assert_eq!(header.iter().filter(|line| line.starts_with("CTYPE3")).count(), 1, "{header:?}");
    dir.succeeds(&format!("{AS_IT_IS} rgb.fits rgb.png"));
    assert_eq!(dir.raw("colours.fits", "rgb24"), dir.raw("rgb.png", "rgb24"));
}

/// A FITS extension: a 16-bit image with these cards, to be appended to another image.
fn extension(k: usize, more: &[(&str, &str)]) -> Vec<u8> {
    let mut image = fits(16, &[SIZE.0, SIZE.1], &stored(k), more);
    image[..80].copy_from_slice(format!("{:<80}", "XTENSION= 'IMAGE   '").as_bytes());
    image
}

#[test]
fn each_image_of_a_fits_file_keeps_the_cards_of_its_own() {
    let dir = Dir::new();
    let card = |key: &str, value: &str| format!("{key:<8}= {value:>20}");
    let times = ["60", "90.5", "120"];
    let more = |index: usize| [("BZERO", "32768"), ("EXPTIME", times[index]), ("COUNT", ["1", "2", "3"][index])];
    let first = fits(16, &[SIZE.0, SIZE.1], &stored(0), &[&more(0)[..], &[("OBJECT", "'M 31'")]].concat());
    dir.write("stack.fits", &[first, extension(1, &more(1)), extension(2, &more(2))].concat());
    let check = |header: &[String], index: usize| {
        let [_, time, count] = more(index);
        for (key, value) in [time, count, ("OBJECT", "'M 31'")] {
            let found: Vec<&String> = header.iter().filter(|line| line.starts_with(&format!("{key:<8}="))).collect();
            assert_eq!(found, [&card(key, value)], "image {index}: {header:?}");
        }
    };
    for input in ["stack.fits", "again.fits"] {
        dir.succeeds(&format!("{AS_IT_IS} --strict {input} one%d.fits"));
        (0..3).for_each(|index| check(&cards(&dir.read(&format!("one{}.fits", index + 1))), index));
        dir.succeeds(&format!("{AS_IT_IS} --strict {input} all.fits"));
        let all = dir.read("all.fits");
        let is_begin = |block: &[u8]| block.starts_with(b"SIMPLE  =") || block.starts_with(b"XTENSION=");
        let headers: Vec<Vec<String>> = (0..all.len())
            .step_by(2880)
            .filter(|place| is_begin(&all[*place..]))
            .map(|place| cards(&all[place..]))
            .collect();
        assert_eq!(headers.len(), 3);
        headers.iter().enumerate().for_each(|(index, header)| check(header, index));
        std::fs::rename(dir.path("all.fits"), dir.path("again.fits")).expect("a file");
    }
    dir.succeeds(&format!("{AS_IT_IS} --strict --encoder ffv1 again.fits out.mkv")).says(&["3 frames in"]);
    assert_eq!(dir.raw("out.mkv", "gray16le"), bytes(3));
}

#[test]
fn what_no_longer_holds_of_fits_is_left_out() {
    let dir = Dir::new();
    let data: Vec<u8> = from_below(&floats(0)).into_iter().flat_map(f32::to_be_bytes).collect();
    dir.write("in.fits", &fits(-32, &[SIZE.0, SIZE.1], &data, &[("BUNIT", "'K'"), ("OBJECT", "'M 31'")]));
    dir.succeeds(&format!("{AS_IT_IS} in.fits made.fits"));
    let has = |name: &str, begin: &str| cards(&dir.read(name)).iter().any(|line| line.starts_with(begin));
    assert!(has("made.fits", "OBJECT") && has("made.fits", "HISTORY histeq-video") && !has("made.fits", "BUNIT"));
    dir.succeeds(&format!("{AS_IT_IS} --no-provenance made.fits plain.fits"));
    assert!(has("plain.fits", "OBJECT") && !has("plain.fits", "HISTORY"), "{:?}", cards(&dir.read("plain.fits")));
}

#[test]
fn fits_has_three_endings() {
    let dir = Dir::new();
    let image = fits(16, &[SIZE.0, SIZE.1], &stored(0), &[("BZERO", "32768")]);
    for ending in ["fit", "fts", "fits"] {
        dir.write(&format!("a.{ending}"), &image);
        dir.succeeds(&format!("{AS_IT_IS} a.{ending}"));
        let made = dir.read(&format!("a-equalized.{ending}"));
        assert!(made.starts_with(b"SIMPLE  =") && made.ends_with(&image[2880..]), "{ending}");
    }
}

/// A SER file of these frames; their timestamps are `apart` seconds apart.
fn ser(colours: i32, depth: i32, frames: &[Vec<u8>], apart: f64) -> Vec<u8> {
    let numbers = [0, colours, 0, SIZE.0 as i32, SIZE.1 as i32, depth, frames.len() as i32];
    let mut file = b"LUCAM-RECORDER".to_vec();
    file.extend(numbers.into_iter().flat_map(i32::to_le_bytes));
    file.resize(178, 0);
    file.extend(frames.concat());
    file.extend((0..frames.len()).flat_map(|index| ((index as f64 * apart * 1e7) as u64).to_le_bytes()));
    file
}

#[test]
fn ser_is_read_in_gray_and_in_colours() {
    let dir = Dir::new();
    let frames: Vec<Vec<u8>> = (0..3).map(|k| words(k).into_iter().flat_map(u16::to_le_bytes).collect()).collect();
    dir.write("mono.ser", &ser(0, 16, &frames, 0.1));
    dir.succeeds(&format!("{AS_IT_IS} --strict --encoder ffv1 mono.ser out.mkv")).says(&["3 frames in"]);
    assert_eq!(dir.raw("out.mkv", "gray16le"), bytes(3));
    let frames = dir.frames("out.mkv");
    assert_eq!((seconds(&frames[1]["pts_time"]) * 1000.0).round(), 100.0, "ten frames a second, as it says");
    let colours: Vec<u8> = (0..SIZE.0 * SIZE.1 * 3).map(|index| (index * 5 % 256) as u8).collect();
    let turned: Vec<u8> = colours.chunks(3).flat_map(|pixel| [pixel[2], pixel[1], pixel[0]]).collect();
    for (kind, stored) in [(100, &colours), (101, &turned)] {
        dir.write("colours.ser", &ser(kind, 8, std::slice::from_ref(stored), 0.0));
        dir.succeeds(&format!("{AS_IT_IS} --strict colours.ser out.png"));
        assert_eq!(dir.raw("out.png", "rgb24"), colours, "{kind}");
    }
    // A Bayer mosaic whose red pixels are bright becomes a red image.
    let mosaic: Vec<u8> =
        (0..SIZE.0 * SIZE.1).map(|index| if index % SIZE.0 % 2 + index / SIZE.0 % 2 == 0 { 200 } else { 0 }).collect();
    dir.write("mosaic.ser", &ser(8, 8, &[mosaic], 0.0));
    dir.succeeds(&format!("{AS_IT_IS} mosaic.ser out.png"));
    let middle = dir.raw("out.png", "rgb24")[(8 * SIZE.0 + 16) * 3..][..3].to_vec();
    assert!(middle[0] > 150 && middle[1] < 50 && middle[2] < 50, "{middle:?}");
    // Samples of 12 bits are scaled to 16 bits.
    let frame: Vec<u8> = (0..SIZE.0 * SIZE.1).flat_map(|index| (index as u16 * 7 % 4096).to_le_bytes()).collect();
    dir.write("deep.ser", &ser(0, 12, &[frame], 0.0));
    dir.succeeds(&format!("{AS_IT_IS} deep.ser out.png"));
    let found = dir.raw("out.png", "gray16le");
    let expected = (0..SIZE.0 * SIZE.1).map(|index| (index as u32 * 7 % 4096 * 65535 + 2047) / 4095);
    assert!(found.chunks(2).map(|pixel| u32::from(pixel[0]) | u32::from(pixel[1]) << 8).eq(expected));
}

/// A stack of each format: its name, its bytes, and the length to which a test truncates it.
fn stacks() -> [(&'static str, Vec<u8>, usize); 3] {
    let big = float_stack(Kind { is_big: true, ..Kind::default() }, 3);
    let cube = fits(-32, &[SIZE.0, SIZE.1, 3 + 1], &vec![0; SIZE.0 * SIZE.1 * 16], &[]);
    let frames: Vec<Vec<u8>> = (0..3).map(|k| words(k).into_iter().flat_map(u16::to_le_bytes).collect()).collect();
    [("a.tif", big, 5000), ("b.fits", cube, 7000), ("c.ser", ser(0, 16, &frames, 0.1), 2000)]
}

#[test]
fn damaged_stacks_lose_no_picture_without_a_word() {
    let dir = Dir::new();
    for (name, file, whole) in stacks() {
        dir.write(name, &file[..whole]);
        let run = dir.succeeds(&format!("{AS_IT_IS} --encoder ffv1 {name} out.mkv"));
        run.says(&["warning", "damaged"]);
        dir.run(&format!("{AS_IT_IS} --strict --encoder ffv1 {name} out.mkv")).fails();
    }
}

/// No value of a header byte may crash the program, or make it allocate too much memory.
#[test]
#[ignore = "tries many faults at random: tests/program/faults.sh runs it"]
fn no_byte_of_the_head_of_a_stack_is_a_crash() {
    let dir = Dir::new();
    for (name, file, _) in stacks() {
        for index in (0..file.len().min(400)).step_by(3) {
            let mut changed = file.clone();
            changed[index] = 0xff;
            dir.write(name, &changed);
            let run = dir.run(&format!("{AS_IT_IS} --sandbox off --max-memory 256M --encoder ffv1 {name} out.mkv"));
            assert!(matches!(run.code, Some(0 | 1 | 7 | 8)), "{name}, byte {index}: {:?} {}", run.code, run.stderr);
        }
    }
}

#[test]
fn what_a_stack_says_of_itself_is_kept_or_named() {
    let dir = Dir::new();
    let data: Vec<u8> = words(0).into_iter().flat_map(u16::to_be_bytes).collect();
    let more = [("OBJECT", "'M 31'"), ("EXPTIME", "120.5")];
    dir.write("in.fits", &fits(16, &[SIZE.0, SIZE.1], &data, &more));
    let mut planet = ser(0, 8, &[vec![7; SIZE.0 * SIZE.1]], 0.0);
    planet[42..46].copy_from_slice(b"Anna");
    dir.write("in.ser", &planet);
    for (input, key, value) in
        [("in.fits", "OBJECT", "M 31"), ("in.fits", "EXPTIME", "120.5"), ("in.ser", "observer", "Anna")]
    {
        dir.succeeds(&format!("{AS_IT_IS} --strict --encoder ffv1 {input} out.mkv"));
        let tags = dir.probe("-show_format", "out.mkv")["format"]["tags"].to_string().to_lowercase();
        let expected = format!("\"{}\":\"{}\"", key.to_lowercase(), value.to_lowercase());
        assert!(tags.contains(&expected), "{expected}: {tags}");
        dir.succeeds(&format!("{AS_IT_IS} {input} out.tif")).says(&["does not say what", "texts", key]);
        dir.run(&format!("{AS_IT_IS} --strict {input} out.tif")).fails().says(&[key]);
    }
}
