//! Sequences of images that are named by their first image, or by their folder.

use super::values::usage;
use clap::error::ErrorKind;
use histeq_media::sink::{OutputKind, is_made_here, is_sequence_name};
use histeq_media::sys::{ImageFolder, Name, is_image_name};
use std::path::Path;

/// The images in a folder: those that this program has not made, if there are any.
pub fn images_in(folder: &Path) -> std::io::Result<ImageFolder> {
    let sources = ImageFolder::read(folder, |path| is_made_here(path) != Some(true))?;
    if sources == ImageFolder::default() { ImageFolder::read(folder, |_| true) } else { Ok(sources) }
}

/// The pattern of the images that the folder `name` is full of; `None` if it is no such folder.
pub fn of_folder(name: &Name) -> Result<Option<Name>, clap::Error> {
    let path = name.path();
    if !path.is_dir() {
        return Ok(None);
    }
    let invalid = |message: String| usage(ErrorKind::ValueValidation, &message);
    let ImageFolder { mut sequences, others } = images_in(path).map_err(|error| invalid(format!("{name}: {error}")))?;
    if sequences.len() == 1 && others.is_empty() {
        return Ok(sequences.pop().map(|(pattern, _)| pattern));
    }
    if sequences.is_empty() {
        return Ok(None);
    }
    let patterns = sequences.iter().map(|(pattern, count)| format!("{} ({count} images)", pattern.quoted()));
    let other = others.first().map(|other| match others.len() {
        1 => Name::from(other).quoted(),
        count => format!("{} and {} more", Name::from(other).quoted(), count - 1),
    });
    let all: Vec<String> = patterns.chain(other).collect();
    let remedy = format!("name one of them, or take all with --output-dir DIR {}", name.quoted());
    Err(invalid(format!("{name} is not one sequence of images, it has {} ({remedy})", all.join(", "))))
}

/// The pattern of the sequence that the image `name` begins, where a film or a sequence is to be written to `output`.
/// Into one image goes one image.
pub fn begun_by(name: &Name, output: &Name, format: Option<&str>) -> Option<Name> {
    let path = name.path();
    let is_one = is_image_name(output.path()) || OutputKind::of(output, format) == OutputKind::Images;
    let may_begin = path.is_file() && is_image_name(path) && (is_sequence_name(output) || !is_one);
    if may_begin { ImageFolder::begun_by(path) } else { None }
}
