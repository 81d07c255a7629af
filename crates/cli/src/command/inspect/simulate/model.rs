//! The world of a simulated run, as arguments.

use beads_ralph_core::simulate::Spread;
use clap::Args;

/// The simulated world. Defaults come from history, or are estimates.
#[derive(Debug, Args)]
pub(crate) struct ModelArgs {
    /// How long a dev agent takes: 12, 5..20 (anything between), 12~0.5 (median and width), or 4,9,30 (one of these)
    #[arg(long, value_name = "MINUTES", value_parser = minutes)]
    pub(crate) dev_minutes: Option<Spread>,
    /// How long a QA agent takes
    #[arg(long, value_name = "MINUTES", value_parser = minutes)]
    pub(crate) qa_minutes: Option<Spread>,
    /// How long the checks take
    #[arg(long, value_name = "MINUTES", value_parser = minutes)]
    pub(crate) check_minutes: Option<Spread>,
    /// What a dev agent's run costs
    #[arg(long, value_name = "USD", value_parser = dollars)]
    pub(crate) dev_cost: Option<Spread>,
    /// What a QA agent's run costs
    #[arg(long, value_name = "USD", value_parser = dollars)]
    pub(crate) qa_cost: Option<Spread>,
    /// How likely an attempt fails, from 0 to 1
    #[arg(long, value_name = "RATE", value_parser = rate)]
    pub(crate) fail_rate: Option<f64>,
    /// How likely an agent reaches the limit of its account, from 0 to 1
    #[arg(long, value_name = "RATE", value_parser = rate)]
    pub(crate) limit_rate: Option<f64>,
    /// Do not learn from earlier runs
    #[arg(long)]
    pub(crate) no_history: bool,
}

fn minutes(text: &str) -> Result<Spread, String> {
    spread(text, 60_000.0)
}

fn dollars(text: &str) -> Result<Spread, String> {
    spread(text, 1e6)
}

fn rate(text: &str) -> Result<f64, String> {
    let rate = text.parse().ok().filter(|rate| (0.0..=1.0).contains(rate));
    rate.ok_or_else(|| "write it as a number from 0 to 1".to_owned())
}

/// Reads how a number is spread, in a unit of so many parts.
fn spread(text: &str, unit: f64) -> Result<Spread, String> {
    let parts = |text: &str| {
        let number: f64 = text.trim().parse().ok()?;
        let parts = number * unit;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it was just looked at"
        )]
        (0.0..1e15).contains(&parts).then(|| parts.round() as u64)
    };
    let read = || {
        if let Some((least, most)) = text.split_once("..") {
            let (least, most) = (parts(least)?, parts(most)?);
            return (least <= most).then_some(Spread::Uniform { least, most });
        }
        if let Some((median, width)) = text.split_once('~') {
            let width: f64 = width.trim().parse().ok()?;
            let median = parts(median)?;
            return (0.0..=5.0)
                .contains(&width)
                .then_some(Spread::LogNormal { median, width });
        }
        if text.contains(',') {
            let seen: Option<Vec<u64>> = text.split(',').map(parts).collect();
            return seen.map(Spread::Seen);
        }
        parts(text).map(Spread::Fixed)
    };
    read().ok_or_else(|| "write it as 12, 5..20, 12~0.5 or 4,9,30".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_with_their_spread() {
        assert_eq!(minutes("1.5"), Ok(Spread::Fixed(90_000)));
        let (least, most) = (60_000, 120_000);
        assert_eq!(minutes("1..2"), Ok(Spread::Uniform { least, most }));
        let (median, width) = (500_000, 0.5);
        assert_eq!(dollars("0.5~0.5"), Ok(Spread::LogNormal { median, width }));
        assert_eq!(minutes("1,2"), Ok(Spread::Seen(vec![60_000, 120_000])));
        for bad in [
            "", "x", "-1", "2..1", "1..", "1~9", "1~x", "1,,2", "nan", "inf", "1e300",
        ] {
            assert!(minutes(bad).is_err(), "{bad}");
        }
        assert_eq!(rate("0.25"), Ok(0.25));
        for bad in ["1.1", "-0.1", "nan", "a"] {
            assert!(rate(bad).is_err(), "{bad}");
        }
    }
}
