//! Values that the plan and a run share: agents and checks.
//!
//! A run notes the session of an agent in the agent's own spec (Z-8), and B-1 keeps unknown
//! keys. So what the plan says is written over what is there, item by item.

use std::collections::{HashMap, VecDeque};

use serde_json::{Map, Value};

/// Something that a list of the metadata holds.
struct ItemKind {
    /// The keys that the plan decides about, also by leaving them out.
    owned: &'static [&'static str],
    /// The keys that a run fills in, and that hold for exactly this item.
    filled: &'static [&'static str],
    /// The key by which people would call an item the same after a change.
    name: &'static str,
}

const AGENT: ItemKind = ItemKind {
    owned: &[
        "role",
        "agent",
        "model",
        "executable",
        "options",
        "context",
        "env",
        "adapter",
        "agent_path",
        "prompt",
        "output_schema",
    ],
    filled: &["agent_id"],
    name: "agent",
};

const VERIFIER: ItemKind = ItemKind {
    owned: &["name", "command", "expect", "timeout_seconds", "on_failure"],
    filled: &[],
    name: "name",
};

/// What a key of the metadata becomes: the wanted value, with what a run or others added to it.
pub(super) fn merged(key: &str, wanted: &Value, before: Option<&Value>) -> Value {
    match (key, wanted, before) {
        ("dev_agents" | "qa_agents", Value::Array(wanted), Some(Value::Array(before))) => {
            AGENT.merged_list(wanted, before)
        }
        ("scrum_master_agent", wanted, Some(Value::Object(before))) => {
            AGENT.merged_item(wanted, Some(before))
        }
        ("dod", Value::Object(wanted), Some(Value::Object(before))) => merged_dod(wanted, before),
        _ => wanted.clone(),
    }
}

/// The plan owns the checks of a definition of done and nothing else in it.
fn merged_dod(wanted: &Map<String, Value>, before: &Map<String, Value>) -> Value {
    let mut merged = before.clone();
    merged.extend(wanted.clone());
    if let (Some(Value::Array(wanted)), Some(Value::Array(before))) =
        (wanted.get("verifiers"), before.get("verifiers"))
    {
        let verifiers = VERIFIER.merged_list(wanted, before);
        merged.insert("verifiers".to_owned(), verifiers);
    }
    Value::Object(merged)
}

impl ItemKind {
    /// Pairs every wanted item with an equal one, else with one of the same name, each used once. Equal ones
    /// come first, so that a new item never takes what belongs to another.
    fn merged_list(&self, wanted: &[Value], before: &[Value]) -> Value {
        let before: Vec<&Map<String, Value>> = before.iter().filter_map(Value::as_object).collect();
        let mut is_free = vec![true; before.len()];
        let by_planned = positions(before.iter().map(|item| Some(self.planned(item))));
        let by_name = positions(before.iter().map(|item| item.get(self.name)));
        let mut partners = vec![None; wanted.len()];
        let planned = wanted
            .iter()
            .map(|item| item.as_object().map(|item| self.planned(item)));
        assign(&mut partners, by_planned, planned, &mut is_free);
        let names = wanted.iter().map(|item| item.get(self.name));
        assign(&mut partners, by_name, names, &mut is_free);
        let pairs = wanted.iter().zip(partners);
        pairs
            .map(|(item, partner)| self.merged_item(item, partner.map(|at: usize| before[at])))
            .collect()
    }

    /// An item with the unknown keys of the one that it replaces, and with what a run filled in if nothing
    /// that the plan says is different.
    fn merged_item(&self, wanted: &Value, before: Option<&Map<String, Value>>) -> Value {
        let (Value::Object(wanted), Some(before)) = (wanted, before) else {
            return wanted.clone();
        };
        let is_same = self.planned(wanted) == self.planned(before);
        let mut merged = wanted.clone();
        for (key, value) in before {
            let is_owned = self.owned.contains(&key.as_str());
            let is_lost = !is_same && self.filled.contains(&key.as_str());
            if !is_owned && !is_lost {
                merged.entry(key).or_insert_with(|| value.clone());
            }
        }
        Value::Object(merged)
    }

    /// What the plan decides about an item.
    fn planned(&self, item: &Map<String, Value>) -> Map<String, Value> {
        let owned = self.owned.iter().filter_map(|key| {
            let value = item.get(*key).filter(|value| !value.is_null())?;
            Some(((*key).to_owned(), value.clone()))
        });
        owned.collect()
    }
}

/// The positions of equal keys, in order.
fn positions<K: std::hash::Hash + Eq>(
    keys: impl Iterator<Item = Option<K>>,
) -> HashMap<K, VecDeque<usize>> {
    let mut queues: HashMap<K, VecDeque<usize>> = HashMap::new();
    for (at, key) in keys.enumerate() {
        if let Some(key) = key {
            queues.entry(key).or_default().push_back(at);
        }
    }
    queues
}

/// Gives everyone without a partner the first free place under its key.
fn assign<K: std::hash::Hash + Eq>(
    partners: &mut [Option<usize>],
    mut queues: HashMap<K, VecDeque<usize>>,
    keys: impl Iterator<Item = Option<K>>,
    is_free: &mut [bool],
) {
    for (partner, key) in partners.iter_mut().zip(keys) {
        let Some(queue) = key.and_then(|key| queues.get_mut(&key)) else {
            continue;
        };
        while partner.is_none() {
            let Some(at) = queue.pop_front() else { break };
            *partner = Some(at).filter(|at| std::mem::take(&mut is_free[*at]));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn z_8_the_session_of_an_agent_stays_while_its_spec_does() {
        let before = json!([
            {"role": "polecat", "agent": "a", "context": "x", "agent_id": "s1", "odd": 1},
            {"role": "polecat", "agent": "a", "context": "y", "agent_id": "s2", "odd": 2},
        ]);
        let merged = |wanted: Value| merged("dev_agents", &wanted, Some(&before));
        let first = json!({"role": "polecat", "agent": "a", "context": "x"});
        let second = json!({"role": "polecat", "agent": "a", "context": "y"});
        assert_eq!(
            merged(json!([first, second])),
            before,
            "nothing is different"
        );
        assert_eq!(
            merged(json!([second])),
            json!([before[1]]),
            "the other one left"
        );
        let other = json!({"role": "polecat", "agent": "b"});
        assert_eq!(
            merged(json!([other, first, second])),
            json!([other, before[0], before[1]])
        );
        let changed = json!({"role": "polecat", "agent": "a", "context": "z"});
        let with_odd = json!({"role": "polecat", "agent": "a", "context": "z", "odd": 2});
        assert_eq!(
            merged(json!([changed, first])),
            json!([with_odd, before[0]]),
            "a changed spec has no session, and keeps unknown keys"
        );
    }

    #[test]
    fn z_8_what_the_plan_leaves_out_of_a_spec_goes() {
        let before = json!({"role": "polecat", "agent": "a", "adapter": "codex", "agent_id": "s"});
        let wanted = json!({"role": "polecat", "agent": "a"});
        assert_eq!(merged("scrum_master_agent", &wanted, Some(&before)), wanted);
    }

    #[test]
    fn b_1_the_plan_owns_only_the_checks_of_a_definition_of_done() {
        let before = json!({"evidence_required": false, "verifiers": [{"name": "n", "command": "old", "odd": 1}]});
        let wanted = json!({"verifiers": [{"name": "n", "command": "new"}]});
        assert_eq!(
            merged("dod", &wanted, Some(&before)),
            json!({"evidence_required": false, "verifiers": [{"name": "n", "command": "new", "odd": 1}]})
        );
    }
}
