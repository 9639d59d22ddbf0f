//! Parts of URLs: the URL without passwords, for messages, and the host.

use super::files::Name;
use std::ffi::OsStr;

/// Keys of a query whose values are shown: they tell apart the streams of a camera, or set up FFmpeg's protocols. Any other
/// value may be a password or a token.
const SHOWN: [&str; 29] = [
    "bitrate",
    "broadcast",
    "buffer_size",
    "camera",
    "channel",
    "codec",
    "fifo_size",
    "fps",
    "latency",
    "linger",
    "listen",
    "listen_timeout",
    "localaddr",
    "localport",
    "maxbw",
    "mode",
    "overrun_nonfatal",
    "payload_size",
    "pkt_size",
    "profile",
    "rcvlatency",
    "resolution",
    "reuse",
    "stream",
    "subtype",
    "timeout",
    "transport",
    "transtype",
    "ttl",
];

/// The URL without the user's password, and without values in the query that may be one.
pub fn without_password(url: impl AsRef<OsStr>) -> Name {
    let parts = url.as_ref().to_str().and_then(|url| url.split_once("://"));
    let Some((scheme, rest)) = parts else { return url.as_ref().into() };
    let (place, query) = rest.split_once('?').map_or((rest, None), |(place, query)| (place, Some(query)));
    let (host, path) = place.split_at(place.find('/').unwrap_or(place.len()));
    let host = match host.rsplit_once('@') {
        Some((user, host)) => format!("{}@{host}", user.split(':').next().unwrap_or_default()),
        None => host.to_owned(),
    };
    let shown = |option: &str| match option.split_once('=') {
        Some((key, _)) if !SHOWN.contains(&key) => format!("{key}=***"),
        _ => option.to_owned(),
    };
    let query = query.map(|query| format!("?{}", query.split('&').map(shown).collect::<Vec<_>>().join("&")));
    format!("{scheme}://{host}{path}{}", query.unwrap_or_default()).into()
}

/// `text` with passwords removed from its URLs, as by [`without_password`].
pub fn without_passwords(text: &str) -> String {
    let ends = |c: char| c.is_whitespace() || matches!(c, '\'' | '"' | '`' | '<' | '>');
    let words = text.split_inclusive(ends).map(|word| {
        let url = word.trim_end_matches(|c| ends(c) || matches!(c, ':' | ',' | ';' | '.' | ')'));
        let scheme = url.find("://").unwrap_or(0);
        let begin = url[..scheme].trim_end_matches(|c: char| c.is_ascii_alphanumeric()).len();
        format!("{}{}{}", &url[..begin], without_password(&url[begin..]), &word[url.len()..])
    });
    words.collect()
}

/// The host of a URL, if it has one.
pub fn host(url: &str) -> Option<&str> {
    let rest = url.split_once("://")?.1;
    let place = rest.split(['/', '?']).next()?;
    let place = place.rsplit_once('@').map_or(place, |(_, place)| place);
    let host = match place.strip_prefix('[') {
        Some(address) => address.split(']').next()?,
        None => place.split(':').next()?,
    };
    (!host.is_empty()).then_some(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_not_shown() {
        for (url, shown) in [
            ("rtsp://me:hush@camera:554/stream", "rtsp://me@camera:554/stream"),
            ("rtmp://me:h@sh@host/app", "rtmp://me@host/app"),
            ("srt://host:9000?passphrase=hushhushhush&latency=20000", "srt://host:9000?passphrase=***&latency=20000"),
            ("http://camera/live?usr=me&pwd=hu?sh=h&channel=2", "http://camera/live?usr=***&pwd=***&channel=2"),
            ("https://host/list.m3u8?", "https://host/list.m3u8?"),
            ("rtsp://camera/stream?high", "rtsp://camera/stream?high"),
            ("udp://10.0.0.2:5000?pkt_size=1316", "udp://10.0.0.2:5000?pkt_size=1316"),
            ("http://host/a@b:c", "http://host/a@b:c"),
            ("/dev/video0", "/dev/video0"),
        ] {
            assert_eq!(without_password(url), shown);
        }
    }

    #[test]
    fn passwords_in_a_text_are_not_shown() {
        for (text, shown) in [
            ("no URL: a 50% \u{e9}", "no URL: a 50% \u{e9}"),
            (
                "[hls] Opening 'https://h/1.ts?token=hush' for reading",
                "[hls] Opening 'https://h/1.ts?token=***' for reading",
            ),
            ("(http://me:hush@h/) and\nrtsp://h?a=hush: gone", "(http://me@h/) and\nrtsp://h?a=***: gone"),
        ] {
            assert_eq!(without_passwords(text), shown);
        }
    }

    #[test]
    fn a_url_names_its_host() {
        for (url, named) in [
            ("rtsp://me:hush@camera:554/stream", Some("camera")),
            ("udp://[::1]:5000", Some("::1")),
            ("srt://host?mode=caller", Some("host")),
            ("srt://:9000?mode=listener", None),
            ("rtmp:///app", None),
        ] {
            assert_eq!(host(url), named, "{url}");
        }
    }
}
