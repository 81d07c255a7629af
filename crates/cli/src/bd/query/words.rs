//! The words and signs of an expression, with their places. Places are bytes, as the real `bd` counts them.

/// One word or sign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) kind: Kind,
    pub(super) text: String,
    pub(super) at: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    End,
    Name,
    Quoted,
    Number,
    Span,
    Operator(Operator),
    And,
    Or,
    Not,
    Open,
    Close,
    Comma,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    Is,
    IsNot,
    Less,
    AtMost,
    More,
    AtLeast,
}

impl Operator {
    pub(super) fn sign(self) -> &'static str {
        match self {
            Self::Is => "=",
            Self::IsNot => "!=",
            Self::Less => "<",
            Self::AtMost => "<=",
            Self::More => ">",
            Self::AtLeast => ">=",
        }
    }
}

impl Kind {
    /// What errors call it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::End => "EOF",
            Self::Name => "IDENT",
            Self::Quoted => "STRING",
            Self::Number => "NUMBER",
            Self::Span => "DURATION",
            Self::Operator(operator) => operator.sign(),
            Self::And => "AND",
            Self::Or => "OR",
            Self::Not => "NOT",
            Self::Open => "(",
            Self::Close => ")",
            Self::Comma => ",",
        }
    }
}

/// Reads words one after the other, so that only the first error is reported.
pub(super) struct Words<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Words<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, at: 0 }
    }

    pub(super) fn next(&mut self) -> Result<Word, String> {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        let at = self.at;
        let rest = &self.text[at..];
        let Some(first) = rest.chars().next() else {
            return Ok(Word {
                kind: Kind::End,
                text: String::new(),
                at,
            });
        };
        if let Some((kind, length)) = sign(rest) {
            self.at += length;
            return Ok(Word {
                kind,
                text: rest[..length].to_owned(),
                at,
            });
        }
        match first {
            '!' => Err(format!(
                "unexpected character '!' at position {at} (did you mean '!=' or 'NOT'?)"
            )),
            '"' | '\'' => self.quoted(first, at),
            '-' | '+' => self.number(at),
            first if first.is_ascii_digit() => self.number(at),
            first if first.is_alphabetic() || first == '_' => Ok(self.name(at)),
            first => Err(format!("unexpected character {first:?} at position {at}")),
        }
    }

    fn quoted(&mut self, quote: char, at: usize) -> Result<Word, String> {
        let mut text = String::new();
        let body = &self.text[at + 1..];
        let mut letters = body.char_indices();
        while let Some((index, letter)) = letters.next() {
            if letter == quote {
                self.at = at + 1 + index + 1;
                return Ok(Word {
                    kind: Kind::Quoted,
                    text,
                    at,
                });
            }
            if letter != '\\' {
                text.push(letter);
                continue;
            }
            let Some((_, escaped)) = letters.next() else {
                let end = self.text.len() - 1;
                return Err(format!("unterminated escape sequence at position {end}"));
            };
            text.push(match escaped {
                'n' => '\n',
                't' => '\t',
                other => other,
            });
        }
        Err(format!("unterminated string starting at position {at}"))
    }

    fn number(&mut self, at: usize) -> Result<Word, String> {
        let rest = &self.text[at..];
        let is_signed = rest.starts_with(['-', '+']);
        let digits = &rest[usize::from(is_signed)..];
        let n_digits = digits.len()
            - digits
                .trim_start_matches(|c: char| c.is_ascii_digit())
                .len();
        if n_digits == 0 {
            return Err(format!(
                "expected digit at position {}",
                at + usize::from(is_signed)
            ));
        }
        let length = usize::from(is_signed) + n_digits;
        let mut after = rest[length..].chars();
        let unit = after.next();
        let is_unit = unit.is_some_and(|unit| "hdwmyHDWMY".contains(unit));
        let (kind, length) = if is_unit && !after.next().is_some_and(is_part) {
            (Kind::Span, length + 1)
        } else if !is_signed && unit.is_some_and(is_part) {
            // `1-alpha` is a name.
            return Ok(self.name(at));
        } else {
            (Kind::Number, length)
        };
        self.at = at + length;
        Ok(Word {
            kind,
            text: rest[..length].to_owned(),
            at,
        })
    }

    fn name(&mut self, at: usize) -> Word {
        let rest = &self.text[at..];
        let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let text = rest[..length].to_owned();
        self.at = at + length;
        let kind = match text.to_uppercase().as_str() {
            "AND" => Kind::And,
            "OR" => Kind::Or,
            "NOT" => Kind::Not,
            _ => Kind::Name,
        };
        Word { kind, text, at }
    }
}

fn sign(text: &str) -> Option<(Kind, usize)> {
    let signs = [
        ("!=", Kind::Operator(Operator::IsNot)),
        ("<=", Kind::Operator(Operator::AtMost)),
        (">=", Kind::Operator(Operator::AtLeast)),
        ("<", Kind::Operator(Operator::Less)),
        (">", Kind::Operator(Operator::More)),
        ("=", Kind::Operator(Operator::Is)),
        ("(", Kind::Open),
        (")", Kind::Close),
        (",", Kind::Comma),
    ];
    let found = signs.into_iter().find(|(sign, _)| text.starts_with(sign));
    found.map(|(sign, kind)| (kind, sign.len()))
}

/// Whether a letter may stand in a name: labels have colons in them, and keys of metadata slashes.
fn is_part(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.' | ':' | '/')
}
