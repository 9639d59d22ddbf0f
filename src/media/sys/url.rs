//! Parts of URLs: the URL without passwords, for messages, and the host.

use super::Name;
use std::ffi::OsStr;

/// The URL without its passwords.
pub fn without_password(url: impl AsRef<OsStr>) -> Name {
    let parts = url.as_ref().to_str().and_then(|url| url.split_once("://"));
    let Some((scheme, rest)) = parts else { return url.as_ref().into() };
    let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (host, path) = place.split_at(place.find('/').unwrap_or(place.len()));
    let host = match host.rsplit_once('@') {
        Some((user, host)) => format!("{}@{host}", user.split(':').next().unwrap_or_default()),
        None => host.to_owned(),
    };
    let shown = query.split('&').filter(|option| !option.starts_with("passphrase=") && !option.is_empty());
    let query = shown.collect::<Vec<_>>().join("&");
    format!("{scheme}://{host}{path}{}{query}", if query.is_empty() { "" } else { "?" }).into()
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
            ("srt://host:9000?passphrase=hushhushhush&latency=20000", "srt://host:9000?latency=20000"),
            ("srt://host:9000?passphrase=hushhushhush", "srt://host:9000"),
            ("udp://10.0.0.2:5000?pkt_size=1316", "udp://10.0.0.2:5000?pkt_size=1316"),
            ("http://host/a@b:c", "http://host/a@b:c"),
            ("/dev/video0", "/dev/video0"),
        ] {
            assert_eq!(without_password(url), shown);
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
