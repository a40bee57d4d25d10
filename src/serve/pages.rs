//! The files that the server adds to the site: the reload script, its style sheet, and a page for a site that never built.

/// The reload script for a page of this version.
pub(crate) fn script(version: &str) -> String {
    include_str!("reload.js").replace("VERSION_OF_THIS_PAGE", version)
}

/// Style of the overlay and of [`broken_page`].
pub(crate) const STYLE: &str = include_str!("overlay.css");

/// A page that shows what is wrong, until there is a site. The addresses are absolute: it answers to every path.
pub(crate) fn broken_page(plain: &str) -> String {
    let text = plain.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>The site does not build</title>\n\
         <link rel=\"stylesheet\" href=\"/_kbgen/overlay.css\">\n\
         <script src=\"/_kbgen/reload.js\" defer></script>\n\
         <main class=\"kbgen-broken\"><h1>The site does not build yet</h1>\n\
         <pre tabindex=\"0\">{text}</pre>\n\
         <p>This page becomes the site as soon as it builds.</p></main>\n</html>\n"
    )
}
