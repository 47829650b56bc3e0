//! The same command for several clusters: each context in a process of its own, all at once; one summary, the worst exit code.
//!
//! A process of its own, since nothing that one cluster does may hold up or change what is said of another.

use std::ffi::OsString;
use std::process::{ExitStatus, Stdio};

use futures_util::StreamExt;
use futures_util::stream;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::process::{Child, Command};

use super::connection::Connection;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::signals::Stop;
use crate::ui::Ui;

/// So many clusters at once.
const AT_ONCE: usize = 64;

/// The flag that chooses all clusters.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Clusters {
    /// For all contexts of the kubeconfig; --context may also be repeated, and have * and ? in it
    #[arg(long)]
    all_contexts: bool,
}

/// How the answers of several clusters become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Merged {
    /// Each line begins with the name of its context.
    Lines,
    /// Each document follows a heading.
    Documents(&'static str),
    /// One JSON document.
    Json,
}

/// What a command said of one cluster.
struct Answer {
    context: String,
    out: String,
    err: String,
    exit: Exit,
}

impl Clusters {
    /// The contexts, if there are several to choose; one alone is the usual case.
    pub(super) fn of(self, to: &Connection) -> Result<Option<Vec<String>>, Failure> {
        let asked = to.contexts();
        let is_pattern = |name: &String| name.contains(['*', '?']);
        if !self.all_contexts && asked.len() < 2 && !asked.iter().any(is_pattern) {
            return Ok(None);
        }
        let known = to.names().contexts;
        let patterns = if self.all_contexts { vec!["*".to_owned()] } else { asked.to_vec() };
        let mut chosen: Vec<String> = Vec::new();
        for pattern in patterns {
            // A name may have such characters itself.
            let exact = known.contains(&pattern);
            let fits = |name: &&String| if exact { **name == pattern } else { matches(&pattern, name) };
            let found: Vec<String> = known.iter().filter(fits).cloned().collect();
            if found.is_empty() {
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                return Err(Failure::usage(format!("no context {pattern:?} in the kubeconfig"))
                    .hint(format!("the contexts are: {known}")));
            }
            chosen.extend(found);
        }
        let mut seen = std::collections::BTreeSet::new();
        chosen.retain(|name| seen.insert(name.clone()));
        Ok(Some(chosen))
    }
}

/// Whether `name` fits `pattern`, in which `*` stands for any text and `?` for a character.
fn matches(pattern: &str, name: &str) -> bool {
    let mut pattern_characters = pattern.chars();
    match pattern_characters.next() {
        None => name.is_empty(),
        Some('*') => {
            let rest = pattern_characters.as_str();
            matches(rest, name)
                || name
                    .char_indices()
                    .any(|(index, c)| matches(rest, name.get(index + c.len_utf8()..).unwrap_or_default()))
        }
        Some(wanted) => {
            let mut characters = name.chars();
            characters.next().is_some_and(|found| wanted == '?' || wanted == found)
                && matches(pattern_characters.as_str(), characters.as_str())
        }
    }
}

/// Runs this command for each context; `done` is the word for the exit code 0.
pub(super) async fn run(
    contexts: Vec<String>,
    (merged, done): (Merged, &'static str),
    input: Option<Vec<u8>>,
    ui: &mut Ui,
) -> Result<Exit, Failure> {
    let stop = Stop::listen()?;
    let words = words_without_contexts(std::env::args_os().skip(1));
    let program = std::env::current_exe().map_err(|error| Failure::new(Exit::NoAnswer, error))?;
    let mut answers = stream::iter(contexts)
        .map(|context| {
            let mut command = Command::new(&program);
            command.args(&words).arg("--context").arg(&context).env_remove("KUBECTL_EXTERNAL_DIFF");
            answer(context, command, input.as_deref(), &stop)
        })
        .buffered(AT_ONCE);
    let (mut exit, mut states, mut items) = (Exit::Done, Vec::new(), Vec::new());
    while let Some(answer) = answers.next().await {
        let Answer { context, out, err, exit: one } = answer.map_err(|error| Failure::new(Exit::NoAnswer, error))?;
        exit = exit.worst(one);
        for line in err.lines() {
            ui.relay(&format!("{context}: {line}"));
        }
        match merged {
            Merged::Lines => out.lines().for_each(|line| ui.document(&format!("{context}: {line}\n"))),
            Merged::Documents(mark) if !out.is_empty() => ui.document(&format!("{mark} {context}\n\n{out}")),
            Merged::Documents(_) => {}
            Merged::Json => {
                let result = serde_json::from_str(&out).unwrap_or(Value::Null);
                items.push(json!({"context": context, "result": result, "exitCode": one.code()}));
            }
        }
        states.push((context, one));
    }
    if merged == Merged::Json {
        ui.document(&format!("{:#}\n", json!({"clusters": items, "exitCode": exit.code()})));
    }
    let width = states.iter().map(|(context, _)| context.chars().count()).max().unwrap_or_default();
    for (context, one) in states {
        ui.note(&format!("{context:width$}  {}", state(one, done)));
    }
    Ok(stop.requested().unwrap_or(exit))
}

/// The command line without the flags that choose the clusters.
fn words_without_contexts(words: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut kept = Vec::new();
    let mut words = words.peekable();
    while let Some(word) = words.next() {
        match word.to_str() {
            Some("--context") => drop(words.next()),
            Some(text)
                if text.starts_with("--context=")
                    || text == "--all-contexts"
                    || text.starts_with("--all-contexts=") => {}
            _ => kept.push(word),
        }
    }
    kept
}

async fn answer(context: String, mut command: Command, input: Option<&[u8]>, stop: &Stop) -> std::io::Result<Answer> {
    let stdin = if input.is_some() { Stdio::piped() } else { Stdio::null() };
    let mut child = command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true).spawn()?;
    if let (Some(mut pipe), Some(input)) = (child.stdin.take(), input) {
        // It may end without reading all.
        let _ = pipe.write_all(input).await;
    }
    let id = child.id();
    let ended = ended(child);
    tokio::pin!(ended);
    let output = tokio::select! {
        output = &mut ended => output?,
        _ = stop.first() => {
            interrupt(id);
            ended.await?
        }
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok(Answer { context, out: text(&output.stdout), err: text(&output.stderr), exit: exit_of(output.status) })
}

async fn ended(child: Child) -> std::io::Result<std::process::Output> {
    child.wait_with_output().await
}

/// Asks a process to stop as Ctrl-C does; it tells what it has done and ends.
#[cfg(unix)]
fn interrupt(id: Option<u32>) {
    use rustix::process::{Pid, Signal, kill_process};
    let pid = id.and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    let _ = pid.map(|pid| kill_process(pid, Signal::INT));
}

/// Ctrl-C reaches all processes of a console.
#[cfg(not(unix))]
fn interrupt(_: Option<u32>) {}

fn exit_of(status: ExitStatus) -> Exit {
    let all = [
        Exit::Done,
        Exit::Drift,
        Exit::Usage,
        Exit::Input,
        Exit::Refused,
        Exit::NoAnswer,
        Exit::Interrupted,
        Exit::Terminated,
    ];
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    all.into_iter().find(|exit| Some(exit.code()) == code).unwrap_or(Exit::NoAnswer)
}

fn state(exit: Exit, done: &'static str) -> &'static str {
    match exit {
        Exit::Done => done,
        Exit::Drift => "drift",
        Exit::Usage => "wrong usage",
        Exit::Input => "invalid input",
        Exit::Refused => "refused",
        Exit::NoAnswer => "no answer",
        Exit::HungUp | Exit::Quit | Exit::Interrupted | Exit::Terminated => "stopped",
    }
}
