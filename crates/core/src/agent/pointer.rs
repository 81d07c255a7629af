//! Places in JSON: pointers as of RFC 6901, with `*` for every member.

use serde::{Deserialize, Deserializer, de};
use serde_json::Value;

use crate::text::excerpt;

/// A place in a JSON value; with `*` in it, several places.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pointer {
    steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Member(Box<str>),
    Every,
}

impl Pointer {
    /// Reads a pointer: nothing, or steps that begin with `/` each.
    pub fn parse(text: &str) -> Result<Self, String> {
        let Some(rest) = text.strip_prefix('/') else {
            return match text {
                "" => Ok(Self { steps: Vec::new() }),
                _ => Err(format!(
                    "'{}' is no JSON pointer; it begins with '/'",
                    excerpt(text)
                )),
            };
        };
        let step = |step: &str| match step {
            "*" => Step::Every,
            name => Step::Member(name.replace("~1", "/").replace("~0", "~").into()),
        };
        Ok(Self {
            steps: rest.split('/').map(step).collect(),
        })
    }

    /// Whether it can lead to several places.
    pub(super) fn is_several(&self) -> bool {
        self.steps.contains(&Step::Every)
    }

    /// The values there.
    pub(super) fn find<'v>(&self, value: &'v Value) -> Vec<&'v Value> {
        let mut found = vec![value];
        for step in &self.steps {
            found = match step {
                Step::Member(name) => found.iter().filter_map(|from| member(from, name)).collect(),
                Step::Every => found.iter().flat_map(|from| members(from)).collect(),
            };
        }
        found
    }

    /// The one value there.
    pub(super) fn first<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        if self.is_several() {
            return self.find(value).first().copied();
        }
        self.steps.iter().try_fold(value, |from, step| match step {
            Step::Member(name) => member(from, name),
            Step::Every => None,
        })
    }

    /// The number there, or the sum of several; of none if what holds them is there and empty.
    pub(super) fn sum(&self, value: &Value) -> Option<f64> {
        if !self.is_several() {
            return self.first(value).and_then(Value::as_f64);
        }
        let before = self.steps.iter().take_while(|step| **step != Step::Every);
        let holder = Self {
            steps: before.cloned().collect(),
        };
        holder
            .first(value)
            .filter(|holder| holder.is_object() || holder.is_array())?;
        Some(self.find(value).into_iter().filter_map(Value::as_f64).sum())
    }
}

fn member<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
    match value {
        Value::Object(members) => members.get(name),
        Value::Array(items) => items.get(name.parse::<usize>().ok()?),
        _ => None,
    }
}

fn members(value: &Value) -> Box<dyn Iterator<Item = &Value> + '_> {
    match value {
        Value::Object(members) => Box::new(members.values()),
        Value::Array(items) => Box::new(items.iter()),
        _ => Box::new(std::iter::empty()),
    }
}

impl<'de> Deserialize<'de> for Pointer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pointer(text: &str) -> Pointer {
        Pointer::parse(text).unwrap()
    }

    #[test]
    fn a_pointer_leads_to_one_place_or_to_several() {
        let value = json!({"a": {"x": {"n": 1}, "y": {"n": 2.5}, "z": {}}, "list": ["p", {"q": "r"}], "empty": {}, "a/b~c": 7});
        assert_eq!(pointer("/list/1/q").first(&value), Some(&json!("r")));
        assert_eq!(pointer("/list/7").first(&value), None);
        assert_eq!(pointer("").first(&value), Some(&value));
        assert_eq!(pointer("/a~1b~0c").sum(&value), Some(7.0));
        assert_eq!(pointer("/a/*/n").sum(&value), Some(3.5));
        assert_eq!(pointer("/empty/*/n").sum(&value), Some(0.0));
        assert_eq!(pointer("/absent/*/n").sum(&value), None);
        assert_eq!(pointer("/list/0").sum(&value), None, "a text is no number");
        assert!(Pointer::parse("a/b").is_err());
    }
}
