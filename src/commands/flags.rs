//! The flags that every command takes, and how durations are typed.

use std::time::Duration;

use crate::ui::ColorChoice;

/// What every command takes.
#[derive(Clone, Debug, clap::Args)]
pub struct Global {
    /// Print no progress and no hints
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// When to colour
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t)]
    pub color: ColorChoice,
    /// Longest wait for one answer of the server, e.g. 30s, 1m; 0 means no limit
    #[arg(long, global = true, value_name = "DURATION", default_value = "30s", value_parser = duration, help_heading = "Connection")]
    pub request_timeout: Duration,
}

/// Reads `90s`, `1m30s`, or a bare number of seconds, as kubectl does; zero is no limit.
pub fn duration(text: &str) -> Result<Duration, String> {
    let read = match text.parse::<u64>() {
        Ok(seconds) => Some(Duration::from_secs(seconds)),
        Err(_) => text.parse::<jiff::SignedDuration>().ok().and_then(|duration| Duration::try_from(duration).ok()),
    };
    match read {
        // Far enough to be no limit, and safe to add to any clock.
        Some(Duration::ZERO) => Ok(Duration::from_secs(100 * 365 * 24 * 3600)),
        Some(duration) => Ok(duration),
        None => Err("expected a duration such as 30s, 1m30s or 2h".to_owned()),
    }
}
