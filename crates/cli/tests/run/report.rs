//! A run as a page, and its figures for machines.

use beads_ralph_testkit::exposition;

use crate::world::{DILIGENT, Setup, World, plan};

/// An agent whose judge says something that would steer a browser.
const HOSTILE: &str = r#"
if [ "$role" = dev ]; then
  mkdir -p work && echo "the work of $bead" >"work/$sprint.txt"
else
  echo '{"status": "pass", "message": "</td><script>document.title = 1</script>"}'
fi
"#;

fn world() -> World {
    let text = plan(&[("1.1", "Ground"), ("1.2", "House")])
        .replace("Sprint 1.1: Ground", "Sprint 1.1: Ground <b>floor</b>")
        .replace("Sprint 1.2: House", "Sprint 1.2: House & \"garden\"");
    let world = World::new(&Setup {
        plan: text,
        agent: HOSTILE.to_owned(),
        ..Setup::default()
    });
    world.run(&["run"]).exits(0);
    world
}

#[test]
fn a_run_is_one_page_that_needs_nothing_else() {
    let world = world();
    let data = world.data(&["report", "--output", "run.html"]);
    assert_eq!(
        (&data["beads"], &data["outcome"]),
        (&2.into(), &"done".into())
    );
    let page = world.read("run.html");
    assert_eq!(data["bytes"], page.len());
    assert_eq!(page.matches("class=\"node closed").count(), 2);
    assert_eq!(page.matches("class=\"edge").count(), 1);
    assert!(
        page.matches("class=\"bar ").count() >= 6,
        "agents, judges and checks of both"
    );
    assert!(page.contains("Ground &lt;b&gt;floor") && !page.contains("<b>floor"));
    assert!(page.contains("&lt;script&gt;document.title"));
    assert!(
        page.contains("1 file changed, 1 lines added, 0 removed"),
        "{page}"
    );
    assert!(page.contains("<code>work/1.1.txt</code> +1 −0"), "{page}");
    assert_eq!(page.matches("<b>passed</b>").count(), 2, "a check of each");
    assert_eq!(
        page.matches("<script>").count(),
        1,
        "no text of others is a script"
    );
    for outside in ["src=", "@import", "url(", "http://", "https://"] {
        assert!(!page.contains(outside), "{outside} leads elsewhere");
    }
    let printed = world.run(&["report", "--output", "-"]).exits(0).stdout;
    assert_eq!(printed, page, "the same run is the same page");
    world.run(&["status", "--html", "now.html"]).exits(0);
    assert_eq!(world.read("now.html"), page);
}

#[test]
fn metrics_are_those_of_the_journal() {
    let world = world();
    let text = world.run(&["metrics"]).exits(0).stdout;
    let value = |start: &str| {
        let mut lines = text.lines().filter(|line| line.starts_with(start));
        let line = lines
            .next()
            .unwrap_or_else(|| panic!("{start} is missing in\n{text}"));
        line.rsplit_once(' ').unwrap().1.to_owned()
    };
    assert_eq!(value("beads_ralph_beads{"), "2");
    assert_eq!(value("beads_ralph_attempts_total{"), "2");
    assert_eq!(value("beads_ralph_checks_total{"), "2");
    assert_eq!(value("beads_ralph_success_ratio{"), "1");
    let samples = exposition::read(&text).unwrap_or_else(|why| panic!("{why}\n{text}"));
    assert_eq!(
        samples.len(),
        text.lines().filter(|it| !it.starts_with('#')).count()
    );
    assert_eq!(world.run(&["metrics", "--all"]).exits(0).stdout, text);
}

#[test]
fn a_run_that_is_not_there_is_named() {
    let world = World::new(&Setup::default());
    for command in ["report", "metrics"] {
        let said = world.run(&[command, "run-1999"]).exits(1).stderr;
        assert!(said.contains("run-1999"), "{said}");
    }
}

#[test]
fn what_runs_now_is_on_the_page_of_a_run_under_way() {
    let waits = r#"
if [ "$role" = dev ]; then
  touch "$base/began"
  while ! [ -e "$base/go" ]; do sleep 0.02; done
fi
"#;
    let world = World::new(&Setup {
        agent: format!("{waits}{DILIGENT}"),
        ..Setup::default()
    });
    let running = world.command(&["run"]).start();
    world.wait_for("began");
    world.run(&["status", "--html", "now.html"]).exits(0);
    let page = world.read("now.html");
    assert_eq!(page.matches("class=\"bar develop now\"").count(), 1);
    assert!(page.contains("now: develop worker, since"), "{page}");
    assert!(page.contains("under way</span>"));
    world.touch("go");
    running.end().exits(0);
    world.run(&["status", "--html", "now.html"]).exits(0);
    assert!(!world.read("now.html").contains("bar develop now"));
}

#[test]
fn the_latest_run_is_one_that_had_something_to_do() {
    let world = world();
    world.run(&["run"]).exits(0);
    assert_eq!(world.runs().len(), 2);
    let data = world.data(&["report", "--output", "run.html"]);
    assert_eq!(data["beads"], 2);
}

#[test]
fn a_run_whose_process_is_gone_is_not_under_way() {
    let world = World::new(&Setup {
        agent: format!("touch \"$base/began\"; sleep 60\n{DILIGENT}"),
        ..Setup::default()
    });
    let running = world.command(&["run"]).start();
    world.wait_for("began");
    let outcome = |word: &str| format!("outcome=\"{word}\"");
    let said = world.run(&["metrics"]).exits(0).stdout;
    assert!(said.contains(&outcome("running")), "{said}");
    running.signal(rustix::process::Signal::KILL);
    running.end();
    let said = world.data(&["metrics"])["metrics"].to_string();
    assert!(said.contains("outcome=\\\"left\\\""), "{said}");
    let page = world.run(&["report", "-o", "-"]).exits(0).stdout;
    assert!(page.contains("left: its process is dead"));
    world.run(&["report", "-o", "-", "--json"]).exits(2);
    world.run(&["recover"]);
}
