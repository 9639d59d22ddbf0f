//! `--stats`: a record for each frame, as CSV, as lines of JSON, or as an HTML page.

use crate::support::media::reader::encoder_is_here;
use crate::support::programs::program::{Dir, Run, usage_error};
use crate::support::skip::is_here;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

#[test]
fn pictures_of_the_page_have_the_colours_of_hd_video() {
    let dir = Dir::new();
    dir.ffmpeg(
        "-f lavfi -i color=0xc83c28:size=1280x720:rate=25,format=gbrp,scale=out_color_matrix=bt709:out_range=tv,\
         format=yuv420p,setparams=colorspace=bt709:range=tv -frames:v 2 -colorspace bt709 -color_range tv -c:v ffv1 \
         in.mkv",
    );
    dir.succeeds("--backend cpu --strength 0 --stats s.html --encoder ffv1 in.mkv out.mkv");
    let page = page(&dir, "s.html");
    let picture = page.split("src=\"data:image/jpeg;base64,").nth(1).and_then(|rest| rest.split('"').next());
    dir.write("shown.jpg", &STANDARD.decode(picture.expect("a picture")).expect("base64"));
    let shown = dir.raw("shown.jpg", "rgb24");
    let off = shown[..3].iter().zip([0xc8_u8, 0x3c, 0x28]).map(|(is, was)| is.abs_diff(was)).max();
    assert!(off <= Some(4), "{:?}", &shown[..3]);
}

/// Twenty dark, twenty bright and twenty dark frames, each of them a gradient.
fn two_scenes(dir: &Dir) {
    let gray = "nullsrc=size=64x48:rate=25,format=gray,geq=lum=";
    dir.ffmpeg(&format!(
        "-f lavfi -i {gray}'if(between(N\\,20\\,39)\\,190+X/2\\,20+X/2)' -frames:v 60 -c:v ffv1 in.mkv"
    ));
}

fn records(dir: &Dir, file: &str) -> Vec<Value> {
    let text = String::from_utf8(dir.read(file)).expect("text");
    text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}

fn number(record: &Value, key: &str) -> f64 {
    record[key].as_f64().unwrap_or_else(|| panic!("{key} in {record}"))
}

#[test]
fn a_record_a_frame_says_what_was_done_to_it() {
    let dir = Dir::new();
    two_scenes(&dir);
    dir.succeeds("--levels 1 --strength 1 --max-gain 3 --stats s.jsonl --encoder ffv1 in.mkv out.mkv");
    let records = records(&dir, "s.jsonl");
    assert_eq!(records.len(), 60);
    let cuts: Vec<usize> = (0..60).filter(|&frame| records[frame]["cut"] == true).collect();
    assert_eq!(cuts, [20, 40]);
    assert_eq!(records[39]["scene"], 1);
    for (frame, record) in records.iter().enumerate() {
        assert_eq!(record["frame"], frame);
        assert!((number(record, "time") - frame as f64 / 25.0).abs() < 1e-3, "{record}");
        // Each gradient has 32 levels, in two columns each.
        let black = if (20..40).contains(&frame) { 190.0 } else { 20.0 };
        assert_eq!(number(record, "mean_before"), black + 15.5);
        assert_eq!(number(record, "entropy_before"), 5.0);
        assert!(number(record, "deviation_after") > number(record, "deviation_before"));
        assert!(number(record, "eme_after") >= 0.0);
        let moved = number(record, "mean_after") - number(record, "mean_before");
        assert!((number(record, "ambe") - moved.abs()).abs() < 1e-5, "{record}");
        assert!((1.0..=4.0).contains(&number(record, "slope")), "{record}");
        assert!(["decode_ms", "equalize_ms", "encode_ms"].iter().all(|key| number(record, key) >= 0.0));
        assert_eq!(number(record, "curve_change") > 0.0, frame == 20 || frame == 40, "{record}");
    }
}

#[test]
fn with_clahe_slope_and_change_are_those_of_all_tiles() {
    let dir = Dir::new();
    two_scenes(&dir);
    dir.succeeds(
        "--method clahe --levels 1 --set tiles=2x2 --max-gain 3 --stats s.jsonl --encoder ffv1 in.mkv out.mkv",
    );
    let records = records(&dir, "s.jsonl");
    for (frame, record) in records.iter().enumerate() {
        // A tile of a gradient has few, adjacent levels, so every tile is stretched to the limit.
        assert!((2.0..=4.0).contains(&number(record, "slope")), "{record}");
        assert_eq!(number(record, "curve_change") > 0.0, frame == 20 || frame == 40, "{record}");
    }
}

#[test]
fn what_is_recorded_is_what_is_in_the_files() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=66x50:rate=25,format=yuv444p,crop=65:49 -frames:v 8 -c:v ffv1 in.mkv");
    dir.succeeds("--roi 3,5,20,20 --stats s.jsonl --encoder ffv1 in.mkv out.mkv");
    for (file, key) in [("in.mkv", "mean_before"), ("out.mkv", "mean_after")] {
        let luma = dir.raw(file, "yuv444p");
        let frame_bytes = 3 * 65 * 49;
        for (frame, record) in luma.chunks_exact(frame_bytes).zip(records(&dir, "s.jsonl")) {
            let sum: f64 = frame[..65 * 49].iter().map(|&code| f64::from(code.clamp(16, 235))).sum();
            assert!((number(&record, key) - sum / (65.0 * 49.0)).abs() < 1e-5, "{file}: {record}");
        }
    }
}

#[test]
fn the_output_does_not_depend_on_being_observed() {
    let dir = Dir::new();
    two_scenes(&dir);
    dir.succeeds("--encoder ffv1 in.mkv plain.mkv");
    dir.succeeds("--stats s.csv --encoder ffv1 in.mkv observed.mkv");
    assert!(dir.raw("plain.mkv", "gray") == dir.raw("observed.mkv", "gray"));
}

#[test]
fn a_table_has_a_line_of_names_and_a_line_a_frame() {
    let dir = Dir::new();
    two_scenes(&dir);
    dir.succeeds("--stats s.CSV --encoder ffv1 in.mkv out.mkv");
    let text = String::from_utf8(dir.read("s.CSV")).expect("text");
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), 61);
    assert_eq!(rows[0][..6], ["frame", "time", "scene", "cut", "after_flash", "mean_before"]);
    assert!(rows.iter().all(|row| row.len() == rows[0].len()));
    assert_eq!(rows[21][..4], ["20", "0.8", "1", "true"]);
}

#[test]
fn a_page_has_everything_and_needs_nothing_else() {
    let dir = Dir::new();
    two_scenes(&dir);
    let name = "a<b&\"c.mkv";
    std::fs::rename(dir.path("in.mkv"), dir.path(name)).expect("a file to rename");
    dir.succeeds(&format!("--levels 1 --strength 1 --max-gain 3 --stats s.html --encoder ffv1 {name} out.mkv"));
    let page = page(&dir, "s.html");
    for text in [
        "a&lt;b&amp;\"c.mkv",
        "60 frames, 2 cuts, 0 flashes",
        "<td>brightness</td><td>92.2</td>",
        "<noscript>",
        "</html>",
        "--stats s.html --encoder ffv1 'a&lt;b&amp;\"c.mkv' out.mkv</pre>",
        "<td>max-gain</td><td>3.0</td>",
        "width=device-width",
    ] {
        assert!(page.contains(text), "{text} in {page}");
    }
    assert!(
        !page.contains("a<b") && !page.contains("://") && !page.contains("href") && !page.contains("NaN"),
        "{page}"
    );
    // The page has two pictures of each scene.
    assert_eq!((page.matches("src=\"data:image/jpeg;base64,").count(), page.matches("src=").count()), (6, 6));
    let data = data(&page);
    let (points, levels) = (&data["points"], &data["levels"]);
    let brightness = &points["mean"]["mean_before"];
    assert_eq!((&brightness[0], &brightness[20], &points["low"]), (&35.5.into(), &205.5.into(), &Value::Null));
    assert_eq!((&points["cut"], &points["flash"]), (&json!([0.8, 1.6]), &json!([])));
    let metrics = points["mean"].as_object().expect("metrics");
    assert_eq!(metrics.len(), 14);
    assert!(metrics.values().all(|values| values.as_array().is_some_and(|values| values.len() == 60)), "{points}");
    let bytes = |layer: &str| STANDARD.decode(levels[layer].as_str().expect("bytes")).expect("base64");
    let bins = levels["bins"].as_u64().expect("bins") as usize;
    assert_eq!((bins, bytes("before").len(), levels["at"].as_array().map(Vec::len)), (256, 60 * 256, Some(60)));
    // Each of 32 levels has 1/32 of the samples. A share is stored as 255 times its square root, here 45.
    let first = &bytes("before")[..bins];
    assert!(first.iter().enumerate().all(|(level, &byte)| byte == if (20..52).contains(&level) { 45 } else { 0 }));
    // Each input level has samples at the output level that the curve maps it to.
    let (after, curve) = (bytes("after"), bytes("curve"));
    assert!((20..52).all(|level| after[usize::from(curve[level])] > 0), "{curve:?}");
    // The histogram of the whole video, of which two thirds are dark.
    let all = &levels["all"];
    assert_eq!((&all["before"][20], &all["before"][190]), (&0.020833.into(), &0.010417.into()));
    assert_eq!((all["after"].as_array().map(Vec::len), all["curve"].as_array().map(Vec::len)), (Some(256), Some(256)));
}

#[test]
fn a_page_of_frames_without_one_curve_has_what_there_is() {
    let dir = Dir::new();
    two_scenes(&dir);
    for options in ["--method clahe", "--look haze"] {
        dir.succeeds(&format!("-y {options} --stats s.html --encoder ffv1 in.mkv out.mkv"));
        let levels = &data(&page(&dir, "s.html"))["levels"];
        assert!(levels["before"].is_string() && levels["curve"].is_null(), "{options}: {levels}");
        assert_eq!(levels["all"]["curve"], json!([]), "{options}");
    }
}

#[test]
fn a_page_of_pieces_is_that_of_one_run() {
    let dir = Dir::new();
    // Scenes of 40, 7 and 73 frames. With pieces of 1.72 s, the first scene ends 3 frames before the second piece.
    let colours = r"if(lt(N\,40)\,60+X\,if(lt(N\,47)\,150-X\,90+X/2))";
    dir.ffmpeg(&format!(
        "-f lavfi -i nullsrc=s=64x48:r=25,geq=lum='{colours}':cb=128:cr=128 -frames:v 120 -c:v ffv1 in.mkv"
    ));
    // The contents of the page: levels, pictures of scenes, and the values that do not depend on processing times.
    let drawn = |command: &str| {
        let page = page(&dir, "s.html");
        let data = data(&page);
        let scenes = page.split("<h2>Scenes").nth(1).and_then(|rest| rest.split("<h2>").next()).expect("scenes");
        let settings =
            page.split("<h2>Settings").nth(1).and_then(|rest| rest.split("</table>").next()).expect("settings");
        assert!(page.contains(&format!("<pre>{command}")), "{page:.3000}");
        assert_eq!(scenes.matches("<img").count(), 6, "{scenes}");
        (data["levels"].clone(), data["end"].clone(), scenes.to_owned(), settings.to_owned())
    };
    let options = "--backend cpu --method global --set chroma=keep --stats s.html --encoder ffv1";
    dir.succeeds(&format!("in.mkv one.mkv {options}"));
    let one = drawn("histeq-video in.mkv one.mkv --backend cpu");
    assert!(one.0["curve"].is_string(), "{}", one.0);
    for piece in ["1.72", "1.2"] {
        dir.write("plan.json", &dir.succeeds(&format!("plan -y --piece {piece} in.mkv out.mkv {options}")).stdout);
        dir.succeeds("run plan.json --jobs 2");
        dir.succeeds("join -y plan.json");
        assert!(one == drawn("histeq-video plan -y --piece"), "pieces of {piece} s");
    }
    dir.succeeds(&format!("in.mkv jobs.mkv --jobs 2 -y {options}"));
    assert!(one == drawn("histeq-video in.mkv jobs.mkv --jobs 2 -y --backend cpu"));
}

#[test]
fn a_page_of_deep_video_has_wider_bins() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -pix_fmt yuv420p10le -frames:v 5 -c:v ffv1 in.mkv");
    dir.succeeds("--stats s.html --encoder ffv1 in.mkv out.mkv");
    let data = data(&page(&dir, "s.html"));
    assert_eq!((&data["levels"]["bins"], &data["levels"]["width"]), (&220.into(), &4.into()));
}

fn page(dir: &Dir, name: &str) -> String {
    String::from_utf8(dir.read(name)).expect("text")
}

fn data(page: &str) -> Value {
    let data = page.split("id=\"data\">").nth(1).and_then(|rest| rest.split("</script>").next());
    serde_json::from_str(data.expect("the data")).expect("JSON")
}

#[test]
fn an_image_has_one_record() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48 -frames:v 1 -update 1 in.png");
    dir.succeeds("--stats s.jsonl in.png out.png");
    dir.succeeds("-y --stats s.html in.png out.png");
    assert_eq!(records(&dir, "s.jsonl").len(), 1);
    assert_eq!(data(&page(&dir, "s.html"))["points"]["at"].as_array().map(Vec::len), Some(1));
}

#[test]
fn a_reader_that_goes_away_leaves_whole_records() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=320x240:rate=25 -frames:v 50 -c:v ffv1 in.mkv");
    let line = format!(
        "{} -q --stats s.jsonl in.mkv - | head -c 300000 > /dev/null",
        crate::support::programs::program::program().display()
    );
    let status = std::process::Command::new("sh").args(["-c", &line]).current_dir(dir.path("")).status();
    assert!(status.expect("a shell").success());
    // The program may end shortly after the reader of its output.
    for _ in 0..500 {
        if dir.path("s.jsonl").exists() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert!((1..=50).contains(&records(&dir, "s.jsonl").len()));
}

#[test]
fn other_names_are_usage_errors() {
    for name in ["s.txt", "s", "csv", "out.mkv"] {
        usage_error(&format!("--stats {name} in.mkv out.mkv")).says(&["--stats"]);
    }
}

#[test]
fn a_file_that_exists_is_only_overwritten_when_told_so() {
    let dir = Dir::new();
    two_scenes(&dir);
    dir.write("s.csv", b"precious");
    dir.run("--stats s.csv in.mkv out.mkv").fails().says(&["s.csv exists", "-y"]);
    assert_eq!((dir.read("s.csv"), dir.names()), (b"precious".to_vec(), vec!["in.mkv".into(), "s.csv".into()]));
    dir.run("--stats no/s.csv in.mkv out.mkv").fails().says(&["there is no folder no"]);
    dir.succeeds("-y --stats s.csv in.mkv out.mkv");
    assert!(dir.read("s.csv").starts_with(b"frame,"));
    assert_eq!(dir.names(), ["in.mkv", "out.mkv", "s.csv"]);
}

#[test]
fn a_run_that_fails_leaves_no_records() {
    let dir = Dir::new();
    two_scenes(&dir);
    dir.run("--stats s.csv in.mkv out.png").fails();
    assert_eq!(dir.names(), ["in.mkv"]);
}

#[test]
fn an_interrupted_run_leaves_the_records_of_what_was_equalized() {
    if !encoder_is_here("interrupting", "libx264") {
        return;
    }
    let dir = Dir::new();
    // Without look-ahead, the encoder holds no frames that a busy machine could not finish in time.
    let line = "OPTIONS --encoder-option tune=zerolatency --stats s.jsonl long.mkv out.mkv";
    let (code, said) = crate::program::outputs::interrupt::interrupted(&dir, line);
    assert_eq!(code, Some(130), "{said}");
    assert_eq!(dir.names(), ["long.mkv", "out.partial.mkv", "s.partial.jsonl"]);
    assert_eq!(records(&dir, "s.partial.jsonl").len(), dir.frames("out.partial.mkv").len());
}

#[test]
fn levels_that_are_stretched_are_told_with_their_gain() {
    let dir = Dir::new();
    dir.ffmpeg(
        "-f lavfi -i testsrc2=size=128x96:rate=25 -vf format=yuv420p,lutyuv=y=90+(val-16)/3:u=128:v=128 -frames:v 30 -c:v ffv1 in.mkv",
    );
    dir.succeeds("--method global --stats s.jsonl --encoder ffv1 in.mkv out.mkv");
    for record in records(&dir, "s.jsonl") {
        let (low, high) = (number(&record, "low"), number(&record, "high"));
        // The levels count from black; the colours extend beyond the luma.
        assert!((0.0..100.0).contains(&low) && (130.0..=219.0).contains(&high) && low < high, "{record}");
        let gain = number(&record, "gain");
        assert!((1.2..=225.0 / (high - low)).contains(&gain), "{record}");
    }
    dir.succeeds("--exact --stats s.jsonl --encoder ffv1 -y in.mkv out.mkv");
    for record in records(&dir, "s.jsonl") {
        assert!(record["low"].is_null() && record["high"].is_null() && record["gain"] == 1.0, "{record}");
    }
    dir.succeeds("--look haze --stats s.csv --encoder ffv1 -y in.mkv out.mkv");
    let table = String::from_utf8(dir.read("s.csv")).unwrap();
    let columns: Vec<&str> = table.lines().next().unwrap().split(',').collect();
    let index = columns.iter().position(|name| *name == "gain").expect("a column");
    assert!(
        table.lines().skip(1).all(|line| line.split(',').nth(index).unwrap().parse::<f64>().unwrap() > 1.0),
        "{table}"
    );
}

#[test]
fn what_a_frame_lacks_is_in_its_record_by_name() {
    let dir = Dir::new();
    let picture = "format=yuv420p,lutyuv=y=18+val/8:u=100:v=150,noise=alls=12:allf=t";
    dir.ffmpeg(&format!("-f lavfi -i smptebars=size=160x120:rate=25 -vf {picture} -frames:v 20 -c:v ffv1 in.mkv"));
    let line = "--backend cpu --stats s.jsonl --stats s.csv --progress json --encoder ffv1 in.mkv out.mkv";
    let said = dir.succeeds(line).stderr;
    let result: Value = serde_json::from_str(said.lines().last().expect("an event")).expect("JSON");
    let found = result["found"].as_object().expect("an object");
    let (records, table) = (records(&dir, "s.jsonl"), String::from_utf8(dir.read("s.csv")).expect("text"));
    let columns: Vec<&str> = table.lines().next().expect("names").split(',').collect();
    for (name, of_all) in found {
        let key = format!("found_{name}");
        let mean = records.iter().map(|record| number(record, &key)).sum::<f64>() / records.len() as f64;
        assert!((mean - of_all.as_f64().expect("a number")).abs() < 0.006, "{name}: {mean}, not {of_all}");
        let index = columns.iter().position(|column| *column == key).unwrap_or_else(|| panic!("{key} in {columns:?}"));
        let first = table.lines().nth(1).and_then(|line| line.split(',').nth(index)).expect("a value");
        assert_eq!(first.parse::<f64>().ok(), records[0][&key].as_f64(), "{name}");
    }
    assert!(found["exposure"].as_f64() > Some(1.5) && found["noise"].as_f64() > Some(0.9), "{found:?}");
    dir.succeeds("--backend cpu --exact --stats s.jsonl --stats s.csv --encoder ffv1 -y in.mkv out.mkv");
    assert!(self::records(&dir, "s.jsonl").iter().all(|record| record["found_dark"].is_null()));
}

#[test]
fn records_go_to_stdout_and_count_the_levels_that_became_one() {
    let dir = Dir::new();
    two_scenes(&dir);
    let run = dir.succeeds("--exact --stats - --output-format null in.mkv");
    let text = String::from_utf8(run.stdout).expect("text");
    let records: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(records.len(), 60);
    // Equalization merges none of the few levels.
    assert!(records.iter().all(|record| record["merged"] == 0), "{}", records[0]);
    // The curve maps 32 levels to 8, or to 9 if the first level is no multiple of four.
    dir.write("c.jsonl", &coarse_curve());
    dir.succeeds("--load-curves c.jsonl --stats s.jsonl --encoder ffv1 in.mkv out.mkv");
    let records = self::records(&dir, "s.jsonl");
    assert_eq!((&records[0]["merged"], &records[30]["merged"]), (&24.into(), &23.into()));
    dir.run("--stats - --encoder ffv1 in.mkv -").exits_with(2).says(&["--stats and the output are two files"]);
    let clahe = dir.succeeds("--method clahe --stats - --output-format null in.mkv");
    assert!(String::from_utf8_lossy(&clahe.stdout).contains("\"merged\":null"));
}

/// A curve that maps each four levels to one.
fn coarse_curve() -> Vec<u8> {
    let codes: Vec<String> = (0..256_u32).map(|code| (code / 4 * 4).to_string()).collect();
    let header = "{\"histeq_curves\":1,\"depth\":8,\"range\":\"full\"}";
    format!("{header}\n{{\"frame\":0,\"lut\":[{}]}}\n", codes.join(",")).into_bytes()
}

#[test]
fn what_the_page_says_in_python_counts_the_histograms_that_were_measured() {
    let dir = Dir::new();
    two_scenes(&dir);
    dir.run("--stats h.npz in.mkv out.mkv").exits_with(2).says(&["not h.npz", "extractplanes=y"]);
    if !is_here("python3") {
        return;
    }
    dir.succeeds("--backend cpu --exact --stats s.jsonl --encoder ffv1 in.mkv out.mkv");
    let page = std::fs::read_to_string("docs/statistics.md").expect("the page");
    let lines = page.split("```python\n").nth(1).and_then(|rest| rest.split("```").next()).expect("lines of Python");
    let check = "
import json

records = [json.loads(line) for line in open('s.jsonl')]
for name, key in ('in.mkv', 'mean_before'), ('out.mkv', 'mean_after'):
    counted = list(histograms(name, 64 * 48))
    assert len(counted) == len(records) == 60
    for counts, record in zip(counted, records):
        assert sum(counts) == 64 * 48
        mean = sum(code * count for code, count in enumerate(counts)) / (64 * 48)
        assert abs(mean - record[key]) < 0.001, (name, mean, record)
";
    dir.write("check.py", format!("{lines}{check}").as_bytes());
    Run::from_command(&mut dir.other_command("python3", "check.py"), "check.py").exits_with(0);
}

#[test]
fn several_files_have_the_same_measurements() {
    let dir = Dir::new();
    two_scenes(&dir);
    let all = "--stats a.csv --stats b.html --stats c.jsonl";
    dir.succeeds(&format!("--backend cpu {all} --encoder ffv1 in.mkv out.mkv"));
    assert_eq!(dir.names(), ["a.csv", "b.html", "c.jsonl", "in.mkv", "out.mkv"]);
    let table = String::from_utf8(dir.read("a.csv")).expect("text");
    let records = records(&dir, "c.jsonl");
    assert_eq!((table.lines().count(), records.len()), (61, 60));
    let column = table.lines().next().and_then(|head| head.split(',').position(|name| name == "mean_before"));
    let column = column.expect("a column");
    for (row, record) in table.lines().skip(1).zip(&records) {
        let mean: f64 = row.split(',').nth(column).and_then(|mean| mean.parse().ok()).expect("a number");
        assert_eq!(mean, number(record, "mean_before"));
    }
    assert!(String::from_utf8(dir.read("b.html")).expect("text").contains("60 frames"));
    usage_error("--stats a.csv --stats a.csv in.mkv out.mkv").says(&["--stats names a.csv twice"]);
    // The measurements of pieces are joined into the same kinds of files.
    dir.succeeds("-y --backend cpu --jobs 2 --stats e.csv --stats f.html --encoder ffv1 in.mkv joined.mkv");
    assert_eq!(String::from_utf8(dir.read("e.csv")).expect("text").lines().count(), 61);
    assert!(String::from_utf8(dir.read("f.html")).expect("text").contains("60 frames"));
}
