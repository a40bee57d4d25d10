//! Files of the measured models, written from their lists of tensors, give what the models give.

use crate::architecture::{Architecture, LayerKind, RopeFactors};
use crate::estimator::Estimate;
use crate::field::{FieldKind, FieldValue};
use crate::fields::ArchitectureFields;
use crate::gguf::{FileError, Header, HeaderError, ModelFile};
use crate::names::{Home, Name, WeightTensor};
use crate::planner::Planner;
use crate::quantization::{CacheType, Quantization, TensorType};
use crate::settings::{ExpertPlacement, Settings};
use crate::weights::typed_tensors;

const MODELS: &str = include_str!("../../tests/data/measured_models.csv");
const FILES: &str = include_str!("../../tests/data/measured_files.csv");

/// A header under construction.
#[derive(Default)]
struct Writer {
    metadata: Vec<u8>,
    entries: u64,
    tensors: Vec<u8>,
    count: u64,
}

impl Writer {
    fn text(bytes: &mut Vec<u8>, text: &str) {
        bytes.extend((text.len() as u64).to_le_bytes());
        bytes.extend(text.as_bytes());
    }

    fn entry(&mut self, key: &str, kind: u32) {
        Self::text(&mut self.metadata, key);
        self.metadata.extend(kind.to_le_bytes());
        self.entries += 1;
    }

    fn string(&mut self, key: &str, value: &str) {
        self.entry(key, 8);
        Self::text(&mut self.metadata, value);
    }

    fn number(&mut self, key: &str, value: u64) {
        self.entry(key, 4);
        self.metadata.extend((value as u32).to_le_bytes());
    }

    fn array(&mut self, key: &str, kind: u32, values: impl ExactSizeIterator<Item = u64>) {
        self.entry(key, 9);
        self.metadata.extend(kind.to_le_bytes());
        self.metadata.extend((values.len() as u64).to_le_bytes());
        for value in values {
            match kind {
                7 => self.metadata.push(value as u8),
                _ => self.metadata.extend((value as u32).to_le_bytes()),
            }
        }
    }

    fn tensor(&mut self, name: &str, dimensions: &[u64], kind: u32) {
        Self::text(&mut self.tensors, name);
        self.tensors.extend((dimensions.len() as u32).to_le_bytes());
        dimensions.iter().for_each(|size| self.tensors.extend(size.to_le_bytes()));
        self.tensors.extend(kind.to_le_bytes());
        self.tensors.extend(0_u64.to_le_bytes());
        self.count += 1;
    }

    fn bytes(&self) -> Vec<u8> {
        let counts = [self.count, self.entries].map(u64::to_le_bytes).concat();
        [b"GGUF", 3_u32.to_le_bytes().as_slice(), &counts, &self.metadata, &self.tensors].concat()
    }
}

/// The measured models by their slugs.
fn models() -> Vec<(String, ArchitectureFields)> {
    let mut table = csv::Reader::from_reader(MODELS.as_bytes());
    let columns = table.headers().unwrap().clone();
    let model = |row: csv::StringRecord| {
        let cell = |name: &str| columns.iter().position(|column| column == name).map_or("", |at| &row[at]);
        let mut fields = ArchitectureFields::default();
        for field in ArchitectureFields::ALL {
            let value = match (field.name, field.kind) {
                ("name", _) => FieldValue::Text(cell("gguf_arch").to_owned()),
                ("layers", _) if cell("layer_kinds").is_empty() => {
                    FieldValue::Text(format!("F{}", cell("layers")))
                }
                ("layers", _) => FieldValue::Text(cell("layer_kinds").to_owned()),
                (name, FieldKind::Text | FieldKind::Word(_)) => FieldValue::Text(cell(name).to_owned()),
                (name, FieldKind::Count { .. }) => FieldValue::Count(cell(name).parse().unwrap_or(0)),
                (name, FieldKind::Flag) => FieldValue::Flag(cell(name) == "1"),
            };
            assert!((field.set)(&mut fields, value));
        }
        (cell("id").to_owned(), fields)
    };
    table.records().map(|row| model(row.unwrap())).collect()
}

/// The name in a file.
fn file_name(tensor: &WeightTensor) -> String {
    let name = match tensor.name {
        Name::TokenEmbedding => "token_embd.weight",
        Name::RopeFactors => "rope_freqs.weight",
        Name::OutputNorm => "output_norm.weight",
        Name::OutputNormBias => "output_norm.bias",
        Name::Output => "output.weight",
        Name::OutputBias => "output.bias",
        Name::AttentionNorm => "attn_norm.weight",
        Name::AttentionNormBias => "attn_norm.bias",
        Name::AttentionPostNorm => "post_attention_norm.weight",
        Name::Q => "attn_q.weight",
        Name::K => "attn_k.weight",
        Name::V => "attn_v.weight",
        Name::Qkv => "attn_qkv.weight",
        Name::QBias => "attn_q.bias",
        Name::KBias => "attn_k.bias",
        Name::VBias => "attn_v.bias",
        Name::QNorm => "attn_q_norm.weight",
        Name::KNorm => "attn_k_norm.weight",
        Name::AttentionOutput => "attn_output.weight",
        Name::AttentionOutputBias => "attn_output.bias",
        Name::Sinks => "attn_sinks.weight",
        Name::LatentQDown => "attn_q_a.weight",
        Name::LatentQNorm => "attn_q_a_norm.weight",
        Name::LatentQUp => "attn_q_b.weight",
        Name::LatentKvDown => "attn_kv_a_mqa.weight",
        Name::LatentKvNorm => "attn_kv_a_norm.weight",
        Name::LatentKUp => "attn_k_b.weight",
        Name::LatentVUp => "attn_v_b.weight",
        Name::StateIn => "ssm_in.weight",
        Name::StateGate => "attn_gate.weight",
        Name::StateConv => "ssm_conv1d.weight",
        Name::StateConvBias => "ssm_conv1d.bias",
        Name::StateStep => "ssm_dt.bias",
        Name::StateDecay => "ssm_a",
        Name::StateSkip => "ssm_d",
        Name::StateBeta => "ssm_beta.weight",
        Name::StateAlpha => "ssm_alpha.weight",
        Name::StateBetaAlpha => "ssm_ba.weight",
        Name::StateNorm => "ssm_norm.weight",
        Name::StateOut => "ssm_out.weight",
        Name::FfnNorm => "ffn_norm.weight",
        Name::FfnNormBias => "ffn_norm.bias",
        Name::FfnPostNorm => "post_ffw_norm.weight",
        Name::FfnGate => "ffn_gate.weight",
        Name::FfnUp => "ffn_up.weight",
        Name::FfnUpBias => "ffn_up.bias",
        Name::FfnDown => "ffn_down.weight",
        Name::FfnDownBias => "ffn_down.bias",
        Name::Router => "ffn_gate_inp.weight",
        Name::RouterInputBias => "ffn_gate_inp.bias",
        Name::RouterBias => "exp_probs_b.bias",
        Name::RouterScale => "ffn_gate_inp.scale",
        Name::ExpertsPreNorm => "pre_ffw_norm_2.weight",
        Name::DensePostNorm => "post_ffw_norm_1.weight",
        Name::ExpertsPostNorm => "post_ffw_norm_2.weight",
        Name::ExpertsGate => "ffn_gate_exps.weight",
        Name::ExpertsGateBias => "ffn_gate_exps.bias",
        Name::ExpertsUp => "ffn_up_exps.weight",
        Name::ExpertsUpBias => "ffn_up_exps.bias",
        Name::ExpertsGateUp => "ffn_gate_up_exps.weight",
        Name::ExpertsDown => "ffn_down_exps.weight",
        Name::ExpertsDownBias => "ffn_down_exps.bias",
        Name::ExpertsDownScale => "ffn_down_exps.scale",
        Name::SharedRouter => "ffn_gate_inp_shexp.weight",
        Name::SharedGate => "ffn_gate_shexp.weight",
        Name::SharedUp => "ffn_up_shexp.weight",
        Name::SharedDown => "ffn_down_shexp.weight",
        Name::LayerScale => "layer_output_scale.weight",
        Name::Other => unreachable!("no model lists it"),
    };
    match tensor.home {
        Home::Layer(layer) | Home::Experts(layer) => format!("blk.{layer}.{name}"),
        _ => name.to_owned(),
    }
}

fn ggml_number(kind: TensorType) -> u32 {
    (0..64).find(|number| TensorType::from_ggml(*number) == Some(kind)).unwrap()
}

/// The header that a converter writes for a model.
fn header(fields: &ArchitectureFields, model: &Architecture, quantization: Quantization) -> Writer {
    let mut file = Writer::default();
    let name = fields.name.as_str();
    let key = |key: &str| format!("{name}.{key}");
    file.string("general.architecture", name);
    file.string("general.name", "A model");
    // a vocabulary
    file.entry("tokenizer.ggml.tokens", 9);
    file.metadata.extend(8_u32.to_le_bytes());
    file.metadata.extend(3_u64.to_le_bytes());
    ["a", "bc", ""].iter().for_each(|token| Writer::text(&mut file.metadata, token));
    let per_layer = |value: &dyn Fn(&crate::architecture::Layer) -> u64| -> Vec<u64> {
        model.layers.iter().map(value).collect()
    };
    for (name, value) in [
        ("block_count", model.layers.len() as u64),
        ("context_length", model.max_context),
        ("embedding_length", model.hidden),
        ("feed_forward_length", model.ffn),
        ("attention.head_count", model.heads),
        ("expert_count", fields.experts),
        ("expert_used_count", fields.experts_used),
        ("attention.sliding_window", fields.sliding_window),
        ("attention.kv_lora_rank", fields.mla_kv_lora),
        ("attention.q_lora_rank", fields.mla_q_lora),
        ("attention.key_length_mla", fields.mla_qk_nope + fields.mla_qk_rope),
        ("attention.value_length_mla", fields.mla_v_head),
        ("rope.dimension_count", fields.mla_qk_rope),
        ("ssm.conv_kernel", fields.ssm_conv),
        ("ssm.inner_size", fields.ssm_inner),
        ("ssm.state_size", fields.ssm_state),
        ("ssm.time_step_rank", fields.ssm_dt_rank),
        ("ssm.group_count", fields.ssm_groups),
    ] {
        if value > 0 {
            file.number(&key(name), value);
        }
    }
    let kv_heads = per_layer(&|layer| layer.kv_heads);
    match kv_heads.iter().all(|count| *count == kv_heads[0]) {
        true => file.number(&key("attention.head_count_kv"), kv_heads[0]),
        false => file.array(&key("attention.head_count_kv"), 5, kv_heads.into_iter()),
    }
    let width =
        |kind: LayerKind| model.layers.iter().find(|layer| layer.kind == kind).map(|layer| layer.head_dim);
    match (width(LayerKind::Full), width(LayerKind::Sliding)) {
        (Some(full), Some(sliding)) if full != sliding => {
            file.number(&key("attention.key_length"), full);
            file.number(&key("attention.key_length_swa"), sliding);
            let slides = per_layer(&|layer| u64::from(layer.kind == LayerKind::Sliding));
            file.array(&key("attention.sliding_window_pattern"), 7, slides.into_iter());
        }
        (full, sliding) => {
            if let Some(width) = full.or(sliding).filter(|width| width * model.heads != model.hidden) {
                file.number(&key("attention.key_length"), width);
            }
        }
    }
    let mut is_second = false;
    for (tensor, kind) in typed_tensors(model, quantization) {
        let name = match (tensor.name, model.rope_factors) {
            (Name::RopeFactors, RopeFactors::LongAndShort(_)) => {
                let name = if is_second { "rope_factors_short.weight" } else { "rope_factors_long.weight" };
                is_second = true;
                name.to_owned()
            }
            _ => file_name(&tensor),
        };
        let dimensions = [tensor.columns, tensor.rows, tensor.matrices];
        file.tensor(&name, &dimensions, ggml_number(kind));
    }
    file
}

fn read(file: &Writer) -> ModelFile {
    ModelFile::new(&Header::read(file.bytes().as_slice()).unwrap()).unwrap()
}

#[test]
fn a_file_needs_what_its_model_needs() {
    let settings = [
        Settings::new(Quantization::Q4_K_M, 8192),
        Settings {
            cache_type_k: CacheType::Q8_0,
            cache_type_v: CacheType::Q8_0,
            ..Settings::new(Quantization::F16, 20_000)
        },
        Settings { gpu_layers: Some(7), ..Settings::new(Quantization::F16, 4096) },
        Settings { experts: ExpertPlacement::FirstLayersOnCpu(5), ..Settings::new(Quantization::F16, 4096) },
        Settings { tensor_split: vec![3, 2], ..Settings::new(Quantization::F16, 4096) },
    ];
    let bytes = |estimate: &Estimate| -> Vec<[u64; 3]> {
        let parts = |device: &crate::estimator::DeviceEstimate| {
            [device.weights.bytes.0, device.cache.bytes.0, device.compute.bytes.0]
        };
        estimate.devices.iter().map(parts).collect()
    };
    for (slug, fields) in models() {
        let model = fields.build().unwrap();
        for quantization in [Quantization::Q4_K_M, Quantization::IQ3_XXS, Quantization::F16] {
            let file = read(&header(&fields, &model, quantization));
            assert_eq!(file.unknown_architecture, None);
            for settings in &settings {
                let settings = Settings { quantization, ..settings.clone() };
                let of_model = Planner::new(&model).estimate(&settings).unwrap();
                // the quantization of the settings does not matter
                let of_file = Planner::of_file(&file.architecture, &file)
                    .estimate(&Settings { quantization: Quantization::Q8_0, ..settings.clone() })
                    .unwrap();
                assert_eq!(bytes(&of_file), bytes(&of_model), "{slug} {quantization} {settings:?}");
            }
        }
    }
}

#[test]
fn a_file_has_the_bytes_that_llama_cpp_counts() {
    let models = models();
    let mut table = csv::Reader::from_reader(FILES.as_bytes());
    let mut files = 0;
    for row in table.records().map(|row| row.unwrap()) {
        let Ok(quantization) = row[1].parse::<Quantization>() else { continue };
        let (_, fields) = models.iter().find(|(slug, _)| *slug == row[0]).unwrap();
        let file = read(&header(fields, &fields.build().unwrap(), quantization));
        assert_eq!(file.data.0.to_string(), row[2], "{} {quantization}", &row[0]);
        files += 1;
    }
    assert!(files > 100, "{files}");
}

/// A small Llama.
fn small() -> Writer {
    let fields = ArchitectureFields {
        name: "llama".into(),
        layers: "F2".into(),
        hidden: 256,
        heads: 4,
        kv_heads: 2,
        ffn: 512,
        vocab: 1000,
        max_ctx: 8192,
        ..ArchitectureFields::default()
    };
    header(&fields, &fields.build().unwrap(), Quantization::Q4_0)
}

#[test]
fn every_tensor_type_counts_its_blocks() {
    // bytes of a row of 512 elements, from the block sizes in llama.cpp's `gguf-py/gguf/constants.py`
    let rows = [
        (0, 2048),
        (1, 1024),
        (2, 288),
        (3, 320),
        (6, 352),
        (7, 384),
        (8, 544),
        (10, 168),
        (11, 220),
        (12, 288),
        (13, 352),
        (14, 420),
        (16, 132),
        (17, 148),
        (18, 196),
        (19, 100),
        (20, 288),
        (21, 220),
        (22, 164),
        (23, 272),
        (24, 512),
        (25, 1024),
        (26, 2048),
        (27, 4096),
        (28, 4096),
        (29, 112),
        (30, 1024),
        (34, 108),
        (35, 132),
        (39, 272),
        (40, 288),
        (41, 72),
    ];
    for (kind, row) in rows {
        let mut file = small();
        let before = read(&file).data.0;
        file.tensor("blk.1.extra.weight", &[512, 3], kind);
        assert_eq!(read(&file).data.0 - before, 3 * row, "type {kind}");
    }
    assert_eq!(rows.len(), (0..64).filter(|kind| TensorType::from_ggml(*kind).is_some()).count());
}

#[test]
fn layers_that_predict_further_tokens_are_not_loaded() {
    let mut file = small();
    let before = read(&file);
    file.number("llama.nextn_predict_layers", 1);
    let [one_layer_less, two] = [read(&file), before];
    assert_eq!(one_layer_less.data, two.data);
    assert!(one_layer_less.not_loaded.0 > 0);
    assert_eq!(one_layer_less.architecture.layers.len(), 1);
}

#[test]
fn an_unknown_architecture_has_exact_weights_and_llamas_graph() {
    let known = read(&small());
    // a name of the same length leaves all lengths as they are
    let mut renamed = small().bytes();
    let places: Vec<usize> = (0..renamed.len() - 5).filter(|at| &renamed[*at..at + 5] == b"llama").collect();
    places.iter().for_each(|at| renamed[*at] = b'x');
    let file = ModelFile::new(&Header::read(renamed.as_slice()).unwrap()).unwrap();
    assert_eq!(file.unknown_architecture.as_deref(), Some("xlama"));
    assert_eq!(file.data, known.data);
}

#[test]
fn what_is_no_model_is_refused_with_its_kind() {
    let refused = |kind: &str, name: &str| {
        let mut file = Writer::default();
        file.string("general.type", kind);
        file.string("general.architecture", name);
        ModelFile::new(&Header::read(file.bytes().as_slice()).unwrap()).unwrap_err()
    };
    assert_eq!(refused("mmproj", "clip"), FileError::NotAModel("mmproj".to_owned()));
    assert_eq!(refused("model", "clip"), FileError::NotAModel("clip".to_owned()));
    assert_eq!(refused("adapter", "llama"), FileError::NotAModel("adapter".to_owned()));
    assert!(matches!(refused("model", "llama"), FileError::Sizes(_)));
}

#[test]
fn damaged_files_are_refused_in_bounded_time_and_memory() {
    let good = small().bytes();
    for length in 0..good.len() {
        let error = Header::read(&good[..length]).unwrap_err();
        assert!(matches!(error, HeaderError::Truncated), "{length}: {error}");
    }
    let with = |at: usize, bytes: &[u8]| {
        let mut file = good.clone();
        file[at..at + bytes.len()].copy_from_slice(bytes);
        Header::read(file.as_slice()).map(|_| ()).unwrap_err().to_string()
    };
    let huge = (1_u64 << 60).to_le_bytes();
    for (at, bytes, message) in [
        (0, b"GGML".as_slice(), "not a GGUF file: it begins with `GGML`"),
        (4, &1_u32.to_le_bytes(), "GGUF version 1, which llama.cpp no longer loads"),
        (4, &3_u32.to_be_bytes(), "GGUF in big-endian order, which this machine does not load"),
        (4, &9_u32.to_le_bytes(), "unknown GGUF version 9"),
        (8, &huge, "1152921504606846976 tensors are more than any model has"),
        (16, &huge, "1152921504606846976 metadata entries are more than any model has"),
        (24, &huge, "a key of 1152921504606846976 bytes"),
    ] {
        assert_eq!(with(at, bytes), message);
    }
    let mut nested = Writer::default();
    nested.entry("a", 9);
    for _ in 0..40 {
        nested.metadata.extend(9_u32.to_le_bytes());
        nested.metadata.extend((1_u64 << 40).to_le_bytes());
    }
    assert_eq!(
        Header::read(nested.bytes().as_slice()).unwrap_err().to_string(),
        "an array of the unknown type 9"
    );
    for dimensions in [vec![1 << 40, 1 << 40], vec![u64::MAX; 4], vec![1; 5]] {
        let mut file = small();
        file.tensor("t", &dimensions, 0);
        assert!(
            matches!(Header::read(file.bytes().as_slice()), Err(HeaderError::Invalid(_))),
            "{dimensions:?}"
        );
    }
    let mut file = small();
    file.tensor("t", &[32], 99);
    let error = Header::read(file.bytes().as_slice()).unwrap_err();
    assert_eq!(error.to_string(), "tensor `t` has the type 99, which kbgen does not know");
}
