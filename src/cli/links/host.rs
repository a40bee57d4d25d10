//! Detection of hosts in the public network, independent of the spelling of their address.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, ToSocketAddrs};

use url::{Host, Url};

use crate::config::is_reserved;

/// Suffixes of other host names outside the public network (RFC 6762, RFC 7686, RFC 8375).
const LOCAL_NAMES: [&str; 4] = [".local", ".internal", ".home.arpa", ".onion"];

/// Returns whether a URL is a web address in the public network, parsed as browsers do: `127.1` and `0x7f000001` are
/// 127.0.0.1. Host names are not resolved; see [`resolve`].
pub(super) fn is_public(url: &Url) -> bool {
    let is_web =
        matches!(url.scheme(), "https" | "http") && url.username().is_empty() && url.password().is_none();
    is_web
        && match url.host() {
            Some(Host::Ipv4(address)) => is_public_ip(address.into()),
            Some(Host::Ipv6(address)) => is_public_ip(address.into()),
            Some(Host::Domain(name)) => {
                let name = name.trim_end_matches('.');
                let is_local = LOCAL_NAMES.iter().any(|end| name.ends_with(end));
                name.contains('.') && !is_local && !is_reserved(name)
            }
            None => false,
        }
}

/// Returns whether an address belongs to the public network, by the special-purpose registries of IANA
/// (<https://www.iana.org/assignments/iana-ipv4-special-registry>, <https://www.iana.org/assignments/iana-ipv6-special-registry>).
pub(super) fn is_public_ip(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let is_special = match (a, b) {
        (0 | 10 | 127, _) | (192, 168) | (169, 254) | (198, 18 | 19) => true,
        (100, 64..=127) | (172, 16..=31) => true,
        (192, 0) => matches!(c, 0 | 2),
        (192, 88) => c == 99,
        (198, 51) => c == 100,
        (203, 0) => c == 113,
        (224.., _) => true,
        _ => false,
    };
    !is_special
}

/// Checks for 2000::/3 without the blocks for documentation and embedded IPv4 addresses.
fn is_public_v6(address: Ipv6Addr) -> bool {
    let [first, second, ..] = address.segments();
    let is_global = first & 0xE000 == 0x2000;
    let is_special =
        matches!((first, second), (0x2001, 0..=0x1FF | 0xDB8) | (0x2002, _) | (0x3FFF, 0..=0xFFF));
    is_global && !is_special
}

/// Resolves a host name.
///
/// # Errors
/// If the lookup fails.
pub(super) fn resolve(host: &str, port: u16) -> io::Result<Vec<IpAddr>> {
    Ok((host, port).to_socket_addrs()?.map(|address| address.ip()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asks(url: &str) -> bool {
        Url::parse(url).is_ok_and(|url| is_public(&url))
    }

    #[test]
    fn only_public_hosts_are_requested() {
        for url in ["https://github.com/a/b", "https://8.8.8.8/", "http://[2606:4700::1111]/"] {
            assert!(asks(url), "{url}");
        }
        for url in [
            "http://localhost:11434",
            "http://localhost./",
            "http://sub.localhost./",
            "http://127.0.0.1:8080/x",
            "http://127.1/",
            "http://127.0.0.1./",
            "http://0x7f.0.0.1/",
            "http://0177.0.0.1/",
            "http://0.0/",
            "http://0/",
            "http://2130706433/",
            "http://%31%32%37.1/",
            "http://１２７.0.0.1/",
            "http://192.168.1.5",
            "http://169.254.169.254/latest",
            "http://100.100.100.200/",
            "http://198.18.0.1/",
            "http://224.0.0.1/",
            "http://255.255.255.255/",
            "http://[::1]:80/",
            "http://[::]/",
            "http://[::ffff:127.0.0.1]/",
            "http://[::ffff:7f00:1]/",
            "http://[64:ff9b::7f00:1]/",
            "http://[2002:7f00:1::]/",
            "http://[fe80::1]/",
            "http://[fd00::1]/",
            "https://intranet/x",
            "https://user@host.org/",
            "https://kb.example/x",
            "https://kb.example./x",
            "https://docs.example.com/x",
            "ftp://github.com/",
            "file:///etc/passwd",
        ] {
            assert!(!asks(url), "{url}");
        }
    }
}
