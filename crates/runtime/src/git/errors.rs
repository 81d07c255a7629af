//! What git's complaints mean: whether it helps to try again, and for whom (contracts §7.7).
//!
//! Git has one exit code for everything, so its words decide. They are English, because we ask for it.

use beads_ralph_core::engine::{Lasting, Trouble};
use beads_ralph_core::text::visible;

/// How much of git's words a message repeats.
const MAX_WORDS: usize = 400;

/// Nobody can write any more.
const DISK: [&str; 4] = [
    "no space left on device",
    "disk quota exceeded",
    "read-only file system",
    "file too large",
];

/// Another git is at the same thing, or was a moment ago.
const LOCKS: [&str; 8] = [
    ".lock'",
    ".lock:",
    "cannot lock",
    "could not lock",
    "unable to lock",
    "failed to lock",
    "another git process",
    "index file smaller than expected",
];

/// What git says of a worktree that another process is just creating or removing.
const HALF_THERE: [&str; 4] = [
    "no such file or directory",
    "not a git repository",
    "failed to read",
    "unable to read",
];

/// The remote does not want us, or there is none.
const REFUSED: [&str; 20] = [
    "permission denied",
    "permission to ",
    "authentication failed",
    "authorization failed",
    "could not read username",
    "could not read password",
    "terminal prompts disabled",
    "access denied",
    "host key verification failed",
    "invalid username",
    "invalid credentials",
    "bad credentials",
    "repository not found",
    "' not found",
    "does not appear to be a git repository",
    "no such remote",
    "is not a git command",
    "returned error: 401",
    "returned error: 403",
    "dubious ownership",
];

/// The way to the remote is cut.
const NETWORK: [&str; 19] = [
    "could not resolve",
    "timed out",
    "timeout",
    "connection",
    "network is",
    "temporary failure",
    "no route to host",
    "to connect",
    "couldn't connect",
    "early eof",
    "hung up",
    "unexpected disconnect",
    "rpc failed",
    "ssl",
    "tls",
    "gnutls",
    "too many requests",
    "returned error: 429",
    "returned error: 5",
];

pub(super) fn trouble(command: &str, words: &str, otherwise: Lasting) -> Trouble {
    Trouble {
        lasting: lasting(words, otherwise),
        message: format!("{command} failed: {}", told(words)),
    }
}

fn lasting(words: &str, otherwise: Lasting) -> Lasting {
    let words = words.to_lowercase();
    let has = |phrases: &[&str]| phrases.iter().any(|phrase| words.contains(phrase));
    if has(&DISK) {
        Lasting::ForRun
    } else if has(&["exists; cannot create"]) {
        // Git reports this as a lock, too, but waiting does not help (B-28).
        Lasting::ForRun
    } else if has(&LOCKS) || (words.contains(".git/worktrees/") && has(&HALF_THERE)) {
        Lasting::Passing
    } else if otherwise == Lasting::ForBead {
        otherwise
    } else if has(&REFUSED) {
        Lasting::ForRun
    } else if has(&NETWORK) {
        Lasting::Passing
    } else {
        otherwise
    }
}

/// What a remote's complaint means; `otherwise` where nothing is known.
pub(super) fn remote_trouble(command: &str, words: &str, otherwise: Lasting) -> Trouble {
    let lasting = match lasting(words, Lasting::ForRun) {
        Lasting::ForRun if !is_refusal(words) => otherwise,
        lasting => lasting,
    };
    Trouble {
        lasting,
        message: format!("{command} failed: {}", told(words)),
    }
}

fn is_refusal(words: &str) -> bool {
    let words = words.to_lowercase();
    let mut phrases = REFUSED.iter().chain(&DISK);
    phrases.any(|phrase| words.contains(phrase))
}

/// What is wrong in git's words, in one line, without advice and passwords.
pub(super) fn told(words: &str) -> String {
    let is_noise = |line: &&str| {
        let noise = [
            "hint:",
            "Please make sure you have",
            "and the repository exists",
        ];
        line.is_empty() || noise.iter().any(|noise| line.starts_with(noise))
    };
    let lines = words.lines().map(str::trim).filter(|line| !is_noise(line));
    let chosen: Vec<&str> = lines.collect();
    let told = without_passwords(&visible(&chosen.join("; ")));
    let mut told: String = if told.is_empty() {
        "it said nothing".to_owned()
    } else {
        told
    };
    if let Some((end, _)) = told.char_indices().nth(MAX_WORDS) {
        told.truncate(end);
        told.push('…');
    }
    told
}

/// An address may hold a name and a password; neither belongs into a message.
fn without_passwords(text: &str) -> String {
    let mut rest = text;
    let mut clean = String::with_capacity(text.len());
    while let Some(start) = rest.find("://") {
        let (before, after) = rest.split_at(start + 3);
        clean.push_str(before);
        let end = after
            .find(|character: char| character == '/' || character.is_whitespace())
            .unwrap_or(after.len());
        rest = match after[..end].rfind('@') {
            Some(at) => &after[at + 1..],
            None => after,
        };
    }
    clean.push_str(rest);
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l_15_what_git_says_decides_how_long_trouble_lasts() {
        use Lasting::{ForBead, ForRun, Passing};
        for (words, otherwise, expected) in [
            (
                "fatal: Unable to create '/r/.git/index.lock': File exists.",
                ForRun,
                Passing,
            ),
            (
                "fatal: cannot lock ref 'refs/heads/a': is at 1 but expected 2",
                ForBead,
                Passing,
            ),
            (
                "fatal: cannot lock ref 'refs/heads/main/a': 'refs/heads/main' exists; cannot create 'refs/heads/main/a'",
                ForBead,
                ForRun,
            ),
            (
                "fatal: could not resolve host: example.org",
                ForRun,
                Passing,
            ),
            (
                "ssh: connect to host h port 22: Connection refused",
                ForRun,
                Passing,
            ),
            (
                "fatal: Authentication failed for 'https://h/r'",
                ForRun,
                ForRun,
            ),
            (
                "Permission denied (publickey).\nfatal: Could not read from remote repository.",
                ForRun,
                ForRun,
            ),
            (
                "fatal: write error: No space left on device",
                ForBead,
                ForRun,
            ),
            (
                "error: your local changes to src/block.rs would be overwritten",
                ForBead,
                ForBead,
            ),
            ("error: open(\"a\"): Permission denied", ForBead, ForBead),
            (
                "fatal: failed to read .git/worktrees/a/commondir: Success",
                ForRun,
                Passing,
            ),
        ] {
            assert_eq!(lasting(words, otherwise), expected, "{words}");
        }
    }

    #[test]
    fn l_18_a_remote_refuses_one_branch_or_everything() {
        let of = |words| remote_trouble("git push", words, Lasting::ForBead).lasting;
        assert_eq!(
            of("! [rejected] a -> a (non-fast-forward)"),
            Lasting::ForBead
        );
        assert_eq!(
            of("remote: Permission to o/r.git denied to u."),
            Lasting::ForRun
        );
        assert_eq!(
            of("fatal: 'nowhere' does not appear to be a git repository"),
            Lasting::ForRun
        );
        assert_eq!(
            of("fatal: the remote end hung up unexpectedly"),
            Lasting::Passing
        );
    }

    #[test]
    fn a_message_is_one_short_line_without_passwords() {
        let words = "hint: never mind\nfatal: unable to access 'https://me:s3cret@h.org/r@1': no\n";
        assert_eq!(
            told(words),
            "fatal: unable to access 'https://h.org/r@1': no"
        );
        assert_eq!(told(" \n"), "it said nothing");
        assert_eq!(told("a\u{1b}[31m\nb"), "a\\u{1b}[31m; b");
        assert!(told(&"x".repeat(9000)).chars().count() <= MAX_WORDS + 1);
    }
}
