//! The lines of a curve file.

use anyhow::{Context, Result, bail, ensure};
use histeq::internal::frame::{Frame, Range};
use histeq::internal::spec::Transfer;
use histeq::internal::spec::chroma::UNIT_GAIN;
use histeq::internal::spec::curves::tone::{Balance, MAX_GAIN, Veil};
use histeq::internal::spec::curves::{Curve, Levels, Mapping};
use histeq::internal::spec::measure::REGIONS;
use histeq::internal::spec::natural::{InLight, MAX_PEAK, ToneCurve, Toned, light};
use serde::{Deserialize, Serialize};
use std::fmt::{Display, Formatter};
use std::ops::RangeInclusive;

/// The version of the format.
pub const VERSION: u32 = 1;

/// The first line of a curve file.
#[derive(Debug, Deserialize, Serialize)]
pub struct Header {
    /// The version of the format.
    pub histeq_curves: u32,
    /// The format of its curves.
    #[serde(flatten)]
    pub format: CurveFormat,
}

/// Depth and range of curves, and of the frames that they fit.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub struct CurveFormat {
    /// Bits of a sample.
    pub depth: u8,
    #[serde(with = "RangeName")]
    range: Range,
}

/// The names of a [`Range`].
#[derive(Deserialize, Serialize)]
#[serde(remote = "Range", rename_all = "lowercase")]
enum RangeName {
    Limited,
    Full,
}

/// Each line after the first: the mapping of frames.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct CurveLine<L> {
    /// Number of the first frame with this mapping.
    pub frame: u64,
    /// The balance of colours, applied first.
    #[serde(skip_serializing_if = "Option::is_none")]
    balance: Option<BalanceFields>,
    /// The output code for each input code.
    #[serde(skip_serializing_if = "Option::is_none")]
    lut: Option<L>,
    /// With a `lut`, the gain of chroma if it follows luma, in 4096ths; left out if the gain is 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    chroma_gain: Option<u32>,
    /// The mapping by regions, in place of a `lut`.
    #[serde(skip_serializing_if = "Option::is_none")]
    regions: Option<RegionFields>,
}

/// A [`Balance`].
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct BalanceFields {
    gains: [u32; 3],
    offsets: [i32; 3],
}

/// A [`Veil`].
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct RegionFields {
    taken: [[u32; REGIONS]; REGIONS],
    gains: [[u32; REGIONS]; REGIONS],
    chroma: [[u32; REGIONS]; REGIONS],
    #[serde(skip_serializing_if = "Option::is_none")]
    curve: Option<TonedFields>,
    /// The ceiling of the tone, left out if it is white.
    #[serde(skip_serializing_if = "Option::is_none")]
    ceiling: Option<u32>,
    /// How HDR is corrected; left out for SDR.
    #[serde(skip_serializing_if = "Option::is_none")]
    in_light: Option<LightFields>,
}

/// How HDR is corrected ([`InLight`]).
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct LightFields {
    transfer: TransferName,
    peak: [u32; 2],
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
enum TransferName {
    Pq,
    Hlg,
}

/// A curve for all regions ([`Toned`]).
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct TonedFields {
    points: [i32; 17],
    light: u32,
}

impl<'a> CurveLine<&'a [u16]> {
    /// The line for the mapping of frames with these levels from frame `frame` on; `None` for curves of tiles.
    pub fn new(frame: u64, mapping: &'a Mapping, levels: Levels) -> Option<Self> {
        let line = CurveLine { frame, ..CurveLine::default() };
        Some(match mapping {
            Mapping::Curve { curve, chroma_gain } => CurveLine {
                lut: Some(curve.codes()),
                chroma_gain: Some(*chroma_gain).filter(|gain| *gain != UNIT_GAIN),
                ..line
            },
            Mapping::Veil(veil) => CurveLine { regions: Some(RegionFields::new(veil, levels)), ..line },
            Mapping::Balance(balance) => CurveLine { balance: Some((*balance).into()), ..line },
            Mapping::Balanced { balance, then } => {
                let then = CurveLine::new(frame, then, levels).filter(|then| then.balance.is_none())?;
                CurveLine { balance: Some((*balance).into()), ..then }
            }
            Mapping::Tiles { .. } => return None,
        })
    }
}

impl CurveLine<Vec<u64>> {
    /// The mapping of this line, for frames of this format.
    pub fn mapping(self, format: CurveFormat) -> Result<Mapping> {
        let levels = format.levels();
        let balance = self.balance.map(|fields| fields.checked(levels)).transpose()?;
        ensure!(self.lut.is_some() || self.chroma_gain.is_none(), "a `chroma_gain` without a `lut`");
        let then = match (self.lut, self.regions) {
            (Some(lut), None) => {
                let chroma_gain = self.chroma_gain.unwrap_or(UNIT_GAIN);
                Some(Mapping::Curve { curve: curve(lut, format)?.into(), chroma_gain })
            }
            (None, Some(fields)) => Some(Mapping::Veil(fields.checked(levels)?.into())),
            (None, None) => None,
            (Some(_), Some(_)) => bail!("a `lut` and `regions`, which take each other's place"),
        };
        match (balance, then) {
            (Some(balance), Some(then)) => Ok(Mapping::Balanced { balance, then: then.into() }),
            (Some(balance), None) => Ok(Mapping::Balance(balance)),
            (None, Some(then)) => Ok(then),
            (None, None) => bail!("missing field `lut` (or `balance`, or `regions`)"),
        }
    }
}

fn curve(lut: Vec<u64>, format: CurveFormat) -> Result<Curve> {
    let codes = format.levels().codes();
    ensure!(lut.len() == codes, "{} codes, not the {codes} of {} bits", lut.len(), format.depth);
    if let Some((code, level)) = lut.iter().enumerate().find(|(_, level)| **level >= codes as u64) {
        bail!("code {code} becomes {level}, which is above {}", codes - 1);
    }
    let lut = lut.into_iter().map(|level| level as u16).collect();
    Curve::from_codes(format.levels(), lut).context("a curve of another depth")
}

/// Checks that these numbers are in this range; `name` is their name in messages.
fn check<N: Copy + Into<i64>>(name: &str, numbers: &[N], range: RangeInclusive<i64>) -> Result<()> {
    match numbers.iter().find(|number| !range.contains(&(**number).into())) {
        None => Ok(()),
        Some(number) => {
            bail!("{name}: {} is not from {} to {}", (*number).into(), range.start(), range.end())
        }
    }
}

const GAINS: RangeInclusive<i64> = 0..=MAX_GAIN as i64;

impl From<Balance> for BalanceFields {
    fn from(Balance { gains, offsets }: Balance) -> Self {
        BalanceFields { gains, offsets }
    }
}

impl BalanceFields {
    fn checked(self, levels: Levels) -> Result<Balance> {
        let BalanceFields { gains, offsets } = self;
        let furthest = i64::from(Balance::furthest_offset(levels));
        check("balance.gains", &gains, GAINS)?;
        check("balance.offsets", &offsets, -furthest..=furthest)?;
        Ok(Balance { gains, offsets })
    }
}

impl RegionFields {
    fn new(veil: &Veil, levels: Levels) -> Self {
        let Veil { taken, gains, chroma, then, in_light, ceiling } = *veil;
        let curve = then.map(|Toned { curve, light }| TonedFields { points: *curve.points(), light });
        let ceiling = Some(ceiling).filter(|ceiling| *ceiling != white(levels));
        let in_light = in_light.and_then(LightFields::new);
        RegionFields { taken, gains, chroma, curve, ceiling, in_light }
    }

    fn checked(self, levels: Levels) -> Result<Veil> {
        let RegionFields { taken, gains, chroma, curve, ceiling, in_light } = self;
        let ceiling = ceiling.unwrap_or(white(levels));
        check("regions.gains", gains.as_flattened(), GAINS)?;
        check("regions.chroma", chroma.as_flattened(), GAINS)?;
        check("regions.ceiling", &[ceiling], 0..=white(levels).into())?;
        let then = curve.map(TonedFields::checked).transpose()?;
        let in_light = in_light.map(LightFields::checked).transpose()?;
        Ok(Veil { taken, gains, chroma, then, in_light, ceiling })
    }
}

impl LightFields {
    fn new(InLight { transfer, peak }: InLight) -> Option<Self> {
        let transfer = match transfer {
            Transfer::Pq => TransferName::Pq,
            Transfer::Hlg => TransferName::Hlg,
            Transfer::Sdr => return None,
        };
        Some(LightFields { transfer, peak })
    }

    fn checked(self) -> Result<InLight> {
        check("regions.in_light.peak", &self.peak, 0..=MAX_PEAK.into())?;
        let transfer = match self.transfer {
            TransferName::Pq => Transfer::Pq,
            TransferName::Hlg => Transfer::Hlg,
        };
        Ok(InLight { transfer, peak: self.peak })
    }
}

impl TonedFields {
    fn checked(self) -> Result<Toned> {
        let furthest = i64::from(ToneCurve::FURTHEST);
        check("regions.curve.points", &self.points, -furthest..=furthest)?;
        check("regions.curve.light", &[self.light], 0..=light::MAX.into())?;
        Ok(Toned { curve: ToneCurve::made_of(|index| self.points[index]), light: self.light })
    }
}

/// The highest level.
fn white(levels: Levels) -> u32 {
    levels.count() as u32 - 1
}

impl CurveFormat {
    /// The format of curves for `frame`.
    pub fn for_frame(frame: &Frame) -> Self {
        CurveFormat { depth: frame.format().depth(), range: frame.range() }
    }

    /// The levels of frames with this depth and range.
    pub fn levels(self) -> Levels {
        match self.range {
            Range::Limited => Levels::limited(self.depth),
            Range::Full => Levels::full(self.depth),
        }
    }
}

impl Display for CurveFormat {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} bits, {} range", self.depth, self.range)
    }
}
