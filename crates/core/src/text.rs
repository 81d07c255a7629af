//! Places in a text: byte spans, lines and columns, and the small string rules that plan and bead share.

mod code_span;
mod colour;
mod contrast;
mod duration;
mod excerpt;
mod lines;
mod slug;
mod span;
mod word_enum;

pub use code_span::{CodeSpan, first_code_span, without_code_marks};
pub use colour::without_colour;
pub use contrast::contrast;
pub use duration::parse_duration;
pub use excerpt::{
    MAX_EXCERPT_CHARS, excerpt, is_direction_mark, is_unprintable, visible, visible_lines,
};
pub use lines::{LineIndex, Position};
pub use slug::{NAME_LIMIT, name_from_title, slug};
pub use span::{Span, Spanned};
pub(crate) use word_enum::word_enum;
