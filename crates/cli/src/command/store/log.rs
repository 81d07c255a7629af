//! `log`: what changed, the newest last.
//!
//! Data: `{"events": [{number, id, version, at, actor, kind, before, after}], "more": bool}`; `before` and `after` have the
//! facts that differ, under their JSON pointers.

use std::fmt::Write as _;

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::{Event, EventKind, Facts};
use beads_ralph_core::text::excerpt;
use beads_ralph_runtime::app::beads::Beads;
use clap::Args;
use serde_json::{Value, json};

use crate::args::Global;
use crate::failure::Failure;
use crate::ui::Ui;
use crate::ui::table::Page;

#[derive(Debug, Args)]
pub(crate) struct LogArgs {
    /// The bead; without it, the whole store
    pub(crate) id: Option<String>,
    /// How many changes to show at the most, the newest; 0 shows all
    #[arg(short = 'n', long, value_name = "N", default_value_t = 50)]
    pub(crate) limit: usize,
}

pub(crate) fn run(args: &LogArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    let beads = global.open()?;
    let (events, has_more) = match &args.id {
        Some(id) => of_bead(id, args.limit, &beads)?,
        None => of_store(args.limit, &beads)?,
    };
    if ui.is_json() {
        let events: Vec<Value> = events.iter().map(to_json).collect();
        return ui.data(&json!({"events": events, "more": has_more}));
    }
    if has_more {
        let n = events.len();
        ui.say(&format!(
            "only the last {n} changes are shown; --limit 0 shows all\n"
        ));
    }
    let page = Page::of(ui);
    let text: Vec<String> = events.iter().map(|event| described(event, page)).collect();
    ui.out(&text.concat())
}

fn of_bead(id: &str, limit: usize, beads: &Beads) -> Result<(Vec<Event>, bool), Failure> {
    let mut events = match beads.resolve(id) {
        Ok(record) => beads.store.events(Some(record.issue.id()), 0, usize::MAX)?,
        // What was deleted still has its history.
        Err(failure) => {
            let Ok(id) = BeadId::parse(id) else {
                return Err(failure.into());
            };
            let events = beads.store.events(Some(&id), 0, usize::MAX)?;
            if events.is_empty() {
                return Err(failure.into());
            }
            events
        }
    };
    let excess = if limit == 0 {
        0
    } else {
        events.len().saturating_sub(limit)
    };
    Ok((events.split_off(excess), excess > 0))
}

fn of_store(limit: usize, beads: &Beads) -> Result<(Vec<Event>, bool), Failure> {
    if limit == 0 {
        return Ok((beads.store.events(None, 0, usize::MAX)?, false));
    }
    let after = beads.last_event()?.saturating_sub(limit as u64);
    Ok((beads.store.events(None, after, limit)?, after > 0))
}

fn to_json(event: &Event) -> Value {
    json!({
        "number": event.number,
        "id": event.issue.as_str(),
        "version": event.version,
        "at": event.at.as_str(),
        "actor": event.actor,
        "kind": event.kind.as_str(),
        "before": event.before,
        "after": event.after,
    })
}

fn described(event: &Event, page: Page) -> String {
    let head = format!(
        "{} {} {} by {} (version {})",
        event.at.as_str(),
        event.issue,
        event.kind.as_str().replace('_', " "),
        event.actor,
        event.version
    );
    let mut text = format!("{}\n", page.line(&head));
    for (name, before, after) in changes(event) {
        let arrow = match (before, after) {
            (Some(before), Some(after)) => format!("{before}{}{after}", page.charset.arrow()),
            (None, Some(after)) => after,
            (Some(before), None) => format!("{before}{}(none)", page.charset.arrow()),
            (None, None) => continue,
        };
        _ = writeln!(text, "{}", page.line(&format!("    {name}: {arrow}")));
    }
    text
}

/// The facts that people want to see of a change: of a new bead its title and status, of any other
/// everything but the time of the change, which stands in its heading.
fn changes(event: &Event) -> Vec<(String, Option<String>, Option<String>)> {
    let is_new = matches!(event.kind, EventKind::Created | EventKind::Restored);
    let keys = (event.before.keys()).chain(
        event
            .after
            .keys()
            .filter(|key| !event.before.contains_key(*key)),
    );
    keys.filter(|key| match key.as_str() {
        "/updated_at" => false,
        "/title" | "/status" => true,
        _ => !is_new,
    })
    .map(|key| {
        let side = |facts: &Facts| facts.get(key).map(brief);
        (name(key), side(&event.before), side(&event.after))
    })
    .collect()
}

/// `/metadata/a~1b` as people write it: `metadata.a/b`.
fn name(pointer: &str) -> String {
    let pointer = pointer.replace("//appended/", "added to ");
    let parts = pointer.trim_start_matches('/').split('/');
    let parts: Vec<String> = parts
        .map(|part| excerpt(&part.replace("~1", "/").replace("~0", "~")))
        .collect();
    parts.join(".")
}

fn brief(value: &Value) -> String {
    match value {
        Value::String(text) => excerpt(text),
        Value::Object(map) if map.contains_key("holder") => holder(value),
        Value::Object(map) => match map.get("text") {
            Some(Value::String(text)) => excerpt(text),
            _ => excerpt(&value.to_string()),
        },
        Value::Array(edges) if edges.iter().any(|edge| edge.get("depends_on_id").is_some()) => {
            let targets: Vec<String> = (edges.iter())
                .filter_map(|edge| edge.get("depends_on_id").and_then(Value::as_str))
                .map(excerpt)
                .collect();
            targets.join(", ")
        }
        Value::Array(items) if items.is_empty() => "(none)".to_owned(),
        value => excerpt(&value.to_string()),
    }
}

fn holder(claim: &Value) -> String {
    let text = |key: &str| excerpt(claim["holder"][key].as_str().unwrap_or("?"));
    format!("held by {} on {}", text("run"), text("host"))
}
