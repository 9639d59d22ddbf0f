//! A plug-in for VapourSynth: `core.histeq.Equalize(clip, look="night")`, whose frames may be requested in any order.
//!
//! ```text
//! clip -> node "Study": a request reads a segment of the clip in order, with the frames around it -> Decisions
//! clip, Study -> node "Equalize": a frame, with the decisions for it
//! ```
//!
//! | file | what it is |
//! |---|---|
//! | `lib.rs` | the functions of the plug-in, and their arguments |
//! | `equalize.rs` | the two nodes |
//! | `decisions.rs` | the decisions for segments that were read, in limited memory |
//! | `picture.rs` | conversion of VapourSynth's formats and properties |
//! | `host.rs` | the functions of VapourSynth, with all `unsafe` code |

mod decisions;
mod equalize;
mod host;
mod picture;

use histeq::{OPTIONS, OptionInfo, ValueKind, in_python, python_name};
use host::{Arguments, Host, Plugin, Results};

pub(crate) fn register(plugin: &Plugin<'_>) {
    plugin.configure("video.histeq.equalize", "histeq", "Histogram equalization of video");
    let options: String =
        OPTIONS.iter().map(|option| format!("{}:{}:opt;", python_name(option.name), kind(option))).collect();
    plugin.offer("Equalize", &format!("clip:vnode;{options}"), "clip:vnode;", equalize::create);
    plugin.offer("Options", "", "name:data[];values:data[];default:data[];help:data[];", list_options);
}

/// VapourSynth's type for the argument of an option.
fn kind(option: &OptionInfo) -> &'static str {
    match option.kind {
        ValueKind::Flag => "int",
        ValueKind::Number { .. } => "float",
        ValueKind::Choice(_) | ValueKind::Text => "data",
    }
}

/// The value of the argument for an option as a text, if it was given.
fn value(option: &OptionInfo, arguments: &Arguments<'_>) -> Option<String> {
    let name = python_name(option.name);
    match option.kind {
        ValueKind::Flag => arguments.integer(&name).map(|is_set| (is_set != 0).to_string()),
        ValueKind::Number { .. } => arguments.number(&name).map(|number| number.to_string()),
        ValueKind::Choice(_) | ValueKind::Text => arguments.text(&name),
    }
}

/// The function that returns the table of options: a list for each column.
fn list_options(_host: Host, _arguments: &Arguments<'_>, results: &Results<'_>) -> Result<(), String> {
    for option in OPTIONS {
        let named = |(name, about): (&str, &str)| in_python(&format!("{name}: {about}"));
        let names: Vec<String> = option.choices().into_iter().map(named).collect();
        let values = if names.is_empty() { option.values.to_owned() } else { names.join("\n") };
        let help = in_python(&format!("{}\n{}", option.summary, option.details));
        let row = [
            ("name", &python_name(option.name)[..]),
            ("values", &values),
            ("default", option.default),
            ("help", &help),
        ];
        row.iter().for_each(|(column, text)| results.append(column, text.trim_end()));
    }
    Ok(())
}
