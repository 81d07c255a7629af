//! What is wrong with a field: the words of the validator (B-22, B-26).

use std::borrow::Cow;
use std::fmt;

use crate::diag::ErrorCode;

/// The kind of a field error; its text is the `type` that the validator prints (B-26).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FieldErrorKind {
    /// A required field is absent.
    Missing,
    /// A text does not fit its pattern or is not one of the words allowed.
    Pattern,
    /// A value has the right type but breaks another rule.
    Value,
    /// Not a string.
    StringType,
    /// Not an integer.
    IntType,
    /// Not true or false.
    BoolType,
    /// Not an array.
    ListType,
    /// Not an object, where any object would do.
    DictType,
    /// Not a string where a time is wanted.
    DatetimeType,
    /// A string that is not a time.
    DatetimeParsing,
    /// Not an object, where one of known fields is wanted.
    ModelType,
    /// Not JSON.
    JsonInvalid,
}

impl FieldErrorKind {
    /// The type as it is printed; pattern and other value errors share one word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Pattern | Self::Value => "value_error",
            Self::StringType => "string_type",
            Self::IntType => "int_type",
            Self::BoolType => "bool_type",
            Self::ListType => "list_type",
            Self::DictType => "dict_type",
            Self::DatetimeType => "datetime_type",
            Self::DatetimeParsing => "datetime_parsing",
            Self::ModelType => "model_type",
            Self::JsonInvalid => "json_invalid",
        }
    }
}

impl fmt::Display for FieldErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One thing wrong with a document, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {message} (type={kind})")]
pub struct FieldError {
    /// The dotted path with array indexes: `metadata.qa_agents.0.output_schema`.
    pub path: String,
    /// What is wrong, in words.
    pub message: String,
    /// Its kind.
    pub kind: FieldErrorKind,
}

/// Why a single value was refused; the reader of a document adds the path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Invalid {
    /// What is wrong, in words.
    pub message: Cow<'static, str>,
    /// Its kind.
    pub kind: FieldErrorKind,
}

impl Invalid {
    pub(crate) fn pattern(message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            message: message.into(),
            kind: FieldErrorKind::Pattern,
        }
    }

    pub(crate) fn value(message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            message: message.into(),
            kind: FieldErrorKind::Value,
        }
    }
}

/// The code of a failed validation (contracts §4.2): only missing fields, only patterns, or a mixture.
pub fn error_code(errors: &[FieldError]) -> ErrorCode {
    let all = |kind| !errors.is_empty() && errors.iter().all(|error| error.kind == kind);
    if all(FieldErrorKind::Missing) {
        ErrorCode::ValidationMissingField
    } else if all(FieldErrorKind::Pattern) {
        ErrorCode::ValidationInvalidPattern
    } else {
        ErrorCode::ValidationBeadSchema
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(kind: FieldErrorKind) -> FieldError {
        FieldError {
            path: "metadata.phase".to_owned(),
            message: "phase must match pattern".to_owned(),
            kind,
        }
    }

    #[test]
    fn b_26_an_error_prints_path_message_and_type() {
        assert_eq!(
            error(FieldErrorKind::Pattern).to_string(),
            "metadata.phase: phase must match pattern (type=value_error)"
        );
    }

    #[test]
    fn e_2_the_code_follows_the_kinds() {
        use FieldErrorKind::{Missing, Pattern, Value};
        for (kinds, code) in [
            (&[Missing, Missing][..], ErrorCode::ValidationMissingField),
            (&[Pattern][..], ErrorCode::ValidationInvalidPattern),
            (&[Value][..], ErrorCode::ValidationBeadSchema),
            (&[Missing, Pattern][..], ErrorCode::ValidationBeadSchema),
        ] {
            let errors: Vec<_> = kinds.iter().copied().map(error).collect();
            assert_eq!(error_code(&errors), code, "{kinds:?}");
        }
    }
}
