//! Names of inputs and outputs, whose bytes need not be UTF-8.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::ffi::{OsStr, OsString};
use std::fmt::{self, Debug, Display, Formatter, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// A name as the user gave it: of a file, a URL, or `-`. Bytes that are not UTF-8 are shown as in `\xfc`.
#[derive(Clone, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Name(OsString);

impl Name {
    /// The name of these bytes.
    pub fn from_bytes(bytes: Vec<u8>) -> Self {
        Name(OsString::from_vec(bytes))
    }

    /// The name that these parts make, one after the other.
    pub fn from_parts<const COUNT: usize>(parts: [&dyn AsRef<OsStr>; COUNT]) -> Self {
        let mut name = OsString::new();
        parts.iter().for_each(|part| name.push(part.as_ref()));
        Name(name)
    }

    /// The name as that of a file.
    pub fn path(&self) -> &Path {
        Path::new(&self.0)
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    /// The name, if it is UTF-8, as all URLs are.
    pub fn text(&self) -> Option<&str> {
        self.0.to_str()
    }

    /// The name as a word that can be pasted into a shell; only into bash, zsh and ksh if it is not UTF-8, or has
    /// control characters.
    pub fn quoted(&self) -> String {
        let plain = self.text().filter(|text| !text.contains(char::is_control));
        let quoted = plain.and_then(|text| shlex::try_quote(text).ok());
        quoted.map_or_else(|| format!("$'{}'", self.bytes().escape_ascii()), Into::into)
    }

    /// Whether the name is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Its bytes in base64, if they are not UTF-8: JSON has them beside the name.
    pub fn encoded_bytes(&self) -> Option<String> {
        self.text().is_none().then(|| STANDARD.encode(self.bytes()))
    }
}

impl<T: ?Sized + AsRef<OsStr>> From<&T> for Name {
    fn from(name: &T) -> Self {
        Name(name.as_ref().to_owned())
    }
}

impl From<OsString> for Name {
    fn from(name: OsString) -> Self {
        Name(name)
    }
}

impl From<String> for Name {
    fn from(name: String) -> Self {
        Name(name.into())
    }
}

impl From<PathBuf> for Name {
    fn from(name: PathBuf) -> Self {
        Name(name.into())
    }
}

impl From<Name> for OsString {
    fn from(name: Name) -> Self {
        name.0
    }
}

impl AsRef<OsStr> for Name {
    fn as_ref(&self) -> &OsStr {
        &self.0
    }
}

impl AsRef<Path> for Name {
    fn as_ref(&self) -> &Path {
        self.path()
    }
}

impl PartialEq<OsStr> for Name {
    fn eq(&self, other: &OsStr) -> bool {
        self.0 == *other
    }
}

impl PartialEq<str> for Name {
    fn eq(&self, other: &str) -> bool {
        self.0 == *other
    }
}

impl PartialEq<&str> for Name {
    fn eq(&self, other: &&str) -> bool {
        self.0 == **other
    }
}

impl Display for Name {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        if let Some(text) = self.text() {
            return out.pad(text);
        }
        for chunk in self.bytes().utf8_chunks() {
            out.write_str(chunk.valid())?;
            chunk.invalid().iter().try_for_each(|byte| write!(out, "\\x{byte:02x}"))?;
        }
        Ok(())
    }
}

impl Debug for Name {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_char('"')?;
        write!(out, "{self}")?;
        out.write_char('"')
    }
}

/// The folder of this file.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A name that is not UTF-8, in JSON: escaped for people, in base64 for programs.
#[derive(Deserialize, Serialize)]
struct Encoded {
    name: String,
    bytes: String,
}

impl Serialize for Name {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        match self.encoded_bytes() {
            _ if !out.is_human_readable() => out.serialize_bytes(self.bytes()),
            None => out.collect_str(self),
            Some(bytes) => Encoded { name: self.to_string(), bytes }.serialize(out),
        }
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Either {
            Text(String),
            Encoded(Encoded),
        }
        if !input.is_human_readable() {
            return serde_bytes::deserialize(input).map(Name::from_bytes);
        }
        match Either::deserialize(input)? {
            Either::Text(text) => Ok(text.into()),
            Either::Encoded(Encoded { bytes, .. }) => {
                STANDARD.decode(bytes).map(Name::from_bytes).map_err(Error::custom)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quoted_name_is_one_word_of_a_shell_with_the_same_bytes() {
        for bytes in [&b"a.mp4"[..], b"my dives/it's $5.mp4", b"-n", b"a\nb\x1b.mp4", b"mix/\xfc'bung 1.mp4", b""] {
            let word = Name::from_bytes(bytes.to_vec()).quoted();
            assert!(!word.contains(char::is_control), "{word:?}");
            let line = format!("printf %s {word}");
            let shell = std::process::Command::new("bash").args(["-c", &line]).output().expect("bash");
            assert_eq!(shell.stdout, bytes, "{word}");
        }
    }

    #[test]
    fn a_name_that_is_no_text_is_shown_with_escapes_and_read_as_it_was_written() {
        let name = Name::from_bytes(b"mix/\xfcbung \xe2\x82.mp4".to_vec());
        assert_eq!(name.to_string(), r"mix/\xfcbung \xe2\x82.mp4");
        let json = serde_json::to_string(&name).expect("JSON");
        assert_eq!(json, r#"{"name":"mix/\\xfcbung \\xe2\\x82.mp4","bytes":"bWl4L/xidW5nIOKCLm1wNA=="}"#);
        assert_eq!(serde_json::from_str::<Name>(&json).expect("a name"), name);
        let text = Name::from("für.mp4");
        assert_eq!(serde_json::to_string(&text).expect("JSON"), r#""für.mp4""#);
        for name in [name, text] {
            let bytes = postcard::to_allocvec(&name).expect("bytes");
            assert_eq!(postcard::from_bytes::<Name>(&bytes).expect("a name"), name);
        }
    }
}
