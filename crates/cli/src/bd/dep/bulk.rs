//! Many edges at once, from lines of JSON.

use std::io::{self, Read as _};

use serde::{Deserialize, Serialize};

use super::{
    Edge, EdgeAnswer, canonical, check_kind, is_part_by_id, resolve_target, unresolved, write,
};
use crate::bd::{Call, Opened, Refusal, ids, input};

/// A line: the names of the real `bd`, and those of its records.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Line {
    from: String,
    to: String,
    r#type: String,
    issue_id: String,
    depends_on_id: String,
}

/// A line that can be an edge.
struct Wanted {
    number: usize,
    from: String,
    to: String,
    kind: String,
}

#[derive(Serialize)]
struct Added<'e> {
    count: usize,
    dependencies: Vec<EdgeAnswer<'e>>,
    status: &'static str,
}

pub(super) fn add(call: &Call<'_>, file: &str, default_kind: &str) -> Result<(), Refusal> {
    let text = read(file).map_err(Refusal::json)?;
    let wanted = parse(&text, default_kind).map_err(|errors| refused(&errors))?;
    let mut opened = call.open()?;
    let edges = resolve(&opened, &wanted).map_err(|errors| refused(&errors))?;
    if edges.is_empty() {
        return Err(Refusal::json("no dependency edges found"));
    }
    write(&mut opened, &edges, call.arguments.is_on("no-cycle-check"))?;
    if call.output.is_json() {
        return call.output.value(Added {
            count: edges.len(),
            dependencies: edges.iter().map(|edge| edge.answer(None)).collect(),
            status: "added",
        });
    }
    call.output
        .text(&format!("✓ Added {} dependencies\n", edges.len()))
}

fn read(file: &str) -> Result<String, String> {
    let bytes = if file == "-" {
        let mut bytes = Vec::new();
        let read = io::stdin().lock().read_to_end(&mut bytes);
        read.map_err(|error| format!("read dependency file: {error}"))?;
        bytes
    } else {
        input::read_file(file).map_err(|why| format!("open dependency file: {why}"))?
    };
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn refused(errors: &[String]) -> Refusal {
    Refusal::json(format!(
        "bulk dependency validation failed:\n  {}",
        errors.join("\n  ")
    ))
}

fn parse(text: &str, default_kind: &str) -> Result<Vec<Wanted>, Vec<String>> {
    let mut wanted = Vec::new();
    let mut errors = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let number = index + 1;
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        let read: Line = match serde_json::from_str(line) {
            Ok(read) => read,
            Err(error) => {
                errors.push(format!("line {number}: invalid JSON: {error}"));
                continue;
            }
        };
        let either = |a: &str, b: &str| match a.trim() {
            "" => b.trim().to_owned(),
            a => a.to_owned(),
        };
        let one = Wanted {
            number,
            from: either(&read.from, &read.issue_id),
            to: either(&read.to, &read.depends_on_id),
            kind: canonical(&either(&read.r#type, default_kind)),
        };
        let n_errors = errors.len();
        if one.from.is_empty() {
            errors.push(format!("line {number}: missing from"));
        }
        if one.to.is_empty() {
            errors.push(format!("line {number}: missing to"));
        }
        if let Err(why) = check_kind(&one.kind) {
            errors.push(format!("line {number}: {why}"));
        }
        if errors.len() == n_errors {
            wanted.push(one);
        }
    }
    if errors.is_empty() {
        Ok(wanted)
    } else {
        Err(errors)
    }
}

fn resolve(opened: &Opened, wanted: &[Wanted]) -> Result<Vec<Edge>, Vec<String>> {
    let mut edges = Vec::new();
    let mut errors = Vec::new();
    for one in wanted {
        match resolve_one(opened, one) {
            Ok(edge) => edges.push(edge),
            Err(why) => errors.push(format!("line {}: {why}", one.number)),
        }
    }
    if errors.is_empty() {
        Ok(edges)
    } else {
        Err(errors)
    }
}

fn resolve_one(opened: &Opened, wanted: &Wanted) -> Result<Edge, String> {
    let from = ids::resolve(opened, &wanted.from).map_err(|why| {
        let why = unresolved(&wanted.from, why);
        unresolved(&wanted.from, why)
    })?;
    let to = resolve_target(opened, &from, &wanted.to)?;
    let edge = Edge {
        from,
        to,
        kind: wanted.kind.clone(),
    };
    if is_part_by_id(&edge) {
        let (from, to) = (edge.from.issue.id(), &edge.to);
        return Err(format!(
            "cannot add dependency: {from} is already a child of {to}"
        ));
    }
    Ok(edge)
}
