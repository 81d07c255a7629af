//! What an agent is asked (V-11).

use std::fmt::Write as _;

use serde_json::Value;

use super::model::DodBead;
use crate::text::visible;

/// The longest reason of a failure that goes into a prompt; all of it is in the evidence.
const MAX_REASON: usize = 2000;

/// What an agent is asked to do for a bead, with what went wrong before: the name of each check and the reason.
pub fn prompt(bead: &DodBead, failures: &[(String, String)]) -> String {
    let mut text = format!("# {}\n\n{}\n", bead.title.trim(), bead.intent.trim());
    text.push_str("\n## Definition of Done\n\nThese commands are run after you, by a program; all of them must succeed:\n\n");
    for verifier in &bead.dod.verifiers {
        _ = writeln!(text, "- {}: {}", verifier.name, verifier.command);
    }
    if !failures.is_empty() {
        text.push_str("\n## Previous failures\n\n");
        for (name, reason) in failures {
            _ = writeln!(text, "- {name}: {}", cut(reason));
        }
        text.push_str("\nFind the cause and mend it; do not change the checks.\n");
    }
    if let Some(constraints) = bead.document.get("constraints").filter(|it| !is_empty(it)) {
        _ = writeln!(text, "\n## Constraints\n\n{constraints}");
    }
    text.push_str(
        "\nDo not claim completion before all verifiers pass. Run them yourself before you stop.\n",
    );
    text
}

fn cut(reason: &str) -> String {
    let reason = visible(reason);
    if reason.len() <= MAX_REASON {
        return reason;
    }
    format!("{}…", &reason[..reason.floor_char_boundary(MAX_REASON)])
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Object(map) => map.is_empty(),
        value => value.is_null(),
    }
}
