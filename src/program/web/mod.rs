//! The view in a browser: one address, one page, without anything from outside of the program.
//!
//! | file | what it is |
//! |---|---|
//! | `mod.rs` | the thread that serves, and the sources that it serves |
//! | `http` | connections, who may use them, and what each address answers |
//! | `view` | sources, a file, and who views them |
//! | `desk` | the page that does the work, on files of a folder |
//! | `page` | the page |
//!
//! ```text
//! live engine -> Viewed::show -> picture (a thread for each source) -> Hub -> server (one thread) -> browsers
//!             <- SharedSettings <- Viewed::change                           <-
//! ```

pub mod desk;
pub mod http;
pub mod view;

use crate::options::writing::WebOptions;
use anyhow::{Context, Result};
use desk::Work;
use histeq_media::pipeline::Notices;
use http::access::Access;
use std::collections::BTreeMap;
use std::net::TcpListener;
use std::sync::Arc;
use std::thread::JoinHandle;
use view::hub::Hub;
use view::{Viewed, ViewedFile};

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
        options.and_then(|options| options.token.as_ref()).map_or(Ok(()), |file| http::token::read(file).map(drop))
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
            Some(file) => Some(http::token::kept(file)?),
            None if address.ip().is_loopback() => None,
            None => Some(http::token::new_token()?),
        };
        let access = Access::new(listener.local_addr()?, token);
        let reachable = http::addresses::reachable(&listener)?.into_iter();
        let addresses = reachable.map(|(number, interface)| (access.url(number), interface)).collect();
        let hub = Arc::<Hub>::default();
        let serve = http::server::server(listener, access, hub.clone())?;
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
        let thread = std::thread::Builder::new().name(name).spawn(move || view::picture::run(&source))?;
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
