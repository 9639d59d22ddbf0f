//! Who may use the view: the address at which it listens, the token, and the origins from which it accepts requests.

use hyper::header::{AUTHORIZATION, COOKIE, HOST, HeaderName, HeaderValue, ORIGIN};
use hyper::{HeaderMap, Method};
use rustix::system::uname;
use std::net::{IpAddr, SocketAddr};
use subtle::ConstantTimeEq;

/// The name of the cookie that holds the token, before the port: cookies belong to all ports of a machine.
const COOKIE_NAME: &str = "histeq-video";

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Its `Host` is neither an IP address nor a name of this machine: a foreign name may have been made to resolve to
    /// it.
    Host,
    /// It comes from a page that is not of this address.
    Origin,
    /// It has no token, or a wrong one.
    Token,
}

/// The rules for one address.
pub struct Access {
    address: SocketAddr,
    /// The token that requests have to send; `None` where all users of this machine may view.
    token: Option<String>,
}

impl Access {
    /// Rules for requests to `address`, which have to send `token`.
    pub fn new(address: SocketAddr, token: Option<String>) -> Self {
        Access { address, token }
    }

    /// Whether this machine alone can send requests.
    pub fn is_local(&self) -> bool {
        self.address.ip().is_loopback()
    }

    /// The URL for a browser, with this IP address of the machine and the token.
    pub fn url(&self, number: IpAddr) -> String {
        let token = self.token.as_ref().map(|token| format!("?token={token}")).unwrap_or_default();
        format!("http://{}/{token}", SocketAddr::new(number, self.address.port()))
    }

    /// The cookie for a browser that has opened [`url`](Self::url).
    pub fn cookie(&self, query: Option<&str>) -> Option<String> {
        let token = token_of_query(query).filter(|token| self.is_token(token.as_bytes()))?;
        Some(format!("{}={token}; HttpOnly; SameSite=Strict; Path=/", self.cookie_name()))
    }

    fn cookie_name(&self) -> String {
        format!("{COOKIE_NAME}-{}", self.address.port())
    }

    /// Checks a request. Browsers send `Origin` with requests that change something or open a WebSocket.
    pub fn check(&self, method: &Method, headers: &HeaderMap, query: Option<&str>) -> Result<(), Refusal> {
        let host = text(headers, HOST).ok_or(Refusal::Host)?;
        if headers.get_all(HOST).iter().count() != 1 || !self.is_ours(host) {
            return Err(Refusal::Host);
        }
        let is_own =
            |origin: &HeaderValue| origin.to_str().is_ok_and(|text| text.strip_prefix("http://") == Some(host));
        if !headers.get_all(ORIGIN).iter().all(is_own) {
            return Err(Refusal::Origin);
        }
        if is_of_another_page(method, headers) {
            return Err(Refusal::Origin);
        }
        if self.token.is_none() {
            return Ok(());
        }
        let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
        let cookies = cookies.flat_map(|cookies| cookies.split(';')).filter_map(|cookie| cookie.trim().split_once('='));
        let cookies = cookies.filter(|(name, _)| *name == self.cookie_name()).map(|(_, token)| token);
        let bearer = text(headers, AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer "));
        let mut given = cookies.chain(bearer).chain(token_of_query(query));
        if given.any(|token| self.is_token(token.as_bytes())) { Ok(()) } else { Err(Refusal::Token) }
    }

    /// Compares in a time that depends on the length alone.
    fn is_token(&self, given: &[u8]) -> bool {
        self.token.as_ref().is_some_and(|token| bool::from(token.as_bytes().ct_eq(given)))
    }

    /// Whether `host` (name or IP address, and port) can be this machine: its own name, or any IP address. A foreign
    /// name may resolve to this machine (DNS rebinding); an IP address cannot. Behind a router or a container's port,
    /// the IP address is another one than this machine's.
    fn is_ours(&self, host: &str) -> bool {
        let (name, port) = match host.rsplit_once(':') {
            Some((name, port)) if !port.ends_with(']') => (name, port.parse().ok()),
            _ => (host, Some(80)),
        };
        if port != Some(self.address.port()) {
            return false;
        }
        let number: Option<IpAddr> = name.trim_start_matches('[').trim_end_matches(']').parse().ok();
        match number {
            Some(number) => number.is_loopback() || !self.address.ip().is_loopback(),
            None => {
                let name = name.to_ascii_lowercase();
                let machine = this_machine();
                name == "localhost"
                    || !self.address.ip().is_loopback()
                        && (name == machine || name.strip_suffix(".local") == Some(&machine))
            }
        }
    }
}

/// Whether, by its headers, a page of another address sends the request. A link to the view that a person follows does
/// not count.
fn is_of_another_page(method: &Method, headers: &HeaderMap) -> bool {
    let header = |name| text(headers, HeaderName::from_static(name));
    let is_foreign = matches!(header("sec-fetch-site"), Some("cross-site" | "same-site"));
    let is_link = [Method::GET, Method::HEAD].contains(method)
        && (header("sec-fetch-mode"), header("sec-fetch-dest")) == (Some("navigate"), Some("document"));
    is_foreign && !is_link
}

/// The name of this machine, in small letters.
fn this_machine() -> String {
    uname().nodename().to_string_lossy().to_ascii_lowercase()
}

fn text(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}

fn token_of_query(query: Option<&str>) -> Option<&str> {
    query?.split('&').find_map(|part| part.strip_prefix("token="))
}

#[cfg(test)]
mod tests {
    use super::super::token::{MIN_LENGTH, new_token};
    use super::*;
    use std::net::Ipv4Addr;

    fn headers(pairs: &[(HeaderName, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.clone(), value.parse().expect("a value"))).collect()
    }

    const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

    #[test]
    fn on_the_loopback_only_its_own_names_are_answered_and_no_page_of_others() {
        let access = Access::new("127.0.0.1:8100".parse().expect("an address"), None);
        let check = |host: &str, origin: Option<&str>| {
            let origin = origin.map(|origin| (ORIGIN, origin));
            let headers = headers(&[(HOST, host)].into_iter().chain(origin).collect::<Vec<_>>());
            access.check(&Method::GET, &headers, None)
        };
        for host in ["127.0.0.1:8100", "localhost:8100", "[::1]:8100", "LOCALHOST:8100"] {
            assert_eq!(check(host, None), Ok(()), "{host}");
            assert_eq!(check(host, Some(&format!("http://{host}"))), Ok(()), "{host}");
        }
        for host in ["evil.example:8100", "evil.example", "127.0.0.1:80", "127.0.0.1", "192.168.1.2:8100", "", ":8100"]
        {
            assert_eq!(check(host, None), Err(Refusal::Host), "{host}");
        }
        for origin in ["http://evil.example", "https://localhost:8100", "null", "http://localhost:8101", ""] {
            assert_eq!(check("localhost:8100", Some(origin)), Err(Refusal::Origin), "{origin}");
        }
        let site = |name: &'static str, value: &'static str| (HeaderName::from_static(name), value);
        let asked = [(HOST, "127.0.0.1:8100"), site("sec-fetch-site", "cross-site"), site("sec-fetch-mode", "no-cors")];
        assert_eq!(access.check(&Method::GET, &headers(&asked), None), Err(Refusal::Origin));
        let link = [
            asked[0].clone(),
            asked[1].clone(),
            site("sec-fetch-mode", "navigate"),
            site("sec-fetch-dest", "document"),
        ];
        assert_eq!(access.check(&Method::GET, &headers(&link), None), Ok(()));
        assert_eq!(access.check(&Method::POST, &headers(&link), None), Err(Refusal::Origin), "a form is no link");
        let mut two = headers(&asked[..1]);
        two.append(HOST, HeaderValue::from_static("evil.example:8100"));
        assert_eq!(access.check(&Method::GET, &two, None), Err(Refusal::Host));
        let mut two = headers(&[asked[0].clone(), (ORIGIN, "http://127.0.0.1:8100")]);
        two.append(ORIGIN, HeaderValue::from_static("http://evil.example"));
        assert_eq!(access.check(&Method::GET, &two, None), Err(Refusal::Origin));
        assert_eq!(access.url(LOOPBACK), "http://127.0.0.1:8100/");
        assert_eq!(access.cookie(Some("token=")), None);
    }

    #[test]
    fn off_the_loopback_a_token_is_needed_and_a_number_or_the_name_of_this_machine() {
        let token = new_token().expect("random bytes");
        assert_ne!(token, new_token().expect("random bytes"));
        let access = Access::new("[::]:8100".parse().expect("an address"), Some(token.clone()));
        let reached: IpAddr = "192.168.1.2".parse().expect("a number");
        let url = access.url(reached);
        assert_eq!(url, format!("http://192.168.1.2:8100/?token={token}"));
        assert!(access.url("fd00::2".parse().expect("a number")).starts_with("http://[fd00::2]:8100/?token="));
        let host = (HOST, "192.168.1.2:8100");
        let check = |header: Option<(HeaderName, &str)>, query: Option<&str>| {
            let headers = headers(&[host.clone()].into_iter().chain(header).collect::<Vec<_>>());
            access.check(&Method::GET, &headers, query)
        };
        assert_eq!(check(None, None), Err(Refusal::Token));
        assert_eq!(check(None, Some("token=")), Err(Refusal::Token));
        assert_eq!(check(None, Some(&format!("a=b&token={token}"))), Ok(()));
        assert_eq!(check(Some((AUTHORIZATION, &format!("Bearer {token}"))), None), Ok(()));
        assert_eq!(check(Some((COOKIE, &format!("a=b; {COOKIE_NAME}-8100={token}"))), None), Ok(()));
        for wrong in [&token[1..], &format!("{token}0"), &"0".repeat(MIN_LENGTH), ""] {
            assert_eq!(
                check(Some((COOKIE, &format!("{COOKIE_NAME}-8100={wrong}"))), None),
                Err(Refusal::Token),
                "{wrong}"
            );
        }
        // A request for a foreign host name is refused even with the token.
        let known = (AUTHORIZATION, format!("Bearer {token}"));
        let named =
            |host: &str| access.check(&Method::GET, &headers(&[(HOST, host), (known.0.clone(), &known.1)]), None);
        let ours = format!("{}:8100", this_machine());
        for host in ["192.168.1.2:8100", "203.0.113.77:8100", "[fd00::2]:8100", "localhost:8100", &ours] {
            assert_eq!(named(host), Ok(()), "{host}");
        }
        for host in ["evil.example:8100", "192.168.1.2", "192.168.1.2:8101"] {
            assert_eq!(named(host), Err(Refusal::Host), "{host}");
        }
        let cookie = access.cookie(Some(&format!("token={token}"))).expect("a cookie");
        assert!(cookie.contains("HttpOnly; SameSite=Strict"), "{cookie}");
        assert_eq!(access.cookie(Some("token=0")), None);
    }

    #[test]
    fn a_token_that_was_asked_for_is_needed_on_the_loopback_too() {
        let token = new_token().expect("random bytes");
        let access = Access::new("127.0.0.1:8100".parse().expect("an address"), Some(token.clone()));
        let host = headers(&[(HOST, "127.0.0.1:8100")]);
        assert_eq!(access.check(&Method::GET, &host, None), Err(Refusal::Token));
        assert_eq!(access.check(&Method::GET, &host, Some(&format!("token={token}"))), Ok(()));
    }
}
