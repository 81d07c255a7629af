//! What start-up finds in the way of branches and worktrees, all at once (Z-16, B-28).

use beads_ralph_core::bead::BeadId;
use beads_ralph_runtime::ports::Place;

use super::world::{World, write};

fn place(world: &World, bead: &str, branch: &str, worktree: &str) -> Place {
    Place {
        bead: BeadId::parse(bead).unwrap(),
        branch: branch.to_owned(),
        worktree: world.base.join(worktree),
    }
}

#[test]
fn z_16_nothing_is_in_the_way_of_what_is_new_or_was_begun() {
    let world = World::new();
    let (begun, _) = world.prepare("begun", &[]);
    world.ask(&["branch", "feature/alone"]);
    let places = [
        begun,
        world.place("new"),
        world.place("alone"),
        // Two beads of one team, on one branch in one worktree.
        place(&world, "bd-x", "team/x", "w/x"),
        place(&world, "bd-y", "team/x", "w/x"),
    ];
    assert_eq!(world.git.clashes(&places).unwrap(), [""; 0]);
}

#[test]
fn z_16_everything_in_the_way_is_said_at_once() {
    let world = World::new();
    world.ask(&["branch", "taken/deep/below"]);
    let elsewhere = world.base.join("elsewhere");
    world.ask(&[
        "worktree",
        "add",
        "--quiet",
        "-b",
        "held",
        elsewhere.as_str(),
    ]);
    write(&world.base.join("w/file"), "x");
    write(&world.base.join("w/full/x"), "x");
    let places = [
        place(&world, "bd-1", "main/one", "w/1"),
        place(&world, "bd-2", "taken", "w/2"),
        place(&world, "bd-3", "held", "w/3"),
        place(&world, "bd-4", "four", "w/full"),
        place(&world, "bd-5", "five", "w/file/below"),
        place(&world, "bd-6", "six", "elsewhere"),
        place(&world, "bd-7", "new", "w/7"),
        place(&world, "bd-8", "new/er", "w/8"),
        place(&world, "bd-9", "new", "w/9"),
        place(&world, "bd-10", "ten", "w/7"),
        place(&world, "bd-11", "eleven", "w/7/inside"),
        place(&world, "bd-12", "-twelve", "w/12"),
        place(&world, "bd-13", "thirteen", "my répo/.git/x"),
    ];
    let clashes = world.git.clashes(&places).unwrap();
    let all = clashes.join("\n");
    for expected in [
        "bd-1: the branch 'main/one' cannot be created, because the branch 'main' exists",
        "bd-2: the branch 'taken' cannot be created, because the branch 'taken/deep/below' exists",
        "bd-3: the branch 'held' is checked out at ",
        "w/full, where there is a non-empty directory",
        "bd-5: the worktree cannot be at ",
        "bd-6: the worktree ",
        "is on the branch 'held', not on 'six'",
        "bd-8: the branch 'new/er' cannot be created, because the branch 'new' exists",
        "bd-7 and bd-9: the branch 'new' cannot be checked out at ",
        "bd-7 and bd-10: the worktree ",
        "bd-7 and bd-11: the worktrees ",
        "bd-12: branch '-twelve' must not start with '-'",
        "bd-13: the worktree ",
    ] {
        assert!(all.contains(expected), "{expected} is not in\n{all}");
    }
}
