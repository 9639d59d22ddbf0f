//! The report of a run as a self-contained HTML page, collected in memory that does not grow with the length of the video.

use super::FrameRecord;
use super::chart::{MetricChart, of_metrics};
use super::level_charts;
use super::levels::{FrameLevels, LevelColumns};
use super::scenes::{ScenePictures, Scenes};
use super::series::{Metric, Series};
use anyhow::Result;
use base64::{Engine, engine::general_purpose::STANDARD};
use histeq_media::svg::escaped;
use serde_json::{Map, Value, json};

const CHARTS: &[MetricChart] = &[
    MetricChart {
        title: "Brightness: mean luminance (levels)",
        lines: &[(Metric::MeanBefore, "before", "before"), (Metric::MeanAfter, "after", "after")],
        from_zero: false,
    },
    MetricChart {
        title: "Contrast: standard deviation of luminance (levels)",
        lines: &[(Metric::DeviationBefore, "before", "before"), (Metric::DeviationAfter, "after", "after")],
        from_zero: false,
    },
    MetricChart {
        title: "Local contrast: EME, 8 x 8 blocks",
        lines: &[(Metric::EmeBefore, "before", "before"), (Metric::EmeAfter, "after", "after")],
        from_zero: false,
    },
    MetricChart {
        title: "Entropy of luminance (bits)",
        lines: &[(Metric::EntropyBefore, "before", "before"), (Metric::EntropyAfter, "after", "after")],
        from_zero: false,
    },
    MetricChart { title: "Gain of the stretched levels", lines: &[(Metric::Gain, "gain", "after")], from_zero: true },
    MetricChart {
        title: "Largest slope of the curve (output levels an input level)",
        lines: &[(Metric::Slope, "slope", "after")],
        from_zero: true,
    },
    MetricChart {
        title: "Change of the curve from frame to frame (mean, levels)",
        lines: &[(Metric::CurveChange, "change", "after")],
        from_zero: true,
    },
    MetricChart {
        title: "Time a frame (milliseconds)",
        lines: &[
            (Metric::Decode, "decode", "third"),
            (Metric::Equalize, "equalize", "after"),
            (Metric::Encode, "encode", "before"),
        ],
        from_zero: true,
    },
];

/// The page may load nothing, and send nothing.
const POLICY: &str = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'";

/// What a page has of a run.
#[derive(Default)]
pub struct Page {
    title: String,
    /// The command line, and the settings by the names of their options.
    told: Option<(String, Map<String, Value>)>,
    series: Series,
    levels: LevelColumns,
    scenes: Scenes,
}

impl Page {
    /// A page with this title.
    pub fn new(title: &str) -> Self {
        Page { title: title.to_owned(), ..Page::default() }
    }

    /// Says how the video was made.
    pub fn tell(&mut self, command: String, settings: Map<String, Value>) {
        self.told = Some((command, settings));
    }

    /// Adds the next frame; `pictures` makes its JPEG files.
    pub fn add(&mut self, record: &FrameRecord, levels: &FrameLevels, pictures: impl FnOnce() -> [Vec<u8>; 2]) {
        self.series.add(record);
        self.levels.add(record, levels);
        self.scenes.add(record, pictures);
    }

    /// The page.
    ///
    /// # Errors
    /// When a picture cannot be encoded.
    pub fn html(&self) -> Result<String> {
        let Page { title, told, series, levels, scenes } = self;
        let title = escaped(title);
        let facts = facts(series);
        let charts: String = if series.points().is_empty() {
            String::new()
        } else {
            CHARTS.iter().map(|chart| of_metrics(chart, series)).collect()
        };
        let data = json!({
            "unit": if series.timed { " s" } else { "" },
            "end": series.end,
            "points": series.packed(),
            "levels": levels.packed(),
        });
        Ok(format!(
            "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
             <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <title>{title}</title>\n<style>{}</style>\n<h1>{title}</h1>\n<p>{facts}</p>\n{}{}{}\
             <h2>Levels</h2>\n{}\
             <h2>Measurements</h2>\n{charts}\
             <p>Dashed lines are cuts, yellow ones the ends of flashes. Across is time in {}. Where a point stands for several \
             frames, the line is their mean and the band goes from the lowest to the highest. Levels are those of the \
             video's own depth.</p>\n{}\
             <script type=\"application/json\" id=\"data\">{data}</script>\n<script>{}</script>\n</html>\n",
            include_str!("page.css"),
            told.as_ref().map_or(String::new(), |(command, _)| format!("<pre>{}</pre>\n", escaped(command))),
            table(series),
            pictures(scenes, series),
            level_part(levels, series)?,
            if series.timed { "seconds" } else { "frames" },
            told.as_ref().map_or(String::new(), |(_, settings)| list(settings)),
            include_str!("page.js"),
        ))
    }
}

/// The charts of levels; nothing without frames.
fn level_part(levels: &LevelColumns, series: &Series) -> Result<String> {
    if levels.levels().is_none() {
        return Ok(String::new());
    }
    let curves = if levels.has_curves() {
        ""
    } else {
        "<p>Curves are not drawn: with this method, a frame has several curves or none.</p>\n"
    };
    let hint = "<p>Of all frames, and of one moment under the pointer or finger. A click keeps the moment, Escape lets it go.</p>\n";
    Ok(format!("{hint}{}{curves}", level_charts::charts(levels, series)?))
}

fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

fn facts(series: &Series) -> String {
    let cuts = series.points().iter().map(|point| point.cuts).sum();
    let flashes = series.points().iter().map(|point| point.flashes).sum();
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
        ("brightness", Metric::MeanBefore, Metric::MeanAfter, 1),
        ("contrast", Metric::DeviationBefore, Metric::DeviationAfter, 1),
        ("local contrast (EME)", Metric::EmeBefore, Metric::EmeAfter, 2),
        ("entropy", Metric::EntropyBefore, Metric::EntropyAfter, 2),
    ];
    let cell = |metric, decimals: usize| {
        series.mean(metric).map_or(String::new(), |mean| format!("<td>{mean:.decimals$}</td>"))
    };
    let rows = rows.map(|(name, before, after, decimals)| {
        format!("<tr><td>{name}</td>{}{}</tr>\n", cell(before, decimals), cell(after, decimals))
    });
    format!("<table>\n<tr><th>mean over all frames</th><th>before</th><th>after</th></tr>\n{}</table>\n", rows.concat())
}

/// The pictures of the scenes; nothing without any.
fn pictures(scenes: &Scenes, series: &Series) -> String {
    let unit = if series.timed { " s" } else { "" };
    let cell = |scene: &ScenePictures| {
        let image = |(file, name): (&Vec<u8>, &str)| {
            format!("<img alt=\"{name}\" src=\"data:image/jpeg;base64,{}\">", STANDARD.encode(file))
        };
        let images: String = scene.files.iter().zip(["before", "after"]).map(image).collect();
        let (at, number) = (scene.at, scene.number + 1);
        format!("<button data-at=\"{at}\">{images}<span>scene {number}, {at:.2}{unit}</span></button>\n")
    };
    let shown: Vec<_> = scenes.kept().iter().filter(|scene| scene.files.iter().all(|file| !file.is_empty())).collect();
    if shown.is_empty() {
        return String::new();
    }
    let of = match scenes.begun() {
        all if all > shown.len() as u64 => format!("<p>{} of {all} scenes.</p>\n", shown.len()),
        _ => String::new(),
    };
    let cells: String = shown.into_iter().map(cell).collect();
    format!("<h2>Scenes, before and after</h2>\n{of}<div class=\"scenes\">\n{cells}</div>\n")
}

/// The settings that hold.
fn list(settings: &Map<String, Value>) -> String {
    let row = |(name, value): (&String, &Value)| {
        let value = value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
        format!("<tr><td>{}</td><td>{}</td></tr>\n", escaped(name), escaped(&value))
    };
    let given = settings.iter().filter(|(_, value)| !value.is_null());
    format!("<h2>Settings</h2>\n<table class=\"settings\">\n{}</table>\n", given.map(row).collect::<String>())
}
