//! What the XML files share.

use quick_xml::Writer;

/// The bytes of a file that was written; its last line is ended.
pub(super) fn file(writer: Writer<Vec<u8>>) -> Vec<u8> {
    let mut bytes = writer.into_inner();
    bytes.push(b'\n');
    bytes
}
