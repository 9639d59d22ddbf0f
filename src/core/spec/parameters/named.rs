//! Values with names, which options, help and documents use. The macro that declares the values also lists them, so
//! that no list can lack one.

/// A value of a small set, each of which has a name.
pub trait Named: Copy + PartialEq + 'static {
    /// All values, in the order in which they are listed.
    const ALL: &'static [Self];

    /// The name: lower case, words joined by dashes.
    fn name(self) -> &'static str;

    /// A description in a phrase.
    fn about(self) -> &'static str;

    /// The value with this name or alias.
    fn from_name(name: &str) -> Option<Self>;
}

/// Declares an enum of named values: `Value = "name", "what it is";`, or `Value = "name" | "another name", "what it
/// is";`.
#[doc(hidden)]
#[macro_export]
macro_rules! named {
    ($(#[$attribute:meta])* pub enum $type:ident {
        $($(#[$value_of:meta])* $value:ident = $name:literal $(| $other:literal)?, $about:literal;)*
    }) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $type {
            $(#[doc = $about] #[doc = "."] $(#[$value_of])* $value,)*
        }

        impl $crate::Named for $type {
            const ALL: &'static [Self] = &[$($type::$value),*];

            fn name(self) -> &'static str {
                match self { $($type::$value => $name),* }
            }

            fn about(self) -> &'static str {
                match self { $($type::$value => $about),* }
            }

            fn from_name(name: &str) -> Option<Self> {
                match name { $($name $(| $other)? => Some($type::$value),)* _ => None }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str($crate::Named::name(*self))
            }
        }
    };
}
pub(crate) use named;
