//! Times of live frames.

use histeq_media::source::live::LiveClock;
use std::time::{Duration, Instant};

#[test]
fn times_are_the_cameras_own_as_long_as_they_agree_with_the_wall_clock() {
    let (mut clock, begin) = (LiveClock::default(), Instant::now());
    let value_at = |milliseconds| begin + Duration::from_millis(milliseconds);
    assert_eq!(clock.time(Some(5_000_000), value_at(0)), 0);
    assert_eq!(clock.time(Some(5_033_333), value_at(40)), 33_333);
    assert_eq!(clock.time(Some(5_066_667), value_at(61)), 66_667);
}

#[test]
fn a_camera_that_comes_back_with_another_clock_goes_on_by_the_wall_clock() {
    let (mut clock, begin) = (LiveClock::default(), Instant::now());
    let value_at = |milliseconds| begin + Duration::from_millis(milliseconds);
    clock.time(Some(90_000_000), value_at(0));
    clock.reset();
    assert_eq!(clock.time(Some(0), value_at(4000)), 4_000_000);
    assert_eq!(clock.time(Some(40_000), value_at(4050)), 4_040_000);
    // The camera's clock jumps without a call of `reset`.
    assert_eq!(clock.time(Some(777_000_000), value_at(6000)), 6_000_000);
}

#[test]
fn times_never_stand_still_and_need_no_stamps() {
    let (mut clock, moment) = (LiveClock::default(), Instant::now());
    assert_eq!(clock.time(None, moment), 0);
    assert_eq!(clock.time(None, moment), 1);
    assert_eq!(clock.time(Some(7), moment + Duration::from_millis(1)), 1000);
    assert_eq!(clock.time(Some(7), moment + Duration::from_millis(1)), 1001);
}

#[test]
fn frames_without_stamps_are_as_far_apart_as_they_come_and_gaps_keep_their_length() {
    let (mut clock, begin) = (LiveClock::default(), Instant::now());
    // Ten frames per second, each up to 30 ms late.
    let late = |number: u64| [0, 30, 10, 20, 0, 25][number as usize % 6];
    let mut time = |milliseconds| clock.time(None, begin + Duration::from_millis(milliseconds)) / 1000;
    let times: Vec<i64> = (0..60).map(|number| time(number * 100 + late(number))).collect();
    for (number, pair) in times.windows(2).enumerate().skip(16) {
        let (apart, due) = (pair[1] - pair[0], 100 * (number as i64 + 1) + 14);
        assert!((92..=108).contains(&apart), "{apart} ms at {number}: {times:?}");
        assert!((pair[1] - due).abs() <= 20, "{} ms for {due} at {number}: {times:?}", pair[1]);
    }
    assert_eq!(time(9000), 9000, "3 s later");
    assert_eq!(time(9100), 9100);
}

#[test]
fn a_camera_without_stamps_may_change_its_rate() {
    for (before, after) in [(10, 30), (30, 10), (5, 25), (1, 25), (25, 1)] {
        let (mut clock, begin) = (LiveClock::default(), Instant::now());
        let mut came: Vec<u64> = (0..40).map(|number| number * 1000 / before).collect();
        came.extend((1..=40).map(|number| 39_000 / before + number * 1000 / after));
        let times: Vec<i64> = came
            .iter()
            .map(|&milliseconds| clock.time(None, begin + Duration::from_millis(milliseconds)) / 1000)
            .collect();
        for (pair, milliseconds) in times.windows(2).zip(&came[1..]) {
            assert!(pair[1] - pair[0] >= 5, "{before} to {after} a second: {times:?} of {came:?}");
            assert!(
                (pair[1] - *milliseconds as i64).abs() <= 160,
                "{} ms at {milliseconds}, {before} to {after} a second",
                pair[1]
            );
        }
    }
}
