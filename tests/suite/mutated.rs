//! What the fuzz targets look for, in seconds and with the same result each time: their seeds, mutated.

use std::fs;

use crate::entries;
use crate::hostile::Hostile;

/// Runs `entry` on the files of `folders` as they are, then on `count` texts made of them.
fn check(folders: &[&str], count: usize, entry: fn(&[u8])) {
    let list = |folder: &&str| fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect::<Vec<_>>();
    let mut files: Vec<_> =
        folders.iter().flat_map(list).filter(|path| path.extension().is_some_and(|name| name != "rs")).collect();
    files.sort();
    let seeds: Vec<Vec<u8>> = files.iter().map(|path| fs::read(path).unwrap()).collect();
    assert!(!seeds.is_empty());
    for seed in &seeds {
        entry(seed);
    }
    let mut hostile = Hostile::new(8);
    for _ in 0..count {
        entry(&mutated(&seeds, &mut hostile));
    }
}

/// A part of a seed, in which pieces are put, doubled, taken out or changed.
fn mutated(seeds: &[Vec<u8>], hostile: &mut Hostile) -> Vec<u8> {
    let seed = &seeds[hostile.below(seeds.len())];
    let start = hostile.below(seed.len());
    let mut text = seed[start * hostile.below(2)..(start + 600).min(seed.len())].to_vec();
    for _ in 0..=hostile.below(4) {
        let at = hostile.below(text.len() + 1);
        let end = (at + hostile.below(30)).min(text.len());
        let piece = match hostile.below(5) {
            0 => text[at..end].repeat(2),
            1 => Vec::new(),
            2 => vec![u8::try_from(hostile.below(256)).unwrap()],
            _ => hostile.text().into_bytes(),
        };
        // A place where there is a line is more often one where something can stand.
        let at = text[..at].iter().rposition(|byte| *byte == b'\n').filter(|_| hostile.below(2) == 0).unwrap_or(at);
        text.splice(at..end, piece);
    }
    text
}

#[test]
fn any_text_is_read_as_yaml_or_refused() {
    check(&["tests/fuzz/seeds/yaml", "tests/golden"], 3000, entries::yaml);
}

#[test]
fn any_text_is_a_config_or_refused() {
    check(&["tests/fuzz/seeds/config", "tests/demo"], 2000, entries::config);
}

#[test]
fn any_text_is_a_template_or_refused() {
    check(&["tests/fuzz/seeds/templates", "templates"], 3000, entries::templates);
}
