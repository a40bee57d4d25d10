//! Rules for reading files as pages.

use crate::diag::Rule;

/// A file below `content/` that belongs to no kind.
pub const UNKNOWN_FOLDER: Rule = Rule {
    code: "unknown-folder",
    requirement: "pages are in the folder of their kind under content/, and errors in the folder of a category",
    why: "the folder determines the kind; a page elsewhere would be ignored silently",
};
/// A file name that is not a valid slug.
pub const BAD_SLUG: Rule = Rule {
    code: "bad-slug",
    requirement: "the file name of a page and the folder name of a category consist of lowercase letters, digits, hyphens, underscores and dots",
    why: "the name becomes part of the URL and must work on every host and file system",
};
/// A page without front matter.
pub const NO_FRONT_MATTER: Rule = Rule {
    code: "no-front-matter",
    requirement: "a page starts with front matter between two lines of `---`",
    why: "it contains the title, signatures and causes",
};
/// Front matter without an end.
pub const FRONT_MATTER_NOT_CLOSED: Rule = Rule {
    code: "front-matter-not-closed",
    requirement: "front matter ends with a line `---`",
    why: "otherwise the whole page would be front matter",
};
/// Front matter that is no YAML.
pub const YAML_SYNTAX: Rule = Rule {
    code: "yaml-syntax",
    requirement: "front matter is valid YAML",
    why: "nothing after the error can be read",
};
/// A colon and a space in a value without quotes.
pub const UNQUOTED_COLON: Rule = Rule {
    code: "unquoted-colon",
    requirement: "values that contain a colon and a space are quoted",
    why: "YAML treats the second colon as another key",
};
/// Text after a space and `#` in a value without quotes.
pub const UNQUOTED_HASH: Rule = Rule {
    code: "unquoted-hash",
    requirement: "values that contain a space and `#` are quoted",
    why: "YAML ignores the rest of the line as a comment",
};
/// A tab in the indentation of front matter.
pub const TAB_INDENTATION: Rule = Rule {
    code: "tab-indentation",
    requirement: "front matter is indented with spaces",
    why: "YAML does not allow tabs in indentation",
};
/// YAML anchors, aliases, tags or several documents.
pub const YAML_FEATURE: Rule = Rule {
    code: "yaml-feature",
    requirement: "front matter uses only plain mappings, lists and values",
    why: "anchors, aliases, tags and multiple documents hide content and can expand without limit",
};
/// A file that is too large.
pub const TOO_LARGE: Rule = Rule {
    code: "too-large",
    requirement: "files are within their limits: pages and templates 1 MiB, front matter 32 KiB and 16 levels, site.toml 64 KiB, files next to pages 8 MiB and 32 million pixels, static files 64 MiB",
    why: "limits keep builds fast for any contribution",
};
/// A file that is not UTF-8.
pub const NOT_UTF8: Rule = Rule {
    code: "not-utf8",
    requirement: "pages, templates and settings are encoded in UTF-8",
    why: "other encodings would be displayed incorrectly",
};
/// Something that is neither a file nor a folder.
pub const NOT_A_FILE: Rule = Rule {
    code: "not-a-file",
    requirement: "a site consists of readable regular files and folders",
    why: "links could point outside the site, devices never end, and unreadable files would be missing silently",
};

/// A path that is not portable.
pub const FILE_NAME: Rule = Rule {
    code: "file-name",
    requirement: "names of files and folders are ASCII without reserved characters, paths have at most 180 bytes and \
              8 segments, no two paths differ only in case, and no file in `static/root/` replaces a generated one",
    why: "a site must work on every system, and look-alike names deceive reviewers",
};
/// A file next to pages that is neither an image nor plain text.
pub const CARRIED_FILE: Rule = Rule {
    code: "carried-file",
    requirement: "files next to pages are pictures or plain text",
    why: "SVG, HTML and script files from contributors would run in the reader's browser",
};

/// A cache or temporary file of kbgen in the site.
pub const LEFTOVER: Rule = Rule {
    code: "leftover",
    requirement: "a site contains no caches or temporary files of kbgen, such as `.kbgen-cache` and `.public.kbgen-new`",
    why: "such a file in a pull request could redirect or forge the output of a build",
};

/// A key of an earlier format.
pub const OLD_FORMAT: Rule = Rule {
    code: "old-format",
    requirement: "pages use the current format, in which the title of a solution is only its heading",
    why: "the same text in two places becomes inconsistent",
};

/// All rules of this module.
pub const RULES: &[Rule] = &[
    UNKNOWN_FOLDER,
    BAD_SLUG,
    NO_FRONT_MATTER,
    FRONT_MATTER_NOT_CLOSED,
    YAML_SYNTAX,
    UNQUOTED_COLON,
    UNQUOTED_HASH,
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
