//! What people see while things run: one line that moves on a terminal, plain lines everywhere else.

use std::time::Duration;

use beads_ralph_core::text::{excerpt, visible};
use beads_ralph_runtime::progress::{Listener, News};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::ui::format::{duration, elapsed, milliseconds};
use crate::ui::{Stream, Ui};
use crate::work::word;

pub(crate) struct Live<'a> {
    ui: &'a Ui,
    bar: Option<ProgressBar>,
    now: String,
    /// Whether a wait was told already, where lines stay.
    has_told_wait: bool,
}

impl<'a> Live<'a> {
    pub(crate) fn new(ui: &'a Ui) -> Self {
        let bar = ui.is_live().then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            let marks = if ui.style(Stream::Err).unicode {
                "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏ "
            } else {
                "-\\|/ "
            };
            let style = ProgressStyle::with_template("{spinner} {wide_msg}");
            bar.set_style(style.expect("a template of ours is one").tick_chars(marks));
            bar
        });
        Self {
            ui,
            bar,
            now: String::new(),
            has_told_wait: false,
        }
    }

    fn tell(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| self.ui.say(&format!("{line}\n"))),
            None => self.ui.say(&format!("{line}\n")),
        }
    }

    fn begin(&mut self, what: String) {
        self.now = what;
        self.has_told_wait = false;
        self.draw(Duration::ZERO, None);
    }

    fn draw(&self, time: Duration, line: Option<&str>) {
        if let Some(bar) = &self.bar {
            let time = elapsed(time);
            let line = line.map_or(String::new(), |line| format!("  {line}"));
            bar.set_message(format!("{} {time}{line}", self.now));
            bar.tick();
        }
    }
}

impl Drop for Live<'_> {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Listener for Live<'_> {
    fn hear(&mut self, news: &News<'_>) {
        match news {
            News::AgentBegins {
                agent,
                iteration,
                of,
            } => {
                let what = format!("attempt {iteration} of {of}: {}", excerpt(agent));
                if self.bar.is_none() {
                    self.tell(&format!("{what} works"));
                }
                self.begin(what);
            }
            News::AgentEnded {
                outcome,
                duration: time,
            } => {
                let time = duration(*time);
                let status = outcome.status.as_str();
                let reason = visible(&outcome.reason);
                self.tell(&format!("  agent {status} after {time}: {reason}"));
            }
            News::CheckBegins { name, .. } => self.begin(format!("  check {}", excerpt(name))),
            News::Checked(record) => {
                let name = excerpt(&record.name);
                let why = record.remark().map(visible);
                let why = why.map_or(String::new(), |why| format!(": {why}"));
                let time = milliseconds(record.duration_ms);
                let time = if record.skipped {
                    String::new()
                } else {
                    format!(" after {time}")
                };
                self.tell(&format!("  check {name} {}{time}{why}", word(record)));
            }
            News::Running { elapsed, line } => self.draw(*elapsed, *line),
            News::Waiting { left, why } => {
                if self.bar.is_none() && !self.has_told_wait {
                    let left = duration(*left);
                    self.tell(&format!("  waiting {left}: {}", visible(why)));
                    self.has_told_wait = true;
                }
                "waiting".clone_into(&mut self.now);
                self.draw(*left, Some(&visible(why)));
            }
            News::Warning(text) => self.tell(&format!("warning: {}", visible(text))),
        }
    }
}
