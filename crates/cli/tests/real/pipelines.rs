//! Six pipelines of `bd` and the real `jq`, as seed 004 types them, through `/bin/sh`: on our face under the name `bd`, and on the real `bd`.
//!
//! [`PIPELINES`] has each with what it must print. Names in braces stand for ids, which each program makes up itself. Where the real `bd`
//! does not answer what the seed asks, the table says what it prints instead, and why.

use std::collections::BTreeMap;

use beads_ralph_runtime::os::files;
use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;
use tempfile::TempDir;

use crate::world::{Ended, process, real};

/// The formula of the seed, with titles as its lookup of the diagnose step expects them.
const FORMULA: &str = r#"
formula = "fix-bug"
version = 1
type = "workflow"
[vars.bug]
required = true
[vars.bead-id]
required = true
[[steps]]
id = "preflight"
title = "Preflight: a worktree"
labels = ["stage-preflight"]
[[steps]]
id = "diagnose"
title = "Diagnose: {{bug}}"
needs = ["preflight"]
labels = ["stage-diagnose"]
[[steps]]
id = "red-tests"
title = "Red-tests: {{bug}}"
needs = ["diagnose"]
labels = ["stage-red-tests", "worker-audit-tdd-red-team"]
"#;

/// A pipeline and what comes out of it.
struct Pipeline {
    /// What the seed asks.
    asks: &'static str,
    /// What is typed.
    line: &'static str,
    /// What it prints.
    prints: &'static str,
    /// What the real `bd` lets it print, and why that is something else.
    real: Option<(&'static str, &'static str)>,
}

const PIPELINES: [Pipeline; 6] = [
    Pipeline {
        asks: "the formula that the labels of the source name",
        line: r#"bd label list {source} --json | jq -r '.[] | select(startswith("formula-"))' | sed 's/^formula-//' | sort -u"#,
        prints: "fix-bug\n",
        real: None,
    },
    Pipeline {
        asks: "the molecule of the source, by the label that links them",
        line: r#"bd list --label for-bead-{source} --type molecule --json | jq -r '[.[] | select(.status != "closed")] | .[].id'"#,
        prints: "{molecule}\n",
        real: None,
    },
    Pipeline {
        asks: "the step that the molecule is at",
        line: r#"bd mol current {molecule} --json | jq -r 'if type == "array" then .[] else . end | select(.status != "closed") | .id' | head -1"#,
        prints: "{red-tests}\n",
        real: Some((
            "null\n",
            "its objects have neither status nor id, but the step in next_step and steps (difference 14)",
        )),
    },
    Pipeline {
        asks: "the labels of a step",
        line: r"bd label list {red-tests} --json | jq -r '.[]' | sort",
        prints: "stage-red-tests\nworker-audit-tdd-red-team\n",
        real: None,
    },
    Pipeline {
        asks: "the diagnose step among the children of the molecule, though it is closed",
        line: r#"bd list --parent {molecule} --all --type task --json | jq -r '.[] | select(.title | startswith("Diagnose:")) | .id'"#,
        prints: "{diagnose}\n",
        real: None,
    },
    Pipeline {
        asks: "the title of the molecule, which is the mode of the work",
        line: r"bd show {molecule} --json | jq -r '.[0].title'",
        prints: "fix-bug\n",
        real: None,
    },
];

/// A repository with a `bd` and a `jq` of its own, and beads to ask about.
struct Side {
    root: Utf8PathBuf,
    /// What the names in braces stand for.
    ids: BTreeMap<String, String>,
    _guard: TempDir,
}

impl Side {
    /// A world in which `bd` is this program, with the molecule of a bug at its third step.
    fn new(bd: &Utf8Path) -> Self {
        let guard = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let root = Utf8PathBuf::from_path_buf(guard.path().canonicalize().unwrap()).unwrap();
        let mut side = Self {
            root,
            ids: BTreeMap::new(),
            _guard: guard,
        };
        for name in ["work", "home", "bin"] {
            std::fs::create_dir(side.root.join(name)).unwrap();
        }
        files::link(bd, &side.root.join("bin/bd")).unwrap();
        files::link(&real("jq"), &side.root.join("bin/jq")).unwrap();
        side.must("git init --quiet --initial-branch=main");
        side.must("git -c user.name=Test -c user.email=test@example.org commit --quiet --allow-empty --message=start");
        side.must("bd init --non-interactive --prefix=tt --skip-hooks --skip-agents");
        side.pour();
        side
    }

    fn pour(&mut self) {
        let formulas = self.root.join("work/.beads/formulas");
        std::fs::create_dir_all(&formulas).unwrap();
        let file = formulas.join("fix-bug.formula.toml");
        files::write_atomic(&file, FORMULA.as_bytes()).unwrap();
        let source = self.must("bd create 'Login fails' --type bug --labels formula-fix-bug,ralf:required --json | jq -r .id");
        self.ids
            .insert("source".to_owned(), source.trim().to_owned());
        let poured =
            self.must("bd mol pour fix-bug --var bug='Login fails' --var bead-id={source} --json");
        let poured: Value = serde_json::from_str(&poured).unwrap();
        for (name, id) in poured["id_mapping"].as_object().unwrap() {
            let name = name.strip_prefix("fix-bug.").unwrap_or("molecule");
            let id = id.as_str().unwrap().to_owned();
            self.ids.insert(name.to_owned(), id);
        }
        self.must("bd label add {molecule} for-bead-{source}");
        self.must("bd close {preflight}");
        self.must("bd close {diagnose}");
    }

    /// A text with ids in the place of names.
    fn filled(&self, text: &str) -> String {
        let names = self.ids.iter();
        names.fold(text.to_owned(), |text, (name, id)| {
            text.replace(&format!("{{{name}}}"), id)
        })
    }

    fn sh(&self, line: &str) -> Ended {
        let (work, home) = (self.root.join("work"), self.root.join("home"));
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", self.root.join("bin"));
        process("/bin/sh".into(), &["-c", &self.filled(line)], &work, &home)
            .env("PATH", &path)
            .env("BEADS_ACTOR", "tester")
            .env("BD_NON_INTERACTIVE", "1")
            .env("BD_DISABLE_METRICS", "1")
            .run()
    }

    #[track_caller]
    fn must(&self, line: &str) -> String {
        self.sh(line).exits(0).stdout
    }

    /// What is wrong with a pipeline, in words.
    fn complaint(&self, pipeline: &Pipeline, expected: &str) -> Option<String> {
        let ended = self.sh(pipeline.line);
        let expected = self.filled(expected);
        let is_right = ended.code == Some(0) && ended.stdout == expected;
        (!is_right).then(|| {
            format!(
                "{}: {}\nshould print {expected:?}: {ended:#?}",
                pipeline.asks,
                self.filled(pipeline.line)
            )
        })
    }
}

#[track_caller]
fn compare(side: &Side, expected: fn(&Pipeline) -> &'static str) {
    let complaints: Vec<String> = (PIPELINES.iter())
        .filter_map(|pipeline| side.complaint(pipeline, expected(pipeline)))
        .collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
#[ignore = "needs the real jq: scripts/real-tools jq"]
fn z_24_the_pipelines_of_the_seed_run_on_our_face() {
    let side = Side::new(Utf8Path::new(env!("CARGO_BIN_EXE_beads-ralph")));
    compare(&side, |pipeline| pipeline.prints);
}

#[test]
#[ignore = "needs the real bd and jq: scripts/real-tools bd jq"]
fn z_24_the_pipelines_of_the_seed_run_on_the_real_bd_where_it_allows_them() {
    let side = Side::new(&real("bd"));
    compare(&side, |pipeline| {
        pipeline.real.map_or(pipeline.prints, |(prints, _)| prints)
    });
}

#[test]
fn what_the_real_bd_does_not_allow_has_a_reason() {
    for pipeline in &PIPELINES {
        if let Some((prints, why)) = pipeline.real {
            assert!(
                prints != pipeline.prints && !why.is_empty(),
                "{}",
                pipeline.asks
            );
        }
    }
}
