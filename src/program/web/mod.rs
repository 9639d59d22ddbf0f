//! The view in a browser: one address, one page, without anything from outside of the program.
//!
//! | file | what it is |
//! |---|---|
//! | `mod.rs` | the thread that serves, and the sources that it serves |
//! | `access.rs` | who may use it |
//! | `addresses.rs` | the IP addresses at which others reach it |
//! | `token.rs` | the token that others need, and the file that stores it |
//! | `server.rs` | connections, and their limits |
//! | `routes.rs` | what each address answers |
//! | `bodies.rs` | long answers: files, pictures |
//! | `hub.rs` | sources, and who views them |
//! | `picture.rs` | the video and the numbers that viewers of a source see |
//! | `viewed_file.rs` | a file that is looked at before it is equalized |
//! | `work.rs` | the page that does the work: what it may ask for |
//! | `folder.rs` | the files and folders that the page may see |
//! | `playing.rs` | media types, by which browsers are asked whether they can play a film |
//! | `small.rs` | small pictures of files |
//! | `jobs.rs` | the queue of files to equalize, each by a child process |
//! | `uploads.rs` | files that are dropped on the page |
//! | `numbers.rs` | what is drawn beside a pair of pictures |
//! | `metrics.rs` | the states of all sources for Prometheus |
//! | `page` | the page |
//!
//! ```text
//! live engine -> Viewed::show -> picture (a thread for each source) -> Hub -> server (one thread) -> browsers
//!             <- SharedSettings <- Viewed::change                           <-
//! ```

mod access;
mod addresses;
mod bodies;
mod folder;
mod hub;
mod jobs;
mod metrics;
mod numbers;
mod picture;
mod playing;
mod routes;
mod server;
mod small;
mod token;
mod uploads;
mod viewed_file;
mod work;

pub use folder::Shelf;
pub use hub::Viewed;
pub use jobs::Queue;
pub use uploads::Uploads;
pub use viewed_file::ViewedFile;
pub use work::{Work, open_on_desktop};

use crate::options::WebOptions;
use access::Access;
use anyhow::{Context, Result};
use histeq_media::pipeline::Notices;
use hub::Hub;
use std::collections::BTreeMap;
use std::net::TcpListener;
use std::sync::Arc;
use std::thread::JoinHandle;

/// The view of a run. It ends with the process.
#[derive(Clone)]
pub struct Web {
    hub: Arc<Hub>,
    /// The addresses for a browser, each with its interface if there are several.
    addresses: Arc<[(String, Option<String>)]>,
}

impl Web {
    /// Checks the options of a view before it starts, without creating files.
    ///
    /// # Errors
    /// When the file of the token exists, but is not usable.
    pub fn check(options: Option<&WebOptions>) -> Result<()> {
        options.and_then(|options| options.token.as_ref()).map_or(Ok(()), |file| token::read(file).map(drop))
    }

    /// Listens at an address; port 0 stands for any free port.
    ///
    /// # Errors
    /// When listening fails, for example since another program uses the port, or the file of the token cannot be used.
    pub fn start(WebOptions { address, token }: &WebOptions) -> Result<Self> {
        let way_out = "(--web=PORT takes another port)";
        let listener = TcpListener::bind(address).with_context(|| format!("--web {address} {way_out}"))?;
        listener.set_nonblocking(true)?;
        let token = match token {
            Some(file) => Some(token::kept(file)?),
            None if address.ip().is_loopback() => None,
            None => Some(token::new_token()?),
        };
        let access = Access::new(listener.local_addr()?, token);
        let reachable = addresses::reachable(&listener)?.into_iter();
        let addresses = reachable.map(|(number, interface)| (access.url(number), interface)).collect();
        let hub = Arc::<Hub>::default();
        let serve = server::server(listener, access, hub.clone())?;
        std::thread::Builder::new().name("web".to_owned()).spawn(serve)?;
        Ok(Web { hub, addresses })
    }

    /// Prints the addresses at which a browser finds the view.
    pub fn announce(&self, notices: &Notices) {
        for (url, interface) in self.addresses.iter() {
            let interface = interface.as_ref().map(|name| format!(" ({name})")).unwrap_or_default();
            notices.note(&format!("in a browser: {url}{interface}"));
        }
    }

    /// The address for a browser of this machine.
    pub fn url(&self) -> &str {
        &self.addresses[0].0
    }

    /// From now on these are the cameras of the run, whether they film or not: their names by their numbers.
    pub fn list(&self, cameras: BTreeMap<usize, String>) {
        self.hub.list(cameras);
    }

    /// Notes that the run is still alive.
    pub fn tick(&self) {
        self.hub.tick();
    }

    /// Shows a file as long as the process runs.
    pub fn show_file(&self, file: ViewedFile) {
        self.hub.show_file(file);
    }

    /// Shows the page that equalizes files, as long as the process runs.
    pub fn show_work(&self, work: Arc<Work>) {
        self.hub.show_work(work);
    }

    /// Shows a source until the returned [`View`] is dropped.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn show(&self, viewed: Viewed) -> Result<View> {
        let viewed = Arc::new(viewed);
        let source = viewed.clone();
        let name = format!("view {}", viewed.number);
        let thread = std::thread::Builder::new().name(name).spawn(move || picture::run(&source))?;
        self.hub.add(&viewed);
        Ok(View { hub: self.hub.clone(), viewed, thread: Some(thread) })
    }
}

/// A source that is being viewed.
pub struct View {
    hub: Arc<Hub>,
    /// The source.
    pub viewed: Arc<Viewed>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for View {
    fn drop(&mut self) {
        self.hub.remove(&self.viewed);
        self.viewed.frames.close();
        if let Some(thread) = self.thread.take() {
            // A thread that panics has reported that itself.
            let _ = thread.join();
        }
    }
}
