//! The two streams: results go to standard output, all else to standard error.
//!
//! The only place that prints. It decides on colour, and escapes every control and bidirectional character, so that
//! nothing from the cluster or a file can repaint the terminal.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};

use owo_colors::{OwoColorize, Style};

/// When to colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum ColorChoice {
    /// On a terminal, unless the environment says otherwise.
    #[default]
    Auto,
    /// Always, also into a file.
    Always,
    /// Never.
    Never,
}

impl ColorChoice {
    /// Resolves the choice for a stream; the flag wins over `NO_COLOR` (<https://no-color.org>), that over `TERM=dumb`.
    pub fn enabled(self, no_color: Option<&str>, term: Option<&str>, terminal: bool) -> bool {
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto => no_color.is_none_or(str::is_empty) && term != Some("dumb") && terminal,
        }
    }
}

/// What a piece of text says, for its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Plain text.
    Plain,
    /// A line that is wanted.
    Added,
    /// A line that is live and not wanted.
    Removed,
    /// The place of a change.
    Place,
    /// A heading.
    Strong,
    /// Beside the point.
    Faint,
    /// Something to look at.
    Caution,
    /// Something that failed.
    Bad,
}

impl Tone {
    fn paint(self) -> Style {
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

/// The streams of one run.
pub struct Ui {
    color_out: bool,
    color_err: bool,
    quiet: bool,
    closed: bool,
    lost: Option<io::Error>,
    hints: RefCell<BTreeSet<String>>,
}

impl Ui {
    /// Looks at the streams and the environment once.
    pub fn new(color: ColorChoice, quiet: bool) -> Self {
        let no_color = std::env::var("NO_COLOR").ok();
        let term = std::env::var("TERM").ok();
        let enabled = |terminal| color.enabled(no_color.as_deref(), term.as_deref(), terminal);
        Self {
            color_out: enabled(io::stdout().is_terminal()),
            color_err: enabled(io::stderr().is_terminal()),
            quiet,
            closed: false,
            lost: None,
            hints: RefCell::default(),
        }
    }

    /// Why a part of the result could not be written, be it that the disk is full; a reader that has gone is none.
    pub fn lost(&mut self) -> Option<io::Error> {
        self.lost.take()
    }

    /// Whether nobody takes the result any more.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Writes one line of the result, in pieces that have a tone each.
    pub fn line(&mut self, pieces: &[(Tone, &str)]) {
        let text = painted(pieces, self.color_out);
        self.write_out(&text);
    }

    /// Writes text that is a machine's to read. In JSON and in our YAML the escapes mean the very characters.
    pub fn document(&mut self, text: &str) {
        self.write_out(&escape(text));
    }

    /// A closed pipe is no error: whoever read it has seen enough, and an apply goes on regardless.
    fn write_out(&mut self, text: &str) {
        if !self.closed {
            let mut out = io::stdout().lock();
            if let Err(error) = out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
                self.closed = true;
                self.lost = Some(error).filter(|error| error.kind() != io::ErrorKind::BrokenPipe);
            }
        }
    }

    /// Says what is being done; silent with `--quiet`.
    pub fn note(&self, text: &str) {
        if !self.quiet {
            self.err(&[(Tone::Faint, text)]);
        }
    }

    /// Says what helps, once; silent with `--quiet`.
    pub fn hint(&self, text: &str) {
        if !self.quiet && self.hints.borrow_mut().insert(text.to_owned()) {
            self.err(&[(Tone::Strong, "hint: "), (Tone::Plain, text)]);
        }
    }

    /// Says what a person should know although the work goes on; never silent.
    pub fn warning(&self, text: &str) {
        self.err(&[(Tone::Caution, "warning: "), (Tone::Plain, text)]);
    }

    /// Says what failed; never silent.
    pub fn error(&self, text: &str) {
        self.err(&[(Tone::Bad, "error: "), (Tone::Plain, text)]);
    }

    /// Goes on with what an error or a warning said, indented.
    pub fn detail(&self, text: &str) {
        self.err(&[(Tone::Plain, "  "), (Tone::Plain, text)]);
    }

    /// What goes on in a second line is indented: no text can look like a message of its own.
    fn err(&self, pieces: &[(Tone, &str)]) {
        let indented: Vec<_> =
            pieces.iter().map(|(tone, text)| (*tone, text.trim_end_matches('\n').replace('\n', "\n  "))).collect();
        let pieces: Vec<_> = indented.iter().map(|(tone, text)| (*tone, text.as_str())).collect();
        // Nobody is left to tell when standard error is closed.
        let _ = io::stderr().lock().write_all(painted(&pieces, self.color_err).as_bytes());
    }
}

fn painted(pieces: &[(Tone, &str)], color: bool) -> String {
    let mut line = String::new();
    for (tone, text) in pieces {
        let text = escape(text);
        if color && *tone != Tone::Plain {
            let _ = write!(line, "{}", text.style(tone.paint()));
        } else {
            line.push_str(&text);
        }
    }
    line.push('\n');
    line
}

/// Shows control and bidirectional characters as `\u001b`, tabs and line feeds as they are.
pub fn escape(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_hostile) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if is_hostile(character) {
            let _ = write!(safe, "\\u{:04x}", u32::from(character));
        } else {
            safe.push(character);
        }
    }
    Cow::Owned(safe)
}

fn is_hostile(character: char) -> bool {
    (character.is_control() && character != '\n' && character != '\t')
        || matches!(character, '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}
