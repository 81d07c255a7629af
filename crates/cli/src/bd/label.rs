//! `bd label`: the labels of beads.

use beads_ralph_core::issue::{Edit, Grouping, Record};
use beads_ralph_runtime::store::Write;
use serde::Serialize;

use super::issue_json::sorted_labels;
use super::{
    Access, Call, Command, Filter, ID, Opened, Positional, Refusal, ids, input, many, one, quoted,
};

const IDS_AND_LABEL: &[Positional] = &[many("issue-id"), one("label[,label...]")];

pub(super) const COMMAND: Command = Command {
    name: "label",
    about: "Labels of beads",
    children: &[
        &Command {
            name: "add",
            about: "Add labels to beads",
            positionals: IDS_AND_LABEL,
            access: Access::Writes,
            run: Some(add),
            ..Command::NONE
        },
        &Command {
            name: "list",
            about: "The labels of a bead",
            positionals: ID,
            run: Some(list),
            ..Command::NONE
        },
        &Command {
            name: "list-all",
            about: "All labels, with how many beads have them",
            run: Some(list_all),
            ..Command::NONE
        },
        &Command {
            name: "propagate",
            about: "Give a label to the direct children of a bead",
            positionals: &[one("parent-id"), one("label")],
            access: Access::Writes,
            run: Some(propagate),
            ..Command::NONE
        },
        &Command {
            name: "remove",
            about: "Take labels from beads",
            positionals: IDS_AND_LABEL,
            access: Access::Writes,
            run: Some(remove),
            ..Command::NONE
        },
    ],
    ..Command::NONE
};

fn add(call: &mut Call<'_>) -> Result<(), Refusal> {
    let (texts, labels) = read_words(call)?;
    if let Some(label) = labels
        .iter()
        .find_map(|label| label.strip_prefix("provides:"))
    {
        return Err(reserved(label));
    }
    if let Some(warning) = input::warn_of_spaces(&labels, call.output.is_quiet) {
        call.output.stderr(&warning);
    }
    let edits: Vec<Edit> = input::checked_labels(&labels)?
        .into_iter()
        .map(Edit::AddLabel)
        .collect();
    edit(call, "add", &texts, &labels, &edits)
}

fn remove(call: &mut Call<'_>) -> Result<(), Refusal> {
    let (texts, labels) = read_words(call)?;
    let edits: Vec<Edit> = labels.iter().cloned().map(Edit::RemoveLabel).collect();
    edit(call, "remove", &texts, &labels, &edits)
}

/// Ids, then labels with commas between them.
fn read_words(call: &Call<'_>) -> Result<(Vec<String>, Vec<String>), Refusal> {
    let words = &call.arguments.words;
    let (last, texts) = words.split_last().expect("the number of words was checked");
    let labels = last.split(',').map(str::trim);
    let labels: Vec<String> = (labels.filter(|label| !label.is_empty()))
        .map(str::to_owned)
        .collect();
    if labels.is_empty() {
        return Err(Refusal::json("label cannot be empty"));
    }
    Ok((texts.to_vec(), labels))
}

fn reserved(label: &str) -> Refusal {
    Refusal::json(format!(
        "'provides:' labels are reserved for cross-project capabilities. Hint: use 'bd ship {label}' instead"
    ))
}

fn edit(
    call: &Call<'_>,
    command: &str,
    texts: &[String],
    labels: &[String],
    edits: &[Edit],
) -> Result<(), Refusal> {
    let mut opened = call.open()?;
    let mut records = Vec::new();
    for text in texts {
        let record = ids::resolve(&opened, text).map_err(|why| {
            let hint = if texts.len() > 1 {
                format!(
                    " (to {command} multiple labels, pass one comma-separated argument: bd label {command} <issue-id> label1,label2)"
                )
            } else {
                String::new()
            };
            let text = quoted(text);
            Refusal::json(format!("resolving issue ID {text}: {why}{hint}"))
        })?;
        records.push(record);
    }
    write(&mut opened, &records, edits)?;
    let (done, verb, preposition) = match command {
        "add" => ("added", "Added", "to"),
        _ => ("removed", "Removed", "from"),
    };
    if call.output.is_json() {
        return call.output.value(report(&records, labels, done));
    }
    let noun = if labels.len() > 1 { "labels" } else { "label" };
    let mut text = String::new();
    for record in &records {
        let (labels, id) = (labels.join("', '"), record.issue.id());
        push!(text, "✓ {verb} {noun} '{labels}' {preposition} {id}\n");
    }
    call.output.text(&text)
}

fn write(opened: &mut Opened, records: &[Record], edits: &[Edit]) -> Result<(), Refusal> {
    let batch: Vec<Write> = records
        .iter()
        .map(|record| opened.change(record, edits.to_vec()))
        .collect();
    Ok(opened.write(&batch)?)
}

#[derive(Serialize)]
struct Change<'c> {
    issue_id: &'c str,
    label: &'c str,
    status: &'static str,
}

#[derive(Serialize)]
struct Count<'c> {
    label: &'c str,
    count: usize,
}

fn report<'r>(
    records: &'r [Record],
    labels: &'r [String],
    status: &'static str,
) -> Vec<Change<'r>> {
    let of = |record: &'r Record| {
        labels.iter().map(move |label| Change {
            issue_id: record.issue.id().as_str(),
            label,
            status,
        })
    };
    records.iter().flat_map(of).collect()
}

fn list(call: &mut Call<'_>) -> Result<(), Refusal> {
    let opened = call.open()?;
    let text = &call.arguments.words[0];
    let record = ids::find(&opened, "resolving", text)?;
    let labels = sorted_labels(&record.issue);
    if call.output.is_json() {
        return call.output.value(labels);
    }
    let id = record.issue.id();
    if labels.is_empty() {
        return call.output.text(&format!("\n{id} has no labels\n"));
    }
    let lines = labels.iter().map(|label| format!("  - {label}\n"));
    let lines: String = lines.collect();
    call.output
        .text(&format!("\n🏷 Labels for {id}:\n{lines}\n"))
}

fn list_all(call: &mut Call<'_>) -> Result<(), Refusal> {
    let opened = call.open()?;
    let all = Filter::default().query();
    let mut counts = opened.store.count_by(&all, Grouping::Label)?;
    // Those without labels.
    counts.remove("");
    if call.output.is_json() {
        let rows = counts.iter();
        let rows = rows.map(|(label, count)| Count {
            label,
            count: *count,
        });
        return call.output.value(rows.collect::<Vec<_>>());
    }
    if counts.is_empty() {
        return call.output.text("\nNo labels found in database\n");
    }
    let width = counts.keys().map(String::len).max().unwrap_or_default();
    let mut text = format!("\n🏷 All labels ({} unique):\n", counts.len());
    for (label, n) in &counts {
        let padding = " ".repeat(width - label.len());
        push!(text, "  {label}{padding}  ({n} issues)\n");
    }
    text.push('\n');
    call.output.text(&text)
}

fn propagate(call: &mut Call<'_>) -> Result<(), Refusal> {
    let mut opened = call.open()?;
    let [text, label] = &call.arguments.words[..] else {
        unreachable!("the number of words was checked");
    };
    let parent = ids::find(&opened, "resolving parent", text)?;
    let label = label.trim().to_owned();
    if label.is_empty() {
        return Err(Refusal::json("label cannot be empty"));
    }
    if let Some(label) = label.strip_prefix("provides:") {
        return Err(reserved(label));
    }
    let parent = parent.issue.id();
    let filter = Filter {
        parent: Some(parent.to_string()),
        ..Filter::default()
    };
    let children = filter.find(&opened)?;
    let labels = [label];
    let edits: Vec<Edit> = input::checked_labels(&labels)?
        .into_iter()
        .map(Edit::AddLabel)
        .collect();
    write(&mut opened, &children, &edits)?;
    if call.output.is_json() {
        return call.output.value(report(&children, &labels, "propagated"));
    }
    if children.is_empty() {
        return call
            .output
            .text(&format!("No children found for {parent}\n"));
    }
    let line = |child: &Record| {
        let (label, id) = (&labels[0], child.issue.id());
        format!("✓ Propagated label '{label}' to {id}\n")
    };
    call.output
        .text(&children.iter().map(line).collect::<String>())
}
