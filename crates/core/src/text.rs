//! Places in a text: byte spans, lines and columns, and the small string rules that plan and bead share.

mod code_span;
mod duration;
mod excerpt;
mod slug;
mod span;
mod word_enum;

pub use code_span::{CodeSpan, first_code_span, without_code_marks};
pub use duration::parse_duration;
pub use excerpt::{
    MAX_EXCERPT_CHARS, contrast, excerpt, is_direction_mark, is_unprintable, list_first, visible,
    visible_lines, without_colour,
};
pub use slug::{NAME_LIMIT, name_from_title, slug};
pub use span::{LineIndex, Position, Span, Spanned};
pub(crate) use word_enum::word_enum;
