//! Our half of `benches/hosts/opencv.py`: `one_frame RAW WIDTH HEIGHT OUT [LIMIT COLUMNS ROWS]` equalizes the 8-bit gray picture
//! in the file RAW on one thread, as many times as each line on stdin says, and answers with the nanoseconds that each
//! took; OUT gets the result at the end. With a contrast limit and tiles it is local equalization. `HISTEQ_ISA` chooses
//! the instruction set, by its number from 0, the slowest.

use histeq::internal::equalize::cpu::{Engine, Isa};
use histeq::internal::frame::{Frame, HostPool, Matrix, PixelFormat, Range};
use histeq::internal::spec::Guide;
use histeq::internal::spec::clahe::{TileCurves, Tiles};
use histeq::internal::spec::curves::{Equalization, Tone};
use histeq::internal::spec::parameters::{Chroma, Gain, Settings};
use std::io::BufRead;
use std::time::Instant;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let [raw, width, height, out, local @ ..] = &arguments[..] else {
        // `cargo bench` runs every benchmark without arguments.
        return println!("one_frame is run by benches/hosts/opencv.py");
    };
    let size = (width.parse().expect("a width"), height.parse().expect("a height"));
    let pool = HostPool::default();
    let plane = pool.plane_from(&std::fs::read(raw).expect("the raw picture"), size.0, size.1);
    let frame = Frame::new(PixelFormat::Gray, size, Range::Full, Matrix::Bt601, vec![plane]).expect("a gray frame");

    let isa = std::env::var("HISTEQ_ISA").map_or(Isa::best(), |isa| Isa::ALL[isa.parse::<usize>().expect("a number")]);
    let mut engine = Engine::new(isa, pool).expect("an instruction set of this machine");
    let mut equalization = Equalization::new(Settings::default());
    let local = match local {
        [limit, columns, rows] => {
            let max_gain = Gain::from_slope(limit.parse().expect("a contrast limit")).expect("0, or 1 and more");
            let tiles = Tiles::new(columns.parse().expect("columns"), rows.parse().expect("rows"), size);
            Some((Settings { max_gain, ..Settings::default() }, tiles))
        }
        _ => None,
    };
    let mut equalized = None;
    for line in std::io::stdin().lock().lines() {
        let times: usize = line.expect("a line of text").parse().expect("how many times");
        for _ in 0..times {
            // Its memory goes back to the pool: each result is written where the one before was.
            drop(equalized.take());
            let start = Instant::now();
            equalized = Some(match &local {
                None => {
                    let histogram = engine.histogram(&frame, frame.whole());
                    let size = (frame.width(), frame.height());
                    engine.map(&frame, &equalization.next(&histogram, size, &Guide::default()).curve, Chroma::Keep)
                }
                Some((settings, tiles)) => {
                    let tone = Tone::plain(frame.levels(), settings);
                    let counts = engine.tile_histograms(&frame, *tiles, None);
                    engine.map_tiles(
                        &frame,
                        &TileCurves::equalizing(&counts, settings, &tone.tile_levels()),
                        Chroma::Keep,
                    )
                }
            });
            println!("{}", start.elapsed().as_nanos());
        }
    }
    let equalized = equalized.expect("at least one turn");
    let plane = &equalized.planes()[0];
    let bytes: Vec<u8> = (0..plane.rows()).flat_map(|y| plane.row(y).to_vec()).collect();
    std::fs::write(out, bytes).expect("the result is written");
}
