//! `__complete`: what may stand at the end of a command line, for the shells and for kubectl.
//!
//! Speaks the protocol of kubectl's plugins: one candidate a line, a tab and its description if it has one, and last `:` with what the shell is to
//! do (<https://kubernetes.io/docs/tasks/extend-kubectl/kubectl-plugins/#completions>). Says nothing where there is nothing to say: no error may
//! disturb a line that is being typed.

use std::ffi::OsString;
use std::time::Duration;

use clap::{Arg, Command, ValueHint};
use serde_json::Value;

use super::connection::Connection;
use crate::config;
use crate::manifest::ObjectId;
use crate::ui::Ui;

/// The longest wait for the cluster's answer.
const LONGEST_WAIT: Duration = Duration::from_millis(80);

/// The words after the program's name; the last one is to be completed.
#[derive(Clone, Debug, clap::Args)]
pub struct CompleteArgs {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<OsString>,
}

/// What the shell is to do besides showing the candidates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Directive {
    /// Complete files.
    Files = 0,
    /// Complete nothing else.
    NoFiles = 4,
    /// Complete folders only.
    Folders = 16,
}

/// A candidate and its description.
type Candidate = (String, String);

/// What is to be completed.
enum Place<'a> {
    /// The value of a flag or an argument, after this text of the word.
    Value(&'a Arg, String),
    /// A command or a flag.
    Word,
    /// Nothing that is known: flags have ended.
    Nothing,
}

/// Prints the candidates for the last of the words.
pub async fn complete(args: &CompleteArgs, root: &Command, ui: &mut Ui) {
    let words: Vec<String> = args.words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let nothing = String::new();
    let (last, before) = words.split_last().unwrap_or((&nothing, &[]));
    let (command, place) = place(root, before, last);
    let typed = |name: &str| value_of(root, before, name);
    let (candidates, directive) = match place {
        Place::Value(arg, prefix) => {
            let (values, directive) = values(arg, typed).await;
            (values.into_iter().map(|(value, about)| (format!("{prefix}{value}"), about)).collect(), directive)
        }
        Place::Nothing => (Vec::new(), Directive::NoFiles),
        Place::Word => (words_of(root, command, before, last), Directive::NoFiles),
    };
    let mut text = String::new();
    for (value, about) in candidates.iter().filter(|(value, _)| value.starts_with(last.as_str())) {
        text.push_str(value);
        if !about.is_empty() {
            text.push('\t');
            text.push_str(about);
        }
        text.push('\n');
    }
    ui.document(&format!("{text}:{}\n", directive as u8));
}

/// Walks the words before the last one: which command they name, and what the last one is.
fn place<'a>(root: &'a Command, before: &[String], last: &str) -> (&'a Command, Place<'a>) {
    let mut command = root;
    let mut open: Option<&Arg> = None;
    for word in before {
        if open.take().is_some() {
            continue;
        }
        if word == "--" {
            return (command, Place::Nothing);
        }
        if word.starts_with('-') {
            open = flag(root, command, word).filter(|arg| takes_next_word(arg) && !word.contains('='));
        } else if let Some(found) = command.find_subcommand(word) {
            command = found;
        }
    }
    if let Some(arg) = open {
        return (command, Place::Value(arg, String::new()));
    }
    if let Some(name) = last.get(..2).filter(|_| !last.starts_with("--") && last.len() > 2)
        && let Some(arg) = flag(root, command, name).filter(|arg| takes_next_word(arg))
    {
        return (command, Place::Value(arg, name.to_owned()));
    }
    if let Some((name, _)) = last.split_once('=').filter(|_| last.starts_with('-'))
        && let Some(arg) = flag(root, command, name)
    {
        return (command, Place::Value(arg, format!("{name}=")));
    }
    let positional = command.get_positionals().next().filter(|_| !last.starts_with('-'));
    (command, positional.map_or(Place::Word, |arg| Place::Value(arg, String::new())))
}

fn flags<'a>(root: &'a Command, command: &'a Command) -> impl Iterator<Item = &'a Arg> {
    let own = command.get_arguments();
    own.chain(root.get_arguments().filter(|arg| arg.is_global_set())).filter(|arg| !arg.is_positional())
}

fn flag<'a>(root: &'a Command, command: &'a Command, word: &str) -> Option<&'a Arg> {
    let name = word.split('=').next().unwrap_or(word);
    flags(root, command).find(|arg| {
        arg.get_long().is_some_and(|long| name.strip_prefix("--") == Some(long))
            || arg.get_short().is_some_and(|short| name == format!("-{short}"))
    })
}

/// Whether the value of a flag is the word after it.
fn takes_next_word(arg: &Arg) -> bool {
    arg.get_action().takes_values() && !arg.is_require_equals_set()
}

/// The value that was given to a global flag, by its long or its short name.
fn value_of(root: &Command, words: &[String], name: &str) -> Option<String> {
    let arg = root.get_arguments().find(|arg| arg.get_long() == Some(name))?;
    let names = [Some(format!("--{name}")), arg.get_short().map(|short| format!("-{short}"))];
    words.iter().enumerate().rev().find_map(|(index, word)| {
        let (name, rest) = names.iter().flatten().find_map(|name| Some((name, word.strip_prefix(name.as_str())?)))?;
        match rest.strip_prefix('=') {
            Some(value) => Some(value.to_owned()),
            None if rest.is_empty() => words.get(index + 1).cloned(),
            None => Some(rest.to_owned()).filter(|_| !name.starts_with("--")),
        }
    })
}

/// The commands and flags that may stand here.
fn words_of(root: &Command, command: &Command, before: &[String], last: &str) -> Vec<Candidate> {
    let commands = command.get_subcommands().filter(|command| !command.is_hide_set());
    let commands = commands.map(|command| (command.get_name().to_owned(), about(command.get_about())));
    if !last.starts_with('-') {
        // The library adds this command only when it parses.
        let help = command.has_subcommands().then(|| ("help".to_owned(), "Print help of a command".to_owned()));
        return commands.chain(help).collect();
    }
    let is_new = |arg: &&Arg| {
        let long = arg.get_long().map(|long| format!("--{long}")).unwrap_or_default();
        let typed = before.iter().any(|word| word.split('=').next() == Some(&long));
        !arg.is_hide_set() && (!typed || matches!(arg.get_action(), clap::ArgAction::Append))
    };
    let name = |arg: &Arg| Some((format!("--{}", arg.get_long()?), about(arg.get_help())));
    let mut found: Vec<Candidate> = flags(root, command).filter(is_new).filter_map(name).collect();
    found.push(("--help".to_owned(), "Print help".to_owned()));
    found.sort();
    found.dedup_by(|one, other| one.0 == other.0);
    found
}

/// The first line of a help text.
fn about(text: Option<&clap::builder::StyledStr>) -> String {
    let text = text.map(ToString::to_string).unwrap_or_default();
    text.lines().next().unwrap_or_default().to_owned()
}

/// What a flag takes: fixed values, names from the kubeconfig or the cluster, files or folders.
async fn values(arg: &Arg, typed: impl Fn(&str) -> Option<String>) -> (Vec<Candidate>, Directive) {
    let fixed = arg.get_possible_values();
    if !fixed.is_empty() {
        let fixed = fixed.iter().filter(|value| !value.is_hide_set());
        let fixed = fixed.map(|value| (value.get_name().to_owned(), about(value.get_help())));
        return (fixed.collect(), Directive::NoFiles);
    }
    match arg.get_value_hint() {
        ValueHint::FilePath | ValueHint::AnyPath => return (Vec::new(), Directive::Files),
        ValueHint::DirPath => return (Vec::new(), Directive::Folders),
        _ => {}
    }
    let to = Connection::of_words(typed);
    let names = match arg.get_long().unwrap_or_default() {
        "context" => to.names().contexts,
        "cluster" => to.names().clusters,
        "user" => to.names().users,
        "namespace" => live_names(&to, "v1", "Namespace").await,
        "name" => live_names(&to, config::API_VERSION, config::KIND).await,
        "field-manager" => vec![config::DEFAULT_NAME.to_owned()],
        _ => Vec::new(),
    };
    (names.into_iter().map(|name| (name, String::new())).collect(), Directive::NoFiles)
}

/// The names of all objects of a kind; none when the cluster does not answer at once.
async fn live_names(to: &Connection, api_version: &str, kind: &str) -> Vec<String> {
    let id =
        ObjectId { api_version: api_version.to_owned(), kind: kind.to_owned(), namespace: None, name: String::new() };
    let list = async {
        // Nobody can answer a plugin's questions while a line is being typed.
        let cluster = to.connect(true, config::DEFAULT_NAME, LONGEST_WAIT).await.ok()?;
        let name = |object: &Value| object.pointer("/metadata/name").and_then(Value::as_str).map(str::to_owned);
        cluster.list_metadata(&id, name).await.ok()
    };
    tokio::time::timeout(LONGEST_WAIT, list).await.ok().flatten().unwrap_or_default()
}
