//! Generators of beads for property tests.

use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

use crate::number::{PhaseId, SprintId};

use super::*;

mod history;

use history::{dev_execution, dod, qa_execution, scrum_result};

pub(super) fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{1,6}( [a-zäß🚀\"\\\\]{1,5}){0,2}",
        Just(String::new()),
        Just(" \n\t".to_owned()),
    ]
}

fn filled() -> impl Strategy<Value = String> {
    "[a-zA-Z0-9][a-z ./ä-]{0,12}"
}

/// Keys that no generation knows, with any values; they must survive everything.
pub(super) fn unknown() -> impl Strategy<Value = Map<String, Value>> {
    btree_map("x_[a-z]{1,4}", json_value(), 0..3).prop_map(|map| map.into_iter().collect())
}

pub(super) fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        Just(json!(1.0)),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(Value::from),
            btree_map("[a-z]{1,3}", inner, 0..3)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn timestamp() -> impl Strategy<Value = Timestamp> {
    let texts = [
        "2026-02-07T10:00:00Z",
        "2026-02-07 10:00:00",
        "2026-02-07T10:00:00.123+02:00",
        "2026-02-07T10:00",
    ];
    select(texts.to_vec()).prop_map(|text| Timestamp::parse(text).unwrap())
}

pub(super) fn model() -> impl Strategy<Value = Model> {
    select(Model::ALL)
}

fn agent_path() -> impl Strategy<Value = AgentPath> {
    "claude|[a-z]{1,5}(/\\.?[a-z]{1,3})?(\\.md)?"
        .prop_map(|name| AgentPath::for_name(&name).unwrap())
}

fn agent_spec() -> impl Strategy<Value = AgentSpec> {
    let env = btree_map("[A-Z]{1,3}", text(), 0..2);
    let texts = (
        option::of(text()),
        option::of(text()),
        option::of(text()),
        option::of(filled()),
    );
    let parts = (select(Role::ALL), agent_path(), option::of(model()));
    (parts, texts, option::of(vec(text(), 0..2)), option::of(env)).prop_map(
        |((role, agent, model), (executable, context, agent_id, adapter), options, env)| {
            AgentSpec {
                model,
                executable,
                options,
                context,
                agent_id,
                env,
                adapter,
                ..AgentSpec::new(role, agent)
            }
        },
    )
}

pub(super) fn output_schema() -> impl Strategy<Value = Value> {
    let custom =
        json!({ "properties": { "status": true, "message": {}, "more": { "type": "string" } } });
    let few = json!({ "properties": { "status": { "enum": ["pass"] }, "message": {} } });
    prop_oneof![3 => Just((*standard_output_schema()).clone()), 1 => Just(custom), 1 => Just(few)]
}

fn qa_agent() -> impl Strategy<Value = QaAgent> {
    (agent_spec(), option::of(text()), output_schema()).prop_map(|(spec, prompt, output_schema)| {
        let prompt = prompt.or_else(|| spec.context.clone()).unwrap_or_default();
        QaAgent {
            spec,
            prompt,
            output_schema: output_schema.into(),
        }
    })
}

fn source_map() -> impl Strategy<Value = SourceMap> {
    (filled(), 1..9u32, 1..9u32, "sha256:[0-9a-f]{2}").prop_map(|(file, line, column, digest)| {
        SourceMap {
            file,
            line,
            column,
            digest,
        }
    })
}

fn metadata() -> impl Strategy<Value = Metadata> {
    let names = (
        "[1-9][a-c]{0,2}",
        "[1-9][a-b]?\\.[0-9]{1,2}[a-b]?",
        "[a-zA-Z0-9/_-]{1,12}",
    );
    let texts = (filled(), filled(), filled());
    let agents = (agent_spec(), vec(agent_spec(), 1..3), vec(qa_agent(), 1..3));
    let lists = (
        vec(text(), 1..3),
        option::of(vec(text(), 0..2)),
        option::of(vec(text(), 0..2)),
    );
    let counts = (1..9u32, any::<u32>(), option::of(any::<u64>()));
    let history = (
        vec(dev_execution(), 0..2),
        vec(qa_execution(), 0..2),
        option::of(scrum_result()),
    );
    let ids = (
        option::of(text()),
        option::of(text()),
        option::of(text()),
        option::of(dod()),
        option::of(source_map()),
    );
    (names, texts, agents, lists, counts, history, ids).prop_map(
        |(names, texts, agents, lists, counts, history, ids)| Metadata {
            rig: "beads-ralph".to_owned(),
            worktree_path: texts.0.clone(),
            branch: BranchName::parse(&names.2).unwrap(),
            source_branch: texts.1.clone(),
            phase: PhaseId::parse(&names.0).unwrap(),
            sprint: SprintId::parse(&names.1).unwrap(),
            team_name: texts.2,
            plan_file: texts.0,
            plan_section: texts.1,
            plan_sprint_id: names.1,
            branches_to_merge: lists.1,
            scrum_master_agent: agents.0,
            dev_agents: agents.1,
            dev_prompts: lists.0,
            qa_agents: agents.2,
            max_retry_attempts: counts.0,
            attempt_count: counts.1,
            scrum_master_session_id: ids.0,
            dev_agent_session_id: ids.1,
            dev_agent_executions: history.0,
            qa_agent_executions: history.1,
            pr_url: ids.2,
            pr_number: counts.2,
            scrum_result: history.2,
            acceptance_criteria: lists.2,
            dod: ids.3,
            source_map: ids.4,
        },
    )
}

pub(super) fn bead() -> impl Strategy<Value = RalphBead> {
    let words = (select(Status::ALL), 0..=4i64, select(IssueType::ALL));
    let texts = (
        filled(),
        filled(),
        text(),
        option::of(text()),
        option::of(text()),
    );
    let lists = (vec(filled(), 0..3), vec(text(), 0..3), vec(unknown(), 0..2));
    let times = (
        timestamp(),
        timestamp(),
        option::of(timestamp()),
        option::of(0..10_000u32),
    );
    (words, texts, lists, times, metadata()).prop_map(|(words, texts, lists, times, metadata)| {
        RalphBead {
            id: BeadId::parse(&texts.0).unwrap(),
            title: texts.1,
            description: texts.2,
            status: words.0,
            priority: Priority::new(words.1).unwrap(),
            issue_type: words.2,
            owner: texts.3,
            dependencies: lists
                .0
                .iter()
                .map(|id| BeadId::parse(id).unwrap())
                .collect(),
            labels: lists.1,
            comments: lists.2,
            metadata,
            external_ref: texts.4,
            estimated_minutes: times.3,
            created_at: times.0,
            updated_at: times.1,
            closed_at: times.2,
        }
    })
}

/// A bead whose agents are mostly what a plan would give, so that both ways of migrating are met:
/// with something to put aside and without.
pub(super) fn plain_bead() -> impl Strategy<Value = RalphBead> {
    (bead(), any::<[bool; 4]>()).prop_map(
        |(mut bead, [plain_dev, plain_qa, plain_scrum, plain_team])| {
            let title = bead.title.clone();
            let metadata = &mut bead.metadata;
            if plain_dev {
                metadata.dev_agents.truncate(1);
                let first = &mut metadata.dev_agents[0];
                *first = AgentSpec {
                    model: Some(Model::Opus),
                    context: Some(title.clone()),
                    ..AgentSpec::new(Role::Polecat, first.agent.clone())
                };
            }
            for qa in metadata.qa_agents.iter_mut().filter(|_| plain_qa) {
                qa.spec = AgentSpec {
                    model: Some(Model::Haiku),
                    context: Some(qa.prompt.clone()),
                    ..AgentSpec::new(Role::Polecat, qa.spec.agent.clone())
                };
            }
            if plain_scrum {
                metadata.scrum_master_agent = scrum_master(&metadata.sprint, &title, Model::Sonnet);
            }
            if plain_team {
                metadata.team_name = default_team_name(&metadata.sprint);
            }
            bead
        },
    )
}

/// Adds unknown keys to the document, its metadata, its agents and its history.
pub(super) fn sprinkle(document: &mut Value, extra: &Map<String, Value>) {
    let add = |value: Option<&mut Value>| {
        if let Some(map) = value.and_then(Value::as_object_mut) {
            for (place, (key, value)) in extra.iter().enumerate() {
                map.shift_insert(place.min(map.len()), key.clone(), value.clone());
            }
        }
    };
    for pointer in [
        "",
        "/metadata",
        "/metadata/qa_agents/0",
        "/metadata/qa_agents/1",
        "/metadata/dev_agents/0",
        "/metadata/scrum_master_agent",
        "/metadata/qa_agent_executions/0",
        "/metadata/scrum_result",
        "/metadata/dod/verifiers/0",
    ] {
        add(document.pointer_mut(pointer));
    }
}
