//! Shared code of the XML files.

use quick_xml::Writer;

/// Returns the content of a written file, with a final newline.
pub(super) fn file(writer: Writer<Vec<u8>>) -> Vec<u8> {
    let mut bytes = writer.into_inner();
    bytes.push(b'\n');
    bytes
}
