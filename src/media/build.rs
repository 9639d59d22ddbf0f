//! Sets `cfg(ffmpeg_6_0)` to `cfg(ffmpeg_7_1)` for the version of FFmpeg that `ffmpeg-sys-next` found.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    for version in ["6_0", "6_1", "7_0", "7_1"] {
        println!("cargo:rustc-check-cfg=cfg(ffmpeg_{version})");
        if std::env::var(format!("DEP_FFMPEG_FFMPEG_{version}")).is_ok_and(|value| value == "true") {
            println!("cargo:rustc-cfg=ffmpeg_{version}");
        }
    }
}
