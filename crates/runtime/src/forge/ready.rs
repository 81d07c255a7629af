//! Whether pull requests can be made at all, found out before anything is done (Z-16).

use beads_ralph_core::engine::Lasting;
use serde::Deserialize;

use super::remote::{self, OTHERWISE};
use super::trouble::{Failure, Reason};
use super::{Gh, GitHub};
use crate::agent::Finding;
use crate::os::process::Stdin;

/// Why no pull requests can be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotReady {
    pub findings: Vec<Finding>,
    /// Whether it may well be otherwise in a minute: nobody answered.
    pub is_passing: bool,
}

/// The pull requests of the repository that a remote is, once it is certain that they can be made: `gh` is there and logged in, and
/// the login may push to the repository. Only then pull requests are what happens unless somebody says otherwise.
pub fn ready<'u>(gh: Gh<'u>, remote: &str) -> Result<GitHub<'u>, NotReady> {
    let github = GitHub::of_remote(gh, remote).map_err(|findings| NotReady {
        findings,
        is_passing: false,
    })?;
    github.check()?;
    Ok(github)
}

impl<'u> GitHub<'u> {
    /// The pull requests of the repository that a remote is. Nobody but git is asked yet.
    pub fn of_remote(gh: Gh<'u>, remote: &str) -> Result<Self, Vec<Finding>> {
        let address = remote::address(gh.units, &gh.root, remote);
        match (gh.program.clone(), address) {
            (Some(program), Ok(address)) => Ok(Self {
                gh,
                program,
                address,
            }),
            (program, address) => {
                let missing = program.is_none().then(|| {
                    Finding::error(
                        "there is no program `gh`, which makes pull requests".to_owned(),
                        format!("install it (https://cli.github.com), {OTHERWISE}"),
                    )
                });
                Err(missing.into_iter().chain(address.err()).collect())
            }
        }
    }

    /// Asks whether the login may push.
    fn check(&self) -> Result<(), NotReady> {
        let doing = format!("ask for the rights in {}", self.address);
        let host = format!("--hostname={}", self.address.host);
        let login = self.call(&doing, &["auth", "status", &host], Stdin::Closed);
        // Some versions say of a network that is down that the login is no longer good. So what else it says does not count: the
        // next call finds it out.
        if let Err(failure) = login
            && failure.reason == Reason::NotLoggedIn
        {
            return Err(not_ready(failure));
        }
        let repository = self.address.to_string();
        let arguments = [
            "repo",
            "view",
            &repository,
            "--json=viewerPermission,isArchived",
        ];
        let printed = self.call(&doing, &arguments, Stdin::Closed);
        let printed = printed.map_err(not_ready)?;
        let found = self.rights(&printed);
        found.map_or(Ok(()), |finding| {
            Err(NotReady {
                findings: vec![finding],
                is_passing: false,
            })
        })
    }

    /// What the rights lack that `gh repo view` printed.
    fn rights(&self, printed: &str) -> Option<Finding> {
        let address = &self.address;
        let Ok(rights) = serde_json::from_str::<Rights>(printed) else {
            return Some(Finding::error(
                format!("`gh` does not say what the login may do in {address}"),
                format!("install a `gh` of version 2.23 or newer, {OTHERWISE}"),
            ));
        };
        if rights.is_archived {
            return Some(Finding::error(
                format!("{address} is archived: nobody can push to it"),
                format!("name another remote, {OTHERWISE}"),
            ));
        }
        let permission = rights.viewer_permission.unwrap_or_default();
        let may_push = ["ADMIN", "MAINTAIN", "WRITE"].contains(&permission.as_str());
        (!may_push).then(|| {
            let action = Reason::NoRight.action(address).unwrap_or_default();
            Finding::error(
                format!("the login at {} may not push to {address}", address.host),
                format!("{action}, {OTHERWISE}"),
            )
        })
    }
}

fn not_ready(failure: Failure) -> NotReady {
    let action = failure.action;
    let action = action.unwrap_or_else(|| "try again later".to_owned());
    NotReady {
        findings: vec![Finding::error(
            failure.problem,
            format!("{action}, {OTHERWISE}"),
        )],
        is_passing: failure.reason.lasting() == Lasting::Passing,
    }
}

/// What `gh repo view --json` prints.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Rights {
    viewer_permission: Option<String>,
    is_archived: bool,
}
