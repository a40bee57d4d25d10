//! Bytes as a model file: it is refused, or its need is computed.

use kbgen_estimate::gguf::{Header, ModelFile};
use kbgen_estimate::planner::Planner;
use kbgen_estimate::quantization::Quantization;
use kbgen_estimate::settings::Settings;

/// Reads the file, and estimates it where it is a model.
pub fn hold(data: &[u8]) {
    let Ok(header) = Header::read(data) else { return };
    let sum: u64 = header.tensors.iter().map(|tensor| tensor.bytes().0).sum();
    let Ok(file) = ModelFile::new(&header) else { return };
    assert_eq!(file.data.0, sum);
    let settings = Settings::new(Quantization::F16, file.architecture.max_context.min(512));
    if let Ok(need) = Planner::of_file(&file.architecture, &file).estimate(&settings) {
        assert_eq!(need.devices.len(), 2, "a GPU and the host");
    }
}
