//! Sequences of images that are named by their first image, or by their folder.

use crate::options::jobs::many::is_video_name;
use crate::options::values::usage;
use clap::error::ErrorKind;
use histeq_media::sink::files::is_made_here;
use histeq_media::sink::{OutputKind, is_sequence_name};
use histeq_media::sys::files::{ImageFolder, Name, is_image_name, numbered, numbers_there};
use std::path::Path;

/// The images in a folder: those that this program has not made, or else all. Numbered photos are single images, not
/// a sequence.
pub fn images_in(folder: &Path) -> std::io::Result<ImageFolder> {
    let mut images = ImageFolder::read(folder, |path| is_made_here(path) != Some(true))?;
    if images == ImageFolder::default() {
        images = ImageFolder::read(folder, |_| true)?;
    }
    let (photos, sequences) = images.sequences.into_iter().partition(|(pattern, _)| are_photos(pattern));
    images.sequences = sequences;
    for (pattern, _) in photos {
        images
            .others
            .extend(numbers_there(&pattern).into_iter().map(|number| numbered(&pattern, number).path().into()));
    }
    images.others.sort();
    Ok(images)
}

/// Whether these numbered images are single photos: JPEG files with camera names (DCF: four capitals, digits or `_`,
/// and four digits) or with gaps in their numbers.
fn are_photos(pattern: &Name) -> bool {
    let extension = pattern.path().extension().unwrap_or_default();
    let is_jpeg = ["jpg", "jpeg"].iter().any(|ending| extension.eq_ignore_ascii_case(ending));
    let numbers = numbers_there(pattern);
    let Some((first, last)) = numbers.first().zip(numbers.last()).filter(|_| is_jpeg) else { return false };
    let name = numbered(pattern, *first);
    let stem = name.path().file_stem().unwrap_or_default().as_encoded_bytes();
    let is_of_camera = matches!(stem, [prefix @ .., a, b, c, d] if prefix.len() == 4
        && prefix.iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_')
        && [a, b, c, d].into_iter().all(u8::is_ascii_digit));
    is_of_camera || last - first + 1 != numbers.len() as u64
}

/// The pattern of the images in the folder `name`, if they are a single sequence; `None` if `name` is no folder, has
/// videos, or has at most one image. Otherwise, an error.
pub fn image_pattern(name: &Name) -> Result<Option<Name>, clap::Error> {
    let path = name.path();
    if !path.is_dir() {
        return Ok(None);
    }
    let invalid = |message: String| usage(ErrorKind::ValueValidation, &message);
    let ImageFolder { mut sequences, others: rest } =
        images_in(path).map_err(|error| invalid(format!("{name}: {error}")))?;
    if sequences.len() == 1 && rest.is_empty() {
        return Ok(sequences.pop().map(|(pattern, _)| pattern));
    }
    // In a folder with videos, only these are inputs.
    let mut beside = std::fs::read_dir(path).map_err(|error| invalid(format!("{name}: {error}")))?;
    if beside.any(|entry| entry.is_ok_and(|entry| is_video_name(&entry.path()))) {
        return Ok(None);
    }
    if sequences.is_empty() && rest.len() > 1 {
        let (count, folder) = (rest.len(), name.quoted());
        return Err(invalid(format!(
            "{name} is a folder with {count} pictures (--output-dir DIR {folder} makes each of them; a pattern like \
             IMG_%04d.JPG makes a film of those with numbers)"
        )));
    }
    if sequences.is_empty() {
        return Ok(None);
    }
    let patterns = sequences.iter().map(|(pattern, count)| format!("{} ({count} images)", pattern.quoted()));
    let other = rest.first().map(|other| match rest.len() {
        1 => Name::from(other).quoted(),
        count => format!("{} and {} more", Name::from(other).quoted(), count - 1),
    });
    let all: Vec<String> = patterns.chain(other).collect();
    let remedy = format!("name one of them, or take all with --output-dir DIR {}", name.quoted());
    Err(invalid(format!("{name} is not one sequence of images, it has {} ({remedy})", all.join(", "))))
}

/// The pattern of the sequence whose first image is `name`, if `output` is a video or a sequence; `None` if `output` is
/// one image, into which only `name` goes.
pub fn begun_by(name: &Name, output: &Name, format: Option<&str>) -> Option<Name> {
    let path = name.path();
    let is_one = is_image_name(output.path()) || OutputKind::for_name(output, format) == OutputKind::Images;
    let may_begin = path.is_file() && is_image_name(path) && (is_sequence_name(output) || !is_one);
    if may_begin { ImageFolder::begun_by(path) } else { None }
}
