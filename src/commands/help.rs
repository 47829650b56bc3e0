//! The examples and exit codes at the end of the help texts.

/// Below the list of commands.
pub const MORE: &str = "Use \"options\" for the flags that all commands take, and \"COMMAND --help\" for examples.";

/// What the exit codes mean.
pub const EXIT_CODES: &str = "\
Exit codes:
  0         done; diff: no drift
  1         diff only: drift
  2         wrong usage: a flag, an argument, a context that does not exist
  3         the input is wrong: Config, template, limits; nothing was sent
  4         the cluster refused at least one object; the others were done
  5         no usable answer: unreachable, unauthenticated, timed out
  130, 143  stopped by SIGINT, SIGTERM

Use \"options\" for the flags that all commands take, and \"COMMAND --help\" for examples.";

/// The examples of a command.
pub fn of(command: &str) -> Option<&'static str> {
    Some(match command {
        "render" => RENDER,
        "diff" => DIFF,
        "apply" => APPLY,
        "watch" => WATCH,
        "rbac" => RBAC,
        "completion" => COMPLETION,
        _ => return None,
    })
}

const RENDER: &str = "\
Examples:
  # What the cluster's Config becomes
  kubectl bpfman config render

  # Check a Config without a cluster
  kubectl bpfman config render -f config.yaml -o name

  # One file an object, for kubectl apply --server-side -k
  kubectl bpfman config render -f config.yaml --output-dir manifests";

const DIFF: &str = "\
Examples:
  # Who changed what, and since when
  kubectl bpfman config diff

  # What a changed Config would do
  kubectl bpfman config diff -f config.yaml

  # Fields that others added count, too
  kubectl bpfman config diff --exact -o paths

  # A comment for a pull request
  kubectl bpfman config diff -f config.yaml -o markdown > comment.md

  # Review now, apply just that later
  kubectl bpfman config diff --out plan.json
  kubectl bpfman config apply --plan plan.json";

const APPLY: &str = "\
Examples:
  # Bring the cluster to what its Config says, and wait for the pods
  kubectl bpfman config apply --server-side --wait

  # The Config of a file, and what it becomes
  kubectl bpfman config apply -f config.yaml --create-namespace

  # Take over what somebody has set by hand
  kubectl bpfman config apply --force-conflicts --diff

  # Take one field over, and leave all that another manager set
  kubectl bpfman config apply --take spec.template.spec.nodeSelector --yield autoscaler

  # Delete what is no longer desired
  kubectl bpfman config apply --prune --dry-run=server";

const WATCH: &str = "\
Examples:
  # Keep the cluster as desired, until Ctrl-C
  kubectl bpfman config watch

  # Only report what deviates
  kubectl bpfman config watch --dry-run

  # In a script: wait until all is in sync and all pods are ready
  kubectl bpfman config watch --until ready --timeout 5m -q";

const RBAC: &str = "\
Examples:
  # Let a service account of a pipeline apply
  kubectl bpfman config rbac apply -f config.yaml --service-account ci:deployer | kubectl apply -f -";

const COMPLETION: &str = "\
Examples:
  # For this shell
  source <(kubectl bpfman config completion bash)";
