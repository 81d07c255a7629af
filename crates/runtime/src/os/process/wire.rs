//! What we tell a shim, and what it tells us.
//!
//! Everything is a frame: its length in four bytes, and what it says. Texts are bytes, because neither arguments nor the
//! environment need be UTF-8.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::time::Duration;

use super::Ending;
use super::program::Refusal;

/// How long a frame may be: far more than any system takes as arguments and environment.
pub(super) const MAX_FRAME: usize = 32 << 20;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Order {
    /// Run a program, with the three files that come along.
    Run(Box<Launch>),
    Terminate,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Launch {
    pub(super) program: OsString,
    /// What it is called with, its own name first.
    pub(super) argv: Vec<OsString>,
    pub(super) cwd: OsString,
    pub(super) env: Vec<(OsString, OsString)>,
    /// How long it may take to end after it was asked to.
    pub(super) grace: Duration,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Report {
    Ready,
    Refused(Refusal),
    /// The program has ended, and all that it left.
    Ended {
        ending: Ending,
        n_leaked: u32,
        survivors: Vec<u32>,
    },
}

impl Order {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut frame = Encoder::new();
        match self {
            Self::Run(launch) => {
                frame.number(0);
                frame.text(&launch.program);
                frame.text(&launch.cwd);
                frame.number(u32::try_from(launch.grace.as_millis()).unwrap_or(u32::MAX));
                frame.length(launch.argv.len());
                for argument in &launch.argv {
                    frame.text(argument);
                }
                frame.length(launch.env.len());
                for (name, value) in &launch.env {
                    frame.text(name);
                    frame.text(value);
                }
            }
            Self::Terminate => frame.number(1),
        }
        frame.finish()
    }

    pub(super) fn decode(frame: &[u8]) -> Option<Self> {
        let mut frame = Decoder(frame);
        let order = match frame.number()? {
            0 => Self::Run(Box::new(Launch {
                program: frame.text()?,
                cwd: frame.text()?,
                grace: Duration::from_millis(frame.number()?.into()),
                argv: frame.list(Decoder::text)?,
                env: frame.list(|frame| Some((frame.text()?, frame.text()?)))?,
            })),
            1 => Self::Terminate,
            _ => return None,
        };
        frame.0.is_empty().then_some(order)
    }
}

impl Report {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut frame = Encoder::new();
        match self {
            Self::Ready => frame.number(0),
            Self::Refused(refusal) => {
                frame.number(1);
                frame.text(OsStr::new(&refusal.reason));
                frame.number(refusal.is_missing.into());
                frame.number(refusal.is_temporary.into());
            }
            Self::Ended {
                ending,
                n_leaked,
                survivors,
            } => {
                frame.number(2);
                let (kind, value) = match *ending {
                    Ending::Exited(code) => (0, code),
                    Ending::Signalled(signal) => (1, signal),
                    Ending::Unknown => (2, 0),
                };
                frame.number(kind);
                frame.number(value.cast_unsigned());
                frame.number(*n_leaked);
                frame.length(survivors.len());
                for &survivor in survivors {
                    frame.number(survivor);
                }
            }
        }
        frame.finish()
    }

    pub(super) fn decode(frame: &[u8]) -> Option<Self> {
        let mut frame = Decoder(frame);
        let report = match frame.number()? {
            0 => Self::Ready,
            1 => Self::Refused(Refusal {
                reason: frame.text()?.to_string_lossy().into_owned(),
                is_missing: frame.number()? != 0,
                is_temporary: frame.number()? != 0,
            }),
            2 => {
                let ending = match (frame.number()?, frame.number()?.cast_signed()) {
                    (0, code) => Ending::Exited(code),
                    (1, signal) => Ending::Signalled(signal),
                    (2, _) => Ending::Unknown,
                    _ => return None,
                };
                Self::Ended {
                    ending,
                    n_leaked: frame.number()?,
                    survivors: frame.list(Decoder::number)?,
                }
            }
            _ => return None,
        };
        frame.0.is_empty().then_some(report)
    }
}

struct Encoder(Vec<u8>);

impl Encoder {
    /// A frame whose length is not known yet.
    fn new() -> Self {
        Self(vec![0; 4])
    }

    fn number(&mut self, number: u32) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    /// What does not fit into a number does not fit into a frame either, and is refused by its length.
    fn length(&mut self, length: usize) {
        self.number(u32::try_from(length).unwrap_or(u32::MAX));
    }

    fn text(&mut self, text: &OsStr) {
        self.length(text.len());
        self.0.extend_from_slice(text.as_bytes());
    }

    fn finish(mut self) -> Vec<u8> {
        let length = u32::try_from(self.0.len() - 4).unwrap_or(u32::MAX);
        self.0[..4].copy_from_slice(&length.to_le_bytes());
        self.0
    }
}

struct Decoder<'a>(&'a [u8]);

impl Decoder<'_> {
    fn bytes(&mut self, n_bytes: usize) -> Option<&[u8]> {
        let (bytes, rest) = self.0.split_at_checked(n_bytes)?;
        self.0 = rest;
        Some(bytes)
    }

    fn number(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.bytes(4)?.try_into().ok()?))
    }

    fn text(&mut self) -> Option<OsString> {
        let n_bytes = usize::try_from(self.number()?).ok()?;
        Some(OsString::from_vec(self.bytes(n_bytes)?.to_vec()))
    }

    fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let n_items = self.number()?;
        (0..n_items).map(|_| item(self)).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text() -> impl Strategy<Value = OsString> {
        prop::collection::vec(any::<u8>(), 0..20).prop_map(OsString::from_vec)
    }

    fn order() -> impl Strategy<Value = Order> {
        let env = prop::collection::vec((text(), text()), 0..5);
        let launch = (
            text(),
            prop::collection::vec(text(), 0..5),
            text(),
            env,
            0..u32::MAX,
        );
        let run = launch.prop_map(|(program, argv, cwd, env, grace)| {
            Order::Run(Box::new(Launch {
                program,
                argv,
                cwd,
                env,
                grace: Duration::from_millis(grace.into()),
            }))
        });
        prop_oneof![run, Just(Order::Terminate)]
    }

    fn report() -> impl Strategy<Value = Report> {
        let ending = prop_oneof![
            any::<i32>().prop_map(Ending::Exited),
            any::<i32>().prop_map(Ending::Signalled),
            Just(Ending::Unknown),
        ];
        let survivors = prop::collection::vec(any::<u32>(), 0..5);
        let ended = (ending, any::<u32>(), survivors).prop_map(|(ending, n_leaked, survivors)| {
            Report::Ended {
                ending,
                n_leaked,
                survivors,
            }
        });
        let refused = ("\\PC*", any::<bool>(), any::<bool>()).prop_map(
            |(reason, is_missing, is_temporary)| {
                Report::Refused(Refusal {
                    reason,
                    is_missing,
                    is_temporary,
                })
            },
        );
        prop_oneof![Just(Report::Ready), refused, ended]
    }

    proptest! {
        #[test]
        fn z_19_what_is_said_is_what_is_heard(order in order(), report in report()) {
            prop_assert_eq!(Order::decode(&order.encode()[4..]), Some(order));
            prop_assert_eq!(Report::decode(&report.encode()[4..]), Some(report));
        }

        #[test]
        fn z_19_what_is_cut_off_or_goes_on_is_not_taken_for_a_word(order in order(), cut in 0..100_usize) {
            let mut frame = order.encode().split_off(4);
            frame.push(0);
            prop_assert_eq!(Order::decode(&frame), None);
            frame.truncate(frame.len().saturating_sub(2 + cut));
            prop_assert_eq!(Order::decode(&frame), None);
        }

        #[test]
        fn z_19_noise_breaks_nothing(noise in prop::collection::vec(any::<u8>(), 0..100)) {
            // Whatever it is taken for, it says the same again.
            if let Some(order) = Order::decode(&noise) {
                prop_assert_eq!(&order.encode()[4..], &noise[..]);
            }
            if let Some(Report::Ready) = Report::decode(&noise) {
                prop_assert_eq!(&Report::Ready.encode()[4..], &noise[..]);
            }
        }
    }
}
