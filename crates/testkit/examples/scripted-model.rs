//! Serves a scenario until it is interrupted, to try it with a real agent by hand:
//! `cargo run -p beads-ralph-testkit --example scripted-model -- examples/hello/scenario.yaml`

use std::error::Error;
use std::time::Duration;

use beads_ralph_runtime::{os::env, scenario};
use beads_ralph_testkit::scripted_model::{Login, ScriptedModel};

#[expect(clippy::print_stdout, reason = "a tool for people, not the program")]
fn main() -> Result<(), Box<dyn Error>> {
    let path = env::arguments().next().ok_or("which scenario?")?;
    let model = ScriptedModel::start(scenario::load(path.as_str().into())?)?;
    println!("# for claude");
    for (name, value) in model.claude_env(Login::Key) {
        println!("{name}={value}");
    }
    println!("# for codex");
    for (name, value) in model.codex_env() {
        println!("{name}={value}");
    }
    let options = model.codex_options(4);
    let quoted: Vec<String> = options.iter().map(|option| format!("'{option}'")).collect();
    println!("codex exec {}", quoted.join(" "));
    for n in 0.. {
        while !model.wait_until(Duration::from_hours(1), |asked| asked.len() > n) {}
        println!("{:#?}", model.asked()[n]);
    }
    Ok(())
}
