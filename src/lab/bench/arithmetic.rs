//! The publications' own arithmetic (`--formula`): a description of each, and the expected results.

use crate::publications::Formula;

/// The arithmetic of a publication's kernels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arithmetic {
    /// That of the specification.
    #[default]
    Specification,
    /// The own arithmetic of each publication.
    Own,
    /// This formula, where it applies.
    One(Formula),
}

impl Arithmetic {
    /// The names on the command line, each with a description.
    pub fn names() -> Vec<(&'static str, &'static str)> {
        let fixed = [("specification", "what frames become everywhere else"), ("own", "each publication's own")];
        fixed.into_iter().chain(Formula::ALL.into_iter().map(|formula| (formula.name(), about(formula)))).collect()
    }

    /// The arithmetic of this name.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "specification" => Some(Arithmetic::Specification),
            "own" => Some(Arithmetic::Own),
            name => name.parse().ok().map(Arithmetic::One),
        }
    }

    /// The formula of a publication's kernels; `own` is the publication's.
    pub fn of(self, own: Option<Formula>) -> Option<Formula> {
        match self {
            Arithmetic::Specification => None,
            Arithmetic::Own => own,
            Arithmetic::One(formula) => Some(formula),
        }
    }
}

/// The difference of a formula from the specification, and its errors.
fn about(formula: Formula) -> &'static str {
    match formula {
        Formula::FloorInteger => "the share of N rounded down, cmin left out: black is not black",
        Formula::FloorNoMin => "the same by a factor in float: white may not be white either",
        Formula::FloatRound => "in float: quotients near a half round either way; wrong above 2^24 samples",
        Formula::WrongMin => "float-round whose cmin is 0 where level 0 is occupied: black is not black",
        Formula::EquationFloor => "rounded down in place of to the nearest: half of the levels one too dark",
        Formula::Product32 => "products of 32 bits: right up to 16.8 million samples, garbage above",
        Formula::FloatScan => "cumulative counts in float: wrong above 2^24 samples",
        Formula::StaleBuffer => "product-32 of the step before the last one of the scan: sums over half of the levels",
        Formula::TruncatedLuminance => "luminance rounded down: half of all pixels one too dark",
    }
}

/// The curve by this formula, or by the specification.
pub fn curve(formula: Option<Formula>, counts: &[u32]) -> Vec<u16> {
    formula.map_or_else(|| Formula::exact(counts), |formula| formula.curve(counts))
}
