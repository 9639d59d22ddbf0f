//! A macro for methods that set a field and return the value.

/// Declares methods that take `self` and an argument, if there is one, set a field, and return `self`.
macro_rules! setters {
    ($(
        $(#[$attribute:meta])* $seen:vis fn $name:ident($($argument:ident: $type:ty)?) => $($field:ident).+ = $value:expr;
    )*) => {
        $(
            $(#[$attribute])*
            #[must_use]
            $seen fn $name(mut self $(, $argument: $type)?) -> Self {
                self.$($field).+ = $value;
                self
            }
        )*
    };
}
pub(crate) use setters;
