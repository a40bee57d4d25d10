//! Sites survive killed builds, full disks and read-only disks.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use kbgen::emit::MANIFEST_FILE;
use tempfile::TempDir;

use crate::served::{starter, write};

/// Default number of killed builds; `KBGEN_KILLS` overrides it.
const KILLS: usize = 30;

/// Returns the bytes of every file in a folder except the marker.
type Tree = BTreeMap<String, Vec<u8>>;

fn tree(folder: &Path) -> Tree {
    let files = walkdir::WalkDir::new(folder).into_iter().map(Result::unwrap);
    files
        .filter(|entry| entry.file_type().is_file() && entry.file_name() != MANIFEST_FILE)
        .map(|entry| {
            let path = entry.path().strip_prefix(folder).unwrap().to_str().unwrap().to_string();
            (path, fs::read(entry.path()).unwrap())
        })
        .collect()
}

/// Site whose name is on each of its pages.
struct Site {
    root: TempDir,
}

const NAMES: [&str; 2] = ["Site of before", "Site of after"];

impl Site {
    fn new() -> Self {
        let site = Self { root: starter() };
        // Enough files for writing to take a large part of a build.
        for picture in 0..300 {
            let path = format!("static/picture-{picture}.svg");
            write(
                &site.root.path().join(path),
                &format!("<svg xmlns='http://www.w3.org/2000/svg' id='p{picture}'/>"),
            );
        }
        site
    }

    fn call(&self, name: &str) {
        let path = self.root.path().join("site.toml");
        let settings = fs::read_to_string(&path).unwrap();
        let (_, rest) = settings.split_once('\n').unwrap();
        fs::write(&path, format!("title = \"{name}\"\n{rest}")).unwrap();
    }

    fn build(&self, folder: &str) -> Child {
        crate::expect::kbgen()
            .args(["build", "--date", "2026-11-22", "--output-dir", folder])
            .current_dir(self.root.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    }

    /// Returns the tree of a complete build with this name.
    fn whole(&self, name: &str) -> Tree {
        self.call(name);
        assert!(self.build("whole").wait().unwrap().success());
        tree(&self.root.path().join("whole"))
    }
}

/// Deterministic pseudorandom numbers.
struct Chance(u64);

impl Chance {
    /// Returns a number below `end`.
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

/// Reader that requests pages during builds.
struct Reader<'a> {
    folder: &'a Path,
    trees: &'a [Tree; 2],
    pages: Vec<&'a str>,
    looks: usize,
}

impl Reader<'_> {
    /// Returns the build that a page belongs to. Every page is in both.
    fn build_of(&mut self, page: &str) -> usize {
        self.looks += 1;
        let found =
            fs::read(self.folder.join(page)).unwrap_or_else(|error| panic!("{page} is missing: {error}"));
        let build = self.trees.iter().position(|tree| tree[page] == found);
        build.unwrap_or_else(|| panic!("{page} is of no build, with {} bytes", found.len()))
    }

    /// Reads one page between two reads of another: if the outer reads are of the same build, so is the inner one.
    fn look(&mut self, chance: &mut Chance) {
        let many = self.pages.len() as u64;
        let [one, other] = [chance.below(many), chance.below(many)].map(|at| self.pages[at as usize]);
        let (before, between, after) = (self.build_of(one), self.build_of(other), self.build_of(one));
        assert!(before != after || between == before, "{one} and {other} are of two builds");
    }
}

#[test]
fn a_build_killed_at_any_moment_leaves_a_whole_site() {
    let kills = std::env::var("KBGEN_KILLS").map_or(KILLS, |kills| kills.parse().unwrap());
    let site = Site::new();
    let trees = NAMES.map(|name| site.whole(name));
    let folder = site.root.path().join("public");
    site.call(NAMES[0]);
    let began = Instant::now();
    assert!(site.build("public").wait().unwrap().success());
    let mut longest = began.elapsed();
    let theirs = ["CNAME", "errors/notes.txt", "theirs/photo.jpg"];
    theirs.iter().for_each(|path| write(&folder.join(path), "mine"));
    let expected = trees.clone().map(|mut tree| {
        tree.extend(theirs.map(|path| (path.to_string(), b"mine".to_vec())));
        tree
    });

    let differ = |page: &&String| page.ends_with(".html") && trees[0][*page] != trees[1][*page];
    let pages: Vec<&str> = trees[0].keys().filter(differ).map(String::as_str).collect();
    assert!(pages.len() > 20, "{pages:?}");
    let mut reader = Reader { folder: &folder, trees: &trees, pages, looks: 0 };
    let mut chance = Chance(0x9e37_79b9_7f4a_7c15);
    let (mut killed, mut half_made, mut published) = (0, 0, 0);
    while killed < kills {
        let old = expected.iter().position(|whole| *whole == tree(&folder)).expect("the site is whole");
        site.call(NAMES[1 - old]);
        let began = Instant::now();
        let moment = Duration::from_micros(chance.below(longest.as_micros() as u64));
        let mut build = site.build("public");
        while began.elapsed() < moment && build.try_wait().unwrap().is_none() {
            reader.look(&mut chance);
        }
        if build.try_wait().unwrap().is_some() {
            // The build ended before the kill. Adjust the estimated duration.
            longest = began.elapsed();
            continue;
        }
        // SIGKILL cannot be handled.
        build.kill().unwrap();
        build.wait().unwrap();
        killed += 1;
        longest += longest / 16;
        let now = tree(&folder);
        let found = expected.iter().position(|tree| *tree == now);
        assert!(found.is_some(), "killed after {moment:?}: the site is neither the old nor the new one");
        half_made += usize::from(site.root.path().join(".public.kbgen-new").exists());
        published += usize::from(found != Some(old));
    }
    site.call("The last one");
    assert!(site.build("public").wait().unwrap().success());
    let left = fs::read_dir(site.root.path()).unwrap().map(|entry| entry.unwrap().file_name());
    let left: Vec<_> = left.filter(|name| name.to_string_lossy().starts_with(".public")).collect();
    assert!(left.is_empty(), "{left:?} is left");
    let report = format!(
        "{kills} kills: after {half_made} a half-made tree lay out of sight, {published} came after the change; \
         {} pages were read meanwhile, none missing, none mixed\n",
        reader.looks
    );
    fs::write(Path::new(env!("CARGO_TARGET_TMPDIR")).join("kills.txt"), report).unwrap();
}

/// Runs a script with private mounts in a new site; `None` if the system does not allow that.
fn with_mounts(script: &str) -> Option<String> {
    let site = Site::new();
    let called = Command::new("unshare")
        .args([
            "--map-root-user",
            "--mount",
            "sh",
            "-c",
            &format!("mkdir disk && mount -t tmpfs -o size=4m tmpfs disk || exit 77\n{script}"),
        ])
        .env("KBGEN", env!("CARGO_BIN_EXE_kbgen"))
        .env("KBGEN_CACHE_DIR", crate::expect::cache_dir())
        .current_dir(site.root.path())
        .output();
    let skipped = match &called {
        Err(error) if error.kind() == ErrorKind::NotFound => true,
        Err(error) => panic!("{error}"),
        Ok(output) => output.status.code() == Some(77) || output.stdout.is_empty(),
    };
    if skipped {
        #[expect(clippy::print_stderr, reason = "whoever reads the log must know")]
        {
            eprintln!("skipped: this system lets no test mount a disk of its own ({called:?})");
        }
        return None;
    }
    let output = called.unwrap();
    Some(String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr))
}

/// Prints the output and exit code of a build, and whether the previous site is intact.
const TELL: &str = r#"
exec 2>&1
tell() {
    "$KBGEN" build --date 2026-11-22 --output-dir "$1" >log
    echo "$2: exit $?"
    head -3 log
    diff -rq "$1" before >differs && echo "$2: whole, as before"
    find "$(dirname "$1")" -maxdepth 2 -name '.*kbgen-new*'
}
rename() { sed -i "1s/.*/title = \"$1\"/" site.toml; }
"#;

#[test]
fn a_full_disk_is_reported_and_keeps_the_old_site() {
    for (folder, where_) in [("disk/public", "a folder on the disk"), ("disk", "the disk itself")] {
        let script = format!(
            r#"{TELL}
            mkdir -p {folder}
            tell {folder} first
            rename "Another name"
            for free in 0 40 200; do
                cp -a {folder} before
                # The filler lies in the site where the disk is the site: nobody's file of ours.
                head -c 9000000 /dev/zero >disk/filler
                truncate -s -${{free}}K disk/filler
                cp -a {folder} before-full && rm -rf before && mv before-full before
                tell {folder} "with $free KiB"
                rm -rf before disk/filler
            done
            tell {folder} last
            find {folder} -name index.html | xargs grep -L 'Another name'
            "#
        );
        let Some(output) = with_mounts(&script) else { return };
        assert!(output.contains("first: exit 0"), "{where_}: {output}");
        for free in ["0", "40", "200"] {
            assert!(output.contains(&format!("with {free} KiB: exit 2")), "{where_}: {output}");
            assert!(output.contains(&format!("with {free} KiB: whole, as before")), "{where_}: {output}");
        }
        assert_eq!(output.matches("No space left on device (os error 28)").count(), 3, "{where_}: {output}");
        assert!(output.contains(&format!("/{folder}` is unchanged")), "{where_}: {output}");
        assert!(output.contains("last: exit 0"), "{where_}: {output}");
        assert!(!output.contains("kbgen-new\n") && !output.ends_with("index.html\n"), "{where_}: {output}");
    }
}

#[test]
fn a_read_only_disk_is_reported_and_keeps_the_old_site() {
    for folder in ["disk/public", "disk"] {
        let script = format!(
            r#"{TELL}
            tell {folder} first
            cp -a {folder} before
            mount -o remount,ro disk
            tell {folder} again
            rename "Another name"
            tell {folder} changed
            "#
        );
        let Some(output) = with_mounts(&script) else { return };
        assert!(output.contains("first: exit 0"), "{output}");
        assert!(output.contains("again: exit 0"), "nothing has to be written: {output}");
        assert!(output.contains("changed: exit 2") && output.contains("Read-only file system"), "{output}");
        assert!(output.contains(&format!("/{folder}` is unchanged")), "{output}");
        assert!(output.contains("changed: whole, as before"), "{output}");
    }
}

#[test]
fn a_folder_that_is_mounted_twice_is_written_where_it_is() {
    let script = format!(
        r#"{TELL}
        mkdir public elsewhere
        mount --bind elsewhere public
        tell public first
        echo mine >public/CNAME
        echo mine >public/errors/notes.txt
        rename "Another name"
        cp -a public before
        tell public second
        find elsewhere -name index.html | xargs grep -L 'Another name'
        cat elsewhere/CNAME elsewhere/errors/notes.txt
        ls -A elsewhere | grep kbgen-o; ls -A elsewhere | grep kbgen-n
        "#
    );
    let Some(output) = with_mounts(&script) else { return };
    assert!(output.contains("first: exit 0") && output.contains("second: exit 0"), "{output}");
    assert!(!output.contains("whole, as before"), "{output}");
    assert!(output.ends_with("mine\nmine\n.kbgen-output\n"), "{output}");
}
