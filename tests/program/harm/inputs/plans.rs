//! Plans and pieces with a changed number: each ends in a film or in an error of one line, never in a panic.

use super::read_by_name::{planned, with_description, write};
use crate::support::programs::program::{Run, failed};
use serde_json::{Value, json};

/// Collects the JSON pointers of all numbers in a value. Of a list, only the first two elements are searched.
fn numbers(value: &Value, place: &str, found: &mut Vec<String>) {
    match value {
        Value::Number(_) => found.push(place.to_owned()),
        Value::Array(list) => {
            let elements = list.iter().take(2).enumerate();
            elements.for_each(|(index, value)| numbers(value, &format!("{place}/{index}"), found));
        }
        Value::Object(fields) => {
            fields.iter().for_each(|(key, value)| numbers(value, &format!("{place}/{key}"), found));
        }
        _ => {}
    }
}

/// Copies of `value` in each of which one number is changed, with a description of the change.
fn lies(value: &Value) -> Vec<(String, Value)> {
    let rest = [json!(0), json!(-1), json!(i64::MIN), json!(i64::MAX), json!(u64::MAX), json!(i32::MAX)];
    let mut places = Vec::new();
    numbers(value, "", &mut places);
    let lie = |place: &String, other: &Value| {
        let mut lie = value.clone();
        *lie.pointer_mut(place).expect("a number") = other.clone();
        (format!("{place} = {other}"), lie)
    };
    places.iter().flat_map(|place| rest.iter().map(move |other| lie(place, other))).collect()
}

#[track_caller]
fn ends_well(run: &Run, what: &str) {
    let ends = failed(run.code) || matches!(run.code, Some(0 | 2 | 65));
    assert!(ends && !run.stderr.contains("panicked"), "{what}: {:?} {}", run.code, run.stderr);
}

#[test]
fn a_plan_of_which_a_number_is_another_one_ends_in_a_line() {
    let (dir, plan) = planned();
    let (mut count, mut taken) = (0, 0);
    for (what, lie) in lies(&plan) {
        write(&dir, &lie);
        for command in ["status other.json", "run other.json --piece 1"] {
            let run = dir.run(command);
            ends_well(&run, &format!("{command}, {what}"));
            (count, taken) = (count + 1, taken + usize::from(run.code == Some(0)));
        }
        let _ = std::fs::remove_dir_all(dir.path(".out.mkv.pieces"));
    }
    assert!(count > 200 && taken > 0 && taken < count, "{taken} of {count}");
}

#[test]
fn a_piece_of_which_a_number_is_another_one_is_joined_or_refused() {
    let (dir, _) = planned();
    dir.succeeds("run plan.json");
    let piece = ".out.mkv.pieces/000001.piece";
    let whole = dir.read(piece);
    let (mut count, mut joined) = (0, 0);
    let described = with_description(&whole, lies);
    for (what, lie) in described {
        dir.write(piece, &lie);
        let run = dir.run("join plan.json -y --keep");
        ends_well(&run, &what);
        (count, joined) = (count + 1, joined + usize::from(run.code == Some(0)));
        let frames = if run.code == Some(0) { dir.frames("out.mkv").len() } else { 100 };
        assert_eq!(frames, 100, "{what}");
    }
    assert!(count > 50 && joined < count / 2, "{joined} of {count}");
}
