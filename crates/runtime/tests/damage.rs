//! A store file that is not what was written: what is read is right or refused, the doctor finds the damage, and
//! a repair brings everything back.

#[cfg(test)]
mod damage {
    use std::collections::BTreeMap;

    use beads_ralph_core::bead::BeadId;
    use beads_ralph_core::issue::{
        Claim, Comment, Edit, Entry, Event, Holder, Issue, Query, Record, StatusFilter, new_comment,
    };
    use beads_ralph_runtime::os::files;
    use beads_ralph_runtime::store::{
        CheckReport, Control, Guard, Lease, NewClaim, Options, SqliteStore, Stamp, Store as _,
        Write, check, repair,
    };
    use camino::{Utf8Path, Utf8PathBuf};
    use jiff::Timestamp;
    use serde_json::json;

    /// How many issues the store has.
    const N: usize = 30;

    /// Everything that a store says.
    #[derive(Debug, Clone, PartialEq)]
    struct Truth {
        records: BTreeMap<BeadId, Record>,
        comments: BTreeMap<BeadId, Vec<Comment>>,
        events: BTreeMap<u64, Event>,
        leases: Vec<Lease>,
        controls: Vec<Control>,
    }

    impl Truth {
        fn add(&mut self, events: Vec<Event>) {
            for event in events {
                let before = self.events.insert(event.number, event.clone());
                assert!(
                    before.is_none_or(|before| before == event),
                    "two answers differ"
                );
            }
        }
    }

    fn everything() -> Query {
        Query {
            status: StatusFilter::Any,
            includes_hidden: true,
            ..Query::default()
        }
    }

    fn at(second: i64) -> Stamp<'static> {
        Stamp {
            actor: "tester",
            at: Timestamp::from_second(1_790_000_000 + second).unwrap(),
        }
    }

    fn id(number: usize) -> BeadId {
        BeadId::parse(&format!("bd-{number:03}")).unwrap()
    }

    /// A store in which every table has rows, and many pages.
    fn fill(path: &Utf8Path) {
        let (mut store, _) = SqliteStore::open_or_create(path).unwrap();
        let inserts = (0..N).map(|number| {
            let depends: Vec<String> = (0..number % 4).map(|n| id(number - n - 1).to_string()).collect();
            let document = json!({
                "id": id(number), "title": format!("Task {number}"), "status": "open", "priority": number % 5,
                "issue_type": "task", "labels": [format!("l{}", number % 7), "all"], "dependencies": depends,
                "description": "x".repeat(number * 90), "created_at": "2026-01-01T00:00:00Z",
                "metadata": {"plan_file": "plan.md", "n": number, "nested": {"deep": [1, 2.50, null]}},
            });
            Write::Insert(Box::new(Entry::from_document(document).unwrap()))
        });
        store.write(&inserts.collect::<Vec<_>>(), at(0)).unwrap();
        let holder = Holder {
            run: "run-1".to_owned(),
            host: "here".to_owned(),
            process: None,
        };
        for number in 0..N {
            let text = new_comment(&id(number), "bob", &"y".repeat(number * 31), &at(1).time());
            let edits = vec![
                Edit::Comment(text),
                Edit::AppendNotes(format!("note {number}")),
            ];
            let write = Write::Update {
                id: id(number),
                edits,
                guard: Guard::default(),
            };
            store.write(&[write], at(2)).unwrap();
            let until = at(9000).at;
            let claim = NewClaim {
                holder: &holder,
                lease_until: until,
                is_forced: true,
                instead_of: None,
            };
            if number % 3 == 0 {
                let fence = store.claim(&id(number), &claim, at(3)).unwrap().fence;
                if number % 2 == 0 {
                    let edits = vec![Edit::Close("done".to_owned())];
                    let write = Write::Update {
                        id: id(number),
                        edits,
                        guard: Guard::fenced(fence),
                    };
                    store.write(&[write], at(4)).unwrap();
                }
            }
            let name = format!("slot/{number}");
            store
                .acquire(&[&name], &holder, until, at(5))
                .unwrap()
                .unwrap();
            store
                .set_control(&format!("memory/{number}"), &json!({"v": number}), 0, at(5))
                .unwrap();
        }
    }

    /// Reads everything, each kind of row by every way there is. What cannot be read is left out.
    fn read(path: &Utf8Path) -> (Truth, usize) {
        let mut truth = Truth {
            records: BTreeMap::new(),
            comments: BTreeMap::new(),
            events: BTreeMap::new(),
            leases: Vec::new(),
            controls: Vec::new(),
        };
        let Ok(store) = SqliteStore::open(path) else {
            return (truth, 1);
        };
        let mut answers = vec![
            store.find(&everything()),
            store.find(&Query {
                ready_at: Some(at(10).at),
                ..Query::default()
            }),
            store.find(&Query {
                labels_all: vec!["l3".to_owned()],
                ..everything()
            }),
        ];
        answers.extend((0..N).map(|number| store.get(&[id(number)])));
        let mut n_refused = answers.iter().filter(|answer| answer.is_err()).count();
        for record in answers.into_iter().flatten().flatten() {
            let id = record.issue.id().clone();
            let before = truth.records.insert(id, record.clone());
            assert!(
                before.is_none_or(|before| before == record),
                "two answers differ"
            );
        }
        for number in 0..N {
            match store.comments(&id(number)) {
                Ok(comments) => drop(truth.comments.insert(id(number), comments)),
                Err(_) => n_refused += 1,
            }
            match store.events(Some(&id(number)), 0, usize::MAX) {
                Ok(events) => truth.add(events),
                Err(_) => n_refused += 1,
            }
        }
        match (
            store.events(None, 0, usize::MAX),
            store.leases("", Timestamp::MIN),
            store.controls(""),
        ) {
            (Ok(events), Ok(leases), Ok(controls)) => {
                truth.add(events);
                (truth.leases, truth.controls) = (leases, controls);
            }
            _ => n_refused += 1,
        }
        (truth, n_refused)
    }

    /// Panics when something was returned that was not written.
    fn assert_nothing_wrong(read: &Truth, truth: &Truth, case: &str) {
        for (id, record) in &read.records {
            assert_eq!(Some(record), truth.records.get(id), "{case}: {id}");
        }
        for (id, comments) in &read.comments {
            assert_eq!(
                Some(comments),
                truth.comments.get(id),
                "{case}: comments of {id}"
            );
        }
        for (number, event) in &read.events {
            assert_eq!(
                Some(event),
                truth.events.get(number),
                "{case}: event {number}"
            );
        }
        assert!(
            read.leases.iter().all(|lease| truth.leases.contains(lease)),
            "{case}"
        );
        assert!(
            read.controls
                .iter()
                .all(|control| truth.controls.contains(control)),
            "{case}"
        );
    }

    fn export(truth: &Truth) -> BTreeMap<BeadId, Entry> {
        let entry = |(id, record): (&BeadId, &Record)| {
            let entry = Entry {
                issue: record.issue.clone(),
                comments: truth.comments[id].clone(),
                fence: record.fence,
            };
            (id.clone(), entry)
        };
        truth.records.iter().map(entry).collect()
    }

    /// What a repair must bring back: every issue with all that people put into it, and who works on it.
    #[derive(Debug, PartialEq)]
    struct Essence {
        issue: Issue,
        comments: Vec<Comment>,
        is_blocked: bool,
        fence: u64,
        claim: Option<Claim>,
    }

    fn essence(truth: &Truth) -> Vec<Essence> {
        let of = |record: &Record| Essence {
            issue: record.issue.clone(),
            comments: truth.comments[record.issue.id()].clone(),
            is_blocked: record.is_blocked,
            fence: record.fence.0,
            claim: record.claim.clone(),
        };
        truth.records.values().map(of).collect()
    }

    #[derive(Debug, Default)]
    struct Tally {
        trials: usize,
        refused_on_reading: usize,
        found_by_doctor: usize,
        harmless: usize,
        from_history: usize,
        from_export: usize,
    }

    /// What a file can be repaired with besides what is left of it.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum Help {
        /// Nothing.
        None,
        /// An export of the present state.
        Export,
    }

    /// One damaged file: nothing wrong is read; what is not harmless is found; a repair brings everything back.
    fn try_one(
        bytes: &[u8],
        truth: &Truth,
        directory: &Utf8Path,
        (case, help): (&str, Help),
        tally: &mut Tally,
    ) {
        let path = directory.join("damaged.db");
        for entry in directory.as_std_path().read_dir().unwrap() {
            std::fs::remove_file(entry.unwrap().path()).unwrap();
        }
        files::write_atomic(&path, bytes).unwrap();
        let (found, n_refused) = read(&path);
        assert_nothing_wrong(&found, truth, case);
        let report = check(&path, Options::default());
        let is_healthy = report.as_ref().is_ok_and(CheckReport::is_healthy);
        tally.trials += 1;
        if is_healthy {
            assert_eq!(
                (n_refused, &found),
                (0, truth),
                "{case}: the doctor missed something"
            );
            tally.harmless += 1;
            return;
        }
        tally.found_by_doctor += 1;
        tally.refused_on_reading += usize::from(n_refused > 0);
        assert!(report.is_ok(), "{case}: {report:?}");
        let export = match help {
            Help::None => BTreeMap::new(),
            Help::Export => export(truth),
        };
        let repaired = repair(&path, export, at(20), Options::default()).unwrap();
        let repaired = repaired.unwrap_or_else(|| panic!("{case}: nothing was repaired"));
        assert_eq!(repaired.lost, [], "{case}");
        tally.from_history += repaired.from_history.len();
        tally.from_export += repaired.from_export.len();
        let report = check(&path, Options::default()).unwrap();
        assert!(report.is_healthy(), "{case}: {:?}", report.findings);
        let (after, n_refused) = read(&path);
        assert_eq!(n_refused, 0, "{case}");
        for (after, mut before) in essence(&after).iter().zip(essence(truth)) {
            // What was brought back leaps over fences that may have been given out since.
            assert!(after.fence >= before.fence, "{case}: the fence fell");
            before.fence = after.fence;
            // Who held a bead is not in an export.
            if repaired.from_export.contains(before.issue.id()) {
                before.claim = None;
            }
            assert!(
                *after == before,
                "{case}: {} came back otherwise",
                before.issue.id()
            );
        }
        assert_eq!(after.records.len(), truth.records.len(), "{case}");
    }

    /// A small generator, so that every run damages the same bytes.
    struct Random(u64);

    impl Random {
        fn below(&mut self, n: usize) -> usize {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            usize::try_from(self.0 % n as u64).unwrap()
        }
    }

    fn filled() -> (tempfile::TempDir, Utf8PathBuf, Vec<u8>, Truth) {
        let directory = beads_ralph_testkit::scratch();
        let root = Utf8PathBuf::from_path_buf(directory.path().to_owned()).unwrap();
        let path = root.join("whole.db");
        fill(&path);
        let (truth, n_refused) = read(&path);
        assert_eq!((n_refused, truth.records.len()), (0, N));
        let report = check(&path, Options::default()).unwrap();
        assert!(report.is_healthy(), "{:?}", report.findings);
        let bytes = files::read(&path).unwrap();
        (directory, root, bytes, truth)
    }

    /// A hundred and fifty flipped bytes, of which the doctor is to find more than a third.
    fn flips(seed: u64, help: Help) {
        let (_directory, root, bytes, truth) = filled();
        let trial = root.join("trial");
        files::create_directory(&trial).unwrap();
        let mut random = Random(seed);
        let mut tally = Tally::default();
        for number in 0..150 {
            let place = random.below(bytes.len());
            let mask = u8::try_from(random.below(255) + 1).unwrap();
            let mut damaged = bytes.clone();
            damaged[place] ^= mask;
            let case = format!(
                "flip {number}: byte {place} (page {}) by {mask:#x}",
                place / 4096 + 1
            );
            try_one(&damaged, &truth, &trial, (&case, help), &mut tally);
        }
        println!("{} bytes, flips: {tally:?}", bytes.len());
        assert!(tally.found_by_doctor > 50, "{tally:?}");
    }

    #[test]
    fn byte_flips_give_no_wrong_row_and_are_repaired_from_the_file_alone() {
        flips(0x5eed, Help::None);
    }

    #[test]
    fn byte_flips_give_no_wrong_row_and_are_repaired_with_an_export() {
        flips(0xbeef, Help::Export);
    }

    #[test]
    fn sixty_truncations_give_no_wrong_row_and_are_repaired() {
        let (_directory, root, bytes, truth) = filled();
        let trial = root.join("trial");
        files::create_directory(&trial).unwrap();
        let mut random = Random(0xcafe);
        let mut tally = Tally::default();
        for number in 0..60 {
            let most = if number % 2 == 0 { 4096 } else { bytes.len() };
            let cut = random.below(most) + 1;
            let case = format!("truncation {number}: {cut} bytes less");
            try_one(
                &bytes[..bytes.len() - cut],
                &truth,
                &trial,
                (&case, Help::Export),
                &mut tally,
            );
        }
        println!("{} bytes, truncations: {tally:?}", bytes.len());
        assert_eq!(tally.found_by_doctor, 60, "{tally:?}");
    }

    #[test]
    fn the_first_page_is_repaired_without_an_export() {
        let (_directory, root, bytes, truth) = filled();
        let trial = root.join("trial");
        files::create_directory(&trial).unwrap();
        let mut random = Random(0xfeed);
        let mut tally = Tally::default();
        let header = (0..100).step_by(4);
        let rest: Vec<usize> = (0..25).map(|_| 100 + random.below(3996)).collect();
        for place in header.chain(rest) {
            let mut damaged = bytes.clone();
            damaged[place] ^= 0x41;
            let case = format!("byte {place} of the first page");
            try_one(&damaged, &truth, &trial, (&case, Help::None), &mut tally);
        }
        println!("first page: {tally:?}");
        assert!(tally.found_by_doctor > 10, "{tally:?}");
    }
}
