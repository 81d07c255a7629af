//! Places in a text: byte spans, lines and columns, and the small string rules that plan and bead share.

mod excerpt;
mod lines;
mod slug;
mod span;

pub use excerpt::{MAX_EXCERPT_CHARS, excerpt};
pub use lines::{LineIndex, Position};
pub use slug::{NAME_LIMIT, name_from_title, slug};
pub use span::{Span, Spanned};
