//! What others do to the cluster and to the connections, one thing at a time.

use serde_json::json;

use super::driver::{Condition, Simulation};
use super::world;

impl Simulation {
    /// Does one thing that the mode allows.
    pub(super) fn act(&mut self) {
        let kind = self.random.between(0, if self.mode.everything { 100 } else { 50 });
        match kind {
            15..20 => self.delete_object(),
            20..24 => {
                let id = self.some_object();
                self.server.touch(&id);
            }
            24..28 => {
                self.server.update(&world::config(), |config| config["metadata"]["labels"] = json!({"touched": "yes"}));
            }
            28..36 => self.restart(),
            36..50 if self.mode.network => self.disturb_network(),
            50..58 => self.change_config(),
            58..72 => self.come_or_go(),
            72..80 => self.restore_or_snapshot(),
            80..90 => self.refuse(),
            _ => self.edit(),
        }
        self.note(|| format!("act {kind}"));
    }

    fn some_object(&mut self) -> bpfman_config::manifest::ObjectId {
        world::objects()[self.random.pick(&[1, 2, 3])].clone()
    }

    fn edit(&mut self) {
        let (id, key) = (self.some_object(), self.random.pick(&["k1", "k2", "k3"]));
        let value = self.random.pick(&["x", "y", "z"]);
        self.server.edit(&id, key, value);
    }

    fn delete_object(&mut self) {
        let id = self.some_object();
        self.server.delete(&id);
    }

    /// The server goes away or comes back; all connections break.
    fn restart(&mut self) {
        let conditions = [Condition::Down, Condition::NotReady, Condition::Busy, Condition::Up];
        self.condition = self.random.pick(&conditions);
        if self.condition != Condition::Up {
            self.disturb_all(0);
        }
    }

    fn disturb_network(&mut self) {
        match self.random.between(0, 4) {
            0 => self.disturb_all(100),
            1 => self.disturb_all(50),
            2 => self.disturb_all(0),
            _ => {
                self.condition = self.random.pick(&[Condition::Silent, Condition::Up]);
            }
        }
    }

    /// Every connection stalls, with that probability, or breaks.
    fn disturb_all(&mut self, stalls: u64) {
        let ids: Vec<_> = self.connections.keys().cloned().collect();
        for id in ids {
            let stalls = self.random.percent(stalls);
            self.disturb(&id, stalls);
        }
    }

    fn change_config(&mut self) {
        let value = self.random.pick(&["v1", "v2", "v3"]);
        let spec = if self.random.percent(30) { json!({}) } else { json!({"value": value}) };
        if self.server.get(&world::config()).is_none() {
            self.server.create(&world::config());
        }
        self.server.update(&world::config(), |config| config["spec"] = spec);
    }

    fn come_or_go(&mut self) {
        let config = world::config();
        match self.random.between(0, 6) {
            0 => self.server.delete(&config),
            1 => {
                // Foreground deletion and other controllers hold the Config by finalizers of their own.
                self.server.update(&config, |object| {
                    let mut finalizers = super::server::finalizers(object);
                    finalizers.push("foregroundDeletion".to_owned());
                    object["metadata"]["finalizers"] = json!(finalizers);
                });
                self.server.delete(&config);
            }
            2 => self.release_config(),
            3 => self.server.delete(&world::namespace("ebpf")),
            4 if self.server.get(&world::service()).is_some() => {
                self.server.delete(&world::service());
                self.server.delete(&world::objects()[3]);
            }
            _ => self.bring_back(),
        }
    }

    fn release_config(&mut self) {
        self.server.update(&world::config(), |object| {
            let mut finalizers = super::server::finalizers(object);
            finalizers.retain(|finalizer| finalizer != "foregroundDeletion");
            object["metadata"]["finalizers"] = json!(finalizers);
        });
    }

    fn bring_back(&mut self) {
        for id in [world::namespace("ebpf"), world::service()] {
            if self.server.get(&id).is_none() {
                self.server.create(&id);
            }
        }
    }

    fn restore_or_snapshot(&mut self) {
        match self.snapshot.clone() {
            Some(backup) if self.random.percent(60) => {
                self.server = backup;
                // Whatever was dead may live again, and versions count from there.
                self.dead_uids.clear();
                self.patched.clear();
                self.disturb_all(0);
            }
            _ => self.snapshot = Some(self.server.clone()),
        }
    }

    fn refuse(&mut self) {
        match self.random.between(0, 4) {
            0 => self.server.refused = Some(self.some_object()),
            1 => self.server.webhook = !self.server.webhook,
            2 => {
                let id = if self.random.percent(20) { world::config() } else { self.some_object() };
                self.forbidden.insert(id.clone());
                self.disturb(&id, false);
            }
            _ => self.finalizer_forbidden = !self.finalizer_forbidden,
        }
    }

    /// All faults end; there is a valid Config again.
    pub(super) fn recover(&mut self) {
        self.recovered = true;
        self.condition = Condition::Up;
        self.forbidden.clear();
        self.finalizer_forbidden = false;
        self.server.refused = None;
        self.bring_back();
        if !self.mode.everything {
            return;
        }
        self.release_config();
        let is_deleting = |config: &serde_json::Value| config["metadata"]["deletionTimestamp"].is_string();
        match self.server.get(&world::config()) {
            Some(config) if is_deleting(config) => {}
            _ => {
                if self.server.get(&world::config()).is_none() {
                    self.server.create(&world::config());
                }
                self.server.update(&world::config(), |config| config["spec"] = json!({"value": "v9"}));
            }
        }
    }
}
