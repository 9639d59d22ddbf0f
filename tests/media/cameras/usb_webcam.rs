//! An emulated USB webcam: the remote end of a port of the kernel's `vhci-hcd`, which speaks USB/IP. It is a UVC camera
//! with a bulk endpoint, with just enough of the protocol for `uvcvideo` to stream from it.

use std::io::{Read, Result, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const PORTS: &str = "/sys/devices/platform/vhci_hcd.0";

/// The webcam's name, by its driver and in `/sys/class/video4linux`.
pub const NAME: &str = "Bench webcam";

/// The only frame size of the webcam.
pub const SIZE: (usize, usize) = (160, 120);

/// Frames per second.
pub const RATE: u32 = 10;

/// The bytes of a payload, including its header of two bytes.
const PAYLOAD: usize = 16384;

/// A webcam that is unplugged on drop.
pub struct UsbWebcam {
    port: u8,
    serving: Option<JoinHandle<()>>,
}

/// Does the kernel have ports for such a webcam?
pub fn has_ports() -> bool {
    std::path::Path::new(PORTS).exists()
}

impl UsbWebcam {
    /// Plugs a webcam into a port. Its MJPEG frames are all `jpeg`, its raw frames gray, each in another shade.
    pub fn plug(port: u8, jpeg: &[u8]) -> Self {
        let (ours, theirs) = UnixStream::pair().expect("two sockets");
        let speed_high = 3;
        let line = format!("{port} {} {} {speed_high}", theirs.as_raw_fd(), u32::from(port) + 1);
        std::fs::write(format!("{PORTS}/attach"), line).expect("a free port");
        let mut webcam =
            Webcam { jpeg: jpeg.to_vec(), stream: ours, probe: probe([0; 26]), frame: 0, sent: 0, due: Instant::now() };
        // `serve` ends with an error when the webcam is unplugged.
        let serving = Some(std::thread::spawn(move || drop(webcam.serve())));
        UsbWebcam { port, serving }
    }
}

impl Drop for UsbWebcam {
    fn drop(&mut self) {
        std::fs::write(format!("{PORTS}/detach"), self.port.to_string()).expect("a port with something in it");
        self.serving.take().map(JoinHandle::join);
    }
}

struct Webcam {
    jpeg: Vec<u8>,
    stream: UnixStream,
    /// UVC's streaming parameters, as last agreed on.
    probe: [u8; 26],
    frame: u8,
    /// How many bytes of the current frame have been sent.
    sent: usize,
    due: Instant,
}

impl Webcam {
    /// Answers USB/IP requests until the port is closed.
    fn serve(&mut self) -> Result<()> {
        loop {
            let mut request = [0; 48];
            self.stream.read_exact(&mut request)?;
            let word = |index: usize| u32::from_be_bytes([0, 1, 2, 3].map(|byte| request[index * 4 + byte]));
            let (command, number, is_in, endpoint, length) =
                (word(0), word(1), word(3) == 1, word(4), word(6) as usize);
            if command == 2 {
                // The host cancels a request that has been answered already.
                self.answer(4, number, 0, 0, &[])?;
                continue;
            }
            let mut data = vec![0; if is_in { 0 } else { length }];
            self.stream.read_exact(&mut data)?;
            let answer = match endpoint {
                0 => self.control(&request[40..], &data),
                _ => Some(self.next_payload()),
            };
            match answer {
                Some(mut answer) if is_in => {
                    answer.truncate(length);
                    self.answer(3, number, 0, answer.len(), &answer)?;
                }
                Some(_) => self.answer(3, number, 0, length, &[])?,
                None => self.answer(3, number, -32, 0, &[])?,
            }
        }
    }

    fn answer(&mut self, command: u32, number: u32, status: i32, length: usize, data: &[u8]) -> Result<()> {
        let words = [command, number, 0, 0, 0, status as u32, length as u32, 0, 0, 0, 0, 0];
        let head = words.iter().flat_map(|word| word.to_be_bytes());
        self.stream.write_all(&head.chain(data.iter().copied()).collect::<Vec<_>>())
    }

    /// The answer to a control request; `None` for an unknown request.
    fn control(&mut self, setup: &[u8], data: &[u8]) -> Option<Vec<u8>> {
        let streaming = 1;
        match (setup[0], setup[1], setup[3], setup[4]) {
            (0x80, 6, 1, _) => Some(device()),
            (0x80, 6, 2, _) => Some(configuration()),
            (0x80, 6, 3, _) => Some(string(setup[2])),
            (0x80 | 0x81, 0, ..) => Some(vec![0; 2]),
            // Set the configuration, set the interface, clear a halt.
            (0x00..=0x02, ..) => Some(Vec::new()),
            // Set and get the streaming parameters: control 1 is UVC's probe, 2 its commit.
            (0x21, 1, 1 | 2, interface) if interface == streaming => {
                self.probe = probe(data.try_into().ok()?);
                (self.sent, self.due) = (0, Instant::now());
                Some(Vec::new())
            }
            (0xa1, 0x81..=0x84 | 0x87, 1 | 2, interface) if interface == streaming => Some(self.probe.to_vec()),
            _ => None,
        }
    }

    /// Waits until the next frame is due, and returns its next payload.
    fn next_payload(&mut self) -> Vec<u8> {
        if self.sent == 0 {
            std::thread::sleep(self.due.saturating_duration_since(Instant::now()));
            self.due = (self.due + Duration::from_secs(1) / RATE).max(Instant::now());
            self.frame = self.frame.wrapping_add(1);
        }
        let is_raw = self.probe[2] == 1;
        // Luma and chroma alternate. The lowest and highest luma codes are reserved for synchronization.
        let shade = 16 + self.frame.wrapping_mul(7) % 220;
        let frame = if is_raw { [shade, 128].repeat(SIZE.0 * SIZE.1) } else { self.jpeg.clone() };
        let end = (self.sent + PAYLOAD - 2).min(frame.len());
        let is_last = end == frame.len();
        let flags = 0x80 | self.frame & 1 | if is_last { 2 } else { 0 };
        let payload = [&[2, flags], &frame[self.sent..end]].concat();
        self.sent = if is_last { 0 } else { end };
        payload
    }
}

/// The streaming parameters that the webcam offers for the requested ones.
fn probe(mut asked: [u8; 26]) -> [u8; 26] {
    asked[2] = asked[2].clamp(1, 2);
    asked[3] = 1;
    asked[4..8].copy_from_slice(&(10_000_000 / RATE).to_le_bytes());
    asked[18..22].copy_from_slice(&((SIZE.0 * SIZE.1 * 2) as u32).to_le_bytes());
    asked[22..26].copy_from_slice(&(PAYLOAD as u32).to_le_bytes());
    asked
}

fn device() -> Vec<u8> {
    // USB 2.0, a function of several interfaces, 64 bytes at endpoint 0, an invented maker, its name, 1 configuration.
    vec![18, 1, 0, 2, 0xef, 2, 1, 64, 0x09, 0x12, 0x01, 0x00, 0, 1, 0, 1, 0, 1]
}

fn string(index: u8) -> Vec<u8> {
    let text: Vec<u8> = match index {
        0 => vec![0x09, 0x04],
        _ => NAME.encode_utf16().flat_map(u16::to_le_bytes).collect(),
    };
    [vec![text.len() as u8 + 2, 3], text].concat()
}

/// The configuration: a camera's control interface and its streaming interface, with two formats.
fn configuration() -> Vec<u8> {
    let (width, height) = ((SIZE.0 as u16).to_le_bytes(), (SIZE.1 as u16).to_le_bytes());
    let bytes = ((SIZE.0 * SIZE.1 * 2) as u32).to_le_bytes();
    let bits = ((SIZE.0 * SIZE.1 * 16) as u32 * RATE).to_le_bytes();
    let interval = (10_000_000 / RATE).to_le_bytes();
    let frame = |kind: u8| {
        let head = [&[30, 0x24, kind, 1, 0], &width[..], &height, &bits, &bits, &bytes, &interval, &[1], &interval];
        head.concat()
    };
    let yuyv = *b"YUY2\x00\x00\x10\x00\x80\x00\x00\xaa\x00\x38\x9b\x71";
    let formats = [
        [&[27, 0x24, 4, 1, 1][..], &yuyv, &[16, 1, 0, 0, 0, 0]].concat(),
        frame(5),
        vec![11, 0x24, 6, 2, 1, 0, 1, 0, 0, 0, 0],
        frame(7),
    ]
    .concat();
    let formats_length = (15 + formats.len() as u16).to_le_bytes();
    let body = [
        // An interface association descriptor: both interfaces belong to one camera.
        &[8, 11, 0, 2, 14, 3, 0, 1][..],
        // The control interface: UVC 1.0, a camera (terminal 1) with a USB output (terminal 2).
        &[9, 4, 0, 0, 0, 14, 1, 0, 1],
        &[13, 0x24, 1, 0x00, 0x01, 40, 0, 0x00, 0x6c, 0xdc, 0x02, 1, 1],
        &[18, 0x24, 2, 1, 0x01, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0],
        &[9, 0x24, 3, 2, 0x01, 0x01, 0, 1, 0],
        // The streaming interface, with a bulk endpoint of 512 bytes per packet.
        &[9, 4, 1, 0, 1, 14, 2, 0, 0],
        &[15, 0x24, 1, 2, formats_length[0], formats_length[1], 0x81, 0, 2, 0, 0, 0, 1, 0, 0],
        &formats,
        &[7, 5, 0x81, 2, 0x00, 0x02, 0],
    ]
    .concat();
    let length = (9 + body.len() as u16).to_le_bytes();
    [vec![9, 2, length[0], length[1], 2, 1, 0, 0x80, 50], body].concat()
}
