//! Ctrl-C and SIGTERM: the first asks for a clean end, the second gives up at once.

use histeq_video::pipeline::Cancel;
use histeq_video::report::Console;
use std::path::PathBuf;
use std::process::exit;

/// What a shell expects of a program that was interrupted.
pub const INTERRUPTED: u8 = 130;

/// Listens from now on. The first signal is answered with `word`; the files `temporary` are removed when a second one
/// ends the program at once.
///
/// # Errors
/// When the system refuses.
pub fn listen(
    cancel: Cancel,
    console: Console,
    temporary: Vec<PathBuf>,
    word: &'static str,
) -> Result<(), ctrlc::Error> {
    ctrlc::set_handler(move || {
        if cancel.is_cancelled() {
            for file in &temporary {
                // Gone, or its hidden name still says that it is not the output.
                let _ = std::fs::remove_file(file);
            }
            exit(INTERRUPTED.into());
        }
        cancel.cancel();
        console.say(&format!("histeq-video: {word} (again to give up at once)"));
    })
}
