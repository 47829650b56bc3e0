//! Children that never outlive this process, however it ends, and the folder of their data.
//!
//! All children share one process group. A shell outside of it reads a pipe that only this process holds: when the pipe closes,
//! the shell kills the group and removes the folder. That needs no signal handler and no clean-up at exit (statics are not
//! dropped, and nobody can handle SIGKILL), and it does not depend on which thread started a child.

use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::OnceLock;

use anyhow::{Context, Result, bail};

/// The group of all children of this process, and their folder.
pub struct Keeper {
    group: i32,
    /// Where the children's data goes; removed when this process ends.
    pub folder: PathBuf,
    /// Held open for as long as this process lives.
    _pipes: [Option<ChildStdin>; 2],
}

/// Gives the one keeper of this process.
pub fn keeper() -> Result<&'static Keeper> {
    static KEEPER: OnceLock<Result<Keeper, String>> = OnceLock::new();
    KEEPER.get_or_init(|| Keeper::new().map_err(|error| format!("{error:#}"))).as_ref().map_err(|text| {
        anyhow::anyhow!("cannot prepare to start programs: {text}") // an anyhow::Error cannot be cloned out of the static
    })
}

impl Keeper {
    fn new() -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("bpfman-controlplane-").tempdir()?;
        // The group needs a member before its first child, so that there is no moment in which a child is not in it.
        let mut first = shell("cat >/dev/null", &[])?;
        let group = i32::try_from(first.id())?;
        let script = "cat >/dev/null; kill -s KILL -- \"-$1\"; rm -rf \"$2\" || { sleep 1; rm -rf \"$2\"; }";
        let mut watcher = shell(script, &[group.to_string().as_ref(), folder.path().as_os_str()])?;
        Ok(Self { group, folder: folder.keep(), _pipes: [first.stdin.take(), watcher.stdin.take()] })
    }

    /// Puts `command` among the children; the caller spawns it.
    pub fn adopt<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command.stdin(Stdio::null()).process_group(self.group)
    }

    /// Starts `program` with its output going to the end of `log`.
    pub fn start(&self, program: &Path, arguments: &[String], log: &Path) -> Result<Running> {
        let name = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let output = File::options().create(true).append(true).open(log)?;
        let mut command = Command::new(program);
        // An empty environment, so that no proxy, GODEBUG or ETCD_* variable of the person's changes what is tested.
        command.env_clear().env("HOME", &self.folder).args(arguments).stdout(output.try_clone()?).stderr(output);
        let child = self.adopt(&mut command).spawn().with_context(|| format!("cannot start {}", program.display()))?;
        Ok(Running { name, child, log: log.to_owned() })
    }
}

fn shell(script: &str, arguments: &[&std::ffi::OsStr]) -> Result<Child> {
    let mut command = Command::new("/bin/sh");
    command
        .args(["-c", script, "keeper"])
        .args(arguments)
        .env("PATH", "/usr/bin:/bin")
        .current_dir("/")
        .process_group(0);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().context("cannot start /bin/sh")
}

/// A program that runs; it ends when this is dropped.
pub struct Running {
    name: String,
    child: Child,
    log: PathBuf,
}

impl Running {
    /// Fails, with the end of the log, when the program has ended by itself.
    pub fn check(&mut self) -> Result<()> {
        let Some(status) = self.child.try_wait()? else { return Ok(()) };
        bail!(self.trouble(&ended(status)))
    }

    /// Says what is wrong with the program, with the end of its log.
    pub fn trouble(&self, what: &str) -> String {
        let text = self.log();
        let lines: Vec<&str> = text.lines().collect();
        let tail = lines.get(lines.len().saturating_sub(15)..).unwrap_or_default().join("\n");
        format!("{} {what}; the end of its log:\n{tail}", self.name)
    }

    /// Reads what the program has written so far.
    pub fn log(&self) -> String {
        fs::read(&self.log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
    }
}

impl Drop for Running {
    /// Kills at once: an API server that is asked politely waits for its watches, and nothing of the data is kept anyway.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn ended(status: ExitStatus) -> String {
    format!("ended by itself ({status})")
}
