//! The rules that a file has to keep to be read as a page.

use crate::diag::Rule;

/// A file under `content/` that belongs to no kind.
pub const UNKNOWN_FOLDER: Rule = Rule {
    code: "unknown-folder",
    demands: "every page lies in the folder of its kind under content/, an error in the folder of its category",
    why: "the folder is the kind; a page elsewhere would be lost in silence",
};
/// A file name that is no slug.
pub const BAD_SLUG: Rule = Rule {
    code: "bad-slug",
    demands: "the name of a page's file, or of a category's folder, consists of small letters, digits, hyphens and dots",
    why: "it is the address, and must work on every host and file system",
};
/// A page without front matter.
pub const NO_FRONT_MATTER: Rule = Rule {
    code: "no-front-matter",
    demands: "a page begins with front matter between two lines of `---`",
    why: "title, signatures and causes are read from it",
};
/// Front matter without an end.
pub const FRONT_MATTER_NOT_CLOSED: Rule = Rule {
    code: "front-matter-not-closed",
    demands: "front matter ends with a line of `---`",
    why: "without it the whole page counts as front matter",
};
/// Front matter that is no YAML.
pub const YAML_SYNTAX: Rule =
    Rule { code: "yaml-syntax", demands: "front matter is YAML", why: "nothing after the fault can be read" };
/// A colon and a space in a value without quotes.
pub const UNQUOTED_COLON: Rule = Rule {
    code: "unquoted-colon",
    demands: "a value that holds a colon and a space stands in quotes",
    why: "YAML takes the second colon for another key",
};
/// A tab at the start of a line of front matter.
pub const TAB_INDENTATION: Rule = Rule {
    code: "tab-indentation",
    demands: "front matter is indented with spaces",
    why: "YAML does not allow tabs there",
};
/// Anchors, aliases, tags, second documents.
pub const YAML_FEATURE: Rule = Rule {
    code: "yaml-feature",
    demands: "front matter uses plain mappings, lists and values only",
    why: "anchors, aliases, tags and further documents hide what a page says and can grow without bound",
};
/// A file beyond its limit.
pub const TOO_LARGE: Rule = Rule {
    code: "too-large",
    demands: "a page or template has at most 1 MiB, front matter 32 KiB in 16 levels, site.toml 64 KiB, a file beside a page 8 MiB and 32 million pixels, a static file 64 MiB",
    why: "bounded input keeps builds fast whatever is contributed",
};
/// Bytes that are no UTF-8.
pub const NOT_UTF8: Rule = Rule {
    code: "not-utf8",
    demands: "pages, templates and settings are UTF-8 text",
    why: "other encodings show as garbage",
};
/// Something that is neither a file nor a folder.
pub const NOT_A_FILE: Rule = Rule {
    code: "not-a-file",
    demands: "a site consists of plain files and folders that can be read",
    why: "links could lead out of the site, devices never end, and what cannot be read would be missing in silence",
};

/// A path that some file system, host or reader cannot bear.
pub const FILE_NAME: Rule = Rule {
    code: "file-name",
    demands: "names of files and folders are ASCII without signs that shells and systems keep for themselves, \
              their paths have at most 180 bytes and 8 parts, and no two differ by case alone",
    why: "a site is checked out, built and served on every system, and look-alike names deceive reviewers",
};
/// Something beside pages that is no page and no picture.
pub const CARRIED_FILE: Rule = Rule {
    code: "carried-file",
    demands: "beside pages lie pictures and plain text only",
    why: "pages come from many hands, and a published SVG, HTML or script file runs in the reader's browser",
};

/// A cache or a temporary file of kbgen in the site.
pub const LEFTOVER: Rule = Rule {
    code: "leftover",
    demands: "no cache and no temporary file of kbgen lies in a site: `.kbgen-cache`, `.public.kbgen-new` and the like",
    why: "they are no content, and one that came with a pull request could redirect or fake what a build writes",
};

/// A key of an earlier format.
pub const OLD_FORMAT: Rule = Rule {
    code: "old-format",
    demands: "pages are written in the format that kbgen writes: the title of a solution is its heading only",
    why: "what is written in two places differs one day",
};

/// All rules of this module.
pub const RULES: &[Rule] = &[
    UNKNOWN_FOLDER,
    BAD_SLUG,
    NO_FRONT_MATTER,
    FRONT_MATTER_NOT_CLOSED,
    YAML_SYNTAX,
    UNQUOTED_COLON,
    TAB_INDENTATION,
    YAML_FEATURE,
    TOO_LARGE,
    NOT_UTF8,
    NOT_A_FILE,
    FILE_NAME,
    CARRIED_FILE,
    LEFTOVER,
    OLD_FORMAT,
];
