//! `demo`: the whole product on a sample plan, in a temporary repository, with a scripted agent.
//!
//! It touches neither the user's repository nor their store nor their git settings. Data: that of `run`.

use std::time::Duration;

use beads_ralph_core::bead::BeadShape;
use beads_ralph_core::compile::{KnownIds, plan_graph};
use beads_ralph_core::diag::ErrorCode;
use beads_ralph_core::engine::IntegrationMode;
use beads_ralph_core::issue::Entry;
use beads_ralph_runtime::app::beads::Beads;
use beads_ralph_runtime::app::plan::{PlanContext, PlanInput, PlanOptions, PlanSource};
use beads_ralph_runtime::os::files;
use beads_ralph_runtime::os::process::{Ending, Units};
use beads_ralph_runtime::store::{self, StoreError, Write};
use camino::{Utf8Path, Utf8PathBuf};
use clap::Args;
use serde_json::Value;
use tempfile::TempDir;

use crate::args::here;
use crate::args::{Global, GraphFormat};
use crate::command::plan::error;
use crate::command::plan::graph::drawn;
use crate::command::work::run::{RunArgs, at as run_at};
use crate::failure::Failure;
use crate::ui::{Stream, Ui, counted, quoted, render};

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Keep the repository of the demo in this new directory instead of deleting it
    #[arg(long, value_name = "DIR")]
    pub(crate) keep: Option<Utf8PathBuf>,
}

const PLAN: &str = include_str!("../../../assets/demo-plan.md");
const SCENARIO: &str = include_str!("../../../assets/demo-scenario.yaml");
const CONFIG: &str = include_str!("../../../assets/demo-config.yaml");
const NAME: &str = "demo-plan.md";
const NEXT: &str = "
Now your own:
  beads-ralph init
  beads-ralph plan new plan.md
  beads-ralph plan check plan.md
  beads-ralph run plan.md
";

/// How long git may take for one of the few things that it is asked.
const GIT_LIMIT: Duration = Duration::from_mins(1);

pub(crate) fn run(args: &DemoArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    let ground = Ground::new(args)?;
    let documents = compiled(ui)?;
    ground.lay()?;
    let made = store::init_in(ground.root.join(".beads"), store::options()?)?;
    let mut beads = Beads::new(made.store, made.directory, global.writer());
    fill(&mut beads, &documents)?;
    ui.out("\nScripted agents work through it, in a temporary repository:\n\n")?;
    let run_args = RunArgs {
        integration: Some(IntegrationMode::Merge),
        ..RunArgs::default()
    };
    let ran = run_at(ground.root.clone(), beads, None, &run_args, ui);
    if ran.is_ok() {
        ui.out(&format!(
            "\nWhat they merged into ralph/demo-plan:\n{}",
            ground.history()?
        ))?;
        if args.keep.is_some() {
            ui.out(&format!("\nLook at it in {}\n", quoted(&ground.root)))?;
        }
        ui.out(NEXT)?;
    }
    ran
}

fn compiled(ui: &Ui) -> Result<Vec<Value>, Failure> {
    let source = PlanSource::from_text(NAME, PLAN);
    let context = PlanContext::at(None, NAME.to_owned())?;
    let input = PlanInput::new(source, context, PlanOptions::default())?;
    let (source, plan) = (&input.source, &input.plan);
    let failure = |error| error::failure(error, source, ui);
    let compiled = input.compile().map_err(failure)?;
    let graph =
        plan_graph(plan, &KnownIds::new()).map_err(|finding| ui.refuse(source, vec![*finding]))?;
    let documents = (input.documents(&compiled.beads, BeadShape::Both)).map_err(failure)?;
    let n_sprints = counted(plan.sprints.len(), "sprint", "sprints");
    ui.out(&format!("A plan of {n_sprints} ({NAME}):\n\n"))?;
    ui.out(&render(source, &compiled.findings, ui.style(Stream::Out)))?;
    ui.out(&drawn(&graph, GraphFormat::Text, ui))?;
    Ok(documents)
}

fn fill(beads: &mut Beads, documents: &[Value]) -> Result<(), Failure> {
    let insert = |document: &Value| {
        let entry =
            Entry::from_document(document.clone()).map_err(|errors| StoreError::Invalid {
                id: NAME.to_owned(),
                errors,
            })?;
        Ok(Write::Insert(Box::new(entry)))
    };
    let batch: Result<Vec<Write>, StoreError> = documents.iter().map(insert).collect();
    beads.store.write(&batch?, beads.by.stamp())?;
    Ok(())
}

struct Ground {
    root: Utf8PathBuf,
    units: Units,
    _guard: Option<TempDir>,
}

impl Ground {
    fn new(args: &DemoArgs) -> Result<Self, Failure> {
        let (parent, guard) = match &args.keep {
            Some(keep) => (kept(keep)?, None),
            None => thrown_away()?,
        };
        let root = parent.join("demo");
        files::create_directory(&root)?;
        Ok(Self {
            root,
            units: Units::own()?,
            _guard: guard,
        })
    }

    /// Makes the repository: the plan, the scenario, the configuration, and one commit.
    fn lay(&self) -> Result<(), Failure> {
        for (name, text) in [
            (NAME, PLAN),
            ("scenario.yaml", SCENARIO),
            ("beads-ralph.yaml", CONFIG),
        ] {
            files::write_atomic(&self.root.join(name), text.as_bytes())?;
        }
        self.git(&["init", "--quiet", "--initial-branch=main", "."])?;
        for (key, value) in [
            ("user.name", "Demo"),
            ("user.email", "demo@localhost"),
            ("commit.gpgsign", "false"),
            ("core.hooksPath", "/dev/null"),
        ] {
            self.git(&["config", key, value])?;
        }
        self.git(&["add", "."])?;
        self.git(&["commit", "--quiet", "--message=A plan"])?;
        Ok(())
    }

    /// What is on the branch that everything was merged into.
    fn history(&self) -> Result<String, Failure> {
        self.git(&[
            "log",
            "--graph",
            "--format=  %s",
            "--first-parent",
            "ralph/demo-plan",
        ])
    }

    fn git(&self, arguments: &[&str]) -> Result<String, Failure> {
        let argv = [&["git"], arguments].concat();
        let ended = self
            .units
            .output(&argv, Utf8Path::new(&self.root), GIT_LIMIT);
        match ended {
            Ok(ended) if ended.ending == Ending::Exited(0) => Ok(ended.stdout.text()),
            Ok(ended) => {
                let message = format!(
                    "`{}` failed: {}",
                    argv.join(" "),
                    ended.stderr.text().trim()
                );
                Err(Failure::new(ErrorCode::ValidationConstraint, message)
                    .action("check that git works"))
            }
            Err(error) => Err(
                Failure::new(ErrorCode::ValidationConstraint, error.to_string())
                    .action("install git"),
            ),
        }
    }
}

/// A directory that stays.
fn kept(directory: &Utf8Path) -> Result<Utf8PathBuf, Failure> {
    let path = here()?.join(directory);
    if files::create_new_directory(&path)? {
        return Ok(path);
    }
    let message = format!("{} exists already", quoted(&path));
    let failure = Failure::new(ErrorCode::ValidationConstraint, message);
    Err(failure.action("name a directory that does not exist yet"))
}

/// A directory that goes when the demo is over.
fn thrown_away() -> Result<(Utf8PathBuf, Option<TempDir>), Failure> {
    let guard = TempDir::with_prefix("beads-ralph-demo-")?;
    let path = Utf8PathBuf::from_path_buf(guard.path().canonicalize()?).map_err(|path| {
        let message = format!("the temporary directory {} is not UTF-8", path.display());
        Failure::new(ErrorCode::IoPermissionDenied, message)
    })?;
    Ok((path, Some(guard)))
}
