//! Common servers that receive live streams: nginx for RTMP, GStreamer's for RTSP, SRT's own tool, ffmpeg. Each writes
//! received streams to numbered files.

use crate::media::live::{Beside, PATIENCE, pause, wait_for_listener};
use crate::support::programs::program::Dir;
use crate::support::skip::skip;
use std::net::{TcpListener, UdpSocket};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const NGINX: &str = "/usr/sbin/nginx";
const NGINX_RTMP: &str = "/usr/lib/nginx/modules/ngx_rtmp_module.so";
/// Debian's Python, which has Debian's modules.
const PYTHON: &str = "/usr/bin/python3";

/// An RTSP server that receives streams one after the other, and keeps their timestamps: by default, it would replace
/// them by its own clock, which is late on a busy machine.
const RTSP: &str = r#"
import sys, gi
gi.require_version("GstRtspServer", "1.0")
from gi.repository import GLib, Gst, GstRtspServer
Gst.init(None)
class Media(GstRtspServer.RTSPMedia):
    def do_setup_rtpbin(self, rtpbin):
        rtpbin.set_property("buffer-mode", 0)
        return True
server = GstRtspServer.RTSPServer()
server.set_address("127.0.0.1")
server.set_service(sys.argv[1])
factory = GstRtspServer.RTSPMediaFactory()
factory.set_media_gtype(Media)
factory.set_transport_mode(GstRtspServer.RTSPTransportMode.RECORD)
factory.set_launch("( rtph264depay name=depay0 ! h264parse ! mpegtsmux ! filesink buffer-mode=2 location=%s )" % sys.argv[2])
server.get_mount_points().add_factory("/live", factory)
server.attach(None)
GLib.MainLoop().run()
"#;

/// The protocols for which a server can be started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    Rtmp,
    Rtsp,
    Srt,
    Udp,
    Tcp,
}

/// The address of a server, which may not run yet.
pub struct Place {
    pub protocol: Protocol,
    pub port: u16,
}

impl Place {
    /// An unused address, if the server's program is installed; otherwise `None`, and a note.
    pub fn find(protocol: Protocol) -> Option<Self> {
        let has_gstreamer = || {
            let import = "import gi; gi.require_version('GstRtspServer', '1.0')";
            let mut command = Command::new(PYTHON);
            command.args(["-c", import]).stderr(Stdio::null());
            command.status().is_ok_and(|status| status.success())
        };
        let (name, is_here) = match protocol {
            Protocol::Rtmp => ("nginx-rtmp", Path::new(NGINX).exists() && Path::new(NGINX_RTMP).exists()),
            Protocol::Rtsp => ("gst-rtsp-server", has_gstreamer()),
            Protocol::Srt => ("srt-live-transmit", Command::new("srt-live-transmit").arg("-version").output().is_ok()),
            Protocol::Udp | Protocol::Tcp => ("ffmpeg", true),
        };
        if !is_here {
            skip(name, &format!("no server for {protocol:?} here"));
            return None;
        }
        // An unused port: its socket is closed at the end of this statement.
        let port = match protocol {
            Protocol::Srt | Protocol::Udp => UdpSocket::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()),
            _ => TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()),
        };
        Some(Place { protocol, port: port.expect("a port").port() })
    }

    /// The URL that a client writes to.
    pub fn url(&self) -> String {
        let port = self.port;
        match self.protocol {
            Protocol::Rtmp => format!("rtmp://127.0.0.1:{port}/app/live"),
            Protocol::Rtsp => format!("rtsp://127.0.0.1:{port}/live"),
            Protocol::Srt => format!("srt://127.0.0.1:{port}"),
            Protocol::Udp => format!("udp://127.0.0.1:{port}"),
            Protocol::Tcp => format!("tcp://127.0.0.1:{port}"),
        }
    }

    /// Starts the server, and waits until it listens. It writes the received stream to `file`.
    pub fn serve(&self, dir: &Dir, file: &str) -> Beside {
        let port = self.port;
        let copy = |url: &str| {
            let line =
                format!("-v error -nostdin -y -analyzeduration 500000 -i {url} -map 0 -c copy -flush_packets 1 {file}");
            dir.other_command("ffmpeg", &line)
        };
        let mut command = match self.protocol {
            Protocol::Rtmp => {
                let (folder, name) = (dir.path("").display().to_string(), file.trim_end_matches(".flv"));
                let suffix = name.trim_start_matches("live");
                let lines = format!(
                    "load_module {NGINX_RTMP}; daemon off; master_process off; pid {folder}/pid; error_log {folder}/log; \
                     events {{}} rtmp {{ server {{ listen 127.0.0.1:{port}; application app {{ live on; record all; \
                     record_path {folder}; record_suffix {suffix}.flv; }} }} }}"
                );
                dir.write("nginx.conf", lines.as_bytes());
                dir.other_command(NGINX, &format!("-e {folder}/log -c {folder}/nginx.conf"))
            }
            Protocol::Rtsp => {
                dir.write("server.py", RTSP.as_bytes());
                dir.other_command(PYTHON, &format!("server.py {port} {file}"))
            }
            Protocol::Srt => {
                let mut command = dir
                    .other_command("srt-live-transmit", &format!("-q srt://127.0.0.1:{port}?mode=listener file://con"));
                command.stdout(std::fs::File::create(dir.path(file)).expect("a file"));
                command
            }
            // UDP has no end of a stream: the reader stops five seconds after the last datagram, even if it gets a
            // signal. On a busy machine, the first datagram comes seconds after the reader starts.
            Protocol::Udp => copy(&format!("udp://127.0.0.1:{port}?timeout=5000000")),
            Protocol::Tcp => copy(&format!("tcp://127.0.0.1:{port}?listen=1")),
        };
        let server = Beside::start(command.stderr(Stdio::null())).expect("the server runs");
        wait_for_listener(port);
        server
    }

    /// The name of a file for received streams.
    pub fn file(&self, number: u32) -> String {
        let extension = if self.protocol == Protocol::Rtmp { "flv" } else { "ts" };
        format!("live-{:?}-{number}.{extension}", self.protocol)
    }
}

/// Waits until the file has data and has not grown for three seconds.
#[track_caller]
pub fn wait_until_written(dir: &Dir, file: &str) {
    let begin = Instant::now();
    let (mut bytes, mut grown) = (0, begin);
    // A busy machine can delay a server by seconds.
    while bytes == 0 || grown.elapsed() < Duration::from_secs(3) {
        assert!(begin.elapsed() < PATIENCE, "{file} has {bytes} bytes, and may not be whole");
        pause(0.05);
        let now = std::fs::metadata(dir.path(file)).map_or(0, |metadata| metadata.len());
        if now != bytes {
            (bytes, grown) = (now, Instant::now());
        }
    }
}

/// Waits until the file has this many bytes.
#[track_caller]
pub fn wait_for_bytes(dir: &Dir, file: &str, bytes: u64) {
    let begin = Instant::now();
    while std::fs::metadata(dir.path(file)).map_or(0, |metadata| metadata.len()) < bytes {
        assert!(begin.elapsed() < PATIENCE, "{file} has fewer than {bytes} bytes");
        pause(0.05);
    }
}
