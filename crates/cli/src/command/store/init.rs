//! `init`: the bead store of a repository, its configuration, and what is there.
//!
//! Data: `{repository: path|null, store: {directory, state, beads}, config: {path, state}, permissions,
//! tools: {name: path|null}, uses: {store, agent}, bd_link: path|null, formulas_written: […], agents_written: […],
//! warnings: […], next: […]}`; `state` is `created`, `existing`, and for the configuration also `extended`, for the store `migrated`.

mod settings;

use std::fmt::Write as _;

use beads_ralph_core::diag::ErrorCode;
use beads_ralph_runtime::bead_files::Ralph;
use beads_ralph_runtime::config::{self, Permissions};
use beads_ralph_runtime::store::{self, Opened, StoreKind};
use beads_ralph_runtime::{agent_files, formulas, os::env, os::files, repo};
use camino::{Utf8Path, Utf8PathBuf};
use clap::Args;
use serde_json::{Map, Value, json};

use self::settings::Settings;
use crate::args::here;
use crate::args::{Global, PermissionsArg};
use crate::failure::Failure;
use crate::ui::{Ui, counted, quoted};

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// What agents may do without asking, written to beads-ralph.yaml
    #[arg(long, value_enum, value_name = "MODE")]
    pub(crate) permissions: Option<PermissionsArg>,
    /// Move the beads of the real bd into the embedded store, which takes its place
    #[arg(long)]
    pub(crate) from_bd: bool,
    /// Place a link named bd in this folder, so that programs which call bd work on the embedded store
    #[arg(long, value_name = "FOLDER")]
    pub(crate) bd_link: Option<Utf8PathBuf>,
    /// Write the formulas that come with the program into .beads/formulas, where you can change them; files that are there stay
    #[arg(long)]
    pub(crate) formulas: bool,
    /// Write the agents that come with the program into .claude/agents, where you can change them; files that are there stay
    #[arg(long)]
    pub(crate) agents: bool,
}

/// What is looked for on the PATH, and what it is good for.
const TOOLS: [(&str, &str); 7] = [
    ("git", "worktrees and branches"),
    ("bd", "other stores of beads"),
    ("claude", "agent"),
    ("codex", "agent"),
    ("gemini", "agent"),
    ("opencode", "agent"),
    ("gh", "pull requests"),
];

/// What was found and made.
struct Found {
    root: Option<Utf8PathBuf>,
    directory: Utf8PathBuf,
    store: &'static str,
    /// Who keeps the beads.
    keeper: &'static str,
    /// The link named `bd`, if one was asked for.
    link: Option<Utf8PathBuf>,
    /// The formulas that were asked for and not there yet; nothing when nobody asked.
    formulas: Option<Vec<Utf8PathBuf>>,
    /// The agents, likewise.
    agents: Option<Vec<Utf8PathBuf>>,
    n_beads: usize,
    settings: Settings,
    tools: Vec<(&'static str, &'static str, Option<Utf8PathBuf>)>,
    export: Option<Utf8PathBuf>,
    /// The agent that the settings name.
    chosen: Option<String>,
}

pub(crate) fn run(args: &InitArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    let here = here()?;
    let root = repo::main_root_of(&here);
    let place = root.clone().unwrap_or(here.clone());
    // A configuration that cannot be read, in either of its files, stops everything before anything is made.
    config::load(Some(&place))?;
    let settings = settings::plan(&place, args.permissions.map(Permissions::from))?;
    let made = make(args, &here, global, ui)?;
    let link = args
        .bd_link
        .as_deref()
        .map(|folder| link(folder, made.kind))
        .transpose()?;
    let settings = settings.write()?;
    Ralph::with_store(&place, &made.directory).init()?;
    let formulas = args
        .formulas
        .then(|| formulas::write_built_in(&made.directory))
        .transpose()?;
    let agents = args
        .agents
        .then(|| agent_files::write_built_in(&place))
        .transpose()?;
    let n_beads = made.store.ids_with_prefix("", usize::MAX)?.len();
    let export = made.directory.join("issues.jsonl");
    let config = config::load(Some(&place))?;
    let found = Found {
        chosen: config.agents.chosen().map(|adapter| adapter.name.clone()),
        root,
        keeper: made.kind.owner().unwrap_or("embedded"),
        link,
        formulas,
        agents,
        store: match &made.opened {
            Opened::Created => "created",
            Opened::Existing => "existing",
            Opened::Migrated(_) => "migrated",
        },
        directory: made.directory,
        n_beads,
        settings,
        tools: (TOOLS.iter())
            .map(|(name, what)| (*name, *what, env::find_program(name)))
            .collect(),
        export: (n_beads == 0 && export.is_file()).then_some(export),
    };
    if ui.is_json() {
        return ui.data(&found.to_json());
    }
    ui.out(&found.text())
}

/// Makes the store, or finds it; with `--from-bd` moves into it what the real `bd` has.
fn make(
    args: &InitArgs,
    here: &Utf8Path,
    global: &Global,
    ui: &Ui,
) -> Result<store::Initialized, Failure> {
    if !args.from_bd {
        return Ok(store::init(here)?);
    }
    let moved = store::init_from_bd(here, global.writer().stamp())?;
    ui.say(&format!(
        "moved {} and {} from bd; its own database stays as it was and is not used any more; .beads/beads-ralph.json says so and belongs to this machine, so keep it out of commits\n",
        counted(moved.n_beads, "bead", "beads"),
        counted(moved.n_memories, "memory", "memories"),
    ));
    Ok(moved.made)
}

/// Places a link to this program under the name `bd`. One that is there and leads elsewhere is left alone.
fn link(folder: &Utf8Path, kind: &dyn StoreKind) -> Result<Utf8PathBuf, Failure> {
    if kind.owner().is_some() {
        let message = "the beads are kept by the real bd, so no other program may take its name";
        return Err(Failure::new(ErrorCode::ValidationConstraint, message)
            .action("leave --bd-link out, or move the beads with --from-bd first"));
    }
    files::create_directory(folder)?;
    let link = folder.join("bd");
    let own = env::own_path().ok_or_else(|| {
        Failure::new(
            ErrorCode::IoPermissionDenied,
            "the path of this program is not known",
        )
    })?;
    let is_taken = link.is_symlink() || link.exists();
    if is_taken && link.canonicalize_utf8().ok() != own.canonicalize_utf8().ok() {
        let message = format!("{} is there already, and is not beads-ralph", quoted(&link));
        return Err(Failure::new(ErrorCode::ValidationConstraint, message)
            .action("name another folder, or remove it yourself"));
    }
    files::link(&own, &link)?;
    Ok(link)
}

impl Found {
    fn has(&self, tool: &str) -> bool {
        (self.tools.iter()).any(|(name, _, path)| *name == tool && path.is_some())
    }

    /// The agent that is taken when nothing names another: the one of the settings, else the first that is there.
    fn agent(&self) -> Option<&str> {
        if let Some(chosen) = &self.chosen {
            return Some(chosen);
        }
        let mut agents = self.tools.iter().filter(|(_, what, _)| *what == "agent");
        agents
            .find(|(_, _, path)| path.is_some())
            .map(|(name, _, _)| *name)
    }

    fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.root.is_none() {
            warnings.push(
                "this is not a git repository: plans and beads work, but agents need one (git init)"
                    .to_owned(),
            );
        }
        if !self.has("git") {
            warnings.push("git is not on the PATH: agents need it for their worktrees".to_owned());
        }
        warnings.extend(self.settings.warning());
        warnings
    }

    fn next(&self) -> Vec<String> {
        let mut next = Vec::new();
        if let Some(export) = &self.export {
            next.push(format!("beads-ralph import {}", quoted(export)));
        }
        next.push("beads-ralph plan new plan.md".to_owned());
        next.push("beads-ralph plan check plan.md".to_owned());
        next.push("beads-ralph run plan.md --dry-run".to_owned());
        next.push("beads-ralph run plan.md".to_owned());
        next
    }

    fn to_json(&self) -> Value {
        let tools: Map<String, Value> = (self.tools.iter())
            .map(|(name, _, path)| ((*name).to_owned(), json!(path)))
            .collect();
        json!({
            "repository": self.root,
            "store": {"directory": self.directory, "state": self.store, "beads": self.n_beads},
            "config": {"path": self.settings.path, "state": self.settings.state()},
            "permissions": self.settings.permissions.map(Permissions::as_str),
            "tools": tools,
            "uses": {"store": self.keeper, "agent": self.agent()},
            "bd_link": self.link,
            "formulas_written": self.formulas.as_deref().unwrap_or_default(),
            "agents_written": self.agents.as_deref().unwrap_or_default(),
            "warnings": self.warnings(),
            "next": self.next(),
        })
    }

    fn text(&self) -> String {
        let mut text = String::new();
        let root = self.root.as_deref().map(repo::shown);
        _ = writeln!(text, "repository   {}", root.as_deref().unwrap_or("none"));
        let beads = counted(self.n_beads, "bead", "beads");
        let directory = repo::shown(&self.directory);
        _ = writeln!(text, "store        {directory} ({}, {beads})", self.store);
        let config = repo::shown(&self.settings.path);
        _ = writeln!(text, "settings     {config} ({})", self.settings.state());
        let mode = self.settings.permissions.map(Permissions::as_str);
        _ = writeln!(text, "permissions  {}\n", mode.unwrap_or("not chosen yet"));
        for (name, what, path) in &self.tools {
            let path = path.as_deref().map(repo::shown);
            let path = path.as_deref().unwrap_or("not found");
            _ = writeln!(text, "{name:<12} {path} ({what})");
        }
        push_written(&mut text, "formulas", self.formulas.as_deref());
        push_written(&mut text, "agents", self.agents.as_deref());
        if self
            .agents
            .as_ref()
            .is_some_and(|written| !written.is_empty())
        {
            text.push_str("Commit the agents: work is done in other worktrees, which have what is committed.\n");
        }
        self.what_it_means(&mut text);
        for warning in self.warnings() {
            _ = writeln!(text, "\nwarning: {warning}");
        }
        text.push_str("\nnext:\n");
        for step in self.next() {
            _ = writeln!(text, "  {step}");
        }
        text
    }

    /// What will be used, and what agents will be allowed to do (Z-23).
    fn what_it_means(&self, text: &mut String) {
        text.push_str(match self.keeper {
            "bd" => {
                "\nBeads are kept by bd, in its own database; all work on them goes through it.\n"
            }
            _ => "\nBeads are kept in the embedded store; it needs no server and no bd.\n",
        });
        if let Some(link) = &self.link {
            let link = repo::shown(link);
            _ = writeln!(
                text,
                "{link} is beads-ralph under the name of bd: put its folder in front of the PATH of what calls bd."
            );
        }
        match self.agent() {
            Some(agent) => _ = writeln!(text, "Agents run with {agent} unless a plan or the settings say otherwise."),
            None => text.push_str("No agent was found: install claude, codex, gemini or opencode before you run a plan, or name a command of your own under agents.adapters.\n"),
        }
        text.push_str(
            "\nWhile agents work there is nobody to ask. `permissions` says what they may do:\n",
        );
        for mode in Permissions::ALL {
            let mark = if self.settings.permissions == Some(mode) {
                "*"
            } else {
                " "
            };
            _ = writeln!(text, "{mark} {:<9} {}", mode.as_str(), mode.meaning());
        }
        let config = repo::shown(&self.settings.path);
        _ = writeln!(text, "To change it, edit `permissions` in {config}.");
    }
}

/// Names the files of one kind that were written, where somebody asked for them.
fn push_written(text: &mut String, what: &str, written: Option<&[Utf8PathBuf]>) {
    let Some(written) = written else {
        return;
    };
    text.push('\n');
    for path in written {
        _ = writeln!(text, "wrote {}", repo::shown(path));
    }
    if written.is_empty() {
        _ = writeln!(text, "The {what} were there already and stay as they are.");
    }
}
