//! Formats bytes and token counts.

/// Formats bytes as `4.00 GiB`, or as `512.0 MiB` below a GiB.
pub fn gib(bytes: u64) -> String {
    const MIB: f64 = 1_048_576.0;
    let mib = bytes as f64 / MIB;
    if mib < 1024.0 { format!("{mib:.1} MiB") } else { format!("{:.2} GiB", mib / 1024.0) }
}

/// Formats a count with thousands separators: `131,072`.
pub fn tokens(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{gib, tokens};

    #[test]
    fn figures_read_well() {
        assert_eq!(gib(4 << 30), "4.00 GiB");
        assert_eq!(gib(271_056_896), "258.5 MiB");
        assert_eq!(tokens(131_072), "131\u{202f}072");
        assert_eq!(tokens(512), "512");
    }
}
