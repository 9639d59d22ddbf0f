//! `--unchanged`: videos that need no correction are copied, or skipped.

use crate::support::programs::program::{Dir, Run};
use serde_json::Value;

/// Three films: one that needs no correction, one with a dark end, and one that is dark.
fn films() -> Dir {
    let dir = Dir::new();
    std::fs::create_dir(dir.path("in")).expect("a folder");
    for (name, filter) in
        [("good", ""), ("late", ",lutyuv=y=(val-16)*0.3+16:enable=gte(t\\,1)"), ("dark", ",lutyuv=y=(val-16)*0.3+16")]
    {
        dir.ffmpeg(&format!(
            "-f lavfi -i testsrc2=size=320x240:rate=10:duration=2,format=yuv420p{filter} -c:v mpeg4 -q:v 4 {name}.avi"
        ));
        std::fs::rename(dir.path(format!("{name}.avi")), dir.path(format!("in/{name}.avi"))).expect("a file");
    }
    dir
}

#[test]
fn what_lacks_nothing_is_copied_to_the_byte_or_left_out_of_a_folder() {
    let dir = films();
    let good = dir.read("in/good.avi");
    let run = dir.succeeds("--backend cpu --unchanged copy --stats good.csv in/good.avi good.avi");
    run.says(&["nothing to correct", "; a copy of the input -> good.avi"]);
    assert_eq!(dir.read("good.avi"), good);
    assert_eq!(String::from_utf8(dir.read("good.csv")).expect("text").lines().count(), 21);
    dir.succeeds("--backend cpu --unchanged skip in/good.avi none.avi").says(&["; nothing was written (--unchanged"]);
    assert!(!dir.path("none.avi").exists());
    // One dark scene is corrected, so the whole film is encoded.
    let late = dir.succeeds("--backend cpu --unchanged copy in/late.avi late.avi").never_says("a copy of");
    late.says(&["-> late.avi"]);
    assert_ne!(dir.read("late.avi"), dir.read("in/late.avi"));
    // A copy replaces an existing file only with -y.
    dir.run("--backend cpu --unchanged copy in/good.avi late.avi").exits_with(10);
    dir.succeeds("--backend cpu --unchanged copy -y in/good.avi late.avi");
    assert_eq!(dir.read("late.avi"), good);

    let many = dir.succeeds("--backend cpu --unchanged copy --output-dir copies --progress json in");
    let events: Vec<Value> = many.stderr.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let unchanged = |input: &str| {
        let file = events.iter().find(|event| event["event"] == "file" && event["input"] == input);
        file.expect("an event")["unchanged"].clone()
    };
    assert_eq!(["in/good.avi", "in/dark.avi"].map(unchanged), ["copied".into(), Value::Null]);
    assert_eq!(dir.read("copies/good.avi"), good);
    assert_ne!(dir.read("copies/dark.avi"), dir.read("in/dark.avi"));
    dir.succeeds("--backend cpu --unchanged skip --output-dir others in").says(&["nothing to correct: skipped"]);
    let rest = dir.names().into_iter().filter(|name| name.starts_with("others/")).collect::<Vec<_>>();
    assert_eq!(rest, ["others/dark.avi", "others/late.avi"]);
    dir.succeeds("--backend cpu --output-dir encoded in");
    assert_ne!(dir.read("encoded/good.avi"), good);
}

#[test]
fn what_is_said_to_lack_nothing_stays_as_it_is_and_what_is_changed_a_little_is_no_copy() {
    let dir = Dir::new();
    for (name, least, most) in [("whole", 16, 235), ("most", 22, 227)] {
        let luma = format!("{least}+mod(37*X+101*Y\\,{})", most - least + 1);
        dir.ffmpeg(&format!(
            "-f lavfi -i nullsrc=size=160x120:rate=10:duration=1,format=yuv420p,geq=lum={luma}:cb=128:cr=128 -c:v ffv1 \
             {name}.mkv"
        ));
    }
    let encoded = |name: &str| {
        let said = dir.succeeds(&format!("--backend cpu --encoder ffv1 -y {name}.mkv out.mkv")).stderr;
        (said, dir.raw("out.mkv", "yuv420p") == dir.raw(&format!("{name}.mkv"), "yuv420p"))
    };
    let (said, is_same) = encoded("whole");
    assert!(said.starts_with("nothing to correct, so it looks as before") && is_same, "{is_same}: {said}");
    let (said, is_same) = encoded("most");
    assert!(
        said.starts_with("next to nothing to correct, so it looks much as before") && !is_same,
        "{is_same}: {said}"
    );
    dir.succeeds("--backend cpu --unchanged copy whole.mkv copy.mkv").says(&["a copy of the input"]);
    dir.succeeds("--backend cpu --unchanged copy most.mkv other.mkv").never_says("a copy of");
    assert_eq!(dir.read("copy.mkv"), dir.read("whole.mkv"));
    assert_ne!(dir.read("other.mkv"), dir.read("most.mkv"));
}

#[test]
fn a_copy_is_refused_where_it_would_be_another_file() {
    let dir = films();
    let refused = |line: &str| -> Run { dir.run(&format!("--backend cpu --unchanged copy {line}")).exits_with(2) };
    refused("in/good.avi out.mkv").says(&["needs an output whose name ends as that of the input"]);
    refused("--jobs 2 in/good.avi out.avi").says(&["does not go with --jobs"]);
    refused("- out.avi").says(&["is for files"]);
    for option in ["--start 1", "--set gray", "--for web", "--filter hflip", "--streams -a", "--target-size 1M"] {
        refused(&format!("{option} in/good.avi out.avi")).says(&["cannot be used with"]);
    }
    assert!(!dir.path("out.avi").exists() && !dir.path("out.mkv").exists());
}
