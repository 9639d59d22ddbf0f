//! Files of a crate use each other in one direction: none uses a file that uses it, by way of whatever others. So each
//! can be read after those that it uses. Cargo runs these tests in the repository's root.

use super::code::{sources, words};
use std::collections::{BTreeMap, BTreeSet};

/// The folders of crates.
const CRATES: [&str; 9] = [
    "src/c/",
    "src/core/",
    "src/frei0r/",
    "src/lab/",
    "src/media/",
    "src/program/",
    "src/python/",
    "src/vapoursynth/",
    "src/wasm/",
];

/// Files in circles.
const CIRCLES: &str = "
src/c/handle.rs
src/c/lib.rs
src/c/options.rs
src/core/cuda/context.rs
src/core/cuda/denoise.rs
src/core/cuda/kernels/denoise/merge.rs
src/core/cuda/kernels/denoise/motion.rs
src/core/cuda/kernels/denoise/pyramid.rs
src/core/cuda/kernels/mod.rs
src/core/cuda/kernels/tiles/tile_curves.rs
src/core/cuda/kernels/tiles/tile_histogram.rs
src/core/cuda/kernels/tiles/tile_map.rs
src/core/cuda/kernels/tiles/veil_curves.rs
src/core/cuda/pipeline/picture.rs
src/core/equalize/counting/mask.rs
src/core/equalize/stage.rs
src/core/equalize/verify.rs
src/core/equalize/work.rs
src/core/front/builder.rs
src/core/front/mod.rs
src/core/front/survey.rs
src/core/options/check.rs
src/core/options/mod.rs
src/core/options/parse.rs
src/core/options/setters.rs
src/core/options/table.rs
src/core/spec/clahe/bins.rs
src/core/spec/clahe/clip.rs
src/core/spec/clahe/curves.rs
src/core/spec/clahe/histograms.rs
src/core/spec/curves/curve.rs
src/core/spec/curves/detail.rs
src/core/spec/curves/equalization.rs
src/core/spec/curves/mapping.rs
src/core/spec/curves/tone.rs
src/core/spec/measure.rs
src/core/spec/natural/correction.rs
src/core/spec/natural/frame_light.rs
src/core/spec/natural/in_light.rs
src/core/spec/natural/letters.rs
src/core/spec/natural/light.rs
src/core/spec/natural/log.rs
src/core/spec/natural/overlay/captions.rs
src/core/spec/natural/overlay/colours.rs
src/core/spec/natural/overlay/mod.rs
src/core/spec/natural/parts/belief.rs
src/core/spec/natural/parts/cast.rs
src/core/spec/natural/parts/contrast.rs
src/core/spec/natural/parts/dark.rs
src/core/spec/natural/parts/line.rs
src/core/spec/natural/parts/meant.rs
src/core/spec/natural/parts/middle.rs
src/core/spec/natural/parts/shade.rs
src/core/spec/natural/parts/veil.rs
src/core/spec/natural/points.rs
src/core/spec/natural/tone_curve.rs
src/core/spec/natural/tuning.rs
src/core/spec/parameters/look.rs
src/core/spec/parameters/settings.rs
src/core/spec/restoration/deflicker.rs
src/core/spec/restoration/faint.rs
src/core/spec/restoration/film.rs
src/core/spec/restoration/film_changes.rs
src/core/spec/time/scenes.rs
src/core/spec/time/temporal.rs
src/core/spec/time/window.rs
src/core/spec/transfer.rs
src/media/ffmpeg/decode/buffers.rs
src/media/ffmpeg/demux/media.rs
src/media/ffmpeg/encode/sound.rs
src/media/ffmpeg/encode/subtitle.rs
src/media/ffmpeg/encode/transcoder.rs
src/media/ffmpeg/frame/picture.rs
src/media/ffmpeg/frame/side_data.rs
src/media/ffmpeg/mod.rs
src/media/ffmpeg/mux/container.rs
src/media/ffmpeg/mux/signalling.rs
src/media/ffmpeg/packet.rs
src/media/ffmpeg/parse.rs
src/media/pipeline/live/equalize_stage.rs
src/media/pipeline/live/latency.rs
src/media/pipeline/live/output_queue.rs
src/media/pipeline/live/parts.rs
src/media/sink/files/target.rs
src/media/sink/files/together.rs
src/media/source/file/mod.rs
src/media/source/file/open.rs
src/media/source/file/packets.rs
src/media/source/file/parallel/decoders.rs
src/media/source/isolated/beginning.rs
src/media/source/isolated/child.rs
src/media/source/isolated/mod.rs
src/media/source/isolated/source.rs
src/media/source/isolated/transcoders.rs
src/media/source/isolated/waits.rs
src/media/source/isolated/zygote.rs
src/media/source/live/reader.rs
src/media/source/log/mod.rs
src/media/source/log/names.rs
src/media/source/open.rs
src/media/source/stack/fits.rs
src/media/source/stack/mod.rs
src/media/source/stack/ser.rs
src/media/source/stack/tiff.rs
src/media/sys/files/by_name.rs
src/media/sys/files/input_files.rs
src/media/sys/give_up.rs
src/media/sys/terminal.rs
src/program/commands/live/cameras.rs
src/program/commands/live/dry_run.rs
src/program/commands/live/mod.rs
src/program/commands/preview/in_browser.rs
src/program/commands/preview/mod.rs
src/program/commands/transcode/dry_run.rs
src/program/commands/transcode/mod.rs
src/program/commands/transcode/target_size.rs
src/program/options/command.rs
src/program/options/jobs/cameras.rs
src/program/options/jobs/many.rs
src/program/options/jobs/work.rs
src/program/options/reading/sequence.rs
src/program/options/shell.rs
src/program/pieces/folder.rs
src/program/pieces/plan.rs
src/program/sidecar/curves/cube.rs
src/program/sidecar/curves/save.rs
src/program/web/desk/folder.rs
src/program/web/desk/queue.rs
src/program/web/desk/small.rs
src/program/web/desk/uploads.rs
src/program/web/desk/work.rs
src/program/web/http/bodies.rs
src/program/web/http/routes.rs
src/program/web/view/hub.rs
src/program/web/view/metrics.rs
src/program/web/view/playing.rs
src/program/web/view/viewed_file.rs
src/python/lib.rs
src/python/picture.rs
src/python/sequence.rs
src/vapoursynth/equalize.rs
src/vapoursynth/host.rs
src/vapoursynth/lib.rs
src/vapoursynth/picture.rs
";

/// A path, or the path of a module.
type Path<'a> = Vec<&'a str>;

/// The code of a crate, without unit tests.
#[derive(Default)]
struct Crate<'a> {
    /// The file of each module.
    files: BTreeMap<Path<'a>, &'a str>,
    /// What `use` declares in a module: paths by names.
    names: BTreeMap<(Path<'a>, &'a str), Path<'a>>,
    /// The paths in each module, but for those that are declared for others (`pub use`).
    paths: Vec<(Path<'a>, Path<'a>)>,
}

fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Takes a tree of `use`, and the bracket or semicolon behind it, from `words`: its paths, by names.
fn take_tree<'a>(words: &mut &[&'a str], prefix: &[&'a str]) -> Vec<(&'a str, Path<'a>)> {
    let (mut found, mut path, mut is_open) = (Vec::new(), prefix.to_vec(), false);
    let mut name = "";
    while let Some((&word, rest)) = words.split_first() {
        *words = rest;
        match word {
            "{" => {
                found.append(&mut take_tree(words, &path));
                is_open = false;
            }
            "," | "}" | ";" => {
                if is_open {
                    found.push((name, path));
                }
                (path, is_open) = (prefix.to_vec(), false);
                if word != "," {
                    break;
                }
            }
            "as" => {
                name = words[0];
                *words = &words[1..];
            }
            // `a::{self}` is `a`.
            "self" if !path.is_empty() => (name, is_open) = (path[path.len() - 1], true),
            _ if is_name(word) => {
                path.push(word);
                (name, is_open) = (word, true);
            }
            _ => {}
        }
    }
    found
}

impl<'a> Crate<'a> {
    fn add(&mut self, file: &'a str, module: Path<'a>, text: &'a str) {
        let is_root = file.ends_with("/mod.rs") || module.is_empty();
        let text = &text[..text.find("\n#[cfg(test)]\nmod tests").unwrap_or(text.len())];
        self.files.insert(module.clone(), file);
        // Modules inside of the file, with the number of braces around each.
        let (mut inner, mut braces) = (vec![(module, 0)], 0);
        let all = words(text);
        let mut rest = &all[..];
        let mut before = "";
        while let Some((&word, behind)) = rest.split_first() {
            let module = inner[inner.len() - 1].0.clone();
            rest = behind;
            match word {
                "use" => {
                    for (name, path) in take_tree(&mut rest, &[]) {
                        self.names.insert((module.clone(), name), path.clone());
                        if !is_root || !["pub", ")"].contains(&before) {
                            self.paths.push((module.clone(), path));
                        }
                    }
                }
                "mod" if behind.get(1) == Some(&"{") => {
                    let below = [&module[..], &[behind[0]]].concat();
                    self.files.insert(below.clone(), file);
                    inner.push((below, braces + 1));
                }
                "{" => braces += 1,
                "}" => {
                    inner.truncate(inner.iter().take_while(|(_, depth)| *depth < braces || *depth == 0).count());
                    braces -= 1;
                }
                _ if is_name(word) && ![".", "::"].contains(&before) => {
                    let mut path = vec![word];
                    while rest.len() > 1 && rest[0] == "::" && is_name(rest[1]) {
                        path.push(rest[1]);
                        rest = &rest[2..];
                    }
                    if path.len() > 1 {
                        self.paths.push((module, path));
                    }
                }
                _ => {}
            }
            before = word;
        }
    }

    /// The path from the crate's root, if it is one of the crate. `depth` counts names that stand for other names.
    fn absolute(&self, module: &[&'a str], path: &[&'a str], depth: usize) -> Option<Path<'a>> {
        let (first, rest) = path.split_first()?;
        let beside = [module, path].concat();
        match *first {
            "crate" => Some(rest.to_vec()),
            "self" => Some([module, rest].concat()),
            "super" => {
                let module = &module[..module.len().checked_sub(1)?];
                if rest.first() == Some(&"super") {
                    return self.absolute(module, rest, depth);
                }
                Some([module, rest].concat())
            }
            _ if self.files.contains_key(&beside[..=module.len()]) => Some(beside),
            name => {
                let target = self.names.get(&(module.to_vec(), name)).filter(|target| target[..] != *path)?;
                let target = if depth < 9 { self.absolute(module, target, depth + 1)? } else { return None };
                Some([&target, rest].concat())
            }
        }
    }

    /// The file in which a path's item is.
    fn file(&self, path: &[&'a str], depth: usize) -> Option<&'a str> {
        let length = (0..=path.len()).rev().find(|&length| self.files.contains_key(&path[..length]))?;
        let (module, item) = path.split_at(length);
        let declared = item.first().and_then(|name| self.names.get(&(module.to_vec(), *name)));
        let target = declared.filter(|_| depth < 9).and_then(|target| self.absolute(module, target, depth));
        target.and_then(|target| self.file(&target, depth + 1)).or_else(|| self.files.get(module).copied())
    }

    /// The files that each file uses.
    fn uses(&self) -> BTreeMap<&'a str, BTreeSet<&'a str>> {
        let mut found = BTreeMap::<_, BTreeSet<_>>::new();
        for (module, path) in &self.paths {
            let used = self.absolute(module, path, 0).and_then(|path| self.file(&path, 0));
            let file = self.files[module];
            found.entry(file).or_default().extend(used.filter(|used| *used != file));
        }
        found
    }
}

/// Each file in a circle, with the files of the circle that it uses.
fn circles<'a>(uses: &BTreeMap<&'a str, BTreeSet<&'a str>>) -> BTreeMap<&'a str, Vec<&'a str>> {
    let reached = |start: &'a str| {
        let (mut found, mut waiting) = (BTreeSet::new(), vec![start]);
        while let Some(file) = waiting.pop() {
            waiting.extend(uses.get(file).into_iter().flatten().filter(|used| found.insert(**used)));
        }
        found
    };
    let reached: BTreeMap<&str, BTreeSet<&str>> = uses.keys().map(|file| (*file, reached(file))).collect();
    let is_back = |file: &str, used: &str| reached.get(used).is_some_and(|found| found.contains(file));
    let rows =
        uses.iter().map(|(file, used)| (*file, used.iter().copied().filter(|used| is_back(file, used)).collect()));
    rows.filter(|(_, used): &(_, Vec<_>)| !used.is_empty()).collect()
}

#[test]
fn no_file_uses_a_file_that_uses_it() {
    let sources = sources();
    let mut found = BTreeMap::new();
    for folder in CRATES {
        let mut all = Crate::default();
        for (file, text) in sources.iter().filter(|(file, _)| file.starts_with(folder)) {
            let module = file[folder.len()..].trim_end_matches(".rs").trim_end_matches("/mod");
            let module = if ["lib", "main"].contains(&module) { vec![] } else { module.split('/').collect() };
            all.add(file, module, text);
        }
        assert!(all.uses().len() > 1 || all.files.len() < 4, "{folder}: no file uses another");
        found.append(&mut circles(&all.uses()));
    }
    let listed: BTreeSet<&str> = CIRCLES.lines().filter(|line| !line.is_empty()).collect();
    let wrong = found.iter().filter(|(file, _)| !listed.contains(*file));
    let wrong: Vec<String> = wrong.map(|(file, used)| format!("{file} -> {}", used.join(" "))).collect();
    assert!(wrong.is_empty(), "{} files are in circles:\n{}", wrong.len(), wrong.join("\n"));
    let gone: Vec<&&str> = listed.iter().filter(|file| !found.contains_key(*file)).collect();
    assert!(gone.is_empty(), "in no circle any more: {gone:?}");
}

#[test]
fn a_circle_is_found_behind_declarations() {
    let files = [
        ("mod.rs", vec![], "pub use a::A; mod a; mod b;"),
        ("a.rs", vec!["a"], "use crate::b::{self, B as C}; struct A(b::D, C);"),
        ("b.rs", vec!["b"], "mod c { use super::super::A; } struct B;"),
        ("d.rs", vec!["d"], "use crate::A;"),
    ];
    let mut all = Crate::default();
    files.into_iter().for_each(|(file, module, text)| all.add(file, module, text));
    let found = circles(&all.uses());
    assert_eq!(found, BTreeMap::from([("a.rs", vec!["b.rs"]), ("b.rs", vec!["a.rs"])]));
}
