//! `bd quickstart`: the first steps, for people and agents who see this `bd` for the first time.

use super::{Call, Command, Refusal};

pub(super) const COMMAND: Command = Command {
    name: "quickstart",
    about: "The first steps",
    run: Some(run),
    ..Command::NONE
};

const TEXT: &str = r###"
bd, as beads-ralph serves it: work items ("beads") and what each of them waits for.

Begin
  bd init --prefix app            Make a store in .beads/; ids will look like app-x7k
  bd where                        Show where the store is

Write down what is to be done
  bd create "Add a login page" -t feature -p 1
  bd create "Fix the typo" -d "Third line of the README" --deps app-x7k
  bd create -f plan.md            One bead for each "## " heading of a file

Find something to do
  bd ready                        Beads that nothing holds back
  bd list --status in_progress    Beads that somebody works on
  bd show app-x7k                 Everything about one bead
  bd blocked                      Beads that wait, and for what

Do it
  bd update app-x7k --claim       It is yours now; nobody else can take it
  bd note app-x7k "Tests pass"    Write down how it goes
  bd close app-x7k -r "Done"      Finish; what waited for it becomes ready

Say what waits for what
  bd dep add app-b app-a          app-b waits for app-a
  bd dep tree app-b               Draw it
  bd dep cycles                   Find circles

Programs add --json to any of these. `bd help` lists the other commands, and
`bd help COMMAND` the flags of one.
"###;

fn run(call: &mut Call<'_>) -> Result<(), Refusal> {
    call.output.text(TEXT)
}
