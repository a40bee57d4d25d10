//! Valid signatures designed to be expensive, in families with matching logs.

/// Family: name, patterns, log.
pub struct Family {
    pub name: &'static str,
    pub patterns: Vec<String>,
    pub log: String,
}

/// Returns every family with `count` patterns. The logs have a fixed size.
pub fn families(count: usize) -> Vec<Family> {
    let family = |name, pattern: &dyn Fn(usize) -> String, line: &dyn Fn(usize) -> String| Family {
        name,
        patterns: (0..count).map(pattern).collect(),
        log: (0..200).map(|at| line(at) + "\n").collect(),
    };
    let letters = |at: usize| -> String {
        at.to_string().bytes().map(|digit| char::from(digit - b'0' + b'a')).collect()
    };
    vec![
        family(
            "one beginning, ends of their own",
            &|at| format!("error error {{a:any}} code{} J", letters(at)),
            &|at| format!("error error it went wrong with code{} J", letters(at)),
        ),
        family(
            "one text, holes of their own",
            &|at| format!("error error {{a{at}:any}} went wrong"),
            &|_| "error error it all went wrong".to_string(),
        ),
        family(
            "beginnings of one word",
            &|at| format!("{} {{a{at}:word}} x", "e".repeat(4 + at % 40)),
            &|_| "e".repeat(120) + " e x",
        ),
        family(
            "holes in a run of one letter",
            &|at| format!("aaa {{a:any}} a {{b:any}} a {{c:any}} a {{d{at}:any}} b"),
            &|_| "a ".repeat(60),
        ),
        family(
            "pieces of one letter",
            &|at| format!("{{a{at}:int}} x {{b:int}} y {{c:int}} z {{d:int}} w"),
            &|_| "1 x 2 y 3 z 4 x 5 y 6 z 7 v".to_string(),
        ),
        family(
            "a long text and one letter",
            &|at| format!("{} {}", "long ".repeat(50), letters(at)),
            &|_| "long ".repeat(51),
        ),
    ]
}
