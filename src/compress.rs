//! Smaller twins of text files: `x.html.br` and `x.html.gz` beside `x.html`, for servers that send them as they are.

use std::io::{self, Write};

use brotli::enc::BrotliEncoderParams;
use flate2::Compression;
use flate2::write::GzEncoder;
use rayon::prelude::*;

use crate::files::Outputs;

/// Endings of files that are text.
const TEXT: &[&str] = &[".css", ".html", ".js", ".json", ".md", ".svg", ".txt", ".xml"];

/// Brotli's quality, the highest: the twins are made once and sent often. 9 makes files 12 % larger in a twentieth of the time.
const QUALITY: i32 = 11;

/// Logarithm of the window: files are far smaller than 4 MiB.
const WINDOW: i32 = 22;

/// The twins of all text files, each only where it is smaller than its file. Same files, same bytes.
///
/// # Panics
/// Never: writing to memory does not fail.
pub fn twins(outputs: &Outputs) -> Outputs {
    let texts: Vec<(&str, &[u8])> = outputs
        .iter()
        .filter(|(path, _)| TEXT.iter().any(|ending| path.ends_with(ending)))
        .map(|(path, bytes)| (path, &bytes[..]))
        .collect();
    let made: Vec<(String, Vec<u8>)> = texts
        .par_iter()
        .flat_map_iter(|(path, bytes)| {
            let twins = [(".br", brotli(bytes)), (".gz", gzip(bytes))];
            twins.into_iter().filter_map(move |(ending, twin)| {
                let twin = twin.expect("writing to memory never fails");
                (twin.len() < bytes.len()).then(|| (format!("{path}{ending}"), twin))
            })
        })
        .collect();
    let mut twins = Outputs::default();
    for (path, bytes) in made {
        twins.add(path, bytes);
    }
    twins
}

fn brotli(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let settings = BrotliEncoderParams {
        quality: QUALITY,
        lgwin: WINDOW,
        size_hint: bytes.len(),
        ..BrotliEncoderParams::default()
    };
    let mut twin = Vec::new();
    brotli::BrotliCompress(&mut &bytes[..], &mut twin, &settings)?;
    Ok(twin)
}

/// Without name and time in the header, so that the bytes depend on the file alone.
fn gzip(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    encoder.finish()
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    fn site() -> Outputs {
        let mut outputs = Outputs::default();
        outputs.add("index.html", "out of memory ".repeat(200));
        outputs.add("short.txt", "x");
        outputs.add("picture.png", "out of memory ".repeat(200));
        outputs.add("_headers", "out of memory ".repeat(200));
        outputs
    }

    #[test]
    fn text_that_gets_smaller_has_twins_with_the_same_content() {
        let twins = twins(&site());
        let paths: Vec<&str> = twins.iter().map(|(path, _)| path).collect();
        assert_eq!(paths, ["index.html.br", "index.html.gz"]);
        let page = "out of memory ".repeat(200);
        let mut text = String::new();
        let gz = twins.get("index.html.gz").expect("it is there");
        flate2::read::GzDecoder::new(&gz[..]).read_to_string(&mut text).expect("it is gzip");
        assert_eq!(text, page);
        let br = twins.get("index.html.br").expect("it is there");
        let mut bytes = Vec::new();
        brotli::BrotliDecompress(&mut &br[..], &mut bytes).expect("it is Brotli");
        assert_eq!(bytes, page.as_bytes());
    }

    #[test]
    fn the_same_files_have_the_same_twins() {
        assert!(twins(&site()) == twins(&site()));
    }
}
