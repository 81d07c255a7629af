//! What the program of an agent can do, by asking the program itself.
//!
//! Nothing here costs anything or needs a network, and a program that hangs, crashes or prints garbage only makes the answer
//! shorter.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use beads_ralph_core::agent::{Adapter, Capability, version_in};
use camino::{Utf8Path, Utf8PathBuf};

use super::program;
use crate::os::process::{
    Cancel, Ended, Ending, Environment, Limits, Mark, Silent, Spec, Stdin, UnitError, Units,
};

const LIMIT: Duration = Duration::from_secs(10);

/// How long it may take to end after that.
const GRACE: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub struct Probed {
    pub program: Option<Utf8PathBuf>,
    pub version: Option<String>,
    /// What the adapter knows how to ask for, and whether the program has it.
    pub capabilities: Vec<(Capability, Support)>,
    pub login: Login,
    pub problems: Vec<String>,
}

impl Probed {
    pub fn is_usable(&self) -> bool {
        self.program.is_some() && self.problems.is_empty()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Support {
    Yes,
    /// It does not know the option.
    No,
    Unknown,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Login {
    In,
    /// It is not; a key in the environment may do.
    Out,
    Unknown,
}

impl Login {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::In => "logged in",
            Self::Out => "not logged in",
            Self::Unknown => "unknown",
        }
    }
}

pub fn probe(units: &Units, adapter: &Adapter, root: &Utf8Path, withhold: &[String]) -> Probed {
    let mut probed = Probed {
        program: program(root, &adapter.executable),
        version: None,
        capabilities: Vec::new(),
        login: Login::Unknown,
        problems: Vec::new(),
    };
    let Some(program) = probed.program.clone() else {
        return probed;
    };
    let asking = Asking {
        units,
        adapter,
        program: &program,
        root,
        withhold,
    };
    if let Some(arguments) = &adapter.probe.version {
        match asking.answer(arguments) {
            Ok(answer) => probed.version = version_in(&answer.printed).map(str::to_owned),
            Err(problem) => {
                // Whatever cannot even say its version is not asked anything else.
                probed.problems.push(problem);
                return probed;
            }
        }
    }
    probed.capabilities = asking.capabilities();
    if let Some(arguments) = &adapter.probe.auth {
        probed.login = match asking.said(arguments) {
            Ok(answer) if answer.is_success => Login::In,
            Ok(_) => Login::Out,
            Err(_) => Login::Unknown,
        };
    }
    probed
}

struct Asking<'a> {
    units: &'a Units,
    adapter: &'a Adapter,
    program: &'a Utf8Path,
    root: &'a Utf8Path,
    withhold: &'a [String],
}

struct Answer {
    printed: String,
    is_success: bool,
}

impl Asking<'_> {
    /// What each thing that the adapter can ask for comes to. Help that names none of it does not count.
    fn capabilities(&self) -> Vec<(Capability, Support)> {
        let asked = Capability::ALL.into_iter().filter_map(|capability| {
            let flag = self.adapter.flag_of(capability);
            Some((capability, flag?))
        });
        let asked: Vec<(Capability, &str)> = asked.collect();
        let help = self.help();
        let is_help = |help: &String| asked.iter().any(|(_, flag)| names(help, flag));
        let help = help.filter(is_help);
        let support = |(capability, flag): &(Capability, &str)| {
            let support = help.as_deref().map(|help| self.support(flag, help));
            (*capability, support.unwrap_or(Support::Unknown))
        };
        asked.iter().map(support).collect()
    }

    fn help(&self) -> Option<String> {
        let pages = self.adapter.probe.help.iter();
        let pages: Vec<String> = pages
            .filter_map(|arguments| self.answer(arguments).ok())
            .map(|answer| answer.printed)
            .collect();
        (!pages.is_empty()).then(|| pages.join("\n"))
    }

    fn support(&self, flag: &str, help: &str) -> Support {
        if names(help, flag) {
            return Support::Yes;
        }
        let Some(trial) = &self.adapter.probe.trial else {
            return Support::No;
        };
        // An option may be left out of the help and be there all the same.
        match self.said(&trial.arguments(flag)) {
            Ok(answer) if trial.is_refused(&answer.printed) => Support::No,
            Ok(_) => Support::Yes,
            Err(_) => Support::Unknown,
        }
    }

    /// What the program says to some arguments, as long as it succeeds.
    fn answer(&self, arguments: &[String]) -> Result<Answer, String> {
        let asked = || format!("{} {}", self.program, arguments.join(" "));
        let answer = self.said(arguments)?;
        if answer.is_success {
            return Ok(answer);
        }
        Err(format!("`{}` fails", asked()))
    }

    fn said(&self, arguments: &[String]) -> Result<Answer, String> {
        let asked = || format!("{} {}", self.program, arguments.join(" "));
        let ended = self.run(arguments).map_err(|error| error.to_string())?;
        if ended.stopped.is_some() {
            return Err(format!(
                "`{}` did not end within {} s",
                asked(),
                LIMIT.as_secs()
            ));
        }
        Ok(Answer {
            printed: format!("{}\n{}", ended.stdout.text(), ended.stderr.text()),
            is_success: ended.ending == Ending::Exited(0),
        })
    }

    fn run(&self, arguments: &[String]) -> Result<Ended, UnitError> {
        static N_PROBES: AtomicU64 = AtomicU64::new(0);
        let number = N_PROBES.fetch_add(1, Ordering::Relaxed);
        let mut argv = vec![self.program.to_string()];
        argv.extend(arguments.iter().cloned());
        let mut with = Environment::kept(&self.adapter.keeps, self.withhold);
        with.extend(self.adapter.env.clone());
        let spec = Spec {
            mark: Mark(format!("ask-{}-{number}", std::process::id())),
            argv,
            cwd: self.root.to_owned(),
            env: Environment {
                without: self.withhold.to_vec(),
                with,
            },
            stdin: Stdin::Closed,
            limits: Limits {
                wall: Some(LIMIT),
                idle: None,
                grace: GRACE,
            },
            output: None,
        };
        let cancel = Cancel::new().map_err(UnitError::Shim)?;
        self.units.run(&spec, &cancel, &mut Silent)
    }
}

/// Whether a help text names an option as a whole word.
fn names(help: &str, flag: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    help.match_indices(flag).any(|(at, _)| {
        let before = help[..at].chars().next_back();
        let after = help[at + flag.len()..].chars().next();
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_is_named_as_a_whole_word() {
        let help = "  --model <model>  Model\n  -r, --resume [value]\n  --agents <json>\n  resume  Resume a session\n";
        for (flag, is_named) in [
            ("--model", true),
            ("--resume", true),
            ("-r", true),
            ("resume", true),
            ("--agent", false),
            ("--mod", false),
            ("odel", false),
        ] {
            assert_eq!(names(help, flag), is_named, "{flag}");
        }
    }
}
