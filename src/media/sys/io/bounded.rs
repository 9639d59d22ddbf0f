//! Limits for deserialized lists: a few untrusted bytes could allocate much memory.

use serde::de::{Deserializer, Error, SeqAccess, Visitor};
use serde::{Deserialize, de};
use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::mem::needs_drop;

thread_local! {
    /// How many more elements that own memory may be deserialized, in all lists together.
    static ROOM: Cell<usize> = const { Cell::new(usize::MAX) };
}

/// Runs `take`, in which all lists of [`at_most`] together, nested ones included, may have at most `most` elements that
/// own memory.
pub fn with_elements<T>(most: usize, take: impl FnOnce() -> T) -> T {
    let before = ROOM.replace(most);
    let taken = take();
    ROOM.set(before);
    taken
}

/// For `#[serde(deserialize_with = "...")]`: a list of at most `MAX` elements.
///
/// # Errors
/// When there are more.
pub fn at_most<'de, D: Deserializer<'de>, T: Deserialize<'de>, const MAX: usize>(
    source: D,
) -> Result<Vec<T>, D::Error> {
    source.deserialize_seq(AtMost::<T, MAX>(PhantomData))
}

struct AtMost<T, const MAX: usize>(PhantomData<T>);

impl<'de, T: Deserialize<'de>, const MAX: usize> Visitor<'de> for AtMost<T, MAX> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at most {MAX} elements")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<T>, A::Error> {
        let mut found = Vec::new();
        while let Some(element) = list.next_element()? {
            let room = ROOM.get();
            if found.len() == MAX || room == 0 {
                return Err(Error::invalid_length(MAX + 1, &self as &dyn de::Expected));
            }
            found.push(element);
            ROOM.set(room - usize::from(needs_drop::<T>()));
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    struct Few(#[serde(deserialize_with = "at_most::<_, _, 3>")] Vec<String>);

    #[derive(Deserialize)]
    struct Many(#[serde(deserialize_with = "at_most::<_, _, 100>")] Vec<Few>);

    #[test]
    fn lists_in_lists_have_a_limit_together() {
        let (four, thirty) = (vec![""; 4], vec![vec![""; 3]; 10]);
        let read = |most| with_elements(most, || postcard::from_bytes::<Many>(&bytes(&thirty)).map(|many| many.0));
        fn bytes(value: &impl serde::Serialize) -> Vec<u8> {
            postcard::to_stdvec(value).expect("bytes")
        }
        assert!(postcard::from_bytes::<Few>(&bytes(&four)).is_err());
        assert!(read(40).is_ok_and(|lists| lists.iter().all(|few| few.0.len() == 3)));
        assert!(read(39).is_err());
    }
}
