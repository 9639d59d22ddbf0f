//! The report of a run as a self-contained HTML page.

use super::plot::{MetricPanel, svg};
use super::series::{Metric, Series};
use crate::svg::escaped;

const PANELS: &[MetricPanel] = &[
    MetricPanel {
        title: "Brightness: mean luminance (levels)",
        lines: &[(Metric::MeanBefore, "before", "before"), (Metric::MeanAfter, "after", "after")],
        from_zero: false,
    },
    MetricPanel {
        title: "Contrast: standard deviation of luminance (levels)",
        lines: &[(Metric::DeviationBefore, "before", "before"), (Metric::DeviationAfter, "after", "after")],
        from_zero: false,
    },
    MetricPanel {
        title: "Local contrast: EME, 8 x 8 blocks",
        lines: &[(Metric::EmeBefore, "before", "before"), (Metric::EmeAfter, "after", "after")],
        from_zero: false,
    },
    MetricPanel {
        title: "Entropy of luminance (bits)",
        lines: &[(Metric::EntropyBefore, "before", "before"), (Metric::EntropyAfter, "after", "after")],
        from_zero: false,
    },
    MetricPanel { title: "Gain of the stretched levels", lines: &[(Metric::Gain, "gain", "after")], from_zero: true },
    MetricPanel {
        title: "Largest slope of the curve (output levels an input level)",
        lines: &[(Metric::Slope, "slope", "after")],
        from_zero: true,
    },
    MetricPanel {
        title: "Change of the curve from frame to frame (mean, levels)",
        lines: &[(Metric::CurveChange, "change", "after")],
        from_zero: true,
    },
    MetricPanel {
        title: "Time a frame (milliseconds)",
        lines: &[
            (Metric::Decode, "decode", "third"),
            (Metric::Equalize, "equalize", "after"),
            (Metric::Encode, "encode", "before"),
        ],
        from_zero: true,
    },
];

const STYLE: &str = "\
body{font:15px/1.5 system-ui,sans-serif;max-width:1040px;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}\
h1{font-size:1.3rem;margin:0;overflow-wrap:anywhere}p{margin:.3rem 0;color:#555}\
table{border-collapse:collapse;margin:1rem 0}td,th{padding:.15rem 1.5rem .15rem 0;text-align:right;font-weight:400}\
th:first-child,td:first-child{text-align:left}th{color:#777}td{font-variant-numeric:tabular-nums}svg{width:100%}\
@media(prefers-color-scheme:dark){body{color:#eee;background:#181818}p,th{color:#aaa}}";

/// The page, with the title `title`.
pub fn page(title: &str, series: &Series) -> String {
    let title = escaped(title);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n<h1>{title}</h1>\n<p>{}</p>\n{}{}\
         <p>Dashed lines are cuts, triangles the ends of flashes. Where a point stands for several frames, the line is \
         their mean and the band goes from the lowest to the highest. Levels are those of the video's own depth.</p>\n\
         </html>\n",
        facts(series),
        table(series),
        svg(PANELS, series)
    )
}

fn facts(series: &Series) -> String {
    let counted = |count: u64, one: &str, many: &str| format!("{count} {}", if count == 1 { one } else { many });
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
