//! What the engine decides, told in events and effects.
