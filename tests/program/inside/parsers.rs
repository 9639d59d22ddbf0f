//! Every parser accepts arbitrary bytes without a panic: the fuzzers' corpus, and random mutations of it.

#[path = "../fuzz/targets.rs"]
mod targets;

use super::random::{Random, seed};
use std::panic::catch_unwind;

/// How many inputs each target gets. `tests/program/fuzz/run.sh` tries many more.
const INPUTS: usize = 1500;

/// Words on which parsers branch.
const WORDS: [&[u8]; 12] =
    [b"0", b"-1", b"4294967296", b"18446744073709551616", b"1e999", b":", b"x", b"%", b"\n", b"\xff", b"\0", b"inf"];

/// A random input of `corpus` with a few random changes.
fn changed(random: &mut Random, corpus: &[Vec<u8>]) -> Vec<u8> {
    let any = |random: &mut Random, end: usize| random.below(end.max(1) as u64) as usize;
    let mut bytes = corpus[any(random, corpus.len())].clone();
    for _ in 0..1 + random.below(6) {
        let (offset, length) = (any(random, bytes.len() + 1), any(random, 16));
        let end = (offset + length).min(bytes.len());
        match random.below(5) {
            0 => drop(bytes.drain(offset..end)),
            1 => drop(bytes.splice(offset..offset, WORDS[any(random, WORDS.len())].iter().copied())),
            2 => bytes.extend_from_within(offset..end),
            3 => {
                let other = &corpus[any(random, corpus.len())];
                bytes.truncate(offset);
                bytes.extend_from_slice(&other[any(random, other.len() + 1)..]);
            }
            _ => bytes[offset..end].iter_mut().for_each(|byte| *byte ^= 1 << random.below(8)),
        }
    }
    bytes
}

#[test]
fn no_parser_panics_whatever_it_is_given() {
    let seed = seed();
    println!("HISTEQ_SEED={seed}");
    let mut random = Random::new(seed);
    for (name, target) in targets::TARGETS {
        let files = std::fs::read_dir(format!("tests/program/fuzz/corpus/{name}")).expect("the corpus");
        let mut files: Vec<_> = files.map(|file| file.expect("an entry").path()).collect();
        files.sort();
        let corpus: Vec<_> = files.iter().map(|file| std::fs::read(file).expect("a file")).collect();
        let changed: Vec<_> = (0..INPUTS).map(|_| changed(&mut random, &corpus)).collect();
        for input in corpus.iter().chain(&changed) {
            assert!(catch_unwind(|| target(input)).is_ok(), "{name} panics at \"{}\"", input.escape_ascii());
        }
    }
}
