//! The store under fire: many processes at once, and processes that are killed.
//!
//! Everything here goes through the program itself, because what is promised is promised to processes.

#[cfg(test)]
mod fire {
    use std::collections::{BTreeMap, HashMap};
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::process::{Child, Command, Output, Stdio};
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use std::time::Duration;

    use beads_ralph_core::bead::BeadId;
    use beads_ralph_core::issue::{EventKind, Query, StatusFilter};
    use beads_ralph_runtime::store::{Options, SqliteStore, Store as _, check};
    use camino::Utf8PathBuf;
    use serde_json::{Value, json};

    const AT_A_TIME: usize = 40;

    struct Place {
        _directory: tempfile::TempDir,
        root: Utf8PathBuf,
    }

    impl Place {
        /// A directory with a store of open beads `bd-0`, `bd-1`, ….
        fn with_beads(n_beads: usize) -> Self {
            let directory = beads_ralph_testkit::scratch();
            let root = Utf8PathBuf::from_path_buf(directory.path().to_owned()).unwrap();
            let place = Self {
                _directory: directory,
                root,
            };
            assert!(place.run(&["init", "--quiet"]).status.success());
            let lines = (0..n_beads).map(|n| {
                json!({"id": format!("bd-{n}"), "title": format!("Bead {n}"), "status": "open", "priority": 1,
                    "created_at": "2026-01-01T00:00:00Z", "description": "x".repeat(500)})
                .to_string()
            });
            let lines: Vec<String> = lines.collect();
            let mut import = place.command(&["import", "-"]);
            let mut import = import
                .stdin(Stdio::piped())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            import
                .stdin
                .take()
                .unwrap()
                .write_all(lines.join("\n").as_bytes())
                .unwrap();
            assert!(import.wait().unwrap().success());
            place
        }

        #[expect(clippy::disallowed_methods, reason = "this is the program under test")]
        fn command(&self, arguments: &[&str]) -> Command {
            let mut command = Command::new(env!("CARGO_BIN_EXE_beads-ralph"));
            command.args(arguments).current_dir(&self.root).env_clear();
            command.env("USER", "tester").stdin(Stdio::null());
            command
        }

        fn run(&self, arguments: &[&str]) -> Output {
            self.command(arguments).output().unwrap()
        }

        fn path(&self) -> Utf8PathBuf {
            self.root.join(".beads/beads-ralph.db")
        }

        fn open(&self) -> SqliteStore {
            SqliteStore::open(&self.path()).unwrap()
        }

        fn assert_whole(&self) {
            let report = check(&self.path(), Options::default()).unwrap();
            assert!(report.is_healthy(), "{:?}", report.findings);
        }
    }

    /// Runs a job for every number, so many at a time.
    fn in_parallel(n_jobs: usize, job: impl Fn(usize) + Sync) {
        let next = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..AT_A_TIME {
                scope.spawn(|| {
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        if number >= n_jobs {
                            return;
                        }
                        job(number);
                    }
                });
            }
        });
    }

    /// Changes one bead over and over beside the others, until it is told to stop; how often it did.
    fn writer_loop(place: &Place, stop: &AtomicBool) -> usize {
        let mut n_written = 0;
        while !stop.load(Ordering::Relaxed) {
            let note = format!("note {n_written}");
            let output = place.run(&["update", "bd-writer", "--append-notes", &note]);
            assert!(
                output.status.success(),
                "{}",
                String::from_utf8_lossy(&output.stderr)
            );
            n_written += 1;
        }
        n_written
    }

    /// Does something while another one writes all the time; how often that one did.
    fn beside_a_writer(place: &Place, work: impl FnOnce()) -> usize {
        add_writer(place);
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| writer_loop(place, &stop));
            work();
            stop.store(true, Ordering::Relaxed);
            writer.join().unwrap()
        })
    }

    fn add_writer(place: &Place) {
        let line = json!({"id": "bd-writer", "title": "Written all the time", "status": "open"});
        let file = place.root.join("writer.jsonl");
        beads_ralph_runtime::os::files::write_atomic(&file, line.to_string().as_bytes()).unwrap();
        assert!(place.run(&["import", file.as_str()]).status.success());
    }

    /// Every claimed bead was won once, by the one that its events name; nothing that was acknowledged is missing.
    fn assert_one_winner_each(place: &Place, won: &HashMap<String, Vec<String>>, n_beads: usize) {
        let store = place.open();
        let claimed = store.events(None, 0, usize::MAX).unwrap();
        let mut by_bead: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for event in claimed
            .into_iter()
            .filter(|event| event.kind == EventKind::Claimed)
        {
            by_bead
                .entry(event.issue.to_string())
                .or_default()
                .push(event.actor);
        }
        assert_eq!(by_bead.len(), n_beads, "every bead was claimed");
        for (bead, winners) in &by_bead {
            assert_eq!(winners.len(), 1, "{bead} was won by {winners:?}");
            assert_eq!(won.get(bead), Some(winners), "{bead}");
        }
        let query = Query {
            status: StatusFilter::OneOf(vec!["in_progress".to_owned()]),
            ..Query::default()
        };
        assert_eq!(store.find(&query).unwrap().len(), n_beads);
    }

    fn notes_of_writer(place: &Place) -> usize {
        let id = BeadId::parse("bd-writer").unwrap();
        let record = place.open().get(&[id]).unwrap().remove(0);
        record
            .issue
            .text("notes")
            .unwrap_or_default()
            .lines()
            .count()
    }

    /// Parses an answer and demands that it is a success, or that somebody else was faster.
    fn outcome(output: &Output) -> Value {
        let code = output.status.code();
        assert!(
            matches!(code, Some(0 | 4)),
            "exit {code:?}: {}",
            String::from_utf8_lossy(&output.stdout)
        );
        serde_json::from_slice(&output.stdout).unwrap()
    }

    #[test]
    fn l_11_forty_processes_with_fifty_claims_each_on_five_hundred_beads() {
        let place = Place::with_beads(500);
        let won: Mutex<HashMap<String, Vec<String>>> = Mutex::default();
        let n_lost = AtomicUsize::new(0);
        let n_written = beside_a_writer(&place, || {
            in_parallel(40, |number| {
                // Neighbours overlap: every bead is wanted by four processes.
                let ids: Vec<String> = (0..50)
                    .map(|n| format!("bd-{}", (number * 50 + n * 7) % 500))
                    .collect();
                let actor = format!("p{number}");
                let mut arguments = vec!["claim", "--json", "--actor", &actor];
                arguments.extend(ids.iter().map(String::as_str));
                let output = place.run(&arguments);
                let answer = outcome(&output);
                let results = answer
                    .pointer("/data/results")
                    .or_else(|| answer.pointer("/error/results"));
                let results = results.and_then(Value::as_array).unwrap();
                assert_eq!(results.len(), 50);
                for result in results {
                    let id = result["id"].as_str().unwrap().to_owned();
                    if result["claimed"] == true {
                        won.lock()
                            .unwrap()
                            .entry(id)
                            .or_default()
                            .push(actor.clone());
                    } else {
                        n_lost.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        });
        assert_eq!(n_lost.into_inner(), 1500);
        assert_one_winner_each(&place, &won.into_inner().unwrap(), 500);
        assert_eq!(notes_of_writer(&place), n_written, "no update was lost");
        place.assert_whole();
    }

    #[test]
    fn l_12_two_thousand_processes_with_one_claim_each_forty_at_a_time() {
        let place = Place::with_beads(500);
        let won: Mutex<HashMap<String, Vec<String>>> = Mutex::default();
        let n_lost = AtomicUsize::new(0);
        let n_written = beside_a_writer(&place, || {
            in_parallel(2000, |number| {
                // The four that want the same bead come one after the other, so that they meet.
                let (id, actor) = (format!("bd-{}", number / 4), format!("p{number}"));
                let output = place.run(&["claim", &id, "--actor", &actor]);
                match output.status.code() {
                    Some(0) => won.lock().unwrap().entry(id).or_default().push(actor),
                    Some(4) => {
                        let text = String::from_utf8_lossy(&output.stderr);
                        assert!(text.contains("already claimed"), "{text}");
                        n_lost.fetch_add(1, Ordering::Relaxed);
                    }
                    code => panic!("exit {code:?}: {}", String::from_utf8_lossy(&output.stderr)),
                }
            });
        });
        assert_eq!(n_lost.into_inner(), 1500);
        assert_one_winner_each(&place, &won.into_inner().unwrap(), 500);
        assert_eq!(notes_of_writer(&place), n_written, "no update was lost");
        place.assert_whole();
    }

    /// What a killed process was doing.
    #[derive(Debug, Clone, Copy)]
    enum Mode {
        Claims,
        Comments,
        Imports,
        SeveralWriters,
    }

    /// A process that writes one line for each change that was acknowledged, by running the program again and again.
    fn writer(place: &Place, mode: Mode, round: usize, lane: usize) -> Child {
        let program = env!("CARGO_BIN_EXE_beads-ralph");
        let tag = format!("{round}-{lane}");
        let script = match mode {
            Mode::Claims | Mode::SeveralWriters => format!(
                "i=0; while :; do id=bd-$(( ({round} * 7 + {lane} * 131 + i) % 400 )); \
                 \"{program}\" claim $id --actor w{tag} >/dev/null 2>&1 && echo claim $id w{tag}; \
                 \"{program}\" release $id --actor w{tag} --holder w{tag} >/dev/null 2>&1 && echo release $id w{tag}; i=$((i+1)); done"
            ),
            Mode::Comments => format!(
                "i=0; while :; do \"{program}\" comment bd-1 \"said {tag}-$i\" >/dev/null 2>&1 && echo comment bd-1 \"said {tag}-$i\"; i=$((i+1)); done"
            ),
            Mode::Imports => format!(
                "i=0; while :; do for n in 1 2 3 4 5 6 7 8 9; do echo \"{{\\\"id\\\":\\\"im-{tag}-$i-$n\\\",\\\"title\\\":\\\"t\\\",\\\"status\\\":\\\"open\\\"}}\"; done | \
                 \"{program}\" import - >/dev/null 2>&1 && echo import im-{tag}-$i; i=$((i+1)); done"
            ),
        };
        shell(place, &script)
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "a shell plays the worker that is killed"
    )]
    fn shell(place: &Place, script: &str) -> Child {
        use std::os::unix::process::CommandExt as _;
        let mut command = Command::new("sh");
        command
            .args(["-c", script])
            .current_dir(&place.root)
            .env("USER", "tester");
        // A group of its own, so that the kill reaches the program that is writing, not only the shell.
        command
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        command.spawn().unwrap()
    }

    /// Kills the whole group at once, and gives the lines that were acknowledged before.
    fn kill(mut child: Child) -> Vec<String> {
        let pid = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process_group(pid, rustix::process::Signal::KILL).unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let lines = lines.map_while(Result::ok).collect();
        child.wait().unwrap();
        lines
    }

    /// Every acknowledged change is in the history, or in the store.
    fn assert_kept(place: &Place, acknowledged: &[String]) {
        let store = place.open();
        let events = store.events(None, 0, usize::MAX).unwrap();
        let count = |kind: EventKind, id: &str, actor: &str| {
            let matching = events
                .iter()
                .filter(|event| event.kind == kind && event.issue.as_str() == id);
            matching.filter(|event| event.actor == actor).count()
        };
        let comments = store.comments(&BeadId::parse("bd-1").unwrap()).unwrap();
        let mut expected: BTreeMap<&str, usize> = BTreeMap::new();
        for line in acknowledged {
            *expected.entry(line).or_default() += 1;
        }
        for (line, n_times) in expected {
            let words: Vec<&str> = line.splitn(3, ' ').collect();
            match words[..] {
                ["claim", id, actor] => {
                    assert!(count(EventKind::Claimed, id, actor) >= n_times, "{line}");
                }
                ["release", id, actor] => {
                    assert!(count(EventKind::Released, id, actor) >= n_times, "{line}");
                }
                ["comment", _, text] => {
                    assert!(
                        comments.iter().any(|comment| comment.text() == Some(text)),
                        "{line}"
                    );
                }
                ["import", prefix] => {
                    let ids = store.ids_with_prefix(&format!("{prefix}-"), 20).unwrap();
                    assert_eq!(ids.len(), 9, "{line}: all of a batch or nothing");
                }
                _ => {} // A line that the kill cut short was not acknowledged.
            }
        }
    }

    /// Kills writers of one kind, round by round, and looks after each whether all is there that they said was written.
    fn killed(mode: Mode, n_lanes: usize) {
        let place = Place::with_beads(400);
        let mut n_kills = 0;
        let mut n_acknowledged = 0;
        // On a busy machine less is done before each kill, so that more rounds are needed to prove as much.
        for round in 0..250 {
            if n_kills >= 25 * n_lanes && n_acknowledged > 50 {
                break;
            }
            let children: Vec<Child> = (0..n_lanes)
                .map(|lane| writer(&place, mode, round, lane))
                .collect();
            // Not a wait for something to happen: the moment of the kill is meant to be arbitrary.
            std::thread::sleep(Duration::from_millis(30 + (round as u64 * 37) % 120));
            let lines: Vec<String> = children.into_iter().flat_map(kill).collect();
            n_kills += n_lanes;
            n_acknowledged += lines.len();
            assert_kept(&place, &lines);
        }
        assert!(n_kills >= 25 * n_lanes, "{n_kills}");
        assert!(n_acknowledged > 50, "{n_acknowledged}");
        place.assert_whole();
        println!("{n_kills} kills, {n_acknowledged} acknowledged changes, none missing");
    }

    #[test]
    fn kill_9_of_claimers_loses_nothing_that_was_acknowledged() {
        killed(Mode::Claims, 1);
    }

    #[test]
    fn kill_9_of_commenters_loses_nothing_that_was_acknowledged() {
        killed(Mode::Comments, 1);
    }

    #[test]
    fn kill_9_of_importers_loses_nothing_that_was_acknowledged() {
        killed(Mode::Imports, 1);
    }

    #[test]
    fn kill_9_of_five_writers_at_once_loses_nothing_that_was_acknowledged() {
        killed(Mode::SeveralWriters, 5);
    }
}
