//! The store as commands meet it: opened, with who writes and when, and with ids as people type them.

use std::ops::ControlFlow;

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::diag::{ErrorCode, did_you_mean};
use beads_ralph_core::issue::{Fence, Holder, Order, Query, Record, StatusFilter};
use beads_ralph_core::text::excerpt;
use beads_ralph_core::vocabulary::EdgeType;
use beads_ralph_runtime::os::env::{self, Variable};
use beads_ralph_runtime::store::{self, Guard, Stamp, Store, StoreError, Write};
use beads_ralph_runtime::{os::clock, os::host};
use camino::Utf8PathBuf;
use jiff::Timestamp;

use crate::args::{Global, GuardArgs, HolderArgs};
use crate::failure::Failure;
use crate::ui::format::list;

/// How many ids an error names at the most.
const MAX_NAMED: usize = 5;

/// Among how many ids a misspelt one is looked for.
const MAX_CANDIDATES: usize = 50_000;

/// How often a command looks again because somebody else changed the bead before it could write.
const TURNS: usize = 10;

/// The store of this repository, open.
pub(crate) struct Beads {
    pub(crate) store: Box<dyn Store>,
    pub(crate) directory: Utf8PathBuf,
    pub(crate) by: Writer,
}

/// Who writes, and when.
#[derive(Debug)]
pub(crate) struct Writer {
    actor: String,
    pub(crate) now: Timestamp,
}

impl Writer {
    pub(crate) fn new(global: &Global) -> Self {
        let named = global.actor.clone();
        let actor = named
            .or_else(|| env::get(Variable::BeadsActor))
            .or_else(|| env::get(Variable::User))
            .unwrap_or_else(|| "unknown".to_owned());
        Self {
            actor,
            now: clock::now(),
        }
    }

    pub(crate) fn actor(&self) -> &str {
        &self.actor
    }

    pub(crate) fn stamp(&self) -> Stamp<'_> {
        Stamp {
            actor: &self.actor,
            at: self.now,
        }
    }

    /// Who a claim is for.
    pub(crate) fn holder(&self, args: &HolderArgs) -> Result<Holder, Failure> {
        let process = match args.pid {
            None => None,
            Some(pid) => Some(host::process(pid).ok_or_else(|| {
                Failure::new(
                    ErrorCode::ValidationConstraint,
                    format!("there is no process {pid} on this machine"),
                )
                .action("pass the number of a process that runs, or leave --pid out")
            })?),
        };
        Ok(Holder {
            run: args.holder.clone().unwrap_or_else(|| self.actor.clone()),
            host: host::name(),
            process,
        })
    }

    /// The end of a lease that begins now.
    pub(crate) fn lease_until(&self, lease: std::time::Duration) -> Result<Timestamp, Failure> {
        self.now.checked_add(lease).map_err(|_| {
            Failure::new(
                ErrorCode::ValidationConstraint,
                "the lease ends after the end of time",
            )
            .action("choose a shorter --lease")
        })
    }

    /// The fence of a claim that was made under a name at a terminal of this machine. A program that works on a
    /// bead is named by its process, and passes its fence, so that a process of the past can finish nothing (Z-2).
    pub(crate) fn fence_of(record: &Record, name: &str) -> Option<Fence> {
        let claim = record.claim.as_ref()?;
        let Holder { run, host, process } = &claim.holder;
        let is_own = run == name && *host == host::name() && process.is_none();
        is_own.then_some(claim.fence)
    }

    /// What must be true of a bead for a change to happen.
    pub(crate) fn guard(&self, record: &Record, args: &GuardArgs) -> Guard {
        Guard {
            fence: if args.force {
                None
            } else {
                args.fence.or_else(|| Self::fence_of(record, &self.actor))
            },
            is_forced: args.force,
            ..Guard::default()
        }
    }
}

impl Beads {
    /// Opens the store of the working directory.
    pub(crate) fn open(global: &Global) -> Result<Self, Failure> {
        let place = store::find(&here()?)?;
        Ok(Self {
            store: place.open()?,
            directory: place.directory,
            by: Writer::new(global),
        })
    }

    /// A store that was just made.
    pub(crate) fn made(made: store::Initialized, global: &Global) -> Self {
        Self {
            store: made.store,
            directory: made.directory,
            by: Writer::new(global),
        }
    }

    /// The bead with an id, or with the only id of which a text is the first parts. Parts end before `-` and `.`, so
    /// that the id of one sprint is never taken for the beginning of another's number.
    pub(crate) fn resolve(&self, text: &str) -> Result<Record, Failure> {
        self.meant(text)?.ok_or_else(|| self.unknown(text))
    }

    /// The same; nothing when there is no such bead. That there are several is an error.
    pub(crate) fn meant(&self, text: &str) -> Result<Option<Record>, Failure> {
        let Ok(id) = BeadId::parse(text) else {
            return Ok(None);
        };
        if let Some(record) = self.store.get(&[id])?.pop() {
            return Ok(Some(record));
        }
        let mut found = Vec::new();
        for end in ['-', '.'] {
            let start = format!("{text}{end}");
            found.extend(self.store.ids_with_prefix(&start, MAX_NAMED + 1)?);
        }
        match found.as_slice() {
            [] => Ok(None),
            [only] => self.record(only).map(Some),
            _ => Err(ambiguous(text, &found)),
        }
    }

    /// The bead with exactly this id.
    pub(crate) fn record(&self, id: &BeadId) -> Result<Record, Failure> {
        let record = self.store.get(std::slice::from_ref(id))?.pop();
        record.ok_or_else(|| self.unknown(id.as_str()))
    }

    fn unknown(&self, text: &str) -> Failure {
        let message = format!("there is no bead '{}'", excerpt(text));
        let failure = Failure::new(ErrorCode::DependencyUnresolved, message);
        let ids = self.store.ids_with_prefix("", MAX_CANDIDATES);
        let ids = ids.unwrap_or_default();
        match did_you_mean(text, ids.iter().map(BeadId::as_str)) {
            Some(id) => failure.action(format!("did you mean {}?", excerpt(id))),
            None if ids.is_empty() => failure.action(
                "the store is empty: `beads-ralph import` or `beads-ralph plan apply` fills it",
            ),
            None => failure.action("see `beads-ralph list --all` for the ids"),
        }
    }

    /// Writes one change of one bead, and gives the bead as it is then.
    pub(crate) fn change(&mut self, write: Write, id: &BeadId) -> Result<Record, Failure> {
        self.store.write(&[write], self.by.stamp())?;
        self.record(id)
    }

    /// Writes a change that was decided on by looking at a bead. `None` when the bead changed since, and one must
    /// look again.
    pub(crate) fn change_as_seen(
        &mut self,
        seen: &Record,
        write: Write,
    ) -> Result<Option<Record>, Failure> {
        let written = self.store.write(&[write], self.by.stamp());
        let now = self.record(seen.issue.id())?;
        match written {
            Ok(_) => Ok(Some(now)),
            Err(StoreError::Guard { .. })
                if now.version != seen.version || now.is_blocked != seen.is_blocked =>
            {
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Goes through what a query selects without holding all of it at once.
    pub(crate) fn each(
        &self,
        query: &Query,
        mut see: impl FnMut(Record) -> Result<ControlFlow<()>, Failure>,
    ) -> Result<(), Failure> {
        let mut failed = None;
        self.store.visit(query, &mut |record| match see(record) {
            Ok(flow) => flow,
            Err(failure) => {
                failed = Some(failure);
                ControlFlow::Break(())
            }
        })?;
        failed.map_or(Ok(()), Err)
    }

    /// Reads what a query selects once, so that damage is met before the one answer to a program is begun.
    pub(crate) fn look_over(&self, query: &Query) -> Result<(), Failure> {
        self.each(query, |_| Ok(ControlFlow::Continue(())))
    }

    /// All beads, in order of their ids.
    pub(crate) fn everything() -> Query {
        Query {
            status: StatusFilter::Any,
            includes_hidden: true,
            order: Order::Id,
            ..Query::default()
        }
    }

    /// How many beads block on this one, as `bd` counts them.
    pub(crate) fn n_dependents(&self, id: &BeadId) -> Result<usize, Failure> {
        let counts = self.store.count_blocked_by(std::slice::from_ref(id))?;
        Ok(counts.first().copied().unwrap_or_default())
    }

    /// The number of the latest event; 0 when there is none. Numbers have no gaps, so that halving finds it.
    pub(crate) fn last_event(&self) -> Result<u64, Failure> {
        let is_beyond = |number| Ok::<_, Failure>(self.store.changes(number, 1)?.is_empty());
        let mut high = 1;
        while !is_beyond(high)? {
            high *= 2;
        }
        let mut low = 0;
        while low < high {
            let middle = low + (high - low) / 2;
            if is_beyond(middle)? {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        Ok(low)
    }
}

/// Takes turns of looking and writing until nobody else came between the two.
pub(crate) fn until_settled<T>(
    mut turn: impl FnMut() -> Result<Option<T>, Failure>,
) -> Result<T, Failure> {
    for _ in 0..TURNS {
        if let Some(done) = turn()? {
            return Ok(done);
        }
    }
    Err(Failure::new(
        ErrorCode::ValidationConstraint,
        "others change the bead all the time",
    )
    .action("try again"))
}

/// How many of the beads that depend on one block on it.
pub(crate) fn n_blocking(dependents: &[(BeadId, String)]) -> usize {
    let blocking = dependents
        .iter()
        .filter(|(_, kind)| kind == EdgeType::Blocks);
    blocking.count()
}

/// Whether a store may well be had a little later: somebody else is writing, or it is slow.
pub(crate) fn is_passing(error: &StoreError) -> bool {
    error.code() == ErrorCode::DatabaseTimeout
}

/// The working directory.
pub(crate) fn here() -> Result<Utf8PathBuf, Failure> {
    env::current_dir().ok_or_else(|| {
        Failure::new(
            ErrorCode::IoFileNotFound,
            "the working directory is gone, or its name is not UTF-8",
        )
        .action("change to another directory")
    })
}

fn ambiguous(text: &str, found: &[BeadId]) -> Failure {
    let named = list(found.iter().take(MAX_NAMED).map(BeadId::as_str));
    let more = if found.len() > MAX_NAMED {
        " and more"
    } else {
        ""
    };
    Failure::new(
        ErrorCode::DependencyUnresolved,
        format!(
            "several beads start with '{}': {}{more}",
            excerpt(text),
            named
        ),
    )
    .action("type more of the id")
}

#[cfg(test)]
impl Beads {
    /// Beads in memory, without anything but ids.
    pub(crate) fn in_memory(ids: &[&str]) -> Self {
        use beads_ralph_core::issue::{Line, read_line};

        let mut beads = Self {
            store: Box::new(store::MemoryStore::new()),
            directory: Utf8PathBuf::from(".beads"),
            by: Writer {
                actor: "alice".to_owned(),
                now: Timestamp::UNIX_EPOCH,
            },
        };
        let entry = |id: &&str| match read_line(&format!("{{\"id\":\"{id}\",\"title\":\"t\"}}")) {
            Ok(Line::Issue(entry)) => Write::Insert(entry),
            other => panic!("{other:?}"),
        };
        let batch: Vec<Write> = ids.iter().map(entry).collect();
        beads.store.write(&batch, beads.by.stamp()).unwrap();
        beads
    }
}
