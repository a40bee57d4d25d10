//! Rules for files with fields.

use crate::diag::Rule;

/// Missing required key.
pub const MISSING_KEY: Rule = Rule {
    code: "missing-key",
    requirement: "a page has all required keys of its kind",
    why: "templates, lists and data files depend on them",
};
/// Unknown key.
pub const UNKNOWN_KEY: Rule = Rule {
    code: "unknown-key",
    requirement: "front matter and site.toml contain only known keys",
    why: "a misspelled key would be ignored silently",
};
/// Duplicate key in a mapping.
pub const DUPLICATE_KEY: Rule = Rule {
    code: "duplicate-key",
    requirement: "a mapping has each key at most once",
    why: "one of the values would be ignored silently",
};
/// Duplicate item in a list.
pub const DUPLICATE_ITEM: Rule = Rule {
    code: "duplicate-item",
    requirement: "a list has each item at most once",
    why: "the page would show it twice",
};
/// Value of a wrong type.
pub const WRONG_TYPE: Rule = Rule {
    code: "wrong-type",
    requirement: "a value has the type of its key",
    why: "a value of another type would be misread",
};
/// Invalid date.
pub const BAD_DATE: Rule = Rule {
    code: "bad-date",
    requirement: "a date is valid and written as YYYY-MM-DD",
    why: "review dates are computed from it",
};
/// Value that is not allowed.
pub const UNKNOWN_VALUE: Rule = Rule {
    code: "unknown-value",
    requirement: "a value is one of the allowed values of its key",
    why: "filters and labels are generated from these values",
};
/// Too many items, or text that is too long.
pub const TOO_MUCH: Rule = Rule {
    code: "too-much",
    requirement: "lists and texts in front matter are within their limits",
    why: "limits keep builds and pages fast for any contribution",
};

/// All rules of this module.
pub const RULES: &[Rule] =
    &[MISSING_KEY, UNKNOWN_KEY, DUPLICATE_KEY, DUPLICATE_ITEM, WRONG_TYPE, BAD_DATE, UNKNOWN_VALUE, TOO_MUCH];
