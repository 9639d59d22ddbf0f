//! `web`: films that are played unchanged, frames that are shown with noise first and denoised later, and details of a
//! folder in addition to its list.

use super::*;
use crate::support::media::clips::phone;

/// 40 dark frames with noise, 640x360.
fn noisy_clip(dir: &Dir, file: &str) {
    std::fs::create_dir_all(dir.path("clips")).expect("a folder");
    let picture = "format=yuv420p,geq=lum=20+mod(X+Y\\,64)/2:cb=120:cr=132,noise=alls=8:allf=t";
    dir.ffmpeg(&format!("-f lavfi -i nullsrc=size=640x360:rate=25 -vf {picture} -frames:v 40 -c:v ffv1 {file}"));
}

/// The part of a gray image with this upper left corner and this size.
fn part_of(picture: &[u8], width: usize, (left, top): (usize, usize), (columns, rows): (usize, usize)) -> Vec<u8> {
    let row = |y: usize| picture[y * width + left..][..columns].iter().copied();
    (top..top + rows).flat_map(row).collect()
}

/// The mean absolute difference of neighbouring samples, as a measure of noise.
fn grain(picture: &[u8]) -> f64 {
    apart(&picture[1..], &picture[..picture.len() - 1])
}

fn mean(picture: &[u8]) -> f64 {
    picture.iter().map(|sample| f64::from(*sample)).sum::<f64>() / picture.len() as f64
}

impl Served {
    /// The image at this URL, in gray.
    #[track_caller]
    fn shown(&self, dir: &Dir, path: &str) -> Vec<u8> {
        let answer = self.get(path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        dir.write("shown.jpg", &answer.body);
        dir.raw("shown.jpg", "gray")
    }
}

#[test]
fn a_film_and_its_result_are_played_whole_or_in_the_part_that_is_asked_for() {
    let dir = Dir::new();
    folder_with(&dir, "in.mkv");
    let served = Served::work(&dir, "--web=0 clips");
    let film = served.entry("in.mkv")["number"].clone();
    let job = served.make(&["in.mkv"], &chosen("haze", "web"))[0];
    served.until_job(job, "done");
    let types = served.get(&format!("/api/work/jobs/{job}")).json()["types"].clone();
    assert!(types[0].is_null() && types[1].as_str().is_some_and(|kind| kind.starts_with("video/mp4; codecs=\"avc1.")));
    for (path, file, kind) in [
        (format!("/api/work/files/{film}/play"), "clips/in.mkv", "video/x-matroska"),
        (format!("/api/work/jobs/{job}/play"), "clips/in-equalized.mp4", "video/mp4"),
    ] {
        let bytes = dir.read(file);
        let length = bytes.len();
        let whole = served.get(&path);
        assert!(whole.status == 200 && whole.body == bytes, "{}", whole.head);
        assert!(whole.head.contains(&format!("content-type: {kind}")) && !whole.head.contains("attachment"));
        assert!(whole.head.contains("accept-ranges: bytes"), "{}", whole.head);
        let part = |asked: &str| served.ask("GET", &path, &format!("Range: {asked}\r\n"), "");
        for (asked, begin, end) in [
            ("bytes=0-", 0, length),
            ("bytes=10-19", 10, 20),
            ("bytes=-5", length - 5, length),
            ("bytes=-99999999999", 0, length),
            ("bytes=7-99999999999", 7, length),
            ("bytes=7-18446744073709551615", 7, length),
        ] {
            let answer = part(asked);
            assert!(answer.status == 206 && answer.body == bytes[begin..end], "{asked}: {}", answer.head);
            let said = format!("content-range: bytes {begin}-{}/{length}", end - 1);
            assert!(answer.head.contains(&said), "{asked}: {}", answer.head);
        }
        let behind = format!("bytes={length}-");
        for asked in [behind.as_str(), "bytes=20-10", "bytes=-0"] {
            let answer = part(asked);
            assert_eq!(answer.status, 416, "{asked}");
            assert!(answer.head.contains(&format!("content-range: bytes */{length}")), "{asked}: {}", answer.head);
        }
        // For an invalid range, or a range with `If-Range`, the whole file is sent.
        for asked in [
            "bytes=0-1,5-6",
            "bytes=-",
            "bytes=+1-5",
            "lines=1-2",
            "bytes=0-9\r\nIf-Range: \"1\"",
            "bytes=0-1\r\nRange: bytes=5-6",
        ] {
            let answer = part(asked);
            assert!(answer.status == 200 && answer.body == bytes, "{asked}: {}", answer.head);
        }
        let head = served.ask("HEAD", &path, "Range: bytes=10-19\r\n", "");
        assert_eq!((head.status, head.body.len()), (200, 0), "{}", head.head);
        assert!(head.head.contains(&format!("content-length: {length}")), "{}", head.head);
        for headers in ["Origin: http://evil.example\r\n", "Sec-Fetch-Site: cross-site\r\n"] {
            assert_eq!(served.ask("GET", &path, headers, "").status, 403, "{headers}");
        }
        let evil = format!("GET {path} HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n");
        assert_eq!(served.raw(evil.as_bytes()).status, 421);
        assert_eq!(served.send("POST", &path, &json!({})).status, 405);
    }
    served.ends();
}

#[test]
fn nothing_but_what_is_listed_is_played() {
    let dir = Dir::new();
    folder_with(&dir, "in.mkv");
    std::fs::create_dir(dir.path("clips/more")).expect("a folder");
    dir.write("secret.mkv", b"SECRET");
    let served = Served::work(&dir, "--web=0 clips");
    let [film, more] = ["in.mkv", "more"].map(|name| served.entry(name)["number"].clone());
    let unlisted = ["99", "-1", "..", "in.mkv", "..%2fsecret.mkv"].map(str::to_owned);
    for number in unlisted.into_iter().chain([more.to_string()]) {
        assert_eq!(served.get(&format!("/api/work/files/{number}/play")).status, 404, "{number}");
    }
    assert_eq!(served.get("/api/work/jobs/1/play").status, 404);
    // A link in place of the file is not followed, not even to a file that may be shown.
    std::fs::rename(dir.path("clips/in.mkv"), dir.path("clips/more/in.mkv")).expect("it was there");
    let play = format!("/api/work/files/{film}/play");
    for place in ["secret.mkv", "clips/more/in.mkv"] {
        symlink(dir.path(place), dir.path("clips/in.mkv")).expect("a link");
        let answer = served.get(&play);
        assert_eq!((answer.status, answer.text().contains("SECRET")), (404, false), "{place}");
        std::fs::remove_file(dir.path("clips/in.mkv")).expect("it was there");
    }
    std::fs::rename(dir.path("clips/more/in.mkv"), dir.path("clips/in.mkv")).expect("it was there");
    assert_eq!(served.get(&play).status, 200);
    served.ends();
}

#[test]
fn a_film_is_played_while_many_pictures_are_asked_for() {
    let dir = Dir::new();
    noisy_clip(&dir, "clips/noisy.mkv");
    let served = Served::work(&dir, "--web=0 clips");
    let file = format!("/api/work/files/{}", served.entry("noisy.mkv")["number"]);
    // The first request opens the file for the following ones.
    assert_eq!(served.get(&file).status, 200);
    let askers: Vec<TcpStream> = (0..8)
        .map(|index| {
            let mut asker = TcpStream::connect(&served.address).expect("a connection");
            let path = format!("{file}/noise.jpg?at={}&look=night", 0.16 * f64::from(index));
            let head = format!("GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", served.address);
            asker.write_all(head.as_bytes()).expect("a request");
            asker
        })
        .collect();
    let part = served.ask("GET", &format!("{file}/play"), "Range: bytes=0-9\r\n", "");
    let answered = askers.iter().filter(|asker| {
        asker.set_nonblocking(true).expect("a socket");
        asker.peek(&mut [0]).is_ok()
    });
    let answered = answered.count();
    assert_eq!((part.status, &part.body[..]), (206, &dir.read("clips/noisy.mkv")[..10]));
    assert!(answered <= 2, "{answered} pictures came first");
    for mut asker in askers {
        asker.set_nonblocking(false).expect("a socket");
        asker.set_read_timeout(Some(PATIENCE)).expect("a time");
        let mut answer = Vec::new();
        asker.read_to_end(&mut answer).expect("an answer");
        assert!(answer.starts_with(b"HTTP/1.1 200 "), "{}", String::from_utf8_lossy(&answer));
    }
    served.ends();
}

#[test]
fn off_this_machine_nothing_is_played_without_the_token_and_people_are_told_in_words() {
    let dir = Dir::new();
    folder_with(&dir, "in.mkv");
    let served = Served::work(&dir, "--web=0.0.0.0:0 clips");
    let bearer = format!("Authorization: Bearer {}\r\n", served.token);
    let folder = served.ask("GET", "/api/work/folder", &bearer, "").json();
    let path = format!("/api/work/files/{}/play", folder["entries"][0]["number"]);
    for headers in ["", "Range: bytes=0-9\r\n", "Authorization: Bearer 0\r\n"] {
        assert_eq!(served.ask("GET", &path, headers, "").status, 401, "{headers}");
        assert_eq!(served.ask("HEAD", &path, headers, "").status, 401, "{headers}");
    }
    let part = served.ask("GET", &path, &format!("{bearer}Range: bytes=0-9\r\n"), "");
    assert_eq!((part.status, &part.body[..]), (206, &dir.read("clips/in.mkv")[..10]));
    // A request for the page without the token.
    let opened = served.ask("GET", "/", "Accept: text/html,application/xhtml+xml\r\n", "");
    assert_eq!((opened.status, opened.head.contains("content-type: text/plain")), (401, true), "{}", opened.head);
    assert_eq!(opened.text(), "open the address that the program printed, with its token");
    served.ends();
}

#[test]
fn a_result_that_was_played_or_asked_for_its_head_was_not_downloaded() {
    let dir = Dir::new();
    dark_clip(&dir, "in.mkv");
    let served = Served::work(&dir, "--web=0 .");
    let job = served.made_of_upload(&dir.read("in.mkv"));
    for (method, what) in [("HEAD", "download"), ("GET", "play"), ("HEAD", "play")] {
        assert_eq!(served.ask(method, &format!("/api/work/jobs/{job}/{what}"), "", "").status, 200, "{method} {what}");
    }
    let said = served.ends();
    assert!(said.contains("1 result that was not downloaded is kept in"), "{said}");
}

#[test]
fn a_picture_comes_with_its_noise_first_and_a_part_shows_what_goes() {
    let dir = Dir::new();
    noisy_clip(&dir, "clips/noisy.mkv");
    let served = Served::work(&dir, "--web=0 clips");
    let file = format!("/api/work/files/{}", served.entry("noisy.mkv")["number"]);
    let asked = "at=0.8&look=night";
    let shown = |what: &str| served.shown(&dir, &format!("{file}/{what}{asked}"));
    assert_eq!(served.get(&format!("{file}/frame?{asked}")).json()["noise"], true);
    let (noisy, clean) = (shown("frame.jpg?noise=keep&"), shown("frame.jpg?"));
    assert!((mean(&noisy) - mean(&clean)).abs() < 4.0, "{} {}", mean(&noisy), mean(&clean));
    assert!(grain(&noisy) > 2.0 * grain(&clean), "{} {}", grain(&noisy), grain(&clean));
    // The denoised frame equals the output of a run.
    dir.succeeds("--backend cpu --look night --encoder ffv1 clips/noisy.mkv made.mkv");
    frame_of(&dir, "made.mkv", 20);
    let made = dir.raw("frame.png", "gray");
    assert!(
        apart(&clean, &made) < 4.0 && apart(&noisy, &made) > 8.0,
        "{} {}",
        apart(&clean, &made),
        apart(&noisy, &made)
    );

    // `noise.jpg` shows a part of the frame with noise, and below it the same part denoised: in the middle and in
    // corners.
    let size = (256, 64);
    for (point, corner) in [("", (192, 128)), ("x=0&y=0&", (0, 0)), ("x=1&y=1&", (384, 256))] {
        let part = shown(&format!("noise.jpg?columns=256&{point}"));
        assert_eq!(part.len(), 2 * 256 * 64, "{point}");
        let (above, below) = part.split_at(256 * 64);
        let [noisy, clean] = [&noisy, &clean].map(|picture| part_of(picture, 640, corner, size));
        assert!(
            apart(above, &noisy) < 7.0 && apart(below, &clean) < 7.0,
            "{point}: {} {}",
            apart(above, &noisy),
            apart(below, &clean)
        );
        assert!(apart(above, below) > 8.0, "{point}: {}", apart(above, below));
    }
    // The part is at most as wide as the frame.
    assert_eq!(shown("noise.jpg?columns=99999&").len(), 2 * 640 * 240);
    // There is no frame at these times: one is after the start of the last frame, one after the end.
    for (what, time) in ["frame.jpg", "noise.jpg"].into_iter().flat_map(|what| [(what, "1.59"), (what, "5")]) {
        let answer = served.get(&format!("{file}/{what}?at={time}&look=night"));
        let said = json!({ "error": "there is no frame at that time" });
        assert_eq!((answer.status, answer.json()), (500, said), "{what} {time}");
    }
    for wrong in ["noise.jpg?x=2", "noise.jpg?y=a", "noise.jpg?columns=-1", "frame.jpg?noise=gone"] {
        assert_eq!(served.get(&format!("{file}/{wrong}")).status, 400, "{wrong}");
    }
    served.ends();
}

#[test]
fn what_has_no_noise_is_whole_at_once_and_a_part_of_a_turned_film_is_upright() {
    let dir = Dir::new();
    noisy_clip(&dir, "clips/noisy.mkv");
    phone(&dir, "clips/turned.mp4", "-i clips/noisy.mkv -crf 8 -preset ultrafast", 90);
    folder_with(&dir, "in.mkv");
    let served = Served::work(&dir, "--web=0 clips");
    let [still, turned] =
        ["in.mkv", "turned.mp4"].map(|name| format!("/api/work/files/{}", served.entry(name)["number"]));
    assert_eq!(served.get(&format!("{still}/frame?at=0.8&look=night")).json()["noise"], false);
    let [kept, whole] =
        ["noise=keep&", ""].map(|noise| served.get(&format!("{still}/frame.jpg?{noise}at=0.8&look=night")));
    assert!(kept.status == 200 && kept.body == whole.body);

    let picture = served.shown(&dir, &format!("{turned}/frame.jpg?noise=keep&at=0.8&look=night"));
    assert_eq!(picture.len(), 360 * 640);
    let part = served.shown(&dir, &format!("{turned}/noise.jpg?columns=256&x=0&y=1&at=0.8&look=night"));
    let upright = part_of(&picture, 360, (0, 576), (256, 64));
    assert!(apart(&part[..256 * 64], &upright) < 7.0, "{}", apart(&part[..256 * 64], &upright));
}

#[test]
fn a_folder_says_what_it_does_not_show_and_which_pictures_may_be_one_film() {
    let dir = Dir::new();
    std::fs::create_dir(dir.path("clips")).expect("a folder");
    (1..=48).for_each(|number| dir.write(&format!("clips/reel_{number:05}.png"), b"x"));
    dir.write("clips/photo.HEIC", b"x");
    let place = dir.path("clips").canonicalize().expect("a folder").display().to_string();
    for (address, is_local) in [("0", true), ("0.0.0.0:0", false)] {
        let served = Served::work(&dir, &format!("--web={address} clips"));
        let bearer = format!("Authorization: Bearer {}\r\n", served.token);
        let folder = served.ask("GET", "/api/work/folder", &bearer, "").json();
        assert_eq!((&folder["unread"], &folder["film"]["pictures"]), (&json!({ "heic": 1 }), &json!(48)), "{address}");
        let command = folder["film"]["command"].as_str().expect("a command");
        assert!(command.starts_with("histeq-video ") && command.contains("reel_%05d.png"), "{command}");
        assert_eq!(command.contains(&place), is_local, "{command}");
        // A request may start as many jobs as the queue holds (500).
        assert_eq!(served.ask("GET", "/api/work", &bearer, "").json()["most"], 500);
        served.ends();
    }
}
