//! What GitHub answers: the part of its GraphQL and REST interfaces that `gh` asks for.
//!
//! A query is told by the words in it. Answers carry everything that any of `gh`'s queries selects; it takes what it asked for.

use beads_ralph_runtime::ports::PullState;
use serde_json::{Value, json};

use super::GitHub;
use super::repository::{Pull, Repository};
use super::state::{Call, Fault, State};
use crate::http::Request;

/// What is sent back.
pub(super) enum Reply {
    Text {
        status: u16,
        headers: Vec<(&'static str, String)>,
        body: String,
    },
    /// Nothing, and the connection stays open.
    Silence,
    /// Nothing, and the connection is closed.
    Cut,
}

impl Reply {
    fn json(status: u16, body: &Value) -> Self {
        Self::Text {
            status,
            headers: vec![
                ("content-type", "application/json; charset=utf-8".to_owned()),
                ("x-oauth-scopes", "read:org, repo".to_owned()),
            ],
            body: body.to_string(),
        }
    }
}

/// A question in GraphQL.
struct Query {
    text: String,
    variables: Value,
}

impl Query {
    fn variable(&self, names: &[&str]) -> &str {
        let mut values = names.iter().map(|&name| &self.variables[name]);
        values.find_map(Value::as_str).unwrap_or_default()
    }
}

pub(super) fn answer(state: &State, request: &Request) -> Reply {
    let asked = serde_json::from_slice(&request.body).unwrap_or(Value::Null);
    let query = Query {
        text: asked["query"].as_str().unwrap_or_default().to_owned(),
        variables: asked["variables"].clone(),
    };
    let call = call(request, &query.text);
    let fault = state.heard(call);
    if !is_known(request) {
        return fault_reply(401);
    }
    let done = |repository: &mut Repository| match call {
        Call::Scopes => json!({}),
        Call::Viewer => json!({"data": {"viewer": {"login": GitHub::LOGIN}}}),
        Call::Repository => on_repository(repository, &query, |_| json!({})),
        Call::List | Call::OpenForBranch => on_repository(
            repository,
            &query,
            |repository| json!({"pullRequests": pull_requests(repository, &query)}),
        ),
        Call::View => on_repository(
            repository,
            &query,
            |repository| json!({"pullRequest": one(repository, &query)}),
        ),
        Call::Create => create(repository, &query.variables["input"]),
        Call::Other => json!({"data": {}}),
    };
    let reply = match fault {
        None => Reply::json(200, &done(&mut state.repository())),
        Some(Fault::CutAfter) => {
            done(&mut state.repository());
            Reply::Cut
        }
        Some(Fault::HangAfter) => {
            done(&mut state.repository());
            Reply::Silence
        }
        Some(Fault::Cut) => Reply::Cut,
        Some(Fault::Hang) => Reply::Silence,
        Some(Fault::Status(status)) => fault_reply(status),
        Some(Fault::SecondaryLimit) => secondary_limit(),
        Some(Fault::RateLimit) => {
            let reason = "API rate limit exceeded for user ID 1.";
            Reply::json(200, &errors("RATE_LIMITED", reason, &Value::Null))
        }
        Some(Fault::Refusal(kind, reason)) => Reply::json(200, &errors(kind, reason, &Value::Null)),
        Some(Fault::Nonsense) => Reply::Text {
            status: 200,
            headers: vec![("content-type", "text/html".to_owned())],
            body: "<html>Please sign in to the hotel's network</html>".to_owned(),
        },
    };
    state.is_done();
    reply
}

fn call(request: &Request, query: &str) -> Call {
    match (request.method.as_str(), request.path.as_str()) {
        ("GET", "/") => return Call::Scopes,
        ("GET", "/user") => return Call::Viewer,
        _ => {}
    }
    let words = [
        ("createPullRequest", Call::Create),
        ("query PullRequestList", Call::List),
        ("query PullRequestForBranch", Call::OpenForBranch),
        ("query PullRequestByNumber", Call::View),
        ("query RepositoryInfo", Call::Repository),
        ("query UserCurrent", Call::Viewer),
    ];
    let found = words.into_iter().find(|(word, _)| query.contains(word));
    found.map_or(Call::Other, |(_, call)| call)
}

/// Whether somebody asks whom we know.
fn is_known(request: &Request) -> bool {
    let header = request.header("authorization").unwrap_or_default();
    let token = header.split_once(' ').map(|(_, token)| token);
    token == Some(GitHub::TOKEN)
}

fn fault_reply(status: u16) -> Reply {
    let message = match status {
        401 => "Bad credentials",
        403 => {
            "Resource protected by organization SAML enforcement. You must grant your OAuth token access to this organization."
        }
        404 => "Not Found",
        // A proxy in front of GitHub does not speak JSON.
        _ => {
            return Reply::Text {
                status,
                headers: vec![("content-type", "text/html".to_owned())],
                body: format!("<html><body><h1>{status}</h1></body></html>"),
            };
        }
    };
    Reply::json(status, &json!({"message": message}))
}

fn secondary_limit() -> Reply {
    let message =
        "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.";
    let reply = Reply::json(403, &json!({"message": message}));
    match reply {
        Reply::Text {
            status,
            mut headers,
            body,
        } => {
            headers.push(("retry-after", "60".to_owned()));
            Reply::Text {
                status,
                headers,
                body,
            }
        }
        Reply::Silence | Reply::Cut => reply,
    }
}

fn errors(kind: &str, message: &str, path: &Value) -> Value {
    json!({"data": null, "errors": [{"type": kind, "path": path, "message": message}]})
}

/// An answer about the repository, with something more in it; an error where the question is about another one.
fn on_repository(
    repository: &mut Repository,
    query: &Query,
    more: impl Fn(&Repository) -> Value,
) -> Value {
    let (owner, name) = (
        query.variable(&["owner"]),
        query.variable(&["repo", "name"]),
    );
    if !repository.is_called(owner, name) {
        let message = format!("Could not resolve to a Repository with the name '{owner}/{name}'.");
        return json!({"data": {"repository": null}, "errors": [{"type": "NOT_FOUND", "path": ["repository"], "message": message}]});
    }
    let mut about = about(repository);
    if let (Value::Object(about), Value::Object(more)) = (&mut about, more(repository)) {
        about.extend(more);
    }
    json!({"data": {"repository": about}})
}

fn about(repository: &Repository) -> Value {
    json!({
        "id": "R_1",
        "name": repository.name,
        "nameWithOwner": format!("{}/{}", repository.owner, repository.name),
        "owner": {"id": "U_1", "login": repository.owner},
        "url": repository.address(),
        "description": "",
        "hasIssuesEnabled": true,
        "hasWikiEnabled": false,
        "isArchived": repository.is_archived,
        "isFork": false,
        "viewerPermission": repository.permission.as_str(),
        "defaultBranchRef": {"name": "main"},
        "parent": null,
        "mergeCommitAllowed": true,
        "rebaseMergeAllowed": true,
        "squashMergeAllowed": true,
    })
}

/// The pull requests that a query selects, newest first.
fn pull_requests(repository: &Repository, query: &Query) -> Value {
    let head = query.variable(&["headBranch", "headRefName"]);
    let states = ["state", "states"].map(|name| &query.variables[name]);
    let states = states.into_iter().find_map(Value::as_array);
    let is_wanted = |pull: &Pull| {
        let state = state_word(pull.state);
        let is_state = match states {
            Some(states) => states.iter().any(|wanted| wanted == state),
            // `gh pr create` looks for open ones, in words that stand in its query.
            None => pull.state == PullState::Open,
        };
        pull.head == head && is_state
    };
    let pulls = repository.pulls().into_iter().rev().filter(is_wanted);
    let nodes: Vec<Value> = pulls.map(|pull| node(repository, &pull)).collect();
    json!({
        "totalCount": nodes.len(),
        "nodes": nodes,
        "pageInfo": {"hasNextPage": false, "endCursor": ""},
    })
}

fn one(repository: &Repository, query: &Query) -> Value {
    let names = ["pr_number", "number"].map(|name| query.variables[name].as_u64());
    let number = names.into_iter().flatten().next();
    let mut pulls = repository.pulls().into_iter();
    let found = pulls.find(|pull| Some(pull.number) == number);
    found.map_or(Value::Null, |pull| node(repository, &pull))
}

fn node(repository: &Repository, pull: &Pull) -> Value {
    let owner = if pull.is_foreign {
        "somebody-else"
    } else {
        &repository.owner
    };
    json!({
        "id": format!("PR_{}", pull.number),
        "number": pull.number,
        "url": format!("{}/pull/{}", repository.address(), pull.number),
        "state": state_word(pull.state),
        "title": pull.title,
        "body": pull.body,
        "headRefOid": pull.commit,
        "headRefName": pull.head,
        "baseRefName": pull.base,
        "isCrossRepository": pull.is_foreign,
        "headRepositoryOwner": {"id": "U_1", "login": owner},
        "isDraft": false,
        "maintainerCanModify": false,
    })
}

fn state_word(state: PullState) -> &'static str {
    match state {
        PullState::Open => "OPEN",
        PullState::Merged => "MERGED",
        PullState::Closed => "CLOSED",
    }
}

fn create(repository: &mut Repository, input: &Value) -> Value {
    let text = |name: &str| input[name].as_str().unwrap_or_default().to_owned();
    let head = text("headRefName");
    let head = head.strip_prefix(&format!("{}:", repository.owner));
    let wanted = Pull {
        title: text("title"),
        body: text("body"),
        head: head.map_or_else(|| text("headRefName"), str::to_owned),
        base: text("baseRefName"),
        ..Pull::default()
    };
    match repository.create(wanted) {
        Ok(pull) => {
            json!({"data": {"createPullRequest": {"pullRequest": node(repository, &pull)}}})
        }
        Err((kind, reason)) => errors(kind, &reason, &json!(["createPullRequest"])),
    }
}
