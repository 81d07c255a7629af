//! Enums whose values are words.

/// Declares an enum whose values are words: `ALL` of them, `as_str` and `parse`.
macro_rules! word_enum {
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident {
            $($(#[$variant_meta:meta])* $variant:ident = $word:literal),* $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        $vis enum $name { $($(#[$variant_meta])* $variant),* }

        impl $name {
            /// Every value, in this order.
            pub const ALL: [Self; [$($word),*].len()] = [$(Self::$variant),*];

            /// The word as it is written.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),* }
            }

            /// Reads a word; case matters.
            pub fn parse(text: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|value| value.as_str() == text)
            }
        }
    };
}

pub(crate) use word_enum;
