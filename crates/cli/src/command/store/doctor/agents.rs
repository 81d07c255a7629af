//! `doctor agents`: which agents are there, what their programs can do, and whether a run could begin.
//!
//! Data: `{agents: [{name, kind, is_default, program, version, tried_with, can: {capability: bool|null}, login, permissions,
//! problems}], default, is_usable, permissions, warnings}`; `tried_with` is null for an agent that nobody tried.

use std::thread;

use beads_ralph_core::agent::{Adapter, Permissions};
use beads_ralph_core::diag::ErrorCode;
use beads_ralph_runtime::agent::{Login, Probed, Support, is_installed, probe};
use beads_ralph_runtime::config;
use beads_ralph_runtime::os::process::Units;
use beads_ralph_runtime::repo;
use serde_json::{Map, Value, json};

use crate::args::here;
use crate::failure::Failure;
use crate::ui::table::{Page, Table};
use crate::ui::{Ui, lines};

/// What stands where there is nothing to say.
const NOTHING: &str = "-";

pub(crate) fn run(ui: &Ui) -> Result<(), Failure> {
    let here = here()?;
    let root = repo::main_root_of(&here).unwrap_or(here);
    let config = config::load(Some(&root))?;
    let units = Units::own().map_err(|error| {
        let message = format!("cannot find this program itself: {error}");
        Failure::new(ErrorCode::IoPermissionDenied, message)
    })?;
    let default = config
        .agents
        .default(|adapter| is_installed(&root, adapter));
    // Most of the time goes by while the programs start, so they are asked together.
    let agents: Vec<Seen<'_>> = thread::scope(|scope| {
        let asked: Vec<_> = (config.agents.all())
            .map(|adapter| {
                let ask = || probe(&units, adapter, &root, &config.agents.withhold_env);
                (adapter, scope.spawn(ask))
            })
            .collect();
        let answered = asked.into_iter().map(|(adapter, asked)| Seen {
            adapter,
            probed: asked.join().expect("asking a program does not panic"),
            is_default: adapter.name == default.name,
        });
        answered.collect()
    });
    let doctor = Doctor {
        permissions: config.permissions,
        agents,
    };
    doctor.tell(ui)
}

/// An agent, and what its program said.
struct Seen<'c> {
    adapter: &'c Adapter,
    probed: Probed,
    is_default: bool,
}

struct Doctor<'c> {
    permissions: Option<Permissions>,
    agents: Vec<Seen<'c>>,
}

impl Doctor<'_> {
    fn tell(&self, ui: &Ui) -> Result<(), Failure> {
        let obstacle = self.agents.iter().find_map(|seen| {
            let obstacle = seen.is_default.then(|| self.obstacle(seen));
            obstacle.flatten()
        });
        let data = self.to_json(obstacle.is_none());
        ui.out(&self.table(Page::of(ui)))?;
        for warning in self.warnings() {
            ui.complain(&format!("warning: {warning}\n"));
        }
        match obstacle {
            Some(failure) => Err(failure.with_results(data)),
            None if ui.is_json() => ui.data(&data),
            None => Ok(()),
        }
    }

    /// Why no run could begin with an agent.
    fn obstacle(&self, seen: &Seen<'_>) -> Option<Failure> {
        let name = &seen.adapter.name;
        let refused = |message: String| Failure::new(ErrorCode::ValidationConstraint, message);
        if seen.probed.program.is_none() {
            let message = format!(
                "{name} is not installed: `{}` was not found",
                seen.adapter.executable
            );
            return Some(refused(message).action(format!(
                "install it, say where it is in beads-ralph.yaml (agents.adapters.{name}.executable), or choose another with agents.default"
            )));
        }
        if let Some(problem) = seen.probed.problems.first() {
            let message = format!("{name} cannot be used: {problem}");
            return Some(refused(message).action(
                "run that command yourself, and install the program anew if it does not answer",
            ));
        }
        let mode =
            (self.permissions).filter(|mode| !seen.adapter.permissions.contains_key(mode))?;
        let message = format!("{name} does not support `permissions: {}`", mode.as_str());
        Some(refused(message).action("choose another mode or another agent in beads-ralph.yaml"))
    }

    /// What is worth knowing about the agents that are there.
    fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.permissions.is_none() {
            let modes = Permissions::ALL.map(Permissions::as_str).join("|");
            warnings.push(format!(
                "nobody has said yet what agents may do: beads-ralph init --permissions {modes}"
            ));
        }
        for seen in self
            .agents
            .iter()
            .filter(|seen| seen.probed.program.is_some())
        {
            seen.warn(&mut warnings);
        }
        warnings
    }

    fn table(&self, page: Page) -> String {
        let mut table = Table::new(&[
            "",
            "AGENT",
            "VERSION",
            "TRIED WITH",
            "CAN…",
            "LOGIN",
            "PROGRAM…",
        ]);
        for seen in &self.agents {
            table.row(seen.cells());
        }
        let mode = self
            .permissions
            .map_or("not chosen yet", Permissions::as_str);
        let chosen = self.agents.iter().find(|seen| seen.is_default);
        let chosen = chosen.map_or(NOTHING, |seen| &seen.adapter.name);
        let below = lines([
            String::new(),
            format!("* {chosen} is used where nothing else is named"),
            format!("permissions: {mode}"),
        ]);
        format!("{}{below}", table.draw(page))
    }

    fn to_json(&self, is_usable: bool) -> Value {
        let agents: Vec<Value> = self.agents.iter().map(Seen::to_json).collect();
        let default = self.agents.iter().find(|seen| seen.is_default);
        json!({
            "agents": agents,
            "default": default.map(|seen| &seen.adapter.name),
            "is_usable": is_usable,
            "permissions": self.permissions,
            "warnings": self.warnings(),
        })
    }
}

impl Seen<'_> {
    fn cells(&self) -> Vec<String> {
        let probed = &self.probed;
        let is_there = probed.program.is_some();
        let version =
            probed
                .version
                .as_deref()
                .unwrap_or(if is_there { "unknown" } else { NOTHING });
        let able: Vec<&str> = self.capabilities_with(Support::Yes);
        let login = match probed.login {
            Login::Unknown => NOTHING,
            login => login.as_str(),
        };
        let program = probed.program.as_deref().map(repo::shown);
        vec![
            if self.is_default { "*" } else { "" }.to_owned(),
            self.adapter.name.clone(),
            version.to_owned(),
            self.adapter
                .verified
                .as_deref()
                .unwrap_or("never")
                .to_owned(),
            if able.is_empty() {
                NOTHING.to_owned()
            } else {
                able.join(" ")
            },
            login.to_owned(),
            program.unwrap_or_else(|| "not found".to_owned()),
        ]
    }

    fn capabilities_with(&self, wanted: Support) -> Vec<&'static str> {
        let all = self.probed.capabilities.iter();
        all.filter(|(_, support)| *support == wanted)
            .map(|(capability, _)| capability.as_str())
            .collect()
    }

    fn warn(&self, warnings: &mut Vec<String>) {
        let (adapter, probed) = (self.adapter, &self.probed);
        let name = &adapter.name;
        match (&adapter.verified, &probed.version) {
            (None, _) => warnings.push(format!(
                "{name} is unverified: how it is run was written from its documents, and was never tried"
            )),
            (Some(tried), Some(version)) if tried != version && tried != "any" => warnings.push(
                format!("{name} {version} is installed, and {tried} was tried; a run may read it differently"),
            ),
            _ => {}
        }
        let lacking = self.capabilities_with(Support::No);
        if !lacking.is_empty() {
            let flags = (probed.capabilities.iter())
                .filter(|(_, support)| *support == Support::No)
                .filter_map(|(capability, _)| adapter.flag_of(*capability));
            let flags: Vec<&str> = flags.collect();
            warnings.push(format!(
                "{name} does not know {}, which a run may need",
                flags.join(", ")
            ));
        }
        if probed.login == Login::Out {
            let how = adapter.probe.login.as_deref();
            let how = how.map_or_else(String::new, |command| format!(": run `{command}`"));
            warnings.push(format!(
                "{name} is not logged in{how}, unless its environment has a key"
            ));
        }
        if !self.is_default {
            warnings.extend(
                probed
                    .problems
                    .iter()
                    .map(|problem| format!("{name}: {problem}")),
            );
        }
    }

    fn to_json(&self) -> Value {
        let (adapter, probed) = (self.adapter, &self.probed);
        let can: Map<String, Value> = (probed.capabilities.iter())
            .map(|(capability, support)| {
                let is_able = match support {
                    Support::Yes => Some(true),
                    Support::No => Some(false),
                    Support::Unknown => None,
                };
                (capability.as_str().to_owned(), json!(is_able))
            })
            .collect();
        let modes: Vec<&Permissions> = adapter.permissions.keys().collect();
        json!({
            "name": adapter.name,
            "kind": adapter.kind,
            "is_default": self.is_default,
            "program": probed.program,
            "version": probed.version,
            "tried_with": adapter.verified,
            "can": can,
            "login": probed.login.as_str(),
            "permissions": modes,
            "problems": probed.problems,
        })
    }
}
