//! Bytes as a model file: it is refused, or its need is computed.

use kbgen_estimate::bytes::Bytes;
use kbgen_estimate::gguf::{Header, ModelFile};
use kbgen_estimate::plan::remedies::Remedies;
use kbgen_estimate::plan::search::Available;
use kbgen_estimate::planner::Planner;
use kbgen_estimate::quantization::Quantization;
use kbgen_estimate::settings::{ExpertPlacement, FlashAttention, Settings};

/// Reads the file. If it is a model, estimates it with several settings, and plans it for a GPU that is too small.
pub fn hold(data: &[u8]) {
    let Ok(header) = Header::read(data) else { return };
    let sum: u64 = header.tensors.iter().map(|tensor| tensor.bytes().0).sum();
    let Ok(file) = ModelFile::new(&header) else { return };
    assert_eq!(file.data.0, sum);
    let plain = Settings::new(Quantization::F16, file.architecture.max_context.min(512));
    let mut planner = Planner::of_file(&file.architecture, &file);
    let settings = [
        Settings { gpu_layers: Some(1), ..plain.clone() },
        Settings { experts: ExpertPlacement::Cpu, ..plain.clone() },
        Settings { tensor_split: vec![1, 1], ..plain.clone() },
        Settings { flash_attention: FlashAttention::Off, ..plain.clone() },
        plain,
    ];
    for settings in &settings {
        if let Ok(need) = planner.estimate(settings) {
            assert_eq!(need.devices.len(), settings.tensor_split.len() + 1, "GPUs and the host");
        }
        planner.weights_read(settings);
    }
    let [.., plain] = &settings;
    let free = Available { gpus: vec![Bytes(file.data.0 / 2)] };
    if let Ok(remedies) = Remedies::find(&mut planner, plain, &free, &[]) {
        let fits = remedies
            .plan(plain)
            .is_none_or(|plan| planner.planned_totals(&plan).is_ok_and(|needs| free.holds(&needs)));
        assert!(fits, "a plan fits");
    }
}
