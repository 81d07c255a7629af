//! Programs that write a great deal.

use std::process::{Command, Stdio};
use std::time::Duration;

use beads_ralph_runtime::os::process::{
    Cancel, Environment, Limits, Mark, Silent, Spec, Stdin, Units,
};
use camino::{Utf8Path, Utf8PathBuf};

use crate::{Sizes, median, timed};

pub(crate) fn measure(sizes: &Sizes) {
    let directory = tempfile::tempdir().expect("there is room for temporary files");
    let root = Utf8PathBuf::from_path_buf(directory.path().to_owned()).expect("a plain path");
    let units = Units::with_shim(env!("CARGO_BIN_EXE_beads-ralph")).with_max_file(u64::MAX);
    let n_mebibytes = sizes.n_mebibytes;
    let program = format!("head -c {n_mebibytes}M /dev/zero");
    let (mut memory, mut null, mut file, mut copied) = (vec![], vec![], vec![], vec![]);
    for _ in 0..sizes.n_rounds {
        memory.push(captured(&units, &program, None));
        null.push(shell(&format!("{program} | cat >/dev/null")));
        file.push(captured(&units, &program, Some(&root)));
        // A unit keeps its output only where there is nothing yet.
        shell(&format!("rm {root}/stdout"));
        copied.push(shell(&format!("{program} | cat >{root}/copy")));
    }
    println!(
        "\n{n_mebibytes} MiB written by a program, MiB a second (medians of {} runs)\n",
        sizes.n_rounds
    );
    println!("{:>34} {:>9} {:>9} {:>7}", "", "unit", "cat", "ratio");
    report(
        "kept in memory; cat to /dev/null",
        n_mebibytes,
        [memory, null],
    );
    report("kept in a file; cat to a file", n_mebibytes, [file, copied]);
}

#[expect(clippy::cast_precision_loss, reason = "figures are rounded anyway")]
fn report(what: &str, n_mebibytes: usize, times: [Vec<Duration>; 2]) {
    let [ours, theirs] = times.map(|mut times| median(&mut times));
    let speed = |time: Duration| n_mebibytes as f64 / time.as_secs_f64();
    println!(
        "{what:>34} {:>9.0} {:>9.0} {:>7.2}",
        speed(ours),
        speed(theirs),
        ours.div_duration_f64(theirs)
    );
}

fn captured(units: &Units, program: &str, output: Option<&Utf8Path>) -> Duration {
    let spec = Spec {
        mark: Mark("bench-capture".to_owned()),
        argv: program.split(' ').map(str::to_owned).collect(),
        cwd: "/".into(),
        env: Environment::default(),
        stdin: Stdin::Closed,
        limits: Limits::default(),
        output: output.map(Utf8Path::to_owned),
    };
    let cancel = Cancel::new().expect("a pipe");
    let (ended, time) = timed(|| units.run(&spec, &cancel, &mut Silent));
    let ended = ended.expect("it runs");
    assert_eq!(ended.stdout.fault, None);
    time
}

#[expect(
    clippy::disallowed_methods,
    reason = "this is what units are compared with"
)]
fn shell(text: &str) -> Duration {
    let mut command = Command::new("sh");
    command.args(["-c", text]).stdin(Stdio::null());
    let (status, time) = timed(|| command.status());
    assert!(status.expect("it starts").success());
    time
}
