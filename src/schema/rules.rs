//! The rules that every file with fields has to keep.

use crate::diag::Rule;

/// A key that has to be there is not.
pub const MISSING_KEY: Rule = Rule {
    code: "missing-key",
    requirement: "a page has all required keys of its kind",
    why: "templates, lists and data files depend on them",
};
/// A key that nobody reads.
pub const UNKNOWN_KEY: Rule = Rule {
    code: "unknown-key",
    requirement: "front matter and site.toml contain only known keys",
    why: "a misspelled key would be ignored silently",
};
/// A key stands twice in one mapping.
pub const DUPLICATE_KEY: Rule = Rule {
    code: "duplicate-key",
    requirement: "a mapping has each key at most once",
    why: "one of the values would be ignored silently",
};
/// An item stands twice in one list.
pub const DUPLICATE_ITEM: Rule = Rule {
    code: "duplicate-item",
    requirement: "a list has each item at most once",
    why: "the page would show it twice",
};
/// A value of another type than its key takes.
pub const WRONG_TYPE: Rule = Rule {
    code: "wrong-type",
    requirement: "a value has the type of its key",
    why: "a value of another type would be misread",
};
/// A date that no calendar has, or in another form.
pub const BAD_DATE: Rule = Rule {
    code: "bad-date",
    requirement: "a date is valid and written as YYYY-MM-DD",
    why: "review dates are computed from it",
};
/// A word that is not one of those allowed.
pub const UNKNOWN_VALUE: Rule = Rule {
    code: "unknown-value",
    requirement: "a value is one of the allowed values of its key",
    why: "filters and labels are generated from these values",
};
/// More items, or a longer text, than is sensible.
pub const TOO_MUCH: Rule = Rule {
    code: "too-much",
    requirement: "lists and texts in front matter are within their limits",
    why: "limits keep builds and pages fast for any contribution",
};

/// All rules of this module.
pub const RULES: &[Rule] =
    &[MISSING_KEY, UNKNOWN_KEY, DUPLICATE_KEY, DUPLICATE_ITEM, WRONG_TYPE, BAD_DATE, UNKNOWN_VALUE, TOO_MUCH];
