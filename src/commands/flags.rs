//! The flags that every command takes, and how durations are typed.

use std::time::Duration;

use crate::failure::Failure;
use crate::names;
use crate::ui::ColorChoice;

/// Bytes that the server takes for a field manager's name.
const LONGEST_MANAGER: usize = 128;

/// Far enough to be no limit, and safe to add to any clock: 100 years.
const NO_LIMIT: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

/// What every command takes.
#[derive(Clone, Debug, clap::Args)]
pub struct Global {
    /// Print no progress and no hints
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// When to colour
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t)]
    pub color: Color,
    /// Longest wait for one answer of the server, e.g. 30s, 1m; 0 means no limit
    #[arg(long, global = true, value_name = "DURATION", default_value = "30s", value_parser = duration, help_heading = "Connection")]
    pub request_timeout: Duration,
}

/// `--color`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Color {
    /// On a terminal, unless the environment disables it.
    #[default]
    Auto,
    /// Always, even in a file.
    Always,
    /// Never.
    Never,
}

impl From<Color> for ColorChoice {
    fn from(color: Color) -> Self {
        match color {
            Color::Auto => Self::Auto,
            Color::Always => Self::Always,
            Color::Never => Self::Never,
        }
    }
}

/// Reads `90s`, `1m30s`, or a bare number of seconds, as kubectl does; zero is no limit.
pub fn duration(text: &str) -> Result<Duration, String> {
    let read = match text.parse::<u64>() {
        Ok(seconds) => Some(Duration::from_secs(seconds)),
        Err(_) => text.parse::<jiff::SignedDuration>().ok().and_then(|duration| Duration::try_from(duration).ok()),
    };
    match read {
        Some(Duration::ZERO) => Ok(NO_LIMIT),
        Some(duration) => Ok(duration.min(NO_LIMIT)),
        None => Err("expected a duration such as 30s, 1m30s or 2h".to_owned()),
    }
}

/// Reads the name of an object: it becomes part of a path.
pub fn object_name(text: &str) -> Result<String, String> {
    match names::subdomain_error(text) {
        None => Ok(text.to_owned()),
        Some(_) => Err("expected lower-case letters, digits, - and ., at most 253".to_owned()),
    }
}

/// Reads the name of a field manager, as the server takes it.
pub fn manager_name(text: &str) -> Result<String, String> {
    let fits = (1..=LONGEST_MANAGER).contains(&text.len()) && !text.contains(char::is_control);
    if fits { Ok(text.to_owned()) } else { Err(format!("expected 1 to {LONGEST_MANAGER} printable characters")) }
}

/// The field manager: the one that was typed, else the Config's name.
pub fn field_manager<'a>(typed: Option<&'a str>, name: &'a str) -> Result<&'a str, Failure> {
    let manager = typed.unwrap_or(name);
    manager_name(manager).map(|_| manager).map_err(|_| {
        Failure::usage("the Config's name is too long for a field manager").hint("name one with --field-manager")
    })
}

/// Reads a pull policy; nothing is what the operator's manifest sets the variable to.
pub fn pull_policy(text: &str) -> Result<String, String> {
    match text {
        "" | "Always" | "IfNotPresent" | "Never" => Ok(text.to_owned()),
        _ => {
            Err("expected Always, IfNotPresent or Never; BPFMAN_IMAGE_PULL_POLICY says it if the flag does not"
                .to_owned())
        }
    }
}
