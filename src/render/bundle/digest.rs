//! What a policy for inline scripts is made of: SHA-256 in Base64.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// A source of a Content-Security-Policy: `'sha256-…'`.
pub(super) fn source(text: &str) -> String {
    format!("'sha256-{}'", base64(&hmac_sha256::Hash::hash(text.as_bytes())))
}

/// Bytes as Base64, padded.
pub(super) fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}
