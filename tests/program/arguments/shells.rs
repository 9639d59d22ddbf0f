//! Completions, tested in real shells.

use crate::support::media::reader::encoder_is_here;
use crate::support::programs::program::{Dir, program};
use crate::support::skip::is_here;

/// Runs a script in `shell`, with this program in its PATH. Returns the lines that it prints.
#[track_caller]
fn said_by(shell: &str, script: &str) -> Vec<String> {
    let dir = Dir::new();
    dir.write("a film.mkv", b"");
    let path = program();
    let folder = path.parent().expect("a folder").display();
    let mut command = dir.other_command(shell, "");
    command.args(["-c", script]).env("PATH", format!("{folder}:{}", std::env::var("PATH").unwrap_or_default()));
    let output = command.output().expect("the shell runs");
    assert!(output.stderr.is_empty(), "{shell}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}

/// The candidates for the last of these words in bash, which breaks words at `=`, too.
#[track_caller]
fn in_bash(words: &str) -> Vec<String> {
    let count = words.split(' ').count();
    let last = words.rsplit(' ').next().unwrap_or_default();
    let quoted: Vec<String> = words.split(' ').map(|word| format!("'{word}'")).collect();
    let script = format!(
        "source <(histeq-video completions bash)\nCOMP_WORDS=(histeq-video {}) COMP_CWORD={count} COMP_TYPE=9\n\
         _clap_complete_histeq_video histeq-video '{last}' '' 2>/dev/null\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"",
        quoted.join(" ")
    );
    said_by("bash", &script)
}

/// The completions of this beginning of a line in fish, without their descriptions.
#[track_caller]
fn in_fish(line: &str) -> Vec<String> {
    let script = format!("histeq-video completions fish | source; complete -C 'histeq-video {line}'");
    let value = |line: String| line.split('\t').next().unwrap_or_default().to_owned();
    said_by("fish", &script).into_iter().map(value).collect()
}

/// The command line of zsh after the tab key.
#[track_caller]
fn in_zsh(line: &str) -> String {
    let script = format!(
        "zmodload zsh/zpty; zpty shell zsh -f -i\n\
         zpty -w shell 'PS1=; stty -echo; autoload -U compinit; compinit -u -D; source <(histeq-video completions zsh); echo rea\\dy'\n\
         zpty -r shell said '*ready*'\n\
         zpty -w -n shell $'histeq-video {line}\\t'; sleep 2; zpty -w -n shell $'\\C-a#\\n'; zpty -r shell said '*#*'\n\
         zpty -w shell 'fc -ln -1; echo en\\d'; zpty -r shell said '*end*'; print -r -- $said"
    );
    said_by("zsh", &script).join("\n")
}

#[test]
fn bash_completes_values() {
    assert_eq!(in_bash("--look ni"), ["night"]);
    // bash splits `--look=ni` like this.
    assert_eq!(in_bash("--look = ni"), ["night"]);
    assert_eq!(in_bash("live --rec"), ["--record"]);
    assert_eq!(in_bash("completions "), ["bash", "elvish", "fish", "powershell", "zsh"]);
    let commands = in_bash("help ");
    assert!(
        ["live", "preview", "compare"].iter().all(|name| commands.iter().any(|there| there == name)),
        "{commands:?}"
    );
    assert_eq!(in_bash("man pre"), ["preview"]);
    assert_eq!(in_bash("preview --looks und"), ["underwater"]);
    if encoder_is_here("completions of encoders", "libx264") {
        let encoders = in_bash("--encoder libx26");
        assert!(encoders.contains(&"libx264".to_owned()), "{encoders:?}");
        assert_eq!(in_bash("--encoder = libx26"), encoders);
        assert_eq!(in_bash("live --encoder libx26"), encoders);
    }
}

#[test]
fn bash_names_commands_first_and_nothing_that_is_hidden() {
    let all = in_bash("");
    assert_eq!(all[..3], ["live", "compare", "preview"]);
    assert!(all.contains(&"a film.mkv".to_owned()), "{all:?}");
    assert!(all.iter().all(|name| !name.starts_with('-')), "{all:?}");
    let options = in_bash("--");
    assert!(options.contains(&"--look".to_owned()) && options.contains(&"--dry-run".to_owned()), "{options:?}");
    let hidden = ["--one-of", "--verify", "--child"];
    assert!(options.iter().all(|option| !hidden.contains(&option.as_str())), "{options:?}");
    assert!(in_bash("plan --").iter().all(|option| !hidden.contains(&option.as_str())));
}

#[test]
fn fish_completes_values() {
    if !is_here("fish") {
        return;
    }
    assert_eq!(in_fish("--look ni"), ["night"]);
    assert_eq!(in_fish("--look=ni"), ["--look=night"]);
    assert_eq!(in_fish("live --rec"), ["--record"]);
    assert_eq!(in_fish("completions z"), ["zsh"]);
    assert_eq!(in_fish("help prev"), ["preview"]);
    assert_eq!(in_fish("")[..2], ["live", "compare"]);
}

#[test]
fn zsh_completes_values() {
    if !is_here("zsh") {
        return;
    }
    for (line, whole) in [
        ("--look ni", "--look night"),
        ("live --rec", "live --record"),
        ("help prev", "help preview"),
        ("--look=ni", "--look=night"),
    ] {
        let said = in_zsh(line);
        assert!(said.contains(&format!("histeq-video {whole}")), "{line}: {said}");
    }
}
