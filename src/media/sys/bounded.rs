//! Lists of which no more is taken in than makes sense: what a stranger sends could become much more memory than it has
//! bytes.

use serde::de::{Deserializer, Error, SeqAccess, Visitor};
use serde::{Deserialize, de};
use std::fmt;
use std::marker::PhantomData;

/// For `#[serde(deserialize_with = "...")]`: a list of at most `MOST` elements.
///
/// # Errors
/// When there are more.
pub fn at_most<'de, D: Deserializer<'de>, T: Deserialize<'de>, const MOST: usize>(from: D) -> Result<Vec<T>, D::Error> {
    from.deserialize_seq(AtMost::<T, MOST>(PhantomData))
}

struct AtMost<T, const MOST: usize>(PhantomData<T>);

impl<'de, T: Deserialize<'de>, const MOST: usize> Visitor<'de> for AtMost<T, MOST> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at most {MOST} elements")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<T>, A::Error> {
        let mut found = Vec::new();
        while let Some(element) = list.next_element()? {
            if found.len() == MOST {
                return Err(Error::invalid_length(MOST + 1, &self as &dyn de::Expected));
            }
            found.push(element);
        }
        Ok(found)
    }
}
