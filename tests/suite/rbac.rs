//! The roles that `rbac` prints: with them the command works, and without any rule of them it does not.

use serde_json::{Value, json};

use crate::controlplane::{Cluster, Platform};
use crate::program;
use crate::program::{prepare, run, said, until};

const ACCOUNT: &str = "system:serviceaccount:ebpf:runner";

#[test]
fn the_role_of_watch_in_the_readme_is_the_one_that_is_printed() {
    let demo = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/demo/config.yaml");
    let printed = said(&mut program::command("/nowhere/config".as_ref(), &format!("rbac watch -f {demo} -q")));
    let printed = printed.trim_end_matches("exit 0\n");
    assert!(include_str!("../../README.md").contains(printed), "{printed}");
}

/// A cluster with the Config, and a service account that has the roles of `command` as they are printed.
struct Granted {
    cluster: Cluster,
    roles: Vec<Value>,
}

impl Granted {
    fn new(flags: &str) -> Self {
        let cluster = Cluster::start(Platform::ALL);
        prepare(&cluster);
        let printed = run(&cluster, &format!("rbac {flags} --service-account ebpf:runner -q"));
        let documents = printed.trim_end_matches("exit 0\n").split("---\n").skip(1);
        let documents: Vec<Value> = documents.map(|text| serde_yaml::from_str(text).expect("YAML")).collect();
        for document in &documents {
            cluster.apply(&document.to_string());
        }
        let is_role = |document: &Value| document["rules"].is_array();
        Self { cluster, roles: documents.into_iter().filter(is_role).collect() }
    }

    fn run(&self, words: &str) -> String {
        run(&self.cluster, &format!("{words} --as {ACCOUNT}"))
    }

    /// Whether the account may do the first thing that `rule` of `role` permits.
    fn may(&self, role: &Value, rule: &Value) -> bool {
        let text = |value: &Value| value[0].as_str().unwrap_or_default().to_owned();
        let resource = text(&rule["resources"]);
        let (plural, subresource) = resource.split_once('/').unwrap_or((&resource, ""));
        let group = text(&rule["apiGroups"]);
        let mut target = if group.is_empty() { plural.to_owned() } else { format!("{plural}.{group}") };
        if rule["resourceNames"].is_array() {
            target = format!("{target}/{}", text(&rule["resourceNames"]));
        }
        let (verb, sub) = (text(&rule["verbs"]), format!("--subresource={subresource}"));
        let namespace = role["metadata"]["namespace"].as_str();
        let scope = namespace.map_or("-A".to_owned(), |namespace| format!("--namespace={namespace}"));
        self.cluster.kubectl(&["auth", "can-i", &verb, &target, &sub, &scope, "--as", ACCOUNT, "-q"]).status.success()
    }

    /// Runs `command` with all rules, which must do all, and without each of them, which must not go unnoticed.
    fn is_enough_and_nothing_is_left_over(&self, command: impl Fn(&Self) -> String, ideal: &str) {
        let all = self
            .roles
            .iter()
            .flat_map(|role| role["rules"].as_array().into_iter().flatten().map(move |rule| (role, rule)));
        for (role, rule) in all.clone() {
            until("the rule in force", || self.may(role, rule).then_some(()));
        }
        let with_all = command(self);
        assert!(!with_all.contains("forbidden") && with_all.contains(ideal), "{with_all}");
        let mut left_over = Vec::new();
        for (role, rule) in all {
            let mut less = role.clone();
            less["rules"].as_array_mut().expect("rules").retain(|one| one != rule);
            self.cluster.apply(&less.to_string());
            until("the rule is gone", || (!self.may(role, rule)).then_some(()));
            if command(self) == with_all {
                left_over.push(rule.to_string());
            }
            self.cluster.apply(&role.to_string());
            until("the rule in force again", || self.may(role, rule).then_some(()));
        }
        assert!(left_over.is_empty(), "without these all is the same:\n{}", left_over.join("\n"));
    }
}

#[test]
fn diff_needs_each_rule_that_is_printed_and_no_other() {
    let granted = Granted::new("diff");
    granted.is_enough_and_nothing_is_left_over(|granted| granted.run("diff -o summary"), "15 objects: 15 to change");
}

#[test]
fn apply_needs_each_rule_that_is_printed_and_no_other() {
    let granted = Granted::new("apply --prune --create-namespace");
    let old = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "old", "namespace": "ebpf"}, "data": {"a": "b"}});
    granted.cluster.apply_by("bpfman-config", &old.to_string());
    let command = "apply --dry-run=server --prune --create-namespace";
    granted.is_enough_and_nothing_is_left_over(|granted| granted.run(command), "configmap/old pruned");
}

/// kubernetes/kubernetes#54079: lists and watches that are limited to names.
#[test]
fn watch_needs_each_rule_that_is_printed_and_no_other() {
    let granted = Granted::new("watch");
    let rendered = run(&granted.cluster, "render -o name -q");
    let objects: Vec<&str> =
        rendered.lines().filter(|name| name.contains('/') && !name.starts_with("namespace/")).collect();
    let created_anew = |granted: &Granted| {
        let delete = ["delete", "--namespace=ebpf", "--ignore-not-found", "--wait=true"];
        granted.cluster.kubectl_ok(&[&delete[..], &objects].concat());
        let told = granted.run("watch -q --until in-sync --timeout 3s");
        // What is done at the same time has no order.
        let mut lines: Vec<&str> = told.lines().collect();
        lines.sort_unstable();
        lines.join("\n")
    };
    granted.is_enough_and_nothing_is_left_over(created_anew, "in sync: 15 objects");
}
