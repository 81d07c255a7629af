//! The built-in adapters: what is known about the agent programs that beads-ralph supports out of the box, one YAML file each.

use std::sync::OnceLock;

use beads_ralph_core::agent::Adapter;

/// One of them. It is read when somebody asks for it: its patterns take long to compile, and most commands need one agent or none.
struct BuiltIn {
    name: &'static str,
    text: &'static str,
    adapter: OnceLock<Adapter>,
}

static ALL: [BuiltIn; 6] = [
    BuiltIn::new("claude", include_str!("adapters/claude.yaml")),
    BuiltIn::new("codex", include_str!("adapters/codex.yaml")),
    BuiltIn::new("gemini", include_str!("adapters/gemini.yaml")),
    BuiltIn::new("opencode", include_str!("adapters/opencode.yaml")),
    BuiltIn::new("command", include_str!("adapters/command.yaml")),
    BuiltIn::new("scripted", include_str!("adapters/scripted.yaml")),
];

impl BuiltIn {
    const fn new(name: &'static str, text: &'static str) -> Self {
        let adapter = OnceLock::new();
        Self {
            name,
            text,
            adapter,
        }
    }

    fn adapter(&'static self) -> &'static Adapter {
        self.adapter.get_or_init(|| {
            let name = self.name;
            let adapter: Adapter = serde_saphyr::from_str(self.text)
                .unwrap_or_else(|error| panic!("the adapter {name} is not valid: {error}"));
            adapter.named(name)
        })
    }
}

/// The agents that we know. `command` is a kind only: it has no program.
pub fn built_in() -> impl Iterator<Item = &'static Adapter> {
    ALL.iter().map(BuiltIn::adapter)
}

pub(crate) fn named(name: &str) -> Option<&'static Adapter> {
    ALL.iter().find(|it| it.name == name).map(BuiltIn::adapter)
}

/// Their names, for which no file need be read.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|it| it.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_adapter_can_be_read() {
        for (name, adapter) in names().zip(built_in()) {
            assert_eq!((&*adapter.name, &*adapter.kind), (name, name));
        }
    }
}
