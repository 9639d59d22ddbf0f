//! Tells the code which FFmpeg it is built against: `cfg(ffmpeg_7_0)` and its kin, as `ffmpeg-sys-next` found it.

fn main() {
    println!("cargo:rerun-if-changed=src/build.rs");
    for version in ["6_0", "6_1", "7_0", "7_1"] {
        println!("cargo:rustc-check-cfg=cfg(ffmpeg_{version})");
        if std::env::var(format!("DEP_FFMPEG_FFMPEG_{version}")).is_ok_and(|value| value == "true") {
            println!("cargo:rustc-cfg=ffmpeg_{version}");
        }
    }
}
