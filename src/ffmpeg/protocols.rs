//! Which protocols an input may open: a playlist, or a file that points to others, must not reach what its kind has no
//! business with. Network streams never read local files, local files never reach the network, and a pipe opens nothing.
#![allow(unsafe_code, reason = "FFI")]

use super::{Error, c_string, text};
use ffmpeg_next::ffi;

/// What a local file may open.
const LOCAL: &str = "file,crypto,data";

/// What the bytes of a pipe may open: decryption and data within the text itself.
const PIPE: &str = "crypto,data";

/// What an input from the network may open, beside its own protocol.
const NETWORK: &str = "http,https,httpproxy,tls,tcp,udp,udplite,rtp,srtp,srt,rtmp,rtmpe,rtmps,rtmpt,rtmpte,rtmpts,\
    ffrtmpcrypt,ffrtmphttp,crypto,data";

/// Protocols whose URLs hold another URL behind their name.
const WRAPPERS: [&str; 6] = ["async", "cache", "concat", "concatf", "crypto", "subfile"];

/// Demuxers whose input names other files and servers.
const PLAYLISTS: [&str; 8] = ["hls", "dash", "concat", "imf", "sdp", "rtsp", "rtp", "sap"];

/// Why an input does not open.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// FFmpeg's answer.
    #[error(transparent)]
    Ffmpeg(#[from] Error),
    /// A playlist came through a pipe. The name of its demuxer.
    #[error("a playlist ({0}), which names other files: not read from a pipe (give its file or URL, or -f {0})")]
    Playlist(String),
    /// The input names a place of a protocol that it may not use.
    #[error("it names a place of the protocol {protocol}, which {input} may not open (open that place itself)")]
    Protocol {
        /// The protocol.
        protocol: String,
        /// The kind of input.
        input: &'static str,
    },
}

impl From<OpenError> for Error {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::Ffmpeg(error) => error,
            OpenError::Playlist(_) | OpenError::Protocol { .. } => Error::Other { errno: libc::EACCES },
        }
    }
}

/// Does this demuxer open what its input names?
pub(super) fn is_playlist(demuxer: &str) -> bool {
    demuxer.split(',').any(|name| PLAYLISTS.contains(&name))
}

/// The protocols that an input from a pipe may open, if its format was named like this.
pub(super) fn of_pipe(format: Option<&str>) -> &'static str {
    // Who names a playlist's format wants what it lists.
    if format.is_some_and(is_playlist) { LOCAL } else { PIPE }
}

/// The protocols that the input at `url` may open.
pub(super) fn of_url(url: &str) -> String {
    // SAFETY: a NUL-terminated name; the answer is null or a constant.
    let name = unsafe { text(ffi::avio_find_protocol_name(c_string(url).as_ptr())) };
    match name.as_str() {
        "file" => LOCAL.to_owned(),
        "pipe" | "fd" => format!("{name},{PIPE}"),
        _ if WRAPPERS.contains(&name.as_str()) => {
            let inner = url.split_once([':', '+']).map_or("", |(_, inner)| inner);
            format!("{name},{}", of_url(inner))
        }
        // Some, RTSP for one, are known to demuxers only.
        "" => NETWORK.to_owned(),
        _ => format!("{name},{NETWORK}"),
    }
}

/// What messages call an input that may open these protocols.
pub(super) fn kind_of_input(protocols: &str) -> &'static str {
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
            let protocols = of_url(url);
            assert!(protocols.split(',').any(|name| name == "tcp"), "{url}: {protocols}");
            assert!(!protocols.split(',').any(|name| ["file", "concat", "subfile", "pipe"].contains(&name)), "{url}");
        }
        for url in ["in.mkv", "file:in.mkv", "/a/b://c.mkv", "concat:a.ts|b.ts", "subfile,,start,0,end,9,,:in.mkv"] {
            let protocols = of_url(url);
            assert!(protocols.ends_with(LOCAL) && !protocols.contains("tcp"), "{url}: {protocols}");
        }
    }
}
