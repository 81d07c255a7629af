//! A strict reader of the text format of Prometheus, for tests of what is printed in it.
//!
//! It is stricter than the format where that only helps: each family has its HELP and its TYPE, in this order and before its samples, which
//! stand together; counters end in `_total`; no line is empty.

use std::collections::{BTreeMap, BTreeSet};

/// One value with its name and its labels, unescaped.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// The name of the family.
    pub name: String,
    /// The labels by their names.
    pub labels: BTreeMap<String, String>,
    /// The value.
    pub value: f64,
}

/// Reads a text; what is wrong with it is told with the line.
pub fn read(text: &str) -> Result<Vec<Sample>, String> {
    if !text.is_empty() && !text.ends_with('\n') {
        return Err("the last line has no end".to_owned());
    }
    let mut reader = Reader::default();
    for line in text.split_terminator('\n') {
        reader
            .line(line)
            .map_err(|why| format!("{why}: {line:?}"))?;
    }
    Ok(reader.samples)
}

#[derive(Default)]
struct Reader {
    /// The families so far, each with its type when it was said.
    families: BTreeMap<String, Option<String>>,
    /// The family whose lines are being read.
    current: String,
    seen: BTreeSet<(String, Vec<(String, String)>)>,
    samples: Vec<Sample>,
}

impl Reader {
    fn line(&mut self, line: &str) -> Result<(), String> {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            let (name, help) = rest.split_once(' ').ok_or("no help")?;
            if help.trim().is_empty() || !is_name(name, ":") {
                return Err("no name or no help".to_owned());
            }
            let before = self.families.insert(name.to_owned(), None);
            name.clone_into(&mut self.current);
            return before.map_or(Ok(()), |_| Err("a second HELP".to_owned()));
        }
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').ok_or("no type")?;
            let is_right = matches!(kind, "counter" | "gauge");
            let is_counted = (kind == "counter") == name.ends_with("_total");
            let known = self.families.get_mut(name).ok_or("TYPE before HELP")?;
            if !is_right || !is_counted || known.is_some() || self.current != name {
                return Err("not the one TYPE of its family".to_owned());
            }
            *known = Some(kind.to_owned());
            return Ok(());
        }
        self.sample(line)
    }

    fn sample(&mut self, line: &str) -> Result<(), String> {
        let end = line.find(['{', ' ']).ok_or("neither labels nor a value")?;
        let (name, rest) = line.split_at(end);
        let kind = self.families.get(name).cloned().flatten();
        let kind = kind.ok_or("a sample before its TYPE")?;
        if self.current != name {
            return Err("samples of a family stand together".to_owned());
        }
        let (labels, rest) = match rest.strip_prefix('{') {
            Some(rest) => labels(rest)?,
            None => (Vec::new(), rest),
        };
        let value = rest.strip_prefix(' ').ok_or("no space before the value")?;
        let value: f64 = value.parse().map_err(|_| "no number".to_owned())?;
        if !value.is_finite() || (kind == "counter" && value < 0.0) {
            return Err("no value for its type".to_owned());
        }
        let mut series = labels.clone();
        series.sort();
        if !self.seen.insert((name.to_owned(), series)) {
            return Err("a series that was there before".to_owned());
        }
        let n_labels = labels.len();
        let labels: BTreeMap<String, String> = labels.into_iter().collect();
        if labels.len() < n_labels {
            return Err("a label twice".to_owned());
        }
        let name = name.to_owned();
        self.samples.push(Sample {
            name,
            labels,
            value,
        });
        Ok(())
    }
}

/// Labels in order.
type Labels = Vec<(String, String)>;

/// The labels after `{`, and what comes behind `}`.
fn labels(text: &str) -> Result<(Labels, &str), String> {
    let mut labels = Vec::new();
    let mut rest = text;
    loop {
        if let Some(after) = rest.strip_prefix('}') {
            return Ok((labels, after));
        }
        let (name, after) = rest.split_once("=\"").ok_or("no value of a label")?;
        if !is_name(name, "") || name.starts_with("__") {
            return Err(format!("no name of a label: {name:?}"));
        }
        let (value, after) = quoted(after)?;
        labels.push((name.to_owned(), value));
        rest = after.strip_prefix(',').unwrap_or(after);
        if after == rest && !rest.starts_with('}') {
            return Err("no comma between labels".to_owned());
        }
    }
}

/// A value up to its closing quote, unescaped, and what comes behind it.
fn quoted(text: &str) -> Result<(String, &str), String> {
    let mut value = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Ok((value, &text[at + 1..])),
            '\\' => value.push(match chars.next() {
                Some((_, 'n')) => '\n',
                Some((_, c @ ('\\' | '"'))) => c,
                other => return Err(format!("an escape that there is not: {other:?}")),
            }),
            c => value.push(c),
        }
    }
    Err("a value without an end".to_owned())
}

/// Whether a text is a name; `more` may stand in it, too.
fn is_name(text: &str, more: &str) -> bool {
    let is_right = |c: char| c.is_ascii_alphanumeric() || c == '_' || more.contains(c);
    let begins = text.chars().next();
    begins.is_some_and(|c| !c.is_ascii_digit()) && text.chars().all(is_right)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "# HELP a_total A.\n# TYPE a_total counter\n";

    #[test]
    fn what_is_right_is_read() {
        let text = format!("{HEAD}a_total{{x=\"q\\\"\\\\\\n\",y=\"\"}} 2.5\na_total 1\n");
        let samples = read(&text).unwrap();
        assert_eq!(samples[0].labels["x"], "q\"\\\n");
        assert!((samples[0].value - 2.5).abs() < 1e-9);
        assert_eq!(samples.len(), 2);
        assert_eq!(read("").unwrap(), []);
    }

    #[test]
    fn what_is_wrong_is_refused() {
        for wrong in [
            format!("{HEAD}a_total 1"),
            "a_total 1\n".to_owned(),
            "# TYPE a_total counter\na_total 1\n".to_owned(),
            format!("{HEAD}{HEAD}"),
            format!("{HEAD}a_total 1\na_total 2\n"),
            format!("{HEAD}a_total{{x=\"1\",y=\"2\"}} 1\na_total{{y=\"2\",x=\"1\"}} 1\n"),
            format!("{HEAD}a_total{{x=\"1\",x=\"2\"}} 1\n"),
            format!("{HEAD}a_total{{x=\"\\t\"}} 1\n"),
            format!("{HEAD}a_total{{x=\"a\"b\"}} 1\n"),
            format!("{HEAD}a_total{{1x=\"a\"}} 1\n"),
            format!("{HEAD}a_total -1\n"),
            format!("{HEAD}a_total one\n"),
            format!("{HEAD}\n"),
            "# HELP a A.\n# TYPE a counter\n".to_owned(),
            format!("{HEAD}# HELP b B.\n# TYPE b gauge\na_total 1\n"),
        ] {
            assert!(read(&wrong).is_err(), "{wrong}");
        }
    }
}
