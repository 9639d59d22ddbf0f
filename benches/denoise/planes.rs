//! Raw 4:2:0 video of 8 bits from stdin, made clean, to stdout with 16 bits a sample (codes of 12 bits).
use histeq::denoise::{Around, Picture, RADIUS, Step, Steps, sheet::Sheet};
use histeq::equalize::cpu::{Isa, denoise_steps};
use std::io::{Read, Write};

fn main() {
    let words: Vec<usize> = std::env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    let (width, height) = (words[0], words[1]);
    let isa =
        Isa::ALL.into_iter().find(|isa| std::env::args().any(|word| word == isa.to_string())).unwrap_or(Isa::best());
    let steps: Steps = denoise_steps(isa).expect("an instruction set that this machine has");
    eprintln!("{isa}");
    let mut bytes = Vec::new();
    std::io::stdin().read_to_end(&mut bytes).expect("stdin");
    let begin = std::time::Instant::now();
    let pictures: Vec<Picture> = bytes
        .chunks_exact(width * height * 3 / 2)
        .map(|frame| {
            let (y, chroma) = frame.split_at(width * height);
            let (u, v) = chroma.split_at(width * height / 4);
            let plane = |bytes: &[u8], width: usize, height: usize| {
                let mut sheet = Sheet::new(width, height);
                for (y, row) in bytes.chunks_exact(width).enumerate() {
                    sheet.row_mut(y).iter_mut().zip(row).for_each(|(to, code)| *to = (i16::from(*code) << 4) - 2048);
                }
                sheet.repeat_edges();
                sheet
            };
            let planes =
                vec![plane(y, width, height), plane(u, width / 2, height / 2), plane(v, width / 2, height / 2)];
            Picture::new(planes, (1, 1), &steps)
        })
        .collect();
    eprintln!("pictures {:?}", begin.elapsed());
    let made: Vec<Option<Step>> =
        (0..pictures.len()).map(|at| (at > 0).then(|| pictures[at].step(&pictures[at - 1], &steps))).collect();
    eprintln!("steps {:?}", begin.elapsed());
    let mut out = std::io::stdout().lock();
    for at in 0..pictures.len() {
        let (first, end) = (at.saturating_sub(RADIUS), (at + RADIUS + 1).min(pictures.len()));
        let around: Vec<_> = (first..end).map(|of| (&pictures[of], made[of].as_ref())).collect();
        for sheet in (Around { pictures: &around, at: at - first }).clean(&steps) {
            for y in 0..sheet.height() {
                let codes: Vec<u8> =
                    sheet.row(y).iter().flat_map(|code| ((code + 2048).clamp(0, 4095) as u16).to_le_bytes()).collect();
                out.write_all(&codes).expect("stdout");
            }
        }
    }
    eprintln!("clean {:?} for {} frames", begin.elapsed(), pictures.len());
}
