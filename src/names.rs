//! Validates names as the API server does, and suggests names for misspelled ones.
//!
//! Pure functions. The rules:
//! <https://kubernetes.io/docs/concepts/overview/working-with-objects/names/>.

/// Why `name` is not a DNS label (a namespace, a Service); none when it is valid.
pub fn label_error(name: &str) -> Option<String> {
    if name.len() > 63 {
        return Some(format!("has {} characters, must have at most 63", name.len()));
    }
    (!is_label(name)).then(|| {
        format!(
            "is {}, must consist of lowercase letters, digits and '-', and begin and end with a letter or digit",
            quoted(name)
        )
    })
}

/// Why `name` is not a DNS subdomain (most objects); none when it is valid.
pub fn subdomain_error(name: &str) -> Option<String> {
    if name.len() > 253 {
        return Some(format!("has {} characters, must have at most 253", name.len()));
    }
    (!name.split('.').all(is_label)).then(|| {
        format!(
            "is {}, must consist of lowercase letters, digits, '-' and '.', and begin and end with a letter or digit",
            quoted(name)
        )
    })
}

/// Why `name` is not a path segment (RBAC); none when it is valid.
pub fn path_error(name: &str) -> Option<String> {
    let bad = name.is_empty() || name == "." || name == ".." || name.contains(['/', '?', '#', '%']);
    bad.then(|| format!("is {}, must not be empty, '.' or '..', and not contain '/', '?', '#' or '%'", quoted(name)))
}

/// The name in `known` that is most similar to `typed`, if any is.
pub fn nearest<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let typed = typed.to_lowercase();
    let near = known.into_iter().map(|name| (strsim::damerau_levenshtein(&typed, &name.to_lowercase()), name));
    near.filter(|(distance, name)| *distance <= 2 && *distance * 2 < name.len()).min().map(|(_, name)| name)
}

/// `text` in double quotes, escaped, truncated if it is long.
pub fn quoted(text: &str) -> String {
    const SHOWN: usize = 60;
    let mut shown: String = text.chars().take(SHOWN).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    serde_json::Value::from(shown).to_string()
}

fn is_label(name: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    !name.is_empty() && name.bytes().all(inner) && !name.starts_with('-') && !name.ends_with('-')
}
