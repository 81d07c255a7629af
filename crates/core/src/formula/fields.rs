//! Every field of the real format and what becomes of it here (Z-38). `docs/formulas.md` prints this table.

use crate::vocabulary::words;

words! {
    /// The tables of a formula file.
    Object {
        /// The file itself.
        Formula = "formula",
        /// `vars.NAME`.
        Variable = "variable",
        /// A step, a child, a step of a template or of a loop's body.
        Step = "step",
        /// `gate` of a step.
        Gate = "step.gate",
        /// `loop` of a step.
        Loop = "step.loop",
        /// `compose`.
        Compose = "compose",
        /// An item of `compose.expand`.
        Expand = "compose.expand",
        /// An item of `compose.map`.
        Map = "compose.map",
        /// An item of `compose.branch`.
        Branch = "compose.branch",
        /// An item of `compose.gate`.
        GateRule = "compose.gate",
        /// An item of `advice`.
        Advice = "advice",
        /// `before`, `after`, and the items of `around`.
        AdviceStep = "advice step",
        /// `around` of an item of `advice`.
        Around = "advice.around",
    }
}

words! {
    /// What becomes of a field.
    Treatment {
        /// It does what it says.
        Honoured = "honoured",
        /// It is read past with a warning.
        Ignored = "ignored with a warning",
        /// It is an error.
        Refused = "refused",
    }
}

/// A field of the format.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// Where it stands.
    pub object: Object,
    /// Its name.
    pub name: &'static str,
    /// What becomes of it.
    pub treatment: Treatment,
    /// What it does, or why it does nothing.
    pub about: &'static str,
}

/// The field of a table.
pub(super) fn find(object: Object, name: &str) -> Option<&'static Field> {
    FIELDS
        .iter()
        .find(|field| field.object == object && field.name == name)
}

macro_rules! fields {
    ($($object:ident { $($name:literal $treatment:ident $about:literal),* $(,)? })*) => {
        &[$($(Field {
            object: Object::$object,
            name: $name,
            treatment: Treatment::$treatment,
            about: $about,
        }),*),*]
    };
}

/// Every field that the real `bd` reads, and those of the contracts.
pub const FIELDS: &[Field] = fields! {
    Formula {
        "formula" Honoured "its name, which is the name of the file",
        "description" Honoured "the description of the molecule",
        "version" Honoured "a whole number from 1",
        "type" Honoured "`workflow` is poured; `expansion` and `aspect` are used by others; `convoy`, `task` and `patrol` are read and not poured",
        "phase" Honoured "`liquid` or `vapor`; pouring what is `vapor` warns",
        "extends" Honoured "formulas whose variables, steps, rules and advice come first; a step of the same id takes the other's place",
        "vars" Honoured "variables",
        "steps" Honoured "what is to be done",
        "template" Honoured "the steps of an expansion",
        "compose" Honoured "what is done to the steps",
        "advice" Honoured "steps around steps; also when the formula extends another",
        "intent" Honoured "kept as `metadata.intent` of the molecule",
        "pour" Ignored "steps are always made, so `false` means nothing",
        "pointcuts" Ignored "advice chooses by its own `target`, also in the real `bd`",
        "source" Ignored "the place of a file is known from the file",
    }
    Variable {
        "description" Honoured "what it is for",
        "required" Honoured "a value must be given, and not an empty one; with a `default` it need not be",
        "default" Honoured "the value when none is given; numbers and booleans become texts",
        "pattern" Honoured "a regular expression that is found somewhere in the value; defaults are checked too",
        "enum" Honoured "the values that are allowed; defaults are checked too",
        "type" Honoured "`string`, `int` or `bool`, which is checked",
    }
    Step {
        "id" Honoured "its name, part of the bead's id, `metadata.stage` and the label `stage-<id>`",
        "name" Honoured "the title where there is no `title`; beside one it is kept as `metadata.name`",
        "title" Honoured "the bead's title",
        "description" Honoured "the bead's description",
        "notes" Honoured "the bead's notes, also in loops and expansions",
        "type" Honoured "the bead's type; without one `task`, or `epic` for a step with children. A type that is neither one of `bd` nor registered (`bd config set types.custom`) becomes the same, with a warning",
        "priority" Honoured "0 to 4; 2 without one",
        "labels" Honoured "the bead's labels",
        "metadata" Honoured "the bead's metadata; variables are filled in its texts",
        "depends_on" Honoured "steps that must be closed before",
        "needs" Honoured "the same as `depends_on`",
        "waits_for" Honoured "`all-children`, `any-children` or `children-of(step)`; without a step to wait for it is an error",
        "assignee" Honoured "the bead's assignee",
        "expand" Honoured "the expansion that takes its place",
        "expand_vars" Honoured "values for that expansion",
        "condition" Honoured "`{{v}}`, `!{{v}}`, `{{v}} == x`, `{{v}} != x`; who needs a step that is left out needs what it needed",
        "children" Honoured "steps below it",
        "gate" Honoured "a bead of type `gate` that blocks the step",
        "loop" Honoured "steps that are repeated in its place",
        "on_complete" Ignored "nothing reads the output of a step; the real `bd` does not either",
    }
    Gate {
        "type" Honoured "`human`, `timer`, `mail`, `bead`, `gh:run` or `gh:pr`",
        "id" Honoured "what is waited for",
        "await_id" Honoured "what is waited for; before `id`",
        "timeout" Honoured "how long, as `1h30m`",
        "repo" Honoured "the repository of a `gh:` gate",
    }
    Loop {
        "count" Honoured "how often",
        "range" Honoured "`first..last`, with `+ - * / ^`, parentheses and variables in single braces",
        "var" Honoured "the name under which the number is known in the body, in single braces",
        "until" Honoured "the body is made once and the condition kept in `metadata.loop`; nothing here evaluates it, which is warned about",
        "max" Honoured "goes with `until`",
        "body" Honoured "the steps that are repeated",
    }
    Compose {
        "expand" Honoured "expansions that take the place of single steps",
        "map" Honoured "expansions that take the place of all steps that match",
        "branch" Honoured "forks and joins",
        "gate" Honoured "the label `gate:{\"condition\":…}` on the step; nothing here evaluates it, which is warned about",
        "aspects" Honoured "aspects whose advice is applied",
        "bond_points" Ignored "molecules are not bonded",
        "hooks" Ignored "nothing triggers them, also in the real `bd`",
    }
    Expand {
        "target" Honoured "the step",
        "with" Honoured "the expansion",
        "vars" Honoured "values for it",
    }
    Map {
        "select" Honoured "a pattern of steps: `*` stands for any text",
        "with" Honoured "the expansion",
        "vars" Honoured "values for it",
    }
    Branch {
        "from" Honoured "the step before",
        "steps" Honoured "the steps between",
        "join" Honoured "the step after",
    }
    GateRule {
        "before" Honoured "the step",
        "condition" Honoured "the condition",
    }
    Advice {
        "target" Honoured "a pattern of steps: `*` stands for any text",
        "before" Honoured "a step before each of them",
        "after" Honoured "a step after each of them",
        "around" Honoured "steps before and after each of them",
    }
    AdviceStep {
        "id" Honoured "its name; `{step.id}` and `{step.title}` are the other step's",
        "title" Honoured "its title; its name without one",
        "description" Honoured "its description",
        "type" Honoured "the bead's type",
        "args" Ignored "nothing passes them on, also in the real `bd`",
        "output" Ignored "nothing reads it, also in the real `bd`",
    }
    Around {
        "before" Honoured "steps before",
        "after" Honoured "steps after",
    }
};
