//! The report of a run: one page that needs nothing else.

use super::plot::{Panel, svg};
use super::series::{Figure, Series};
use crate::svg::escaped;

const PANELS: &[Panel] = &[
    Panel {
        title: "Brightness: mean luminance (levels)",
        lines: &[(Figure::MeanBefore, "before", "before"), (Figure::MeanAfter, "after", "after")],
        from_zero: false,
    },
    Panel {
        title: "Contrast: standard deviation of luminance (levels)",
        lines: &[(Figure::DeviationBefore, "before", "before"), (Figure::DeviationAfter, "after", "after")],
        from_zero: false,
    },
    Panel {
        title: "Local contrast: EME, 8 x 8 blocks",
        lines: &[(Figure::EmeBefore, "before", "before"), (Figure::EmeAfter, "after", "after")],
        from_zero: false,
    },
    Panel {
        title: "Entropy of luminance (bits)",
        lines: &[(Figure::EntropyBefore, "before", "before"), (Figure::EntropyAfter, "after", "after")],
        from_zero: false,
    },
    Panel {
        title: "Largest slope of the curve (output levels an input level)",
        lines: &[(Figure::Slope, "slope", "after")],
        from_zero: true,
    },
    Panel {
        title: "Change of the curve from frame to frame (mean, levels)",
        lines: &[(Figure::CurveChange, "change", "after")],
        from_zero: true,
    },
    Panel {
        title: "Time a frame (milliseconds)",
        lines: &[
            (Figure::Decode, "decode", "third"),
            (Figure::Equalize, "equalize", "after"),
            (Figure::Encode, "encode", "before"),
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

/// The page of the video that `title` names.
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

/// The means over all frames.
fn table(series: &Series) -> String {
    let rows = [
        ("brightness", Figure::MeanBefore, Figure::MeanAfter, 1),
        ("contrast", Figure::DeviationBefore, Figure::DeviationAfter, 1),
        ("local contrast (EME)", Figure::EmeBefore, Figure::EmeAfter, 2),
        ("entropy", Figure::EntropyBefore, Figure::EntropyAfter, 2),
    ];
    let cell = |figure, decimals: usize| {
        series.mean(figure).map_or(String::new(), |mean| format!("<td>{mean:.decimals$}</td>"))
    };
    let rows = rows.map(|(name, before, after, decimals)| {
        format!("<tr><td>{name}</td>{}{}</tr>\n", cell(before, decimals), cell(after, decimals))
    });
    format!("<table>\n<tr><th>mean over all frames</th><th>before</th><th>after</th></tr>\n{}</table>\n", rows.concat())
}
