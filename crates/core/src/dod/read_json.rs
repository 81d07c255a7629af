//! Reads DoD beads of both dialects, and gates in their flat shape (V-1, V-2).

use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::{Constraints, DodBead};
use super::{DodStatus, DodType, Lane};
use crate::bead::reader::{Errors, Fields, Node, Path};
use crate::bead::{
    Dod, FieldError, FieldErrorKind, Invalid, IssueType, Verifier, parse_document, read_dod,
};
use crate::diag::did_you_mean;
use crate::issue::Issue;
use crate::text::excerpt;
use crate::vocabulary::{Status, field, label, metadata};

/// How much of an intent makes a title.
const TITLE_CHARS: usize = 60;

/// What the one check of a flat gate is called.
pub const FLAT_GATE_VERIFIER: &str = "gate";

/// The longest name: with what is added to it, it must still be the name of a file.
const MAX_NAME: usize = 128;

/// Reads the bytes of a bead's file, which may begin with a byte order mark; `stem` is the file's name without its
/// ending.
pub fn parse(bytes: &[u8], stem: Option<&str>) -> Result<DodBead, Vec<FieldError>> {
    read(parse_json(bytes).map_err(|error| vec![error])?, stem)
}

/// The document in the bytes of a bead's file, be it a bead or not.
pub fn parse_json(bytes: &[u8]) -> Result<Value, FieldError> {
    parse_document(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes))
}

/// Reads a document; everything that is wrong with it is reported at once.
pub fn read(document: Value, stem: Option<&str>) -> Result<DodBead, Vec<FieldError>> {
    let mut errors = Errors::default();
    let node = Node {
        value: &document,
        path: Path::Root,
    };
    let bead = bead(node, stem, &mut errors);
    let mut bead = errors.finish(bead)?;
    if let Value::Object(document) = document {
        bead.document = document;
    }
    Ok(bead)
}

fn bead(node: Node<'_, '_>, stem: Option<&str>, errors: &mut Errors) -> Option<DodBead> {
    let fields = node.fields(errors)?;
    let id = name(fields, stem, errors);
    let map = fields.map;
    let is_flat = is_flat_gate(map);
    let intent = if is_flat && !map.contains_key("intent") {
        Some(flat_intent(map))
    } else {
        fields.required(errors, "intent", |node, errors| {
            node.not_blank(errors, "intent")
        })
    };
    let title = fields.optional_text(errors, "title");
    let kind = fields.optional(errors, "type", |node, errors| {
        node.parsed(errors, DodType::parse)
    });
    let priority = fields.optional(errors, "priority", |node, errors| {
        let priority: u8 = node.integer(errors, "priority", 0)?;
        let most = || Invalid::value("priority must be <= 5");
        let checked = Some(priority).filter(|it| *it <= 5).ok_or_else(most);
        errors.take(&node.path, checked)
    });
    let lane = fields.optional(errors, "lane", |node, errors| {
        node.parsed(errors, Lane::parse)
    });
    let dod = if is_flat {
        flat_dod(map, errors)
    } else {
        definition(fields, errors)
    };
    let constraints = fields.optional(errors, "constraints", constraints);
    let backoff = backoff(fields, errors);
    let status = fields.optional(errors, "status", |node, errors| {
        node.parsed(errors, DodStatus::parse)
    });
    let warnings = unknown_keys(node.value, errors);
    let intent = intent?;
    let (kind, lane, dod) = (kind?.unwrap_or(DodType::Task), lane?, dod?);
    Some(DodBead {
        id: id?,
        title: title?.unwrap_or_else(|| intent.chars().take(TITLE_CHARS).collect()),
        intent,
        kind,
        priority: priority?.unwrap_or(2),
        lane,
        constraints: constraints?.unwrap_or_default(),
        status: status?.unwrap_or(DodStatus::Pending),
        backoff: backoff?,
        is_gate: means_gate(map),
        closes_on_pass: closes_on_pass(map),
        warnings: [warnings, nameless(map)].concat(),
        dod,
        document: Map::new(),
    })
}

fn name(fields: Fields<'_, '_>, stem: Option<&str>, errors: &mut Errors) -> Option<String> {
    let id = fields.optional(errors, "id", |node, errors| {
        node.parsed(errors, |text| check_name(text).map(|()| text.to_owned()))
    })?;
    match (id, stem) {
        (Some(id), _) => Some(id),
        (None, Some(stem)) => {
            errors.take(&fields.path.key("id"), check_name(stem))?;
            Some(stem.to_owned())
        }
        (None, None) => {
            errors.push(
                &fields.path.key("id"),
                FieldErrorKind::Missing,
                "Field required",
            );
            None
        }
    }
}

/// Whether a text may be the name of a bead, and so of its directory.
pub fn check_name(text: &str) -> Result<(), Invalid> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let begins_well = text.starts_with(|c: char| c.is_ascii_alphanumeric());
    if begins_well && text.len() <= MAX_NAME && text.chars().all(is_plain) && !text.contains("..") {
        return Ok(());
    }
    Err(Invalid::pattern(format!(
        "id must be a plain name of letters, digits, '-', '_' and '.', at most {MAX_NAME} long, got '{}'",
        excerpt(text)
    )))
}

/// A Definition of Done that can be executed: it has at least one check.
fn definition(fields: Fields<'_, '_>, errors: &mut Errors) -> Option<Dod> {
    let path = fields.path.key("dod");
    let verifiers = path.key("verifiers");
    if matches!(fields.map.get("dod"), None | Some(Value::Null)) {
        errors.push(&verifiers, FieldErrorKind::Missing, "Field required");
        return None;
    }
    let dod = fields.required(errors, "dod", read_dod)?;
    if dod.verifiers.is_empty() {
        let message = "verifiers must be non-empty array";
        errors.push(&verifiers, FieldErrorKind::Value, message);
        return None;
    }
    Some(dod)
}

fn constraints(node: Node<'_, '_>, errors: &mut Errors) -> Option<Constraints> {
    let fields = node.fields(errors)?;
    let max_iterations = fields.optional(errors, "max_iterations", |node, errors| {
        node.integer(errors, "max_iterations", 1)
    });
    let minutes = fields.optional(errors, "time_budget_minutes", |node, errors| {
        node.integer::<u32>(errors, "time_budget_minutes", 1)
    });
    let deadline = fields.optional(errors, "deadline", moment);
    Some(Constraints {
        max_iterations: max_iterations?,
        time_budget: minutes?.map(|minutes| Duration::from_mins(u64::from(minutes))),
        deadline: deadline?,
    })
}

fn moment(node: Node<'_, '_>, errors: &mut Errors) -> Option<Timestamp> {
    node.timestamp(errors).map(|time| time.instant())
}

fn backoff(fields: Fields<'_, '_>, errors: &mut Errors) -> Option<Duration> {
    let seconds = fields.optional(errors, metadata::RALPH_META, |node, errors| {
        let map = node.dict(errors)?;
        let fields = Fields {
            map,
            path: &node.path,
        };
        fields.optional(errors, "retry_backoff_seconds", |node, errors| {
            node.integer::<u32>(errors, "retry_backoff_seconds", 0)
        })
    })?;
    let seconds = seconds.flatten();
    Some(seconds.map_or(DodBead::DEFAULT_BACKOFF, |seconds| {
        Duration::from_secs(u64::from(seconds))
    }))
}

/// Whether a gate is completed when it is green.
fn closes_on_pass(map: &Map<String, Value>) -> bool {
    let nested = blocking(map, "auto_close_on_pass");
    let flat = || map.get("auto_close_on_pass")?.as_bool();
    nested.or_else(flat).unwrap_or(true)
}

fn blocking(map: &Map<String, Value>, key: &str) -> Option<bool> {
    map.get(metadata::BLOCKING)?.get(key)?.as_bool()
}

/// Whether lane or `blocking` say that this is a gate: in files and in the metadata of stores alike.
pub(super) fn says_gate(map: &Map<String, Value>) -> bool {
    let lane = map.get(metadata::LANE).and_then(Value::as_str);
    lane == Some(Lane::Gate.as_str()) || blocking(map, "is_gate") == Some(true)
}

/// Whether a document means to be a gate, be it valid or not.
pub fn means_gate(document: &Map<String, Value>) -> bool {
    let kind = document.get("type").and_then(Value::as_str);
    kind == Some(DodType::Gate.as_str()) || is_flat_gate(document) || says_gate(document)
}

fn is_flat_gate(map: &Map<String, Value>) -> bool {
    !map.contains_key("dod") && map.contains_key("verifier_command")
}

fn flat_intent(map: &Map<String, Value>) -> String {
    let kind = map.get("gate_type").and_then(Value::as_str);
    format!("Keep the gate green: {}", kind.unwrap_or("custom"))
}

fn flat_dod(map: &Map<String, Value>, errors: &mut Errors) -> Option<Dod> {
    let command = map.get("verifier_command").cloned().unwrap_or_default();
    let dod = json!({"verifiers": [{"name": FLAT_GATE_VERIFIER, "command": command}]});
    let path = Path::Root;
    match Dod::from_document(&dod) {
        Ok(dod) => Some(dod),
        Err(faults) => {
            for fault in faults {
                errors.push(&path.key("verifier_command"), fault.kind, &fault.message);
            }
            None
        }
    }
}

/// The keys that are known where a misspelt one would make a check ask for less than it seems to, or a bound not hold.
const KNOWN: [(&str, &[&str]); 4] = [
    ("dod", &["verifiers", "evidence_required", "artifact_paths"]),
    (
        "verifier",
        &["name", "command", "expect", "timeout_seconds", "on_failure"],
    ),
    (
        "expect",
        &[
            "exit_code",
            "stdout_contains",
            "stderr_contains",
            "stdout_matches",
            "stderr_matches",
            "min_tests",
        ],
    ),
    (
        "constraints",
        &[
            "max_iterations",
            "time_budget_minutes",
            "deadline",
            "allowed_dirs",
            "forbidden_ops",
            "migration_rules",
        ],
    ),
];

/// Reports keys that look like known ones, and warns of the others: dialects have different keys, but nobody means
/// `stdout_contain`.
fn unknown_keys(document: &Value, errors: &mut Errors) -> Vec<String> {
    let root = Path::Root;
    let (dod, verifiers) = (root.key("dod"), root.key("dod"));
    let verifiers = verifiers.key("verifiers");
    let mut warnings = Vec::new();
    let mut look = |value: Option<&Value>, path: &Path<'_>, kind: &str| {
        let known = KNOWN.iter().find(|(name, _)| *name == kind);
        let known = known.map(|(_, keys)| *keys).unwrap_or_default();
        let keys = value
            .and_then(Value::as_object)
            .into_iter()
            .flat_map(Map::keys);
        for key in keys.filter(|key| !known.contains(&key.as_str())) {
            match did_you_mean(key, known.iter().copied()) {
                Some(near) => {
                    let message = format!("not known; did you mean `{near}`?");
                    errors.push(&path.key(key), FieldErrorKind::Pattern, &message);
                }
                None => warnings.push(format!(
                    "`{}` in {kind} is not known and ignored",
                    excerpt(key)
                )),
            }
        }
    };
    look(document.get(metadata::DOD), &dod, "dod");
    look(
        document.get("constraints"),
        &root.key("constraints"),
        "constraints",
    );
    let items = document.pointer("/dod/verifiers").and_then(Value::as_array);
    for (index, item) in items.into_iter().flatten().enumerate() {
        let path = Path::Index(&verifiers, index);
        look(Some(item), &path, "verifier");
        look(item.get("expect"), &path.key("expect"), "expect");
    }
    warnings
}

/// Checks without a name, which is accepted and yet worth a word.
fn nameless(map: &Map<String, Value>) -> Vec<String> {
    let verifiers = map.get("dod").and_then(|dod| dod.get("verifiers"));
    let verifiers = verifiers.and_then(Value::as_array).into_iter().flatten();
    let nameless = |(n, verifier): (usize, &Value)| {
        let is_named = verifier.get("name").is_some_and(|name| !name.is_null());
        (!is_named).then(|| {
            format!(
                "dod.verifiers.{n} has no name; it is called `verifier {}`",
                n + 1
            )
        })
    };
    verifiers.enumerate().filter_map(nameless).collect()
}

/// Whether a bead of a store is a gate: by its label, or because it says so in the words of files. A sprint of a plan is one by its label alone;
/// and a bead of the type `gate` without checks is one of `bd`, or of a molecule, and not ours.
pub fn is_gate(issue: &Issue) -> bool {
    let is_said = || issue.metadata().is_some_and(says_gate);
    let is_planned = IssueType::parse(issue.issue_type()).is_ok();
    issue.has_label(label::GATE) || (!is_planned && (is_said() || is_checked_gate(issue)))
}

fn is_checked_gate(issue: &Issue) -> bool {
    let checks = issue
        .metadata()
        .and_then(|metadata| metadata.get(metadata::DOD));
    issue.issue_type() == DodType::Gate.as_str() && checks.is_some_and(|dod| !dod.is_null())
}

/// Reads an issue; what is wrong is named by the place in the DoD bead. Checks that hold for every bead (`verify.default`) are enough
/// for a bead without checks; a gate runs only its own.
pub fn of_issue(issue: &Issue, defaults: &[Verifier]) -> Result<DodBead, Vec<FieldError>> {
    let mut document = Map::new();
    let mut set = |key: &str, value: Value| drop(document.insert(key.to_owned(), value));
    let intent = issue
        .text(field::DESCRIPTION)
        .filter(|text| !text.trim().is_empty());
    set(field::ID, issue.id().as_str().into());
    set(field::TITLE, issue.title().into());
    // A title says what is wanted, when nobody wrote more.
    set("intent", intent.unwrap_or(issue.title()).into());
    set(field::PRIORITY, issue.priority().clamp(0, 5).into());
    let is_gate = is_gate(issue);
    let kind = if is_gate {
        DodType::Gate
    } else {
        DodType::parse(issue.issue_type()).unwrap_or(DodType::Task)
    };
    set("type", kind.as_str().into());
    let status = match Status::known(issue.status()) {
        None | Some(Status::Deferred) => Status::Open,
        Some(status) => status,
    };
    set(field::STATUS, status.into());
    for key in [
        metadata::LANE,
        metadata::CONSTRAINTS,
        metadata::DOD,
        metadata::RALPH_META,
        metadata::BLOCKING,
    ] {
        if let Some(value) = issue.metadata().and_then(|metadata| metadata.get(key)) {
            set(key, value.clone());
        }
    }
    let has_checks = document
        .get(metadata::DOD)
        .is_some_and(|dod| !dod.is_null());
    let lacks_checks = !has_checks && !is_gate && !defaults.is_empty();
    if lacks_checks {
        document.insert(metadata::DOD.to_owned(), json!({"verifiers": defaults}));
    }
    let bead = DodBead {
        is_gate,
        ..read(json!(document), None)?
    };
    Ok(if lacks_checks {
        bead
    } else {
        bead.with_checks(defaults)
    })
}
