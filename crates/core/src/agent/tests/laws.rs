//! Laws: whatever a program prints and wherever it is cut, reading it is safe, and the same.

use proptest::prelude::*;

use super::super::{Adapter, Call, Ending, Halt, ProcessEnd, Reader, Status};
use super::{Outcome, adapter, call, now, recorded};

/// Lines of real programs, broken ones, and noise.
fn line() -> impl Strategy<Value = Vec<u8>> {
    let real: Vec<Vec<u8>> = [
        ("claude", "tool-use"),
        ("claude", "plan-limit"),
        ("claude", "report-missing"),
        ("codex", "tool-use"),
        ("codex", "bad-key"),
    ]
    .into_iter()
    .flat_map(|(program, name)| {
        recorded(program, name)
            .0
            .lines()
            .map(|line| line.as_bytes().to_vec())
            .collect::<Vec<_>>()
    })
    .collect();
    let real = proptest::sample::select(real);
    prop_oneof![
        4 => real.clone(),
        1 => (real, any::<proptest::sample::Index>()).prop_map(|(line, at)| line[..at.index(line.len())].to_vec()),
        1 => proptest::collection::vec(any::<u8>(), 0..200),
        1 => "\\{\"type\":\"(result|assistant|system|turn.failed)\"(,\"[a-z_]{1,9}\":(null|true|-?[0-9]{1,30}|\"[^\"\\\\]{0,9}\"))*\\}".prop_map(String::into_bytes),
    ]
}

fn stream() -> impl Strategy<Value = Vec<u8>> {
    let ends = prop_oneof![Just("\n"), Just("\r\n"), Just("")];
    let lines = proptest::collection::vec((line(), ends), 0..12);
    lines.prop_map(|lines| {
        let pieces = lines
            .into_iter()
            .flat_map(|(line, end)| [line, end.as_bytes().to_vec()]);
        pieces.flatten().collect()
    })
}

fn ending() -> impl Strategy<Value = Ending> {
    let end = prop_oneof![
        3 => Just(ProcessEnd::Exited(0)),
        2 => any::<i32>().prop_map(ProcessEnd::Exited),
        1 => (1..65).prop_map(ProcessEnd::Signalled),
        1 => Just(ProcessEnd::Lost),
    ];
    let halt = prop_oneof![
        4 => Just(None),
        1 => Just(Some(Halt::Drained)),
        1 => Just(Some(Halt::Cancelled)),
        1 => Just(Some(Halt::Wall("1s".to_owned()))),
        1 => Just(Some(Halt::Idle("1s".to_owned()))),
    ];
    (end, halt).prop_map(|(end, halt)| Ending { end, halt })
}

fn read(adapter: &Adapter, call: &Call, pieces: &[&[u8]], ending: &Ending) -> Outcome {
    let mut reader = Reader::new(adapter, call);
    for piece in pieces {
        reader.stdout(piece);
        reader.stderr(piece);
        let (_, _) = (reader.spent(), reader.activity());
    }
    reader.finish(ending, now())
}

proptest! {
    #[test]
    fn any_bytes_cut_anywhere_are_read_alike(
        bytes in stream(),
        cuts in proptest::collection::vec(any::<proptest::sample::Index>(), 0..9),
        ending in ending(),
        name in proptest::sample::select(vec!["claude", "codex", "gemini", "opencode", "command"]),
        is_asked in any::<bool>(),
    ) {
        let adapter = adapter(name);
        let mut call = call();
        call.schema = is_asked.then(|| serde_json::json!({}));
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let pieces: Vec<&[u8]> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
        let whole = read(&adapter, &call, &[&bytes], &ending);
        let cut = read(&adapter, &call, &pieces, &ending);
        prop_assert_eq!(&whole, &cut);

        // Success takes a last word that says so, an end that agrees, and the report.
        if whole.status == Status::Ok {
            let text = String::from_utf8_lossy(&bytes);
            let has_word = match name {
                "claude" => text.contains("\"type\":\"result\"") && text.contains("\"is_error\":false"),
                "codex" => text.contains("turn.completed"),
                "command" => true,
                _ => false,
            };
            prop_assert!(has_word);
            prop_assert!(!matches!(ending.halt, Some(Halt::Cancelled)));
            prop_assert!(ending.end == ProcessEnd::Exited(0) || ending.halt.is_some());
            prop_assert!(!is_asked || whole.report.is_some());
            prop_assert!(name != "command" || ending.end == ProcessEnd::Exited(0));
        }
        prop_assert!(!whole.reason.is_empty());
        prop_assert!(!whole.reason.chars().any(char::is_control));
        prop_assert!(whole.resets_at.is_none() || whole.status == Status::Limit);
    }
}
