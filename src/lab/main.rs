//! The program `histeq-lab`.

use std::process::ExitCode;

fn main() -> ExitCode {
    histeq_lab::command_line::main()
}
