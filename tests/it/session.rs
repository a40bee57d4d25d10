//! Long sessions of `kbgen serve`.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::symlink;
use std::time::Instant;

use crate::served::{PATIENCE, Served, starter, write};

const ABOUT: &str = "content/pages/about.md";

fn serve() -> Served {
    Served::start(starter(), &["--port", "0"])
}

impl Served {
    /// Requests a page until it has the expected content, because a build is reported shortly before it is published.
    fn wait_until(&self, path: &str, fits: impl Fn(u16, &str) -> bool) {
        let began = Instant::now();
        loop {
            let (status, body) = self.get(path);
            if fits(status, &body) {
                return;
            }
            assert!(began.elapsed() < PATIENCE, "{path} stays as it was: {status} {body}");
        }
    }

    fn wait_until_about_says(&self, text: &str) {
        self.wait_until("/about/", |_, body| body.contains(text));
    }

    fn write_about(&self, text: &str) {
        write(&self.path(ABOUT), &format!("---\ntitle: About\n---\n{text}\n"));
    }
}

#[test]
fn ten_thousand_events_end_in_the_newest_site() {
    let served = serve();
    // Create, write, rename, write again, remove: at least four events each.
    for drop in 0..2_500 {
        let (one, other) =
            (served.path("content/pages/drop.txt"), served.path(&format!("content/pages/{drop}.tmp")));
        fs::write(&one, "x").unwrap();
        fs::rename(&one, &other).unwrap();
        fs::write(&other, "y").unwrap();
        fs::remove_file(&other).unwrap();
        if drop % 100 == 0 {
            served.write_about(&format!("In the middle of it, at {drop}."));
            assert_eq!(served.get("/").0, 200, "a reader gets a page meanwhile");
        }
    }
    served.write_about("After the storm.");
    served.wait_until_about_says("After the storm.");
}

#[test]
fn removed_and_restored_content_does_not_end_the_session() {
    let served = serve();
    let (content, aside) = (served.path("content"), served.path("aside"));
    for round in 0..3 {
        fs::rename(&content, &aside).unwrap();
        served.wait_until("/about/", |status, _| status == 404);
        assert_eq!(served.get("/").0, 200, "what needs no content is still shown");
        fs::rename(&aside, &content).unwrap();
        served.wait_until("/about/", |status, _| status == 200);
        served.write_about(&format!("Back again, {round}."));
        served.wait_until_about_says(&format!("Back again, {round}."));
    }
}

#[test]
fn warnings_are_shown_and_a_site_without_a_build_is_reported() {
    let root = starter();
    write(&root.path().join(ABOUT), "---\ntitel: About\n---\nText.\n");
    let served = Served::start(root, &["--port", "0"]);
    if !served.beginning.iter().any(|line| line.contains("no build has succeeded")) {
        served.wait_for("no build has succeeded");
    }
    served.write_about("See https://example.org/page in full.");
    served.wait_for("warning[bare-address]");
    served.write_about("See the other page.");
    served.wait_for("no warnings");
}

#[test]
fn a_broken_template_is_reported_and_fixed() {
    let served = serve();
    let template = served.path("templates/page.html");
    write(&template, "{% extends \"base.html\" %}{% block main %}{{ nothing.of.that }}{% endblock %}");
    let messages = served.wait_for("nothing");
    assert!(!messages.is_empty());
    served.wait_for("serving the last successful build");
    assert_eq!(served.get("/about/").0, 200);
    fs::remove_file(template).unwrap();
    served.wait_for(" files in ");
    served.write_about("Fixed.");
    served.wait_until_about_says("Fixed.");
}

#[test]
fn a_symbolic_link_is_refused_and_its_target_never_served() {
    let served = serve();
    write(&served.path("secret.txt"), "the-secret");
    for (target, link) in
        [("secret.txt", "static/leak.txt"), ("", "static/up"), ("secret.txt", "content/pages/leak.md")]
    {
        let link = served.path(link);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(served.path(target), &link).unwrap();
        served.wait_for("serving the last successful build");
        for path in ["/static/leak.txt", "/static/up/secret.txt", "/leak/"] {
            let (status, body) = served.get(path);
            assert!(status == 404 && !body.contains("the-secret"), "{path}: {status}");
        }
        fs::remove_file(&link).unwrap();
        served.wait_for(" files in ");
    }
}

#[test]
fn a_port_in_use_is_skipped() {
    let taken = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = taken.local_addr().unwrap().port();
    let served = Served::start(starter(), &["--port", &port.to_string()]);
    let messages = served.beginning.join("\n");
    assert!(messages.contains(&format!("port {port} is in use")), "{messages}");
    assert!(messages.contains(&format!("using port {}", served.address.port())), "{messages}");
    assert_eq!(served.get("/").0, 200);
}
