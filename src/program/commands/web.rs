//! `histeq-video web`: a page in the browser on which files are equalized, until the user ends it.

use crate::options::jobs::{Jobs, WorkJob};
use crate::pieces::most_jobs;
use crate::report::Console;
use crate::session::Session;
use crate::signals::clean_up_by;
use crate::web::Web;
use crate::web::desk::{Queue, Shelf, Uploads, Work, open_on_desktop};
use anyhow::Result;
use histeq_media::pipeline::{Notices, Outcome};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The interval at which the run tells the web page that it is alive.
const TICK: Duration = Duration::from_millis(100);

/// Serves the page until the user ends it, which is a normal end.
pub fn run(job: &WorkJob, console: &Console) -> Result<Outcome> {
    // `--max-seconds` limits the run of each file, not the page, which runs until the user ends it.
    let session = Session::new(job.stderr.clone(), job.limits.without_time(), console);
    let shelf = Shelf::new(&job.names, job.root.as_deref(), (job.isolation, session.limits()))?;
    session.listen_for_signals(Vec::new(), "ending: what is being made is finished within seconds")?;
    let uploads = Arc::new(Uploads::new(job.max_upload));
    let private = uploads.clone();
    let notices = session.notices.clone();
    clean_up_by(move || {
        // Nothing more can be done about a folder that stays.
        let _ = private.end().map(|kept| kept.into_iter().for_each(|kept| tell_kept(kept, &notices)));
    });
    let queue = Arc::new(Queue::new(job.options.clone(), uploads.clone(), session.cancel.clone()));
    let has_desktop = ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| std::env::var_os(name).is_some());
    let work = Work {
        shelf,
        queue: queue.clone(),
        uploads: uploads.clone(),
        small: Default::default(),
        read_only: job.read_only,
        has_desktop,
        limits: job.limits,
        cancel: session.cancel.clone(),
        notices: session.notices.clone(),
        open: Default::default(),
    };
    let web = Web::start(&job.view)?;
    let count = match job.jobs {
        Jobs::Exactly(count) => count,
        Jobs::Auto => most_jobs(session.limits().threads(), 2_000_000),
    };
    let workers = queue.work(count, &job.stderr, console)?;
    web.show_work(Arc::new(work));
    web.announce(&session.notices);
    let notices = session.notices.clone();
    let tell_of_none = move || notices.note("no browser could be opened: open the address in one");
    if has_desktop && job.opens_browser && open_on_desktop(web.url(), tell_of_none.clone()).is_err() {
        tell_of_none();
    }
    while !session.cancel.is_cancelled() {
        web.tick();
        std::thread::sleep(TICK);
    }
    workers.join();
    uploads.end()?.into_iter().for_each(|kept| tell_kept(kept, &session.notices));
    Ok(Outcome::Complete)
}

/// Tells the number of results that were not downloaded, and the folder that they are in.
fn tell_kept((count, folder): (usize, PathBuf), notices: &Notices) {
    let kept = match count {
        1 => "1 result that was not downloaded is".to_owned(),
        _ => format!("{count} results that were not downloaded are"),
    };
    notices.note(&format!("{kept} kept in {}", folder.display()));
}
