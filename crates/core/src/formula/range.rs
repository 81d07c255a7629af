//! The bounds of a loop: `1..5`, `1..2^{n}`, `{first}..{last}+1`.
//!
//! Whole numbers with `+ - * / ^` and parentheses. Names in braces are values of variables.

use super::template::substitute_single;

/// Reads a range; both ends belong to it. The error says what is wrong.
pub(super) fn evaluate<'v>(
    text: &str,
    value_of: impl Fn(&str) -> Option<&'v str>,
) -> Result<(i64, i64), String> {
    let (first, last) = text
        .split_once("..")
        .ok_or("a range is written as first..last")?;
    let number = |text: &str| {
        let text = substitute_single(text, MAX_LENGTH, &value_of);
        let text = text.map_err(|_| "it is too long".to_owned())?;
        Expression::evaluate(&text)
    };
    Ok((number(first)?, number(last)?))
}

/// The names that a range needs.
pub(super) fn names(text: &str) -> Vec<&str> {
    let parts = text.split('{').skip(1);
    parts
        .filter_map(|part| part.split_once('}').map(|(name, _)| name))
        .collect()
}

/// The longest expression.
const MAX_LENGTH: usize = 10_000;

/// What is left of an expression.
struct Expression<'t> {
    rest: &'t str,
    depth: usize,
}

/// Parentheses and powers can be nested so deep; nobody needs more.
const MAX_DEPTH: usize = 32;

impl Expression<'_> {
    fn evaluate(text: &str) -> Result<i64, String> {
        let mut expression = Expression {
            rest: text,
            depth: 0,
        };
        let value = expression.sum()?;
        match expression.peek() {
            None => Ok(value),
            Some(c) => Err(format!("`{c}` was not expected in `{}`", text.trim())),
        }
    }

    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    fn take(&mut self, wanted: char) -> bool {
        let is_there = self.peek() == Some(wanted);
        if is_there {
            self.rest = &self.rest[wanted.len_utf8()..];
        }
        is_there
    }

    fn sum(&mut self) -> Result<i64, String> {
        let mut value = self.product()?;
        loop {
            value = if self.take('+') {
                fits(value.checked_add(self.product()?))?
            } else if self.take('-') {
                fits(value.checked_sub(self.product()?))?
            } else {
                return Ok(value);
            };
        }
    }

    fn product(&mut self) -> Result<i64, String> {
        let mut value = self.power()?;
        loop {
            value = if self.take('*') {
                fits(value.checked_mul(self.power()?))?
            } else if self.take('/') {
                match self.power()? {
                    0 => return Err("there is a division by zero".to_owned()),
                    divisor => fits(value.checked_div(divisor))?,
                }
            } else {
                return Ok(value);
            };
        }
    }

    fn power(&mut self) -> Result<i64, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err("it is nested too deep".to_owned());
        }
        let base = self.atom()?;
        let value = if self.take('^') {
            let exponent = self.power()?;
            let exponent = u32::try_from(exponent)
                .map_err(|_| "a power must not be negative or very large".to_owned())?;
            fits(base.checked_pow(exponent))?
        } else {
            base
        };
        self.depth -= 1;
        Ok(value)
    }

    fn atom(&mut self) -> Result<i64, String> {
        match self.peek() {
            Some('(') => {
                self.take('(');
                let value = self.sum()?;
                if self.take(')') {
                    Ok(value)
                } else {
                    Err("a `)` is missing".to_owned())
                }
            }
            Some('-') => {
                self.take('-');
                let value = self.power()?;
                fits(value.checked_neg())
            }
            Some(c) if c.is_ascii_digit() => {
                let digits = self.rest.bytes().take_while(u8::is_ascii_digit).count();
                let (number, rest) = self.rest.split_at(digits);
                self.rest = rest;
                fits(number.parse().ok())
            }
            Some('{') => Err(format!(
                "there is no value for `{}`",
                self.rest.split_inclusive('}').next().unwrap_or(self.rest)
            )),
            Some(c) => Err(format!("`{c}` is no number")),
            None => Err("a number is missing".to_owned()),
        }
    }
}

fn fits(value: Option<i64>) -> Result<i64, String> {
    value.ok_or_else(|| "the number is too large".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_computed() {
        let value_of = |name: &str| (name == "n").then_some("3");
        for (text, range) in [
            ("1..10", Ok((1, 10))),
            (" 1 .. 2^{n} ", Ok((1, 8))),
            ("{n}..({n}+1)*2", Ok((3, 8))),
            ("-1..7/2-1", Ok((-1, 2))),
            ("2^3^0..2", Ok((2, 2))),
        ] {
            assert_eq!(evaluate(text, value_of), range, "{text}");
        }
        for text in [
            "",
            "1",
            "1..",
            "..2",
            "1..x",
            "1..2 3",
            "1..{m}",
            "1..1/0",
            "1..9^99",
            "1..2^-1",
            "1..(2",
            "1..99999999999999999999",
        ] {
            assert!(evaluate(text, value_of).is_err(), "{text}");
        }
        let deep = format!("1..{}1", "(".repeat(100_000));
        assert!(evaluate(&deep, value_of).is_err());
        assert_eq!(names("{a}..2^{b}"), ["a", "b"]);
    }
}
