//! Precompressed copies of text files: `x.html.br` and `x.html.gz` next to `x.html`, for servers that can send them.

use std::io::{self, Write};

use brotli::enc::BrotliEncoderParams;
use flate2::Compression;
use flate2::write::GzEncoder;

/// Extensions of text files.
const TEXT: &[&str] = &[".css", ".html", ".js", ".json", ".md", ".svg", ".txt", ".xml"];

/// Highest Brotli quality: copies are written once and sent often. Quality 9 is 20 times faster and 12 % larger.
const QUALITY: i32 = 11;

/// Binary logarithm of the Brotli window size. Files are much smaller than 4 MiB.
const WINDOW: i32 = 22;

/// Returns the compressed copies of a text file that are smaller than the file. The result is deterministic.
pub fn precompressed(path: &str, bytes: &[u8]) -> Vec<(String, Vec<u8>)> {
    if !TEXT.iter().any(|ending| path.ends_with(ending)) {
        return Vec::new();
    }
    let (br, gz) = rayon::join(|| brotli(bytes), || gzip(bytes));
    [(".br", br), (".gz", gz)]
        .into_iter()
        .map(|(ending, compressed)| {
            (format!("{path}{ending}"), compressed.expect("writing to memory never fails"))
        })
        .filter(|(_, compressed)| compressed.len() < bytes.len())
        .collect()
}

fn brotli(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let settings = BrotliEncoderParams {
        quality: QUALITY,
        lgwin: WINDOW,
        size_hint: bytes.len(),
        ..BrotliEncoderParams::default()
    };
    let mut compressed = Vec::new();
    brotli::BrotliCompress(&mut &bytes[..], &mut compressed, &settings)?;
    Ok(compressed)
}

/// Compresses without name and time in the header, so that the bytes depend only on the file.
fn gzip(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    encoder.finish()
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn compressible_text_has_copies_with_the_same_content() {
        let page = "out of memory ".repeat(200);
        let made = precompressed("index.html", page.as_bytes());
        let [(br_path, br), (gz_path, gz)] = &made[..] else { panic!("{} copies", made.len()) };
        assert_eq!((br_path.as_str(), gz_path.as_str()), ("index.html.br", "index.html.gz"));
        let mut text = String::new();
        flate2::read::GzDecoder::new(&gz[..]).read_to_string(&mut text).expect("it is gzip");
        assert_eq!(text, page);
        let mut bytes = Vec::new();
        brotli::BrotliDecompress(&mut &br[..], &mut bytes).expect("it is Brotli");
        assert_eq!(bytes, page.as_bytes());
        assert_eq!(precompressed("index.html", page.as_bytes()), made, "the same file has the same copies");
    }

    #[test]
    fn short_and_binary_files_have_no_copies() {
        assert_eq!(precompressed("short.txt", b"x"), []);
        for path in ["picture.png", "_headers"] {
            assert_eq!(precompressed(path, "out of memory ".repeat(200).as_bytes()), [], "{path}");
        }
    }
}
