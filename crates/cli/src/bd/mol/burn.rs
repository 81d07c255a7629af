//! `bd mol burn`: a molecule is deleted with its steps (F-11).
//!
//! One at a time: of several, the real `bd` leaves the steps of wisps behind.

use beads_ralph_runtime::store::Write;
use serde::Serialize;

use super::family::Family;
use super::resolved;
use crate::bd::{Call, Opened, Refusal, delete, input, title_of};

pub(super) fn run(call: &mut Call<'_>) -> Result<(), Refusal> {
    let arguments = call.arguments;
    let [named] = arguments.words.as_slice() else {
        return Err(Refusal::not_served("burning several molecules in one call"));
    };
    let mut opened = call.open()?;
    let root = resolved(&opened, named)?;
    let is_wisp = root.issue.flag("ephemeral");
    let mut family = Family::load(&opened, root)?;
    if is_wisp {
        family.all.retain(|record| record.issue.flag("ephemeral"));
    }
    if arguments.is_on("dry-run") {
        return call.output.text(&preview(&family, is_wisp));
    }
    let is_asked = !arguments.is_on("force") && !arguments.is_on("yes") && !call.output.is_json();
    if is_asked && !confirmed(call, &family, is_wisp)? {
        return call.output.text("Canceled.\n");
    }
    if is_wisp {
        burn(call, &mut opened, &family)
    } else {
        delete::batch(call, &mut opened, &family.all)
    }
}

fn burn(call: &Call<'_>, opened: &mut Opened, family: &Family) -> Result<(), Refusal> {
    // Those that depend on others come first, so that no edge must be removed separately.
    let last_first = family.all.iter().rev();
    let batch: Vec<Write> = last_first.map(|record| opened.deletion(record)).collect();
    let failed = |error| Refusal::json(format!("burning wisp: {error}"));
    opened.write(&batch).map_err(failed)?;
    let (root, n) = (family.root().issue.id(), family.all.len());
    let ids = family.all.iter().map(|record| record.issue.id().as_str());
    let answer = Burned {
        molecule_id: root.as_str(),
        deleted_ids: ids.collect(),
        deleted_count: n,
    };
    call.output.answer(answer, || {
        format!("✓ Burned wisp: {n} issues deleted\n  Ephemeral: {root}\n  No digest created.\n")
    })
}

#[derive(Serialize)]
struct Burned<'b> {
    molecule_id: &'b str,
    deleted_ids: Vec<&'b str>,
    deleted_count: usize,
}

fn preview(family: &Family, is_wisp: bool) -> String {
    let (root, n) = (&family.root().issue, family.all.len());
    let (kind, what) = if is_wisp {
        ("wisp", "Wisp issues")
    } else {
        ("mol", "Issues")
    };
    let mut page = format!(
        "\nDry run: would burn {kind} {}\n\nRoot: {}\n\n{what} to delete ({n} total):\n",
        root.id(),
        title_of(root)
    );
    for (at, record) in family.all.iter().enumerate() {
        let (status, title, id) = (
            record.issue.status(),
            title_of(&record.issue),
            record.issue.id(),
        );
        let mark = if at == 0 { " [ROOT]" } else { "" };
        push!(page, "  - [{status}] {title} ({id}){mark}\n");
    }
    page.push('\n');
    if !is_wisp {
        page.push_str("Note: Persistent mol - deletions sync to remotes.\n");
    }
    page.push_str("No digest will be created (use 'bd mol squash' to create one).\n");
    page
}

fn confirmed(call: &Call<'_>, family: &Family, is_wisp: bool) -> Result<bool, Refusal> {
    let (id, n) = (family.root().issue.id(), family.all.len());
    let (kind, data, note) = if is_wisp {
        ("wisp", "wisp", "")
    } else {
        (
            "mol",
            "molecule",
            "Note: Persistent mol - deletions sync to remotes.\n",
        )
    };
    call.output.text(&format!(
        "About to burn {kind} {id} ({n} issues)\nThis will permanently delete all {data} data with no digest.\n{note}Use 'bd mol squash' instead if you want to preserve a summary.\n\nContinue? [y/N] "
    ))?;
    Ok(matches!(input::word().as_str(), "y" | "Y"))
}
