//! Formats bytes and token counts.

/// Formats bytes as `4.00 GiB`, or as `512.0 MiB` below a GiB. Halves are rounded up, as in the scripts of the pages;
/// `{:.2}` would round them to even.
pub fn gib(bytes: u64) -> String {
    let rounded = |unit: u32, parts: u128| ((u128::from(bytes) * parts) + (1 << (unit - 1))) >> unit;
    let mib = rounded(20, 10);
    if mib < 10_240 {
        return format!("{}.{} MiB", mib / 10, mib % 10);
    }
    let gib = rounded(30, 100);
    grouped(&format!("{}.{:02} GiB", gib / 100, gib % 100))
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
        assert_eq!([gib(1_207_959_552), gib((1 << 30) - 1)], ["1.13 GiB", "1.00 GiB"]);
    }
}
