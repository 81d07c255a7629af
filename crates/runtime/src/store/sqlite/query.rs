//! From a query to SQL over what is derived: which issues can be meant, and whether that is all there is to say.

use beads_ralph_core::issue::{
    Condition, Flag, HIDDEN, Moment, NOT_WORK, Order, Query, Standing, StatusFilter,
};
use jiff::Timestamp;
use rusqlite::types::Value;

use super::facts::{FOUND_BY, FOUND_IF_FILLED, bit};
use super::find::after_prefix;

/// How many words of one kind narrow a search; what more there are is left to `core`, since SQLite has limits.
const MAX_WORDS: usize = 100;

#[derive(Debug, Default, Clone)]
pub(super) struct Sql {
    pub(super) text: Vec<String>,
    pub(super) values: Vec<Value>,
}

impl Sql {
    fn add(&mut self, text: impl Into<String>, values: impl IntoIterator<Item = Value>) {
        self.text.push(text.into());
        self.values.extend(values);
    }

    fn add_texts(&mut self, text: impl Into<String>, values: impl IntoIterator<Item = String>) {
        self.add(text, values.into_iter().map(Value::Text));
    }

    fn add_all(&mut self, other: &Self) {
        self.text.extend(other.text.iter().cloned());
        self.values.extend(other.values.iter().cloned());
    }

    /// All of its conditions as one.
    pub(super) fn all(&self) -> String {
        if self.text.is_empty() {
            "TRUE".to_owned()
        } else {
            self.text.join(" AND ")
        }
    }
}

/// What a query asks, in SQL.
#[derive(Debug, Default)]
pub(super) struct Search {
    /// What facts and tallies both know, by the same names.
    counted: Sql,
    /// What only the facts and the tables beside them know.
    other: Sql,
    /// What must not be so, and needs a look at other tables.
    unless: Sql,
    /// Queries for the ids of the issues of which that is so: few of a store in most cases.
    excepted: Sql,
    /// The moment until which something may be put off.
    now: Option<i64>,
    /// Whether these say everything, so that no document need be read to decide.
    pub(super) is_exact: bool,
    /// Whether types are asked for that are not that of most issues.
    is_odd_kind: bool,
    /// Whether what was put off until a moment is asked for.
    is_deferral: bool,
    /// Whether a flag is asked for, which few issues have.
    is_flagged: bool,
    /// Whether the ids of what is asked for stand in another table.
    is_driven: bool,
    /// Whether something is asked for by name that few issues may have.
    is_picky: bool,
}

/// What must be looked up to count what tallies only nearly tell.
pub(super) struct Exceptions {
    /// The question how many issues are counted and not wanted.
    pub(super) unwanted: Option<(String, Vec<Value>)>,
    /// Until when what was put off waits.
    pub(super) now: Option<i64>,
}

fn bits(flags: &[Flag]) -> i64 {
    let all = Flag::ALL.into_iter();
    all.filter(|flag| flags.contains(flag)).map(bit).sum()
}

fn marks(n: usize) -> String {
    vec!["?"; n].join(", ")
}

impl Search {
    /// `is_common` says of a label whether many issues have it.
    pub(super) fn new(query: &Query, is_common: impl Fn(&str) -> bool) -> Self {
        let mut search = Self {
            is_exact: true,
            ..Self::default()
        };
        search.status(&query.status);
        if let Some(now) = query.ready_at {
            search.ready(query, now);
        }
        search.labels(query, is_common);
        if !query.types.is_empty() {
            search.one_of("kind", &query.types);
            search.is_picky = true;
            search.is_odd_kind =
                query.types.len() <= MAX_WORDS && !query.types.iter().any(|kind| kind == "task");
            if search.is_odd_kind {
                // SQLite sees by this that the index of such types will do.
                (search.counted).add("kind <> 'task'", []);
            }
        }
        search.people(query);
        if let Some((low, high)) = query.priorities {
            let range = [low.into(), high.into()];
            (search.counted).add("priority BETWEEN ? AND ?", range);
            search.is_picky = true;
        }
        search.place(query);
        search.metadata(query);
        if query.text.is_some() {
            search.is_exact = false;
        }
        if let Some(is_blocked) = query.is_blocked {
            (search.counted).add(format!("blocked = {}", i64::from(is_blocked)), []);
        }
        search.hidden(query);
        for condition in &query.conditions {
            search.condition(condition);
        }
        search
    }

    fn status(&mut self, status: &StatusFilter) {
        match status {
            StatusFilter::Any => {}
            StatusFilter::Unfinished => {
                (self.counted).add("status <> 'closed' AND status <> 'pinned'", []);
            }
            StatusFilter::OneOf(statuses) => self.one_of("status", statuses),
        }
    }

    /// That a column has one of some values.
    fn one_of(&mut self, column: &str, values: &[String]) {
        match values {
            [] => self.counted.add("FALSE", []),
            [only] => (self.counted).add_texts(format!("{column} = ?"), [only.clone()]),
            values if values.len() <= MAX_WORDS => {
                let text = format!("{column} IN ({})", marks(values.len()));
                self.counted.add_texts(text, values.iter().cloned());
            }
            _ => self.is_exact = false,
        }
    }

    /// That a column has none of some values.
    fn none_of(&mut self, column: &str, values: &[String]) {
        if self.fits(values) {
            let text = format!("{column} NOT IN ({})", marks(values.len()));
            self.counted.add_texts(text, values.iter().cloned());
        }
    }

    /// Whether there are values to look for, and not too many: then they are left to `core`.
    fn fits(&mut self, values: &[String]) -> bool {
        self.is_exact &= values.len() <= MAX_WORDS;
        (1..=MAX_WORDS).contains(&values.len())
    }

    /// What `core::issue::is_ready` asks.
    fn ready(&mut self, query: &Query, now: Timestamp) {
        let pinned = bit(Flag::Pinned);
        let ready = format!("status = 'open' AND blocked = 0 AND flags & {pinned} = 0");
        self.counted.add(ready, []);
        if query.includes_ephemeral {
            // Whether one is over is for `core` to say.
            self.is_exact = false;
        } else {
            let ephemeral = bit(Flag::Ephemeral);
            (self.counted).add(format!("flags & {ephemeral} = 0"), []);
        }
        let not_asked = NOT_WORK.iter().map(|kind| (*kind).to_owned());
        let not_asked: Vec<String> = not_asked
            .filter(|kind| !query.types.contains(kind))
            .collect();
        self.none_of("kind", &not_asked);
        if !query.includes_deferred {
            let now = now.as_microsecond();
            self.now = Some(now);
            self.unless.add(
                "EXISTS (SELECT 1 FROM edges e CROSS JOIN facts p ON p.id = e.target \
                 WHERE e.issue_id = f.id AND e.kind = 'parent-child' AND p.deferred > ?)",
                [now.into()],
            );
            self.excepted.add(
                "SELECT issue_id FROM edges WHERE kind = 'parent-child' AND target IN \
                 (SELECT id FROM facts WHERE deferred IS NOT NULL AND deferred > ?)",
                [now.into()],
            );
        }
    }

    fn labels(&mut self, query: &Query, is_common: impl Fn(&str) -> bool) {
        let mut all = query.labels_all.clone();
        all.sort_unstable();
        all.dedup();
        self.is_exact &= all.len() <= MAX_WORDS;
        for label in all.into_iter().take(MAX_WORDS) {
            // Going through issues that mostly have it beats sorting all that have it.
            let is_common = is_common(&label);
            let text = if is_common {
                "(SELECT count(*) FROM labels WHERE issue_id = f.id AND label = ?) > 0"
            } else {
                "id IN (SELECT issue_id FROM labels WHERE label = ?)"
            };
            self.other.add_texts(text, [label]);
            self.is_picky |= !is_common;
            self.is_driven |= !is_common;
        }
        let labelled = |n| format!("SELECT issue_id FROM labels WHERE label IN ({})", marks(n));
        if self.fits(&query.labels_any) {
            let n = query.labels_any.len();
            let any = query.labels_any.iter().cloned();
            (self.other).add_texts(format!("id IN ({})", labelled(n)), any);
            self.is_picky = true;
        }
        if self.fits(&query.labels_none) {
            let n = query.labels_none.len();
            let none = query.labels_none.iter().cloned();
            self.excepted.add_texts(labelled(n), none.clone());
            let unless = format!(
                "EXISTS (SELECT 1 FROM labels WHERE issue_id = f.id AND label IN ({}))",
                marks(n)
            );
            self.unless.add_texts(unless, none);
        }
    }

    fn people(&mut self, query: &Query) {
        if let Some(assignee) = &query.assignee {
            // Nobody is not somebody without a name.
            let wanted = if assignee.is_empty() {
                Vec::new()
            } else {
                vec![assignee.clone()]
            };
            self.one_of("assignee", &wanted);
            self.is_picky = true;
        }
        if query.is_unassigned {
            self.counted.add("assignee = ''", []);
        }
        if query.is_held || query.holder.is_some() {
            self.other.add("id IN (SELECT issue_id FROM claims)", []);
            self.is_exact &= query.holder.is_none();
            self.is_picky = true;
        }
    }

    fn place(&mut self, query: &Query) {
        let Some(parent) = &query.parent else {
            return;
        };
        let below = format!("{parent}.");
        self.other.add_texts(
            "(id IN (SELECT issue_id FROM edges WHERE target = ? AND kind = 'parent-child') OR (id >= ? AND id < ? \
             AND NOT EXISTS (SELECT 1 FROM edges WHERE issue_id = f.id AND kind = 'parent-child')))",
            [parent.to_string(), below.clone(), after_prefix(&below)],
        );
        self.is_picky = true;
    }

    fn metadata(&mut self, query: &Query) {
        for (key, value) in query.metadata.iter().take(MAX_WORDS) {
            self.field(key, " AND value IN (?, '')", Some(value));
            self.is_exact = false;
        }
        self.is_exact &= query.metadata_keys.len() <= MAX_WORDS;
        for key in query.metadata_keys.iter().take(MAX_WORDS) {
            self.is_exact &= FOUND_BY.contains(&key.as_str());
            self.field(key, "", None);
        }
    }

    /// Metadata that issues are found by; what others have is in their documents.
    fn field(&mut self, key: &str, more: &str, value: Option<&String>) {
        self.is_picky = true;
        if !FOUND_BY.contains(&key) {
            return;
        }
        let text = if self.is_odd_kind {
            // Few are of such a type, and very many may have the key.
            format!("(SELECT count(*) FROM fields WHERE issue_id = f.id AND key = ?{more}) > 0")
        } else {
            self.is_driven = true;
            format!("id IN (SELECT issue_id FROM fields WHERE key = ?{more})")
        };
        let values = std::iter::once(key.to_owned()).chain(value.cloned());
        self.other.add_texts(text, values);
    }

    fn hidden(&mut self, query: &Query) {
        if query.includes_hidden || query.ready_at.is_some() {
            return;
        }
        // A type that is asked for is shown, whatever else it is.
        if query.types.is_empty() {
            let template = bit(Flag::Template);
            (self.counted).add(format!("flags & {template} = 0"), []);
            self.none_of("kind", &HIDDEN.map(str::to_owned));
        } else if query.types.len() > MAX_WORDS {
            self.is_exact = false;
        }
    }

    fn condition(&mut self, condition: &Condition) {
        match condition {
            Condition::StatusIsNot(statuses) => self.none_of("status", statuses),
            Condition::TypeIsNot(types) => self.none_of("kind", types),
            Condition::IdIs(ids) => {
                self.is_picky = true;
                if ids.is_empty() {
                    self.counted.add("FALSE", []);
                } else if self.fits(ids) {
                    let text = format!("id IN ({})", marks(ids.len()));
                    self.other.add_texts(text, ids.iter().cloned());
                    self.is_driven = true;
                }
            }
            Condition::With(flags) => {
                let text = format!("flags <> 0 AND flags & {} <> 0", bits(flags));
                self.counted.add(text, []);
                self.is_flagged = true;
            }
            Condition::Without(flags) => {
                self.counted.add(format!("flags & {} = 0", bits(flags)), []);
            }
            Condition::HasNoLabels => (self.other).add(
                "NOT EXISTS (SELECT 1 FROM labels WHERE issue_id = f.id)",
                [],
            ),
            Condition::HasNoParent => (self.other).add(
                "NOT EXISTS (SELECT 1 FROM edges WHERE issue_id = f.id AND kind = 'parent-child')",
                [],
            ),
            Condition::HasNoDescription => self.is_exact = false,
            Condition::Contains(field, text) => {
                // The id stands in the same column, so `core` decides.
                if *field == "title" {
                    (self.other).add_texts("instr(name, ?) > 0", [text.clone()]);
                }
                self.is_exact = false;
                self.is_picky = true;
            }
            Condition::IsNamed(text) => {
                (self.other).add_texts("instr(name, ?) > 0", [text.clone()]);
                self.is_exact &= !text.contains('\n');
                self.is_picky = true;
            }
            Condition::HasSome(keys) => {
                let known = keys.iter().all(|key| FOUND_IF_FILLED.contains(key));
                if known {
                    let text = format!(
                        "id IN (SELECT issue_id FROM fields WHERE key IN ({}))",
                        marks(keys.len())
                    );
                    let keys = keys.iter().map(|key| (*key).to_owned());
                    self.other.add_texts(text, keys);
                }
                self.is_exact &= known;
                self.is_picky = true;
            }
            Condition::After(moment, at) => self.moment(*moment, ">=", *at),
            Condition::Before(moment, at) => self.moment(*moment, "<=", *at),
        }
    }

    /// A moment to the microsecond; `core` knows it better, and whether there is one.
    fn moment(&mut self, moment: Moment, comparison: &str, at: Timestamp) {
        let column = match moment {
            Moment::Created => "created",
            Moment::Updated => "updated",
            Moment::Touched => "touched",
            Moment::Closed => "closed",
            Moment::Deferred => "deferred",
        };
        let at = Value::from(at.as_microsecond());
        (self.other).add(format!("{column} {comparison} ?"), [at]);
        if moment == Moment::Deferred {
            self.other.add("deferred IS NOT NULL", []);
            self.is_deferral = true;
        }
        self.is_exact = false;
        self.is_picky |= moment != Moment::Touched;
    }

    /// Whether tallies alone tell how many there are, but for the exceptions.
    pub(super) fn is_tallied(&self) -> bool {
        self.is_exact && self.other.text.is_empty()
    }

    /// What facts and tallies can both be asked.
    pub(super) fn counted(&self) -> &Sql {
        &self.counted
    }

    /// What the tallies alone cannot tell.
    pub(super) fn exceptions(&self) -> Exceptions {
        let each = &self.excepted.text;
        let unwanted = (!each.is_empty()).then(|| {
            // SQLite would go through all that is open; the exceptions are fewer. Each counts once.
            let mut values = self.excepted.values.clone();
            let rest = self.not_put_off();
            values.extend(rest.values.iter().cloned());
            values.extend(self.counted.values.iter().cloned());
            let text = format!(
                "SELECT count(*) FROM (SELECT DISTINCT issue_id FROM ({})) u CROSS JOIN facts f ON f.id = u.issue_id WHERE {} AND {}",
                each.join(" UNION ALL "),
                rest.all(),
                self.counted.all()
            );
            (text, values)
        });
        Exceptions {
            unwanted,
            now: self.now,
        }
    }

    fn not_put_off(&self) -> Sql {
        let mut sql = Sql::default();
        if let Some(now) = self.now {
            sql.add("(deferred IS NULL OR deferred <= ?)", [now.into()]);
        }
        sql
    }

    /// Everything that the facts can be asked.
    pub(super) fn conditions(&self) -> Sql {
        let mut all = self.counted.clone();
        all.add_all(&self.other);
        all.add_all(&self.not_put_off());
        for unless in &self.unless.text {
            all.text.push(format!("NOT {unless}"));
        }
        all.values.extend(self.unless.values.iter().cloned());
        all
    }

    /// The query for the ids that can be meant, in order: id, priority and when each came. The index is named where SQLite, which does not
    /// count, would choose one that makes it sort.
    pub(super) fn ids(&self, query: &Query) -> (String, Vec<Value>) {
        let mut all = self.conditions();
        let is_ready = query.ready_at.is_some();
        let is_unfinished = match &query.status {
            StatusFilter::Unfinished => true,
            StatusFilter::Any => false,
            StatusFilter::OneOf(statuses) => {
                (statuses.iter()).all(|status| Standing::of(status) == Standing::Pending)
            }
        };
        let status = match &query.status {
            StatusFilter::OneOf(statuses) if statuses.len() == 1 => Some(()),
            _ => None,
        };
        if query.order == Order::Id && all.text.is_empty() {
            // Who asks for everything gets everything, or hears of damage.
            let text = "SELECT id, 0, 0 FROM issues ORDER BY id";
            return (text.to_owned(), Vec::new());
        }
        let index = match query.order {
            _ if self.is_flagged => Some("facts_flagged"),
            _ if self.is_deferral => Some("facts_deferred"),
            // Something rarer may be asked for as well, and then SQLite chooses.
            _ if self.is_odd_kind && !self.is_driven => Some("facts_by_kind"),
            Order::Priority | Order::PrioritySeconds if is_ready => Some("facts_ready"),
            Order::Priority | Order::PrioritySeconds if query.is_blocked == Some(true) => {
                Some("facts_blocked")
            }
            // The facts themselves are in this order; going through them beats going back and forth for few of them.
            Order::Priority | Order::PrioritySeconds if self.is_picky => None,
            Order::Priority | Order::PrioritySeconds if status.is_some() => Some("facts_by_status"),
            Order::Priority | Order::PrioritySeconds if is_unfinished => Some("facts_unfinished"),
            Order::PriorityOldest if is_ready => Some("facts_ready_oldest"),
            Order::Stalest if is_unfinished => Some("facts_stalest"),
            Order::Oldest if is_unfinished && !is_ready => Some("facts_oldest"),
            _ => None,
        };
        if matches!(
            index,
            Some("facts_unfinished" | "facts_stalest" | "facts_oldest")
        ) {
            all.add("status <> 'closed' AND status <> 'pinned'", []);
        }
        let hint = index.map_or(String::new(), |index| format!(" INDEXED BY {index}"));
        let order = match query.order {
            Order::Priority | Order::PrioritySeconds => "priority, created DESC, id",
            Order::PriorityOldest => "priority, created, id",
            Order::Stalest => "touched, priority, created DESC, id",
            Order::Oldest => "created, id",
            Order::Updated => "updated DESC, id",
            Order::Id => "id",
        };
        let conditions = all.all();
        let text = format!(
            "SELECT id, priority, created FROM facts f{hint} WHERE {conditions} ORDER BY {order}"
        );
        (text, all.values)
    }
}
