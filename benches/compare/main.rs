//! Comparison of kbgen with other generators on the same pages, written as Markdown tables.
//!
//! `benches/compare/run` installs the other programs and calls this with the number of pages and of rounds.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "a benchmark prints its figures and may fail"
)]

#[expect(dead_code, reason = "other benchmarks use repeated blocks")]
#[path = "../corpus/mod.rs"]
mod corpus;
#[path = "../measure/mod.rs"]
mod measure;
mod programs;
mod server;

use std::fs;
use std::path::{Path, PathBuf};

use corpus::{Code, Corpus, Layout, bare};
use measure::{Cost, folder, median, run};
use programs::Program;
use server::{Change, Server};

/// Document with the tables, between two markers.
const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/performance.md");
const BEGIN: &str = "<!-- begin of the comparison, written by benches/compare/run -->\n";
const END: &str = "<!-- end of the comparison -->\n";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if let ["bare", from, to] = words[..] {
        return bare::build(Path::new(from), Path::new(to)).unwrap();
    }
    let [pages, rounds] = words[..] else {
        return println!("PAGES ROUNDS");
    };
    let report = report(pages.parse().unwrap(), rounds.parse().unwrap());
    let document = fs::read_to_string(DOCUMENT).unwrap();
    let (before, rest) = document.split_once(BEGIN).expect("the document has the start marker");
    let (_, after) = rest.split_once(END).expect("the document has the end marker");
    fs::write(DOCUMENT, format!("{before}{BEGIN}\n{report}\n{END}{after}")).unwrap();
    println!("{report}");
}

/// Site of one program, with the places of its output and cache.
struct Site {
    root: PathBuf,
    output: PathBuf,
    cache: PathBuf,
}

impl Site {
    fn write(program: &Program, pages: usize, code: Code) -> Self {
        let at = folder(&format!("compare-{}", program.name));
        fs::create_dir_all(&at).unwrap();
        let site = Self { root: at.join("site"), output: at.join("output"), cache: at.join("cache") };
        corpus::write(Corpus { pages, code }, program.layout, &site.root).unwrap();
        if program.layout == Layout::Eleventy {
            // Plugins are imported from the folder of the site.
            let modules = std::env::var("ELEVENTY_MODULES").unwrap();
            std::os::unix::fs::symlink(modules, site.root.join("node_modules")).unwrap();
        }
        program.edit_template(&site.root, "<p>edit 0</p>");
        site
    }

    fn build(&self, program: &Program) -> Cost {
        let words = program.build(&self.output, &self.cache);
        run(&words.iter().map(String::as_str).collect::<Vec<_>>(), &self.root)
    }

    fn clean(&self, program: &Program) -> Cost {
        let _ = fs::remove_dir_all(&self.output);
        let _ = fs::remove_dir_all(&self.cache);
        self.build(program)
    }
}

/// Rows of a table: a label, and for each program its figures of all rounds.
struct Table {
    rows: Vec<(String, Vec<Vec<f64>>)>,
}

impl Table {
    fn add(&mut self, row: &str, column: usize, columns: usize, figure: f64) {
        let at = self.rows.iter().position(|(label, _)| label == row).unwrap_or_else(|| {
            self.rows.push((row.to_string(), vec![Vec::new(); columns]));
            self.rows.len() - 1
        });
        self.rows[at].1[column].push(figure);
    }

    /// Writes medians; a program without a figure gets a blank.
    fn markdown(&self, unit: &str, names: &[String], digits: usize) -> String {
        let mut text =
            format!("| {unit} | {} |\n| --- |{}\n", names.join(" | "), " ---: |".repeat(names.len()));
        for (label, figures) in &self.rows {
            let cells = figures.iter().map(|figures| match figures[..] {
                [] => String::new(),
                _ => format!("{:.digits$}", median(figures.clone())),
            });
            text.push_str(&format!("| {label} | {} |\n", cells.collect::<Vec<_>>().join(" | ")));
        }
        text
    }
}

/// Measures everything, one program after the other in each round.
fn report(pages: usize, rounds: usize) -> String {
    let programs = Program::all();
    let columns = programs.len();
    let names: Vec<String> =
        programs.iter().map(|program| format!("{} {}", program.name, program.version)).collect();
    let mut cpu = Table { rows: Vec::new() };
    let mut memory = Table { rows: Vec::new() };
    let mut bare = Vec::new();
    for (label, code) in [("no highlighting", Code::Plain), ("highlighted, no block twice", Code::Distinct)] {
        let sites: Vec<Site> = programs.iter().map(|program| Site::write(program, pages, code)).collect();
        for round in 0..rounds {
            for (at, (program, site)) in programs.iter().zip(&sites).enumerate() {
                eprintln!("{label}, round {}, {}", round + 1, program.name);
                let cost = site.clean(program);
                cpu.add(&format!("clean build, {label}"), at, columns, cost.cpu_seconds);
                memory.add(&format!("clean build, {label}"), at, columns, cost.memory_mib);
                if code == Code::Plain {
                    continue;
                }
                cpu.add("build, nothing changed", at, columns, site.build(program).cpu_seconds);
                for (label, edit) in EDITS {
                    edit(program, &site.root, round);
                    cpu.add(&format!("build, {label}"), at, columns, site.build(program).cpu_seconds);
                }
                if let Some(words) = program.check(&site.cache) {
                    let words: Vec<&str> = words.iter().map(String::as_str).collect();
                    cpu.add("check", at, columns, run(&words, &site.root).cpu_seconds);
                }
            }
            if code == Code::Plain {
                let own = std::env::current_exe().unwrap();
                let (from, to) = (&sites[0].root, folder("compare-bare"));
                let words = [own.to_str().unwrap(), "bare", from.to_str().unwrap(), to.to_str().unwrap()];
                bare.push(run(&words, from).cpu_seconds);
            }
        }
    }
    let turns = if rounds == 1 { "one round".to_string() } else { format!("median of {rounds} rounds") };
    let (shown, used) = serve(&programs, pages, &mut memory);
    format!(
        "{pages} pages, {turns} in turn, two cores.\n\n{}\nThe minimal pipeline takes {:.1} CPU s without highlighting.\n\n{}\n{}\n{}",
        cpu.markdown("CPU s", &names, 1),
        median(bare),
        memory.markdown("peak MiB", &names, 0),
        shown.markdown("server, ms until shown", &names, 0),
        used.markdown("server, CPU s of the change", &names, 1),
    )
}

type Edit = (&'static str, fn(&Program, &Path, usize));

/// Changes of one page, and of the layout of all pages.
const EDITS: [Edit; 3] = [
    ("one body", |program, root, round| {
        let file = program.page(root, &corpus::article::slug(EDITED));
        let text = fs::read_to_string(&file).unwrap();
        fs::write(file, format!("{text}\nbody edit {}.\n", round + 1)).unwrap();
    }),
    ("one title", |program, root, round| {
        let file = program.page(root, &corpus::article::slug(EDITED));
        let text = fs::read_to_string(&file).unwrap();
        fs::write(
            file,
            text.replacen(" could not reserve", &format!(" title edit {} could not reserve", round + 1), 1),
        )
        .unwrap();
    }),
    ("one template", |program, root, round| {
        program.edit_template(root, &format!("<p>template edit {}</p>", round + 1));
    }),
];

/// Number of the page that is edited; other pages link to it.
const EDITED: usize = 100;

/// Measures edits with the development servers.
fn serve(programs: &[Program], pages: usize, memory: &mut Table) -> (Table, Table) {
    let (mut shown, mut used) = (Table { rows: Vec::new() }, Table { rows: Vec::new() });
    let slug = corpus::article::slug(EDITED);
    let path = format!("/errors/{slug}/");
    for (at, program) in programs.iter().enumerate() {
        // Edits in a server show the HTML alone.
        if program.layout == (Layout::Hugo { all_files: true }) {
            continue;
        }
        eprintln!("server, {}", program.name);
        let site = Site::write(program, pages, Code::Distinct);
        let server = Server::start(program, &site.root, &site.cache, &path);
        for (label, edit) in EDITS {
            for round in 0..3 {
                let mark = label.replace("one ", "") + &format!(" edit {}", round + 1);
                let Change { shown_ms, cpu_seconds } =
                    server.change(&path, &mark, || edit(program, &site.root, round));
                shown.add(label, at, programs.len(), shown_ms);
                used.add(label, at, programs.len(), cpu_seconds);
            }
        }
        memory.add("server", at, programs.len(), server.memory_mib());
    }
    (shown, used)
}
