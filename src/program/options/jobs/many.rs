//! Options for many cores, and for many files.

use crate::options::reading::sequence::images_in;
use crate::options::values::{named, usage};
use crate::options::writing::stderr::StderrOptions;
use clap::Args;
use clap::error::ErrorKind;
use histeq_media::sink::files::{is_made_here, name_of};
use histeq_media::sink::is_sequence_name;
use histeq_media::sys::files::{FileId, Name, files_of_input, folder_of, id_of, is_image_name, number_pattern};
use same_file::Handle;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// How to work on many cores and many files, as typed.
#[derive(Args, Debug)]
pub struct ManyArgs {
    /// Further inputs of --output-dir
    #[arg(hide = true, value_hint = clap::ValueHint::AnyPath)]
    pub more: Vec<Name>,

    /// Cut the video into pieces that this many processes work on, with the same frames; auto: as many as pay here
    ///
    /// The pieces lie beside the output until they are joined. A run that is interrupted goes on from there when it is
    /// called again. With --output-dir, this many files are worked on at once. docs/scale.md says what can be cut.
    #[arg(long, value_name = "N", value_parser = jobs, help_heading = "Pieces", hide_short_help = true)]
    pub jobs: Option<Jobs>,

    /// Equalize many files and folders into this folder: names are kept, folders mirrored, and files that are there
    /// skipped
    ///
    /// All names are inputs then. With --for, names end as those of its files do: .mp4 for the web. Of folders, files
    /// are taken whose names end as those of videos do; of a folder without any, images, and numbered ones as one
    /// sequence; but none that this program has made. Of a sequence, all images have to be there for it to be skipped.
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    #[arg(help_heading = "Pieces", hide_short_help = true)]
    pub output_dir: Option<PathBuf>,

    /// What becomes of what lacks nothing: encoded like all others, a copy of the file, or nothing
    ///
    /// That is known at the end: until then, it is equalized and encoded like any other. A copy has the bytes of the
    /// input. Numbered images are written in any case. docs/files.md has more.
    #[arg(long, value_parser = named::<Unchanged>(), default_value_t = Unchanged::Encode, value_name = "WHAT")]
    #[arg(help_heading = "Pieces", hide_short_help = true)]
    #[arg(conflicts_with_all = ["start", "duration", "frames", "filter", "lut", "filter_after", "palette"])]
    #[arg(conflicts_with_all = ["output-depth", "purpose", "fit", "target_size", "streams", "output_format"])]
    #[arg(conflicts_with_all = ["output_pixel_format"])]
    pub unchanged: Unchanged,

    /// Take one input and output of the list, and end when stdin is closed, as by a parent that has ended
    #[arg(long, num_args = 2, hide = true, allow_hyphen_values = true)]
    pub one_of: Option<Vec<Name>>,

    /// Keep the images of the output that are there
    #[arg(long, hide = true, requires = "one_of")]
    pub keep_images: bool,

    /// The program has made up the name of the output
    #[arg(long, hide = true, requires = "one_of")]
    pub made_up: bool,

    /// The input is a regular file without symbolic links in its path
    #[arg(long, hide = true, requires = "one_of")]
    pub no_links: bool,
}

histeq::named! {
    /// What to do with a video that needs no correction.
    #[derive(Default)]
    pub enum Unchanged {
        #[default]
        Encode = "encode", "It is encoded like all others";
        Copy = "copy", "The output is a copy of the input";
        Skip = "skip", "Nothing is written";
    }
}

/// How many processes work at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Jobs {
    /// As many as make the work faster on this machine.
    Auto,
    /// This many.
    Exactly(usize),
}

pub(crate) fn jobs(text: &str) -> Result<Jobs, String> {
    match (text, text.parse()) {
        ("auto", _) => Ok(Jobs::Auto),
        (_, Ok(count @ 1..=1024)) => Ok(Jobs::Exactly(count)),
        _ => Err("a number from 1 to 1024, or auto".to_owned()),
    }
}

/// Extensions of videos.
const VIDEOS: [&str; 33] = [
    "3g2", "3gp", "asf", "avi", "dv", "f4v", "flv", "gif", "h264", "hevc", "ivf", "m2ts", "m2v", "m4v", "mjpeg", "mkv",
    "mov", "mp4", "mpeg", "mpg", "mts", "mxf", "nut", "ogm", "ogv", "ser", "ts", "vob", "webm", "wmv", "y4m", "264",
    "265",
];

/// Whether the name has the extension of a video.
pub fn is_video_name(name: &Path) -> bool {
    let extension = name.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    extension.is_some_and(|extension| VIDEOS.contains(&extension.as_str()))
}

/// Inputs and outputs.
pub struct Listed {
    /// Inputs with their outputs.
    pub files: Vec<(Name, Name)>,
    /// Images in folders that are not inputs, because the folder also has videos.
    pub left_out: Vec<PathBuf>,
}

/// The inputs in `names`, which are files and folders, each with its output in the folder `into`. Files in `into` are
/// not inputs. Outputs have `extension`, or else that of the input.
pub fn listed(names: &[Name], into: &Path, extension: Option<&str>) -> Result<Listed, clap::Error> {
    listed_but(names, into, extension, Handle::from_path(into).ok())
}

/// As [`listed`], but `folder` instead of `into` is the folder whose files are not inputs.
pub fn listed_but(
    names: &[Name],
    into: &Path,
    extension: Option<&str>,
    folder: Option<Handle>,
) -> Result<Listed, clap::Error> {
    let invalid = |message: String| usage(ErrorKind::ValueValidation, &message);
    if into.exists() && !into.is_dir() {
        return Err(invalid(format!("--output-dir {}: a file, and no folder (name a folder)", Name::from(into))));
    }
    let (mut found, mut left_out) = (Vec::<(PathBuf, PathBuf)>::new(), Vec::new());
    for name in names {
        let path = name.path();
        if path.is_dir() {
            let mut below = Below::default();
            // Files that this program has made are inputs only if the folder has no others.
            for takes_made in [false, true] {
                if below.files.is_empty() {
                    below
                        .add(path, folder.as_ref(), takes_made)
                        .map_err(|error| invalid(format!("{name}: {error}")))?;
                }
            }
            below.files.sort();
            left_out.append(&mut below.left_out);
            found.extend(below.files.into_iter().map(|file| {
                let output = into.join(file.strip_prefix(path).unwrap_or(&file));
                (file, output)
            }));
        } else {
            let file = path.file_name().ok_or_else(|| invalid(format!("{name}: not the name of a file")))?;
            found.push((path.to_owned(), into.join(file)));
        }
    }
    let same = names.iter().find(|name| is_same(name.path(), folder.as_ref()));
    if let (Some(name), true) = (same, found.is_empty()) {
        return Err(invalid(format!("{name} is the folder of the outputs, too (name another one with --output-dir)")));
    }
    if let Some(extension) = extension {
        let has_it = |output: &Path| output.extension().is_some_and(|suffix| suffix.eq_ignore_ascii_case(extension));
        for (input, output) in found.iter_mut().filter(|(_, output)| !has_it(output)) {
            // A video made of numbered images has no number in its name.
            let becomes_film = !input.exists() && !is_image_name(Path::new(&format!("a.{extension}")));
            if becomes_film && let Some(name) = without_number(output) {
                let name = if name.is_empty() { name_of_folder(input) } else { name };
                output.set_file_name(Name::from_parts([&name, &"."]));
            }
            let stem = output.file_stem().unwrap_or_default().into();
            output.set_file_name(name_of(&stem, &Name::from_parts([&".", &extension])));
        }
    }
    let mut outputs: Vec<&PathBuf> = found.iter().map(|(_, output)| output).collect();
    outputs.sort();
    if let Some(pair) = outputs.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(invalid(format!("two inputs would become {} (use two folders)", Name::from(pair[0]))));
    }
    let left_out = without_inputs(left_out, &found);
    Ok(Listed { files: found.into_iter().map(|(input, output)| (input.into(), output.into())).collect(), left_out })
}

/// Makes sure that no output takes the place of a file that another input is read from.
pub fn differ_from_inputs(files: &[(Name, Name)]) -> Result<(), clap::Error> {
    let there = |output: &Name| std::fs::metadata(output).ok().filter(std::fs::Metadata::is_file);
    let outputs = files.iter().enumerate().filter_map(|(index, (_, output))| Some((index, id_of(&there(output)?))));
    let outputs: Vec<(usize, FileId)> = outputs.collect();
    if outputs.is_empty() {
        return Ok(());
    }
    let mut readers = HashMap::<FileId, Vec<usize>>::new();
    for (index, (input, _)) in files.iter().enumerate() {
        files_of_input(input).into_iter().for_each(|file| readers.entry(file).or_default().push(index));
    }
    for (index, output) in outputs {
        let other = readers.get(&output).and_then(|readers| readers.iter().find(|reader| **reader != index));
        if let Some(other) = other {
            let (output, input) = (&files[index].1, &files[*other].0);
            let message =
                format!("{output} would be replaced, but {input} is read from it (name another --output-dir)");
            return Err(usage(ErrorKind::ValueValidation, &message));
        }
    }
    Ok(())
}

/// `pictures`, sorted, without those that the user has named as inputs of their own.
fn without_inputs(mut pictures: Vec<PathBuf>, found: &[(PathBuf, PathBuf)]) -> Vec<PathBuf> {
    let mut inputs: Vec<&PathBuf> = found.iter().map(|(input, _)| input).collect();
    inputs.sort();
    pictures.retain(|picture| inputs.binary_search(&picture).is_err());
    pictures.sort();
    pictures
}

/// The name of a pattern for numbered images, without extension, number and separator.
fn without_number(pattern: &Path) -> Option<Name> {
    let name = pattern.file_name().filter(|name| is_sequence_name(name))?;
    let (place, _) = number_pattern(name)?;
    let (before, behind) = (&name.as_bytes()[..place.start], OsStr::from_bytes(&name.as_bytes()[place.end..]));
    let behind = Path::new(behind).file_stem()?.as_bytes();
    let mut name = [before, if behind.starts_with(b".") { b"" } else { behind }].concat();
    while name.last().is_some_and(|byte| b"_-. ".contains(byte)) {
        name.pop();
    }
    Some(Name::from_bytes(name))
}

/// The name of the folder that a file is in.
fn name_of_folder(file: &Path) -> Name {
    let name = folder_of(file).canonicalize().ok().and_then(|folder| Some(folder.file_name()?.into()));
    name.unwrap_or_else(|| "images".into())
}

/// Whether `folder` is the folder of the outputs, even under another name.
fn is_same(folder: &Path, outputs: Option<&Handle>) -> bool {
    outputs.is_some_and(|outputs| Handle::from_path(folder).is_ok_and(|folder| folder == *outputs))
}

/// The files in a folder and its subfolders.
#[derive(Default)]
struct Below {
    /// Files that are inputs.
    files: Vec<PathBuf>,
    /// Images that are not inputs, because videos are in the same folder.
    left_out: Vec<PathBuf>,
}

impl Below {
    /// Adds the videos in `folder` and its subfolders, or the images of a folder that has no videos. Leaves out the
    /// folder `outputs`, hidden files, links to folders and, unless `takes_made`, files that this program has made.
    fn add(&mut self, folder: &Path, outputs: Option<&Handle>, takes_made: bool) -> std::io::Result<()> {
        if is_same(folder, outputs) {
            return Ok(());
        }
        let before = self.files.len();
        let (mut folders, mut pictures) = (Vec::new(), Vec::new());
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            let path = entry.path();
            if entry.file_name().as_encoded_bytes().starts_with(b".") {
                continue;
            }
            if entry.file_type()?.is_dir() {
                folders.push(path);
            } else if path.is_file() && is_video_name(&path) && (takes_made || is_made_here(&path) != Some(true)) {
                self.files.push(path);
            } else if path.is_file() && is_image_name(&path) {
                pictures.push(path);
            }
        }
        if self.files.len() == before {
            let images = images_in(folder)?;
            let sequences = images.sequences.into_iter().map(|(pattern, _)| pattern.path().to_owned());
            self.files.extend(sequences.chain(images.others));
        } else {
            self.left_out.extend(pictures.into_iter().filter(|path| is_made_here(path) != Some(true)));
        }
        folders.iter().try_for_each(|folder| self.add(folder, outputs, takes_made))
    }
}

/// The checked options of many files.
pub struct ManyJob {
    /// Each input and its output.
    pub files: Vec<(Name, Name)>,
    /// How many files are worked on at once.
    pub jobs: Jobs,
    /// Images that are left out of folders, because videos are in the same folder.
    pub left_out: Vec<PathBuf>,
    /// Whether existing outputs are replaced.
    pub overwrites: bool,
    pub stderr: StderrOptions,
}

impl ManyJob {
    /// A text, after a semicolon, about how many images are left out and how to include them; empty if there are none.
    pub fn left_out_in_words(&self) -> String {
        let Some(first) = self.left_out.first() else { return String::new() };
        let were = match self.left_out.len() {
            1 => "1 picture beside videos was".to_owned(),
            count => format!("{count} pictures beside videos were"),
        };
        let folder = Name::from(folder_of(first)).quoted();
        let end = first.extension().unwrap_or_default().to_string_lossy();
        format!("; {were} left out (name them to have them, as in {folder}/*.{end})")
    }
}
