//! The beads of the selected sprints, in the order in which they are emitted (D-8).

use std::collections::BTreeSet;

use super::agents::{default_model, dev_agent, qa_agent};
use super::diagnostics;
use super::graph::PlanGraph;
use super::graph::conflicts;
use super::settings::{AgentCheck, CompileSettings, FormulaSprints};
use crate::bead::{
    AgentPath, AgentSpec, BeadId, DEFAULT_MAX_RETRY_ATTEMPTS, Dod, Expect, IssueType, Metadata,
    Model, Priority, QaAgent, RalphBead, SourceMap, Status, Verifier, default_qa_prompt,
    description, labels, plan_agent, scrum_master, standard_output_schema, team_name,
};
use crate::diag::{Diagnostic, has_errors};
use crate::graph::Node;
use crate::plan::{CompleteSprint, Filter, Plan, Sprint, SprintKind, VerifierItem, complete};
use crate::vocabulary::label;

/// The beads of a plan, and the warnings about them.
#[derive(Debug)]
pub struct Compiled {
    /// The beads in emission order.
    pub beads: Vec<RalphBead>,
    /// Dependencies on sprints that were not selected, in natural order (D-15).
    pub external: Vec<BeadId>,
    /// Warnings.
    pub findings: Vec<Diagnostic>,
}

/// Compiles the selected sprints. On any error there are no beads, only all findings.
pub fn compile(
    plan: &Plan,
    graph: &PlanGraph<'_>,
    filter: &Filter,
    settings: &CompileSettings<'_>,
) -> Result<Compiled, Vec<Diagnostic>> {
    let is_selected = |sprint: &Sprint| {
        filter.selects(&sprint.id.value) && !(settings.skip_completed && sprint.body().is_completed)
    };
    let nodes: Vec<Node> = graph
        .graph
        .order()
        .into_iter()
        .filter(|node| is_selected(graph.sprint(*node)))
        .collect();
    let selected: Vec<&Sprint> = nodes.iter().map(|node| graph.sprint(*node)).collect();
    let mut findings = conflicts(&selected);
    findings.extend(machine_checks(&selected, settings));
    findings.extend(agent_directory(&selected, settings));
    let compiler = Compiler {
        graph,
        settings,
        scrum_master_model: default_model(settings),
    };
    let beads: Vec<RalphBead> = nodes
        .iter()
        .filter_map(|node| compiler.bead(*node, &mut findings))
        .collect();
    if has_errors(&findings) || has_errors(&plan.problems) || has_errors(&graph.findings) {
        return Err(findings);
    }
    Ok(Compiled {
        beads,
        external: external(graph, &nodes),
        findings,
    })
}

/// The dependencies that were not selected (D-15).
fn external(graph: &PlanGraph<'_>, nodes: &[Node]) -> Vec<BeadId> {
    let selected: BTreeSet<Node> = nodes.iter().copied().collect();
    let needed: BTreeSet<Node> = nodes
        .iter()
        .flat_map(|node| graph.graph.dependencies(*node))
        .map(|edge| edge.to)
        .collect();
    needed
        .difference(&selected)
        .map(|node| graph.bead_id(*node).clone())
        .collect()
}

fn machine_checks(selected: &[&Sprint], settings: &CompileSettings<'_>) -> Vec<Diagnostic> {
    if settings.has_default_check {
        return Vec::new();
    }
    let unchecked: Vec<&Sprint> = selected
        .iter()
        .copied()
        .filter(|sprint| sprint.body().verifiers.is_empty())
        .collect();
    if settings.require_machine_check {
        return unchecked
            .into_iter()
            .map(diagnostics::machine_check_required)
            .collect();
    }
    diagnostics::no_machine_check(&unchecked)
        .into_iter()
        .collect()
}

fn agent_directory(selected: &[&Sprint], settings: &CompileSettings<'_>) -> Option<Diagnostic> {
    let is_unchecked = settings.agent_check == AgentCheck::Auto && !settings.agents.has_directory;
    let mut agents = selected.iter().flat_map(|sprint| {
        sprint
            .body()
            .dev_agents
            .iter()
            .chain(&sprint.body().qa_agents)
    });
    let first = agents.find(|agent| agent.name.value != "claude")?;
    is_unchecked.then(|| diagnostics::no_agent_directory(&first.name))
}
struct Agents {
    dev: Vec<AgentSpec>,
    qa: Vec<QaAgent>,
}

struct Compiler<'c, 'p> {
    graph: &'c PlanGraph<'p>,
    settings: &'c CompileSettings<'c>,
    scrum_master_model: Model,
}

impl Compiler<'_, '_> {
    /// The bead of a sprint. Everything that can be said about the sprint is said, also when there is no
    /// bead in the end.
    fn bead(&self, node: Node, findings: &mut Vec<Diagnostic>) -> Option<RalphBead> {
        let sprint = self.graph.sprint(node);
        findings.extend(sprint.problems.iter().cloned());
        findings.extend(diagnostics::wrong_labels(sprint));
        let formula = sprint.body().formula.as_ref();
        let is_ordinary = self.settings.formula_sprints == FormulaSprints::Ordinary;
        findings.extend(
            formula
                .filter(|_| is_ordinary)
                .map(diagnostics::formula_not_poured),
        );
        let is_gate = is_gate(sprint);
        let agents = if is_gate {
            self.nobody(sprint)
        } else {
            self.agents(sprint, findings)
        };
        let kind = self.kind(node, findings);
        let complete = match complete(sprint) {
            Ok(complete) => complete,
            Err(missing) => {
                findings.extend(missing);
                return None;
            }
        };
        let (issue_type, branches_to_merge) = kind?;
        let metadata = self.metadata(&complete, branches_to_merge, agents);
        let mut plan_labels: Vec<String> = sprint
            .body()
            .labels
            .iter()
            .map(|label| label.value.clone())
            .collect();
        plan_labels.extend(is_gate.then(|| label::GATE.to_owned()));
        let edges = self.graph.graph.dependencies(node);
        Some(RalphBead {
            id: self.graph.bead_id(node).clone(),
            title: sprint.title.value.clone(),
            description: description(&metadata.dev_prompts),
            status: Status::Open,
            priority: Priority::PLANNED,
            issue_type,
            owner: None,
            dependencies: edges
                .iter()
                .map(|edge| self.graph.bead_id(edge.to).clone())
                .collect(),
            labels: labels(&sprint.id.value, &plan_labels),
            comments: Vec::new(),
            metadata,
            external_ref: None,
            estimated_minutes: sprint.estimated_minutes(),
            created_at: self.settings.now.clone(),
            updated_at: self.settings.now.clone(),
            closed_at: None,
        })
    }

    /// Work, or merge with the branches to join (B-31).
    fn kind(
        &self,
        node: Node,
        findings: &mut Vec<Diagnostic>,
    ) -> Option<(IssueType, Option<Vec<String>>)> {
        let sprint = self.graph.sprint(node);
        let issue_type = self.graph.issue_type(node, self.settings.merge_detection);
        if issue_type == Some(IssueType::Work) {
            return Some((IssueType::Work, None));
        }
        let (branches, unreadable) = self.graph.branches_to_merge(node);
        if !unreadable.is_empty() {
            findings.extend(
                unreadable
                    .into_iter()
                    .map(|other| diagnostics::branch_to_merge_missing(sprint, other)),
            );
            return None;
        }
        if branches.len() < 2 {
            findings.push(diagnostics::nothing_to_merge(sprint, branches.len()));
        }
        let branches = branches
            .into_iter()
            .map(|branch| branch.as_str().to_owned())
            .collect();
        Some((IssueType::Merge, Some(branches)))
    }

    fn agents(&self, sprint: &Sprint, findings: &mut Vec<Diagnostic>) -> Agents {
        let (settings, body) = (self.settings, sprint.body());
        Agents {
            dev: body
                .dev_agents
                .iter()
                .enumerate()
                .map(|item| dev_agent(item, sprint, settings, findings))
                .collect(),
            qa: body
                .qa_agents
                .iter()
                .enumerate()
                .map(|item| qa_agent(item, sprint, settings, findings))
                .collect(),
        }
    }

    /// The agents that the bead of a gate names because every bead has some (§3.2); none of them is ever called (V-11).
    fn nobody(&self, sprint: &Sprint) -> Agents {
        let agent = AgentPath::parse("claude").expect("the built-in agent is an agent");
        let title = sprint.title.value.as_str();
        let spec = plan_agent(agent, self.scrum_master_model, None, title);
        let prompt = default_qa_prompt(&sprint.id.value, title);
        Agents {
            dev: vec![spec.clone()],
            qa: vec![QaAgent {
                spec,
                prompt,
                output_schema: standard_output_schema(),
            }],
        }
    }

    fn metadata(
        &self,
        complete: &CompleteSprint<'_>,
        branches_to_merge: Option<Vec<String>>,
        agents: Agents,
    ) -> Metadata {
        let (sprint, settings) = (complete.sprint, self.settings);
        let (id, title, body) = (
            &sprint.id.value,
            sprint.title.value.as_str(),
            &sprint.body(),
        );
        let acceptance: Vec<String> = body
            .acceptance
            .iter()
            .map(|item| item.value.clone())
            .collect();
        Metadata {
            rig: settings.rig.to_owned(),
            worktree_path: complete.worktree.value.clone(),
            branch: complete.branch.value.clone(),
            source_branch: complete.source_branch.value.clone(),
            phase: id.phase_id(),
            sprint: id.clone(),
            team_name: team_name(
                body.team.as_ref().map(|team| team.value.as_str()),
                id,
                title,
            ),
            plan_file: settings.plan_file.to_owned(),
            plan_section: sprint.heading.value.clone(),
            plan_sprint_id: id.as_str().to_owned(),
            branches_to_merge,
            scrum_master_agent: scrum_master(id, title, self.scrum_master_model),
            dev_agents: agents.dev,
            dev_prompts: prompts(sprint),
            qa_agents: agents.qa,
            max_retry_attempts: DEFAULT_MAX_RETRY_ATTEMPTS,
            attempt_count: 0,
            scrum_master_session_id: None,
            dev_agent_session_id: None,
            dev_agent_executions: Vec::new(),
            qa_agent_executions: Vec::new(),
            pr_url: None,
            pr_number: None,
            scrum_result: None,
            acceptance_criteria: (!acceptance.is_empty()).then_some(acceptance),
            dod: dod(&body.verifiers),
            source_map: source_map(sprint, settings),
        }
    }
}

/// Where the sprint stands (Z-45). A heading begins its line but for a byte order mark, which takes no column, and for
/// up to three spaces.
fn source_map(sprint: &Sprint, settings: &CompileSettings<'_>) -> Option<SourceMap> {
    let text = settings.text?;
    let heading = sprint.heading.span.slice(text);
    let heading = heading.strip_prefix('\u{feff}').unwrap_or(heading);
    let indent = heading.chars().take_while(|c| *c != '#').count();
    Some(SourceMap {
        file: settings.plan_file.to_owned(),
        line: sprint.line.try_into().unwrap_or(u32::MAX),
        column: u32::try_from(indent).unwrap_or(0).saturating_add(1),
        digest: sprint.digest(text),
    })
}

/// Whether nobody works on a sprint.
fn is_gate(sprint: &Sprint) -> bool {
    matches!(&sprint.body().kind, Some(kind) if kind.value == SprintKind::Gate)
}

/// What is to be done. A gate without tasks says what must be green.
fn prompts(sprint: &Sprint) -> Vec<String> {
    let body = sprint.body();
    if is_gate(sprint) && body.tasks.is_empty() {
        let commands = body.verifiers.iter().map(|item| &item.command.value);
        return commands
            .map(|command| format!("Must be green: {command}"))
            .collect();
    }
    body.tasks.iter().map(|task| task.value.clone()).collect()
}

/// The Definition of Done in the shape of seed 003; nothing when the plan asks for no check.
fn dod(items: &[VerifierItem]) -> Option<Dod> {
    let verifiers: Vec<Verifier> = items
        .iter()
        .enumerate()
        .map(|(n, item)| verifier(n + 1, item))
        .collect();
    (!verifiers.is_empty()).then_some(Dod {
        verifiers,
        evidence_required: None,
        artifact_paths: Vec::new(),
    })
}

fn verifier(number: usize, item: &VerifierItem) -> Verifier {
    Verifier {
        name: item
            .name
            .as_ref()
            .map_or_else(|| format!("verifier {number}"), |name| name.value.clone()),
        command: item.command.value.clone(),
        expect: Expect {
            exit_code: item.exit_code.unwrap_or(0),
            stdout_contains: item.stdout_contains.clone(),
            stderr_contains: item.stderr_contains.clone(),
            stdout_matches: item.stdout_matches.clone(),
            stderr_matches: item.stderr_matches.clone(),
            min_tests: item.min_tests,
        },
        timeout_seconds: item
            .timeout_seconds
            .unwrap_or(Verifier::DEFAULT_TIMEOUT_SECONDS),
        on_failure: item.on_failure.unwrap_or_default(),
    }
}
