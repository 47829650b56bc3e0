//! How one string is written: plain, as a literal block, or in double quotes.
//!
//! The rule throughout: a form is used only when every reader, of YAML 1.1 and of 1.2, gives back just that string. Pure text.

use std::fmt::Write as _;

/// Words that some reader takes for a boolean, a null or a number, in any letter case.
const WORDS: [&str; 12] = ["y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf", "infinity"];

/// Writes `text` as a YAML double-quoted scalar on one line, in ASCII only.
///
/// Characters beyond the BMP become `\UXXXXXXXX`: go-yaml refuses the surrogate pairs that JSON uses.
pub fn double_quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            ' '..='~' => quoted.push(character),
            // Writing to a string cannot fail.
            '\u{0}'..='\u{ff}' => _ = write!(quoted, "\\x{:02X}", u32::from(character)),
            '\u{100}'..='\u{ffff}' => _ = write!(quoted, "\\u{:04X}", u32::from(character)),
            _ => _ = write!(quoted, "\\U{:08X}", u32::from(character)),
        }
    }
    quoted.push('"');
    quoted
}

/// Writes `text` on one line: plain where that is safe, else in double quotes.
pub(super) fn one_line(text: &str) -> String {
    if is_plain(text) { text.to_owned() } else { double_quoted(text) }
}

/// Gives the header of the literal block (`|`, `|-`, `|2+`) that holds just `text`; none where only quotes are safe.
pub(super) fn block_header(text: &str) -> Option<String> {
    let body = text.trim_end_matches('\n');
    let has_lines = text.contains('\n') && !body.is_empty();
    if !has_lines || !text.chars().all(|character| matches!(character, '\n' | '\t') || is_printable(character)) {
        return None;
    }
    // Readers guess the indentation from the first line: one that starts with a blank, or is empty, needs it stated.
    let indentation = if text.starts_with([' ', '\t', '\n']) { "2" } else { "" };
    let chomping = match text.len() - body.len() {
        0 => "-",
        1 => "",
        _ => "+",
    };
    Some(format!("|{indentation}{chomping}"))
}

/// Whether the plain scalar `text` is a string to everybody, wherever in a block mapping or sequence it stands.
fn is_plain(text: &str) -> bool {
    let start = text.strip_prefix("--").unwrap_or(text);
    let starts_well = start.starts_with(|first: char| first.is_alphabetic())
        || (start.len() == text.len() && text.starts_with(['/', '_']));
    starts_well
        && !text.ends_with([' ', ':'])
        && !text.contains(": ")
        && text.chars().all(is_plain_character)
        && !WORDS.iter().any(|word| word.eq_ignore_ascii_case(text))
}

fn is_plain_character(character: char) -> bool {
    if character.is_ascii() {
        character.is_ascii_alphanumeric() || " -_./:@+=,;()$~^".contains(character)
    } else {
        is_printable(character)
    }
}

/// Whether a character is seen as itself: no control, no line break of YAML 1.1, nothing invisible or that turns text around.
fn is_printable(character: char) -> bool {
    let is_hidden = matches!(
        character,
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{e000}'..='\u{f8ff}' | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}' | '\u{fff0}'..='\u{ffff}' | '\u{e0000}'..
    );
    !is_hidden
}
