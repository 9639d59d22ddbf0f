//! The page that equalizes files: what it may see and ask for, and the answers.

use super::folder::{Shelf, TOP};
use super::queue::{Order, Queue, without_options};
use super::small::SmallPictures;
use super::uploads::Uploads;
use crate::options::jobs::{Chosen, LookRow, ReadyCommand};
use crate::options::reading::RunLimits;
use crate::stills::seconds;
use crate::web::http::bodies::{self, Delivery, Gone};
use crate::web::http::routes::{self, Body, JSON, NOTHING, error, json_body, refuse, value_of, whole};
use crate::web::view::hub::lock;
use crate::web::view::playing::media_type;
use crate::web::view::viewed_file::ViewedFile;
use anyhow::{Context, Error, Result, ensure};
use histeq::Named;
use histeq::internal::spec::parameters::Look;
use histeq_media::pipeline::{Cancel, Notices};
use histeq_media::source::{self, InputOptions};
use histeq_media::sys::files::{Name, open_without_links};
use hyper::body::Incoming;
use hyper::header::{CONNECTION, CONTENT_DISPOSITION, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

/// Most files that are kept open for viewers.
const MAX_OPEN: usize = 2;

/// Permits to open one file at a time. A request that waits for the permit blocks no thread.
static OPENING: Semaphore = Semaphore::const_new(1);

/// Most files of one request.
const MAX_ORDERED: usize = 500;

/// How soon the desktop tells that it cannot open something.
const OPENED_BY: Duration = Duration::from_secs(10);

/// The state of the page that equalizes files.
pub struct Work {
    pub shelf: Shelf,
    pub queue: Arc<Queue>,
    pub uploads: Arc<Uploads>,
    pub small: SmallPictures,
    pub read_only: bool,
    /// Whether a folder can be shown on the screen of this machine.
    pub has_desktop: bool,
    pub limits: RunLimits,
    pub cancel: Cancel,
    pub notices: Notices,
    /// The files that were viewed last.
    pub open: Mutex<VecDeque<(Shown, Arc<ViewedFile>)>>,
}

/// What is viewed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// The file of this number, before it is equalized and with any look.
    File(usize),
    /// The original and the result of this job.
    Result(usize),
}

/// The body of a request to equalize files: their numbers, and how to equalize them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Ordered {
    files: Vec<usize>,
    chosen: Chosen,
}

/// The body of a request to pause or resume the queue.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Pause {
    paused: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum JobChange {
    Cancel,
    Again,
    /// Opens the folder of the result on the desktop of this machine.
    Show,
}

impl Work {
    /// A file opened for viewers: one that is still open, or one that is opened now.
    fn view(&self, shown: Shown) -> Result<Arc<ViewedFile>> {
        let held = lock(&self.open).iter().find(|(known, _)| *known == shown).map(|(_, file)| file.clone());
        let (input, made) = match shown {
            Shown::File(number) => (self.shelf.file(number)?.0, None),
            Shown::Result(job) => {
                let (input, output) = self.queue.result(job)?;
                (self.shelf.input(&input)?, Some(self.shelf.input(&output)?))
            }
        };
        if let Some(held) = held {
            return Ok(held);
        }
        let file = Arc::new(self.opened(input, made)?);
        let mut open = lock(&self.open);
        open.push_back((shown, file.clone()));
        if open.len() > MAX_OPEN {
            open.pop_front();
        }
        Ok(file)
    }

    fn opened(&self, options: InputOptions, made: Option<InputOptions>) -> Result<ViewedFile> {
        let name = Name::from(options.url.path().file_name().unwrap_or_default());
        let open = || {
            let opened = source::open(&options, &self.cancel, self.notices.clone(), Arc::default())?;
            self.limits.check_length(&opened.1)?;
            anyhow::Ok((seconds(&opened.1, opened.0)?, opened.1))
        };
        let (duration, input) = open().map_err(|wrong| {
            self.notices.detail(&format!("the page: {wrong:#}"));
            anyhow::anyhow!("{name}: that cannot be shown: damaged, or no film or picture")
        })?;
        let rows = match &made {
            Some(_) => Vec::new(),
            None => Look::ALL.iter().map(|look| LookRow { look: *look, strength: None }).collect(),
        };
        let command = ReadyCommand::new(options.url.clone());
        let file =
            ViewedFile::new((options, input), duration, rows, command, (self.cancel.clone(), self.notices.clone()));
        let Some(made) = made else { return Ok(file) };
        // A result that cannot be opened causes no error here, but later where it is shown.
        let opened = source::open(&made, &self.cancel, Notices::silent(), Arc::default());
        let its_type = opened.ok().and_then(|(_, input)| media_type(made.url.path(), input.video_stream()));
        Ok(file.beside(made, its_type))
    }

    /// The path of the file to play. It was canonical when the file was listed.
    fn played(&self, shown: Shown) -> Result<PathBuf> {
        match shown {
            Shown::File(number) => Ok(self.shelf.file(number)?.0.url.path().to_owned()),
            Shown::Result(job) => Ok(self.queue.result(job)?.1),
        }
    }

    /// What the page may do, and the choices that it offers.
    fn facts(&self, is_local: bool) -> Value {
        let goals: Vec<Value> =
            Chosen::goals().map(|(name, words)| json!({ "name": name, "options": words })).collect();
        json!({
            "read_only": self.read_only,
            "desktop": self.has_desktop && is_local,
            "goals": goals,
            "most": MAX_ORDERED,
            "upload": { "most": self.uploads.most, "left": self.uploads.left() },
        })
    }

    /// The listing of the folder of this number; that of [`TOP`] has the uploaded files, too.
    fn list(&self, number: usize, is_local: bool) -> Result<Value> {
        let found = self.shelf.list(number)?;
        let mut listing = json!(found);
        if let Some((pattern, count)) = found.film {
            let last = Name::from(pattern.path().file_name().unwrap_or_default());
            let name = if is_local { pattern } else { last };
            listing["film"] = json!({ "pictures": count, "command": format!("histeq-video {}", name.quoted()) });
        }
        if number == TOP {
            let given = self.uploads.files();
            listing["given"] =
                given.iter().filter_map(|file| self.shelf.entry(file)).map(|entry| json!(entry)).collect();
        }
        Ok(listing)
    }

    fn order(&self, Ordered { files, chosen }: Ordered) -> Result<Vec<usize>> {
        ensure!(!files.is_empty() && files.len() <= MAX_ORDERED, "from 1 to {MAX_ORDERED} files are made at once");
        let orders = files.into_iter().map(|entry| {
            let input = self.shelf.file(entry)?.0.url.path().canonicalize()?;
            anyhow::Ok(Order { entry, input, chosen: chosen.clone() })
        });
        let orders = orders.collect::<Result<Vec<_>>>()?;
        let room = self.queue.room();
        ensure!(orders.len() <= room, "{room} more files may wait");
        orders.into_iter().map(|order| self.queue.add(order)).collect()
    }

    fn change(&self, job: usize, change: &JobChange, is_local: bool) -> Result<()> {
        match change {
            JobChange::Cancel => self.queue.cancel(job),
            JobChange::Again => {
                let entry = |input: &Path| {
                    let entry = self.shelf.entry(input).context("the original is not there any more")?.number;
                    self.shelf.file(entry).map(|_| entry)
                };
                self.queue.again(job, entry).map(drop)
            }
            JobChange::Show => {
                ensure!(self.has_desktop && is_local, "this machine has no desktop to show it on");
                let (_, output) = self.queue.result(job)?;
                open_on_desktop(output.parent().unwrap_or(Path::new("/")), || ())
            }
        }
    }

    /// The command line that equalizes the file as `query` says.
    fn command(&self, file: usize, query: &str, is_local: bool) -> Result<Value> {
        let strength = value_of(query, "strength").map(str::parse).transpose()?;
        let [look, goal] = ["look", "goal"].map(|name| value_of(query, name).unwrap_or_default().to_owned());
        let (input, _) = self.shelf.file(file)?;
        let chosen = Chosen { look, strength, goal };
        let run = chosen.plan(&input.url, &[]).map_err(anyhow::Error::msg)?;
        let is_told = is_local && !self.uploads.has(input.url.path());
        Ok(json!({ "command": run.command(&input.url, is_told) }))
    }
}

/// Opens an address or a folder as the desktop does. Calls `failed` if the desktop cannot.
///
/// # Errors
/// When that is not possible.
pub fn open_on_desktop(what: impl AsRef<std::ffi::OsStr>, failed: impl FnOnce() + Send + 'static) -> Result<()> {
    let mut command = Command::new("xdg-open");
    command.arg(what).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn()?;
    let begin = Instant::now();
    std::thread::Builder::new().name("desktop".to_owned()).spawn(move || {
        let is_opened = child.wait().is_ok_and(|status| status.success());
        // Some `xdg-open` runs the browser and ends with it, whose exit code says nothing then.
        if !is_opened && begin.elapsed() < OPENED_BY {
            failed();
        }
    })?;
    Ok(())
}

/// The answer to a request below `/api/work`.
pub async fn answer(work: Arc<Work>, path: &str, request: Request<Incoming>, is_local: bool) -> Response<Body> {
    let query = request.uri().query().unwrap_or_default().to_owned();
    let is_get = [Method::GET, Method::HEAD].contains(request.method());
    let (what, rest) = path.split_once('/').unwrap_or((path, ""));
    let (number, rest) = rest.split_once('/').unwrap_or((rest, ""));
    let number: Option<usize> = match (number, number.parse()) {
        ("", _) => None,
        (_, Ok(number)) => Some(number),
        _ => return error(StatusCode::NOT_FOUND, NOTHING),
    };
    if !is_get {
        return change(work, (what, number, rest), request, is_local).await;
    }
    match (what, number, rest) {
        ("", None, "") => json_body(&work.facts(is_local)),
        ("folder", number, "") => in_thread(move || work.list(number.unwrap_or(TOP), is_local)).await,
        ("jobs", None, "") => json_body(&work.queue.told(is_local)),
        ("jobs", Some(job), "download") => download(work, job, request).await,
        ("jobs", Some(job), "play") => play(work, Shown::Result(job), request).await,
        ("files", Some(file), "play") => play(work, Shown::File(file), request).await,
        ("jobs", Some(job), rest) => shown(work, Shown::Result(job), rest, &query, is_local).await,
        ("files", Some(file), "small.jpg") => {
            // The semaphore is never closed. The permit moves to the thread, which may outlast the connection.
            let turn = work.small.turn.clone().acquire_owned().await;
            let make = move |_: &Gone| {
                let _turn = turn;
                work.small.jpeg(&work.shelf.file(file)?.0, &work.cancel)
            };
            bodies::made("image/jpeg", make).await
        }
        ("files", Some(file), "command") => in_thread(move || work.command(file, &query, is_local)).await,
        ("files", Some(file), rest) => shown(work, Shown::File(file), rest, &query, is_local).await,
        _ => error(StatusCode::NOT_FOUND, NOTHING),
    }
}

/// Answers a request about a file that is viewed.
async fn shown(work: Arc<Work>, shown: Shown, rest: &str, query: &str, is_local: bool) -> Response<Body> {
    // The semaphore is never closed, so this does not fail.
    let turn = OPENING.acquire().await;
    let view = move || {
        let _turn = turn;
        work.view(shown)
    };
    match spawn_blocking(view).await {
        Ok(Ok(file)) => routes::answer_file(file, rest, Some(query), is_local).await,
        Ok(Err(wrong)) => failed(StatusCode::NOT_FOUND, &wrong),
        Err(_) => error(StatusCode::INTERNAL_SERVER_ERROR, "a bug kept it from being shown"),
    }
}

/// Answers with the bytes of a film, or a range of them, without decoding.
async fn play(work: Arc<Work>, shown: Shown, request: Request<Incoming>) -> Response<Body> {
    match spawn_blocking(move || work.played(shown)).await {
        Ok(Ok(file)) => bodies::file((file, open_without_links), request.method(), request.headers()).await,
        Ok(Err(wrong)) => failed(StatusCode::NOT_FOUND, &wrong),
        Err(_) => error(StatusCode::INTERNAL_SERVER_ERROR, "a bug kept it from being played"),
    }
}

/// The result of a job, as a file to save.
async fn download(work: Arc<Work>, job: usize, request: Request<Incoming>) -> Response<Body> {
    let output = match work.queue.result(job) {
        Ok((_, output)) => output,
        Err(wrong) => return failed(StatusCode::NOT_FOUND, &wrong),
    };
    let name = Name::from(output.file_name().unwrap_or_default()).to_string();
    let is_sent = Arc::new(AtomicBool::new(false));
    if let Some(delivery) = request.extensions().get::<Delivery>() {
        let (is_sent, output) = (is_sent.clone(), output.clone());
        delivery.then(move || {
            if is_sent.load(Ordering::Relaxed) {
                work.uploads.downloaded(&output)
            }
        });
    }
    let ended = move || is_sent.store(true, Ordering::Relaxed);
    let mut response =
        bodies::file_with_end((output, open_without_links), request.method(), request.headers(), ended).await;
    let disposition = format!("attachment; filename*=UTF-8''{}", utf8_percent_encode(&name, NON_ALPHANUMERIC));
    if let Ok(disposition) = HeaderValue::from_str(&disposition) {
        response.headers_mut().insert(CONTENT_DISPOSITION, disposition);
    }
    // The client closes the connection then, as soon as it has all.
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}

/// Answers a request that is neither GET nor HEAD.
async fn change(
    work: Arc<Work>,
    (what, number, rest): (&str, Option<usize>, &str),
    request: Request<Incoming>,
    is_local: bool,
) -> Response<Body> {
    let is_post = request.method() == Method::POST;
    let is_patch = request.method() == Method::PATCH;
    if work.read_only && (is_post || is_patch) {
        return error(StatusCode::FORBIDDEN, "the program was started with --read-only");
    }
    match (what, number, rest) {
        ("uploads", None, "") if is_post => {
            let begun = |folder: PathBuf| work.shelf.add_bound(folder);
            match work.uploads.take(request, begun).await {
                Ok(file) => match work.shelf.entry(&file) {
                    Some(entry) => whole(StatusCode::CREATED, JSON, json!(entry).to_string()),
                    None => error(StatusCode::NOT_FOUND, NOTHING),
                },
                Err(wrong) => refuse(wrong),
            }
        }
        ("jobs", None, "") if is_post => match routes::json_of(request).await {
            Ok(ordered) => in_thread(move || work.order(ordered).map(|jobs| json!({ "jobs": jobs }))).await,
            Err(wrong) => wrong,
        },
        ("jobs", None, "") if is_patch => match routes::json_of(request).await {
            Ok(Pause { paused }) => {
                work.queue.pause(paused);
                json_body(&work.queue.told(is_local))
            }
            Err(wrong) => wrong,
        },
        ("jobs", Some(job), "") if is_patch => match routes::json_of(request).await {
            Ok(change) => {
                in_thread(move || work.change(job, &change, is_local).map(|()| work.queue.told(is_local))).await
            }
            Err(wrong) => wrong,
        },
        _ => error(StatusCode::METHOD_NOT_ALLOWED, "this is only read"),
    }
}

/// Answers with the result of `make`, which runs on a thread for blocking work, since it may wait for a disk.
async fn in_thread(make: impl FnOnce() -> Result<Value> + Send + 'static) -> Response<Body> {
    match spawn_blocking(make).await {
        Ok(Ok(value)) => json_body(&value),
        Ok(Err(wrong)) => failed(StatusCode::BAD_REQUEST, &wrong),
        Err(_) => error(StatusCode::INTERNAL_SERVER_ERROR, "a bug kept it from being made"),
    }
}

fn failed(status: StatusCode, wrong: &Error) -> Response<Body> {
    error(status, &without_options(&format!("{wrong:#}")))
}
