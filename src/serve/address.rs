//! Where the server listens, what its address is called, and which names it answers to.

use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::str::FromStr;

use anyhow::{Context, Result};

/// Number of ports to try after the requested one.
const PORTS_TRIED: u16 = 100;

/// Listens on the port, or on the next free one.
///
/// # Errors
/// If the interface does not belong to this machine, or all tried ports are in use.
pub(crate) fn listen(interface: IpAddr, port: u16) -> Result<TcpListener> {
    let last = if port == 0 { 0 } else { port.saturating_add(PORTS_TRIED) };
    for candidate in port..last {
        match TcpListener::bind((interface, candidate)) {
            Err(error) if error.kind() == ErrorKind::AddrInUse => {}
            other => return other.with_context(|| refusal(interface, candidate)),
        }
    }
    TcpListener::bind((interface, last)).with_context(|| refusal(interface, last))
}

fn refusal(interface: IpAddr, port: u16) -> String {
    let hint = if (1..1024).contains(&port) { " (ports below 1024 require privileges)" } else { "" };
    format!("cannot listen on {}{hint}", SocketAddr::new(interface, port))
}

/// Returns the URL to open in a browser on this machine.
pub(crate) fn url(address: SocketAddr) -> String {
    let host = match address.ip() {
        ip if !ip.is_unspecified() => ip,
        IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
    };
    format!("http://{}/", SocketAddr::new(host, address.port()))
}

/// Host name that requests may use besides those of this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostName(String);

impl FromStr for HostName {
    type Err = String;

    /// Parses a plain host name, without scheme, port or path.
    fn from_str(text: &str) -> Result<Self, String> {
        let is_name = |part: &str| {
            !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
        };
        if text.split('.').all(is_name) {
            Ok(Self(text.to_string()))
        } else {
            Err("expected a host name such as `kb.test`, without scheme, port, path or `*`".to_string())
        }
    }
}

/// Host names that requests may use.
///
/// A page of another site can point its own host name to this machine (DNS rebinding) and would then have the same
/// origin as the server. Only the name in its `Host` header gives it away.
#[derive(Debug, Clone)]
pub(crate) struct Hosts {
    /// Address that the server listens on.
    pub(crate) interface: IpAddr,
    /// Names allowed by `--allow-host`.
    pub(crate) names: Vec<HostName>,
}

impl Hosts {
    /// Returns whether a `Host` header, with or without a port, names this server.
    ///
    /// The port is not compared: port forwarding changes it, and rebinding cannot change the name.
    pub(crate) fn allow(&self, host: &str) -> bool {
        let Some(name) = without_port(host) else { return false };
        if name.eq_ignore_ascii_case("localhost")
            || self.names.iter().any(|allowed| name.eq_ignore_ascii_case(&allowed.0))
        {
            return true;
        }
        let literal = match name.strip_prefix('[').and_then(|name| name.strip_suffix(']')) {
            Some(inner) => inner.parse::<Ipv6Addr>().map(IpAddr::from),
            None => name.parse::<Ipv4Addr>().map(IpAddr::from),
        };
        // A server on the unspecified address accepts every IP address, since rebinding needs a name.
        literal.is_ok_and(|ip| {
            [IpAddr::from(Ipv4Addr::LOCALHOST), Ipv6Addr::LOCALHOST.into(), self.interface].contains(&ip)
                || self.interface.is_unspecified()
        })
    }
}

fn without_port(host: &str) -> Option<&str> {
    let after_brackets = host.rfind(']').map_or(0, |at| at + 1);
    match host[after_brackets..].find(':') {
        None => Some(host),
        Some(colon) => {
            let (name, port) = host.split_at(after_brackets + colon);
            port[1..].parse::<u16>().ok().map(|_| name)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_this_machine_are_accepted() {
        let hosts = Hosts { interface: [192, 168, 1, 5].into(), names: vec!["kb.test".parse().unwrap()] };
        for host in [
            "localhost",
            "LocalHost:1111",
            "127.0.0.1",
            "127.0.0.1:80",
            "[::1]",
            "[::1]:1111",
            "192.168.1.5:1",
            "KB.test:1111",
        ] {
            assert!(hosts.allow(host), "{host}");
        }
        for host in [
            "",
            ":1111",
            "evil.example",
            "localhost.evil.example",
            "localhost.",
            "127.0.0.1.nip.io",
            "192.168.1.6",
            "[::2]",
            "::1",
            "localhost:",
            "localhost:x",
            "localhost:1:2",
            "evil@localhost",
            "127.1",
            "2130706433",
            "[::1",
            "www.kb.test",
            "kb.test.",
            "kb.test.evil.example",
        ] {
            assert!(!hosts.allow(host), "{host}");
        }
    }

    #[test]
    fn a_name_is_allowed_alone_and_never_as_a_pattern() {
        for text in [
            "",
            ".",
            "*",
            "*.test",
            "kb.test.",
            "kb.test:80",
            "http://kb.test",
            "kb.test/",
            "a b",
            "[::1]",
            "ä",
        ] {
            assert!(text.parse::<HostName>().is_err(), "{text}");
        }
    }

    #[test]
    fn the_unspecified_address_accepts_ip_addresses_but_no_names() {
        let hosts = Hosts { interface: Ipv4Addr::UNSPECIFIED.into(), names: Vec::new() };
        assert!(hosts.allow("10.0.0.7:1111"));
        assert!(!hosts.allow("evil.example:1111"));
        assert_eq!(url(SocketAddr::new(hosts.interface, 1111)), "http://127.0.0.1:1111/");
    }
}
