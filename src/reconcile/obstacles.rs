//! Why the pods of a `DaemonSet` cannot become ready, as far as the cluster says so: images, containers, refused pods, `OnDelete`.
//!
//! Pure: takes the `DaemonSet`, its pods and the events about it.

use serde_json::Value;

/// Reasons for which a container waits that do not pass by themselves, as a rule
/// (<https://kubernetes.io/docs/tasks/debug/debug-application/debug-pods/>).
const REASONS: [&str; 8] = [
    "ErrImagePull",
    "ImagePullBackOff",
    "InvalidImageName",
    "ErrImageNeverPull",
    "CreateContainerConfigError",
    "CreateContainerError",
    "RunContainerError",
    "CrashLoopBackOff",
];
/// A container that crashed less often may still start.
const CRASHES: u64 = 3;

/// Why old pods stay as they are, of a `DaemonSet` that its controller has seen.
pub fn on_delete(daemon_set: &Value) -> Option<String> {
    let number = |pointer| daemon_set.pointer(pointer).and_then(Value::as_u64).unwrap_or_default();
    let has_old = number("/status/updatedNumberScheduled") < number("/status/desiredNumberScheduled");
    let stays = text(daemon_set, "/spec/updateStrategy/type") == Some("OnDelete") && has_old;
    stays.then(|| "its updateStrategy is OnDelete: pods are replaced only when they are deleted".to_owned())
}

/// The first obstacle that is found among the pods and events.
pub fn find(daemon_set: &Value, pods: &[Value], events: &[Value]) -> Option<String> {
    let number = |pointer| daemon_set.pointer(pointer).and_then(Value::as_u64).unwrap_or_default();
    let ours = || pods.iter().filter(|pod| is_newest(daemon_set, pod));
    ours().find_map(waiting).or_else(|| {
        let lacks_pods = (ours().count() as u64) < number("/status/desiredNumberScheduled");
        events.iter().filter(|_| lacks_pods).rev().find_map(refused)
    })
}

/// Whether a pod is one of the newest template of this `DaemonSet`.
fn is_newest(daemon_set: &Value, pod: &Value) -> bool {
    let owners = pod.pointer("/metadata/ownerReferences").and_then(Value::as_array);
    let is_ours = owners.into_iter().flatten().any(|owner| owner.get("uid") == daemon_set.pointer("/metadata/uid"));
    let generation = text(pod, "/metadata/labels/pod-template-generation");
    let newest = text(daemon_set, "/metadata/annotations/deprecated.daemonset.template.generation");
    is_ours && (generation.is_none() || newest.is_none() || generation == newest)
}

/// What a container of the pod waits for.
fn waiting(pod: &Value) -> Option<String> {
    let statuses = ["/status/initContainerStatuses", "/status/containerStatuses"].into_iter();
    let mut statuses = statuses.filter_map(|pointer| pod.pointer(pointer)?.as_array()).flatten();
    statuses.find_map(|container| {
        let reason = text(container, "/state/waiting/reason").filter(|reason| REASONS.contains(reason))?;
        let restarts = container.get("restartCount").and_then(Value::as_u64).unwrap_or_default();
        if reason == "CrashLoopBackOff" && restarts < CRASHES {
            return None;
        }
        let (name, pod, node) = (text(container, "/name"), text(pod, "/metadata/name"), text(pod, "/spec/nodeName"));
        let message =
            text(container, "/state/waiting/message").map(|message| format!(": {message}")).unwrap_or_default();
        let of = |value: Option<&str>| value.unwrap_or("?").to_owned();
        Some(format!("container {} of pod {} on node {}: {reason}{message}", of(name), of(pod), of(node)))
    })
}

/// Why the controller could not create a pod: an admission plugin, a quota, Pod Security.
fn refused(event: &Value) -> Option<String> {
    let is_failure = text(event, "/reason") == Some("FailedCreate");
    let message = text(event, "/message").filter(|_| is_failure)?;
    Some(message.trim_start_matches("(combined from similar events): ").to_owned())
}

fn text<'a>(object: &'a Value, pointer: &str) -> Option<&'a str> {
    object.pointer(pointer).and_then(Value::as_str)
}
