//! Each fault that was met on a real cluster, as a script.

use std::time::Duration;

use bpfman_config::exit::Exit;
use bpfman_config::reconcile::watch::finalizer::FINALIZER;
use expect_test::expect;
use serde_json::json;

use super::driver::Condition;
use super::script::Script;
use super::server::finalizers;
use super::world;

fn map(name: &str) -> bpfman_config::manifest::ObjectId {
    world::objects().into_iter().find(|id| id.name == name).unwrap()
}

#[test]
fn the_first_event_is_a_pass_at_once_and_a_burst_is_one_more() {
    let mut script = Script::in_sync();
    script.act(|world| {
        world.server.edit(&map("a"), "k1", "x");
        world.server.edit(&map("a"), "k2", "x");
        world.server.edit(&map("b"), "k3", "x");
        world.server.delete(&map("w"));
    });
    script.to(5.0);
    let passes: Vec<f32> =
        script.0.patches.iter().map(|(at, _)| (at.as_secs_f32() - 2.0) * 10.0).map(f32::floor).collect();
    assert!(passes.iter().all(|at| *at < 1.0 || (5.0..7.0).contains(at)), "{passes:?}");
    assert_eq!(script.0.patches.len(), 3);
}

/// It was 3.9 million lines in 8 s: kubernetes/kubernetes#30629.
#[test]
fn a_refused_object_of_a_config_that_is_being_deleted_is_no_busy_loop() {
    let mut script = Script::in_sync();
    script.act(|world| {
        world.server.refused = Some(map("a"));
        world.server.edit(&map("a"), "k1", "x");
    });
    script.to(5.0);
    script.act(|world| {
        world.server.update(&world::config(), |config| {
            config["metadata"]["finalizers"] = json!([FINALIZER, "example.org/other"]);
        });
        world.server.delete(&world::config());
    });
    script.to(120.0);
    expect![[r#"
        configmap/a data.k1 deviates
        configmap/a failed: a policy says no
        Deleting
        Finalizer(false)
        2 patches
    "#]]
    .assert_eq(&script.told());
}

#[test]
fn an_invalid_config_can_be_deleted() {
    let mut script = Script::in_sync();
    script.act(|world| world.server.update(&world::config(), |config| config["spec"] = json!({})));
    script.to(4.0);
    script.act(|world| world.server.delete(&world::config()));
    script.to(10.0);
    assert!(script.0.server.get(&world::config()).is_none());
    expect![[r#"
        invalid Config, keeps: true
        Deleting
        Finalizer(false)
        Gone
        0 patches
    "#]]
    .assert_eq(&script.told());
}

#[test]
fn a_config_that_is_invalid_from_the_start_is_waited_for() {
    let mut script = Script::new();
    script.act(|world| world.server.update(&world::config(), |config| config["spec"] = json!({})));
    script.to(5.0);
    script.act(|world| world.server.update(&world::config(), |config| config["spec"] = json!({"value": "v1"})));
    script.to(10.0);
    expect![[r#"
        invalid Config, keeps: false
        Read("bpfman-config", "ebpf")
        Rendered(4)
        Finalizer(true)
        namespace/ebpf (root) deviates
        configmap/a missing
        configmap/b missing
        widget.example.org/w missing
        namespace/ebpf configured
        configmap/a created
        configmap/b created
        widget.example.org/w created
        InSync(4)
        4 patches
    "#]]
    .assert_eq(&script.told());
}

/// NetApp/trident#639, kubeswift-io/kubeswift#460.
#[test]
fn nothing_is_in_sync_while_an_object_cannot_be_read() {
    let mut script = Script::new();
    script.act(|world| {
        world.forbidden.insert(map("a"));
    });
    script.to(60.0);
    assert!(!script.0.state.is_in_sync());
    script.act(|world| world.forbidden.clear());
    script.to(110.0);
    expect![[r#"
        Read("bpfman-config", "ebpf")
        Rendered(4)
        configmap/a unknown: forbidden: not allowed
        Finalizer(true)
        namespace/ebpf (root) deviates
        configmap/b missing
        widget.example.org/w missing
        namespace/ebpf configured
        configmap/b created
        widget.example.org/w created
        configmap/a missing
        configmap/a known again
        configmap/a created
        InSync(4)
        4 patches
    "#]]
    .assert_eq(&script.told());
}

#[test]
fn an_outage_is_one_line_when_it_begins_and_one_when_it_ends() {
    let mut script = Script::in_sync();
    for round in [0.0, 100.0] {
        script.act(|world| {
            world.condition = Condition::Down;
            let ids: Vec<_> = world.connections.keys().cloned().collect();
            for id in &ids {
                world.disturb(id, false);
            }
        });
        let requests = script.0.requests;
        script.to(round + 40.0);
        let asked = script.0.requests - requests;
        assert!(asked < 45, "{asked} requests while the server was away");
        script.act(|world| world.condition = Condition::Up);
        script.to(round + 50.0);
    }
    expect![[r#"
        outage: cannot reach https://model: connection refused
        outage ended
        InSync(4)
        outage: cannot reach https://model: connection refused
        outage ended
        InSync(4)
        0 patches
    "#]]
    .assert_eq(&script.told());
}

/// kubernetes/kubernetes#107457: a backup has lower versions.
#[test]
fn after_a_restore_what_is_live_counts_not_what_is_newer() {
    let mut script = Script::in_sync();
    let backup = script.0.server.clone();
    script.act(|world| (0..50).for_each(|_| world.server.touch(&map("a"))));
    script.to(4.0);
    script.act(|world| {
        world.server = backup;
        world.server.edit(&map("a"), "k1", "old");
        let ids: Vec<_> = world.connections.keys().cloned().collect();
        for id in &ids {
            world.disturb(id, false);
        }
    });
    script.to(10.0);
    expect![[r#"
        configmap/a data.k1 deviates
        configmap/a configured
        InSync(4)
        1 patches
    "#]]
    .assert_eq(&script.told());
}

#[test]
fn a_namespace_that_comes_back_ends_the_waiting_for_it() {
    let mut script = Script::in_sync();
    script.act(|world| world.server.delete(&world::namespace("ebpf")));
    script.to(60.0);
    script.told();
    script.act(|world| drop(world.server.create(&world::namespace("ebpf"))));
    script.to(62.0);
    expect![[r#"
        namespace/ebpf (root) deviates
        namespace/ebpf configured
        configmap/a created
        configmap/b created
        widget.example.org/w created
        InSync(4)
        4 patches
    "#]]
    .assert_eq(&script.told());
}

#[test]
fn a_kind_that_comes_is_noticed_at_once() {
    let mut script = Script::new();
    script.act(|world| world.server.delete(&world::service()));
    script.to(60.0);
    expect![[r#"
        Read("bpfman-config", "ebpf")
        Rendered(4)
        widget.example.org/w unknown: the server has no resource Widget (example.org/v1)
        Finalizer(true)
        namespace/ebpf (root) deviates
        configmap/a missing
        configmap/b missing
        namespace/ebpf configured
        configmap/a created
        configmap/b created
        3 patches
    "#]]
    .assert_eq(&script.told());
    script.act(|world| drop(world.server.create(&world::service())));
    script.to(62.0);
    expect![[r#"
        widget.example.org/w missing
        widget.example.org/w known again
        widget.example.org/w created
        InSync(4)
        1 patches
    "#]]
    .assert_eq(&script.told());
}

/// openshift/cluster-version-operator#725: each round restarts pods.
#[test]
fn a_fight_ends_after_three_rounds_and_begins_again_with_growing_pauses() {
    let mut script = Script::in_sync();
    let mut seconds = 2.0;
    while seconds < 200.0 {
        script.act(|world| world.server.edit(&map("a"), "k1", "theirs"));
        seconds += 0.7;
        script.to(seconds);
    }
    let rounds: Vec<u64> = script.0.patches.iter().map(|(at, _)| at.as_secs()).collect();
    expect![[r#"
        [2, 2, 3, 64, 184]
        configmap/a data.k1 deviates
        configmap/a configured
        InSync(4)
        configmap/a data.k1 deviates
        configmap/a configured
        InSync(4)
        configmap/a data.k1 deviates
        configmap/a configured
        InSync(4)
        configmap/a fight, left alone for 60 s
        configmap/a data.k1 deviates
        configmap/a configured
        InSync(4)
        configmap/a fight, left alone for 120 s
        configmap/a data.k1 deviates
        configmap/a configured
        InSync(4)
        configmap/a fight, left alone for 240 s
        5 patches
    "#]]
    .assert_eq(&format!("{rounds:?}\n{}", script.told()));
}

#[test]
fn what_a_webhook_changes_is_applied_once() {
    let mut script = Script::new();
    script.0.server.webhook = true;
    script.to(5.0);
    for round in 0..10_u8 {
        script.act(|world| world.server.touch(&map("b")));
        script.to(6.0 + f32::from(round));
    }
    expect![[r#"
        Read("bpfman-config", "ebpf")
        Rendered(4)
        Finalizer(true)
        namespace/ebpf (root) deviates
        configmap/a missing
        configmap/b missing
        widget.example.org/w missing
        namespace/ebpf configured
        configmap/a created
        configmap/b created
        configmap/b data.k1 changed by admission
        widget.example.org/w created
        InSync(4)
        4 patches
    "#]]
    .assert_eq(&script.told());
}

/// The objects would belong to a Config that is gone.
#[test]
fn an_event_of_a_config_that_was_deleted_does_not_bring_it_back() {
    let mut script = Script::in_sync();
    let config = script.0.server.get(&world::config()).cloned().unwrap();
    script.act(|world| world.server.delete(&world::config()));
    script.to(4.0);
    script.0.see(&world::config(), config);
    script.to(30.0);
    expect![[r#"
        Deleting
        Finalizer(false)
        Gone
        0 patches
    "#]]
    .assert_eq(&script.told());
}

#[test]
fn the_finalizer_of_a_run_that_was_killed_is_removed_at_the_end() {
    let mut script = Script::new();
    script.act(|world| {
        world.server.update(&world::config(), |config| {
            config["metadata"]["finalizers"] = json!([FINALIZER]);
            config["metadata"]["managedFields"] = world::managers_of_finalizers(&[FINALIZER.to_owned()]);
        });
    });
    script.to(5.0);
    script.0.stop().unwrap();
    script.to(11.0);
    assert_eq!(script.0.ended(), Some(Exit::Terminated));
    expect![[r#"
        FinalizerAdopted
        Read("bpfman-config", "ebpf")
        Rendered(4)
        namespace/ebpf (root) deviates
        configmap/a missing
        configmap/b missing
        widget.example.org/w missing
        namespace/ebpf configured
        configmap/a created
        configmap/b created
        widget.example.org/w created
        InSync(4)
        Finalizer(false)
        4 patches
    "#]]
    .assert_eq(&script.told());
    assert!(finalizers(script.0.server.get(&world::config()).unwrap()).is_empty());
}

#[test]
fn an_end_without_a_server_says_which_finalizer_is_left_and_why() {
    let mut script = Script::in_sync();
    script.act(|world| world.condition = Condition::Down);
    script.0.stop().unwrap();
    let begun = script.0.now;
    script.to(20.0);
    assert_eq!(script.0.ended(), Some(Exit::Terminated));
    assert!(script.0.now.saturating_sub(begun) < Duration::from_secs(19));
    expect![[r#"
        finalizer left: cannot reach https://model: connection refused
        0 patches
    "#]]
    .assert_eq(&script.told());
}

/// It gave up at the first 409, and left the finalizer in 13 of 20 runs.
#[test]
fn others_that_write_the_config_do_not_keep_the_finalizer_on() {
    let mut script = Script::in_sync();
    script.0.stop().unwrap();
    let mut seconds = 2.0;
    while seconds < 4.0 && script.0.ended().is_none() {
        script.act(|world| world.server.touch(&world::config()));
        seconds += 0.045;
        script.to(seconds);
    }
    script.to(8.0);
    assert!(finalizers(script.0.server.get(&world::config()).unwrap()).is_empty());
    expect![[r#"
        Finalizer(false)
        0 patches
    "#]]
    .assert_eq(&script.told());
}
