//! One call of the face: what was typed, how to answer, and the store with who writes and when.

use std::ops::{ControlFlow, Deref, DerefMut};
use std::sync::{Arc, OnceLock};

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::{Edit, Holder, Query, Record};
use beads_ralph_core::vocabulary::EdgeType;
use beads_ralph_runtime::app::beads::{Authority, Beads, Writer};
use beads_ralph_runtime::git::Person;
use beads_ralph_runtime::os::env::{self, Variable};
use beads_ralph_runtime::os::host;
use beads_ralph_runtime::os::process::Units;
use beads_ralph_runtime::store::{self, Guard, Place, Stamp, Store, StoreError, Write};
use camino::{Utf8Path, Utf8PathBuf};

use super::{Arguments, Output, Refusal, inside_run, quoted};

/// Where the settings of the face are kept in the store.
const CONFIG: &str = "bd.config.";

/// What a command is called with.
pub(super) struct Call<'c> {
    pub(super) arguments: &'c Arguments,
    pub(super) output: Output,
    /// The directory that is worked in.
    pub(super) here: Utf8PathBuf,
    /// Everything that was typed after `bd`, for whoever it must be handed to.
    pub(super) typed: &'c [String],
}

/// Whether a text names a database of a server, which only the real `bd` has, and not a path.
fn is_database(text: &str, here: &Utf8Path) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(is_part)
        && !here.join(text).exists()
}

/// The store that `--db` or the environment names, or else the one of the working directory.
pub(super) fn place(here: &Utf8Path, named: Option<&str>) -> Result<Place, StoreError> {
    let named = named.map(str::to_owned);
    let named = named
        .or_else(|| env::get(Variable::BeadsDb))
        .or_else(|| env::get(Variable::BdDb));
    match named {
        Some(path) => store::find_by(&here.join(path)),
        None => store::find(here),
    }
}

impl Call<'_> {
    pub(super) fn place(&self) -> Result<Place, StoreError> {
        place(&self.here, self.arguments.filled("db"))
    }

    pub(super) fn open(&self) -> Result<Opened, Refusal> {
        let named = self.arguments.filled("db");
        if named.is_some_and(|named| is_database(named, &self.here)) {
            store::find(&self.here)?;
            return Err(Refusal::plain(
                "--database (or a --db value naming a database) is only supported in proxied-server mode",
            ));
        }
        let place = self.place().map_err(|error| {
            let directory = self.arguments.filled("directory");
            match (directory, &error) {
                (Some(directory), StoreError::NotInitialized { .. }) => Refusal::plain(format!(
                    "cannot use -C directory {}: no beads project found",
                    quoted(directory)
                )),
                _ => error.into(),
            }
        })?;
        if place.is_foreign() {
            return Err(super::handed_over(&place, self.typed));
        }
        let store = place.open()?;
        Ok(Opened::new(store, place.directory, self))
    }
}

/// The beads of a store, as the real `bd` sees them.
pub(super) struct Opened {
    beads: Beads,
    here: Utf8PathBuf,
    person: Arc<OnceLock<Person>>,
}

impl Deref for Opened {
    type Target = Beads;

    fn deref(&self) -> &Beads {
        &self.beads
    }
}

impl DerefMut for Opened {
    fn deref_mut(&mut self) -> &mut Beads {
        &mut self.beads
    }
}

fn person<'p>(found: &'p OnceLock<Person>, here: &Utf8Path) -> &'p Person {
    found.get_or_init(|| match Units::own() {
        Ok(units) => Person::of(Arc::new(units), here),
        Err(_) => Person::default(),
    })
}

impl Opened {
    /// Who writes is `--actor`, the environment, git, the user. Only those that write ask, because asking git takes time.
    pub(super) fn new(store: Box<dyn Store>, directory: Utf8PathBuf, call: &Call<'_>) -> Self {
        let here = call.here.clone();
        let found = Arc::new(OnceLock::new());
        let named = call.arguments.filled("actor").map(str::to_owned);
        let by = Writer::found_by({
            let (here, found) = (here.clone(), Arc::clone(&found));
            move || {
                named
                    .or_else(|| env::get(Variable::BeadsActor))
                    .or_else(|| env::get(Variable::BdActor))
                    .or_else(|| person(&found, &here).name.clone())
                    .or_else(|| env::get(Variable::User))
                    .unwrap_or_else(|| "unknown".to_owned())
            }
        });
        let mut beads = Beads::new(store, directory, by);
        // Inside a run only as far as it may be written there (Z-18).
        beads.restrict = Some(|batch| inside_run::Caller::here().guarded(batch));
        Self {
            beads,
            here,
            person: found,
        }
    }

    pub(super) fn actor(&self) -> &str {
        self.by.actor()
    }

    /// Whose address stands in a new bead.
    pub(super) fn owner(&self) -> Option<String> {
        let email = || person(&self.person, &self.here).email.clone();
        env::get(Variable::GitAuthorEmail).or_else(email)
    }

    /// Who a claim of this actor is for: somebody without a process that could be watched.
    pub(super) fn holder(&self) -> Holder {
        Holder {
            run: self.actor().to_owned(),
            host: host::name(),
            process: None,
        }
    }

    /// The moment as documents have it.
    pub(super) fn time(&self) -> String {
        Stamp {
            actor: "",
            at: self.by.now,
        }
        .time()
        .as_str()
        .to_owned()
    }

    /// Calls the store with who writes, and when.
    pub(super) fn signed<T>(&mut self, call: impl FnOnce(&mut dyn Store, Stamp<'_>) -> T) -> T {
        let Beads { store, by, .. } = &mut self.beads;
        call(&mut **store, by.stamp())
    }

    /// The guard under which the face writes: the last writer is right, and only the claim of a program keeps its bead.
    pub(super) fn guard(&self, record: &Record) -> Guard {
        self.by.guard(record, Authority::Shared)
    }

    /// A change of a bead, under the guard that its holder demands.
    pub(super) fn change(&self, record: &Record, edits: Vec<Edit>) -> Write {
        Write::Update {
            id: record.issue.id().clone(),
            edits,
            guard: self.guard(record),
        }
    }

    /// The deletion of a bead, under the same guard.
    pub(super) fn deletion(&self, record: &Record) -> Write {
        Write::Delete {
            id: record.issue.id().clone(),
            guard: self.guard(record),
        }
    }

    /// Changes one bead.
    pub(super) fn update(&mut self, record: &Record, edits: Vec<Edit>) -> Result<(), StoreError> {
        let guard = self.guard(record);
        self.update_under(guard, record, edits)
    }

    /// Changes one bead under a guard of the caller.
    pub(super) fn update_under(
        &mut self,
        guard: Guard,
        record: &Record,
        edits: Vec<Edit>,
    ) -> Result<(), StoreError> {
        let id = record.issue.id().clone();
        self.write(&[Write::Update { id, edits, guard }])
    }

    /// The bead with exactly this id, which may be any text.
    pub(super) fn exact(&self, id: &str) -> Result<Option<Record>, StoreError> {
        match BeadId::parse(id) {
            Ok(id) => self.record(&id),
            Err(_) => Ok(None),
        }
    }

    /// The beads whose edges say that they are children of this one.
    pub(super) fn children(&self, id: &BeadId) -> Result<Vec<BeadId>, StoreError> {
        let dependents = self.store.dependents(id)?.into_iter();
        let children = dependents.filter(|(_, kind)| kind == EdgeType::ParentChild);
        Ok(children.map(|(child, _)| child).collect())
    }

    /// The bead with exactly this id.
    pub(super) fn record(&self, id: &BeadId) -> Result<Option<Record>, StoreError> {
        Ok(self.store.get(std::slice::from_ref(id))?.pop())
    }

    /// Shows what a query selects, one after the other, until something fails.
    pub(super) fn each(
        &self,
        query: &Query,
        mut see: impl FnMut(Record) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        self.beads
            .each(query, |record| see(record).map(ControlFlow::Continue))
    }

    pub(super) fn config(&self, key: &str) -> Result<Option<String>, StoreError> {
        setting(&*self.store, key)
    }

    pub(super) fn all_config(&self) -> Result<Vec<(String, String)>, StoreError> {
        let rows = self.store.controls(CONFIG)?;
        let setting = |row: store::Control| {
            let key = row.key.strip_prefix(CONFIG)?.to_owned();
            Some((key, row.value.as_str()?.to_owned()))
        };
        Ok(rows.into_iter().filter_map(setting).collect())
    }

    pub(super) fn set_config(&mut self, key: &str, value: Option<&str>) -> Result<(), StoreError> {
        let name = format!("{CONFIG}{key}");
        let rows = self.store.controls(&name)?;
        let seen = rows.iter().find(|row| row.key == name);
        let seen = seen.map_or(0, |row| row.version);
        let value = serde_json::to_value(value).unwrap_or_default();
        self.signed(|store, by| store.set_control(&name, &value, seen, by))?;
        Ok(())
    }

    /// What the ids of new beads begin with.
    pub(super) fn prefix(&self) -> Result<String, StoreError> {
        let set = self.config("issue_prefix")?;
        Ok(set.unwrap_or_else(|| default_prefix(self.directory.parent())))
    }

    /// The types that were added by settings.
    pub(super) fn custom_types(&self) -> Result<Vec<String>, StoreError> {
        custom_types(&*self.store)
    }

    /// The statuses that were added by settings, each with what it counts as.
    pub(super) fn custom_statuses(&self) -> Result<Vec<(String, String)>, StoreError> {
        let set = self.config("status.custom")?.unwrap_or_default();
        let parts = set.split(',').map(str::trim).filter(|s| !s.is_empty());
        let status = |part: &str| match part.split_once(':') {
            Some((name, category)) => (name.trim().to_owned(), category.trim().to_owned()),
            None => (part.to_owned(), "unspecified".to_owned()),
        };
        Ok(parts.map(status).collect())
    }
}

fn setting(store: &dyn Store, key: &str) -> Result<Option<String>, StoreError> {
    let name = format!("{CONFIG}{key}");
    let rows = store.controls(&name)?;
    let row = rows.into_iter().find(|row| row.key == name);
    Ok(row.and_then(|row| row.value.as_str().map(str::to_owned)))
}

/// The types that the settings of a store add.
pub(crate) fn custom_types(store: &dyn Store) -> Result<Vec<String>, StoreError> {
    let set = setting(store, "types.custom")?.unwrap_or_default();
    let types = set.split(',').map(str::trim);
    Ok(types.filter(|t| !t.is_empty()).map(str::to_owned).collect())
}

/// The prefix of a directory that names none: its own name.
pub(super) fn default_prefix(directory: Option<&Utf8Path>) -> String {
    let name = directory.and_then(Utf8Path::file_name).unwrap_or_default();
    // A blank or an invisible character would be in every id, and no id may have one.
    let is_odd = |c: char| c.is_whitespace() || c.is_control() || c == '/';
    let name = name.replace('.', "_").replace(is_odd, "-");
    let name = name.trim_end_matches('-');
    match name.chars().next() {
        None => "bd".to_owned(),
        Some(first) if first.is_alphabetic() || first == '_' => name.to_owned(),
        Some(_) => format!("bd_{name}"),
    }
}
