//! The rules that every file with fields has to keep.

use crate::diag::Rule;

/// A key that has to be there is not.
pub const MISSING_KEY: Rule = Rule {
    code: "missing-key",
    demands: "every key that a page of its kind needs is there",
    why: "templates, lists and the data files rely on it",
};
/// A key that nobody reads.
pub const UNKNOWN_KEY: Rule = Rule {
    code: "unknown-key",
    demands: "only keys that are known stand in front matter and in site.toml",
    why: "a misspelled key would be lost in silence",
};
/// A key stands twice in one mapping.
pub const DUPLICATE_KEY: Rule = Rule {
    code: "duplicate-key",
    demands: "a key stands once in a mapping",
    why: "one of the two values would be lost in silence",
};
/// An item stands twice in one list.
pub const DUPLICATE_ITEM: Rule = Rule {
    code: "duplicate-item",
    demands: "a list of texts or numbers has each item once",
    why: "the page would show it twice",
};
/// A value of another type than its key takes.
pub const WRONG_TYPE: Rule = Rule {
    code: "wrong-type",
    demands: "a value has the type that its key takes",
    why: "a list given as text, or a number as a word, means something else than was meant",
};
/// A date that no calendar has, or in another form.
pub const BAD_DATE: Rule = Rule {
    code: "bad-date",
    demands: "a date is a day of the calendar, written YYYY-MM-DD",
    why: "staleness is computed from it",
};
/// A word that is not one of those allowed.
pub const UNKNOWN_VALUE: Rule = Rule {
    code: "unknown-value",
    demands: "a value is one of the words that its key takes",
    why: "filters and labels are made from these words",
};
/// More items, or a longer text, than is sensible.
pub const TOO_MUCH: Rule = Rule {
    code: "too-much",
    demands: "lists and texts in front matter stay within their limits",
    why: "bounded input keeps builds and pages fast whatever is contributed",
};

/// All rules of this module.
pub const RULES: &[Rule] =
    &[MISSING_KEY, UNKNOWN_KEY, DUPLICATE_KEY, DUPLICATE_ITEM, WRONG_TYPE, BAD_DATE, UNKNOWN_VALUE, TOO_MUCH];
