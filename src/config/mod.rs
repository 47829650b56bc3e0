//! The `Config` resource, validated and with all defaults.
//!
//! Takes a JSON value (from a file or from the server), returns a [`Config`] or all of its problems. Pure.
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

/// The API version of Configs.
pub const API_VERSION: &str = "bpfman.io/v1alpha1";
/// The kind.
pub const KIND: &str = "Config";
/// The only name that the operator acts on.
pub const DEFAULT_NAME: &str = "bpfman-config";
/// The default of `spec.agent.healthProbePort` in the custom resource definition.
const DEFAULT_PORT: u16 = 8175;

/// Where a Config comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A file: an unknown field is an error.
    File,
    /// The server, whose schema may be newer than ours: an unknown field is a warning.
    Live,
}

/// A valid Config. Only [`Config::read`] creates one.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::manual_non_exhaustive, reason = "nothing else in this crate may create one, either")]
pub struct Config {
    /// `metadata.name`.
    pub name: String,
    /// The namespace of every namespaced object, a DNS label.
    pub namespace: String,
    /// The content of `bpfman.toml`, unchanged.
    pub configuration: String,
    /// The daemon's settings.
    pub daemon: Daemon,
    /// The agent's settings.
    pub agent: Agent,
    /// `spec.overrides`.
    pub overrides: Vec<Override>,
    seal: (),
}

/// `spec.daemon`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Daemon {
    /// The image of the daemon.
    pub image: String,
    /// The value of `RUST_LOG`; empty when it is not set.
    pub log_level: String,
    /// The image of the CSI registrar; none for the template's default.
    pub csi_registrar_image: Option<String>,
}

/// `spec.agent`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    /// The image of the agent, of the init container and of the metrics proxy.
    pub image: String,
    /// The value of `GO_LOG`; empty when it is not set.
    pub log_level: String,
    /// The port of the health probe.
    pub health_probe_port: u16,
}

impl Config {
    /// Reads the Config named `expected_name` from `value`: the Config and its warnings, or all of its problems.
    pub fn read(value: &Value, expected_name: &str, origin: Origin) -> Result<(Self, Vec<Problem>), Vec<Problem>> {
        if let Some(problems) = history::config_map(value) {
            return Err(problems);
        }
        let rules::Findings { problems, mut warnings } = rules::check(value, expected_name, origin);
        if !problems.is_empty() {
            return Err(problems);
        }
        let config = Self::from_valid(value);
        warnings.extend(config.log_level_warning());
        Ok((config, warnings))
    }

    /// Reads the fields of a valid value, in which only optional fields can be missing.
    fn from_valid(value: &Value) -> Self {
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
            overrides: list("/spec/overrides").map(Override::from_valid).collect(),
            seal: (),
        }
    }

    /// Valid values that do not have the effect that they seem to have.
    fn log_level_warning(&self) -> Option<Problem> {
        let is_supported = ["", "info", "debug", "trace"].contains(&self.agent.log_level.as_str());
        let message = format!(
            "is {}, which the agent treats as info; it supports info, debug and trace",
            crate::names::quoted(&self.agent.log_level)
        );
        (!is_supported)
            .then(|| Problem::at(FieldPath::default().field("spec").field("agent").field("logLevel"), message))
    }
}
