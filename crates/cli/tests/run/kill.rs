//! The orchestrator is killed at every place of its journal, started again, and must come to the same end as if nothing had been.
//!
//! Every test run has some places, drawn from a fixed seed. `BEADS_RALPH_KILL_EVERYWHERE=1` takes all of them and says how long it took.

use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

use beads_ralph_runtime::os::clock;
use beads_ralph_runtime::run::RunDirectory;

use crate::picture::{Picture, difference};
use crate::world::{LONG, Setup, World, journal_in, plan, wait_until};

const EVERYWHERE: &str = "BEADS_RALPH_KILL_EVERYWHERE";

/// How many are killed at the same time.
const AT_ONCE: usize = 3;

/// What is left of a variable's name that makes the program die.
pub(crate) const DIE_AT: &str = "BEADS_RALPH_DIE_AT";

/// Numbers that look random and are the same for the same seed (`SplitMix64`).
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn roll(&mut self, n_sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut value = self.0;
        value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (value ^ (value >> 31)) % n_sides
    }
}

pub(crate) fn is_everywhere() -> bool {
    #[expect(clippy::disallowed_methods, reason = "whoever runs the tests sets it")]
    let value = std::env::var(EVERYWHERE);
    value.is_ok_and(|value| value == "1")
}

/// One killing, or several one after the other: the places in the journal at which the process dies each time.
#[derive(Debug, Clone)]
struct Deaths(Vec<String>);

impl fmt::Display for Deaths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(", then "))
    }
}

/// A plan and how it is run, again and again.
struct Course {
    template: World,
    target: Option<&'static str>,
    undisturbed: Picture,
    /// How many entries the journal of the undisturbed run has.
    n_entries: u64,
}

impl Course {
    #[track_caller]
    fn new(setup: &Setup, target: Option<&'static str>) -> Self {
        let template = World::new(setup);
        let world = template.copy();
        world.run(&["run"]).exits(0);
        let undisturbed = Picture::of(&world, target);
        sound(&world);
        let n_entries = world.journal().len() as u64 - 1;
        Self {
            template,
            target,
            undisturbed,
            n_entries,
        }
    }

    /// Kills, starts again until it ends by itself, and compares. The answer is how often it was killed.
    fn play(&self, deaths: &Deaths) -> Result<usize, String> {
        let world = self.template.copy();
        let mut n_killed = 0;
        for death in &deaths.0 {
            let ended = world.command(&["run"]).env(DIE_AT, death).output(LONG);
            match ended.code {
                None => n_killed += 1,
                // It was over before.
                Some(0) => break,
                Some(_) => return Err(format!("{ended:#?}")),
            }
        }
        let ended = world.run(&["run"]);
        if ended.code != Some(0) {
            return Err(format!("{ended:#?}"));
        }
        sound(&world);
        let picture = Picture::of(&world, self.target);
        if picture == self.undisturbed {
            return Ok(n_killed);
        }
        let difference = difference(
            &format!("{:#?}", self.undisturbed),
            &format!("{picture:#?}"),
        );
        Err(format!(
            "it did not come to the same end\n{difference}{}",
            ended.stderr
        ))
    }

    /// The same, with what is wrong told by the place of the death.
    fn try_play(&self, deaths: &Deaths) -> Result<usize, String> {
        let played = catch_unwind(AssertUnwindSafe(|| self.play(deaths)));
        let played = played.unwrap_or_else(|_| Err("see above".to_owned()));
        played.map_err(|wrong| format!("killed at {deaths}: {wrong}"))
    }

    /// Plays many, some at the same time. The answer is how often something was killed.
    #[track_caller]
    fn play_all(&self, all: &[Deaths]) -> usize {
        let next = AtomicUsize::new(0);
        let results: Vec<Result<usize, String>> = std::thread::scope(|scope| {
            let player = || {
                let mut results = Vec::new();
                while let Some(deaths) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
                    results.push(self.try_play(deaths));
                }
                results
            };
            let players: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(player)).collect();
            players
                .into_iter()
                .flat_map(|player| player.join().unwrap())
                .collect()
        });
        let wrong: Vec<&String> = results
            .iter()
            .filter_map(|result| result.as_ref().err())
            .collect();
        let n_wrong = wrong.len();
        let wrong: Vec<&str> = wrong.into_iter().map(String::as_str).collect();
        let wrong = wrong.join("\n");
        assert!(
            n_wrong == 0,
            "{n_wrong} of {} went wrong:\n{wrong}",
            all.len()
        );
        results.iter().flatten().sum()
    }

    /// Every place of the journal, three ways: half of the line, the line alone, and a moment after.
    fn everywhere(&self) -> Vec<Deaths> {
        let mut dice = Dice(5);
        let places = 0..=self.n_entries;
        let deaths = places.flat_map(|seq| {
            let later = dice.roll(120);
            [format!("{seq}~"), seq.to_string(), format!("{seq}+{later}")]
        });
        deaths.map(|death| Deaths(vec![death])).collect()
    }

    /// Killed again while it is still busy with the consequences of having been killed.
    fn twice(&self, n_rounds: u64) -> Vec<Deaths> {
        let mut dice = Dice(6);
        let mut death = |from: u64, n_sides: u64| {
            let seq = from + dice.roll(n_sides);
            let death = match dice.roll(3) {
                0 => format!("{seq}~"),
                1 => seq.to_string(),
                _ => format!("{seq}+{}", dice.roll(120)),
            };
            (seq, death)
        };
        let round = |_| {
            let (first, one) = death(1, self.n_entries);
            let (second, two) = death(first, 6);
            let (_, three) = death(second, 12);
            Deaths(vec![one, two, three])
        };
        (0..n_rounds).map(round).collect()
    }

    /// All rounds, or some of them where time is short.
    #[track_caller]
    fn run(&self, name: &str, n_sampled: usize) {
        let began = clock::monotonic();
        let mut all = self.everywhere();
        all.extend(self.twice(self.n_entries / 2));
        if !is_everywhere() {
            let mut dice = Dice(7);
            let pick = |_| {
                let n = dice.roll(all.len() as u64);
                all.swap_remove(usize::try_from(n).unwrap())
            };
            all = (0..n_sampled).map(pick).collect();
        }
        let n_killed = self.play_all(&all);
        assert!(n_killed >= all.len() / 2, "{n_killed} of {}", all.len());
        let seconds = began.elapsed().as_secs();
        println!(
            "{name}: {} entries, {} rounds, killed {n_killed} times, {seconds} s",
            self.n_entries,
            all.len()
        );
    }
}

/// What must hold after every run, whatever happened before.
#[track_caller]
fn sound(world: &World) {
    // Shims notice a moment later that whoever started them is gone.
    wait_until("nobody is left", || world.processes().is_empty());
    for run in RunDirectory::all(&world.root.join(".beads")) {
        assert!(run.is_over(), "{} is over", run.id());
    }
    world
        .run(&["replay", "latest"])
        .exits(0)
        .says("decisions are the same");
    recorded_once(world);
    let main = world.git(&["status", "--porcelain"]);
    assert_eq!(main, "", "the main checkout is as it was");
}

/// Every run of an agent that came to an end is recorded, once; and nothing else is.
#[track_caller]
fn recorded_once(world: &World) {
    let mut ended: BTreeMap<String, usize> = BTreeMap::new();
    for entry in world.runs().iter().flat_map(|run| journal_in(run)) {
        let answer = &entry["event"]["answered"]["answer"]["Ok"];
        for key in ["ended", "judged"] {
            if let Some(session) = answer[key]["report"]["session"].as_str() {
                *ended.entry(session.to_owned()).or_default() += 1;
            }
        }
    }
    let mut recorded: BTreeMap<String, usize> = BTreeMap::new();
    for bead in world.beads().values() {
        for key in ["dev_agent_executions", "qa_agent_executions"] {
            for execution in bead["metadata"][key].as_array().into_iter().flatten() {
                let session = execution["session_id"].as_str().unwrap();
                *recorded.entry(session.to_owned()).or_default() += 1;
            }
        }
    }
    assert_eq!(ended, recorded);
    assert!(world.log().len() >= ended.len(), "agents run at least once");
}

/// Tracks side by side, joins, and a judge who is content only the second time.
fn tracks() -> Setup {
    let plan = plan(&[
        ("1.1", "Ground"),
        ("1.2a", "Left"),
        ("1.2b", "Right"),
        ("1.3", "Join"),
        ("2a.1", "Up"),
        ("2a.2", "Further Up"),
        ("2b.1", "Down"),
        ("3.1", "Roof"),
    ]);
    let agent = r#"
if [ "$role" = dev ]; then
  mkdir -p work && echo "$bead, attempt $attempt" >>"work/$sprint.txt"
elif [ "$sprint$attempt" = 1.2a1 ]; then
  echo '{"status": "fail", "message": "it is too short"}'
else
  echo '{"status": "pass", "message": "fine"}'
fi
"#;
    Setup {
        plan,
        config: "integration: merge\nralph: {max_parallel_sessions: 3, poll_interval: 200ms}\n"
            .to_owned(),
        agent: agent.to_owned(),
        ..Setup::default()
    }
}

#[test]
fn z_4_killed_anywhere_a_run_comes_to_the_same_end() {
    Course::new(&tracks(), Some("ralph/plan")).run("tracks and merges", 12);
}

/// Two tracks that do not fit with each other, so that whoever joins them has a conflict to solve first; each worktree is set up by a
/// command and removed at the end.
fn conflict() -> Setup {
    let plan = plan(&[
        ("1.1", "Ground"),
        ("1.2a", "Left"),
        ("1.2b", "Right"),
        ("1.3", "Join"),
        ("2a.1", "Up"),
        ("2b.1", "Down"),
        ("3.1", "Roof"),
        ("3.2", "Chimney"),
    ]);
    let agent = r#"
if [ "$role" = dev ]; then
  if grep -q '<<<<<<<' shared.txt; then
    grep -v '^[<=>]' shared.txt | sort -u >solved && mv solved shared.txt
    exit 0
  fi
  case $sprint in
    1.1?|1.2?|2?.1) echo "$bead" >>shared.txt ;;
  esac
  mkdir -p work && echo "$bead, attempt $attempt" >>"work/$sprint.txt"
else
  echo '{"status": "pass", "message": "fine"}'
fi
"#;
    let config = "integration: none\nworktrees: {setup: 'test -f shared.txt', cleanup_on_complete: true}\n\
                  ralph: {max_parallel_sessions: 4, poll_interval: 200ms}\n";
    Setup {
        plan,
        config: config.to_owned(),
        agent: agent.to_owned(),
        ..Setup::default()
    }
}

#[test]
fn z_4_killed_while_conflicts_are_solved_a_run_comes_to_the_same_end() {
    Course::new(&conflict(), None).run("conflicts and no merges", 8);
}

/// One after the other, each in the way of the one before when it is merged.
fn crowded() -> Setup {
    let sprints = [
        ("1.1a", "A"),
        ("1.1b", "B"),
        ("1.1c", "C"),
        ("1.1d", "D"),
        ("1.1e", "E"),
        ("1.1f", "F"),
        ("1.1g", "G"),
        ("1.1h", "H"),
    ];
    let config = "integration: merge\nralph: {max_parallel_sessions: 1, poll_interval: 200ms}\n";
    Setup {
        plan: plan(&sprints),
        config: config.to_owned(),
        ..conflict()
    }
}

#[test]
fn z_11_killed_while_nothing_fits_into_the_target_a_run_comes_to_the_same_end() {
    Course::new(&crowded(), Some("ralph/plan")).run("conflicts with the target", 6);
}
