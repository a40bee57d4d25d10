//! Detects hosts of web addresses that imitate other hosts.

use std::ops::Range;

use crate::unicode_safety::lookalikes::{is_latin, is_latin_lookalike};

/// The way in which an address imitates another host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostSpoofing {
    /// Letters outside ASCII, many of which look like Latin ones.
    NonAscii,
    /// A user name that looks like a host: `https://known.org@other.org/` leads to `other.org`.
    UserName,
}

/// Returns how a web address imitates another host; expects decoded entities.
pub fn host_spoofing(address: &str) -> Option<HostSpoofing> {
    let host = authority(address)?;
    match () {
        () if host.contains('@') => Some(HostSpoofing::UserName),
        () if !host.is_ascii() || host.contains('%') => Some(HostSpoofing::NonAscii),
        () => None,
    }
}

/// Returns the host of a web address as a browser parses it: in lower case, without user name and port.
pub fn host(address: &str) -> Option<String> {
    let authority = authority(address)?;
    let with_port = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = match with_port.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => with_port,
    };
    Some(host.trim_end_matches('.').to_lowercase())
}

/// Returns the authority of a web address: user name, host and port.
fn authority(address: &str) -> Option<&str> {
    let (scheme, rest) = address.split_once(':')?;
    if !["http", "https"].contains(&scheme.to_ascii_lowercase().as_str()) {
        return None;
    }
    // Browsers accept any number of slashes and backslashes here.
    let rest = rest.trim_start_matches(['/', '\\']);
    Some(rest.split(['/', '?', '#', '\\']).next().unwrap_or_default())
}

/// A host in Punycode, such as `xn--e1afmkfd.example`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Punycode {
    /// Byte range of the host.
    pub range: Range<usize>,
    /// The host as browsers show it; `None` if it cannot be decoded.
    pub decoded: Option<String>,
    /// Whether the decoded host looks like one of Latin letters.
    pub is_lookalike: bool,
}

/// Finds hosts with a Punycode label (`xn--…`) anywhere in a text: in links, commands and prose.
pub fn punycode_hosts(text: &str) -> Vec<Punycode> {
    let is_host = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.');
    let bytes = text.as_bytes();
    let mut found: Vec<Punycode> = Vec::new();
    for (dashes, _) in text.match_indices("--") {
        let Some(at) = dashes.checked_sub(2).filter(|at| bytes[*at..dashes].eq_ignore_ascii_case(b"xn"))
        else {
            continue;
        };
        let is_label = at == 0 || !bytes[at - 1].is_ascii_alphanumeric() && bytes[at - 1] != b'-';
        if !is_label || found.last().is_some_and(|last| at < last.range.end) {
            continue;
        }
        let start = bytes[..at].iter().rposition(|byte| !is_host(byte)).map_or(0, |before| before + 1);
        let length = bytes[at..].iter().position(|byte| !is_host(byte)).unwrap_or(bytes.len() - at);
        let host = text[start..at + length].trim_end_matches(['.', '-']);
        if start + host.len() > at + 4 {
            let range = start..start + host.len();
            found.push(analyze_host(range, host));
        }
    }
    found
}

fn analyze_host(range: Range<usize>, host: &str) -> Punycode {
    let labels: Option<Vec<(String, bool)>> = host
        .to_ascii_lowercase()
        .split('.')
        .map(|label| match label.strip_prefix("xn--") {
            Some(encoded) => decode(encoded).map(|label| (label, true)),
            None => Some((label.to_string(), false)),
        })
        .collect();
    let Some(labels) = labels else { return Punycode { range, decoded: None, is_lookalike: true } };
    let is_lookalike = labels.iter().any(|(label, is_encoded)| *is_encoded && reads_as_latin(label));
    let labels: Vec<String> = labels.into_iter().map(|(label, _)| label).collect();
    Punycode { range, decoded: Some(labels.join(".")), is_lookalike }
}

/// Returns whether a label looks like one of ASCII letters: all its letters look Latin, it mixes such letters with Latin ones, or
/// it has a Latin letter outside Latin-1, whose diacritics (`ü`, `é`) are visible.
fn reads_as_latin(label: &str) -> bool {
    let letters = || label.chars().filter(|letter| letter.is_alphabetic());
    let is_rare =
        |letter: char| is_latin(letter) && !letter.is_ascii() && !('\u{DF}'..='\u{FF}').contains(&letter);
    let mixes = letters().any(is_latin) && letters().any(is_latin_lookalike);
    mixes || letters().any(is_rare) || letters().all(is_latin_lookalike)
}

/// Decodes a label without its `xn--` (RFC 3492, section 6.2).
fn decode(encoded: &str) -> Option<String> {
    let (basic, extended) = encoded.rsplit_once('-').unwrap_or(("", encoded));
    let mut output: Vec<char> = basic.chars().collect();
    let (mut n, mut i, mut bias) = (128_u32, 0_u32, 72_u32);
    let mut digits = extended.bytes();
    while digits.len() > 0 {
        let (before, mut weight) = (i, 1_u32);
        for k in (36..).step_by(36) {
            let digit = match digits.next()? {
                letter @ b'a'..=b'z' => u32::from(letter - b'a'),
                number @ b'0'..=b'9' => u32::from(number - b'0') + 26,
                _ => return None,
            };
            i = i.checked_add(digit.checked_mul(weight)?)?;
            let threshold = if k <= bias { 1 } else { (k - bias).min(26) };
            if digit < threshold {
                break;
            }
            weight = weight.checked_mul(36 - threshold)?;
        }
        let length = u32::try_from(output.len()).ok()? + 1;
        bias = adapt_bias(i - before, length, before == 0);
        n = n.checked_add(i / length)?;
        i %= length;
        output.insert(usize::try_from(i).ok()?, char::from_u32(n)?);
        i += 1;
    }
    Some(output.into_iter().collect())
}

/// Returns the next bias (RFC 3492, section 6.1).
fn adapt_bias(delta: u32, length: u32, is_first: bool) -> u32 {
    let mut delta = delta / if is_first { 700 } else { 2 };
    delta += delta / length;
    let mut k = 0;
    while delta > 455 {
        delta /= 35;
        k += 36;
    }
    k + 36 * delta / (delta + 38)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn detects_spoofed_hosts() {
        assert_eq!(host_spoofing("https://gіthub.com/x"), Some(HostSpoofing::NonAscii));
        assert_eq!(host_spoofing("https://github%2ecom/x"), Some(HostSpoofing::NonAscii));
        for named in
            ["HTTPS://github.com@other.org/", "https:github.com@other.org", "https:/\\/github.com@other.org"]
        {
            assert_eq!(host_spoofing(named), Some(HostSpoofing::UserName), "{named}");
        }
        for plain in [
            "https://a.org/@b/ü",
            "http://[::1]:8080/?x@y",
            "mailto:a@b",
            "/a@b",
            "https://xn--bcher-kva.org/",
        ] {
            assert_eq!(host_spoofing(plain), None, "{plain}");
        }
    }

    #[test]
    fn parses_hosts_as_browsers_do() {
        assert_eq!(host("https:\\\\User@Evil.Example.:8080/x").as_deref(), Some("evil.example"));
        assert_eq!(host("http://[::1]:80/").as_deref(), Some("[::1]"));
        assert_eq!(host("mailto:a@b"), None);
    }

    #[test]
    fn decodes_punycode_and_detects_lookalikes() {
        let hosts = |text: &str| {
            let found = punycode_hosts(text);
            found
                .into_iter()
                .map(|host| (host.decoded.unwrap_or_default(), host.is_lookalike))
                .collect::<Vec<_>>()
        };
        // The examples of RFC 3492, section 7.1, (L) and (M), and hosts of known attacks.
        assert_eq!(
            hosts("xn--3B-ww4c5e180e575a65lsy2b.example"),
            [("3年b組金八先生.example".to_string(), false)]
        );
        assert_eq!(hosts("https://xn--80ak6aa92e.com/"), [("аррӏе.com".to_string(), true)]);
        assert_eq!(hosts("curl XN--e1afmkfd.xn--p1ai."), [("пример.рф".to_string(), false)]);
        assert_eq!(hosts("<https://xn--bcher-kva.org/>"), [("bücher.org".to_string(), false)]);
        assert_eq!(hosts("xn--99zzzzzzzzzz.org"), [(String::new(), true)]);
        assert_eq!(hosts("a `xn--` host, max-xn--x, xn--."), []);
    }
}
