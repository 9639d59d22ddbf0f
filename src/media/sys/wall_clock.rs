//! The wall clock and its time zone, which may come from a file that the variable TZ names.

use super::files::Name;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ZonedDateTime};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

/// The most bytes of a file with a time zone. The largest that there is has 4 KB.
const MAX_ZONE: u64 = 1 << 20;

/// The current time; 1970 if the clock shows no valid date, as after the year 9999.
pub fn wall_time() -> Timestamp {
    from_clock(SystemTime::now())
}

fn from_clock(clock: SystemTime) -> Timestamp {
    Timestamp::try_from(clock).unwrap_or(Timestamp::UNIX_EPOCH)
}

/// The time in the time zone of the user: that of TZ, or of the system; UTC, if TZ names a device, a FIFO or too large
/// a file.
pub fn local_time() -> ZonedDateTime {
    let zone = if fault().is_some() { TimeZone::UTC } else { TimeZone::system() };
    wall_time().to_zoned_datetime(zone)
}

/// What is wrong with TZ, if anything is; `Some` at the first call only.
pub fn zone_fault() -> Option<&'static str> {
    static IS_TOLD: AtomicBool = AtomicBool::new(false);
    fault().filter(|_| !IS_TOLD.swap(true, Ordering::Relaxed))
}

fn fault() -> Option<&'static str> {
    static FAULT: OnceLock<Option<String>> = OnceLock::new();
    FAULT.get_or_init(|| fault_of(&std::env::var_os("TZ")?)).as_deref()
}

/// What is wrong with this value of TZ: it names a device, which may have no end, a FIFO, or too large a file.
fn fault_of(zone: &OsStr) -> Option<String> {
    let bytes = zone.as_bytes();
    let file = std::fs::metadata(OsStr::from_bytes(bytes.strip_prefix(b":").unwrap_or(bytes))).ok()?;
    // A folder of this name is no fault: the zone is looked for elsewhere.
    let may_be_zone = file.is_dir() || file.is_file() && file.len() <= MAX_ZONE;
    let zone = Name::from(zone);
    (!may_be_zone).then(|| {
        format!("TZ={zone}: no regular file of at most 1 MiB: times are in UTC (name a zone, as in TZ=Europe/Berlin)")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_clock_without_a_date_stands_at_1970() {
        let clock = |seconds| from_clock(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(clock(1_800_000_000).as_second(), 1_800_000_000);
        for seconds in [253_402_300_797, 1 << 40, 1 << 62] {
            assert_eq!(clock(seconds), Timestamp::UNIX_EPOCH, "{seconds}");
        }
    }

    #[test]
    fn a_zone_is_a_name_a_rule_or_a_small_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = |name: &str, bytes: u64| {
            let path = folder.path().join(name);
            std::fs::File::create(&path).and_then(|file| file.set_len(bytes)).expect("a file");
            path
        };
        let (small, large) = (file("small", 2000), file("large", MAX_ZONE + 1));
        for zone in ["", "UTC", "Europe/Berlin", ":Asia/Kolkata", "CET-1CEST,M3.5.0,M10.5.0/3"] {
            assert_eq!(fault_of(OsStr::new(zone)), None, "{zone}");
        }
        assert_eq!([folder.path(), small.as_path()].map(|path| fault_of(path.as_os_str())), [None, None]);
        for zone in [large.as_os_str(), OsStr::new("/dev/zero"), OsStr::new(":/dev/zero")] {
            let fault = fault_of(zone).expect("a fault");
            assert!(fault.contains("times are in UTC") && !fault.contains('\n'), "{fault}");
        }
    }
}
