//! A branch that git cannot create beside another (B-28).

use crate::diag::{Diagnostic, WarningCode};
use crate::text::{Span, Spanned, excerpt};

/// Points at the lower of the two branches.
pub(crate) fn branch_clash(branch: &Spanned<&str>, folder: &str, folder_span: Span) -> Diagnostic {
    let message = format!(
        "git cannot have `{}` while there is a branch `{}`",
        excerpt(branch.value),
        excerpt(folder)
    );
    Diagnostic::new(WarningCode::BranchClash, branch.span, message)
        .label("this branch cannot be created")
        .also(folder_span, "beside this one")
        .help("branches are files in folders for git: use another prefix, such as `feature/`")
}
