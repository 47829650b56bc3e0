//! Strings and values that break writers: the same ones for the same seed.

use serde_json::{Map, Value, json};

/// What the strings are made of: words, indicators, blanks, controls, what is not ASCII, TOML, and the marks of templates.
const PIECES: [&str; 81] = [
    "a",
    "b",
    "key",
    "yes",
    "no",
    "y",
    "N",
    "null",
    "~",
    "true",
    "0644",
    "1_0",
    "0x1F",
    "1e3",
    ".5",
    ".inf",
    "<<",
    "=",
    "-",
    "--",
    "---",
    "...",
    "- ",
    "? ",
    ": ",
    ":",
    " #",
    "#",
    "\n",
    "\n",
    "\n",
    "\n ",
    " ",
    "  ",
    "\t",
    "\r",
    "\r\n",
    "\"",
    "'",
    "\\",
    "{",
    "}",
    "[",
    "]",
    ",",
    "&a",
    "*a",
    "!b",
    "|",
    ">",
    "%",
    "@",
    "`",
    "\0",
    "\u{7}",
    "\u{1b}",
    "\u{7f}",
    "\u{85}",
    "\u{a0}",
    "\u{ad}",
    "\u{2028}",
    "\u{feff}",
    "\u{ffff}",
    "é",
    "日本",
    "\u{1f600}",
    "\u{202e}",
    "\u{10ffff}",
    "[a]\nb = \"c\"\n",
    "quay.io/x:y",
    "--foo=bar",
    "\"\"\"\n",
    "[[a.\"b\"]]\n",
    "'''\n",
    "at = 1979-05-27T07:32:00Z # x\n",
    "\u{1f469}\u{200d}\u{1f467}\u{fe0f}",
    "{{ namespace }}",
    "{% if openshift %}",
    "%}",
    "{#",
    "#}",
];

/// A source of hostile data.
pub(crate) struct Hostile(u64);

impl Hostile {
    /// Starts the sequence that `seed` gives.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A string of up to eight pieces; now and then a very long one.
    pub(crate) fn text(&mut self) -> String {
        let pieces = self.below(9);
        let mut text = String::new();
        (0..pieces).for_each(|_| self.add_piece(&mut text));
        if self.below(500) == 0 { text.repeat(300) } else { text }
    }

    /// A string of `size` bytes and hardly more.
    pub(crate) fn long_text(&mut self, size: usize) -> String {
        let mut text = String::new();
        while text.len() < size {
            self.add_piece(&mut text);
        }
        text
    }

    /// Adds one of the pieces, or any character.
    fn add_piece(&mut self, text: &mut String) {
        match PIECES.get(self.below(PIECES.len() + 8)) {
            Some(piece) => text.push_str(piece),
            None => text.extend(u32::try_from(self.below(0x11_0000)).ok().and_then(char::from_u32)),
        }
    }

    /// A value of at most `depth` levels.
    pub(crate) fn value(&mut self, depth: usize) -> Value {
        match self.below(if depth == 0 { 7 } else { 14 }) {
            0 => Value::Null,
            1 => json!(true),
            2 => json!(self.below(2000)),
            3 => json!(-0.375),
            4..=6 => json!(self.text()),
            7..=9 => (0..self.below(4)).map(|_| self.value(depth - 1)).collect(),
            _ => Value::Object((0..self.below(4)).map(|_| (self.text(), self.value(depth - 1))).collect::<Map<_, _>>()),
        }
    }

    /// A number below `bound`: xorshift, Marsaglia 2003.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % bound
    }
}
