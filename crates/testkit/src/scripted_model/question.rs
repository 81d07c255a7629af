//! What a program asks, whichever protocol it speaks.

/// A request for the next turn of a conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Question {
    /// Which session of the program it belongs to.
    pub(super) session: String,
    /// The model that is asked for.
    pub(super) model: String,
    /// What the model is told beforehand.
    pub(super) system: String,
    /// How often the user has spoken; a session that is resumed has more than one prompt.
    pub(super) n_prompts: usize,
    /// What the user said last.
    pub(super) prompt: String,
    /// What the scenario's commands gave since then.
    pub(super) results: Vec<String>,
    /// Whether the program can run commands.
    pub(super) can_run: bool,
    /// Whether the program wants structured output.
    pub(super) wants_report: bool,
    /// Whether the answer is to come in pieces.
    pub(super) is_stream: bool,
}

impl Question {
    /// The user speaks: whatever came before belongs to an earlier conversation.
    pub(super) fn prompted(&mut self, text: &str) {
        self.n_prompts += 1;
        text.clone_into(&mut self.prompt);
        self.results.clear();
    }

    /// By what its conversation is known.
    pub(super) fn conversation(&self) -> String {
        format!("{}#{}", self.session, self.n_prompts)
    }

    /// Whether it is asked in passing, for the program's own sake: then there is nothing that a turn could be done with.
    pub(super) fn is_aside(&self) -> bool {
        !self.can_run && !self.wants_report
    }
}
