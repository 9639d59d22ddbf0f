//! Which of the other streams are kept, as the user chooses. (The video stream always is.)

use crate::ffmpeg::MediaType;
use crate::ffmpeg::demux::Stream;
use crate::pipeline::FailureKind;
use crate::sys::files::Name;
use anyhow::Result;
use std::str::FromStr;

/// A list of streams that are kept or, with a minus, left out. A later entry takes precedence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamChoice(Vec<ChoiceEntry>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct ChoiceEntry {
    text: String,
    is_kept: bool,
    kind: Option<MediaType>,
    which: Which,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Which {
    All,
    /// The number of the stream, from 0; if `kind` is given, among the streams of that kind.
    Number(usize),
    Language(String),
}

impl FromStr for StreamChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.split(',').map(ChoiceEntry::parse).collect::<Result<_, _>>().map(StreamChoice)
    }
}

impl ChoiceEntry {
    fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} names no streams: 2, a, a:0 and a:eng do, and leave out with a minus ahead");
        let bare = text.strip_prefix('-').unwrap_or(text);
        let (kind, which) = bare.split_once(':').map_or((bare, None), |(kind, which)| (kind, Some(which)));
        let kind = match kind {
            "v" => MediaType::Video,
            "a" => MediaType::Audio,
            "s" => MediaType::Subtitle,
            "d" => MediaType::Data,
            "t" => MediaType::Attachment,
            _ => {
                let number = bare.parse().map_err(|_| wrong())?;
                return Ok(ChoiceEntry { kind: None, which: Which::Number(number), ..ChoiceEntry::all(text) });
            }
        };
        let is_language =
            |word: &str| word.len() > 1 && word.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'-');
        let which = match which {
            None => Which::All,
            Some(number) if number.parse::<usize>().is_ok() => Which::Number(number.parse().map_err(|_| wrong())?),
            Some(language) if is_language(language) => Which::Language(language.to_owned()),
            Some(_) => return Err(wrong()),
        };
        Ok(ChoiceEntry { kind: Some(kind), which, ..ChoiceEntry::all(text) })
    }

    fn all(text: &str) -> Self {
        ChoiceEntry { text: text.to_owned(), is_kept: !text.starts_with('-'), kind: None, which: Which::All }
    }

    fn is_about(&self, stream: &Stream, streams: &[Stream]) -> bool {
        let is_of_kind = self.kind.is_none_or(|kind| kind == stream.kind);
        let mut alike = streams.iter().filter(|other| self.kind.is_none_or(|kind| kind == other.kind));
        is_of_kind
            && match &self.which {
                Which::All => true,
                Which::Number(number) => alike.nth(*number).is_some_and(|found| found.index == stream.index),
                Which::Language(language) => {
                    stream.tag("language").is_some_and(|found| found.eq_ignore_ascii_case(language))
                }
            }
    }
}

impl StreamChoice {
    /// Whether `stream`, one of `streams`, is kept. If no entry matches it, it is kept if the first entry leaves out
    /// streams.
    pub(crate) fn keeps(&self, stream: &Stream, streams: &[Stream]) -> bool {
        let about = self.0.iter().rfind(|entry| entry.is_about(stream, streams));
        about.map_or_else(|| self.0.first().is_some_and(|first| !first.is_kept), |entry| entry.is_kept)
    }

    /// Checks that each stream that the user names by number or language exists.
    ///
    /// # Errors
    /// When one is not in `name`.
    pub(crate) fn check(&self, streams: &[Stream], name: &Name) -> Result<()> {
        let is_missing = |entry: &&ChoiceEntry| {
            let is_one = entry.is_kept && entry.which != Which::All;
            is_one && !streams.iter().any(|stream| entry.is_about(stream, streams))
        };
        self.0.iter().find(is_missing).map_or(Ok(()), |entry| {
            let there: Vec<String> = streams.iter().map(Stream::describe).collect();
            let message = format!("{name}: no stream {} of --streams, only {}", entry.text, there.join(", "));
            Err(FailureKind::Usage.error(message))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ffmpeg::Rational;
    use crate::ffmpeg::demux::Media;

    #[test]
    fn streams_are_chosen_by_number_by_kind_and_by_language() {
        let one = Media::for_raw_video("rawvideo", Rational::new(25, 1), None).streams.remove(0);
        let kinds = [MediaType::Video, MediaType::Audio, MediaType::Subtitle, MediaType::Audio, MediaType::Audio];
        let languages = ["und", "deu", "deu", "eng", "swe"];
        let streams: Vec<Stream> = (0..5)
            .map(|index| {
                let metadata = vec![("language".to_owned(), languages[index].to_owned())];
                Stream { index, kind: kinds[index], metadata, ..one.clone() }
            })
            .collect();
        for (text, kept) in [
            ("0", &[0][..]),
            ("1,4", &[1, 4]),
            ("a", &[1, 3, 4]),
            ("a:1", &[3]),
            ("a:deu,s", &[1, 2]),
            ("-a", &[0, 2]),
            ("-a:1", &[0, 1, 2, 4]),
            ("-3,-s", &[0, 1, 4]),
            ("a,-a:SWE", &[1, 3]),
            ("-a,a:eng", &[0, 2, 3]),
            ("d", &[]),
        ] {
            let choice: StreamChoice = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
            let found: Vec<usize> =
                streams.iter().filter(|stream| choice.keeps(stream, &streams)).map(|stream| stream.index).collect();
            assert_eq!(found, kept, "{text}");
            choice.check(&streams, &"in.mkv".into()).unwrap_or_else(|error| panic!("{text}: {error}"));
        }
        for missing in ["5", "a:3", "s:fra", "-a,v:1"] {
            missing.parse::<StreamChoice>().expect("a list").check(&streams, &"in.mkv".into()).expect_err(missing);
        }
        "-a:7"
            .parse::<StreamChoice>()
            .expect("a list")
            .check(&streams, &"in.mkv".into())
            .expect("nothing to leave out");
        for wrong in ["", "a,", "x", "a:", "a:x", "--1", "1:2", "a:-1", "a:1:2"] {
            wrong.parse::<StreamChoice>().expect_err(wrong);
        }
    }
}
