//! Routes requests to their answers, by path.

use super::access::{Access, Refusal};
use super::bodies::{self, Gone, Of};
use crate::web::desk::work;
use crate::web::view::hub::{Admitted, Hub, SourceChange, Viewed};
use crate::web::view::metrics;
use crate::web::view::viewed_file::{Asked, AskedPart, ViewedFile};
use bytes::Bytes;
use histeq::Named;
use histeq::internal::spec::parameters::Look;
use histeq_media::sys::files::{Name, open_regular};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::header::{
    ACCEPT, CACHE_CONTROL, CONNECTION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, HeaderValue, REFERRER_POLICY,
    SEC_WEBSOCKET_KEY, SET_COOKIE, UPGRADE, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use hyper::{Method, Request, Response, StatusCode};
use percent_encoding::percent_decode_str;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

/// The body of an answer.
pub type Body = BoxBody<Bytes, std::io::Error>;

/// Most bytes of the body of a request, and how long it may take to arrive.
const MAX_BODY: usize = 64 << 10;
const BODY_TIME: Duration = Duration::from_secs(10);

/// A run that has not called [`Hub::tick`] for this long is not healthy.
const ALIVE: Duration = Duration::from_secs(10);

/// What the page may do: load from this server alone, and run no inline script or style.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; \
                      media-src 'self' blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'";

/// The headers of every answer.
const HEADERS: [(HeaderName, &str); 5] = [
    (CONTENT_SECURITY_POLICY, POLICY),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (REFERRER_POLICY, "no-referrer"),
    (X_FRAME_OPTIONS, "DENY"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

pub const JSON: &str = "application/json";
const TEXT: &str = "text/plain; charset=utf-8";
const JAVASCRIPT: &str = "text/javascript; charset=utf-8";

/// The files of the page: path, type, content.
const FILES: [(&str, &str, &str); 9] = [
    ("/", "text/html; charset=utf-8", include_str!("../page/index.html")),
    ("/page.js", JAVASCRIPT, include_str!("../page/page.js")),
    ("/picture.js", JAVASCRIPT, include_str!("../page/picture.js")),
    ("/live.js", JAVASCRIPT, include_str!("../page/live.js")),
    ("/wall.js", JAVASCRIPT, include_str!("../page/wall.js")),
    ("/file.js", JAVASCRIPT, include_str!("../page/file.js")),
    ("/work.js", JAVASCRIPT, include_str!("../page/work.js")),
    ("/texts.js", JAVASCRIPT, include_str!("../page/texts.js")),
    ("/page.css", "text/css; charset=utf-8", include_str!("../page/page.css")),
];

/// What answers depend on.
pub struct Routes {
    pub access: Access,
    pub hub: Arc<Hub>,
}

/// Why a request is refused.
pub type Wrong = (StatusCode, &'static str);

const TOO_MANY: Wrong = (StatusCode::SERVICE_UNAVAILABLE, "too many viewers");
const NO_SOURCE: &str = "there is no such source";
pub const NOTHING: &str = "there is nothing here";
const READ_ONLY: &str = "this is only read";

/// The source to watch, the viewer's [`Admitted`], and the value of `Sec-WebSocket-Accept`.
pub type Watched = (Arc<Viewed>, Admitted, String);

impl Routes {
    /// For a request for the video of a source: that source, or why it is refused. `None` for any other request.
    pub fn watched(&self, request: &Request<Incoming>) -> Option<Result<Watched, Wrong>> {
        let number = request.uri().path().strip_prefix("/api/sources/")?.strip_suffix("/video")?;
        Some(self.check(request).and_then(|()| self.admitted(request, number)))
    }

    /// Whether the request may be answered.
    ///
    /// # Errors
    /// When it may not.
    pub fn check(&self, request: &Request<Incoming>) -> Result<(), Wrong> {
        self.access.check(request.method(), request.headers(), request.uri().query()).map_err(refused)
    }

    fn admitted(&self, request: &Request<Incoming>, number: &str) -> Result<Watched, Wrong> {
        let source = number.parse().ok().and_then(|number| self.hub.source(number));
        let source = source.ok_or((StatusCode::NOT_FOUND, NO_SOURCE))?;
        let wants = request.headers().get(UPGRADE).and_then(|value| value.to_str().ok());
        let key = request.headers().get(SEC_WEBSOCKET_KEY).filter(|_| request.method() == Method::GET);
        let (Some(key), true) = (key, wants.is_some_and(|name| name.eq_ignore_ascii_case("websocket"))) else {
            return Err((StatusCode::UPGRADE_REQUIRED, "the video comes by a WebSocket"));
        };
        let admitted = self.hub.admit();
        let admitted = admitted.ok_or(TOO_MANY)?;
        Ok((source, admitted, derive_accept_key(key.as_bytes())))
    }

    /// The answer to a request for which [`watched`](Self::watched) is `None`.
    pub async fn answer(&self, request: Request<Incoming>) -> Response<Body> {
        match self.check(&request) {
            Ok(()) => guarded(self.route(request).await),
            Err((status, message)) if is_opened_by_hand(&request) => closing(whole(status, TEXT, message)),
            Err(wrong) => refuse(wrong),
        }
    }

    async fn route(&self, request: Request<Incoming>) -> Response<Body> {
        let path = request.uri().path().to_owned();
        // Folders, files and results have addresses of their own, so that a browser's Back button works: all are the
        // same page.
        let is_view = |name: &str| path.strip_prefix(name).is_some_and(|number| number.parse::<usize>().is_ok());
        let is_view = self.hub.work().is_some() && ["/folder/", "/file/", "/result/"].into_iter().any(is_view);
        let path = if is_view { "/".to_owned() } else { path };
        let is_get = [Method::GET, Method::HEAD].contains(request.method());
        if let Some((_, kind, text)) = FILES.iter().find(|(name, ..)| *name == path).filter(|_| is_get) {
            let mut response = whole(StatusCode::OK, kind, *text);
            if let Some(cookie) = self.access.cookie(request.uri().query()).and_then(|cookie| cookie.parse().ok()) {
                response.headers_mut().insert(SET_COOKIE, cookie);
            }
            return response;
        }
        match path.as_str() {
            "/health" if is_get => match self.hub.silent() {
                silent if silent < ALIVE => whole(StatusCode::OK, "text/plain", "ok\n"),
                silent => {
                    let text = format!("no sign of life for {} s\n", silent.as_secs());
                    whole(StatusCode::SERVICE_UNAVAILABLE, "text/plain", text)
                }
            },
            "/metrics" if is_get => whole(StatusCode::OK, metrics::CONTENT_TYPE, metrics::text(&self.hub)),
            "/api/looks" if is_get => json_body(&looks()),
            _ if path == "/api/work" || path.starts_with("/api/work/") => match self.hub.work() {
                Some(work) => {
                    let rest = path["/api/work".len()..].trim_start_matches('/');
                    work::answer(work, rest, request, self.access.is_local()).await
                }
                None if path == "/api/work" && is_get => json_body(&Value::Null),
                None => error(StatusCode::NOT_FOUND, NOTHING),
            },
            _ if path == "/api/file" || path.starts_with("/api/file/") => match self.hub.file() {
                Some(file) if is_get => {
                    let rest = path["/api/file".len()..].trim_start_matches('/');
                    answer_file(file, rest, request.uri().query(), self.access.is_local()).await
                }
                Some(_) => error(StatusCode::METHOD_NOT_ALLOWED, READ_ONLY),
                None if path == "/api/file" => json_body(&Value::Null),
                None => error(StatusCode::NOT_FOUND, "no file is shown here"),
            },
            "/api/cameras" if is_get => json_body(&cameras(&self.hub)),
            "/api/sources" if is_get => {
                let states: Vec<_> = self.hub.sources().iter().map(|source| source.state()).collect();
                json_body(&json!(states))
            }
            _ => match path.strip_prefix("/api/sources/").map(|rest| rest.split_once('/').unwrap_or((rest, ""))) {
                Some((number, rest)) => match number.parse().ok().and_then(|number| self.hub.source(number)) {
                    Some(source) => answer_source(&source, rest, request, &self.hub).await,
                    None => error(StatusCode::NOT_FOUND, NO_SOURCE),
                },
                None if FILES.iter().any(|(name, ..)| *name == path) => {
                    error(StatusCode::METHOD_NOT_ALLOWED, READ_ONLY)
                }
                None => error(StatusCode::NOT_FOUND, NOTHING),
            },
        }
    }
}

/// Answers a request about a source.
async fn answer_source(source: &Arc<Viewed>, what: &str, request: Request<Incoming>, hub: &Hub) -> Response<Body> {
    let is_get = [Method::GET, Method::HEAD].contains(request.method());
    let changes = [Method::PATCH, Method::POST].contains(request.method());
    match what {
        "" if is_get => json_body(&json!(source.state())),
        "" if changes => change(source, request).await,
        "picture.jpg" if is_get => bodies::picture(source, request.uri().query().unwrap_or_default()).await,
        "pictures.mjpeg" if is_get => match hub.admit() {
            Some(admitted) => bodies::pictures(source.clone(), admitted),
            None => refuse(TOO_MANY),
        },
        "recordings" if is_get => {
            let name = |file: &std::path::Path| Name::from(file.file_name().unwrap_or_default()).to_string();
            let all = source.recordings();
            let all =
                all.iter().map(|(file, begin, bytes)| json!({ "name": name(file), "begin": begin, "bytes": bytes }));
            json_body(&all.collect())
        }
        _ => match what.strip_prefix("recordings/").filter(|_| is_get) {
            Some(name) => {
                let name = percent_decode_str(name).decode_utf8_lossy();
                match source.recording(&name) {
                    Some(file) => bodies::file((file, open_regular), request.method(), request.headers()).await,
                    None => error(StatusCode::NOT_FOUND, "there is no such recording"),
                }
            }
            None => error(StatusCode::NOT_FOUND, NOTHING),
        },
    }
}

/// Answers a request about a viewed file. `path` is what follows the address of the file.
pub async fn answer_file(file: Arc<ViewedFile>, path: &str, query: Option<&str>, is_local: bool) -> Response<Body> {
    let query = query.unwrap_or_default();
    let asked = Asked::read(query).and_then(|asked| Ok((asked, Of::read(query)?)));
    let (asked, side) = match asked {
        Ok(asked) => asked,
        Err(wrong) => return error(StatusCode::BAD_REQUEST, &format!("{wrong:#}")),
    };
    let rows = value_of(query, "rows").and_then(|rows| rows.parse().ok()).unwrap_or(usize::MAX);
    match path {
        "" => json_body(&file.facts()),
        "command" => json_body(&json!({ "command": file.command(&asked, is_local) })),
        "frame" => placed(file, JSON, move |file, gone| Ok(file.numbers(&asked, gone)?.to_string().into_bytes())).await,
        "frame.jpg" => {
            // A request that waits for the permit blocks no thread. The semaphore is never closed.
            let turn = match file.takes_long(&asked, side, rows) {
                true => file.whole.clone().acquire_owned().await.ok(),
                false => None,
            };
            let make = move |file: &ViewedFile, gone: &Gone| {
                let _turn = turn;
                file.jpeg(&asked, side, rows, gone)
            };
            placed(file, "image/jpeg", make).await
        }
        "noise.jpg" => match AskedPart::read(query) {
            Ok(part) => placed(file, "image/jpeg", move |file, gone| file.part(&asked, part, gone)).await,
            Err(wrong) => error(StatusCode::BAD_REQUEST, &format!("{wrong:#}")),
        },
        "film.mp4" => placed(file, "video/mp4", move |file, gone| file.film(&asked, gone)).await,
        _ => error(StatusCode::NOT_FOUND, NOTHING),
    }
}

/// Answers with what `make` makes of a file, after [`ViewedFile::place`] has given a permit.
async fn placed(
    file: Arc<ViewedFile>,
    kind: &str,
    make: impl FnOnce(&ViewedFile, &Gone) -> anyhow::Result<Vec<u8>> + Send + 'static,
) -> Response<Body> {
    let place = match file.place().await {
        Ok(place) => place,
        Err(wrong) => return error(StatusCode::SERVICE_UNAVAILABLE, &format!("{wrong:#}")),
    };
    let make = move |gone: &Gone| {
        let _place = place;
        make(&file, gone)
    };
    bodies::made(kind, make).await
}

/// The value of `name` in a query string.
pub fn value_of<'a>(query: &'a str, name: &str) -> Option<&'a str> {
    query.split('&').find_map(|part| part.strip_prefix(name)?.strip_prefix('='))
}

/// Changes a source as the body of the request says.
async fn change(source: &Viewed, request: Request<Incoming>) -> Response<Body> {
    match json_of::<SourceChange>(request).await.map(|change| source.change(&change)) {
        Ok(Ok(())) => json_body(&json!(source.state())),
        Ok(Err(wrong)) => error(StatusCode::BAD_REQUEST, &format!("{wrong:#}")),
        Err(wrong) => wrong,
    }
}

/// The value that the JSON body of a request has, or the answer that says what is wrong with the request.
pub async fn json_of<T: DeserializeOwned>(request: Request<Incoming>) -> Result<T, Response<Body>> {
    // Only JSON, because an HTML form on a foreign site cannot send this content type.
    let is_json =
        request.headers().get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
    if !is_json {
        return Err(error(StatusCode::UNSUPPORTED_MEDIA_TYPE, "a change is JSON (Content-Type: application/json)"));
    }
    let body = match timeout(BODY_TIME, Limited::new(request.into_body(), MAX_BODY).collect()).await {
        Ok(Ok(body)) => body.to_bytes(),
        Ok(Err(_)) => return Err(error(StatusCode::PAYLOAD_TOO_LARGE, "that is too long for a change")),
        Err(_) => return Err(error(StatusCode::REQUEST_TIMEOUT, "the change did not come")),
    };
    serde_json::from_slice(&body).map_err(|wrong| error(StatusCode::BAD_REQUEST, &wrong.to_string()))
}

/// All cameras of the run, and the states of those that film.
fn cameras(hub: &Hub) -> Value {
    let state = |source: Option<Arc<Viewed>>| source.map(|source| source.state());
    hub.cameras()
        .into_iter()
        .map(|(number, (name, source))| json!({ "source": number, "name": name, "state": state(source) }))
        .collect()
}

/// All looks, with their descriptions.
fn looks() -> Value {
    let looks = Look::ALL.iter().map(|look| json!({ "name": look.to_string(), "about": look.about() }));
    looks.collect()
}

/// An answer of content type `kind`.
pub fn whole(status: StatusCode, kind: &str, body: impl Into<Bytes>) -> Response<Body> {
    let body = Full::new(body.into()).map_err(|never| match never {}).boxed();
    Response::builder().status(status).header(CONTENT_TYPE, kind).body(body).unwrap_or_default()
}

/// An answer of JSON.
pub fn json_body(value: &Value) -> Response<Body> {
    whole(StatusCode::OK, JSON, value.to_string())
}

/// An answer that says in words what is wrong.
pub fn error(status: StatusCode, message: &str) -> Response<Body> {
    whole(status, JSON, json!({ "error": message }).to_string())
}

/// Whether a browser shows the answer as a page to a person, who should not see JSON.
fn is_opened_by_hand(request: &Request<Incoming>) -> bool {
    request.headers().get(ACCEPT).is_some_and(|kinds| kinds.as_bytes().starts_with(b"text/html"))
}

/// The answer to a request that is refused.
pub fn refuse((status, message): Wrong) -> Response<Body> {
    closing(error(status, message))
}

fn closing(response: Response<Body>) -> Response<Body> {
    let mut response = guarded(response);
    // The connection of a refused client is closed.
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}

/// The answer with the headers of every answer.
fn guarded(mut response: Response<Body>) -> Response<Body> {
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response.headers_mut().entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

fn refused(refusal: Refusal) -> Wrong {
    match refusal {
        Refusal::Host => (StatusCode::MISDIRECTED_REQUEST, "open the address that the program printed"),
        Refusal::Origin => (StatusCode::FORBIDDEN, "a page of another address may not do this"),
        Refusal::Token => (StatusCode::UNAUTHORIZED, "open the address that the program printed, with its token"),
    }
}
