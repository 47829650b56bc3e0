//! Standard output, for results, and standard error, for all other messages.
//!
//! The only module that prints. It decides on color, and escapes control and bidirectional characters, so that no text
//! from the cluster or a file can control the terminal.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use jiff::Timestamp;
use owo_colors::{OwoColorize, Style};

use crate::ages;
use crate::ui_writer::{Stream, Writer};

/// When to use color.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ColorChoice {
    /// On a terminal, unless the environment disables it.
    #[default]
    Auto,
    /// Always, even in a file.
    Always,
    /// Never.
    Never,
}

impl ColorChoice {
    /// Whether to use color for a stream; the flag overrides `NO_COLOR` (<https://no-color.org>), which overrides `TERM=dumb`.
    pub fn enabled(self, no_color: Option<&str>, term: Option<&str>, terminal: bool) -> bool {
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto => no_color.is_none_or(str::is_empty) && term != Some("dumb") && terminal,
        }
    }
}

/// The meaning of a piece of text, which decides its color.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Plain text.
    Plain,
    /// A desired line.
    Added,
    /// A live line that is not desired.
    Removed,
    /// The position of a change.
    Place,
    /// A heading.
    Strong,
    /// Additional information.
    Faint,
    /// A warning.
    Caution,
    /// An error.
    Bad,
}

impl Tone {
    fn style(self) -> Style {
        match self {
            Self::Plain => Style::new(),
            Self::Added => Style::new().green(),
            Self::Removed => Style::new().red(),
            Self::Place => Style::new().cyan(),
            Self::Strong => Style::new().bold(),
            Self::Faint => Style::new().dimmed(),
            Self::Caution => Style::new().yellow().bold(),
            Self::Bad => Style::new().red().bold(),
        }
    }
}

/// The output streams of the process.
pub struct Ui {
    color_out: bool,
    color_err: bool,
    /// Whether somebody reads it as it is printed, to whom an age says more than a time.
    terminal_out: bool,
    terminal_err: bool,
    quiet: bool,
    closed: bool,
    write_error: Option<io::Error>,
    hints: RefCell<BTreeSet<String>>,
    /// Writes in our place, once a command must not wait for the reader.
    writer: RefCell<Option<Writer>>,
    /// The last line on the terminal, which is written again below each new one.
    status: RefCell<Option<String>>,
}

/// How long the end waits for a reader that does not read.
const LAST_WORDS: Duration = Duration::from_millis(500);
/// Goes to the beginning of the line and clears it.
const CLEAR: &str = "\r\x1b[K";

impl Ui {
    /// Reads the state of the streams and the environment.
    pub fn new(color: ColorChoice, quiet: bool) -> Self {
        let no_color = std::env::var("NO_COLOR").ok();
        let term = std::env::var("TERM").ok();
        let enabled = |terminal| color.enabled(no_color.as_deref(), term.as_deref(), terminal);
        let (terminal_out, terminal_err) = (io::stdout().is_terminal(), io::stderr().is_terminal());
        Self {
            color_out: enabled(terminal_out),
            color_err: enabled(terminal_err),
            terminal_out,
            terminal_err,
            quiet,
            closed: false,
            write_error: None,
            hints: RefCell::default(),
            writer: RefCell::default(),
            status: RefCell::default(),
        }
    }

    /// The error by which output was lost, such as a full disk; a closed pipe is not an error.
    pub fn write_error(&mut self) -> Option<io::Error> {
        if self.status.take().is_some() {
            self.send(Stream::Out, CLEAR);
        }
        let written_late = self.writer.take().and_then(|mut writer| writer.finish(LAST_WORDS));
        self.write_error.take().or(written_late)
    }

    /// From now on nothing waits for whoever reads the streams; the future is ready when nobody reads the result any more.
    pub fn detach(&mut self) -> impl Future<Output = ()> + use<> {
        let writer = Writer::start();
        let closed = writer.closed();
        *self.writer.borrow_mut() = Some(writer);
        closed
    }

    /// Replaces the last line of a terminal; nothing elsewhere.
    pub fn status(&mut self, text: &str) {
        if !self.terminal_out || self.quiet {
            return;
        }
        let text = escape(text).into_owned();
        self.send(Stream::Out, &format!("{CLEAR}{text}"));
        *self.status.borrow_mut() = Some(text);
    }

    /// Hands text to the thread that writes; false when there is none.
    fn send(&self, stream: Stream, text: &str) -> bool {
        let mut writer = self.writer.borrow_mut();
        let Some(writer) = writer.as_mut() else { return false };
        match &*self.status.borrow() {
            Some(status) if text.ends_with('\n') => {
                writer.write(Stream::Out, CLEAR);
                writer.write(stream, text);
                writer.write(Stream::Out, status);
            }
            _ => writer.write(stream, text),
        }
        true
    }

    /// Writes a line to standard output.
    pub fn line(&mut self, pieces: &[(Tone, &str)]) {
        let text = painted(pieces, self.color_out, self.terminal_out);
        self.write_out(&text);
    }

    /// Writes JSON or YAML to standard output, where the escapes represent the same characters.
    pub fn document(&mut self, text: &str) {
        self.write_out(&escape(text));
    }

    /// A closed pipe is not an error: the reader has seen enough, and an apply continues.
    fn write_out(&mut self, text: &str) {
        if !self.send(Stream::Out, text) && !self.closed {
            let mut out = io::stdout().lock();
            if let Err(error) = out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
                self.closed = true;
                self.write_error = Some(error).filter(|error| error.kind() != io::ErrorKind::BrokenPipe);
            }
        }
    }

    /// Reports progress; not with `--quiet`.
    pub fn note(&self, text: &str) {
        if !self.quiet {
            self.err(&[(Tone::Faint, text)]);
        }
    }

    /// Suggests a next step, each only once; not with `--quiet`.
    pub fn hint(&self, text: &str) {
        if !self.quiet && self.hints.borrow_mut().insert(text.to_owned()) {
            self.err(&[(Tone::Strong, "hint: "), (Tone::Plain, text)]);
        }
    }

    /// Reports a warning, even with `--quiet`.
    pub fn warning(&self, text: &str) {
        self.err(&[(Tone::Caution, "warning: "), (Tone::Plain, text)]);
    }

    /// Reports an error, even with `--quiet`.
    pub fn error(&self, text: &str) {
        self.err(&[(Tone::Bad, "error: "), (Tone::Plain, text)]);
    }

    /// Passes on a line that another process wrote to its standard error.
    pub fn relay(&self, text: &str) {
        self.err(&[(Tone::Plain, text)]);
    }

    /// Adds an indented line to an error or a warning.
    pub fn detail(&self, text: &str) {
        self.err(&[(Tone::Plain, "  "), (Tone::Plain, text)]);
    }

    /// Indents continuation lines, so that no text can imitate another message.
    fn err(&self, pieces: &[(Tone, &str)]) {
        let indented: Vec<_> =
            pieces.iter().map(|(tone, text)| (*tone, text.trim_end_matches('\n').replace('\n', "\n  "))).collect();
        let pieces: Vec<_> = indented.iter().map(|(tone, text)| (*tone, text.as_str())).collect();
        let text = painted(&pieces, self.color_err, self.terminal_err);
        if !self.send(Stream::Err, &text) {
            // Nobody is left to tell when standard error is closed.
            let _ = io::stderr().lock().write_all(text.as_bytes());
        }
    }
}

fn painted(pieces: &[(Tone, &str)], color: bool, terminal: bool) -> String {
    let mut line = String::new();
    for (tone, text) in pieces {
        let aged = if terminal { ages::with_ages(text, Timestamp::now()) } else { Cow::Borrowed(*text) };
        let text = escape(&aged);
        if color && *tone != Tone::Plain {
            let _ = write!(line, "{}", text.style((*tone).style()));
        } else {
            line.push_str(&text);
        }
    }
    line.push('\n');
    line
}

/// Escapes control and bidirectional characters as `\u001b`, except tabs and newlines.
pub fn escape(text: &str) -> Cow<'_, str> {
    if !text.chars().any(needs_escape) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if needs_escape(character) {
            let _ = write!(safe, "\\u{:04x}", u32::from(character));
        } else {
            safe.push(character);
        }
    }
    Cow::Owned(safe)
}

fn needs_escape(character: char) -> bool {
    (character.is_control() && character != '\n' && character != '\t')
        || matches!(character, '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}
