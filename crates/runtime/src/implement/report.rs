//! Reading what a worker left (I-20, I-21): its report, or one that is written in its place.

use std::io::Read as _;

use beads_ralph_core::implement::Agent;
use beads_ralph_core::implement::report::{
    self, CRASHED, MALFORMED, MAX_REPORT_BYTES, Malformed, Report, raw_detail, synthetic,
};
use camino::Utf8Path;

use crate::os::files::{self, FileError};

/// How much of a report that cannot be used is kept.
const MAX_RAW: usize = 64 * 1024;

#[derive(Debug)]
pub(super) struct Classified {
    pub(super) report: Report,
    /// Whether it was written in the place of one that cannot be used.
    pub(super) is_synthetic: bool,
    /// What is wrong with it, and was used all the same.
    pub(super) faults: Vec<String>,
}

#[derive(Debug)]
pub(super) enum NoReport {
    Missing,
    /// It wrote one that cannot be used; why, with what it wrote.
    Malformed(String),
}

pub(super) fn read(path: &Utf8Path, agent: &Agent) -> Result<Classified, NoReport> {
    let bytes = bytes(path)?;
    if bytes.len() > MAX_REPORT_BYTES {
        let why = format!("the report is longer than {MAX_REPORT_BYTES} bytes");
        return Err(malformed(&why, &bytes));
    }
    let text =
        std::str::from_utf8(&bytes).map_err(|_| malformed("the report is not UTF-8", &bytes))?;
    let read = report::read(text, agent)
        .map_err(|error: Malformed| malformed(&error.to_string(), &bytes))?;
    let faults = read.faults.iter().map(|fault| {
        let place = fault.place;
        format!(
            "line {}, column {}: {}",
            place.line, place.column, fault.message
        )
    });
    Ok(Classified {
        faults: faults.collect(),
        report: read.report,
        is_synthetic: false,
    })
}

/// The bytes of a report, with one byte beyond the limit where it is too long. Links are refused.
fn bytes(path: &Utf8Path) -> Result<Vec<u8>, NoReport> {
    let file = match files::open_own(path) {
        Ok(file) => file,
        Err(_) if path.symlink_metadata().is_err() => return Err(NoReport::Missing),
        Err(error) => return Err(NoReport::Malformed(error.to_string())),
    };
    let most = u64::try_from(MAX_REPORT_BYTES).unwrap_or(u64::MAX);
    let mut bytes = Vec::new();
    match file.take(most.saturating_add(1)).read_to_end(&mut bytes) {
        Ok(_) => Ok(bytes),
        Err(error) => Err(NoReport::Malformed(error.to_string())),
    }
}

fn malformed(why: &str, bytes: &[u8]) -> NoReport {
    let kept = &bytes[..bytes.len().min(MAX_RAW)];
    NoReport::Malformed(raw_detail(why, kept))
}

/// Writes a report in the place of one that cannot be used.
pub(super) fn synthesize(
    path: &Utf8Path,
    why: NoReport,
    crash: &str,
) -> Result<Classified, FileError> {
    let (reason, detail) = match why {
        NoReport::Missing => (CRASHED, crash.to_owned()),
        NoReport::Malformed(detail) => (MALFORMED, detail),
    };
    let (report, text) = synthetic(reason, &detail);
    // Whatever is there, a link or a directory, makes room.
    if path.is_dir() && !path.is_symlink() {
        files::remove_directory(path)?;
    }
    files::remove_leftover(path);
    files::write_atomic(path, text.as_bytes())?;
    Ok(Classified {
        report,
        is_synthetic: true,
        faults: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use beads_ralph_core::implement::report::ReportStatus;
    use camino::Utf8PathBuf;

    use super::*;

    fn place() -> (tempfile::TempDir, Utf8PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::from_path_buf(directory.path().join("r.yaml")).unwrap();
        (directory, path)
    }

    fn classified(path: &Utf8Path, agent: &str) -> Classified {
        let agent = Agent::named(agent);
        match read(path, &agent) {
            Ok(classified) => classified,
            Err(why) => synthesize(path, why, "it ended with 1").unwrap(),
        }
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a worker writes as it likes")]
    fn i_20_i_21_whatever_a_worker_leaves_there_is_a_report() {
        let cases: [(&str, Option<Vec<u8>>, &str); 9] = [
            ("missing", None, CRASHED),
            ("empty", Some(Vec::new()), MALFORMED),
            ("not UTF-8", Some(vec![0xff, 0xfe, 1]), MALFORMED),
            (
                "too long",
                Some(vec![b'#'; MAX_REPORT_BYTES + 1]),
                MALFORMED,
            ),
            ("no mapping", Some(b"- a\n".to_vec()), MALFORMED),
            ("no status", Some(b"evidence: {}\n".to_vec()), MALFORMED),
            ("odd status", Some(b"status: done\n".to_vec()), MALFORMED),
            ("not YAML", Some(b"status: [\n".to_vec()), MALFORMED),
            (
                "a bomb",
                Some(b"a: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]\nstatus: *c\n".to_vec()),
                MALFORMED,
            ),
        ];
        for (what, bytes, reason) in cases {
            let (_directory, path) = place();
            if let Some(bytes) = bytes {
                fs::write(&path, bytes).unwrap();
            }
            let classified = classified(&path, "tdd-red-team");
            assert!(classified.is_synthetic, "{what}");
            assert_eq!(classified.report.status, ReportStatus::Failed, "{what}");
            assert_eq!(classified.report.escalations[0].reason, reason, "{what}");
            let written = fs::read_to_string(&path).unwrap();
            let again = report::read(&written, &Agent::TddRedTeam).unwrap();
            assert_eq!(again.report, classified.report, "{what}");
            assert!(again.faults.is_empty(), "{what}: {:?}", again.faults);
        }
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a worker writes as it likes")]
    fn i_20_a_link_in_the_place_of_a_report_is_not_followed() {
        let (directory, path) = place();
        let elsewhere = directory.path().join("elsewhere");
        fs::write(&elsewhere, "status: complete\n").unwrap();
        std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
        let classified = classified(&path, "tdd-red-team");
        assert!(classified.is_synthetic);
        assert_eq!(classified.report.escalations[0].reason, MALFORMED);
        assert_eq!(
            fs::read_to_string(&elsewhere).unwrap(),
            "status: complete\n"
        );
        assert!(!path.symlink_metadata().unwrap().is_symlink());
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a worker writes as it likes")]
    fn example_5_of_9_16_a_blank_note_of_a_diagnosis_is_malformed() {
        let (_directory, path) = place();
        fs::write(&path, "status: complete\nroot_cause_note: \"  \"\n").unwrap();
        let classified = classified(&path, "bug-diagnoser");
        assert!(classified.is_synthetic);
        assert_eq!(classified.report.status, ReportStatus::Failed);
        assert!(
            classified.report.escalations[0]
                .detail
                .contains("root_cause_note")
        );
    }
}
