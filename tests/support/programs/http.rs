//! HTTP requests of arbitrary bytes.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// The timeout of an answer on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// An answer: its status, its head, its body.
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }
}

/// Sends these bytes, and reads the answer until the connection is closed.
pub fn exchange(address: &str, request: &[u8]) -> Answer {
    let mut stream = TcpStream::connect(address).expect("a connection");
    stream.set_read_timeout(Some(PATIENCE)).expect("a time");
    stream.write_all(request).expect("a request");
    let mut all = Vec::new();
    // If the connection is reset, the data so far is the answer.
    let _ = stream.read_to_end(&mut all);
    let end = all.windows(4).position(|bytes| bytes == b"\r\n\r\n").unwrap_or(all.len());
    let head = String::from_utf8_lossy(&all[..end]).into_owned();
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    Answer { status, head: head.to_ascii_lowercase(), body: all.get(end + 4..).unwrap_or_default().to_vec() }
}
