//! Rooms of a size that one can look around in: files in a folder, lines in a file, lines in a function. Cargo runs
//! these tests in the repository's root.

use super::code::{sources, words};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Only files that people write and read as code count, by their endings: not data, results, pages of help, and what is
/// generated.
const CODE: [&str; 13] = ["rs", "cu", "cuh", "c", "cpp", "h", "hpp", "py", "sh", "js", "mjs", "html", "css"];

/// Where the code is.
const FOLDERS: [&str; 4] = ["src", "kernels", "tests", "benches"];

const MAX_FILES: usize = 12;
const MAX_LINES: usize = 600;
const MAX_FUNCTION: usize = 60;

/// Folders and files that are still larger.
const LARGER_FOLDERS: &str = "
";
const LARGER_FILES: &str = "
kernels/fused.cu
src/media/sink/file.rs
tests/core/equalize/device_surfaces.rs
tests/core/equalize/guided.rs
tests/core/kernels/fused.rs
tests/hosts/python/test_arrays.py
tests/media/kept/streams.rs
tests/media/live/browser/web.py
tests/media/live/browser/web.rs
tests/media/live/browser/work.rs
tests/media/pictures/images.rs
tests/program/arguments/hints.rs
tests/program/commands/in_pieces.rs
";

/// Functions that are larger, with the reason.
const LARGER_FUNCTIONS: &str = "
src/core/cuda/kernels/fused.rs launch
src/core/equalize/counting/lattice.rs lattice
src/core/equalize/cpu/engine.rs write_luminance
src/core/equalize/noise_job.rs cleaned
src/core/options/resolve.rs resolve
src/core/spec/natural/correction.rs mapping
src/core/spec/natural/correction.rs new
src/media/ffmpeg/decode/decoder.rs open
src/media/ffmpeg/demux/demuxer.rs open
src/media/ffmpeg/demux/wire.rs checked
src/media/ffmpeg/log.rs remember
src/media/pipeline/live/engine.rs run
src/media/sink/encoder/choice.rs candidates
src/media/sink/encoder/choice.rs settings
src/media/sink/encoder/start.rs open
src/media/sink/file.rs begin_file
src/media/sink/file.rs prepare
src/media/sink/kept/streams.rs add
src/media/sink/recorder/mod.rs a_thousand_seams_under_a_clock_that_is_set_lose_no_frame_and_no_name
src/media/source/file/mod.rs advance
src/media/source/file/open.rs open
src/media/source/file/open.rs open_demuxer
src/media/source/filter/filtered.rs open
src/media/source/isolated/child.rs opened
src/media/source/isolated/memory/frames.rs copied
src/media/source/live/reader.rs next
src/media/source/log/curves.rs light
src/media/source/stack/mod.rs open
src/media/sys/files/input_files.rs what_lists_patterns_and_urls_name_is_known_before_it_is_opened
src/program/commands/join.rs join_file
src/program/commands/live/mod.rs film
src/program/commands/plan.rs plan_file
src/program/commands/transcode/dry_run.rs run
src/program/commands/transcode/mod.rs run
src/program/commands/transcode/mod.rs transcode
src/program/commands/transcode/target_size.rs transcode_to_size
src/program/options/defaults.rs with_origins
src/program/options/habits.rs understood
src/program/options/jobs/cameras.rs camera
src/program/options/jobs/file.rs from_args
src/program/options/jobs/preview.rs from_args
src/program/options/picture/equalize.rs from_args
src/program/options/shell.rs page
src/program/pieces/jobs.rs run_jobs
src/python/layout.rs for_array
tests/core/spec/clahe.rs thermal_footage_in_a_small_part_of_its_range_has_more_contrast_in_tiles_than_with_one_curve
tests/media/kept/metadata.rs every_container_keeps_what_the_table_says_and_a_warning_names_the_rest
tests/media/live/browser/web.rs a_file_is_seen_as_its_command_makes_it_before_anything_is_written
tests/media/live/browser/web.rs a_source_is_told_and_changed_while_it_runs
tests/media/live/browser/work.rs a_film_of_the_folder_is_seen_made_and_compared_with_what_was_made
tests/media/live/browser/work.rs files_from_the_page_are_taken_made_downloaded_and_gone_at_the_end
tests/media/live/browser/work/playing.rs a_film_and_its_result_are_played_whole_or_in_the_part_that_is_asked_for
tests/media/live/cameras.rs faults_are_told_with_line_and_column_before_anything_starts
tests/media/pictures/images.rs the_pages_of_a_tiff_are_frames
tests/media/pictures/stacks.rs tiff
tests/program/harm/compromised/walls.rs whoever_is_taken_over_reaches_nothing
tests/program/harm/memory.rs files
tests/program/messages/errors.rs whole_files_of_kinds_that_are_not_read_are_no_damage
";

/// Adds the files of code in this folder and below, with the lines of each, by folder.
fn add_files(folder: &Path, found: &mut BTreeMap<String, BTreeMap<String, usize>>) {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for path in entries.map(|entry| entry.expect("an entry that can be read").path()) {
        let is_code = path.extension().and_then(|ending| ending.to_str()).is_some_and(|ending| CODE.contains(&ending));
        if path.is_symlink() {
            continue;
        } else if path.is_dir() {
            add_files(&path, found);
        } else if is_code {
            let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            let files = found.entry(folder.display().to_string()).or_default();
            files.insert(path.display().to_string(), text.lines().count());
        }
    }
}

fn folders() -> BTreeMap<String, BTreeMap<String, usize>> {
    let mut found = BTreeMap::new();
    for folder in FOLDERS {
        add_files(Path::new(folder), &mut found);
    }
    found
}

/// The functions of a text that have a body: their names, and their lines from `fn` to the closing brace.
fn functions(text: &str) -> Vec<(&str, usize)> {
    let words = words(text);
    let line = |word: &str| text[..word.as_ptr() as usize - text.as_ptr() as usize].matches('\n').count();
    let mut found = Vec::new();
    for start in (1..words.len()).filter(|&index| words[index - 1] == "fn" && words[index] != "(") {
        // Brackets that are open; the body is the first brace outside of brackets.
        let (mut brackets, mut braces) = (0, 0);
        for word in &words[start..] {
            match *word {
                "(" | "[" => brackets += 1,
                ")" | "]" => brackets -= 1,
                ";" if brackets == 0 && braces == 0 => break,
                "{" => braces += 1,
                "}" => braces -= 1,
                _ => {}
            }
            if *word == "}" && braces == 0 && brackets == 0 {
                found.push((words[start], line(word) - line(words[start]) + 1));
                break;
            }
        }
    }
    found
}

/// Panics if what is larger than allowed (`larger`, with its size) is not what `listed` has, a name a line, before
/// the colon.
fn check(larger: BTreeMap<String, usize>, listed: &str, unit: &str, max: usize) {
    let rows = listed.lines().map(|line| line.split(':').next().unwrap_or_default()).filter(|name| !name.is_empty());
    let listed: BTreeSet<&str> = rows.collect();
    let wrong = larger.iter().filter(|(name, _)| !listed.contains(name.as_str()));
    let wrong: Vec<String> = wrong.map(|(name, size)| format!("{size} {name}")).collect();
    assert!(wrong.is_empty(), "{} have more than {max} {unit}:\n{}", wrong.len(), wrong.join("\n"));
    let gone: Vec<&&str> = listed.iter().filter(|name| !larger.contains_key(**name)).collect();
    assert!(gone.is_empty(), "no exception any more: {gone:?}");
}

#[test]
fn a_folder_has_few_files() {
    let sizes = folders().into_iter().map(|(folder, files)| (folder, files.len()));
    check(sizes.filter(|(_, size)| *size > MAX_FILES).collect(), LARGER_FOLDERS, "files", MAX_FILES);
}

#[test]
fn a_file_has_few_lines() {
    let sizes = folders().into_values().flatten().filter(|(_, size)| *size > MAX_LINES);
    check(sizes.collect(), LARGER_FILES, "lines", MAX_LINES);
}

#[test]
fn a_function_has_few_lines() {
    let mut larger = BTreeMap::new();
    for (path, text) in sources() {
        let rows = functions(&text).into_iter().filter(|(_, lines)| *lines > MAX_FUNCTION);
        larger.extend(rows.map(|(name, lines)| (format!("{path} {name}"), lines)));
    }
    check(larger, LARGER_FUNCTIONS, "lines", MAX_FUNCTION);
}

#[test]
fn functions_are_measured_from_their_name_to_their_end() {
    let text =
        "fn a() { 1 }\n trait T { fn b(&self);\n fn c(x: [u8; 2]) -> fn(u8) {\n // }\n if x { y }\n \"}\"\n }\n }";
    assert_eq!(functions(text), [("a", 1), ("c", 5)]);
}
