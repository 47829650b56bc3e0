//! Strings and values that break writers: the same ones for the same seed.

use serde_json::{Map, Value, json};

/// What the strings are made of: words, indicators, blanks, controls, and what is not ASCII.
const PIECES: [&str; 71] = [
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
        let text: String = (0..pieces).map(|_| PIECES[self.below(PIECES.len())]).collect();
        if self.below(500) == 0 { text.repeat(300) } else { text }
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
