//! Writes a bead as a document in the shape of either generation, or of both (B-3).

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;

use super::derive::default_qa_prompt;
use super::wire::{OutputSchema, QaAgent1, QaAgent2, WireBead, WireMetadata, WireQaAgent};
use super::{
    ASSIGNEE, AgentSpec, BeadShape, Metadata, Model, QaAgent, RalphBead, standard_output_schema,
};

impl RalphBead {
    /// The document of this bead.
    ///
    /// `V1` writes what generation 1 knows and no more; see [`super::to_v1`] for a way that loses
    /// nothing. In `V2` a QA item carries `prompt` and `output_schema` only where a reader would not
    /// derive the same.
    pub fn to_document(&self, shape: BeadShape) -> Value {
        to_value(&WireBead {
            id: &self.id,
            title: &self.title,
            description: &self.description,
            status: self.status,
            priority: self.priority,
            issue_type: self.issue_type,
            assignee: ASSIGNEE,
            owner: self.owner.as_deref(),
            dependencies: &self.dependencies,
            labels: &self.labels,
            comments: &self.comments,
            metadata: self
                .metadata
                .wire(&self.title, self.estimated_minutes, shape),
            external_ref: self.external_ref.as_deref(),
            estimated_minutes: self.estimated_minutes,
            created_at: &self.created_at,
            updated_at: &self.updated_at,
            closed_at: self.closed_at.as_ref(),
        })
    }
}

/// Turns one of our own structs into a document.
pub(crate) fn to_value(wire: &impl Serialize) -> Value {
    serde_json::to_value(wire)
        .expect("wire structs have string keys only, so they always serialize")
}

impl Metadata {
    fn wire(
        &self,
        title: &str,
        estimated_minutes: Option<u32>,
        shape: BeadShape,
    ) -> WireMetadata<'_> {
        let one = matches!(shape, BeadShape::V1 | BeadShape::Both);
        let two = matches!(shape, BeadShape::V2 | BeadShape::Both);
        let first = self.dev_agents.first().filter(|_| one);
        let prompt = default_qa_prompt(&self.sprint, title);
        WireMetadata {
            rig: &self.rig,
            worktree_path: &self.worktree_path,
            branch: &self.branch,
            source_branch: &self.source_branch,
            phase: self.phase.as_str(),
            sprint: self.sprint.as_str(),
            team_name: two.then_some(&*self.team_name),
            plan_file: &self.plan_file,
            plan_section: &self.plan_section,
            plan_sprint_id: &self.plan_sprint_id,
            branches_to_merge: self.branches_to_merge.as_deref(),
            dev_agent_path: first.map(|spec| spec.agent.without_md()),
            dev_model: first.map(|spec| spec.model.unwrap_or(Model::Sonnet)),
            dev_prompts: &self.dev_prompts,
            qa_agents: self
                .qa_agents
                .iter()
                .map(|qa| qa.wire(&prompt, shape))
                .collect(),
            scrum_master_agent: two.then(|| self.scrum_master_agent.with_md()),
            dev_agents: two.then(|| self.dev_agents.iter().map(AgentSpec::with_md).collect()),
            max_retry_attempts: self.max_retry_attempts,
            attempt_count: self.attempt_count,
            scrum_master_session_id: self.scrum_master_session_id.as_deref(),
            dev_agent_session_id: self.dev_agent_session_id.as_deref(),
            dev_agent_executions: &self.dev_agent_executions,
            qa_agent_executions: &self.qa_agent_executions,
            pr_url: self.pr_url.as_deref(),
            pr_number: self.pr_number,
            scrum_result: self.scrum_result.as_ref(),
            acceptance_criteria: self.acceptance_criteria.as_deref(),
            dod: self.dod.as_ref(),
            estimated_minutes,
            source_map: self.source_map.as_ref(),
            generations: (),
        }
    }
}

impl AgentSpec {
    fn with_md(&self) -> Cow<'_, Self> {
        if self.agent.has_md() {
            return Cow::Borrowed(self);
        }
        Cow::Owned(Self {
            agent: self.agent.with_md(),
            ..self.clone()
        })
    }
}

impl QaAgent {
    fn wire(&self, default_prompt: &str, shape: BeadShape) -> WireQaAgent<'_> {
        let agent_path = self.spec.agent.without_md();
        let prompt = self.prompt.as_str();
        let output_schema = OutputSchema(&self.output_schema);
        let spec = self.spec.with_md();
        match shape {
            BeadShape::V1 => WireQaAgent::One(QaAgent1 {
                agent_path,
                model: spec.model.unwrap_or(Model::Sonnet),
                prompt,
                output_schema,
            }),
            BeadShape::V2 => {
                let derived = self.spec.context.as_deref().unwrap_or(default_prompt);
                let standard = *output_schema.0 == *standard_output_schema();
                WireQaAgent::Two(QaAgent2 {
                    spec,
                    agent_path: None,
                    prompt: (prompt != derived).then_some(prompt),
                    output_schema: (!standard).then_some(output_schema),
                })
            }
            BeadShape::Both => WireQaAgent::Two(QaAgent2 {
                spec,
                agent_path: Some(agent_path),
                prompt: Some(prompt),
                output_schema: Some(output_schema),
            }),
        }
    }
}
