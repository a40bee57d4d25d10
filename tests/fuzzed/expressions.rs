//! Fuzzes conditions, texts with values in braces, and estimator calls: errors have locations in the text, stored
//! expressions evaluate as before, and numbers are finite.

use kbgen::site::ProseCall;
use kbgen_signature::{Expression, Figure, Figures, Template};

use super::site;

/// Parses the text as each kind of expression.
pub fn hold(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let figures = figures();
    match Expression::parse(text) {
        Ok(condition) => is_a_condition(text, &condition, &figures),
        Err(fault) => lies_within(text, &fault.range, &fault.message),
    }
    match Expression::parse_value(text) {
        Ok(value) => is_a_value(&value, &figures),
        Err(fault) => lies_within(text, &fault.range, &fault.message),
    }
    match Template::parse(text) {
        Ok(template) => drop(template.fill(&figures)),
        Err(fault) => lies_within(text, &fault.range, &fault.message),
    }
    match ProseCall::parse(text) {
        Ok(call) => is_a_call(text, &call),
        Err(fault) => lies_within(text, &fault.range, &fault.message),
    }
}

fn lies_within(text: &str, range: &std::ops::Range<usize>, what: &str) {
    assert!(text.get(range.clone()).is_some(), "{range:?} is no place of the text: {what}");
}

/// Figures of a log. Other names in the text are undefined.
fn figures() -> Figures {
    let mut figures = Figures::default();
    for (name, number) in
        [("free", 1024.0), ("total", 8192.0), ("requested", 2048.0), ("n", 0.5), ("zero", 0.0)]
    {
        figures.add(name, Figure::Number(number));
    }
    figures.add("place", Figure::Text("load".into()));
    figures
}

fn is_a_condition(text: &str, condition: &Expression, figures: &Figures) {
    let holds = condition.holds(figures);
    assert_eq!(condition.number(figures), None, "a condition is no number");
    assert_eq!(stored(condition).holds(figures), holds, "another answer once stored");
    if let Ok(negation) = Expression::parse(&format!("not ({text})")) {
        assert!(!(holds && negation.holds(figures)), "both hold, the condition and its negation");
    }
    let mentioned = condition.names().into_iter().chain(condition.texts()).all(|word| text.contains(word));
    assert!(mentioned, "a name that the text does not have");
}

fn is_a_value(value: &Expression, figures: &Figures) {
    assert!(!value.holds(figures), "a value holds");
    let number = value.number(figures);
    assert!(number.is_none_or(f64::is_finite), "{number:?} is no number");
    assert_eq!(stored(value).number(figures), number, "another number once stored");
}

/// Returns the expression after a round trip through the JSON that pages load.
fn stored(expression: &Expression) -> Expression {
    let stored = serde_json::to_string(expression).expect("an expression is plain data");
    serde_json::from_str(&stored).expect("what was stored can be read")
}

fn is_a_call(text: &str, call: &ProseCall) {
    for (value, range) in [(&call.model.value, &call.model.range), (&call.quant.value, &call.quant.range)] {
        assert_eq!(text.get(range.clone()), Some(value.as_str()), "an argument stands elsewhere");
    }
    if !text.contains(['\n', '\r']) {
        site::with_page(&format!("---\ntitle: A call\n---\nIt takes {{{{ {text} }}}}.\n"), |_, _| ());
    }
}
