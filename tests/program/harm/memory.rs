//! Inputs that make the program allocate memory: the whole process keeps to `--max-memory` and the documented share.

use super::inputs::costs::{TIME, element, gif};
use super::servers::{Answers, rtsp, serve};
use crate::support::programs::program::{Dir, Run, program};
use crate::support::programs::running::{Running, under_load};
use crate::support::skip::skip;
use rustix::process::Signal;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// The limit in MiB of the peak memory with `--max-memory 200M`: 190 for that, 512 that are documented, and 40 that may
/// be allocated between two checks.
const MAX_MEMORY: usize = 190 + 512 + 40;

const LIMITS: &str = "--max-memory 200M --max-seconds 20";

/// An HLS playlist of `count` variants, each of which is the file `name`.
fn variants(name: &str, count: usize) -> String {
    let variant = |number| format!("#EXT-X-STREAM-INF:BANDWIDTH={}\n{name}\n", number + 1);
    format!("#EXTM3U\n{}", (0..count).map(variant).collect::<String>())
}

fn mpd(inside: &str) -> String {
    format!(
        "<?xml version=\"1.0\"?><MPD xmlns=\"urn:mpeg:dash:schema:mpd:2011\" type=\"static\" mediaPresentationDuration=\"PT9S\" \
         profiles=\"urn:mpeg:dash:profile:isoff-live:2011\"><Period>{inside}</Period></MPD>"
    )
}

fn representations(count: usize) -> String {
    let one = |number| {
        format!(
            "<Representation id=\"{number}\" bandwidth=\"1\" width=\"64\" height=\"48\" mimeType=\"video/mp4\" codecs=\"avc1\">\
             <SegmentTemplate media=\"s.mpd\" initialization=\"s.mpd\" duration=\"1\"/></Representation>"
        )
    };
    format!("<AdaptationSet contentType=\"video\">{}</AdaptationSet>", (0..count).map(one).collect::<String>())
}

fn sdp(inside: &str) -> String {
    format!("v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=x\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\n{inside}")
}

const MEDIUM: &str = "m=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\na=control:t1\r\n";

/// A box of an mp4.
fn boxed(kind: &[u8; 4], body: &[u8]) -> Vec<u8> {
    [&(body.len() as u32 + 8).to_be_bytes(), kind.as_slice(), body].concat()
}

fn words(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_be_bytes()).collect()
}

/// A video track whose sample table contains the boxes `tables`.
fn track(tables: &[u8]) -> Vec<u8> {
    let entry = [vec![0; 6], vec![0, 1], vec![0; 16], vec![0, 64, 0, 48], vec![0; 50]].concat();
    let described = boxed(b"stsd", &[words(&[0, 1]), boxed(b"mp4v", &entry)].concat());
    let table = boxed(b"stbl", &[&described, tables].concat());
    let handler = boxed(b"hdlr", &[vec![0; 8], b"vide".to_vec(), vec![0; 13]].concat());
    let medium =
        boxed(b"mdia", &[boxed(b"mdhd", &words(&[0, 0, 0, 1000, 1000, 0])), handler, boxed(b"minf", &table)].concat());
    boxed(b"trak", &[boxed(b"tkhd", &[words(&[7, 0, 0, 1, 0, 1000]), vec![0; 60]].concat()), medium].concat())
}

fn mp4(tracks: &[u8]) -> Vec<u8> {
    let header = boxed(b"mvhd", &[words(&[0, 0, 0, 1000, 1000]), vec![0; 80]].concat());
    let name = boxed(b"ftyp", b"isom\0\0\0\0isom");
    [name, boxed(b"moov", &[&header, tracks].concat()), boxed(b"mdat", &[0; 64])].concat()
}

fn matroska(inside: &[Vec<u8>]) -> Vec<u8> {
    let head = element(b"\x1a\x45\xdf\xa3", &element(b"\x42\x82", b"matroska"));
    [head, element(b"\x18\x53\x80\x67", &inside.concat())].concat()
}

/// A Matroska track with video of 16384x16384 pixels.
fn video_track(number: u16, codec: &[u8]) -> Vec<u8> {
    let size = [element(b"\xb0", &16384_u32.to_be_bytes()), element(b"\xba", &16384_u32.to_be_bytes())].concat();
    let number = number.to_be_bytes();
    let parts = [element(b"\xd7", &number), element(b"\x73\xc5", &number), element(b"\x83", &[1])];
    element(b"\xae", &[parts.concat(), element(b"\x86", codec), element(b"\xe0", &size)].concat())
}

fn png(chunks: &[(&[u8; 4], Vec<u8>)]) -> Vec<u8> {
    let chunk = |(kind, body): &(&[u8; 4], Vec<u8>)| {
        // FFmpeg does not verify the CRC of chunks.
        [&(body.len() as u32).to_be_bytes(), kind.as_slice(), body, &[0; 4]].concat()
    };
    [b"\x89PNG\r\n\x1a\n".to_vec(), chunks.iter().flat_map(chunk).collect()].concat()
}

/// The contents of all chunks of this kind, concatenated.
fn bodies(png: &[u8], kind: &[u8; 4]) -> Vec<u8> {
    let (mut rest, mut found) = (&png[8..], Vec::new());
    while let Some((length, chunk)) = rest.split_first_chunk() {
        let length = u32::from_be_bytes(*length) as usize;
        if chunk.starts_with(kind) {
            found.extend(&chunk[4..4 + length]);
        }
        rest = &chunk[length + 8..];
    }
    found
}

fn head_of_png(size: u32) -> (&'static [u8; 4], Vec<u8>) {
    (b"IHDR", [words(&[size, size]), vec![8, 6, 0, 0, 0]].concat())
}

fn files(dir: &Dir) -> Vec<(String, Vec<u8>)> {
    // Compressed zeros: each byte expands to 1,000.
    dir.ffmpeg("-f lavfi -i color=black:size=16384x4096 -frames:v 1 -pix_fmt gray zeros.png");
    dir.ffmpeg("-f lavfi -i color=gray:size=9900x9000 -frames:v 1 -pix_fmt gray large.png");
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 3 -c:v ffv1 small.mkv");
    let zeros = dir.read("zeros.png");
    let begin = zeros.windows(4).position(|name| name == b"IDAT").expect("packed samples") + 4;
    let packed = zeros[begin..].to_vec();
    let whole = bodies(&zeros, b"IDAT");
    let bomb = |kind, name: &[u8]| png(&[head_of_png(64), (kind, [name, &whole].concat()), (b"IDAT", packed.clone())]);
    let frame = |number| (b"fcTL", [words(&[number, 1, 1, 0, 0]), vec![0, 1, 0, 25, 0, 0]].concat());
    let animation = |size, frames: u32| {
        let parts = (0..frames).flat_map(|number| {
            let data =
                [words(&[2 * number + 1]), b"\x78\x9c\x63\x60\x60\x60\x60\x00\x00\x00\x05\x00\x01".to_vec()].concat();
            [frame(2 * number), (b"fdAT", data)]
        });
        png(&[vec![head_of_png(size), (b"acTL", words(&[frames, 0]))], parts.collect()].concat())
    };
    let stts = boxed(b"stts", &words(&[0, 1, u32::MAX / 4, 1]));
    let stsc = boxed(b"stsc", &words(&[0, 1, 1, u32::MAX / 4, 1]));
    let stco = boxed(b"stco", &words(&[0, 1, 48]));
    let sizes = boxed(b"stsz", &words(&[0, 1, u32::MAX / 4]));
    let many_samples = [stts.clone(), stsc.clone(), sizes, stco.clone()].concat();
    let table = |kind: &[u8; 4], count: u32| mp4(&track(&boxed(kind, &words(&[0, count, 1, 1, 1, 1]))));
    let nested = (0..20_000).fold(Vec::new(), |inside, _| boxed(b"udta", &inside));
    let tracks = |codec: &[u8], count| {
        matroska(&[element(b"\x16\x54\xae\x6b", &(1..=count).flat_map(|n| video_track(n, codec)).collect::<Vec<_>>())])
    };
    let chapters = (0..300_000_u32)
        .flat_map(|start| element(b"\xb6", &element(b"\x91", &start.to_be_bytes())))
        .collect::<Vec<_>>();
    let attachment = |name: u32| {
        element(b"\x61\xa7", &[element(b"\x46\x6e", &name.to_be_bytes()), element(b"\x46\x5c", &[0; 100_000])].concat())
    };
    let attachments: Vec<u8> = (0..600).flat_map(attachment).collect();
    let tags = (0..60_000).flat_map(|_| {
        element(
            b"\x73\x73",
            &element(b"\x67\xc8", &[element(b"\x45\xa3", b"a"), element(b"\x44\x87", &[b'b'; 300])].concat()),
        )
    });
    let tags: Vec<u8> = tags.collect();
    let segments = "#EXTINF:1,\nabcdefghijklmnopqrstuvwxyz.ts\n".repeat(400_000);
    let media =
        (0..20_000).map(|n| format!("#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"{n}\",URI=\"media.m3u8\"\n"));
    let maps = "#EXT-X-MAP:URI=\"a.mp4\"\n#EXT-X-KEY:METHOD=AES-128,URI=\"k\"\n#EXTINF:1,\na.ts\n".repeat(100_000);
    let entities: String =
        (1..10).map(|n| format!("<!ENTITY e{n} \"{}\">", format!("&e{};", n - 1).repeat(10))).collect();
    let entities =
        format!("<?xml version=\"1.0\"?><!DOCTYPE MPD [<!ENTITY e0 \"aaaaaaaaaa\">{entities}]><MPD>&e9;</MPD>");
    let mut files: Vec<(String, Vec<u8>)> = Vec::new();
    let mut add = |name: &str, bytes: Vec<u8>| files.push((name.to_owned(), bytes));
    add("self.m3u8", variants("self.m3u8", 2).into());
    add("self.mp4", variants("self.mp4", 2).into());
    add("wide.m3u8", variants("wide.m3u8", 20_000).into());
    add("missing.m3u8", variants("nothing.m3u8", 20_000).into());
    for level in 0..12 {
        add(&format!("tree{level}.m3u8"), variants(&format!("tree{}.m3u8", level + 1), 3).into());
    }
    add("segments.m3u8", format!("#EXTM3U\n#EXT-X-TARGETDURATION:1\n{segments}").into());
    add(
        "media.m3u8",
        format!("#EXTM3U\n{}#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO=\"a\"\nmedia.m3u8\n", media.collect::<String>()).into(),
    );
    add("maps.m3u8", format!("#EXTM3U\n#EXT-X-TARGETDURATION:1\n{maps}#EXT-X-ENDLIST\n").into());
    add("line.m3u8", format!("#EXTM3U\n{}", "a".repeat(30_000_000)).into());
    add("self.ffconcat", b"ffconcat version 1.0\nfile self.ffconcat\nfile self.ffconcat\n".to_vec());
    add("wide.ffconcat", format!("ffconcat version 1.0\n{}", "file nothing.mkv\n".repeat(500_000)).into());
    add("streams.ffconcat", format!("ffconcat version 1.0\nfile small.mkv\n{}", "stream\n".repeat(5_000)).into());
    add(
        "chapters.ffconcat",
        format!("ffconcat version 1.0\nfile small.mkv\n{}", "chapter 1 0 1\n".repeat(300_000)).into(),
    );
    add("many.sdp", sdp(&MEDIUM.repeat(5_000)).into());
    add("line.sdp", sdp(&format!("a={}\r\n", "x".repeat(3_000_000))).into());
    add("s.mpd", mpd(&representations(2)).into());
    add("wide.mpd", mpd(&representations(5_000)).into());
    add("entities.mpd", entities.into());
    add("deep.mpd", mpd(&"<AdaptationSet>".repeat(100_000)).into());
    add("large.gif", gif(16384, 1));
    add("long.gif", gif(4096, 100));
    add("largest.gif", gif(65535, 3));
    add("frames.gif", gif(16, 60_000));
    add("canvas.apng", animation(16384, 2));
    add("long.apng", animation(4096, 200));
    add("frames.apng", animation(16, 20_000));
    add("profile.png", bomb(b"iCCP", b"a\0\0"));
    add("text.png", bomb(b"zTXt", b"a\0\0"));
    add("claims.png", png(&[head_of_png(16384), (b"IDAT", packed.clone())]));
    add("header.y4m", b"YUV4MPEG2 W16384 H16384 F25:1 C444p16\nFRAME\n".to_vec());
    add("line.y4m", [b"YUV4MPEG2 ".to_vec(), vec![b'X'; 30_000_000]].concat());
    add("frame.y4m", [b"YUV4MPEG2 W64 H48 F25:1\nFRAME ".to_vec(), vec![b'X'; 30_000_000]].concat());
    add("h264.mkv", tracks(b"V_MPEG4/ISO/AVC", 1000));
    add("vp9.mkv", tracks(b"V_VP9", 1000));
    add("hevc.mkv", tracks(b"V_MPEGH/ISO/HEVC", 1));
    add(
        "chapters.mkv",
        matroska(&[element(b"\x10\x43\xa7\x70", &element(b"\x45\xb9", &chapters)), tracks(b"V_VP8", 1)]),
    );
    add("attachments.mkv", matroska(&[element(b"\x19\x41\xa4\x69", &attachments)]));
    add("tags.mkv", matroska(&[element(b"\x12\x54\xc3\x67", &tags)]));
    add("samples.mp4", mp4(&track(&many_samples)));
    for kind in [b"stts", b"ctts", b"stsz", b"stco", b"stsc", b"stss"] {
        add(&format!("{}.mp4", String::from_utf8_lossy(kind)), table(kind, u32::MAX / 16));
    }
    add("tracks.mp4", mp4(&track(&[]).repeat(5_000)));
    add("samples-of-all.mp4", mp4(&track(&many_samples).repeat(200)));
    add("nested.mp4", mp4(&nested));
    add("claims.ppm", b"P6\n60000 60000\n65535\n".to_vec());
    add(
        "claims.bmp",
        [
            b"BM".to_vec(),
            vec![0; 8],
            vec![54, 0, 0, 0, 40, 0, 0, 0],
            16000_u32.to_le_bytes().repeat(2),
            vec![1, 0, 24, 0],
            vec![0; 24],
        ]
        .concat(),
    );
    add(
        "claims.jpg",
        [
            b"\xff\xd8\xff\xc0\0\x11\x08".to_vec(),
            vec![0xff, 0xdc, 0xff, 0xdc],
            b"\x03\x01\x22\0\x02\x11\x01\x03\x11\x01\xff\xd9".to_vec(),
        ]
        .concat(),
    );
    files
}

/// Runs the program with a time limit. Returns the run and its peak memory in MiB.
fn measured(dir: &Dir, line: &str) -> (Run, usize) {
    let limit = under_load(Duration::from_secs(60)).as_secs();
    let mut command = dir.other_command(TIME, &format!("-q -f %M -o peak timeout -s KILL {limit}"));
    command.arg(program()).args(line.split(' '));
    let run = Run::from_command(&mut command, line);
    let peak = String::from_utf8(dir.read("peak")).expect("text");
    (run, peak.trim().parse::<usize>().expect("KiB") >> 10)
}

/// Requires that a run with `LIMITS` ends in time, keeps to its memory, and says why in one line if it fails.
fn keeps_to_its_memory(dir: &Dir, line: &str) -> Result<(), String> {
    let begin = Instant::now();
    let (run, peak) = measured(dir, line);
    let time = begin.elapsed();
    let last = run.stderr.lines().last().unwrap_or_default().chars().take(200).collect::<String>();
    println!("{line}: exit code {:?}, {peak} MiB, {:.1} s: {last}", run.code, time.as_secs_f64());
    let errors = run.stderr.lines().filter(|line| line.starts_with("histeq-video: error: ")).count();
    let says_why = run.code == Some(0) || crate::support::programs::program::failed(run.code) && errors == 1;
    if says_why && peak <= MAX_MEMORY && time < under_load(Duration::from_secs(40)) {
        return Ok(());
    }
    Err(format!("{line}: exit code {:?}, {peak} MiB, {time:?}, said:\n{}", run.code, run.stderr))
}

/// Can the memory of a run be measured here?
fn can_measure() -> bool {
    let is_there = Path::new(TIME).exists();
    if !is_there {
        skip("the memory of a run", "there is no /usr/bin/time");
    }
    is_there
}

#[test]
fn what_unpacks_to_more_than_an_image_has_is_refused_before_it_does() {
    if !can_measure() {
        return;
    }
    let dir = Dir::new();
    for (name, bytes) in files(&dir).into_iter().filter(|(name, _)| ["profile.png", "text.png"].contains(&&**name)) {
        dir.write(&name, &bytes);
        for line in
            [format!("--backend cpu -y {name} out.png"), format!("--sandbox off --backend cpu -y {name} out.png")]
        {
            let (run, peak) = measured(&dir, &line);
            run.exits_with(8).says(&[&format!("histeq-video: error: {name}: "), "unpack to more than 16 MiB"]);
            assert!(peak < 150 && !dir.path("out.png").exists(), "{line}: {peak} MiB");
        }
    }
}

#[test]
fn hostile_inputs_keep_to_the_memory() {
    if !can_measure() {
        return;
    }
    let dir = Dir::new();
    let files = files(&dir);
    files.iter().for_each(|(name, bytes)| dir.write(name, bytes));
    let mut lines: Vec<String> = Vec::new();
    let names =
        files.iter().map(|(name, _)| name.as_str()).filter(|name| !name.starts_with("tree") || *name == "tree0.m3u8");
    let file = |name: &str| format!("--backend cpu --encoder mpeg4 {LIMITS} -y {name} out.mkv");
    lines.extend(names.map(file));
    for name in [
        "self.m3u8",
        "wide.m3u8",
        "self.ffconcat",
        "claims.png",
        "large.png",
        "large.gif",
        "profile.png",
        "header.y4m",
        "wide.mpd",
    ] {
        lines.push(format!("--backend cpu --encoder mpeg4 --mask {name} {LIMITS} -y small.mkv out.mkv"));
    }
    for name in ["self.m3u8", "wide.m3u8", "media.m3u8", "wide.mpd", "long.gif", "long.apng", "samples.mp4"] {
        lines.push(format!("preview {LIMITS} -y {name} out.png"));
        lines.push(format!("compare --encoder mpeg4 {LIMITS} -y small.mkv {name} out.mkv"));
        lines.push(format!("plan {LIMITS} {name} planned.mkv --piece 1"));
    }
    for name in
        ["self.mp4", "wide.m3u8", "tree0.m3u8", "media.m3u8", "maps.m3u8", "self.ffconcat", "many.sdp", "line.sdp"]
    {
        lines.push(file(&format!("--sandbox off {name}")));
    }
    for text in [
        variants("x.m3u8", 2),
        variants("x.m3u8", 20_000),
        mpd(&representations(5_000)),
        sdp(&MEDIUM.repeat(5_000)),
        concat(),
    ] {
        for answers in [Answers::Once, Answers::Always] {
            let kind = if text.contains("MPD") { "mpd" } else { "m3u8" };
            lines.push(file(&format!("http://127.0.0.1:{}/x.{kind}", serve(text.clone(), answers))));
        }
    }
    for count in [5_000, 100_000] {
        let port = rtsp(sdp(&MEDIUM.repeat(count)));
        lines.push(file(&format!("rtsp://127.0.0.1:{port}/x")));
    }
    let is_long = std::env::var_os("HISTEQ_LONG").is_some();
    // The three inputs with the highest peak memory come first.
    let tried = lines.iter().enumerate().filter(|(index, _)| is_long || index % 7 < 1 || *index < 3);
    let failed: Vec<(usize, String)> =
        tried.clone().filter_map(|(index, line)| Some((index, keeps_to_its_memory(&dir, line).err()?))).collect();
    println!("{} of {} runs within {MAX_MEMORY} MiB", tried.clone().count() - failed.len(), tried.count());
    assert!(failed.is_empty(), "{failed:#?}");
}

fn concat() -> String {
    "ffconcat version 1.0\nfile x.m3u8\nfile x.m3u8\n".to_owned()
}

#[test]
fn a_playlist_that_names_itself_is_refused_by_what_it_opens() {
    let dir = Dir::new();
    dir.write("self.m3u8", variants("self.m3u8", 2).as_bytes());
    dir.write("self.ffconcat", b"ffconcat version 1.0\nfile self.ffconcat\n");
    let run = |line: &str| dir.run(line).fails();
    for line in ["--backend cpu self.m3u8 out.mkv", "live --backend cpu --no-preview --record out.mkv self.m3u8"] {
        let said = run(line).stderr;
        // FFmpeg 9 and later refuses a playlist inside of another one at once.
        let tells = ["opens more than 1000 files or addresses", "Master Playlist tag", "no video that FFmpeg knows"];
        assert!(tells.iter().any(|text| said.contains(text)) && said.lines().count() == 1, "{said}");
    }
    // Each level of nesting takes a file descriptor and a stack frame.
    let deep = dir.run("--backend cpu self.ffconcat out.mkv").fails();
    let tells = ["nest too deeply", "Too many open files", "Impossible to open"];
    let is_told = tells.iter().any(|text| deep.stderr.contains(text));
    assert!(is_told && deep.stderr.lines().count() == 1, "{}", deep.stderr);
    assert!(!dir.path("out.mkv").exists());
}

#[test]
fn a_server_that_describes_more_streams_than_there_may_be_is_refused_before_they_are_set_up() {
    let dir = Dir::new();
    let port = rtsp(sdp(&MEDIUM.repeat(5_000)));
    let line = format!("--backend cpu --max-memory 200M rtsp://127.0.0.1:{port}/x out.mkv");
    dir.run(&line).fails().says(&["it has more than 1000 streams"]);
}

#[test]
fn nothing_more_is_opened_after_an_interruption() {
    let dir = Dir::new();
    // The answers are so slow that the run does not reach the limit of opened addresses.
    let port = serve(variants("x.m3u8", 200), Answers::Slowly);
    let mut command =
        dir.command(&format!("live --backend cpu --no-preview --record out.mkv http://127.0.0.1:{port}/x.m3u8"));
    let mut live = Running::start(command.stderr(Stdio::null()));
    live.wait_until_it_listens();
    std::thread::sleep(Duration::from_secs(1));
    live.signal(Signal::TERM);
    live.ends_within(under_load(Duration::from_secs(4)));
    assert!(!dir.path("out.mkv").exists());
}
