//! The agents that we know.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use beads_ralph_core::agent::Adapter;

const FILES: [(&str, &str); 6] = [
    ("claude", include_str!("adapters/claude.yaml")),
    ("codex", include_str!("adapters/codex.yaml")),
    ("gemini", include_str!("adapters/gemini.yaml")),
    ("opencode", include_str!("adapters/opencode.yaml")),
    ("command", include_str!("adapters/command.yaml")),
    ("scripted", include_str!("adapters/scripted.yaml")),
];

/// The agents that we know, by name. `command` is a kind only: it has no program.
pub fn built_in() -> &'static BTreeMap<String, Adapter> {
    static BUILT_IN: LazyLock<BTreeMap<String, Adapter>> = LazyLock::new(|| {
        let read = |(name, text): (&str, &str)| {
            let adapter: Adapter = serde_saphyr::from_str(text)
                .unwrap_or_else(|error| panic!("the adapter {name} is not valid: {error}"));
            (name.to_owned(), adapter.named(name))
        };
        FILES.map(read).into()
    });
    &BUILT_IN
}

/// Their names, for which no file need be read.
pub(crate) fn built_in_names() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_adapter_can_be_read() {
        for (name, adapter) in built_in() {
            assert_eq!((&adapter.name, &adapter.kind), (name, name));
        }
        assert_eq!(built_in().len(), FILES.len());
    }
}
