//! What every checked text of a bead has in common.

/// Gives a newtype over `Box<str>` its `as_str`, `Display` and `Serialize`.
macro_rules! text_type {
    ($name:ident) => {
        impl $name {
            /// The text as it was read.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }
    };
}

pub(crate) use text_type;
