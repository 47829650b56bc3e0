//! Times as ages, for people at a terminal: `since 2026-12-01T04:15:02Z` becomes `3 min ago`. Elsewhere times stay as they are. Pure.

use std::borrow::Cow;

use jiff::Timestamp;

/// An owner ends so; a text of an object hardly ever.
const SINCE: &str = ") since ";
/// `2026-12-01T04:15:02Z`
const LENGTH: usize = 20;

/// Replaces each ` since TIME` by how long ago that is; a time in the future stays.
pub fn with_ages(text: &str, now: Timestamp) -> Cow<'_, str> {
    if !text.contains(SINCE) {
        return Cow::Borrowed(text);
    }
    let mut pieces = text.split(SINCE);
    let mut shown = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let time = piece.get(..LENGTH).and_then(|time| time.parse::<Timestamp>().ok());
        let seconds = time.map(|time| now.as_second() - time.as_second()).filter(|seconds| *seconds >= 0);
        if let Some(seconds) = seconds {
            shown.push_str(") ");
            shown.push_str(&age(seconds));
            shown.push_str(piece.get(LENGTH..).unwrap_or_default());
        } else {
            shown.push_str(SINCE);
            shown.push_str(piece);
        }
    }
    Cow::Owned(shown)
}

fn age(seconds: i64) -> String {
    match seconds {
        0..120 => format!("{seconds} s ago"),
        120..7_200 => format!("{} min ago", seconds / 60),
        7_200..172_800 => format!("{} h ago", seconds / 3_600),
        _ => format!("{} d ago", seconds / 86_400),
    }
}
