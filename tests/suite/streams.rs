//! What becomes of the result when it cannot be written, or the input never ends.

use std::fs::File;
use std::process::{Command, Stdio};

use crate::program::{PROGRAM, config, normal};

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

#[test]
fn an_endless_file_is_refused() {
    let output = render("/dev/zero").output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
}
