//! Where a stage is done: the worktree, its label, and what is wrong with either (I-10…I-13, I-15, I-16, Z-34, §9.14).

use super::{Bench, REVIEWERS, SOURCE, has, is_human, labels, notes, rules};

const PREFIX: &str = "worktree-path-";

/// The label of the source's worktree.
fn label(bench: &Bench) -> String {
    let root = bench.molecules().remove(0);
    let mut found: Vec<String> = labels(&root);
    found.retain(|label| label.starts_with(PREFIX));
    assert_eq!(found.len(), 1, "{root:#}");
    found.remove(0)
}

#[test]
fn preflight_makes_a_worktree_that_git_does_not_see_and_starts_the_source() {
    for (kind, label, folder) in [
        ("bug", "formula-fix-bug", "fix"),
        ("task", "formula-implement-feature", "feat"),
        ("task", "formula-docs-only", "docs"),
    ] {
        let bench = Bench::new("diligent");
        bench.source(kind, label);
        assert_eq!(bench.implement()["ending"], "complete");
        let path = bench.worktree();
        let expected = format!(
            "{}/.claude/worktrees/{folder}/proj-1-sum-is-wrong",
            bench.world.root
        );
        assert_eq!(path, expected);
        assert_eq!(bench.world.git(&["status", "--porcelain"]), "");
        let branch = bench
            .world
            .git(&["-C", &path, "rev-parse", "--abbrev-ref", "HEAD"]);
        assert_eq!(branch, format!("{folder}/proj-1-sum-is-wrong"));
        assert_eq!(bench.bead(SOURCE)["status"], "in_progress");
        assert!(bench.ran().is_empty(), "no agent is needed for it");
    }
}

#[test]
fn preflight_wants_both_labels() {
    for labels in ["implementation-ready", "brainstormed"] {
        let bench = Bench::new("diligent");
        bench.create(SOURCE, "bug", labels);
        assert_eq!(bench.implement()["ending"], "needs_human");
        let lacking = if labels == "brainstormed" {
            "implementation-ready"
        } else {
            "brainstormed"
        };
        bench.asks(
            "preflight",
            "open",
            &format!("it lacks the label(s) {lacking}"),
        );
        assert_eq!(bench.bead(SOURCE)["status"], "open");
        assert!(!bench.world.root.join(".claude/worktrees/fix").exists());
        bench.bd(&["label", "add", SOURCE, lacking]);
        bench.answer("now it is ready", &[]);
        assert_eq!(bench.implement()["ending"], "complete");
    }
}

#[test]
fn i_10_the_label_of_a_path_with_underlines_is_the_one_of_the_contract() {
    let bench = Bench::named("my_repo", "diligent", REVIEWERS, "");
    bench.source("bug", "");
    bench.implement();
    let label = label(&bench);
    let inner = "__my_urepo__.claude__worktrees__fix__proj-1-sum-is-wrong";
    assert!(label.ends_with(inner), "{label}");
    assert_eq!(bench.implement()["ending"], "complete");
}

#[test]
fn z_34_a_repository_with_blanks_and_umlauts_in_its_path_is_worked_on() {
    let bench = Bench::named(
        "Größe & 'so' \"weiter\"",
        "diligent",
        REVIEWERS,
        "gates: {test: sh t.sh}\n",
    );
    bench.source("bug", "ralf:required,ralf:cycles=1");
    let told = bench.implement_all();
    assert_eq!(told["ending"], "molecule_done", "{told:#}");
    assert!(label(&bench).contains("_x20"), "{}", label(&bench));
    assert!(has(&bench.bead(SOURCE), "merge-ready"));
}

#[test]
fn i_11_a_worktree_that_cannot_be_used_is_for_a_person() {
    let bench = Bench::new("diligent");
    bench.source("feature", "");
    bench.bring_to("red-tests");
    let own = label(&bench);
    let root = bench.molecules()[0]["id"].as_str().unwrap().to_owned();
    let world = &bench.world;
    world
        .tool("git", &["init", "-q", world.base.join("other").as_str()])
        .output(crate::world::LONG)
        .exits(0);
    let encoded = |path: &str| format!("{PREFIX}{}", path.replace('_', "_u").replace('/', "__"));
    let file = world.base.join("log").into_string();
    world.touch("log");
    for (labels, check) in [
        (vec![], "there are 0 such labels"),
        (
            vec![own.clone(), format!("{PREFIX}__x")],
            "there are 2 such labels",
        ),
        (vec![format!("{PREFIX}a_b")], "malformed"),
        (vec![format!("{PREFIX}__x_")], "malformed"),
        (vec![format!("{PREFIX}_xZZ")], "malformed"),
        (vec![PREFIX.to_owned()], ""),
        (vec![encoded("/")], "not a linked worktree"),
        (vec![encoded("relative/path")], "not an absolute path"),
        (vec![encoded("/nowhere/at/all")], "no such directory"),
        (vec![encoded(&file)], "no such directory"),
        (
            vec![encoded(world.base.join("other").as_str())],
            "not a linked worktree",
        ),
        (vec![encoded(world.root.as_str())], "not a linked worktree"),
        (
            vec![encoded(world.root.join(".claude").as_str())],
            "not a linked worktree",
        ),
        (vec![format!("{own}__..")], "not a linked worktree"),
    ] {
        bench.bd(&[
            "update",
            &root,
            "--set-labels",
            &[vec!["for-bead-proj-1".to_owned()], labels.clone()]
                .concat()
                .join(","),
        ]);
        let told = bench.implement();
        assert_eq!(told["ending"], "needs_human", "{labels:?}: {told:#}");
        assert!(rules(&told).contains(&"I-11"), "{told:#}");
        bench.asks("red-tests", "open", "the worktree cannot be used");
        let step = bench.step("red-tests");
        let said = notes(&step)
            .lines()
            .rfind(|line| line.starts_with("implement-bead:"))
            .unwrap()
            .to_owned();
        assert!(
            said.contains(check),
            "{labels:?}: {check:?} is not in {said:?}"
        );
        bench.answer("again", &[]);
    }
    assert!(bench.ran().is_empty(), "never in another place");
    bench.bd(&[
        "update",
        &root,
        "--set-labels",
        &format!("for-bead-proj-1,{own}"),
    ]);
    assert_eq!(bench.implement()["ending"], "complete");
}

#[test]
fn i_12_the_first_and_the_last_stage_need_no_worktree() {
    let bench = Bench::new("diligent");
    bench.source("feature", "");
    bench.bring_to("create-pr");
    let path = bench.worktree();
    bench.world.write(&format!("{path}/t.sh"), "exit 0\n");
    bench.world.git(&["-C", &path, "add", "--all"]);
    bench.world.git(&["-C", &path, "commit", "-qm", "by hand"]);
    assert_eq!(bench.implement()["ending"], "complete");
    bench.bring_to("merge-or-handoff");
    let path = bench.worktree();
    bench.world.git(&["worktree", "remove", "--force", &path]);
    let told = bench.implement();
    assert_eq!(told["ending"], "complete", "{told:#}");
    assert!(rules(&told).contains(&"I-12"));
    assert!(has(&bench.bead(SOURCE), "merge-ready"));
}

#[test]
fn i_11_a_worktree_that_somebody_made_by_hand_is_worked_in_if_its_path_names_its_branch() {
    for (branch, ending) in [("own/hand-made", "molecule_done"), ("topic", "needs_human")] {
        let bench = Bench::new("diligent");
        bench.source("feature", "");
        bench.bring_to("red-tests");
        let root = bench.molecules()[0]["id"].as_str().unwrap().to_owned();
        let path = bench.world.base.join("own/hand-made");
        bench
            .world
            .git(&["worktree", "add", "-q", path.as_str(), "-b", branch]);
        let encoded = path.as_str().replace('_', "_u").replace('/', "__");
        let labels = format!("for-bead-proj-1,{PREFIX}{encoded}");
        bench.bd(&["update", &root, "--set-labels", &labels]);
        let told = bench.implement_all();
        assert_eq!(told["ending"], ending, "{branch}: {told:#}");
        assert!(notes(&bench.bead(SOURCE)).contains(branch));
    }
}

#[test]
fn i_15_i_16_reports_lie_beside_the_store_of_the_main_repository_and_git_does_not_see_them() {
    let bench = Bench::new("diligent");
    bench.source("bug", "");
    bench.bring_to("diagnose");
    // From inside the worktree it is the same repository.
    let path = bench.worktree();
    let inside = [
        "-c",
        "cd \"$1\" && exec \"$0\" implement proj-1 --json",
        env!("CARGO_BIN_EXE_beads-ralph"),
        &path,
    ];
    bench
        .world
        .tool("sh", &inside)
        .output(crate::world::LONG)
        .exits(0);
    let step = bench.step("diagnose");
    let directory = bench.world.root.join(".beads/worker-audit");
    let report = directory
        .join(step["id"].as_str().unwrap())
        .join("bug-diagnoser.yaml");
    assert!(report.is_file(), "{report}");
    assert_eq!(
        std::fs::read_to_string(directory.join(".gitignore")).unwrap(),
        "*\n"
    );
    assert_eq!(bench.world.git(&["status", "--porcelain"]), "");
    assert!(
        !std::path::Path::new(&path)
            .join(".beads/worker-audit")
            .exists()
    );
    std::fs::remove_dir_all(directory).unwrap();
    assert!(!is_human(&step));
}
