//! The page of a run in a real browser: everything is drawn, and nothing is complained about.

use std::fs;

use beads_ralph_testkit::generated_plan;
use camino::{Utf8Path, Utf8PathBuf};
use tempfile::TempDir;

use crate::world::{Ended, process, real};

/// A directory in which pages are made.
struct Desk {
    _guard: TempDir,
    base: Utf8PathBuf,
}

impl Desk {
    fn new() -> Self {
        let guard = beads_ralph_testkit::scratch();
        let base = Utf8PathBuf::from_path_buf(guard.path().to_owned()).unwrap();
        Self {
            _guard: guard,
            base,
        }
    }

    #[track_caller]
    fn beads_ralph(&self, folder: &Utf8Path, arguments: &[&str]) {
        let program = Utf8Path::new(env!("CARGO_BIN_EXE_beads-ralph"));
        let ended = process(program.to_owned(), arguments, folder, &self.base).run();
        ended.exits(0);
    }

    /// What a browser makes of a page: the document after its scripts, and what it logged.
    #[track_caller]
    fn open(&self, page: &Utf8Path) -> Ended {
        let address = format!("file://{page}");
        let profile = format!("--user-data-dir={}", self.base.join("profile"));
        let arguments = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--enable-logging=stderr",
            &profile,
            "--dump-dom",
            &address,
        ];
        let opened = process(real("chromium"), &arguments, &self.base, &self.base).run();
        let opened = opened.exits(0);
        assert!(!opened.stderr.contains("CONSOLE"), "{}", opened.stderr);
        assert!(
            opened.stdout.contains("data-ready=\"yes\""),
            "its script ran to the end"
        );
        opened
    }
}

fn count(text: &str, part: &str) -> usize {
    text.matches(part).count()
}

#[test]
#[ignore = "needs the real chromium: scripts/real-tools chromium"]
fn the_page_of_the_demo_is_whole_in_a_browser() {
    let desk = Desk::new();
    let (demo, page) = (desk.base.join("kept"), desk.base.join("demo.html"));
    desk.beads_ralph(&desk.base, &["demo", "--keep", demo.as_str()]);
    let repository = demo.join("demo");
    desk.beads_ralph(&repository, &["report", "--output", page.as_str()]);
    let document = desk.open(&page).stdout;
    assert_eq!(
        count(&document, "<g class=\"node"),
        9,
        "a node for each bead"
    );
    assert!(
        count(&document, "<rect class=\"bar") >= 40,
        "bars for what ran"
    );
}

#[test]
#[ignore = "needs the real chromium: scripts/real-tools chromium"]
#[expect(clippy::disallowed_methods, reason = "a plan of the test's own")]
fn the_page_of_five_hundred_beads_is_whole_in_a_browser() {
    let desk = Desk::new();
    let (plan, page) = (desk.base.join("plan.md"), desk.base.join("large.html"));
    fs::write(&plan, generated_plan(500)).unwrap();
    let mut arguments = vec![
        "simulate",
        plan.as_str(),
        "--rounds",
        "1",
        "--html",
        page.as_str(),
    ];
    arguments.extend([
        "--fail-rate",
        "0",
        "--dev-cost",
        "0.01",
        "--qa-cost",
        "0.01",
    ]);
    desk.beads_ralph(&desk.base, &arguments);
    let document = desk.open(&page).stdout;
    assert_eq!(count(&document, "<g class=\"node"), 500);
    assert!(count(&document, "<rect class=\"bar") >= 1500);
}
