//! Formats bytes and token counts.

/// Formats bytes as `4.00 GiB`, or as `512.0 MiB` below a GiB.
pub fn gib(bytes: u64) -> String {
    const MIB: f64 = 1_048_576.0;
    let mib = bytes as f64 / MIB;
    if mib < 1024.0 { format!("{mib:.1} MiB") } else { grouped(&format!("{:.2} GiB", mib / 1024.0)) }
}

/// Formats a count with thousands separators: `131,072`.
pub fn format_count(count: u64) -> String {
    grouped(&count.to_string())
}

/// Formats a number with thousands separators: `1,555.2`.
pub fn number(number: f64) -> String {
    grouped(&number.to_string())
}

/// Inserts thousands separators into the number at the start of a text.
fn grouped(text: &str) -> String {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let mut grouped = String::new();
    for (index, character) in text.char_indices() {
        if index > 0 && index < digits && (digits - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(character);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::{format_count, gib, number};

    #[test]
    fn formats_numbers() {
        assert_eq!(gib(4 << 30), "4.00 GiB");
        assert_eq!(gib(271_056_896), "258.5 MiB");
        assert_eq!(format_count(131_072), "131,072");
        assert_eq!(format_count(512), "512");
        assert_eq!([number(1555.2), number(448.0)], ["1,555.2", "448"]);
        assert_eq!(gib(1_342_465_000_000), "1,250.27 GiB");
    }
}
