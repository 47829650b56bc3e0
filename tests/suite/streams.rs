//! What becomes of the result when it cannot be written, or the input never ends.

use std::fs::File;
use std::process::{Command, Stdio};

use expect_test::expect;

use crate::program::{PROGRAM, config, normal, said};

fn render(input: &str) -> Command {
    let mut command = Command::new(PROGRAM);
    command.args(["render", "-q", "-f", input]).env_clear();
    command
}

#[test]
fn a_full_disk_is_no_success() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(&file, config()).unwrap();
    let full = File::options().write(true).open("/dev/full").unwrap();
    let output = render(file.path().to_str().unwrap()).stdout(full).stderr(Stdio::piped()).output().unwrap();
    assert_eq!(output.status.code(), Some(5));
    assert_eq!(
        normal(&String::from_utf8_lossy(&output.stderr)),
        "error: cannot write the result\n  caused by: No space left on device (os error 28)\n"
    );
}

/// Whoever applies the folder would apply what is left of an earlier run too.
#[test]
fn what_was_in_the_folder_before_is_named() {
    let (folder, file) = (tempfile::tempdir().unwrap(), tempfile::NamedTempFile::new().unwrap());
    std::fs::write(&file, config()).unwrap();
    let place = folder.path().display().to_string();
    let told = ["on", "off"].map(|monitoring| {
        let mut command = render(file.path().to_str().unwrap());
        said(command.args(["--monitoring", monitoring, "--output-dir", &place])).replace(&place, "DIR")
    });
    expect![[r#"
        exit 0
        2> warning: DIR/04-service-bpfman-agent-metrics-service.yaml was there before, and is none of what was rendered now
        2> warning: DIR/05-service-bpfman-controller-manager-metrics-service.yaml was there before, and is none of what was rendered now
        2> warning: DIR/06-servicemonitor-bpfman-agent-metrics-monitor.yaml was there before, and is none of what was rendered now
        2> warning: DIR/07-servicemonitor-bpfman-controller-manager-metrics-monitor.yaml was there before, and is none of what was rendered now
        2> warning: DIR/08-daemonset-bpfman-daemon.yaml was there before, and is none of what was rendered now
        2> warning: DIR/09-daemonset-bpfman-metrics-proxy.yaml was there before, and is none of what was rendered now
        exit 0
    "#]].assert_eq(&told.concat());
    assert!(said(render(file.path().to_str().unwrap()).args(["--output-dir", "/dev/null/x"])).ends_with("exit 5\n"));
}

#[test]
fn an_endless_file_is_refused() {
    let output = render("/dev/zero").output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
}
