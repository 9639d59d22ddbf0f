//! A file of cameras: `histeq-video live --config FILE`. docs/live.md describes it.

use super::live::{LiveJob, Scheduled};
use crate::options::command::Args;
use crate::options::defaults::{HAS_NUL, NamedOptions, Origin, Text, with_origins, words_for};
use crate::options::picture::option_args::{SET, is_rare};
use crate::options::values::{in_one_line, usage};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser};
use histeq::internal::options::OPTIONS;
use histeq_media::sys::files::{Name, read_regular};
use jiff::civil::Time;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::ops::Range;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::Duration;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The most bytes of the file, and of a file with a password.
const MAX_BYTES: u64 = 1 << 20;

/// The name of the source of a camera, which is no option of the command line.
const SOURCE: &str = "source";

/// The settings for some times of the day, which are no option of the command line either.
const SCHEDULE: &str = "schedule";

/// The option whose limit is for one camera if it is in the camera's table, and else for all cameras together.
const KEEP_SIZE: &str = "--keep-size";

/// Options of the whole process: they are allowed on the command line and above the cameras, not for one camera.
const PROCESS_OPTIONS: [&str; 11] =
    ["backend", "gpu", "progress", "progress-file", "quiet", "sandbox", "strict", "use", "verbose", "web", "web-token"];

/// A camera of the file.
#[derive(Clone, Debug)]
pub struct Camera {
    /// Its name.
    pub name: String,
    /// The equivalent command line: if it is equal after the file is read again, the camera has not changed.
    pub words: Vec<OsString>,
    /// The job that the words ask for.
    pub job: LiveJob,
    /// File, line and column of the camera's table.
    pub place: String,
}

impl Camera {
    /// A source of the command line.
    pub fn from_command_line(name: String, job: LiveJob) -> Self {
        Camera { name, words: Vec::new(), job, place: String::new() }
    }

    /// The words that are options of the whole process.
    pub fn process_words(&self) -> BTreeSet<&OsStr> {
        let name = |word: &OsStr| Some(word.to_str()?.strip_prefix("--")?.split('=').next()?.to_owned());
        let words = self.words.iter().map(OsString::as_os_str);
        words.filter(|word| name(word).is_some_and(|name| PROCESS_OPTIONS.contains(&&*name))).collect()
    }
}

/// A file of cameras, and the words of the command line that names it.
#[derive(Clone, Debug)]
pub struct CameraFile {
    /// Its name.
    pub path: PathBuf,
    words: Vec<OsString>,
}

/// The options of a table with their byte ranges in the file.
type Placed = Vec<(String, Range<usize>)>;

impl CameraFile {
    /// The file that `--config` in `words` names, and the other words; `None` without `--config`.
    pub fn named_by(words: &[OsString]) -> Option<Self> {
        if words.get(1).is_none_or(|word| word != "live") {
            return None;
        }
        let named = |word: &OsString| word.as_bytes().strip_prefix(b"--config=").map(<[u8]>::to_vec);
        let index = words.iter().position(|word| word == "--config" || named(word).is_some())?;
        let (path, count) = match named(&words[index]) {
            Some(path) => (OsString::from_vec(path), 1),
            None => (words.get(index + 1)?.clone(), 2),
        };
        let words = words[..index].iter().chain(&words[index + count..]).cloned().collect();
        Some(CameraFile { path: path.into(), words })
    }

    /// Reads and checks the whole file.
    ///
    /// # Errors
    /// The first fault, with line and column.
    pub fn read(&self) -> Result<Vec<Camera>, clap::Error> {
        // Faulty options of the command line are reported without naming the file. A missing argument may be in the
        // file.
        if let Err(error) = Args::try_parse_from(&self.words)
            && error.kind() != ErrorKind::MissingRequiredArgument
        {
            return Err(error);
        }
        let unread =
            |error: &dyn std::fmt::Display| usage(ErrorKind::Io, &format!("{}: {error}", Name::from(&self.path)));
        let bytes = read_regular(&self.path, MAX_BYTES).map_err(|error| unread(&error))?;
        let text = String::from_utf8(bytes).map_err(|error| unread(&error))?;
        let text = Text { path: &self.path, text: &text };
        let table =
            DeTable::parse(text.text).map_err(|error| text.error(error.span().unwrap_or(0..0), error.message()))?;
        let (mut defaults, mut cameras) = (DeTable::new(), None);
        for (key, value) in table.get_ref() {
            match (key.get_ref().as_ref(), value.get_ref()) {
                ("camera", DeValue::Table(all)) => cameras = Some(all),
                (_, DeValue::Table(_)) => {
                    let message = format!("{} is no table of this file (cameras are [camera.NAME])", key.get_ref());
                    return Err(text.error(key.span(), &message));
                }
                _ => drop(defaults.insert(key.clone(), value.clone())),
            }
        }
        let Some(cameras) = cameras.filter(|all| !all.is_empty()) else {
            return Err(text.error(0..0, "there is no camera (each is a table: [camera.NAME])"));
        };
        let (defaults, places) = options(&defaults, &text)?;
        let mut found: Vec<(Range<usize>, Camera)> = Vec::new();
        for (key, value) in cameras {
            let DeValue::Table(table) = value.get_ref() else {
                return Err(text.error(value.span(), &format!("camera {} is a table", key.get_ref())));
            };
            let camera = self.camera((key, table), (&defaults, &places), &text)?;
            found.push((key.span(), camera));
        }
        found.sort_by_key(|(place, _)| place.start);
        let count = found.len();
        for (_, camera) in &mut found {
            camera.job.shares_with(count);
        }
        let jobs: Vec<&LiveJob> = found.iter().map(|(_, camera)| &camera.job).collect();
        LiveJob::check_apart(&jobs).map_err(|(index, error)| text.error(found[index].0.clone(), &error.to_string()))?;
        Ok(found.into_iter().map(|(_, camera)| camera).collect())
    }

    /// Reads a camera from its table.
    fn camera(
        &self,
        (key, table): (&Spanned<impl AsRef<str>>, &DeTable<'_>),
        (defaults, of_defaults): (&NamedOptions, &Placed),
        text: &Text<'_>,
    ) -> Result<Camera, clap::Error> {
        let name = key.get_ref().as_ref().to_owned();
        let mut table = table.clone();
        let schedule = table.remove(SCHEDULE);
        let (mut given, mut places) = options(&table, text)?;
        let Some(source) = given.remove(SOURCE).and_then(|values| values.into_iter().next()) else {
            return Err(text.error(key.span(), &format!("camera {name} has no source (source = \"rtsp://...\")")));
        };
        if source.is_empty() {
            return Err(text.error(key.span(), &format!("camera {name}: its source is empty")));
        }
        if let Some((option, place)) = places.iter().find(|(option, _)| PROCESS_OPTIONS.contains(&option.as_str())) {
            let message = format!("{option} is one for all cameras: it stands above the first of them");
            return Err(text.error(place.clone(), &message));
        }
        places.extend(of_defaults.iter().cloned());
        let place_of = |option: &str| {
            let place = places.iter().find(|(other, _)| other == option).map(|(_, place)| place.clone());
            place.unwrap_or(key.span())
        };
        let command = Args::command();
        let live = command.find_subcommand("live").expect("a command");
        for (option, place) in places.iter().filter(|(option, _)| option != SOURCE) {
            let long = if is_rare(option) { SET } else { option.as_str() };
            let is = |arg: &&clap::Arg| arg.get_long() == Some(long) && !arg.is_hide_set();
            let Some(arg) = live.get_arguments().find(is).filter(|_| !["config", "dry-run"].contains(&option.as_str()))
            else {
                return Err(text.error(place.clone(), &format!("there is no option {option} of `histeq-video live`")));
            };
            let values = given.get(option).or(defaults.get(option)).map_or(&[][..], Vec::as_slice);
            words_for(arg, option, values).map_err(|what| text.error(place.clone(), &format!("{option} {what}")))?;
        }
        let origin = |name: &str, options: &NamedOptions| Origin {
            name: name.to_owned(),
            options: options.clone(),
            is_checked: false,
        };
        let words_of = |scheduled: Option<&NamedOptions>| {
            let scheduled = scheduled.map(|options| origin("the schedule", options));
            let rest = [origin(&name, &given), origin("the file", defaults)];
            let origins = scheduled.into_iter().chain(rest).collect();
            let (mut words, _) = with_origins(Args::command(), self.words.clone(), origins)?;
            words.extend(["--".into(), OsString::from(&source)]);
            Ok::<_, clap::Error>(words)
        };
        let faulty = |error: clap::Error| {
            let message = in_one_line(&error);
            let option = option_in(&error, &message).unwrap_or(SOURCE.to_owned());
            let typed = format!("--{option}");
            let is_typed = |word: &OsString| {
                word.to_str().is_some_and(|word| word.split('=').next().is_some_and(|word| word == typed))
            };
            match self.words.iter().any(is_typed) {
                true => usage(ErrorKind::InvalidValue, &message),
                false => text.error(place_of(&option), &format!("camera {name}: {message}")),
            }
        };
        let job_of = |words: &[OsString]| {
            let args = Args::try_parse_from(words)?;
            let Some(crate::options::command::Command::Live(args)) = args.command else {
                unreachable!("the words of live")
            };
            if args.camera.len() > 1 {
                let message = "a camera on the command line does not go with --config";
                return Err(usage(ErrorKind::ArgumentConflict, message));
            }
            Ok(LiveJob::from_args(*args)?.remove(0))
        };
        let mut words = words_of(None)?;
        let mut job = job_of(&words).map_err(faulty)?;
        if let Some((_, retention)) = &mut job.segments {
            // A limit that is not in the camera's own table is for all cameras together.
            let is_typed =
                || self.words.iter().filter_map(|word| word.to_str()).any(|word| word.starts_with(KEEP_SIZE));
            retention.is_shared = !given.contains_key(&KEEP_SIZE[2..]) || is_typed();
        }
        for ScheduleEntry { place, start, until, options: scheduled } in
            schedule.map_or(Ok(Vec::new()), |value| self::schedule(&value, text))?
        {
            let own_words = words_of(Some(&scheduled))?;
            let of_schedule =
                |error: clap::Error| text.error(place.clone(), &format!("camera {name}: {}", in_one_line(&error)));
            let equalize = job_of(&own_words).map_err(of_schedule)?.equalize;
            if equalize.has_given_curves() != job.equalize.has_given_curves() {
                let message = format!("camera {name}: its curves or its range are given, and no schedule changes them");
                return Err(text.error(place, &message));
            }
            let texts = scheduled.iter().map(|(option, values)| format!("{option} {}", values.join(" ")));
            let text = texts.collect::<Vec<_>>().join(", ");
            words.extend([start.to_string().into(), until.to_string().into()].into_iter().chain(own_words));
            job.schedule.push(Scheduled { start, until, equalize, text });
        }
        job.preview = false;
        job.camera.wait = job.camera.wait.or(Some(Duration::MAX));
        if job.has_no_output() {
            let message = format!("camera {name} goes nowhere (record = \"{name}-%Y%m%d-%H%M%S.mkv\", or output)");
            return Err(text.error(key.span(), &message));
        }
        Ok(Camera { name, words, job, place: text.place(&key.span()) })
    }
}

/// The option that an error is about: that which the parser names, or the first one in its message.
fn option_in(error: &clap::Error, message: &str) -> Option<String> {
    let named = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(named)) => named,
        _ => message,
    };
    let (_, rest) = named.split_once("--")?;
    let rest = rest.strip_prefix("set ").unwrap_or(rest);
    rest.split(|c: char| !c.is_alphanumeric() && c != '-').next().map(str::to_owned)
}

struct ScheduleEntry {
    place: Range<usize>,
    start: Time,
    until: Time,
    options: NamedOptions,
}

fn schedule(value: &Spanned<DeValue<'_>>, text: &Text<'_>) -> Result<Vec<ScheduleEntry>, clap::Error> {
    let form = "a schedule is a list like [{ from = \"20:00\", to = \"06:00\", look = \"night\" }]";
    let DeValue::Array(entries) = value.get_ref() else { return Err(text.error(value.span(), form)) };
    let entry = |entry: &Spanned<DeValue<'_>>| {
        let DeValue::Table(table) = entry.get_ref() else { return Err(text.error(entry.span(), form)) };
        let (mut options_then, places) = options(table, text)?;
        let mut time = |name: &str| {
            let given = options_then.remove(name).and_then(|values| values.into_iter().next());
            let given = given.ok_or_else(|| text.error(entry.span(), form))?;
            let no_time = |_| text.error(entry.span(), &format!("{name} = \"{given}\" is no time of the day; {form}"));
            given.parse::<Time>().map_err(no_time)
        };
        let (start, until) = (time("from")?, time("to")?);
        let changes =
            |option: &str| OPTIONS.iter().any(|row| row.name == option) && !["gray", "output-depth"].contains(&option);
        let other =
            places.into_iter().find(|(option, _)| !["from", "to"].contains(&option.as_str()) && !changes(option));
        if let Some((option, place)) = other {
            return Err(text.error(place, &format!("{option} cannot change while a camera films")));
        }
        Ok(ScheduleEntry { place: entry.span(), start, until, options: options_then })
    };
    entries.iter().map(entry).collect()
}

/// The options of a table, and their positions in the file.
fn options(table: &DeTable<'_>, text: &Text<'_>) -> Result<(NamedOptions, Placed), clap::Error> {
    let (mut options, mut places) = (NamedOptions::new(), Placed::new());
    for (key, value) in table {
        let one = |value: &Spanned<DeValue<'_>>| match value.get_ref() {
            DeValue::String(value_text) => inserted(value_text)
                .and_then(|value| if value.contains('\0') { Err(HAS_NUL.to_owned()) } else { Ok(value) })
                .map_err(|why| text.error(value.span(), &why)),
            DeValue::Integer(number) => Ok(number.as_str().to_owned()),
            DeValue::Float(number) => Ok(number.as_str().to_owned()),
            DeValue::Boolean(is_set) => Ok(is_set.to_string()),
            _ => {
                let what = format!("{} is a text, a number, true, false, or a list of them", key.get_ref());
                Err(text.error(value.span(), &what))
            }
        };
        let values = match value.get_ref() {
            DeValue::Array(values) => values.iter().map(one).collect::<Result<_, _>>()?,
            _ => vec![one(value)?],
        };
        let option = key.get_ref().replace('_', "-");
        places.push((option.clone(), key.span()));
        options.insert(option, values);
    }
    Ok((options, places))
}

/// `text` with `${NAME}` replaced by a variable of the environment, and `${file:PATH}` by the content of a file; in a
/// URL, these are percent-encoded.
fn inserted(text: &str) -> Result<String, String> {
    let (mut all, mut rest) = (String::new(), text);
    while let Some((before, (name, after))) =
        rest.split_once("${").and_then(|(before, behind)| Some((before, behind.split_once('}')?)))
    {
        let value = match name.strip_prefix("file:") {
            Some(path) => {
                let bytes = read_regular(Path::new(path), MAX_BYTES).map_err(|error| format!("{path}: {error}"))?;
                String::from_utf8(bytes).map_err(|_| format!("{path} is no text in UTF-8"))?.trim_end().to_owned()
            }
            None => std::env::var(name).map_err(|_| format!("there is no variable {name}"))?,
        };
        all.push_str(before);
        match all.contains("://") {
            true => all.extend(url_escaped(&value)),
            false => all.push_str(&value),
        }
        rest = after;
    }
    Ok(all + rest)
}

/// `text`, percent-encoded except for letters, digits and `-._~`.
fn url_escaped(text: &str) -> impl Iterator<Item = String> + '_ {
    text.bytes().map(|byte| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    })
}
