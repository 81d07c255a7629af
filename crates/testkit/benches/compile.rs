//! How fast plans compile, against how fast pulldown-cmark merely walks the same text.
//!
//! `cargo bench` prints the figures, `cargo bench -- --check` also fails when a target is missed; what
//! they mean is in `docs/benchmarks.md`. Sizes and subjects take turns in every round, so that a machine
//! that slows down for a while slows all of them, and medians are compared, not means.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::fs;
use std::hint::black_box;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use beads_ralph_core::bead::{self, BeadShape, Rules, Timestamp};
use beads_ralph_core::compile::{
    self, AgentCatalog, AgentCheck, CompileSettings, Compiled, KnownIds, MergeDetection, PlanGraph,
};
use beads_ralph_core::plan::{self, Filter, Plan};
use beads_ralph_testkit::generated_plan;
use pulldown_cmark::Parser;

/// Numbers of sprints, with how often each is run in a round: small plans are cheap and noisy. The
/// runs of the smallest are spread over the round.
const SIZES: [(usize, usize); 3] = [(100, 12), (1_000, 4), (10_000, 1)];

/// Rounds of the whole benchmark; odd, so that the median is a measurement.
const N_ROUNDS: usize = 21;

/// How much longer a sprint may take in the largest plan than in the smallest.
const MAX_GROWTH: f64 = 1.5;

/// How much longer a compilation may take than pulldown-cmark takes for the same text.
const MAX_RATIO: f64 = 5.0;

/// How often each hostile input is run, at either size.
const N_HOSTILE_RUNS: usize = 7;

/// The argument with which the benchmark runs itself to measure memory.
const PEAK_MEMORY: &str = "--peak-memory";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |wanted: &str| arguments.iter().any(|argument| argument == wanted);
    if let Some(at) = arguments
        .iter()
        .position(|argument| argument == PEAK_MEMORY)
    {
        return peak_memory_of(arguments.get(at + 1).map_or("", String::as_str));
    }
    // Cargo passes `--bench` when it benches; `cargo test --all-targets` only wants to see it run, and
    // figures of an unoptimised build would mislead.
    if !has("--bench") {
        measure(0, &SIZES[..1]);
        return ExitCode::SUCCESS;
    }
    let plans = measure(N_ROUNDS, &SIZES);
    report(&plans);
    report_memory();
    report_hostile_inputs();
    if !verdicts(&plans) && has("--check") {
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

#[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
fn timed<T>(run: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let result = run();
    (result, start.elapsed())
}

/// The stages of a compilation, in order.
const STAGES: [&str; 5] = ["parse", "graph", "beads", "documents", "release"];

/// The times of one size.
struct Measured {
    n_sprints: usize,
    text: String,
    whole: Vec<Duration>,
    stages: [Vec<Duration>; STAGES.len()],
    without_documents: Vec<Duration>,
    markdown: Vec<Duration>,
}

fn measure(n_rounds: usize, sizes: &[(usize, usize)]) -> Vec<Measured> {
    let agents = AgentCatalog::default();
    let settings = settings(&agents);
    let mut plans: Vec<Measured> = sizes.iter().map(|(size, _)| Measured::of(*size)).collect();
    // The first round only warms up.
    for round in 0..=n_rounds {
        let n_turns = sizes.iter().map(|(_, n_runs)| *n_runs).max().unwrap_or(0);
        for turn in 0..n_turns {
            for (plan, (_, n_runs)) in plans.iter_mut().zip(sizes) {
                // In the middle of its share of the turns, so that its neighbours are on both sides.
                if turn % (n_turns / n_runs) == n_turns / n_runs / 2 {
                    plan.measure(&settings);
                }
            }
        }
        if round == 0 {
            plans.iter_mut().for_each(Measured::forget);
        }
    }
    plans
}

impl Measured {
    fn of(n_sprints: usize) -> Self {
        Self {
            n_sprints,
            text: generated_plan(n_sprints),
            whole: Vec::new(),
            stages: Default::default(),
            without_documents: Vec::new(),
            markdown: Vec::new(),
        }
    }

    fn forget(&mut self) {
        self.whole.clear();
        self.stages.iter_mut().for_each(Vec::clear);
        self.without_documents.clear();
        self.markdown.clear();
    }

    fn measure(&mut self, settings: &CompileSettings<'_>) {
        let text = black_box(self.text.as_str());
        let stages = compile_in_stages(text, settings, Documents::Checked);
        self.whole.push(stages.iter().sum());
        for (times, time) in self.stages.iter_mut().zip(stages) {
            times.push(time);
        }
        let stages = compile_in_stages(text, settings, Documents::None);
        self.without_documents.push(stages.iter().sum());
        self.markdown.push(timed(|| walk_markdown(text)).1);
    }

    /// Microseconds for each sprint.
    fn per_sprint(&self, times: &[Duration]) -> f64 {
        micros(median(times)) / as_f64(self.n_sprints)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Documents {
    Checked,
    None,
}

fn settings(agents: &AgentCatalog) -> CompileSettings<'_> {
    CompileSettings {
        plan_file: "docs/plan.md",
        text: None,
        rig: "beads-ralph",
        now: Timestamp::parse("2026-01-01T00:00:00Z").expect("the constant is a timestamp"),
        agents,
        agent_check: AgentCheck::Off,
        merge_detection: MergeDetection::Both,
        skip_completed: false,
        has_default_check: false,
        require_machine_check: false,
        known_ids: KnownIds::new(),
        formula_sprints: beads_ralph_core::compile::FormulaSprints::Ordinary,
    }
}

/// Compiles a plan and takes the time of each stage; the last is the release of all memory.
fn compile_in_stages(
    text: &str,
    settings: &CompileSettings<'_>,
    documents: Documents,
) -> [Duration; STAGES.len()] {
    let (plan, parse) = timed(|| plan::parse(text));
    let (graph, graph_time) = timed(|| graph_of(&plan));
    let (compiled, beads) = timed(|| compiled(&plan, &graph, settings));
    let ((), document_time) = timed(|| {
        if documents == Documents::Checked {
            check_documents(&compiled);
        }
    });
    let ((), release) = timed(|| drop((black_box(compiled), graph)));
    let ((), release_plan) = timed(|| drop(plan));
    [
        parse,
        graph_time,
        beads,
        document_time,
        release + release_plan,
    ]
}

fn graph_of(plan: &Plan) -> PlanGraph<'_> {
    compile::plan_graph(plan, &KnownIds::new()).expect("generated plans have few edges")
}

fn compiled(plan: &Plan, graph: &PlanGraph<'_>, settings: &CompileSettings<'_>) -> Compiled {
    compile::compile(plan, graph, &Filter::default(), settings)
        .expect("generated plans have no errors")
}

fn check_documents(compiled: &Compiled) {
    let rules = Rules::default();
    for bead in &compiled.beads {
        let document = bead.to_document(BeadShape::Both);
        let validated = bead::validate(&document, &rules).expect("compiled beads are valid");
        black_box(validated);
    }
}

fn walk_markdown(text: &str) {
    for event in Parser::new(text).into_offset_iter() {
        black_box(event);
    }
}

fn report(plans: &[Measured]) {
    println!("compilation, time for each sprint in microseconds (medians)\n");
    println!(
        "{:>8} {:>7} {:>6} {:>8} {:>8} {:>8} {:>8}",
        "sprints", "KB", "runs", "whole", "no docs", "pulldown", "ratio"
    );
    for plan in plans {
        println!(
            "{:>8} {:>7} {:>6} {:>8.2} {:>8.2} {:>8.2} {:>8.2}",
            plan.n_sprints,
            plan.text.len() / 1000,
            plan.whole.len(),
            plan.per_sprint(&plan.whole),
            plan.per_sprint(&plan.without_documents),
            plan.per_sprint(&plan.markdown),
            plan.ratio(),
        );
    }
    print!("\n{:>8}", "sprints");
    for stage in STAGES {
        print!(" {stage:>10}");
    }
    println!();
    for plan in plans {
        print!("{:>8}", plan.n_sprints);
        for times in &plan.stages {
            print!(" {:>10.2}", plan.per_sprint(times));
        }
        println!();
    }
    println!();
}

impl Measured {
    /// How much longer the whole takes than pulldown-cmark. Each pair was measured within milliseconds,
    /// so the median of the ratios is steadier than the ratio of the medians.
    fn ratio(&self) -> f64 {
        let seconds = |times: &[Duration]| times.iter().map(Duration::as_secs_f64).collect();
        median_ratio(seconds(&self.whole), seconds(&self.markdown))
    }

    /// Microseconds for each sprint, one median for each round.
    fn per_sprint_in_rounds(&self, times: &[Duration]) -> Vec<f64> {
        let rounds = times.chunks(times.len() / N_ROUNDS);
        rounds.map(|round| self.per_sprint(round)).collect()
    }
}

fn median_ratio(above: Vec<f64>, below: Vec<f64>) -> f64 {
    let mut ratios: Vec<f64> = above.into_iter().zip(below).map(|(a, b)| a / b).collect();
    ratios.sort_by(f64::total_cmp);
    ratios[ratios.len() / 2]
}

fn verdicts(plans: &[Measured]) -> bool {
    let (Some(smallest), Some(largest)) = (plans.first(), plans.last()) else {
        return false;
    };
    let growth = |times: fn(&Measured) -> &[Duration]| {
        let of = |plan: &Measured| plan.per_sprint_in_rounds(times(plan));
        median_ratio(of(largest), of(smallest))
    };
    let (from, to) = (smallest.n_sprints, largest.n_sprints);
    println!(
        "\ngrowth from {from} to {to} sprints: whole {:.2}, no docs {:.2}, pulldown {:.2}\n",
        growth(|plan| &plan.whole),
        growth(|plan| &plan.without_documents),
        growth(|plan| &plan.markdown),
    );
    let is_linear = verdict(
        &format!("time for each sprint at {to} against {from}"),
        growth(|plan| &plan.whole),
        MAX_GROWTH,
    );
    let slowest = plans.iter().map(Measured::ratio).fold(0.0, f64::max);
    let is_fast = verdict(
        "whole against pulldown-cmark, worst size",
        slowest,
        MAX_RATIO,
    );
    is_linear && is_fast
}

fn verdict(what: &str, value: f64, limit: f64) -> bool {
    let word = if value <= limit { "met" } else { "MISSED" };
    println!("target {word}: {what}: {value:.2} (at most {limit})");
    value <= limit
}

fn report_memory() {
    let size = SIZES[SIZES.len() - 1].0;
    let of = |subject: &str| {
        peak_memory_in_child(subject).map_or_else(
            || "unknown".to_owned(),
            |kilobytes| format!("{:.1} MiB", as_f64(kilobytes) / 1024.0),
        )
    };
    println!(
        "peak memory at {size} sprints: {} with the compilation, {} with the text alone\n",
        of("compile"),
        of("text")
    );
}

/// Runs this benchmark again for one subject and reads the peak that it reports, in KiB.
#[expect(
    clippy::disallowed_methods,
    reason = "a peak belongs to a process, so each subject needs one of its own"
)]
fn peak_memory_in_child(subject: &str) -> Option<usize> {
    let program = std::env::current_exe().ok()?;
    let output = Command::new(program)
        .args([PEAK_MEMORY, subject])
        .output()
        .ok()?;
    String::from_utf8(output.stdout).ok()?.trim().parse().ok()
}

fn peak_memory_of(subject: &str) -> ExitCode {
    let text = generated_plan(SIZES[SIZES.len() - 1].0);
    if subject == "compile" {
        let agents = AgentCatalog::default();
        compile_in_stages(&text, &settings(&agents), Documents::Checked);
    }
    black_box(text);
    let Some(kilobytes) = peak_memory() else {
        return ExitCode::FAILURE;
    };
    println!("{kilobytes}");
    ExitCode::SUCCESS
}

/// The largest resident size that this process has had, in KiB; known on Linux only.
fn peak_memory() -> Option<usize> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

/// An input that no person writes, made in a given size.
type Hostile = (&'static str, usize, fn(usize) -> String);

const HOSTILE: [Hostile; 6] = [
    ("headings", 100_000, many_headings),
    ("MB on one line", 50, one_line),
    ("MB of one task", 50, one_task),
    ("sprints in one group", 5_000, one_group),
    ("fields again and again", 100_000, repeated_fields),
    ("branches to merge", 5_000, many_branches),
];

fn report_hostile_inputs() {
    println!(
        "hostile inputs: parsed and checked, milliseconds for each MB at full and at quarter size\n"
    );
    println!(
        "{:>28} {:>7} {:>8} {:>8} {:>7}",
        "input", "MB", "full", "quarter", "growth"
    );
    let agents = AgentCatalog::default();
    let settings = settings(&agents);
    for (what, size, make) in HOSTILE {
        let (full, quarter) = (make(size), make(size / 4));
        let (mut full_times, mut quarter_times) = (Vec::new(), Vec::new());
        for _ in 0..N_HOSTILE_RUNS {
            full_times.push(check_plan(&full, &settings));
            quarter_times.push(check_plan(&quarter, &settings));
        }
        let per_mb =
            |text: &str, times: &[Duration]| micros(median(times)) * 1e3 / as_f64(text.len());
        let (full_time, quarter_time) =
            (per_mb(&full, &full_times), per_mb(&quarter, &quarter_times));
        println!(
            "{:>28} {:>7.2} {:>8.2} {:>8.2} {:>7.2}",
            format!("{size} {what}"),
            as_f64(full.len()) / 1e6,
            full_time,
            quarter_time,
            full_time / quarter_time,
        );
    }
}

fn check_plan(text: &str, settings: &CompileSettings<'_>) -> Duration {
    let text = black_box(text);
    timed(|| black_box(compile::check(&plan::parse(text), settings))).1
}

fn many_headings(n: usize) -> String {
    let headings: Vec<String> = (1..=n)
        .map(|n| format!("### Sprint 1.{n}: Title {n}"))
        .collect();
    headings.join("\n")
}

fn one_line(megabytes: usize) -> String {
    "words and `code` ".repeat(megabytes * 1_000_000 / 17)
}

fn one_task(megabytes: usize) -> String {
    format!("### Sprint 1.1: A\n**Tasks**:\n- {}\n", one_line(megabytes))
}

/// Different suffixes with one set of letters, and a sprint that waits for all of them.
fn one_group(n: usize) -> String {
    let letter = |n: usize, bit: usize| if n >> bit & 1 == 0 { 'a' } else { 'b' };
    let suffix = |n: usize| (0..13).map(|bit| letter(n, bit)).collect::<String>();
    let group = (0..n).map(|n| format!("### Sprint 1.1ab{}: Part {n}\n", suffix(n)));
    group
        .chain(["### Sprint 1.2: Merge\n".to_owned()])
        .collect()
}

/// One section with the same fields over and over, known ones and misspelt ones.
fn repeated_fields(n: usize) -> String {
    format!(
        "### Sprint 1.1: A\n{}",
        "**Status**: x\n**Branch**: `b`\n**Task**:\n".repeat(n / 3)
    )
}

/// The group of [`one_group`], each sprint with a branch of its own.
fn many_branches(n: usize) -> String {
    let group = one_group(n);
    let lines = group
        .lines()
        .enumerate()
        .map(|(n, line)| format!("{line}\n**Branch**: `b{n}`\n"));
    lines.collect()
}

fn median(times: &[Duration]) -> Duration {
    let mut sorted = times.to_vec();
    sorted.sort();
    sorted[sorted.len() / 2]
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

#[expect(clippy::cast_precision_loss, reason = "sizes are far below 2^52")]
fn as_f64(n: usize) -> f64 {
    n as f64
}
