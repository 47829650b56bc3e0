//! `KUBECTL_EXTERNAL_DIFF`: shows the objects that differ by another program, as `kubectl diff` does.
//!
//! Both sides are written, the values of Secrets masked, into a folder that only its owner can read, and that is removed at the end.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::report::diff::Sides;

const VARIABLE: &str = "KUBECTL_EXTERNAL_DIFF";

/// A program, and the words that come before the two folders.
pub(super) struct ExternalDiff {
    words: Vec<String>,
}

impl ExternalDiff {
    /// Reads the variable; none when it is not set.
    pub(super) fn from_environment() -> Result<Option<Self>, Failure> {
        let Some(text) = std::env::var_os(VARIABLE).filter(|text| !text.is_empty()) else { return Ok(None) };
        let words = text.to_str().and_then(shlex::split).filter(|words| !words.is_empty());
        words.map(|words| Some(Self { words })).ok_or_else(|| {
            Failure::usage(format!("{VARIABLE} is not a command line: {}", text.display()))
                .hint("quote it as for a shell, for example: diff -u --color=always")
        })
    }

    /// Runs the program on all objects; what it finds is its own matter, that it cannot run is an error.
    pub(super) fn run(&self, objects: &[Sides]) -> Result<(), Failure> {
        if objects.is_empty() {
            return Ok(());
        }
        self.try_run(objects).map_err(|error| Failure {
            exit: Exit::NoAnswer,
            errors: vec![error],
            hints: vec![format!("correct {VARIABLE}, or unset it")],
        })
    }

    fn try_run(&self, objects: &[Sides]) -> Result<()> {
        let folder = tempfile::Builder::new().prefix("bpfman-config-").tempdir().context("cannot make a folder")?;
        let sides = ["LIVE", "MERGED"].map(|name| folder.path().join(name));
        for (side, text) in sides.iter().zip([live as fn(&Sides) -> &str, merged]) {
            std::fs::create_dir(side)?;
            for object in objects {
                std::fs::write(side.join(&object.name), text(object))?;
            }
        }
        let (program, words) = self.words.split_first().context("no program")?;
        let folders = sides.iter().map(|side| OsString::from(Path::new(side)));
        let status = Command::new(program).args(words).args(folders).status();
        let status = status.with_context(|| format!("cannot run {program}, which {VARIABLE} names"))?;
        // As diff does: 1 says that there are differences.
        anyhow::ensure!(matches!(status.code(), Some(0 | 1)), "{program} failed ({status})");
        Ok(())
    }
}

fn live(object: &Sides) -> &str {
    &object.live
}

fn merged(object: &Sides) -> &str {
    &object.merged
}
