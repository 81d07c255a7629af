//! Reads a definition of done (contracts §8.1).

use super::read_history::open;
use super::reader::{Errors, Fields, Node};
use super::{Dod, Expect, OnFailure, Pattern, Verifier};

pub(crate) fn dod(node: Node<'_, '_>, errors: &mut Errors) -> Option<Dod> {
    let fields = open(&node, errors)?;
    let verifiers = fields.required(errors, "verifiers", |node, errors| {
        node.list(errors, verifier)
    });
    let evidence = fields.optional(errors, "evidence_required", |node, errors| {
        node.boolean(errors)
    });
    let artifacts = fields.optional(errors, "artifact_paths", |node, errors| {
        node.strings(errors)
    });
    Some(Dod {
        verifiers: verifiers?,
        evidence_required: evidence?,
        artifact_paths: artifacts?.unwrap_or_default(),
    })
}

fn verifier(index: usize, node: Node<'_, '_>, errors: &mut Errors) -> Option<Verifier> {
    let fields = open(&node, errors)?;
    let name = fields.optional_text(errors, "name");
    let command = fields.required(errors, "command", |node, errors| {
        node.not_blank(errors, "command")
    });
    let expect = fields.optional(errors, "expect", expect);
    let timeout = fields.optional(errors, "timeout_seconds", |node, errors| {
        node.integer(errors, "timeout_seconds", 1)
    });
    let on_failure = fields.optional(errors, "on_failure", |node, errors| {
        node.parsed(errors, OnFailure::parse)
    });
    Some(Verifier {
        name: name?.unwrap_or_else(|| format!("verifier {}", index + 1)),
        command: command?,
        expect: expect?.unwrap_or_default(),
        timeout_seconds: timeout?.unwrap_or(Verifier::DEFAULT_TIMEOUT_SECONDS),
        on_failure: on_failure?.unwrap_or_default(),
    })
}

fn expect(node: Node<'_, '_>, errors: &mut Errors) -> Option<Expect> {
    let fields = open(&node, errors)?;
    let exit_code = fields.optional(errors, "exit_code", |node, errors| {
        node.integer(errors, "exit_code", i128::from(i32::MIN))
    });
    let stdout = fields.optional_text(errors, "stdout_contains");
    let stderr = fields.optional_text(errors, "stderr_contains");
    let stdout_matches = pattern(fields, errors, "stdout_matches");
    let stderr_matches = pattern(fields, errors, "stderr_matches");
    let min_tests = fields.optional(errors, "min_tests", |node, errors| {
        node.integer(errors, "min_tests", 1)
    });
    let check = |text: Option<String>| text.filter(|text| !text.is_empty());
    Some(Expect {
        exit_code: exit_code?.unwrap_or(0),
        stdout_contains: check(stdout?),
        stderr_contains: check(stderr?),
        stdout_matches: stdout_matches?,
        stderr_matches: stderr_matches?,
        min_tests: min_tests?,
    })
}

/// A regular expression; an empty one asks for nothing, as an empty text does.
#[expect(
    clippy::option_option,
    reason = "the outer one says whether it was read, the inner one whether it is there"
)]
fn pattern(fields: Fields<'_, '_>, errors: &mut Errors, key: &str) -> Option<Option<Pattern>> {
    fields
        .optional(errors, key, |node, errors| {
            node.parsed(errors, |text| {
                let pattern = (!text.is_empty()).then(|| Pattern::parse(text));
                pattern.transpose()
            })
        })
        .map(Option::flatten)
}
