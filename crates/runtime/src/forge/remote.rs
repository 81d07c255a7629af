//! Which repository on which host a remote is, and whether pull requests can be made there (Z-16).
//!
//! The push address of the remote counts, as git resolves it with `insteadOf`. Where that is a directory, as with a local mirror, the
//! address as written counts.

use std::fmt;
use std::time::Duration;

use beads_ralph_core::engine::Lasting;
use beads_ralph_core::text::{excerpt, visible};
use camino::Utf8Path;
use serde::Deserialize;

use super::errors::{Failure, Reason};
use super::{Gh, GitHub, remote};
use crate::agent::Finding;
use crate::os::process::{Ending, Stdin, Units};

/// How long git and ssh may take to look something up in their settings.
const LIMIT: Duration = Duration::from_secs(30);

/// What to do where no pull request can be made.
pub(super) const OTHERWISE: &str = "or set `integration: merge` in beads-ralph.yaml";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    pub host: String,
    /// Whose it is.
    pub owner: String,
    pub name: String,
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.host, self.owner, self.name)
    }
}

pub(super) fn address(units: &Units, root: &Utf8Path, remote: &str) -> Result<Address, Finding> {
    let git = |arguments: &[&str]| printed(units, root, &[&["git"], arguments].concat());
    let Some(resolved) = git(&["remote", "get-url", "--push", "--", remote]) else {
        return Err(Finding::error(
            format!("this repository has no remote '{}'", excerpt(remote)),
            format!("add it with `git remote add`, {OTHERWISE}"),
        ));
    };
    let written = ["pushurl", "url"]
        .map(|key| format!("remote.{remote}.{key}"))
        .into_iter()
        .find_map(|key| git(&["config", "--get", &key]));
    let written = written.unwrap_or_else(|| resolved.clone());
    match parse(&resolved).or_else(|| parse(&written)) {
        Some(parsed) => Ok(parsed.follow(|host| printed(units, root, &["ssh", "-G", host]))),
        None => Err(Finding::error(
            format!(
                "the remote '{}' is {}, which is not a GitHub repository",
                excerpt(remote),
                without_secrets(&resolved)
            ),
            format!("name another remote, {OTHERWISE}"),
        )),
    }
}

/// The first line that a program prints that succeeds; all of it for more than one line.
fn printed(units: &Units, root: &Utf8Path, argv: &[&str]) -> Option<String> {
    let ended = units.output(argv, root, LIMIT).ok()?;
    let is_success = ended.ending == Ending::Exited(0) && ended.stopped.is_none();
    let text = ended.stdout.text();
    let text = text.trim();
    (is_success && !text.is_empty()).then(|| text.to_owned())
}

#[derive(Debug, PartialEq, Eq)]
struct Parsed {
    address: Address,
    /// Whether the host is a name that ssh looks up in its settings.
    is_ssh: bool,
}

impl Parsed {
    /// The address, with a host that is only a nickname in the settings of ssh replaced by the one that is meant.
    fn follow(self, settings: impl FnOnce(&str) -> Option<String>) -> Address {
        let mut address = self.address;
        if self.is_ssh && address.host != "github.com" {
            let settings = settings(&address.host).unwrap_or_default();
            let mut lines = settings.lines();
            let host = lines.find_map(|line| line.strip_prefix("hostname "));
            if let Some(host) = host.map(str::trim).filter(|host| is_host(host)) {
                address.host = host_of(host);
            }
        }
        address
    }
}

/// Reads `scheme://[user@]host[:port]/owner/name[.git]` and `[user@]host:owner/name[.git]`.
fn parse(url: &str) -> Option<Parsed> {
    let url = url.trim();
    let (host, path, is_ssh) = if let Some((scheme, rest)) = url.split_once("://") {
        let is_ssh = match scheme.to_ascii_lowercase().as_str() {
            "ssh" | "git+ssh" | "ssh+git" => true,
            "https" | "http" | "git" | "git+https" => false,
            _ => return None,
        };
        let (authority, path) = rest.split_once('/')?;
        let host = without_user(authority);
        let host = host.split_once(':').map_or(host, |(host, _)| host);
        (host, path, is_ssh)
    } else {
        let (authority, path) = url.split_once(':')?;
        // With a slash before the colon it is a path.
        if authority.contains('/') {
            return None;
        }
        (without_user(authority), path, true)
    };
    let path = path.trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path);
    let (owner, name) = path.split_once('/')?;
    (is_host(host) && is_name(owner) && is_name(name)).then(|| Parsed {
        address: Address {
            host: host_of(host),
            owner: owner.to_owned(),
            name: name.to_owned(),
        },
        is_ssh,
    })
}

fn without_user(authority: &str) -> &str {
    authority
        .rsplit_once('@')
        .map_or(authority, |(_, host)| host)
}

/// The host that `gh` knows: GitHub itself answers under several names.
fn host_of(host: &str) -> String {
    let host = host.to_ascii_lowercase();
    match host.as_str() {
        "ssh.github.com" | "www.github.com" => "github.com".to_owned(),
        _ => host,
    }
}

/// What begins with a dash could be taken for an option.
fn is_host(text: &str) -> bool {
    let is_fine = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == '-';
    text.starts_with(|c: char| c.is_ascii_alphanumeric()) && text.chars().all(is_fine)
}

fn is_name(text: &str) -> bool {
    let is_fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    !text.starts_with('-') && !matches!(text, "" | "." | "..") && text.chars().all(is_fine)
}

/// An address as people may see it: without the name and the password that may be in it.
fn without_secrets(url: &str) -> String {
    let shown = match url.split_once("://") {
        Some((scheme, rest)) => {
            let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
            format!("{scheme}://{}/{path}", without_user(authority))
        }
        None => url.to_owned(),
    };
    visible(&shown)
}

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
                        "`gh`, which creates pull requests, was not found in PATH".to_owned(),
                        format!("install it (https://cli.github.com), {OTHERWISE}"),
                    )
                });
                Err(missing.into_iter().chain(address.err()).collect())
            }
        }
    }

    fn check(&self) -> Result<(), NotReady> {
        let doing = format!("ask for write access to {}", self.address);
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
                format!("`gh` does not report the permissions of the login in {address}"),
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

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Rights {
    viewer_permission: Option<String>,
    is_archived: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(url: &str) -> Option<String> {
        parse(url).map(|parsed| parsed.address.to_string())
    }

    #[test]
    fn z_16_every_way_to_write_an_address_is_read() {
        for url in [
            "https://github.com/o/r",
            "https://github.com/o/r.git",
            "https://github.com/o/r/",
            "https://token:x-oauth@github.com/o/r.git",
            "https://www.GitHub.com:443/o/r.git",
            "http://github.com/o/r",
            "git://github.com/o/r.git",
            "git@github.com:o/r.git",
            "github.com:o/r",
            "git@github.com:/o/r.git",
            "ssh://git@github.com/o/r.git",
            "ssh://git@ssh.github.com:443/o/r.git",
            " git+ssh://git@github.com/o/r\n",
        ] {
            assert_eq!(read(url).as_deref(), Some("github.com/o/r"), "{url}");
        }
        assert_eq!(
            read("git@ghe.example.org:Some-Org/a.b_c.git").as_deref(),
            Some("ghe.example.org/Some-Org/a.b_c")
        );
    }

    #[test]
    fn z_16_what_is_no_repository_on_a_host_is_no_address() {
        for url in [
            "",
            "/srv/git/r.git",
            "../r.git",
            "./a:b/c",
            "file:///srv/git/r.git",
            "https://github.com/o",
            "https://github.com/o/r/tree/main",
            "https://github.com//r",
            "https:///o/r",
            "https://github.com/../r",
            "https://github.com/-o/r",
            "-oProxyCommand=x:o/r",
            "ssh://-oProxyCommand=x/o/r",
            "https://github.com/o/r?x=y",
            "https://github.com/o r/x",
            "ext::sh -c x",
        ] {
            assert_eq!(read(url), None, "{url}");
        }
    }

    #[test]
    fn z_16_a_nickname_in_the_settings_of_ssh_is_followed() {
        let follow = |url: &str, settings: Option<&str>| {
            let parsed = parse(url).unwrap();
            parsed.follow(|_| settings.map(str::to_owned)).to_string()
        };
        let settings = Some("user git\nhostname ssh.github.com\nport 443\n");
        assert_eq!(follow("git@work:o/r.git", settings), "github.com/o/r");
        assert_eq!(follow("git@work:o/r.git", None), "work/o/r");
        assert_eq!(follow("https://work/o/r.git", settings), "work/o/r");
        assert_eq!(
            follow("git@work:o/r.git", Some("hostname -x\n")),
            "work/o/r"
        );
    }

    #[test]
    fn no_secret_of_an_address_is_shown() {
        assert_eq!(
            without_secrets("https://user:secret@gitlab.example/o/r/x"),
            "https://gitlab.example/o/r/x"
        );
        assert_eq!(without_secrets("/srv/git/r.git"), "/srv/git/r.git");
    }
}
