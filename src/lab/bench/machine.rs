//! The machine of a report.

use histeq::cuda::Gpu;
use std::time::{SystemTime, UNIX_EPOCH};

/// The hardware of a machine.
#[derive(Clone, Debug)]
pub struct Machine {
    /// The processor's name.
    pub cpu: String,
    /// Threads that this process may use.
    pub threads: usize,
    /// The GPU's name, if one is used.
    pub gpu: Option<String>,
}

/// The day of UTC that it is, as `2026-11-26`.
pub fn today() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    day((since.as_secs() / 86_400) as i64)
}

/// The day with this number since 1970-01-01: years begin in March here, so that a leap day is a year's last one.
fn day(number: i64) -> String {
    let number = number + 719_468;
    let (era, of_era) = (number.div_euclid(146_097), number.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (year, month) = if month < 10 { (year, month + 3) } else { (year + 1, month - 9) };
    format!("{:04}-{month:02}-{day:02}", year + era * 400)
}

impl Machine {
    /// This machine, with the GPU that is measured.
    pub fn here(gpu: Option<&Gpu>) -> Self {
        let facts = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let named = facts.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
        Machine {
            cpu: named.map_or("a CPU that does not say its name", |(_, name)| name.trim()).to_owned(),
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            gpu: gpu.map(|gpu| format!("{}, {} multiprocessors", gpu.name, gpu.multiprocessors)),
        }
    }

    /// The machine in a line.
    pub fn line(&self) -> String {
        let plural = if self.threads == 1 { "" } else { "s" };
        let gpu = self.gpu.as_ref().map_or(String::new(), |gpu| format!("{gpu}; "));
        format!("{gpu}{}, {} thread{plural}", self.cpu, self.threads)
    }
}

#[cfg(test)]
mod tests {
    use super::day;

    #[test]
    fn days_are_those_of_the_calendar() {
        for (number, text) in [(0, "1970-01-01"), (59, "1970-03-01"), (11_016, "2000-02-29"), (20_783, "2026-11-26")] {
            assert_eq!(day(number), text);
        }
    }
}
