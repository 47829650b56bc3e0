//! The little of X.509 and of private keys that rustls does not tell: validity, and what kind of key it does not take.
//!
//! Pure. Reads DER (<https://www.rfc-editor.org/rfc/rfc5280#section-4.1>) without trusting a length.

use jiff::Timestamp;

const INTEGER: u8 = 0x02;
const OCTET_STRING: u8 = 0x04;
const UTC_TIME: u8 = 0x17;
const SEQUENCE: u8 = 0x30;
const VERSION: u8 = 0xA0;

/// The curves that are known by name and not supported, by their object identifiers.
const CURVES: [(&[u8], &str); 3] = [
    (&[0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x23], "P-521"),
    (&[0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x21], "P-224"),
    (&[0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x0A], "secp256k1"),
];

/// Splits the first value off: its tag, its content, and what follows.
fn split(der: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&[tag, first], mut rest) = der.split_first_chunk()?;
    let mut length = usize::from(first);
    if first >= 0x80 {
        let (bytes, after) = rest.split_at_checked(usize::from(first & 0x7F).min(5))?;
        length = bytes.iter().try_fold(0_usize, |length, byte| length.checked_mul(256)?.checked_add((*byte).into()))?;
        rest = after;
    }
    let (content, rest) = rest.split_at_checked(length)?;
    Some((tag, content, rest))
}

/// The content of a value of that kind, and what follows.
fn expect(tag: u8, der: &[u8]) -> Option<(&[u8], &[u8])> {
    split(der).filter(|(found, ..)| *found == tag).map(|(_, content, rest)| (content, rest))
}

/// When a certificate begins and ends to be valid.
pub(in crate::cluster) fn validity(certificate: &[u8]) -> Option<(Timestamp, Timestamp)> {
    let (certificate, _) = expect(SEQUENCE, certificate)?;
    let (fields, _) = expect(SEQUENCE, certificate)?;
    // Version 1 has none.
    let fields = expect(VERSION, fields).map_or(fields, |(_, rest)| rest);
    let (_serial, fields) = expect(INTEGER, fields)?;
    let (_algorithm, fields) = expect(SEQUENCE, fields)?;
    let (_issuer, fields) = expect(SEQUENCE, fields)?;
    let (times, _) = expect(SEQUENCE, fields)?;
    let (tag, begin, times) = split(times)?;
    let begin = time(tag, begin)?;
    let (tag, end, _) = split(times)?;
    Some((begin, time(tag, end)?))
}

/// Reads `YYMMDDhhmmssZ` or `YYYYMMDDhhmmssZ`.
fn time(tag: u8, text: &[u8]) -> Option<Timestamp> {
    let mut text = std::str::from_utf8(text).ok()?.to_owned();
    if tag == UTC_TIME {
        let century = if text.get(..2)?.parse::<u8>().ok()? < 50 { "20" } else { "19" };
        text.insert_str(0, century);
    }
    let part = |from: usize, to: usize| text.get(from..to);
    let date = format!("{}-{}-{}", part(0, 4)?, part(4, 6)?, part(6, 8)?);
    timestamp(&format!("{date}T{}:{}:{}Z", part(8, 10)?, part(10, 12)?, part(12, 14)?))
}

/// Reads an RFC 3339 time; "no end" is the last second of the year 9999, which is later than the latest timestamp.
pub(super) fn timestamp(text: &str) -> Option<Timestamp> {
    text.parse().ok().or(text.starts_with("9999-12-31T").then_some(Timestamp::MAX))
}

/// Says what kind of key it is that is not supported.
pub(super) fn key_kind(key: &pem::Pem) -> String {
    if key.tag().starts_with("DSA") {
        return "a DSA key".to_owned();
    }
    let key = key.contents();
    let curve = CURVES.into_iter().find(|(id, _)| key.windows(id.len()).any(|window| window == *id));
    match (curve, rsa_bits(key)) {
        (Some((_, name)), _) => format!("an ECDSA key of curve {name}"),
        (None, Some(bits)) => format!("an RSA key of {bits} bits"),
        (None, None) => "of an unknown kind".to_owned(),
    }
}

/// The bits of an RSA key's modulus, in PKCS #1 or PKCS #8.
fn rsa_bits(key: &[u8]) -> Option<usize> {
    let (fields, _) = expect(SEQUENCE, key)?;
    let (_version, fields) = expect(INTEGER, fields)?;
    match split(fields)? {
        (INTEGER, modulus, _) => Some(modulus.iter().skip_while(|byte| **byte == 0).count() * 8),
        (SEQUENCE, _algorithm, fields) => rsa_bits(expect(OCTET_STRING, fields)?.0),
        _ => None,
    }
}
