//! How large a picture is, read from its first bytes: nothing is decoded.

/// Width and height in pixels; none for what is no GIF, JPEG, PNG or WebP.
pub fn picture_size(bytes: &[u8]) -> Option<(u32, u32)> {
    let size = imagesize::blob_size(bytes).ok()?;
    Some((u32::try_from(size.width).ok()?, u32::try_from(size.height).ok()?))
}
