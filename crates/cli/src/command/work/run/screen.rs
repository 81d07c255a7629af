//! What people see while a run goes on: a line for each bead on a terminal, plain lines everywhere else.

use std::collections::BTreeMap;
use std::time::Duration;

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::engine::{BeadState, BeadView, Engine, Entry};
use beads_ralph_core::text::visible;
use beads_ralph_runtime::os::clock;
use beads_ralph_runtime::os::process::Interrupts;
use beads_ralph_runtime::run::{Activity, Audience, Stop};
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use super::RunArgs;
use super::story::Story;
use crate::ui::Ui;
use crate::ui::format::{self, between, elapsed};

/// How often lines that move are drawn anew.
const FRAME: Duration = Duration::from_millis(200);

pub(super) struct Screen<'a> {
    ui: &'a Ui,
    story: Story,
    prints_events: bool,
    activity: Activity,
    interrupts: Interrupts,
    live: Option<Live>,
    warned: Option<String>,
}

/// The lines that move.
struct Live {
    all: MultiProgress,
    bars: BTreeMap<String, ProgressBar>,
    drawn: std::time::Instant,
}

impl<'a> Screen<'a> {
    pub(super) fn new(
        ui: &'a Ui,
        args: &RunArgs,
        activity: Activity,
        interrupts: Interrupts,
    ) -> Self {
        let live = (ui.is_live() && !args.events).then(|| Live {
            all: MultiProgress::new(),
            bars: BTreeMap::new(),
            drawn: clock::monotonic(),
        });
        Self {
            ui,
            story: Story::new(args.explain),
            prints_events: args.events,
            activity,
            interrupts,
            live,
            warned: None,
        }
    }

    fn tell(&self, line: &str) {
        match &self.live {
            Some(live) => drop(live.all.println(line)),
            None => self.ui.say(&format!("{line}\n")),
        }
    }
}

impl Audience for Screen<'_> {
    fn entry(&mut self, entry: &Entry, _: &Engine) {
        if self.prints_events {
            // A reader that is gone is no reason to stop the work.
            drop(self.ui.line(entry));
            return;
        }
        for line in self.story.lines(entry) {
            self.tell(&line);
        }
    }

    fn tick(&mut self, engine: &Engine) {
        for notice in self.activity.take_notices() {
            self.tell(&format!("warning: {}", visible(&notice)));
        }
        let Some(live) = &mut self.live else { return };
        let now = clock::monotonic();
        if now.saturating_duration_since(live.drawn) < FRAME {
            return;
        }
        live.drawn = now;
        let view = engine.view();
        let working: Vec<&BeadView> = view
            .beads
            .iter()
            .filter(|bead| matches!(bead.state, BeadState::Working { .. }))
            .collect();
        live.bars.retain(|id, bar| {
            let stays = working.iter().any(|bead| bead.id == *id);
            if !stays {
                bar.finish_and_clear();
            }
            stays
        });
        for bead in working {
            let bar = live.bars.entry(bead.id.clone()).or_insert_with(|| {
                let style = ProgressStyle::with_template("{spinner} {wide_msg}");
                let bar = live.all.add(ProgressBar::new_spinner());
                if let Ok(style) = style {
                    bar.set_style(style);
                }
                bar
            });
            bar.set_message(line(bead, &self.activity));
            bar.tick();
        }
    }

    fn stop(&mut self) -> Option<Stop> {
        match self.interrupts.count() {
            0 => None,
            1 => Some(Stop::Gently),
            _ => Some(Stop::Now),
        }
    }

    fn warn(&mut self, text: &str) {
        if self.warned.as_deref() != Some(text) {
            self.warned = Some(text.to_owned());
            self.tell(&format!("warning: {}", visible(text)));
        }
    }
}

impl Drop for Screen<'_> {
    fn drop(&mut self) {
        if let Some(live) = &self.live {
            for bar in live.bars.values() {
                bar.finish_and_clear();
            }
            drop(live.all.clear());
        }
    }
}

/// One bead: team, state, attempt, agent, time, cost, and the last thing that was heard.
fn line(bead: &BeadView, activity: &Activity) -> String {
    let BeadState::Working {
        phase,
        since,
        waiting,
    } = &bead.state
    else {
        return bead.id.clone();
    };
    let elapsed = elapsed(between(*since, clock::wall()));
    let doing = BeadId::parse(&bead.id)
        .ok()
        .and_then(|id| activity.of(&id))
        .unwrap_or_default();
    let cost = match bead.spent.micros {
        0 => String::new(),
        _ => format!("  {}", format::cost(&bead.spent)),
    };
    let last = match waiting {
        Some(waiting) => format!("waiting: {}", visible(waiting)),
        None => visible(&doing.line),
    };
    let (team, phase) = (visible(&bead.team), phase.as_str());
    let attempt = format!("{}/{}", bead.attempt, bead.max_attempts);
    format!(
        "{} ({team})  {phase} {attempt}  {}  {elapsed}{cost}  {last}",
        bead.id,
        visible(&doing.who)
    )
}
