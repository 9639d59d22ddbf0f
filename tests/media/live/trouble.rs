//! Messages about a camera that cannot be opened. Most of these errors need a real camera, so the test makes the
//! driver's errors up and has them turned into messages.

use crate::support::programs::program::{Dir, usage_error};
use histeq_media::camera::NotOpened;
use histeq_media::ffmpeg::Error;

const CAMERA: Option<&str> = Some("v4l2");

fn system(errno: i32) -> Error {
    Error::Other { errno }
}

#[test]
fn what_a_driver_answers_becomes_a_line_with_the_way_out() {
    for (errno, says) in [
        (libc::EBUSY, "another program uses the camera (close that first)"),
        (libc::EACCES, "no permission (join the group that owns it: sudo usermod -aG video $USER"),
        (libc::EPERM, "no permission"),
        (libc::ENOENT, "no such camera or file (`histeq-video devices` lists"),
        (libc::ENODEV, "no such camera"),
        (libc::ENXIO, "no such camera"),
        (libc::EINVAL, "the camera has no such mode (`histeq-video devices` lists"),
        (libc::ENOTTY, "not a camera"),
        (libc::EISDIR, "not a camera"),
        (libc::ETIMEDOUT, "no data received"),
    ] {
        let line = NotOpened::new("/dev/video7", CAMERA, system(errno)).to_string();
        assert!(line.starts_with("/dev/video7: ") && line.contains(says) && !line.contains('\n'), "{line}");
    }
}

#[test]
fn what_a_network_answers_becomes_a_line_with_the_way_out() {
    for (error, says) in [
        (system(libc::ECONNREFUSED), "the connection is refused (is the camera on?)"),
        (system(libc::EHOSTUNREACH), "is the address right?"),
        (system(libc::ETIMEDOUT), "no data received (is the sender running?)"),
        (Error::Exit, "no data received (is the sender running?)"),
        (Error::HttpUnauthorized, "rtsp://name:password@"),
        (Error::HttpForbidden, "name and password may be wrong"),
        (Error::HttpNotFound, "is the path right?"),
        (Error::ProtocolNotFound, "ffmpeg -protocols"),
        (Error::InvalidData, "no RTSP server answers there"),
        // The meaning of this error for drivers does not apply to URLs.
        (system(libc::EBUSY), "busy"),
    ] {
        let line = NotOpened::new("rtsp://camera/", None, error).to_string();
        assert!(line.starts_with("rtsp://camera/: ") && line.contains(says) && !line.contains('\n'), "{line}");
        assert!(!line.contains("histeq-video devices"), "{line}");
    }
}

#[test]
fn what_is_no_camera_is_refused_in_a_line() {
    let dir = Dir::new();
    dir.write("letter.txt", b"Dear reader,\n");
    std::fs::create_dir(dir.path("folder")).expect("Is a directory");
    for (input, says) in [
        ("/dev/null", "/dev/null: not a camera"),
        ("/dev/video99", "/dev/video99: no such camera or file (`histeq-video devices`"),
        ("nosuchfile", "nosuchfile: no such camera"),
        ("folder", "folder: not a camera"),
        ("-f abacus camera", "camera: this FFmpeg has no input format abacus (`ffmpeg -devices`"),
        ("-f lavfi nosuchfilter", "error: nosuchfilter: "),
        ("abacus://camera", "abacus://camera: this FFmpeg does not know such URLs"),
        ("rtsp://absent.invalid/", "rtsp://absent.invalid/: Failed to resolve hostname absent.invalid"),
        ("rtsp://me:hush@127.0.0.1:1/", "rtsp://me@127.0.0.1:1/: the connection is refused"),
        (
            "http://127.0.0.1:1/live?usr=me&pwd=hush&channel=2",
            "http://127.0.0.1:1/live?usr=***&pwd=***&channel=2: the connection is refused",
        ),
    ] {
        let run = dir.run(&format!("live --backend cpu --no-preview --record out.mkv {input}")).fails();
        let run = run.says(&["histeq-video: error: ", says]).never_says("hush");
        assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
    }
    assert_eq!(dir.names(), ["letter.txt"]);
}

#[test]
fn what_makes_no_sense_is_a_usage_error() {
    for (line, says) in [
        ("live --duration 0 camera", "--duration is more than 0"),
        ("live --duration=-1 camera", "--duration"),
        ("live --frames 0 camera", "--frames"),
        ("live --rate 0 camera", "--rate"),
        ("live --size 0x0 camera", "--size"),
        ("live one two", "several sources have no window"),
    ] {
        usage_error(line).says(&[says]);
    }
}

#[test]
fn with_the_sandbox_on_what_the_program_itself_would_open_is_refused() {
    let dir = Dir::new();
    for source in ["-f lavfi testsrc2=s=64x48:r=10", "/dev/video7"] {
        let run = dir.run(&format!("live --sandbox on --no-preview --record out.mkv {source}")).fails();
        assert!(run.stderr.contains("--sandbox on") || source.starts_with("/dev"), "{}", run.stderr);
    }
    assert!(!dir.path("out.mkv").exists());
}
