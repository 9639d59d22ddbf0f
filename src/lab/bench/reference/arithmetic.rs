//! The publications' own arithmetic (`--formula`), and the results that it leads to.

use crate::publications::Formula;
use histeq::Named;

/// The arithmetic of a publication's kernels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arithmetic {
    /// The arithmetic of the specification.
    #[default]
    Specification,
    /// The own arithmetic of each publication.
    Own,
    /// This formula, for the kernels to which it applies.
    One(Formula),
}

impl Arithmetic {
    /// The names on the command line, each with a description.
    pub fn names() -> Vec<(&'static str, &'static str)> {
        let fixed = [("specification", "what frames become everywhere else"), ("own", "each publication's own")];
        fixed.into_iter().chain(Formula::ALL.iter().map(|formula| (formula.name(), formula.about()))).collect()
    }

    /// The arithmetic of this name.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "specification" => Some(Arithmetic::Specification),
            "own" => Some(Arithmetic::Own),
            name => Formula::from_name(name).map(Arithmetic::One),
        }
    }

    /// The formula of a publication's kernels; `publication` is the publication's own formula.
    pub fn formula(self, publication: Option<Formula>) -> Option<Formula> {
        match self {
            Arithmetic::Specification => None,
            Arithmetic::Own => publication,
            Arithmetic::One(formula) => Some(formula),
        }
    }
}

/// The curve by this formula, or by the specification if there is none.
pub fn curve(formula: Option<Formula>, counts: &[u32]) -> Vec<u16> {
    formula.map_or_else(|| Formula::exact(counts), |formula| formula.curve(counts))
}
