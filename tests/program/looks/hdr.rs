//! HDR is corrected in linear light: clean clips stay, dark ones are raised to diffuse white at most, haze is removed.

use crate::support::programs::program::Dir;

/// Diffuse white, in cd/m2.
const WHITE: f64 = 203.0;

#[derive(Clone, Copy, Debug)]
enum Transfer {
    Hlg,
    Pq,
}

impl Transfer {
    fn tag(self) -> &'static str {
        match self {
            Transfer::Hlg => "arib-std-b67",
            Transfer::Pq => "smpte2084",
        }
    }

    /// The signal for `light` in cd/m2, as an FFmpeg expression.
    fn signal(self, light: &str) -> String {
        match self {
            Transfer::Hlg => {
                let scene = format!("pow(({light})/1000,1/1.2)");
                format!(
                    "if(lte({scene},1/12),sqrt(3*{scene}),0.17883277*log(max(12*{scene}-0.28466892,1e-9))+0.55991073)"
                )
            }
            Transfer::Pq => {
                let power = format!("pow(({light})/10000,0.1593017578125)");
                format!("pow((0.8359375+18.8515625*{power})/(1+18.6875*{power}),78.84375)")
            }
        }
    }

    fn light(self, signal: f64) -> f64 {
        match self {
            Transfer::Hlg if signal <= 0.5 => 1000.0 * (signal * signal / 3.0).powf(1.2),
            Transfer::Hlg => {
                1000.0 * ((((signal - 0.559_910_73) / 0.178_832_77).exp() + 0.284_668_92) / 12.0).powf(1.2)
            }
            Transfer::Pq => {
                let power = signal.powf(1.0 / 78.84375);
                let of_10000 = (power - 0.835_937_5).max(0.0) / (18.851_562_5 - 18.6875 * power);
                10_000.0 * of_10000.powf(1.0 / 0.159_301_757_812_5)
            }
        }
    }
}

/// Lossless ten-bit HDR with `share` times the light of an SDR test clip, plus `plus` cd/m2, and an eighth of its
/// chroma.
fn clip(dir: &Dir, file: &str, transfer: Transfer, share: f64, plus: f64) {
    let light = format!("{plus}+{WHITE}*{share}*pow(max(val-64,0)/876,2.4)");
    let signal = transfer.signal(&light).replace(',', "\\,");
    let tag = transfer.tag();
    dir.ffmpeg(&format!(
        "-f lavfi -i testsrc2=size=192x108:rate=25 -frames:v 10 -vf format=yuv420p10le,\
         lutyuv=y=64+876*({signal}):u=512+(val-512)/8:v=512+(val-512)/8,\
         setparams=range=tv:colorspace=bt2020nc:color_trc={tag}:color_primaries=bt2020 -color_range tv \
         -colorspace bt2020nc -color_trc {tag} -color_primaries bt2020 -c:v ffv1 {file}"
    ));
}

/// The light of each pixel's luma in cd/m2, sorted.
fn lights(dir: &Dir, file: &str, transfer: Transfer) -> Vec<f64> {
    let raw = dir.raw(file, "gray10le");
    // FFmpeg converts luma to gray of full range.
    let level = |two: &[u8]| f64::from(u16::from_le_bytes([two[0], two[1]])) / 1023.0;
    let mut lights: Vec<f64> = raw.chunks_exact(2).map(|two| transfer.light(level(two).max(0.0))).collect();
    lights.sort_by(f64::total_cmp);
    lights
}

fn mean(lights: &[f64]) -> f64 {
    lights.iter().sum::<f64>() / lights.len() as f64
}

#[test]
fn clean_hdr_stays_as_it_is_and_dark_hdr_is_lifted_up_to_diffuse_white() {
    let dir = Dir::new();
    for transfer in [Transfer::Hlg, Transfer::Pq] {
        clip(&dir, "clean.mkv", transfer, 1.0, 0.0);
        dir.succeeds("--backend cpu --encoder ffv1 -y clean.mkv out.mkv").says(&["nothing to correct"]);
        assert!(dir.raw("out.mkv", "yuv420p10le") == dir.raw("clean.mkv", "yuv420p10le"), "{transfer:?}");
        clip(&dir, "dark.mkv", transfer, 1.0 / 16.0, 0.0);
        for options in ["", "--look night --denoise 0"] {
            dir.succeeds(&format!("--backend cpu --encoder ffv1 {options} -y dark.mkv out.mkv"))
                .says(&["dark (brightened"]);
            let [before, after] = ["dark.mkv", "out.mkv"].map(|file| lights(&dir, file, transfer));
            assert!(mean(&after) > 4.0 * mean(&before), "{transfer:?}: {} becomes {}", mean(&before), mean(&after));
            assert!(*after.last().unwrap() <= 1.01 * WHITE, "{transfer:?}: {:?}", after.last());
            assert_eq!(dir.streams("out.mkv")[0]["color_transfer"], transfer.tag());
        }
        dir.succeeds("--backend cpu --encoder ffv1 --strength 0 -y dark.mkv out.mkv");
        assert!(dir.raw("out.mkv", "yuv420p10le") == dir.raw("dark.mkv", "yuv420p10le"), "{transfer:?}");
    }
}

#[test]
fn haze_comes_off_hdr_and_its_curves_do_the_same_again() {
    let dir = Dir::new();
    for transfer in [Transfer::Hlg, Transfer::Pq] {
        clip(&dir, "haze.mkv", transfer, 0.5, 60.0);
        dir.succeeds("--backend cpu --encoder ffv1 --look haze --denoise 0 --save-curves c.jsonl -y haze.mkv out.mkv");
        dir.succeeds("--backend cpu --encoder ffv1 --look haze --denoise 0 -y haze.mkv again.mkv");
        let [before, after] = ["haze.mkv", "out.mkv"].map(|file| lights(&dir, file, transfer));
        let black = |lights: &[f64]| lights[lights.len() / 100];
        assert!(black(&after) < black(&before) / 3.0, "{transfer:?}: {} becomes {}", black(&before), black(&after));
        assert!(*after.last().unwrap() <= 1.01 * WHITE, "{transfer:?}: {:?}", after.last());
        assert!(dir.raw("out.mkv", "yuv420p10le") == dir.raw("again.mkv", "yuv420p10le"));
        dir.succeeds("--backend cpu --encoder ffv1 --load-curves c.jsonl -y haze.mkv loaded.mkv");
        assert!(dir.raw("out.mkv", "yuv420p10le") == dir.raw("loaded.mkv", "yuv420p10le"), "{transfer:?}");
        let kept = String::from_utf8(dir.read("c.jsonl")).expect("text");
        assert!(kept.contains("\"regions\"") && kept.contains("\"in_light\""), "the test shows nothing: {kept}");
    }
}
