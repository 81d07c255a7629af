//! `formula list`, `show`, `check` and `graph`: formulas of the project, the checkout, the user and the program.

mod check;
mod docs;
mod graph;
mod shipped;
mod show;

use crate::env::TestEnv;

/// A formula with every construct that people look at, made of two files.
const RELEASE: &str = r#"formula = "release"
description = "Cut a release"
extends = ["base"]

[vars.version]
description = "Its number"
required = true
pattern = '^\d+\.\d+\.\d+$'

[vars.channel]
default = "stable"
enum = ["stable", "beta"]

[[steps]]
id = "build"
title = "Build {{version}}"
needs = ["tests"]

[[steps.children]]
id = "linux"
title = "Linux"

[[steps.children]]
id = "mac"
title = "Mac"
gate = { type = "human", id = "signing", timeout = "1h" }

[[steps]]
id = "try"
title = "Try it"
needs = ["build"]
condition = "{{try}}"
loop = { count = 2, var = "n", body = [{ id = "run", title = "Run {n}" }] }

[[steps]]
id = "publish"
title = "Publish {{version}} to {{channel}}"
needs = ["try"]
"#;

const BASE: &str = r#"formula = "base"

[vars]
try = "yes"

[[steps]]
id = "tests"
title = "Run the tests"
"#;

/// Where a checkout keeps its formulas.
fn own(name: &str) -> String {
    format!(".beads/formulas/{name}")
}

/// A directory without a store, with the two formulas.
fn release() -> TestEnv {
    let env = TestEnv::new();
    env.write(&own("release.formula.toml"), RELEASE);
    env.write(&own("base.formula.toml"), BASE);
    env
}
