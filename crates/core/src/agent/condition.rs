//! Conditions on values: the right side of a rule's `when`.

use std::fmt;

use serde::{Deserialize, Deserializer, de};
use serde_json::Value;

use super::rule::Pattern;

/// What must be at a place.
#[derive(Debug, Clone)]
pub(super) enum Is {
    Equal(Value),
    OneOf(Vec<Value>),
    Matches(Pattern),
    Present(bool),
}

impl Is {
    pub(super) fn holds(&self, value: Option<&Value>) -> bool {
        let there = value.filter(|value| !value.is_null());
        match self {
            Self::Equal(wanted) => is_equal(wanted, there),
            Self::OneOf(wanted) => wanted.iter().any(|wanted| is_equal(wanted, there)),
            Self::Matches(pattern) => there
                .and_then(Value::as_str)
                .is_some_and(|text| pattern.is_match(text)),
            Self::Present(is_wanted) => there.is_some() == *is_wanted,
        }
    }
}

/// Whether a value is the wanted one; numbers are compared as numbers, and what is absent is null.
fn is_equal(wanted: &Value, value: Option<&Value>) -> bool {
    match (wanted, value) {
        (Value::Null, None) => true,
        (Value::Number(wanted), Some(Value::Number(value))) => {
            matches!((wanted.as_f64(), value.as_f64()), (Some(wanted), Some(value)) if wanted.total_cmp(&value).is_eq())
        }
        (wanted, Some(value)) => wanted == value,
        (_, None) => false,
    }
}

impl<'de> Deserialize<'de> for Is {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(IsVisitor)
    }
}

struct IsVisitor;

impl<'de> de::Visitor<'de> for IsVisitor {
    type Value = Is;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value, a list of values, `{matches: pattern}` or `{present: true}`")
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Is, E> {
        Ok(Is::Equal(value.into()))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Is, E> {
        Ok(Is::Equal(value.into()))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Is, E> {
        Ok(Is::Equal(value.into()))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Is, E> {
        Ok(Is::Equal(value.into()))
    }

    fn visit_unit<E: de::Error>(self) -> Result<Is, E> {
        Ok(Is::Equal(Value::Null))
    }

    fn visit_none<E: de::Error>(self) -> Result<Is, E> {
        self.visit_unit()
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, mut items: A) -> Result<Is, A::Error> {
        let mut values = Vec::new();
        while let Some(item) = items.next_element::<Is>()? {
            match item {
                Is::Equal(value) => values.push(value),
                Is::OneOf(_) | Is::Matches(_) | Is::Present(_) => {
                    return Err(de::Error::custom("a list holds values only"));
                }
            }
        }
        Ok(Is::OneOf(values))
    }

    fn visit_map<A: de::MapAccess<'de>>(self, mut members: A) -> Result<Is, A::Error> {
        let Some(key) = members.next_key::<IsKey>()? else {
            return Err(de::Error::custom("an empty condition says nothing"));
        };
        let is = match key {
            IsKey::Matches => Is::Matches(members.next_value()?),
            IsKey::Present => Is::Present(members.next_value()?),
        };
        match members.next_key::<IsKey>()? {
            None => Ok(is),
            Some(_) => Err(de::Error::custom("one condition at a time")),
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum IsKey {
    Matches,
    Present,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_condition_tells_values_apart() {
        let holds = |yaml: &str, value: Value| {
            let is: Is = serde_saphyr::from_str(yaml).unwrap();
            is.holds(value.get("x"))
        };
        for (yaml, there, absent) in [
            ("ok", json!("ok"), false),
            ("429", json!(429), false),
            ("0", json!(0.0), false),
            ("false", json!(false), false),
            ("null", json!(null), true),
            ("[401, 403]", json!(403), false),
            ("[null, 0]", json!(0), true),
            ("{matches: '^You.ve hit'}", json!("You've hit it"), false),
            ("{present: true}", json!([]), false),
            ("{present: false}", json!(null), true),
        ] {
            assert!(holds(yaml, json!({"x": there})), "{yaml}");
            assert_eq!(holds(yaml, json!({})), absent, "{yaml}");
            let is_any = yaml == "{present: true}";
            assert_eq!(holds(yaml, json!({"x": "other"})), is_any, "{yaml}");
        }
        for bad in [
            "{}",
            "[[1]]",
            "{matches: '('}",
            "{matches: a, present: true}",
            "{is: 1}",
        ] {
            assert!(serde_saphyr::from_str::<Is>(bad).is_err(), "{bad}");
        }
    }
}
