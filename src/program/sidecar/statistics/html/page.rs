//! The report of a run as a self-contained HTML page, collected in memory that does not grow with the length of the
//! video.

use super::levels::{FrameLevels, LevelColumns};
use super::scenes::{PicturedScenes, ScenePictures};
use super::series::Series;
use crate::sidecar::statistics::FrameRecord;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use histeq_media::sys::printable;
use serde_json::{Map, Value, json};

/// The content security policy: the page loads nothing and sends nothing.
const POLICY: &str = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'";

/// The contents of a page.
#[derive(Default)]
pub struct Page {
    title: String,
    /// The command line, and the settings by the names of their options.
    made_by: Option<(String, Map<String, Value>)>,
    series: Series,
    levels: LevelColumns,
    scenes: PicturedScenes,
}

impl Page {
    /// A page with this title.
    pub fn new(title: &str) -> Self {
        Page { title: title.to_owned(), ..Page::default() }
    }

    /// Adds how the video was made.
    pub fn describe(&mut self, command: String, settings: Map<String, Value>) {
        self.made_by = Some((command, settings));
    }

    /// Adds the next frame; `pictures` makes its JPEG files.
    pub fn add(&mut self, record: &FrameRecord, levels: &FrameLevels, pictures: impl FnOnce() -> [Vec<u8>; 2]) {
        self.series.add(record);
        self.levels.add(record, levels);
        self.scenes.add(record, pictures);
    }

    /// The page as HTML.
    pub fn html(&self) -> String {
        let Page { title, made_by, series, levels, scenes } = self;
        let title = escaped(title);
        let facts = facts(series);
        // Only numbers go into the script: a name could contain the end tag of the script.
        let data = json!({
            "unit": if series.timed { " s" } else { "" },
            "end": series.end,
            "points": series.packed(),
            "levels": levels.packed(),
        });
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
             <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <title>{title}</title>\n<style>{}</style>\n<h1>{title}</h1>\n<p>{facts}</p>\n{}{}{}\
             <div id=\"charts\"></div>\n\
             <noscript><p>The charts are missing: a script draws them, and scripts are switched off \
             here.</p></noscript>\n{}\
             <script type=\"application/json\" id=\"data\">{data}</script>\n<script>{}</script>\n</html>\n",
            include_str!("page.css"),
            made_by.as_ref().map_or(String::new(), |(command, _)| format!("<pre>{}</pre>\n", escaped(command))),
            table(series),
            pictures(scenes, series),
            made_by.as_ref().map_or(String::new(), |(_, settings)| list(settings)),
            include_str!("page.js"),
        )
    }
}

/// `text` with escapes for special characters of HTML, and for those that are invisible or change the text's direction.
fn escaped(text: &str) -> String {
    printable(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

fn facts(series: &Series) -> String {
    let cuts = series.points.iter().map(|point| point.cuts).sum();
    let flashes = series.points.iter().map(|point| point.flashes).sum();
    format!(
        "{}, {}, {}; histeq-video {}",
        counted(series.frames, "frame", "frames"),
        counted(cuts, "cut", "cuts"),
        counted(flashes, "flash", "flashes"),
        env!("CARGO_PKG_VERSION")
    )
}

/// The table of means over all frames.
fn table(series: &Series) -> String {
    let rows = [
        ("brightness", "mean", 1),
        ("contrast", "deviation", 1),
        ("local contrast (EME)", "eme", 2),
        ("entropy", "entropy", 2),
    ];
    let rows = rows.map(|(name, metric, decimals)| {
        let cell = |when| series.mean(&format!("{metric}_{when}")).map(|mean| format!("<td>{mean:.decimals$}</td>"));
        let cells: String = ["before", "after"].into_iter().filter_map(cell).collect();
        format!("<tr><td>{name}</td>{cells}</tr>\n")
    });
    format!("<table>\n<tr><th>mean over all frames</th><th>before</th><th>after</th></tr>\n{}</table>\n", rows.concat())
}

/// The pictures of the scenes as HTML; empty if there are none.
fn pictures(scenes: &PicturedScenes, series: &Series) -> String {
    let unit = if series.timed { " s" } else { "" };
    let cell = |scene: &ScenePictures| {
        let image = |(file, name): (&Vec<u8>, &str)| {
            format!("<img alt=\"{name}\" src=\"data:image/jpeg;base64,{}\">", STANDARD.encode(file))
        };
        let images: String = scene.files.iter().zip(["before", "after"]).map(image).collect();
        let (position, number) = (scene.at, scene.number + 1);
        format!("<button data-at=\"{position}\">{images}<span>scene {number}, {position:.2}{unit}</span></button>\n")
    };
    let shown: Vec<_> = scenes.kept.iter().filter(|scene| scene.files.iter().all(|file| !file.is_empty())).collect();
    if shown.is_empty() {
        return String::new();
    }
    let paragraph = match scenes.begun {
        all if all > shown.len() as u64 => format!("<p>{} of {all} scenes.</p>\n", shown.len()),
        _ => String::new(),
    };
    let cells: String = shown.into_iter().map(cell).collect();
    format!("<h2>Scenes, before and after</h2>\n{paragraph}<div class=\"scenes\">\n{cells}</div>\n")
}

/// The table of the settings.
fn list(settings: &Map<String, Value>) -> String {
    let row = |(name, value): (&String, &Value)| {
        let value = value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
        format!("<tr><td>{}</td><td>{}</td></tr>\n", escaped(name), escaped(&value))
    };
    let given = settings.iter().filter(|(_, value)| !value.is_null());
    format!("<h2>Settings</h2>\n<table class=\"settings\">\n{}</table>\n", given.map(row).collect::<String>())
}
