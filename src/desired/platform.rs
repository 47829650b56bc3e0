//! Which platform to render for: what the settings say, else what the cluster serves.

use super::{Error, Renderer};
use crate::cluster::{Cluster, Served};
use crate::render::Platform;

/// The API group by which OpenShift is recognised, as the operator does.
const OPENSHIFT: &str = "route.openshift.io";
/// The API group of prometheus-operator.
const MONITORING: &str = "monitoring.coreos.com";

/// Which platform to render for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PlatformSetting {
    /// OpenShift when the cluster serves its groups.
    #[default]
    Auto,
    /// Plain Kubernetes.
    Kubernetes,
    /// OpenShift.
    Openshift,
}

/// Whether to render the monitoring objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MonitoringSetting {
    /// When the cluster serves their group.
    #[default]
    Auto,
    /// Always.
    On,
    /// Never.
    Off,
}

impl Renderer {
    /// Decides the platform; where no cluster is asked, `served` is none and `Auto` means plain Kubernetes without monitoring.
    pub fn platform(&self, served: Option<&Served>) -> Platform {
        let has = |group| served.is_some_and(|served| served.has_group(group));
        Platform {
            openshift: match self.settings.platform {
                PlatformSetting::Auto => has(OPENSHIFT),
                PlatformSetting::Kubernetes => false,
                PlatformSetting::Openshift => true,
            },
            monitoring: match self.settings.monitoring {
                MonitoringSetting::Auto => has(MONITORING),
                MonitoringSetting::On => true,
                MonitoringSetting::Off => false,
            },
        }
    }

    /// Whether the monitoring objects are left out because the cluster does not serve their group.
    pub fn lacks_monitoring(&self, served: Option<&Served>) -> bool {
        self.settings.monitoring == MonitoringSetting::Auto
            && served.is_some_and(|served| !served.has_group(MONITORING))
    }

    /// The platform with the most objects that the settings allow.
    pub(super) fn widest_platform(&self) -> Platform {
        Platform {
            openshift: self.settings.platform != PlatformSetting::Kubernetes,
            monitoring: self.settings.monitoring != MonitoringSetting::Off,
        }
    }

    /// Whether the cluster has a say in the platform.
    pub fn is_auto(&self) -> bool {
        self.settings.platform == PlatformSetting::Auto || self.settings.monitoring == MonitoringSetting::Auto
    }

    /// Asks the cluster what it serves, if that matters.
    pub async fn served(&self, cluster: &Cluster) -> Result<Option<Served>, Error> {
        if !self.is_auto() {
            return Ok(None);
        }
        let what = || "the API groups".to_owned();
        cluster.served().await.map(Some).map_err(|source| Error::Cluster { what: what(), source })
    }
}
