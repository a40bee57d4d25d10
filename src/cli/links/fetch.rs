//! Requests URLs with curl, several hosts in parallel. Redirects are followed here and not by curl, so that every target
//! is checked before it is requested.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::net::IpAddr;
use std::sync::Mutex;
use std::thread;

use anyhow::{Context, Result, bail};
use url::Url;

use crate::cli::curl;
use crate::cli::links::host;

/// Number of hosts requested in parallel.
const PARALLEL_HOSTS: usize = 8;
/// Maximum number of redirects of a URL.
const MAX_REDIRECTS: usize = 10;
/// Exit code of curl if a host name cannot be resolved (`CURLE_COULDNT_RESOLVE_HOST`).
const UNKNOWN_HOST: u32 = 6;
/// Parts of the messages of resolvers that failed for now: glibc, musl and Windows. Others do not tell.
const TEMPORARY: [&str; 3] = ["Temporary failure", "Try again", "temporary error"];
/// Output format of curl: status, exit code, absolute redirect target.
const WRITE_OUT: &str = "%{http_code} %{exitcode} %{redirect_url}\\n";

/// Result of requesting a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum FetchResult {
    /// A response other than a redirect.
    Status {
        /// HTTP status.
        code: u32,
        /// Final URL after redirects.
        to: Option<String>,
    },
    /// The redirects fail, for this reason.
    Broken(String),
    /// The host name does not resolve.
    NoHost,
    /// No response, for this reason.
    Silent(&'static str),
}

/// Network access. Tests replace it.
pub(super) struct Network {
    /// Path of curl.
    pub curl: OsString,
    /// Returns whether requests to a URL go through a proxy, which resolves names itself.
    pub uses_proxy: fn(&Url) -> bool,
    /// Resolves a host name.
    pub resolve: fn(&str, u16) -> io::Result<Vec<IpAddr>>,
    /// Returns whether a URL may be requested.
    pub allows_url: fn(&Url) -> bool,
    /// Returns whether connections to an IP address are allowed.
    pub allows_ip: fn(IpAddr) -> bool,
}

impl Network {
    /// Allows only the public network.
    pub fn public() -> Self {
        Self {
            curl: "curl".into(),
            uses_proxy: |url| uses_proxy(url, |name| std::env::var(name).ok()),
            resolve: host::resolve,
            allows_url: host::is_public,
            allows_ip: host::is_public_ip,
        }
    }
}

/// URL with the redirects followed so far.
struct RedirectChain {
    url: String,
    at: Url,
    seen: Vec<Url>,
}

/// Requests URLs and returns the results sorted by URL.
///
/// # Errors
/// If curl cannot be run.
pub(super) fn fetch_all(urls: &[&str], network: &Network) -> Result<Vec<(String, FetchResult)>> {
    let mut answers = Vec::new();
    let mut chains = Vec::new();
    for url in urls {
        match Url::parse(url) {
            Ok(at) => chains.push(RedirectChain { url: (*url).to_string(), at, seen: Vec::new() }),
            Err(error) => {
                answers.push(((*url).to_string(), FetchResult::Broken(format!("invalid URL: {error}"))))
            }
        }
    }
    let mut is_online = false;
    while !chains.is_empty() {
        let responses = responses(&chains, network)?;
        is_online |=
            responses.iter().any(|response| matches!(response, Response::Status { .. } | Response::Private));
        let mut further = Vec::new();
        for (chain, response) in chains.into_iter().zip(responses) {
            match next(chain, response, network) {
                Step::FetchResult(url, answer) => answers.push((url, answer)),
                Step::Further(chain) => further.push(chain),
            }
        }
        chains = further;
    }
    if !is_online {
        // Without a network, no host resolves.
        let unknown = answers.iter_mut().filter(|(_, answer)| *answer == FetchResult::NoHost);
        unknown.for_each(|(_, answer)| *answer = FetchResult::Silent("no host name resolves"));
    }
    answers.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(answers)
}

/// Next step after a response.
enum Step {
    FetchResult(String, FetchResult),
    Further(RedirectChain),
}

fn next(mut chain: RedirectChain, response: Response, network: &Network) -> Step {
    let Response::Status { code, redirect } = response else {
        let answer = match response {
            Response::NoHost if chain.seen.is_empty() => FetchResult::NoHost,
            Response::NoHost => {
                FetchResult::Broken(format!("redirect to `{}`, whose host does not exist", chain.at))
            }
            Response::Private if chain.seen.is_empty() => FetchResult::Silent("private address"),
            Response::Private => {
                FetchResult::Broken(format!("redirect to a private address, `{}`", chain.at))
            }
            _ => FetchResult::Silent("no response"),
        };
        return Step::FetchResult(chain.url, answer);
    };
    let Some(redirect) = redirect else {
        let is_login = ["login", "signin", "sign_in"].iter().any(|word| chain.at.as_str().contains(word));
        let is_moved = !chain.seen.is_empty() && !is_login;
        let to = is_moved.then(|| chain.at.to_string());
        return Step::FetchResult(chain.url, FetchResult::Status { code, to });
    };
    let broken = match Url::parse(&redirect) {
        Err(_) => Some("redirect to an invalid URL".to_string()),
        Ok(to) if !matches!(to.scheme(), "https" | "http") => Some(format!("redirect to `{}:`", to.scheme())),
        Ok(to) if !(network.allows_url)(&to) => Some(format!("redirect to a private address, `{to}`")),
        Ok(mut to) => {
            to.set_fragment(None);
            let before = std::mem::replace(&mut chain.at, to);
            chain.seen.push(before);
            match chain.seen.len() {
                _ if chain.seen.contains(&chain.at) => Some("redirect loop".to_string()),
                hops if hops > MAX_REDIRECTS => Some(format!("more than {MAX_REDIRECTS} redirects")),
                _ => None,
            }
        }
    };
    match broken {
        Some(why) => Step::FetchResult(chain.url, FetchResult::Broken(why)),
        None => Step::Further(chain),
    }
}

/// Response to one request.
#[derive(Debug, Clone)]
enum Response {
    Status {
        code: u32,
        redirect: Option<String>,
    },
    NoHost,
    /// The host resolves to a private address.
    Private,
    NoAnswer,
}

/// Requests the next URL of each chain, with one curl process per host. Responses are in the order of the chains.
fn responses(chains: &[RedirectChain], network: &Network) -> Result<Vec<Response>> {
    let mut by_host: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, chain) in chains.iter().enumerate() {
        by_host.entry(chain.at[..url::Position::BeforePath].to_string()).or_default().push(at);
    }
    let waiting = Mutex::new(by_host.into_values());
    let next = || waiting.lock().ok().and_then(|mut waiting| waiting.next());
    let work = || {
        let mut answers = Vec::new();
        while let Some(of_host) = next() {
            let urls: Vec<&Url> = of_host.iter().map(|at| &chains[*at].at).collect();
            answers.extend(of_host.iter().copied().zip(fetch_host(&urls, network)?));
        }
        anyhow::Ok(answers)
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..PARALLEL_HOSTS.min(chains.len())).map(|_| scope.spawn(work)).collect();
        let mut responses = vec![Response::NoAnswer; chains.len()];
        for thread in threads {
            for (at, response) in thread.join().expect("request threads do not panic")? {
                responses[at] = response;
            }
        }
        Ok(responses)
    })
}

/// Sends HEAD requests to one host, then GET requests of the first bytes for URLs that reject HEAD.
fn fetch_host(urls: &[&Url], network: &Network) -> Result<Vec<Response>> {
    let pin = match pin(urls[0], network) {
        Ok(pin) => pin,
        Err(response) => return Ok(vec![response; urls.len()]),
    };
    let mut responses = request(urls, &format!("head\n{pin}"), network)?;
    let is_good =
        |response: &Response| matches!(response, Response::Status { code: 200..=399, .. } | Response::NoHost);
    let bad: Vec<usize> = (0..urls.len()).filter(|at| !is_good(&responses[*at])).collect();
    if !bad.is_empty() {
        let again: Vec<&Url> = bad.iter().map(|at| urls[*at]).collect();
        let second = request(&again, &format!("range = \"0-1023\"\n{pin}"), network)?;
        bad.into_iter().zip(second).for_each(|(at, response)| responses[at] = response);
    }
    Ok(responses)
}

/// Returns the configuration lines that pin curl to the resolved and checked addresses, so that a later lookup cannot
/// differ, or that make it use the proxy.
fn pin(url: &Url, network: &Network) -> Result<String, Response> {
    if (network.uses_proxy)(url) {
        return Ok("noproxy = \"\"\n".to_string());
    }
    let direct = "noproxy = \"*\"\n".to_string();
    let (Some(url::Host::Domain(name)), Some(port)) = (url.host(), url.port_or_known_default()) else {
        return Ok(direct);
    };
    let addresses = match (network.resolve)(name, port) {
        Ok(addresses) if addresses.is_empty() => return Err(Response::NoHost),
        Ok(addresses) => addresses,
        // A temporary resolver failure says nothing about the host.
        Err(error) if TEMPORARY.iter().any(|text| error.to_string().contains(text)) => {
            return Err(Response::NoAnswer);
        }
        Err(_) => return Err(Response::NoHost),
    };
    if !addresses.iter().all(|address| (network.allows_ip)(*address)) {
        return Err(Response::Private);
    }
    let addresses: Vec<String> = addresses
        .iter()
        .map(|address| if address.is_ipv6() { format!("[{address}]") } else { address.to_string() })
        .collect();
    Ok(format!("{direct}resolve = \"{name}:{port}:{}\"\n", addresses.join(",")))
}

/// Returns whether environment variables select a proxy for a URL, by the rules of curl.
fn uses_proxy(url: &Url, variable: impl Fn(&str) -> Option<String>) -> bool {
    let value = |names: &[&str]| {
        names.iter().find_map(|name| variable(name).filter(|value| !value.is_empty())).unwrap_or_default()
    };
    let proxy = match url.scheme() {
        "https" => value(&["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]),
        // curl ignores HTTP_PROXY, which a request can set in a CGI program.
        _ => value(&["http_proxy", "all_proxy", "ALL_PROXY"]),
    };
    let host = url.host_str().unwrap_or_default();
    let excluded = value(&["no_proxy", "NO_PROXY"]).to_ascii_lowercase();
    let mut names = excluded.split([',', ' ']).map(|name| name.trim_start_matches('.'));
    let is_excluded = names.any(|name| {
        name == "*"
            || !name.is_empty()
                && host.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    });
    !proxy.is_empty() && !is_excluded
}

/// Runs one curl process for all URLs, which reuses connections.
fn request(urls: &[&Url], how: &str, network: &Network) -> Result<Vec<Response>> {
    let options = [
        ["--connect-timeout", "10", "--max-time", "30", "--compressed"].as_slice(),
        &["--user-agent", concat!("kbgen-links/", env!("CARGO_PKG_VERSION")), "--write-out", WRITE_OUT],
    ];
    let nowhere = if cfg!(windows) { "NUL" } else { "/dev/null" };
    let entry = |url: &&Url| format!("{}output = \"{nowhere}\"\n", curl::url_line(url));
    let configuration = format!("{how}\n{}", urls.iter().map(entry).collect::<String>());
    let child = curl::start(&network.curl, &options.concat(), &configuration).context("cannot run `curl`")?;
    let output = child.wait_with_output().context("cannot wait for curl")?;
    let said = String::from_utf8_lossy(&output.stdout);
    if said.is_empty() && !urls.is_empty() {
        let errors = String::from_utf8_lossy(&output.stderr);
        let reason = curl::reason(&errors).map_or_else(|| output.status.to_string(), str::to_string);
        bail!("`curl` failed: {reason}");
    }
    let mut lines = said.lines();
    Ok(urls.iter().map(|_| read(lines.next().unwrap_or(""))).collect())
}

/// Parses the output of curl for one URL.
fn read(line: &str) -> Response {
    let mut words = line.splitn(3, ' ');
    let mut number = || words.next().and_then(|word| word.parse::<u32>().ok()).unwrap_or(0);
    let (code, ended) = (number(), number());
    let redirect = words.next().map(str::trim).filter(|to| !to.is_empty()).map(str::to_string);
    match (code, ended) {
        (_, UNKNOWN_HOST) => Response::NoHost,
        (0, _) => Response::NoAnswer,
        (300..=399, _) => Response::Status { code, redirect },
        _ => Response::Status { code, redirect: None },
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use tempfile::TempDir;

    use super::*;

    /// Fake curl that knows a few URLs and records requests, so that tests use no network.
    const CURL: &str = r#"#!/bin/sh
cat > "$0.config"
sed -n 's/^url = "\(.*\)"/\1/p' "$0.config" | while read -r url; do
  echo "$url" >> "$0.asked"
  case "$url" in
    *//good.org/moved) echo "301 0 https://good.org/new" ;;
    *//good.org/loop) echo "302 0 https://good.org/pool" ;;
    *//good.org/pool) echo "302 0 https://good.org/loop" ;;
    *//good.org/count*) echo "302 0 ${url}1" ;;
    *//good.org/file) echo "302 0 file:///etc/passwd" ;;
    *//good.org/spelled) echo "302 0 http://0x7f.1/admin" ;;
    *//good.org/named) echo "302 0 http://private.org/admin" ;;
    *//good.org/login) echo "302 0 https://good.org/signin" ;;
    *) echo "200 0 " ;;
  esac
done
"#;

    fn resolve(host: &str, _: u16) -> io::Result<Vec<IpAddr>> {
        match host {
            "good.org" => Ok(vec![IpAddr::from([93, 184, 215, 14])]),
            "private.org" => Ok(vec![IpAddr::from([10, 0, 0, 1])]),
            "offline.org" => Err(io::Error::other("Temporary failure in name resolution")),
            _ => Err(io::Error::other("Name or service not known")),
        }
    }

    /// Returns the results and the recorded requests.
    fn answers(urls: &[&str]) -> (Vec<FetchResult>, String) {
        let folder = TempDir::new().expect("a temporary folder");
        let curl = folder.path().join("curl");
        fs::write(&curl, CURL).expect("written");
        fs::set_permissions(&curl, fs::Permissions::from_mode(0o755)).expect("made a program");
        let network =
            Network { curl: curl.clone().into(), uses_proxy: |_| false, resolve, ..Network::public() };
        let answers = fetch_all(urls, &network).expect("curl runs");
        let asked = fs::read_to_string(format!("{}.asked", curl.display())).unwrap_or_default();
        (answers.into_iter().map(|(_, answer)| answer).collect(), asked)
    }

    fn answer(url: &str) -> (FetchResult, String) {
        let (answers, asked) = answers(&[url]);
        (answers[0].clone(), asked)
    }

    fn broken(why: &str) -> FetchResult {
        FetchResult::Broken(why.to_string())
    }

    #[test]
    fn redirects_are_followed_to_their_end() {
        let moved = FetchResult::Status { code: 200, to: Some("https://good.org/new".into()) };
        assert_eq!(answer("https://good.org/moved").0, moved);
        let (login, _) = answer("https://good.org/login");
        assert_eq!(login, FetchResult::Status { code: 200, to: None });
    }

    #[test]
    fn failing_redirects_are_broken() {
        assert_eq!(answer("https://good.org/loop").0, broken("redirect loop"));
        assert_eq!(answer("https://good.org/count").0, broken("more than 10 redirects"));
        assert_eq!(answer("https://good.org/file").0, broken("redirect to `file:`"));
    }

    #[test]
    fn redirects_to_private_addresses_are_not_followed() {
        let (spelled, asked) = answer("https://good.org/spelled");
        assert_eq!(spelled, broken("redirect to a private address, `http://127.0.0.1/admin`"));
        assert!(!asked.contains("admin"), "{asked}");
        let (named, asked) = answer("https://good.org/named");
        assert_eq!(named, broken("redirect to a private address, `http://private.org/admin`"));
        assert!(!asked.contains("admin"), "{asked}");
        let (direct, asked) = answer("https://private.org/");
        assert_eq!(direct, FetchResult::Silent("private address"));
        assert!(asked.is_empty(), "{asked}");
    }

    #[test]
    fn an_unknown_host_differs_from_an_unreachable_resolver() {
        let (found, _) = answers(&["https://good.org/", "https://nowhere.org/", "https://offline.org/"]);
        assert_eq!(found[1..], [FetchResult::NoHost, FetchResult::Silent("no response")]);
        assert_eq!(answer("https://nowhere.org/").0, FetchResult::Silent("no host name resolves"));
    }

    #[test]
    fn a_proxy_serves_its_scheme_and_no_excluded_host() {
        let is_proxied = |url: &str, set: &[(&str, &str)]| {
            let value =
                |name: &str| set.iter().find(|(own, _)| *own == name).map(|(_, to)| (*to).to_string());
            uses_proxy(&Url::parse(url).expect("a URL"), value)
        };
        let (http, all) = (("http_proxy", "http://proxy:1"), ("ALL_PROXY", "socks5://proxy:2"));
        assert!(is_proxied("http://good.org/", &[http]));
        assert!(!is_proxied("https://good.org/", &[http]));
        assert!(is_proxied("https://good.org/", &[http, all]));
        for hosts in ["*", "other.org, .good.org", "GOOD.org"] {
            assert!(!is_proxied("https://www.good.org/", &[all, ("no_proxy", hosts)]), "{hosts}");
        }
        for hosts in ["", "ood.org", "good.org.uk"] {
            assert!(is_proxied("https://www.good.org/", &[all, ("NO_PROXY", hosts)]), "{hosts}");
        }
    }
}
