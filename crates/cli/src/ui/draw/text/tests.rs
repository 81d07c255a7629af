//! Pictures of small graphs, letter by letter.

use super::super::label::columns;
use super::super::tests::chart;
use super::*;

const WIDE: TextOptions = TextOptions {
    width: 80,
    unicode: true,
};

fn drawn(ids: &str, title: impl Fn(&str) -> String, options: TextOptions) -> String {
    let text = text(&chart(ids, title), options);
    for line in text.lines() {
        assert!(columns(line) <= options.width.max(MIN_WIDTH), "{line}");
        assert_eq!(line, line.trim_end());
        assert!(options.unicode || line.is_ascii(), "{line}");
    }
    text
}

fn titled(id: &str) -> String {
    let title = match id {
        "1.1" => "Setup",
        "1.2a" => "UI",
        "1.2b" => "API",
        _ => "Release the first version",
    };
    title.to_owned()
}

#[test]
fn a_small_plan_is_a_picture_with_waves_and_critical_path() {
    assert_eq!(
        drawn("1.1 1.2a 1.2b 1.3", titled, WIDE),
        "          [1.1 Setup]
        ┌──────┴─────┐
        ↓            ↓
    [1.2a UI]   [1.2b API]
        └──────┬─────┘
               ↓
[1.3 Release the first version]

wave 1: 1.1 Setup
wave 2: 1.2a UI; 1.2b API
wave 3: 1.3 Release the first version
critical path: 1.1 → 1.2a → 1.3
"
    );
}

#[test]
fn a_narrow_terminal_gets_shorter_titles_and_wrapped_lines() {
    let narrow = TextOptions {
        width: 24,
        unicode: false,
    };
    assert_eq!(
        drawn("1.1 1.2a 1.2b 1.3", titled, narrow),
        "      [1.1 Setup]
     +-----+------+
     v            v
 [1.2a UI]   [1.2b API]
     +------+-----+
            v
[1.3 Release the firs..]

wave 1: 1.1 Setup
wave 2: 1.2a UI;
  1.2b API
wave 3: 1.3 Release th..
critical path: 1.1 ->
  1.2a -> 1.3
"
    );
}

#[test]
fn a_plan_too_wide_for_a_picture_is_a_list_of_waves() {
    let narrow = TextOptions {
        width: 36,
        unicode: true,
    };
    assert_eq!(
        drawn("1.1 1.2a 1.2b 1.2c 1.2d 1.2e 1.2f 1.3", titled, narrow),
        "wave 1
  1.1 Setup
wave 2
  1.2a UI (waits for 1.1)
  1.2b API (waits for 1.1)
  1.2c Release the… (waits for 1.1)
  1.2d Release the… (waits for 1.1)
  1.2e Release the… (waits for 1.1)
  1.2f Release the… (waits for 1.1)
wave 3
  1.3 R… (waits for 1.2a and 5 more)
critical path: 1.1 → 1.2a → 1.3
"
    );
}

#[test]
fn a_large_plan_is_a_list_of_waves() {
    let ids: Vec<String> = (1..=100).map(|n| format!("1.{n}")).collect();
    let text = drawn(&ids.join(" "), |_| String::new(), WIDE);
    assert!(text.starts_with("wave 1\n  1.1\nwave 2\n  1.2 (waits for 1.1)\n"));
    assert!(text.contains("1.12 → … (76 more) → 1.89"), "{text}");
}

#[test]
fn wide_characters_keep_the_lines_straight() {
    assert_eq!(
        drawn("1.1 1.2a 1.2b", |id| format!("日本{id}"), WIDE),
        "          [1.1 日本1.1]
       ┌────────┴────────┐
       ↓                 ↓
[1.2a 日本1.2a]   [1.2b 日本1.2b]

wave 1: 1.1 日本1.1
wave 2: 1.2a 日本1.2a; 1.2b 日本1.2b
critical path: 1.1 → 1.2a
"
    );
}

#[test]
fn an_empty_plan_is_an_empty_text() {
    assert_eq!(drawn("", titled, WIDE), "");
}

#[test]
fn no_shape_title_or_width_breaks_out() {
    let long = format!("1.1 1.2{} 2a.1 2b.1 2ab.1", "z".repeat(300));
    let shapes = [
        "1.1",
        "1.1a 1.1b 1.1c 1.2a 1.2b 1.2c 2.1",
        "1.1 2a.1 2a.2 2a.3 2b.1 2ab.1 2c.1 2c.2 3a.1 3b.1 4.1",
        "1.1a 1.1b 1.1ab 1.1c 1.1abc 1.1bc 1.2",
        "1a.1 1b.1 1b.2 1b.3a 1b.3b 1b.4 2.1 2.2a 2.2b 2.2c 2.2d",
        &long,
    ];
    let titles = [
        "",
        "x",
        "🚀 a rather long title with 日本語 and e\u{301} in it",
        "\u{1b}[31m\n\n\u{202e}wave 9: 9.9",
    ];
    for shape in shapes {
        for title in titles {
            for width in [0, 20, 40, 80, 500] {
                for unicode in [true, false] {
                    let text = drawn(shape, |_| title.to_owned(), TextOptions { width, unicode });
                    assert!(!text.contains('\u{1b}') && !text.contains("\nwave 9"));
                    assert!(text.contains("\ncritical path: "));
                }
            }
        }
    }
}
