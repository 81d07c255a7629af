-- Format 2. What is derived from a document has a table of its own, in the order in which beads are listed, so that issues are found,
-- sorted and counted without reading their documents. The old columns go.
DROP INDEX issues_ready;
DROP INDEX issues_unfinished;
DROP INDEX issues_by_status;
DROP INDEX issues_by_plan;
ALTER TABLE issues DROP COLUMN status;
ALTER TABLE issues DROP COLUMN priority;
ALTER TABLE issues DROP COLUMN created;
ALTER TABLE issues DROP COLUMN updated;
ALTER TABLE issues DROP COLUMN plan;

-- Times are microseconds. `name` is the id and the title in small letters; `flags` has a bit for each flag, and one for what was put off.
CREATE TABLE facts (
    id TEXT NOT NULL UNIQUE REFERENCES issues (id),
    status TEXT NOT NULL,
    priority INTEGER NOT NULL,
    kind TEXT NOT NULL,
    assignee TEXT NOT NULL,
    flags INTEGER NOT NULL,
    blocked INTEGER NOT NULL,
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    touched INTEGER NOT NULL,
    closed INTEGER,
    deferred INTEGER,
    name TEXT NOT NULL,
    PRIMARY KEY (priority, created DESC, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX facts_ready ON facts (priority, created DESC, id) WHERE status = 'open' AND blocked = 0;
CREATE INDEX facts_ready_oldest ON facts (priority, created, id) WHERE status = 'open' AND blocked = 0;
CREATE INDEX facts_unfinished ON facts (priority, created DESC, id) WHERE status <> 'closed' AND status <> 'pinned';
CREATE INDEX facts_blocked ON facts (priority, created DESC, id) WHERE blocked = 1;
CREATE INDEX facts_by_status ON facts (status, priority, created DESC, id);
CREATE INDEX facts_by_kind ON facts (kind, priority, created DESC, id) WHERE kind <> 'task';
CREATE INDEX facts_oldest ON facts (created, id) WHERE status <> 'closed' AND status <> 'pinned';
CREATE INDEX facts_stalest ON facts (touched, priority, created DESC, id) WHERE status <> 'closed' AND status <> 'pinned';
CREATE INDEX facts_flagged ON facts (flags) WHERE flags <> 0;
CREATE INDEX facts_deferred ON facts (deferred) WHERE deferred IS NOT NULL;

-- Metadata that issues are found by.
CREATE TABLE fields (
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    issue_id TEXT NOT NULL REFERENCES issues (id),
    PRIMARY KEY (issue_id, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX fields_by_value ON fields (key, value, issue_id);

-- How many issues have each combination of what they are counted by.
CREATE TABLE tallies (
    status TEXT NOT NULL,
    priority INTEGER NOT NULL,
    kind TEXT NOT NULL,
    assignee TEXT NOT NULL,
    flags INTEGER NOT NULL,
    blocked INTEGER NOT NULL,
    n INTEGER NOT NULL,
    PRIMARY KEY (status, priority, kind, assignee, flags, blocked)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER facts_come AFTER INSERT ON facts BEGIN
    INSERT INTO tallies (status, priority, kind, assignee, flags, blocked, n)
        VALUES (new.status, new.priority, new.kind, new.assignee, new.flags, new.blocked, 1)
        ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER facts_go AFTER DELETE ON facts BEGIN
    UPDATE tallies SET n = n - 1 WHERE status = old.status AND priority = old.priority AND kind = old.kind
        AND assignee = old.assignee AND flags = old.flags AND blocked = old.blocked;
    DELETE FROM tallies WHERE status = old.status AND priority = old.priority AND kind = old.kind
        AND assignee = old.assignee AND flags = old.flags AND blocked = old.blocked AND n = 0;
END;
CREATE TRIGGER facts_change AFTER UPDATE ON facts
WHEN (old.status, old.priority, old.kind, old.assignee, old.flags, old.blocked)
    IS NOT (new.status, new.priority, new.kind, new.assignee, new.flags, new.blocked) BEGIN
    UPDATE tallies SET n = n - 1 WHERE status = old.status AND priority = old.priority AND kind = old.kind
        AND assignee = old.assignee AND flags = old.flags AND blocked = old.blocked;
    DELETE FROM tallies WHERE status = old.status AND priority = old.priority AND kind = old.kind
        AND assignee = old.assignee AND flags = old.flags AND blocked = old.blocked AND n = 0;
    INSERT INTO tallies (status, priority, kind, assignee, flags, blocked, n)
        VALUES (new.status, new.priority, new.kind, new.assignee, new.flags, new.blocked, 1)
        ON CONFLICT DO UPDATE SET n = n + 1;
END;
