//! `kbgen import` with files that cannot be imported: each is reported with its file and line, and nothing outside the site
//! is read or written.

use std::fs;

use tempfile::TempDir;

use crate::expect;

#[test]
fn files_that_cannot_be_imported_are_reported() {
    let folder = TempDir::new().unwrap();
    let site = folder.path().join("site");
    let content = site.join("content");
    fs::create_dir_all(&content).unwrap();
    fs::write(folder.path().join("secret.md"), "secret").unwrap();
    fs::write(site.join("config.toml"), "base_url = \"https://old.example\"\n").unwrap();
    let table = "| a | b |\n|---|\n| 1 | 2 |\n";
    fs::write(content.join("good.md"), format!("+++\n+++\nText, [in](../../secret.md).\n\n{table}")).unwrap();
    fs::write(content.join("bytes.md"), b"+++\n+++\nA\xff\n").unwrap();
    fs::write(content.join("large.md"), vec![b'a'; 10_000_000]).unwrap();
    fs::write(content.join("deep.md"), format!("---\na: {}\n---\n", "[".repeat(60_000))).unwrap();
    fs::write(content.join("open.md"), "---\ntitle: a\n").unwrap();
    fs::write(content.join("yaml.md"), "---\ntitle: a\nb: [\n---\n").unwrap();
    fs::write(content.join("nested.md"), format!("{}a\n", "> ".repeat(40))).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(folder.path().join("secret.md"), content.join("link.md")).unwrap();
    let output = expect::kbgen()
        .args(["import", "zola", "site", "--into", "new"])
        .current_dir(folder.path())
        .output()
        .expect("the program runs");
    let report = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{report}");
    let mut expected = vec![
        "content/bytes.md:3: invalid UTF-8: not imported",
        "content/large.md:1: 10000000 bytes: not imported; at most 1048576 are allowed",
        "content/deep.md:1: front matter of 60004 bytes: page not imported",
        "content/open.md:1: unclosed front matter: page not imported",
        "content/yaml.md:4: did not find expected node content, while parsing a flow node: page not imported",
        "content/nested.md:1: ",
        "content/good.md:3: no published page or file `../../secret.md`: links to the old site",
    ];
    if cfg!(unix) {
        expected.push("content/link.md:1: a symbolic link: not imported");
    }
    for line in expected {
        assert!(report.lines().any(|found| found.starts_with(line)), "{line}\n{report}");
    }
    let mut pages: Vec<_> = fs::read_dir(folder.path().join("new/content/guides"))
        .unwrap()
        .map(|page| page.unwrap().file_name())
        .collect();
    pages.sort();
    assert_eq!(pages, ["good.md", "nested.md"]);
    let good = fs::read_to_string(folder.path().join("new/content/guides/good.md")).unwrap();
    assert!(good.contains("| a | b |\n| --- | --- |\n| 1 | 2 |"), "{good}");
    let mut top: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    top.sort();
    assert_eq!(top, ["new", "secret.md", "site"]);
    let build =
        expect::kbgen().args(["--root", "new", "build", "--no-cache"]).current_dir(folder.path()).output();
    assert!(build.unwrap().status.success());
}

#[test]
fn every_shortcode_of_a_long_page_is_kept_and_no_letter_is_lost() {
    let folder = TempDir::new().unwrap();
    let content = folder.path().join("site/content");
    fs::create_dir_all(&content).unwrap();
    fs::write(folder.path().join("site/config.toml"), "base_url = \"https://old.example\"\n").unwrap();
    let page = "+++\n+++\nIcon \u{E000}.\n".to_string() + &"{{ gone(a=1) }}\n".repeat(12_000);
    fs::write(content.join("long.md"), page).unwrap();
    let output = expect::kbgen()
        .args(["import", "zola", "site", "--into", "new"])
        .current_dir(folder.path())
        .output()
        .expect("the program runs");
    assert!(output.status.success());
    let page = fs::read_to_string(folder.path().join("new/content/guides/long.md")).unwrap();
    assert_eq!(page.matches("`{{ gone(a=1) }}`").count(), 12_000);
    assert!(page.contains("Icon \u{E000}."));
}

#[test]
fn chapters_that_include_themselves_and_dates_before_letters_are_imported() {
    let folder = TempDir::new().unwrap();
    let import = |format: &str| {
        let output = expect::kbgen()
            .args([
                "import",
                format,
                format,
                "--url",
                "https://old.example",
                "--into",
                &format!("new-{format}"),
            ])
            .current_dir(folder.path())
            .output();
        let output = output.expect("the program runs");
        let report = String::from_utf8(output.stdout).unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(matches!(output.status.code(), Some(0 | 1)), "{said}");
        report
    };
    let book = folder.path().join("mdbook");
    fs::create_dir_all(book.join("src")).unwrap();
    fs::write(book.join("book.toml"), "[book]\ntitle = \"A\"\n").unwrap();
    fs::write(book.join("src/SUMMARY.md"), "- [One](one.md)\n- [Two](two.md)\n").unwrap();
    // Twelve times itself at each of eight levels.
    fs::write(book.join("src/one.md"), format!("# One\n\n{}", "{{#include one.md}}\n".repeat(12))).unwrap();
    fs::write(book.join("src/two.md"), format!("# Two\n\n{}", "{{#x}}\n".repeat(20_000))).unwrap();
    let report = import("mdbook");
    assert!(report.contains("the chapter includes more than 1 MiB, left out"), "{report}");
    assert!(report.contains("src/two.md:20002: directive `{{#x}}`: unknown"), "{report}");
    let content = folder.path().join("zola/content");
    fs::create_dir_all(&content).unwrap();
    fs::write(folder.path().join("zola/config.toml"), "base_url = \"https://old.example\"\n").unwrap();
    fs::write(content.join("2024-01-01\u{e9}abc.md"), "+++\n+++\nText.\n").unwrap();
    import("zola");
}
