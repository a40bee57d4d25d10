//! Shared code of the XML files.

use std::io;

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, Event};

/// Returns an indented document with the element that `write` adds.
pub(super) fn document(write: impl FnOnce(&mut Writer<Vec<u8>>) -> io::Result<()>) -> Vec<u8> {
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 1);
    let declaration = writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("utf-8"), None)));
    declaration.and_then(|()| write(&mut writer)).expect("writing to memory never fails");
    file(writer)
}

/// Returns the content of a written file, with a final newline.
pub(super) fn file(writer: Writer<Vec<u8>>) -> Vec<u8> {
    let mut bytes = writer.into_inner();
    bytes.push(b'\n');
    bytes
}
