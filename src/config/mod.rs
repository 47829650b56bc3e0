//! The `Config` resource: what the user wants, checked and with all defaults, as a type of its own.
//!
//! Takes a JSON value (from a file or from the server), gives a [`Config`] or everything that is wrong with it. Pure.
//! The rules are those of the custom resource definition:
//! <https://github.com/bpfman/bpfman-operator/blob/main/apis/v1alpha1/config_types.go>.

pub mod file;
mod history;
mod lifecycle;
mod overrides;
mod rules;
mod schema;
mod toml;

use serde_json::Value;

pub use self::lifecycle::Lifecycle;
pub use self::overrides::Override;
use crate::path::FieldPath;
use crate::problem::Problem;

/// The group and version that Configs are served under.
pub const API_VERSION: &str = "bpfman.io/v1alpha1";
/// The kind.
pub const KIND: &str = "Config";
/// The only name that the operator acts on.
pub const DEFAULT_NAME: &str = "bpfman-config";
/// What the custom resource definition fills in for `spec.agent.healthProbePort`.
const DEFAULT_PORT: u16 = 8175;

/// Where a Config comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Somebody wrote it: a field that we do not know is an error.
    File,
    /// The server holds it, and may be newer than we are: a field that we do not know is a warning.
    Live,
}

/// A Config that obeys all rules. Only [`Config::read`] makes one.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::manual_non_exhaustive, reason = "inside this crate, too, nothing else may make one")]
pub struct Config {
    /// `metadata.name`.
    pub name: String,
    /// The namespace of every namespaced object, a DNS label.
    pub namespace: String,
    /// The text of `bpfman.toml`, never changed by a byte.
    pub configuration: String,
    /// The daemon's settings.
    pub daemon: Daemon,
    /// The agent's settings.
    pub agent: Agent,
    /// The objects to leave alone.
    pub overrides: Vec<Override>,
    seal: (),
}

/// `spec.daemon`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Daemon {
    /// The image of the daemon.
    pub image: String,
    /// What becomes `RUST_LOG`; empty when it is not set.
    pub log_level: String,
    /// The image of the CSI registrar; none for the one in the template.
    pub csi_registrar_image: Option<String>,
}

/// `spec.agent`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    /// The image of the agent, of the init container and of the metrics proxy.
    pub image: String,
    /// What becomes `GO_LOG`; empty when it is not set.
    pub log_level: String,
    /// The port of the health probe.
    pub health_probe_port: u16,
}

impl Config {
    /// Reads the Config named `expected_name` from `value`: the Config and what is worth a warning, or all problems.
    pub fn read(value: &Value, expected_name: &str, origin: Origin) -> Result<(Self, Vec<Problem>), Vec<Problem>> {
        if let Some(problems) = history::config_map(value) {
            return Err(problems);
        }
        let rules::Findings { problems, mut warnings } = rules::check(value, expected_name, origin);
        if !problems.is_empty() {
            return Err(problems);
        }
        let config = Self::from_checked(value);
        warnings.extend(config.remarks());
        Ok((config, warnings))
    }

    /// Takes the fields out of a value that obeys the rules: what is not there is what may be absent.
    fn from_checked(value: &Value) -> Self {
        let text = |pointer| value.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
        let filled = |pointer| Some(text(pointer)).filter(|text| !text.is_empty());
        let list = |pointer| value.pointer(pointer).and_then(Value::as_array).into_iter().flatten();
        let port = value.pointer("/spec/agent/healthProbePort").and_then(Value::as_u64);
        Self {
            name: text("/metadata/name"),
            namespace: text("/spec/namespace"),
            configuration: text("/spec/configuration"),
            daemon: Daemon {
                image: text("/spec/daemon/image"),
                log_level: text("/spec/daemon/logLevel"),
                csi_registrar_image: filled("/spec/daemon/csiRegistrarImage"),
            },
            agent: Agent {
                image: text("/spec/agent/image"),
                log_level: text("/spec/agent/logLevel"),
                health_probe_port: port.and_then(|port| port.try_into().ok()).unwrap_or(DEFAULT_PORT),
            },
            overrides: list("/spec/overrides").map(Override::from_checked).collect(),
            seal: (),
        }
    }

    /// What is allowed but does something else than it seems to.
    fn remarks(&self) -> Option<Problem> {
        let known = ["", "info", "debug", "trace"].contains(&self.agent.log_level.as_str());
        let message = format!(
            "is {}, which the agent reads as info; it knows info, debug and trace",
            crate::names::quoted(&self.agent.log_level)
        );
        (!known).then(|| Problem::at(FieldPath::default().field("spec").field("agent").field("logLevel"), message))
    }
}
