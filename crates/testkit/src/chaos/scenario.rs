//! What a seed decides beforehand: the beads, how the run decides, and how rough the world is.

use beads_ralph_core::bead::{
    AgentPath, AgentSpec, BeadId, BranchName, Dod, Expect, IssueType, Metadata, Model, OnFailure,
    Priority, QaAgent, RalphBead, Role, Status, Timestamp, Verifier, standard_output_schema,
};
use beads_ralph_core::engine::{Backoff, Cap, Caps, Integration, Leader, Order, Settings};
use beads_ralph_core::number::SprintId;
use beads_ralph_core::simulate::Random;

/// The branch that all work starts from.
pub(super) const SOURCE: &str = "main";

/// Where work is merged into.
pub(super) const TARGET: &str = "ralph/plan";

/// The root of the main checkout, which is nowhere.
pub(super) const ROOT: &str = "/repository";

/// What the run with a number is called.
pub(super) fn name_of(run: usize) -> String {
    format!("run-{run}")
}

/// What a seed decides beforehand.
#[derive(Debug, Clone)]
pub(super) struct Scenario {
    pub(super) beads: Vec<RalphBead>,
    pub(super) settings: Settings,
    pub(super) rates: Rates,
    /// How many orchestrators there are at once.
    pub(super) n_orchestrators: usize,
    /// How many processes may die at the most.
    pub(super) max_crashes: u32,
    /// After so many minutes the weather is fine.
    pub(super) calm_after: u64,
}

/// How often things go wrong, as probabilities.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rates {
    /// That a call of the store fails, before or after it acted.
    pub(super) store: f64,
    /// That a call of git, the forge or the crew fails, before or after it acted.
    pub(super) ports: f64,
    /// That trouble of those stays for the bead or the run.
    pub(super) lasting: f64,
    /// That a process dies at a call.
    pub(super) dies: f64,
    /// That a user does something between two calls.
    pub(super) user: f64,
    /// That an answer comes twice.
    pub(super) twice: f64,
    /// That a dev agent does not do its work well.
    pub(super) bad_work: f64,
    /// That an agent does not end by itself.
    pub(super) agent: f64,
    /// That an agent meets the limit of its account.
    pub(super) limit: f64,
    /// That QA is wrong.
    pub(super) lies: f64,
    /// That somebody touches a worktree while it is judged or checked.
    pub(super) touches: f64,
    /// That a dev agent also changes what others change.
    pub(super) clash: f64,
}

impl Rates {
    /// Nothing goes wrong any more.
    pub(super) const CALM: Self = Self {
        store: 0.0,
        ports: 0.0,
        lasting: 0.0,
        dies: 0.0,
        user: 0.0,
        twice: 0.0,
        bad_work: 0.1,
        agent: 0.0,
        limit: 0.0,
        lies: 0.0,
        touches: 0.0,
        clash: 0.1,
    };

    /// Each kind of weather is absent, usual or bad by itself, so that seeds differ.
    fn draw(random: &mut Random) -> Self {
        let mut of = |usual: f64, bad: f64| {
            let among = [0.0, usual, usual, bad];
            random.pick(&among).copied().unwrap_or(usual)
        };
        Self {
            store: of(0.01, 0.06),
            ports: of(0.02, 0.08),
            lasting: of(0.0, 0.05),
            dies: of(0.002, 0.01),
            user: of(0.0005, 0.005),
            twice: of(0.05, 0.3),
            bad_work: of(0.2, 0.5),
            agent: of(0.05, 0.2),
            limit: of(0.03, 0.15),
            lies: of(0.05, 0.2),
            touches: of(0.02, 0.1),
            clash: of(0.1, 0.3),
        }
    }
}

impl Scenario {
    pub(super) fn draw(seed: u64) -> Self {
        let mut random = Random::new(seed ^ 0x5ce0_a210);
        let n_beads = 3 + random.below(8) + random.below(8) + random.below(8);
        let is_led = random.is_hit(0.1);
        let density = 0.1 + 0.3 * random.unit();
        let mut beads: Vec<RalphBead> = Vec::new();
        for n in 1..=n_beads {
            let waits_for: Vec<usize> = (0..beads.len())
                .filter(|_| {
                    random.is_hit(
                        density
                            / (1.0
                                + 0.15 * f64::from(u32::try_from(beads.len()).unwrap_or(u32::MAX))),
                    )
                })
                .collect();
            let bead = draw_bead(&mut random, n, &waits_for, &beads);
            beads.push(bead);
        }
        Self {
            beads,
            settings: draw_settings(&mut random, seed, is_led),
            rates: Rates::draw(&mut random),
            n_orchestrators: 1 + usize::from(random.is_hit(0.4)),
            max_crashes: u32::try_from(random.below(6)).unwrap_or(0),
            calm_after: 600 + random.below(1200),
        }
    }
}

fn draw_settings(random: &mut Random, seed: u64, is_led: bool) -> Settings {
    let micros = |random: &mut Random, probability: f64, dollars: u64| Cap {
        micros: random
            .is_hit(probability)
            .then(|| (1 + random.below(dollars)) * 1_000_000),
        ..Cap::default()
    };
    let integrations = [
        Integration::None,
        Integration::Merge {
            target: TARGET.to_owned(),
        },
        Integration::Merge {
            target: TARGET.to_owned(),
        },
        Integration::Pr,
        Integration::Pr,
    ];
    let integration = random.pick(&integrations).cloned();
    Settings {
        selection: beads_ralph_core::engine::Selection::default(),
        run: String::new(),
        seed,
        max_parallel: usize::try_from(1 + random.below(5)).unwrap_or(1),
        poll_ms: 60_000,
        max_tries: 6,
        max_limit_tries: 3,
        backoff: Backoff::Exponential,
        limit_backoff: Backoff::Exponential,
        max_pull_tries: 2,
        integration: integration.unwrap_or(Integration::None),
        leader: if is_led {
            Leader::Agent
        } else {
            Leader::Native
        },
        order: Order::Urgency,
        caps: Caps {
            attempt: micros(random, 0.7, 9),
            bead: micros(random, 0.3, 40),
            team: micros(random, 0.2, 120),
            run: micros(random, 0.4, 200),
        },
        cleans_up: random.is_hit(0.3),
        watches: false,
        is_once: random.is_hit(0.05),
    }
}

fn draw_bead(random: &mut Random, n: u64, waits_for: &[usize], beads: &[RalphBead]) -> RalphBead {
    let id = BeadId::parse(&format!("bd-1-{n}")).expect("it is an id");
    let sprint = SprintId::parse(&format!("1.{n}")).expect("it is a sprint");
    let now = Timestamp::from_instant(jiff::Timestamp::UNIX_EPOCH);
    let is_merge = waits_for.len() > 1 && random.is_hit(0.3);
    let branches: Vec<String> = (waits_for.iter())
        .map(|at| beads[*at].metadata.branch.to_string())
        .collect();
    RalphBead {
        title: format!("Bead {n}"),
        description: String::new(),
        status: Status::Open,
        priority: Priority::new(i64::try_from(random.below(4)).unwrap_or(1))
            .expect("it is between 0 and 4"),
        issue_type: if is_merge {
            IssueType::Merge
        } else {
            IssueType::Work
        },
        owner: None,
        dependencies: waits_for.iter().map(|at| beads[*at].id.clone()).collect(),
        labels: Vec::new(),
        comments: Vec::new(),
        metadata: Metadata {
            rig: "rig".to_owned(),
            worktree_path: format!("../worktrees/{id}"),
            branch: BranchName::parse(&format!("feature/{id}")).expect("it is a branch"),
            source_branch: SOURCE.to_owned(),
            phase: sprint.phase_id(),
            plan_sprint_id: sprint.to_string(),
            plan_section: format!("### Sprint {sprint}: Bead {n}"),
            sprint,
            team_name: format!("team-{}", random.below(3)),
            plan_file: "plan.md".to_owned(),
            branches_to_merge: is_merge.then_some(branches),
            scrum_master_agent: spec(random, "beads-ralph-scrum-master"),
            dev_agents: (0..=random.below(5) / 4)
                .map(|_| spec(random, "dev"))
                .collect(),
            dev_prompts: vec!["Do it".to_owned()],
            qa_agents: (0..=random.below(2)).map(|_| judge(random)).collect(),
            max_retry_attempts: u32::try_from(1 + random.below(4)).unwrap_or(3),
            attempt_count: 0,
            scrum_master_session_id: None,
            dev_agent_session_id: None,
            dev_agent_executions: Vec::new(),
            qa_agent_executions: Vec::new(),
            pr_url: None,
            pr_number: None,
            scrum_result: None,
            acceptance_criteria: None,
            dod: Some(dod()),
            source_map: None,
        },
        external_ref: None,
        estimated_minutes: None,
        created_at: now.clone(),
        updated_at: now,
        closed_at: None,
        id,
    }
}

fn spec(random: &mut Random, name: &str) -> AgentSpec {
    let agent = AgentPath::for_name(name).expect("it is a path");
    let adapters = ["claude", "claude", "codex"].map(str::to_owned);
    AgentSpec {
        model: Some(Model::Sonnet),
        adapter: random.pick(&adapters).cloned(),
        ..AgentSpec::new(Role::Polecat, agent)
    }
}

fn judge(random: &mut Random) -> QaAgent {
    QaAgent {
        spec: spec(random, "qa"),
        prompt: "Judge it".to_owned(),
        output_schema: standard_output_schema(),
    }
}

fn dod() -> Dod {
    Dod {
        verifiers: vec![Verifier {
            name: "it is good".to_owned(),
            command: "true".to_owned(),
            expect: Expect {
                exit_code: 0,
                stdout_contains: None,
                stderr_contains: None,
                stdout_matches: None,
                stderr_matches: None,
                min_tests: None,
            },
            timeout_seconds: 60,
            on_failure: OnFailure::default(),
        }],
        evidence_required: None,
        artifact_paths: Vec::new(),
    }
}
