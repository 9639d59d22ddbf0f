//! Malicious servers on loopback. They end with the suite.

use std::io::{BufRead, BufReader, Read, Result, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

/// How an HTTP server answers.
#[derive(Clone, Copy, PartialEq)]
pub enum Answers {
    /// It answers one request of each connection.
    Once,
    /// It answers all requests of a connection.
    Always,
    /// It answers one request of each connection, a tenth of a second late.
    Slowly,
}

/// Starts a server that calls `answer` for each connection. Returns its port.
fn server(answer: impl Fn(TcpStream) -> Result<()> + Clone + Send + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let answer = answer.clone();
            // Clients may hang up early.
            std::thread::spawn(move || {
                drop(stream.set_read_timeout(Some(Duration::from_secs(20))).and_then(|()| answer(stream)))
            });
        }
    });
    port
}

/// Reads the lines of a request up to the empty line; no lines at the end of the connection.
fn request(reader: &mut impl BufRead) -> Vec<String> {
    let lines = reader.lines().map_while(Result::ok);
    lines.take_while(|line| !line.is_empty()).collect()
}

/// Starts an HTTP server that answers each request with this text. Returns its port.
pub fn serve(text: impl Into<Vec<u8>>, answers: Answers) -> u16 {
    let text = text.into();
    server(move |mut stream| {
        let mut reader = BufReader::new(stream.try_clone()?);
        while !request(&mut reader).is_empty() {
            if answers == Answers::Slowly {
                std::thread::sleep(Duration::from_millis(100));
            }
            let (version, keeps) = if answers == Answers::Always { (1, "keep-alive") } else { (0, "close") };
            let length = text.len();
            write!(stream, "HTTP/1.{version} 200 OK\r\nConnection: {keeps}\r\nContent-Length: {length}\r\n\r\n")?;
            stream.write_all(&text)?;
            if answers != Answers::Always {
                break;
            }
        }
        Ok(())
    })
}

/// Starts an HTTP server that answers each request with this status, such as `410 Gone`. Returns its port.
pub fn refuse(status: &'static str) -> u16 {
    server(move |mut stream| {
        request(&mut BufReader::new(stream.try_clone()?));
        write!(stream, "HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
    })
}

/// Starts an RTSP server with this description, which accepts each requested transport. Returns its port.
pub fn rtsp(description: String) -> u16 {
    server(move |mut stream| {
        let mut reader = BufReader::new(stream.try_clone()?);
        loop {
            let lines = request(&mut reader);
            let Some(first) = lines.first() else { return Ok(()) };
            let header = |name: &str| {
                let line = lines.iter().find(|line| line.to_lowercase().starts_with(name));
                line.map(|line| format!("{line}\r\n")).unwrap_or_default()
            };
            let head = format!("RTSP/1.0 200 OK\r\n{}{}Session: 1\r\n", header("cseq:"), header("transport:"));
            let body = if first.starts_with("DESCRIBE") { description.as_str() } else { "" };
            let kind = if body.is_empty() { "" } else { "Content-Type: application/sdp\r\n" };
            write!(stream, "{head}{kind}Content-Length: {}\r\n\r\n{body}", body.len())?;
            if first.starts_with("PLAY") {
                // The server never sends a packet.
                let _ = reader.read(&mut [0; 1]);
            }
        }
    })
}
