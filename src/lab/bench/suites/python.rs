//! Runs benches/equalize.py on an image.

use super::on_cpu::GrayImage;
use crate::bench::Setup;
use crate::bench::output::Value;
use crate::bench::reference::expected::check_values;
use crate::publications::Formula;
use anyhow::{Context, Result, ensure};
use std::process::Command;

const PROGRAM: &str = include_str!("../../../../benches/equalize.py");

/// The name of the method in Python that loops over pixels one by one.
pub const LOOP: &str = "loop";

/// The times of each method by its name; none if there is no Python.
///
/// # Errors
/// When the program fails, or its output differs from the specification's.
pub fn run(setup: &Setup, image: &GrayImage) -> Result<Vec<(String, Value)>> {
    let folder = tempfile::tempdir().context("making a folder for Python's images")?;
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("equalize.py"), PROGRAM)?;
    std::fs::write(path("in.raw"), &image.pixels)?;
    let mut command = Command::new("python3");
    command.arg(path("equalize.py")).arg(path("in.raw")).arg(path("out.raw")).arg(setup.repeats.counted.to_string());
    let output = match command.output() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        output => output.context("running python3")?,
    };
    ensure!(output.status.success(), "equalize.py: {}", String::from_utf8_lossy(&output.stderr).trim());
    let expected = image.through(&Formula::exact(&image.counts));
    check_values("the picture of equalize.py", &expected, &std::fs::read(path("out.raw"))?)?;
    let text = String::from_utf8(output.stdout).context("what equalize.py says")?;
    text.lines().map(times).collect()
}

/// Parses a line of the program's output: the name of a method, and seconds.
fn times(line: &str) -> Result<(String, Value)> {
    let mut words = line.split(' ');
    let way = words.next().unwrap_or_default().to_owned();
    let seconds = words.map(str::parse).collect::<Result<Vec<f64>, _>>().with_context(|| line.to_owned())?;
    ensure!(!seconds.is_empty(), "equalize.py: no times in {line}");
    Ok((way, Value::from_samples(&seconds).times(1e6)))
}
