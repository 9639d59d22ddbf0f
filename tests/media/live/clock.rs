//! Times of live frames.

use histeq_media::source::LiveClock;
use std::time::{Duration, Instant};

#[test]
fn times_are_the_cameras_own_as_long_as_they_agree_with_the_wall_clock() {
    let (mut clock, begin) = (LiveClock::default(), Instant::now());
    let at = |milliseconds| begin + Duration::from_millis(milliseconds);
    assert_eq!(clock.time(Some(5_000_000), at(0)), 0);
    assert_eq!(clock.time(Some(5_033_333), at(40)), 33_333);
    assert_eq!(clock.time(Some(5_066_667), at(61)), 66_667);
}

#[test]
fn a_camera_that_comes_back_with_another_clock_goes_on_by_the_wall_clock() {
    let (mut clock, begin) = (LiveClock::default(), Instant::now());
    let at = |milliseconds| begin + Duration::from_millis(milliseconds);
    clock.time(Some(90_000_000), at(0));
    clock.reset();
    assert_eq!(clock.time(Some(0), at(4000)), 4_000_000);
    assert_eq!(clock.time(Some(40_000), at(4050)), 4_040_000);
    // The same without anybody having noticed.
    assert_eq!(clock.time(Some(777_000_000), at(6000)), 6_000_000);
}

#[test]
fn times_never_stand_still_and_need_no_stamps() {
    let (mut clock, at) = (LiveClock::default(), Instant::now());
    assert_eq!(clock.time(None, at), 0);
    assert_eq!(clock.time(None, at), 1);
    assert_eq!(clock.time(Some(7), at + Duration::from_millis(1)), 1000);
    assert_eq!(clock.time(Some(7), at + Duration::from_millis(1)), 1001);
}
