//! The protocols that an input may open. A playlist, or a file that refers to others, must not open just anything:
//! network streams may not read local files, local files may not use the network, and a pipe may open neither.
#![allow(unsafe_code, reason = "FFI")]

use crate::ffmpeg::{Error, c_string, text};
use ffmpeg_next::ffi;

/// The protocols that a local file may open.
const LOCAL: &str = "file,crypto,data";

/// The protocols that an input from a pipe may open: decryption and data URLs.
const PIPE: &str = "crypto,data";

/// The protocols that an input from the network may open, beside its own.
const NETWORK: &str = "http,https,httpproxy,tls,tcp,udp,udplite,rtp,srtp,srt,rtmp,rtmpe,rtmps,rtmpt,rtmpte,rtmpts,\
    ffrtmpcrypt,ffrtmphttp,crypto,data";

/// Protocols whose URLs contain another URL after the name.
const WRAPPERS: [&str; 6] = ["async", "cache", "concat", "concatf", "crypto", "subfile"];

/// Demuxers whose input refers to other files and servers.
const PLAYLISTS: [&str; 8] = ["hls", "dash", "concat", "imf", "sdp", "rtsp", "rtp", "sap"];

/// Why an input does not open.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// An error of FFmpeg.
    #[error(transparent)]
    Ffmpeg(#[from] Error),
    /// The input is a playlist from a pipe. Holds the name of its demuxer.
    #[error("a playlist ({0}), which names other files: not read from a pipe (give its file or URL, or -f {0})")]
    Playlist(String),
    /// The input exceeds a limit on its size, or on what it opens, that no video needs to exceed.
    #[error("{0}")]
    Limit(String),
    /// The input refers to a URL of a protocol that it may not open.
    #[error("it names a place of the protocol {protocol}, which {input} may not open (open that place itself)")]
    Protocol {
        /// The protocol.
        protocol: String,
        /// The kind of input, as words for the message.
        input: &'static str,
    },
}

impl OpenError {
    /// The error of an input that has more than `most` of something, such as chapters.
    pub(crate) fn too_much(most: usize, what: &str) -> Self {
        OpenError::Limit(format!(
            "it has more than {most} {what}, which no video needs (leave them out: ffmpeg -i IN -map 0:v -map 0:a \
             -map_chapters -1 -map_metadata -1 -c copy OUT)"
        ))
    }
}

impl From<OpenError> for Error {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::Ffmpeg(error) => error,
            OpenError::Playlist(_) | OpenError::Limit(_) | OpenError::Protocol { .. } => {
                Error::Other { errno: libc::EACCES }
            }
        }
    }
}

/// Whether this demuxer opens the files that its input refers to.
pub(crate) fn is_playlist(demuxer: &str) -> bool {
    demuxer.split(',').any(|name| PLAYLISTS.contains(&name))
}

/// The protocols that an input from a pipe may open, given the format that the user has specified.
pub(crate) fn pipe_protocols(format: Option<&str>) -> &'static str {
    // With an explicit playlist format, local files are allowed.
    if format.is_some_and(is_playlist) { LOCAL } else { PIPE }
}

/// The protocols that the input at `url` may open.
pub(crate) fn url_protocols(url: &str) -> String {
    // SAFETY: a NUL-terminated name; the result is null or a constant.
    let name = unsafe { text(ffi::avio_find_protocol_name(c_string(url).as_ptr())) };
    match name.as_str() {
        "file" => LOCAL.to_owned(),
        "pipe" | "fd" => format!("{name},{PIPE}"),
        _ if WRAPPERS.contains(&name.as_str()) => {
            let inner = url.split_once([':', '+']).map_or("", |(_, inner)| inner);
            format!("{name},{}", url_protocols(inner))
        }
        // FFmpeg lists no such protocol: some, such as RTSP, belong to a demuxer.
        "" => NETWORK.to_owned(),
        _ => format!("{name},{NETWORK}"),
    }
}

/// The words in messages for an input that may open these protocols.
pub(crate) fn kind_of_input(protocols: &str) -> &'static str {
    match protocols {
        PIPE => "an input from a pipe",
        _ if protocols.ends_with(LOCAL) => "a local file",
        _ => "an input from the network",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_urls_of_the_network_may_open_the_network() {
        for url in ["http://host/a.m3u8", "rtsp://host/a", "udp://host:1", "srt://host:1", "cache:http://host/a"] {
            let protocols = url_protocols(url);
            assert!(protocols.split(',').any(|name| name == "tcp"), "{url}: {protocols}");
            assert!(!protocols.split(',').any(|name| ["file", "concat", "subfile", "pipe"].contains(&name)), "{url}");
        }
        for url in ["in.mkv", "file:in.mkv", "/a/b://c.mkv", "concat:a.ts|b.ts", "subfile,,start,0,end,9,,:in.mkv"] {
            let protocols = url_protocols(url);
            assert!(protocols.ends_with(LOCAL) && !protocols.contains("tcp"), "{url}: {protocols}");
        }
    }
}
