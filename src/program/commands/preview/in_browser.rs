//! `preview --web`: a file in a browser.

use crate::options::jobs::{PreviewJob, ReadyCommand};
use crate::options::writing::WebOptions;
use crate::session::Session;
use crate::stills::seconds;
use crate::web::Web;
use crate::web::view::ViewedFile;
use anyhow::Result;
use histeq_media::pipeline::Outcome;
use std::time::Duration;

/// The interval at which the run tells the web page that it is alive.
const TICK: Duration = Duration::from_millis(100);

/// Shows the file of `job` until the user ends it, which is a normal end.
pub fn run(job: &PreviewJob, (view, command): &(WebOptions, ReadyCommand), session: &Session<'_>) -> Result<Outcome> {
    let (options, _) = &job.sheets[0];
    super::check_is_there(options)?;
    session.listen_for_signals(Vec::new(), "ending")?;
    let (source, input) = session.open(options, &session.notices)?;
    super::check_can_be_read_again(options, &input)?;
    let duration = seconds(&input, source)?;
    let web = Web::start(view)?;
    let opened = (options.clone(), input);
    web.show_file(ViewedFile::new(
        opened,
        duration,
        job.rows.clone(),
        command.clone(),
        (session.cancel.clone(), session.notices.clone()),
    ));
    web.announce(&session.notices);
    while !session.cancel.is_cancelled() {
        web.tick();
        std::thread::sleep(TICK);
    }
    Ok(Outcome::Complete)
}
