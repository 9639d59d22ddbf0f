//! When the segments of a recording end, in local time.

use jiff::civil::Time;
use jiff::{SignedDuration, Timestamp, ToSpan, ZonedDateTime};
use std::time::Duration;

/// The seconds of a day without a change of summer time.
const DAY: i64 = 24 * 60 * 60;

/// When a segment ends that begins at `begin` and is `length` long. If `length` divides a day, segments end at
/// multiples of it since midnight, whenever they began: those of an hour end on the hour. Other lengths count from
/// `begin`.
///
/// A segment across a change to or from daylight saving time is longer or shorter by that change.
pub(super) fn end_of(begin: &ZonedDateTime, length: Duration) -> Timestamp {
    let seconds = i64::try_from(length.as_secs()).unwrap_or(i64::MAX);
    let counted = || begin.timestamp().saturating_add(SignedDuration::try_from(length).unwrap_or(SignedDuration::MAX));
    if length.subsec_nanos() != 0 || seconds == 0 || DAY % seconds != 0 {
        return counted().unwrap_or(Timestamp::MAX);
    }
    let since_midnight = begin.time().duration_since(Time::midnight()).as_secs();
    let mut next = (since_midnight / seconds + 1) * seconds;
    // When daylight saving time ends, a local time in the repeated hour denotes two moments.
    for _ in 0..DAY {
        let Ok(day) = begin.date().checked_add((next / DAY).days()) else { break };
        let end = day.to_datetime(Time::midnight() + SignedDuration::from_secs(next % DAY));
        let moments = begin.time_zone().to_ambiguous_timestamp(end);
        let ends = [moments.compatible(), moments.later()];
        if let Some(end) = ends.into_iter().flatten().find(|end| *end > begin.timestamp()) {
            return end;
        }
        next += seconds;
    }
    counted().unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(begin: &str, seconds: u64) -> String {
        let begin: ZonedDateTime = begin.parse().expect("a time");
        end_of(&begin, Duration::from_secs(seconds)).to_zoned_datetime(begin.time_zone().clone()).to_string()
    }

    #[test]
    fn segments_end_by_the_clock_where_a_day_has_a_whole_number_of_them() {
        assert_eq!(end("2026-11-27T10:15:23+01:00[Europe/Berlin]", 3600), "2026-11-27T11:00:00+01:00[Europe/Berlin]");
        assert_eq!(end("2026-11-27T11:00:00+01:00[Europe/Berlin]", 3600), "2026-11-27T12:00:00+01:00[Europe/Berlin]");
        assert_eq!(end("2026-12-31T23:59:59.9+05:30[Asia/Kolkata]", 900), "2027-01-01T00:00:00+05:30[Asia/Kolkata]");
        assert_eq!(end("2026-11-27T10:15:23Z[UTC]", 86_400), "2026-11-28T00:00:00+00:00[UTC]");
        assert_eq!(end("2026-11-27T10:15:23Z[UTC]", 25_200), "2026-11-27T17:15:23+00:00[UTC]");
    }

    #[test]
    fn the_last_segment_of_all_ends_with_time() {
        let last = Timestamp::MAX.to_zoned_datetime(jiff::tz::TimeZone::UTC);
        for seconds in [1, 3600, 25_200, 86_400] {
            let end = end_of(&last, Duration::from_secs(seconds));
            assert!(end >= last.timestamp(), "{end}");
        }
    }

    #[test]
    fn a_clock_that_is_set_makes_one_segment_longer_or_shorter() {
        // Daylight saving time begins: 02:00 is followed by 03:00.
        assert_eq!(end("2026-03-29T01:30:00+01:00[Europe/Berlin]", 1800), "2026-03-29T03:00:00+02:00[Europe/Berlin]");
        assert_eq!(end("2026-03-29T00:00:00+01:00[Europe/Berlin]", 43_200), "2026-03-29T12:00:00+02:00[Europe/Berlin]");
        assert_eq!(end("2026-03-29T00:00:00+01:00[Europe/Berlin]", 7200), "2026-03-29T03:00:00+02:00[Europe/Berlin]");
        // Daylight saving time ends: 02:00 to 03:00 occurs twice.
        assert_eq!(end("2026-10-25T02:30:00+02:00[Europe/Berlin]", 1800), "2026-10-25T03:00:00+01:00[Europe/Berlin]");
        assert_eq!(end("2026-10-25T02:10:00+02:00[Europe/Berlin]", 1800), "2026-10-25T02:30:00+02:00[Europe/Berlin]");
        assert_eq!(end("2026-10-25T02:10:00+01:00[Europe/Berlin]", 1800), "2026-10-25T02:30:00+01:00[Europe/Berlin]");
    }
}
