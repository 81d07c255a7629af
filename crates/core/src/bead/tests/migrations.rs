//! Migration by example; the laws are tried on generated beads elsewhere.

use super::*;

fn two() -> Value {
    to_v2(&generation_1()).unwrap()
}

#[test]
fn b_4_generation_1_becomes_generation_2() {
    let mut document = generation_1();
    document["metadata"]["agent_type"] = json!("dev");
    document["metadata"]["qa_agents"][0]["agent_type"] = json!("qa");
    let metadata = &to_v2(&document).unwrap()["metadata"];
    assert_eq!(metadata["team_name"], "sprint-1-2");
    assert_eq!(
        metadata["dev_agents"],
        json!([{ "role": "polecat", "agent": ".claude/agents/dev.md", "model": "sonnet", "context": "T" }])
    );
    assert_eq!(
        metadata["qa_agents"],
        json!([{ "role": "polecat", "agent": ".claude/agents/qa.md", "model": "haiku", "context": "Check it" }])
    );
    assert_eq!(metadata["scrum_master_agent"]["context"], "Sprint 1.2 - T");
    for key in ["dev_agent_path", "dev_model", "agent_type", "generation_1"] {
        assert!(metadata.get(key).is_none(), "{key}");
    }
}

#[test]
fn b_4_a_custom_output_schema_stays_on_its_item() {
    let custom = json!({ "properties": { "status": {}, "message": {} } });
    let document = with("/metadata/qa_agents/0/output_schema", custom.clone());
    let migrated = to_v2(&document).unwrap();
    assert_eq!(
        migrated["metadata"]["qa_agents"][0]["output_schema"],
        custom
    );
    assert_eq!(to_v1(&migrated), Ok(document));
}

#[test]
fn b_4_what_generation_1_cannot_say_is_put_aside() {
    let mut document = two();
    let second = json!({ "role": "witness", "agent": "claude", "env": { "A": "1" } });
    document["metadata"]["dev_agents"]
        .as_array_mut()
        .unwrap()
        .push(second);
    let one = to_v1(&document).unwrap();
    assert_eq!(one["metadata"]["dev_agent_path"], ".claude/agents/dev");
    assert_eq!(
        one["metadata"]["generation_2"]["dev_agents"],
        document["metadata"]["dev_agents"]
    );
    assert_eq!(to_v2(&one), Ok(document));
}

#[test]
fn b_4_an_edit_made_in_between_wins() {
    let mut document = two();
    document["metadata"]["dev_agents"][0]["context"] = json!("special");
    document["metadata"]["qa_agents"][0]["env"] = json!({ "A": "1" });
    let mut one = to_v1(&document).unwrap();
    one["metadata"]["dev_model"] = json!("opus");
    let back = to_v2(&one).unwrap();
    assert_eq!(back["metadata"]["dev_agents"][0]["model"], "opus");
    assert_eq!(back["metadata"]["dev_agents"][0]["context"], "T");
    assert_eq!(
        back["metadata"]["qa_agents"][0]["env"],
        json!({ "A": "1" }),
        "the rest is restored"
    );
}

#[test]
fn b_4_spoilt_leftovers_are_ignored() {
    let mut document = two();
    document["metadata"]["scrum_master_agent"]["model"] = json!("opus");
    let mut one = to_v1(&document).unwrap();
    one["metadata"]["generation_2"]["scrum_master_agent"] = json!({ "role": 7 });
    let back = to_v2(&one).unwrap();
    assert!(read(&back).is_ok());
    assert_eq!(back["metadata"]["scrum_master_agent"]["model"], "sonnet");
}

#[test]
fn b_4_an_invalid_document_is_not_migrated() {
    for migrate in [to_v1, to_v2, to_both] {
        assert!(migrate(&without("/assignee")).is_err());
        assert!(migrate(&json!([])).is_err());
    }
}
