//! Files that the server adds to the site: reload script, style sheet, and a page shown before the first successful
//! build.

/// Returns the reload script for a version of the site.
pub(crate) fn script(version: &str) -> String {
    include_str!("reload.js").replace("VERSION_OF_THIS_PAGE", version)
}

/// Style sheet of the overlay and of [`broken_page`].
pub(crate) const STYLE: &str = include_str!("overlay.css");

/// Returns a page that shows the errors until the first successful build. It is served at every path, so its URLs are
/// absolute.
pub(crate) fn broken_page(plain: &str) -> String {
    let text = plain.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>The site does not build</title>\n\
         <link rel=\"stylesheet\" href=\"/_kbgen/overlay.css\">\n\
         <script src=\"/_kbgen/reload.js\" defer></script>\n\
         <main class=\"kbgen-broken\"><h1>The site does not build yet</h1>\n\
         <pre tabindex=\"0\">{text}</pre>\n\
         <p>This page reloads when the build succeeds.</p></main>\n</html>\n"
    )
}
