//! Which APIs the server serves, as far as the desired objects depend on it: CRDs and aggregated APIs come and go.
//!
//! Pure. The server keeps an `APIService` for each group and version, of CRDs too, which one can watch by its name. Where that
//! is forbidden the list of groups is read every few seconds instead, which everybody may.

use std::collections::BTreeSet;
use std::time::Duration;

use super::Time;
use super::backoff::{Backoff, Jitter};
use crate::cluster::{Error, Served};
use crate::manifest::ObjectId;

/// The groups by which the platform is recognised, with the version that is rendered.
pub const PLATFORM_APIS: [&str; 2] = ["monitoring.coreos.com/v1", "route.openshift.io/v1"];

/// How often the groups are read where they cannot be watched.
const POLLED_EVERY: Duration = Duration::from_secs(8);
const FIRST_PAUSE: Duration = Duration::from_millis(300);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// The APIs of the server.
#[derive(Debug)]
pub struct Apis {
    /// Whether the platform depends on them.
    is_auto: bool,
    served: Option<Served>,
    in_flight: bool,
    due: Option<Time>,
    backoff: Backoff,
}

impl Apis {
    /// `served` was read at the start, if it matters.
    pub fn new(is_auto: bool, served: Option<Served>) -> Self {
        Self { is_auto, served, in_flight: false, due: None, backoff: Backoff::default() }
    }

    /// What is served; none when the platform does not depend on it.
    pub fn served(&self) -> Option<&Served> {
        self.served.as_ref()
    }

    /// The objects to watch for `ids`: an `APIService` for each group that the server may lack.
    pub fn services<'a>(&self, ids: impl Iterator<Item = &'a ObjectId>) -> BTreeSet<ObjectId> {
        let versions = ids.map(|id| id.api_version.as_str()).filter(|version| is_optional(version));
        let platform = PLATFORM_APIS.into_iter().filter(|_| self.is_auto);
        versions.chain(platform).filter_map(service).collect()
    }

    /// An `APIService` changed, or the server was away: read the groups.
    pub fn changed(&mut self, now: Time) {
        if self.is_auto {
            self.due = Some(now);
            self.backoff.reset();
        }
    }

    /// Whether the groups are to be read now; `can_watch` says whether a change of them would be seen.
    pub fn is_due(&mut self, can_watch: bool, now: Time, jitter: &mut Jitter) -> bool {
        if self.is_auto && !can_watch && self.due.is_none() && !self.in_flight {
            self.due = Some(now + jitter.spread(POLLED_EVERY));
        }
        let due = !self.in_flight && self.due.is_some_and(|due| due <= now);
        if due {
            self.in_flight = true;
            self.due = None;
        }
        due
    }

    /// When the groups are to be read next.
    pub fn wake_at(&self) -> Option<Time> {
        self.due.filter(|_| !self.in_flight)
    }

    /// Takes over the groups; returns whether they are others. `expected` names APIs that are known to be there or not.
    pub fn read(
        &mut self,
        answer: Result<Served, Error>,
        expected: &[(String, bool)],
        now: Time,
        jitter: &mut Jitter,
    ) -> bool {
        self.in_flight = false;
        let Ok(served) = answer else {
            self.due = Some(now + self.backoff.next(FIRST_PAUSE, LONGEST_PAUSE, jitter));
            return false;
        };
        if expected.iter().any(|(group, is_there)| served.has_group(group) != *is_there) {
            // The list of groups lags a little behind.
            self.due = Some(now + self.backoff.next(FIRST_PAUSE, LONGEST_PAUSE, jitter));
        }
        let is_new = self.served.as_ref() != Some(&served);
        self.served = Some(served);
        is_new
    }
}

/// Whether a server may lack this group and version: it is not one of Kubernetes itself.
pub fn is_optional(api_version: &str) -> bool {
    let group = api_version.split('/').next().unwrap_or_default();
    api_version.contains('/') && group.contains('.') && !group.ends_with(".k8s.io")
}

/// The `APIService` of a group and version.
pub fn service(api_version: &str) -> Option<ObjectId> {
    let (group, version) = api_version.split_once('/')?;
    Some(ObjectId {
        api_version: "apiregistration.k8s.io/v1".to_owned(),
        kind: "APIService".to_owned(),
        namespace: None,
        name: format!("{version}.{group}"),
    })
}

/// The group that an `APIService` is for.
pub fn group_of(service: &ObjectId) -> Option<&str> {
    (service.kind == "APIService").then_some(())?;
    service.name.split_once('.').map(|(_, group)| group)
}
