//! Playlists and other files that refer to files or URLs: which of them the program opens.

use crate::support::programs::program::{Dir, Run};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A server on loopback that answers each request with the same text, and counts them.
struct Server {
    port: u16,
    requests: Arc<AtomicUsize>,
}

impl Server {
    fn start(text: impl Into<Vec<u8>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let (requests, text) = (Arc::new(AtomicUsize::new(0)), text.into());
        let count = requests.clone();
        // The thread ends with the tests.
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                count.fetch_add(1, Ordering::Relaxed);
                // Clients may hang up early.
                let _ = answer(stream, &text);
            }
        });
        Server { port, requests }
    }

    fn requests(&self) -> usize {
        self.requests.load(Ordering::Relaxed)
    }
}

fn answer(mut stream: TcpStream, text: &[u8]) -> std::io::Result<()> {
    stream.set_read_timeout(Some(std::time::Duration::from_secs(10)))?;
    // The request ends with an empty line.
    let lines = BufReader::new(stream.try_clone()?).lines().map_while(Result::ok);
    lines.take_while(|line| !line.is_empty()).for_each(drop);
    write!(stream, "HTTP/1.0 200 OK\r\nContent-Length: {}\r\n\r\n", text.len())?;
    stream.write_all(text)
}

/// An HLS playlist of one segment.
fn hls(segment: &str) -> String {
    format!("#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:1,\n{segment}\n#EXT-X-ENDLIST\n")
}

fn concat(file: &str) -> String {
    format!("ffconcat version 1.0\nfile {file}\n")
}

/// A transport stream that a playlist can name, which only its owner may read.
fn secret(dir: &Dir) -> String {
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 10 -c:v mpeg2video secret.ts");
    dir.path("secret.ts").display().to_string()
}

/// Requires that the run ended with one line that says all of `texts`, and left no output.
#[track_caller]
fn refused(dir: &Dir, run: Run, texts: &[&str]) {
    let run = run.fails().says(texts);
    assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
    assert!(!dir.path("out.mkv").exists(), "{:?}", dir.names());
}

#[test]
fn a_playlist_on_stdin_reaches_neither_network_nor_files() {
    let dir = Dir::new();
    let (secret, server) = (secret(&dir), Server::start("secret"));
    let url = format!("http://127.0.0.1:{}/x.ts", server.port);
    let key = format!("#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-KEY:METHOD=AES-128,URI=\"{url}\"\n#EXTINF:1,\n");
    let key = format!("{key}data:video/mp2t;base64,R0AREABC8CUAAcEAAP8B/wAB/IAUSBIBBkZGbXBlZwlTZXJ2aWNlMDE=\n");
    let list = "histeq-video: error: stdin: a playlist (hls)";
    for (text, says) in [
        (hls(&url), list),
        (hls("secret.ts"), list),
        (hls(&secret), list),
        (hls(&format!("file://{secret}")), list),
        (key, list),
        (concat("secret.ts"), "a playlist (concat)"),
        (concat(&url), "a playlist (concat)"),
        ("v=0\nm=video 5004 RTP/AVP 96\na=rtpmap:96 H264/90000\nc=IN IP4 127.0.0.1\n".to_owned(), "a playlist (sdp)"),
    ] {
        refused(&dir, dir.fed("--backend cpu - out.mkv", text.as_bytes()), &[says, "not read from a pipe"]);
        let live = dir.fed("live --backend cpu --no-preview --record out.mkv -", text.as_bytes());
        refused(&dir, live, &["stdin: a playlist", "not read from a pipe"]);
    }
    assert_eq!(server.requests(), 0);
}

#[test]
fn a_playlist_in_a_fifo_reaches_nothing_either() {
    let dir = Dir::new();
    secret(&dir);
    let made = Run::from_command(&mut dir.other_command("mkfifo", "list.m3u8"), "mkfifo").exits_with(0);
    let fifo = dir.path("list.m3u8");
    let writer = std::thread::spawn(move || std::fs::write(fifo, hls("secret.ts")));
    refused(&dir, dir.run("--backend cpu list.m3u8 out.mkv"), &["list.m3u8: a playlist (hls)"]);
    assert!(writer.join().expect("a writer").is_ok(), "{made:?}");
}

#[test]
fn who_names_the_format_of_a_playlist_in_a_pipe_gets_its_local_files() {
    let dir = Dir::new();
    let server = Server::start("secret");
    secret(&dir);
    for (format, text) in [("hls", hls("secret.ts")), ("concat", concat("secret.ts"))] {
        let line = format!("--backend cpu --encoder ffv1 -y -f {format} - out.mkv");
        dir.fed(&line, text.as_bytes()).exits_with(0);
        assert_eq!(dir.frames("out.mkv").len(), 10, "{format}");
    }
    std::fs::remove_file(dir.path("out.mkv")).expect("the output");
    let url = format!("http://127.0.0.1:{}/x.ts", server.port);
    let run = dir.fed("--backend cpu -f hls - out.mkv", hls(&url).as_bytes());
    refused(&dir, run, &["stdin: it names a place of the protocol http"]);
    assert_eq!(server.requests(), 0);
}

#[test]
fn a_local_playlist_reaches_local_files_but_not_the_network() {
    let dir = Dir::new();
    let server = Server::start("secret");
    secret(&dir);
    let url = format!("http://127.0.0.1:{}/x.ts", server.port);
    dir.write("files.m3u8", hls("secret.ts").as_bytes());
    dir.write("files.ffconcat", concat("secret.ts").as_bytes());
    for list in ["files.m3u8", "files.ffconcat"] {
        dir.succeeds(&format!("--backend cpu --encoder ffv1 -y {list} out.mkv"));
        assert_eq!(dir.frames("out.mkv").len(), 10, "{list}");
    }
    std::fs::remove_file(dir.path("out.mkv")).expect("the output");
    dir.write("net.m3u8", hls(&url).as_bytes());
    let says = ["net.m3u8: it names a place of the protocol http", "a local file may not open"];
    refused(&dir, dir.run("--backend cpu net.m3u8 out.mkv"), &says);
    let live = dir.run("live --backend cpu --no-preview --record out.mkv net.m3u8");
    refused(&dir, live, &says);
    dir.write("net.ffconcat", concat(&url).as_bytes());
    refused(&dir, dir.run("--backend cpu net.ffconcat out.mkv"), &["net.ffconcat: ", "Unsafe file name"]);
    assert_eq!(server.requests(), 0);
}

#[test]
fn a_playlist_from_the_network_does_not_read_local_files() {
    let dir = Dir::new();
    let secret = secret(&dir);
    for text in [
        hls(&format!("file://{secret}")),
        hls(&secret),
        hls(&format!("concat:{secret}")),
        hls(&format!("subfile,,start,0,end,9999,,:{secret}")),
        hls(&format!("crypto:{secret}")),
        concat(&format!("file://{secret}")),
        concat(&secret),
    ] {
        let server = Server::start(text.clone());
        for scheme in ["http", "tcp"] {
            // Over plain TCP, the head of an HTTP answer would come before the list.
            let port = if scheme == "tcp" { plain(text.clone()) } else { server.port };
            let url = format!("{scheme}://127.0.0.1:{port}/list.m3u8");
            let run = dir.run(&format!("--backend cpu {url} out.mkv")).fails();
            assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
            assert!(!dir.path("out.mkv").exists(), "{text}");
        }
        assert!(server.requests() > 0, "{text}");
    }
    let server = Server::start(hls(&format!("file://{secret}")));
    let run = dir.run(&format!("--backend cpu http://127.0.0.1:{}/list.m3u8 out.mkv", server.port));
    refused(&dir, run, &["it names a place of the protocol file", "an input from the network may not open"]);
}

/// The port of a server that sends this text to each client.
fn plain(text: String) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            // Clients may hang up early.
            let _ = stream.write_all(text.as_bytes());
        }
    });
    port
}

#[test]
fn a_playlist_from_the_network_reads_what_lies_beside_it() {
    let dir = Dir::new();
    secret(&dir);
    let bytes = dir.read("secret.ts");
    let segments = Server::start(bytes);
    let list = Server::start(hls(&format!("http://127.0.0.1:{}/a.ts", segments.port)));
    dir.succeeds(&format!("--backend cpu --encoder ffv1 http://127.0.0.1:{}/list.m3u8 out.mkv", list.port));
    assert_eq!(dir.frames("out.mkv").len(), 10);
}
