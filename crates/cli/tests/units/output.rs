//! What units write, and what is kept of it.

use std::io::Write as _;
use std::time::Duration;

use beads_ralph_runtime::os::process::{self, Cancel, Ending, Flow, Mark, Stream, Watch};

use crate::tools::{
    PART, Place, again, part, peak_memory, run, run_watched, script, spec, units, wait_until,
};

#[test]
fn v_6_a_program_ends_with_its_code_and_its_words() {
    let ended = run(&script("echo out; echo err >&2; exit 3"));
    assert_eq!(ended.ending, Ending::Exited(3));
    assert_eq!(ended.stopped, None);
    assert_eq!(ended.leaked, 0);
    assert_eq!(ended.stdout.text(), "out\n");
    assert_eq!(ended.stderr.text(), "err\n");
}

#[test]
fn v_6_a_signal_counts_128_and_its_number() {
    let ended = run(&script("kill -SEGV $$"));
    assert_eq!(ended.ending, Ending::Signalled(11));
    assert_eq!(ended.ending.code(), Some(139));
}

#[test]
fn v_6_a_shell_that_finds_no_program_ends_with_127() {
    let ended = run(&script("no-such-program-anywhere"));
    assert_eq!(ended.ending.code(), Some(127));
}

/// Keeps all of a unit's output.
#[derive(Default)]
struct Keep([Vec<u8>; 2]);

impl Watch for Keep {
    fn output(&mut self, stream: Stream, bytes: &[u8]) -> Flow {
        self.0[stream as usize].extend_from_slice(bytes);
        Flow::GoOn
    }
}

#[test]
fn v_4_two_full_streams_are_drained_at_once() {
    let place = Place::new();
    let mut spec = script("seq 400000; seq 400000 | tr 0-9 a-j >&2");
    spec.output = Some(place.root().to_owned());
    let mut keep = Keep::default();
    let ended = run_watched(&spec, &mut keep);
    let numbers: Vec<String> = (1..=400_000).map(|number| number.to_string()).collect();
    let expected = numbers.join("\n") + "\n";
    assert!(
        keep.0[0] == expected.as_bytes(),
        "the watcher sees all of it"
    );
    for (captured, seen, name) in [
        (&ended.stdout, &keep.0[0], "stdout"),
        (&ended.stderr, &keep.0[1], "stderr"),
    ] {
        assert_eq!(captured.n_bytes, seen.len() as u64);
        assert!(captured.head == seen[..512 << 10]);
        assert!(captured.tail == seen[seen.len() - (512 << 10)..]);
        assert_eq!(captured.fault, None);
        let file = captured.file.as_ref().unwrap();
        assert_eq!(file, &place.root().join(name));
        assert!(std::fs::read(file).unwrap() == *seen);
    }
}

#[test]
fn v_4_a_flood_takes_little_memory() {
    const TEST: &str = "output::v_4_a_flood_takes_little_memory";
    const FLOOD: u64 = 64 << 20;
    if part().is_some() {
        let place = Place::new();
        let mut spec = script(&format!("yes | head -c {FLOOD}; yes | head -c {FLOOD} >&2"));
        spec.output = Some(place.root().to_owned());
        let units = units().with_max_file(1 << 20);
        let ended = units
            .run(&spec, &Cancel::new().unwrap(), &mut Keeper)
            .unwrap();
        for captured in [&ended.stdout, &ended.stderr] {
            assert_eq!(captured.n_bytes, FLOOD);
            let length = captured.file.as_ref().unwrap().metadata().unwrap().len();
            assert!(length < 2 << 20, "{length}");
        }
        assert!(peak_memory() < 32 << 10, "{} KiB", peak_memory());
        return;
    }
    let output = again(TEST, "flood").output().unwrap();
    let talk = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{talk}");
}

/// Sees everything and keeps nothing.
struct Keeper;

impl Watch for Keeper {
    fn output(&mut self, _: Stream, _: &[u8]) -> Flow {
        Flow::GoOn
    }
}

#[test]
fn a_watcher_is_told_that_time_passes() {
    struct Clock(Vec<Duration>);
    impl Watch for Clock {
        fn output(&mut self, _: Stream, _: &[u8]) -> Flow {
            Flow::GoOn
        }
        fn tick(&mut self, elapsed: Duration) {
            self.0.push(elapsed);
        }
    }
    let mut clock = Clock(Vec::new());
    let ended = run_watched(&script("sleep 1"), &mut clock);
    assert!(!clock.0.is_empty() && clock.0.is_sorted());
    assert!(clock.0.iter().all(|&elapsed| elapsed <= ended.duration));
}

#[test]
fn v_4_half_a_character_is_kept_as_it_came() {
    let mut keep = Keep::default();
    let ended = run_watched(
        &script(r"printf 'a\303'; sleep 0.1; printf '\251b\303'"),
        &mut keep,
    );
    assert_eq!(keep.0[0], b"a\xc3\xa9b\xc3");
    assert_eq!(ended.stdout.head, keep.0[0]);
    assert_eq!(ended.stdout.text(), "aéb\u{fffd}");
}

#[test]
fn v_4_a_program_may_close_its_output_and_go_on() {
    let ended = run(&script(
        "echo first; exec >&-; sleep 0.3; echo second >&2; exit 7",
    ));
    assert_eq!(ended.ending, Ending::Exited(7));
    assert_eq!(ended.stdout.text(), "first\n");
    assert_eq!(ended.stderr.text(), "second\n");
}

#[test]
fn v_4_without_output_there_are_no_files() {
    let place = Place::new();
    let mut spec = script("true");
    spec.output = Some(place.root().to_owned());
    let ended = run(&spec);
    assert_eq!((ended.stdout.file, ended.stderr.file), (None, None));
    assert_eq!(place.root().read_dir_utf8().unwrap().count(), 0);
}

#[test]
fn v_4_a_file_that_cannot_be_kept_is_noted_and_the_unit_goes_on() {
    let place = Place::new();
    let pipe = place.root().join("stdout");
    let mut spec = script(&format!("mkfifo {pipe}; seq 100000; echo fine >&2"));
    spec.output = Some(place.root().to_owned());
    let ended = run(&spec);
    assert_eq!(ended.ending, Ending::Exited(0));
    assert!(ended.stdout.fault.unwrap().contains("File exists"));
    assert_eq!(ended.stdout.n_bytes, 588_895);
    assert_eq!(ended.stderr.fault, None);
    let kept = std::fs::read_to_string(ended.stderr.file.unwrap()).unwrap();
    assert_eq!(kept, "fine\n");
}

#[test]
fn v_4_the_last_words_of_a_tree_are_not_lost() {
    // The words of a process that is killed with its unit are in the pipe before it is.
    for _ in 0..20 {
        let ended = run(&script("(seq 3000; sleep 1000) & sleep 0.05"));
        assert_eq!(ended.stdout.n_bytes, 13_893);
    }
}

#[test]
fn v_4_what_a_large_pipe_holds_at_the_end_is_kept() {
    const TEST: &str = "output::v_4_what_a_large_pipe_holds_at_the_end_is_kept";
    const N_BYTES: usize = 900_000;
    if part().is_some() {
        let stdout = std::io::stdout();
        rustix::pipe::fcntl_setpipe_size(&stdout, 1 << 20).unwrap();
        stdout.lock().write_all(&vec![b'x'; N_BYTES]).unwrap();
        return;
    }
    let own = std::env::current_exe().unwrap();
    let mut spec = spec(&[own.to_str().unwrap(), "--exact", TEST, "--nocapture"]);
    spec.env.with.insert(PART.to_owned(), "writer".to_owned());
    let mut keep = Late {
        mark: spec.mark.clone(),
        keep: Keep::default(),
    };
    run_watched(&spec, &mut keep);
    let keep = keep.keep;
    let n_bytes = String::from_utf8_lossy(&keep.0[0]).matches('x').count();
    assert!(n_bytes >= N_BYTES, "{n_bytes}");
}

/// Keeps all of a unit's output, and looks at it only when everybody is gone.
struct Late {
    mark: Mark,
    keep: Keep,
}

impl Watch for Late {
    fn output(&mut self, stream: Stream, bytes: &[u8]) -> Flow {
        wait_until("all are gone", || process::find(&self.mark).is_empty());
        self.keep.output(stream, bytes)
    }
}
