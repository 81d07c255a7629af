//! How the board looks.
//!
//! Every text of others is made harmless before it is drawn, and a terminal of any size is drawn on.

use std::fmt::Write as _;

use beads_ralph_core::engine::{BeadState, Outcome, RunState};
use beads_ralph_core::history::Story;
use beads_ralph_core::text::visible;
use jiff::Timestamp;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{Clear, Paragraph};

use super::details::details;
use super::look::Look;
use super::look::wrapped;
use super::{Board, Filter, Grouping, Mode, Question, Row, is_closed, is_for_person, words};
use crate::ui::draw::{columns, cut};
use crate::ui::format::{self, between, elapsed};

/// From this width on the list and the bead stand side by side.
const WIDE: u16 = 100;

/// What is smaller than this shows nothing but the run's state.
const SMALLEST: (u16, u16) = (24, 8);

/// How many lines of what holds the run up are shown.
const MAX_BLOCKERS: u16 = 5;

const BOLD: Style = Style::new().add_modifier(Modifier::BOLD);

const KEYS: &str = "q quit  ? help  up/down bead  enter log  r retry  p pause  s stop  g graph  f filter  [ ] other log";

const HELP: [&str; 14] = [
    "up, down, k, j   select a bead, or scroll the log if it is shown alone",
    "home, end        first, last",
    "enter, tab       show only the log, and back",
    "page up, down    older and newer lines of the log",
    "[ ]              older and newer logs of the bead",
    "g                beads by team or by graph: waves and dependencies",
    "f                all beads, open beads, those that need attention",
    "esc              back: follow the beads in progress",
    "r                retry a blocked bead",
    "p                pause all runs on this store; again: resume them",
    "s                stop all runs on this store",
    "q, ctrl-c        leave; the run continues",
    "ctrl-z           suspend the screen",
    "?                this help; any key closes it",
];

/// Draws the board as it is at a moment, and tells how far down the log can be scrolled ([`Board::was_drawn`]).
pub(crate) fn draw(frame: &mut Frame<'_>, board: &Board, look: Look, now: Timestamp) -> usize {
    // The clocks of what nobody works on any more stand still.
    let now = if board.told.is_left {
        board.told.last
    } else {
        now
    };
    let screen = Screen { board, look, now };
    let area = frame.area();
    if area.width < SMALLEST.0 || area.height < SMALLEST.1 {
        let lines = vec![Line::raw(screen.state()), Line::raw(screen.counts())];
        frame.render_widget(Paragraph::new(lines), area);
        return 0;
    }
    let n_blockers = u16::try_from(board.blockers.len()).unwrap_or(u16::MAX);
    let for_blockers = match n_blockers {
        0 => 0,
        n => n.min(MAX_BLOCKERS).min(area.height / 4).max(1) + 2,
    };
    let [head, body, blockers, foot] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Min(3),
        Constraint::Length(for_blockers),
        Constraint::Length(1),
    ])
    .areas(area);
    frame.render_widget(screen.head(head.width), head);
    let log_end = screen.body(frame, body);
    if for_blockers > 0 {
        screen.blockers(frame, blockers);
    }
    frame.render_widget(screen.foot(foot.width), foot);
    if board.mode == Mode::Helping {
        screen.help(frame, area);
    }
    log_end
}

struct Screen<'b> {
    board: &'b Board,
    look: Look,
    now: Timestamp,
}

impl Screen<'_> {
    fn head(&self, width: u16) -> Line<'static> {
        let told = &self.board.told;
        let end = if self.board.is_over() {
            told.last
        } else {
            self.now
        };
        let text = format!(
            "{}  {}  {}  {}  {}",
            visible(&told.run),
            self.state(),
            self.counts(),
            words::cost(&told.spent),
            elapsed(between(told.began, end))
        );
        Line::styled(self.look.cut(&text, width), BOLD)
    }

    fn state(&self) -> String {
        let told = &self.board.told;
        match (&told.outcome, &told.state, told.is_left) {
            (Some(Outcome::Fatal(why)), ..) => format!("stopped: {}", visible(why)),
            (Some(outcome), ..) => format::outcome(outcome),
            (None, _, true) => "left: beads-ralph run resumes it".to_owned(),
            (None, RunState::Paused, _) => "paused".to_owned(),
            (None, RunState::Stopping, _) => "stopping".to_owned(),
            (None, RunState::Failing { reason }, _) => format!("stopping: {}", visible(reason)),
            (None, RunState::Running | RunState::Over, _) => "running".to_owned(),
        }
    }

    fn counts(&self) -> String {
        let stories = &self.board.told.stories;
        let n = |is: fn(&Story) -> bool| stories.iter().filter(|story| is(story)).count();
        let mut counts = format!("{} of {} closed", n(is_closed), stories.len());
        for (n, words) in [
            (n(is_working), "working"),
            (n(is_for_person), "for a person"),
        ] {
            if n > 0 {
                _ = write!(counts, ", {n} {words}");
            }
        }
        counts
    }

    fn body(&self, frame: &mut Frame<'_>, area: Rect) -> usize {
        if self.board.is_log_alone {
            return self.log(frame, area);
        }
        let halves = if area.width >= WIDE {
            Layout::horizontal([Constraint::Percentage(45), Constraint::Percentage(55)])
        } else {
            Layout::vertical([Constraint::Percentage(40), Constraint::Percentage(60)])
        };
        let [left, right] = halves.areas(area);
        self.list(frame, left);
        self.bead(frame, right)
    }

    fn list(&self, frame: &mut Frame<'_>, area: Rect) {
        let grouping = match self.board.grouping {
            Grouping::Teams => "teams",
            Grouping::Graph => "graph",
        };
        let filter = match self.board.filter {
            Filter::All => "",
            Filter::Unfinished => ", not closed",
            Filter::ForPeople => ", for a person",
        };
        let block = self.look.block(&format!("{grouping}{filter}"));
        let inside = block.inner(area);
        frame.render_widget(block, area);
        let height = usize::from(inside.height);
        let selected = self.board.selected.as_ref();
        let at = selected.and_then(|id| self.board.place_of(id)).unwrap_or(0);
        let last = self.board.rows.len().saturating_sub(height);
        let from = at.saturating_sub(height / 2).min(last);
        let rows = self.board.rows.iter().skip(from).take(height);
        let mut lines: Vec<Line<'_>> = rows.map(|row| self.row(row, inside.width)).collect();
        if lines.is_empty() {
            lines.push(Line::raw("no bead is like that"));
        }
        frame.render_widget(Paragraph::new(lines), inside);
    }

    fn row(&self, row: &Row, width: u16) -> Line<'static> {
        let story = match row {
            Row::Heading(text) => {
                return Line::styled(self.look.cut(&visible(text), width), BOLD);
            }
            Row::Bead(at) => &self.board.told.stories[*at],
        };
        let is_selected = Some(&story.task.id) == self.board.selected.as_ref();
        let mut style = self.look.style(story);
        if is_selected {
            style = style.add_modifier(Modifier::REVERSED);
        }
        let width = usize::from(width);
        let mut state = words::state(&self.board.told, story, self.now);
        if self.board.grouping == Grouping::Graph && !story.waited_for.is_empty() {
            let after = self.after(story);
            state = match story.state {
                BeadState::Waiting { .. } => after,
                _ => format!("{state}, {after}"),
            };
        }
        let state = cut(&visible(&state), width / 2, self.look.charset);
        let room = width.saturating_sub(columns(&state) + 3);
        let name = visible(&words::name(story));
        let name = cut(&name, room, self.look.charset);
        let gap = " ".repeat(room.saturating_sub(columns(&name)) + 1);
        Line::styled(
            format!("{} {name}{gap}{state}", self.look.mark(story)),
            style,
        )
    }

    fn after(&self, story: &Story) -> String {
        let number = |id| self.board.told.story(id).map_or(id, words::number);
        let numbers: Vec<&str> = (story.waited_for.iter())
            .map(|id| number(id.as_str()))
            .collect();
        format!("after {}", numbers.join(" "))
    }

    fn bead(&self, frame: &mut Frame<'_>, area: Rect) -> usize {
        let Some(story) = self.board.selected() else {
            frame.render_widget(self.look.block(""), area);
            return 0;
        };
        let width = usize::from(area.width.saturating_sub(2));
        let lines: Vec<String> = (details(&self.board.told, story, self.now).iter())
            .flat_map(|line| wrapped(line, width))
            .collect();
        let height = u16::try_from(lines.len()).unwrap_or(u16::MAX);
        let height = height.min((area.height / 2).saturating_sub(1)).max(1) + 2;
        let [above, below] =
            Layout::vertical([Constraint::Length(height), Constraint::Min(0)]).areas(area);
        let name = visible(&words::name(story));
        let text: Vec<Line<'_>> = lines.into_iter().map(Line::raw).collect();
        frame.render_widget(Paragraph::new(text).block(self.look.block(&name)), above);
        if below.height > 2 {
            self.log(frame, below)
        } else {
            0
        }
    }

    /// The log, and the first of its lines when its end is shown.
    fn log(&self, frame: &mut Frame<'_>, area: Rect) -> usize {
        let log = &self.board.log;
        let title = match log.n_logs {
            0 => "nothing was written yet".to_owned(),
            n => format!(
                "{} ({} of {n})",
                visible(&log.name),
                n - self.board.logs_back.min(n - 1)
            ),
        };
        let title = match self.board.selected() {
            Some(story) if self.board.is_log_alone => {
                format!("{}: {title}", visible(&words::name(story)))
            }
            _ => title,
        };
        let block = self.look.block(&title);
        let inside = block.inner(area);
        let width = usize::from(inside.width);
        let lines: Vec<String> = (log.lines.iter())
            .flat_map(|it| wrapped(it, width))
            .collect();
        let height = usize::from(inside.height);
        let end = lines.len().saturating_sub(height);
        let from = self.board.log_from.unwrap_or(end).min(end);
        let shown = lines.into_iter().skip(from).take(height);
        let shown: Vec<Line<'_>> = shown.map(Line::raw).collect();
        frame.render_widget(Paragraph::new(shown).block(block), area);
        end
    }

    fn blockers(&self, frame: &mut Frame<'_>, area: Rect) {
        let all = &self.board.blockers;
        let block = self
            .look
            .block(&format!("what holds it up ({})", all.len()));
        let inside = block.inner(area);
        let lines: Vec<Line<'_>> = (all.iter())
            .take(usize::from(inside.height))
            .map(|blocker| {
                let text = self.look.cut(&visible(&blocker.text), inside.width);
                let color = if blocker.is_for_person {
                    Color::Red
                } else {
                    Color::Yellow
                };
                Line::styled(text, self.look.colored(color))
            })
            .collect();
        frame.render_widget(Paragraph::new(lines).block(block), area);
    }

    fn foot(&self, width: u16) -> Line<'static> {
        let (text, style) = match (&self.board.mode, &self.board.said) {
            (Mode::Asking(question), _) => (asked(question), BOLD.add_modifier(Modifier::REVERSED)),
            (_, Some(said)) => (visible(said), BOLD),
            (Mode::Looking | Mode::Helping, None) => (KEYS.to_owned(), Style::new()),
        };
        Line::styled(self.look.cut(&text, width), style)
    }

    fn help(&self, frame: &mut Frame<'_>, area: Rect) {
        let width = HELP.iter().map(|line| columns(line)).max().unwrap_or(0);
        let width = u16::try_from(width + 2).unwrap_or(u16::MAX).min(area.width);
        let height = u16::try_from(HELP.len() + 2)
            .unwrap_or(u16::MAX)
            .min(area.height);
        let place = Rect {
            x: (area.width - width) / 2,
            y: (area.height - height) / 2,
            width,
            height,
        };
        let lines: Vec<Line<'_>> = HELP.into_iter().map(Line::raw).collect();
        frame.render_widget(Clear, place);
        frame.render_widget(Paragraph::new(lines).block(self.look.block("keys")), place);
    }
}

fn is_working(story: &Story) -> bool {
    matches!(story.state, BeadState::Working { .. })
}

fn asked(question: &Question) -> String {
    match question {
        Question::Retry(id) => format!(
            "try {} again? y: yes, any other key: no",
            visible(id.as_str())
        ),
        Question::Stop => {
            "stop all runs on this store? y: let agents finish, !: end them now, any other key: no"
                .to_owned()
        }
    }
}
