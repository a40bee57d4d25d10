//! Minimal parser for the tags of well-formed pages.

/// An opening tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tag {
    /// Name in lowercase.
    pub name: String,
    /// Attribute names and decoded values.
    pub attributes: Vec<(String, String)>,
    /// Text up to the next tag, or the whole content of a script.
    pub text: String,
}

impl Tag {
    /// Returns the value of an attribute.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Returns whether an attribute has this value.
    pub fn is(&self, name: &str, value: &str) -> bool {
        self.get(name) == Some(value)
    }
}

/// Returns the opening tags in order.
pub fn tags(html: &str) -> Vec<Tag> {
    let mut tags = Vec::new();
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        if rest.starts_with("!--") {
            rest = &rest[rest.find("-->").expect("a comment is closed")..];
            continue;
        }
        if !rest.starts_with(|c: char| c.is_ascii_alphabetic()) {
            continue;
        }
        let (mut tag, after) = tag(rest);
        let end = match tag.name.as_str() {
            "script" | "style" => after.find("</").expect("it is closed"),
            _ => after.find('<').unwrap_or(after.len()),
        };
        tag.text = decoded(&after[..end]);
        rest = &after[end..];
        tags.push(tag);
    }
    tags
}

/// Returns the texts between tags in order, without scripts and styles.
pub fn texts(html: &str) -> Vec<String> {
    let mut texts = Vec::new();
    let mut skipped = None;
    for piece in html.split('<').skip(1) {
        let (tag, text) = piece.split_once('>').unwrap_or((piece, ""));
        let name = tag.split([' ', '/']).next().unwrap_or_default();
        match skipped {
            None if name == "script" || name == "style" => skipped = Some(name),
            None => texts.push(decoded(text)),
            Some(open) if tag.strip_prefix('/') == Some(open) => {
                skipped = None;
                texts.push(decoded(text));
            }
            Some(_) => {}
        }
    }
    texts
}

fn tag(text: &str) -> (Tag, &str) {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == ':' || c == '_';
    let end = text.find(|c| !is_name(c)).expect("a tag ends");
    let mut tag = Tag { name: text[..end].to_lowercase(), attributes: Vec::new(), text: String::new() };
    let mut rest = text[end..].trim_start();
    while !rest.starts_with('>') {
        if let Some(after) = rest.strip_prefix('/') {
            rest = after.trim_start();
            continue;
        }
        let end = rest.find(|c| !is_name(c)).expect("a tag ends");
        assert!(end > 0, "no attribute: {}", rest.chars().take(80).collect::<String>());
        let name = rest[..end].to_lowercase();
        rest = rest[end..].trim_start();
        let mut value = "";
        if let Some(after) = rest.strip_prefix('=') {
            let after = after.trim_start();
            let quote = after.chars().next().filter(|c| matches!(c, '"' | '\''));
            (value, rest) = match quote {
                Some(quote) => after[1..].split_once(quote).expect("quotes are closed"),
                None => after.split_at(after.find([' ', '\n', '>']).expect("a tag ends")),
            };
            rest = rest.trim_start();
        }
        tag.attributes.push((name, decoded(value)));
    }
    (tag, &rest[1..])
}

fn decoded(text: &str) -> String {
    [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#34;", "\""),
        ("&#39;", "'"),
        ("&#x27;", "'"),
        ("&#x2f;", "/"),
    ]
    .iter()
    .fold(text.to_string(), |text, (entity, character)| text.replace(entity, character))
    .replace("&amp;", "&")
}
