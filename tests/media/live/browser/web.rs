//! The view in a browser: the answers of its URLs, and who may request them. tests/media/live/browser/web.py tests with a browser.

use crate::media::live::*;
use crate::support::pictures::apart;
use crate::support::programs::http::{Answer, exchange};
use crate::support::programs::program::{Run, program};
use crate::support::programs::running::under_load;
use crate::support::random::Random;
use crate::support::skip::skip;
use std::ffi::OsStr;
use std::fs::Permissions;
use std::io::Write;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, chown, symlink};

/// A run with a web view, its address and its token.
pub(crate) struct Served {
    pub(crate) live: Beside,
    pub(crate) address: String,
    pub(crate) token: String,
}

impl Served {
    fn begin(dir: &Dir, line: &str) -> Self {
        let source = "-f lavfi testsrc2=s=160x120:r=10,realtime";
        let served = Served::new(Beside::live(dir, &format!("{line} {source}")));
        served.live.until_more_frames(3);
        served
    }

    /// Runs `preview`, which shows a file in a browser.
    fn file(dir: &Dir, line: &str) -> Self {
        let mut command = dir.command(&format!("preview {line}"));
        Served::new(Beside::start(command.stderr(Stdio::piped())).expect("the program runs"))
    }

    pub(crate) fn new(live: Beside) -> Self {
        live.until_it_says("in a browser: http://");
        let text = live.said();
        let url = text.split("in a browser: http://").nth(1).and_then(|rest| rest.split_whitespace().next());
        let (address, token) = url.expect("a URL").split_once('/').expect("a path");
        let port = address.rsplit_once(':').expect("a port").1;
        Served {
            address: format!("127.0.0.1:{port}"),
            token: token.strip_prefix("?token=").unwrap_or_default().to_owned(),
            live,
        }
    }

    pub(crate) fn raw(&self, request: &[u8]) -> Answer {
        exchange(&self.address, request)
    }

    pub(crate) fn ask(&self, method: &str, path: &str, headers: &str, body: &str) -> Answer {
        let (host, length) = (&self.address, body.len());
        self.raw(
            format!(
                "{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n{body}"
            )
            .as_bytes(),
        )
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, "", "")
    }

    fn change(&self, body: &str) -> Answer {
        self.ask("PATCH", "/api/sources/1", "Content-Type: application/json\r\n", body)
    }
}

#[test]
fn a_source_is_told_and_changed_while_it_runs() {
    let dir = Dir::new();
    let served = Served::begin(&dir, "--web=0 --segment 1s --record cam-%s.mkv");
    let page = served.get("/");
    assert_eq!(page.status, 200, "{}", page.head);
    assert!(page.text().contains("/page.js") && page.head.contains("content-security-policy: default-src 'none'"));
    // The page loads nothing from other sites, and has no inline scripts or styles.
    assert!(!page.text().contains("//") && !page.text().contains("style=") && !page.text().contains("onclick"));
    assert_eq!(
        [served.get("/page.js").status, served.get("/page.css").status, served.get("/x").status],
        [200, 200, 404]
    );

    let state = served.get("/api/sources").json()[0].clone();
    assert_eq!((&state["source"], &state["width"], &state["look"]), (&1.into(), &160.into(), &"natural".into()));
    // The name has no path of this machine; of a filter, it has only the filter's name.
    assert!(!state["name"].as_str().expect("a name").contains('/'), "{state}");
    assert_eq!(state["recording"], true);
    let state = served.change(r#"{"look": "thermal", "strength": 0.5}"#).json();
    assert_eq!((&state["look"], &state["strength"]), (&"thermal".into(), &0.5.into()), "{state}");
    served.live.until_it_says("the view in the browser says look thermal");
    served.live.until_it_says("the view in the browser says strength 0.5");
    for wrong in [r#"{"look": "none"}"#, r#"{"strength": 2}"#, r#"{"lok": "night"}"#, "{", ""] {
        let answer = served.change(wrong);
        assert_eq!(answer.status, 400, "{wrong}: {}", answer.text());
        assert!(answer.json()["error"].is_string(), "{wrong}");
    }
    assert_eq!(served.ask("PATCH", "/api/sources/1", "Content-Type: text/plain\r\n", "{}").status, 415);
    assert_eq!(served.get("/api/sources/2").status, 404);
    assert_eq!((served.get("/api/file").json(), served.get("/api/file/frame").status), (serde_json::Value::Null, 404));
    assert_eq!(served.change(&format!("{{\"look\": \"{}\"}}", "x".repeat(100_000))).status, 413);

    let health = served.get("/health");
    assert_eq!((health.status, health.text().as_str()), (200, "ok\n"));
    let metrics = served.get("/metrics").text();
    assert!(metrics.contains("# TYPE histeq_frames_total counter\nhisteq_frames_total{source=\"1\""), "{metrics}");
    assert!(
        metrics
            .lines()
            .filter(|line| !line.starts_with('#'))
            .all(|line| { line.rsplit_once(' ').is_some_and(|(_, value)| value.parse::<f64>().is_ok()) })
    );
    for side in ["original", "equalized", "both"] {
        let picture = served.get(&format!("/api/sources/1/picture.jpg?of={side}"));
        assert_eq!(picture.body[..2], [0xFF, 0xD8], "{side}");
        dir.write("picture.jpg", &picture.body);
        let rows = if side == "both" { 240 } else { 120 };
        assert_eq!(dir.raw("picture.jpg", "gray").len(), 160 * rows, "{side}");
    }

    // Recording can be paused and resumed; each file can be downloaded, completely or in part.
    let recorded = || served.get("/api/sources/1/recordings").json().as_array().expect("a list").clone();
    served.live.until("a segment", |_| recorded().len() > 1);
    assert_eq!(served.change(r#"{"recording": false}"#).json()["recording"], false);
    served.live.until_it_says("recording is paused");
    assert_eq!(served.change(r#"{"recording": true}"#).json()["recording"], true);
    let first = &recorded()[0];
    let path = format!("/api/sources/1/recordings/{}", first["name"].as_str().expect("a name"));
    let (all, part) = (served.get(&path), served.ask("GET", &path, "Range: bytes=10-19\r\n", ""));
    assert_eq!((all.status, all.body.len() as u64), (200, first["bytes"].as_u64().expect("bytes")));
    assert_eq!((part.status, &part.body[..]), (206, &all.body[10..20]));
    for wrong in ["../cam.mkv", "..%2f..%2fetc%2fpasswd", "%2fetc%2fpasswd", "picture.jpg", ""] {
        assert_eq!(served.get(&format!("/api/sources/1/recordings/{wrong}")).status, 404, "{wrong}");
    }
    served.live.signal(Signal::TERM);
    let (code, said) = served.live.end();
    assert_eq!(code, Some(0), "{said}");
}

#[test]
fn what_the_page_changes_is_done() {
    let dir = Dir::new();
    let ramp = "-f lavfi 'nullsrc=s=160x120:r=10,geq=lum=16+X/2:cb=128:cr=128,realtime'";
    let served = Served::new(Beside::live(&dir, &format!("--web=0 --encoder ffv1 --record cam.mkv {ramp}")));
    served.live.until_more_frames(3);
    let picture = |side: &str| {
        dir.write("shown.jpg", &served.get(&format!("/api/sources/1/picture.jpg?of={side}")).body);
        dir.raw("shown.jpg", "rgb24")
    };
    // The third frame of a recording with these options, which the page should show.
    let made = |options: &str| {
        dir.succeeds(&format!(
            "live -y --backend cpu --no-preview {options} --encoder ffv1 --frames 3 --record made.mkv {ramp}"
        ));
        dir.raw("made.mkv", "rgb24").split_off(2 * 3 * 160 * 120)
    };
    let original = picture("original");
    assert!(apart(&picture("equalized"), &original) > 10.0);
    for (change, options) in [
        (r#"{"strength": 0}"#, "--strength 0"),
        (r#"{"look": "thermal", "strength": 1}"#, "--look thermal"),
        (r#"{"strength": 0.5}"#, "--look thermal --strength 0.5"),
        (r#"{"look": "night"}"#, "--look night --strength 0.5"),
        (r#"{"look": "exact", "strength": 1}"#, "--look exact"),
    ] {
        assert_eq!(served.change(change).status, 200, "{change}");
        let made = made(options);
        served.live.until(change, |_| apart(&picture("equalized"), &made) < 1.5);
    }
    let made = made("--look exact");

    // A paused recording does not grow.
    let length = || std::fs::metadata(dir.path("cam.mkv")).expect("a recording").len();
    served.change(r#"{"recording": false}"#);
    served.live.until_it_says("recording is paused");
    served.live.until_more_frames(20);
    let paused = length();
    served.live.until_more_frames(20);
    assert_eq!(length(), paused);
    served.change(r#"{"recording": true}"#);
    served.live.until("it goes on", |_| length() > paused);
    served.live.until_more_frames(10);
    served.live.signal(Signal::TERM);
    let (code, said) = served.live.end();
    assert_eq!(code, Some(0), "{said}");
    // The recording has the chosen look, and a gap in its timestamps for the pause.
    let times = dir.frame_times("cam.mkv");
    assert!(times.windows(2).any(|pair| pair[1] - pair[0] > 3.0), "{times:?}");
    let recorded = dir.raw("cam.mkv", "rgb24");
    assert!(apart(&recorded[recorded.len() - 3 * 160 * 120..], &made) < 0.1);
}

#[test]
fn what_the_page_cannot_change_is_refused() {
    let dir = Dir::new();
    let served = Served::begin(&dir, "--web=0 --range 20:200");
    for (change, said) in [
        (r#"{"look": "night"}"#, "this source has curves that are given, and no look"),
        (r#"{"strength": 0.5}"#, "this source has a range that is given, and no strength"),
        (r#"{"recording": false}"#, "this source is not recorded"),
    ] {
        let answer = served.change(change);
        assert_eq!((answer.status, answer.json()["error"].as_str()), (400, Some(said)));
    }
    let said = served.live.said();
    assert!(!said.contains("the view in the browser says"), "{said}");
    served.live.terminate();
}

#[test]
fn from_other_machines_nothing_is_told_without_the_token_and_no_page_of_others_gets_in() {
    let dir = Dir::new();
    let served = Served::begin(&dir, "--web=0.0.0.0:0");
    assert_eq!(served.token.len(), 32);
    let paths = ["/", "/page.js", "/api/sources", "/api/sources/1/picture.jpg", "/health", "/metrics", "/none"];
    for path in paths {
        assert_eq!(served.get(path).status, 401, "{path}");
        let evil = format!("GET {path} HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n");
        assert_eq!(served.raw(evil.as_bytes()).status, 421, "{path}");
    }
    let page = served.get(&format!("/?token={}", served.token));
    let cookie = page.head.lines().find_map(|line| line.strip_prefix("set-cookie: ")).expect("a cookie");
    assert!(cookie.contains("httponly; samesite=strict"), "{cookie}");
    let cookie = format!("Cookie: {}\r\n", cookie.split(';').next().expect("a value"));
    assert_eq!(served.ask("GET", "/api/sources", &cookie, "").status, 200);
    let bearer = format!("Authorization: Bearer {}\r\n", served.token);
    assert_eq!(served.ask("GET", "/metrics", &bearer, "").status, 200);
    let origin = format!("{cookie}Origin: http://evil.example\r\nContent-Type: application/json\r\n");
    assert_eq!(served.ask("PATCH", "/api/sources/1", &origin, "{}").status, 403);
    let socket = format!("{origin}Upgrade: websocket\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n");
    assert_eq!(served.ask("GET", "/api/sources/1/video", &socket, "").status, 403);
    assert_eq!(served.ask("GET", "/api/sources/1/video", &cookie, "").status, 426);
    served.live.terminate();
}

/// The printed addresses, without their tokens.
fn printed(said: &str) -> Vec<String> {
    let hosts = said.split("in a browser: http://").skip(1).filter_map(|rest| rest.split('/').next());
    hosts.map(str::to_owned).collect()
}

#[test]
fn off_this_machine_the_addresses_that_are_printed_are_numbers_that_answer() {
    let dir = Dir::new();
    let everywhere = ["0.0.0.0:0", "[::]:0"].into_iter().filter(|address| TcpListener::bind(address).is_ok());
    for listened in everywhere {
        let served = Served::begin(&dir, &format!("--web={listened}"));
        let addresses = printed(&served.live.said());
        assert!(!addresses.is_empty());
        for address in &addresses {
            let number: SocketAddr = address.parse().unwrap_or_else(|error| panic!("{address}: {error}"));
            assert!(!number.ip().is_unspecified(), "{address}");
            let ask = |host: &str| {
                let bearer = format!("Authorization: Bearer {}", served.token);
                let head = format!("GET /health HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{bearer}\r\n\r\n");
                exchange(address, head.as_bytes()).status
            };
            assert_eq!(ask(address), 200, "{address}");
            // A foreign IP address is accepted, because the machine may be behind a router. A host name is refused,
            // because another site may have it resolve to this machine.
            for (host, status) in [("203.0.113.77", 200), ("vm.example", 421)] {
                assert_eq!(ask(&format!("{host}:{}", number.port())), status, "{host} at {address}");
            }
        }
        served.live.terminate();
    }
}

#[test]
fn the_addresses_that_others_can_reach_are_printed() {
    let dir = Dir::new();
    let inside = |numbers: &[&str], line: &str| {
        let mut command = dir.other_command("unshare", "--user --map-root-user --net sh -c");
        let added: String = numbers.iter().map(|number| format!("ip addr add {number} dev lo && ")).collect();
        command.arg(format!("ip link set lo up && {added}exec {line}"));
        Run::from_command(&mut command, line)
    };
    if inside(&[], "true").code != Some(0) {
        return skip("a network of its own", "no process can have one here (unshare --user --net)");
    }
    let several = ["198.51.100.7/24", "203.0.113.9/32", "169.254.7.7/16"];
    for (numbers, listened, expected) in [
        (&several[..], "0.0.0.0:0", &["198.51.100.7", "203.0.113.9"][..]),
        (&several[..], "203.0.113.9:0", &["203.0.113.9"][..]),
        (&several[1..], "0.0.0.0:0", &["203.0.113.9"][..]),
        (&several[..0], "0.0.0.0:0", &["127.0.0.1"][..]),
    ] {
        let live = format!("live --backend cpu --web={listened} --frames 3 -f lavfi testsrc2=s=64x48:r=10,realtime");
        let run = inside(numbers, &format!("{} {live}", program().display())).exits_with(0);
        let addresses = printed(&run.stderr);
        let hosts: Vec<&str> = addresses.iter().filter_map(|address| Some(address.rsplit_once(':')?.0)).collect();
        assert_eq!(hosts, expected, "{}", run.stderr);
        // If there are several addresses, each is printed with its interface.
        assert_eq!(
            run.stderr.matches(" (lo)").count(),
            if hosts.len() > 1 { hosts.len() } else { 0 },
            "{}",
            run.stderr
        );
    }
}

#[test]
fn a_token_that_a_file_keeps_is_that_of_the_next_run_too() {
    let dir = Dir::new();
    let begin = |address: &str| Served::begin(&dir, &format!("-v --web={address} --web-token kept"));
    let served = begin("127.0.0.1:0");
    let (address, token) = (served.address.clone(), served.token.clone());
    assert_eq!((token.len(), dir.read("kept")), (32, format!("{token}\n").into_bytes()));
    let mode = |file: &str| std::fs::metadata(dir.path(file)).expect("a file").permissions().mode() & 0o7777;
    assert_eq!(mode("kept"), 0o600);
    // The user asked for a token, so requests from this machine need it as well.
    assert_eq!(served.get("/api/sources").status, 401);
    let page = format!("/?token={token}");
    let opened = served.get(&page);
    let cookie = opened.head.lines().find_map(|line| line.strip_prefix("set-cookie: ")?.split(';').next());
    let cookie = format!("Cookie: {}\r\n", cookie.expect("a cookie"));
    assert_eq!(served.ask("GET", "/api/sources", &cookie, "").status, 200);
    served.live.signal(Signal::TERM);
    let (code, said) = served.live.end();
    assert_eq!((code, said.matches(&token).count()), (Some(0), 1), "{said}");

    // After a restart, the address and the cookie of a page that is still open remain valid.
    let served = begin(&address);
    assert_eq!((&served.address, &served.token), (&address, &token));
    assert_eq!(served.get(&page).status, 200);
    assert_eq!(served.ask("GET", "/api/sources", &cookie, "").status, 200);
    served.live.terminate();

    // The token is printed in the address only, not in events.
    let source = "--frames 3 -f lavfi testsrc2=s=64x48:r=10,realtime";
    let events = dir.succeeds(&format!("live --backend cpu -v --progress json --web=0 --web-token kept {source}"));
    assert_eq!(events.stderr.matches(&token).count(), 1, "{}", events.stderr);
    // A token that a person has made up is valid, too.
    dir.write("own", format!("{}-._~\n", "Ab9".repeat(12)).as_bytes());
    std::fs::set_permissions(dir.path("own"), Permissions::from_mode(0o400)).expect("a mode");
    dir.succeeds(&format!("live --backend cpu --web=0 --web-token own {source}")).says(&["/?token=Ab9Ab9"]);
}

#[test]
fn a_file_of_a_token_that_others_can_use_or_that_is_none_is_refused() {
    let dir = Dir::new();
    dark_clip(&dir, "in.mkv");
    dir.write("c.toml", b"web-token = \"kept\"\nweb = \"0\"\n[camera.gate]\nsource = \"in.mkv\"\n");
    let token = "0123456789abcdef0123456789abcdef";
    let lines = [
        "live --web=0 --web-token kept in.mkv",
        "live --dry-run --web=0 --web-token kept in.mkv",
        "live --config c.toml",
        "live --dry-run --config c.toml",
        "preview --web=0 --web-token kept in.mkv",
    ];
    let is_refused = |said: &str| {
        for line in lines {
            dir.run(line).fails().says(&["--web-token kept: ", said]).never_says(&token[1..]);
        }
    };
    for (mode, text, said) in [
        (0o644, token.to_owned(), "its mode is 644, which is not for its owner alone (chmod 600 kept)"),
        (0o620, token.to_owned(), "its mode is 620"),
        (0o600, token[1..].to_owned(), "a token has 32 to 256 letters, digits and - . _ ~ (remove the file"),
        (0o600, "a".repeat(257), "a token has 32 to 256"),
        (0o600, format!("{token}/"), "a token has 32 to 256"),
        (0o600, format!("{token} {token}"), "a token has 32 to 256"),
        (0o600, format!("{token}\u{fc}"), "a token has 32 to 256"),
        (0o600, String::new(), "a token has 32 to 256"),
    ] {
        dir.write("kept", text.as_bytes());
        std::fs::set_permissions(dir.path("kept"), Permissions::from_mode(mode)).expect("a mode");
        is_refused(said);
        assert_eq!(dir.read("kept"), text.as_bytes(), "it is left as it is");
    }
    dir.write("kept", token.as_bytes());
    match chown(dir.path("kept"), Some(65_534), None) {
        Ok(()) => is_refused("it belongs to another user"),
        Err(_) => skip("a file of another user", "only root can give one away"),
    }
    std::fs::rename(dir.path("kept"), dir.path("elsewhere")).expect("a name");
    for place in ["elsewhere", "nowhere"] {
        symlink(place, dir.path("kept")).expect("a link");
        is_refused("a link, which is not followed here");
        std::fs::remove_file(dir.path("kept")).expect("a link");
    }
    std::fs::create_dir(dir.path("kept")).expect("a folder");
    is_refused("a folder (give a file name)");
    let before = dir.names();
    dir.run("live --web=0 --web-token none/kept in.mkv").exits_with(4).says(&["--web-token none/kept: No such file"]);
    dir.run("live --web-token new in.mkv").exits_with(2).says(&["--web"]);
    // `--dry-run` does not create the token's file.
    dir.succeeds("live --dry-run --web=0 --web-token new in.mkv");
    assert_eq!(dir.names(), before);
    let gate = "[camera.gate]\nweb-token = \"new\"\nsource = \"in.mkv\"\n";
    dir.write("c.toml", format!("web = \"0\"\n{gate}").as_bytes());
    dir.run("live --config c.toml").exits_with(2).says(&["c.toml:3:1: web-token is one for all cameras"]);
}

#[test]
fn all_cameras_are_listed_also_one_that_is_away_and_their_pictures_are_as_small_as_is_asked() {
    let dir = Dir::new();
    let film = |name: &str, source: &str| {
        format!("[camera.{name}]\nsource = \"{source}:r=10,realtime\"\nformat = \"lavfi\"\n")
    };
    let films = [film("gate", "smptebars=s=640x360"), film("yard", "testsrc2=s=160x120")].concat();
    dir.write("c.toml", format!("{films}[camera.roof]\nsource = \"tcp://127.0.0.1:9\"\n").as_bytes());
    let served = Served::new(Beside::live(&dir, "--web=0 --config c.toml"));
    let cameras = || served.get("/api/cameras").json().as_array().expect("a list").clone();
    let picture = |source: usize, asked: &str| served.get(&format!("/api/sources/{source}/picture.jpg?{asked}"));
    for source in [1, 2] {
        served.live.until("a picture", |_| picture(source, "").status == 200);
    }
    let all = cameras();
    let named: Vec<_> = all.iter().map(|camera| (camera["source"].as_u64(), camera["name"].as_str())).collect();
    assert_eq!(named, [(Some(1), Some("gate")), (Some(2), Some("yard")), (Some(3), Some("roof"))]);
    assert_eq!((&all[0]["state"]["width"], &all[1]["state"]["width"]), (&640.into(), &160.into()));
    assert!(all[2]["state"].is_null() && picture(3, "rows=90").status == 404, "{all:?}");

    for (source, asked, size) in [
        (1, "rows=90", (160, 90)),
        (1, "rows=200", (320, 180)),
        (1, "rows=5000", (640, 360)),
        (1, "rows=0", (160, 90)),
        (1, "of=original&rows=90", (160, 90)),
        (1, "of=both&rows=90", (160, 180)),
        // Frames are never enlarged.
        (2, "rows=720", (160, 120)),
        (2, "", (160, 120)),
    ] {
        dir.write("shown.jpg", &picture(source, asked).body);
        let stream = &dir.streams("shown.jpg")[0];
        assert_eq!((&stream["width"], &stream["height"]), (&size.0.into(), &size.1.into()), "{source}: {asked}");
    }
    // A small version shows the same frame as a large one.
    dir.write("large.jpg", &picture(1, "").body);
    dir.write("small.jpg", &picture(1, "rows=90").body);
    dir.ffmpeg("-i large.jpg -vf scale=160:90 -frames:v 1 -update 1 scaled.png");
    let off = apart(&dir.raw("scaled.png", "rgb24"), &dir.raw("small.jpg", "rgb24"));
    assert!(off < 10.0, "{off}");

    // A camera that is removed from the TOML file disappears from the list.
    dir.write("c.toml", films.as_bytes());
    served.live.signal(Signal::HUP);
    served.live.until("two cameras", |_| cameras().len() == 2);
    served.live.terminate();
}

#[test]
fn half_open_connections_and_noise_leave_the_run_and_other_viewers_alone() {
    let dir = Dir::new();
    let served = Served::begin(&dir, "--web=0");
    // More than the server allows for one address: they give way to those that send a whole request.
    let half_open: Vec<TcpStream> = (0..150)
        .map(|_| {
            let mut stream = TcpStream::connect(&served.address).expect("a connection");
            stream.write_all(b"GET / HTTP/1.1\r\nHost: ").expect("a part");
            stream
        })
        .collect();
    assert_eq!(served.get("/health").status, 200);
    let mut random = Random::new(7);
    for _ in 0..300 {
        let mut stream = TcpStream::connect(&served.address).expect("a connection");
        let length = random.below(600) as usize;
        let mut noise: Vec<u8> = (0..length).map(|_| random.below(256) as u8).collect();
        if random.below(2) == 0 {
            noise.splice(0..0, *b"GET /api/sources/");
        }
        // Writing fails if the server has closed the connection.
        let _ = stream.write_all(&noise);
    }
    // The request's header has the maximum length, and does not end. If it were longer, closing the connection with
    // unread data would reset it before the client reads the answer.
    let mut long = format!("GET / HTTP/1.1\r\nHost: {}\r\nX: ", served.address);
    long.extend(std::iter::repeat_n('x', 16_384 - long.len()));
    // The server allows 128 connections per address, and closes more of them without an answer. The connections with
    // noise may still be open.
    let begin = Instant::now();
    let answer = loop {
        let answer = served.raw(long.as_bytes());
        if answer.status != 0 || begin.elapsed() > under_load(Duration::from_secs(10)) {
            break answer;
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    assert_eq!(answer.status, 431);
    assert_eq!(served.get("/health").status, 200);
    served.live.until_more_frames(5);
    drop(half_open);
    served.live.signal(Signal::TERM);
    let (code, said) = served.live.end();
    assert_eq!(code, Some(0), "{said}");
    assert!(!said.contains("panicked"), "{said}");
}

/// 40 dark frames at 25 frames/s; each is a level brighter than the one before.
pub(crate) fn dark_clip(dir: &Dir, file: &str) {
    let picture = "format=yuv420p,geq=lum=20+mod(X+Y\\,64)/2+N:cb=120:cr=132";
    dir.ffmpeg(&format!("-f lavfi -i nullsrc=size=320x180:rate=25 -vf {picture} -frames:v 40 -c:v ffv1 {file}"));
}

/// Frame `number` of a video, or an image, in RGB.
pub(crate) fn frame_of(dir: &Dir, file: &str, number: usize) -> Vec<u8> {
    dir.ffmpeg(&format!("-i {file} -vf select=eq(n\\,{number}) -frames:v 1 -update 1 frame.png"));
    dir.raw("frame.png", "rgb24")
}

#[test]
fn pictures_in_a_browser_have_the_colours_of_hd_video() {
    let dir = Dir::new();
    let matrix = "format=gbrp,scale=out_color_matrix=bt709:out_range=tv,format=yuv420p";
    dir.ffmpeg(&format!("-f lavfi -i color=0xc83c28:size=1280x720:rate=25,{matrix} -frames:v 2 -c:v ffv1 hd.avi"));
    let served = Served::file(&dir, "--web=0 hd.avi");
    for asked in ["of=original", "of=both&rows=360"] {
        dir.write("shown.jpg", &served.get(&format!("/api/file/frame.jpg?at=0&{asked}")).body);
        let shown = dir.raw("shown.jpg", "rgb24");
        let off = shown[..3].iter().zip([0xc8_u8, 0x3c, 0x28]).map(|(is, was)| is.abs_diff(was)).max();
        assert!(off <= Some(4), "{asked}: {:?}", &shown[..3]);
    }
}

#[test]
fn a_file_is_seen_as_its_command_makes_it_before_anything_is_written() {
    let dir = Dir::new();
    std::fs::create_dir(dir.path("clips")).expect("a folder");
    dark_clip(&dir, "clips/in.mkv");
    let served = Served::file(&dir, "--web=0 clips/in.mkv");
    let facts = served.get("/api/file").json();
    assert_eq!((&facts["name"], &facts["duration"], &facts["rate"]), (&"in.mkv".into(), &1.6.into(), &25.0.into()));
    assert_eq!((&facts["width"], &facts["height"], &facts["is_image"]), (&320.into(), &180.into(), &false.into()));
    assert_eq!(facts["looks"].as_array().map(Vec::len), Some(7));

    let asked = "at=0.8&look=haze&strength=0.5";
    let numbers = served.get(&format!("/api/file/frame?{asked}")).json();
    assert_eq!((&numbers["time"], &numbers["strength"]), (&"0:00.80".into(), &0.5.into()), "{numbers}");
    let pixels: u64 = numbers["histogram"].as_array().expect("columns").iter().filter_map(|count| count.as_u64()).sum();
    assert_eq!(pixels, 320 * 180);
    assert!(numbers["curve"].as_array().is_some_and(|curve| curve.len() > 10), "{numbers}");
    let command = served.get(&format!("/api/file/command?{asked}")).json();
    let command = command["command"].as_str().expect("a command");
    assert_eq!(command, "histeq-video --look haze --strength 0.5 clips/in.mkv in-equalized.mkv");

    // The page shows what the command writes.
    dir.succeeds(&format!("--backend cpu {}", command.strip_prefix("histeq-video ").expect("the program")));
    let [original, equalized] = ["clips/in.mkv", "in-equalized.mkv"].map(|file| frame_of(&dir, file, 20));
    assert!(apart(&original, &equalized) > 8.0, "{}", apart(&original, &equalized));
    for (side, is) in [("original", &original), ("equalized", &equalized)] {
        dir.write("shown.jpg", &served.get(&format!("/api/file/frame.jpg?of={side}&{asked}")).body);
        let shown = dir.raw("shown.jpg", "rgb24");
        assert!(apart(&shown, is) < 2.0, "{side}: {}", apart(&shown, is));
    }
    dir.write("shown.jpg", &served.get(&format!("/api/file/frame.jpg?of=both&rows=90&{asked}")).body);
    assert_eq!(dir.raw("shown.jpg", "gray").len(), 160 * 180);

    // The film from this time on, the original above the result.
    dir.write("film.mp4", &served.get(&format!("/api/file/film.mp4?{asked}")).body);
    assert_eq!(dir.raw("film.mp4", "gray").len(), 20 * 320 * 360);
    let film = dir.raw("film.mp4", "rgb24");
    let half = 320 * 180 * 3;
    let shown = [&film[..half], &film[half..2 * half]];
    let off = [apart(shown[0], &original), apart(shown[1], &equalized)];
    assert!(off.iter().all(|off| *off < 3.0), "{off:?}");

    // The last frame can be shown; after the end, there is an error.
    assert_eq!(served.get("/api/file/frame?at=1.56").json()["time"], "0:01.56");
    assert_eq!(served.get("/api/file/frame.jpg?at=99").status, 500);
    // Errors do not reveal paths.
    std::fs::rename(dir.path("clips/in.mkv"), dir.path("clips/other.mkv")).expect("a move");
    let gone = served.get("/api/file/frame?at=0.4");
    assert_eq!((gone.status, gone.text().contains("clips")), (500, false), "{}", gone.text());
    std::fs::rename(dir.path("clips/other.mkv"), dir.path("clips/in.mkv")).expect("a move");
    for wrong in ["at=x", "look=none", "strength=2", "of=none"] {
        let answer = served.get(&format!("/api/file/frame?{wrong}"));
        assert_eq!(answer.status, 400, "{wrong}: {}", answer.text());
    }
    assert_eq!(served.get("/api/file/none").status, 404);
    assert_eq!(served.ask("POST", "/api/file", "", "").status, 405);
    assert_eq!(served.get("/api/sources").json(), serde_json::json!([]));
    assert_eq!(served.get("/health").status, 200);
    served.live.signal(Signal::TERM);
    let (code, said) = served.live.end();
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(dir.names(), ["clips/in.mkv", "film.mp4", "frame.png", "in-equalized.mkv", "shown.jpg"]);
}

#[test]
fn a_file_whose_name_is_no_text_is_shown() {
    let dir = Dir::new();
    dark_clip(&dir, "in.mkv");
    let name = OsStr::from_bytes(b"\xfc.mkv");
    std::fs::rename(dir.path("in.mkv"), dir.path(name)).expect("a name");
    let mut command = dir.command("preview --web=0");
    let served = Served::new(Beside::start(command.arg(name).stderr(Stdio::piped())).expect("the program runs"));
    assert_eq!(served.get("/api/file").json()["name"], "\\xfc.mkv");
    dir.write("shown.jpg", &served.get("/api/file/frame.jpg?at=0.4&look=night").body);
    assert_eq!(dir.streams("shown.jpg")[0]["width"], 320);
    assert_eq!(
        served.get("/api/file/command").json()["command"],
        "# the name of the file is no text: give it another one"
    );
    served.live.terminate();
}

#[test]
fn only_this_machine_is_told_where_a_file_is_and_a_part_or_a_photo_is_one_too() {
    let dir = Dir::new();
    std::fs::create_dir(dir.path("clips")).expect("a folder");
    dark_clip(&dir, "clips/in.mkv");
    let served = Served::file(&dir, "--web=0.0.0.0:0 --start 0.4 --duration 0.8 --looks night,exact clips/in.mkv");
    assert_eq!(served.get("/api/file").status, 401);
    let bearer = format!("Authorization: Bearer {}\r\n", served.token);
    let get = |path: &str| served.ask("GET", path, &bearer, "").json();
    let (facts, numbers) = (get("/api/file"), get("/api/file/frame?at=0.4&look=night"));
    assert_eq!((&facts["duration"], &facts["looks"]), (&0.8.into(), &serde_json::json!(["night", "exact"])));
    assert_eq!(numbers["time"], "0:00.80");
    let command = get("/api/file/command?look=night");
    assert_eq!(command["command"], "histeq-video --start 0.4 --duration 0.8 --look night in.mkv in-equalized.mkv");
    // The film ends at the end of the part (`--start`, `--duration`).
    dir.write("film.mp4", &served.ask("GET", "/api/file/film.mp4?at=0.4", &bearer, "").body);
    assert_eq!(dir.raw("film.mp4", "gray").len(), 10 * 320 * 360);
    served.live.terminate();

    dir.ffmpeg("-i clips/in.mkv -frames:v 1 -update 1 photo.png");
    let served = Served::file(&dir, "--web=0 photo.png");
    let (facts, command) = (served.get("/api/file").json(), served.get("/api/file/command?look=natural").json());
    assert_eq!(served.get("/api/file/frame").status, 200);
    assert_eq!((&facts["is_image"], &facts["duration"]), (&true.into(), &0.0.into()));
    assert_eq!(command["command"], "histeq-video photo.png photo-equalized.png");
    served.live.terminate();

    for (line, said) in [
        ("preview --web clips", "--web shows one file"),
        ("preview --web clips/in.mkv sheet.png", "cannot be used with"),
        ("preview --web --sandbox on clips/in.mkv", "--web takes connections"),
        ("preview --web=nowhere clips/in.mkv", "an address to listen at"),
    ] {
        dir.run(line).ends_as(2).says(&[said]);
    }
    dir.run("preview --web=0 none.mkv").fails();
}
