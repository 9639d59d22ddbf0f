//! Alpha is kept if encoder and container support it; otherwise, there is a warning.

use crate::support::media::reader::encoder_is_here;
use crate::support::programs::program::Dir;

const SIZE: (usize, usize) = (96, 64);

/// Six frames with the alpha `value`, an expression of X and N.
fn clip(dir: &Dir, file: &str, value: &str, options: &str) {
    dir.ffmpeg(&format!(
        "-f lavfi -i testsrc2=size=96x64:rate=10 -frames:v 6 -vf format=yuva420p,geq=lum=lum(X\\,Y):cb=cb(X\\,Y):cr=cr(X\\,Y):a={value} \
         {options} {file}"
    ));
}

/// Does `file` have transparent pixels, and how many pixels have an alpha that is far from the `2*X` of `clip`?
fn alpha(dir: &Dir, file: &str) -> (bool, usize) {
    let stream = &dir.streams(file)[0];
    let decoder = match stream["codec_name"].as_str() {
        Some("vp8") => "-c:v libvpx",
        Some("vp9") => "-c:v libvpx-vp9",
        _ => "",
    };
    dir.ffmpeg(&format!("{decoder} -i {file} -f rawvideo -pix_fmt yuva444p alpha.raw"));
    let bytes = dir.read("alpha.raw");
    let plane = SIZE.0 * SIZE.1;
    let frames = bytes.chunks_exact(4 * plane).map(|frame| &frame[3 * plane..]);
    let pixels = frames.flat_map(|alpha| alpha.iter().enumerate());
    let far =
        pixels.clone().filter(|(index, alpha)| (2 * (index % SIZE.0) as i32 - i32::from(**alpha)).abs() > 24).count();
    (pixels.clone().any(|(_, alpha)| *alpha < 255), far)
}

#[test]
fn nothing_becomes_opaque_in_silence() {
    let dir = Dir::new();
    clip(&dir, "in.mkv", "2*X", "-c:v ffv1");
    let encoders = [
        "libvpx",
        "libvpx-vp9",
        "prores_ks",
        "ffv1",
        "ffvhuff",
        "utvideo",
        "magicyuv",
        "png",
        "qtrle",
        "libx264",
        "libx265",
        "mpeg4",
        "mjpeg",
    ];
    let (mut kept, mut said) = (0, 0);
    for encoder in encoders.into_iter().filter(|encoder| encoder_is_here("alpha", encoder)) {
        for container in ["mkv", "webm", "mov", "mp4", "avi", "nut"] {
            let output = format!("out.{container}");
            let run = dir.run(&format!("--backend cpu --encoder {encoder} -y in.mkv {output}"));
            if run.code != Some(0) {
                let reasons = ["cannot hold what", "refuses", "cannot begin"];
                assert!(reasons.iter().any(|why| run.stderr.contains(why)), "{encoder} in {container}: {}", run.stderr);
                continue;
            }
            let is_said = run.stderr.lines().any(|line| line.contains("warning") && line.contains("opaque"));
            let (is_there, far) = alpha(&dir, &output);
            assert!(
                is_there != is_said,
                "{encoder} in {container}, of which alpha is kept: {is_there}: {}",
                run.stderr
            );
            assert!(!is_there || far * 20 < 6 * SIZE.0 * SIZE.1, "{encoder} in {container}: {far} pixels are off");
            *(if is_there { &mut kept } else { &mut said }) += 1;
            if is_said {
                let strict = format!("--backend cpu --strict --encoder {encoder} -y in.mkv {output}");
                dir.run(&strict).fails().says(&["opaque", "--strict"]);
            }
        }
    }
    assert!(kept > 15 && said > 15, "{kept} keep alpha, {said} say that they do not");
}

#[test]
fn transparent_vp8_and_vp9_stay_so_where_the_container_has_a_place_for_it() {
    let dir = Dir::new();
    for encoder in ["libvpx", "libvpx-vp9"].into_iter().filter(|encoder| encoder_is_here("alpha", encoder)) {
        clip(&dir, "in.webm", "2*X", &format!("-c:v {encoder} -auto-alt-ref 0 -b:v 2M"));
        for output in ["out.webm", "out.mkv"] {
            dir.succeeds(&format!("--backend cpu --strict -y in.webm {output}"));
            let (is_there, far) = alpha(&dir, output);
            assert!(is_there && far * 20 < 6 * SIZE.0 * SIZE.1, "{encoder} to {output}: {far} pixels are off");
        }
        for output in ["out.mp4", "out.ivf", "out.nut", "out.mov", "out.avi"] {
            dir.succeeds(&format!("--backend cpu -y in.webm {output}")).says(&["warning", "opaque", ".mkv"]);
            dir.run(&format!("--backend cpu --strict -y in.webm {output}")).fails().says(&["opaque"]);
        }
        let format = "--output-pixel-format yuva420p";
        dir.run(&format!("--backend cpu --encoder {encoder} {format} -y in.webm out.nut"))
            .fails()
            .says(&["alpha", ".webm"]);
        dir.succeeds("--backend cpu --strict --output-pixel-format yuv420p -y in.webm out.mkv");
    }
}

#[test]
fn alpha_that_is_opaque_is_not_missed_until_it_is_not() {
    let dir = Dir::new();
    clip(&dir, "opaque.mkv", "255", "-c:v ffv1");
    clip(&dir, "later.mkv", "255-lt(3\\,N)*X", "-c:v ffv1");
    for encoder in ["mpeg4", "libx264"].into_iter().filter(|encoder| encoder_is_here("alpha", encoder)) {
        dir.succeeds(&format!("--backend cpu --strict --encoder {encoder} -y opaque.mkv out.mkv"));
        let run = dir.succeeds(&format!("--backend cpu --encoder {encoder} -y later.mkv out.mkv"));
        run.says(&["warning", "becomes transparent"]);
        dir.run(&format!("--backend cpu --strict --encoder {encoder} -y later.mkv out.mkv")).fails();
    }
}

#[test]
fn the_colour_of_what_nobody_sees_changes_nothing_that_is_seen() {
    let dir = Dir::new();
    let subject = "between(X\\,30\\,60)*between(Y\\,20\\,50)";
    let picture = |hidden: u8, file: &str, options: &str| {
        let colour = |part: &str| format!("{part}=if({subject}\\,20+mod(X*7+Y*3\\,24)\\,{hidden})");
        let [r, g, b] = ["r", "g", "b"].map(colour);
        dir.ffmpeg(&format!(
            "-f lavfi -i color=black:s=96x64:r=5 -frames:v 3 -vf format=rgba,geq={r}:{g}:{b}:a=if({subject}\\,255\\,0) \
             {options} {file}"
        ));
    };
    picture(0, "black.png", "-frames:v 1");
    picture(255, "white.png", "-frames:v 1");
    picture(0, "black.mkv", "-c:v ffv1");
    picture(255, "white.mkv", "-c:v ffv1");
    let visible = |file: &str| -> Vec<u8> {
        dir.ffmpeg(&format!("-i {file} -f rawvideo -pix_fmt rgba visible.raw"));
        let bytes = dir.read("visible.raw");
        bytes.chunks_exact(4).filter(|pixel| pixel[3] > 0).flatten().copied().collect()
    };
    for look in ["", "--look exact", "--method clahe", "--method detail", "--look night", "--method deflicker"] {
        for ext in ["png", "mkv"] {
            let [black, white] = ["black", "white"].map(|hidden| {
                let output = format!("out-{hidden}.{ext}");
                dir.succeeds(&format!("--backend cpu {look} -y {hidden}.{ext} {output}"));
                visible(&output)
            });
            assert!(!black.is_empty() && black == white, "{look} {ext}");
        }
    }
    // Only the opaque subject is stretched to the full range.
    dir.succeeds("--backend cpu --look exact -y white.png exact.png");
    let luma: Vec<u8> = visible("exact.png").chunks_exact(4).map(|pixel| pixel[1]).collect();
    assert_eq!((luma.iter().min(), luma.iter().max()), (Some(&0), Some(&255)));
}
