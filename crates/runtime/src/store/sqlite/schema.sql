-- Format 1. The document of an issue is the truth; the columns behind its seal, and the tables labels and
-- edges, are derived from it so that issues can be found. What is read is compared with its seal.
CREATE TABLE issues (
    id TEXT NOT NULL PRIMARY KEY,
    document TEXT NOT NULL,
    version INTEGER NOT NULL,
    fence INTEGER NOT NULL,
    n_comments INTEGER NOT NULL,
    blocked INTEGER NOT NULL,
    seal INTEGER NOT NULL,
    status TEXT NOT NULL,
    priority INTEGER NOT NULL,
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    plan TEXT
) STRICT;
CREATE INDEX issues_ready ON issues (priority, created DESC, id) WHERE status = 'open' AND blocked = 0;
CREATE INDEX issues_unfinished ON issues (priority, created DESC, id) WHERE status <> 'closed' AND status <> 'pinned';
CREATE INDEX issues_by_status ON issues (status, priority, created DESC, id);
CREATE INDEX issues_by_plan ON issues (plan) WHERE plan IS NOT NULL;

CREATE TABLE labels (
    issue_id TEXT NOT NULL REFERENCES issues (id),
    label TEXT NOT NULL,
    PRIMARY KEY (issue_id, label)
) STRICT, WITHOUT ROWID;
CREATE INDEX labels_by_label ON labels (label, issue_id);

-- The target need not exist: an edge to a missing issue is kept, and holds back.
CREATE TABLE edges (
    issue_id TEXT NOT NULL REFERENCES issues (id),
    target TEXT NOT NULL,
    kind TEXT NOT NULL,
    PRIMARY KEY (issue_id, target)
) STRICT, WITHOUT ROWID;
CREATE INDEX edges_by_target ON edges (target, kind, issue_id);

CREATE TABLE comments (
    issue_id TEXT NOT NULL REFERENCES issues (id),
    number INTEGER NOT NULL,
    record TEXT NOT NULL,
    seal INTEGER NOT NULL,
    PRIMARY KEY (issue_id, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE claims (
    issue_id TEXT NOT NULL PRIMARY KEY REFERENCES issues (id),
    claim TEXT NOT NULL,
    seal INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE events (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    issue_id TEXT NOT NULL,
    version INTEGER NOT NULL,
    at TEXT NOT NULL,
    actor TEXT NOT NULL,
    kind TEXT NOT NULL,
    before TEXT NOT NULL,
    after TEXT NOT NULL,
    seal INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX events_by_issue ON events (issue_id, version);
CREATE TRIGGER events_are_not_changed BEFORE UPDATE ON events BEGIN
    SELECT RAISE(ABORT, 'the history is only ever appended to');
END;
CREATE TRIGGER events_are_not_removed BEFORE DELETE ON events BEGIN
    SELECT RAISE(ABORT, 'the history is only ever appended to');
END;

CREATE TABLE leases (
    name TEXT NOT NULL PRIMARY KEY,
    fence INTEGER NOT NULL,
    holder TEXT,
    until INTEGER NOT NULL,
    seal INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE controls (
    key TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL,
    version INTEGER NOT NULL,
    actor TEXT NOT NULL,
    at INTEGER NOT NULL,
    seal INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
