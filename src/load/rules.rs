//! Rules for reading files as pages.

use crate::diag::Rule;

/// A file below `content/` that belongs to no kind.
pub const UNKNOWN_FOLDER: Rule = Rule {
    code: "unknown-folder",
    demands: "every page lies in the folder of its kind under content/, an error in the folder of its category",
    why: "the folder is the kind; a page elsewhere would be lost in silence",
};
/// A file name that is not a valid slug.
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
/// Front matter that is not valid YAML.
pub const YAML_SYNTAX: Rule =
    Rule { code: "yaml-syntax", demands: "front matter is YAML", why: "nothing after the fault can be read" };
/// An unquoted value with a colon and a space.
pub const UNQUOTED_COLON: Rule = Rule {
    code: "unquoted-colon",
    demands: "a value that holds a colon and a space stands in quotes",
    why: "YAML takes the second colon for another key",
};
/// A tab in the indentation of front matter.
pub const TAB_INDENTATION: Rule = Rule {
    code: "tab-indentation",
    demands: "front matter is indented with spaces",
    why: "YAML does not allow tabs there",
};
/// YAML anchors, aliases, tags or several documents.
pub const YAML_FEATURE: Rule = Rule {
    code: "yaml-feature",
    demands: "front matter uses plain mappings, lists and values only",
    why: "anchors, aliases, tags and further documents hide what a page says and can grow without bound",
};
/// A file that is too large.
pub const TOO_LARGE: Rule = Rule {
    code: "too-large",
    demands: "a page or template has at most 1 MiB, front matter 32 KiB in 16 levels, site.toml 64 KiB, a file beside a page 8 MiB and 32 million pixels, a static file 64 MiB",
    why: "bounded input keeps builds fast whatever is contributed",
};
/// A file that is not UTF-8.
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

/// A path that is not portable.
pub const FILE_NAME: Rule = Rule {
    code: "file-name",
    demands: "names of files and folders are ASCII without signs that shells and systems keep for themselves, \
              their paths have at most 180 bytes and 8 parts, and no two differ by case alone",
    why: "a site is checked out, built and served on every system, and look-alike names deceive reviewers",
};
/// A file next to pages that is neither an image nor plain text.
pub const CARRIED_FILE: Rule = Rule {
    code: "carried-file",
    demands: "beside pages lie pictures and plain text only",
    why: "pages come from many hands, and a published SVG, HTML or script file runs in the reader's browser",
};

/// A cache or temporary file of kbgen in the site.
pub const LEFTOVER: Rule = Rule {
    code: "leftover",
    demands: "no cache and no temporary file of kbgen lies in a site: `.kbgen-cache`, `.public.kbgen-new` and the like",
    why: "they are no content, and one that came with a pull request could redirect or fake what a build writes",
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
];
