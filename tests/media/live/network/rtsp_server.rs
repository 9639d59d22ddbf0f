//! An RTSP camera: ffmpeg encodes frames and packs them as RTP, and this server forwards the packets to any client,
//! interleaved with RTSP on its TCP connection. It can also fall silent.

use crate::media::live::{Beside, PATIENCE};
use crate::support::programs::program::Dir;
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long a thread waits before it checks whether the server has stopped.
const TICK: Duration = Duration::from_millis(10);

/// The answer to a PLAY request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The server sends frames.
    Pictures,
    /// The server does not answer.
    Nothing,
    /// The server refuses with this status.
    Status(&'static str),
}

/// A running server, which stops on drop.
pub struct RtspServer {
    port: u16,
    frozen: Arc<AtomicBool>,
    stopped: Arc<AtomicBool>,
    connections: Arc<AtomicUsize>,
    listening: Option<JoinHandle<()>>,
    _camera: Option<Beside>,
}

/// The state that the threads of all connections share.
#[derive(Clone)]
struct Shared {
    answer: Answer,
    description: Arc<String>,
    media: Arc<[UdpSocket; 2]>,
    frozen: Arc<AtomicBool>,
    stopped: Arc<AtomicBool>,
    connections: Arc<AtomicUsize>,
}

impl RtspServer {
    /// Starts a server on this port; 0 is an unused port. `encoder` is ffmpeg's options for the video.
    pub fn start(dir: &Dir, port: u16, answer: Answer, encoder: &str) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", port)).expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let socket = || UdpSocket::bind("127.0.0.1:0").expect("a port");
        let media = [socket(), socket()];
        media.iter().for_each(|socket| socket.set_nonblocking(true).expect("a socket that does not wait"));
        let (camera, description) = match answer {
            Answer::Pictures => film(dir, &media, encoder),
            _ => (None, String::new()),
        };
        let (frozen, stopped) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let connections = Arc::<AtomicUsize>::default();
        let shared = Shared {
            answer,
            description: Arc::new(description),
            media: Arc::new(media),
            frozen: frozen.clone(),
            stopped: stopped.clone(),
            connections: connections.clone(),
        };
        let listening = Some(std::thread::spawn(move || listen(&listener, &shared)));
        RtspServer { port, frozen, stopped, connections, listening, _camera: camera }
    }

    /// The URL of the camera.
    pub fn url(&self) -> String {
        format!("rtsp://127.0.0.1:{}/camera", self.port)
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// Waits for one more connection.
    #[track_caller]
    pub fn until_connected(&self) {
        let (before, begin) = (self.connections.load(Ordering::SeqCst), Instant::now());
        while self.connections.load(Ordering::SeqCst) == before {
            assert!(begin.elapsed() < PATIENCE, "no program connects");
            std::thread::sleep(TICK);
        }
    }

    /// Stops sending and answering, but keeps connections open; `false` resumes.
    pub fn freeze(&self, frozen: bool) {
        self.frozen.store(frozen, Ordering::SeqCst);
    }
}

impl Drop for RtspServer {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::SeqCst);
        if let Some(thread) = self.listening.take() {
            thread.join().expect("a server without a fault");
        }
    }
}

/// Starts ffmpeg, which sends video as RTP. Returns its description of the stream (SDP).
fn film(dir: &Dir, media: &[UdpSocket; 2], encoder: &str) -> (Option<Beside>, String) {
    let port = |socket: &UdpSocket| socket.local_addr().expect("an address").port();
    let (rtp, rtcp) = (port(&media[0]), port(&media[1]));
    // Not in the test's folder, which the test may expect to be empty.
    let file = std::env::temp_dir().join(format!("histeq-video-{rtp}.sdp"));
    let line = format!(
        "-v error -nostdin -y -re -f lavfi -i testsrc2=s=320x180:r=25 {encoder} -f rtp -sdp_file {} \
         rtp://127.0.0.1:{rtp}?rtcpport={rtcp}&pkt_size=1400",
        file.display()
    );
    let camera = Beside::start(&mut dir.other_command("ffmpeg", &line)).expect("ffmpeg runs");
    let begin = Instant::now();
    let description = loop {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        if text.contains("a=rtpmap") && text.ends_with('\n') {
            break text;
        }
        assert!(begin.elapsed() < PATIENCE, "ffmpeg describes nothing: {text}");
        std::thread::sleep(TICK);
    };
    // The description has been read, so its file is removed.
    let _ = std::fs::remove_file(&file);
    // Interleaved RTP has no ports, and SETUP needs a name for the stream.
    let lines = description.lines().map(|line| match line.strip_prefix("m=video ") {
        Some(rest) => format!("m=video 0 {}\r\na=control:stream", rest.split_once(' ').expect("a port").1),
        None => line.to_owned(),
    });
    (Some(camera), lines.map(|line| line + "\r\n").collect())
}

fn listen(listener: &TcpListener, shared: &Shared) {
    listener.set_nonblocking(true).expect("a socket that does not wait");
    let mut connections = Vec::new();
    while !shared.stopped.load(Ordering::SeqCst) {
        match listener.accept() {
            Ok((stream, _)) => {
                shared.connections.fetch_add(1, Ordering::SeqCst);
                let shared = shared.clone();
                connections.push(std::thread::spawn(move || serve(stream, &shared)));
            }
            Err(_) => std::thread::sleep(TICK),
        }
    }
    connections.into_iter().for_each(|thread| thread.join().expect("a connection without a fault"));
}

/// One connection, until it is closed or the server stops.
fn serve(mut stream: TcpStream, shared: &Shared) {
    stream.set_nonblocking(false).expect("a socket that waits");
    stream.set_read_timeout(Some(TICK)).expect("but not for long");
    let (mut received, mut playing) = (Vec::new(), false);
    while !shared.stopped.load(Ordering::SeqCst) {
        let mut bytes = [0; 4096];
        match stream.read(&mut bytes) {
            Ok(0) => return,
            Ok(count) => received.extend_from_slice(&bytes[..count]),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Err(_) => return,
        }
        if shared.frozen.load(Ordering::SeqCst) || shared.answer == Answer::Nothing {
            received.clear();
            continue;
        }
        while let Some(end) = received.windows(4).position(|four| four == b"\r\n\r\n") {
            let request: Vec<u8> = received.drain(..end + 4).collect();
            // Reports of the client (RTCP) are framed like media, and come before a request.
            let text = String::from_utf8_lossy(&request).into_owned();
            let Some(reply) = reply(&text, shared) else { return };
            if stream.write_all(reply.as_bytes()).is_err() {
                return;
            }
            playing |= text.contains("PLAY rtsp:");
        }
        if relay(&mut stream, shared, playing).is_err() {
            return;
        }
    }
}

/// Forwards the packets that ffmpeg has sent since the last call, or drops them if no client plays.
fn relay(stream: &mut TcpStream, shared: &Shared, playing: bool) -> std::io::Result<()> {
    let mut datagram = [0; 2048];
    for (channel, socket) in shared.media.iter().enumerate() {
        while let Ok(length) = socket.recv(&mut datagram) {
            if playing {
                let (high, low) = ((length >> 8) as u8, length as u8);
                stream.write_all(&[b'$', channel as u8, high, low])?;
                stream.write_all(&datagram[..length])?;
            }
        }
    }
    Ok(())
}

/// The answer to a request; `None` when it ends the connection.
fn reply(request: &str, shared: &Shared) -> Option<String> {
    let field = |name: &str| request.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let sequence = field("CSeq:").unwrap_or("0");
    let answer = |status: &str, rest: &str| Some(format!("RTSP/1.0 {status}\r\nCSeq: {sequence}\r\n{rest}\r\n"));
    let method = ["OPTIONS", "DESCRIBE", "SETUP", "PLAY", "TEARDOWN", "GET_PARAMETER"]
        .into_iter()
        .find(|method| request.contains(&format!("{method} rtsp:")))?;
    match (method, shared.answer) {
        ("OPTIONS", _) => answer("200 OK", "Public: OPTIONS, DESCRIBE, SETUP, PLAY, TEARDOWN, GET_PARAMETER\r\n"),
        ("TEARDOWN", _) => None,
        (_, Answer::Status(status)) => answer(status, "WWW-Authenticate: Basic realm=\"camera\"\r\n"),
        ("DESCRIBE", _) => {
            let (length, body) = (shared.description.len(), &shared.description);
            let base = request.split(' ').nth(1)?;
            let head =
                format!("Content-Base: {base}/\r\nContent-Type: application/sdp\r\nContent-Length: {length}\r\n");
            answer("200 OK", &head).map(|answer| answer + body)
        }
        ("SETUP", _) if field("Transport:").is_some_and(|transport| transport.contains("RTP/AVP/TCP")) => {
            answer("200 OK", "Transport: RTP/AVP/TCP;unicast;interleaved=0-1\r\nSession: 1\r\n")
        }
        // A client that asks for UDP first is disconnected, so it has to try TCP.
        ("SETUP", _) => None,
        _ => answer("200 OK", "Session: 1\r\n"),
    }
}
