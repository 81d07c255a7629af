//! A branch that git cannot create beside another (B-28).

use crate::bead::BranchName;
use crate::diag::{Diagnostic, WarningCode};
use crate::text::{Span, excerpt};

/// Points at the lower of the two branches.
pub(crate) fn branch_clash(
    branch: &BranchName,
    span: Span,
    folder: &str,
    folder_span: Span,
) -> Diagnostic {
    let message = format!(
        "git cannot have `{}` while there is a branch `{}`",
        excerpt(branch.as_str()),
        excerpt(folder)
    );
    Diagnostic::new(WarningCode::BranchClash, span, message)
        .label("this branch cannot be created")
        .also(folder_span, "beside this one")
        .help("branches are files in folders for git: use another prefix, such as `feature/`")
}
