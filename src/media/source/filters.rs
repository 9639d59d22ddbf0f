//! The filters that pictures pass before they are equalized.

/// What makes SDR of HDR: light by zscale, in multiples of the white of an SDR picture in HDR (203 cd/m2, ITU-R BT.2408); up to
/// 0.6 it stays as it is, and what is above, up to 1,000 cd/m2, has the rest. Of primaries and matrix, what is not told is that
/// of HDR.
pub fn to_sdr([has_primaries, has_matrix]: [bool; 2]) -> String {
    let primaries = if has_primaries { "" } else { "setparams=color_primaries=bt2020," };
    let matrix = if has_matrix { "" } else { "setparams=colorspace=bt2020nc," };
    let forgotten = ["MASTERING_DISPLAY_METADATA", "CONTENT_LIGHT_LEVEL", "DYNAMIC_HDR_PLUS"];
    let forgotten = forgotten.map(|kind| format!("sidedata=mode=delete:type={kind},")).concat();
    format!(
        "{primaries}{matrix}{forgotten}zscale=t=linear:npl=203,format=gbrpf32le,zscale=p=bt709,\
         tonemap=mobius:param=0.6:peak=4.926,zscale=t=bt709:m=bt709:r=tv,format=yuv420p10le"
    )
}

/// The filters of a run, in their order.
#[derive(Clone, Debug, Default)]
pub struct Filters {
    /// A chain in the syntax of `ffmpeg -vf`.
    pub chain: Option<String>,
}
