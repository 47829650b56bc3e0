//! More objects than one connection has streams for: some are watched, the others listed from time to time.

use std::collections::BTreeSet;
use std::time::Duration;

use bpfman_config::manifest::ObjectId;
use bpfman_config::reconcile::watch::backoff::Jitter;
use bpfman_config::reconcile::watch::connections::Connections;
use bpfman_config::reconcile::watch::{Action, Observation};
use serde_json::json;

fn id(number: usize) -> ObjectId {
    let name = format!("extra-{number:03}");
    ObjectId { api_version: "v1".to_owned(), kind: "ConfigMap".to_owned(), namespace: Some("ebpf".to_owned()), name }
}

/// Answers every list and opens every watch; gives how many there were of each.
fn answer(connections: &mut Connections, mut actions: Vec<Action>, now: Duration) -> (usize, usize) {
    let (mut lists, mut watches) = (0, 0);
    while let Some(Action::Connect { id, connection, from }) = actions.pop() {
        let object = Some(json!({"metadata": {"name": id.name, "uid": id.name, "resourceVersion": "7"}}));
        let observation = match from {
            None => Observation::Listed { object, version: "9".to_owned() },
            Some(_) => Observation::Opened,
        };
        *(if from.is_none() { &mut lists } else { &mut watches }) += 1;
        connections.seen(&id, connection, observation, now, &mut actions);
    }
    (lists, watches)
}

#[test]
fn what_is_beyond_the_streams_of_one_connection_is_listed_each_half_minute_and_known_all_the_while() {
    let all: BTreeSet<ObjectId> = (0..100).map(id).collect();
    let first = all.first().cloned().unwrap();
    let mut connections = Connections::new(first, Duration::from_secs(600), Jitter::new(1));
    let mut actions = Vec::new();
    connections.want(&all, Duration::ZERO, &mut actions);
    connections.tick(Duration::ZERO, &mut actions);
    assert_eq!(answer(&mut connections, actions, Duration::ZERO), (100, 80));
    assert!(all.iter().all(|id| connections.is_open(id)));
    let mut lists = 0;
    for second in 1..=120 {
        let (now, mut actions) = (Duration::from_secs(second), Vec::new());
        connections.tick(now, &mut actions);
        assert!(all.iter().all(|id| connections.is_open(id)), "after {second} s");
        let (listed, watched) = answer(&mut connections, actions, now);
        assert_eq!(watched, 0);
        lists += listed;
    }
    assert!((60..=100).contains(&lists), "{lists} lists in two minutes");
}
