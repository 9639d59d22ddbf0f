//! `web`, the page that equalizes files: what its URLs list, process and refuse. tests/media/live/browser/web.py uses a browser.

// Films that are played, and noise that is shown.
mod playing;

use super::web::{Served, dark_clip, frame_of};
use crate::media::live::*;
use crate::support::pictures::apart;
use crate::support::programs::http::Answer;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::{PermissionsExt, symlink};

const JSON: &str = "Content-Type: application/json\r\n";
const BYTES: &str = "Content-Type: application/octet-stream\r\n";

impl Served {
    /// Runs `web`, the page that equalizes files. Uploads and their results are stored in `tmp`.
    fn work(dir: &Dir, line: &str) -> Self {
        std::fs::create_dir_all(dir.path("tmp")).expect("a folder");
        let mut command = without_display(dir.command(&format!("web --no-browser {line}")));
        command.env("TMPDIR", dir.path("tmp")).stderr(Stdio::piped());
        Served::new(Beside::start(&mut command).expect("the program runs"))
    }

    fn send(&self, method: &str, path: &str, body: &Value) -> Answer {
        self.ask(method, path, JSON, &body.to_string())
    }

    /// The entry of this name in the page's first folder.
    #[track_caller]
    fn entry(&self, name: &str) -> Value {
        let folder = self.get("/api/work/folder").json();
        let mut entries = [&folder["entries"], &folder["given"]].into_iter().filter_map(Value::as_array).flatten();
        let entry = entries.find(|entry| entry["name"] == name);
        entry.unwrap_or_else(|| panic!("{name} is not in {folder}")).clone()
    }

    /// Starts jobs that equalize these files. Returns the jobs' numbers.
    #[track_caller]
    fn make(&self, names: &[&str], chosen: &Value) -> Vec<u64> {
        let files: Vec<Value> = names.iter().map(|name| self.entry(name)["number"].clone()).collect();
        let answer = self.send("POST", "/api/work/jobs", &json!({ "files": files, "chosen": chosen }));
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.json()["jobs"].as_array().expect("jobs").iter().filter_map(Value::as_u64).collect()
    }

    fn job(&self, number: u64) -> Value {
        let jobs = self.get("/api/work/jobs").json();
        let found = jobs["jobs"].as_array().expect("jobs").iter().find(|job| job["number"] == number);
        found.cloned().unwrap_or_else(|| panic!("job {number} is not in {jobs}"))
    }

    /// Waits until a job is in this state.
    #[track_caller]
    fn until_job(&self, number: u64, state: &str) -> Value {
        let begin = Instant::now();
        loop {
            let job = self.job(number);
            if job["state"] == state {
                return job;
            }
            assert!(begin.elapsed() < PATIENCE, "not {state}: {job}");
            pause(0.02);
        }
    }

    /// Starts a job for a file, and waits until some of its frames are done.
    #[track_caller]
    fn begin_one(&self, name: &str) -> u64 {
        let job = self.make(&[name], &chosen("night", "keep"))[0];
        let begin = Instant::now();
        while self.job(job)["frame"].as_u64().is_none_or(|frames| frames < 5) {
            assert!(begin.elapsed() < PATIENCE, "it never begins: {}", self.job(job));
            pause(0.02);
        }
        job
    }

    /// Uploads a film and equalizes it. Returns the number of the finished job.
    #[track_caller]
    fn made_of_upload(&self, film: &[u8]) -> u64 {
        let given = self.give("in.mkv", film, BYTES).json();
        let files = json!({ "files": [given["number"]], "chosen": chosen("haze", "keep") });
        let job = self.send("POST", "/api/work/jobs", &files).json()["jobs"][0].as_u64().expect("a job");
        self.until_job(job, "done");
        job
    }

    fn give(&self, name: &str, bytes: &[u8], headers: &str) -> Answer {
        let (host, length) = (&self.address, bytes.len());
        let head = format!(
            "POST /api/work/uploads?name={name} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: {length}\r\n\
             {headers}\r\n"
        );
        self.raw(&[head.as_bytes(), bytes].concat())
    }

    /// Ends the program. Returns its messages.
    #[track_caller]
    fn ends(self) -> String {
        self.live.signal(Signal::TERM);
        let (code, said) = self.live.end();
        assert_eq!(code, Some(0), "{said}");
        assert!(!said.contains("panicked"), "{said}");
        said
    }
}

fn chosen(look: &str, goal: &str) -> Value {
    json!({ "look": look, "goal": goal })
}

fn folder_with(dir: &Dir, name: &str) {
    std::fs::create_dir_all(dir.path("clips")).expect("a folder");
    dark_clip(dir, &format!("clips/{name}"));
}

/// A clip whose equalization takes some seconds.
fn long_clip(dir: &Dir, name: &str) {
    std::fs::create_dir_all(dir.path("clips")).expect("a folder");
    let picture = "format=yuv420p,geq=lum=20+mod(X+Y\\,64)/2:cb=120:cr=132,loop=4000:1,setpts=N/25/TB";
    dir.ffmpeg(&format!(
        "-f lavfi -i nullsrc=size=320x180:rate=25 -vf {picture} -frames:v 4000 -c:v libx264 -preset ultrafast clips/{name}"
    ));
}

/// Does any process have `input` in its command line?
fn is_at_work_on(input: &str) -> bool {
    let processes = std::fs::read_dir("/proc").expect("processes").flatten();
    let mut lines = processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
    lines.any(|line| String::from_utf8_lossy(&line).contains(input))
}

#[test]
fn a_film_of_the_folder_is_seen_made_and_compared_with_what_was_made() {
    let dir = Dir::new();
    folder_with(&dir, "in.mkv");
    std::fs::create_dir(dir.path("clips/more")).expect("a folder");
    dir.write("clips/notes.txt", b"no film");
    let served = Served::work(&dir, "--web=0 clips");
    let page = served.get("/");
    assert_eq!((page.status, page.text().contains("/page.js")), (200, true));
    assert_eq!(served.get("/work.js").status, 200);
    let folder = served.get("/api/work/folder").json();
    let entries = folder["entries"].as_array().expect("entries").iter();
    let names: Vec<&str> = entries.filter_map(|entry| entry["name"].as_str()).collect();
    assert_eq!((names, &folder["up"]), (vec!["more", "in.mkv"], &Value::Null));
    let (film, more) = (served.entry("in.mkv"), served.entry("more"));
    assert_eq!((&film["kind"], &film["made"]), (&"film".into(), &false.into()));
    let file = format!("/api/work/files/{}", film["number"]);
    dir.write("shown.jpg", &served.get(&format!("{file}/small.jpg")).body);
    assert_eq!(dir.streams("shown.jpg")[0]["width"], 320);
    assert_eq!(served.get(&file).json()["duration"], 1.6);
    assert_eq!(served.get(&format!("/file/{}", film["number"])).text(), page.text());
    let within = served.get(&format!("/api/work/folder/{}", more["number"])).json();
    assert_eq!((&within["name"], &within["entries"], &within["up"]), (&"more".into(), &json!([]), &json!(0)));

    // The displayed frame, the displayed command and the file that the job writes agree.
    dir.write("shown.jpg", &served.get(&format!("{file}/frame.jpg?at=0.8&look=haze&strength=0.5")).body);
    let command = served.get(&format!("{file}/command?look=haze&strength=0.5&goal=keep")).json();
    let command = command["command"].as_str().expect("a command");
    let clips = dir.path("clips").canonicalize().expect("a folder");
    let [input, output] = ["in.mkv", "in-equalized.mkv"].map(|name| clips.join(name).display().to_string());
    assert_eq!(command, format!("histeq-video --look haze --strength 0.5 {input} {output}"));
    let job = served.make(&["in.mkv"], &json!({ "look": "haze", "strength": 0.5, "goal": "keep" }))[0];
    let done = served.until_job(job, "done");
    assert_eq!((&done["output"], &done["command"]), (&"in-equalized.mkv".into(), &command.into()));
    assert_eq!((&done["place"], done["percent"].as_f64()), (&clips.display().to_string().into(), Some(100.0)));
    let made = dir.read("clips/in-equalized.mkv");
    assert_eq!(done["bytes"], made.len());
    dir.succeeds("--look haze --strength 0.5 clips/in.mkv beside.mkv");
    assert!(dir.raw("clips/in-equalized.mkv", "gray") == dir.raw("beside.mkv", "gray"));
    let result = frame_of(&dir, "clips/in-equalized.mkv", 20);
    assert!(apart(&dir.raw("shown.jpg", "rgb24"), &result) < 2.0);

    // The original differs from the result.
    let original = frame_of(&dir, "clips/in.mkv", 20);
    assert!(apart(&original, &result) > 8.0);
    let job = format!("/api/work/jobs/{job}");
    assert_eq!(served.get(&job).json()["looks"], json!([]));
    for (side, is) in [("original", &original), ("equalized", &result)] {
        dir.write("shown.jpg", &served.get(&format!("{job}/frame.jpg?at=0.8&of={side}")).body);
        let off = apart(&dir.raw("shown.jpg", "rgb24"), is);
        assert!(off < 2.0, "{side}: {off}");
    }
    dir.write("shown.jpg", &served.get(&format!("{job}/frame.jpg?at=0.8&of=both")).body);
    assert_eq!(dir.raw("shown.jpg", "gray").len(), 320 * 360);
    let saved = served.get(&format!("{job}/download"));
    assert!(
        saved.body == made && saved.head.contains("attachment; filename*=utf-8''in%2dequalized%2emkv"),
        "{}",
        saved.head
    );
    let part = served.ask("GET", &format!("{job}/download"), "Range: bytes=10-19\r\n", "");
    assert_eq!((part.status, &part.body[..]), (206, &made[10..20]));

    // If the job is run again, its output gets another name.
    assert_eq!(served.send("PATCH", &job, &json!("again")).status, 200);
    served.until_job(2, "done");
    assert_eq!(served.job(2)["output"], "in-equalized.2.mkv");
    assert!(dir.read("clips/in-equalized.mkv") == made);
    assert_eq!(served.entry("in-equalized.mkv")["made"], true);
    served.live.until_it_says("in.mkv -> ");
    served.ends();
}

#[test]
fn several_wait_in_a_queue_that_is_paused_and_goes_on() {
    let dir = Dir::new();
    for name in ["a.mkv", "b.mkv", "c.mkv", "d.mkv"] {
        folder_with(&dir, name);
    }
    dir.ffmpeg("-i clips/a.mkv -frames:v 1 -update 1 clips/photo.png");
    let served = Served::work(&dir, "--web=0 clips");
    assert_eq!(served.send("PATCH", "/api/work/jobs", &json!({ "paused": true })).json()["paused"], true);
    let jobs = served.make(&["a.mkv", "b.mkv", "c.mkv", "photo.png"], &chosen("night", "whatsapp"));
    let mut jobs_of_one = served.make(&["d.mkv"], &chosen("natural", "web"));
    pause(0.3);
    assert!(jobs.iter().chain(&jobs_of_one).all(|job| served.job(*job)["state"] == "waiting"));
    assert_eq!(served.send("PATCH", &format!("/api/work/jobs/{}", jobs[1]), &json!("cancel")).status, 200);
    assert_eq!(served.job(jobs[1])["state"], "cancelled");
    served.send("PATCH", "/api/work/jobs", &json!({ "paused": false }));
    let last = served.until_job(jobs_of_one.remove(0), "done");
    for job in [jobs[0], jobs[2], jobs[3]] {
        assert_eq!(served.job(job)["state"], "done", "the queue keeps its order");
    }
    assert_eq!(last["output"], "d-equalized.mp4");
    let command = served.job(jobs[0])["command"].as_str().expect("a command").to_owned();
    assert!(command.contains("--look night --for web --target-size 16M /"), "{command}");
    assert_eq!(served.job(jobs[3])["output"], "photo-equalized.png");
    assert_eq!(dir.streams("clips/a-equalized.mp4")[0]["codec_name"], "h264");
    assert!(!dir.path("clips/b-equalized.mp4").exists());
    // A job that has ended cannot be cancelled.
    assert_eq!(served.send("PATCH", &format!("/api/work/jobs/{}", jobs[0]), &json!("cancel")).status, 400);
    served.ends();
}

#[test]
fn cancelled_or_ended_with_the_program_nothing_is_left_that_looks_whole() {
    let dir = Dir::new();
    long_clip(&dir, "long.mkv");
    let served = Served::work(&dir, "--web=0 clips");
    let job = served.begin_one("long.mkv");
    let working = served.job(job);
    assert!(working["percent"].as_f64().is_some_and(|percent| percent < 100.0), "{working}");
    assert!(working["fps"].as_f64().is_some_and(|fps| fps > 0.0), "{working}");
    assert_eq!(served.send("PATCH", &format!("/api/work/jobs/{job}"), &json!("cancel")).status, 200);
    let cancelled = served.until_job(job, "cancelled");
    assert_eq!(cancelled["partial"], "long-equalized.partial.mkv", "{cancelled}");
    assert_eq!(dir.names(), ["clips/long-equalized.partial.mkv", "clips/long.mkv"]);
    assert!(!dir.raw("clips/long-equalized.partial.mkv", "gray").is_empty());
    assert_eq!(served.get(&format!("/api/work/jobs/{job}/download")).status, 404);
    std::fs::remove_file(dir.path("clips/long-equalized.partial.mkv")).expect("it was there");

    served.begin_one("long.mkv");
    let said = served.ends();
    assert!(said.contains("long.mkv: interrupted -> "), "{said}");
    assert!(said.contains("long-equalized.partial.mkv"), "{said}");
    assert_eq!(dir.names(), ["clips/long-equalized.partial.mkv", "clips/long.mkv"]);
    std::fs::remove_file(dir.path("clips/long-equalized.partial.mkv")).expect("it was there");

    // When the program is killed, the process that writes the file ends, too.
    let served = Served::work(&dir, "--web=0 clips");
    served.begin_one("long.mkv");
    let input = dir.path("clips/long.mkv").canonicalize().expect("a film").display().to_string();
    assert!(is_at_work_on(&input));
    served.live.signal(Signal::KILL);
    served.live.end();
    let begin = Instant::now();
    while is_at_work_on(&input) {
        assert!(begin.elapsed() < PATIENCE, "a process goes on with {input}");
        pause(0.02);
    }
    // That process may have had time to finish its partial file, or not.
    let left: Vec<String> = dir.names().into_iter().filter(|name| !name.ends_with(".partial.mkv")).collect();
    assert_eq!(left, ["clips/long.mkv"]);
}

#[test]
fn no_page_of_others_gets_in_and_nothing_but_what_is_listed_is_read_or_written() {
    let dir = Dir::new();
    folder_with(&dir, "in.mkv");
    dark_clip(&dir, "secret.mkv");
    symlink(dir.path("secret.mkv"), dir.path("clips/link.mkv")).expect("a link");
    symlink(dir.path("."), dir.path("clips/folder")).expect("a link");
    let served = Served::work(&dir, "--web=0 clips");
    let folder = served.get("/api/work/folder").json();
    assert_eq!(folder["entries"].as_array().map(Vec::len), Some(1), "{folder}");
    let number = served.entry("in.mkv")["number"].clone();
    for path in
        ["../secret.mkv", "..%2fsecret.mkv", "%2fetc%2fpasswd", "99", "-1", "1/../../secret.mkv", "1%2f..", "link.mkv"]
    {
        for below in ["files", "folder", "jobs"] {
            let answer = served.get(&format!("/api/work/{below}/{path}"));
            assert!([400, 404].contains(&answer.status), "{below}/{path}: {}", answer.status);
        }
    }
    let order = |file: &Value, chosen: Value| json!({ "files": [file], "chosen": chosen });
    let good = order(&number, chosen("night", "keep"));
    for (headers, status) in [
        (format!("{JSON}Origin: http://evil.example\r\n"), 403),
        (format!("{JSON}Sec-Fetch-Site: cross-site\r\n"), 403),
        ("Content-Type: text/plain\r\n".to_owned(), 415),
        (String::new(), 415),
    ] {
        assert_eq!(served.ask("POST", "/api/work/jobs", &headers, &good.to_string()).status, status, "{headers}");
    }
    for wrong in [
        order(&json!(0), chosen("night", "keep")),
        order(&json!(99), chosen("night", "keep")),
        order(&json!("clips/in.mkv"), chosen("night", "keep")),
        order(&number, chosen("none", "keep")),
        order(&number, chosen("night", "--encoder x")),
        order(&number, json!({ "look": "night", "goal": "keep", "strength": 7 })),
        order(&number, json!({ "look": "night", "goal": "keep", "output": "/tmp/x" })),
        json!({ "files": [], "chosen": chosen("night", "keep") }),
        json!([]),
    ] {
        let answer = served.send("POST", "/api/work/jobs", &wrong);
        assert_eq!(answer.status, 400, "{wrong}: {}", answer.text());
    }
    assert_eq!(served.send("DELETE", "/api/work/jobs", &json!({})).status, 405);
    assert_eq!(served.get("/api/work/jobs").json()["jobs"], json!([]));

    // A file was removed; another one was replaced by a link to a file outside of the folder.
    std::fs::rename(dir.path("clips/in.mkv"), dir.path("in.mkv")).expect("a move");
    let gone = served.get(&format!("/api/work/files/{number}"));
    assert_eq!((gone.status, gone.json()["error"].as_str()), (404, Some("in.mkv: not there any more")));
    symlink(dir.path("secret.mkv"), dir.path("clips/in.mkv")).expect("a link");
    assert_eq!(served.get(&format!("/api/work/files/{number}/frame.jpg")).status, 404);
    assert_eq!(served.send("POST", "/api/work/jobs", &good).status, 400);
    served.ends();
    std::fs::remove_file(dir.path("clips/folder")).expect("a link");
    assert_eq!(dir.names(), ["clips/in.mkv", "clips/link.mkv", "in.mkv", "secret.mkv"]);
}

#[test]
fn off_this_machine_a_token_is_needed_no_place_is_told_and_a_root_bounds_it() {
    let (dir, outside) = (Dir::new(), Dir::new());
    folder_with(&dir, "in.mkv");
    dark_clip(&dir, "beside.mkv");
    dark_clip(&outside, "secret.mkv");
    symlink(outside.path("secret.mkv"), dir.path("clips/link.mkv")).expect("a link");
    symlink(outside.path("."), dir.path("link")).expect("a link");
    let served = Served::work(&dir, "--web=0.0.0.0:0 --root . clips");
    for path in ["/", "/api/work", "/api/work/folder", "/api/work/jobs", "/file/1", "/work.js"] {
        assert_eq!(served.get(path).status, 401, "{path}");
    }
    assert_eq!(served.give("a.mkv", b"\x1aE\xdf\xa3", BYTES).status, 401);
    let order = json!({ "files": [1], "chosen": chosen("night", "keep") });
    assert_eq!(served.send("POST", "/api/work/jobs", &order).status, 401);
    assert_eq!(served.send("PATCH", "/api/work/jobs", &json!({ "paused": true })).status, 401);
    let bearer = format!("Authorization: Bearer {}\r\n{JSON}", served.token);
    let get = |path: &str| served.ask("GET", path, &bearer, "").json();
    let folder = get("/api/work/folder");
    assert_eq!(folder["entries"].as_array().map(Vec::len), Some(1), "{folder}");
    let above = get(&format!("/api/work/folder/{}", folder["up"]));
    assert_eq!((&above["up"], above["entries"].as_array().map(Vec::len)), (&Value::Null, Some(3)), "{above}");
    let number = &folder["entries"][0]["number"];
    let order = json!({ "files": [number], "chosen": chosen("night", "keep") }).to_string();
    assert_eq!(served.ask("POST", "/api/work/jobs", &bearer, &order).status, 200);
    let begin = Instant::now();
    while get("/api/work/jobs")["jobs"][0]["state"] != "done" {
        assert!(begin.elapsed() < PATIENCE, "{}", get("/api/work/jobs"));
        pause(0.05);
    }
    let told = get("/api/work/jobs").to_string();
    assert!(told.contains("--look night in.mkv in-equalized.mkv"), "{told}");
    assert!(!told.contains(dir.path("").display().to_string().trim_end_matches('/')), "{told}");
    served.ends();

    for (line, says) in [
        ("web --no-browser --web=0 --root clips beside.mkv", "not in --root clips"),
        ("web --no-browser --web=0 nothing", "nothing: No such file"),
    ] {
        dir.run(line).fails().says(&[says]);
    }
    dir.run("web --no-browser --web=0 --max-upload x").exits_with(2).says(&["--max-upload is a number of bytes"]);
}

#[test]
fn read_only_is_for_looking_alone() {
    let dir = Dir::new();
    folder_with(&dir, "in.mkv");
    let served = Served::work(&dir, "--web=0 --read-only clips/in.mkv");
    assert_eq!(served.get("/api/work").json()["read_only"], true);
    let number = served.entry("in.mkv")["number"].clone();
    assert_eq!(served.get(&format!("/api/work/files/{number}/frame.jpg?look=night")).status, 200);
    let order = json!({ "files": [number], "chosen": chosen("night", "keep") });
    assert_eq!(served.send("POST", "/api/work/jobs", &order).status, 403);
    assert_eq!(served.give("a.mkv", &dir.read("clips/in.mkv"), BYTES).status, 403);
    served.ends();
    assert_eq!(dir.names(), ["clips/in.mkv"]);
}

#[test]
fn files_from_the_page_are_taken_made_downloaded_and_gone_at_the_end() {
    let dir = Dir::new();
    folder_with(&dir, "in.mkv");
    let clip = dir.read("clips/in.mkv");
    let served = Served::work(&dir, &format!("--web=0 --max-upload {} clips", 2 * clip.len() + 100));
    // Refused uploads: too large, no media by the bytes, no media by the name, wrong content type, request from another
    // site.
    let (too_large, text) = (vec![0x1A; 2 * clip.len() + 101], b"<html>a page that is no film at all".to_vec());
    for (name, bytes, headers, status) in [
        ("a.mkv", &too_large, BYTES, 413),
        ("a.mp4", &text, BYTES, 415),
        ("a.html", &clip, BYTES, 415),
        ("a.mkv", &clip, JSON, 415),
        ("a.mkv", &clip, "Content-Type: application/octet-stream\r\nOrigin: http://evil.example\r\n", 403),
    ] {
        assert_eq!(served.give(name, bytes, headers).status, status, "{name}");
    }
    let mut cut = format!(
        "POST /api/work/uploads?name=cut.mkv HTTP/1.1\r\nHost: {}\r\n{BYTES}Content-Length: {}\r\n\r\n",
        served.address,
        clip.len()
    )
    .into_bytes();
    cut.extend(&clip[..clip.len() / 2]);
    let mut stream = std::net::TcpStream::connect(&served.address).expect("a connection");
    std::io::Write::write_all(&mut stream, &cut).expect("a part");
    drop(stream);
    served.live.until("what was cut is gone", |_| {
        !dir.names().iter().any(|name| name.starts_with("tmp/")) && {
            let upload = served.get("/api/work").json()["upload"].clone();
            upload["left"] == upload["most"]
        }
    });

    let given = served.give("..%2F..%2Fam%20Strand.mkv", &clip, BYTES);
    assert_eq!((given.status, &given.json()["name"]), (201, &"am Strand.mkv".into()), "{}", given.text());
    assert_eq!(served.give("b.mkv", &clip, BYTES).status, 201);
    let more = served.give("c.mkv", &clip, BYTES);
    assert_eq!((more.status, more.text().contains("--max-upload")), (413, true), "{}", more.text());
    let private = std::fs::read_dir(dir.path("tmp")).expect("a folder").next().expect("one").expect("an entry");
    assert_eq!(private.metadata().expect("a folder").permissions().mode() & 0o777, 0o700);
    let job = served.make(&["am Strand.mkv"], &chosen("night", "web"))[0];
    let done = served.until_job(job, "done");
    assert_eq!((&done["is_given"], &done["is_awaited"], &done["place"]), (&true.into(), &true.into(), &Value::Null));
    assert_eq!(done["command"], "histeq-video --look night --for web 'am Strand.mkv' 'am Strand-equalized.mp4'");
    let saved = served.get(&format!("/api/work/jobs/{job}/download"));
    dir.write("saved.mp4", &saved.body);
    assert_eq!(dir.raw("saved.mp4", "gray").len(), 40 * 320 * 180);
    served.live.until("it is awaited no more", |_| served.job(job)["is_awaited"] == false);
    let said = served.ends();
    assert!(!said.contains("not downloaded"), "{said}");
    assert_eq!(dir.names(), ["clips/in.mkv", "saved.mp4"]);

    // A result that was not downloaded is kept, and the program prints its path.
    let served = Served::work(&dir, "--web=0 clips");
    assert_eq!(served.give("b.mkv", &clip, BYTES).status, 201);
    let job = served.make(&["b.mkv"], &chosen("night", "keep"))[0];
    served.until_job(job, "done");
    let said = served.ends();
    assert!(said.contains("1 result that was not downloaded is kept in "), "{said}");
    let left: Vec<String> = dir.names().into_iter().filter(|name| name.starts_with("tmp/")).collect();
    assert!(left.len() == 1 && left[0].ends_with("/b-equalized.mkv"), "{left:?}");
}

#[test]
fn what_goes_before_it_is_made_fails_by_its_name_and_the_queue_goes_on() {
    let dir = Dir::new();
    for name in ["a.mkv", "b.mkv"] {
        folder_with(&dir, name);
    }
    std::fs::create_dir(dir.path("clips/more")).expect("a folder");
    let served = Served::work(&dir, "--web=0 clips");
    let more = served.entry("more")["number"].clone();
    served.send("PATCH", "/api/work/jobs", &json!({ "paused": true }));
    let jobs = served.make(&["a.mkv", "b.mkv"], &chosen("night", "keep"));
    std::fs::remove_file(dir.path("clips/a.mkv")).expect("it was there");
    std::fs::remove_dir(dir.path("clips/more")).expect("it was there");
    served.send("PATCH", "/api/work/jobs", &json!({ "paused": false }));
    let failed = served.until_job(jobs[0], "failed");
    let error = failed["error"].as_str().expect("an error");
    assert!(error.starts_with("a.mkv: ") && !error.contains('\n'), "{error}");
    served.until_job(jobs[1], "done");
    let gone = served.get(&format!("/api/work/folder/{more}"));
    assert_eq!((gone.status, gone.json()["error"].as_str()), (400, Some("more: not there any more")));

    // A removed result can be neither shown nor downloaded.
    std::fs::remove_file(dir.path("clips/b-equalized.mkv")).expect("it was made");
    for what in ["", "/frame.jpg", "/download"] {
        assert_eq!(served.get(&format!("/api/work/jobs/{}{what}", jobs[1])).status, 404, "{what}");
    }
    served.ends();
    assert_eq!(dir.names(), ["clips/b.mkv"]);
}

#[test]
fn a_file_that_is_no_film_is_told_and_leaves_the_others_alone() {
    let dir = Dir::new();
    folder_with(&dir, "in.mkv");
    dir.write("clips/broken.mp4", b"no film");
    let served = Served::work(&dir, "--web=0 clips");
    let number = served.entry("broken.mp4")["number"].clone();
    let shown = served.get(&format!("/api/work/files/{number}"));
    assert_eq!(shown.status, 404);
    let said = shown.json()["error"].as_str().expect("an error").to_owned();
    assert!(said.starts_with("broken.mp4: ") && !said.contains('/'), "{said}");
    let jobs = served.make(&["broken.mp4", "in.mkv"], &chosen("natural", "keep"));
    let failed = served.until_job(jobs[0], "failed");
    let error = failed["error"].as_str().expect("an error");
    assert!(error.starts_with("broken.mp4: ") && !error.contains(&dir.path("").display().to_string()), "{error}");
    served.until_job(jobs[1], "done");
    served.ends();
    assert_eq!(dir.names(), ["clips/broken.mp4", "clips/in-equalized.mkv", "clips/in.mkv"]);
}

#[test]
fn what_waits_is_made_only_where_it_was_and_what_is_done_is_read_only_there() {
    let dir = Dir::new();
    folder_with(&dir, "in.mkv");
    for folder in ["clips/sub", "outside"] {
        std::fs::create_dir(dir.path(folder)).expect("a folder");
        std::fs::copy(dir.path("clips/in.mkv"), dir.path(folder).join("a.mkv")).expect("a copy");
    }
    symlink(".", dir.path("clips/circle")).expect("a link");
    let served = Served::work(&dir, "--web=0 clips");
    // A folder has the same number on every path to it.
    assert_eq!(served.entry("circle")["number"], 0);
    let [film, sub] = ["in.mkv", "sub"].map(|name| served.entry(name)["number"].clone());
    let inner = served.get(&format!("/api/work/folder/{sub}")).json()["entries"][0]["number"].clone();
    let order = |files: Value| {
        let answer =
            served.send("POST", "/api/work/jobs", &json!({ "files": files, "chosen": chosen("haze", "keep") }));
        answer.json()["jobs"].as_array().expect("jobs").iter().filter_map(Value::as_u64).collect::<Vec<_>>()
    };
    let done = order(json!([inner]))[0];
    served.until_job(done, "done");
    assert_eq!(served.get(&format!("/api/work/jobs/{done}/download")).status, 200);
    served.send("PATCH", "/api/work/jobs", &json!({ "paused": true }));
    let waiting = order(json!([film, inner]));
    std::fs::rename(dir.path("clips/sub"), dir.path("clips/before")).expect("a name");
    std::fs::write(dir.path("outside/a-equalized.mkv"), b"SECRET").expect("a file");
    symlink(dir.path("outside"), dir.path("clips/sub")).expect("a link");
    std::fs::remove_file(dir.path("clips/in.mkv")).expect("it was there");
    symlink(dir.path("outside/a.mkv"), dir.path("clips/in.mkv")).expect("a link");
    served.send("PATCH", "/api/work/jobs", &json!({ "paused": false }));
    for job in waiting {
        assert!(served.until_job(job, "failed")["error"].as_str().is_some_and(|error| error.contains("not there")));
    }
    for path in ["", "/download", "/frame.jpg?at=0"] {
        let answer = served.get(&format!("/api/work/jobs/{done}{path}"));
        assert_eq!((answer.status, answer.text().contains("SECRET")), (404, false), "{path}");
    }
    let outside: Vec<String> = dir.names().into_iter().filter(|name| name.starts_with("outside/")).collect();
    assert_eq!(outside, ["outside/a-equalized.mkv", "outside/a.mkv"]);
    served.ends();
}

#[test]
fn a_folder_that_becomes_a_link_while_a_result_is_written_gets_it_all_the_same() {
    let dir = Dir::new();
    long_clip(&dir, "long.mkv");
    ["clips/sub", "outside"].iter().for_each(|folder| std::fs::create_dir(dir.path(folder)).expect("a folder"));
    std::fs::rename(dir.path("clips/long.mkv"), dir.path("clips/sub/long.mkv")).expect("a name");
    let served = Served::work(&dir, "--web=0 clips");
    let sub = served.entry("sub")["number"].clone();
    let inner = served.get(&format!("/api/work/folder/{sub}")).json()["entries"][0]["number"].clone();
    let asked = json!({ "files": [inner], "chosen": chosen("haze", "keep") });
    let job = served.send("POST", "/api/work/jobs", &asked).json()["jobs"][0].as_u64().expect("a job");
    served.live.until("frames", |_| served.job(job)["frame"].as_u64().is_some_and(|frames| frames > 5));
    std::fs::rename(dir.path("clips/sub"), dir.path("clips/before")).expect("a name");
    symlink(dir.path("outside"), dir.path("clips/sub")).expect("a link");
    served.send("PATCH", &format!("/api/work/jobs/{job}"), &json!("cancel"));
    served.until_job(job, "cancelled");
    served.ends();
    assert_eq!(dir.names(), ["clips/before/long-equalized.partial.mkv", "clips/before/long.mkv"]);
}

#[test]
fn a_result_of_which_a_part_was_downloaded_is_kept_and_half_a_file_is_not() {
    let dir = Dir::new();
    dark_clip(&dir, "in.mkv");
    let served = Served::work(&dir, "--web=0 .");
    let job = served.made_of_upload(&dir.read("in.mkv"));
    let part = served.ask("GET", &format!("/api/work/jobs/{job}/download"), "Range: bytes=-1\r\n", "");
    assert_eq!((part.status, part.body.len()), (206, 1));
    // A client that goes before it has read all of it.
    let mut client = TcpStream::connect(&served.address).expect("a connection");
    let request = format!("GET /api/work/jobs/{job}/download HTTP/1.1\r\nHost: {}\r\n\r\n", served.address);
    client.write_all(request.as_bytes()).and_then(|()| client.read_exact(&mut [0; 500])).expect("a part");
    drop(client);
    // The sender uploads only half, and keeps the connection open.
    let mut sender = TcpStream::connect(&served.address).expect("a connection");
    let host = &served.address;
    let head = format!(
        "POST /api/work/uploads?name=half.mkv HTTP/1.1\r\nHost: {host}\r\nContent-Length: 3000000\r\n{BYTES}\r\n"
    );
    sender.write_all(head.as_bytes()).and_then(|()| sender.write_all(&dir.read("in.mkv"))).expect("half of it");
    let is_coming = |name: &String| name.ends_with("/half.mkv");
    served.live.until("half a file", |_| dir.names().iter().any(is_coming));
    let said = served.ends();
    assert!(said.contains("1 result that was not downloaded is kept in"), "{said}");
    let names = dir.names();
    assert!(names.iter().any(|name| name.ends_with("in-equalized.mkv")) && !names.iter().any(is_coming), "{names:?}");
}

#[test]
fn what_becomes_a_link_or_a_list_of_other_files_shows_nothing_of_them() {
    let dir = Dir::new();
    folder_with(&dir, "in.mkv");
    dark_clip(&dir, "secret.mkv");
    dir.write("clips/list.mkv", b"ffconcat version 1.0\nfile ../secret.mkv\n");
    let served = Served::work(&dir, "--web=0 --sandbox off clips/in.mkv clips/list.mkv");
    let [film, list] = ["in.mkv", "list.mkv"].map(|name| served.entry(name)["number"].clone());
    assert_eq!(served.get(&format!("/api/work/files/{list}")).status, 404);
    assert_eq!(served.get(&format!("/api/work/files/{list}/small.jpg")).status, 500);
    let job = served.make(&["list.mkv"], &chosen("night", "keep"))[0];
    served.until_job(job, "failed");
    assert_eq!(served.get(&format!("/api/work/files/{film}")).status, 200);
    std::fs::remove_file(dir.path("clips/in.mkv")).expect("it was there");
    symlink(dir.path("secret.mkv"), dir.path("clips/in.mkv")).expect("a link");
    let listed = served.get("/api/work/folder").json();
    let names: Vec<&Value> =
        listed["entries"].as_array().expect("entries").iter().map(|entry| &entry["name"]).collect();
    assert_eq!(names, ["list.mkv"]);
    assert_eq!(served.get(&format!("/api/work/files/{film}")).status, 404);
    served.ends();
}

#[test]
fn what_is_left_of_an_upload_is_kept_where_that_is_said_and_nothing_after_two_signals() {
    let dir = Dir::new();
    long_clip(&dir, "long.mkv");
    let film = dir.read("clips/long.mkv");
    let private = |dir: &Dir| dir.names().into_iter().filter(|name| name.starts_with("tmp/")).collect::<Vec<_>>();
    let served = Served::work(&dir, "--web=0 clips");
    assert_eq!(served.give("a.mkv", &film, BYTES).status, 201);
    // Its rest cannot be downloaded.
    let job = served.begin_one("a.mkv");
    assert_eq!(served.send("PATCH", &format!("/api/work/jobs/{job}"), &json!("cancel")).status, 200);
    assert_eq!(served.until_job(job, "cancelled")["partial"], Value::Null);
    assert_eq!(private(&dir).len(), 1, "{:?}", private(&dir));
    served.begin_one("a.mkv");
    let said = served.ends();
    assert!(said.contains("a.mkv: interrupted -> ") && said.contains("1 result that was not downloaded"), "{said}");
    let left = private(&dir);
    assert!(left.len() == 1 && left[0].ends_with("/a-equalized.partial.mkv"), "{left:?}");
    std::fs::remove_dir_all(dir.path("tmp")).expect("a folder");

    let served = Served::work(&dir, "--web=0 clips");
    assert_eq!(served.give("a.mkv", &film, BYTES).status, 201);
    let input = dir.path("tmp").canonicalize().expect("a folder").display().to_string();
    served.begin_one("a.mkv");
    served.live.signal(Signal::INT);
    served.live.until_it_says("again to give up at once");
    pause(0.3);
    served.live.signal(Signal::TERM);
    let (code, said) = served.live.end();
    assert!(matches!(code, Some(0 | 130)), "{code:?} {said}");
    let begin = Instant::now();
    while is_at_work_on(&input) {
        assert!(begin.elapsed() < PATIENCE, "a process goes on");
        pause(0.02);
    }
    // Had the first signal time to finish the file, then it is kept.
    let left = private(&dir);
    assert!(left.iter().all(|name| code == Some(0) && name.ends_with(".partial.mkv")), "{code:?} {left:?}");
}

#[test]
fn a_browser_that_does_not_open_is_told() {
    let dir = Dir::new();
    folder_with(&dir, "in.mkv");
    std::fs::create_dir(dir.path("bin")).expect("a folder");
    dir.write("bin/xdg-open", b"#!/bin/sh\necho \"$1\" >\"${0%/*}/opened\"\nexit 4\n");
    std::fs::set_permissions(dir.path("bin/xdg-open"), std::fs::Permissions::from_mode(0o755)).expect("a file of ours");
    let path = format!("{}:{}", dir.path("bin").display(), std::env::var("PATH").unwrap_or_default());
    let mut command = dir.command("web --web=0 clips");
    command.env("DISPLAY", ":0").env("PATH", path).stderr(Stdio::piped());
    let live = Beside::start(&mut command).expect("the program runs");
    live.until_it_says("no browser could be opened: open the address in one");
    assert!(String::from_utf8_lossy(&dir.read("bin/opened")).starts_with("http://127.0.0.1:"));
    live.signal(Signal::TERM);
    assert_eq!(live.end().0, Some(0));
}
