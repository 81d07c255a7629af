//! How the real programs are made to talk to a scripted model.

use super::ScriptedModel;

/// How `claude` is logged in, which decides what it makes of a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Login {
    /// With a key, by which every request is paid for.
    Key,
    /// With a subscription, whose limits have a time at which they end.
    Plan,
}

impl ScriptedModel {
    /// The environment in which `claude` asks this model and nobody else. All else is to be cleared but `PATH`, and `HOME` is to be
    /// a directory of the test's own.
    pub fn claude_env(&self, login: Login) -> Vec<(&'static str, String)> {
        let credential = match login {
            Login::Key => ("ANTHROPIC_API_KEY", "scripted"),
            // The prefix is that of real ones; without it the program looks elsewhere.
            Login::Plan => ("CLAUDE_CODE_OAUTH_TOKEN", "sk-ant-oat01-scripted"),
        };
        let plain = [
            credential,
            ("DISABLE_AUTOUPDATER", "1"),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
            // Root may skip the permissions only in a sandbox.
            ("IS_SANDBOX", "1"),
        ];
        let base = ("ANTHROPIC_BASE_URL", format!("http://{}", self.address()));
        let plain = plain.map(|(name, value)| (name, value.to_owned()));
        plain.into_iter().chain([base]).collect()
    }

    /// The environment for `codex`, beside [`ScriptedModel::codex_options`].
    pub fn codex_env(&self) -> Vec<(&'static str, String)> {
        vec![("SCRIPTED_MODEL_KEY", "scripted".to_owned())]
    }

    /// The options, after `codex exec`, with which it asks this model and nobody else. It tries a refused request, and a stream that
    /// broke, so many times again.
    pub fn codex_options(&self, n_retries: u32) -> Vec<String> {
        let provider = format!(
            r#"model_providers.scripted={{name="scripted",base_url="http://{}/v1",wire_api="responses",env_key="SCRIPTED_MODEL_KEY",request_max_retries={n_retries},stream_max_retries={n_retries}}}"#,
            self.address()
        );
        ["-c", &provider, "-c", "model_provider=scripted"]
            .map(str::to_owned)
            .to_vec()
    }
}
