//! Texts with the values of variables taken out.

use serde::{Serialize, Serializer};

use crate::bead::RalphBead;
use crate::formula::{Values, has_placeholder};
use crate::text::name_from_title;
use crate::vocabulary::label;

/// What S1 says about a variable (F-15).
struct Known {
    name: &'static str,
    about: &'static str,
    pattern: Option<&'static str>,
    allowed: &'static [&'static str],
}

const fn known(name: &'static str, about: &'static str) -> Known {
    Known {
        name,
        about,
        pattern: None,
        allowed: &[],
    }
}

static KNOWN: [Known; 10] = [
    Known {
        pattern: Some(r"^\d+[a-z]*\.\d+[a-z]*$"),
        ..known("sprint_id", "Sprint identifier (e.g., 1.2a)")
    },
    known("sprint_title", "Sprint title"),
    known("worktree_path", "Path to git worktree"),
    known("branch", "Git branch name"),
    known(
        "sprint_dashed",
        "Sprint identifier with a dash (e.g., 1-2a)",
    ),
    known("title_slug", "Sprint title as a part of names"),
    known("phase", "Phase of the sprint (e.g., 1)"),
    known("phase_label", "Label of the phase (e.g., phase-01)"),
    known("dev_agent", "Dev agent name"),
    Known {
        allowed: &["haiku", "sonnet", "opus"],
        ..known("dev_model", "Dev agent model")
    },
];

/// How many values every sprint has.
const STANDARD: usize = 8;

/// The values that every sprint has under a fixed name (F-15, F-16), the most telling first: a text is looked through for them
/// in this order.
pub(super) fn standard(bead: &RalphBead) -> [(&'static str, String); STANDARD] {
    let metadata = &bead.metadata;
    [
        ("worktree_path", metadata.worktree_path.clone()),
        ("branch", metadata.branch.to_string()),
        ("sprint_title", bead.title.clone()),
        ("title_slug", name_from_title(&bead.title)),
        ("sprint_id", metadata.sprint.to_string()),
        ("sprint_dashed", metadata.sprint.dashed()),
        ("phase", metadata.phase.as_str().to_owned()),
        ("phase_label", phase_label(bead)),
    ]
}

/// The label of a sprint's phase.
fn phase_label(bead: &RalphBead) -> String {
    let labels = bead.labels.iter();
    let mut phases = labels.filter(|label| label.starts_with(label::PHASE_PREFIX));
    phases.next().cloned().unwrap_or_default()
}

/// The variables that stand for a whole text and never for a part of one: a phase is a short word.
const WHOLE_ONLY: [&str; 2] = ["phase", "phase_label"];

/// A variable and its value for each bead.
#[derive(Debug)]
struct Variable {
    name: String,
    values: Vec<String>,
    /// Whether it may stand within a longer text.
    is_standard: bool,
}

/// The variables so far.
#[derive(Debug)]
pub(super) struct Texts {
    variables: Vec<Variable>,
    n_beads: usize,
}

impl Texts {
    pub(super) fn of(beads: &[&RalphBead]) -> Self {
        let all: Vec<[(&'static str, String); STANDARD]> =
            beads.iter().map(|bead| standard(bead)).collect();
        let variables = (0..STANDARD).map(|at| Variable {
            name: all[0][at].0.to_owned(),
            values: all.iter().map(|one| one[at].1.clone()).collect(),
            is_standard: !WHOLE_ONLY.contains(&all[0][at].0),
        });
        Self {
            variables: variables.collect(),
            n_beads: beads.len(),
        }
    }

    /// One text that gives all of these when the variables are filled in: a text that is the same everywhere, one with variables in
    /// it, or a new variable.
    pub(super) fn template(&mut self, name: &str, texts: &[&str]) -> String {
        if let Some(whole) = self.phase(name, texts).or_else(|| self.whole(texts)) {
            return whole;
        }
        let is_plain = texts.iter().all(|text| !has_placeholder(text));
        if is_plain {
            if let Some(template) = self.within(texts) {
                return template;
            }
            if texts.iter().all(|text| text == &texts[0]) {
                return texts[0].to_owned();
            }
        }
        // A text that looks like a placeholder can only be a value.
        self.variables.push(Variable {
            name: self.unused(name),
            values: texts.iter().map(|text| (*text).to_owned()).collect(),
            is_standard: false,
        });
        placeholder(&self.variables[self.variables.len() - 1].name)
    }

    /// The phase and its label belong to the sprint, also where all sprints have the same.
    fn phase(&self, name: &str, texts: &[&str]) -> Option<String> {
        let wanted = match name {
            "phase" => "phase",
            name if name.starts_with("labels_") => "phase_label",
            _ => return None,
        };
        let variable = self
            .variables
            .iter()
            .find(|variable| variable.name == wanted)?;
        (variable.values == texts).then(|| placeholder(wanted))
    }

    /// A variable that is exactly this. One that is the same everywhere is not taken for another by chance.
    fn whole(&self, texts: &[&str]) -> Option<String> {
        let is_constant = texts.iter().all(|text| text == &texts[0]) && texts.len() > 1;
        let mut variables = self.variables.iter();
        let found = variables.find(|variable| {
            variable.values == texts
                && (!is_constant || !variable.is_standard)
                && !WHOLE_ONLY.contains(&variable.name.as_str())
        })?;
        Some(placeholder(&found.name))
    }

    /// The first text with the values of standard variables taken out, if it gives the others back.
    fn within(&self, texts: &[&str]) -> Option<String> {
        let mut parts = vec![Part::Text(texts[0].to_owned())];
        for (at, variable) in self.variables.iter().enumerate() {
            let value = &variable.values[0];
            if variable.is_standard && !value.is_empty() {
                parts = parts
                    .into_iter()
                    .flat_map(|part| part.split(value, at))
                    .collect();
            }
        }
        let has_variable = parts.iter().any(|part| matches!(part, Part::Variable(_)));
        let gives_back = (0..self.n_beads).all(|bead| {
            let filled: String = parts
                .iter()
                .map(|part| match part {
                    Part::Text(text) => text.as_str(),
                    Part::Variable(at) => self.variables[*at].values[bead].as_str(),
                })
                .collect();
            filled == texts[bead]
        });
        (has_variable && gives_back).then(|| {
            let written = parts.iter().map(|part| match part {
                Part::Text(text) => text.clone(),
                Part::Variable(at) => placeholder(&self.variables[*at].name),
            });
            written.collect()
        })
    }

    /// A name that no variable has.
    fn unused(&self, name: &str) -> String {
        let is_taken = |name: &str| self.variables.iter().any(|other| other.name == name);
        let mut unused = name.to_owned();
        let mut n = 1;
        while is_taken(&unused) {
            n += 1;
            unused = format!("{name}_{n}");
        }
        unused
    }

    /// The declarations of the variables that are used, and their values for each bead.
    pub(super) fn used(&self, text: &str) -> (Declarations, Vec<Values>) {
        let is_used = |variable: &&Variable| text.contains(&placeholder(&variable.name));
        let used: Vec<&Variable> = self.variables.iter().filter(is_used).collect();
        let known = KNOWN.iter().filter_map(|known| {
            let variable = used.iter().find(|variable| variable.name == known.name)?;
            Some((
                variable.name.clone(),
                Declaration::of(variable, Some(known)),
            ))
        });
        let others = used
            .iter()
            .filter(|variable| KNOWN.iter().all(|known| known.name != variable.name));
        let others =
            others.map(|variable| (variable.name.clone(), Declaration::of(variable, None)));
        let declarations = Declarations(known.chain(others).collect());
        let values = (0..self.n_beads).map(|bead| {
            let mut values = Values::default();
            for variable in &used {
                values.set(&variable.name, &variable.values[bead]);
            }
            values
        });
        (declarations, values.collect())
    }
}

/// A piece of a text.
enum Part {
    Text(String),
    Variable(usize),
}

impl Part {
    /// Takes every occurrence of a value out.
    fn split(self, value: &str, variable: usize) -> Vec<Self> {
        let Self::Text(text) = self else {
            return vec![self];
        };
        let mut parts = Vec::new();
        for (at, piece) in text.split(value).enumerate() {
            if at > 0 {
                parts.push(Self::Variable(variable));
            }
            if !piece.is_empty() {
                parts.push(Self::Text(piece.to_owned()));
            }
        }
        parts
    }
}

fn placeholder(name: &str) -> String {
    format!("{{{{{name}}}}}")
}

/// The declarations of variables, in order.
pub(super) struct Declarations(Vec<(String, Declaration)>);

impl Serialize for Declarations {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, declaration)| (name, declaration)))
    }
}

/// How a formula declares a variable.
#[derive(Serialize)]
pub(super) struct Declaration {
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    default: Option<&'static str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    required: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pattern: Option<&'static str>,
    #[serde(rename = "enum", skip_serializing_if = "Option::is_none")]
    allowed: Option<&'static [&'static str]>,
}

impl Declaration {
    /// What differs must be given, and what may be empty has the empty text as its default: nothing that is required is empty.
    fn of(variable: &Variable, known: Option<&'static Known>) -> Self {
        let may_be_empty = variable.values.iter().any(String::is_empty);
        let fits = |allowed: &[&str]| {
            let mut values = variable.values.iter();
            !allowed.is_empty() && values.all(|value| allowed.contains(&value.as_str()))
        };
        Self {
            description: known.map(|known| known.about),
            default: may_be_empty.then_some(""),
            required: !may_be_empty,
            pattern: known.and_then(|known| known.pattern),
            allowed: known
                .map(|known| known.allowed)
                .filter(|allowed| fits(allowed)),
        }
    }
}
