//! What a pull request shows: a table of the objects, and below it the diff of each, folded.
//!
//! At most as long as a comment may be; objects that no longer fit are counted. Pure.

use std::fmt::Write as _;

use super::diff::Summary;

/// Characters that a comment on a pull request may have.
const LONGEST_COMMENT: usize = 65_536;

/// Room for the line that says how much was left out.
const RESERVE: usize = 200;

/// An object in the comment.
pub(super) struct Section {
    /// Its full name.
    pub(super) name: String,
    /// What is to be done about it.
    pub(super) state: String,
    /// Its diff, line by line.
    pub(super) lines: Vec<String>,
}

/// The comment.
pub(super) fn comment(sections: &[Section], summary: &Summary) -> String {
    let mut text = format!("**{}**\n", summary.text());
    if sections.is_empty() {
        return text;
    }
    text.push_str("\n| object | state |\n|---|---|\n");
    let mut left_out = 0;
    let mut shown = Vec::new();
    for section in sections {
        let row = format!("| {} | {} |\n", cell(&section.name), cell(&section.state));
        if text.chars().count() + row.chars().count() > LONGEST_COMMENT / 2 {
            left_out += 1;
        } else {
            text.push_str(&row);
            shown.push(section);
        }
    }
    for section in shown.into_iter().filter(|section| !section.lines.is_empty()) {
        let details = details(section);
        if text.chars().count() + details.chars().count() + RESERVE > LONGEST_COMMENT {
            left_out += 1;
        } else {
            text.push_str(&details);
        }
    }
    if left_out > 0 {
        let _ = writeln!(text, "\n{left_out} more did not fit; `kubectl bpfman config diff` shows all of them.");
    }
    text
}

fn details(section: &Section) -> String {
    let lines = section.lines.join("\n");
    // Longer than any in the text, so that nothing in it ends the block.
    let fence = "`".repeat(longest_run(&lines, '`').max(2) + 1);
    format!(
        "\n<details><summary>{}: {}</summary>\n\n{fence}diff\n{lines}\n{fence}\n\n</details>\n",
        cell(&section.name),
        cell(&section.state)
    )
}

/// The length of the longest run of `wanted` in `text`.
fn longest_run(text: &str, wanted: char) -> usize {
    text.split(|character| character != wanted).map(str::len).max().unwrap_or_default()
}

/// Text in which nothing is markup, nor the name of a person to notify.
fn html(text: &str) -> String {
    let mut escaped = String::new();
    for character in text.chars() {
        match character {
            '&' | '<' | '>' | '@' | '#' | '`' | '*' | '_' | '[' | ']' | '|' | '\\' | '~' => {
                let _ = write!(escaped, "&#{};", u32::from(character));
            }
            character => escaped.push(character),
        }
    }
    escaped
}

/// Text on one line.
fn cell(text: &str) -> String {
    html(&text.replace('\n', " "))
}
