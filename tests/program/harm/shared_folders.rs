//! Folders in which others may write: what they put in place of the pieces' folder changes no file elsewhere.

use crate::support::programs::program::{Dir, Run};
use crate::support::skip::skip;
use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;

const JOBS: &str = "in.mkv out.mkv --jobs 2 --encoder ffv1 --backend cpu";
const FOLDER: &str = ".out.mkv.pieces";
const PRECIOUS: &[u8] = b"precious";

/// A folder with a clip, and a home folder whose files have the names of files of pieces.
fn with_home() -> Dir {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 100 -c:v ffv1 -g 25 in.mkv");
    std::fs::create_dir(dir.path("home")).expect("a folder");
    for name in ["plan.json", "000000.piece", "000001.piece", "000000.stats.jsonl"] {
        dir.write(&format!("home/{name}"), PRECIOUS);
    }
    dir
}

#[track_caller]
fn home_is_as_it_was(dir: &Dir) {
    let files = dir.files().into_iter().filter(|(name, _)| name.starts_with("home"));
    let files: Vec<_> = files.map(|(name, bytes)| (name, bytes == PRECIOUS)).collect();
    assert!(files.len() == 4 && files.iter().all(|(_, is_same)| *is_same), "{files:?}");
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, Permissions::from_mode(mode)).expect("a mode");
}

/// Makes a plan whose pieces take a second each.
fn plan(dir: &Dir, options: &str) {
    let line = format!("plan -y in.mkv out.mkv --encoder ffv1 --backend cpu --piece 1 {options}");
    dir.write("plan.json", &dir.succeeds(&line).stdout);
}

/// Requires an error of one line that names the folder.
#[track_caller]
fn is_refused(run: Run, why: &str) {
    let run = run.fails().says(&[FOLDER, why]);
    assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
}

#[test]
fn a_folder_of_pieces_that_is_a_link_is_refused_and_what_it_leads_to_stays() {
    let dir = with_home();
    symlink("home", dir.path(FOLDER)).expect("a link");
    plan(&dir, "");
    for line in [JOBS, "run plan.json", "run plan.json --piece 0", "join plan.json", "status plan.json"] {
        is_refused(dir.run(line), "a link");
        home_is_as_it_was(&dir);
    }
    assert!(dir.path(FOLDER).is_symlink() && !dir.path("out.mkv").exists());
    // A regular file in place of the folder is refused, too.
    std::fs::remove_file(dir.path(FOLDER)).expect("a link");
    dir.write(FOLDER, PRECIOUS);
    is_refused(dir.run(JOBS), "no folder");
    assert_eq!(dir.read(FOLDER), PRECIOUS);
}

#[test]
fn links_among_the_pieces_are_replaced_or_refused_and_never_followed() {
    let dir = with_home();
    // This has to hold without a sandbox, too; a sandboxed process cannot open other files anyway.
    for options in ["--sandbox auto", "--sandbox off", "--encoder-option slices=4"] {
        std::fs::create_dir(dir.path(FOLDER)).expect("a folder");
        let link = |name: &str| {
            symlink(format!("../home/{name}"), dir.path(format!("{FOLDER}/{name}"))).expect("a link");
        };
        link("plan.json");
        is_refused(dir.run(&format!("-y {JOBS} {options}")), "a link");
        home_is_as_it_was(&dir);
        std::fs::remove_file(dir.path(format!("{FOLDER}/plan.json"))).expect("a link");
        ["000000.piece", "000001.piece", "000000.stats.jsonl"].iter().for_each(|name| link(name));
        dir.succeeds(&format!("-y {JOBS} {options} --stats stats.csv"));
        home_is_as_it_was(&dir);
        assert_eq!(dir.frames("out.mkv").len(), 100);
        // Links that are no piece of the plan stay, so the folder may be left.
        let _ = std::fs::remove_dir_all(dir.path(FOLDER));
    }
    // A hard link leads to the very file, which must not change.
    std::fs::create_dir(dir.path(FOLDER)).expect("a folder");
    for name in ["plan.json", "000000.piece"] {
        std::fs::hard_link(dir.path(format!("home/{name}")), dir.path(format!("{FOLDER}/{name}"))).expect("a link");
    }
    dir.succeeds(&format!("-y {JOBS}"));
    home_is_as_it_was(&dir);
}

#[test]
fn pieces_are_made_in_a_folder_for_the_user_alone() {
    let dir = with_home();
    plan(&dir, "--sandbox on");
    // The folder's mode does not depend on the umask.
    let program = dir.command("").get_program().to_string_lossy().into_owned();
    let line = format!("-c 'umask 0; exec {program} run plan.json --piece 0'");
    Run::from_command(&mut dir.other_command("sh", &line), &line).exits_with(0);
    let mode = |name: &str| std::fs::metadata(dir.path(name)).expect("a folder").mode() & 0o777;
    assert_eq!(mode(FOLDER), 0o700);
    // Older versions made the folder readable by all.
    set_mode(&dir.path(FOLDER), 0o755);
    dir.succeeds("run plan.json");
    dir.succeeds("status plan.json");
    for mode in [0o775, 0o757, 0o777] {
        set_mode(&dir.path(FOLDER), mode);
        set_mode(&dir.path(""), 0o1777);
        for line in ["run plan.json --piece 0", "join plan.json", "status plan.json"] {
            is_refused(dir.run(line), "others may write");
        }
    }
    // A group that may write the output may write its pieces, too.
    set_mode(&dir.path(""), 0o775);
    set_mode(&dir.path(FOLDER), 0o770);
    dir.succeeds("join plan.json");
    assert_eq!(dir.frames("out.mkv").len(), 100);
}

#[test]
fn another_users_folder_is_not_taken_for_that_of_the_pieces() {
    let dir = with_home();
    plan(&dir, "");
    std::fs::create_dir(dir.path(FOLDER)).expect("a folder");
    if std::os::unix::fs::chown(dir.path(FOLDER), Some(54321), None).is_err() {
        return skip("another user's folder", "only root gives folders away");
    }
    set_mode(&dir.path(""), 0o1777);
    for line in [JOBS, "run plan.json", "join plan.json", "status plan.json"] {
        is_refused(dir.run(line), "another user's folder");
    }
    assert_eq!(dir.files().into_iter().filter(|(name, _)| name.starts_with(FOLDER)).count(), 0);
    // A user may use a folder of pieces of his own.
    for (file, user) in [("", 0), ("in.mkv", 54321), ("plan.json", 54321)] {
        std::os::unix::fs::chown(dir.path(file), Some(user), Some(user)).expect("root");
    }
    let program = dir.command("").get_program().to_string_lossy().into_owned();
    let line = format!("--reuid 54321 --regid 54321 --clear-groups {program} run plan.json");
    let run = Run::from_command(&mut dir.other_command("setpriv", &line), &line);
    if run.code == Some(126) || run.code == Some(127) {
        return skip("another user's folder", "the program cannot be run as another user");
    }
    run.exits_with(0);
    // Root may use that user's folder, too.
    std::os::unix::fs::chown(dir.path(""), Some(54321), None).expect("root");
    set_mode(&dir.path(""), 0o755);
    dir.succeeds("join plan.json");
    assert_eq!(dir.frames("out.mkv").len(), 100);
}
