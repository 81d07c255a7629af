//! What an expression means: comparisons with `AND`, `OR`, `NOT` and parentheses between them.

use std::fmt;

use super::words::{Kind, Operator, Word, Words};
use crate::bd::quoted;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Node {
    Comparison(Comparison),
    And(Box<Self>, Box<Self>),
    Or(Box<Self>, Box<Self>),
    Not(Box<Self>),
}

/// One comparison of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Comparison {
    /// In small letters, but for the key behind `metadata.`.
    pub(super) field: String,
    pub(super) operator: Operator,
    pub(super) value: String,
    /// Whether the value is a time span such as `7d`.
    pub(super) is_span: bool,
}

impl Node {
    /// Whether a field is compared anywhere.
    pub(super) fn mentions(&self, field: &str) -> bool {
        match self {
            Self::Comparison(comparison) => comparison.field == field,
            Self::And(left, right) | Self::Or(left, right) => {
                left.mentions(field) || right.mentions(field)
            }
            Self::Not(inner) => inner.mentions(field),
        }
    }
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Comparison(Comparison {
                field,
                operator,
                value,
                ..
            }) => write!(f, "{field}{}{value}", operator.sign()),
            Self::And(left, right) => write!(f, "({left} AND {right})"),
            Self::Or(left, right) => write!(f, "({left} OR {right})"),
            Self::Not(inner) => write!(f, "NOT {inner}"),
        }
    }
}

/// How deep parentheses and `NOT` may go.
const MAX_DEPTH: usize = 200;

/// Reads an expression. The error is a sentence of the real `bd`.
pub(super) fn parse(text: &str) -> Result<Node, String> {
    let mut words = Words::new(text);
    let current = words.next()?;
    let mut parser = Parser {
        words,
        current,
        depth: 0,
    };
    if parser.current.kind == Kind::End {
        return Err("empty query".to_owned());
    }
    let node = parser.or()?;
    let Word { kind, text, at } = &parser.current;
    if *kind != Kind::End {
        return Err(format!(
            "unexpected token {} at position {at} (expected end of query)",
            quoted(text)
        ));
    }
    Ok(node)
}

struct Parser<'t> {
    words: Words<'t>,
    current: Word,
    depth: usize,
}

impl Parser<'_> {
    fn advance(&mut self) -> Result<(), String> {
        self.current = self.words.next()?;
        Ok(())
    }

    fn or(&mut self) -> Result<Node, String> {
        let mut left = self.and()?;
        while self.current.kind == Kind::Or {
            self.advance()?;
            left = Node::Or(Box::new(left), Box::new(self.and()?));
        }
        Ok(left)
    }

    fn and(&mut self) -> Result<Node, String> {
        let mut left = self.not()?;
        while self.current.kind == Kind::And {
            self.advance()?;
            left = Node::And(Box::new(left), Box::new(self.not()?));
        }
        Ok(left)
    }

    fn not(&mut self) -> Result<Node, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(format!("nested deeper than {MAX_DEPTH} levels"));
        }
        let node = match self.current.kind {
            Kind::Not => {
                self.advance()?;
                Node::Not(Box::new(self.not()?))
            }
            Kind::Open => {
                self.advance()?;
                let inner = self.or()?;
                self.expect(Kind::Close)?;
                inner
            }
            _ => Node::Comparison(self.comparison()?),
        };
        self.depth -= 1;
        Ok(node)
    }

    fn expect(&mut self, kind: Kind) -> Result<(), String> {
        if self.current.kind == kind {
            return self.advance();
        }
        Err(self.wrong(&format!("'{}'", kind.name())))
    }

    fn wrong(&self, expected: &str) -> String {
        let (at, found) = (self.current.at, self.current.kind.name());
        format!("expected {expected} at position {at}, got {found}")
    }

    fn comparison(&mut self) -> Result<Comparison, String> {
        if self.current.kind != Kind::Name {
            return Err(self.wrong("field name"));
        }
        let field = field(&self.current.text);
        self.advance()?;
        let Kind::Operator(operator) = self.current.kind else {
            return Err(self.wrong("comparison operator"));
        };
        self.advance()?;
        let kind = self.current.kind;
        if !matches!(kind, Kind::Name | Kind::Quoted | Kind::Number | Kind::Span) {
            return Err(self.wrong("value"));
        }
        let value = self.current.text.clone();
        self.advance()?;
        Ok(Comparison {
            field,
            operator,
            value,
            is_span: kind == Kind::Span,
        })
    }
}

/// A field whatever the case of its letters; keys of metadata keep theirs.
fn field(text: &str) -> String {
    let small = text.to_lowercase();
    match small.strip_prefix("metadata.") {
        Some(key) if !key.is_empty() => format!("metadata.{}", &text["metadata.".len()..]),
        _ => small,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_is_read_with_its_precedence() {
        for (text, shown) in [
            ("status=open", "status=open"),
            ("a=1 or b=2 and not c=3", "(a=1 OR (b=2 AND NOT c=3))"),
            ("(a=1 OR b=2) AND c!='x y'", "((a=1 OR b=2) AND c!=x y)"),
            ("label=1-alpha", "label=1-alpha"),
            ("updated>7d AND priority<=2", "(updated>7d AND priority<=2)"),
            ("Metadata.Team=Blue", "metadata.Team=Blue"),
        ] {
            assert_eq!(parse(text).unwrap().to_string(), shown, "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        for (text, why) in [
            ("", "empty query"),
            (
                "status",
                "expected comparison operator at position 6, got EOF",
            ),
            ("status=", "expected value at position 7, got EOF"),
            ("=open", "expected field name at position 0, got ="),
            ("(a=1", "expected ')' at position 4, got EOF"),
            (
                "a=1 b=2",
                "unexpected token \"b\" at position 4 (expected end of query)",
            ),
            ("a=\"x", "unterminated string starting at position 2"),
            (
                "a!1",
                "unexpected character '!' at position 1 (did you mean '!=' or 'NOT'?)",
            ),
        ] {
            assert_eq!(parse(text).unwrap_err(), why, "{text}");
        }
        let deep = "NOT ".repeat(100_000) + "a=1";
        assert_eq!(parse(&deep).unwrap_err(), "nested deeper than 200 levels");
    }
}
